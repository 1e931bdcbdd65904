"""How much rounding is forgiven, and where: the one contract that every comparison with a bound keeps to.

A mechanism solves inside its bounds by a margin, and its result is measured again, not believed: a log-lift is
compared with epsilon to `TOLERANCE`, and one that exceeds it by no more is reported as epsilon. So what is attained is
at most what was asked, as a float. A recomputed number agrees with the one claimed to `AGREEMENT`.
"""

from __future__ import annotations

import math
from typing import Final

TOLERANCE: Final = 1e-12
"""Slack of every comparison of a log-lift with epsilon: a lift may pass e^epsilon by this factor, which is rounding."""

MARGIN: Final = 1e-11
"""How far inside its bounds a mechanism is made, in nats, so that what it attains is at most epsilon as a float."""

NOTHING: Final = 1e-9
"""What sums and linear programs leave of a zero, in nats: an attained epsilon up to this is 0."""

SLACK: Final = 1e-9
"""How far summing in another order may move what was attained: measuring it again elsewhere must allow for this."""

AGREEMENT: Final = 1e-9
"""A recomputed number and the one claimed differ by at most this share; it leaves room for sums in another order."""

SUM_TOLERANCE: Final = 1e-6
"""Probabilities given by hand carry rounding: a sum farther from 1 than this is a mistake."""

LARGEST_EXPONENT: Final = 700.0
"""An epsilon beyond this is no bound: its exponential would overflow."""


def settled(value: float, bound: float) -> float:
    """A log-lift as reported next to its bound: 0, or the bound, if only rounding puts it above that."""
    if value <= NOTHING:
        return 0.0
    return bound if bound < value <= bound + TOLERANCE * max(1.0, bound) else value


def agree(a: float, b: float, *, within: float = AGREEMENT) -> bool:
    """Whether two numbers are the same except for rounding; infinity agrees only with itself."""
    if not (math.isfinite(a) and math.isfinite(b)):
        return a == b
    return abs(a - b) <= within * max(1.0, abs(a), abs(b))
