"""The additive model of what is told: it reads chances as it reads values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from sizes import many
from tacit.codes.additive import additive_guesses, area_under_curve


@settings(max_examples=many(25, 500))
@given(st.integers(0, 10**6), st.integers(2, 4))
def test_an_area_is_the_chance_that_one_is_ranked_before_another(seed: int, classes: int) -> None:
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 3, (12, classes)).astype(float)
    guesses = rng.integers(0, 5, (12, classes)).astype(float)
    areas, shares = [], []
    for k in range(classes):
        pairs = [(i, j) for i in range(12) for j in range(12)]
        here, there = counts[:, k], counts.sum(axis=1) - counts[:, k]
        if here.sum() and there.sum():
            won = sum(
                here[i]
                * there[j]
                * (float(guesses[i, k] > guesses[j, k]) + 0.5 * float(guesses[i, k] == guesses[j, k]))
                for i, j in pairs
            )
            areas.append(won / (here.sum() * there.sum()))
            shares.append(here.sum())
    assert area_under_curve(guesses, counts) == pytest.approx(np.average(areas, weights=shares))


def test_one_class_alone_and_no_feature_that_varies_are_guessed_by_chance() -> None:
    assert area_under_curve(np.ones((3, 1)), np.ones((3, 1))) == 0.5
    told, counts = np.ones((6, 2)), np.eye(2)[[0, 1, 0, 1, 1, 1]]
    guesses = additive_guesses(told, counts, np.ones((4, 2)))
    assert guesses == pytest.approx(np.tile([1 / 3, 2 / 3], (4, 1)))


def test_what_was_learned_from_chances_ranks_the_values() -> None:
    """Half of the rows tell in which third the value is, the others nothing; thirds are ranked as if all were told."""
    rng = np.random.default_rng(0)
    value = rng.integers(0, 6, 6000)
    wanted = (rng.random(6000) < value / 6).astype(int)
    vague = np.where(rng.random(6000) < 0.5, value // 2, 3)
    chances = np.array([np.repeat(np.eye(3)[k] / 2, 2) if k < 3 else np.full(6, 1 / 6) for k in range(4)])[vague]
    truth = np.eye(2)[wanted]
    told = area_under_curve(additive_guesses(chances, truth, np.eye(6)[value]), truth)
    thirds = np.eye(3)[value // 2]
    assert told == pytest.approx(area_under_curve(additive_guesses(thirds, truth, thirds), truth), abs=1e-3)
