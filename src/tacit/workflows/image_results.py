"""What was found in images, and what a release of images claims."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tacit.lift.estimate import Estimate
from tacit.lift.shuffles import Verdict
from tacit.workflows.results import Result, SecretValue

Grid = tuple[tuple[float, ...], ...]
Pixels = NDArray[np.uint8]
KIND = "images"


@dataclass(frozen=True)
class ImageFacts:
    """The images: how many, of what size. ``format`` is "png", "jpeg", "png and jpeg" or "npz"."""

    name: str
    format: str
    images: int
    height: int
    width: int
    channels: int


@dataclass(frozen=True)
class Guess:
    """How often a label was guessed right among ``of`` images apart, with exact binomial 95% limits."""

    right: float
    low: float
    high: float
    of: int


@dataclass(frozen=True)
class HeatMap:
    """What each patch adds about the secret, in nats, averaged over images apart; rows from the top.

    ``mean`` is the mean over images of the largest absolute conditional density over secrets. ``by_secret`` is, among
    the images of each secret, the mean conditional density of that secret, with its sign: above zero the patch speaks
    for what is true. Both are averages over ``orders`` random orders of the patches.
    """

    mean: Grid
    by_secret: Mapping[str, Grid]
    orders: int


@dataclass(frozen=True)
class PatchPlace:
    """One patch, by its row and column from the top left (from 1), and what it adds (mean, nats)."""

    row: int
    column: int
    mean: float


@dataclass(frozen=True)
class PatchFindings:
    """What patches of one size give away. All of it is an estimate, of images the model had not seen.

    ``information`` is the mean log-lift of the true secret given whole images: mutual information, estimated from
    below. ``flagged`` has, for each epsilon, the share of patches whose conditional density exceeds it in the given
    order.
    """

    size: int
    patches: int
    information: Estimate
    null_high: float
    p_value: float
    verdict: Verdict
    guess: Guess
    heat: HeatMap
    leaking_most: tuple[PatchPlace, ...]
    flagged: tuple[tuple[float, float], ...]
    kind: str = "estimate"


@dataclass(frozen=True)
class ShownImage:
    """One image of a contact sheet. ``original`` is None wherever others may look."""

    secret: str | None
    original: Pixels | None
    heat: tuple[NDArray[np.float64], ...] = ()
    obfuscated: Pixels | None = None


@dataclass(frozen=True)
class ImageAuditResult(Result):
    """What images give away about a label, and where.

    Guarantees
    ----------
    If the label is independent of the images, and no image is there twice, the verdict is "leak" in at most 5% of
    collections. Of a single image, or a single patch, nothing is certified.
    """

    source: ImageFacts
    secret: str
    secrets: tuple[SecretValue, ...]
    trained_on: int
    held_out: int
    verdict: Verdict
    headline: str
    prior_guess: float
    adversary: Guess
    patches: tuple[PatchFindings, ...]
    notes: tuple[str, ...]
    random_state: int
    tacit_version: str
    sheet: tuple[ShownImage, ...] = field(default=(), repr=False)


@dataclass(frozen=True)
class ImageAdversary:
    """One adversary on images apart: trained on originals and tested on them, then on the release, then retrained."""

    name: str
    before: Guess
    after: Guess
    retrained: Guess
    prior: float


@dataclass(frozen=True)
class PatchDelta:
    """What the repaired bound says of one patch's noise, if the estimate of its densities were right.

    ``largest`` is over patches: the excess probability beyond epsilon. ``total`` is that of all patches together beyond
    ``total_epsilon``. Either is vacuous if publishing the label itself would keep to it. ``floor`` is what no scale of
    noise removes, added up: that a patch was noised tells something by itself. ``rarest`` is the share of the rarest
    label.
    """

    largest: float
    largest_vacuous: bool
    total: float
    total_epsilon: float
    vacuous: bool
    floor: float
    diameter: float
    rarest: float


@dataclass(frozen=True)
class ImageCertificate:
    """What is claimed of a release of images.

    Guarantees
    ----------
    Pixels of unflagged patches are those of the original (PNG and npz), and those of flagged patches carry Gaussian
    noise of the stated scale. What a single image gives away is estimated, and not certified: ``certified_epsilon`` is
    None.
    """

    claim: str
    secret: str
    epsilon: float
    scale: float
    patch: int
    patches: int
    order: str
    flagged_share: float
    flagged_images: float
    delta: PatchDelta
    adversaries: tuple[ImageAdversary, ...]
    verdict_after: Literal["not detectably better than the prior", "still better than the prior"]
    heat: HeatMap
    mean_square: float
    kept_labels: tuple[str, ...]
    names: Literal["numbers in random order", "kept"]
    assumptions: tuple[str, ...]
    input: Mapping[str, Any]
    output: Mapping[str, Any]
    randomness: str
    tacit_version: str
    certified_epsilon: None = None
    format_version: int = 1
    kind: Literal["images"] = "images"


@dataclass(frozen=True)
class ImageProtectResult(Result):
    """A release of images that was written.

    ``sheet`` holds obfuscated images alone, unless ``private``: then the page is the owner's, and shows originals.
    """

    out: str
    source: ImageFacts
    certificate: ImageCertificate
    headline: str
    notes: tuple[str, ...]
    sheet: tuple[ShownImage, ...] = field(default=(), repr=False)
    private: bool = False
