"""A population of short chains whose log-lift is known for every prefix, in any order of the features."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Matrix = NDArray[np.float64]
SECRETS, LEVELS, FEATURES = 3, 4, 5


@dataclass(frozen=True)
class KnownPrefixes:
    """Records, the code of each one's secret, and the true log-lift of prefixes: records x (features + 1) x secrets."""

    X: pd.DataFrame
    s: NDArray[np.int64]
    prefix_log_lift: Matrix


def joint() -> Matrix:
    """p(s, x_1 .. x_5): a Markov chain whose moves depend on the secret; the last feature repeats the first, mostly."""
    fixed = np.random.default_rng(55)
    table = np.array([0.5, 0.3, 0.2])[:, None] * fixed.dirichlet(np.full(LEVELS, 3.0), size=SECRETS)
    for place in range(1, FEATURES):
        moves = fixed.dirichlet(np.full(LEVELS, 1.5), size=(SECRETS, LEVELS))
        if place < FEATURES - 1:
            table = table[..., None] * moves.reshape(SECRETS, *(1,) * (place - 1), LEVELS, LEVELS)
    copy = 0.9 * np.eye(LEVELS) + 0.1 / LEVELS
    return np.asarray(table[..., None] * copy.reshape(1, LEVELS, *(1,) * (FEATURES - 2), LEVELS))


def chain(n: int, rng: np.random.Generator, *, order: NDArray[np.int64] | None = None) -> KnownPrefixes:
    """``n`` records; the truth is that of prefixes in ``order`` (by default that of the columns)."""
    table = joint()
    drawn = np.array(np.unravel_index(rng.choice(table.size, size=n, p=table.ravel()), table.shape))
    s, cells = drawn[0], drawn[1:]
    order = np.arange(FEATURES) if order is None else order
    prior = table.sum(axis=tuple(range(1, FEATURES + 1)))
    truth = np.zeros((n, FEATURES + 1, SECRETS))
    for length in range(1, FEATURES + 1):
        shown = np.sort(order[:length])
        summed = table.sum(axis=tuple(1 + j for j in range(FEATURES) if j not in shown))
        given = summed[:, *(cells[j] for j in shown)].T
        truth[:, length] = np.log(given / given.sum(axis=1, keepdims=True)) - np.log(prior)
    frame = pd.DataFrame({f"x{j}": [f"v{value}" for value in cells[j]] for j in range(FEATURES)})
    return KnownPrefixes(frame, s, truth)
