"""How much of its bounds a cell uses: the one place where the search compares log-lift with epsilon."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tacit.codes.search.records import Matrix, SecretBound, Vector
from tacit.codes.tree import Ints
from tacit.lift.tolerances import MARGIN

_SMALLEST = 1e-300


@dataclass(frozen=True, eq=False)
class Limits:
    """The bounds of one claim, beside the shares of its secrets in each known part.

    Attributes
    ----------
    label : array of int
        For each value of the secret its place among the bounded ones; one more for all the rest.
    inverse : array (bounded values x parts)
        One over the share of a value; 0 where a part has none of it.
    never : array (bounded values x parts)
        Infinite where a part has none of a value, so that it is not the rarest; 0 elsewhere.
    low, high : float
        The bounds, less what rounding needs.
    """

    label: Ints
    inverse: Matrix
    never: Matrix
    low: float
    high: float

    @classmethod
    def of(cls, bound: SecretBound, totals: Matrix) -> Limits:
        """Limits of a claim from what each value of the secret weighs in each known part (values x parts)."""
        binding = bound.binding
        label = np.where(binding, np.cumsum(binding) - 1, binding.sum())
        counts, weight = totals[binding], totals.sum(axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            inverse = np.where(counts > 0, weight / counts, 0.0)
        never = np.where(counts > 0, 0.0, np.inf)
        return cls(label, inverse, never, *(max(side - MARGIN, _SMALLEST) for side in (bound.low, bound.high)))

    @property
    def n_bounded(self) -> int:
        """How many values are bounded."""
        return len(self.inverse)

    def wider(self, epsilon: float) -> Limits:
        """The same shares with another bound, on the sides that have one."""
        low, high = (side if np.isinf(side) else max(epsilon - MARGIN, side) for side in (self.low, self.high))
        return replace(self, low=low, high=high)

    def beyond(self, counts: Matrix, total: Vector, part: Ints) -> Vector:
        """What the pairs of each cell that may break the bounds weigh; arguments as of :meth:`used`."""
        with np.errstate(divide="ignore", invalid="ignore"):
            log_lift = np.log(counts * self.inverse[:, part] / total)
        outside = (counts > 0) & ((log_lift > self.high) | (log_lift < -self.low))
        return np.asarray(np.where(outside, counts, 0.0).sum(axis=0))

    def used(self, counts: Matrix, total: Vector, part: Ints) -> Vector:
        """The share of its bounds that each cell uses: at most 1 within them, infinite where a cell weighs nothing.

        ``counts`` (bounded values x cells) and ``total`` are weights, ``part`` the known part of each cell.

        Guarantees
        ----------
        Where the result is at most 1, every log-lift as a float is strictly inside the bounds of the claim.
        """
        out = np.zeros(len(total))
        if not self.n_bounded:
            return np.where(total > 0, out, np.inf)
        one = self.inverse.shape[1] == 1
        highest, lowest = np.zeros(len(total)), np.full(len(total), np.inf)
        for value in range(self.n_bounded):
            lift = counts[value] * (self.inverse[value, 0] if one else self.inverse[value][part])
            np.maximum(highest, lift, out=highest)
            never = self.never[value, 0] if one else self.never[value][part]
            np.minimum(lowest, lift + never if np.any(never) else lift, out=lowest)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            if np.isfinite(self.high):
                out = np.maximum(out, np.log(highest / total) / self.high)
            if np.isfinite(self.low):
                out = np.maximum(out, -np.log(lowest / total) / self.low)
        return np.where((total > 0) & ~np.isnan(out), out, np.inf)
