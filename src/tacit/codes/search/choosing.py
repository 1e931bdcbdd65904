"""Cells for a use: several searches are made, and the one whose cells predict it best is taken."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from tacit.codes.search.records import GroupedRecords, Matrix, Vector
from tacit.codes.search.worth import groups_of, told_of_use
from tacit.codes.tree import CellTree, ColumnAtoms, Ints
from tacit.learn.additive import additive_guesses, area_under_curve
from tacit.lift.joint import sums

# What a column that tells nothing of the use is still worth, beside all that the columns tell of it together.
_BESIDE = 0.02
_FOLDS = 3

# Grows a tree: what each column is worth, and the use, if cuts are scored by what they tell of it.
Growing = Callable[[Vector, Ints | None], CellTree]


def best_for_use(
    records: GroupedRecords, columns: Sequence[ColumnAtoms], use: Ints, weights: Vector, grow: Growing
) -> CellTree:
    """Of the trees that several searches find, the one whose cells predict the use best; the first of equals.

    The search that knows nothing of the use is among them.
    """
    groups = groups_of(records, columns)
    trees = [grow(*each) for each in _searches(records, groups, use, weights)]
    return max(trees, key=lambda tree: use_score(tree, records, groups, use))


def _searches(
    records: GroupedRecords, groups: Sequence[Ints], use: Ints, weights: Vector
) -> Iterator[tuple[Vector, Ints | None]]:
    """Columns are worth what was said, or more if they tell of the use; cuts are scored by the use, or not."""
    told = told_of_use(records, groups, use)
    yield weights, None
    yield weights, use
    if told.sum() > 0:
        by_use = weights * (told / told.sum() + _BESIDE)
        yield by_use, None
        yield by_use, use


def use_score(tree: CellTree, records: GroupedRecords, groups: Sequence[Ints], use: Ints) -> float:
    """How well the use is predicted by whoever has the cells: an area under the curve, 0.5 is chance.

    An additive model learns from two thirds of the groups in cells, by the chances that a cell leaves to the values of
    each column, and is judged on the other third as it is; every third in turn.
    """
    leaf = np.searchsorted(tree.leaves, tree.leaf_of(records.codes))
    cells, values = _chances(tree, records, groups), _values(records, groups)
    n_uses, fold = int(use.max(initial=0)) + 1, np.arange(len(use)) % _FOLDS
    areas = []
    for judged in range(_FOLDS):
        learns, judges = fold != judged, np.flatnonzero(fold == judged)
        place = leaf[learns] * n_uses + use[learns]
        counts = sums(place, records.weight[learns], len(cells) * n_uses).reshape(-1, n_uses)
        truth = np.zeros((len(judges), n_uses))
        truth[np.arange(len(judges)), use[judges]] = records.weight[judges]
        areas.append(area_under_curve(additive_guesses(cells, counts, values[judges]), truth))
    return float(np.mean(areas))


def _chances(tree: CellTree, records: GroupedRecords, groups: Sequence[Ints]) -> Matrix:
    """The chance of each group of each column in each cell, for whoever knows the columns' shares."""
    out = []
    for column, group in enumerate(groups):
        share = sums(np.asarray(records.codes[:, column], np.int64), records.weight, len(group))
        part, masks = tree.parts_of(column)
        chances = np.array([sums(group[mask], share[mask], int(group.max()) + 1) for mask in masks])
        out.append((chances / np.maximum(chances.sum(axis=1, keepdims=True), 1e-300))[part[tree.leaves]])
    return np.hstack(out)


def _values(records: GroupedRecords, groups: Sequence[Ints]) -> Matrix:
    """The same of the values themselves: 1 for the group that a value is in."""
    return np.hstack([np.eye(int(group.max()) + 1)[group[records.codes[:, at]]] for at, group in enumerate(groups)])
