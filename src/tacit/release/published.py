"""Learned numbers in the form that may be published: so coarse that their digits reveal no secrets.

A number learned from a few records, to sixteen digits, is a fingerprint of their secrets: anyone who has the release
can try secrets until the same digits come out. Published estimates have two significant digits.
"""

from __future__ import annotations

import math

# Significant digits of a published estimate in nats, and the most decimals it may have.
DIGITS, DECIMALS = 2, 3


def coarse(nats: float, *, up: bool = False) -> float:
    """An estimate as it is published: two significant digits and at most three decimals, nothing below zero."""
    if math.isinf(nats) or nats <= 0:
        return max(nats, 0.0)
    decimals = min(DECIMALS, DIGITS - 1 - math.floor(math.log10(nats)))
    if not up:
        return float(round(nats, decimals))
    return float(round(math.ceil(nats * 10.0**decimals - 1e-9) / 10.0**decimals, max(decimals, 0)))


def coarse_floor(floor: float) -> float:
    """A floor as it is published: rounded down, and zero only if it is zero."""
    if floor <= 0:
        return 0.0
    lead = math.floor(math.log10(floor))
    unit = 10.0 ** (lead - 1)
    # Subtract a unit where the nearest float came out above the floor.
    near = round(math.floor(floor / unit) * unit, max(0, 1 - lead))
    return near if near <= floor else round(near - unit, max(0, 1 - lead))


def coarse_limits(low: float, high: float) -> tuple[float, float]:
    """The limits of a share, rounded outwards to three decimals."""
    unit = 10.0**-DECIMALS
    return round(math.floor(low / unit) * unit, DECIMALS), round(min(math.ceil(high / unit) * unit, 1.0), DECIMALS)
