"""What an adversary tried on the measures that came after the papers: slow oracles, limits, zeros, one of each."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.optimize import brentq

from sizes import few, many
from strategies import joints
from tacit.errors import ArgumentError
from tacit.learn import neighbour_risk
from tacit.lift import (
    Channel,
    FunnelPoint,
    Joint,
    average_lift,
    bayes_security,
    entropy,
    g_leakage,
    least_bayes_security,
    maximal_alpha_leakage,
    maximal_leakage,
    mutual_information,
    optimal,
    privacy_funnel,
    sampled_leakage,
    sibson,
)

SMALL = joints(zero_cells=True, secrets=(1, 4), released=(1, 4))
TOLD, ONE_SECRET, ONE_VALUE = np.eye(3) / 3, np.array([[0.2, 0.8]]), np.array([[0.3], [0.7]])
INDEPENDENT = np.outer([0.2, 0.3, 0.5], [0.1, 0.9])


def rows_of(joint: Joint) -> np.ndarray:
    return joint.matrix / joint.prior[:, None]


# ---- gains


@given(SMALL, st.integers(0, 10_000), st.integers(1, 3))
def test_g_leakage_is_that_of_the_best_of_all_strategies(joint: Joint, seed: int, guesses: int) -> None:
    gain = np.random.default_rng(seed).normal(size=(guesses, len(joint.prior)))
    for table, additive in ((gain, True), (np.abs(gain), False)):
        worth = table @ joint.matrix
        strategies = itertools.product(range(guesses), repeat=joint.shape[1])
        after = max(sum(worth[guess, x] for x, guess in enumerate(strategy)) for strategy in strategies)
        before = max(table @ joint.prior)
        expected = after - before if additive else np.log(after / before)
        assert g_leakage(joint, table, additive=additive) == pytest.approx(max(expected, 0), abs=1e-12)


def test_a_gain_without_a_guess_is_refused() -> None:
    with pytest.raises(ArgumentError, match="guesses x 2 secrets"):
        g_leakage([[0.2, 0.3], [0.3, 0.2]], np.zeros((0, 2)))


# ---- Bayes security


def security_by_fractions(joint: Joint) -> float:
    cells = [[Fraction(float(p)) for p in row] for row in joint.matrix]
    prior = [sum(row) for row in cells]
    without = sum(prior) - max(prior)
    return float(sum(sum(column) - max(column) for column in zip(*cells, strict=True)) / without) if without else 1.0


@given(SMALL, st.sampled_from([1, 6, 40]))
def test_bayes_security_is_exact_however_rare_the_secrets_are(joint: Joint, power: int) -> None:
    skewed = joint.matrix**power
    skewed = skewed[(skewed > 0).any(axis=1)][:, (skewed > 0).any(axis=0)]
    skewed = Joint(skewed / skewed.sum())
    assert bayes_security(skewed) == pytest.approx(security_by_fractions(skewed), rel=1e-9, abs=1e-300)


@pytest.mark.parametrize("rare", [0.1, 1e-9, 1e-17, 1e-200])
def test_a_rare_secret_that_is_given_away_is_given_away(rare: float) -> None:
    # The commoner secret has a probability that rounds to 1: "1 less its probability" would find nothing to guess.
    joint = np.diag([1.0, rare]) / (1 + rare)
    assert bayes_security(joint) == 0
    assert least_bayes_security(joint) == 0


@given(SMALL, st.integers(0, 10_000))
def test_least_bayes_security_is_a_share_and_no_channel_lowers_it(joint: Joint, seed: int) -> None:
    least = least_bayes_security(joint)
    assert 0 <= least <= min(bayes_security(joint), 1) + 1e-12
    channel = Channel(np.random.default_rng(seed).dirichlet(np.ones(3), joint.shape[1]))
    assert least_bayes_security(joint.through(channel)) >= least - 1e-9


# ---- maximal alpha-leakage


def capacity(rows: np.ndarray) -> float:
    """Blahut's and Arimoto's, by loops."""
    prior = np.full(len(rows), 1 / len(rows))
    for _ in range(20_000):
        mean = prior @ rows
        away = np.array([sum(p * np.log(p / q) for p, q in zip(row, mean, strict=True) if p > 0) for row in rows])
        if away.max() - prior @ away < 1e-9:
            break
        prior = prior * np.exp(away)
        prior /= prior.sum()
    return float(away.max())


@pytest.mark.parametrize("order", [1.01, 1.0001, 1.000001])
def test_just_above_order_1_it_is_just_above_the_capacity(order: float) -> None:
    joint = Joint(np.array([[3, 1, 0], [1, 2, 1], [0, 1, 4]]) / 13)
    least = capacity(rows_of(joint))
    assert least - 1e-8 <= maximal_alpha_leakage(joint, order) <= least + 0.05 * (order - 1) + 1e-8
    assert maximal_alpha_leakage(joint, 1) == mutual_information(joint) < least


def test_a_large_order_is_next_to_maximal_leakage_and_nothing_underflows() -> None:
    joint = Joint(np.array([[3, 1, 0], [1, 2, 1], [0.9, 1.9, 1]]) / 11.8)
    for order in (1e3, 1e6, 1e12, 1e300):
        found = maximal_alpha_leakage(joint, order)
        assert maximal_leakage(joint) - 2 / order - 1e-9 <= found <= maximal_leakage(joint) + 1e-9


@given(SMALL, st.sampled_from([1.05, 1.5, 2.0, 8.0]), st.integers(0, 10_000))
def test_it_bounds_every_prior_grows_with_the_order_and_no_channel_raises_it(
    joint: Joint, order: float, seed: int
) -> None:
    rng, found = np.random.default_rng(seed), maximal_alpha_leakage(joint, order)
    assert 0 <= found <= maximal_leakage(joint) + 1e-9
    for prior in rng.dirichlet(np.full(len(joint.prior), 0.7), 20):
        kept = prior > 1e-12
        table = prior[kept, None] * rows_of(joint)[kept]
        table = table[:, table.sum(axis=0) > 0]
        assert sibson(table / table.sum(), order) <= found + 1e-9
    assert maximal_alpha_leakage(joint, 1.5 * order) >= found - 1e-9
    channel = Channel(rng.dirichlet(np.ones(3), joint.shape[1]))
    assert maximal_alpha_leakage(joint.through(channel), order) <= found + 1e-9


@pytest.mark.parametrize("order", [1.000001, 1.3, 2.0, 60.0, np.inf])
def test_nothing_is_nothing_and_all_is_the_log_of_the_number_of_secrets(order: float) -> None:
    for nothing in (ONE_SECRET, ONE_VALUE, INDEPENDENT):
        assert maximal_alpha_leakage(nothing, order) == pytest.approx(0, abs=1e-8)
    assert maximal_alpha_leakage(TOLD, order) == pytest.approx(np.log(3), abs=1e-8)


@pytest.mark.parametrize("order", few([2.0, 1.001]))
def test_where_the_worst_prior_is_at_an_edge_by_a_hair_it_comes_within_its_promise(order: float) -> None:
    """The third secret has no weight in the worst prior, and would have some if it told a trace more."""
    one, two = np.array([0.7, 0.2, 0.1]), np.array([0.2, 0.7, 0.1])

    def slope_of_third(u: float) -> float:
        powers = np.array([one, two, [u, u, 1 - 2 * u]]) ** order
        means = powers[:2].mean(axis=0)
        return float((powers @ means ** (1 / order - 1))[2] / (means ** (1 / order)).sum() - 1)

    u = brentq(slope_of_third, 0.34, 0.45, xtol=1e-15)
    powers = np.array([one, two]) ** order
    exact = order / (order - 1) * np.log((powers.mean(axis=0) ** (1 / order)).sum())
    found = maximal_alpha_leakage(np.array([one, two, [u, u, 1 - 2 * u]]) / 3, order)
    assert exact - 1e-11 <= found <= exact + 1e-9


# ---- averages of the lift


@given(SMALL)
def test_averages_of_the_lift_are_those_of_a_loop(joint: Joint) -> None:
    for kind, power in (("l1", 1), ("chi_squared", 2)):
        for inverse in (False, True):
            for x, found in enumerate(average_lift(joint, kind, inverse=inverse)):  # type: ignore[arg-type]
                expected = 0.0
                for s, prior in enumerate(joint.prior):
                    lift = joint.matrix[s, x] / (prior * joint.marginal[x])
                    value = lift if not inverse else 1 / lift if lift > 0 else np.inf
                    expected += prior * abs(value - 1) ** power
                assert found == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_lifts_beyond_what_a_number_holds_are_infinite_and_no_warning() -> None:
    joint = np.array([[1e-200, 0.5], [0.5, 1e-200]])
    assert np.isinf(average_lift(joint, "chi_squared", inverse=True)).all()
    assert average_lift(joint).tolist() == [1.0, 1.0]


# ---- leakage from samples


def test_the_worst_prior_is_found_by_trying_all_priors_of_a_grid() -> None:
    steps = many(24, 60)
    grid = [(a, b, steps - a - b) for a in range(steps + 1) for b in range(steps + 1 - a)]
    priors = np.array(grid) / steps
    rng = np.random.default_rng(4)
    for _ in range(many(5, 40)):
        channel, counts = rng.dirichlet(np.full(3, 0.5), 3), rng.integers(0, 40, 3) + np.array([1, 0, 0])
        radius = np.sqrt(2 * np.log((2**3 - 2) / 0.1) / counts.sum())
        near = priors[np.abs(priors - counts / counts.sum()).sum(axis=1) <= radius]
        found = sampled_leakage(channel, counts, delta=0.1)
        with np.errstate(divide="ignore"):
            tried = np.log(channel.max(axis=0) / (near @ channel))
        assert tried.max() <= found + 1e-9
        assert found <= np.log((channel.max(axis=0) / channel.min(axis=0)).max()) + 1e-9


@pytest.mark.parametrize(
    ("channel", "counts", "expected"),
    [
        ([[0.5, 0.5]], [3], 0.0),
        ([[1.0], [1.0]], [1, 1], 0.0),
        ([[0.5, 0.5, 0.0], [0.5, 0.5, 0.0]], [3, 4], 0.0),
        # Nobody with the second secret was seen: what it would give away counts all the same.
        ([[0.7, 0.3], [0.4, 0.6]], [1, 0], np.log(2)),
        ([[1.0, 0.0], [0.5, 0.5]], [4, 0], np.inf),
    ],
)
def test_samples_of_little_are_believed_little(channel: Any, counts: Any, expected: float) -> None:
    assert sampled_leakage(channel, counts, delta=0.05) == pytest.approx(expected)


# ---- the privacy funnel


def held_to_its_word(point: FunnelPoint, joint: Joint, utility: float) -> None:
    both = (point.weights[:, None] * point.posteriors).T
    assert (point.weights > 0).all()
    assert (point.posteriors >= 0).all()
    assert np.abs(both.sum(axis=1) - joint.marginal).max() < 1e-9
    kept, leaked = (mutual_information(table / table.sum()) for table in (both, joint.matrix / joint.marginal @ both))
    assert kept >= utility - 1e-9
    assert point.utility == pytest.approx(kept, abs=1e-8)
    assert point.leakage == pytest.approx(leaked, abs=1e-8)
    # I(X;Y) = I(S;Y) + I(X;Y|S): no channel leaks less than this.
    assert leaked >= kept - (entropy(joint.matrix.ravel()) - entropy(joint.prior)) - 1e-9
    whole = entropy(joint.marginal)
    assert leaked <= (utility / whole * mutual_information(joint) if whole > 0 else 0) + 1e-9


@given(joints(zero_cells=True, secrets=(1, 3), released=(1, 5)), st.sampled_from([0.0, 0.2, 0.7, 1.0]))
def test_a_point_of_the_funnel_is_what_it_says_and_between_its_bounds(joint: Joint, share: float) -> None:
    utility = max(share * entropy(joint.marginal), 0.0)
    held_to_its_word(privacy_funnel(joint, utility), joint, utility)


def test_what_is_the_secret_itself_leaks_all_that_is_kept() -> None:
    joint = Joint(np.diag([0.2, 0.3, 0.5]))
    for share in (0.1, 0.5, 1.0):
        utility = share * entropy(joint.marginal)
        assert privacy_funnel(joint, utility).leakage == pytest.approx(utility, abs=1e-9)


def test_a_secret_that_is_half_of_what_is_released_can_be_left_out_of_it() -> None:
    # X = (S, coin): the coin can be kept whole and nothing leaks, and of what is kept beyond it all leaks.
    joint = Joint(np.kron(np.diag([0.5, 0.5]), [[0.5, 0.5]]))
    assert privacy_funnel(joint, np.log(2)).leakage < 1e-3
    assert privacy_funnel(joint, 1.5 * np.log(2)).leakage == pytest.approx(0.5 * np.log(2), abs=1e-3)


def test_two_values_leak_no_less_than_any_two_posteriors_of_a_grid() -> None:
    joint, steps = Joint(np.array([[0.35, 0.1], [0.15, 0.4]])), many(50, 200)
    given_x = joint.matrix / joint.marginal
    for share in (0.2, 0.6):
        utility = share * entropy(joint.marginal)
        best = np.inf
        for low, high in itertools.product(np.linspace(0, 0.49, steps), np.linspace(0.51, 1, steps)):
            weight = (joint.marginal[0] - low) / (high - low)
            if 0 <= weight <= 1:
                outputs = np.array([[high, 1 - high], [low, 1 - low]]).T * [weight, 1 - weight]
                kept = outputs.sum(axis=0) > 0
                if mutual_information(outputs[:, kept]) >= utility:
                    best = min(best, mutual_information((given_x @ outputs)[:, kept]))
        assert privacy_funnel(joint, utility).leakage <= best + 1e-9


def test_perfect_privacy_is_reached_exactly_where_two_secrets_allow_it() -> None:
    joint = Joint(np.array([[0.1, 0.25, 0.15], [0.2, 0.05, 0.25]]))
    kept = (1 - optimal(joint, 0.0).nmil) * entropy(joint.marginal)
    assert privacy_funnel(joint, 0.5 * kept).leakage < 1e-6
    assert privacy_funnel(joint, 1.05 * kept).leakage > 1e-5


# ---- neighbours


def test_the_error_of_neighbours_is_that_of_a_loop() -> None:
    rng = np.random.default_rng(0)
    X, s = rng.normal(size=(60, 2)), rng.integers(3, size=60)
    found = neighbour_risk(X[:40], s[:40], X[40:], s[40:], neighbours=5)
    nearest, wrong = 0, 0
    for x, secret in zip(X[40:], s[40:], strict=True):
        order = np.argsort(((X[:40] - x) ** 2).sum(axis=1))
        nearest += s[order[0]] != secret
        wrong += np.bincount(s[order[:5]], minlength=3).argmax() != secret
    assert (found.nearest, found.error.value) == (nearest / 20, wrong / 20)
    assert found.error.low < found.error.value < found.error.high


def test_copies_are_guessed_and_the_least_risk_is_then_zero() -> None:
    X, s = np.arange(20.0)[:, None], np.array(["yes", "no"] * 10)
    found = neighbour_risk(X, s, X, s, neighbours=1)
    assert (found.error.value, found.nearest, found.least) == (0, 0, 0)
    assert found.guessing == 0.5


X, S = np.arange(12.0).reshape(6, 2), np.array([0, 1] * 3)


@pytest.mark.parametrize(
    ("arguments", "words", "message"),
    [
        ((X, S, X, S), {"neighbours": 0}, "from 1 to the 6 records"),
        ((X, S, X, S), {"neighbours": 7}, "from 1 to the 6 records"),
        ((X, S, X, S), {"neighbours": 2.5}, "whole number"),
        ((X, S, X, [1]), {}, "one secret for each"),
        ((X, S[:5], X, S), {}, "one secret for each"),
        ((X[:, 0], S, X[:, 0], S), {}, "a table of finite numbers"),
        ((X * np.nan, S, X, S), {}, "finite numbers"),
        (([["a", "b"]] * 6, S, X, S), {}, "finite numbers"),
        ((X, S, X[:, :1], S), {}, "2 columns, and those held out 1"),
        # Guessed wrong every time, which would look safe.
        ((X, S, X, S.astype(str)), {}, "no held-out record has a secret"),
        ((X, S, X, S + 5), {}, "no held-out record has a secret"),
    ],
)
def test_records_that_cannot_be_guessed_from_are_refused(
    arguments: tuple[Any, ...], words: dict[str, Any], message: str
) -> None:
    with pytest.raises(ArgumentError, match=message):
        neighbour_risk(*arguments, **words)
