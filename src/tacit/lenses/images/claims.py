"""The numbers of a release of images: the bound of its patches, and its heat map as others may see it."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from tacit.lift import GridGaussian, Mask, compose_deltas, obfuscation_delta, obfuscation_floor, vacuous
from tacit.release.certificate import Grid, HeatMap, PatchDelta
from tacit.release.published import coarse, coarse_floor


def patch_delta(flags: Mask, codes: NDArray[np.int64], *, epsilon: float, scale: float, columns: int) -> PatchDelta:
    """The repaired bound of every patch, both sides, the worst secret; rounded up as published estimates are.

    ``columns`` are the values of a patch. The mass that the noise of a whole patch lacks is charged to every patch.
    """
    diameter, truncated = math.sqrt(columns), columns * GridGaussian(scale).truncated
    secrets = int(codes.max()) + 1
    given = np.array([flags[codes == s].mean(axis=0) for s in range(secrets)])
    whole = np.broadcast_to(flags.mean(axis=0), given.shape)
    with np.errstate(divide="ignore", invalid="ignore"):
        lift = np.where(given > 0, np.log(given) - np.log(whole), -np.inf)
    forth = obfuscation_delta(given, lift, epsilon, diameter, scale)
    # Where a secret never has the flag, seeing it rules the secret out: the whole share of flags is excess.
    seen, other = given > 0, whole.copy()
    other[seen] = obfuscation_delta(whole[seen], -lift[seen], epsilon, diameter, scale)
    # That it was noised may make a secret likelier, or rule it out: both are what no noise hides.
    ruled_out = whole.copy()
    ruled_out[seen] = obfuscation_floor(whole[seen], -lift[seen], epsilon)
    floors = np.maximum(obfuscation_floor(given, lift, epsilon), ruled_out)
    worst = np.minimum(1.0, np.maximum(forth, other).max(axis=0) + (1 + np.exp(epsilon)) * truncated)
    total_epsilon, total = compose_deltas(np.full(len(worst), epsilon), worst)
    rarest = float(np.bincount(codes).min() / len(codes))
    largest, total = coarse(float(worst.max()), up=True), coarse(float(total), up=True)
    return PatchDelta(
        largest=largest,
        largest_vacuous=bool(vacuous(largest, epsilon=epsilon, prior=rarest)),
        total=total,
        total_epsilon=float(total_epsilon),
        vacuous=bool(vacuous(total, epsilon=total_epsilon, prior=rarest)),
        floor=coarse_floor(float(floors.max(axis=0).sum())),
        diameter=diameter,
        rarest=rarest,
    )


def judged(delta: PatchDelta, epsilon: float) -> bool:
    """Whether what is called vacuous is, and nothing else."""
    largest = bool(vacuous(delta.largest, epsilon=epsilon, prior=delta.rarest))
    total = bool(vacuous(delta.total, epsilon=delta.total_epsilon, prior=delta.rarest))
    return (largest, total) == (delta.largest_vacuous, delta.vacuous)


def published(heat: HeatMap) -> HeatMap:
    """A heat map as others may see it: two digits."""
    return HeatMap(_coarse(heat.mean), {label: _coarse(grid) for label, grid in heat.by_secret.items()}, heat.orders)


def _coarse(grid: Grid) -> Grid:
    return tuple(tuple(float(np.sign(v)) * coarse(abs(v)) for v in row) for row in grid)
