"""Lemma 2 and Proposition 3 put to the test: does the paper's estimator approach a known log-lift as n grows?"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax

from tacit.learn import AutoLogLift, NeuralLogLift, log_mean

PRIOR = np.array([0.6, 0.4])
SHIFT = np.array([0.9, 0.5])


def sample(n: int, rng: np.random.Generator) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.float64]]:
    """Records of two normal numbers, whose mean depends on the secret; secrets; log-lift (records x secrets)."""
    secret = (rng.random(n) < PRIOR[1]).astype(np.int64)
    X = rng.normal(size=(n, 2)) + secret[:, None] * SHIFT
    scores = np.column_stack([np.zeros(n), X @ SHIFT - SHIFT @ SHIFT / 2]) + np.log(PRIOR)
    return X, secret, log_softmax(scores, axis=1) - np.log(PRIOR)


def consistency(sizes: tuple[int, ...], *, steps: int, seeds: int) -> list[dict[str, Any]]:
    """Errors on fresh records: the raw outputs, the same with their constant taken off, and auto."""
    X, _, truth = sample(4_000, np.random.default_rng(99))
    rows = []
    for n in sizes:
        errors: dict[str, list[tuple[float, float]]] = {"raw": [], "normalised": [], "auto": []}
        constants = []
        for seed in range(seeds):
            records, secret, _ = sample(n, np.random.default_rng(seed))
            printed = NeuralLogLift.as_in_the_paper(steps=steps, random_state=seed).fit(records, secret)
            auto = AutoLogLift(doubt=False, random_state=seed).fit(records, secret)
            raw = printed.log_lift(X)
            constants.append(float(np.median(log_mean(raw, PRIOR))))
            normalised = raw - log_mean(raw, PRIOR)[:, None]
            for name, lifts in (("raw", raw), ("normalised", normalised), ("auto", auto.log_lift(X))):
                away = np.abs(lifts - truth)
                errors[name].append((float(np.sqrt((away**2).mean())), float(np.quantile(away, 0.99))))
        means = {name: np.mean(each, axis=0).tolist() for name, each in errors.items()}
        rows.append({"n": n, "constant": float(np.mean(constants)), **means})
    return rows
