"""A tree over only the atoms that it distinguishes: those that no cut separates become one atom."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tacit.codes.descent import Ints
from tacit.codes.tree import CellTree


def separated(tree: CellTree) -> list[Ints]:
    """For every column, the group of each atom: atoms that no cut of the tree separates are one group.

    Groups of an ordered column follow its order.
    """
    return [_groups(tree, column) for column in range(len(tree.sizes))]


def _groups(tree: CellTree, column: int) -> Ints:
    size, nodes = int(tree.sizes[column]), np.flatnonzero(tree.column == column)
    sets = [tree.left(int(node)) for node in nodes if tree.below[node] < 0]
    edges = np.unique(tree.below[nodes][tree.below[nodes] >= 0])
    sides = [*sets, np.searchsorted(edges, np.arange(size), side="right")]
    _, first, group = np.unique(np.stack(sides), axis=1, return_index=True, return_inverse=True)
    # Groups are numbered by their first atoms.
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[group.reshape(-1)]


def regrouped(tree: CellTree, groups: Sequence[Ints]) -> CellTree:
    """The same cells over groups of atoms that no cut of the tree splits."""
    first = [np.unique(group, return_index=True)[1] for group in groups]
    below, sets = tree.below.copy(), []
    for node in np.flatnonzero(tree.column >= 0).tolist():
        column = int(tree.column[node])
        if below[node] >= 0:
            below[node] = groups[column][below[node]]
        else:
            sets.append(tree.left(node)[first[column]])
    return CellTree(
        np.array([len(each) for each in first]),
        tree.column,
        below,
        np.concatenate(sets) if sets else np.zeros(0, bool),
        tree.known,
    )
