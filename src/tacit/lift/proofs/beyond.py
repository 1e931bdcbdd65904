"""How surprising a sample would be if a log-lift were beyond its bound: exact p-values, the prior known or not.

A certificate asks whether each log-lift is within its bound. It may say so where the sample would be surprising if it
were not. Where the prior is not known, separate limits for it and for the belief p(s|y) are too cautious: they are
hardly ever wrong at once. Here the records with y are compared with all others, in one exact test.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from tacit.errors import ArgumentError
from tacit.lift.joint import Matrix, Vector

# Shares of the smallest level asked for: for each of three auxiliary limits, and for saving an exact sum.
_ASIDE: Final = 1e-3
_QUICK: Final = 0.02
# A p-value this many times the largest level asked for, the prior taken as counted, needs no exact sum: it is 1.
_HOPELESS: Final = 3.0
_COMMON: Final = 0.05
# The unknown rate of the other records is tried in steps of this many standard errors of what is compared.
_STEP: Final = 0.05
# Standard deviations of a count beyond which its probabilities are not summed, and more than their sum.
_FAR: Final = 7.5
_TRIMMED: Final = 1e-12
# A boundary between outcomes is moved by this much, so that rounding never leaves out one that belongs.
_ROUNDING: Final = 1e-7


def beyond_p_values(
    pair: ArrayLike,
    value: ArrayLike,
    secret: ArrayLike,
    total: ArrayLike,
    *,
    low: ArrayLike,
    high: ArrayLike,
    least: ArrayLike,
    most: float,
    prior: ArrayLike | None = None,
) -> Matrix:
    """P-values of "the log-lift is below -low or above high", for each pair of secret and released value.

    Parameters
    ----------
    pair, value, secret, total : arrays of whole numbers that broadcast
        The records with both, with the released value, with the secret, and all of them.
    low, high : arrays that broadcast
        The bounds, in nats; a side whose bound is inf is not asked about.
    least, most : array that broadcasts, float
        The smallest and the largest level that the p-values will be compared with. Whatever is clearly above ``most``
        is given as 1, and no exact sum is computed for what is clearly below ``least``.
    prior : array that broadcasts, optional
        P(s) where it is known exactly.

    Guarantees
    ----------
    For each entry by itself: if the records are independent draws and bounds, levels and ``prior`` do not depend on
    them, and the true log-lift is beyond a bound, then the p-value is at most u with probability at most u, for every
    u. Without records with the value it is 1.

    With a known prior it is a binomial tail at the bound. Otherwise let a = p(s|y), b = p(s|not y), q = P(y) and
    f = e^high. Then a >= f P(s) means a >= r b with r = f (1-q) / (1-f q), which grows with q. Given the n records with
    y and the m others, the counts k and l are independent and binomial. For one b, the chance of an outcome as safe as
    the one seen (k/n - r l/m no larger) is largest at a = r b: it is a p-value. The largest one over an interval for b,
    at an r from a lower limit of q, can also fail if one of those limits does: they have a thousandth of ``least``
    each, which is added. Between the steps of b, a and b are both taken from the end that is worse. So the p-value is
    never too small; mirrored on the low side, where r falls with q. Another thousandth and two hundredths are added for
    saving the sum: a pair gets the smallest p-value at once if a limit of P(s), at the first of these levels, and a
    binomial tail for a, at the second, put it within the bound.
    """
    fixed_prior = None if prior is None else np.asarray(prior, dtype=np.float64)
    arrays = [np.asarray(each, dtype=np.float64) for each in (pair, value, secret, total, low, high, least)]
    k, n, with_secret, everyone, low_, high_, level = np.broadcast_arrays(*arrays)
    if not ((k >= 0) & (k <= n) & (k <= with_secret) & (n - k <= everyone - with_secret)).all():
        raise ArgumentError("no pair can have more records than its value, its secret and the whole table leave it")
    if not ((low_ >= 0) & (high_ >= 0) & (level > 0) & (level <= most)).all():
        raise ArgumentError("bounds must be 0 or more, and levels between 0 and the largest one")
    result = np.zeros(k.shape)
    for bound, up in ((low_, False), (high_, True)):
        bounded = np.isfinite(bound)
        own, of_value, factor = k[bounded], n[bounded], np.exp(bound[bounded] if up else -bound[bounded])
        if fixed_prior is None:
            side = _of_a_side(
                own, of_value, with_secret[bounded], everyone[bounded], factor, level[bounded], most, up=up
            )
        else:
            rate = factor * np.broadcast_to(fixed_prior, k.shape)[bounded]
            side = np.where(of_value > 0, tail(own, of_value, rate, up=up), 1.0)
        result[bounded] = np.maximum(result[bounded], side)
    return result


def _of_a_side(
    k: Vector, n: Vector, secret: Vector, total: Vector, factor: Vector, level: Vector, most: float, *, up: bool
) -> Vector:
    """P-values of one side, the prior unknown."""
    aside, smallest = _ASIDE * level, (3 * _ASIDE + _QUICK) * level
    p = np.ones(len(k))
    occurs = (n > 0) & (n < total)
    share = np.divide(secret, total, out=np.zeros(len(k)), where=total > 0)
    within = k <= factor * share * n if up else k >= factor * share * n
    # A common value makes up much of the prior, which the exact test takes into account and this one does not.
    open_ = occurs & within & ((tail(k, n, factor * share, up=up) <= _HOPELESS * most) | (n > _COMMON * total))
    limit = lower(secret, total, aside) if up else upper(secret, total, aside)
    quick = open_ & (tail(k, n, factor * limit, up=up) <= _QUICK * level)
    p[quick] = smallest[quick]
    for i in np.flatnonzero(open_ & ~quick):
        worst = _worst_tail(k[i], n[i], secret[i] - k[i], total[i] - n[i], float(factor[i]), float(aside[i]), up=up)
        p[i] = min(smallest[i] + worst, 1.0)
    return p


def _worst_tail(k: float, n: float, l: float, m: float, factor: float, aside: float, *, up: bool) -> float:  # noqa: E741
    """The largest chance of an outcome as safe as (k of n, l of m), over all rates that the others may have."""
    q = float(lower(n, n + m, aside))
    if up and factor * q >= 1:
        return 0.0
    r = factor * (1 - q) / (1 - factor * q)
    b_low, b_high = float(lower(l, m, aside / 2)), float(upper(l, m, aside / 2))
    b_high = min(b_high, 1 / r)
    if b_low >= b_high:
        return 0.0
    b, a = l / m, min(r * l / m, 1.0)
    error = np.sqrt(max(a * (1 - a), 1 / n) / n + r * r * max(b * (1 - b), 1 / m) / m)
    grid = np.linspace(b_low, b_high, 2 + int((b_high - b_low) * r / (_STEP * error)))
    inside, outside = (r * grid[:-1], grid[1:]) if up else (np.minimum(r * grid[1:], 1.0), grid[:-1])
    ends = n * inside.min(), n * inside.max()
    width = _FAR * np.sqrt(n * (inside * (1 - inside)).max()) + 3 * _FAR
    counts = np.arange(max(np.floor(ends[0] - width), 0.0), min(np.ceil(ends[1] + width), n) + 1)
    border = l + m / (r * n) * (counts - k)
    border = np.ceil(border - _ROUNDING) if up else np.floor(border + _ROUNDING)
    others = tail(np.clip(border, -1, m + 1), m, outside[:, None], up=not up)
    return float((_binomial(counts, n, inside[:, None]) * others).sum(axis=1).max()) + _TRIMMED


def _binomial(k: Vector, n: float, rate: Vector) -> Matrix:
    """The probability of k of n."""
    from scipy.special import betaln, xlog1py, xlogy

    ways = -np.log(n + 1) - betaln(k + 1, n - k + 1)
    return np.asarray(np.exp(ways + xlogy(k, rate) + xlog1py(n - k, -np.minimum(rate, 1.0))))


def tail(k: Vector, n: Vector | float, rate: Vector, *, up: bool) -> Matrix:
    """The chance of a count as far from the bound as k: of at most k below a rate, of at least k above it.

    A rate of 1 or more cannot be exceeded, so the chance is 0.
    """
    from scipy.special import betainc

    k, n, p = np.broadcast_arrays(k, n, np.clip(rate, 0.0, 1.0))
    if up:
        inside = (k >= 0) & (k < n)
        result = np.where(k < 0, 0.0, betainc(np.where(inside, n - k, 1), np.where(inside, k, 0) + 1, 1 - p))
        result = np.where(k >= n, 1.0, result)
        return np.where(np.broadcast_to(np.asarray(rate), p.shape) >= 1, 0.0, result)
    inside = (k > 0) & (k <= n)
    result = np.where(k > n, 0.0, betainc(np.where(inside, k, 1), np.where(inside, n - k, 0) + 1, p))
    return np.where(k <= 0, 1.0, result)


def lower(k: ArrayLike, n: ArrayLike, beta: ArrayLike) -> Vector:
    """As `tacit.lift.proofs.intervals.lower_limit`, at a level for each."""
    from scipy.special import betaincinv

    k, n = np.asarray(k, dtype=np.float64), np.asarray(n, dtype=np.float64)
    return np.where(k > 0, betaincinv(np.where(k > 0, k, 1.0), n - k + 1, beta), 0.0)


def upper(k: ArrayLike, n: ArrayLike, beta: ArrayLike) -> Vector:
    """As `tacit.lift.proofs.intervals.upper_limit`, at a level for each."""
    from scipy.special import betainccinv

    k, n = np.asarray(k, dtype=np.float64), np.asarray(n, dtype=np.float64)
    return np.where(k < n, betainccinv(k + 1, np.where(k < n, n - k, 1.0), beta), 1.0)
