"""What a learned release estimates: in full for the owner, and so coarsely in public that it tells no secrets."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tacit.errors import SourceError
from tacit.lift import MEASURES, Verdict
from tacit.release.certificate import MeasureChange
from tacit.release.codec import Damaged, decoded, json_in
from tacit.release.published import coarse, coarse_share

ESTIMATES = "estimates.json"


@dataclass(frozen=True)
class Estimates:
    """What was estimated, to the last digit; ``public`` gives what the certificate says of it.

    Attributes
    ----------
    kept_risk, kept_exceeding : float
        The largest estimated risk of a kept value, and the share of kept records whose interval exceeds epsilon.
    records_risky : float
        Share of records judged riskier than epsilon.
    information_before, information_after, risk_before : float
        Nats of mutual information before and after, and the largest estimated risk before.
    """

    estimator: str
    learned_from: int
    verdict: Verdict
    kept_risk: float
    kept_exceeding: float
    records_risky: float
    information_before: float
    information_after: float
    risk_before: float

    def kept_within(self, epsilon: float) -> float:
        """The published bound on the estimated risk of kept records, rounded up but not beyond epsilon."""
        return published_epsilon(self.kept_risk, epsilon)

    @property
    def exceeding(self) -> float:
        """The published share of kept records whose interval exceeds epsilon."""
        return coarse_share(self.kept_exceeding)

    def judged(self, merged: float) -> float:
        """The published share of records judged risky, of which ``merged`` is the share that was merged."""
        return published_risky(self.records_risky, merged)

    def measures(self, *, epsilon: float, attained: float) -> tuple[MeasureChange, ...]:
        """The published measures before and after: estimates, of which nothing is promised."""
        information, risk = MEASURES["mutual_information"], MEASURES["risk"]
        after = max(self.kept_within(epsilon), attained)
        told = (
            (information, coarse(self.information_before), coarse(self.information_after)),
            (risk, coarse(self.risk_before, up=True), after),
        )
        return tuple(MeasureChange(m.name, m.title, a, b, None, m.unit, "estimate") for m, a, b in told)

    @classmethod
    def load(cls, path: Path) -> Estimates:
        """Read what ``protect`` wrote."""
        try:
            return decoded(cls, json_in(path, "file of estimates"))
        except Damaged as error:
            raise SourceError(f"{path} is damaged ({error}): put back the one that protect wrote") from error


def published_epsilon(largest: float, epsilon: float) -> float:
    """The largest estimated risk of a kept value as published: rounded up, but not beyond an epsilon it is within."""
    rounded = coarse(largest, up=True)
    return min(rounded, max(epsilon, largest)) if math.isfinite(rounded) else rounded


def published_risky(risky: float, merged: float) -> float:
    """The share of records judged risky as published: where all that is merged is risky, that share; else rounded."""
    return merged if merged <= risky + 1e-12 else math.floor(risky * 1000) / 1000


def agrees(published: float, estimate: float, rounding: Callable[[float], float], *, within: float) -> bool:
    """Whether a published number is the rounding of an estimate recomputed ``within`` this much."""
    if math.isinf(estimate):
        return published == estimate
    return rounding(estimate - within) - 1e-12 <= published <= rounding(estimate + within) + 1e-12
