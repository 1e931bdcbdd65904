"""What came after the papers: gains, Bayes security, maximal alpha-leakage, averages of the lift, PML from samples."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, strategies as st

from sizes import many
from strategies import joints
from tacit.errors import ArgumentError
from tacit.lift import (
    Joint,
    arimoto,
    average_lift,
    bayes_security,
    entropy,
    funnel,
    g_leakage,
    least_bayes_security,
    log_lift,
    maximal_alpha_leakage,
    maximal_leakage,
    mutual_information,
    optimal,
    privacy_funnel,
    sampled_leakage,
    sibson,
)

TOLD = Joint([[0.5, 0.0], [0.0, 0.5]])
NOTHING = Joint([[0.3, 0.3], [0.2, 0.2]])


def drawn(number: int, secrets: int = 3, values: int = 5) -> list[Joint]:
    rng = np.random.default_rng(5)
    return [Joint(rng.dirichlet(np.full(secrets * values, 0.6)).reshape(secrets, values)) for _ in range(number)]


@given(joints(), st.integers(0, 1_000))
def test_no_gain_of_zero_or_more_leaks_more_than_maximal_leakage(joint: Joint, seed: int) -> None:
    gain = np.random.default_rng(seed).random((4, len(joint.prior)))
    assert 0 <= g_leakage(joint, gain) <= maximal_leakage(joint) + 1e-9
    assert g_leakage(joint, gain, additive=True) >= 0


@given(joints())
def test_a_gain_for_the_right_secret_alone_is_arimotos_information_of_infinite_order(joint: Joint) -> None:
    assert g_leakage(joint, np.eye(len(joint.prior))) == pytest.approx(arimoto(joint, np.inf), abs=1e-12)


def test_a_gain_may_be_negative_where_the_difference_is_asked_for() -> None:
    # Right is worth 1, wrong costs 9, silence nothing: without the release it is best to say nothing.
    gain = [[1, -9], [-9, 1], [0, 0]]
    assert g_leakage(TOLD, gain, additive=True) == 1
    assert g_leakage(NOTHING, gain, additive=True) == 0
    with pytest.raises(ArgumentError, match="ask for the additive leakage"):
        g_leakage(TOLD, gain)
    with pytest.raises(ArgumentError, match="guesses x 2 secrets"):
        g_leakage(TOLD, [[1, 2, 3]])


@pytest.mark.parametrize(("joint", "security"), [(TOLD, 0.0), (NOTHING, 1.0), (Joint([[0.5, 0.5]]), 1.0)])
def test_bayes_security_is_one_where_nothing_is_said_and_zero_where_all_is(joint: Joint, security: float) -> None:
    assert bayes_security(joint) == pytest.approx(security)
    assert least_bayes_security(joint) == pytest.approx(security)


def test_least_bayes_security_is_that_of_the_worst_prior() -> None:
    rng = np.random.default_rng(0)
    for joint in drawn(many(4, 200)):
        rows, least = joint.matrix / joint.prior[:, None], least_bayes_security(joint)
        for prior in rng.dirichlet(np.ones(3), 50):
            assert least <= bayes_security(Joint(prior[:, None] * rows)) + 1e-12
        pairs = [
            bayes_security(Joint(rows[list(pair)] / 2))
            for pair in itertools.combinations(range(3), 2)
            if (rows[list(pair)].sum(axis=0) > 0).all()
        ]
        assert least == pytest.approx(min(pairs), abs=1e-12)


@pytest.mark.long
def test_maximal_alpha_leakage_is_sibsons_information_at_the_worst_prior() -> None:
    rng = np.random.default_rng(1)
    for joint in drawn(many(4, 50)):
        rows = joint.matrix / joint.prior[:, None]
        for order in (1.2, 2.0, 7.0):
            worst = maximal_alpha_leakage(joint, order)
            tried = [sibson(Joint(prior[:, None] * rows), order) for prior in rng.dirichlet(np.full(3, 0.7), 1_500)]
            assert max(tried) <= worst + 1e-9
            assert worst - max(tried) < 0.02
        assert maximal_alpha_leakage(joint, np.inf) == maximal_leakage(joint)
        assert maximal_alpha_leakage(joint, 1) == mutual_information(joint)
        assert maximal_alpha_leakage(joint, 500.0) == pytest.approx(maximal_leakage(joint), abs=0.02)


@given(joints())
def test_averages_of_the_lift_are_within_their_chords(joint: Joint) -> None:
    lifts = log_lift(joint)
    a, b = np.exp(lifts.min()), np.exp(lifts.max())
    if b - a > 1e-6:
        assert average_lift(joint).max() <= 2 * (b - 1) * (1 - a) / (b - a) + 1e-9
        assert average_lift(joint, "chi_squared").max() <= (b - 1) * (1 - a) + 1e-9
    assert joint.marginal @ average_lift(joint, "chi_squared") >= -1e-12


def test_only_the_inverse_averages_see_that_a_rare_secret_is_ruled_out() -> None:
    joint = Joint([[0.01, 0.0], [0.495, 0.495]])
    assert average_lift(joint).tolist()[1] == pytest.approx(0.02, abs=0.001)
    assert np.isinf(average_lift(joint, inverse=True)[1])
    assert np.isinf(average_lift(joint, "chi_squared", inverse=True)[1])
    with pytest.raises(ArgumentError, match="there is no lift 'l2'"):
        average_lift(joint, "l2")  # type: ignore[arg-type]


def test_leakage_from_samples_is_above_that_of_the_true_prior_as_often_as_promised() -> None:
    rng, delta = np.random.default_rng(2), 0.1
    channel, prior = np.array([[0.7, 0.3], [0.4, 0.6], [0.5, 0.5]]), np.array([0.6, 0.3, 0.1])
    true = float(np.log(channel.max(axis=0) / (prior @ channel)).max())
    bounds = [sampled_leakage(channel, rng.multinomial(200, prior), delta=delta) for _ in range(many(200, 5_000))]
    assert np.mean([bound >= true for bound in bounds]) >= 1 - delta
    assert sampled_leakage(channel, 1e9 * prior, delta=delta) == pytest.approx(true, abs=1e-3)
    assert sampled_leakage([[1.0, 0.0], [0.0, 1.0]], [1, 1], delta=0.05) == np.inf


def test_the_worst_prior_of_the_ball_is_the_one_a_linear_program_finds() -> None:
    from scipy.optimize import linprog

    rng = np.random.default_rng(3)
    for _ in range(many(10, 200)):
        channel, counts = rng.dirichlet(np.ones(3), 4), rng.integers(1, 60, 4)
        radius = np.sqrt(2 * np.log((2**4 - 2) / 0.05) / counts.sum())
        worst = -np.inf
        for likelihood in channel.T:
            # Variables: the prior, and how far each entry is from the counted one.
            away = np.hstack([np.eye(4), -np.eye(4)]), np.hstack([-np.eye(4), -np.eye(4)])
            share = counts / counts.sum()
            solved = linprog(
                np.append(likelihood, np.zeros(4)),
                A_ub=np.vstack([*away, np.append(np.zeros(4), np.ones(4))]),
                b_ub=np.concatenate([share, -share, [radius]]),
                A_eq=[np.append(np.ones(4), np.zeros(4))],
                b_eq=[1],
            )
            worst = max(worst, np.log(likelihood.max() / solved.fun))
        assert sampled_leakage(channel, counts, delta=0.05) == pytest.approx(worst, rel=1e-6)


def test_the_privacy_funnel_is_below_the_watchdogs_curve_and_attained_by_its_channel() -> None:
    for joint in drawn(many(2, 30), secrets=3, values=6):
        curve, whole = funnel(joint), entropy(joint.marginal)
        for share in (0.3, 0.6, 0.9):
            point = privacy_funnel(joint, share * whole)
            assert point.weights @ point.posteriors == pytest.approx(joint.marginal, abs=1e-7)
            given_x = joint.matrix / joint.marginal
            leaked = entropy(joint.prior) - sum(
                w * entropy(given_x @ q) for w, q in zip(point.weights, point.posteriors, strict=True)
            )
            assert point.leakage == pytest.approx(leaked, abs=1e-7)
            assert point.utility >= share * whole - 1e-7
            assert point.leakage <= share * mutual_information(joint) + 1e-9
            cheapest = min(leak for use, leak in zip(curve.utility, curve.leakage, strict=True) if use >= share * whole)
            assert point.leakage <= cheapest + 1e-6


def test_the_privacy_funnel_reaches_perfect_privacy_where_the_exact_solver_does() -> None:
    for joint in drawn(many(2, 20), secrets=2, values=6):
        kept = (1 - optimal(joint, 0.0).nmil) * entropy(joint.marginal)
        assert privacy_funnel(joint, 0.98 * kept).leakage < 1e-3
    with pytest.raises(ArgumentError, match=r"between 0 and H\(X\)"):
        privacy_funnel(joint, 99.0)
