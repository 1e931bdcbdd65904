"""The certificate of images, posts or vectors in codes: a ceiling for every adversary."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

from tacit.document import Information
from tacit.release.certificate.parts import AdversaryScore, Certificate
from tacit.release.kept import CodedUse, ImageLikeness, TopicWorth


@dataclass(frozen=True, kw_only=True)
class CodedCertificate(Certificate):
    """What is claimed about images or posts that were released as codes, and proved on a held-out part.

    A unit is a record, or a person with all records, where ``group`` says whose they are. The code was made from
    ``designed_on`` units and proved on ``proved_on`` others. Units that are copies of others are in neither part, and
    the claim is proved with them as well.

    Guarantees
    ----------
    If the units are independent draws from a population, then with probability ``confidence``, over the draw of the
    units that prove: no adversary that sees one released unit guesses the secret of a new one right more often than
    ``ceiling``; and no released code changes the probability of a secret by more than e^``epsilon`` either way.
    ``attained_epsilon`` and ``guessed`` are what was proved and counted for this one. Each code has at least ``least``
    different units of the release.
    """

    private_files: ClassVar[tuple[str, ...]] = (*Certificate.private_files, "key.txt", "code.npz")

    medium: Literal["images", "posts", "vectors"]
    secret: str
    column: str | None
    group: str | None
    units: int
    codes: int
    least: int
    smallest: int
    mixed: float
    confidence: float
    ceiling: float
    ceiling_asked: bool
    epsilon_asked: bool
    attained_epsilon: Information
    guessed: float
    prior: float
    designed_on: int
    proved_on: int
    tried: int
    told: float
    order: Literal["shuffled"]
    use: CodedUse | None
    adversaries: tuple[AdversaryScore, ...]
    likeness: ImageLikeness | None = None
    topics: TopicWorth | None = None
    kind: Literal["coded"] = "coded"

    @property
    def copies(self) -> int:
        """How many units are copies of others: they are released, but are in neither part."""
        return self.units - self.designed_on - self.proved_on

    def __post_init__(self) -> None:
        super().__post_init__()
        shares = (self.mixed, self.ceiling, self.guessed, self.prior)
        if not all(0 <= share <= 1 for share in shares) or not 0 < self.confidence < 1 or not math.isfinite(self.told):
            raise ValueError("shares are out of range")
        if not 0 <= self.attained_epsilon <= self.epsilon:
            raise ValueError("attained_epsilon is beyond epsilon")
        if not (self.epsilon_asked or (self.ceiling_asked and self.attained_epsilon == self.epsilon)):
            raise ValueError("nothing was asked, or epsilon is not the one attained")
        if not 2 <= self.codes <= self.units or not 1 <= self.least <= self.smallest or self.tried < 1:
            raise ValueError("codes are missing, or have too few people")
        if self.copies < 0 or min(self.designed_on, self.proved_on) < 1:
            raise ValueError("the two parts are more than all units")
