"""How to spend a budget on decoys: which clusters to link, and which bogus attributes to give each group."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from tacit.lift.joint import Mask
from tacit.person.plans.decoys.board import NOTHING, Adds, Board, DecoyGroup, Sketch

# Two leakages closer than this count as equal: the quadrature's own error is smaller.
SAME = 1e-12
# Set partitions of more clusters than this are too many (8 clusters have 4,140, 9 have 21,147).
MOST_FOR_EXACT = 8


class _State:
    """The groups during a search, and the budget."""

    def __init__(self, board: Board, budget: float, decoyed: Sequence[DecoyGroup] = ()) -> None:
        self.board = board
        self.budget = budget * (1 + 1e-12)  # 0.1 + 0.2 must fit into 0.3
        grouped = {cluster for group in decoyed for cluster in group.members}
        self.groups = [*decoyed, *(board.alone(cluster) for cluster in board.hot if cluster not in grouped)]

    @property
    def left(self) -> float:
        """What is left of the budget."""
        return self.budget - sum(map(self.board.cost, self.groups))

    def worst(self) -> tuple[int, float]:
        """The place of the worst group, and its leakage."""
        values = list(map(self.board.leakage, self.groups))
        place = int(np.argmax(values))
        return place, values[place]

    def more_adds(self, place: int, sizes: Sequence[int]) -> Iterator[tuple[DecoyGroup, float]]:
        """The group with more bogus attributes of one lane, and what that costs, as far as the budget goes."""
        group = self.groups[place]
        left, paid = self.left, self.board.cost(group)
        for at, lane in enumerate(self.board.lanes):
            used = sum(other.adds[at] for other in self.groups)
            for size in sizes:
                adds = (*group.adds[:at], group.adds[at] + size, *group.adds[at + 1 :])
                more = DecoyGroup(group.members, adds)
                cost = self.board.cost(more) - paid
                if used + size <= lane.limit and cost <= left:
                    yield more, cost


def _rate(before: float, after: float, cost: float) -> float:
    """How much the logarithm of the leakage falls for one unit of cost."""
    return math.log(before / max(after, 1e-300)) / max(cost, 1e-9)


def _top_up(state: _State) -> None:
    """Give bogus attributes to the worst group, one at a time, until the budget is spent or they have no effect.

    For given groups and one lane this is optimal: a group's leakage falls only with its own attributes, so there is no
    other way to lower the worst.
    """
    board = state.board
    while state.groups:
        place, worst = state.worst()
        if worst <= max(board.floor, NOTHING):
            return
        steps = [step for step in state.more_adds(place, (1,)) if board.leakage(step[0]) < worst - SAME]
        if not steps:
            return
        state.groups[place] = max(steps, key=lambda step: _rate(worst, board.leakage(step[0]), step[1]))[0]


def exact(board: Board, budget: float) -> Sketch:
    """The best plan, found by trying every grouping of the clusters; for at most ``MOST_FOR_EXACT`` clusters.

    Notes
    -----
    Exact if there is one lane whose limit is not reached. With several lanes all groupings are still tried, and in each
    the bogus attributes are given out by effect per cost.
    """
    best = board.sketch(_State(board, budget).groups)
    hot = frozenset(board.hot)
    for blocks in partitions((*board.hot, *board.cold) if hot else ()):
        joined = [frozenset(block) for block in blocks if len(block) > 1]
        if any(not hot & block for block in joined):
            continue  # joining clusters that hold nothing of the person lowers nothing
        if sum(map(board.link_cost, joined)) <= budget * (1 + 1e-12):
            state = _State(board, budget, [DecoyGroup(block, board.no_adds) for block in joined])
            _top_up(state)
            best = better(best, board.sketch(state.groups))
    return best


def better(best: Sketch, other: Sketch) -> Sketch:
    """The plan that leaves less; if both leave the same, the cheaper."""
    if abs(other.worst - best.worst) <= SAME:
        return other if other.cost < best.cost else best
    return other if other.worst < best.worst else best


def partitions(items: Sequence[int]) -> Iterator[list[list[int]]]:
    """Every way to divide the items into blocks."""
    if not items:
        yield []
        return
    first, rest = items[0], items[1:]
    for blocks in partitions(rest):
        yield [[first], *blocks]
        for at, block in enumerate(blocks):
            yield [*blocks[:at], [first, *block], *blocks[at + 1 :]]


def greedy(board: Board, budget: float) -> Sketch:
    """Always give the worst group what lowers it most for its cost: bogus attributes, a cold cluster, or a hot one."""
    state = _State(board, budget)
    best = board.sketch(state.groups)
    free = np.ones(len(board.cold), dtype=bool)
    while state.groups and state.worst()[1] > max(board.floor, NOTHING):
        place, worst = state.worst()
        # Several bogus attributes at once, because the first pays for the link as well.
        steps = [(group, cost, -1) for group, cost in state.more_adds(place, (1, 2, 4, 8))]
        steps += [*_cold_steps(state, place, free), *_hot_steps(state, place)]
        rated = [(_rate(worst, board.leakage(step[0]), step[1]), step) for step in steps]
        chosen = max(rated, key=lambda option: option[0], default=None)
        if chosen is None or chosen[0] <= SAME:
            break
        group, _, joined = chosen[1]
        # The joined group is now part of this one and no longer stands alone.
        kept = [other for at, other in enumerate(state.groups) if at not in (place, joined)]
        state.groups = [*kept, group]
        free &= ~np.isin(board.cold, list(group.members))
        best = better(best, board.sketch(state.groups))
    return polished(board, budget, best)


# What a group would become, the cost of that, and the place of the other group that it absorbs (-1: none).
_Step = tuple[DecoyGroup, float, int]


def _cold_steps(state: _State, place: int, free: Mask) -> Iterator[_Step]:
    """The cold clusters that lower the group most for their cost."""
    board, group = state.board, state.groups[place]
    opening = 0.0 if group.decoyed else board.link_cost(group.members)
    costs = board.link_costs[list(board.cold)] + opening
    fits = free & (costs <= state.left)
    if not fits.any():
        return
    after = board.with_cold(group)
    rates = np.where(fits, np.log(board.leakage(group) / np.maximum(after, 1e-300)) / costs, -np.inf)
    # The three that would be best if nothing were shared; each is then measured with what is shared.
    for at in np.argsort(-rates, kind="stable")[:3]:
        if fits[at]:
            joined = DecoyGroup(group.members | {board.cold[at]}, group.adds)
            yield joined, board.cost(joined) - board.cost(group), -1


def _hot_steps(state: _State, place: int) -> Iterator[_Step]:
    """Every other hot group, if joining the two leaves less than the worse of them."""
    board, group, left = state.board, state.groups[place], state.left
    for at, other in enumerate(state.groups):
        if at != place:
            adds: Adds = tuple(a + b for a, b in zip(group.adds, other.adds, strict=True))
            joined = DecoyGroup(group.members | other.members, adds)
            cost = board.cost(joined) - board.cost(group) - board.cost(other)
            if cost <= left and board.leakage(joined) < board.leakage(group) - SAME:
                yield joined, cost, at


def polished(board: Board, budget: float, plan: Sketch) -> Sketch:
    """The plan with the rest of the budget spent on bogus attributes."""
    state = _State(board, budget, plan.groups)
    _top_up(state)
    return better(plan, board.sketch(state.groups))
