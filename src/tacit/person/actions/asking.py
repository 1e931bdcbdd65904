"""The settings of actions: those that several have in common, and the kinds that only this lens needs."""

from __future__ import annotations

import csv
import functools
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ParamSpec, TypeVar

from tacit.errors import ArgumentError, Setting, sentence
from tacit.requests.names import ENGINES
from tacit.requests.settings import Amount, Flag, Kind, OneOf, SettingFacts, cells, refused

if TYPE_CHECKING:
    from tacit.person.model.records import Record

Asked = ParamSpec("Asked")
Answer = TypeVar("Answer")

# Settings of an action worth trying, by their names.
Examples = tuple[dict[str, Any], ...]


@dataclass(frozen=True)
class Texts(Kind):
    """One text or several, each as typed."""

    repeated = True

    def checked(self, name: str, value: Any) -> tuple[str, ...]:
        """The texts as a tuple."""
        several = tuple(value) if isinstance(value, Iterable) and not isinstance(value, str) else (value,)
        if not all(isinstance(each, str) and each for each in several):
            raise refused(name, value, "it must be a text, or several")
        return several

    def from_text(self, name: str, texts: Sequence[str]) -> tuple[str, ...]:
        """Every text that was typed."""
        return self.checked(name, tuple(texts))

    def schema(self) -> dict[str, Any]:
        """A list of strings."""
        return {"type": "array", "items": {"type": "string"}}


@dataclass(frozen=True)
class Records(Kind):
    """One record or several. No error message shows a value."""

    repeated = True
    metavar = "LABEL=VALUE,…"

    def checked(self, name: str, value: Any) -> tuple[Record, ...]:
        """The records as a tuple."""
        from tacit.person.model.records import Record

        several = (value,) if isinstance(value, Record) else tuple(value)
        if not all(isinstance(each, Record) for each in several):
            raise ArgumentError(sentence("{setting} takes records: give Record([...])", setting=Setting(name)))
        return several

    def from_text(self, name: str, texts: Sequence[str]) -> tuple[Record, ...]:
        """``name=Alice,phone=555@0.6`` as a record, named by its position."""
        from tacit.person.model.records import Record

        records = []
        for number, text in enumerate(texts, start=1):
            written = cells(text)
            if not written:
                raise _refused(name, f"number {number} is empty: write LABEL=VALUE, such as phone=555")
            attributes = [
                _attribute(name, each, f"attribute {place} of number {number}")
                for place, each in enumerate(written, start=1)
            ]
            try:
                records.append(Record(attributes, name=f"{name} {number}"))
            except ArgumentError as error:
                raise _refused(name, str(error)) from None
        return tuple(records)

    @staticmethod
    def to_text(record: Record) -> str:
        """A record as it is typed."""
        line = io.StringIO()
        texts = [f"{a.label}={a.value}" + (f"@{a.confidence!r}" if a.confidence < 1 else "") for a in record]
        csv.writer(line, lineterminator="").writerow(texts)
        return line.getvalue()

    def from_json(self, name: str, value: Any) -> tuple[Record, ...]:
        """A list of records as typed, or of objects from label to value, all with confidence 1."""
        from tacit.person.model.records import Record

        several = value if isinstance(value, list) else [value]
        if all(isinstance(each, str) for each in several):
            return self.from_text(name, several)
        if not all(isinstance(each, Mapping) for each in several):
            raise _refused(name, "it must be a list of objects from label to value")
        records = []
        for number, each in enumerate(several, start=1):
            if not each or not all(isinstance(text, str) and text.strip() for pair in each.items() for text in pair):
                raise _refused(name, f"number {number} has no values, or an empty one")
            try:
                attributes = [(label.strip(), text.strip(), 1.0) for label, text in each.items()]
                records.append(Record(attributes, name=f"{name} {number}"))
            except ArgumentError as error:
                raise _refused(name, str(error)) from None
        return tuple(records)

    def schema(self) -> dict[str, Any]:
        """A list of texts, or of objects from label to value."""
        either = [{"type": "string"}, {"type": "object", "additionalProperties": {"type": "string"}}]
        return {"type": "array", "items": {"anyOf": either}}


def _attribute(name: str, written: str, where: str) -> tuple[str, str, float]:
    label, equals, value = written.partition("=")
    if not equals or not label.strip():
        raise _refused(name, f"{where} is not LABEL=VALUE, such as phone=555")
    before, at, after = value.rpartition("@")
    try:
        # An e-mail address has an @ too, but no number after it.
        confidence = float(after) if at and before else None
    except ValueError:
        confidence = None
    value, confidence = (value, 1.0) if confidence is None else (before, confidence)
    if not value.strip():
        raise _refused(name, f"{where} ('{label.strip()}') has no value")
    return label.strip(), value.strip(), confidence


def _refused(name: str, why: str) -> ArgumentError:
    return ArgumentError(sentence("{setting} cannot be used: {why}", setting=Setting(name), why=why))


def ask(kind: Kind, help: str, *, short: str | None = None, metavar: str | None = None) -> SettingFacts:
    """The description of a parameter of an action."""
    return SettingFacts(kind, help, ("person",), short, metavar)


FailAbove = Annotated[
    float | None,
    ask(Amount(0, 1), "The most leakage allowed, between 0 and 1; above it the exit code is 1.", metavar="0.6"),
]
Adversaries = Annotated[
    str | Sequence[str],
    ask(Texts(), "Use only this adversary of the case. Repeatable.  [default: all]", metavar="NAME"),
]
ShowValues = Annotated[bool, ask(Flag(), "Show the person's values. Otherwise they are masked.")]
ON_ENGINE = OneOf(tuple(ENGINES))
OnEngine = Annotated[
    str,
    ask(
        ON_ENGINE,
        "Where records are read and joined. On spark, records that are likely one person's are not joined.",
    ),
]
Remote = Annotated[
    bool,
    ask(Flag(), "Fetch sources at S3, https and other remote addresses; nothing is fetched otherwise."),
]
Memory = Annotated[
    str | None,
    ask(Kind(), "The most memory the records may take.  [default: a share of the machine's]", metavar="4GB"),
]


def limited(run: Callable[Asked, Answer]) -> Callable[Asked, Answer]:
    """An action that keeps to its setting ``memory``."""

    @functools.wraps(run)
    def within(*args: Asked.args, **settings: Asked.kwargs) -> Answer:
        memory = settings.get("memory")
        if memory is None:
            return run(*args, **settings)
        from tacit.tables import memory_limit

        with memory_limit(str(memory)):
            return run(*args, **settings)

    return within
