"""The numbers of a release of images: the bound of its patches, and its heat map as others may see it."""

from __future__ import annotations

import math

import numpy as np

from tacit.learn import flagging_delta
from tacit.learn.arrays import Codes
from tacit.lift import GridGaussian, Mask, compose_deltas, vacuous
from tacit.release.certificate import Grid, HeatMap, PatchDelta
from tacit.release.published import coarse, coarse_floor


def patch_delta(flags: Mask, codes: Codes, *, epsilon: float, scale: float, columns: int) -> PatchDelta:
    """The repaired bound of every patch, on both sides and for the worst secret; rounded up like published estimates.

    ``columns`` is the number of values in a patch. The mass cut off the noise of a whole patch is charged to every
    patch.
    """
    diameter, truncated = math.sqrt(columns), columns * GridGaussian(scale).truncated
    delta, floors = flagging_delta(flags, codes, epsilon=epsilon, diameter=diameter, scale=scale)
    worst = np.minimum(1.0, delta + (1 + np.exp(epsilon)) * truncated)
    total_epsilon, total = compose_deltas(np.full(len(worst), epsilon), worst)
    rarest = float(np.bincount(codes).min() / len(codes))
    largest, total = coarse(float(worst.max()), up=True), coarse(float(total), up=True)
    return PatchDelta(
        largest=largest,
        largest_vacuous=bool(vacuous(largest, epsilon=epsilon, prior=rarest)),
        total=total,
        total_epsilon=float(total_epsilon),
        vacuous=bool(vacuous(total, epsilon=total_epsilon, prior=rarest)),
        floor=coarse_floor(float(floors.sum())),
        diameter=diameter,
        rarest=rarest,
    )


def judged(delta: PatchDelta, epsilon: float) -> bool:
    """Whether exactly those bounds are called vacuous that are."""
    largest = bool(vacuous(delta.largest, epsilon=epsilon, prior=delta.rarest))
    total = bool(vacuous(delta.total, epsilon=delta.total_epsilon, prior=delta.rarest))
    return (largest, total) == (delta.largest_vacuous, delta.vacuous)


def published(heat: HeatMap) -> HeatMap:
    """A heat map as others may see it: two digits."""
    return HeatMap(_coarse(heat.mean), {label: _coarse(grid) for label, grid in heat.by_secret.items()}, heat.orders)


def _coarse(grid: Grid) -> Grid:
    return tuple(tuple(float(np.sign(v)) * coarse(abs(v)) for v in row) for row in grid)
