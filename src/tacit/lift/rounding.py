"""The numbers of a claim in words, rounded so that the words never say more than was proved."""

from __future__ import annotations

import math
from collections.abc import Callable


def at_most(value: float) -> str:
    """An upper bound with three digits, rounded up."""
    return _three_digits(value, math.ceil)


def at_least(value: float) -> str:
    """A lower bound with three digits, rounded down."""
    return _three_digits(value, math.floor)


def confident(confidence: float) -> str:
    """A confidence in per cent, rounded down."""
    return f"{math.floor(confidence * 1e3 + 1e-9) / 10:.1f}%"


def _three_digits(value: float, rounded: Callable[[float], int]) -> str:
    if value <= 0 or not math.isfinite(value):
        return f"{value:g}"
    unit = 10.0 ** (math.floor(math.log10(value)) - 2)
    # A value that is a round number up to rounding stays one.
    return f"{rounded(round(value / unit, 6)) * unit:.3g}"
