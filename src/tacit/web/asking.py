"""What the page can ask: every verb with its fields, taken from the requests, from which schema and command follow."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from tacit.document import Progress
from tacit.errors import ArgumentError, Command, Setting, Wording, sentence
from tacit.person.actions import ACTIONS, PersonAction
from tacit.person.actions.asking import Records, Texts
from tacit.requests import Bound, Making, Question, Request, asked, settings_of
from tacit.requests.levels import Levels
from tacit.requests.settings import Amount, File, Flag, Kind, Numbers, SettingFacts, default_of
from tacit.requests.verbs import ATTACK, AUDIT, CHECK, PROTECT, VERIFY

# Called with what the verb is about, its settings and a progress function.
Run = Callable[[Path, dict[str, Any], Progress], Any]

_OUT = SettingFacts(File(), "Name of the release: a folder that does not exist yet.", ("table", "images", "text"))
_TEXT = SettingFacts(Kind(), "The post, as you would send it.", ("text",))
_LIMIT = SettingFacts(Amount(0, 100), "The risk in nats that no post should exceed.", ("text",))
# What a run writes: it may not replace anything.
WRITTEN = ("scores", "save_model", "out", "letters")
# The requests that the ladder takes; it chooses its own epsilons.
_CLIMBED = (Question, Bound, Making)


@dataclass(frozen=True)
class Askable:
    """A verb as the page asks it: ``subject`` is the field that names what it is about, ``words`` its command.

    ``piped`` is the field that its command reads from standard input, if any.
    """

    name: str
    about: str
    words: str
    subject: str
    subject_help: str
    run: Run = field(repr=False)
    settings: Mapping[str, SettingFacts] = field(default_factory=dict)
    defaults: Mapping[str, Any] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    piped: str | None = None

    @property
    def fields(self) -> dict[str, SettingFacts]:
        """All fields, the subject first."""
        return {self.subject: SettingFacts(File(), self.subject_help, ()), **self.settings}

    def schema(self) -> dict[str, Any]:
        """The fields as a JSON schema, each with its help, its default and the lenses it is for."""
        properties = {}
        for name, facts in self.fields.items():
            shown = {"description": facts.help, **facts.kind.schema(), "x-lenses": list(facts.lenses)}
            default = self.defaults.get(name)
            properties[name] = shown if default is None else {**shown, "default": default}
        required = [self.subject, *self.required]
        about = {"title": self.name, "description": self.about, "type": "object"}
        return {**about, "properties": properties, "required": required, "additionalProperties": False}

    def read(self, sent: Mapping[str, Any]) -> dict[str, Any]:
        """The values of a request in JSON as the verb takes them; null means not given."""
        fields = self.fields
        return {name: fields[name].kind.from_json(name, value) for name, value in sent.items() if value is not None}

    def command(self, request: Mapping[str, Any], wording: Wording) -> str:
        """What would be typed, in the folder, for the same answer."""
        about = str(request[self.subject])
        settings = _of(AUDIT)["settings"] if self.words == "audit" else self.settings
        words = [Command(self.words, f"./{about}" if about.startswith("-") else about).told(wording)]
        if self.piped is not None:
            command = Command(self.words, **{self.subject: about, "whole": True}).told(wording)
            words = [f"printf %s {shlex.quote(request[self.piped])} | {command}"]
        for name, value in request.items():
            if name in settings and name != self.piped and value is not False:
                words += [Setting(name, each).told(wording) for each in _typed(settings[name].kind, value)]
        return " ".join(words)

    def answered(self, request: Mapping[str, Any], progress: Progress) -> Any:
        """Ask the verb."""
        rest = {name: value for name, value in request.items() if name != self.subject}
        return self.run(Path(request[self.subject]), rest, progress)


def paths_in(request: Mapping[str, Any]) -> Iterator[tuple[str, Path]]:
    """Every file that a request names, and the field that does."""
    for name, value in request.items():
        for each in value.values() if isinstance(value, Mapping) else (value,):
            if isinstance(each, Path):
                yield name, each


def _typed(kind: Kind, value: Any) -> tuple[Any, ...]:
    """A value as it is typed, once or several times."""
    if isinstance(kind, Records):
        return tuple(kind.to_text(record) for record in value)
    if isinstance(kind, (Texts, Numbers)):
        return tuple(value)
    if isinstance(kind, Levels):
        return ({column: _level(wish) for column, wish in value.items()},)
    return (_digits(value),)


def _level(wish: Any) -> Any:
    """Values in their order, and one edge as an edge."""
    if not isinstance(wish, tuple):
        return _digits(wish)
    texts = [str(_digits(each)) for each in wish]
    return "<".join(texts) if isinstance(wish[0], str) else ",".join(texts) + "," * (len(texts) == 1)


def _digits(value: Any) -> Any:
    """Numbers with all their digits."""
    if isinstance(value, Mapping):
        return {key: _digits(each) for key, each in value.items()}
    if isinstance(value, tuple):
        return tuple(map(_digits, value))
    return repr(value).removesuffix(".0") if isinstance(value, float) else value


def _of(requests: tuple[type[Request], ...]) -> dict[str, Any]:
    """Settings and defaults of several requests; one that two share appears once."""
    settings: dict[str, SettingFacts] = {}
    defaults: dict[str, Any] = {}
    for request in requests:
        for name, facts in settings_of(request).items():
            if name not in settings:
                settings[name], defaults[name] = facts, default_of(request, name)
    return {"settings": settings, "defaults": defaults}


def _verb(name: str) -> Run:
    """A verb of the command line, loaded when it is asked."""

    def run(about: Path, request: dict[str, Any], progress: Progress) -> Any:
        return getattr(import_module(f"tacit.verbs.{name}"), name)(about, progress=progress, **request)

    return run


def _ladder(source: Path, request: dict[str, Any], progress: Progress) -> Any:
    from tacit.lenses.table.ladder.climbing import ladder
    from tacit.tables import memory_limit

    question, bound, making = asked(_CLIMBED, source, (), request, verb="ladder")
    with memory_limit(question.memory):
        return ladder(question, bound, making, progress=progress)


def _explain_text(model: Path, request: dict[str, Any], _: Progress) -> Any:
    from tacit.lenses.text.audit import explain_text

    return explain_text(model, [request["text"]], epsilon=request.get("epsilon"))


def _person(action: PersonAction) -> Askable:
    settings = action.settings
    flags = {name: False for name, facts in settings.items() if isinstance(facts.kind, Flag)}
    return Askable(
        f"person/{action.name.replace('_', '-')}",
        action.about,
        f"person {action.name.replace('_', '-')}",
        *("case", "The case file (YAML): who the person is, the sources, the adversaries."),
        lambda case, request, progress: action.run(case, progress=progress, **request),
        settings,
        flags,
    )


_SOURCE = ("source", "A table, a folder of images or an npz.")
_CHECKED = ("source", "A table, or the folder of a release.")
_RELEASE = ("release", "The folder of a release, or a zip of it.")


@cache
def verbs() -> dict[str, Askable]:
    """Every verb by its name, as it stands in an address."""
    audit, protecting = _verb("audit"), _of(PROTECT)
    looking = {name: facts for name, facts in settings_of(Question).items() if name in ("engine", "memory")}
    several = (
        Askable("columns", "The columns of a table and what each may be.", "audit", *_SOURCE, audit, looking),
        Askable("audit", "What a source gives away about its secret.", "audit", *_SOURCE, audit, **_of(AUDIT)),
        Askable("ladder", "What releases of a table would keep.", "audit", *_SOURCE, _ladder, **_of(_CLIMBED)),
        Askable(
            *("protect", "A release that keeps the secret, with a certificate.", "protect", *_SOURCE, _verb("protect")),
            {"out": _OUT, **protecting["settings"]},
            protecting["defaults"],
            ("out",),
        ),
        Askable("verify", "Is the claim of a release true?", "verify", *_RELEASE, _verb("verify"), **_of(VERIFY)),
        Askable("check", "Does a table or a release meet a policy?", "check", *_CHECKED, _verb("check"), **_of(CHECK)),
        Askable(
            *("attack", "Would an adversary still win?", "attack", *_RELEASE, _verb("attack")),
            **_of(ATTACK),
            required=("against",),
        ),
        Askable(
            *("explain-text", "Which words of a post give a secret away?", "explain-text"),
            *("model", "What an audit of posts saved.", _explain_text),
            {"text": _TEXT, "epsilon": _LIMIT},
            required=("text",),
            piped="text",
        ),
        *(_person(PersonAction(name, summary)) for name, summary in ACTIONS.items()),
    )
    return {each.name: each for each in several}


def refuse_taken(name: str, path: Path) -> None:
    """Refuse to write over a file; a release has its own rules."""
    if path.is_file():
        words = "{setting} cannot be used: there is a file of that name; choose another"
        raise ArgumentError(sentence(words, setting=Setting(name, path.name)))
