"""The released values of a table, one symbol for each combination, and how they are kept in a rules file."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import ArgumentError, DataError

Codes = NDArray[np.int64]

# Type name in a rules file, to JSON, from JSON. datetime is a date and bool an int: the order of the tests matters.
_TYPES: dict[str, tuple[type, Callable[[Any], Any], Callable[[Any], Any]]] = {
    "boolean": (bool, bool, bool),
    "integer": (int, int, int),
    "number": (float, lambda v: v if np.isfinite(v) else str(v), float),
    "decimal": (Decimal, str, Decimal),
    "text": (str, str, str),
    "timestamp": (dt.datetime, lambda v: v.isoformat(), dt.datetime.fromisoformat),
    "date": (dt.date, lambda v: v.isoformat(), dt.date.fromisoformat),
    "time": (dt.time, lambda v: v.isoformat(), dt.time.fromisoformat),
}


def type_name(levels: Sequence[Any], column: str) -> str:
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
        """The number each symbol has in ``other``; -1 for those it does not know."""
        if self.columns != other.columns:
            raise ArgumentError(f"symbols of columns {self.columns} have no place among those of {other.columns}")
        codes = np.zeros(len(self), dtype=np.int64)
        theirs = np.zeros(len(other), dtype=np.int64)
        known = np.ones(len(self), dtype=bool)
        for at, (mine, their) in enumerate(zip(self.levels, other.levels, strict=True)):
            place = {value: number for number, value in enumerate(their)}
            moved = np.array([place.get(value, -1) for value in mine], dtype=np.int64)[self.codes[:, at]]
            known &= moved >= 0
            # Numbered anew after every column, so that the codes of many columns never overflow.
            both = np.concatenate([codes * len(their) + moved, theirs * len(their) + other.codes[:, at]])
            numbered = np.unique(both, return_inverse=True)[1].reshape(-1)
            codes, theirs = numbered[: len(self)], numbered[len(self) :]
        found = np.full(int(max(codes.max(initial=-1), theirs.max(initial=-1))) + 1, -1, dtype=np.int64)
        found[theirs] = np.arange(len(other))
        return np.where(known, found[codes], -1)

    def labels(self) -> Labels:
        """A name for each symbol: its value, or a tuple of values if there are several columns."""
        return Labels(self.levels, self.codes)

    def to_dict(self) -> dict[str, Any]:
        """As JSON: values with their type, so that the next batch is treated alike."""
        columns = []
        for name, levels in zip(self.columns, self.levels, strict=True):
            kind = type_name(levels, name)
            write = _TYPES[kind][1]
            columns.append(
                {"name": name, "type": kind, "levels": [None if value is None else write(value) for value in levels]}
            )
        return {"columns": columns, "codes": self.codes.tolist()}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Symbols:
        """From what :meth:`to_dict` gave."""
        try:
            names, levels = [], []
            for column in data["columns"]:
                read = _TYPES[column["type"]][2]
                names.append(str(column["name"]))
                levels.append(tuple(None if value is None else read(value) for value in column["levels"]))
            codes = np.asarray(data["codes"], dtype=np.int64)
        except (KeyError, TypeError, ValueError, InvalidOperation) as error:
            raise DataError(f"the symbols are not as Tacit writes them ({error!r}): make the rules again") from error
        return cls(tuple(names), tuple(levels), codes)


def in_order(codes: Codes) -> tuple[Codes, Codes]:
    """The different rows of ``codes`` in lexicographic order, and which of them each row is."""
    key = np.zeros(len(codes), dtype=np.int64)
    for at in range(codes.shape[1]):
        radix = int(codes[:, at].max(initial=0)) + 1
        if int(key.max(initial=0)) >= 2**62 // radix:
            # The number of a row would overflow; its rank does not, and keeps the order.
            key = np.unique(key, return_inverse=True)[1].reshape(-1).astype(np.int64)
        key = key * radix + codes[:, at]
    _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
    return codes[first].astype(np.int64), inverse.reshape(-1).astype(np.int64)


@dataclass(frozen=True, eq=False)
class Labels(Sequence[Any]):
    """The value of each row of codes, or its tuple of values if there are several columns; made when asked for."""

    levels: tuple[tuple[Any, ...], ...]
    codes: Codes

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, row: Any) -> Any:
        if isinstance(row, slice):
            return [self[at] for at in range(*row.indices(len(self)))]
        values = tuple(levels[code] for levels, code in zip(self.levels, self.codes[row], strict=True))
        return values[0] if len(values) == 1 else values
