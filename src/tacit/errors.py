"""The tree of errors, and the sentences of their messages. Every message names the thing, the reason and the way out.

TacitError                 exit code 3
├── ArgumentError          2  a value the caller chose cannot be used (also a ValueError)
│   └── ColumnError        2  no column of that name
├── DataError              3  the data cannot carry the question (also a ValueError)
├── SourceError            3  a file, database or frame cannot be read or written
├── EngineError            3  DuckDB or Spark refused or is not installed
└── NotCertifiedError      1  a claim does not hold

A sentence remembers which of its parts are settings, commands or quantities, so that each shell can say it in its own
words: ``drop='id'`` in Python is an option on the command line and a field on a page, and nats can be shown as bits.
Whatever came from the data is plain text in it and is never parsed again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from string import Formatter
from typing import Any, ClassVar, Protocol, runtime_checkable

# Placeholders, which are written without quotes.
_STAND_INS = ("TABLE", "RELEASE")


def _python_value(value: Any) -> str:
    """A value as one would type it: a single name without its list, and a placeholder without quotes."""
    if isinstance(value, list | tuple) and len(value) == 1 and isinstance(value[0], str):
        value = value[0] if value[0].isidentifier() else value
    return value if isinstance(value, str) and value in _STAND_INS else repr(value)


def _python_setting(name: str, value: Any) -> str:
    return name if value is None else f"{name}={_python_value(value)}"


def _python_command(verb: str, words: Sequence[str], settings: Mapping[str, Any]) -> str:
    arguments = [
        *(word if word.isupper() else repr(word) for word in words),
        *(f"{name}={_python_value(value)}" for name, value in settings.items()),
    ]
    return f"tacit.{verb.replace(' ', '_')}({', '.join(arguments)})"


@dataclass(frozen=True)
class Wording:
    """How a reader is spoken to: the unit of information, and how the shell spells settings and commands."""

    bits: bool = False
    setting: Callable[[str, Any], str] = _python_setting
    command: Callable[[str, Sequence[str], Mapping[str, Any]], str] = _python_command


PLAIN = Wording()


@runtime_checkable
class Part(Protocol):
    """A part of a sentence that different readers are told in different words."""

    def told(self, wording: Wording) -> str:
        """The part in the words of one reader."""
        ...


@dataclass(frozen=True)
class Setting:
    """A field of a request, alone or with a value: ``Setting("bins", {"age": 10})``."""

    name: str
    value: Any = None

    def told(self, wording: Wording) -> str:
        """The setting as the shell spells it."""
        return wording.setting(self.name, self.value)


class Command:
    """A verb with its arguments: ``Command("verify", "RELEASE", against="TABLE")``. A word may be a path."""

    def __init__(self, verb: str, *words: str | Part, **settings: Any) -> None:
        self.verb, self.words, self.settings = verb, words, settings

    def told(self, wording: Wording) -> str:
        """The command as the shell spells it."""
        words = [word if isinstance(word, str) else word.told(wording) for word in self.words]
        return wording.command(self.verb, words, self.settings)


class Sentence(str):
    """A text that remembers its parts. As a string it is in Python's words and in nats."""

    parts: tuple[str | Part, ...]

    def __new__(cls, text: str, parts: Iterable[str | Part] | None = None) -> Sentence:
        """The text as it is; ``sentence`` puts parts into a template."""
        self = super().__new__(cls, text)
        self.parts = (text,) if parts is None else tuple(parts)
        return self

    @classmethod
    def of(cls, parts: Iterable[str | Part]) -> Sentence:
        """The parts one after the other."""
        flat = [inner for part in parts for inner in (part.parts if isinstance(part, Sentence) else (part,))]
        return cls("".join(part if isinstance(part, str) else part.told(PLAIN) for part in flat), flat)

    def told(self, wording: Wording) -> str:
        """The sentence in the words of one reader."""
        return "".join(part if isinstance(part, str) else part.told(wording) for part in self.parts)

    def __add__(self, other: str) -> Sentence:
        return Sentence.of([self, other])

    def __radd__(self, other: str) -> Sentence:
        return Sentence.of([other, self])


def sentence(template: str, /, *values: Any, **parts: Any) -> Sentence:
    """A sentence from a template: ``sentence("leave it out ({drop})", drop=Setting("drop", "id"))``.

    Fields are filled as by ``str.format``: by name, ``{claim.secret}`` too, or in order (``{}``). Settings, commands,
    quantities and sentences stay what they are; anything else becomes plain text.
    """
    pieces: list[str | Part] = []
    in_order = iter(values)
    for literal, name, spec, _ in Formatter().parse(template):
        pieces.append(literal)
        if name is not None:
            value = Formatter().get_field(name, (), parts)[0] if name else next(in_order)
            # Most values are plain, and asking whether those are parts would take longer than all the rest.
            is_part = type(value) not in (str, int, float) and isinstance(value, Sentence | Part)
            pieces.append(value if is_part else format(value, spec or ""))
    return Sentence.of(pieces)


def together(sentences: Iterable[str], by: str = " ") -> Sentence:
    """Sentences joined into one; empty ones are left out."""
    pieces: list[str] = []
    for each in sentences:
        if each:
            pieces += [by, each] if pieces else [each]
    return Sentence.of(pieces)


class TacitError(Exception):
    """Anything Tacit refuses to do, with a one-line reason. Catch this one."""

    exit_code: ClassVar[int] = 3

    def told(self, wording: Wording) -> str:
        """The message in the words of one reader."""
        message = self.args[0] if self.args else ""
        return message.told(wording) if isinstance(message, Sentence) else str(self)


class ArgumentError(TacitError, ValueError):
    """An argument has a value that cannot be used."""

    exit_code = 2


class ColumnError(ArgumentError):
    """A column was named that the table does not have."""

    def __init__(self, name: str, columns: Sequence[str]) -> None:
        near = get_close_matches(name, columns, n=1, cutoff=0.6)
        hint = f"; did you mean '{near[0]}'?" if near else "."
        shown = ", ".join(columns[:20]) + (", …" if len(columns) > 20 else "")
        super().__init__(f"no column '{name}'{hint} The table has: {shown}")
        self.name = name
        self.columns = tuple(columns)


class DataError(TacitError, ValueError):
    """The data is readable but cannot carry the question asked of it."""


class UnknownValueError(DataError):
    """A table holds a value that the levels of a release do not cover: they were made for another table."""


class SourceError(TacitError):
    """A file, database or frame cannot be read or written."""


class EngineError(TacitError):
    """The table engine refused, or is not installed."""


class NotCertifiedError(TacitError):
    """A claim does not hold."""

    exit_code = 1
