"""How likely the second likeliest value of an output can be, next to the likeliest: more rows leave it less.

Where a value has a share t, every row leaves each other value at most what is left of its room, with all the rest where
it helps that row most. The largest of these over all others bounds the second share. With many rows that is far less
than 1 - t, so outputs must hold more values, which costs more.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from tacit.lift.joint import Labels, Matrix, Vector
from tacit.lift.measures import p_log_p
from tacit.lift.solvers.region import Region

# Rounding of a few sums, added so that no share is too small.
_HAIR: Final = 1e-12
# Shares of the likeliest value that are examined, relative to its reach; below the first nothing is known.
_AT: Final = (0.5, 0.6, 0.68, 0.76, 0.84, 0.92, 1.0)
# Numbers held at once.
_BATCH: Final = 100_000
# With more shares than this, the entropy is bounded only by their logarithm.
_MOST_SHARES: Final = 64


@dataclass(frozen=True, eq=False)
class SecondShares:
    """For some values, the shares at which an output in which they are the likeliest can be cheapest, and the least it
    costs there (places x values).

    Attributes
    ----------
    values : array of int
    least : array
        The share from which on something is known, for each value.
    shares, entropies : arrays
    crowded : array
        A price that is fair for outputs of very many values.
    """

    values: Labels
    least: Vector
    shares: Matrix
    entropies: Matrix
    crowded: Vector

    @classmethod
    def of(cls, region: Region, reach: Vector, values: Labels, *, look: bool = True) -> SecondShares:
        """For these values of a region, given upper bounds on the share that each value can have.

        Without a ``look`` at the rows, all that is known is that shares add up to one.
        """
        places, entropies, crowded = [], [], np.full(len(values), np.inf)
        for at in range(len(_AT) - 1):
            start, end = (share * reach[values] for share in _AT[at : at + 2])
            sums = largest_sums(region, reach, values, start, end) if look else np.ones(len(values))
            for share in _turns(start, end, sums):
                places.append(share)
                entropies.append(_least_entropy(share, np.minimum(share, sums - share)))
            # With more shares than that, the entropy is at least that of t and 1 - t, plus (1 - t) log 63.
            many = (_MOST_SHARES - 1) * (sums - end) < 1 - end
            alone = -(p_log_p(end) + p_log_p(1 - end)) / end
            crowded = np.where(many, np.minimum(crowded, alone), crowded)
        return cls(values, _AT[0] * reach[values], np.array(places), np.array(entropies), crowded)

    def take(self, which: Labels) -> SecondShares:
        """The same for some of the values."""
        shares, entropies = self.shares[:, which], self.entropies[:, which]
        return SecondShares(self.values[which], self.least[which], shares, entropies, self.crowded[which])

    def prices(self, most: float) -> Vector:
        """Prices of the values, given the largest price of all, which is at most the logarithm of 63.

        Guarantees
        ----------
        With these prices t price + (1 - t) most is at most the entropy of every output within bounds in which the value
        is the likeliest, with a share t of at least ``least``. With s the largest sum of t and another share, none is
        above u = min(t, s - t), and the entropy is at least that of t, as many shares of u as there can be, and a rest.
        As long as their number stays the same that is concave in t, so it is enough to look where it changes.
        """
        each = (self.entropies - (1 - self.shares) * most) / self.shares
        return np.asarray(np.minimum(np.minimum(each.min(axis=0), self.crowded), most))


def _turns(start: Vector, end: Vector, sums: Vector) -> Iterator[Vector]:
    """Where the number of second shares changes: where 1 = k t, where 1 - t = k (s - t), at t = s / 2, and at the ends.

    For a value without such a place between its ends, another of its places is repeated.
    """
    yield start
    # Nothing changes here, but it is a place like any other.
    yield (start + end) / 2
    yield end
    middle = np.clip(sums / 2, start, end)
    yield middle
    for k in range(2, _MOST_SHARES):
        for share, low, high in ((np.full_like(sums, 1 / k), start, middle), ((k * sums - 1) / (k - 1), middle, end)):
            if ((share > low) & (share < high)).any():
                yield np.clip(share, low, high)


def _least_entropy(first: Vector, others: Vector) -> Vector:
    """The least entropy of one share and others of at most this size each."""
    others = np.maximum(others, _HAIR)
    times = np.floor((1 - first) / others)
    rest = np.clip(1 - first - times * others, 0.0, 1.0)
    return np.asarray(-p_log_p(first) - times * p_log_p(others) - p_log_p(rest))


def largest_sums(region: Region, reach: Vector, values: Labels, start: Vector, end: Vector) -> Vector:
    """The largest sum of the share of each value, between start and end, and of the share of any other value.

    Guarantees
    ----------
    No output within bounds in which the value is the likeliest, with a share between these, has a larger one.
    """
    rows, tops = region.inequalities()
    depth = -rows.min(axis=1)
    above = rows + depth[:, None]
    with np.errstate(divide="ignore"):
        # A value at the bottom of a row is not limited by it.
        inverse = np.minimum(1 / above, 1 / _HAIR)
    size = max(1, _BATCH // region.n)
    largest = []
    for first in range(0, len(values), size):
        own = values[first : first + size]
        low, high = start[first : first + size, None], end[first : first + size, None]
        left = [np.maximum((tops + depth)[:, None] - above[:, own] * t[:, 0], 0.0) for t in (low, high)]
        sums = np.minimum(np.minimum(high + reach, 2 * high), 1.0)
        at_low, at_high = np.empty_like(sums), np.empty_like(sums)
        for row in range(len(rows)):
            # The sum is a maximum of linear functions of the first share, so it is largest at one of the ends.
            np.multiply(left[0][row][:, None], inverse[row], out=at_low)
            np.multiply(left[1][row][:, None], inverse[row], out=at_high)
            at_low += low
            at_high += high
            np.maximum(at_low, at_high, out=at_low)
            np.minimum(sums, at_low, out=sums)
        sums[np.arange(len(own)), own] = 0.0
        largest.append(np.maximum(sums.max(axis=1), high[:, 0]))
    return np.asarray(np.minimum(np.concatenate(largest) * (1 + _HAIR), 1.0))
