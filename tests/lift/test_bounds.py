"""What epsilon-lift promises: never broken, reached by some joint, and no looser than what the papers print."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from strategies import circulant_joint, epsilons, joints
from tacit.errors import ArgumentError
from tacit.lift import (
    Joint,
    arimoto,
    f_bound,
    f_information,
    guessing_bound,
    guessing_probability,
    is_private,
    local_dp,
    log_lift,
    maximal_leakage,
    mutual_information,
    order_bound,
    promises,
    risk,
    sibson,
    watchdog_bound_exact,
    watchdog_bound_printed,
    watchdog_bound_tight,
)

ORDERS = (0.1, 0.5, 0.999, 1.0, 1.001, 1.5, 3.0, 20.0, np.inf)


def sides_of(joint):
    values = log_lift(joint)
    return max(-float(values.min()), 0.0), max(float(values.max()), 0.0)


def worst_joints():
    """Joints with two lifts, which reach the bounds, some of them moved a little off."""
    sizes = st.integers(3, 8).flatmap(lambda n: st.tuples(st.just(n), st.integers(1, n - 1)))

    def build(size, share, noise, seed):
        n, n_high = size
        joint = circulant_joint(size=n, n_high=n_high, high=1 + share * (n / n_high - 1))
        weights = 1 + noise * np.random.default_rng(seed).random(joint.shape)
        return Joint(joint.matrix * weights / (joint.matrix * weights).sum())

    noise = st.sampled_from([0.0, 1e-6, 1e-2])
    return st.builds(build, sizes, st.floats(0.001, 0.999), noise, st.integers(0, 99))


@given(st.one_of(joints(), joints(zero_cells=True), worst_joints()))
def test_no_promise_is_ever_broken(joint):
    """Guarantee of `promises`: at the joint's own largest lifts every measure keeps below its bound."""
    low, high = sides_of(joint)
    worst = max(low, high)
    asked = [promises(worst)] + ([promises(worst, epsilon_low=low, epsilon_high=high)] if low > 0 < high else [])
    for promise in (promise for each in asked for promise in each):
        assert promise.function(joint) <= promise.bound * (1 + 1e-9) + 1e-9, promise


@given(st.one_of(joints(), worst_joints()))
def test_sibson_and_arimoto_keep_below_their_bound_at_every_order(joint):
    low, high = sides_of(joint)
    for order in ORDERS:
        bound = order_bound(order, high, epsilon_low=low, epsilon_high=high)
        assert bound <= high + 1e-12
        assert sibson(joint, order) <= bound + 1e-9, order
        assert arimoto(joint, order) <= bound + 1e-9, order


@pytest.mark.parametrize(("size", "n_high", "high"), [(5, 1, 4.0), (5, 2, 1.5), (7, 3, 2.0), (9, 1, 8.0)])
def test_every_promise_is_reached_by_a_joint_with_two_lifts(size, n_high, high):
    joint = circulant_joint(size=size, n_high=n_high, high=high)
    low, high = sides_of(joint)
    for promise in promises(max(low, high), epsilon_low=low, epsilon_high=high):
        assert promise.function(joint) == pytest.approx(promise.bound, rel=1e-9), promise


@given(st.one_of(joints(), worst_joints()))
def test_no_guess_is_right_more_often_than_the_bound_of_both_sides(joint):
    low, high = sides_of(joint)
    bound = guessing_bound(joint.prior, high, epsilon_low=low)
    assert guessing_probability(joint) <= bound + 1e-12
    assert bound <= guessing_bound(joint.prior, high, epsilon_low=np.inf) + 1e-12


def test_each_side_of_a_guess_takes_its_own_epsilon():
    nine_in_ten = Joint([[0.45, 0.05], [0.05, 0.45]])
    low, high = sides_of(nine_in_ten)
    assert low > 2 * high
    assert guessing_bound([0.5, 0.5], high, epsilon_low=low) == pytest.approx(0.9) == guessing_probability(nine_in_ten)
    assert guessing_bound([0.5, 0.5], 5.0, epsilon_low=0.1) == pytest.approx(1 - 0.5 * np.exp(-0.1))


def test_the_symmetric_bound_on_mutual_information_is_epsilon_tanh_half_epsilon():
    for epsilon in (1e-8, 0.3, 1.0, 5.0):
        assert f_bound("kl", epsilon) == pytest.approx(epsilon * np.tanh(epsilon / 2), rel=1e-6)
    joint = circulant_joint(size=5, n_high=1, high=4.0)
    epsilon = np.log(4)
    assert risk(joint).max() == pytest.approx(epsilon)
    assert mutual_information(joint) == pytest.approx(epsilon * np.tanh(epsilon / 2))


@given(epsilons(), epsilons())
def test_a_true_printed_bound_is_no_sharper_than_ours(low, high):
    for promise in (*promises(high), *promises(high, epsilon_low=low, epsilon_high=high)):
        if promise.status == "proved":
            assert promise.bound <= promise.printed_bound + 1e-12, promise
        assert (promise.printed_bound is None) == (promise.status == "new")


def test_the_printed_bound_on_local_dp_is_broken_and_ours_is_reached():
    joint = circulant_joint(size=5, n_high=1, high=4.0)
    epsilon = float(risk(joint).max())
    wrong = [promise for promise in promises(epsilon) if promise.status == "wrong as printed"]
    assert [promise.measure for promise in wrong] == ["local_dp"]
    assert local_dp(joint) > wrong[0].printed_bound * 1.9
    assert local_dp(joint) == pytest.approx(wrong[0].bound)


def test_epsilon_bounds_maximal_leakage_but_not_every_f_information():
    """The longer watchdog paper says that every leakage is at most epsilon; chi-squared is not."""
    joint = circulant_joint(size=10, n_high=1, high=9.0)
    epsilon = float(risk(joint).max())
    assert maximal_leakage(joint) <= epsilon + 1e-12
    assert f_information(joint, "chi_squared") > epsilon


@pytest.mark.parametrize("epsilon", [0.0, 1e-12, 50.0, 350.0, 351.0, 800.0, np.inf])
def test_promises_at_the_ends_are_numbers(epsilon):
    for promise in promises(epsilon):
        assert promise.bound >= 0
        assert promise.bound > 0 or epsilon <= 1e-12
        assert promise.printed_bound is None or promise.printed_bound >= 0


def test_without_a_bound_below_only_the_upper_side_promises():
    bounds = {(p.measure, p.order): p.bound for p in promises(1.0, epsilon_low=np.inf)}
    assert bounds["maximal_leakage", None] == 1.0
    assert bounds["mutual_information", None] == pytest.approx(1.0)
    assert bounds["local_dp", None] == np.inf
    assert bounds["reverse_kl", None] == np.inf
    assert bounds["chi_squared", None] == pytest.approx(np.e - 1)


def test_promises_refuse_a_negative_epsilon_and_a_wrong_order():
    with pytest.raises(ArgumentError, match="epsilon is -1"):
        promises(-1)
    with pytest.raises(ArgumentError, match="order is 0"):
        order_bound(0, 1.0)


@given(joints(zero_cells=True), epsilons())
def test_the_bounds_of_proposition_2_hold_and_stand_in_order(joint, epsilon):
    exact = watchdog_bound_exact(joint, epsilon)
    tight = watchdog_bound_tight(joint, epsilon)
    printed = watchdog_bound_printed(joint, epsilon)
    assert exact <= tight + 1e-9
    assert tight <= printed + 1e-9


@given(joints(), st.floats(0.05, 2.0))
def test_proposition_2_is_the_crude_bound_in_other_words_and_infinite_where_it_must_be(joint, epsilon):
    safe = float(joint.marginal[risk(joint) <= epsilon].sum())
    printed = watchdog_bound_printed(joint, epsilon)
    if safe >= 1 - 1e-12:
        assert is_private(joint, epsilon)
        assert printed == epsilon
    elif np.exp(epsilon) * safe >= 1 + 1e-9:
        assert printed == np.inf
    elif np.exp(epsilon) * safe <= 1 - 1e-9:
        low_side = -np.log((1 - np.exp(epsilon) * safe) / (1 - safe))
        assert printed == pytest.approx(max(np.log(np.exp(epsilon) + 1 / (1 - safe)), low_side), rel=1e-6)


def test_the_bounds_of_proposition_2_at_huge_epsilons_are_numbers():
    told = Joint([[0.5, 0.0], [0.0, 0.5]])
    for epsilon in (360.0, 1e4):
        assert watchdog_bound_printed(told, epsilon) == np.inf
        assert watchdog_bound_tight(told, epsilon) == np.inf
        assert watchdog_bound_exact(told, epsilon) == pytest.approx(0, abs=1e-12)
        assert watchdog_bound_printed([[0.4, 0.1], [0.1, 0.4]], epsilon) == epsilon


def test_proposition_2_with_nothing_safe_is_loose_although_nothing_leaks():
    joint = Joint([[0.4, 0.1], [0.1, 0.4]])
    assert watchdog_bound_printed(joint, 0.1) == pytest.approx(np.log(1 + np.exp(0.1)))
    assert watchdog_bound_tight(joint, 0.1) == 0.1
    assert watchdog_bound_exact(joint, 0.1) == pytest.approx(0, abs=1e-12)


@given(joints())
def test_guessing_keeps_below_its_bound(joint):
    epsilon = float(risk(joint).max())
    bound = guessing_bound(joint.prior, epsilon)
    assert guessing_probability(joint) <= bound + 1e-9
    assert bound <= joint.prior.max() * np.exp(epsilon) + 1e-9


def test_the_guessing_bound_is_reached_by_both_of_its_sides():
    told = np.array([[0.5 * 0.6, 0.5 * 0.4], [0.5 * 0.4, 0.5 * 0.6]])
    assert guessing_probability(told) == pytest.approx(guessing_bound([0.5, 0.5], np.log(1.25)))
    assert guessing_bound([0.9, 0.1], 0.0) == pytest.approx(0.9)
    assert guessing_bound([0.9, 0.1], np.inf) == 1.0
