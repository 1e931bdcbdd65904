"""One log-lift out of several: a weighted sum, with the weights that lose least on held-out records."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize

from tacit.learn.arrays import Codes, Floats, log_softmax
from tacit.learn.linear import LossAndSlope

# A weak pull towards zero, in records: without evidence a learner is not believed.
PULL = 1.0
# More records than this say nothing more about a handful of weights.
MOST_RECORDS = 50_000


def blend(lifts: Floats, weights: Floats, prior: Floats) -> Floats:
    """The pooled log-lift (records x secrets) of ``lifts`` (learners x records x secrets).

    Guarantees
    ----------
    The posteriors p(s) e^{i(s,x)} add up to 1 for every record. With weights of zero every log-lift is zero.
    """
    pooled = np.tensordot(weights, lifts, axes=1) + np.log(prior)
    return np.asarray(log_softmax(pooled, axis=1) - np.log(prior))


def best_weights(lifts: Floats, secret: Codes, prior: Floats) -> Floats:
    """Weights, zero or more, with the smallest log-loss; their sum below 1 tempers learners that claim too much."""
    if len(secret) > MOST_RECORDS:
        # Spread evenly, because neighbours may be alike.
        spread = np.linspace(0, len(secret) - 1, MOST_RECORDS).astype(np.int64)
        lifts, secret = lifts[:, spread], secret[spread]
    n, m = len(secret), len(lifts)
    loss_and_slope = _of_two(lifts, secret, prior) if len(prior) == 2 else _of_several(lifts, secret, prior)

    def pulled(weights: Floats) -> tuple[float, Floats]:
        loss, slope = loss_and_slope(weights)
        return loss + PULL / (2 * n) * float((weights**2).sum()), slope + PULL / n * weights

    bounds, options = [(0.0, None)] * m, {"maxiter": 100}
    start = np.full(m, 1 / m)
    best = minimize(pulled, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    return np.asarray(best.x)


def _of_several(lifts: Floats, secret: Codes, prior: Floats) -> LossAndSlope:
    """The log-loss of weights, and its slope."""
    rows, log_prior = np.arange(len(secret)), np.log(prior)
    true = lifts[:, rows, secret]

    def loss_and_slope(weights: Floats) -> tuple[float, Floats]:
        log_p = log_softmax(np.tensordot(weights, lifts, axes=1) + log_prior, axis=1)
        expected = (np.exp(log_p) * lifts).sum(axis=2)
        return -float(log_p[rows, secret].mean()), (expected - true).mean(axis=1)

    return loss_and_slope


def _of_two(lifts: Floats, secret: Codes, prior: Floats) -> LossAndSlope:
    """The same at a quarter of the cost: with two secrets only the difference of their log-lifts counts."""
    sign = 2.0 * secret - 1
    towards = sign * (lifts[:, :, 1] - lifts[:, :, 0])
    begin = sign * float(np.log(prior[1]) - np.log(prior[0]))

    def loss_and_slope(weights: Floats) -> tuple[float, Floats]:
        losses = np.logaddexp(0, -(weights @ towards + begin))
        return float(losses.mean()), towards @ np.expm1(-losses) / len(sign)

    return loss_and_slope


def log_loss(lift: Floats, secret: Codes, prior: Floats) -> float:
    """Mean of -log p(s | x), in nats per record."""
    return float(-(lift[np.arange(len(secret)), secret] + np.log(prior[secret])).mean())
