"""Cells as the leaves of a tree of cuts: each cut sends some atoms of one column to the left, the rest to the right."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tacit.codes.descent import Descent, Ints as Ints
from tacit.errors import ArgumentError
from tacit.lift import Mask as Mask


class ColumnAtoms(NamedTuple):
    """The atoms of one column, as the search sees them.

    Attributes
    ----------
    size : int
        How many atoms there are: 0 to ``size`` - 1.
    ordered : bool
        Whether a part is a run of neighbours; otherwise any set of atoms may be one.
    cuts : array of bool, or None
        Ordered columns only: whether a part may end between atom i and i + 1. None allows all.
    missing : bool
        Ordered columns only: whether the last atom is missing, which is cut off before the others are split.
    """

    size: int
    ordered: bool = True
    cuts: Mask | None = None
    missing: bool = False


@dataclass(frozen=True)
class StoredTree:
    """A tree as stored: ``sets`` has, for each cut of a set, a 1 for each atom that goes left and a 0 for the rest."""

    sizes: tuple[int, ...]
    column: tuple[int, ...]
    below: tuple[int, ...]
    sets: tuple[str, ...]
    known: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class CellTree:
    """A tree of cuts, level by level: node 0 is the root, and the children of the i-th cut are 2i + 1 and 2i + 2.

    Attributes
    ----------
    sizes : array of int
        Atoms of each column.
    column : array of int
        The column that a node cuts; -1 at a leaf.
    below : array of int
        A cut of neighbours sends the atoms below this number to the left; -1 at a leaf and where a set is cut.
    sets : array of bool
        The sets that go left, one after the other in the order of their nodes, each as long as its column has atoms.
    known : array of int
        The nodes inside which secrets are compared with their shares: only the root, or the parts that an adversary
        may know. Every leaf lies in exactly one.

    Guarantees
    ----------
    Every record whose atoms are in range lies in exactly one leaf. A tree that is not as described is refused.
    """

    sizes: Ints
    column: Ints
    below: Ints
    sets: Mask
    known: Ints

    def __post_init__(self) -> None:
        for name, kind in (("sizes", np.int64), ("column", np.int64), ("below", np.int64), ("sets", bool)):
            _keep(self, name, kind)
        _keep(self, "known", np.int64)
        self._check_shape()
        self._check_cuts()
        self._check_known()

    @classmethod
    def root(cls, sizes: ArrayLike) -> CellTree:
        """The tree of one cell."""
        return cls(np.asarray(sizes), np.array([-1]), np.array([-1]), np.zeros(0, bool), np.array([0]))

    def with_known(self, known: Ints) -> CellTree:
        """The same cuts with other known parts."""
        return replace(self, known=known)

    @classmethod
    def linked(
        cls, sizes: Ints, column: Ints, below: Ints, children: Ints, set_start: Ints, sets: Mask, known: Mask
    ) -> CellTree:
        """The tree below node 0, from nodes in any order; ``set_start`` says where in ``sets`` a set starts."""
        levels = [level := np.zeros(1, np.int64)]
        while len(level := children[level[column[level] >= 0]].ravel()):
            levels.append(level)
        order = np.concatenate(levels)
        of_sets = order[(column[order] >= 0) & (below[order] < 0)]
        lengths = sizes[column[of_sets]]
        within = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        flat = sets[np.repeat(set_start[of_sets], lengths) + within]
        return cls(sizes, column[order], below[order], flat, np.flatnonzero(known[order]))

    def _check_shape(self) -> None:
        nodes, inner = len(self.column), np.flatnonzero(self.column >= 0)
        if self.column.ndim != 1 or self.below.shape != self.column.shape or nodes != 2 * len(inner) + 1:
            raise ArgumentError("a tree has one node more than twice its cuts, and each cut's column and atoms")
        if (self.column < -1).any() or (self.column >= len(self.sizes)).any() or (self.sizes < 1).any():
            raise ArgumentError("a tree cuts a column that it does not have")
        if (2 * np.arange(len(inner)) + 1 <= inner).any():
            raise ArgumentError("a node of a tree stands before its parent")

    def _check_cuts(self) -> None:
        inner = np.flatnonzero(self.column >= 0)
        below, sizes = self.below[inner], self.sizes[self.column[inner]]
        if (self.below[self.column < 0] != -1).any() or ((below != -1) & ((below < 1) | (below >= sizes))).any():
            raise ArgumentError("a cut of a tree leaves one side empty")
        if self.sets.ndim != 1 or len(self.sets) != sizes[below == -1].sum():
            raise ArgumentError("the sets of a tree are not as long as their columns")
        starts = self.set_start[inner[below == -1]]
        if len(starts):
            left = np.add.reduceat(self.sets.astype(np.int64), starts)
            if ((left < 1) | (left >= sizes[below == -1])).any():
                raise ArgumentError("a cut of a tree leaves one side empty")

    def _check_known(self) -> None:
        known = self.known
        if known.ndim != 1 or not len(known) or known[0] < 0 or known[-1] >= len(self) or (np.diff(known) <= 0).any():
            raise ArgumentError("the known parts of a tree are nodes, each named once, in order")
        above = self._marked_above
        if (above[self.leaves] != 1).any():
            raise ArgumentError("a leaf of a tree lies in no known part, or in two")

    def __len__(self) -> int:
        return len(self.column)

    def __repr__(self) -> str:
        return f"CellTree({len(self.leaves)} cells, {len(self.sizes)} columns)"

    @cached_property
    def children(self) -> Ints:
        """Left and right child of every node; -1 at a leaf."""
        inner = self.column >= 0
        first = 2 * np.cumsum(inner) - 1
        return np.where(inner[:, None], np.stack([first, first + 1], axis=1), -1)

    @cached_property
    def parent(self) -> Ints:
        """The parent of every node; -1 at the root."""
        return np.concatenate([[-1], np.repeat(np.flatnonzero(self.column >= 0), 2)])

    @cached_property
    def leaves(self) -> Ints:
        """The nodes that are cells."""
        return np.flatnonzero(self.column < 0)

    @cached_property
    def levels(self) -> tuple[slice, ...]:
        """The nodes of each depth, the root first."""
        out, start, stop = [], 0, 1
        while start < stop:
            out.append(slice(start, stop))
            start, stop = stop, stop + 2 * int((self.column[start:stop] >= 0).sum())
        return tuple(out)

    @cached_property
    def known_of(self) -> Ints:
        """The known part that every node lies in; -1 for nodes above the known parts."""
        out = np.full(len(self), -1)
        out[self.known] = self.known
        for level in self.levels[1:]:
            out[level] = np.where(out[level] < 0, out[self.parent[level]], out[level])
        return out

    @cached_property
    def _marked_above(self) -> Ints:
        marks = np.zeros(len(self), np.int64)
        marks[self.known] = 1
        for level in self.levels[1:]:
            marks[level] += marks[self.parent[level]]
        return marks

    @cached_property
    def set_start(self) -> Ints:
        """Where the set of a node starts in ``sets``; -1 for nodes without."""
        is_set = (self.column >= 0) & (self.below < 0)
        lengths = self.sizes[self.column[is_set]]
        out = np.full(len(self), -1)
        out[is_set] = np.cumsum(lengths) - lengths
        return out

    def left(self, node: int) -> Mask:
        """The atoms of the node's column that go to its left child."""
        size, start = self.sizes[self.column[node]], self.set_start[node]
        if self.column[node] < 0:
            raise ArgumentError("a leaf has no cut")
        return np.arange(size) < self.below[node] if start < 0 else self.sets[start : start + size].copy()

    def leaf_of(self, codes: ArrayLike) -> Ints:
        """The leaf of every record, given its atom in every column (records x columns)."""
        atoms = np.asarray(codes)
        if atoms.ndim != 2 or atoms.shape[1] != len(self.sizes):
            raise ArgumentError(f"records have atoms in {len(self.sizes)} columns; the shape is {atoms.shape}")
        if len(atoms) and ((atoms < 0) | (atoms >= self.sizes)).any():
            raise ArgumentError("an atom is out of the range of its column")
        return self._descent.leaf_of(atoms)

    @cached_property
    def _descent(self) -> Descent:
        inner, node = self.column >= 0, np.arange(len(self))
        return Descent(
            sizes=tuple(self.sizes.tolist()),
            depth=len(self.levels) - 1,
            column=np.where(inner, self.column, 0),
            below=np.where(inner, self.below, np.iinfo(np.int64).max),
            right=np.where(inner, self.children[:, 1], node + 1),
            set_start=self.set_start,
            sets=self.sets,
        )

    def nodes_in(self, merged: CellTree) -> Ints:
        """For each node, the node that it is, or lies in, in a tree with some of these cuts undone."""
        out = np.zeros(len(self), np.int64)
        for level in self.levels[1:]:
            above = out[self.parent[level]]
            side = np.arange(level.stop - level.start) % 2
            out[level] = np.where(merged.column[above] >= 0, merged.children[above, side], above)
        return out

    def parts(self, node: int) -> list[Mask]:
        """The atoms of each column that a node's records may have."""
        out = [np.ones(size, bool) for size in self.sizes]
        while node:
            above = int(self.parent[node])
            left = self.left(above)
            out[self.column[above]] &= left if self.children[above, 0] == node else ~left
            node = above
        return out

    def parts_of(self, column: int) -> tuple[Ints, list[Mask]]:
        """Every part of a column that nodes have, each once, and the number of each node's part; not to be changed."""
        if column not in self._parts:
            self._parts[column] = self._parts_of(column)
        return self._parts[column]

    @cached_property
    def _parts(self) -> dict[int, tuple[Ints, list[Mask]]]:
        return {}

    def _parts_of(self, column: int) -> tuple[Ints, list[Mask]]:
        if (self.below[self.column == column] >= 0).all():
            return self._runs_of(column)
        masks = [np.ones(self.sizes[column], bool)]
        number_of = {masks[0].tobytes(): 0}
        out = np.zeros(len(self), np.int64)
        for level in self.levels[1:]:
            out[level] = out[self.parent[level]]
            cut = level.start + np.flatnonzero(self.column[self.parent[level]] == column)
            # The two sides of a cut follow each other.
            for node, above in zip(cut[::2].tolist(), self.parent[cut[::2]].tolist(), strict=True):
                whole, left = masks[out[above]], self.left(above)
                for side, mask in enumerate((whole & left, whole & ~left)):
                    number = number_of.setdefault(mask.tobytes(), len(masks))
                    if number == len(masks):
                        masks.append(mask)
                    out[node + side] = number
        return out, masks

    def _runs_of(self, column: int) -> tuple[Ints, list[Mask]]:
        """What :meth:`_parts_of` gives for a column of which no set is cut: every part is a run of neighbours."""
        size = int(self.sizes[column])
        first, last = np.zeros(len(self), np.int64), np.full(len(self), size)
        for level in self.levels[1:]:
            above, right = self.parent[level], np.arange(level.stop - level.start) % 2
            cut, below = self.column[above] == column, self.below[above]
            first[level] = np.where(cut & (right == 1), np.maximum(first[above], below), first[above])
            last[level] = np.where(cut & (right == 0), np.minimum(last[above], below), last[above])
        # A cut outside its node's run leaves nothing on one side.
        run = np.where(first < last, first * (size + 1) + last, 0)
        different, node, which = np.unique(run, return_index=True, return_inverse=True)
        order = np.argsort(node)
        number = np.empty(len(order), np.int64)
        number[order] = np.arange(len(order))
        starts, stops = np.divmod(different[order][:, None], size + 1)
        atoms = np.arange(size)
        return number[which.reshape(-1)], list((starts <= atoms) & (atoms < stops))

    def stored(self) -> StoredTree:
        """The tree in the types of strict JSON."""
        starts = [int(start) for start in self.set_start if start >= 0] + [len(self.sets)]
        text = (self.sets + np.uint8(ord("0"))).tobytes().decode()
        return StoredTree(
            sizes=tuple(self.sizes.tolist()),
            column=tuple(self.column.tolist()),
            below=tuple(self.below.tolist()),
            sets=tuple(text[start:stop] for start, stop in pairwise(starts)),
            known=tuple(self.known.tolist()),
        )

    @classmethod
    def restored(cls, stored: StoredTree) -> CellTree:
        """The tree that was stored.

        Raises
        ------
        ArgumentError
            If ``stored`` is not exactly what :meth:`stored` makes of a tree in which every cut splits its node.
        """
        if any(set(text) - {"0", "1"} for text in stored.sets):
            raise ArgumentError("a set of a tree is written with 0 and 1")
        tree = cls(
            np.array(stored.sizes, np.int64),
            np.array(stored.column, np.int64),
            np.array(stored.below, np.int64),
            np.frombuffer("".join(stored.sets).encode(), np.uint8) == ord("1"),
            np.array(stored.known, np.int64),
        )
        if tree.stored() != stored:
            raise ArgumentError("the sets of a tree are not as long as their columns")
        for column in range(len(tree.sizes)):
            if not all(mask.any() for mask in tree.parts_of(column)[1]):
                raise ArgumentError("a cut of a tree leaves one side empty")
        return tree


def _keep(tree: CellTree, name: str, kind: type) -> None:
    """Replace an array by a read-only copy."""
    array: NDArray[Any] = np.array(getattr(tree, name), dtype=kind)
    array.setflags(write=False)
    object.__setattr__(tree, name, array)
