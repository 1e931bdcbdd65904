"""Nearest neighbours against a Bayes risk that is known."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from tacit.errors import ArgumentError
from tacit.learn import neighbour_risk


def two_normals(number: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    secret = rng.integers(0, 2, number)
    return rng.normal(size=(number, 2)) + 1.5 * secret[:, None] * np.array([1.0, 0.0]), secret


def test_neighbours_come_close_to_a_bayes_risk_that_is_known() -> None:
    bayes = norm.cdf(-0.75)
    found = neighbour_risk(*two_normals(4_000, 0), *two_normals(3_000, 1), neighbours=25)
    assert found.error.low - 0.01 <= bayes <= found.error.high
    assert found.least <= bayes + 0.02 <= found.nearest
    assert found.guessing == pytest.approx(0.5, abs=0.03)
    assert found.error.kind == "estimate"
    assert not found.error.can_certify


def test_what_says_nothing_cannot_be_guessed_by_neighbours() -> None:
    rng = np.random.default_rng(0)
    X, secret = rng.normal(size=(2_000, 3)), rng.integers(0, 2, 2_000)
    found = neighbour_risk(X[:1_000], secret[:1_000], X[1_000:], secret[1_000:])
    assert found.error.high >= 0.5
    assert found.neighbours == int(np.log(1_000))
    with pytest.raises(ArgumentError, match="two secrets"):
        neighbour_risk(X[:5], [1] * 5, X[:5], [1] * 5)
