"""What a network maximises so that its outputs become log-lifts.

Every objective is an expectation over P_SX less one over P_S P_X, and the second is taken exactly over the secret,
E_{P_S P_X}[g] = E_X[sum_s p(s) g(s, X)]: no shuffling, hence no noise from it.

The outputs of a network are log-lifts h(s, x) throughout. The dual of an f-divergence (watchdog paper, footnote 2)
is E_P[g] - E_Q[f*(g)] and its maximiser is g = f'(lift); with g = f'(e^h) and f*(f'(t)) = t f'(t) - f(t) the maximiser
in h is the log-lift itself, and no output can leave the domain of f*.

The functions take the array module (numpy or jax.numpy) first, so that one text serves training and judging.
``posterior`` holds each record's distribution of the secret: a one for the true secret of a sampled record, or P(s|x)
for an exact joint.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import log
from typing import Any

import numpy as np

from tacit.errors import ArgumentError

Value = Callable[..., Any]


@dataclass(frozen=True)
class Objective:
    """A value to be maximised over log-lifts, and what its maximiser is unique up to.

    Attributes
    ----------
    free : str
        What may be added to the outputs without changing the value: "record" (any function of x), "constant" or "none".
    """

    title: str
    free: str
    value: Value


def objective_value(objective: str, log_lift: Any, posterior: Any, *, prior: Any, weight: Any | None = None) -> float:
    """The value of an objective at given log-lifts, in nats.

    Parameters
    ----------
    objective : str
        A key of ``OBJECTIVES``.
    log_lift, posterior : arrays, records x secrets
        The function that is judged, and each record's distribution of the secret.
    prior : array
        P_S.
    weight : array, optional
        Weights of the records; alike by default.

    Guarantees
    ----------
    "dv", "tide", "nwj" and "ce" are at most the mutual information of the joint that weight and posterior make,
    whenever prior is its marginal, and equal it at the true log-lift. A lower bound certifies nothing.
    """
    known = objective_named(objective)
    lifts = np.asarray(log_lift, dtype=np.float64)
    share = np.ones(len(lifts)) if weight is None else np.asarray(weight, dtype=np.float64)
    return float(known.value(np, lifts, np.asarray(posterior), np.asarray(prior), share / share.sum()))


def objective_named(name: str) -> Objective:
    """The objective of that name."""
    if name not in OBJECTIVES:
        raise ArgumentError(f"no objective {name!r}; there are {', '.join(OBJECTIVES)}")
    return OBJECTIVES[name]


def log_mean(xp: Any, h: Any, prior: Any) -> Any:
    """log sum_s p(s) e^{h(s,x)} of every record; finite whenever h is."""
    top = h.max(axis=1)
    return top + xp.log((prior * xp.exp(h - top[:, None])).sum(axis=1))


def _cross_entropy(xp: Any, h: Any, posterior: Any, prior: Any, share: Any) -> Any:
    return (share * ((posterior * h).sum(axis=1) - log_mean(xp, h, prior))).sum()


def _donsker_varadhan(xp: Any, h: Any, posterior: Any, prior: Any, share: Any) -> Any:
    top = h.max()
    product = top + xp.log((share[:, None] * prior * xp.exp(h - top)).sum())
    return (share[:, None] * posterior * h).sum() - product


def _dual(under_joint: Value, under_product: Value) -> Value:
    """E_P[f'(e^h)] - E_Q[e^h f'(e^h) - f(e^h)]."""

    def value(xp: Any, h: Any, posterior: Any, prior: Any, share: Any) -> Any:
        gain = (share[:, None] * posterior * under_joint(xp, h)).sum()
        return gain - (share[:, None] * prior * under_product(xp, h)).sum()

    return value


# f(t) = t log t, (t - 1)^2, t log t - (t + 1) log((t + 1)/2), (sqrt t - 1)^2
_nwj = _dual(lambda xp, h: 1 + h, lambda xp, h: xp.exp(h))
_chi2 = _dual(lambda xp, h: 2 * (xp.exp(h) - 1), lambda xp, h: xp.exp(2 * h) - 1)
_js = _dual(lambda xp, h: log(2) - xp.logaddexp(0.0, -h), lambda xp, h: xp.logaddexp(0.0, h) - log(2))
_hellinger = _dual(lambda xp, h: 1 - xp.exp(-h / 2), lambda xp, h: xp.exp(h / 2) - 1)

OBJECTIVES: dict[str, Objective] = {
    "ce": Objective("cross-entropy of the posterior", "record", _cross_entropy),
    "dv": Objective("Donsker and Varadhan's bound", "constant", _donsker_varadhan),
    "tide": Objective("Donsker and Varadhan's bound on trimmed outputs", "constant", _donsker_varadhan),
    "nwj": Objective("Nguyen, Wainwright and Jordan's bound (the dual of KL)", "none", _nwj),
    "chi2": Objective("the dual of the chi-square divergence", "none", _chi2),
    "js": Objective("the dual of the Jensen-Shannon divergence", "none", _js),
    "hellinger": Objective("the dual of the squared Hellinger distance", "none", _hellinger),
}
