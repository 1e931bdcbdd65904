"""All cuts of all nodes of a frontier at once: which are within bounds, what they are worth, and each node's best."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tacit.codes.descent import Ints
from tacit.codes.search.frontier import Frontier, Tally, tallied
from tacit.codes.search.judging import departure
from tacit.codes.search.limits import CellLimits
from tacit.codes.search.worth import Worth
from tacit.codes.tree import ColumnAtoms
from tacit.lift import Mask, Vector


@dataclass(eq=False)
class ColumnCuts:
    """The best cut of one column in each node: its score, and its score per unit of worth; 0 where there is none."""

    column: int
    score: Vector
    factor: Vector
    below: Ints
    sets: Mask | None

    @classmethod
    def none(cls, column: int, atoms: ColumnAtoms, nodes: int) -> ColumnCuts:
        """No cut for any node."""
        sets = None if atoms.ordered else np.zeros((nodes, atoms.size), bool)
        return cls(column, np.zeros(nodes), np.zeros(nodes), np.full(nodes, -1), sets)


@dataclass(frozen=True, eq=False)
class BestCuts:
    """One cut of each node: ``pick`` is its place among the columns that were tried, -1 for none."""

    tried: tuple[ColumnCuts, ...]
    pick: Ints

    @property
    def has_cut(self) -> Mask:
        """The nodes that have a cut."""
        return self.pick >= 0

    @property
    def column(self) -> Ints:
        """The column that is cut; -1 for none."""
        return np.append([cuts.column for cuts in self.tried], -1)[self.pick]

    @property
    def below(self) -> Ints:
        """The atoms below this number go left; -1 where a set goes left."""
        return self._of_pick([cuts.below for cuts in self.tried], -1)

    @property
    def score(self) -> Vector:
        """The scores of the cuts, without what they tell about other columns; 0 for none."""
        return self._of_pick([cuts.score for cuts in self.tried], 0.0)

    @property
    def factor(self) -> Vector:
        """What a unit of worth scores in each cut; 0 for none."""
        return self._of_pick([cuts.factor for cuts in self.tried], 0.0)

    def _of_pick(self, values: list[NDArray[Any]], none: float) -> NDArray[Any]:
        rows = np.stack([*values, np.full(len(self.pick), none, values[0].dtype)])
        return np.asarray(rows[self.pick, np.arange(len(self.pick))])

    def sets(self) -> Iterator[tuple[Ints, Mask]]:
        """Nodes that cut a set, column by column, and their sets."""
        for place, cuts in enumerate(self.tried):
            nodes = np.flatnonzero(self.pick == place)
            if cuts.sets is not None and len(nodes):
                yield nodes, cuts.sets[nodes]

    def left(self, frontier: Frontier, node: Ints) -> Mask:
        """Where each group goes."""
        out, pick = np.zeros(len(node), bool), self.pick[node]
        for place, cuts in enumerate(self.tried):
            groups = np.flatnonzero(pick == place)
            atom, at = frontier.codes[cuts.column][groups], node[groups]
            out[groups] = atom < cuts.below[at] if cuts.sets is None else cuts.sets[at, atom]
        return out


class Judge(Protocol):
    """Which cuts are allowed, and what a unit of worth counts in them."""

    def factor(self, frontier: Frontier, tally: Tally, at: Ints, left: Vector, right: Vector) -> Vector:
        """A positive factor for each cut after the pairs ``at``; 0 where it is not allowed."""
        ...

    @property
    def limits(self) -> tuple[CellLimits, ...]:
        """The bounds of each claim."""
        ...


@dataclass(frozen=True, eq=False)
class CutRules:
    """What a cut must keep to, and what it is worth.

    Attributes
    ----------
    columns : tuple of ColumnAtoms
    open : tuple of int
        The columns that may be cut.
    judge : Judge
    least : int
        The fewest records on each side.
    worth : Worth
    rivals : int
        For this many of a node's best cuts, what they tell about the other columns is counted.
    """

    columns: tuple[ColumnAtoms, ...]
    open: tuple[int, ...]
    judge: Judge
    least: int
    worth: Worth
    rivals: int


def best_cuts(frontier: Frontier, rules: CutRules) -> BestCuts:
    """The best cut of every node of the frontier.

    Guarantees
    ----------
    Both sides of every cut have at least ``least`` records, and the judge allows it.
    """
    node = frontier.node()
    tried = tuple(_column_cuts(frontier, node, rules, column) for column in rules.open)
    likely = np.stack([cuts.score * rules.worth.reach[cuts.column] for cuts in tried])
    ranked = np.argsort(-likely, axis=0, kind="stable")
    ranked = np.where(np.take_along_axis(likely, ranked, axis=0) > 0, ranked, -1)
    rivals = min(rules.rivals, len(tried))
    if rivals < 2 or not (ranked[1] >= 0).any():
        return BestCuts(tried, ranked[0])
    around, scores = rules.worth.around(frontier, node), []
    for pick in ranked[:rivals]:
        cuts = BestCuts(tried, pick)
        elsewhere = rules.worth.elsewhere(frontier, node, around, cuts.left(frontier, node), cuts.column)
        # With what it tells about the columns that it does not cut; -1 for no cut.
        scores.append(np.where(cuts.has_cut, cuts.score + cuts.factor * elsewhere, -1.0))
    winner = np.stack(scores).argmax(axis=0)[None]
    return BestCuts(tried, np.take_along_axis(ranked, winner, axis=0)[0])


def _column_cuts(frontier: Frontier, node: Ints, rules: CutRules, column: int) -> ColumnCuts:
    atoms = rules.columns[column]
    cuts = ColumnCuts.none(column, atoms, len(frontier))
    tally = tallied(frontier, node, column, atoms, rules.judge.limits)
    if atoms.ordered:
        _try(cuts, _allowed(tally, atoms), tally, frontier, rules)
        if atoms.missing:
            _missing_first(cuts, tally, frontier, rules)
    else:
        # Two categories are cut the same way in any order.
        for ordered in islice(_orders(tally, frontier, rules), 1 if atoms.size == 2 else None):
            _try(cuts, np.ones(len(tally), bool), ordered, frontier, rules)
    return cuts


def _missing_first(cuts: ColumnCuts, tally: Tally, frontier: Frontier, rules: CutRules) -> None:
    """Where missing values may be a part of their own, cut them off instead of the best cut, with its score.

    Otherwise missing values would share a part with a range wherever the values next to them were split first. What is
    left can then be split in the same place.
    """
    alone = _missing_alone(tally, frontier, rules, most=1.0)
    where = alone.score > 0
    cuts.below[where], cuts.factor[where] = alone.below[where], alone.factor[where]


def _missing_alone(tally: Tally, frontier: Frontier, rules: CutRules, *, most: float) -> ColumnCuts:
    """The cut of each node between present and missing values of a column, if at most a share ``most`` is missing."""
    atoms = rules.columns[tally.column]
    here, alone = np.zeros(len(tally), bool), ColumnCuts.none(tally.column, atoms, len(frontier))
    few = tally.records <= most * tally.totals(tally.records)[tally.node]
    here[:-1] = (tally.atom[1:] == atoms.size - 1) & (tally.node[1:] == tally.node[:-1]) & few[1:]
    if atoms.cuts is None or atoms.cuts[-1]:
        _try(alone, here, tally, frontier, rules)
        alone.below[alone.score > 0] = atoms.size - 1
    return alone


def missing_cuts(frontier: Frontier, rules: CutRules, column: int, *, most: float) -> BestCuts:
    """Cut off a column's missing values where that is allowed and they are at most a share ``most`` of the node."""
    tally = tallied(frontier, frontier.node(), column, rules.columns[column], rules.judge.limits)
    alone = _missing_alone(tally, frontier, rules, most=most)
    return BestCuts((alone,), np.where(alone.score > 0, 0, -1))


def _allowed(tally: Tally, atoms: ColumnAtoms) -> Mask:
    """Whether a part may end somewhere between each pair and the next."""
    out = np.ones(len(tally), bool)
    out[:-1] = tally.node[1:] == tally.node[:-1]
    if atoms.cuts is not None and len(tally) > 1:
        before = np.concatenate([[0], np.cumsum(atoms.cuts)])
        out[:-1] &= before[tally.atom[1:]] > before[tally.atom[:-1]]
    return out


def _orders(tally: Tally, frontier: Frontier, rules: CutRules) -> Iterator[Tally]:
    """Categories in the orders along which they are cut.

    By the share of each claim's commonest secret (or of those below a threshold), and of each use; from those most like
    their node to those least like it, so that categories that would tell too much alone can be mixed; and by size.
    """
    weight = np.maximum(tally.weight, 1e-300)
    for counts, limits in zip(tally.secrets, rules.judge.limits, strict=True):
        if len(counts):
            yield tally.ordered_by(limits.telling(counts, tally.weight, frontier.part[tally.node]) / weight)
    if rules.worth.use:
        # One share follows from the others.
        for shares in rules.worth.use[tally.column][1:]:
            yield tally.ordered_by(shares[tally.atom])
    if tally.secrets:
        yield tally.ordered_by(departure(tally))
    yield tally.ordered_by(-tally.records)


def _try(cuts: ColumnCuts, allowed: Mask, tally: Tally, frontier: Frontier, rules: CutRules) -> None:
    """Take each node's best cut along the order of the tally where it is better than the best so far."""
    records = tally.running(tally.records)
    rest = tally.totals(tally.records)[tally.node] - records
    at = np.flatnonzero(allowed & (records >= rules.least) & (rest >= rules.least))
    if not len(at):
        return
    left, right = records[at], rest[at]
    if frontier.weighted:
        left = tally.running(tally.weight)[at]
        right = tally.totals(tally.weight)[tally.node[at]] - left
    factor = rules.judge.factor(frontier, tally, at, left, right)
    fine = (factor > 0) & (left > 0) & (right > 0)
    at, left, right, factor = at[fine], left[fine], right[fine], factor[fine]
    if not len(at):
        return
    score = factor * rules.worth.of(tally, cuts.column, at, left, right)
    best = _first_best(score, tally.node[at])
    best = best[score[best] > cuts.score[tally.node[at[best]]]]
    node = tally.node[at[best]]
    cuts.score[node], cuts.factor[node] = score[best], factor[best]
    _take(cuts, tally, at[best], rules.columns[cuts.column])


def _first_best(score: Vector, node: Ints) -> Ints:
    """The place of each node's highest score, the first of equals; nodes are in order."""
    starts = np.flatnonzero(np.concatenate([[True], node[1:] != node[:-1]]))
    highest = np.repeat(np.maximum.reduceat(score, starts), np.diff(np.append(starts, len(node))))
    hits = np.flatnonzero(score == highest)
    chosen: Ints = hits[np.concatenate([[True], node[hits[1:]] != node[hits[:-1]]])]
    return chosen


def _take(cuts: ColumnCuts, tally: Tally, at: Ints, atoms: ColumnAtoms) -> None:
    """Take the cuts after the pairs ``at``, one per node."""
    node = tally.node[at]
    if cuts.sets is None:
        cuts.below[node] = _between(tally.atom[at], tally.atom[at + 1], atoms)
        return
    last = np.full(len(cuts.score), -1)
    last[node] = at
    inside = np.flatnonzero(last[tally.node] >= 0)
    # Atoms that do not occur here go with the larger side.
    records = tally.running(tally.records)[at]
    cuts.sets[node] = (2 * records >= tally.totals(tally.records)[node])[:, None]
    cuts.sets[tally.node[inside], tally.atom[inside]] = inside <= last[tally.node[inside]]


def _between(low: Ints, high: Ints, atoms: ColumnAtoms) -> Ints:
    """A cut half-way between atoms that occur, among those that are allowed."""
    if atoms.cuts is None:
        return np.asarray((low + high + 1) // 2)
    allowed = np.flatnonzero(atoms.cuts)
    before = np.concatenate([[0], np.cumsum(atoms.cuts)])
    return np.asarray(allowed[(before[low] + before[high] - 1) // 2] + 1)
