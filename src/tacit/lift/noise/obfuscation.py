"""Gaussian noise on leaking values only: the bound on what the release says, and what no noise can hide.

A value x is released unchanged unless it leaks, that is, lies in a set B; then noise is added. The tide paper's Theorem
3 claims E_gamma(P_{Y|s} || P_Y) <= theta(radius, scale), gamma = e^epsilon. It is false: centres may be a diameter
apart, and the very fact *that* noise was added says how likely s is. What is true, for a fixed set B outside which no
log-lift exceeds epsilon:

    E_gamma(P_{Y|s} || P_Y) <= P(B|s) theta_{e^(epsilon - i(s,B))}(diameter of B, scale),

i(s,B) = log P(B|s) / P(B). Proof: let the reader know whether noise was added, which only helps. Outside B every value
has P(x|s) <= gamma P(x) and adds nothing. Inside, P_{Y|s} is P(B|s) times a mixture of Gaussians centred in B and P_Y
is P(B) times another, so the divergence is P(B|s) times one at gamma P(B) / P(B|s), and by joint convexity at most that
of the two Gaussians farthest apart. As the scale grows it falls to the floor (P(B|s) - gamma P(B))+, which is what the
mere fact of noise says. The floor is 0 if and only if i(s,B) <= epsilon: the condition of the watchdog.

For the other side, E_gamma(P_Y || P_{Y|s}), put P(B) in place of P(B|s) and -i(s,B) in place of i(s,B).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from tacit.errors import ArgumentError
from tacit.lift.joint import Mask, Vector
from tacit.lift.noise.gaussian import gaussian_delta, gaussian_scale


def obfuscation_delta(
    share_given_secret: ArrayLike, lift_of_set: ArrayLike, epsilon: ArrayLike, diameter: ArrayLike, scale: ArrayLike
) -> Vector:
    """Bound on E-gamma of what is released about a secret, if values of a leaking set get Gaussian noise.

    All arguments may be arrays. ``share_given_secret`` is P(B|s), how often a record with the secret has a leaking
    value; ``lift_of_set`` is i(s,B) = log P(B|s) / P(B) in nats, the log-lift of "it leaks", -inf where P(B|s) is 0;
    ``diameter`` the largest distance between two leaking values; ``scale`` the standard deviation of the noise, where
    inf gives the floor. gamma is e^epsilon.

    Guarantees
    ----------
    For a set B that does not depend on the record, with i(s,x) <= epsilon for every x outside it, one feature (or one
    vector with noise of that scale on every coordinate), and P(B|s), i(s,B) those of the population: E_gamma(P_{Y|s} ||
    P_Y) is at most this, also if the reader is told which values were noised. For several features in turn, B of each
    must be computed from what was *released* before, and the bounds composed by `compose_deltas`.

    Examples
    --------
    >>> float(obfuscation_delta(0.5, 2.20, epsilon=0.8, diameter=0, scale=1).round(2))
    0.38
    """
    share, lift = _checked(share_given_secret, lift_of_set)
    return np.asarray(share * gaussian_delta(np.asarray(epsilon) - lift, diameter, scale))[()]


def obfuscation_floor(share_given_secret: ArrayLike, lift_of_set: ArrayLike, epsilon: ArrayLike) -> Vector:
    """What no noise hides: (P(B|s) - e^epsilon P(B))+, the bound of `obfuscation_delta` at infinite scale.

    Guarantees
    ----------
    If it is known which values were noised, the release has an E-gamma of at least this, whatever the scale.
    """
    return obfuscation_delta(share_given_secret, lift_of_set, epsilon, 0.0, np.inf)


def obfuscation_scale(
    share_given_secret: ArrayLike, lift_of_set: ArrayLike, epsilon: ArrayLike, delta: ArrayLike, diameter: ArrayLike
) -> Vector:
    """The standard deviation that brings `obfuscation_delta` to a wanted delta; inf where none does (the floor).

    Where it is inf, delta is at or below `obfuscation_floor`: put more values into the set, or raise epsilon.
    """
    share, lift = _checked(share_given_secret, lift_of_set)
    wanted = np.asarray(delta, dtype=np.float64)
    if not (wanted >= 0).all():
        raise ArgumentError("delta must be 0 or more")
    # A secret that never has a leaking value needs no noise for any delta.
    of_set = np.where(share > 0, wanted / np.where(share > 0, share, 1.0), 1.0)
    return gaussian_scale(np.asarray(epsilon) - lift, of_set, diameter)


def vacuous(delta: ArrayLike, *, epsilon: ArrayLike | None = None, prior: ArrayLike | None = None) -> Mask:
    """Whether a bound on E-gamma says nothing: delta is 1 or more, or every release satisfies the bound.

    With ``epsilon`` and ``prior``, P(s), a bound is also vacuous if publishing the secret itself would satisfy it: its
    E-gamma is (1 - e^epsilon P(s))+, and no release can have more.

    Examples
    --------
    >>> bool(vacuous(244.0)), bool(vacuous(0.3)), bool(vacuous(0.3, epsilon=0.5, prior=0.5))
    (True, False, True)
    """
    bound = np.asarray(delta, dtype=np.float64)
    if np.isnan(bound).any():
        raise ArgumentError("delta is not a number")
    if (epsilon is None) != (prior is None):
        raise ArgumentError("epsilon and prior go together: give both, or neither")
    most = np.ones(())
    if epsilon is not None and prior is not None:
        with np.errstate(divide="ignore", over="ignore"):
            level = np.asarray(epsilon, dtype=np.float64) + np.log(np.asarray(prior, dtype=np.float64))
            most = np.maximum(-np.expm1(level), 0.0)
    return np.asarray(bound >= most)[()]


def _checked(share: ArrayLike, lift: ArrayLike) -> tuple[Vector, Vector]:
    shares, lifts = np.broadcast_arrays(np.asarray(share, dtype=np.float64), np.asarray(lift, dtype=np.float64))
    # Sums of shares may exceed 1 by rounding.
    if not ((shares >= 0) & (shares <= 1 + 1e-9)).all():
        raise ArgumentError("share_given_secret must be probabilities, P(B|s), between 0 and 1")
    if np.isnan(lifts).any() or (lifts == np.inf).any():
        raise ArgumentError("lift_of_set must be log-lifts in nats, log P(B|s) / P(B)")
    with np.errstate(over="ignore"):
        if (shares > np.exp(lifts) * (1 + 1e-9)).any():
            raise ArgumentError("P(B) = P(B|s) / e^lift would be above 1: lift_of_set is the log of P(B|s) / P(B)")
    return np.minimum(shares, 1.0), lifts
