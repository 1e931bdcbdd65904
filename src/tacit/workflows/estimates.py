"""What a learned release estimates: in full for the owner, and so coarsely in public that it tells no secrets.

A number learned from a few records to sixteen digits is a fingerprint of their secrets: whoever has the release tries
secrets out until the same digits come out. Published estimates have two significant digits.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tacit.errors import SourceError
from tacit.lift.registry import MEASURES
from tacit.lift.shuffles import Verdict
from tacit.workflows.results import MeasureChange, plain

FILE = "estimates.json"
# Digits of a published estimate of nats, and the decimals beyond which it has none.
DIGITS = 2
DECIMALS = 3
VERDICTS: tuple[Verdict, ...] = ("leak", "no leak detected", "cannot tell")


def coarse(nats: float, *, up: bool = False) -> float:
    """An estimate as it is published: two significant digits and at most three decimals, nothing below zero."""
    if math.isinf(nats) or nats <= 0:
        return max(nats, 0.0)
    decimals = min(DECIMALS, DIGITS - 1 - math.floor(math.log10(nats)))
    if not up:
        return float(round(nats, decimals))
    return float(round(math.ceil(nats * 10.0**decimals - 1e-9) / 10.0**decimals, max(decimals, 0)))


def coarse_share(share: float) -> float:
    """A share that was estimated, rounded up to whole percents."""
    return min(math.ceil(share * 100 - 1e-9) / 100, 1.0)


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

    def to_json(self) -> str:
        """For the owner: every digit."""
        return json.dumps(plain(asdict(self)), indent=2, allow_nan=False) + "\n"

    @classmethod
    def load(cls, path: Path) -> Estimates:
        """Read what ``protect`` wrote."""
        try:
            data: Mapping[str, Any] = json.loads(path.read_text("utf-8"))
            words = {name: str(data[name]) for name in ("estimator", "verdict")}
            numbers = {name: float(data[name]) for name in cls.__annotations__ if name not in (*words, "learned_from")}
            return cls(**words, **numbers, learned_from=int(data["learned_from"]))  # type: ignore[arg-type]
        except OSError as error:
            raise SourceError(f"cannot read {path}: {error.strerror}") from error
        except (ValueError, KeyError, TypeError) as error:
            raise SourceError(
                f"{path} is damaged ({type(error).__name__}: {error}): put back the one that protect wrote"
            ) from error


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
