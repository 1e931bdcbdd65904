"""E-gamma divergence (`tacit.lift.measures.e_gamma`) from log-lifts, from samples, and of several features in turn.

With gamma = e^epsilon and i = log dP/dQ it is a mean of i's tail: (12) of the tide paper,

    E_gamma(P || Q) = e^epsilon * integral over t > epsilon of e^-t P(i > t) = mean under P of (1 - e^(epsilon - i))+,

where the probability is P's: that of the records *with* the secret, if P is P_{Y|s} and Q is P_Y. Under P_Y (as in the
paper's (7) and (18)) the formula is false; there it is the integral of e^t P_Y(i > t), the mean of (e^i - e^epsilon)+.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from tacit.errors import ArgumentError, DataError
from tacit.lift.estimate import Estimate
from tacit.lift.joint import Vector, checked_probabilities
from tacit.lift.proofs.intervals import checked_beta, lower_limit, upper_limit


def e_gamma_of_log_lift(
    values: ArrayLike,
    epsilon: float,
    *,
    weights: ArrayLike | None = None,
    under: Literal["secret", "everyone"] = "secret",
) -> float:
    """E-gamma of P_{Y|s} from P_Y, from log-lifts i(s, y) of released values: the tail formula (12).

    ``values`` are log-lifts of one secret, in nats, ``weights`` their probabilities; without weights all count the
    same, as for records drawn. ``under`` says whose they are: of the records with the ``secret``, or of ``everyone``.

    Guarantees
    ----------
    Exact if values and weights are those of the population. With records drawn and *true* log-lifts the mean is
    unbiased; under ``secret`` every term lies between 0 and 1. With estimated log-lifts nothing is guaranteed.
    """
    lifts = np.asarray(values, dtype=np.float64).ravel()
    if len(lifts) == 0 or np.isnan(lifts).any():
        raise ArgumentError("values must be one or more log-lifts, none of them nan")
    shares = checked_probabilities(np.full(len(lifts), 1 / len(lifts)) if weights is None else weights, "weights")
    if shares.size != lifts.size:
        raise ArgumentError(f"there are {shares.size} weights for {lifts.size} values: one for each")
    if under == "secret":
        terms = -np.expm1(np.minimum(epsilon - lifts, 0.0))
    elif under == "everyone":
        terms = np.maximum(np.exp(lifts) - np.exp(epsilon), 0.0)
    else:
        raise ArgumentError(f"under is '{under}'; it is 'secret' or 'everyone'")
    return float(shares.ravel() @ terms)


def tail_bound(delta: float, epsilon: float, beyond: float) -> float:
    """Largest probability, among records with the secret, of a log-lift above ``beyond``, if E-gamma is delta.

    The paper's claim that it is delta for ``beyond`` = epsilon is false (E-gamma .005 with probability .5); it is
    delta / (1 - e^(epsilon - beyond)), capped at 1, for ``beyond`` above epsilon.
    """
    if not (delta >= 0 and beyond >= epsilon):
        raise ArgumentError("delta must be 0 or more and beyond at least epsilon")
    return 1.0 if beyond == epsilon and delta > 0 else min(delta / max(-np.expm1(epsilon - beyond), 1e-300), 1.0)


def compose_deltas(epsilons: Sequence[float] | ArrayLike, deltas: Sequence[float] | ArrayLike) -> tuple[float, float]:
    """Epsilon and delta of all features together, from those of each given what was released before it.

    Guarantees
    ----------
    If E_{e^epsilon_j}(P_{Y_j|s,y} || P_{Y_j|y}) <= delta_j for every y released before, then with epsilon the sum,
    E_{e^epsilon}(P_{Y|s} || P_Y) <= 1 - product of (1 - delta_j), which is at most the sum of (13). This is because
    E_gamma(P || Q) = 1 - total of min(P, gamma Q), and the minimum of two products is at least the product of the
    minima. Ask `vacuous` whether the bound says anything.

    Examples
    --------
    >>> epsilon, delta = compose_deltas([0.5, 0.5], [0.1, 0.2])
    >>> epsilon, round(delta, 3)
    (1.0, 0.28)
    """
    levels, bounds = np.asarray(epsilons, dtype=np.float64), np.asarray(deltas, dtype=np.float64)
    if levels.shape != bounds.shape or levels.ndim != 1 or np.isnan(levels).any() or not (bounds >= 0).all():
        raise ArgumentError("there must be one epsilon and one delta, 0 or more, for every feature")
    with np.errstate(divide="ignore"):
        together = -np.expm1(np.log1p(-np.minimum(bounds, 1.0)).sum())
    return float(levels.sum()), float(together)


def e_gamma_counts(first: ArrayLike, second: ArrayLike, gamma: float, *, beta: float = 0.05) -> Estimate:
    """E-gamma of P from Q, from counts of two independent samples over the same finite list of values.

    The value is that of the shares counted (plug-in), which is too large on average: noise looks like a difference.

    Guarantees
    ----------
    If the counts are of independent records drawn from P and from Q and the list of values was fixed beforehand, the
    truth lies between ``low`` and ``high`` with probability at least 1 - beta. The plug-in value is off by at most the
    total variation of P from its sample, plus gamma times that of Q; a total variation of k values from n records is
    at most sqrt(k / n) / 2 on average, and passes its average by sqrt(log(1/beta) / 2n) with probability beta.
    """
    tables = [_counts(first, "first"), _counts(second, "second")]
    if len(tables[0]) != len(tables[1]):
        raise ArgumentError(f"the samples count {len(tables[0])} and {len(tables[1])} values; they must be the same")
    gamma, each = _gamma(gamma), checked_beta(beta) / 2
    p, q = (table / table.sum() for table in tables)
    off, off_second = (
        np.sqrt(len(table) / table.sum()) / 2 + np.sqrt(np.log(1 / each) / (2 * table.sum())) for table in tables
    )
    value = float(np.maximum(p - gamma * q, 0).sum())
    doubt = float(min(off, 1.0) + gamma * min(off_second, 1.0))
    return Estimate(value, max(value - doubt, 1 - gamma, 0.0), min(value + doubt, 1.0), "estimate")


def e_gamma_scores(
    first: ArrayLike, second: ArrayLike, gamma: float, *, beta: float = 0.05, ordered: bool = False
) -> Estimate:
    """E-gamma of P from Q, from one number (a score, such as an estimated log-lift) per record of each.

    Only events of the kind "score above t" are considered. The best t is chosen on every second record and
    P(A) - gamma Q(A) is measured on the others.

    Parameters
    ----------
    ordered : bool
        Whether the score is known to order values as dP/dQ does (Gaussians of one scale: the value itself). Only then
        are these the best events, and only then is there an upper limit.

    Returns
    -------
    Estimate
        ``lower bound`` with value and low the lower limit and high 1; with ``ordered``, ``estimate``: the plug-in value
        between its limits.

    Guarantees
    ----------
    If the records are independent draws, in an order that says nothing, from P and from Q, and the score was not
    learned from them: a limit is wrong with probability at most beta (with ``ordered``, one or the other is).
    Low: Clopper and Pearson, on records that did not choose the event. High: Dvoretzky, Kiefer and Wolfowitz.
    """
    scores = [_scores(first, "first"), _scores(second, "second")]
    gamma, beta = _gamma(gamma), checked_beta(beta)
    share = beta / 2 if ordered else beta
    cut, _ = _best_cut(scores[0][::2], scores[1][::2], gamma)
    measuring = [sample[1::2] for sample in scores]
    low = float(
        lower_limit((measuring[0] > cut).sum(), len(measuring[0]), beta=share / 2)
        - gamma * upper_limit((measuring[1] > cut).sum(), len(measuring[1]), beta=share / 2)
    )
    # The empty event and the certain one need no sample.
    low = max(low, 0.0, 1 - gamma)
    if not ordered:
        return Estimate(low, low, 1.0, "lower bound")
    # One-sided, for P above and for Q below: each has the constant 1 (Massart) as long as share / 2 is at most a half.
    off, off_second = (np.sqrt(np.log(2 / share) / (2 * len(sample))) for sample in scores)
    value = _best_cut(scores[0], scores[1], gamma)[1]
    return Estimate(value, min(low, value), min(value + float(off + gamma * off_second), 1.0), "estimate")


def _best_cut(first: Vector, second: Vector, gamma: float) -> tuple[float, float]:
    """The t with the largest share of first above it less gamma times that of second, and that difference."""
    cuts = np.concatenate([[-np.inf], np.unique(np.concatenate([first, second]))])
    above = [1 - np.searchsorted(np.sort(sample), cuts, side="right") / len(sample) for sample in (first, second)]
    gain = above[0] - gamma * above[1]
    best = int(gain.argmax())
    return float(cuts[best]), float(gain[best])


def _gamma(gamma: float) -> float:
    if not 0 <= gamma < np.inf:
        raise ArgumentError(f"gamma is {gamma}; it must be 0 or more")
    return float(gamma)


def _counts(values: ArrayLike, name: str) -> Vector:
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 1 or not (table >= 0).all() or not (table == np.round(table)).all():
        raise ArgumentError(f"{name} must be a list of counts: whole numbers, 0 or more")
    if table.sum() == 0:
        raise DataError(f"{name} counts no record: nothing can be estimated from it")
    return table


def _scores(values: ArrayLike, name: str) -> Vector:
    sample = np.asarray(values, dtype=np.float64).ravel()
    if np.isnan(sample).any():
        raise ArgumentError(f"{name} has scores that are not numbers")
    if len(sample) < 2:
        raise DataError(f"{name} has {len(sample)} records; at least 2 are needed, half to choose and half to measure")
    return sample
