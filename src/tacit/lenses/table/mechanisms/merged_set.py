"""The trade-off of one merged set, the papers' watchdog: what every epsilon costs, and which one is affordable."""

from __future__ import annotations

import math

import numpy as np

from tacit.document import CurvePoint
from tacit.errors import Sentence, Setting, sentence
from tacit.lift import Funnel

CURVE_POINTS = 200


def curve_points(curve: Funnel) -> tuple[CurvePoint, ...]:
    """The trade-off, thinned to what a chart can show; its ends are kept."""
    n = len(curve.epsilons)
    chosen = np.unique(np.linspace(0, n - 1, min(n, CURVE_POINTS)).round().astype(int))
    columns = (curve.epsilons, curve.attained, curve.nmil, curve.utility, curve.leakage, curve.kept_share)
    return tuple(CurvePoint(*point) for point in np.column_stack(columns)[chosen].tolist())


def affordable(curve: Funnel, *, max_loss: float) -> tuple[float, Sentence] | None:
    """The smallest epsilon with a loss of at most ``max_loss``, and a sentence about it; None if none is finite."""
    within = np.flatnonzero(np.asarray(curve.nmil) <= max_loss)
    attained = np.asarray(curve.attained)[within]
    if not len(within) or not np.isfinite(attained).any():
        return None
    best = int(within[int(np.argmin(attained))])
    # Rounded up, so that asking for the number shown gives what is shown.
    epsilon = math.ceil(float(curve.attained[best]) * 1e4) / 1e4
    words = "One merged set ({watchdog}) loses {loss:.1%} with {epsilon} ({most:.0%} tolerated)."
    parts = {"watchdog": Setting("mechanism", "watchdog"), "epsilon": Setting("epsilon", epsilon)}
    return epsilon, sentence(words, **parts, loss=float(curve.nmil[best]), most=max_loss)
