"""What frequent values must lose because the values that cover them best are rare.

How sure an output can make a reader of a value depends on the best cover; but a frequent value needs more cover than
the best has. So good covers are charged for. With A a mixture of rows in which a value x is too high, whatever goes
with a share t of x must be as low as A . rest <= T - t A(x). If every value z is charged k (a - A(z)) where that is
positive, the rest is charged at least k ((1 - t) a - T + t A(x)), and x may be dearer by as much. That pays where x is
frequent and values below a are rare.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from tacit.lift.joint import Labels, Matrix, Vector
from tacit.lift.solvers.bounds.seconds import SecondShares
from tacit.lift.solvers.region import Region
from tacit.lift.solvers.simplex import Simplex

# Other values included when mixtures of rows are sought, numbers held at once, and the most values with priced covers.
_BESIDE: Final = 400
_LARGEST: Final = 10_000_000
_MOST: Final = 400
# How far a price may rise, as shares of what its other limits allow.
_RISES: Final = (0.35, 0.7, 1.0)


@dataclass(frozen=True, eq=False)
class Scarcity:
    """For some frequent values: a mixture of rows in which each is too high, and how rare its covers are.

    Attributes
    ----------
    region : Region
    seconds : SecondShares
        Of the frequent values only.
    rows, tops : arrays
        A (values x released) and T.
    levels : array of shape (places, values)
        How low the rest is on average where the value has the share of the place.
    lower : array of shape (places, values)
        By how much all values are below that, on average.
    """

    region: Region
    seconds: SecondShares
    rows: Matrix
    tops: Vector
    levels: Matrix
    lower: Matrix

    @classmethod
    def of(cls, region: Region, seconds: SecondShares) -> Scarcity:
        """For the most frequent values of ``seconds`` that are not safe."""
        risky = np.flatnonzero(~region.safe[seconds.values])
        order = risky[np.argsort(-region.marginal[seconds.values[risky]], kind="stable")]
        seconds = seconds.take(np.sort(order[: min(_MOST, _LARGEST // region.n)]))
        rows, tops = _mixtures(region, seconds.values)
        own = np.take_along_axis(rows, seconds.values[:, None], axis=1)[:, 0]
        with np.errstate(divide="ignore", invalid="ignore"):
            levels = (tops - seconds.shares * own) / (1 - seconds.shares)
        # A mixture in which the value is not too high says nothing.
        levels = np.where(np.isfinite(levels) & (own > tops), levels, -np.inf)
        lower = [_mean_below(row, each, region.marginal) for row, each in zip(rows, levels.T, strict=True)]
        return cls(region, seconds, rows, tops, levels, np.reshape(lower, levels.T.shape).T)

    def raised(self, prices: Vector, limits: Vector, most: float) -> Vector:
        """Prices of all values in which frequent ones are dearer and their rare covers cheaper.

        ``prices`` are at most ``most``, and ``limits`` are what frequent values may cost because of outputs in which
        they have less than their least share.

        Guarantees
        ----------
        If the prices are such as in `largest_bound`, where each value is bounded by outputs in which it is the
        likeliest and all others cost ``most``, the new ones too are at most the entropy of every output within
        bounds.
        """
        chosen, steep, level = self._chosen(prices[self.seconds.values], np.minimum(limits, most), most)
        dearer = np.minimum(np.minimum(chosen, limits), np.minimum(self.seconds.crowded, most))
        raised = prices.copy()
        raised[self.seconds.values] = np.maximum(raised[self.seconds.values], dearer)
        cheaper = np.zeros(self.region.n)
        for value in np.flatnonzero(steep > 0):
            np.maximum(cheaper, steep[value] * np.maximum(level[value] - self.rows[value], 0.0), out=cheaper)
        return np.asarray(raised - cheaper)

    def _chosen(self, now: Vector, limits: Vector, most: float) -> tuple[Vector, Vector, Vector]:
        """The price, steepness k and level a of each value that gain most by themselves."""
        shares, entropies = self.seconds.shares, self.seconds.entropies
        own = np.take_along_axis(self.rows, self.seconds.values[:, None], axis=1)[:, 0]
        masses = self.region.marginal[self.seconds.values]
        plain = (entropies - (1 - shares) * most) / shares
        best, steep, level, price = np.zeros_like(now), np.zeros_like(now), np.full_like(now, -np.inf), now
        for place, (at, a) in enumerate(zip(shares, self.levels, strict=True)):
            above = shares > at
            rest = (1 - shares) * np.where(np.isfinite(a), a, 0.0) - self.tops + shares * own
            rest = np.where(above & np.isfinite(a), np.maximum(rest, 0.0), 0.0)
            top = np.minimum(np.where(above, np.inf, plain).min(axis=0), limits)
            for rise in _RISES:
                aim = now + rise * np.maximum(top - now, 0.0)
                short = np.maximum(aim - plain, 0.0) * shares
                k = np.divide(short, rest, out=np.zeros_like(rest), where=rest > 0).max(axis=0)
                # Whatever the aim was, this is what such a price of covers allows.
                allowed = (plain + k * rest / shares).min(axis=0)
                gain = masses * (np.minimum(allowed, limits) - now) - k * self.lower[place]
                better = np.isfinite(a) & (gain > best)
                best, steep = np.where(better, gain, best), np.where(better, k, steep)
                level, price = np.where(better, a, level), np.where(better, allowed, price)
        return price, steep, level


def _mean_below(row: Vector, levels: Vector, marginal: Vector) -> Vector:
    """By how much the values of a row are below each level, on average."""
    # Most values are below no level: only the others are compared with each.
    below = row < levels.max(initial=-np.inf)
    return np.asarray(np.maximum(levels[:, None] - row[below], 0.0) @ marginal[below])


def _mixtures(region: Region, values: Labels) -> tuple[Matrix, Vector]:
    """For every value the mixture of rows that leaves it least, next to some of the others."""
    others = np.setdiff1d(np.arange(region.n), values)
    some = others[:: max(1, -(-len(others) // _BESIDE))]
    costs = np.zeros((len(values), len(values) + len(some)))
    np.fill_diagonal(costs, -1.0)
    weights = Simplex(region.take(np.concatenate([values, some]))).multipliers(costs)
    rows, tops = region.inequalities()
    return weights @ rows, weights @ tops
