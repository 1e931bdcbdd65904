"""How much rounding is forgiven, and where: the one contract that every comparison with a bound keeps to.

A mechanism solves inside its bounds by a margin, and what it gives is measured again, not believed. From strict to
loose: a log-lift computed here is compared with epsilon to `TOLERANCE`; a release, which a solver made or which was
counted again over millions of records, to `SLACK`; a number recomputed with the one that was claimed, to `AGREEMENT`.
"""

from __future__ import annotations

from typing import Final

TOLERANCE: Final = 1e-12
"""Slack of every comparison of a log-lift with epsilon: a lift may pass e^epsilon by this factor, which is rounding."""

MARGIN: Final = 1e-11
"""How far inside its bounds a mechanism is made, in nats, so that what it attains is at most epsilon as a float."""

NOTHING: Final = 1e-10
"""What sums and linear programs leave of a zero, in nats: an attained epsilon below it is 0."""

SLACK: Final = 1e-9
"""What a release may pass its bounds by, in nats: `optimal` and `linear_reduction` give no channel whose ``attained``
is beyond epsilon by more, and whoever checks a claim of "at most epsilon" checks it to this."""

AGREEMENT: Final = 1e-9
"""A recomputed number and the one claimed differ by at most this share; it leaves room for sums in another order."""

SUM_TOLERANCE: Final = 1e-6
"""Probabilities given by hand carry rounding: a sum farther from 1 than this is a mistake."""

LARGEST_EXPONENT: Final = 700.0
"""An epsilon beyond this is no bound: its exponential would overflow."""
