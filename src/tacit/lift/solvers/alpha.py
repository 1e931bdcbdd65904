"""The region of posteriors whose alpha-lift is within a bound: a ball of a norm, where other bounds make a polytope.

The alpha-lift of an output is the norm (sum_s P(s) l_s^order)^(1/order) of its lifts l, and these are linear in the
posterior: so the region is convex, and merging outputs within it stays within it. A tangent of the norm is a row that
every posterior within the bound satisfies. Several tangents make a polytope around the region: the best mechanism there
bounds the best one within.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Final

import numpy as np

from tacit.lift.joint import Joint, Labels, Matrix, Vector, halved
from tacit.lift.measures import lift_norms
from tacit.lift.solvers.region import Region
from tacit.lift.tolerances import LARGEST_EXPONENT, MARGIN, TOLERANCE

# Halvings of an interval of shares: to the last digit.
_HALVINGS: Final = 52
# Tangents to begin with; others are added where they are needed.
_MOST_TANGENTS: Final = 60
# Tangents closer to one another than this are one.
_APART: Final = 1e-4
# A corner of tangents that exceeds the bound by no more than this share is near enough to be pulled in.
_NEAR: Final = 1e-6


@dataclass(frozen=True, eq=False)
class AlphaRegion(Region):
    """The posteriors with an alpha-lift of an order, finite, within ``limit``; ``lifts`` has a row for every secret."""

    # There is always a corner that is a little better: it must be worth its cost.
    pays: ClassVar[float] = 1e-6

    prior: Vector
    order: float
    limit: float

    @classmethod
    def around(cls, joint: Joint, epsilon: float, order: float) -> AlphaRegion:
        """The region of a joint."""
        low, high = np.zeros(len(joint.prior)), np.full(len(joint.prior), np.inf)
        limit = float(np.exp(min(epsilon, LARGEST_EXPONENT)))
        return cls(joint.marginal, joint.lift, low, high, len(joint.prior) - 1, joint.prior, order, limit)

    @cached_property
    def tight(self) -> Region:
        """The same with a bound a hair tighter."""
        # Half of the room at most: below 1 nothing is left.
        return replace(self, limit=max(self.limit * (1 - MARGIN), (1 + self.limit) / 2))

    def tighter(self, share: float) -> Region:
        """The same with a share of the room, in logarithms."""
        return replace(self, limit=self.limit**share)

    def excess(self, lifts: Matrix) -> Vector:
        """The factor by which outputs with these lifts (columns) exceed the bound; at most 1 if they do not."""
        return np.asarray(lift_norms(lifts, self.prior, self.order) / self.limit)

    def pair_shares(self, first: Labels, second: Labels) -> tuple[Vector, Vector]:
        """Least and largest share of the first value in a mixture of two within the bound; crossed if there is none."""
        a, b = self.lifts[:, first], self.lifts[:, second]

        def excess(share: Vector) -> Vector:
            return self.excess(share * a + (1 - share) * b)

        best = _least(excess, len(first))
        ends = []
        for end in (0.0, 1.0):
            outside = np.full(len(best), end)
            inside, _ = halved(best, outside, lambda share: excess(share) <= 1, times=_HALVINGS)
            ends.append(np.where(excess(outside) <= 1, end, inside))
        possible = excess(best) <= 1
        return np.where(possible, ends[0], 1.0), np.where(possible, ends[1], 0.0)

    def cuts(self, q: Vector) -> Matrix:
        """The tangent at a posterior out of bounds, as a row that is at most 1 in the region; none if it is inside."""
        if self.beyond(q) <= 1 + _NEAR:
            return np.zeros((0, self.n))
        return self.tangents((self.lifts @ q)[:, None])

    def beyond(self, q: Vector) -> float:
        """The factor by which a posterior exceeds the bound; at most 1 if it does not."""
        return float(self.excess((self.lifts @ q)[:, None])[0])

    def tangents(self, lifts: Matrix) -> Matrix:
        """Rows that are at most 1 within the region, and as large as the excess at the lifts given (columns).

        Guarantees
        ----------
        Hoelder's inequality: sum_s P(s) w_s l_s <= |w|' |l|, with the dual norm, for any w at all, whatever its
        rounding; the weights are divided by their dual norm.
        """
        weights = (lifts / lifts.max(axis=0)) ** (self.order - 1)
        dual = lift_norms(weights, self.prior, self.order / (self.order - 1))
        return np.asarray((weights / dual * self.prior[:, None]).T @ self.lifts / self.limit)

    def inequalities(self) -> tuple[Matrix, Vector]:
        """Rows at most 1 within the region: tangents at the values that exceed the bound most, times frequency."""
        over = (self.excess(self.lifts) - 1) * self.marginal
        worst = np.argsort(-over, kind="stable")[: min(_MOST_TANGENTS, int((over > 0).sum()))]
        rows = self.tangents(self.lifts[:, worst])
        return rows, np.ones(len(rows))

    def pulled(self, q: Vector) -> Vector:
        """A posterior on the bound, or within it: q mixed with just enough of the average to get there."""
        over = self.beyond(q)
        if over <= 1:
            return q
        average = self.marginal / self.marginal.sum()
        share = min((over - 1) / max(over - self.beyond(average), 1e-300), 1.0)
        return np.asarray((1 - share) * q + share * average)

    def outer(self, outputs: Matrix) -> Region:
        """A polytope around the region: tangents at the values out of bounds and at some outputs (outputs x released).

        The best mechanism there bounds the best one in the region.
        """
        rows = np.vstack([self.inequalities()[0], self.tangents(self.lifts @ outputs.T)])
        rows = _apart(rows[rows.max(axis=1) > 1 + TOLERANCE])
        return Region(self.marginal, rows, np.zeros(len(rows)), np.ones(len(rows)), max(self.rank, 2))


def _apart(rows: Matrix) -> Matrix:
    """The rows without near duplicates, which would make corners that rounding decides."""
    chosen: list[Vector] = []
    for row in rows:
        if all(abs(row - other).max() > _APART for other in chosen):
            chosen.append(row)
    return np.array(chosen).reshape(-1, rows.shape[1])


def two_secrets(joint: Joint, epsilon: float, order: float) -> Region:
    """The region of two secrets, where it is a polytope: the lift of one of them decides that of the other."""
    limit = float(np.exp(min(epsilon, LARGEST_EXPONENT)))
    prior = joint.prior

    def within(lift: float) -> bool:
        both = np.array([[lift], [max((1 - prior[0] * lift) / prior[1], 0.0)]])
        return bool(lift_norms(both, prior, order)[0] <= limit)

    extremes = (0.0, 1 / prior[0])
    ends = [end if within(end) else float(halved(1.0, end, within, times=2 * _HALVINGS)[0]) for end in extremes]
    lift = joint.lift[:1]
    low = np.array([ends[0] if lift.min() < ends[0] * (1 - TOLERANCE) else 0.0])
    high = np.array([ends[1] if lift.max() > ends[1] * (1 + TOLERANCE) else np.inf])
    binding = (low > 0) | np.isfinite(high)
    return Region(joint.marginal, lift[binding], low[binding], high[binding], int(binding.sum()))


def _least(function: Callable[[Vector], Vector], size: int) -> Vector:
    """Where convex functions of numbers in [0, 1] are least, all at once: thirds are cut off."""
    low, high = np.zeros(size), np.ones(size)
    for _ in range(_HALVINGS):
        one, two = low + (high - low) / 3, high - (high - low) / 3
        falls = function(one) > function(two)
        low, high = np.where(falls, one, low), np.where(falls, high, two)
    return np.asarray((low + high) / 2)
