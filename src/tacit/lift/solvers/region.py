"""What an output of a mechanism may say about the released value: the posteriors that keep every secret's bound.

A mechanism releases the output y with probability w_y, and whoever sees it believes q_y(x) = P(x | y). It keeps the
bounds if and only if every q_y lies in the region {q : low <= sum_x lift(s, x) q_x <= high for all s}, and the q_y
average to the marginal of X. Several secrets at once are more rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from tacit.errors import ArgumentError
from tacit.lift.joint import Joint, Labels, Mask, Matrix, Vector, sums
from tacit.lift.tolerances import LARGEST_EXPONENT, MARGIN, TOLERANCE

# Bounds closer together than this leave no room for a margin: they ask for independence.
_NO_ROOM = 1e-9
# Lifts that agree in all but this many of the last bits differ only by rounding.
_ROUNDING_BITS = 12


@dataclass(frozen=True, eq=False)
class Region:
    """The posteriors over released values that an output may have.

    Attributes
    ----------
    marginal : array
        P(x).
    lifts : array of shape (rows, released)
        Lift of each secret that some released value takes out of its bounds; the other secrets cannot be hurt.
    low, high : arrays
        Bounds on the lifts of an output; 0 or inf on a side where no released value is out of bounds.
    rank : int
        Number of rows that can be tight at once.
    """

    # An output pays if it gains more than this, in nats per unit of probability.
    pays: ClassVar[float] = 1e-8

    marginal: Vector
    lifts: Matrix
    low: Vector
    high: Vector
    rank: int

    @classmethod
    def of(cls, claims: Sequence[tuple[Joint, float, float]]) -> Region:
        """The region of several claims, each a joint over the same released values with its low and high bound."""
        marginal = claims[0][0].marginal
        lifts, lows, highs, rank = [], [], [], 0
        for joint, epsilon_low, epsilon_high in claims:
            if joint.shape[1] != len(marginal) or not np.allclose(joint.marginal, marginal, rtol=1e-9, atol=1e-15):
                raise ArgumentError("the joints differ in the frequencies of the released values; count them together")
            high, low = np.exp(min(epsilon_high, LARGEST_EXPONENT)), np.exp(-epsilon_low)
            tops, bottoms = joint.lift.max(axis=1), joint.lift.min(axis=1)
            too_high, too_low = tops > high * (1 + TOLERANCE), bottoms < low * (1 - TOLERANCE)
            binding = too_high | too_low
            lifts.append(joint.lift[binding])
            lows.append(np.where(too_low, low, 0.0)[binding])
            highs.append(np.where(too_high, high, np.inf)[binding])
            # The lifts of all secrets average to 1, so that the last of them follows from the others.
            rank += min(int(binding.sum()), joint.shape[0] - 1)
        return cls(marginal, np.concatenate(lifts), np.concatenate(lows), np.concatenate(highs), rank)

    @property
    def n(self) -> int:
        """Number of released values."""
        return len(self.marginal)

    @cached_property
    def cells(self) -> Matrix:
        """Lifts times marginal: what a set of values adds up from."""
        return np.asarray(self.lifts * self.marginal)

    @cached_property
    def safe(self) -> Mask:
        """The released values that are within bounds by themselves."""
        return np.asarray(self.excess(self.lifts) <= 1 + TOLERANCE)

    @cached_property
    def tight(self) -> Region:
        """The same with bounds a hair tighter, for mixtures that a solver makes; the same if there is no room."""
        if self.equal:
            return self
        return replace(self, low=self.low * (1 + MARGIN), high=self.high * (1 - MARGIN))

    def tighter(self, share: float) -> Region:
        """The same with a share of the room on each side, in logarithms: whatever is within it is within this one."""
        return replace(self, low=self.low**share, high=self.high**share)

    @property
    def equal(self) -> bool:
        """Whether some low and high bound are the same, up to rounding: perfect privacy."""
        return bool((self.high <= self.low * (1 + _NO_ROOM)).any())

    def excess(self, lifts: Matrix) -> Vector:
        """The factor by which outputs with these lifts (columns) exceed their bounds; at most 1 if they do not."""
        if not len(lifts):
            return np.zeros(lifts.shape[1])
        with np.errstate(divide="ignore", invalid="ignore"):
            below = np.where(self.low[:, None] > 0, self.low[:, None] / lifts, 0.0)
        return np.asarray(np.maximum(lifts / self.high[:, None], below).max(axis=0))

    def sums_excess(self, cells: Matrix, masses: Vector) -> Vector:
        """The excess of sets of values, given the sums of their cells and masses."""
        return self.excess(cells / masses)

    def holds(self, columns: Matrix, *, slack: float = TOLERANCE) -> Mask:
        """Which columns (outputs x released, rows sum to one) lie in the region, up to a relative slack."""
        return np.asarray(self.excess(self.lifts @ columns.T) <= 1 + slack)

    def inequalities(self) -> tuple[Matrix, Vector]:
        """The region as rows @ q <= tops, each row scaled to a bound of 1 or -1."""
        upper, lower = np.isfinite(self.high), self.low > 0
        rows = np.vstack([self.lifts[upper] / self.high[upper, None], -self.lifts[lower] / self.low[lower, None]])
        return rows, np.concatenate([np.ones(int(upper.sum())), -np.ones(int(lower.sum()))])

    def pair_shares(self, first: Labels, second: Labels) -> tuple[Vector, Vector]:
        """Least and largest share of the first value in a mixture of two within bounds; crossed if there is none."""
        # The share t of the first value must satisfy slope * t <= room for every row.
        rows, tops = self.inequalities()
        slope = rows[:, first] - rows[:, second]
        room = tops[:, None] - rows[:, second]
        with np.errstate(divide="ignore", invalid="ignore"):
            limits = room / slope
        upper = np.where(slope > 0, limits, np.inf).min(axis=0, initial=1.0)
        lower = np.where(slope < 0, limits, -np.inf).max(axis=0, initial=0.0)
        impossible = ((slope == 0) & (room < 0)).any(axis=0)
        return np.where(impossible, 1.0, lower), np.where(impossible, 0.0, upper)

    def cuts(self, q: Vector) -> Matrix:
        """Further rows, at most 1 within the region, that a posterior breaks; none: a polytope has all its rows."""
        return np.zeros((0, len(q)))

    def beyond(self, q: Vector) -> float:
        """The factor by which a corner of all rows so far exceeds the bounds: 1, since there are no further rows."""
        return 1.0

    def pulled(self, q: Vector) -> Vector:
        """A corner of the rows so far, brought within bounds; here it already is, since there are no further rows."""
        return q

    def take(self, values: Labels) -> Region:
        """The region of only some of the values, with their frequencies among all."""
        return replace(self, marginal=self.marginal[values], lifts=self.lifts[:, values])

    def types(self) -> tuple[Labels, Region]:
        """Group values with the same lifts up to rounding; a mechanism may treat them as one substance.

        An output never gains from mixing two values of one type, and what it costs does not depend on which of
        them it holds, so the best mechanism follows from the best one on types.
        """
        labels = self._same_lifts()
        n_types = int(labels.max()) + 1
        if n_types == self.n:
            return np.arange(self.n), self
        masses = sums(labels, self.marginal, n_types)
        cells = np.array([sums(labels, row, n_types) for row in self.cells]).reshape(-1, n_types)
        return labels, replace(self, marginal=masses, lifts=cells / masses)

    def _same_lifts(self) -> Labels:
        if not len(self.lifts):
            return np.zeros(self.n, dtype=np.intp)
        bits = np.ascontiguousarray(self.lifts.T).view(np.int64)
        bits = (bits + (1 << (_ROUNDING_BITS - 1))) >> _ROUNDING_BITS
        keys = np.ascontiguousarray(bits).view([("", np.int64)] * bits.shape[1])[:, 0]
        # Types are numbered by their first value, so that the answer does not depend on how keys are compared.
        _, first, labels = np.unique(keys, return_index=True, return_inverse=True)
        rank = np.empty(len(first), dtype=np.intp)
        rank[np.argsort(first)] = np.arange(len(first))
        return np.asarray(rank[labels])
