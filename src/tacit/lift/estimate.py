"""A number that says what kind of number it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["exact", "estimate", "lower bound", "upper bound"]


@dataclass(frozen=True)
class Estimate:
    """A number, how sure we are of it, and which way it may be wrong.

    ``kind`` is ``exact`` (computed, no doubt), ``estimate`` (may be wrong either way), ``lower bound`` or
    ``upper bound``. Only an exact number or an upper bound of leakage may certify anything.
    """

    value: float
    low: float
    high: float
    kind: Kind

    @property
    def can_certify(self) -> bool:
        """Whether a claim "leakage is at most this" may rest on the number."""
        return self.kind in ("exact", "upper bound")
