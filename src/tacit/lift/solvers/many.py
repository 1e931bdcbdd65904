"""Mechanisms for hundreds of values and more: outputs of few values each, generated many at a time.

The linear program over the outputs so far gives every value a price, and outputs that pay are looked for from every
risky value at once (`simplex`). Two things make that converge in few rounds. A value may stay uncovered at a fee, which
rises where it is paid: without it the first prices, of groups that no other output can take part in, say nothing. And
every search sees the other values a little dearer, each by chance: else all would ask for the same few.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.sparse import csr_array, eye_array, vstack

from tacit.lift.joint import Labels, Matrix, Vector, sums
from tacit.lift.solvers.columns import Budget, reaches
from tacit.lift.solvers.master import Weights, entropies_of, nearest_paying, weigh
from tacit.lift.solvers.mixture import Mixture
from tacit.lift.solvers.region import Region
from tacit.lift.solvers.simplex import Corners, Simplex

# How often the entropy is replaced by its tangent, at the corner that the last one led to.
_INNER: Final = 4
# A value that a corner does not hold is taken to have this share: small, and in other searches not so small.
_ABSENT: Final = (1e-7, 1e-2)
# Probability that is dearer by chance: the mean, in nats.
_NOISE: Final = 1.0
# Fees: so many times what the value must lose at least, plus a little, but no less than a share of what it loses in its
# group; and how they rise where they are paid, at first and when half of the rounds are over.
_FEE: Final = (1.2, 0.02, 0.25)
# With many rows groups are not so far from the best: the share is then larger.
MANY_ROWS: Final = 8
_MANY_ROWS_SHARE: Final = 0.5
_RISE: Final = (1.4, 3.0, 0.05)
# By which factor rounds may be more while a fee is paid: whoever pays in the end goes back to the groups. And the
# largest fee, in nats.
_LONGER: Final = 4
_LARGEST_FEE: Final = 60.0
# The share of earlier prices in those that outputs are looked for at: they swing less.
_EARLIER: Final = 0.5
# Outputs for every value that the program is asked to weigh, and numbers that a batch of searches may hold.
_MOST_A_VALUE: Final = 6
_LARGEST_BATCH: Final = 2_000_000
# A round that gains less than this share of the loss, when no fee is paid, was the last one but one.
_STALLED: Final = 2e-3


def solve_many(region: Region, groups: Labels, budget: Budget) -> Mixture | None:
    """A mechanism no worse than the groups; the more rounds the better. Nothing is proved of it.

    None if the solver fails.
    """
    pool = _Pool.of(region, groups)
    search = _OutputSearch(region.tight, np.flatnonzero(~region.safe), np.random.default_rng(0))
    least = -np.log(np.clip(reaches(region, solve=False), 1e-300, 1.0))
    fees = _first_fees(region, groups, least)
    prices, smooth, before, stalled = least, least, np.inf, 0
    for step in range(_LONGER * budget.rounds):
        smooth = _EARLIER * smooth + (1 - _EARLIER) * prices
        pool.add(search.paying(smooth, budget.starts, step))
        answer = pool.weigh(region.marginal, fees)
        if answer is None:
            break
        prices, cost = answer.prices, answer.cost
        paid = answer.weights[-region.n :] > 1e-9 * region.marginal
        if paid.any():
            rise = _RISE[0] if 2 * step < budget.rounds else _RISE[1]
            fees = np.where(paid, np.minimum(rise * fees + _RISE[2], _LARGEST_FEE), fees)
            continue
        stalled = stalled + 1 if cost > before * (1 - _STALLED) else 0
        before = cost
        if stalled > 1 or step + 1 >= budget.rounds:
            break
        pool.trim(prices, answer.weights[: -region.n])
    final = weigh(pool.columns, pool.costs, region.marginal)
    return None if final is None else Mixture.of_columns(pool.columns, final.weights)


def _first_fees(region: Region, groups: Labels, least: Vector) -> Vector:
    labels = np.unique(groups, return_inverse=True)[1]
    lost = np.log(np.bincount(labels, region.marginal)[labels] / region.marginal)
    share = _FEE[2] if len(region.lifts) <= MANY_ROWS else _MANY_ROWS_SHARE
    return np.where(region.safe, 0.0, np.maximum(_FEE[0] * least + _FEE[1], share * lost))


@dataclass(eq=False)
class _Pool:
    """The outputs so far, outputs x released; the first ``fixed`` of them make a mechanism and are never given up."""

    columns: csr_array
    costs: Vector
    fixed: int

    @classmethod
    def of(cls, region: Region, groups: Labels) -> _Pool:
        """Groups, and safe values by themselves."""
        used, labels = np.unique(groups, return_inverse=True)
        shares = region.marginal / sums(labels, region.marginal, len(used))[labels]
        safe = np.flatnonzero(region.safe & (shares < 1))
        outputs = np.concatenate([labels, len(used) + np.arange(len(safe))])
        values = np.concatenate([np.arange(region.n), safe])
        shares = np.concatenate([shares, np.ones(len(safe))])
        n_outputs = len(used) + len(safe)
        columns = csr_array((shares, (outputs, values)), shape=(n_outputs, region.n))
        return cls(columns, entropies_of(columns), n_outputs)

    def add(self, new: Corners) -> None:
        """Put corners beside the outputs so far."""
        places = new.values.shape[1]
        at = np.repeat(np.arange(len(new)), places), new.values.ravel()
        holds = new.shares.ravel() > 0
        columns = csr_array(
            (new.shares.ravel()[holds], (at[0][holds], at[1][holds])), shape=(len(new), self.columns.shape[1])
        )
        self.columns = vstack([self.columns, columns]).tocsr()
        self.costs = np.concatenate([self.costs, new.costs])

    def weigh(self, marginal: Vector, fees: Vector) -> Weights | None:
        """Weights of the outputs, then of the values left uncovered at a fee."""
        columns = vstack([self.columns, eye_array(len(marginal))]).tocsr()
        return weigh(columns, np.concatenate([self.costs, fees]), marginal, polish=False)

    def trim(self, prices: Vector, weights: Vector) -> None:
        """Give up the outputs that are farthest from paying, if there are too many."""
        most = _MOST_A_VALUE * len(prices) + self.fixed
        if len(self.costs) <= most:
            return
        always = np.union1d(np.arange(self.fixed), np.flatnonzero(weights > 0))
        kept = nearest_paying(self.columns, self.costs, prices, most, always=always)
        self.columns, self.costs = self.columns[kept], self.costs[kept]


class _OutputSearch:
    """Looks for outputs that pay, from every risky value; the same ones each time it is asked the same."""

    def __init__(self, region: Region, risky: Labels, rng: np.random.Generator) -> None:
        self.region, self.risky, self.rng = region, risky, rng
        self.simplex = Simplex(region)

    def paying(self, prices: Vector, starts: int, step: int) -> Corners:
        """Corners whose entropy is below their price; in the first round all, since its prices are a guess."""
        size = max(1, _LARGEST_BATCH // self.region.n)
        values, shares = [], []
        for start in range(starts):
            for first in range(0, len(self.risky), size):
                absent = -np.log(_ABSENT[(step + start) % len(_ABSENT)])
                corners, pays = self._from(self.risky[first : first + size], prices, absent)
                chosen = corners[np.isfinite(pays) if step == 0 else pays < -self.region.pays]
                values.append(chosen.values)
                shares.append(chosen.shares)
        return Corners(np.concatenate(values), np.concatenate(shares))

    def _from(self, own: Labels, prices: Vector, absent: float) -> tuple[Corners, Vector]:
        """The best corner from each value, and its cost less its price; inf where there is none."""
        n, at = self.region.n, np.arange(len(own))
        costs = self.rng.exponential(_NOISE, (len(own), n)) * self.rng.random((len(own), 1))
        costs += absent - prices
        costs[at, own] = -prices[own]
        state = self.simplex.begin(len(own))
        best, fine = self.simplex.cheapest(costs, state)
        pays = np.where(fine, best.costs - best.worth(prices), np.inf)
        going = np.flatnonzero(fine)
        for _ in range(_INNER - 1):
            if not len(going):
                break
            state = state.take(going) if len(going) < len(state.basis) else state
            now, fine = self.simplex.cheapest(_tangent(best[going], n) - prices, state)
            value = np.where(fine, now.costs - now.worth(prices), np.inf)
            better = value < pays[going] - self.region.pays
            best.values[going[better]], best.shares[going[better]] = now.values[better], now.shares[better]
            pays[going[better]] = value[better]
            state, going = state.take(np.flatnonzero(better)), going[better]
        return best, pays


def _tangent(corners: Corners, n: int) -> Matrix:
    """The slope of the entropy at corners, up to a constant."""
    costs = np.full((len(corners), n), -np.log(_ABSENT[0]))
    holds = corners.shares > 1e-7
    row = np.nonzero(holds)[0]
    costs[row, corners.values[holds]] = -np.log(corners.shares[holds])
    return costs
