"""From keywords, and requests already made, to the requests of one verb."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import Any

from tacit.errors import ArgumentError, Setting, sentence
from tacit.requests.settings import Request, default_of, settings_of
from tacit.requests.table import Question


def asked(
    wanted: Sequence[type[Request]], source: Any, requests: Sequence[Request], settings: Mapping[str, Any], *, verb: str
) -> tuple[Any, ...]:
    """One request of each type wanted: those that were made, changed by the settings, or new ones.

    ``source`` is what the verb is about, or the ``Question`` that says so. A setting that no request of the verb has
    is refused with the nearest name.
    """
    requests = [source if isinstance(source, Request) else Question(source), *requests]
    homes = {name: request for request in wanted for name in settings_of(request)}
    for name in settings:
        if name not in homes:
            near = get_close_matches(name, homes, n=1)
            hint = sentence("; did you mean {near}?", near=Setting(near[0])) if near else ""
            raise ArgumentError(sentence("{verb} has no setting {name}{hint}", verb=verb, name=name, hint=hint))
    by_type = {type(request): request for request in requests}
    if len(by_type) < len(requests):
        raise ArgumentError(f"{verb} takes one request of each kind, and was given two of one")
    for request in requests:
        if type(request) not in wanted:
            takes = ", ".join(each.__name__ for each in wanted)
            raise ArgumentError(f"{verb} takes no {type(request).__name__}; it takes {takes}")
    answers = []
    for kind in wanted:
        own = {name: value for name, value in settings.items() if homes[name] is kind}
        answers.append(replace(by_type[kind], **own) if kind in by_type else kind(**own))
    return tuple(answers)


def given(requests: Sequence[Request]) -> dict[str, Any]:
    """The settings that differ from their defaults, with their values."""
    return {
        name: getattr(request, name)
        for request in requests
        for name in settings_of(request)
        if getattr(request, name) != default_of(type(request), name)
    }


def refuse_others(requests: Sequence[Request], lens: str, what: str) -> None:
    """Refuse settings that mean nothing to a lens, by name."""
    facts = {name: each for request in requests for name, each in settings_of(request).items()}
    for name, value in given(requests).items():
        if lens not in facts[name].lenses:
            raise ArgumentError(
                sentence("{setting} is not for {what}: leave it out", setting=Setting(name, value), what=what)
            )


def schema(wanted: Sequence[type[Request]]) -> dict[str, Any]:
    """The settings of several requests as a JSON schema, with their help and defaults."""
    properties: dict[str, Any] = {}
    for request in wanted:
        for name, facts in settings_of(request).items():
            shown = {"description": facts.help, **facts.kind.schema()}
            default = default_of(request, name)
            properties[name] = shown if default is None else {**shown, "default": default}
    return {"type": "object", "properties": properties, "additionalProperties": False}
