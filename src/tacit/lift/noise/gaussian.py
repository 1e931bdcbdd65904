"""Gaussian noise on a number or a vector: what it hides (delta) and how much of it is needed (scale).

Two Gaussians of one scale (standard deviation) whose centres are a ``diameter`` apart have the E-gamma divergence

    theta = Q(t) - e^epsilon Q(t + mu),  mu = diameter / scale,  t = epsilon / mu - mu / 2,

with Q the tail of the standard normal distribution: (16) of the tide paper, where the scale is called a variance and is
a standard deviation. It grows with mu, with derivative the normal density at t, so its inverse is one root. With R =
Q / density (Mills' ratio), e^epsilon times the density at t + mu is the density at t, hence
theta = density(t) (R(t) - R(t + mu)): nothing overflows. And theta of -epsilon is 1 - e^-epsilon + e^-epsilon theta.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from tacit.errors import ArgumentError
from tacit.lift.joint import Vector, halved

# Up to this mu the difference of two Mills' ratios is an integral of positive terms, so that nothing cancels.
_NARROW: Final = 1.0
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(16)
# The logarithm of mu is searched between these; no delta that a float can hold lies outside.
_LEAST_LOG: Final = -720.0
_MOST_LOG: Final = 50.0
_HALVINGS: Final = 66
# Relative: the scale returned is larger than the root by this, which is more than its rounding.
_MARGIN: Final = 1e-13


def gaussian_delta(epsilon: ArrayLike, diameter: ArrayLike, scale: ArrayLike) -> Vector:
    """E-gamma divergence, gamma = e^epsilon, of two Gaussians of one scale whose centres are a diameter apart.

    All arguments may be arrays. ``epsilon``, in nats, may be negative (a gamma below 1), and inf. ``diameter`` is the
    distance of the centres: for noise on a set of values, the largest distance between two of them (Euclidean for
    vectors), not the radius, with which the paper's bound is false. ``scale`` is the standard deviation of the noise,
    of every coordinate; 0 and inf are allowed. The relative error is below 1e-12 wherever the result is above 1e-300.

    Guarantees
    ----------
    For any two distributions on a set of that diameter, noise of that scale makes their E-gamma divergence at most
    this (joint convexity), whatever is done with the result afterwards. That holds for real-valued noise. Floats are
    not real numbers: draw the noise with `GridGaussian`.

    Examples
    --------
    >>> gaussian_delta([0.5, 0.74], diameter=1, scale=1).round(4).tolist()
    [0.2384, 0.1799]
    """
    level, width, noise = np.broadcast_arrays(
        *(np.asarray(each, dtype=np.float64) for each in (epsilon, diameter, scale))
    )
    if np.isnan(level).any():
        raise ArgumentError("epsilon is not a number; give nats")
    _check(width, "diameter", "the largest distance between two values")
    _check(noise, "scale", "a standard deviation")
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        # No distance is no difference, whatever the noise; the rest is plain division, with inf / inf refused above.
        ratio = np.where(width == 0, 0.0, width / noise)
    return _delta(level, ratio)


def gaussian_scale(epsilon: ArrayLike, delta: ArrayLike, diameter: ArrayLike) -> Vector:
    """The standard deviation of Gaussian noise that makes `gaussian_delta` equal to a wanted delta.

    Returns
    -------
    array
        inf where no noise is enough: delta 0 with epsilon 0 or more, and any delta up to 1 - e^epsilon with a negative
        epsilon. 0 where none is needed: delta 1 or more, or a diameter of 0.

    Guarantees
    ----------
    The delta of the scale returned is at most the one wanted, to rounding (1e-12 of it); no scale smaller by more
    than 1e-10 of itself achieves that, for deltas below 0.999.

    Examples
    --------
    >>> gaussian_scale([0.5, 0.0], delta=0.01, diameter=1).round(3).tolist()
    [3.147, 39.893]
    """
    level, wanted, width = np.broadcast_arrays(
        *(np.asarray(each, dtype=np.float64) for each in (epsilon, delta, diameter))
    )
    _check(width, "diameter", "the largest distance between two values")
    if np.isnan(level).any() or not (wanted >= 0).all():
        raise ArgumentError("epsilon must be numbers and delta 0 or more")
    with np.errstate(over="ignore", invalid="ignore"):
        # For a negative epsilon, what noise cannot hide is taken off first: the rest is a delta at -epsilon.
        rest = np.where(level < 0, (wanted + np.expm1(level)) * np.exp(-level), wanted)
    rest = np.where(np.isnan(rest), 0.0, rest)
    level = np.abs(level)
    ends = np.full(level.shape, _LEAST_LOG), np.full(level.shape, _MOST_LOG)
    low, _ = halved(*ends, lambda log_mu: _delta(level, np.exp(log_mu)) <= rest, times=_HALVINGS)
    with np.errstate(over="ignore"):
        scale = np.where(rest > 0, width * np.exp(-low) * (1 + _MARGIN), np.inf)
    needless = (wanted >= 1) | ((width == 0) & (rest >= 0)) | (np.asarray(epsilon) == np.inf)
    return np.asarray(np.where(needless, 0.0, scale))[()]


def _check(values: Vector, name: str, what: str) -> None:
    if not (values >= 0).all() or (name == "diameter" and np.isinf(values).any()):
        raise ArgumentError(f"{name} must be {what}: 0 or more{' and finite' if name == 'diameter' else ''}")


def _delta(epsilon: Vector, ratio: Vector) -> Vector:
    """theta for mu = ratio and epsilon of either sign."""
    level = np.abs(epsilon)
    above = _delta_above(level, ratio)
    with np.errstate(over="ignore"):
        below = -np.expm1(-level) + np.exp(-level) * above
    return np.asarray(np.where(epsilon < 0, below, above))[()]


def _delta_above(epsilon: Vector, ratio: Vector) -> Vector:
    """theta for epsilon of 0 or more."""
    from scipy.special import ndtr

    plain = (ratio > 0) & np.isfinite(ratio) & np.isfinite(epsilon)
    mu = np.where(plain, ratio, 1.0)
    with np.errstate(over="ignore"):
        t = np.where(plain, epsilon, 0.0) / mu - mu / 2
        density = np.exp(-np.square(np.clip(t, -1e3, 1e3)) / 2) / np.sqrt(2 * np.pi)
    t = np.minimum(t, 1e3)
    wide = np.where(t < 0, ndtr(-t) - density * _mills(np.maximum(t + mu, 0.0)), 0.0)
    wide = np.where(t < 0, wide, density * (_mills(np.maximum(t, 0.0)) - _mills(np.maximum(t + mu, 0.0))))
    value = np.where(mu > _NARROW, wide, density * _mills_drop(t, np.minimum(mu, _NARROW)))
    ends = np.where((ratio == 0) | (epsilon == np.inf), 0.0, 1.0)
    return np.clip(np.where(plain, value, ends), 0.0, 1.0)


def _mills(t: Vector) -> Vector:
    """Q / density, for t of 0 or more (and a little less)."""
    from scipy.special import erfcx

    return np.asarray(np.sqrt(np.pi / 2) * erfcx(t / np.sqrt(2)))


def _mills_drop(t: Vector, width: Vector) -> Vector:
    """R(t) - R(t + width) as the integral of -R' = 1 - t R, which is positive, over a short stretch."""
    at = np.maximum(t, -_NARROW)[..., None] + width[..., None] * (1 + _NODES) / 2
    return np.asarray(width * ((1 - at * _mills(at)) @ (_WEIGHTS / 2)))
