"""What a network maximises so that its outputs become log-lifts.

Every objective is an expectation over P_SX less one over P_S P_X, and the second is taken exactly over the secret,
E_{P_S P_X}[g] = E_X[sum_s p(s) g(s, X)]: no shuffling, hence no noise from it.

The outputs of a network are log-lifts h(s, x) throughout. The dual of an f-divergence (watchdog paper, footnote 2)
is E_P[g] - E_Q[f*(g)] and its maximiser is g = f'(lift); with g = f'(e^h) and f*(f'(t)) = t f'(t) - f(t) the maximiser
in h is the log-lift itself, and no output can leave the domain of f*.

``posterior`` holds each record's distribution of the secret: a one for the true secret of a sampled record, or P(s|x)
for an exact joint. ``share`` are the weights of the records, records x 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import log
from typing import Any

import numpy as np
from scipy.special import expit

from tacit.errors import ArgumentError


@dataclass(frozen=True)
class Objective:
    """A value to be maximised over log-lifts, its slope, and what its maximiser is unique up to.

    Attributes
    ----------
    free : str
        What may be added to the outputs without changing the value: "record" (any function of x), "constant" or "none".
    """

    title: str
    free: str
    value: Callable[..., Any]
    slope: Callable[..., Any]


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
        Weights of the records; equal by default.

    Guarantees
    ----------
    "dv", "tide", "nwj" and "ce" are at most the mutual information of the joint that weight and posterior make,
    whenever prior is its marginal, and equal it at the true log-lift. A lower bound certifies nothing.
    """
    if objective not in OBJECTIVES:
        raise ArgumentError(f"no objective {objective!r}; there are {', '.join(OBJECTIVES)}")
    lifts = np.asarray(log_lift, dtype=np.float64)
    share = np.ones(len(lifts)) if weight is None else np.asarray(weight, dtype=np.float64)
    share = (share / share.sum())[:, None]
    return float(OBJECTIVES[objective].value(lifts, np.asarray(posterior), np.asarray(prior), share))


def log_mean(h: Any, prior: Any) -> Any:
    """log sum_s p(s) e^{h(s,x)} of every record; finite whenever h is."""
    top = h.max(axis=-1, keepdims=True)
    return (top + np.log((prior * np.exp(h - top)).sum(axis=-1, keepdims=True)))[..., 0]


def _sum(values: Any) -> Any:
    return values.sum(axis=(-2, -1))


def _cross_entropy(h: Any, posterior: Any, prior: Any, share: Any) -> Any:
    return _sum(share * ((posterior * h).sum(axis=-1) - log_mean(h, prior))[..., None])


def _cross_entropy_slope(h: Any, posterior: Any, prior: Any, share: Any) -> Any:
    return share * (posterior - prior * np.exp(h - log_mean(h, prior)[..., None]))


def _donsker_varadhan(h: Any, posterior: Any, prior: Any, share: Any) -> Any:
    top = h.max(axis=(-2, -1), keepdims=True)
    return _sum(share * posterior * h) - np.log(_sum(share * prior * np.exp(h - top))) - top[..., 0, 0]


def _donsker_varadhan_slope(h: Any, posterior: Any, prior: Any, share: Any) -> Any:
    product = share * prior * np.exp(h - h.max(axis=(-2, -1), keepdims=True))
    return share * posterior - product / _sum(product)[..., None, None]


def _dual(title: str, under_joint: Any, under_product: Any, slope: Any) -> Objective:
    """E_P[f'(e^h)] - E_Q[e^h f'(e^h) - f(e^h)]; the second's derivative in h is e^h times the first's."""

    def value(h: Any, posterior: Any, prior: Any, share: Any) -> Any:
        return _sum(share * (posterior * under_joint(h) - prior * under_product(h)))

    def slope_of(h: Any, posterior: Any, prior: Any, share: Any) -> Any:
        return share * slope(h) * (posterior - prior * np.exp(h))

    return Objective(title, "none", value, slope_of)


OBJECTIVES: dict[str, Objective] = {
    "ce": Objective("cross-entropy of the posterior", "record", _cross_entropy, _cross_entropy_slope),
    "dv": Objective("Donsker and Varadhan's bound", "constant", _donsker_varadhan, _donsker_varadhan_slope),
    "tide": Objective(
        "Donsker and Varadhan's bound on trimmed outputs", "constant", _donsker_varadhan, _donsker_varadhan_slope
    ),
    # f(t) = t log t, (t - 1)^2, t log t - (t + 1) log((t + 1)/2), (sqrt t - 1)^2
    "nwj": _dual("Nguyen, Wainwright and Jordan's bound (the dual of KL)", lambda h: 1 + h, np.exp, lambda h: 1),
    "chi2": _dual(
        "the dual of the chi-square divergence",
        lambda h: 2 * (np.exp(h) - 1),
        lambda h: np.exp(2 * h) - 1,
        lambda h: 2 * np.exp(h),
    ),
    "js": _dual(
        "the dual of the Jensen-Shannon divergence",
        lambda h: log(2) - np.logaddexp(0.0, -h),
        lambda h: np.logaddexp(0.0, h) - log(2),
        lambda h: expit(-h),
    ),
    "hellinger": _dual(
        "the dual of the squared Hellinger distance",
        lambda h: 1 - np.exp(-h / 2),
        lambda h: np.exp(h / 2) - 1,
        lambda h: np.exp(-h / 2) / 2,
    ),
}
