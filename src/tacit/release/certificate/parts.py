"""What every certificate has: what went in, what came out, how adversaries did."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

from tacit.document import Information
from tacit.loading import ImageReading

CERTIFICATE = "certificate.json"
FORMAT = 3


@dataclass(frozen=True)
class CertifiedInput:
    """What a release was made from. The fingerprint is salted; None for a frame. Only images have a ``reading``."""

    name: str
    format: str
    records: int
    salted_sha256: str | None
    reading: ImageReading | None = None


@dataclass(frozen=True)
class CertifiedOutput:
    """The released data: its file, or folder of images, and the fingerprints of it and of what is published with it.

    Only a table in which something was drawn has a channel, and a ``key_sha256``: that of salt and key, which commits
    to the draws.
    """

    file: str
    records: int
    sha256: str
    report_sha256: str | None = None
    levels_sha256: str | None = None
    channel_sha256: str | None = None
    key_sha256: str | None = None

    def __post_init__(self) -> None:
        papers = (CERTIFICATE, "report.html", "channel.json", "levels.json", "private")
        if Path(self.file).name != self.file or self.file in (".", "..", *papers):
            raise ValueError("the data is not a file of the release")


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """What every certificate says: a claim, what it rests on, what it is about, and who wrote it.

    ``private_files`` are the names that ``protect`` may write to the owner's folder along with such a certificate.
    """

    private_files: ClassVar[tuple[str, ...]] = ("README.txt", "salt.txt", ".gitignore")

    claim: str
    assumptions: tuple[str, ...]
    epsilon: Information
    input: CertifiedInput
    output: CertifiedOutput
    randomness: str
    tacit_version: str
    format_version: Literal[3] = 3

    def __post_init__(self) -> None:
        if not 0 <= self.epsilon < math.inf:
            raise ValueError("epsilon is out of range")

    @property
    def of_images(self) -> bool:
        """Whether images are released: a folder of files, or an npz."""
        return self.output.file in ("images", "images.npz")


@dataclass(frozen=True)
class AdversaryScore:
    """How well one adversary guesses the secret of records it was not trained on.

    An interval holds exact binomial 95% limits. ``retrained`` was trained on the release together with the secrets, the
    strongest case. ``worst`` is the larger of the two in the part of the release that it reads best.
    """

    name: str
    before: float
    before_interval: tuple[float, float]
    after: float
    after_interval: tuple[float, float]
    retrained: float
    retrained_interval: tuple[float, float]
    worst: float | None = None

    @property
    def guesses(self) -> tuple[tuple[float, tuple[float, float]], ...]:
        """What it got right, with limits: before, after and retrained."""
        return (
            (self.before, self.before_interval),
            (self.after, self.after_interval),
            (self.retrained, self.retrained_interval),
        )


def best_guesses(scores: Sequence[AdversaryScore]) -> tuple[float, float]:
    """How often the best adversary is right before, and after, retrained or not."""
    return max(each.before for each in scores), max(max(each.after, each.retrained) for each in scores)
