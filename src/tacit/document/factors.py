"""How many times as likely something becomes: a log-lift in words that need no logarithm."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from tacit.document.quantities import UNKNOWN, Interval, number
from tacit.errors import Wording

__all__ = ["LiftFactor", "factor_limits"]

_LARGEST_POWER = 700.0


@dataclass(frozen=True)
class LiftFactor:
    """e to the power of some nats, the same for readers of nats and of bits: 2 is twice as likely, 0.5 half."""

    nats: float | None

    def told(self, wording: Wording) -> str:
        """Only the factor; the words around it say what becomes likelier."""
        if self.nats is None or math.isnan(self.nats):
            return UNKNOWN
        return number(math.exp(self.nats) if self.nats < _LARGEST_POWER else math.inf)


def factor_limits(low: float, high: float, kind: Literal["95% interval", ""] = "") -> Interval:
    """An interval of factors, from that of a log-lift."""
    return Interval(LiftFactor(low), LiftFactor(high), kind=kind)
