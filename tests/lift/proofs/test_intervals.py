"""Limits of a probability: against their definitions, and their coverage computed exactly, not simulated."""

from itertools import product
from math import comb, lgamma, log

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from sizes import many
from tacit.errors import ArgumentError
from tacit.lift import lower_limit, upper_limit
from tacit.lift.proofs.intervals import kl_lower, kl_radius, kl_upper, lower_sequence, upper_sequence


def binomial(n, p):
    return np.array([comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)])


def coin_divergence(p, q):
    return sum(a * log(a / b) for a, b in ((p, q), (1 - p, 1 - q)) if a > 0)


def chance_of_ever_crossing(p, *, n, lowest, highest):
    """Exact probability that a path of n fair-to-p trials ever has a limit on the wrong side of p; by its states."""
    alive, lost = np.array([1.0]), 0.0
    for trials in range(1, n + 1):
        alive = np.append(alive * (1 - p), 0.0) + np.append(0.0, alive * p)
        k = np.arange(trials + 1)
        wrong = (lowest(k, trials) > p) | (highest(k, trials) < p)
        lost += float(alive[wrong].sum())
        alive[wrong] = 0.0
    return lost


@given(st.integers(1, 40), st.data(), st.floats(0.001, 0.4))
def test_an_exact_limit_is_where_the_tail_has_probability_beta(n, data, beta):
    k = data.draw(st.integers(0, n))
    if k < n:
        assert binomial(n, float(upper_limit(k, n, beta=beta)))[: k + 1].sum() == pytest.approx(beta, rel=1e-6)
    if k > 0:
        assert binomial(n, float(lower_limit(k, n, beta=beta)))[k:].sum() == pytest.approx(beta, rel=1e-6)


@pytest.mark.parametrize("beta", [0.01, 0.05, 0.2])
def test_exact_limits_fail_with_probability_beta_at_most_and_at_worst_with_just_that(beta):
    n = 30
    k = np.arange(n + 1)
    uppers, lowers = upper_limit(k, n, beta=beta), lower_limit(k, n, beta=beta)
    # The worst p are those just beyond a limit.
    worst = np.concatenate([uppers[:-1] + 1e-9, np.linspace(0.001, 0.999, 200)])
    missed = [binomial(n, p)[uppers < p].sum() for p in worst]
    assert max(missed) <= beta + 1e-6
    assert max(missed) >= beta - 1e-6
    missed = [binomial(n, p)[lowers > p].sum() for p in np.append(lowers[1:] - 1e-9, np.linspace(0.001, 0.999, 200))]
    assert beta - 1e-6 <= max(missed) <= beta + 1e-6


def test_exact_limits_agree_with_the_beta_quantiles_for_large_counts():
    k, n = np.array([3, 500, 10**6]), np.array([10**4, 10**5, 10**9])
    np.testing.assert_allclose(upper_limit(k, n, beta=1e-6), stats.beta.isf(1e-6, k + 1, n - k), rtol=1e-9)
    np.testing.assert_allclose(lower_limit(k, n, beta=1e-6), stats.beta.ppf(1e-6, k, n - k + 1), rtol=1e-9)


@pytest.mark.parametrize("limits", [(lower_limit, upper_limit), (lower_sequence, upper_sequence)])
def test_without_trials_nothing_is_known_and_certain_outcomes_reach_the_end(limits):
    lowest, highest = limits
    assert (float(lowest(0, 0, beta=0.1)), float(highest(0, 0, beta=0.1))) == (0.0, 1.0)
    assert float(lowest(0, 9, beta=0.1)) == 0.0
    assert float(highest(9, 9, beta=0.1)) == 1.0


@given(st.integers(1, 200), st.data(), st.floats(0.001, 0.3))
@settings(max_examples=many(13, 40), deadline=None)
def test_limits_tighten_with_beta_and_with_records_and_follow_the_count(n, data, beta):
    k = data.draw(st.integers(0, n))
    for lowest, highest in ((lower_limit, upper_limit), (lower_sequence, upper_sequence)):
        assert lowest(k, n, beta=beta) <= k / n <= highest(k, n, beta=beta)
        assert highest(k, n, beta=2 * beta) <= highest(k, n, beta=beta)
        assert lowest(k, n, beta=2 * beta) >= lowest(k, n, beta=beta)
        assert highest(4 * k, 4 * n, beta=beta) <= highest(k, n, beta=beta)
        assert lowest(4 * k, 4 * n, beta=beta) >= lowest(k, n, beta=beta)
        if k < n:
            assert highest(k, n, beta=beta) <= highest(k + 1, n, beta=beta)
            assert lowest(k, n, beta=beta) <= lowest(k + 1, n, beta=beta)


@given(st.integers(1, 500), st.data(), st.floats(0.001, 0.4))
def test_a_sequence_limit_is_where_the_mixture_reaches_one_over_beta(n, data, beta):
    k = data.draw(st.integers(0, n))
    mixture = lgamma(k + 0.5) + lgamma(n - k + 0.5) - lgamma(n + 1) - 2 * lgamma(0.5)
    for limit in (float(lower_sequence(k, n, beta=beta)), float(upper_sequence(k, n, beta=beta))):
        if 0 < limit < 1:
            assert mixture - k * log(limit) - (n - k) * log(1 - limit) == pytest.approx(-log(beta), abs=1e-6)


@pytest.mark.parametrize("p", [0.02, 0.2, 0.5])
def test_a_confidence_sequence_is_ever_wrong_with_probability_at_most_beta(p):
    chance = chance_of_ever_crossing(
        p, n=many(120, 250),
        lowest=lambda k, n: lower_sequence(k, n, beta=0.1), highest=lambda k, n: upper_sequence(k, n, beta=0.1),
    )  # fmt: skip
    assert 0.01 < chance <= 0.1


def test_looking_at_exact_limits_after_every_trial_breaks_them():
    chance = chance_of_ever_crossing(
        0.5, n=250,
        lowest=lambda k, n: lower_limit(k, n, beta=0.05), highest=lambda k, n: upper_limit(k, n, beta=0.05),
    )  # fmt: skip
    assert chance > 0.25


@given(st.floats(0, 1), st.floats(1e-9, 3))
def test_kl_limits_are_where_the_divergence_equals_the_radius(p, radius):
    top, bottom = float(kl_upper(p, radius)), float(kl_lower(p, radius))
    assert 0 <= bottom <= p <= top <= 1
    if top < 1 - 1e-6 and p > 1e-6:
        assert coin_divergence(p, top) == pytest.approx(radius, rel=1e-5, abs=1e-13)
    if bottom > 1e-6 and p < 1 - 1e-6:
        assert coin_divergence(p, bottom) == pytest.approx(radius, rel=1e-5, abs=1e-13)


def test_the_kl_radius_solves_the_smaller_of_its_two_equations():
    assert kl_radius(500, 6, beta=0.05) == pytest.approx(0.025256415738229496, rel=1e-9)
    n, k, beta = 500, 6, 0.05
    tau = kl_radius(n, k, beta=beta)
    assert -n * tau + (k - 1) * (1 + log(n * tau / (k - 1))) == pytest.approx(log(beta), abs=1e-9)
    n, k = 3, 8
    assert kl_radius(n, k, beta=beta) == pytest.approx(log(comb(n + k - 1, k - 1) / beta) / n)
    assert kl_radius(10, 1, beta=0.05) == 0
    assert kl_radius(0, 5, beta=0.05) == np.inf


@pytest.mark.parametrize(("n", "cells"), [(8, 2), (14, 3), (9, 4)])
def test_the_kl_radius_is_exceeded_with_probability_at_most_beta(n, cells):
    outcomes = np.array([c for c in product(range(n + 1), repeat=cells) if sum(c) == n])
    shares = outcomes / n
    ways = np.array([np.exp(lgamma(n + 1) - sum(lgamma(k + 1) for k in c)) for c in outcomes])
    for beta in (0.5, 0.2, 0.05):
        tau = kl_radius(n, cells, beta=beta)
        exceeded = []
        for p in np.random.default_rng(5).dirichlet(np.full(cells, 0.7), size=20):
            chances = ways * np.prod(p**outcomes, axis=1)
            distances = (shares * np.log(np.where(shares > 0, shares / p, 1.0))).sum(axis=1)
            exceeded.append([chances[distances > radius].sum() for radius in (tau, tau / 8)])
        at_radius, at_an_eighth = np.max(exceeded, axis=0)
        assert at_radius <= beta
        # A radius that is far too small is noticed.
        assert at_an_eighth > beta


@given(st.integers(2, 10**6), st.integers(2, 10**4))
@settings(max_examples=many(12, 50))
def test_the_kl_radius_shrinks_with_records_and_beta_and_grows_with_cells(n, cells):
    tau = kl_radius(n, cells, beta=0.05)
    assert kl_radius(2 * n, cells, beta=0.05) <= tau
    assert kl_radius(n, cells + 1, beta=0.05) >= tau
    assert kl_radius(n, cells, beta=0.01) >= tau


def test_what_cannot_be_a_limit_is_refused():
    with pytest.raises(ArgumentError, match="beta is 1"):
        upper_limit(1, 2, beta=1)
    with pytest.raises(ArgumentError, match="no more than the trials"):
        lower_limit(3, 2, beta=0.1)
    with pytest.raises(ArgumentError, match="0 cells"):
        kl_radius(5, 0, beta=0.1)
