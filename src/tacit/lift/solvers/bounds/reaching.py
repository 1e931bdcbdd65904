"""A lower bound on the loss, at any size: how sure of a value an output can make a reader, and what that leaves open.

Whatever an output says, it gives its likeliest value no more than that value's reach; the rest goes to others. So it
leaves open at least the entropy of the fewest possible shares of at most that size.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tacit.lift.joint import Labels, Matrix, Vector
from tacit.lift.measures import p_log_p
from tacit.lift.solvers.bounds.scarcity import Scarcity
from tacit.lift.solvers.bounds.seconds import SecondShares
from tacit.lift.solvers.region import Region
from tacit.lift.solvers.simplex import Simplex

# Rounding of a few sums, added so that no reach is too small.
_HAIR: Final = 1e-12
# The largest price is sought in this many narrowings, each by a third, and is below the logarithm of the other.
_STEPS: Final = 30
_MOST_SHARES: Final = 64
# Where covers are scarce, largest prices to try, as multiples of the best one without scarcity.
_AROUND: Final = (0.9, 1.0, 1.04, 1.08, 1.12, 1.2, 1.3)
# Values whose worst directions are sought together; numbers held at once while directions are tried.
_TOGETHER: Final = 400
_BATCH: Final = 4_000_000


def largest_bound(
    marginal: Vector, reach: Vector, seconds: SecondShares | None = None, scarcity: Scarcity | None = None
) -> float:
    """A lower bound on the loss of every mechanism, in nats, from upper bounds on the share of each value in an output;
    for some values also on the second largest share next to theirs, and for some of these on how much cover there is.

    Guarantees
    ----------
    Prices m(x) with m . q <= H(q) for all q <= reach bound the loss of every mechanism by m . marginal, and these are
    such prices: if t is the largest share of q, of the value x, then m . q <= t m(x) + (1 - t) M with M the largest
    price, and H(q) is at least that of shares t, t, ..., and what is left. Between t = 1/k and t = 1/(k + 1) the latter
    less the former is concave in t, so it is enough that m(x) keeps it from being negative at those ends and at
    the reach. The bound is never below sum p(x) log 1/reach(x), which comes from other such prices. Where second shares
    are known, this argument applies up to the share from which they are known, and that of `SecondShares.prices` from
    there on. `Scarcity.raised` preserves the property.
    """
    reach = np.clip(reach, 1e-300, 1.0)
    best = float(marginal @ -np.log(reach))
    plain = reach
    if seconds is not None:
        plain = reach.copy()
        plain[seconds.values] = seconds.least
    at_reach = _least_entropy(plain)

    def worth(most: float, covers: Scarcity | None = None) -> float:
        prices = _prices(plain, at_reach, most)
        limits = prices if covers is None else prices[covers.seconds.values]
        if seconds is not None:
            prices[seconds.values] = np.minimum(prices[seconds.values], seconds.prices(most))
        return float(marginal @ (prices if covers is None else covers.raised(prices, limits, most)))

    low, high = 0.0, min(float(at_reach.max()), np.log(_MOST_SHARES - 1))
    # The sum is concave in M; whichever M is tried, the bound holds.
    for _ in range(_STEPS):
        inner = low + (high - low) / 3, high - (high - low) / 3
        sums = [worth(most) for most in inner]
        best = max(best, *sums)
        low, high = (inner[0], high) if sums[0] < sums[1] else (low, inner[1])
    if scarcity is not None:
        tried = np.minimum(high * np.array(_AROUND), np.log(_MOST_SHARES - 1))
        best = max(best, *(worth(float(most), scarcity) for most in tried))
    return best


def _least_entropy(largest: Vector) -> Vector:
    """The least entropy of shares of at most this size each: as many of that size as there can be, and a rest."""
    times = np.floor(1 / largest)
    rest = np.clip(1 - times * largest, 0.0, 1.0)
    return np.asarray(-times * p_log_p(largest) - p_log_p(rest))


def _prices(reach: Vector, at_reach: Vector, most: float) -> Vector:
    """The largest prices of `largest_bound`, given M, which is at most the logarithm of `_MOST_SHARES`."""
    prices = np.minimum(most, (at_reach - (1 - reach) * most) / reach)
    for k in range(2, _MOST_SHARES):
        if np.log(k) >= most:
            break
        prices = np.where(reach >= 1 / k, np.minimum(prices, k * np.log(k) - (k - 1) * most), prices)
    return np.asarray(prices)


def reaches(region: Region, *, directions: int = 0) -> Vector:
    """Upper bounds on the probability that an output within bounds can give to each value.

    From each row by itself, and from the mixtures of rows that are worst for up to ``directions`` of the values.
    """
    rows, tops = region.inequalities()
    reach = _reached(rows, tops)
    if directions and len(rows) > 1 and region.n > 1:
        values = _some(region, directions)
        for first in range(0, len(values), _TOGETHER):
            weights = _worst(region.take(values[first : first + _TOGETHER]))
            for at in range(0, len(weights), size := max(1, _BATCH // region.n)):
                part = weights[at : at + size]
                reach = np.minimum(reach, _reached(part @ rows, part @ tops))
    return reach


def _worst(region: Region) -> Matrix:
    """For every value the mixture of rows that leaves it least, next to the values of this region only."""
    return Simplex(region).multipliers(-np.eye(region.n))


def _reached(rows: Matrix, tops: Vector) -> Vector:
    """What rows (rows @ q <= tops), each by itself, leave to each value.

    The others are no lower than the lowest, -d: share * row + (1 - share) * -d <= top.
    """
    if not len(rows):
        return np.ones(rows.shape[1])
    depth = -rows.min(axis=1, keepdims=True)
    room = np.maximum(tops[:, None] + depth, 0.0)
    above = rows + depth
    shares = np.divide(room, above, out=np.ones_like(above), where=above > room)
    return np.asarray(np.minimum(shares.min(axis=0) * (1 + _HAIR), 1.0))


def _some(region: Region, most: int) -> Labels:
    """The most frequent values, and others evenly spaced."""
    if region.n <= most:
        return np.arange(region.n)
    order = np.argsort(-region.marginal, kind="stable")
    frequent, others = order[: most // 2], order[most // 2 :]
    chosen = np.concatenate([frequent, others[:: -(-len(others) // (most - most // 2))]])
    # Dealt out, so that those sought together are of all kinds.
    n_batches = -(-len(chosen) // _TOGETHER)
    return np.concatenate([chosen[first::n_batches] for first in range(n_batches)])
