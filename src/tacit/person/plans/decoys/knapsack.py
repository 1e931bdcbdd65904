"""The partition method: for every grouping of the clusters about the person, a knapsack of those that are not."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from tacit.person.plans.decoys.board import NOTHING, Adds, Board, DecoyGroup, Sketch
from tacit.person.plans.decoys.search import SAME, better, partitions, polished

# At most this many of the clusters that hold something of the person are partitioned.
MOST_FOR_PARTITION = 6
# If costs are not whole numbers, the knapsack divides the budget into this many steps and rounds costs up.
STEPS_OF_BUDGET = 240


def by_partition(board: Board, budget: float) -> Sketch:
    """For every grouping of the hot clusters, give budget to the worst block, which spends it by a knapsack.

    The knapsack takes the cold clusters and bogus attributes with the most expected wrong weight for the cost: exact
    for one block and confidences of 1, where L = 2I/(W + W_e) whatever makes up W. Every filling is then measured by
    its leakage. If there are more than ``MOST_FOR_PARTITION`` hot clusters, only the worst are grouped; the others
    stay alone.
    """
    best = board.sketch(list(map(board.alone, board.hot)))
    knapsack = _Knapsack(board, budget)
    rest = [frozenset((cluster,)) for cluster in board.hot[MOST_FOR_PARTITION:]]
    for grouping in partitions(board.hot[:MOST_FOR_PARTITION]):
        blocks = [*map(frozenset, grouping), *rest]
        spent = [knapsack.steps(board.link_cost(block)) if len(block) > 1 else 0 for block in blocks]
        if blocks and sum(spent) <= knapsack.size:
            best = better(best, _filled(board, knapsack, blocks, spent))
    return polished(board, budget, best)


def _filled(board: Board, knapsack: _Knapsack, blocks: list[frozenset[int]], spent: list[int]) -> Sketch:
    """Give more of the budget to the worst block as long as that lowers it."""
    filled = [DecoyGroup(block, board.no_adds) for block in blocks]
    while True:
        values = [board.leakage(group) for group in filled]
        at = int(np.argmax(values))
        if values[at] <= max(board.floor, NOTHING):
            break
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
    return board.sketch(filled)


class _Knapsack:
    """The most expected wrong weight for every budget, in whole steps of cost."""

    def __init__(self, board: Board, budget: float) -> None:
        self.board = board
        costs = [*board.link_costs[np.isfinite(board.link_costs)], *(lane.cost for lane in board.lanes), budget]
        self.unit = 1.0 if all(float(cost).is_integer() for cost in costs) else budget / STEPS_OF_BUDGET
        self.size = int(budget / self.unit + 1e-9)
        self._tables: dict[tuple[frozenset[int], Adds], list[tuple[int, ...]]] = {}

    def steps(self, cost: float) -> int:
        """A cost in steps, rounded up."""
        return math.ceil(cost / self.unit - 1e-9) if math.isfinite(cost) else self.size + 1

    def fill(self, block: frozenset[int], steps: int, others: Sequence[DecoyGroup]) -> DecoyGroup:
        """The block with the best filling of that many steps, from what the other groups do not use."""
        lanes = self.board.lanes
        grouped = frozenset(cluster for group in others for cluster in group.members)
        used = [sum(group.adds[at] for group in others) for at in range(len(lanes))]
        limited = tuple(
            n if lane.limit * lane.cost < self.size * self.unit else 0 for lane, n in zip(lanes, used, strict=True)
        )
        items = self._best_items(grouped - frozenset(self.board.hot), limited)[steps]
        adds = tuple(items.count(-1 - at) for at in range(len(lanes)))
        return DecoyGroup(block | {item for item in items if item >= 0}, adds)

    def _best_items(self, grouped: frozenset[int], used: Adds) -> list[tuple[int, ...]]:
        """What to put in, for every number of steps: clusters, and -1 - lane for a bogus attribute."""
        if (grouped, used) not in self._tables:
            values = [0.0] * (self.size + 1)
            chosen: list[tuple[int, ...]] = [()] * (self.size + 1)
            for steps, value, item in self._items(grouped, used):
                for room in range(self.size, steps - 1, -1):
                    if values[room - steps] + value > values[room] + SAME:
                        values[room] = values[room - steps] + value
                        chosen[room] = (*chosen[room - steps], item)
            self._tables[grouped, used] = chosen
        return self._tables[grouped, used]

    def _items(self, grouped: frozenset[int], used: Adds) -> list[tuple[int, float, int]]:
        """(steps, value, item) of what can be put in; for each cost, no more items than fit together."""
        board = self.board
        items = [
            (max(self.steps(board.link_costs[cluster]), 1), board.junk[cluster], cluster)
            for cluster in board.cold
            if cluster not in grouped
        ]
        for at, lane in enumerate(board.lanes):
            worth, steps = lane.weight * lane.confidence, max(self.steps(lane.cost), 1)
            for copy in range(min(lane.limit - used[at], self.size // steps)):
                # Values that exclude one another share the label's weight: each further one takes less from the truth.
                items.append((steps, worth if lane.free else 2 * worth / ((copy + 1) * (copy + 2)), -1 - at))
        kept: list[tuple[int, float, int]] = []
        room = {steps: self.size // steps for steps, _, _ in items}
        for item in sorted(items, key=lambda item: -item[1]):
            if room[item[0]] > 0:
                room[item[0]] -= 1
                kept.append(item)
        return kept
