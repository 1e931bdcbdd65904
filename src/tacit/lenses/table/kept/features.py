"""Columns as numbers for a model, the way somebody who has the release alone would do it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.lenses.table.kept.reading import ReleasedColumn
from tacit.lenses.table.kept.values import FEW_VALUES, Codes, ColumnValues, Floats, ValueGroups

# What lies further out is this far out to a model.
_FURTHEST = 1e30
# To a linear model, a number further from the mean than so many standard deviations is that far.
_FAR = 4.0


@dataclass(frozen=True, eq=False)
class ModelColumn:
    """A column to a model in which everything adds its part: of each value, missing last, and of each level."""

    column: ReleasedColumn
    values: Floats
    levels: Floats

    @classmethod
    def of(cls, column: ReleasedColumn, values: Floats) -> ModelColumn:
        """By what stands for each value; of a level it is what is expected."""
        return cls(column, values, column.expected(values))

    def given(self, rows: Codes) -> Floats:
        """Rows as they were given."""
        return self.values[self.column.original.codes[rows]]

    def told(self, rows: Codes) -> Floats:
        """Rows as they were released."""
        return self.levels[self.column.codes[rows]]


def chances(column: ReleasedColumn) -> ModelColumn:
    """How likely each coarse group of values is."""
    groups = ValueGroups.coarse(column.original)
    return ModelColumn.of(column, np.eye(groups.size)[groups.of])


def numbers(column: ReleasedColumn) -> ModelColumn:
    """A number for what it is, by its distance from the mean; of texts, which of the commonest it is."""
    values = column.original
    if not values.numeric:
        return ModelColumn.of(
            column, (np.append(np.arange(len(values.values)), -1)[:, None] == _commonest(values)) * 1.0
        )
    told = values.values.astype(np.float64).clip(-_FURTHEST, _FURTHEST)
    middle = np.average(told, weights=values.counts)
    far = float(np.sqrt(np.average((told - middle) ** 2, weights=values.counts))) or 1.0
    return ModelColumn.of(column, np.append(((told - middle) / far).clip(-_FAR, _FAR), 0.0)[:, None])


def features(column: ColumnValues, codes: Codes) -> Floats:
    """Values, by their numbers, in one or more features: a number itself; of texts, which one it is.

    Texts of many values have features for the commonest, and one for their place in the order.
    """
    if column.numeric:
        numbers = np.append(column.values.astype(np.float64), np.nan).clip(-_FURTHEST, _FURTHEST)
        return np.asarray(numbers[codes][:, None], dtype=np.float64)
    shown = _commonest(column)
    out: Floats = (codes[:, None] == shown).astype(np.float64)
    if len(shown) == len(column.values):
        return out
    places = np.append(np.arange(len(column.values)) / max(len(column.values) - 1, 1), np.nan)
    return np.column_stack([out, places[codes]])


def _commonest(values: ColumnValues) -> NDArray[np.int64]:
    return np.sort(np.argsort(-values.counts, kind="stable")[:FEW_VALUES])
