"""The released values of a table, one symbol for each combination; how a rules file and how engines write them."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from tacit.errors import ArgumentError, DataError

if TYPE_CHECKING:
    import pyarrow as pa

Codes = NDArray[np.int64]

# Rows are put in order without sorting if their numbers are below so many times the rows.
DENSE = 16

# Type name in a rules file, to JSON, from JSON. datetime is a date and bool an int: the order of the tests matters.
_TYPES: dict[TypeName, tuple[type, Callable[[Any], Any], Callable[[Any], Any]]] = {
    "boolean": (bool, bool, bool),
    "integer": (int, int, int),
    "number": (float, lambda v: v if np.isfinite(v) else str(v), float),
    "decimal": (Decimal, str, Decimal),
    "text": (str, str, str),
    "timestamp": (dt.datetime, lambda v: v.isoformat(), dt.datetime.fromisoformat),
    "date": (dt.date, lambda v: v.isoformat(), dt.date.fromisoformat),
    "time": (dt.time, lambda v: v.isoformat(), dt.time.fromisoformat),
}


TypeName = Literal["boolean", "integer", "number", "decimal", "text", "timestamp", "date", "time"]


@dataclass(frozen=True)
class StoredColumn:
    """A column's values in JSON types, and their type."""

    name: str
    type: TypeName
    levels: tuple[bool | int | float | str | None, ...]


@dataclass(frozen=True, eq=False)
class StoredSymbols:
    """Symbols as stored in a rules file."""

    columns: tuple[StoredColumn, ...]
    codes: Codes


def type_name(levels: Sequence[Any], column: str) -> TypeName:
    """The one type of a column's values, as a rules file calls it; text if all are missing."""
    present = [value for value in levels if value is not None]
    if not present:
        return "text"
    for name, (kind, _, _) in _TYPES.items():
        if isinstance(present[0], kind):
            if all(isinstance(value, kind) for value in present):
                return name
            break
    raise DataError(f"column '{column}' mixes types, or has values of type {type(present[0]).__name__}: make it text")


@dataclass(frozen=True, eq=False)
class Symbols:
    """Combinations of values of the released columns; symbol ``i`` has the values ``levels[c][codes[i, c]]``.

    Attributes
    ----------
    columns : tuple of str
    levels : tuple of tuples
        The values of each column; None is the missing value.
    codes : int array of shape (symbols, columns)
    """

    columns: tuple[str, ...]
    levels: tuple[tuple[Any, ...], ...]
    codes: Codes

    def __post_init__(self) -> None:
        codes = np.array(self.codes, dtype=np.int64).reshape(-1, len(self.columns))
        if len(self.levels) != len(self.columns):
            raise ArgumentError(f"{len(self.columns)} columns need as many lists of levels, not {len(self.levels)}")
        for at, (column, levels) in enumerate(zip(self.columns, self.levels, strict=True)):
            if len(set(levels)) < len(levels):
                raise ArgumentError(f"the levels of column '{column}' are not all different")
            if len(codes) and not (codes[:, at].min() >= 0 and codes[:, at].max() < len(levels)):
                raise ArgumentError(f"a code of column '{column}' is outside its {len(levels)} levels")
        codes.setflags(write=False)
        object.__setattr__(self, "codes", codes)

    def __len__(self) -> int:
        return len(self.codes)

    def values(self, symbol: int) -> dict[str, Any]:
        """The value of each column for one symbol."""
        row = self.codes[symbol]
        return {name: self.levels[at][row[at]] for at, name in enumerate(self.columns)}

    @property
    def all_missing(self) -> NDArray[np.bool_]:
        """Which symbols have no value in any column."""
        missing = [np.array([value is None for value in levels]) for levels in self.levels]
        gone = [absent[self.codes[:, at]] for at, absent in enumerate(missing)]
        return np.asarray(np.all(gone, axis=0), dtype=bool)

    def positions_in(self, other: Symbols) -> Codes:
        """The number of each symbol in ``other``; -1 where ``other`` does not have it."""
        if self.columns != other.columns:
            raise ArgumentError(f"symbols of columns {self.columns} have no place among those of {other.columns}")
        place = [{value: at for at, value in enumerate(levels)} for levels in other.levels]
        moved = np.column_stack(
            [
                np.array([theirs.get(value, -1) for value in levels], dtype=np.int64)[self.codes[:, at]]
                for at, (theirs, levels) in enumerate(zip(place, self.levels, strict=True))
            ]
        )
        complete = (moved >= 0).all(axis=1)
        _, numbers = in_order(np.concatenate([moved + 1, other.codes + 1]))
        position = np.full(len(numbers), -1, dtype=np.int64)
        position[numbers[len(self) :]] = np.arange(len(other))
        return np.where(complete, position[numbers[: len(self)]], -1)

    def picked(self, rows: Codes) -> Symbols:
        """Some of the symbols, without levels that none of them has."""
        levels, codes = [], []
        for at, every in enumerate(self.levels):
            used, code = np.unique(self.codes[rows, at], return_inverse=True)
            levels.append(tuple(every[k] for k in used.tolist()))
            codes.append(code.reshape(-1))
        return Symbols(self.columns, tuple(levels), np.column_stack(codes).astype(np.int64))

    def labels(self) -> SymbolLabels:
        """A name for each symbol: its value, or a tuple of values if there are several columns."""
        return SymbolLabels(self.levels, self.codes)

    def stored(self) -> StoredSymbols:
        """As in a rules file: values with their type, so that the next batch is treated alike."""
        columns = []
        for name, levels in zip(self.columns, self.levels, strict=True):
            kind = type_name(levels, name)
            written = tuple(None if value is None else _TYPES[kind][1](value) for value in levels)
            columns.append(StoredColumn(name, kind, written))
        return StoredSymbols(tuple(columns), self.codes)

    @classmethod
    def restored(cls, stored: StoredSymbols) -> Symbols:
        """From what :meth:`stored` gave; a ValueError if it is damaged."""
        levels = []
        for column in stored.columns:
            _, write, read = _TYPES[column.type]
            try:
                values = tuple(None if value is None else read(value) for value in column.levels)
            except (TypeError, InvalidOperation) as error:
                raise ValueError(f"a level of column '{column.name}' is no {column.type}") from error
            if tuple(None if value is None else write(value) for value in values) != column.levels:
                raise ValueError(f"a level of column '{column.name}' is no {column.type}")
            levels.append(values)
        return cls(tuple(column.name for column in stored.columns), tuple(levels), stored.codes)


def in_order(codes: Codes) -> tuple[Codes, Codes]:
    """The different rows of ``codes`` in lexicographic order, and which of them each row is."""
    key = np.zeros(len(codes), dtype=np.int64)
    for at in range(codes.shape[1]):
        radix = int(codes[:, at].max(initial=0)) + 1
        if int(key.max(initial=0)) >= 2**62 // radix:
            # The number of a row would overflow; its rank does not, and keeps the order.
            different, rank = np.unique(key, return_inverse=True)
            key = rank.reshape(-1).astype(np.int64)
            if len(different) == len(key):
                # No two rows are equal so far, and no further column can change their order.
                break
        key = key * radix + codes[:, at]
    if (key[1:] > key[:-1]).all():
        # Groups that were counted are in order, and so are most of what is asked of them.
        return codes.astype(np.int64), np.arange(len(key))
    most = int(key.max(initial=0))
    if most < DENSE * len(key) and key.min() >= 0:
        # So few numbers are possible that to look at each of them is quicker than to sort the rows.
        rows = np.full(most + 1, -1)
        rows[key] = np.arange(len(key))
        present = np.flatnonzero(rows >= 0)
        different = codes.take(rows[present], axis=0).astype(np.int64, copy=False)
        if len(present) == len(rows):
            return different, key
        place = np.zeros(len(rows), np.int64)
        place[present] = np.arange(len(present))
        return different, place.take(key)
    _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
    return codes[first].astype(np.int64, copy=False), inverse.reshape(-1).astype(np.int64, copy=False)


@dataclass(frozen=True, eq=False)
class SymbolLabels(Sequence[Any]):
    """The value of each row of codes, or its tuple of values if there are several columns; made on demand."""

    levels: tuple[tuple[Any, ...], ...]
    codes: Codes

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, row: Any) -> Any:
        if isinstance(row, slice):
            places = zip(self.levels, self.codes[row].T.tolist(), strict=True)
            columns = [[levels[code] for code in codes] for levels, codes in places]
            if not columns:
                return [()] * len(self.codes[row])
            return columns[0] if len(columns) == 1 else list(zip(*columns, strict=True))
        values = tuple(levels[code] for levels, code in zip(self.levels, self.codes[row], strict=True))
        return values[0] if len(values) == 1 else values


def encoded(column: pa.ChunkedArray, name: str, order: tuple[str, ...] = ()) -> tuple[tuple[Any, ...], Codes]:
    """The sorted values of a column, None (missing) last, and the position of each row's value among them.

    NaN is missing, and -0.0 is 0.0. ``name`` is what errors call the column; ``order`` lists its values, if given.
    """
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_timestamp(column.type):
        column = _microseconds(column, name)
    numbered = column.combine_chunks().dictionary_encode()
    try:
        values = numbered.dictionary.to_pylist()
    except (OverflowError, ValueError) as error:
        raise DataError(
            f"column '{name}' has a date or time outside the years 1 to 9999: fix it, or make it text"
        ) from error
    if pa.types.is_floating(column.type):
        values = [None if value != value else value + 0.0 for value in values]
    rank = {value: at for at, value in enumerate(order)}
    present = sorted(
        {v for v in values if v is not None}, key=(lambda v: (rank.get(v, len(rank)), v)) if rank else None
    )
    codes = numbered.indices.fill_null(len(values)).to_numpy(zero_copy_only=False).astype(np.int64)
    missing = None in values or bool((codes == len(values)).any())
    position = {value: at for at, value in enumerate(present)} | {None: len(present)}
    remap = np.array([position[value] for value in values] + [len(present)], dtype=np.int64)
    return (*present, *([None] if missing else [])), remap[codes]


def _microseconds(column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    import pyarrow as pa

    zone = "UTC" if column.type.tz else None
    try:
        return column.cast(pa.timestamp("us", zone))
    except pa.ArrowInvalid as error:
        raise DataError(f"column '{name}' has times finer than a microsecond: round them") from error


def level_text(value: Any) -> str | None:
    """A value of a column as an engine writes it, for a cast to the column's type."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dt.datetime):
        return value.isoformat(sep=" ")
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, float):
        return {float("inf"): "Infinity", float("-inf"): "-Infinity"}.get(value, repr(value))
    return value.isoformat() if isinstance(value, dt.date | dt.time) else str(value)


def positions_of(levels: Sequence[Any], written: Sequence[str | None]) -> tuple[list[str], NDArray[np.int64]]:
    """The texts that distinguish a column's levels, and the position of each level among them.

    ``written`` is each level as the column's type prints it, None where it cannot hold it. Missing comes after the
    last text. A level that the column cannot hold, or cannot distinguish from another, has position -1: doubt counts as
    risk.
    """
    times = Counter(written)
    labels = [label for label in written if label is not None and times[label] == 1]
    place = {label: at for at, label in enumerate(labels)}
    position = [
        len(labels) if level is None else (place.get(label, -1) if label is not None else -1)
        for level, label in zip(levels, written, strict=True)
    ]
    return labels, np.array(position, dtype=np.int64)
