"""Column generation: the best mechanism under many rows, from outputs that are made as they are needed.

The linear program over the outputs so far gives every value a price. An output pays if the information it leaves open
is less than what its values are worth; to find one, the entropy is replaced by its tangent, which is a small linear
program whose solution is a corner, and again at that corner.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.lift.joint import Labels, Matrix, Vector
from tacit.lift.solvers.master import Weights, entropies, nearest_paying, weigh
from tacit.lift.solvers.mixture import Mixture
from tacit.lift.solvers.region import Region

_INNER = 8
# How many times a corner may be cut off by further rows, where the region is round.
_CUTS = 5
_MOST = 6_000


@dataclass(frozen=True)
class Budget:
    """How hard to look for outputs that pay: rounds of pricing, and starting points in each.

    For `solve_many` starting points are counted for each value.
    """

    rounds: int
    starts: float


def pair_columns(region: Region) -> Matrix:
    """All corners of the region with two values: the ends of the mixtures of two that are within bounds.

    Returned as rows (outputs x released).
    """
    first, second = np.triu_indices(region.n, 1)
    lower, upper = region.pair_shares(first, second)
    ends = []
    for share in (lower, upper):
        good = np.flatnonzero((lower <= upper) & (share > 0) & (share < 1))
        columns = np.zeros((len(good), region.n))
        at = np.arange(len(good))
        columns[at, first[good]], columns[at, second[good]] = share[good], 1 - share[good]
        ends.append(columns)
    columns = np.concatenate(ends)
    return np.asarray(columns[region.holds(columns, slack=1e-10)])


def start_columns(region: Region, groups: Labels) -> Matrix:
    """Outputs to begin with: safe values, pairs, and the groups of subset merging, which already are a mechanism."""
    used, labels = np.unique(groups, return_inverse=True)
    merged = np.zeros((len(used), region.n))
    merged[labels, np.arange(region.n)] = region.marginal
    merged /= merged.sum(axis=1, keepdims=True)
    return np.concatenate([np.eye(region.n)[region.safe], merged, pair_columns(region.tight)])


def solve_columns(region: Region, groups: Labels, budget: Budget) -> Mixture | None:
    """A mechanism no worse than the groups, and better with a larger budget; nothing is proved about it."""
    columns = start_columns(region, groups)
    costs = entropies(columns)
    answer = weigh(columns, costs, region.marginal, polish=budget.rounds == 0)
    pricing = Pricing(region.tight)
    starts = int(budget.starts)
    for step in range(budget.rounds):
        if answer is None:
            break
        new = pricing.paying(columns, answer, starts, step)
        if not len(new):
            # Before giving up, look around once more, and wider.
            if starts > budget.starts:
                break
            starts *= 3
            continue
        columns, costs = _with(columns, costs, new, answer.prices)
        answer = weigh(columns, costs, region.marginal, polish=False)
    answer = weigh(columns, costs, region.marginal) if budget.rounds else answer
    return None if answer is None else Mixture.of_columns(columns, answer.weights)


def _with(columns: Matrix, costs: Vector, new: Matrix, prices: Vector) -> tuple[Matrix, Vector]:
    """The columns with new ones; if there are too many, those closest to paying."""
    columns, costs = np.concatenate([columns, new]), np.concatenate([costs, entropies(new)])
    if len(costs) <= _MOST:
        return columns, costs
    chosen = nearest_paying(columns, costs, prices, _MOST // 2)
    return columns[chosen], costs[chosen]


class Pricing:
    """Looks for outputs that pay, from many starting points; the same question gets the same answer."""

    def __init__(self, region: Region) -> None:
        self.region = region
        self.rows, self.tops = region.inequalities()

    def paying(self, columns: Matrix, answer: Weights, starts: int, step: int) -> Matrix:
        """Corners whose entropy is below their price, found from the outputs in use and from random posteriors."""
        rng = np.random.default_rng(step)
        used = np.flatnonzero(answer.weights > 0)
        corners = []
        for start in range(starts):
            if start % 2 and len(used):
                q = columns[used[rng.integers(len(used))]]
            else:
                q = rng.dirichlet(np.full(self.region.n, (0.1, 0.3, 1.0)[start // 2 % 3]))
            corner = self._descend(q, answer.prices)
            if corner is not None:
                corners.append(corner)
        if not corners:
            return np.zeros((0, self.region.n))
        new = np.array(corners)
        new = new[self.region.holds(new, slack=1e-12)]
        return np.asarray(new[np.unique(np.round(new, 9), axis=0, return_index=True)[1]])

    def _descend(self, q: Vector, prices: Vector) -> Vector | None:
        value = np.inf
        best: Vector | None = None
        for _ in range(_INNER):
            corner = self.corner(-np.log(np.maximum(q, 1e-7)) - prices)
            if corner is None:
                break
            now = float(entropies(corner[None])[0] - prices @ corner)
            if now >= value - 1e-10:
                break
            q, value, best = corner, now, corner
        return best if value < -self.region.pays else None

    def corner(self, costs: Vector) -> Vector | None:
        """The cheapest corner for linear costs, made exact; None if the solver or the rounding fails."""
        for cut in range(_CUTS):
            answer = self._solved(costs)
            corner = self._exact(answer.x) if answer.status == 0 else None
            if corner is None:
                return None
            rows = self.region.cuts(corner)
            if not len(rows) or cut == _CUTS - 1:
                return self._within(answer.x, corner)
            self.rows, self.tops = np.vstack([self.rows, rows]), np.append(self.tops, np.ones(len(rows)))
        return None

    def _within(self, rough: Vector, corner: Vector) -> Vector:
        """The corner itself in a polytope; a round region is met from outside, so corners shrink by their excess."""
        over = self.region.beyond(corner)
        shrunk = self._exact(rough, shrink=over) if over > 1 else None
        return self.region.pulled(corner if shrunk is None else shrunk)

    def _solved(self, costs: Vector) -> Any:
        from scipy.optimize import linprog

        ones = np.ones((1, self.region.n))
        return linprog(
            costs, A_ub=self.rows, b_ub=self.tops, A_eq=ones, b_eq=[1.0], bounds=(0, None), method="highs-ds"
        )

    def _exact(self, q: Vector, *, shrink: float = 1.0) -> Vector | None:
        """The corner again from its support and its tight rows, shrunk: the solver stops at 1e-7."""
        support = np.flatnonzero(q > 1e-9)
        tight = np.abs(self.rows @ q - self.tops) < 1e-6
        system = np.vstack([np.ones(len(support)), self.rows[tight][:, support]])
        solved = np.linalg.lstsq(system, np.append(1.0, self.tops[tight] / shrink), rcond=None)[0]
        if (solved < -1e-9).any():
            return None
        exact = np.zeros(self.region.n)
        exact[support] = np.maximum(solved, 0.0)
        return np.asarray(exact / exact.sum())
