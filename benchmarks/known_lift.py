"""Five populations whose log-lift is known, to hold estimators against the truth.

Each sampler gives records, their secrets and the true log-lift of every pair: Gaussians in 2 and 20 dimensions, a
mixture with four secrets, a long-tailed discrete value of 200 symbols, and a mixed table whose columns interact.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import log_softmax, logsumexp
from scipy.stats import multivariate_normal

Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class Known:
    """Records, the code of each one's secret, and the true log-lift (records x secrets)."""

    X: pd.DataFrame
    s: NDArray[np.int64]
    log_lift: Matrix


def discrete(n: int, rng: np.random.Generator) -> Known:
    """200 symbols with frequencies 1/rank; posteriors scattered about the prior of three secrets."""
    fixed = np.random.default_rng(200)
    p = 1 / np.arange(1, 201)
    p /= p.sum()
    posterior = fixed.dirichlet(10 * np.array([0.5, 0.3, 0.2]), size=200)
    prior = p @ posterior
    x = rng.choice(200, size=n, p=p)
    lift = (np.log(posterior) - np.log(prior))[x]
    return Known(pd.DataFrame({"symbol": [f"v{value}" for value in x]}), _draw(posterior[x], rng), lift)


def gauss2(n: int, rng: np.random.Generator) -> Known:
    """Two secrets, two numbers; the means differ and so do the covariances."""
    means, covariances = np.array([[0.0, 0.0], [0.9, 0.5]]), (np.eye(2), np.array([[1.0, 0.3], [0.3, 1.0]]))
    return _mixture(n, rng, prior=np.array([0.6, 0.4]), parts=[[(1.0, means[k], covariances[k])] for k in range(2)])


def gauss20(n: int, rng: np.random.Generator) -> Known:
    """Two secrets, twenty correlated numbers, a shift that is spread over all of them."""
    fixed = np.random.default_rng(20)
    mixing = fixed.normal(size=(20, 20)) * 0.1 + np.eye(20)
    covariance = mixing @ mixing.T
    shift = mixing @ fixed.normal(size=20)
    shift *= 1.2 / np.sqrt(shift @ np.linalg.solve(covariance, shift))
    return _mixture(
        n, rng, prior=np.array([0.5, 0.5]), parts=[[(1.0, np.zeros(20), covariance)], [(1.0, shift, covariance)]]
    )


def mix4(n: int, rng: np.random.Generator) -> Known:
    """Four secrets, each two bumps in the plane, interleaved around a circle."""
    parts = []
    for k in range(4):
        angles = 2 * np.pi * (np.array([k, k + 4]) + 0.5 * (k % 2)) / 8 + np.array([0.0, 0.5])
        parts.append([(0.5, 1.4 * np.array([np.cos(a), np.sin(a)]), np.eye(2)) for a in angles])
    return _mixture(n, rng, prior=np.array([0.4, 0.3, 0.2, 0.1]), parts=parts)


def mixed(n: int, rng: np.random.Generator) -> Known:
    """Two secrets; three categories and three numbers, with interactions, a threshold and a heavy tail."""
    frame, logits = _mixed_records(n, rng)
    return Known(frame, _draw(np.exp(logits), rng), logits - _mixed_log_prior())


def _mixed_records(n: int, rng: np.random.Generator) -> tuple[pd.DataFrame, Matrix]:
    trade = rng.choice(6, size=n, p=[0.3, 0.25, 0.2, 0.12, 0.08, 0.05])
    town = rng.choice(4, size=n, p=[0.4, 0.3, 0.2, 0.1])
    sex = rng.choice(2, size=n)
    age = rng.uniform(18, 80, size=n)
    income = np.exp(rng.normal(10, 0.6, size=n) + 0.1 * sex)
    score = rng.normal(size=n)
    trade_effect = np.array([0.5, -0.4, 0.0, 0.9, -0.8, 0.3])[trade]
    town_slope = np.array([0.9, -0.9, 0.3, 0.0])[town]
    z = (
        -0.3
        + trade_effect
        + town_slope * score
        + 0.8 * ((age > 45) & (sex == 1))
        - 0.6 * ((age <= 30) & (trade < 2))
        + 0.5 * (np.log(income) - 10) * np.where(sex == 1, 1.0, -0.5)
    )
    frame = pd.DataFrame(
        {
            "trade": [f"trade {t}" for t in trade],
            "town": [f"town {t}" for t in town],
            "sex": np.where(sex == 1, "f", "m"),
            "age": age,
            "income": income,
            "score": score,
        }
    )
    return frame, log_softmax(np.column_stack([np.zeros(n), z]), axis=1)


@cache
def _mixed_log_prior() -> Matrix:
    _, logits = _mixed_records(1_000_000, np.random.default_rng(1))
    return np.asarray(logsumexp(logits, axis=0) - np.log(len(logits)))


def _mixture(
    n: int, rng: np.random.Generator, *, prior: Matrix, parts: list[list[tuple[float, Matrix, Matrix]]]
) -> Known:
    s = rng.choice(len(prior), size=n, p=prior)
    X = np.empty((n, len(parts[0][0][1])))
    for k, bumps in enumerate(parts):
        here = np.flatnonzero(s == k)
        which = rng.choice(len(bumps), size=len(here), p=[weight for weight, _, _ in bumps])
        for b, (_, mean, covariance) in enumerate(bumps):
            rows = here[which == b]
            X[rows] = rng.multivariate_normal(mean, covariance, size=len(rows))
    given = np.stack(
        [logsumexp([np.log(w) + multivariate_normal(m, c).logpdf(X) for w, m, c in bumps], axis=0) for bumps in parts],
        axis=1,
    )
    total = logsumexp(given + np.log(prior), axis=1, keepdims=True)
    return Known(pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])]), s, given - total)


def _draw(posterior: Matrix, rng: np.random.Generator) -> NDArray[np.int64]:
    u = rng.random((len(posterior), 1))
    return np.asarray((posterior.cumsum(axis=1) < u).sum(axis=1).clip(max=posterior.shape[1] - 1))


SAMPLERS: dict[str, Callable[[int, np.random.Generator], Known]] = {
    "discrete": discrete,
    "gauss2": gauss2,
    "gauss20": gauss20,
    "mix4": mix4,
    "mixed": mixed,
}
