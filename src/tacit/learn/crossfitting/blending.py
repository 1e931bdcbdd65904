"""One log-lift out of several: a weighted sum, with the weights that lose least on held-out records."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize

from tacit.learn.arrays import Codes, Floats, log_softmax

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
    rows = np.arange(n)
    true = lifts[:, rows, secret]
    log_prior = np.log(prior)

    def loss_and_slope(weights: Floats) -> tuple[float, Floats]:
        log_p = log_softmax(np.tensordot(weights, lifts, axes=1) + log_prior, axis=1)
        expected = (np.exp(log_p) * lifts).sum(axis=2)
        loss = -log_p[rows, secret].mean() + PULL / (2 * n) * (weights**2).sum()
        return float(loss), (expected - true).mean(axis=1) + PULL / n * weights

    bounds, options = [(0.0, None)] * m, {"maxiter": 100}
    start = np.full(m, 1 / m)
    best = minimize(loss_and_slope, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    return np.asarray(best.x)


def log_loss(lift: Floats, secret: Codes, prior: Floats) -> float:
    """Mean of -log p(s | x), in nats per record."""
    return float(-(lift[np.arange(len(secret)), secret] + np.log(prior[secret])).mean())
