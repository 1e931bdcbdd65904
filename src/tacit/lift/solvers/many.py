"""Mechanisms for hundreds of values and more: outputs of few values each, generated many at a time.

The linear program over the outputs so far gives every value a price. All pairs of values are priced at once (`small`);
outputs of more values that pay are looked for from many risky values at once (`simplex`). Two things make that converge
in few rounds. A value may stay uncovered at a fee, which rises where it is paid: without fees the first prices, those
of groups that share no values with other outputs, would say nothing. And every search sees the other values as a little
dearer, each at random: otherwise all would ask for the same few.
"""

from __future__ import annotations

from threading import Lock
from typing import Final

import numpy as np
from scipy.sparse import csr_array

from tacit.lift.joint import Labels, Matrix, Vector, sums
from tacit.lift.solvers.binary import best_pairs
from tacit.lift.solvers.bounds.reaching import reaches
from tacit.lift.solvers.columns import Budget
from tacit.lift.solvers.master import Master, entropies_of
from tacit.lift.solvers.mixture import Mixture
from tacit.lift.solvers.region import Region
from tacit.lift.solvers.simplex import Corners, Simplex
from tacit.lift.solvers.small import Trios, pairs_of

# How often the entropy is replaced by its tangent, at the corner that the last one led to.
_INNER: Final = 3
# A value that a corner does not hold is assumed to have this share: small, and in every second round less so.
_ABSENT: Final = (1e-7, 1e-2)
# By how much probability is made dearer at random: the mean, in nats.
_NOISE: Final = 1.0
# Fees: this factor times what the value must lose at least, plus a little, but no less than a share of what it loses in
# its group.
_FEE: Final = (1.8, 0.05, 0.25)
# With many rows groups are not so far from the best: the share is then larger.
MANY_ROWS: Final = 8
_MANY_ROWS_SHARE: Final = 0.5
# How fees rise where they are paid: by this factor at first, by that one later, and by this much more.
_RISE: Final = (1.4, 3.0, 0.05)
# "Later" is after this many times the rounds. Rounds may be extended by the other factor while they gain or a fee is
# paid: a value that still pays one at the end goes back to the groups. And the largest fee, in nats.
_GENTLE: Final = 2
_LONGER: Final = 5
_LARGEST_FEE: Final = 60.0
# Fees from guessed prices: this factor times the price, plus a little. Limits of the lifts and prices used in guesses.
_GUESSED: Final = (1.2, 0.3)
_SMALLEST_LIFT: Final = 1e-2
_LARGEST_PRICE: Final = 4.0
_RIDGE: Final = 1e-3
# The share of earlier prices in those used to look for outputs: they swing less.
_EARLIER: Final = 0.5
# A value is uncovered if more than this share of it is.
_UNCOVERED: Final = 1e-9
# Partners of every risky value to begin with, and how many may be added in a round; searches from one value in a round.
_PARTNERS: Final = 4
_MORE_PARTNERS: Final = 3
_MOST_STARTS: Final = 40
# With more inequalities than this a search takes longer, and there are fewer; outputs of three values are then looked
# for from every risky value.
_MANY_INEQUALITIES: Final = 30
# Outputs of three values are looked for only among more values than this.
_FEWEST: Final = 20
# This many times more searches start from a value that pays a fee.
_PAYING: Final = 10.0
# With more values no pairs are looked for: the table of all of them would be too large. Numbers that a batch of
# searches may hold.
_MOST_PAIRED: Final = 4_000
_LARGEST_BATCH: Final = 2_000_000
# The search ends when, with no fee paid, two rounds gain less than this share of the loss; beyond the rounds of the
# budget, when one gains less than the other share.
_STALLED: Final = 2e-3
_WORTH: Final = 1.5e-2


def solve_many(
    region: Region,
    groups: Labels,
    budget: Budget,
    *,
    learned: LearnedPrices | None = None,
    teaches: LearnedPrices | None = None,
    turn: Lock | None = None,
) -> Mixture | None:
    """A mechanism no worse than the groups; the more rounds the better. Nothing is proved about it.

    ``learned`` holds prices learned from similar values, which save rounds; ``teaches`` takes in the prices of these
    values. None if the solver fails. Who calls it in threads holds ``turn``, which is let go while a linear program is
    solved: that is done outside of Python, and everything else would only slow the other threads down.
    """
    risky = np.flatnonzero(~region.safe)
    least = -np.log(np.clip(reaches(region), 1e-300, 1.0))
    guess = None if learned is None else learned.guess(region, least)
    fees = _first_fees(region, groups, least) if guess is None else _GUESSED[0] * guess + _GUESSED[1]
    fees = np.where(region.safe, 0.0, fees)
    pairs = pairs_of(region.tight, risky if region.n <= _MOST_PAIRED else risky[:0])
    search = _OutputSearch(region.tight, np.random.default_rng(0))
    many_rows = search.simplex.n_rows > _MANY_INEQUALITIES and region.n > _FEWEST
    trios = Trios(region.tight, np.random.default_rng(0)) if many_rows else None
    master = Master(region.marginal, fees, turn=turn)
    master.add(*_first_outputs(region, groups))
    master.add(*best_pairs(pairs, pairs.costs / pairs.shares, region.n, limit=np.inf, partners=_PARTNERS))
    prices, before, stalled = least if guess is None else guess, np.inf, 0
    for step in range(_LONGER * budget.rounds + 1):
        answer = master.solve()
        if answer is None:
            return None
        now, uncovered = answer
        paid = uncovered > _UNCOVERED
        prices = _EARLIER * prices + (1 - _EARLIER) * now.prices
        gained = before - now.cost
        stalled = stalled + 1 if gained < _STALLED * now.cost else 0
        # What was found while fees were paid says nothing about what is still to be found.
        before = np.inf if paid.any() else now.cost
        over = step >= budget.rounds and gained < _WORTH * now.cost
        if step >= _LONGER * budget.rounds or (not paid.any() and (over or stalled > 1)):
            break
        rise = _RISE[0] if step < _GENTLE * budget.rounds else _RISE[1]
        fees = np.where(paid, np.minimum(rise * fees + _RISE[2], _LARGEST_FEE), fees)
        master.charge(fees)
        master.add(*best_pairs(pairs, pairs.reduced(now.prices), region.n, limit=-region.pays, partners=_MORE_PARTNERS))
        gains = (prices - least) * np.where(paid, _PAYING, 1.0)
        # Where much is uncovered, pairs do not suffice and more searches are worthwhile; so they are before giving up.
        share = 1.0 if stalled else float(uncovered @ region.marginal) / float(region.marginal.sum())
        share = max(budget.starts, min(1.0, share)) * min(1.0, _MANY_INEQUALITIES / search.simplex.n_rows)
        starts = _starts(region, gains, share, search.rng)
        corners = search.paying(starts, prices, step)
        master.add(_columns(corners, region.n), corners.costs)
        if trios is not None:
            corners = trios.paying(np.concatenate([risky, starts]), prices)
            master.add(_columns(corners, region.n), corners.costs)
    if teaches is not None:
        teaches.learn(region, least, prices)
    master.close()
    final = master.solve()
    return None if final is None else Mixture.of_columns(master.columns, final[0].weights)


def _first_fees(region: Region, groups: Labels, least: Vector) -> Vector:
    labels = np.unique(groups, return_inverse=True)[1]
    lost = np.log(np.bincount(labels, region.marginal)[labels] / region.marginal)
    share = _FEE[2] if len(region.lifts) <= MANY_ROWS else _MANY_ROWS_SHARE
    return np.asarray(np.maximum(_FEE[0] * least + _FEE[1], share * lost))


class LearnedPrices:
    """A linear model of what values cost in the programs so far, from their lifts: a guess for others."""

    def __init__(self) -> None:
        self.square, self.product = np.zeros((0, 0)), np.zeros(0)

    @staticmethod
    def _facts(region: Region, least: Vector) -> Matrix:
        """For every value: what it must lose at least, and each lift below 1 and above."""
        lifts = np.log(np.maximum(region.lifts, _SMALLEST_LIFT))
        return np.vstack([np.ones(region.n), least, least**2, np.minimum(lifts, 0.0), np.maximum(lifts, 0.0)])

    def learn(self, region: Region, least: Vector, prices: Vector) -> None:
        """Learn the prices of these values, forgetting all others."""
        facts = self._facts(region, least)
        self.square, self.product = facts @ facts.T, facts @ np.clip(prices, 0.0, _LARGEST_PRICE)

    def take_in(self, other: LearnedPrices) -> None:
        """Add what others have learned."""
        if not len(other.product):
            return
        first = not len(self.product)
        self.square = other.square if first else self.square + other.square
        self.product = other.product if first else self.product + other.product

    def guess(self, region: Region, least: Vector) -> Vector | None:
        """What these values may cost, never less than they must; None if nothing was learned."""
        if not len(self.product):
            return None
        # A small ridge, so that facts that say the same do no harm.
        square = self.square + _RIDGE * np.eye(len(self.product))
        prices = np.linalg.solve(square, self.product) @ self._facts(region, least)
        return np.maximum(prices, least)


def _first_outputs(region: Region, groups: Labels) -> tuple[csr_array, Vector]:
    """Groups, which make a mechanism, and safe values by themselves."""
    used, labels = np.unique(groups, return_inverse=True)
    shares = region.marginal / sums(labels, region.marginal, len(used))[labels]
    safe = np.flatnonzero(region.safe & (shares < 1))
    outputs = np.concatenate([labels, len(used) + np.arange(len(safe))])
    values = np.concatenate([np.arange(region.n), safe])
    shares = np.concatenate([shares, np.ones(len(safe))])
    columns = csr_array((shares, (outputs, values)), shape=(len(used) + len(safe), region.n))
    return columns, entropies_of(columns)


def _columns(corners: Corners, n: int) -> csr_array:
    """Corners as outputs x released."""
    at = np.repeat(np.arange(len(corners)), corners.values.shape[1])
    holds = corners.shares.ravel() > 0
    shares = corners.shares.ravel()[holds]
    return csr_array((shares, (at[holds], corners.values.ravel()[holds])), shape=(len(corners), n))


def _starts(region: Region, gains: Vector, share: float, rng: np.random.Generator) -> Labels:
    """The risky values that searches start from, a share of all: half spread evenly, half where there is most to gain.

    A frequent value needs many outputs, since each holds only little that covers it.
    """
    gains = np.where(region.safe, 0.0, np.maximum(gains, 0.0) * region.marginal)
    chances = (gains / max(gains.sum(), 1e-300) + ~region.safe / max((~region.safe).sum(), 1)) / 2
    times = np.diff(np.floor(np.cumsum(chances) * share * region.n + rng.random()), prepend=0.0)
    return np.repeat(np.arange(region.n), np.minimum(times, _MOST_STARTS).astype(np.intp))


class _OutputSearch:
    """Looks for outputs that pay; the same sequence of questions gets the same answers."""

    def __init__(self, region: Region, rng: np.random.Generator) -> None:
        self.region, self.rng = region, rng
        self.simplex = Simplex(region)

    def paying(self, starts: Labels, prices: Vector, step: int) -> Corners:
        """Corners whose entropy is below their price, one from each start at most."""
        places = self.simplex.n_rows + 1
        values, shares = [np.zeros((0, places), dtype=np.intp)], [np.zeros((0, places))]
        absent = -np.log(_ABSENT[step % len(_ABSENT)])
        for first in range(0, len(starts), size := max(1, _LARGEST_BATCH // self.region.n)):
            corners, pays = self._from(starts[first : first + size], prices, absent)
            # The first prices are a guess.
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
