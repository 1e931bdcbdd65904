"""The values of an original column: in order, how often each occurs, and in groups few enough to count."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import DataError
from tacit.learn.arrays import Codes, Floats
from tacit.lenses.table.kept.times import days_in, number_of
from tacit.tables.symbols import level_text

if TYPE_CHECKING:
    import pyarrow as pa

# A column with no more values than this is not grouped.
FEW_VALUES = 20
# With more values, numbers are grouped into tenths, texts into twentieths of their order.
TENTHS, TWENTIETHS = 10, 20


@dataclass(frozen=True, eq=False)
class ColumnValues:
    """The values that occur in a column, in order; ``codes`` says which one each row has, -1 if it is missing.

    Numbers are numbers, times and texts that are dates are numbers of days, and everything else is text. ``written``
    has the code of each date by its text.
    """

    name: str
    numeric: bool
    time: bool
    values: NDArray[Any]
    counts: Codes
    codes: Codes
    written: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, name: str, column: pa.ChunkedArray, kind: str) -> ColumnValues:
        """The values of an Arrow column of a kind: numbers, times, or anything else."""
        distinct = None if kind == "number" else _distinct(column)
        numbers = distinct_numbers(column) if distinct is None else _times(column, *distinct)
        values, codes = numbers or _texts(*(distinct or _distinct(column)))
        time = distinct is not None and numbers is not None
        written = {}
        if time:
            texts, places = distinct_texts(column)
            written = {text: int(codes[row]) for text, row in zip(texts, _first_rows(places), strict=True)}
        counts = np.bincount(codes[codes >= 0], minlength=len(values)).astype(np.int64)
        return cls(name, numbers is not None, time, values, counts, codes, written)

    @cached_property
    def read(self) -> dict[str, Any]:
        """What levels of the column were taken to say, by their texts, where that follows from the text alone."""
        return {}

    @cached_property
    def listed(self) -> list[Any]:
        """The values as a list, in which one is found sooner than in an array of texts."""
        return list(self.values.tolist())

    @cached_property
    def places(self) -> dict[Any, int]:
        """The code of each value."""
        return {value: at for at, value in enumerate(self.listed)}

    @property
    def missing(self) -> int:
        """How many rows have no value."""
        return int((self.codes < 0).sum())


@dataclass(frozen=True, eq=False)
class ValueGroups:
    """The values of a column in ``size`` groups: ``of`` has the group of each value, and last that of missing."""

    of: Codes
    size: int

    @classmethod
    def coarse(cls, column: ColumnValues) -> ValueGroups:
        """A group for each value if they are few; else tenths of numbers, or twentieths of texts in their order.

        A value goes where the middle of its records lies among all records in order, so a number that a fifth of the
        records have, or a text that a tenth have, is alone in its group. Missing is a group of its own.
        """
        if len(column.values) <= FEW_VALUES:
            groups = np.arange(len(column.values))
        else:
            wanted = TENTHS if column.numeric else TWENTIETHS
            middle = (np.cumsum(column.counts) - column.counts / 2) / column.counts.sum()
            groups = np.unique((middle * wanted).astype(np.int64), return_inverse=True)[1]
        size = int(groups.max(initial=-1)) + 1
        return cls(np.append(groups, size).astype(np.int64), size + 1)

    def rows(self, column: ColumnValues) -> Codes:
        """The group of each row."""
        return self.of[column.codes]


def distinct_numbers(column: pa.ChunkedArray) -> tuple[Floats, Codes]:
    """Numbers, or texts that are numbers, in order, and which one each row has; -1 is none."""
    import pyarrow as pa

    kind = column.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return _in_order(np.array(column.cast(pa.float64(), safe=False).to_numpy(), dtype=np.float64))
    cells, codes = _distinct(column)
    return _in_order(np.array([*map(number_of, cells), np.nan])[codes])


def _times(column: pa.ChunkedArray, cells: list[Any], codes: Codes) -> tuple[Floats, Codes] | None:
    """Times, or texts that are all dates, in days and in order, and which one each row has; None if they are none."""
    import pyarrow as pa

    if pa.types.is_temporal(column.type):
        days = [*map(number_of, cells)]
    elif not cells or not all(isinstance(each, str) for each in cells) or (days := days_in(cells) or []) == []:
        return None
    return _in_order(np.array([*days, np.nan])[codes])


def _first_rows(codes: Codes) -> Codes:
    """The first row of each code from 0 on."""
    different, rows = np.unique(codes, return_index=True)
    return rows[different >= 0].astype(np.int64)


def _in_order(cells: Floats) -> tuple[Floats, Codes]:
    present = ~np.isnan(cells)
    codes = np.full(len(cells), -1, dtype=np.int64)
    values, codes[present] = np.unique(cells[present], return_inverse=True)
    return values, codes


def distinct_texts(column: pa.ChunkedArray) -> tuple[NDArray[Any], Codes]:
    """Cells as texts in order, and which one each row has; -1 is missing."""
    return _texts(*_distinct(column))


def _texts(cells: list[Any], codes: Codes) -> tuple[NDArray[Any], Codes]:
    texts = np.empty(len(cells), dtype=object)
    texts[:] = [level_text(value) for value in cells]
    values, order = np.unique(texts, return_inverse=True)
    return values, np.append(order, -1)[codes].astype(np.int64)


def _distinct(column: pa.ChunkedArray) -> tuple[list[Any], Codes]:
    """The values of a column in any order, and which one each row has; -1 is missing."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    encoded = column.combine_chunks().dictionary_encode()
    try:
        values = encoded.dictionary.to_pylist()
    except (OverflowError, ValueError) as error:
        raise DataError("a date or time is outside the years 1 to 9999: fix it, or make it text") from error
    return values, np.asarray(encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False), np.int64)
