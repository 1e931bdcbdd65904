"""The ceiling on every adversary, against populations whose best guess is known."""

from __future__ import annotations

import numpy as np
import pytest

from sizes import many
from tacit.errors import ArgumentError
from tacit.lift import guessing_ceiling


def test_the_ceiling_is_below_the_best_guess_of_the_population_no_more_often_than_said() -> None:
    rng = np.random.default_rng(0)
    false = 0
    rounds = many(400, 20_000)
    for _ in range(rounds):
        joint = rng.dirichlet(np.full(12, 0.6)).reshape(2, 6)
        counts = rng.multinomial(150, joint.ravel()).reshape(2, 6)
        false += guessing_ceiling(counts, beta=0.2) < joint.max(axis=0).sum()
    assert false <= 0.2 * rounds


def test_where_the_best_guess_is_plain_the_ceiling_is_the_exact_limit_and_errs_as_often_as_said() -> None:
    """Two released values, each with a secret far ahead: what is counted is the binomial number itself."""
    rng = np.random.default_rng(2)
    joint = np.array([[0.35, 0.15], [0.1, 0.4]])
    rounds = many(2_000, 50_000)
    false = sum(
        guessing_ceiling(rng.multinomial(300, joint.ravel()).reshape(2, 2), beta=0.1) < 0.75 for _ in range(rounds)
    )
    assert 0.06 * rounds <= false <= 0.1 * rounds + 2 * np.sqrt(0.09 * rounds)


def test_no_table_of_guesses_beats_the_ceiling_on_new_records() -> None:
    rng = np.random.default_rng(1)
    joint = rng.dirichlet(np.ones(20)).reshape(4, 5)
    counts = rng.multinomial(2_000, joint.ravel()).reshape(4, 5)
    ceiling = guessing_ceiling(counts)
    best = max(sum(joint[guess[y], y] for y in range(5)) for guess in rng.integers(0, 4, size=(500, 5)))
    assert best <= joint.max(axis=0).sum() <= ceiling


def test_a_ceiling_of_few_records_is_no_more_than_one_and_no_count_is_refused() -> None:
    assert guessing_ceiling([[1, 0], [0, 1]]) == 1.0
    with pytest.raises(ArgumentError, match="whole numbers"):
        guessing_ceiling([[0.5, 1.0]])
