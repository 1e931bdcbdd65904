"""The values of released columns, typed as an estimator learns them, and those that a model has never seen."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.errors import DataError, Setting, sentence
from tacit.lift import Mask
from tacit.tables.columns import Column
from tacit.tables.numbers import INFINITE, MINUS_INFINITE, MISSING, NUMBER
from tacit.tables.symbols import Codes, Symbols, level_text

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, eq=False)
class LearnableCells:
    """The values of each released column, typed for learning, and which of them a model has never seen."""

    names: tuple[str, ...]
    places: tuple[int, ...]
    levels: tuple[pa.Array, ...]
    strange: tuple[Mask, ...]

    def at(self, codes: Codes) -> pa.Table:
        """The records with these codes, with their columns in the order in which the model reads them."""
        import pyarrow as pa

        return pa.table({self.names[j]: self.levels[j].take(pa.array(codes[:, j])) for j in self.places})

    def unmet(self, codes: Codes) -> Mask:
        """Which of these records have a cell that the model has never seen: doubt counts as risk."""
        unmet = [strange[codes[:, j]] for j, strange in enumerate(self.strange)]
        return np.asarray(np.any(unmet, axis=0), dtype=bool)

    def finite(self) -> LearnableCells:
        """The same with infinities as finite numbers beyond all others: equal cells stay equal, and in order."""
        return replace(self, levels=tuple(map(_finite, self.levels)))


def cells_of(
    symbols: Symbols,
    columns: Sequence[Column],
    *,
    names: Sequence[str],
    kinds: Mapping[str, str] | None = None,
    met: Mapping[str, frozenset[str]] | None = None,
) -> LearnableCells:
    """The levels of every released column: numbers as floats, times as times, all else as text.

    ``names`` is the order in which a model reads them, ``kinds`` what it took them for ("number" or "category"), and
    ``met`` the categories it has seen.
    """
    table = {column.name: column for column in columns}
    levels, strange = [], []
    for name, values in zip(symbols.columns, symbols.levels, strict=True):
        array = _typed(table[name], values, (kinds or {}).get(name))
        own = (met or {}).get(name)
        unmet = [own is not None and text is not None and text not in own for text in array.to_pylist()]
        _refuse_strangers(name, values, unmet)
        levels.append(array)
        strange.append(np.array(unmet, dtype=bool))
    places = tuple(symbols.columns.index(name) for name in names)
    return LearnableCells(symbols.columns, places, tuple(levels), tuple(strange))


def _refuse_strangers(name: str, values: Sequence[Any], unmet: Sequence[bool]) -> None:
    strangers = [value for value, is_unmet in zip(values, unmet, strict=True) if is_unmet]
    if strangers and len(strangers) == sum(value is not None for value in values):
        raise DataError(
            sentence(
                "the model saw none of the values of column '{name}': cut it as it was in training ({bins}), or learn "
                "anew ({auto})",
                name=name,
                bins=Setting("bins", {name: "..."}),
                auto=Setting("estimator", "auto"),
            )
        )


def _finite(levels: pa.Array) -> pa.Array:
    import pyarrow as pa

    if not pa.types.is_floating(levels.type):
        return levels
    numbers = np.array([np.nan if value is None else value for value in levels.to_pylist()], np.float64)
    if not np.isinf(numbers).any():
        return levels
    usual = numbers[np.isfinite(numbers)]
    low, high = (float(usual.min()), float(usual.max())) if len(usual) else (0.0, 0.0)
    beyond = high / 2 - low / 2 + 1.0
    largest = np.finfo(np.float64).max
    ends = np.clip([low - beyond, high + beyond], -largest, largest)
    return pa.array(np.clip(numbers, *ends), mask=np.isnan(numbers))


def _typed(column: Column, values: Sequence[Any], kind: str | None) -> pa.Array:
    import pyarrow as pa

    if column.kind == "time" and kind != "category":
        return pa.array(_times(values))
    if (column.kind if kind is None else kind) == "number":
        return pa.array([_number(value, column.name) for value in values], pa.float64())
    return pa.array([level_text(value) for value in values], pa.string())


def _times(values: Sequence[Any]) -> Sequence[Any]:
    """Days or instants that are spelled out, as in a CSV, as what they are; unchanged if one is spelled otherwise."""
    if not any(isinstance(value, str) for value in values):
        return values
    for read in (date.fromisoformat, _instant):
        with suppress(ValueError):
            return [read(value.strip()) if value and value.strip() else None for value in values]
    return values


def _instant(text: str) -> datetime:
    """An instant in UTC; without a zone it is taken to be there."""
    instant = datetime.fromisoformat(text)
    return instant if instant.tzinfo is None else instant.astimezone(UTC).replace(tzinfo=None)


def _number(value: Any, column: str) -> float | None:
    """One level as a number, read as everywhere else: text that is not a number is an error, never missing."""
    if value is None:
        return None
    if not isinstance(value, str):
        return float(value)
    if re.match(MISSING, value):
        return None
    if re.match(f"{NUMBER}|{INFINITE}|{MINUS_INFINITE}", value):
        return float(value)
    words = "column '{column}' has cells that are not a number: fix them, or leave the column out ({drop})"
    raise DataError(sentence(words, column=column, drop=Setting("drop", column)))
