"""Scales whose atoms are the values of a column, one by one, looked up in a list."""

from __future__ import annotations

import datetime as dt
from abc import abstractmethod
from collections.abc import Callable, Sequence
from decimal import Decimal, InvalidOperation
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.codes.scales.scale import UNKNOWN, Scale
from tacit.codes.scales.wording import shown
from tacit.errors import ArgumentError
from tacit.tables.symbols import StoredColumn, StoredSymbols, Symbols, TypeName, level_text, type_name

Stored = bool | int | float | str


class ListedScale(Scale):
    """Atom k is the k-th value of a list; what is not in it is unknown.

    Attributes
    ----------
    type : str
        What the values are, as a rules file calls it.
    values : tuple
        In the order of the atoms, in JSON types.
    """

    type: TypeName
    values: tuple[Stored, ...]

    def __post_init__(self) -> None:
        _ = self.symbols

    @property
    def present(self) -> int:
        return len(self.values)

    @property
    def lists_all(self) -> bool:
        """Whether an atom stands for one value of the column, not for several."""
        return True

    @cached_property
    def symbols(self) -> Symbols:
        """The values as the symbols of the column, missing last."""
        levels = (*self.values, *([None] if self.has_missing else []))
        codes = np.arange(len(levels)).reshape(-1, 1)
        return Symbols.restored(StoredSymbols((StoredColumn(self.column, self.type, levels),), codes))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Each value as a text shows it."""
        return tuple(shown(level_text(value) or "") for value in self.symbols.levels[0][: len(self.values)])

    @cached_property
    def _places(self) -> dict[Any, int]:
        return {value: at for at, value in enumerate(self.symbols.levels[0])}

    def atoms_of(self, values: Sequence[Any]) -> NDArray[np.int64]:
        return np.array([self._places.get(self._counted(value), UNKNOWN) for value in values], dtype=np.int64)

    def _counted(self, value: Any) -> Any:
        """A value as it is counted: NaN is missing."""
        return None if isinstance(value, float) and value != value else value

    @abstractmethod
    def _run(self, first: int, last: int) -> str: ...


_READ: dict[TypeName, Callable[[str], Any]] = {
    "boolean": {"true": True, "false": False}.__getitem__,
    "integer": int,
    "number": float,
    "decimal": Decimal,
    "text": str,
    "timestamp": dt.datetime.fromisoformat,
    "date": dt.date.fromisoformat,
    "time": dt.time.fromisoformat,
}


def typed(texts: Sequence[str], like: Sequence[Any], column: str) -> list[Any]:
    """Texts that a user wrote, as values of the type that a column's values have."""
    kind = type_name(like, column)
    try:
        return [_READ[kind](text) for text in texts]
    except (ValueError, KeyError, InvalidOperation):
        raise ArgumentError(f"column '{column}' holds values of type {kind}, and its levels name others") from None


def listed_values(values: Sequence[Any], column: str) -> tuple[TypeName, tuple[Stored, ...]]:
    """Values, none of them missing, as a scale keeps them: their type, and each in JSON types."""
    stored = Symbols((column,), (tuple(values),), np.arange(len(values)).reshape(-1, 1)).stored().columns[0]
    return stored.type, tuple(level for level in stored.levels if level is not None)
