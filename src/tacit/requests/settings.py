"""Settings: the fields of requests. Each kind of setting reads its value from Python or from text, or refuses it."""

from __future__ import annotations

import csv
import io
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from numbers import Real
from pathlib import Path
from typing import Any, ClassVar

from tacit.errors import ArgumentError, Setting, SourceError, sentence
from tacit.loading import checked_path

AnyPath = str | os.PathLike[str]

# The most groups that a column of numbers may be cut into.
MOST_BINS = 100


@dataclass(frozen=True)
class Kind:
    """A free text. Other kinds read more than that.

    ``repeated`` kinds take several texts on a command line; ``metavar`` is what stands for the value in its help.
    """

    repeated: ClassVar[bool] = False
    metavar: ClassVar[str | None] = None

    def checked(self, name: str, value: Any) -> Any:
        """The value as the request keeps it."""
        if not isinstance(value, str) or not value:
            raise refused(name, value, "it must be a text")
        return value

    def from_text(self, name: str, texts: Sequence[str]) -> Any:
        """The value from what was typed."""
        return self.checked(name, texts[-1])

    def from_json(self, name: str, value: Any) -> Any:
        """The value from what :meth:`schema` describes."""
        return self.checked(name, value)

    def schema(self) -> dict[str, Any]:
        """The kind in JSON schema."""
        return {"type": "string"}


def refused(name: str, value: Any, why: str) -> ArgumentError:
    """The error for a value that cannot be used."""
    return ArgumentError(sentence("{setting} cannot be used: {why}", setting=Setting(name, value), why=why))


@dataclass(frozen=True)
class Anything(Kind):
    """A path, or in Python a frame: whatever the verb can open."""

    def checked(self, name: str, value: Any) -> Any:
        return value

    def from_json(self, name: str, value: Any) -> Path:
        """A path; JSON has no frames."""
        return File().checked(name, value)


@dataclass(frozen=True)
class Name(Kind):
    """One column."""

    metavar = "COL"


@dataclass(frozen=True)
class Names(Kind):
    """One column or several, each named once."""

    repeated = True
    metavar = "COL[,COL]"

    def checked(self, name: str, value: Any) -> tuple[str, ...]:
        if not isinstance(value, (str, Iterable)):
            raise refused(name, value, "it must be a column, or several")
        several = (value,) if isinstance(value, str) else tuple(value)
        if not several:
            raise refused(name, value, "it names no column")
        if not all(isinstance(each, str) and each for each in several):
            raise refused(name, value, "an empty column name")
        twice = next((each for each in several if several.count(each) > 1), None)
        if twice is not None:
            raise refused(name, list(several), f"column '{twice}' is named twice")
        return several

    def from_text(self, name: str, texts: Sequence[str]) -> tuple[str, ...]:
        """``a,b`` and ``c`` as (a, b, c); a name that contains a comma is put in double quotes."""
        return self.checked(name, tuple(each for text in texts for each in cells(text)))

    def schema(self) -> dict[str, Any]:
        """A list of strings."""
        return {"type": "array", "items": {"type": "string"}, "uniqueItems": True}


@dataclass(frozen=True)
class Amount(Kind):
    """A number within limits; infinity only where the upper limit is infinite."""

    least: float = -math.inf
    most: float = math.inf
    whole: bool = False
    metavar = "NUMBER"

    def checked(self, name: str, value: Any) -> float | int:
        if isinstance(value, bool) or not isinstance(value, Real) or value != value:
            raise refused(name, value, "it must be a number")
        try:
            number = float(value)
        except OverflowError:
            raise refused(name, value, "it is too large") from None
        if self.whole and not number.is_integer():
            raise refused(name, value, "it must be a whole number")
        if not self.least <= number <= self.most:
            limits = (
                f"between {self.least:,.12g} and {self.most:,.12g}"
                if math.isfinite(self.most)
                else f"{self.least:g} or more"
            )
            raise refused(name, value, f"it must be {limits}")
        return int(number) if self.whole else number

    def from_text(self, name: str, texts: Sequence[str]) -> float | int:
        try:
            return self.checked(name, float(texts[-1]))
        except ValueError as error:
            if isinstance(error, ArgumentError):
                raise
            raise refused(name, texts[-1], "it must be a number") from None

    def from_json(self, name: str, value: Any) -> float | int:
        """A number; infinity is written ``"inf"``, as in every answer."""
        return self.checked(name, math.inf if value == "inf" else value)

    def schema(self) -> dict[str, Any]:
        """A number with its limits."""
        limits = {"minimum": self.least, "maximum": self.most}
        return {"type": "integer" if self.whole else "number"} | {
            key: limit for key, limit in limits.items() if math.isfinite(limit)
        }


@dataclass(frozen=True)
class Numbers(Kind):
    """One whole number or several."""

    least: int = 1
    repeated = True
    metavar = "NUMBER"

    def checked(self, name: str, value: Any) -> tuple[int, ...]:
        several = value if isinstance(value, (list, tuple)) else (value,)
        return tuple(int(Amount(self.least, whole=True).checked(name, each)) for each in several)

    def from_text(self, name: str, texts: Sequence[str]) -> tuple[int, ...]:
        return tuple(int(Amount(self.least, whole=True).from_text(name, [text])) for text in texts)

    def schema(self) -> dict[str, Any]:
        """A list of whole numbers."""
        return {"type": "array", "items": {"type": "integer", "minimum": self.least}}


@dataclass(frozen=True)
class OneOf(Kind):
    """One of a few words."""

    words: tuple[str, ...] = ()

    def checked(self, name: str, value: Any) -> str:
        if value not in self.words:
            raise refused(name, value, f"choose one of {', '.join(self.words)}")
        return str(value)

    def schema(self) -> dict[str, Any]:
        """The words."""
        return {"enum": list(self.words)}


@dataclass(frozen=True)
class Flag(Kind):
    """Yes or no."""

    def checked(self, name: str, value: Any) -> bool:
        if not isinstance(value, bool):
            raise refused(name, value, "it must be True or False")
        return value

    def schema(self) -> dict[str, Any]:
        """A boolean."""
        return {"type": "boolean"}


@dataclass(frozen=True)
class PixelSize(Kind):
    """Width and height of a picture, in pixels."""

    metavar = "WIDTHxHEIGHT"

    def checked(self, name: str, value: Any) -> tuple[int, int]:
        """Width and height; one number is both."""
        sides = value.lower().split("x") if isinstance(value, str) else [value] if isinstance(value, int) else value
        if not isinstance(sides, (list, tuple)) or len(sides) not in (1, 2):
            raise refused(name, value, "it must be width and height in pixels, such as 64x64")
        side = Amount(1, 20_000, whole=True)
        sizes = [side.from_text(name, [each]) if isinstance(each, str) else side.checked(name, each) for each in sides]
        return int(sizes[0]), int(sizes[-1])

    def schema(self) -> dict[str, Any]:
        """A text."""
        return {"type": "string", "pattern": r"^[1-9][0-9]*x[1-9][0-9]*$"}


@dataclass(frozen=True)
class File(Kind):
    """A path."""

    metavar = "FILE"

    def checked(self, name: str, value: Any) -> Path:
        if not isinstance(value, (str, os.PathLike)) or not str(value):
            raise refused(name, value, "it must be a path")
        try:
            return checked_path(value)
        except SourceError as error:
            raise refused(name, None, str(error)) from None


@dataclass(frozen=True)
class Bins(Kind):
    """Columns of numbers to be cut: into a number of groups, or at edges."""

    repeated = True
    metavar = "COL=10|COL=18,30,65"

    def checked(self, name: str, value: Any) -> dict[str, int | tuple[float, ...]]:
        """Column to a number of groups, or to its edges in order."""
        if not isinstance(value, Mapping):
            raise refused(name, value, "it maps columns to a number of groups or to edges")
        return {str(column): self._wish(name, str(column), wish) for column, wish in value.items()}

    def _wish(self, name: str, column: str, wish: Any) -> int | tuple[float, ...]:
        shown = {column: wish}
        if isinstance(wish, int) and not isinstance(wish, bool):
            if not 2 <= wish <= MOST_BINS:
                raise refused(name, shown, f"choose between 2 and {MOST_BINS} groups, or at least two edges")
            return wish
        try:
            edges = () if isinstance(wish, str) else tuple(float(edge) for edge in wish)
        except (TypeError, ValueError, OverflowError):
            raise refused(name, shown, "neither a number of groups nor edges between them") from None
        if not edges or not all(map(math.isfinite, edges)) or sorted(set(edges)) != list(edges):
            raise refused(name, shown, "edges are finite numbers in rising order")
        if len(edges) >= MOST_BINS:
            raise refused(name, shown, f"{len(edges)} edges are more than the {MOST_BINS - 1} allowed")
        return edges

    def from_text(self, name: str, texts: Sequence[str]) -> dict[str, int | tuple[float, ...]]:
        """``age=10`` as ten groups, ``age=18,30,65`` as the edges between groups."""
        bins: dict[str, Any] = {}
        for text in texts:
            column, equals, wish = text.rpartition("=")
            try:
                edges = [float(edge) for edge in wish.split(",")]
            except ValueError:
                edges = []
            if not equals or not column or not edges:
                raise refused(name, text, "neither COLUMN=10 (a number of groups) nor COLUMN=18,30,65 (edges)")
            if column in bins:
                raise refused(name, text, f"column '{column}' is cut twice")
            bins[column] = int(edges[0]) if len(edges) == 1 and edges[0].is_integer() else edges
        return self.checked(name, bins)

    def schema(self) -> dict[str, Any]:
        """An object of numbers or lists of numbers."""
        edges = {"type": "array", "items": {"type": "number"}}
        return {"type": "object", "additionalProperties": {"anyOf": [{"type": "integer"}, edges]}}


@dataclass(frozen=True)
class Further(Kind):
    """Further secrets, each a column or a combination of columns, with its own epsilon."""

    repeated = True
    metavar = "COL=0.3|COL,COL=0.8"

    def checked(self, name: str, value: Any) -> dict[tuple[str, ...], float]:
        if not isinstance(value, Mapping):
            raise refused(name, value, "it maps columns to their epsilon")
        further: dict[tuple[str, ...], float] = {}
        for columns, epsilon in value.items():
            further[Names().checked(name, columns)] = float(Amount(0).checked(name, epsilon))
        return further

    def from_text(self, name: str, texts: Sequence[str]) -> dict[tuple[str, ...], float]:
        """``sex=0.3`` as a further secret with its epsilon, ``race,sex=0.8`` as a combination of columns."""
        further: dict[tuple[str, ...], float] = {}
        for text in texts:
            columns, equals, epsilon = text.rpartition("=")
            named = tuple(cells(columns))
            try:
                number = float(epsilon)
            except ValueError:
                number = math.nan
            if not equals or number != number or not named:
                raise refused(name, text, "it must be COLUMN=EPSILON, such as sex=0.3 or race,sex=0.8")
            if named in further:
                raise refused(name, text, f"'{columns}' is named twice")
            further[named] = number
        return self.checked(name, further)

    def from_json(self, name: str, value: Any) -> dict[tuple[str, ...], float]:
        """An object; its keys are combinations as they are typed."""
        if not isinstance(value, Mapping):
            return self.checked(name, value)
        return self.checked(name, {tuple(cells(str(columns))): epsilon for columns, epsilon in value.items()})

    def schema(self) -> dict[str, Any]:
        """An object of numbers; a combination is written with commas."""
        return {"type": "object", "additionalProperties": {"type": "number", "minimum": 0}}


def cells(text: str) -> list[str]:
    """A line of comma-separated names; one that contains a comma is put in double quotes.

    A name with a line break is put in double quotes, too, or stands alone.
    """
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), skipinitialspace=True))
    except csv.Error:
        rows = []
    named = rows[0] if len(rows) == 1 else [text]
    return [cell.strip() for cell in named] if text.strip() else []


@dataclass(frozen=True)
class SettingFacts:
    """What a field of a request says about itself: its kind, its help, the lenses it is for, and a short option."""

    kind: Kind
    help: str
    lenses: tuple[str, ...]
    short: str | None = None
    metavar: str | None = None


LENSES = ("table", "images", "text", "vectors")


def setting(
    kind: Kind,
    help: str,
    *,
    default: Any = None,
    lenses: tuple[str, ...] = LENSES,
    short: str | None = None,
    metavar: str | None = None,
) -> Any:
    """A field of a request."""
    facts = SettingFacts(kind, help, lenses, short, metavar)
    return field(default=default, metadata={"setting": facts}, kw_only=True)


def settings_of(request: type[Request] | Request) -> dict[str, SettingFacts]:
    """The settings of a request by name, in order."""
    return {f.name: f.metadata["setting"] for f in fields(request) if "setting" in f.metadata}


def default_of(request: type[Request], name: str) -> Any:
    """What a setting is if it is not given."""
    default = next(f.default for f in fields(request) if f.name == name)
    return None if default is MISSING else default


@dataclass(frozen=True)
class Request:
    """What a verb is asked. Values are checked once, here; None means not given."""

    def __post_init__(self) -> None:
        """Bring every value to the form that its kind keeps."""
        for name, facts in settings_of(self).items():
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, facts.kind.checked(name, value))
