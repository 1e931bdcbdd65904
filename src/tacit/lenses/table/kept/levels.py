"""Levels as a reader takes them: "30 to 39" is a range, "A or B" two values, "130**" all that begin with 130."""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tacit.lenses.table.kept.times import number_of, stretch_in
from tacit.lenses.table.kept.values import ColumnValues

# What a release says about its levels: for each text the two ends of its range (None: open), or its values.
LevelMeaning = Sequence[Any]
LevelDictionary = Mapping[str, Mapping[str, LevelMeaning]]

# Runs of values: from each start up to, and without, each stop.
Runs = tuple[tuple[int, int], ...]

_ANY, _ANY_BUT = ("any", "any number", "any date", "*"), "any but "
_MISSING = ("missing", "(missing)")
_OTHER = "another value"
_OR = re.compile(r' or (?=(?:[^"]*"[^"]*")*[^"]*$)')
# What a range looks like, which groups of the pattern are its ends (0: open), and whether the upper end is included.
_RANGES = tuple(
    (re.compile(pattern), low, high, closed)
    for pattern, low, high, closed in (
        (r"\[(.+), (.+)\)", 1, 2, False),
        (r"(?:<|under|below|before) ?(.+)", 0, 1, False),
        (r"(?:>=|≥|from|at least) ?(.+)", 1, 0, True),
        (r"(?:<=|≤|up to|at most) ?(.+)", 0, 1, True),
        (r"(.+?) to under (.+)", 1, 2, False),
        (r"(.+?) to (.+)", 1, 2, True),
        (r"(.+) (?:or|and) (?:more|over|above|later)", 1, 0, True),
        (r"(.+) (?:or|and) (?:less|under|below|earlier)", 0, 1, True),
    )
)
# The beginning of a code of digits, with a star for each that is left out.
_STARRED = re.compile(r"[0-9]+\*+")
_LAST_CHARACTER = "\U0010ffff"


@dataclass(frozen=True)
class LevelRead:
    """A level as a reader takes it: which values of the column it may stand for, and its range if these are numbers.

    ``near``: it is a number that no record has, and stands for the nearest. ``open``: it may be any value, or could not
    be read.
    """

    runs: Runs
    low: float = math.nan
    high: float = math.nan
    missing: bool = False
    near: bool = False
    open: bool = False

    @property
    def size(self) -> int:
        """How many values it may stand for."""
        return sum(stop - start for start, stop in self.runs)

    def holds(self, value: int) -> bool:
        """Whether a value, given by its code, is among them; -1 is missing."""
        if value < 0 or self.near:
            return self.missing and value < 0
        return any(start <= value < stop for start, stop in self.runs)


def read_levels(
    written: Sequence[Any], column: ColumnValues, dictionary: Mapping[str, LevelMeaning]
) -> list[LevelRead]:
    """What the levels of a released column say about it; "another value" is one that none of them names."""
    pieces = {each: _OR.split(each.removeprefix(_ANY_BUT)) for each in written if isinstance(each, str)}
    wide = {each for each, words in pieces.items() if _OTHER in words and _place(column, each) is None}
    if not wide:
        return [read_level(each, column, dictionary.get(each)) for each in written]
    named = [_piece(piece, column) for piece in {piece for words in pieces.values() for piece in words} - {_OTHER}]
    others = replace(_but(_either([each for each in named if each and not each.open]), column), missing=False)

    def read(each: Any) -> LevelRead:
        if each not in wide:
            return read_level(each, column, dictionary.get(each))
        whole = _either([others if piece == _OTHER else read_level(piece, column) for piece in pieces[each]])
        return _but(whole, column) if each.startswith(_ANY_BUT) else whole

    return [read(each) for each in written]


def read_level(written: Any, column: ColumnValues, meaning: LevelMeaning | None = None) -> LevelRead:
    """What a released cell says about a column: by the release's dictionary, or by its words if it is not in there.

    Guarantees
    ----------
    A value of the column is read as itself, and what cannot be read stands for any value. "A to C" between texts is
    read in the order of their characters; only the dictionary can state another order.
    """
    if not isinstance(written, str):
        return _number(float(written), column)
    if meaning is not None:
        return _by_dictionary(meaning, column, missing=_OR.split(written)[-1] in _MISSING)
    # Releases with different bounds write many of the same levels.
    if written not in column.read:
        column.read[written] = _by_words(written, column)
    read: LevelRead = column.read[written]
    return read


def _by_words(written: str, column: ColumnValues) -> LevelRead:
    if (place := _place(column, written)) is not None:
        at = float(column.values[place]) if column.numeric else math.nan
        return LevelRead(((place, place + 1),), at, at)
    if written.startswith(_ANY_BUT):
        return _but(read_level(written.removeprefix(_ANY_BUT), column), column)
    if column.numeric and (whole := _piece(written, column)) is not None:
        return whole
    pieces = [_piece(piece, column) for piece in _OR.split(written)]
    return _either([piece for piece in pieces if piece is not None]) if None not in pieces else _anything(column)


def _anything(column: ColumnValues) -> LevelRead:
    return LevelRead(((0, len(column.values)),), -math.inf, math.inf, missing=True, open=True)


def _by_dictionary(meaning: LevelMeaning, column: ColumnValues, *, missing: bool) -> LevelRead:
    if column.numeric:
        low, high = meaning
        ends = _end(low, column, -math.inf)[0], _end(high, column, math.inf)[1]
        return replace(_range(*ends, column), missing=missing or ends == (-math.inf, math.inf))
    places = (_place(column, str(value)) for value in meaning if value is not None)
    read = _values({place for place in places if place is not None})
    return replace(read, missing=missing or None in meaning, open=read.size == len(column.values) > 1)


def _end(end: Any, column: ColumnValues, nothing: float) -> tuple[float, float]:
    """An end of a range as its first and its last moment; for a number both are the same."""
    if end is None:
        return nothing, nothing
    if column.time and isinstance(end, str):
        return stretch_in(end) or (math.nan, math.nan)
    if isinstance(end, str) and _STARRED.fullmatch(end):
        return float(end.replace("*", "0")), float(end.replace("*", "9"))
    number = number_of(end.replace("−", "-") if isinstance(end, str) else end)
    return number, number


def _piece(text: str, column: ColumnValues) -> LevelRead | None:
    """One of several statements that are joined by "or"; None if it cannot be read."""
    if text in _MISSING:
        return LevelRead((), missing=True)
    if text in _ANY:
        return _anything(column)
    return _number_piece(text, column) if column.numeric else _text_piece(text, column)


def _number_piece(text: str, column: ColumnValues) -> LevelRead | None:
    stretch = stretch_in(text) if column.time else None
    if stretch:
        return _range(*stretch, column)
    if not math.isnan(number_of(text)):
        return _number(number_of(text), column)
    if _STARRED.fullmatch(text):
        return _range(*_end(text, column, math.nan), column)
    for pattern, low_at, high_at, closed in _RANGES:
        match = pattern.fullmatch(text)
        if match:
            low = _end(match[low_at] if low_at else None, column, -math.inf)[0]
            last = _end(match[high_at] if high_at else None, column, math.inf)
            high = last[1] if closed else float(np.nextafter(last[0], -math.inf))
            if not (math.isnan(low) or math.isnan(high)):
                return _range(low, high, column)
    return None


def _number(number: float, column: ColumnValues) -> LevelRead:
    """One number: itself, or the nearest value of the column."""
    place = int(column.values.searchsorted(number))
    if place < len(column.values) and column.values[place] == number:
        return LevelRead(((place, place + 1),), number, number)
    near = [at for at in (place - 1, place) if 0 <= at < len(column.values)]
    if not near or math.isnan(number):
        return _anything(column)
    nearest = min(near, key=lambda at: abs(float(column.values[at]) - number))
    return LevelRead(((nearest, nearest + 1),), number, number, near=True)


def _range(low: float, high: float, column: ColumnValues) -> LevelRead:
    start = int(column.values.searchsorted(low, side="left"))
    stop = int(column.values.searchsorted(high, side="right"))
    everything = math.isinf(low) and math.isinf(high)
    return LevelRead(((start, stop),) if stop > start else (), low, high, open=everything)


def _text_piece(text: str, column: ColumnValues) -> LevelRead | None:
    """A value, the beginning of some values, or a range of them in the order of characters."""
    value = _unquoted(text)
    if (place := _place(column, value)) is not None:
        return LevelRead(((place, place + 1),))
    first, to, last = text.partition(" to ")
    starts = [_unquoted(end.rstrip("*")) for end in (first, last if to else first)]
    if not to and not text.endswith("*"):
        return None
    start = bisect_left(column.listed, starts[0])
    # An end with a star includes every value that begins with it.
    end = starts[1] + (_LAST_CHARACTER if (last or first).endswith("*") else "")
    stop = bisect_right(column.listed, end)
    return LevelRead(((start, stop),)) if stop > start else None


def _unquoted(text: str) -> str:
    return text[1:-1].replace('""', '"') if len(text) > 1 and text[0] == text[-1] == '"' else text


def _place(column: ColumnValues, text: str) -> int | None:
    """The code of the value that is written like this. Numbers are read and not looked up, except for dates."""
    if column.numeric:
        return column.written.get(text)
    return column.places.get(text)


def _values(places: Iterable[int]) -> LevelRead:
    runs: list[tuple[int, int]] = []
    for place in sorted(places):
        if runs and runs[-1][1] == place:
            runs[-1] = (runs[-1][0], place + 1)
        else:
            runs.append((place, place + 1))
    return LevelRead(tuple(runs))


def _either(pieces: Sequence[LevelRead]) -> LevelRead:
    """What several statements say together."""
    if len(pieces) == 1 and len(pieces[0].runs) == 1 and not pieces[0].near:
        return pieces[0]
    places = {place for piece in pieces for start, stop in piece.runs for place in range(start, stop)}
    ranges = [piece for piece in pieces if not math.isnan(piece.low)]
    return replace(
        _values(places),
        low=min((piece.low for piece in ranges), default=math.nan),
        high=max((piece.high for piece in ranges), default=math.nan),
        missing=any(piece.missing for piece in pieces),
        open=any(piece.open for piece in pieces),
    )


def _but(read: LevelRead, column: ColumnValues) -> LevelRead:
    """Every value that a level does not hold."""
    if read.open:
        return read
    others = _values(place for place in range(len(column.values)) if not read.holds(place))
    return replace(others, missing=not read.missing)
