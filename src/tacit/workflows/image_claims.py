"""What a release of images claims, in words that follow from its numbers, and where its numbers come from."""

from __future__ import annotations

import hashlib
import math
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tacit.lift.divergence import compose_deltas
from tacit.lift.obfuscation import obfuscation_delta, obfuscation_floor, vacuous
from tacit.workflows.certifying import file_sha256
from tacit.workflows.claims import NOTHING_POINTWISE
from tacit.workflows.estimates import coarse
from tacit.workflows.image_results import Grid, HeatMap, PatchDelta

Floats = NDArray[np.float64]
LABELS = "labels.csv"


def claim_of_images(*, secret: str, epsilon: float, scale: float, patch: int, flagged: float, lossy: bool) -> str:
    """The claim: what was done is certain, what it hides is estimated."""
    kept = "all others are as they were" + (", but for what JPEG changes" if lossy else "")
    return (
        f"Patches of {patch}x{patch} pixels that were estimated to add more than {epsilon:g} nats about '{secret}', "
        f"given what was released of the image before them, carry Gaussian noise with a standard deviation of "
        f"{scale:g} of the full range of a pixel ({flagged:.1%} of all patches); {kept}. {NOTHING_POINTWISE}"
    )


def assumptions_of_images(*, secret: str, delta: PatchDelta, patches: int, epsilon: float) -> tuple[str, ...]:
    """What must hold for the numbers to mean what they seem to."""
    return (
        f"Nothing is certified of a single image: which patches say something about '{secret}' was learned, and an "
        "adversary that sees what the model did not is not bound by it.",
        f"If the learned densities were right, the repaired bound would give a delta of at most {delta.largest:.3g} a "
        f"patch beyond {epsilon:g} nats (diameter {delta.diameter:g}){_worth(delta.largest_vacuous)}; and for all "
        f"{patches:,} patches together {delta.total:.3g} beyond {delta.total_epsilon:g} nats{_worth(delta.vacuous)}.",
        _floor(delta),
        "The shares of noised patches are counted over all images, where the bound asks for them given what was "
        "released before.",
        "Each image was judged by a model that had not seen it. Labels, names and order of the files are no part of "
        "the estimate.",
    )


def _floor(delta: PatchDelta) -> str:
    if delta.floor == 0:
        return "That a patch was noised tells of no label more than epsilon by itself, counted over all images."
    return (
        f"No noise, however strong, brings the deltas of all patches below {delta.floor:.3g} in sum: that a patch "
        "was noised tells something."
    )


def _worth(is_vacuous: bool) -> str:
    return ", which is vacuous: publishing the label itself would raise no belief beyond it" if is_vacuous else ""


def patch_delta(
    flags: NDArray[np.bool_], codes: NDArray[np.int64], *, epsilon: float, scale: float, diameter: float,
    truncated: float,
) -> PatchDelta:  # fmt: skip
    """The repaired bound of every patch, both sides, the worst secret; rounded up as published estimates are.

    ``truncated`` is the mass that the noise of a whole patch lacks, charged to every patch.
    """
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
        floor=_rounded_down(float(floors.max(axis=0).sum())),
        diameter=diameter,
        rarest=rarest,
    )


def _rounded_down(floor: float) -> float:
    """A floor as it is published: never more than it is, and nought only where it is."""
    if floor <= 0:
        return 0.0
    lead = math.floor(math.log10(floor))
    unit = 10.0 ** (lead - 1)
    # The unit is taken off where the last digit, as a float, came out above.
    near = round(math.floor(floor / unit) * unit, max(0, 1 - lead))
    return near if near <= floor else round(near - unit, max(0, 1 - lead))


def judged(delta: PatchDelta, epsilon: float) -> bool:
    """Whether what is called vacuous is, and nothing else."""
    found = (
        bool(vacuous(delta.largest, epsilon=epsilon, prior=delta.rarest)),
        bool(vacuous(delta.total, epsilon=delta.total_epsilon, prior=delta.rarest)),
    )
    return found == (delta.largest_vacuous, delta.vacuous)


def published(heat: HeatMap) -> HeatMap:
    """A heat map as others may see it: two digits."""
    return HeatMap(_coarse(heat.mean), {label: _coarse(grid) for label, grid in heat.by_secret.items()}, heat.orders)


def _coarse(grid: Grid) -> Grid:
    return tuple(tuple(float(np.sign(v)) * coarse(abs(v)) for v in row) for row in grid)


def fingerprint(directory: Path, data_file: str) -> str:
    """Fingerprint of all released images and labels: of each file its name and its bytes."""
    place = directory / data_file
    files = [place] if place.is_file() else sorted(place.iterdir())
    # A folder within was never written: it counts by its name, and changes the fingerprint.
    if (directory / LABELS).exists():
        files.append(directory / LABELS)
    digest = hashlib.sha256()
    for file in files:
        digest.update(f"{file.name}\0{file_sha256(file) if file.is_file() else 'folder'}\n".encode())
    return digest.hexdigest()
