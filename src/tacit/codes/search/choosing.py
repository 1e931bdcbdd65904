"""Cells for a use: several searches are made, and the one whose cells predict it best is taken."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tacit.codes.additive import additive_guesses, area_under_curve
from tacit.codes.descent import Ints
from tacit.codes.search.records import GroupedRecords
from tacit.codes.search.worth import groups_of, information, told_of_use
from tacit.codes.tree import CellTree, ColumnAtoms
from tacit.lift import Matrix, Vector
from tacit.lift.joint import sums

# What a column that tells nothing about the use is still worth, as a share of what all columns tell about it.
_BESIDE = 0.02
_FOLDS = 3
# A preferred column is told at least this well, compared with a search without a use.
_AS_WELL = 0.95

# Grows a tree: what each column is worth, and the use, if cuts are scored by what they tell about it.
Growing = Callable[[Vector, Ints | None], CellTree]


def best_for_use(
    records: GroupedRecords,
    columns: Sequence[ColumnAtoms],
    use: Ints,
    weights: Vector,
    grow: Growing,
    *,
    own: Sequence[int] = (),
    several: bool = True,
) -> CellTree:
    """Of the trees that several searches find, the one whose cells predict the use best; the first of equals.

    ``own`` are the columns that the use is made of, where they are released. One of the searches ignores the use; its
    tree is kept unless another is better by more than chance. Without ``several`` there is only one search, in which a
    column is worth what it tells about the use.

    Guarantees
    ----------
    Columns that are preferred (whose weight is above 1) come before the use: with ``several``, each of them is told
    about as well as if no use had been named.
    """
    groups, preferred = groups_of(records, columns), np.flatnonzero(weights > 1).tolist()
    by_use = weights * _worth_to_use(records, groups, use, [*own, *preferred])
    if not several:
        return grow(by_use, None)
    trees = [grow(worth, by) for worth in (weights, by_use) for by in (None, use)]
    scores = np.array([use_score(tree, records, groups, use, own) for tree in trees])
    scores[0] += _by_chance(records, use)
    kept = np.array([[_told_of(tree, records, groups, each) for each in preferred] for tree in trees])
    scores[(kept < _AS_WELL * kept[0]).any(axis=1)] = -np.inf
    return trees[int(scores.argmax())]


def _told_of(tree: CellTree, records: GroupedRecords, groups: Sequence[Ints], column: int) -> float:
    """What the cells tell about a column in its own words, in nats."""
    part = tree.parts_of(column)[0][tree.leaf_of(records.codes)]
    label = groups[column][records.codes[:, column]]
    return information(part, label, records.weight, int(groups[column].max()) + 1)


def _worth_to_use(records: GroupedRecords, groups: Sequence[Ints], use: Ints, whole: Sequence[int]) -> Vector:
    """What each column tells about the use, as a share of what all tell, plus a little; ``whole`` ones are worth 1."""
    informations = told_of_use(records, groups, use)
    informations[list(whole)] = 0.0
    out: Vector = informations / max(float(informations.sum()), 1e-300) + _BESIDE
    out[list(whole)] = 1.0
    return out


def _by_chance(records: GroupedRecords, use: Ints) -> float:
    """Roughly how far apart the scores of equally good cells lie."""
    sizes = sums(use, records.records.astype(np.float64), int(use.max(initial=0)) + 1)
    return float(0.1 / np.sqrt(max(sizes.sum() - sizes.max(), 1.0)))


def use_score(
    tree: CellTree, records: GroupedRecords, groups: Sequence[Ints], use: Ints, own: Sequence[int] = ()
) -> float:
    """How well the use can be predicted from the cells: an area under the curve, 0.5 is chance.

    An additive model learns from two thirds of the groups in cells, by the probabilities that a cell leaves to the
    values of each column, and is judged on the original values of the other third; every third in turn. Where the use
    itself is released (``own``), what the other columns tell about it counts as far as the cells tell what it is.
    """
    leaf = np.searchsorted(tree.leaves, tree.leaf_of(records.codes))
    others = [column for column in range(len(groups)) if column not in own]
    n_uses, fold = int(use.max(initial=0)) + 1, np.arange(len(use)) % _FOLDS
    if not others:
        return 0.5
    cells, values = _chances(tree, records, groups, others), _values(records, groups, others)
    areas = []
    for judged in range(_FOLDS):
        learns, judges = fold != judged, np.flatnonzero(fold == judged)
        place = leaf[learns] * n_uses + use[learns]
        counts = sums(place, records.weight[learns], len(cells) * n_uses).reshape(-1, n_uses)
        truth = np.zeros((len(judges), n_uses))
        truth[np.arange(len(judges)), use[judges]] = records.weight[judges]
        areas.append(area_under_curve(additive_guesses(cells, counts, values[judges]), truth))
    return 0.5 + (float(np.mean(areas)) - 0.5) * (_told_itself(tree, records, leaf, use, own) if own else 1.0)


def _told_itself(tree: CellTree, records: GroupedRecords, leaf: Ints, use: Ints, own: Sequence[int]) -> float:
    """The share of the use that the cells tell in its own columns."""
    parts = np.column_stack([tree.parts_of(column)[0][tree.leaves] for column in own])
    part = np.unique(parts, axis=0, return_inverse=True)[1].ravel()[leaf]
    n_uses = int(use.max(initial=0)) + 1
    whole, by_cells = (information(label, use, records.weight, n_uses) for label in (use, part))
    return by_cells / max(whole, 1e-300)


def _chances(tree: CellTree, records: GroupedRecords, groups: Sequence[Ints], columns: Sequence[int]) -> Matrix:
    """The probability of each group of each column in each cell, for a reader who knows the columns' shares."""
    out = []
    for column in columns:
        group = groups[column]
        share = sums(np.asarray(records.codes[:, column], np.int64), records.weight, len(group))
        part, masks = tree.parts_of(column)
        chances = np.array([sums(group[mask], share[mask], int(group.max()) + 1) for mask in masks])
        out.append((chances / np.maximum(chances.sum(axis=1, keepdims=True), 1e-300))[part[tree.leaves]])
    return np.hstack(out)


def _values(records: GroupedRecords, groups: Sequence[Ints], columns: Sequence[int]) -> Matrix:
    """The same for the values themselves: 1 for the group that a value is in."""
    coded = ((groups[at], records.codes[:, at]) for at in columns)
    return np.hstack([np.eye(int(group.max()) + 1)[group[atom]] for group, atom in coded])
