"""All cuts of all nodes of a frontier at once: which are within bounds, what they are worth, and each node's best."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from tacit.codes.search.frontier import Frontier, Tally, tallied
from tacit.codes.search.limits import Limits
from tacit.codes.search.records import Vector
from tacit.codes.search.worth import Worth
from tacit.codes.tree import ColumnAtoms, Ints, Mask

# A cut that uses up its bounds is still worth a little.
_FLOOR = 0.05


@dataclass(eq=False)
class BestCuts:
    """The best cut of each node found so far; a node without one has score 0 and column -1."""

    score: Vector
    column: Ints
    below: Ints
    sets: dict[int, Mask] = field(default_factory=dict)

    @classmethod
    def none(cls, nodes: int) -> BestCuts:
        """No cut for any node."""
        return cls(np.zeros(nodes), np.full(nodes, -1), np.full(nodes, -1))

    def left(self, frontier: Frontier, node: Ints) -> Mask:
        """Where each group goes."""
        out = np.zeros(len(node), bool)
        for column in np.unique(self.column[self.column >= 0]).tolist():
            groups = np.flatnonzero((self.column == column)[node])
            atom, at = frontier.codes[column][groups], node[groups]
            below = self.below[at]
            side = atom < below
            if column in self.sets:
                of_set = below < 0
                side[of_set] = self.sets[column][at[of_set], atom[of_set]]
            out[groups] = side
        return out


@dataclass(frozen=True, eq=False)
class Rules:
    """What a cut must keep to, and what it is worth."""

    columns: tuple[ColumnAtoms, ...]
    open: tuple[int, ...]
    limits: tuple[Limits, ...]
    least: int
    worth: Worth


def best_cuts(frontier: Frontier, rules: Rules) -> BestCuts:
    """The best cut of every node of the frontier.

    Guarantees
    ----------
    Both sides of every cut have at least ``least`` records and are within the limits of every claim.
    """
    best, node = BestCuts.none(len(frontier)), frontier.node()
    n_bounded = tuple(limits.n_bounded for limits in rules.limits)
    for column in rules.open:
        atoms = rules.columns[column]
        tally = tallied(frontier, node, column, atoms, n_bounded, rules.worth.n_uses)
        if atoms.ordered:
            _try(best, _allowed(tally, atoms), tally, frontier, rules, column)
        else:
            for ordered in _orders(tally, frontier, rules):
                _try(best, np.ones(len(tally), bool), ordered, frontier, rules, column)
    return best


def _allowed(tally: Tally, atoms: ColumnAtoms) -> Mask:
    """Whether a part may end somewhere between each pair and the next."""
    out = np.ones(len(tally), bool)
    out[:-1] = tally.node[1:] == tally.node[:-1]
    if atoms.cuts is not None and len(tally) > 1:
        before = np.concatenate([[0], np.cumsum(atoms.cuts)])
        out[:-1] &= before[tally.atom[1:]] > before[tally.atom[:-1]]
    return out


def _orders(tally: Tally, frontier: Frontier, rules: Rules) -> Iterator[Tally]:
    """Categories in the orders along which they are cut: by share of the commonest secret, of the use, and by size."""
    with np.errstate(divide="ignore", invalid="ignore"):
        for counts in tally.secrets:
            if len(counts):
                share = np.nan_to_num(counts[counts.sum(axis=1).argmax()] / tally.weight)
                yield tally.ordered_by(share)
        if tally.use is not None:
            yield tally.ordered_by(np.nan_to_num(rules.worth.use_values @ tally.use / tally.weight))
    yield tally.ordered_by(-tally.records)


def _try(best: BestCuts, allowed: Mask, tally: Tally, frontier: Frontier, rules: Rules, column: int) -> None:
    """Take each node's best cut along the order of the tally where it is better than what there is."""
    records = tally.running(tally.records)
    total = tally.totals(tally.records)[tally.node]
    at = np.flatnonzero(allowed & (records >= rules.least) & (total - records >= rules.least))
    if not len(at):
        return
    node, part = tally.node[at], frontier.part[tally.node[at]]
    weight = tally.running(tally.weight)
    left = weight[at]
    whole = tally.totals(tally.weight)
    right = whole[node] - left
    room = np.ones(len(at))
    for counts, limits in zip(tally.secrets, rules.limits, strict=True):
        inside = tally.running(counts)[:, at]
        for side, mass in ((inside, left), (tally.totals(counts)[:, node] - inside, right)):
            np.minimum(room, 1 - limits.used(side, mass, part), out=room)
    fine = room >= 0
    if not fine.all():
        at, node, left, right, room = at[fine], node[fine], left[fine], right[fine], room[fine]
    if not len(at):
        return
    gain = rules.worth.of(tally, column, at, left, right, whole[node])
    score = gain * (_FLOOR + room)
    chosen = _first_best(score, node)
    chosen = chosen[score[chosen] > best.score[node[chosen]]]
    _take(best, tally, at[chosen], score[chosen], rules.columns[column], column)


def _first_best(score: Vector, node: Ints) -> Ints:
    """The place of each node's highest score, the first of equals; nodes stand in order."""
    starts = np.flatnonzero(np.concatenate([[True], node[1:] != node[:-1]]))
    highest = np.repeat(np.maximum.reduceat(score, starts), np.diff(np.append(starts, len(node))))
    hits = np.flatnonzero(score == highest)
    chosen: Ints = hits[np.concatenate([[True], node[hits[1:]] != node[hits[:-1]]])]
    return chosen


def _take(best: BestCuts, tally: Tally, at: Ints, score: Vector, atoms: ColumnAtoms, column: int) -> None:
    node = tally.node[at]
    best.score[node], best.column[node] = score, column
    if atoms.ordered:
        best.below[node] = _between(tally.atom[at], tally.atom[at + 1], atoms)
        return
    best.below[node] = -1
    sets = best.sets.setdefault(column, np.zeros((len(best.score), atoms.size), bool))
    last = np.full(len(best.score), -1)
    last[node] = at
    inside = np.flatnonzero(last[tally.node] >= 0)
    pair_node, goes = tally.node[inside], inside <= last[tally.node[inside]]
    # Atoms that do not occur here go with the larger side.
    records = tally.running(tally.records)[at]
    sets[node] = (2 * records >= tally.totals(tally.records)[node])[:, None]
    sets[pair_node, tally.atom[inside]] = goes


def _between(low: Ints, high: Ints, atoms: ColumnAtoms) -> Ints:
    """A cut half-way between atoms that occur, among those that are allowed."""
    if atoms.cuts is None:
        return np.asarray((low + high + 1) // 2)
    allowed = np.flatnonzero(atoms.cuts)
    before = np.concatenate([[0], np.cumsum(atoms.cuts)])
    return np.asarray(allowed[(before[low] + before[high] - 1) // 2] + 1)
