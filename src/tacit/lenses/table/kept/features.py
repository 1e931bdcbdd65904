"""Columns as numbers for a model, the way somebody who has the release alone would do it."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from tacit.lenses.table.kept.reading import ReleasedColumn
from tacit.lenses.table.kept.values import FEW_VALUES, Codes, ColumnValues, Floats

# What lies further out is this far out to a model.
_FURTHEST = 1e30


def features(column: ReleasedColumn, train: Codes) -> tuple[Floats, Floats]:
    """The column as it was given, and as it was released, in the same one or more features.

    A range is its middle, "A or B" is half an A and half a B, and what may be anything is the mean of the rows
    ``train`` that say more. Texts of many values have features for the commonest, and one for their place in the order.
    """
    original, released = _numbers(column) if column.original.numeric else _indicators(column)
    vague = np.array([level.open for level in column.levels] + [False], dtype=bool)[column.codes]
    rows = released[column.codes]
    if vague.any():
        clear = train[~vague[train]]
        seen = rows[clear]
        counted = (~np.isnan(seen)).sum(axis=0)
        rows[vague] = np.where(counted > 0, np.nansum(seen, axis=0) / np.maximum(counted, 1), 0.0)
    return original[column.original.codes], rows


def _numbers(column: ReleasedColumn) -> tuple[Floats, Floats]:
    """One feature: numbers as they are, ranges by their middle; an open end is the outermost one that is told."""
    values = np.append(column.original.values.astype(np.float64), np.nan).clip(-_FURTHEST, _FURTHEST)
    ends = [end for level in column.levels for end in (level.low, level.high) if math.isfinite(end)]
    first, last = (min(ends), max(ends)) if ends else (0.0, 0.0)
    middles = [(max(level.low, first) + min(level.high, last)) / 2 for level in column.levels]
    released = np.array([*middles, np.nan]).clip(-_FURTHEST, _FURTHEST)
    return values[:, None], released[:, None]


def _indicators(column: ReleasedColumn) -> tuple[Floats, Floats]:
    """A feature for each value, or for the commonest and for the place in the order."""
    values = column.original
    shown = _commonest(values)
    original = np.zeros((len(values.values) + 1, len(shown)))
    original[shown, np.arange(len(shown))] = 1.0
    places = np.append(np.arange(len(values.values)) / max(len(values.values) - 1, 1), np.nan)
    released = np.zeros((len(column.levels) + 1, len(shown)))
    where = np.full(len(column.levels) + 1, np.nan)
    for at, level in enumerate(column.levels):
        if not level.size:
            continue
        inside = np.zeros(len(shown))
        for start, stop in level.runs:
            inside += (shown >= start) & (shown < stop)
        released[at] = inside / level.size
        where[at] = sum(places[start:stop].sum() for start, stop in level.runs) / level.size
    if len(shown) == len(values.values):
        return original, released
    return np.column_stack([original, places]), np.column_stack([released, where])


def _commonest(values: ColumnValues) -> NDArray[np.int64]:
    return np.sort(np.argsort(-values.counts, kind="stable")[:FEW_VALUES])
