"""A tree cut back: cells that are too small or tell too much are merged with their neighbours, upwards."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tacit.codes.descent import Ints
from tacit.codes.search.limits import CellLimits, used_at_thresholds
from tacit.codes.search.records import GroupedRecords, SecretBound
from tacit.codes.tree import CellTree
from tacit.lift import Mask, Matrix, Vector
from tacit.lift.joint import sums


def weight_of(label: NDArray[np.integer], place: Ints, weight: Vector, shape: tuple[int, int]) -> Matrix:
    """What each label weighs in each place (labels x places)."""
    return sums(label.astype(np.int64) * shape[1] + place, weight, shape[0] * shape[1]).reshape(shape)


def pruned(
    tree: CellTree, records: GroupedRecords, bounds: Sequence[SecretBound], *, least: int, leaf: Ints | None = None
) -> CellTree:
    """The finest tree that remains when cells that may not stay are merged upwards.

    ``leaf`` is the leaf of each group, where that is known.

    Guarantees
    ----------
    Every cell has at least ``least`` records and keeps to the bounds relative to the shares in its known part, as
    :func:`grow` says, unless it is the root. A cut is given up only if one of its sides could not stay. Every cell is
    a union of cells of ``tree``.
    """
    if leaf is None:
        atoms, row = records.by_atoms
        leaf = tree.leaf_of(atoms)[row]
    fine = _upwards(tree, sums(leaf, records.records.astype(np.float64), len(tree))) >= least
    numbers = []
    for secret, bound in zip(records.secrets, bounds, strict=True):
        if bound.floor is not None:
            numbers.append((secret, bound))
            continue
        totals = weight_of(secret, leaf, records.weight, (bound.n_secrets, len(tree)))
        fine &= _within(tree, _upwards(tree, totals), bound)
    kept = without(tree, fine)
    leaf = tree.nodes_in(kept)[leaf]
    for secret, bound in numbers:
        kept, leaf = _within_thresholds(kept, leaf, records, secret, bound)
    return kept


def _within_thresholds(
    tree: CellTree, leaf: Ints, records: GroupedRecords, secret: NDArray[np.integer], bound: SecretBound
) -> tuple[CellTree, Ints]:
    """The finest tree that remains when cells that break a threshold are merged upwards, and the leaf of each group."""
    while True:
        fine = np.ones(len(tree), bool)
        used = used_at_thresholds(bound, secret, leaf, records.weight, np.maximum(tree.known_of, 0))
        fine[tree.leaves] = used[tree.leaves] <= 1
        fine[tree.known] = True
        if fine.all():
            return tree, leaf
        kept = without(tree, fine)
        tree, leaf = kept, tree.nodes_in(kept)[leaf]


def without(tree: CellTree, fine: Mask) -> CellTree:
    """The tree without the cuts that have a side which is not fine."""
    cut = tree.column >= 0
    keep = cut.copy()
    keep[cut] = fine[tree.children[cut]].all(axis=1)
    column, below = np.where(keep, tree.column, -1), np.where(keep, tree.below, -1)
    # Above the known parts, what has become a cell is a known part itself.
    known = (tree.known_of == np.arange(len(tree))) | ((tree.known_of < 0) & ~keep)
    return CellTree.linked(tree.sizes, column, below, tree.children, tree.set_start, tree.sets, known)


def _upwards(tree: CellTree, values: Matrix) -> Matrix:
    """Sums over the leaves below every node, from sums at the leaves (along the last axis)."""
    out = np.array(values, dtype=np.float64)
    for level in reversed(tree.levels[1:]):
        pairs = out[..., level].reshape(*out.shape[:-1], -1, 2).sum(axis=-1)
        out[..., tree.parent[level][::2]] += pairs
    return out


def _within(tree: CellTree, totals: Matrix, bound: SecretBound) -> Mask:
    """Whether each node keeps to a bound inside its known part; nodes above the known parts count as doing so."""
    fine, inside = np.ones(len(tree), bool), np.flatnonzero(tree.known_of >= 0)
    limits = CellLimits.of(bound, totals[:, tree.known])
    part = np.searchsorted(tree.known, tree.known_of[inside])
    weight = totals.sum(axis=0)[inside]
    fine[inside] = limits.used(totals[bound.binding].take(inside, axis=1), weight, part) <= 1
    fine[tree.known] = True
    return fine
