"""Mechanisms for hundreds of values and more: outputs of few values each, generated many at a time.

The linear program over the outputs so far gives every value a price, and outputs that pay are looked for from every
risky value at once (`simplex`). Two things make that converge in few rounds. A value may stay uncovered at a fee, which
rises where it is paid: without it the first prices, of groups that no other output can take part in, say nothing. And
every search sees the other values a little dearer, each by chance: else all would ask for the same few.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from scipy.sparse import csr_array, vstack

from tacit.lift.columns import Budget, dealt, reaches
from tacit.lift.joint import Matrix, Vector
from tacit.lift.master import weigh
from tacit.lift.measures import TOLERANCE
from tacit.lift.mixture import Mixture
from tacit.lift.region import Labels, Region, sums
from tacit.lift.simplex import Corners, Simplex
from tacit.lift.subsets import cover_set, merge_subsets

# How often the entropy is replaced by its tangent, at the corner that the last one led to.
_INNER: Final = 4
# A value that a corner does not hold is taken to have this share: small, and in other searches not so small.
_ABSENT: Final = (1e-7, 1e-2)
# Probability that is dearer by chance: the mean, in nats.
_NOISE: Final = 1.0
# Fees: so many times what the value must lose at least, plus a little, but no less than a share of what it loses in its
# group; and how they rise where they are paid, at first and when half of the rounds are over.
_FEE: Final = (1.2, 0.02, 0.25)
# With many rows groups are not so far from the best: the share is then larger, and blocks are smaller.
_MANY_ROWS: Final = 8
_MANY_ROWS_SHARE: Final = 0.5
_MANY_ROWS_BLOCK: Final = 0.6
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
# Widths of clusters to try, as a share of a lift, and the room that they must leave.
_WIDTHS: Final = tuple(0.005 * 1.25**k for k in range(20))
_ROOM: Final = 0.5
_SAMPLE: Final = 20_000
_HAIR: Final = 1e-9
# Pieces smaller than this may be the rounding of others.
_CRUMB: Final = 1e-7


def solve_many(region: Region, groups: Labels, budget: Budget) -> Mixture | None:
    """A mechanism no worse than the groups; the more rounds the better. Nothing is proved of it.

    None if the solver fails.
    """
    pool = _Pool.of(region, groups)
    search = _Search(region.tight, np.flatnonzero(~region.safe), np.random.default_rng(0))
    least = -np.log(np.clip(reaches(region, solve=False), 1e-300, 1.0))
    fees = _first_fees(region, groups, least)
    prices, smooth, before, stalled = least, least, np.inf, 0
    for step in range(_LONGER * budget.rounds):
        smooth = _EARLIER * smooth + (1 - _EARLIER) * prices
        pool.add(search.paying(smooth, budget.starts, step))
        answer = pool.weigh(region.marginal, fees)
        if answer is None:
            break
        weights, cost, prices = answer
        paid = weights[-region.n :] > 1e-9 * region.marginal
        if paid.any():
            rise = _RISE[0] if 2 * step < budget.rounds else _RISE[1]
            fees = np.where(paid, np.minimum(rise * fees + _RISE[2], _LARGEST_FEE), fees)
            continue
        stalled = stalled + 1 if cost > before * (1 - _STALLED) else 0
        before = cost
        if stalled > 1 or step + 1 >= budget.rounds:
            break
        pool.trim(prices, weights[: -region.n])
    final = weigh(pool.columns, pool.costs, region.marginal)
    return None if final is None else Mixture.of_columns(pool.columns, final.weights)


def _first_fees(region: Region, groups: Labels, least: Vector) -> Vector:
    labels = np.unique(groups, return_inverse=True)[1]
    lost = np.log(np.bincount(labels, region.marginal)[labels] / region.marginal)
    share = _FEE[2] if len(region.lifts) <= _MANY_ROWS else _MANY_ROWS_SHARE
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
        return cls(columns, sums(outputs, -shares * np.log(shares), n_outputs), n_outputs)

    def add(self, new: Corners) -> None:
        """Put corners beside the outputs so far."""
        places = new.values.shape[1]
        at = np.repeat(np.arange(len(new)), places), new.values.ravel()
        held = new.shares.ravel() > 0
        columns = csr_array(
            (new.shares.ravel()[held], (at[0][held], at[1][held])), shape=(len(new), self.columns.shape[1])
        )
        self.columns = vstack([self.columns, columns]).tocsr()
        self.costs = np.concatenate([self.costs, new.costs])

    def weigh(self, marginal: Vector, fees: Vector) -> tuple[Vector, float, Vector] | None:
        """Weights of the outputs and of the values left uncovered at a fee, the cost, and prices."""
        n = len(marginal)
        alone = csr_array((np.ones(n), (np.arange(n), np.arange(n))), shape=(n, n))
        answer = weigh(
            vstack([self.columns, alone]).tocsr(), np.concatenate([self.costs, fees]), marginal, polish=False
        )
        return None if answer is None else (answer.weights, answer.cost, answer.prices)

    def trim(self, prices: Vector, weights: Vector) -> None:
        """Give up the outputs that are farthest from paying, if there are too many."""
        most = _MOST_A_VALUE * len(prices) + self.fixed
        if len(self.costs) <= most:
            return
        short = self.costs - self.columns @ prices
        short[: self.fixed], short[weights > 0] = -np.inf, -np.inf
        kept = np.sort(np.argsort(short, kind="stable")[:most])
        self.columns, self.costs = self.columns[kept], self.costs[kept]


class _Search:
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
                found, pays = self._from(self.risky[first : first + size], prices, absent)
                chosen = found[np.isfinite(pays) if step == 0 else pays < -self.region.pays]
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
    held = corners.shares > 1e-7
    row = np.nonzero(held)[0]
    costs[row, corners.values[held]] = -np.log(corners.shares[held])
    return costs


def settled(mixture: Mixture, region: Region) -> Mixture:
    """The mechanism with crumbs out of bounds swept into the output that has most room.

    Where values are cut, rounding may leave a piece so small that it holds only some of the values it should.
    """
    n_outputs = int(mixture.outputs.max()) + 1
    totals = sums(mixture.outputs, mixture.masses, n_outputs)
    cells = [sums(mixture.outputs, mixture.masses * row[mixture.values], n_outputs) for row in region.lifts]
    excess = region.sums_excess(np.array(cells).reshape(-1, n_outputs), totals)
    crumbs = (excess > 1 + TOLERANCE) & (totals < _CRUMB)
    if not crumbs.any() or crumbs.all():
        return mixture
    widest = int(np.argmax(np.where(crumbs, -np.inf, (1 - excess) * totals)))
    outputs = np.where(crumbs, widest, np.arange(n_outputs))[mixture.outputs]
    return Mixture(mixture.values, np.unique(outputs, return_inverse=True)[1], mixture.masses, mixture.bound)


def solve_parts(region: Region, size: int, budget: Budget) -> Mixture | None:
    """Mechanisms for blocks of about ``size`` values side by side, where every block gets its share of frequent values.

    A frequent risky value needs more cover than one block has, and frequent safe values are cover for all. None if some
    block as a whole is out of bounds, as it may be where few values are dealt out.
    """
    size = size if len(region.lifts) <= _MANY_ROWS else int(size * _MANY_ROWS_BLOCK)
    parts: list[Mixture] = []
    for block, part in dealt(region, size):
        if part.sums_excess(part.cells.sum(axis=1, keepdims=True), part.marginal.sum(keepdims=True))[0] > 1:
            return None
        found = solve_many(part, merge_subsets(part, cover_set(part, ~part.safe)), budget)
        if found is None:
            return None
        parts.append(Mixture(block[found.values], found.outputs, found.masses))
    return _side_by_side(parts)


def _side_by_side(parts: list[Mixture]) -> Mixture:
    """The outputs of all; those of one and the same value alone are one."""
    starts = np.cumsum([0, *(int(part.outputs.max()) + 1 for part in parts)])
    values = np.concatenate([part.values for part in parts])
    outputs = np.concatenate([part.outputs + first for part, first in zip(parts, starts, strict=False)])
    masses = np.concatenate([part.masses for part in parts])
    alone = np.bincount(outputs)[outputs] == 1
    outputs[alone] = starts[-1] + values[alone]
    outputs = np.unique(outputs, return_inverse=True)[1]
    # A flow may now come twice.
    table = csr_array((masses, (outputs, values))).tocoo()
    return Mixture(np.asarray(table.coords[1], np.intp), np.asarray(table.coords[0], np.intp), table.data)


def solve_clusters(region: Region, most: int, budget: Budget) -> Mixture | None:
    """A mechanism on clusters of values nearly alike, dealt out to the values; None if they would differ too much."""
    found = clustered(region, most)
    if found is None:
        return None
    labels, few = found
    mixture = solve_many(few, merge_subsets(few, cover_set(few, ~few.safe)), budget)
    return None if mixture is None else mixture.spread(labels, region.marginal)


def clustered(region: Region, most: int) -> tuple[Labels, Region] | None:
    """Values that are nearly alike as one, at most so many, and bounds that allow for how they differ.

    None if that would leave the bounds less than `_ROOM` of their room.

    Guarantees
    ----------
    A mechanism on the clusters within the new bounds is within those of the region, whichever values of its clusters
    an output holds (`Mixture.spread`).
    """
    middle = np.where(region.low > 0, region.low, 1.0)[:, None]
    scaled = np.where(region.lifts < middle, region.lifts / middle - 1, np.log(np.maximum(region.lifts / middle, 1.0)))
    labels = _cells(scaled, most)
    if labels is None:
        return None
    n_clusters = int(labels.max()) + 1
    masses = sums(labels, region.marginal, n_clusters)
    lifts = np.array([sums(labels, row, n_clusters) for row in region.cells]) / masses
    # With l_x <= l + d (l + middle) for all values x of a cluster of lift l, the same holds of their mixtures.
    apart = (region.lifts - lifts[:, labels]) / (lifts[:, labels] + middle)
    up, down = apart.max(axis=1) * (1 + _HAIR), -apart.min(axis=1) * (1 + _HAIR)
    high = (region.high - up * middle[:, 0]) / (1 + up)
    low = np.where(region.low > 0, (region.low + down * middle[:, 0]) / (1 - down), 0.0)
    with np.errstate(divide="ignore"):
        thin = np.log(high) < _ROOM * np.log(region.high)
        thin |= (low > 0) & (np.log(low) > _ROOM * np.log(region.low))
    if thin.any():
        return None
    return labels, replace(region, marginal=masses, lifts=lifts, low=low, high=high)


def _cells(scaled: Matrix, most: int) -> Labels | None:
    """The cell of each column in the finest grid that has at most so many cells in use; None if there is none."""
    # Cells are told apart by one number; should two of them share theirs, they are one cluster, and measured as such.
    factors = np.random.default_rng(0).integers(1, 1 << 40, len(scaled))
    few = scaled[:, :: max(1, scaled.shape[1] // _SAMPLE)]
    for width in _WIDTHS:
        if len(np.unique(factors @ np.floor(few / width).astype(np.int64))) > most:
            continue
        labels = np.unique(factors @ np.floor(scaled / width).astype(np.int64), return_inverse=True)[1]
        if labels.max() < most:
            return np.asarray(labels)
    return None
