"""How much of its bounds a cell uses: the one place where the search compares log-lift with epsilon."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.codes.descent import Ints
from tacit.codes.search.records import SecretBound
from tacit.lift import Matrix, Vector, threshold_places, threshold_risk
from tacit.lift.tolerances import MARGIN, TOLERANCE

_SMALLEST = 1e-300
# The number of steps at which thresholds of a number are tried, on each side.
_STEPS = 16


@dataclass(frozen=True, eq=False)
class CellLimits:
    """The bounds of one claim, and the shares of its secrets in each known part.

    Attributes
    ----------
    label : array of int
        For each value of the secret its place among the bounded ones; one more for all the rest.
    inverse : array (bounded values x parts)
        One over the share of a value; 0 where a part has none of it.
    never : array (bounded values x parts)
        Infinite where a part has none of a value, so that it is not the rarest; 0 elsewhere.
    events : array (bounded events x labels), optional
        Where thresholds are bounded: which labels, stretches of values, each event holds. Then events take the place of
        values everywhere else.
    low, high : float, or array of one for each part
        The bounds, less what rounding needs; all or none of a side are infinite.
    doubt : float
        That of the claim.
    searches : int
        Searches that are made at once, each with parts of its own, as many as any other, one search after the other.
    """

    label: Ints
    inverse: Matrix
    never: Matrix
    low: float | Vector
    high: float | Vector
    doubt: float = 0.0
    events: Matrix | None = None
    searches: int = 1

    @classmethod
    def at_once(cls, each: Sequence[CellLimits]) -> CellLimits:
        """The limits of one claim in several searches, which differ in nothing but ``low`` and ``high``."""
        parts, times = each[0].inverse.shape[1], len(each)
        low, high = (np.repeat([float(getattr(one, side)) for one in each], parts) for side in ("low", "high"))
        inverse, never = (np.tile(values, (1, times)) for values in (each[0].inverse, each[0].never))
        return replace(each[0], inverse=inverse, never=never, low=low, high=high, searches=times)

    @classmethod
    def of(cls, bound: SecretBound, totals: Matrix) -> CellLimits:
        """Limits of a claim from what each value of the secret weighs in each known part (values x parts)."""
        if bound.floor is not None:
            return cls._of_thresholds(bound, totals, bound.floor)
        binding = bound.binding
        label = np.where(binding, np.cumsum(binding) - 1, binding.sum())
        counts, weight = totals[binding], totals.sum(axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            inverse = np.where(counts > 0, weight / counts, 0.0)
        never = np.where(counts > 0, 0.0, np.inf)
        low, high = (max(side - MARGIN, _SMALLEST) for side in (bound.low, bound.high))
        return cls(label, inverse, never, low, high, bound.doubt)

    @classmethod
    def _of_thresholds(cls, bound: SecretBound, totals: Matrix, floor: float) -> CellLimits:
        """Limits of a few thresholds; the others are left to `used_at_thresholds`."""
        places = threshold_places(totals.sum(axis=1), floor=floor, steps=_STEPS)
        label = np.searchsorted(places, np.arange(len(totals)))
        stretches = np.zeros((len(places) + 1, totals.shape[1]))
        np.add.at(stretches, label, totals)
        below = np.tri(len(places), len(places) + 1)
        events = np.concatenate([below, 1 - below])
        with np.errstate(divide="ignore", invalid="ignore"):
            share = events @ stretches / stretches.sum(axis=0)
            binds = share >= floor * (1 - TOLERANCE)
            inverse = np.where(binds, 1 / share, 0.0)
        some = binds.any(axis=1)
        inverse, never, events = inverse[some], np.where(binds, 0.0, np.inf)[some], events[some]
        low, high = (max(side - MARGIN, _SMALLEST) for side in (bound.low, bound.high))
        return cls(label, inverse, never, low, high, bound.doubt, events)

    @property
    def n_labels(self) -> int:
        """How many labels are counted."""
        return len(self.inverse) if self.events is None else self.events.shape[1]

    @cached_property
    def _some_never(self) -> bool:
        return bool(self.never.any())

    @property
    def n_bounded(self) -> int:
        """How many values, or events, are bounded."""
        return len(self.inverse)

    def bounded(self, counts: Matrix) -> Matrix:
        """The weight of the bounded values or events, from the weight of labels (along the last axis)."""
        return counts if self.events is None else self.events @ counts

    def telling(self, counts: Matrix, weight: Vector, part: Ints) -> Vector:
        """The row of ``counts`` by which to order categories: the commonest value, or a threshold half-way.

        ``weight`` and ``part`` are those of each pair; every search has a row of its own.
        """
        if self.searches == 1:
            return np.asarray(counts[self._foremost(counts.sum(axis=1), weight.sum())])
        search = part // (self.inverse.shape[1] // self.searches)
        every = np.stack([np.bincount(search, row, self.searches).astype(np.float64) for row in counts])
        row = self._foremost(every, np.bincount(search, weight, self.searches))
        return np.asarray(counts[row[search], np.arange(len(search))])

    def _foremost(self, weight: NDArray[np.float64], total: Any) -> Any:
        return (weight if self.events is None else -np.abs(weight - total / 2)).argmax(axis=0)

    def wider(self, epsilon: float) -> CellLimits:
        """The same shares with another bound, on the sides that have one."""
        low, high = (np.maximum(epsilon - MARGIN, side) for side in (self.low, self.high))
        return replace(self, low=low, high=high)

    def beyond(self, counts: Matrix, total: Vector, part: Ints) -> Vector:
        """The weight of each cell's pairs that break the bounds; the arguments are those of :meth:`used`."""
        with np.errstate(divide="ignore", invalid="ignore"):
            log_lift = np.log(counts * self.inverse.take(part, axis=1) / total)
        low, high = (_of(side, part) for side in (self.low, self.high))
        outside = (counts > 0) & ((log_lift > high) | (log_lift < -low))
        return np.asarray(np.where(outside, counts, 0.0).sum(axis=0))

    def used(self, counts: Matrix, total: Vector, part: Ints, *, doubted: bool = False) -> Vector:
        """The share of its bounds that each cell uses: at most 1 within them, infinite where a cell weighs nothing.

        ``counts`` (bounded values x cells) and ``total`` are weights, ``part`` the known part of each cell. If
        ``doubted``, a cell uses the most that it might use by chance.

        Guarantees
        ----------
        Where the result is at most 1, every log-lift as a float is strictly inside the bounds of the claim.
        """
        out = np.zeros(len(total))
        if not self.n_bounded:
            return np.where(total > 0, out, np.inf)
        inverse = self.inverse if self.inverse.shape[1] == 1 else self.inverse.take(part, axis=1)
        most, fewest = self._doubted(counts, total) if doubted else (counts, counts)
        lift = fewest * inverse
        highest = (most * inverse if doubted else lift).max(axis=0)
        lowest = (lift + self.never.take(part, axis=1) if self._some_never else lift).min(axis=0)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            if np.isfinite(self.high).all():
                out = np.maximum(out, np.log(highest / total) / _of(self.high, part))
            if np.isfinite(self.low).all():
                out = np.maximum(out, -np.log(lowest / total) / _of(self.low, part))
        return np.where((total > 0) & ~np.isnan(out), out, np.inf)

    def _doubted(self, counts: Matrix, total: Vector) -> tuple[Matrix, Matrix]:
        """The most and the fewest that each count may stand for, by Wilson's limits."""
        with np.errstate(divide="ignore", invalid="ignore"):
            spread = np.sqrt(self.doubt * (counts * (total - counts) / total + self.doubt / 4))
            middle, scale = counts + self.doubt / 2, total / (total + self.doubt)
        return (middle + spread) * scale, np.maximum(middle - spread, 0.0) * scale


def _of(side: float | Vector, part: Ints) -> float | Vector:
    """The bounds of some parts."""
    return side[part] if isinstance(side, np.ndarray) else side


def used_at_thresholds(
    bound: SecretBound, secret: NDArray[np.integer], cell: Ints, weight: Vector, part: Ints
) -> Vector:
    """The share of its bounds that each cell uses, at the worst of all thresholds of a number, exactly as counted.

    ``secret``, ``cell`` and ``weight`` are those of each record, ``part`` the known part of each cell. Infinite where a
    cell weighs nothing.

    Guarantees
    ----------
    Those of `CellLimits.used`, for every event that covers at least the claim's floor inside its part.
    """
    out = np.full(len(part), np.inf)
    for each in np.unique(part[cell]) if len(cell) else ():
        here = np.flatnonzero((part[cell] == each) & (weight > 0))
        cells, place = np.unique(cell[here], return_inverse=True)
        if len(here) and bound.floor is not None:
            sides = threshold_risk(secret[here], place, floor=bound.floor, weight=weight[here])
            out[cells] = 0.0
            for risk, side in zip(sides, (bound.low, bound.high), strict=True):
                if np.isfinite(side):
                    out[cells] = np.maximum(out[cells], risk / max(side - MARGIN, _SMALLEST))
    return out
