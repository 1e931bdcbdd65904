"""Cells for a use: several searches are made, and the one whose cells predict it best is taken."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tacit.codes.additive import additive_guesses, area_under_curve
from tacit.codes.descent import Ints
from tacit.codes.search.records import GroupedRecords
from tacit.codes.search.worth import groups_of, information, told_of_use
from tacit.codes.tree import CellTree, ColumnAtoms, Mask
from tacit.lift import Matrix, Vector
from tacit.lift.joint import sums

# What a column that tells nothing about the use is still worth, as a share of what all columns tell about it.
_BESIDE = 0.02
_FOLDS = 3
# Shares are worked out in this many rounds, as a reader does.
_ROUNDS = 30
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
    """Roughly how far apart the scores of equally good cells lie: they are judged on the records they are made from."""
    sizes = sums(use, records.records.astype(np.float64), int(use.max(initial=0)) + 1)
    return float(0.3 / np.sqrt(max(sizes.sum() - sizes.max(), 1.0)))


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
    of_use, areas = _use_told(tree, records, use, own), []
    for judged in range(_FOLDS):
        learns, judges = fold != judged, np.flatnonzero(fold == judged)
        place = leaf[learns] * n_uses + use[learns]
        counts = sums(place, records.weight[learns], len(cells) * n_uses).reshape(-1, n_uses)
        if of_use is not None:
            counts = counts.sum(axis=1, keepdims=True) * of_use
        truth = np.zeros((len(judges), n_uses))
        truth[np.arange(len(judges)), use[judges]] = records.weight[judges]
        areas.append(area_under_curve(additive_guesses(cells, counts, values[judges]), truth))
    known = _told_itself(tree, records, leaf, use, own) if own and of_use is None else 1.0
    return 0.5 + (float(np.mean(areas)) - 0.5) * known


def _use_told(tree: CellTree, records: GroupedRecords, use: Ints, own: Sequence[int]) -> Matrix | None:
    """How likely each cell makes each class of a use that is one released column; None if it is not.

    A reader learns from what the cells tell about the use. They may tell it of some records and hide it of others, so
    that what goes with it in the cells does not go with it in the original records.
    """
    if len(own) != 1:
        return None
    codes = np.asarray(records.codes[:, own[0]], np.int64)
    classes = np.zeros(int(codes.max(initial=0)) + 1, np.int64)
    classes[codes] = use
    if (classes[codes] != use).any():
        return None
    masks = tree.parts_of(own[0])[1]
    classes = np.append(classes, np.zeros(len(masks[0]) - len(classes), np.int64))
    return _chances_of(tree, records, own[0], classes, int(use.max(initial=0)) + 1)


def _told_itself(tree: CellTree, records: GroupedRecords, leaf: Ints, use: Ints, own: Sequence[int]) -> float:
    """The share of the use that the cells tell in its own columns."""
    parts = np.column_stack([tree.parts_of(column)[0][tree.leaves] for column in own])
    part = np.unique(parts, axis=0, return_inverse=True)[1].ravel()[leaf]
    n_uses = int(use.max(initial=0)) + 1
    whole, by_cells = (information(label, use, records.weight, n_uses) for label in (use, part))
    return by_cells / max(whole, 1e-300)


def _chances(tree: CellTree, records: GroupedRecords, groups: Sequence[Ints], columns: Sequence[int]) -> Matrix:
    """The probability of each group of each column in each cell, by the shares that a reader of the cells works out.

    These are off where cells tell the rare values of a column and hide the common ones; so is what is learned by them.
    """
    sizes = (int(groups[column].max()) + 1 for column in columns)
    return np.hstack(
        [_chances_of(tree, records, column, groups[column], size) for column, size in zip(columns, sizes, strict=True)]
    )


def _chances_of(tree: CellTree, records: GroupedRecords, column: int, group: Ints, size: int) -> Matrix:
    """The probability of each of ``size`` groups of the atoms of one column in each cell."""
    part, masks = tree.parts_of(column)
    share = _shares_read(masks, sums(part[tree.leaf_of(records.codes)], records.weight, len(masks)))
    chances = np.array([sums(group[mask], share[mask], size) for mask in masks])
    return np.asarray((chances / np.maximum(chances.sum(axis=1, keepdims=True), 1e-300))[part[tree.leaves]])


def _shares_read(masks: Sequence[Mask], weight: Vector) -> Vector:
    """The shares of a column's atoms as a reader works them out, from the parts told and how much each weighs.

    Every part is divided among its atoms by the shares so far, which are equal at first (expectation maximisation).
    """
    allowed = np.array(masks, dtype=np.float64)
    share = np.full(allowed.shape[1], 1 / allowed.shape[1])
    for _ in range(_ROUNDS):
        mass = allowed @ share
        each = np.divide(weight, mass, out=np.zeros_like(mass), where=mass > 0)
        share = share * (each @ allowed)
        share = share / max(float(share.sum()), 1e-300)
    return share


def _values(records: GroupedRecords, groups: Sequence[Ints], columns: Sequence[int]) -> Matrix:
    """The same for the values themselves: 1 for the group that a value is in."""
    coded = ((groups[at], records.codes[:, at]) for at in columns)
    return np.hstack([np.eye(int(group.max()) + 1)[group[atom]] for group, atom in coded])
