"""E-gamma of Gaussians, from log-lifts and from samples: against integration, brute force and simulation."""

from itertools import chain, combinations, pairwise

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from sizes import few
from tacit.errors import ArgumentError, DataError
from tacit.lift import (
    compose_deltas,
    e_gamma,
    e_gamma_counts,
    e_gamma_of_log_lift,
    e_gamma_scores,
    gaussian_delta,
    gaussian_scale,
    tail_bound,
)


def pairs(count, *, seed=0, size=6):
    rng = np.random.default_rng(seed)
    return ((rng.dirichlet(np.ones(size)), rng.dirichlet(np.ones(size)), rng.uniform(-0.5, 1.5)) for _ in range(count))


@pytest.mark.parametrize(
    ("epsilon", "diameter", "scale", "delta"),
    [
        (0.5, 1, 1, 0.23842170813487656),
        (0.74, 1, 1, 0.1798778466323654),
        (0.5, 2, 1, 0.599185618533933),
        (0.0, 1, 1, 0.38292492254802624),
        (1.0, 1, 0.5, 0.5098616600546702),
        (-0.3, 1, 1, 0.4764525279941707),
    ],
)
def test_the_numbers_of_the_paper(epsilon, diameter, scale, delta):
    assert gaussian_delta(epsilon, diameter, scale) == pytest.approx(delta, rel=1e-13)


@pytest.mark.parametrize("epsilon", few([-2.0, -0.3, 0.0, 0.2, 1.0, 3.0], 3))
@pytest.mark.parametrize("ratio", few([0.05, 0.3, 0.999, 1.001, 2.5, 6.0], 3))
def test_the_closed_form_is_the_integral(epsilon, ratio):
    gamma = np.exp(epsilon)
    cut = ratio / 2 + epsilon / ratio
    found = quad(lambda y: norm.pdf(y, ratio) - gamma * norm.pdf(y), cut, max(cut, ratio) + 12, epsabs=1e-14, limit=200)
    assert gaussian_delta(epsilon, 1.0, 1 / ratio) == pytest.approx(found[0], abs=1e-11)


def test_small_deltas_keep_their_digits():
    # The integral of the derivative, the density at t, over the logarithm of mu: positive terms only.
    for epsilon, ratio in [(1e-6, 1e-7), (0.5, 0.1), (1.0, 0.03), (5.0, 0.5)]:
        density = lambda u, e=epsilon: np.exp(u) * norm.pdf(e * np.exp(-u) - np.exp(u) / 2)  # noqa: E731
        end = np.log(ratio)
        found = quad(density, end - 3, end, epsabs=0, epsrel=1e-12, limit=400)[0]
        assert gaussian_delta(epsilon, ratio, 1.0) == pytest.approx(found, rel=1e-9)


def test_it_never_jumps_where_the_formula_changes():
    ratio = np.array([1 - 1e-9, 1 + 1e-9])[:, None]
    low, high = gaussian_delta(np.linspace(-3, 20, 300), ratio, 1.0)
    assert np.allclose(low, high, rtol=1e-6, atol=0)
    assert (low <= high).all()


def test_the_limits():
    assert gaussian_delta(0.5, 1, [0, np.inf]).tolist() == [1.0, 0.0]
    assert gaussian_delta([0.5, -0.5], 0, 0).tolist() == pytest.approx([0.0, -np.expm1(-0.5)])
    assert gaussian_delta([-np.inf, np.inf], 1, 1).tolist() == [1.0, 0.0]
    # The paper: the scale for epsilon near 0 "cannot be derived"; it is K / (2 Q^-1((1 - delta) / 2)).
    for delta in (0.24, 1e-4):
        limit = 1 / (2 * norm.isf((1 - delta) / 2))
        assert gaussian_scale(0.0, delta, 1) == pytest.approx(limit, rel=1e-9)
        assert gaussian_scale(1e-13, delta, 1) == pytest.approx(limit, rel=1e-8)


def test_the_scale_is_the_inverse():
    epsilon = np.array([0.0, 1e-8, 1e-3, 0.5, 2.0, 10.0, 50.0])[:, None]
    delta = np.array([1e-300, 1e-100, 1e-12, 1e-6, 1e-3, 0.1, 0.5, 0.9, 0.999])
    attained = gaussian_delta(epsilon, 3.0, gaussian_scale(epsilon, delta, 3.0))
    assert (attained <= delta * (1 + 1e-12)).all()
    assert np.allclose(attained, delta, rtol=1e-9, atol=0)


def test_a_scale_there_is_none_for_is_infinite():
    assert gaussian_scale([0.5, -0.5, -0.5], [0.0, 0.39, -np.expm1(-0.5)], 1).tolist() == [np.inf] * 3
    assert gaussian_scale(-0.5, 0.5, 1) < np.inf
    assert gaussian_scale([0.5, 0.5, np.inf], [1.0, 0.1, 0.0], [1, 0, 1]).tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("wrong", [(0.5, -1, 1), (0.5, 1, -1), (np.nan, 1, 1), (0.5, np.inf, 1), (0.5, 1, np.nan)])
def test_what_cannot_be_is_refused(wrong):
    with pytest.raises(ArgumentError):
        gaussian_delta(*wrong)
    with pytest.raises(ArgumentError):
        gaussian_scale(0.5, -0.1, 1)


def test_for_discrete_pairs_it_is_the_best_event():
    for p, q, epsilon in pairs(30, size=5):
        events = chain.from_iterable(combinations(range(5), k) for k in range(6))
        best = max(p[list(event)].sum() - np.exp(epsilon) * q[list(event)].sum() for event in events)
        assert e_gamma(p, q, np.exp(epsilon)) == pytest.approx(best, abs=1e-12)


def test_the_tail_formula_holds_under_the_right_measure_only():
    wrong = 0
    for p, q, epsilon in pairs(50):
        lifts, true = np.log(p / q), e_gamma(p, q, np.exp(epsilon))
        assert e_gamma_of_log_lift(lifts, epsilon, weights=p) == pytest.approx(true, abs=1e-12)
        assert e_gamma_of_log_lift(lifts, epsilon, weights=q, under="everyone") == pytest.approx(true, abs=1e-12)
        wrong += abs(e_gamma_of_log_lift(lifts, epsilon, weights=q) - true) > 0.01
    assert wrong > 25


def test_the_tail_formula_is_the_integral_of_the_paper():
    for p, q, epsilon in pairs(5, seed=1):
        lifts = np.log(p / q)
        edges = [epsilon, *np.sort(lifts[lifts > epsilon])]
        under_p = under_q = 0.0
        for low, high in pairwise(edges):
            middle = (low + high) / 2
            under_p += p[lifts > middle].sum() * quad(lambda t: np.exp(-t), low, high)[0]
            under_q += q[lifts > middle].sum() * quad(np.exp, low, high)[0]
        true = e_gamma(p, q, np.exp(epsilon))
        assert np.exp(epsilon) * under_p == pytest.approx(true, abs=1e-12)
        assert under_q == pytest.approx(true, abs=1e-12)


def test_e_gamma_bounds_the_tail_beyond_epsilon_not_at_it():
    p, lift = np.array([0.5, 0.5]), np.exp(0.51)
    q = np.array([0.5 / lift, 1 - 0.5 / lift])
    assert e_gamma(p, q, np.exp(0.5)) < 0.005
    assert p[np.log(p / q) > 0.5].sum() == 0.5
    assert tail_bound(0.005, 0.5, 0.5) == 1.0
    for p, q, epsilon in pairs(300, seed=2):
        delta = e_gamma(p, q, np.exp(epsilon))
        for beyond in (epsilon + 0.05, epsilon + 0.5):
            assert p[np.log(p / q) > beyond].sum() <= tail_bound(delta, epsilon, beyond) + 1e-12


def test_features_in_turn_compose_and_better_than_by_the_sum():
    rng = np.random.default_rng(3)
    closest = 1.0
    for _ in range(500):
        epsilons = rng.uniform(0, 0.8, 2)
        p1, q1 = rng.dirichlet(np.ones(3), 2)
        p2, q2 = rng.dirichlet(np.ones(3), (2, 3))
        deltas = [
            e_gamma(p1, q1, np.exp(epsilons[0])),
            max(e_gamma(p, q, np.exp(epsilons[1])) for p, q in zip(p2, q2, strict=True)),
        ]
        epsilon, delta = compose_deltas(epsilons, deltas)
        together = e_gamma((p1[:, None] * p2).ravel(), (q1[:, None] * q2).ravel(), np.exp(epsilon))
        assert together <= delta + 1e-12
        assert delta <= sum(deltas) + 1e-12
        closest = min(closest, delta - together)
    assert closest < 0.05


def test_a_composition_of_a_thousand_says_nothing():
    epsilon, delta = compose_deltas(np.full(1024, 0.5), np.full(1024, gaussian_delta(0.5, 1, 1)))
    assert (epsilon, delta) == (512.0, 1.0)
    with pytest.raises(ArgumentError, match="every feature"):
        compose_deltas([0.5], [0.1, 0.1])


def test_limits_from_counts_hold_nine_times_in_ten():
    rng = np.random.default_rng(4)
    p, q, gamma = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.3, 0.5]), 1.3
    true, missed, widths = e_gamma(p, q, gamma), 0, []
    for _ in range(300):
        found = e_gamma_counts(rng.multinomial(2000, p), rng.multinomial(2000, q), gamma, beta=0.1)
        missed += not found.low <= true <= found.high
        widths.append(found.high - found.low)
    assert missed <= 30
    assert max(widths) < 0.4
    assert found.kind == "estimate"


def test_limits_from_scores_hold_nine_times_in_ten():
    rng = np.random.default_rng(5)
    gamma, true = np.exp(0.5), float(gaussian_delta(0.5, 1, 1))
    too_high = outside = 0
    for _ in range(300):
        first, second = rng.normal(1, 1, 1000), rng.normal(0, 1, 1000)
        lower = e_gamma_scores(first, second, gamma, beta=0.1)
        both = e_gamma_scores(first, second, gamma, beta=0.1, ordered=True)
        too_high += lower.low > true
        outside += not both.low <= true <= both.high
    assert too_high <= 30
    assert outside <= 30
    assert lower.kind == "lower bound"
    assert not lower.can_certify
    assert lower.low > 0.05


def test_two_samples_of_one_distribution_prove_no_difference():
    rng = np.random.default_rng(6)
    assert e_gamma_scores(rng.normal(size=500), rng.normal(size=500), 1.0).low == 0.0
    assert e_gamma_counts([50, 50], [50, 50], 1.0).low == 0.0


def test_samples_that_cannot_be_used_are_refused():
    with pytest.raises(DataError, match="no record"):
        e_gamma_counts([0, 0], [1, 2], 1.0)
    with pytest.raises(ArgumentError, match="must be the same"):
        e_gamma_counts([1], [1, 2], 1.0)
    with pytest.raises(DataError, match="at least 2"):
        e_gamma_scores([1.0], [1.0, 2.0], 1.0)
    with pytest.raises(ArgumentError, match="under"):
        e_gamma_of_log_lift([0.0], 0.5, under="nobody")
