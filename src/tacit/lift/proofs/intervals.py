"""Limits of an unknown probability or log-lift from counts: exact, at every sample size at once, or for a whole table.

Every limit is one-sided. ``beta`` is the probability with which it may be wrong: its confidence is 1 - beta.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from tacit.errors import ArgumentError
from tacit.lift.joint import Mask, Vector, halved

Limit = Callable[..., Vector]

# Shares of beta: the belief p(s|y) has fewer records than the prior p(s), so it gets the larger one.
_FOR_BELIEF: Final = 0.9
_FOR_PRIOR: Final = 0.1
# The same where a value is compared with all other released values instead of with the prior.
_FOR_INSIDE: Final = 0.45
_FOR_OUTSIDE: Final = 0.45
_FOR_SHARE: Final = 0.1
# Halvings of an interval of length at most 1: the limit found differs from the root by less than rounding.
_HALVINGS: Final = 60


def checked_beta(beta: float) -> float:
    """``beta`` itself if it can be the probability of a wrong claim."""
    if not 0 < beta < 1:
        raise ArgumentError(f"beta is {beta}; it is the probability of a wrong claim, between 0 and 1 (0.05, say)")
    return float(beta)


def upper_limit(successes: ArrayLike, trials: ArrayLike, *, beta: float) -> Vector:
    """Upper limit of a probability (Clopper and Pearson, one-sided): the p at which so few successes have chance beta.

    Guarantees
    ----------
    If ``successes`` is binomial with ``trials`` (a number that does not depend on them) and p, then p is at most the
    limit with probability at least 1 - beta, whatever p is. Without trials the limit is 1.

    Examples
    --------
    >>> upper_limit([0, 5, 10], 10, beta=0.05).round(4).tolist()
    [0.2589, 0.7776, 1.0]
    """
    from scipy.special import betainccinv

    k, n = _checked_counts(successes, trials)
    inside = k < n
    return np.where(inside, betainccinv(k + 1, np.where(inside, n - k, 1.0), checked_beta(beta)), 1.0)


def lower_limit(successes: ArrayLike, trials: ArrayLike, *, beta: float) -> Vector:
    """Lower limit of a probability (Clopper and Pearson, one-sided): the p at which so many successes have chance beta.

    Guarantees
    ----------
    As for `upper_limit`, on the other side. Without trials, or without a success, the limit is 0.
    """
    from scipy.special import betaincinv

    k, n = _checked_counts(successes, trials)
    inside = k > 0
    return np.where(inside, betaincinv(np.where(inside, k, 1.0), n - k + 1, checked_beta(beta)), 0.0)


def upper_sequence(successes: ArrayLike, trials: ArrayLike, *, beta: float) -> Vector:
    """Upper limit of a probability that holds at every number of trials at once (a confidence sequence).

    The mixture of p^k (1-p)^(n-k) over a Beta(1/2, 1/2) prior, divided by its value at the true p, is a martingale
    that starts at 1, so it ever reaches 1/beta with probability at most beta (Ville). The limits are the p at which
    it is below 1/beta.

    Guarantees
    ----------
    For independent trials of one probability p, with probability at least 1 - beta no limit of the whole sequence,
    upper or lower, is ever on the wrong side of p. You may look after each trial, and stop when you like.
    """
    k, n = _checked_counts(successes, trials)
    return kl_upper(_share(k, n), _sequence_radius(k, n, checked_beta(beta)))


def lower_sequence(successes: ArrayLike, trials: ArrayLike, *, beta: float) -> Vector:
    """Lower limit of a probability that holds at every number of trials at once; see `upper_sequence`."""
    k, n = _checked_counts(successes, trials)
    return kl_lower(_share(k, n), _sequence_radius(k, n, checked_beta(beta)))


def log_lift_limits(
    pair: Vector,
    value: Vector,
    secret: Vector,
    total: Vector | float,
    *,
    beta: float,
    prior: Vector | None = None,
    common: Mask | None = None,
    limits: tuple[Limit, Limit] = (lower_limit, upper_limit),
) -> tuple[Vector, Vector]:
    """Upper limits of -log-lift and of log-lift in each cell, from records of the pair, its value and its secret.

    ``pair``, ``value``, ``secret`` and ``total`` (arrays that broadcast) are the records with both, with the released
    value, with the secret, and all of them. ``prior`` is P(s) where it is known, ``common`` (shaped as ``value``) the
    values to compare with the rest of the records instead of with the prior, ``limits`` the lower and upper limit of a
    probability to use.

    Guarantees
    ----------
    For each cell by itself, if records are independent draws and ``prior`` and ``common`` do not depend on them: the
    limit of one side is below the larger of 0 and the true value with probability at most beta. inf where no record
    has the value.
    """
    lower, upper = limits
    if prior is not None:
        part, s_low, s_high = beta, prior, prior
    else:
        part = _FOR_BELIEF * beta
        s_low, s_high = (limit(secret, total, beta=_FOR_PRIOR * beta) for limit in limits)
    with np.errstate(divide="ignore"):
        low = np.asarray(np.log(s_high / lower(pair, value, beta=part)))
        high = np.asarray(np.log(upper(pair, value, beta=part) / s_low))
    if common is not None and common.any():
        pair, value, secret, whole, common = np.broadcast_arrays(pair, value, secret, total, common)
        inside, own, everyone = pair[common], value[common], whole[common]
        outside, rest = secret[common] - inside, everyone - own
        low[common], high[common] = against_rest(
            lower(inside, own, beta=_FOR_INSIDE * beta),
            upper(inside, own, beta=_FOR_INSIDE * beta),
            lower(outside, rest, beta=_FOR_OUTSIDE * beta),
            upper(outside, rest, beta=_FOR_OUTSIDE * beta),
            lower(own, everyone, beta=_FOR_SHARE * beta),
        )
    unseen = value + np.zeros_like(low) == 0
    low[unseen] = high[unseen] = np.inf
    return low, high


def against_rest(
    inside_low: Vector, inside_high: Vector, outside_low: Vector, outside_high: Vector, share_low: Vector
) -> tuple[Vector, Vector]:
    """Limits of -log-lift and log-lift from those of p(s|y), p(s|not y) and P(y), of which only the lower one matters.

    The log-lift is -log(p + (1-p) r) with p = P(y), r = p(s|not y) / p(s|y). Where it is positive r < 1, and it grows
    as r and p fall; where it is negative r > 1, and it falls as r grows and p falls. So a small p is the worst of both.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        smallest = np.minimum(np.nan_to_num(outside_low / inside_high, nan=1.0), 1.0)
        largest = np.maximum(np.where(inside_low > 0, outside_high / inside_low, np.inf), 1.0)
        high = -np.log(share_low + (1 - share_low) * smallest)
        low = np.log(share_low + (1 - share_low) * largest)
    return np.asarray(np.where(np.isinf(largest), np.inf, low)), np.asarray(high)


def kl_upper(share: ArrayLike, radius: ArrayLike) -> Vector:
    """The largest q with kl(share || q) <= radius, for the divergence kl of two coins; 1 where the radius is inf."""
    p, radius = np.broadcast_arrays(np.asarray(share, dtype=np.float64), np.asarray(radius, dtype=np.float64))
    return np.minimum(p + _reach(p, 1 - p, radius), 1.0)


def kl_lower(share: ArrayLike, radius: ArrayLike) -> Vector:
    """The smallest q with kl(share || q) <= radius, for the divergence kl of two coins; 0 where the radius is inf."""
    p, radius = np.broadcast_arrays(np.asarray(share, dtype=np.float64), np.asarray(radius, dtype=np.float64))
    return np.maximum(p - _reach(1 - p, p, radius), 0.0)


def kl_radius(records: float, cells: int, *, beta: float) -> float:
    """How far, in Kullback-Leibler divergence, the counted shares can be from the true ones: tau of the KL ball.

    Guarantees
    ----------
    For independent records of one distribution on ``cells`` cells, those never seen included, KL(counted || true) is
    at most the radius with probability at least 1 - beta. It is the smaller of two proved radii: that of Agrawal
    (2020), the root of e^(-n t) (e n t / (k-1))^(k-1) = beta, and that of the method of types,
    C(n+k-1, k-1) e^(-n t) = beta.
    """
    from scipy.special import betaln

    beta = checked_beta(beta)
    if cells < 1 or not records >= 0:
        raise ArgumentError(f"a table of {cells} cells and {records} records has no radius: both must be positive")
    if cells == 1:
        return 0.0
    if records == 0:
        return np.inf
    # With v = n t / (k-1) the first equation is v - 1 - log v = log(1/beta) / (k-1), on its branch v > 1.
    target = -np.log(beta) / (cells - 1)
    _, high = halved(0.0, 2 * target + 2, lambda v: v - np.log1p(v) < target, times=_HALVINGS)
    mixture = (cells - 1) * (1 + float(high)) / records
    types = (-np.log(records + cells) - betaln(records + 1, cells) - np.log(beta)) / records
    return float(min(mixture, types))


def _reach(p: Vector, room: Vector, radius: Vector) -> Vector:
    """The largest step t <= room, away from p, with kl(p || p + t) <= radius; found from outside, so never too small.

    With logs of 1 + t/p and 1 - t/room the first-order terms cancel before they are rounded.
    """
    # A share so small adds nothing, and would overflow as a divisor.
    positive, inside = p > 1e-200, room > 0
    safe_p, safe_room = np.where(positive, p, 1.0), np.where(inside, room, 1.0)

    def within(step: Vector) -> Mask:
        share = np.where(inside, np.minimum(step / safe_room, 1.0), 0.0)
        with np.errstate(divide="ignore"):
            divergence = -room * np.log1p(-share) - np.where(positive, p * np.log1p(step / safe_p), 0.0)
        return np.asarray(divergence <= radius)

    return np.asarray(halved(np.zeros_like(p), room, within, times=_HALVINGS)[1])


def _sequence_radius(k: Vector, n: Vector, beta: float) -> Vector:
    """The divergence at which the mixture reaches 1/beta; inf without trials."""
    from scipy.special import betaln

    p = _share(k, n)
    with np.errstate(divide="ignore", invalid="ignore"):
        fit = np.where(k > 0, k * np.log(p), 0.0) + np.where(k < n, (n - k) * np.log1p(-p), 0.0)
        radius = (fit - betaln(k + 0.5, n - k + 0.5) + betaln(0.5, 0.5) - np.log(beta)) / n
    return np.where(n > 0, radius, np.inf)


def _share(k: Vector, n: Vector) -> Vector:
    return k / np.where(n > 0, n, 1.0)


def _checked_counts(successes: ArrayLike, trials: ArrayLike) -> tuple[Vector, Vector]:
    k, n = np.broadcast_arrays(np.asarray(successes, dtype=np.float64), np.asarray(trials, dtype=np.float64))
    if not ((k >= 0) & (k <= n) & np.isfinite(n)).all():
        raise ArgumentError("successes must be 0 or more, and no more than the trials")
    return k, n
