"""Where to spend a budget on decoys: groups of clusters to link, and bogus attributes for each group.

One decoy record is made for each group: it matches every cluster of the group, so that the adversary joins them, and
carries bogus attributes besides. What is to be lowered is the worst leakage of any cluster.

For a fixed reference the leakage of a record is a sum over the nodes u of a shared quadrature,

    L = <base, phi psi>,   phi(u) = E exp(-uW),   psi(u) = sum over units of E[I exp(-uW)] / E[exp(-uW)],

and joining records that have no attribute in common multiplies their phi and adds their psi. A bogus attribute is one
more factor of phi. So the leakage after each of m possible links costs one product of a matrix and a vector.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
# How many bogus attributes of each lane.
Adds = tuple[int, ...]

# Below this nothing of the person is held.
NOTHING = 1e-15
# Two leakages closer than this are the same: the quadrature's own error is smaller.
SAME = 1e-12
# Set partitions of more clusters than this are too many (8 clusters have 4,140, 9 have 21,147).
MOST_FOR_EXACT = 8
# Partitions of the clusters that hold something of the person, in the partition method.
MOST_FOR_PARTITION = 6
# A budget that is no whole number of cost units is cut into this many for the knapsack; costs are rounded up.
STEPS_OF_BUDGET = 240


@dataclass(frozen=True)
class Lane:
    """Bogus attributes that are all worth the same: of one label, one weight, one cost.

    ``limit`` is how many there are; ``free`` says that they stand beside whatever the record holds (a label that can
    have several values, in no correlated group), so that each is one more factor.
    """

    label: str
    weight: float
    confidence: float
    cost: float
    limit: int
    free: bool = True

    def factor(self, nodes: FloatArray) -> FloatArray:
        """log E exp(-uW) of one such attribute."""
        return _log_factor(self.confidence, self.weight, nodes)


def _log_factor(confidence: float, weight: float, nodes: FloatArray) -> FloatArray:
    if confidence >= 1.0:
        return np.asarray(-weight * nodes)  # the logarithm of an exponential that may underflow
    return np.asarray(np.log1p(confidence * np.expm1(-weight * nodes)))


@dataclass(frozen=True)
class Group:
    """Clusters that one decoy joins, and how many bogus attributes of each lane it carries."""

    members: frozenset[int]
    adds: Adds


@dataclass(frozen=True)
class Found:
    """What a search found: the worst leakage that is left, its cost, and the groups that get a decoy."""

    worst: float
    cost: float
    groups: tuple[Group, ...]


class Board:
    """The clusters of one adversary on a shared quadrature, and what may be done with them.

    Parameters
    ----------
    nodes, base : arrays
        Nodes in units of one over weight, and what multiplies phi psi at each.
    vectors : callable
        (members, adds) to (log phi, psi) of the joined record. Adds of free lanes are not passed: they are factors.
    link_costs : sequence of float
        For every cluster, what it costs to link it alone; infinite if no allowed record matches it.
    lanes : sequence of Lane
    floor : float
        The worst leakage of the clusters that are not on the board: less is not to be had.
    group_cost : callable, optional
        What the smallest record costs that matches all members; the sum of the members' costs if left out. Never more
        than that sum.
    junk : sequence of float, optional
        Expected weight of what is wrong in each cluster, for the knapsack.
    """

    def __init__(
        self,
        *,
        nodes: FloatArray,
        base: FloatArray,
        vectors: Callable[[frozenset[int], Adds], tuple[FloatArray, FloatArray]],
        link_costs: Sequence[float],
        lanes: Sequence[Lane],
        floor: float = 0.0,
        group_cost: Callable[[frozenset[int]], float] | None = None,
        junk: Sequence[float] | None = None,
    ) -> None:
        self.base = base
        self.lanes = tuple(lanes)
        self.link_costs = np.asarray(link_costs, dtype=np.float64)
        self.floor = floor
        self.no_adds: Adds = (0,) * len(self.lanes)
        self._vectors = vectors
        self._group_cost = group_cost
        self._factors = np.array([lane.factor(nodes) for lane in self.lanes]).reshape(len(self.lanes), len(nodes))
        self._found: dict[tuple[frozenset[int], Adds], tuple[FloatArray, FloatArray]] = {}
        self._leakages: dict[Group, float] = {}
        self._costs: dict[frozenset[int], float] = {}
        self.junk = np.zeros(len(self)) if junk is None else np.asarray(junk, dtype=np.float64)

    def __len__(self) -> int:
        return len(self.link_costs)

    @cached_property
    def alone(self) -> FloatArray:
        """The leakage of every cluster as it is."""
        return np.array([self.leakage(Group(frozenset((c,)), self.no_adds)) for c in range(len(self))])

    @cached_property
    def hot(self) -> tuple[int, ...]:
        """The clusters that hold something of the person, worst first."""
        order = np.argsort(-self.alone, kind="stable")
        return tuple(int(c) for c in order if self.alone[c] > NOTHING)

    @cached_property
    def cold(self) -> tuple[int, ...]:
        """The clusters that hold nothing of the person and can be linked."""
        usable = (self.alone <= NOTHING) & np.isfinite(self.link_costs)
        return tuple(int(c) for c in np.flatnonzero(usable))

    @cached_property
    def _cold_factors(self) -> FloatArray:
        return np.array([np.exp(self._of(Group(frozenset((c,)), self.no_adds))[0]) for c in self.cold])

    def _of(self, group: Group) -> tuple[FloatArray, FloatArray]:
        bound = tuple(0 if lane.free else n for lane, n in zip(self.lanes, group.adds, strict=True))
        key = (group.members, bound)
        if key not in self._found:
            self._found[key] = self._vectors(*key)
        return self._found[key]

    def _weighed(self, group: Group) -> FloatArray:
        """base phi psi of the group's record."""
        log_phi, psi = self._of(group)
        free = [n if lane.free else 0 for lane, n in zip(self.lanes, group.adds, strict=True)]
        return np.asarray(self.base * np.exp(log_phi + np.asarray(free, dtype=np.float64) @ self._factors) * psi)

    def leakage(self, group: Group) -> float:
        """The leakage of the record that the group's decoy makes of it."""
        if group not in self._leakages:
            self._leakages[group] = float(self._weighed(group).sum())
        return self._leakages[group]

    def with_cold(self, group: Group) -> FloatArray:
        """The leakage of the group with each of the cold clusters linked besides, as if they shared no attribute."""
        return np.asarray(self._cold_factors @ self._weighed(group)) if self.cold else np.zeros(0)

    def link_cost(self, members: frozenset[int]) -> float:
        """The cost of the record that matches all members, without bogus attributes."""
        if members not in self._costs:
            total = float(self.link_costs[list(members)].sum())
            if self._group_cost is not None and len(members) > 1 and math.isfinite(total):
                total = min(total, self._group_cost(members))
            self._costs[members] = total
        return self._costs[members]

    def cost(self, group: Group) -> float:
        """The cost of the group's decoy."""
        return self.link_cost(group.members) + self.cost_of_adds(group.adds)

    def cost_of_adds(self, adds: Adds) -> float:
        """The cost of the bogus attributes."""
        return sum(n * lane.cost for n, lane in zip(adds, self.lanes, strict=True))


class _State:
    """Groups while a search goes on: which have a decoy, and what is spent."""

    def __init__(self, board: Board, budget: float, decoyed: Sequence[Group] = ()) -> None:
        self.board = board
        self.budget = budget * (1 + 1e-12)  # 0.1 + 0.2 is to fit into 0.3
        taken: set[int] = set().union(*(group.members for group in decoyed)) if decoyed else set()
        # A group is (what it is, whether it has a decoy).
        self.groups = [(group, True) for group in decoyed]
        self.groups += [(Group(frozenset((c,)), board.no_adds), False) for c in board.hot if c not in taken]

    @property
    def spent(self) -> float:
        return sum(self.board.cost(group) for group, decoyed in self.groups if decoyed)

    def paid(self, place: int) -> float:
        """What the group's decoy costs so far."""
        group, decoyed = self.groups[place]
        return self.board.cost(group) if decoyed else 0.0

    def worst(self) -> tuple[int, float]:
        """Where the worst group stands, and its leakage."""
        values = [self.board.leakage(group) for group, _ in self.groups]
        place = int(np.argmax(values))
        return place, values[place]

    def used(self) -> Adds:
        """How many bogus attributes of each lane all groups have."""
        return tuple(sum(n) for n in zip(*(group.adds for group, _ in self.groups), strict=True))

    def found(self) -> Found:
        decoys = tuple(group for group, decoyed in self.groups if decoyed)
        return Found(max(self.worst()[1], self.board.floor), sum(self.board.cost(group) for group in decoys), decoys)

    def more_adds(self, place: int, sizes: Sequence[int]) -> Iterator[tuple[Group, float]]:
        """The group with more bogus attributes of one lane, and what that costs, as far as the budget goes."""
        group, _ = self.groups[place]
        left = self.budget - self.spent + self.paid(place)
        for at, (lane, used) in enumerate(zip(self.board.lanes, self.used(), strict=True)):
            for size in sizes:
                adds = (*group.adds[:at], group.adds[at] + size, *group.adds[at + 1 :])
                more = Group(group.members, adds)
                if used + size <= lane.limit and self.board.cost(more) <= left:
                    yield more, self.board.cost(more) - self.paid(place)


def _rate(before: float, after: float, cost: float) -> float:
    """How much the logarithm of the leakage falls for one unit of cost."""
    return math.log(before / max(after, 1e-300)) / max(cost, 1e-9)


def _top_up(state: _State) -> None:
    """Give one bogus attribute after another to the worst group until the budget or the effect ends.

    For given groups and one lane this is optimal: each group's leakage falls with its own attributes alone, so the
    worst can be lowered in no other way.
    """
    while state.groups:
        place, worst = state.worst()
        if worst <= max(state.board.floor, NOTHING):
            return
        options = [
            (_rate(worst, state.board.leakage(more), cost), more)
            for more, cost in state.more_adds(place, (1,))
            if state.board.leakage(more) < worst - SAME
        ]
        if not options:
            return
        state.groups[place] = (max(options, key=lambda option: option[0])[1], True)


def exact(board: Board, budget: float) -> Found:
    """The best plan by trying every grouping of the clusters; for at most ``MOST_FOR_EXACT`` clusters.

    Notes
    -----
    Exact if there is one lane without a limit that is reached. With several lanes all groupings are still tried, and in
    each the bogus attributes are given out by effect per cost.
    """
    if not board.hot:
        return Found(board.floor, 0.0, ())
    best = _State(board, budget).found()
    hot = frozenset(board.hot)
    for blocks in _partitions((*board.hot, *board.cold)):
        joined = [frozenset(block) for block in blocks if len(block) > 1]
        if any(not hot & block for block in joined):
            continue  # joining what holds nothing of the person lowers nothing
        if sum(board.link_cost(block) for block in joined) > budget * (1 + 1e-12):
            continue
        state = _State(board, budget, [Group(block, board.no_adds) for block in joined])
        _top_up(state)
        best = _better(best, state.found())
    return best


def _better(best: Found, other: Found) -> Found:
    """The plan that leaves less; of two that leave the same the cheaper."""
    if abs(other.worst - best.worst) <= SAME:
        return other if other.cost < best.cost else best
    return other if other.worst < best.worst else best


def _partitions(items: Sequence[int]) -> Iterator[list[list[int]]]:
    """Every way to divide the items into blocks."""
    if not items:
        yield []
        return
    first, rest = items[0], items[1:]
    for blocks in _partitions(rest):
        yield [[first], *blocks]
        for at, block in enumerate(blocks):
            yield [*blocks[:at], [first, *block], *blocks[at + 1 :]]


def greedy(board: Board, budget: float) -> Found:
    """Always to the worst group, what lowers it most for its cost: bogus attributes, a cold cluster, or a hot one."""
    if not board.hot:
        return Found(board.floor, 0.0, ())
    state = _State(board, budget)
    best = state.found()
    free = np.ones(len(board.cold), dtype=bool)
    while state.worst()[1] > max(board.floor, NOTHING):
        place, worst = state.worst()
        steps = [*_bogus_steps(state, place), *_cold_steps(state, place, free), *_hot_steps(state, place)]
        rated = [(_rate(worst, board.leakage(step[0]), step[1]), step) for step in steps]
        rated = [option for option in rated if option[0] > SAME]
        if not rated:
            break
        group, _, joined = max(rated, key=lambda option: option[0])[1]
        # What was joined is now part of the group and no longer stands alone.
        kept = [entry for at, entry in enumerate(state.groups) if at not in (place, joined)]
        state.groups = [*kept, (group, True)]
        free &= ~np.isin(board.cold, list(group.members))
        best = _better(best, state.found())
    return _polished(board, budget, best)


# What a group would become, the cost of that, and where the other group stands that it absorbs (-1: none).
_Step = tuple[Group, float, int]


def _bogus_steps(state: _State, place: int) -> Iterator[_Step]:
    # Several at once, because the first pays for the link as well.
    for group, cost in state.more_adds(place, (1, 2, 4, 8)):
        yield group, cost, -1


def _cold_steps(state: _State, place: int, free: NDArray[np.bool_]) -> Iterator[_Step]:
    """The cold cluster that lowers the group most for its cost."""
    board, (group, decoyed) = state.board, state.groups[place]
    opening = 0.0 if decoyed else board.link_cost(group.members)
    costs = board.link_costs[list(board.cold)] + opening
    fits = free & (costs <= state.budget - state.spent)
    if not fits.any():
        return
    after = board.with_cold(group)
    rates = np.where(fits, np.log(board.leakage(group) / np.maximum(after, 1e-300)) / costs, -np.inf)
    # The three best as if nothing were shared, each then measured with what is shared.
    for at in np.argsort(-rates, kind="stable")[:3]:
        if fits[at]:
            joined = Group(group.members | {board.cold[at]}, group.adds)
            yield joined, board.cost(joined) - state.paid(place), -1


def _hot_steps(state: _State, place: int) -> Iterator[_Step]:
    """Every other hot group, if joining the two leaves less than the worse of them."""
    board, (group, _) = state.board, state.groups[place]
    left = state.budget - state.spent
    for at, (other, _) in enumerate(state.groups):
        if at == place:
            continue
        adds = tuple(a + b for a, b in zip(group.adds, other.adds, strict=True))
        joined = Group(group.members | other.members, adds)
        cost = board.cost(joined) - state.paid(place) - state.paid(at)
        if cost <= left and board.leakage(joined) < board.leakage(group) - SAME:
            yield joined, cost, at


def _polished(board: Board, budget: float, found: Found) -> Found:
    """The plan with what is left of the budget spent on bogus attributes."""
    state = _State(board, budget, found.groups)
    if not state.groups:
        return found
    _top_up(state)
    return _better(found, state.found())


def by_partition(board: Board, budget: float) -> Found:
    """For every grouping of the hot clusters, budget to the worst block, which fills it by a knapsack.

    The knapsack takes the cold clusters and bogus attributes with the most expected wrong weight for the cost: exact
    for one block and confidences of 1, where L = 2I/(W + W_e) whatever makes up W. Every filling is then measured by
    its leakage. Of more than ``MOST_FOR_PARTITION`` hot clusters only the worst are grouped; the others stay alone.
    """
    best = Found(max(float(board.alone.max(initial=0.0)), board.floor), 0.0, ())
    knapsack = _Knapsack(board, budget)
    rest = [frozenset((c,)) for c in board.hot[MOST_FOR_PARTITION:]]
    for blocks in _partitions(board.hot[:MOST_FOR_PARTITION]):
        groups = [*(frozenset(block) for block in blocks), *rest]
        opened = [len(group) > 1 for group in groups]
        spent = [
            knapsack.steps(board.link_cost(group)) if pays else 0 for group, pays in zip(groups, opened, strict=True)
        ]
        if sum(spent) <= knapsack.size and groups:
            best = _better(best, _filled(board, knapsack, groups, spent))
    return _polished(board, budget, best)


def _filled(board: Board, knapsack: _Knapsack, blocks: list[frozenset[int]], spent: list[int]) -> Found:
    """Give more of the budget to the worst block as long as that lowers it."""
    filled = [Group(block, board.no_adds) for block in blocks]
    while True:
        values = [board.leakage(group) for group in filled]
        at = int(np.argmax(values))
        others = [group for place, group in enumerate(filled) if place != at]
        base = knapsack.steps(board.link_cost(blocks[at]))
        room = knapsack.size - sum(spent) + spent[at]
        for steps in range(max(spent[at], base) + 1, room + 1):
            more = knapsack.fill(blocks[at], steps - base, others)
            if board.leakage(more) < values[at] - SAME:
                filled[at], spent[at] = more, steps
                break
        else:
            break
        if max(values) <= max(board.floor, NOTHING):
            break
    decoys = tuple(group for group, paid in zip(filled, spent, strict=True) if paid)
    worst = max(board.leakage(group) for group in filled)
    return Found(max(worst, board.floor), sum(board.cost(group) for group in decoys), decoys)


class _Knapsack:
    """The most expected wrong weight for every budget, in whole steps of cost."""

    def __init__(self, board: Board, budget: float) -> None:
        self.board = board
        costs = [*board.link_costs[np.isfinite(board.link_costs)], *(lane.cost for lane in board.lanes), budget]
        whole = all(float(cost).is_integer() for cost in costs)
        self.unit = 1.0 if whole else budget / STEPS_OF_BUDGET
        self.size = int(budget / self.unit + 1e-9)
        self._tables: dict[tuple[frozenset[int], Adds], tuple[list[float], list[tuple[int, ...]]]] = {}

    def steps(self, cost: float) -> int:
        """A cost in steps, rounded up."""
        return math.ceil(cost / self.unit - 1e-9) if math.isfinite(cost) else self.size + 1

    def fill(self, block: frozenset[int], steps: int, others: Sequence[Group]) -> Group:
        """The block with the best filling of that many steps, of what the other groups leave."""
        taken = frozenset(c for group in others for c in group.members)
        used = tuple(sum(n) for n in zip(*(group.adds for group in others), strict=True)) if others else None
        chosen = self._table(taken, self.board.no_adds if used is None else used)[1][steps]
        adds = [0] * len(self.board.lanes)
        for item in chosen:
            if item < 0:
                adds[-1 - item] += 1
        return Group(block | {item for item in chosen if item >= 0}, tuple(adds))

    def _table(self, taken: frozenset[int], used: Adds) -> tuple[list[float], list[tuple[int, ...]]]:
        limited = tuple(
            n if lane.limit * lane.cost < self.size * self.unit else 0
            for lane, n in zip(self.board.lanes, used, strict=True)
        )
        key = (taken - frozenset(self.board.hot), limited)
        if key not in self._tables:
            values = [0.0] * (self.size + 1)
            chosen: list[tuple[int, ...]] = [()] * (self.size + 1)
            for steps, value, item in self._items(*key):
                for room in range(self.size, steps - 1, -1):
                    if values[room - steps] + value > values[room] + SAME:
                        values[room] = values[room - steps] + value
                        chosen[room] = (*chosen[room - steps], item)
            self._tables[key] = values, chosen
        return self._tables[key]

    def _items(self, taken: frozenset[int], used: Adds) -> list[tuple[int, float, int]]:
        """(steps, value, cluster or -1 - lane) of what can be put in; of each cost no more than fit at once."""
        items = [
            (self.steps(self.board.link_costs[c]), float(self.board.junk[c]), c)
            for c in self.board.cold
            if c not in taken
        ]
        for at, lane in enumerate(self.board.lanes):
            worth, steps = lane.weight * lane.confidence, max(self.steps(lane.cost), 1)
            for copy in range(min(lane.limit - used[at], self.size // steps)):
                # Values that exclude one another share the label's weight: each one more takes less from the right one.
                items.append((steps, worth if lane.free else 2 * worth / ((copy + 1) * (copy + 2)), -1 - at))
        kept: list[tuple[int, float, int]] = []
        per_cost: dict[int, int] = {}
        for item in sorted(items, key=lambda item: -item[1]):
            steps = max(item[0], 1)
            if steps <= self.size and per_cost.get(steps, 0) < self.size // steps:
                per_cost[steps] = per_cost.get(steps, 0) + 1
                kept.append((steps, *item[1:]))
        return kept


def search(board: Board, budget: float, method: str) -> list[tuple[Found, str]]:
    """The plans by a method, each with its name, best first.

    ``auto`` is exact for few clusters, else it takes both of the others.
    """
    few = len(board.hot) + len(board.cold) <= MOST_FOR_EXACT
    ways = {"exact": exact, "greedy": greedy, "partition": by_partition}
    names = [method] if method != "auto" else ["exact"] if few else ["greedy", "partition"]
    plans = [(ways[name](board, budget), name) for name in names]
    first = plans[0][0]
    return plans[::-1] if any(_better(first, plan) is not first for plan, _ in plans[1:]) else plans
