"""A bound in nats as sentences say it: itself, and the factors by which it may change a probability."""

from __future__ import annotations

import math

from tacit.document import Nats
from tacit.lift import at_least, at_most

# e to a larger power overflows a float.
_LARGEST_POWER = 700.0


def bounded(nats: float) -> Nats:
    """A bound as a claim states it: rounded up, so that it never claims more than was proved, in any unit."""
    return Nats(nats, 6, rounded="up")


def factor_up(nats: float) -> str:
    """e to the power of ``nats``, rounded up."""
    return at_most(_factor(nats))


def factor_down(nats: float) -> str:
    """e to the power of ``-nats``, rounded down."""
    return at_least(_factor(-nats))


def _factor(nats: float) -> float:
    # A certificate may have been written by somebody else, with any number in it.
    return math.exp(nats) if nats < _LARGEST_POWER else math.inf
