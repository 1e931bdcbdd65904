"""What every certificate has: what went in, what came out, how adversaries did."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

from tacit.document import Information
from tacit.loading import ImageReading
from tacit.tables.parted import names_of_parts

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
class CertifiedPart:
    """One of the Parquet files that are a table together: its name, its fingerprint and how many rows it has."""

    name: str
    sha256: str
    records: int

    def __post_init__(self) -> None:
        if self.records < 1:
            raise ValueError("a part has no rows")


def fingerprint_of_parts(parts: Sequence[CertifiedPart]) -> str:
    """One fingerprint of all parts: the SHA-256 of what ``sha256sum *.parquet`` prints in their folder."""
    return hashlib.sha256("".join(f"{part.sha256}  {part.name}\n" for part in parts).encode()).hexdigest()


@dataclass(frozen=True)
class CertifiedOutput:
    """The released data: its file, or its folder, and the fingerprints of it and of what is published with it.

    Only a table in which something was drawn has a channel, and a ``key_sha256``: that of salt and key, which commits
    to the draws. Only a table that workers wrote has ``parts``, in the order of their rows; ``file`` is then their
    folder, and ``sha256`` their :func:`fingerprint_of_parts`.
    """

    file: str
    records: int
    sha256: str
    parts: tuple[CertifiedPart, ...] = ()
    report_sha256: str | None = None
    levels_sha256: str | None = None
    channel_sha256: str | None = None
    key_sha256: str | None = None

    def __post_init__(self) -> None:
        papers = (CERTIFICATE, "report.html", "channel.json", "levels.json", "private")
        if Path(self.file).name != self.file or self.file in (".", "..", *papers):
            raise ValueError("the data is not a file of the release")
        names = [part.name for part in self.parts]
        # Names that somebody chose could say something; they would also be paths that somebody chose.
        if names != names_of_parts(len(names)):
            raise ValueError("the parts have other names than Tacit gives them")
        if names and sum(part.records for part in self.parts) != self.records:
            raise ValueError("the parts have more or fewer rows than the release")
        if names and fingerprint_of_parts(self.parts) != self.sha256:
            raise ValueError("the fingerprint is not that of the parts")


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """What every certificate says: a claim, what it rests on, what it is about, and who wrote it.

    ``private_files`` are the names that ``protect`` may write to the owner's folder along with such a certificate.
    """

    private_files: ClassVar[tuple[str, ...]] = ("README.txt", "salt.txt", ".gitignore")
    # Whether its data may be a folder of parts.
    may_have_parts: ClassVar[bool] = False

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
        if self.output.parts and not self.may_have_parts:
            raise ValueError("only a table has parts")

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
