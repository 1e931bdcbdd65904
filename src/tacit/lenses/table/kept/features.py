"""Columns as numbers for a model, the way somebody who has the release alone would do it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.lenses.table.kept.reading import ReleasedColumn
from tacit.lenses.table.kept.values import FEW_VALUES, Codes, ColumnValues, Floats, ValueGroups

# What lies further out is this far out to a model.
_FURTHEST = 1e30


def chances(column: ReleasedColumn) -> tuple[Floats, Floats]:
    """How likely each coarse group of values is, for each row as it was given and as it was released."""
    groups = ValueGroups.coarse(column.original)
    return np.eye(groups.size)[groups.rows(column.original)], column.spread(groups)[column.codes]


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
