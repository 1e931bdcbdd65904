"""What was found in images."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from tacit.document import Information
from tacit.document.quantities import NATS
from tacit.lenses.images.files import Pixels
from tacit.lift import Estimate, Verdict
from tacit.release.certificate import HeatMap


@dataclass(frozen=True)
class ImageFacts:
    """The images: how many, of what size. ``format`` is "npz", or the kinds of files, such as "jpeg and png"."""

    name: str
    format: str
    images: int
    height: int
    width: int
    channels: int


@dataclass(frozen=True)
class Guess:
    """How often a label was guessed right among ``of`` held-out images, with exact binomial 95% limits."""

    right: float
    low: float
    high: float
    of: int


@dataclass(frozen=True)
class PatchPlace:
    """One patch, by its row and column from the top left (from 1), and what it adds (mean, nats)."""

    row: int
    column: int
    mean: Information


@dataclass(frozen=True)
class PatchFindings:
    """What patches of one size give away. All of it is estimated on images the model had not seen.

    ``information`` is the mean log-lift of the true secret given whole images: mutual information, estimated from
    below. ``flagged`` has, for each epsilon, the share of patches whose conditional density exceeds it in the given
    order.
    """

    size: int
    patches: int
    information: Annotated[Estimate, NATS]
    null_high: Information
    p_value: float
    verdict: Verdict
    guess: Guess
    heat: HeatMap
    leaking_most: tuple[PatchPlace, ...]
    flagged: tuple[tuple[float, float], ...]
    kind: str = "estimate"


@dataclass(frozen=True)
class ShownImage:
    """One image of a contact sheet. ``original`` is None wherever others may see the sheet."""

    secret: str | None
    original: Pixels | None
    heat: tuple[NDArray[np.float64], ...] = ()
    obfuscated: Pixels | None = None
