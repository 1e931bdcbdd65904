"""The nodes of one level that may still be cut, with their groups side by side, and the counts of their atoms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tacit.codes.descent import Ints
from tacit.codes.search.limits import CellLimits
from tacit.codes.search.pruning import weight_of
from tacit.codes.search.records import GroupedRecords, SecretBound
from tacit.codes.search.weights import SecretTable, SecretWeights, weights_of
from tacit.codes.tree import CellTree, ColumnAtoms
from tacit.lift import Mask, Matrix, Vector
from tacit.lift.joint import sums

# The most groups that are counted at a time.
LARGEST_CHUNK = 1 << 18


@dataclass(frozen=True, eq=False)
class Frontier:
    """Groups of records with the same atoms, in the order of their nodes.

    Attributes
    ----------
    codes : tuple of arrays of int
        For each column the atom of each group.
    secrets : tuple of SecretWeights or SecretTable
        For each claim what its counted secrets weigh in each group.
    records, weight : arrays of float
        Those of each group. They are the same array where records are not weighted.
    marks : array (marks x groups)
        What else is summed over groups, times their weight.
    start : array of int
        Where the groups of each node start, and after the last, where they end.
    home : array of int
        The number of each node in the tree.
    part : array of int
        The known part of each node.
    """

    codes: tuple[NDArray[np.integer], ...]
    secrets: tuple[SecretWeights | SecretTable, ...]
    records: Vector
    weight: Vector
    marks: Matrix
    start: Ints
    home: Ints
    part: Ints

    @classmethod
    def of(
        cls,
        records: GroupedRecords,
        limits: Sequence[CellLimits],
        node: Ints,
        home: Ints,
        part: Ints,
        marks: Matrix | None = None,
    ) -> Frontier:
        """The frontier of nodes: ``node`` is that of each row of atoms, ``home`` and ``part`` those of each node.

        ``limits`` say which secrets of each claim are counted; ``marks`` of the records are summed too.
        """
        atoms, row = records.by_atoms
        numbers = sums(row, records.records.astype(np.float64), len(atoms))
        order = np.argsort(node, kind="stable")
        order = order[numbers[order] > 0]
        sizes = np.bincount(node[order], minlength=len(home))
        same = np.array_equal(records.weight, records.records)
        weight = np.where(records.records > 0, records.weight, 0.0)
        numbers = numbers[order]
        marked = () if marks is None else marks
        return cls(
            codes=tuple(np.ascontiguousarray(column[order], np.int32) for column in atoms.T),
            secrets=tuple(
                weights_of(row, each.label[secret], weight, (each.n_labels, len(atoms)), whole=same).moved(
                    order, len(atoms)
                )
                for each, secret in zip(limits, records.secrets, strict=True)
            ),
            records=numbers,
            weight=numbers if same else sums(row, weight, len(atoms))[order],
            marks=np.array([sums(row, weight * mark, len(atoms))[order] for mark in marked]).reshape(
                len(marked), len(order)
            ),
            start=np.concatenate([[0], np.cumsum(sizes)]),
            home=home,
            part=part,
        )

    def __len__(self) -> int:
        return len(self.home)

    def times(self, times: int, *, nodes: int, parts: int) -> Frontier:
        """The frontier so many times, for as many searches: each has ``nodes`` and ``parts`` of its own."""
        step = np.repeat(np.arange(times), len(self))
        records = np.tile(self.records, times)
        return Frontier(
            codes=tuple(np.tile(column, times) for column in self.codes),
            secrets=tuple(each.times(times, len(self.records)) for each in self.secrets),
            records=records,
            weight=np.tile(self.weight, times) if self.weighted else records,
            marks=np.tile(self.marks, times),
            start=np.append(np.tile(self.start[:-1], times) + step * self.start[-1], times * self.start[-1]),
            home=np.tile(self.home, times) + step * nodes,
            part=np.tile(self.part, times) + step * parts,
        )

    @property
    def weighted(self) -> bool:
        """Whether weights are not the numbers of records."""
        return self.weight is not self.records

    def node(self) -> Ints:
        """The node of each group."""
        return np.repeat(np.arange(len(self)), np.diff(self.start))

    def chunks(self) -> Iterator[Frontier]:
        """The same nodes in chunks, so that tables of counts stay small."""
        first = 0
        while first < len(self):
            last = int(np.searchsorted(self.start, self.start[first] + LARGEST_CHUNK, side="right")) - 1
            last = min(max(last, first + 1), len(self))
            yield self if last - first == len(self) else self._between(first, last)
            first = last

    def _between(self, first: int, last: int) -> Frontier:
        groups = slice(self.start[first], self.start[last])
        here = np.arange(groups.start, groups.stop)
        records = self.records[groups]
        return Frontier(
            codes=tuple(column[groups] for column in self.codes),
            secrets=tuple(each.moved(here, len(self.records)) for each in self.secrets),
            records=records,
            weight=self.weight[groups] if self.weighted else records,
            marks=self.marks[:, groups],
            start=self.start[first : last + 1] - self.start[first],
            home=self.home[first:last],
            part=self.part[first:last],
        )

    def split(self, keep: Mask, left: Mask, home: Ints) -> Frontier:
        """The children of the nodes to keep: ``left`` says where each group goes, ``home`` names the children."""
        sizes = np.diff(self.start)
        if not keep.all():
            groups = np.repeat(keep, sizes)
            return self._subset(np.flatnonzero(groups), keep)._halved(left[groups], home)
        return self._halved(left, home)

    def _halved(self, left: Mask, home: Ints) -> Frontier:
        start, sizes = self.start[:-1], np.diff(self.start)
        before = np.concatenate([[0], np.cumsum(left)])
        lefts = before[self.start[1:]] - before[start]
        base = np.repeat(before[start], sizes)
        rank = before[:-1] - base
        offset = np.arange(len(left)) - np.repeat(start, sizes)
        to = np.repeat(start, sizes) + np.where(left, rank, np.repeat(lefts, sizes) + offset - rank)
        order = np.empty(len(left), np.int64)
        order[to] = np.arange(len(left))
        ends = np.stack([start + lefts, self.start[1:]], axis=1).ravel()
        moved = self._subset(order, np.ones(len(self), bool))
        return replace(moved, start=np.concatenate([[0], ends]), home=home, part=np.repeat(self.part, 2))

    def _subset(self, groups: Ints, nodes: Mask) -> Frontier:
        records = self.records[groups]
        sizes = np.diff(self.start)[nodes]
        return Frontier(
            codes=tuple(column[groups] for column in self.codes),
            secrets=tuple(each.moved(groups, len(self.records)) for each in self.secrets),
            records=records,
            weight=self.weight[groups] if self.weighted else records,
            marks=self.marks.take(groups, axis=1),
            start=np.concatenate([[0], np.cumsum(sizes)]),
            home=self.home[nodes],
            part=self.part[nodes],
        )

    def of_nodes(self, nodes: Mask) -> Frontier:
        """The frontier of some of the nodes."""
        return self._subset(np.flatnonzero(np.repeat(nodes, np.diff(self.start))), nodes)

    def enough(self, records: int) -> Frontier:
        """The frontier of the nodes that have at least so many records, and more than one group."""
        before = np.concatenate([[0.0], np.cumsum(self.records)])
        nodes = before[self.start[1:]] - before[self.start[:-1]] >= records
        nodes &= np.diff(self.start) > 1
        if nodes.all():
            return self
        return self.of_nodes(nodes)


@dataclass(frozen=True, eq=False)
class Tally:
    """The atoms of one column that occur in each node, node by node, with what they count.

    Attributes
    ----------
    column : int
    node, atom : arrays of int
        Of each pair that occurs, in the order of nodes.
    start : array of int
        Where the pairs of each node start.
    records, weight : arrays of float
        Of each pair.
    secrets : tuple of arrays (bounded values x pairs)
        What each bounded value, or event, weighs, for each claim.
    marks : array (marks x pairs)
        Sums of the marks.
    """

    column: int
    node: Ints
    atom: Ints
    start: Ints
    records: Vector
    weight: Vector
    secrets: tuple[Matrix, ...]
    marks: Matrix

    def __len__(self) -> int:
        return len(self.node)

    def running(self, values: Matrix) -> Matrix:
        """Sums of the values of each node's pairs up to each pair (along the last axis)."""
        out = np.cumsum(values, axis=-1)
        if len(self.start) > 1:
            before = out.take(self.start[1:] - 1, axis=-1)
            base = np.concatenate([np.zeros((*before.shape[:-1], 1)), before], axis=-1)
            out -= np.repeat(base, self.lengths, axis=-1)
        return out

    @cached_property
    def lengths(self) -> Ints:
        """How many pairs each node has."""
        return np.diff(np.append(self.start, len(self)))

    def totals(self, values: Matrix) -> Matrix:
        """Sums of the values of each node's pairs (along the last axis)."""
        return np.add.reduceat(values, self.start, axis=-1)

    def ordered_by(self, key: Vector) -> Tally:
        """The pairs of each node in the order of a key; ties keep their order."""
        order = np.lexsort((key, self.node))
        return Tally(
            column=self.column,
            node=self.node,
            atom=self.atom[order],
            start=self.start,
            records=self.records[order],
            weight=self.weight[order],
            secrets=tuple(counts.take(order, axis=1) for counts in self.secrets),
            marks=self.marks.take(order, axis=1),
        )


def tallied(frontier: Frontier, node: Ints, column: int, atoms: ColumnAtoms, limits: tuple[CellLimits, ...]) -> Tally:
    """Count the atoms of a column in every node of the frontier; ``node`` is each group's."""
    key = node * atoms.size + frontier.codes[column]
    table = len(frontier) * atoms.size
    # Where few of the possible pairs occur, sorting is quicker than a table of all.
    if table > 4 * len(key) + 4096:
        pairs, place = np.unique(key, return_inverse=True)
        records = sums(place, frontier.records, len(pairs))
    else:
        everything = sums(key, frontier.records, table)
        pairs = np.flatnonzero(everything)
        records = everything[pairs]
        number = np.zeros(table, np.int64)
        number[pairs] = np.arange(len(pairs))
        place = number[key]
    n = len(pairs)
    node = pairs // atoms.size
    return Tally(
        column=column,
        node=node,
        atom=pairs - node * atoms.size,
        start=np.searchsorted(node, np.arange(len(frontier))),
        records=records,
        weight=sums(place, frontier.weight, n) if frontier.weighted else records,
        secrets=tuple(
            each.bounded(secret.by_label(place, n, each.n_labels))
            for secret, each in zip(frontier.secrets, limits, strict=True)
        ),
        marks=np.array([sums(place, mark, n) for mark in frontier.marks]).reshape(-1, n),
    )


def within_parts(
    tree: CellTree, records: GroupedRecords, bounds: Sequence[SecretBound], guide: ArrayLike | None = None
) -> tuple[tuple[CellLimits, ...], Frontier]:
    """The limits inside the known parts of a tree, and the frontier of its leaves."""
    atoms, row = records.by_atoms
    part_of = np.searchsorted(tree.known, tree.known_of[tree.leaves])
    node = np.searchsorted(tree.leaves, tree.leaf_of(atoms))
    part = part_of[node][row]
    limits = tuple(
        CellLimits.of(bound, weight_of(secret, part, records.weight, (bound.n_secrets, len(tree.known))))
        for secret, bound in zip(records.secrets, bounds, strict=True)
    )
    marks = None if guide is None else np.asarray(guide, np.float64).T[bounds[0].binding]
    return limits, Frontier.of(records, limits, node, tree.leaves, part_of, marks)
