"""Outputs of two, three or four values under many rows: for each value, what best makes up for the rows it breaks.

All pairs are found at once. With many rows hardly any two values make an output within bounds, and a corner found by
linear programs holds many values and takes long to find. Three values often suffice: a value and one that makes up for
what it breaks, in one of a few proportions, then a third that makes up for what both break, with as much of the two as
the bounds allow. Where no third value suffices, a fourth is looked for. A value is scored by what it adds to the broken
rows, each weighed by how far it is broken, which for all values at once is one product of matrices.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tacit.lift.joint import Labels, Matrix, Vector
from tacit.lift.measures import p_log_p
from tacit.lift.solvers.binary import Side
from tacit.lift.solvers.region import Region
from tacit.lift.solvers.simplex import Corners

# Partners of every start, and values tried as third and as fourth.
_PARTNERS: Final = 6
_THIRDS: Final = 6
_FOURTHS: Final = 4
# Shares of the start in a pair with its partner, and of the first two values where no third brings them within bounds.
_SHARES: Final = (0.5, 0.6, 0.67, 0.75)
_OF_THREE: Final = 0.8
# How far a price of one nat makes up for a broken row, and how much randomness there is in the choice of partners.
_WORTH: Final = 0.15
_CHANCE: Final = 0.15
# Outputs kept of each start, and numbers that a batch may hold.
_KEPT: Final = 2
_LARGEST_BATCH: Final = 2_000_000


def pairs_of(region: Region, outer: Labels) -> Side:
    """Each risky value with every value: as much of it as the bounds allow, nan where they allow no mixture of both."""
    rows, tops = region.inequalities()
    most = np.ones((region.n, region.n))
    for row, top in zip(rows, tops, strict=True):
        over = np.flatnonzero(row > top)
        # Values that break the same row never make up for each other.
        room = np.maximum(top - row, 0.0)
        most[over] = np.minimum(most[over], room / (room + (row[over] - top)[:, None]))
    # A mixture is within bounds if it has no more of each value than the other allows.
    shares = most[outer]
    shares = np.where((shares + most[:, outer].T >= 1) & (shares > 0) & (shares < 1), shares, np.nan)
    costs = -p_log_p(np.nan_to_num(shares, nan=1.0)) - p_log_p(np.nan_to_num(1 - shares, nan=1.0))
    return Side(outer, np.arange(region.n), shares, np.where(np.isnan(shares), np.inf, costs))


class Trios:
    """Looks for outputs of three or four values that pay.

    Guarantees
    ----------
    What it finds is within the bounds of the region, and costs less than its values are worth.
    """

    def __init__(self, region: Region, rng: np.random.Generator) -> None:
        self.region, self.rng = region, rng
        self.rows, self.tops = region.inequalities()
        self.columns = np.ascontiguousarray(self.rows.T)

    def paying(self, starts: Labels, prices: Vector) -> Corners:
        """The best outputs from each start."""
        size = max(1, _LARGEST_BATCH // (self.region.n * _PARTNERS))
        corners = [self._from(starts[first : first + size], prices) for first in range(0, len(starts), size)]
        none = Corners(np.zeros((0, 4), dtype=np.intp), np.zeros((0, 4)))
        values = np.concatenate([each.values for each in [none, *corners]])
        return Corners(values, np.concatenate([each.shares for each in [none, *corners]]))

    def _from(self, starts: Labels, prices: Vector) -> Corners:
        partners = self._makes_up(self.columns[starts], starts[:, None], prices, _PARTNERS, chance=_CHANCE)
        start = np.repeat(np.arange(len(starts)), partners.shape[1])
        values = np.column_stack([starts[start], partners.ravel()])
        own = self.rng.choice(_SHARES, len(start))
        shares = np.column_stack([own, 1 - own])
        third, of, within = self._extended(values, shares, prices, _THIRDS)
        # Where no third value suffices, a fourth is added to the best of them.
        done = np.zeros(len(values), dtype=np.bool_)
        done[of[within]] = True
        first = np.flatnonzero(~done) * (len(of) // max(1, len(values)))
        three = np.column_stack([_OF_THREE * shares[of[first]], np.full(len(first), 1 - _OF_THREE)])
        fourth, after, good = self._extended(third.values[first], three, prices, _FOURTHS)
        starts_of = np.concatenate([start[of[within]], start[of[first]][after[good]]])
        last = np.zeros((int(within.sum()), 1), dtype=np.intp)
        values = np.concatenate([np.hstack([third.values[within], last]), fourth.values[good]])
        shares = np.concatenate([np.hstack([third.shares[within], last]), fourth.shares[good]])
        return self._best(Corners(values, shares), starts_of, prices)

    def _makes_up(self, levels: Matrix, holds: Labels, prices: Vector, most: int, *, chance: float = 0.0) -> Labels:
        """For mixtures (mixtures x rows) the values that best make up for what they break, other than those held."""
        broken = np.maximum(levels - self.tops, 0.0)
        broken /= np.maximum(broken.sum(axis=1, keepdims=True), 1e-300)
        scores = broken @ self.rows - _WORTH * prices
        if chance:
            scores += self.rng.exponential(chance, scores.shape)
        np.put_along_axis(scores, holds, np.inf, axis=1)
        most = min(most, scores.shape[1] - holds.shape[1])
        return np.asarray(np.argpartition(scores, most - 1, axis=1)[:, :most])

    def _extended(self, values: Labels, shares: Matrix, prices: Vector, most: int) -> tuple[Corners, Labels, Labels]:
        """Mixtures with one more value, as much of each as the bounds allow.

        Returns the mixtures, which one each comes from, and whether it is within bounds.
        """
        levels = np.einsum("ck,ckr->cr", shares, self.columns[values])
        more = self._makes_up(levels, values, prices, most)
        of, more = np.repeat(np.arange(len(values)), more.shape[1]), more.ravel()
        # With r times as much of the mixture as of the value, r * over <= room must hold in every row.
        over, room = (levels - self.tops)[of], self.tops - self.columns[more]
        ratio = np.divide(room, over, out=np.full_like(over, np.nan), where=over != 0)
        most_of = np.where(over > 0, ratio, np.inf).min(axis=1)
        least_of = np.where(over < 0, ratio, -np.inf).max(axis=1)
        impossible = ((over == 0) & (room < 0)).any(axis=1)
        within = (most_of > 0) & (least_of <= most_of) & np.isfinite(most_of) & ~impossible
        most_of = np.where(within, most_of, 1.0)
        mixed = shares[of] * (most_of / (1 + most_of))[:, None]
        corners = Corners(np.column_stack([values[of], more]), np.column_stack([mixed, 1 / (1 + most_of)]))
        return corners, of, within

    def _best(self, corners: Corners, starts: Labels, prices: Vector) -> Corners:
        """The outputs of each start that pay most, if they pay."""
        pays = corners.costs - corners.worth(prices)
        order = np.lexsort((pays, starts))
        order = order[pays[order] < -self.region.pays]
        sorted_starts = starts[order]
        place = np.arange(len(order)) - np.searchsorted(sorted_starts, sorted_starts)
        return corners[order[place < _KEPT]]
