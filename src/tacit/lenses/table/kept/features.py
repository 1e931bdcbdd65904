"""Columns as numbers for a model, the way somebody who has only the release would make them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.learn.arrays import Codes, Floats
from tacit.lenses.table.kept.reading import ReleasedColumn
from tacit.lenses.table.kept.values import FEW_VALUES, ColumnValues, ValueGroups

# A model takes any number further out than this to be this far out.
_FURTHEST = 1e30
# A linear model takes any number further from the mean than this many standard deviations to be that far from it.
_FAR = 4.0


@dataclass(frozen=True, eq=False)
class ModelColumn:
    """A column as features of an additive model: those of each value, missing last, and those of each level."""

    column: ReleasedColumn
    values: Floats
    levels: Floats

    @classmethod
    def of(cls, column: ReleasedColumn, values: Floats) -> ModelColumn:
        """From the features of each value; those of a level are their expectation."""
        return cls(column, values, column.expected(values))

    def given(self, rows: Codes) -> Floats:
        """The original rows."""
        return self.values[self.column.original.codes[rows]]

    def told(self, rows: Codes) -> Floats:
        """The released rows."""
        return self.levels[self.column.codes[rows]]


def chances(column: ReleasedColumn) -> ModelColumn:
    """How likely each coarse group of values is."""
    groups = ValueGroups.coarse(column.original)
    return ModelColumn.of(column, np.eye(groups.size)[groups.of])


def numbers(column: ReleasedColumn) -> ModelColumn:
    """A number by its distance from the mean; a text by which of the commonest it is."""
    values = column.original
    if not values.numeric:
        return ModelColumn.of(
            column, (np.append(np.arange(len(values.values)), -1)[:, None] == _commonest(values)) * 1.0
        )
    clipped = values.values.astype(np.float64).clip(-_FURTHEST, _FURTHEST)
    mean = np.average(clipped, weights=values.counts)
    deviation = float(np.sqrt(np.average((clipped - mean) ** 2, weights=values.counts))) or 1.0
    return ModelColumn.of(column, np.append(((clipped - mean) / deviation).clip(-_FAR, _FAR), 0.0)[:, None])


def features(column: ColumnValues, codes: Codes) -> Floats:
    """Values, given by their codes, as one or more features: a number itself; for texts, which one it is.

    If there are many texts, the commonest have features, and one more is the place of a text in their order.
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
