"""Records go down a tree of cuts, many at a time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

# Records go down this many at a time: what is known about them stays in the processor's cache.
_AT_ONCE = 1 << 15
# Records that have arrived are dropped only every few levels; doing it at every level would take longer.
_LEVELS_BETWEEN = 4


@dataclass(frozen=True, eq=False)
class Descent:
    """A tree in the form in which records go down it; a leaf leads to itself.

    Attributes
    ----------
    sizes : tuple of int
        Atoms of each column.
    depth : int
        Cuts above the deepest leaf.
    column, below, right : arrays of int
        For each node: the column that it cuts, the first atom of its right side, and its right child, which follows its
        left one. For a leaf: any column, an atom beyond all, and the node after it.
    set_start : array of int
        Where in ``sets`` a node's set of atoms that go left starts; -1 for nodes without.
    sets : array of bool
    """

    sizes: tuple[int, ...]
    depth: int
    column: Ints
    below: Ints
    right: Ints
    set_start: Ints
    sets: NDArray[np.bool_]

    def leaf_of(self, atoms: NDArray[np.integer]) -> Ints:
        """The leaf of every record, given its atoms (records x columns), which are in range."""
        if len(atoms) > prod(self.sizes):
            return np.asarray(self._leaf_of_all.take(np.ravel_multi_index(tuple(atoms.T), self.sizes)))
        out = np.empty(len(atoms), np.int64)
        for start in range(0, len(atoms), _AT_ONCE):
            out[start : start + _AT_ONCE] = self._leaves(atoms[start : start + _AT_ONCE])
        return out

    @cached_property
    def _leaf_of_all(self) -> Ints:
        """The leaf of every combination of atoms, for use when there are more records than combinations."""
        return self.leaf_of(np.stack(np.unravel_index(np.arange(prod(self.sizes)), self.sizes), axis=1))

    def _leaves(self, atoms: NDArray[np.integer]) -> Ints:
        flat = np.ascontiguousarray(atoms).ravel()
        node, moving = np.zeros(len(atoms), np.int64), np.arange(len(atoms))
        at, place = node, moving * len(self.sizes)
        for level in range(1, self.depth + 1):
            atom = flat.take(place + self.column.take(at))
            left = atom < self.below.take(at)
            if len(self.sets):
                of_set = np.flatnonzero(self.set_start.take(at) >= 0)
                left[of_set] = self.sets[self.set_start[at[of_set]] + atom[of_set]]
            at = self.right.take(at) - left
            if level % _LEVELS_BETWEEN == 0:
                node[moving] = at
                going = np.flatnonzero(self.right.take(at) != at + 1)
                moving, at, place = moving[going], at[going], place[going]
        node[moving] = at
        return node
