"""What came after the papers, for adversaries with other aims: gains, Bayes security, orders, averages of the lift.

g-leakage: Alvim, Chatzikokolakis, Palamidessi, Smith, *Measuring Information Leakage Using Generalized Gain Functions*,
CSF 2012. Bayes security: Chatzikokolakis, Cherubin, Palamidessi, Troncoso, CSF 2023. Maximal alpha-leakage: Liao,
Kosut, Sankar, Calmon, IEEE Trans. Inf. Theory 2019. l1- and chi-squared-lift, inverses: Zarrabian, Ding, Sadeghi,
Entropy 25(4):679, 2023. (epsilon, delta)-PML from samples: Grosse, Saeidian, Oechtering, Skoglund, *Privacy Mechanism
Design based on Empirical Distributions*, 2025; here their bound, not their design of mechanisms.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from tacit.errors import ArgumentError
from tacit.lift.joint import Joint, Matrix, Vector, checked_probabilities
from tacit.lift.measures import Distribution, maximal_leakage, mutual_information

_ROUNDS = 100_000
_GAP = 5e-10


def g_leakage(joint: Distribution, gain: ArrayLike, *, additive: bool = False) -> float:
    """How much more an adversary gains with the release than without it, for any gain.

    ``gain[w, s]`` is what guess w is worth if the secret is s; the identity is one guess in one try. In nats, the log
    of the factor; ``additive`` gives the difference, in the gain's own unit.

    Guarantees
    ----------
    Never negative. If no gain is negative, the factor's log is at most ``maximal_leakage(joint)``.
    """
    joint, gains = Joint.of(joint), np.asarray(gain, dtype=np.float64)
    if gains.ndim != 2 or gains.shape[1] != len(joint.prior) or not len(gains) or not np.isfinite(gains).all():
        raise ArgumentError(f"the gain is a table of guesses x {len(joint.prior)} secrets of finite numbers")
    before = float((gains @ joint.prior).max())
    after = float((gains @ joint.matrix).max(axis=0).sum())
    if additive:
        return max(after - before, 0.0)
    if (gains < 0).any() or before <= 0:
        raise ArgumentError("the factor needs gains of 0 or more, not all of them 0: ask for the additive leakage")
    return max(float(np.log(after / before)), 0.0)


def bayes_security(joint: Distribution) -> float:
    """Error of the best guess with the release over its error without: 0 gives the secret away, 1 improves no guess.

    A release may tell much and improve no guess: it may make a rare secret ten times likelier, say. With a single
    secret there is nothing to guess: 1.
    """
    joint = Joint.of(joint)
    if len(joint.prior) == 1:
        return 1.0
    # Errors are added up, not subtracted from 1, whose rounding can exceed the probability of a rare secret.
    return min(_but_the_largest(joint.matrix) / _but_the_largest(joint.prior), 1.0)


def _but_the_largest(masses: Matrix) -> float:
    """The sum of all masses but the largest of each column."""
    return float(np.sort(masses, axis=0)[:-1].sum())


def least_bayes_security(joint: Distribution) -> float:
    """The least Bayes security over all priors: 1 less the largest total variation between p(x|s) and p(x|s').

    Guarantees
    ----------
    At most ``bayes_security`` under any prior, and equal to it if the two secrets that are told apart best have one
    half each.
    """
    joint = Joint.of(joint)
    rows = joint.matrix / joint.prior[:, None]
    return max(1 - max(float(np.abs(rows - row).sum(axis=1).max()) / 2 for row in rows), 0.0)


def maximal_alpha_leakage(joint: Distribution, order: float) -> float:
    """Maximal alpha-leakage: Sibson's information of the order at the worst prior.

    At order inf it is maximal leakage, and at order 1, by definition, mutual information at the joint's own prior, not
    the limit as the order falls to 1, which is the capacity of p(x|s).

    Guarantees
    ----------
    An upper bound that exceeds the value by at most 1e-9: the concave problem is stopped by its duality gap. Rounding
    adds about 1e-15 / (order - 1).
    """
    joint = Joint.of(joint)
    if not order >= 1:
        raise ArgumentError(f"order is {order}; it must be 1 or more")
    if order == 1:
        return mutual_information(joint)
    if np.isinf(order):
        return maximal_leakage(joint)
    rows = joint.matrix / joint.prior[:, None]
    # F(P) = sum_x (sum_s P_s p(x|s)^order)^(1/order) is concave and homogeneous of degree 1/order.
    largest = rows.max(axis=0)
    powers = (rows / largest) ** order
    prior, scale = np.full(len(rows), 1 / len(rows)), order / (order - 1)
    for _ in range(_ROUNDS):
        means = prior @ powers
        value = float(largest @ means ** (1 / order))
        slopes = powers @ (largest * means ** (1 / order - 1)) / value
        # F is at most F(P) (1 + (max slope - 1) / order), by its tangent at P.
        gap = scale * np.log1p((slopes.max() - 1) / order)
        if gap < _GAP:
            break
        # Arimoto's step: at orders near 1 slopes are nearly 1, and without the power next to nothing would move.
        prior *= slopes**scale
        prior /= prior.sum()
    return max(float(scale * np.log(value) + gap), 0.0)


def average_lift(joint: Distribution, kind: Literal["l1", "chi_squared"] = "l1", *, inverse: bool = False) -> Vector:
    """For every released value, the mean over the prior of |lift - 1| (``l1``) or (lift - 1)^2 (``chi_squared``).

    ``inverse`` takes 1/lift for the lift. The plain ones hardly notice a secret that is ruled out; the inverse ones do,
    and are infinite where one is ruled out altogether.

    Guarantees
    ----------
    With every lift in [a, b]: ``l1`` is at most 2 (b - 1)(1 - a) / (b - a), ``chi_squared`` at most (b - 1)(1 - a).
    """
    if kind not in ("l1", "chi_squared"):
        raise ArgumentError(f"there is no lift '{kind}'; there are: l1, chi_squared")
    joint = Joint.of(joint)
    lifts = joint.lift
    with np.errstate(divide="ignore", over="ignore"):
        away = np.abs((1 / lifts if inverse else lifts) - 1)
        return np.asarray(joint.prior @ (away if kind == "l1" else away**2))


def sampled_leakage(channel: ArrayLike, counts: ArrayLike, *, delta: float) -> float:
    """Epsilon of (epsilon, delta)-PML for a mechanism applied to a secret whose prior is known only from a sample.

    Parameters
    ----------
    channel : array of shape (secrets, outputs)
        p(y|s), known exactly: the mechanism's own randomness.
    counts : array
        How often each secret occurs in the sample, of people drawn independently.
    delta : float
        Probability with which the true prior may lie outside the ball around the counted one.

    Guarantees
    ----------
    With probability at least 1 - delta over the sample, no output's pointwise maximal leakage under the true prior is
    larger. The ball is that of Weissman et al.: L1 distance sqrt(2 log((2^k - 2) / delta) / n) for k secrets. It bounds
    the upper side only, and does not handle columns between the secret and the release: for those see
    ``certify_counts``.
    """
    rows = np.apply_along_axis(checked_probabilities, 1, np.atleast_2d(np.asarray(channel, dtype=np.float64)), "a row")
    sample = np.asarray(counts, dtype=np.float64)
    if sample.shape != (len(rows),) or not (np.isfinite(sample).all() and (sample >= 0).all() and sample.sum() > 0):
        raise ArgumentError(f"counts are one number for each of the {len(rows)} secrets, 0 or more, not all of them 0")
    if not 0 < delta < 1:
        raise ArgumentError(f"delta is {delta}; it must be between 0 and 1")
    if len(rows) == 1:
        return 0.0
    k = len(rows)
    radius = np.sqrt(2 * (k * np.log(2) + np.log1p(-(2.0 ** (1 - k))) - np.log(delta)) / sample.sum())
    share = sample / sample.sum()
    return max(0.0, max(_worst_of_ball(row, share, radius / 2) for row in rows.T if row.max() > 0))


def _worst_of_ball(likelihood: Vector, share: Vector, mass: float) -> float:
    """log of the largest likelihood over its smallest mean in the ball: mass moves from the largest to the smallest."""
    order = np.argsort(-likelihood)
    moved = np.minimum(share[order], np.maximum(mass - np.append(0.0, np.cumsum(share[order])[:-1]), 0.0))
    mean = float(likelihood @ share - moved @ likelihood[order] + moved.sum() * likelihood.min())
    return float(np.log(likelihood.max() / mean)) if mean > 0 else np.inf
