"""Gaussian noise on a grid, drawn from 64-bit random words by a table of whole numbers: safe where floats are not.

A float drawn by numpy and added to a value reveals the value by its low bits: which floats can come out depends on it.
Here values are rounded to multiples of a step, a power of two, and the noise is such a multiple as well, so everything
released is one, whatever the value. Which multiple a word gives is read off a table of 64-bit thresholds, computed in
whole numbers of 384 bits with known error: the chance of each is within 2^-64 of the law's.

Two laws. ``rounded``: a Gaussian rounded to the grid. As the value is on the grid, the release is a rounded value plus
Gaussian noise, so `gaussian_delta` bounds it, for vectors too. ``discrete``: probabilities proportional to
exp(-z^2 / 2 scale^2), the discrete Gaussian of the literature (Canonne, Kamath, Steinke 2020).
"""

from __future__ import annotations

from decimal import Context, Decimal
from fractions import Fraction
from functools import lru_cache
from math import factorial, floor, isfinite, log2, sqrt
from typing import Final, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tacit.errors import ArgumentError
from tacit.lift.joint import Vector
from tacit.lift.noise.gaussian import gaussian_delta

Words = NDArray[np.uint64]
Law = Literal["rounded", "discrete"]

_BITS: Final = 384
_ONE: Final = 1 << _BITS
# Decimal digits that hold 384 bits with room to spare.
_DIGITS: Final = Context(prec=150)
# Weights below this are left out of the sums; all of them together are below 2^-100.
_LEAST: Final = 1 << (_BITS - 130)
# Grid points in one scale: at least this many unless a step is given.
_POINTS: Final = 1024
_MOST_POINTS: Final = 1 << 13
_TAIL: Final = 2.0**-60
_WORD: Final = 1 << 64
# More than sums of shares in floats can be off by.
_ROUNDING: Final = 1e-15
# Words are looked up by their first bits; where these leave several grid points, by bisection.
_GUIDE_BITS: Final = 16
# Words looked up at a time: what they need fits into a cache.
_BLOCK: Final = 1 << 15


class GridGaussian:
    """Gaussian noise on the multiples of a step, drawn from random words.

    Parameters
    ----------
    scale : float
        Standard deviation of the Gaussian.
    step : float, optional
        Distance of grid points, a power of two (1, 0.25, ...), at most twice the scale. Otherwise the sum of value and
        noise would be rounded, and the rounding would reveal something. By default the largest power of two up to
        scale / 1024.
    tail : float
        Probability that may be cut off, both sides together; what lies beyond goes to the last point.
    law : {"rounded", "discrete"}
        See the top of the module.

    Attributes
    ----------
    truncated : float
        Upper bound on the total variation between what is drawn and the law: the tail cut off and the rounding of the
        table.
    values : array
        The multiples of step that can be drawn.
    counts : array of uint64
        How many of the 2^64 words give each of them: its exact probability.

    Guarantees
    ----------
    For words that are uniform and independent, draws are independent with probabilities counts / 2^64. ``release`` of
    any value is a multiple of step. Timing is not constant: it may reveal the noise to anyone who can measure it.

    Examples
    --------
    >>> noise = GridGaussian(scale=2.0, step=0.5)
    >>> noise.release([0.3, 10.0], np.array([1 << 63, 5 << 61], dtype=np.uint64)).tolist()
    [0.5, 10.5]
    """

    def __init__(self, scale: float, *, step: float | None = None, tail: float = _TAIL, law: Law = "rounded") -> None:
        self.scale = _positive(scale, "scale")
        self.step = 2.0 ** floor(log2(self.scale / _POINTS)) if step is None else _positive(step, "step")
        if 2.0 ** round(log2(self.step)) != self.step:
            below = 2.0 ** floor(log2(self.step))
            raise ArgumentError(f"step is {step:g}; it must be a power of two, or rounding would tell: {below:g}, say")
        if not 1 / _MOST_POINTS <= self.step / self.scale <= 2:
            raise ArgumentError(f"step is {self.step:g}; between scale / {_MOST_POINTS} and 2 scale (scale {scale:g})")
        if not 2.0**-62 <= tail <= 0.01:
            raise ArgumentError(f"tail is {tail}; it must be between 2^-62 (words have 64 bits) and 0.01")
        if law not in ("rounded", "discrete"):
            raise ArgumentError(f"law is '{law}'; it is 'rounded' or 'discrete'")
        self.tail, self.law = tail, law
        self._thresholds, self._guide, self.truncated = _table(Fraction(self.step) / Fraction(self.scale), tail, law)
        self._last = len(self._thresholds) // 2

    def __repr__(self) -> str:
        return f"GridGaussian(scale={self.scale:g}, step={self.step:g}, tail={self.tail:g}, law='{self.law}')"

    @property
    def values(self) -> Vector:
        """The multiples of step that can be drawn."""
        return np.asarray(np.arange(-self._last, self._last + 1) * self.step)

    @property
    def counts(self) -> Words:
        """How many words give each value; they add up to 2^64."""
        # Unsigned numbers wrap at 2^64, so that the last difference is right too.
        edges = np.concatenate([np.zeros(1, np.uint64), self._thresholds, np.zeros(1, np.uint64)])
        return np.asarray(np.diff(edges))

    def draw(self, words: Words) -> Vector:
        """One draw for every word: multiples of step, in the shape of ``words`` (uint64, see `secure_words`)."""
        if not (isinstance(words, np.ndarray) and words.dtype == np.uint64):
            raise ArgumentError("words must be an array of uint64, all 64 bits of each random: see secure_words")
        flat, drawn = words.ravel(), np.empty(words.size)
        for start in range(0, len(flat), _BLOCK):
            part = flat[start : start + _BLOCK]
            index = self._guide[part >> np.uint64(64 - _GUIDE_BITS)]
            # A negative entry says that the first bits leave more than one point.
            several = np.flatnonzero(index < 0)
            index[several] = np.searchsorted(self._thresholds, part[several], side="right")
            index -= np.int32(self._last)
            np.multiply(index, self.step, out=drawn[start : start + _BLOCK])
        return drawn.reshape(words.shape)

    def to_grid(self, values: ArrayLike) -> Vector:
        """Values rounded to the nearest multiple of step."""
        array = np.asarray(values, dtype=np.float64)
        multiples = np.rint(array / self.step)
        if not (np.abs(multiples) < 2.0**52).all():
            raise ArgumentError(f"a value is nan or too large for a grid of step {self.step:g}; clip it first")
        return np.asarray(multiples * self.step)

    def release(self, values: ArrayLike, words: Words) -> Vector:
        """Values rounded to the grid, plus a draw for each. Both are multiples of step, so the sum is exact."""
        rounded = self.to_grid(values)
        if rounded.shape != np.shape(words):
            raise ArgumentError(f"there are {np.shape(words)} words for values of shape {rounded.shape}: one for each")
        return rounded + self.draw(words)

    def delta(self, epsilon: float, diameter: float, *, dimensions: int = 1, on_grid: bool = False) -> float:
        """Upper bound on E-gamma, gamma = e^epsilon, of what ``release`` gives for two values a diameter apart.

        ``diameter`` is the largest distance between two values, Euclidean for vectors; ``dimensions`` are the
        coordinates of a value, each with a draw of its own: more than 1 needs the law ``rounded``. ``on_grid`` says
        that the values already are multiples of step (whole numbers and step 1, say). Otherwise they are rounded to the
        grid first, which may move each coordinate of two values apart by one step.

        Guarantees
        ----------
        Holds for what is really drawn: truncation and rounding of the table are included. One dimension: the sum over
        the grid for the largest shift, too large by at most 2 (1 + gamma) (``truncated`` + 1e-15). More:
        `gaussian_delta` plus half of that for every coordinate.
        """
        if not (isfinite(diameter) and diameter >= 0 and dimensions >= 1) or np.isnan(epsilon):
            raise ArgumentError("diameter must be 0 or more, dimensions 1 or more, epsilon a number")
        gamma = float(np.exp(min(epsilon, 700.0)))
        cut_off = (1 + gamma) * (self.truncated + _ROUNDING) * dimensions
        if dimensions > 1:
            if self.law != "rounded":
                raise ArgumentError("for vectors use law='rounded': the discrete law has no such bound here")
            farthest = diameter if on_grid else diameter + self.step * sqrt(dimensions)
            return min(float(gaussian_delta(epsilon, farthest, self.scale)) + cut_off, 1.0)
        # Both laws are log-concave, so the best events are half-lines, and for these a larger shift reveals more. The
        # table differs from its law by rounding: once for a smaller shift, once for the largest.
        shift = int(diameter / self.step) + (0 if on_grid else 1)
        if shift > 2 * self._last:
            return 1.0
        shares = self.counts / float(_WORD)
        first, second = np.append(np.zeros(shift), shares), np.append(shares, np.zeros(shift))
        return min(float(np.maximum(first - gamma * second, 0.0).sum()) + 2 * cut_off, 1.0)


def _positive(value: float, name: str) -> float:
    if not (isfinite(value) and 2.0**-900 < value < 2.0**900):
        raise ArgumentError(f"{name} is {value}; it must be a positive number")
    return float(value)


@lru_cache(maxsize=32)
def _table(ratio: Fraction, tail: float, law: Law) -> tuple[Words, NDArray[np.int32], float]:
    """Thresholds between grid points, the guide to them, and the total variation from the law."""
    weights = _weights(ratio)
    if law == "rounded":
        weights = _cells(weights, ratio)
    # What lies beyond each point, on one side, summed from the far end.
    beyond = [0] * len(weights)
    for k in range(len(weights) - 2, -1, -1):
        beyond[k] = beyond[k + 1] + weights[k + 1]
    whole = weights[0] + 2 * beyond[0]
    allowed = Fraction(tail) * whole / 2
    last = next(k for k, mass in enumerate(beyond) if mass <= allowed)
    # Rounded to the nearest; by symmetry those below 0 are the same counted from the other end.
    upper = [(2 * _WORD * mass + whole) // (2 * whole) for mass in beyond[:last]]
    thresholds = np.array([*reversed(upper), *(_WORD - mass for mass in upper)], dtype=np.uint64)
    cut = Fraction(2 * beyond[last], whole) + Fraction(2 * last + 1, 2 * _WORD)
    thresholds.setflags(write=False)
    return thresholds, _guide(thresholds), float(cut) * (1 + 1e-9)


def _guide(thresholds: Words) -> NDArray[np.int32]:
    """The grid point of all words with the same first bits, or -1 where they have several."""
    starts = np.arange(1 << _GUIDE_BITS, dtype=np.uint64) << np.uint64(64 - _GUIDE_BITS)
    ends = starts | np.uint64((1 << (64 - _GUIDE_BITS)) - 1)
    first = np.searchsorted(thresholds, starts, side="right")
    guide = np.where(first == np.searchsorted(thresholds, ends, side="right"), first, -1).astype(np.int32)
    guide.setflags(write=False)
    return guide


def _weights(ratio: Fraction) -> list[int]:
    """exp(-(k ratio)^2 / 2) for k = 0, 1, ..., as multiples of 2^-384, each off by less than 2^-340.

    w_{k+1} = w_k q^{2k+1} with q = exp(-ratio^2 / 2), which Decimal rounds correctly. Every product is rounded down by
    less than one unit, and factors are below 1: after k steps a power is off by k units, a weight by k^2.
    """
    square = ratio * ratio / 2
    exponent = _DIGITS.divide(Decimal(-square.numerator), Decimal(square.denominator))
    power = int(_DIGITS.multiply(_DIGITS.exp(exponent), Decimal(_ONE)))
    twice = power * power >> _BITS
    weights, weight = [], _ONE
    while weight >= _LEAST:
        weights.append(weight)
        weight = weight * power >> _BITS
        power = power * twice >> _BITS
    return weights


def _cells(weights: list[int], ratio: Fraction) -> list[int]:
    """Mass of the cell of each grid point, as multiples of the density at 0 times the step.

    The mean of exp(-x^2/2) over a cell of width h around x is exp(-x^2/2) sum_j (h/2)^{2j} He_{2j}(x) / (2j+1)!, by
    Taylor. As |He_n(x)| exp(-x^2/4) <= 1.09 sqrt(n!) (Cramér), terms fall by half or more from one to the next for
    h <= 2, so the sum of those left out is below twice the first of them.
    """
    half = float(ratio) / 2
    terms = next(j for j in range(1, 200) if _log_term(half, j) < -120)
    factors = [int((ratio / 2) ** (2 * j) * _ONE / factorial(2 * j + 1)) for j in range(terms)]
    width = int(ratio * _ONE)
    cells = []
    for k, weight in enumerate(weights):
        x, before, now, total = k * width, 0, _ONE, factors[0]
        for n in range(2 * (terms - 1)):
            before, now = now, (x * now >> _BITS) - n * before
            if n % 2:
                total += now * factors[(n + 1) // 2] >> _BITS
        cells.append(weight * total >> _BITS)
    return cells


def _log_term(half: float, j: int) -> float:
    """log2 of the bound on term j, with the factor 2 for all that follow."""
    return 2 * j * log2(half) + log2(2 * 1.09) - log2(factorial(2 * j)) / 2 - log2(2 * j + 1)
