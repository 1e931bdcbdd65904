"""Channels on codes that keep rules and change least."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog

from tacit.codes.vectors.mixing import Mixer, lift_rules, tolerance_rules


def codes(seed: int, count: int = 30, secrets: int = 2) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    means = rng.normal(size=(count, 3))
    counts = rng.poisson(60 * rng.dirichlet(np.full(secrets, 8.0), count).T) + 1.0
    return counts, ((means[:, None] - means[None]) ** 2).sum(axis=2)


def test_a_channel_keeps_its_rules_and_changes_hardly_more_than_the_least_that_does() -> None:
    tried = 0
    for seed, secrets in ((0, 2), (1, 3)):
        counts, distances = codes(seed, secrets=secrets)
        sizes = counts.sum(axis=0)
        mixer = Mixer(sizes, distances)
        for rules in (lift_rules(counts, 0.1), tolerance_rules(counts, 0.02)):
            if (rules.sum(axis=1) > 0).any():
                continue
            channel = mixer.channel(rules)
            assert np.allclose(channel.sum(axis=1), 1)
            assert (rules @ channel).max() <= 1e-6
            cost = (sizes / sizes.sum())[:, None] * distances
            k = len(sizes)
            # The whole program, every way at once.
            whole = linprog(
                cost.ravel(),
                A_ub=np.vstack([np.kron(rule, np.eye(k)) for rule in rules]),
                b_ub=np.zeros(len(rules) * k),
                A_eq=np.kron(np.eye(k), np.ones(k)),
                b_eq=np.ones(k),
            )
            assert whole.fun - 1e-6 <= (cost * channel).sum() <= 1.02 * whole.fun + 1e-6
            tried += 1
    assert tried == 4


def test_codes_that_keep_the_rules_stay_and_rules_that_nothing_keeps_give_none() -> None:
    counts, distances = codes(2)
    mixer = Mixer(counts.sum(axis=0), distances)
    assert (mixer.channel(lift_rules(counts, 9.0)) == np.eye(30)).all()
    assert mixer.channel(tolerance_rules(counts, -2.0)) is None
