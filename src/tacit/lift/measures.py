"""How much a release says about the secret: log-lift, risk, and the leakage measures built on them. All in nats."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from tacit.errors import ArgumentError
from tacit.lift.joint import Joint, Matrix, Vector, checked_probabilities
from tacit.lift.tolerances import TOLERANCE

# Beyond these the measure differs from its limit by less than rounding, while powers would overflow.
_SMALLEST_ORDER: Final = 1e-15
_LARGEST_ORDER: Final = 1e15

Distribution = Joint | ArrayLike


def log_lift(joint: Distribution) -> Matrix:
    """log P(s,x) / (P(s) P(x)) for every secret and released value (also called information density).

    Returns
    -------
    array of shape (secrets, released)
        In nats; -inf where the pair never occurs.

    Examples
    --------
    >>> log_lift([[0.4, 0.1], [0.1, 0.4]]).round(2).tolist()
    [[0.47, -0.92], [-0.92, 0.47]]
    """
    return Joint.of(joint).log_lift


def conditional_log_lift(joint: Distribution, parts: ArrayLike) -> Matrix:
    """log P(s | v, x) / P(s | v) for every secret and released value, where each value lies in one part v.

    What a released value tells about the secret to somebody who already knows the part. ``parts`` is the number of
    each released value's part.

    Returns
    -------
    array of shape (secrets, released)
        In nats; -inf where the secret occurs in the part but never with the value; 0 where it does not occur in the
        part, since the value then tells nothing new.

    Examples
    --------
    >>> conditional_log_lift([[0.4, 0.1, 0.0], [0.1, 0.2, 0.2]], [0, 1, 1]).round(2).tolist()
    [[0.0, 0.51, -inf], [0.0, -0.18, 0.22]]
    """
    matrix, part = Joint.of(joint).matrix, np.asarray(parts)
    # P(s | v) from the sums of each part; P(s | v, x) from the value alone, since the value tells its part.
    sums = np.zeros((matrix.shape[0], int(part.max()) + 1))
    np.add.at(sums.T, part, matrix.T)
    prior = (sums / sums.sum(axis=0))[:, part]
    with np.errstate(divide="ignore", invalid="ignore"):
        values = np.log(matrix / matrix.sum(axis=0)) - np.log(prior)
    return np.asarray(np.where(prior > 0, values, 0.0))


def risk(joint: Distribution) -> Vector:
    """Risk of every released value: the largest abs(log-lift) over secrets; inf if it rules a secret out."""
    values = log_lift(joint)
    return np.asarray(np.maximum(values.max(axis=0), -values.min(axis=0)))


def max_lift(joint: Distribution) -> Vector:
    """Largest log-lift of every released value: how much likelier some secret becomes on seeing it."""
    return np.asarray(log_lift(joint).max(axis=0))


def min_lift(joint: Distribution) -> Vector:
    """Smallest log-lift of every released value: how far some secret is ruled out; -inf if altogether."""
    return np.asarray(log_lift(joint).min(axis=0))


def pointwise_maximal_leakage(joint: Distribution) -> Vector:
    """Pointwise maximal leakage of every released value; it is the largest log-lift (Saeidian et al. 2023)."""
    return max_lift(joint)


def is_private(
    joint: Distribution,
    epsilon: float,
    *,
    epsilon_low: float | None = None,
    epsilon_high: float | None = None,
) -> bool:
    """Whether every log-lift lies between -epsilon and epsilon (epsilon-lift privacy).

    ``epsilon_low`` and ``epsilon_high`` replace epsilon on their side: the log-lifts must then lie between
    ``-epsilon_low`` and ``epsilon_high``. A log-lift may pass its bound by `TOLERANCE`, which is rounding.
    """
    low, high = sides(epsilon, epsilon_low=epsilon_low, epsilon_high=epsilon_high)
    values = log_lift(joint)
    return bool(values.min() >= -low - TOLERANCE and values.max() <= high + TOLERANCE)


def sides(
    epsilon: float, *, epsilon_low: float | None = None, epsilon_high: float | None = None
) -> tuple[float, float]:
    """The bounds on the low and on the high side, checked: each is epsilon unless given separately."""
    low = epsilon if epsilon_low is None else epsilon_low
    high = epsilon if epsilon_high is None else epsilon_high
    for name, value in (("epsilon", epsilon), ("epsilon_low", low), ("epsilon_high", high)):
        if not value >= 0:
            raise ArgumentError(f"{name} is {value}; it bounds an absolute value, so it must be 0 or more")
    return low, high


def entropy(probabilities: ArrayLike, *, order: float = 1.0) -> float:
    """Entropy of a distribution; with another order, its Rényi entropy.

    Order 0 counts the values that occur, order inf looks only at the likeliest one.
    """
    p = checked_probabilities(probabilities, "the distribution")
    p = p[p > 0]
    if order == 1:
        return float(-(p * np.log(p)).sum())
    if not order >= 0:
        raise ArgumentError(f"order is {order}; it must be 0 or more")
    if order > _LARGEST_ORDER:
        return float(-np.log(p.max()))
    return float(log_mean_exp(p, (order - 1) * np.log(p))) / (1 - order)


def p_log_p(p: Matrix | Vector) -> Matrix:
    """p log p of every entry; 0 at 0."""
    return np.asarray(p * np.log(p, out=np.zeros_like(p), where=p > 0))


def mutual_information(joint: Distribution) -> float:
    """I(S;X), the mean log-lift of a record."""
    # The terms t log t - t + 1 sum to the same and are never negative, so nothing cancels.
    return f_information(joint, "kl")


def sibson(joint: Distribution, order: float) -> float:
    """Sibson's mutual information of an order in (0, inf].

    Order 1 is mutual information, order inf maximal leakage; it grows with the order.
    """
    joint = Joint.of(joint)
    order = _checked_order(order)
    if order == 1:
        return mutual_information(joint)
    if order == 2:
        return _twice_log_mean_root(joint.marginal, joint.prior @ (joint.lift - 1) ** 2)
    values = log_lift(joint)
    if order == np.inf:
        return max(float(log_mean_exp(joint.marginal, values.max(axis=0))), 0.0)
    # With l the lift, sum_s p(s) l^order = sum_s p(s|x) l^(order-1): a mean that is 1 at order 1, so that
    # logs of it stay exact as the order comes near 1.
    norms = log_mean_exp(joint.matrix / joint.marginal, (order - 1) * values) / order
    return max(order / (order - 1) * float(log_mean_exp(joint.marginal, norms)), 0.0)


def alpha_lift(joint: Distribution, order: float) -> Vector:
    """Alpha-lift of every released value: (E_s lift(s, x)^order)^(1/order) under the prior; 1 if it says nothing.

    It grows with the order from 1 to the largest lift, at order inf. Sibson's mutual information of the order is
    order / (order - 1) times the logarithm of its mean over released values.
    """
    joint = Joint.of(joint)
    if not order >= 1:
        raise ArgumentError(f"order is {order}; it must be 1 or more")
    return np.asarray(joint.lift.max(axis=0)) if np.isinf(order) else lift_norms(joint.lift, joint.prior, order)


def lift_norms(lifts: Matrix, prior: Vector, order: float) -> Vector:
    """(sum_s P(s) l_s^order)^(1/order) of every column; divided by the largest first, so that no power overflows."""
    largest = lifts.max(axis=0)
    means = prior @ (lifts / np.where(largest > 0, largest, 1.0)) ** order
    return np.asarray(largest * means ** (1 / order))


def arimoto(joint: Distribution, order: float) -> float:
    """Arimoto's mutual information of an order in (0, inf].

    Order 1 is mutual information; order inf is the log of the factor by which the release
    improves the best guess of the secret.
    """
    joint = Joint.of(joint)
    order = _checked_order(order)
    if order == 1:
        return mutual_information(joint)
    if order == np.inf:
        return max(float(np.log(guessing_probability(joint) / joint.prior.max())), 0.0)
    posterior = joint.matrix / joint.marginal
    if order == 2:
        return _twice_log_mean_root(joint.marginal, (posterior**2).sum(axis=0) / (joint.prior**2).sum() - 1)
    gains = (_log_power_mean(posterior, order) - _log_power_mean(joint.prior, order)) / order
    return max(order / (order - 1) * float(log_mean_exp(joint.marginal, gains)), 0.0)


def maximal_leakage(joint: Distribution) -> float:
    """Log of the largest factor by which a guess of any function of the secret can improve (Issa et al. 2020)."""
    return sibson(joint, np.inf)


def guessing_probability(joint: Distribution) -> float:
    """Probability that the best guess of the secret from the released value is right (not in nats)."""
    return float(Joint.of(joint).matrix.max(axis=0).sum())


def local_dp(joint: Distribution) -> float:
    """Largest log P(s|x) / P(s|x') over secrets s and released values x, x'.

    inf if some released value rules out a secret that another allows.
    """
    values = log_lift(joint)
    return float((values.max(axis=1) - values.min(axis=1)).max())


def e_gamma(p: ArrayLike, q: ArrayLike, gamma: float) -> float:
    """Hockey-stick divergence: the largest P(A) - gamma Q(A) over events A, which is the sum of (p - gamma q)+.

    With gamma = e^epsilon it is the smallest delta for which P(A) <= e^epsilon Q(A) + delta for every event.
    """
    if not gamma >= 0:
        raise ArgumentError(f"gamma is {gamma}; it must be 0 or more")
    first, second = checked_probabilities(p, "p"), checked_probabilities(q, "q")
    if first.shape != second.shape:
        raise ArgumentError(f"p and q must have one shape; they have {first.shape} and {second.shape}")
    return float(np.maximum(first - gamma * second, 0).sum())


Generator = Callable[[Matrix], Matrix]


def _kl(t: Matrix) -> Matrix:
    return np.asarray(np.maximum(t * np.log(np.where(t > 0, t, 1.0)) - (t - 1), 0))


def _reverse_kl(t: Matrix) -> Matrix:
    with np.errstate(divide="ignore"):
        return np.asarray(np.maximum(t - 1 - np.log(t), 0))


# Each is f up to a multiple of t - 1, which adds nothing to the information and keeps every term positive.
GENERATORS: Final[dict[str, Generator]] = {
    "kl": _kl,
    "reverse_kl": _reverse_kl,
    "chi_squared": lambda t: np.square(t - 1),
    "total_variation": lambda t: np.abs(t - 1) / 2,
    "hellinger": lambda t: np.square(np.sqrt(t) - 1) / 2,
}
"""Convex functions by name; ``hellinger`` is the squared distance, between 0 and 1."""


def generator(f: str | Generator, *, gamma: float | None = None) -> Generator:
    """The convex function of a name, or the function itself, checked to be 0 at 1."""
    if isinstance(f, str):
        if f == "e_gamma":
            if gamma is None or not gamma >= 0:
                raise ArgumentError(f"e_gamma needs a gamma of 0 or more; gamma is {gamma}")
            return lambda t: np.maximum(t - gamma, 0) - max(1 - gamma, 0)
        if f not in GENERATORS:
            names = ", ".join([*GENERATORS, "e_gamma"])
            raise ArgumentError(f"there is no f-information called '{f}'; there are: {names}, or give a function")
        return GENERATORS[f]
    at_one = float(np.asarray(f(np.ones((1, 1)))).ravel()[0])
    if not abs(at_one) <= 1e-9:
        raise ArgumentError(f"f(1) is {at_one:g}; the f of an f-divergence is convex with f(1) = 0")
    return f


def f_information(joint: Distribution, f: str | Generator, *, gamma: float | None = None) -> float:
    """f-divergence between the joint and the product of its marginals.

    Parameters
    ----------
    f : str or callable
        One of ``kl`` (mutual information), ``reverse_kl`` (lautum information), ``chi_squared``,
        ``total_variation``, ``hellinger``, ``e_gamma`` (with ``gamma``), or any convex function of an array with
        f(1) = 0 and its limit at 0 (which may be inf).

    Returns
    -------
    float
        inf where the divergence is: ``reverse_kl`` of a joint with a pair that never occurs.
    """
    joint = Joint.of(joint)
    function = generator(f, gamma=gamma)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.asarray(function(joint.lift), dtype=np.float64)
    if terms.shape != joint.shape or np.isnan(terms).any():
        raise ArgumentError("f must give a number for every lift of an array; at 0, give it its limit")
    return max(float(joint.prior @ terms @ joint.marginal), 0.0)


def _twice_log_mean_root(weights: Vector, excess: Vector) -> float:
    """2 log of the mean of sqrt(1 + excess), exact for small excess: order 2 needs no other logs."""
    return max(2 * float(np.log1p(weights @ np.expm1(np.log1p(excess) / 2))), 0.0)


def _checked_order(order: float) -> float:
    if not order > 0:
        raise ArgumentError(f"order is {order}; it must be more than 0, and may be inf")
    return np.inf if order > _LARGEST_ORDER else max(order, _SMALLEST_ORDER)


def _log_power_mean(p: Matrix | Vector, order: float) -> Vector:
    """log sum p^order down the first axis, exact where order comes near 1."""
    logs = np.log(p, out=np.zeros_like(p), where=p > 0)
    return log_mean_exp(p, (order - 1) * logs)


def log_mean_exp(weights: Matrix | Vector, exponents: Matrix | Vector) -> Vector:
    """log of the mean of e^exponent down the first axis, for weights that sum to 1.

    Small exponents go through expm1 and log1p, so that the answer keeps its digits as they go to 0;
    large ones are shifted by their maximum, so that nothing overflows.
    """
    exponents = np.where(weights > 0, exponents, 0.0)
    near = np.abs(exponents).max(axis=0) < 0.5
    small = np.where(near, exponents, 0.0)
    top = np.where(weights > 0, exponents, -np.inf).max(axis=0)
    shifted = np.where(weights > 0, np.exp(exponents - top), 0.0)
    means = np.log1p((weights * np.expm1(small)).sum(axis=0))
    return np.asarray(np.where(near, means, top + np.log((weights * shifted).sum(axis=0))))
