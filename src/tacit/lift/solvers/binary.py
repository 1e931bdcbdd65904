"""The best mechanism under one row of bounds: two secrets, or one secret against all others.

With one number r(x) to keep within [low, high], an output worth having is a safe value by itself, or a pair of values
mixed so that it lies on a bound. That is a linear program with a column for every pair; since all pairs can be priced
at once, only those that pay are ever put in, and the best price left over bounds what is left to gain.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, eye_array, vstack

from tacit.lift.joint import Labels, Matrix, Vector, sums
from tacit.lift.solvers.master import nearest_paying, weigh
from tacit.lift.solvers.mixture import Mixture
from tacit.lift.solvers.region import Region

# A pair is put in if it gains more than this, in nats per unit of probability.
_PAYS = 1e-10
# Loss and bound meet if they are this close, as a share of the information there is.
_CLOSE = 2e-7
_PARTNERS = 5
_FORBIDDING = 60.0
_MOST_COLUMNS = 30
_COARSE = 240
_ROUNDS = 60


@dataclass(frozen=True, eq=False)
class Side:
    """All pairs of a value outside one bound and a value inside it, mixed to lie on the bound.

    ``shares[i, j]`` is the part of the outer value i in the pair with the inner value j; nan where the pair would break
    the other bound.
    """

    outer: Labels
    inner: Labels
    shares: Matrix
    costs: Matrix

    def reduced(self, prices: Vector) -> Matrix:
        """What every pair costs beyond its price; negative if it pays."""
        shares = self.shares
        gains = shares * prices[self.outer][:, None] + (1 - shares) * prices[self.inner]
        return np.asarray(self.costs - gains)

    def columns(self, rows: Labels, cols: Labels, n: int) -> tuple[csr_array, Vector]:
        """The pairs asked for as columns of the linear program, with their costs."""
        share = self.shares[rows, cols]
        at = np.arange(len(rows))
        table = csr_array(
            (np.append(share, 1 - share), (np.append(at, at), np.append(self.outer[rows], self.inner[cols]))),
            shape=(len(rows), n),
        )
        return table, self.costs[rows, cols]


@dataclass(frozen=True, eq=False)
class OneRow:
    """One number per value to keep within bounds, with a slack in how it is known.

    ``at_low`` is what counts on the low side and ``at_high`` on the high side: equal where the number is known, the
    ends of an interval where values were put into one bin.
    """

    marginal: Vector
    at_low: Vector
    at_high: Vector
    low: float
    high: float

    @classmethod
    def of(cls, region: Region, s: int) -> OneRow:
        """One row of a region, the others left out: what it loses at best, the region loses at least."""
        low, high = float(region.low[s]), float(region.high[s])
        if region.rank == 1 and len(region.lifts) == 2:
            # With two secrets, one is whatever the other is not: a bound on one is a bound on both.
            low, high = _both(region, s)
        return cls(region.marginal, region.lifts[s], region.lifts[s], low, high)

    def safe(self, slack: float = 1e-12) -> Labels:
        """The values that are within bounds by themselves."""
        return np.flatnonzero((self.at_low >= self.low * (1 - slack)) & (self.at_high <= self.high * (1 + slack)))

    def sides(self) -> list[Side]:
        """The pairs on the low bound and those on the high bound."""
        below = self._side(self.at_low, self.low, self.at_high, self.high, 1.0)
        return [below, self._side(self.at_high, self.high, self.at_low, self.low, -1.0)]

    def _side(self, numbers: Vector, bound: float, others: Vector, other: float, sign: float) -> Side:
        outer = np.flatnonzero(sign * (bound - numbers) > 0)
        inner = np.flatnonzero(sign * (numbers - bound) > 0)
        if not np.isfinite(bound):
            outer = inner = outer[:0]
        reach = numbers[inner] - numbers[outer][:, None]
        shares = (numbers[inner] - bound) / reach
        mixed = shares * others[outer][:, None] + (1 - shares) * others[inner]
        # A pair on one bound may not break the other, except by rounding.
        shares = np.where(sign * (mixed - other) <= 1e-12 * abs(other), shares, np.nan)
        rest = 1 - shares
        with np.errstate(divide="ignore", invalid="ignore"):
            costs = -(shares * np.log(shares) + np.where(rest > 0, rest * np.log(rest), 0.0))
        return Side(outer, inner, shares, np.where(np.isfinite(costs), costs, np.inf))


def _both(region: Region, s: int) -> tuple[float, float]:
    """The bounds on one of two secrets that follow from those on both."""
    low, high = region.low, region.high
    # The lifts a and b average to 1: share a + (1 - share) b = 1.
    a, b = region.lifts[s], region.lifts[1 - s]
    x = int(np.argmax(abs(a - b)))
    share = (1 - b[x]) / (a[x] - b[x])
    bottom = (1 - (1 - share) * high[1 - s]) / share if np.isfinite(high[1 - s]) else 0.0
    top = (1 - (1 - share) * low[1 - s]) / share if low[1 - s] > 0 else np.inf
    return max(float(low[s]), bottom), min(float(high[s]), top)


def solve_row(row: OneRow, *, rounds: int = _ROUNDS) -> Mixture | None:
    """The best mechanism under one row, or None if there is none.

    Guarantees
    ----------
    ``bound`` is at most the loss of any mechanism whose outputs are safe values and pairs on a bound, and so of any at
    all: every pair is priced. Unless the rounds ran out, the loss meets it. None if no mechanism was found.
    """
    answer = _generate(row, rounds)
    return None if answer is None else answer[0]


def _generate(row: OneRow, rounds: int) -> tuple[Mixture, Vector] | None:
    """The mechanism and the prices of the values."""
    n = len(row.marginal)
    safe, sides = row.safe(), row.sides()
    # Values may stand alone at a forbidding cost, so that the first programs have a solution and sensible prices.
    alone = np.full(n, _FORBIDDING)
    alone[safe] = 0.0
    tables, costs = [csr_array(eye_array(n))], [alone]
    whole = float(-(row.marginal * np.log(row.marginal)).sum())
    prices = _coarse_prices(row, rounds) if n > _COARSE else None
    for side in sides:
        # Without prices: the cheapest partners per unit of the value that needs one.
        scores = side.costs / side.shares if prices is None else side.reduced(prices)
        _add(tables, costs, side, scores, n, limit=np.inf)
    best = 0.0
    for _ in range(rounds):
        table, cost = vstack(tables, format="csr"), np.concatenate(costs)
        answer = weigh(table, cost, row.marginal, polish=False)
        if answer is None:
            return None
        reduced = [side.reduced(answer.prices) for side in sides]
        best = max(best, _bound(row, safe, sides, reduced, answer.prices))
        if answer.cost - best <= _CLOSE * whole:
            break
        tables, costs = _kept(table, cost, answer.prices, n)
        for side, each in zip(sides, reduced, strict=True):
            _add(tables, costs, side, each, n, limit=-_PAYS)
    answer = weigh(table, cost, row.marginal)
    if answer is None or answer.weights[:n][alone > 0].max(initial=0.0) > 0:
        return None
    return Mixture.of_columns(table, answer.weights, best), answer.prices


def _coarse_prices(row: OneRow, rounds: int) -> Vector | None:
    """Prices to begin with: those of a program in which neighbouring values are one."""
    order = np.argsort(row.at_low + row.at_high)
    labels = np.empty(len(order), dtype=np.intp)
    labels[order] = np.arange(len(order)) * (_COARSE // 2) // len(order)
    n = int(labels.max()) + 1
    masses = sums(labels, row.marginal, n)
    at_low, at_high = (sums(labels, row.marginal * each, n) / masses for each in (row.at_low, row.at_high))
    coarse = _generate(OneRow(masses, at_low, at_high, row.low, row.high), rounds)
    return None if coarse is None else coarse[1][labels]


def _kept(table: csr_array, cost: Vector, prices: Vector, n: int) -> tuple[list[csr_array], list[Vector]]:
    """The single values and the columns closest to paying, so that the program stays small."""
    if len(cost) <= _MOST_COLUMNS * n:
        return [table], [cost]
    chosen = nearest_paying(table, cost, prices, _MOST_COLUMNS * n // 2, always=np.arange(n))
    return [table[chosen]], [cost[chosen]]


def _bound(row: OneRow, safe: Labels, sides: list[Side], reduced: list[Matrix], prices: Vector) -> float:
    """The value of prices made fair: lowered until no pair and no safe value costs less than its price.

    Every pair has an outer value, so lowering the prices of those is enough; fair prices bound the loss from below.
    """
    fair = prices.copy()
    fair[safe] = np.minimum(fair[safe], 0.0)
    for side, each in zip(sides, reduced, strict=True):
        if each.size:
            short = np.where(np.isfinite(each), each / side.shares, 0.0).min(axis=1)
            fair[side.outer] = np.minimum(fair[side.outer], prices[side.outer] + np.minimum(short, 0.0))
    return float(fair @ row.marginal)


def best_pairs(
    side: Side, scores: Matrix, n: int, *, limit: float, partners: int = _PARTNERS
) -> tuple[csr_array, Vector]:
    """The best pairs of every outer value and the best of every inner one, if they score below the limit."""
    if not scores.size:
        return csr_array((0, n)), np.zeros(0)
    scores = np.where(np.isfinite(scores), scores, np.inf)
    most = min(partners, scores.shape[1])
    near = np.argpartition(scores, most - 1, axis=1)[:, :most]
    rows = np.append(np.repeat(np.arange(len(scores)), most), np.argmin(scores, axis=0))
    cols = np.append(near.ravel(), np.arange(scores.shape[1]))
    good = scores[rows, cols] < limit
    return side.columns(rows[good], cols[good], n)


def _add(tables: list[csr_array], costs: list[Vector], side: Side, scores: Matrix, n: int, *, limit: float) -> None:
    table, cost = best_pairs(side, scores, n, limit=limit)
    if len(cost):
        tables.append(table)
        costs.append(cost)


def binned(region: Region, s: int, n_bins: int) -> tuple[Labels, OneRow, OneRow]:
    """Bins of values with nearly the same number: labels, the row where bins are at their worst, and at their best.

    A mechanism for bins at their worst keeps the bounds for every value in them. Any mechanism becomes one for bins
    at their best by forgetting which value of a bin it was, and that loses nothing; so the best of those bounds the
    loss.
    """
    numbers, low, high = region.lifts[s], float(region.low[s]), float(region.high[s])
    span = max(numbers.max() - numbers.min(), 1e-12)
    # Near a bound small differences decide what a partner costs.
    steps = np.append(0.0, np.geomspace(1e-6, 1.0, n_bins // 4) * span)
    edges = [np.quantile(numbers, np.linspace(0, 1, n_bins // 2))]
    for bound, sign in ((low, -1.0), (high, 1.0)):
        if 0 < bound < np.inf:
            edges.append(bound + sign * steps)
    labels = np.searchsorted(np.unique(np.concatenate(edges)), numbers, side="right")
    outside = (numbers < low * (1 - 1e-12)).astype(np.intp) + 2 * (numbers > high * (1 + 1e-12))
    labels = np.unique(labels * 3 + outside, return_inverse=True)[1]
    n_used = int(labels.max()) + 1
    masses = sums(labels, region.marginal, n_used)
    floors, ceilings = np.full(n_used, np.inf), np.full(n_used, -np.inf)
    np.minimum.at(floors, labels, numbers)
    np.maximum.at(ceilings, labels, numbers)
    worst = OneRow(masses, floors, ceilings, low, high)
    return labels, worst, OneRow(masses, ceilings, floors, low, high)
