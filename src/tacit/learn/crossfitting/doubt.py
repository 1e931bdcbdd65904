"""Intervals: how much the spread over models must be stretched to cover what is true.

Models of overlapping records agree more than they are right, and what they all get wrong does not show in their spread.
So the spread is tried out in a world whose log-lift is known, the one just learned: secrets are drawn anew from the
learned posteriors and everything is learned again from them.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from tacit.learn.arrays import Codes, Floats

# The learned world is smoother than the true one. Aiming at 95% there covered 91-93% here (five populations, 1,000 and
# 4,000 records), so more is aimed at.
AIM = 0.98
USUAL_CONFIDENCE = 0.95
# Even where all models agree to the last digit they may be wrong together.
LEAST_SPREAD = 1e-3


def redrawn(lift: Floats, prior: Floats, random_state: np.random.Generator) -> Codes:
    """A secret for every record, drawn from the posterior p(s) e^{i(s,x)}."""
    chances = (prior * np.exp(lift)).cumsum(axis=1)
    threshold = random_state.random((len(lift), 1)) * chances[:, -1:]
    return np.asarray((chances < threshold).sum(axis=1).clip(max=len(prior) - 1))


def stretch(found: Floats, known: Floats, spread: Floats) -> float:
    """The factor with which 98% of the pairs of record and secret have the known log-lift within 1.96 spreads."""
    ratio = np.abs(found - known) / np.maximum(spread, LEAST_SPREAD)
    return float(np.quantile(ratio, AIM) / ndtri(0.5 + USUAL_CONFIDENCE / 2))


def least_error(prior: Floats, *, records: int, columns: int) -> Floats:
    """The standard error of a log-lift that depends on every column by one number: nobody can know it better.

    It is what is left of doubt where models learned nothing and so agree that there is nothing.
    """
    return np.asarray(np.sqrt((columns + 1) * (1 - prior) / (prior * records)))


def interval(
    middle: Floats, spread: Floats, factor: float, least: Floats, prior: Floats, confidence: float
) -> tuple[Floats, Floats]:
    """Lower and upper end, at least as far out as the least error says; no posterior exceeds 1."""
    reach = float(ndtri(0.5 + confidence / 2)) * np.maximum(factor * np.maximum(spread, LEAST_SPREAD), least)
    return middle - reach, np.minimum(middle + reach, np.maximum(-np.log(prior), middle))
