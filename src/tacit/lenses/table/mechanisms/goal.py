"""What is asked of a release."""

from __future__ import annotations

from dataclasses import dataclass

from tacit.errors import ArgumentError, Setting, sentence
from tacit.lift import Effort
from tacit.release.bounds import FurtherSecret, LiftBounds, asked_bounds, further_secrets
from tacit.release.treatment import Replacement
from tacit.requests import Bound, Making
from tacit.requests.names import MECHANISMS


@dataclass(frozen=True)
class ReleaseGoal:
    """What is asked of a release: bounds, how to reach them, and whether they are to hold beyond the table.

    ``least`` is how many people should share every released value.
    """

    bounds: LiftBounds
    also: tuple[FurtherSecret, ...] = ()
    mechanism: str = "watchdog"
    effort: Effort = "normal"
    replacement: Replacement | None = None
    confidence: float | None = None
    least: int = 10

    def __post_init__(self) -> None:
        if self.confidence is not None and not 0.5 <= self.confidence < 1:
            raise ArgumentError(f"confidence is a probability, 0.5 or more and below 1; got {self.confidence}")
        mixes, mechanism = self.mechanism != "watchdog", Setting("mechanism", self.mechanism)
        if mixes and self.replacement is not None:
            words = (
                "{replacement} says what replaces one merged set; the mechanism '{mechanism}' has its own: leave out "
                "one of the two"
            )
            raise ArgumentError(sentence(words, replacement=Setting("replacement"), mechanism=self.mechanism))
        for name, wanted in (("delta", self.bounds.delta > 0), ("confidence", self.confidence is not None)):
            if wanted and mixes and self.mechanism != "cells":
                words = "{name} takes one merged set: leave it out, or {mechanism}"
                raise ArgumentError(sentence(words, name=Setting(name), mechanism=mechanism))
            if wanted and self.also and self.mechanism != "cells":
                words = "{name} takes one secret: leave it out, or {also}"
                raise ArgumentError(sentence(words, name=Setting(name), also=Setting("also")))
        if self.bounds.thresholds is not None and self.mechanism != "cells":
            words = "{thresholds} is for the mechanism 'cells': leave it out, or {mechanism}"
            raise ArgumentError(sentence(words, thresholds=Setting("thresholds"), mechanism=mechanism))
        if self.confidence is not None and self.bounds.delta > 0:
            raise ArgumentError(
                "a confidence proves a bound without a delta: leave out one of the two (tacit.certify_delta certifies "
                "the mass of a fixed mechanism)"
            )

    @classmethod
    def asked(cls, bound: Bound, making: Making) -> ReleaseGoal:
        """What was asked of the release, with defaults for everything that was not."""
        bounds = asked_bounds(bound)
        mechanism = making.mechanism or "auto"
        if mechanism == "auto":
            mechanism = next(iter(MECHANISMS)) if making.replacement is None else "watchdog"
        return cls(
            bounds,
            further_secrets(bound.also),
            mechanism=mechanism,
            effort=making.effort or "normal",
            replacement=making.replacement,
            confidence=bound.confidence,
            least=bound.least,
        )

    @property
    def coded(self) -> bool:
        """Whether the table is written in cells first."""
        return MECHANISMS[self.mechanism].coded
