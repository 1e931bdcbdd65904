"""The forms of answers and bodies, for OpenAPI and for what is refused."""

from __future__ import annotations

from functools import cache, partial
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, PlainValidator, RootModel, WithJsonSchema, create_model, model_validator

from tacit.web.asking import verbs
from tacit.web.files import FileKind

State = Literal["waiting", "running", "done", "failed", "cancelled", "interrupted"]


class Refusal(BaseModel):
    """What was refused, and the exit code that the command line has for it."""

    message: str
    code: int


class Named(BaseModel):
    """A file."""

    name: str


class ListedFile(Named):
    """A file, or a folder that is one thing."""

    kind: FileKind
    size: int
    modified: float


class FileList(RootModel[list[ListedFile]]):
    """Files."""


class JobSeen(BaseModel):
    """A job, and how far it has got; ``result`` is there when it is done and asked for by its name."""

    id: str
    verb: str
    request: dict[str, Any]
    command: str
    asked: float
    state: State
    stage: str | None
    share: float | None
    seconds: float
    left: float | None
    error: Refusal | None
    result: Any = None


class JobList(RootModel[list[JobSeen]]):
    """Jobs."""


_MEANINGS = {400: "A value that cannot be used", 401: "No token", 403: "Another page", 404: "Not there"}
_MEANINGS |= {413: "Too large", 422: "Data or fields that cannot be read"}
REFUSALS: dict[int | str, dict[str, Any]] = {
    status: {"model": Refusal, "description": meaning} for status, meaning in _MEANINGS.items()
}


class Body(BaseModel):
    """The body of a request; ``sent`` holds it as it was sent, its fields as it was read."""

    model_config = ConfigDict(extra="forbid")
    _sent: dict[str, Any] = {}

    @model_validator(mode="wrap")
    @classmethod
    def _keep(cls, value: Any, handler: Any) -> Any:
        if not isinstance(value, dict):
            return handler(value)
        # Null means not given: a required field is then missing. A name that is not a field stays wrong.
        sent = {name: each for name, each in value.items() if each is not None or name not in cls.model_fields}
        body = handler(sent)
        body._sent = sent
        return body

    @property
    def sent(self) -> dict[str, Any]:
        """The request in JSON."""
        return self._sent

    def said(self) -> dict[str, Any]:
        """The settings that were given."""
        return {name: getattr(self, name) for name in self._sent}


@cache
def body_of(name: str) -> type[Body]:
    """The model of a verb's requests: a field for each of its settings, read by the setting's own kind."""
    verb = verbs()[name]
    properties = verb.schema()["properties"]
    fields: dict[str, Any] = {}
    for each, facts in verb.fields.items():
        read = partial(facts.kind.from_json, each)
        kind = Annotated[Any, PlainValidator(read), WithJsonSchema(properties[each])]
        fields[each] = (kind, ... if each == verb.subject or each in verb.required else None)
    title = "".join(word.capitalize() for word in name.replace("/", "-").split("-"))
    return create_model(f"Ask{title}", __base__=Body, __doc__=verb.about, **fields)


def place_of(name: str) -> str:
    """A name from an address: a slash at its end only says that it is a folder."""
    return name.removesuffix("/")
