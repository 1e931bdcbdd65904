"""Coarser levels of columns: numbers by tens, dates by month or year, codes by their first characters."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from tacit.tables.columns import ROW, Column
from tacit.tables.numbers import NumbersHere, as_number, numbers_here
from tacit.tables.table import Table

if TYPE_CHECKING:
    import narwhals as nw
    import pyarrow as pa

    from tacit.tables.engines.protocol import Rows

# Rows read to see what a column holds.
FIRST_LOOK = 2_000
# A step leaves at most this many groups between the 1st and the 99th percentile of a number column.
MOST_STEPS = 25
SHORTEST, LONGEST = 1e-290, 1e300
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_CODE = re.compile(r"(?=.*\d)[0-9A-Za-z]{3,12}")


@dataclass(frozen=True)
class CoarserLevel:
    """One coarser level of a column: the steps of a number, the part of a date, the first characters of a code.

    ``setting`` is what ``levels`` takes for it: a width, "month" or "year", or "prefix:2".
    """

    column: str
    how: Literal["steps", "date", "prefix"]
    setting: int | float | str

    @property
    def words(self) -> str:
        """The level as people say it."""
        if self.how == "steps":
            return f"steps of {self.setting:,}"
        if self.how == "date":
            return str(self.setting)
        return f"first {self.length} characters" if self.length > 1 else "first character"

    @property
    def length(self) -> int:
        """How many characters of a code are kept."""
        return int(str(self.setting).partition(":")[2])


def coarser_levels(table: Table, columns: Sequence[str]) -> dict[str, tuple[CoarserLevel, ...]]:
    """The coarser levels of each column, finest first; a category has none."""
    if not columns:
        return {}
    head = table.head(list(columns), FIRST_LOOK)
    levels = {}
    for name in columns:
        values = [value for value in head.column(name).to_pylist() if value is not None and value != ""]
        levels[name] = tuple(CoarserLevel(name, how, each) for how, each in _levels(table[name], values))
    return levels


def _levels(column: Column, values: Sequence[Any]) -> list[tuple[Literal["steps", "date", "prefix"], Any]]:
    if not values:
        return []
    texts = [value for value in values if isinstance(value, str)]
    dated = all(map(_DATE.match, texts)) if texts else column.dtype != "Time"
    if column.kind == "time":
        return [("date", "month"), ("date", "year")] if dated else []
    if texts and _is_code(column, texts):
        return [("prefix", f"prefix:{length}") for length in range(min(map(len, texts)) - 1, 0, -1)]
    if column.kind == "number":
        return [("steps", width) for width in _widths(np.array([float(value) for value in values]))]
    return []


def _is_code(column: Column, texts: Sequence[str]) -> bool:
    """Letters and digits, all of the same length; numbers are codes if any has a leading zero."""
    alike = len(set(map(len, texts))) == 1 and all(map(_CODE.fullmatch, texts))
    return alike and (column.kind == "text" or any(value.startswith("0") for value in texts))


def _widths(numbers: np.ndarray[Any, np.dtype[np.float64]]) -> list[int | float]:
    """One or five times a power of ten: the first that leaves few groups, and the one after it.

    A width must group values: it exceeds the smallest gap between two of them, but not the range of nearly all.
    """
    different = np.unique(numbers[np.isfinite(numbers)])
    if len(different) < 2:
        return []
    low, high = np.quantile(numbers[np.isfinite(numbers)], [0.01, 0.99])
    # Beyond these, the powers of ten around it are no floats.
    if not SHORTEST < high / 2 - low / 2 < LONGEST:
        return []
    gap = float(np.diff(different).min())
    power = math.floor(math.log10((high - low) / MOST_STEPS)) - 1
    nice = [digit * 10.0**exponent for exponent in range(power, power + 5) for digit in (1, 5)]
    fit = [width for width in nice if (high - low) / width <= MOST_STEPS and gap < width <= high - low]
    return [int(width) if width >= 1 else width for width in fit[:2]]


def with_levels(table: Table, levels: Sequence[CoarserLevel], names: Sequence[str]) -> Table:
    """The table with one more column for each level, under these names; lazily, in the engine."""
    if not levels:
        return table

    def rows() -> Rows:
        plainly, plain = table.plainly(table.names)
        place = dict(zip(table.names, plain, strict=True))
        further = [f"l{at}" for at in range(len(levels))]
        named = zip(levels, further, strict=True)
        expressions = [_expression(place[each.column], table[each.column], each).alias(name) for each, name in named]
        wider = plainly.with_columns(*expressions)
        return table.engine.renamed(wider, [*plain, *further, ROW], [*table.names, *names, ROW])

    columns = [Column(name, "text", "String") for name in names]
    here = {name: _here(table, level) for name, level in zip(names, levels, strict=True)}
    following = {name: make for name, make in here.items() if make is not None}
    return table.changed(rows, [*table.columns, *columns], same=table.names, following=following)


def _here(table: Table, level: CoarserLevel) -> Callable[[], pa.ChunkedArray] | None:
    """What tells a column at a level in this process, as :func:`_expression` does in the engine; None if it cannot."""
    column = table[level.column]
    numbers = numbers_here(table, level.column) if level.how == "steps" else None
    texts = table.encoded([level.column]) if level.how != "steps" and column.dtype == "String" else None
    if numbers is not None:
        return partial(_steps_here, numbers, float(level.setting))
    length = level.length if level.how == "prefix" else 7 if level.setting == "month" else 4
    return None if texts is None else partial(_beginnings_here, *texts[0], length)


def _steps_here(numbers: NumbersHere, width: float) -> pa.ChunkedArray:
    import pyarrow as pa

    steps = np.floor(numbers.values / width) + 0.0
    return pa.chunked_array([pa.array(steps[numbers.codes], mask=np.isnan(steps)[numbers.codes])])


def _beginnings_here(levels: Sequence[str | None], codes: NDArray[np.integer], length: int) -> pa.ChunkedArray:
    import pyarrow as pa

    beginnings = pa.array([None if text is None else text[:length] for text in levels], pa.string())
    return pa.chunked_array([beginnings.take(pa.array(codes))])


def _expression(name: str, column: Column, level: CoarserLevel) -> nw.Expr:
    import narwhals as nw

    if level.how == "steps":
        step = (as_number(name, column) / float(level.setting)).floor()
        # -0.0 is 0.0.
        return nw.when(step == 0).then(nw.lit(0.0)).otherwise(step)
    if level.how == "prefix":
        return nw.col(name).str.slice(0, level.length)
    if column.dtype == "String":
        return nw.col(name).str.slice(0, 7 if level.setting == "month" else 4)
    year = nw.col(name).dt.year()
    return year * 12 + nw.col(name).dt.month() if level.setting == "month" else year
