"""How far numbers lie beyond an open end ("80 and over"), judged by how they thin out before it: fast, or slowly.

Nothing is told beyond an open end. Two tails that fit what is told before it show how far an estimate can be trusted.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tacit.learn.arrays import Floats

# A tail is fitted from where this many times as many numbers lie beyond: nearer, a single odd step would decide it.
_TIMES = 3.0
# A thin tail reaches at most this many times as far as the steps that it is fitted on.
_FURTHEST = 10.0


class TailMeans(NamedTuple):
    """How far beyond the last edge numbers lie on average, if they thin out fast (``thin``) or slowly (``thick``).

    ``near`` is the thin one, or 0 if the release does not show how numbers thin out: all may lie at the edge.
    """

    thin: float
    thick: float
    near: float


def tail_means(edges: Floats, shares: Floats, room: float) -> TailMeans:
    """The tails beyond the last of rising edges; ``shares`` are those of the atoms below, between and beyond them.

    ``room`` is how far numbers may go beyond it: if that is known, a thick tail is spread evenly over it. If it is
    infinite, a thick tail falls as a power of the number (Pareto's law, as incomes do), through the same two edges
    through which a thin one falls exponentially; it may have no mean, which is then infinite.
    """
    if not len(edges) or shares[-1] <= 0:
        return TailMeans(0.0, 0.0, 0.0)
    beyond = np.cumsum(shares[::-1])[::-1][1:]
    at = max(0, int(np.searchsorted(-beyond, -_TIMES * beyond[-1], side="right")) - 1)
    first, last, falls = float(edges[at]), float(edges[-1]), math.log(float(beyond[at] / beyond[-1]))
    fitted = last > first and falls > 0
    thin = (last - first) * min(1 / falls, _FURTHEST) if fitted else 0.0
    if math.isfinite(room):
        return TailMeans(min(thin, room / 2) if fitted else room / 2, room / 2, min(thin, room / 2))
    power = falls / math.log(last / first) if fitted and first > 0 else 0.0
    return TailMeans(thin, last / (power - 1) if power > 1 else math.inf, thin)
