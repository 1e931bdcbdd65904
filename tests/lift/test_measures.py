"""Measures against slow definitions, hand-made values, and the laws they must obey."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from strategies import joints, joints_with_channels
from tacit.errors import ArgumentError
from tacit.lift import (
    MEASURES,
    Joint,
    arimoto,
    e_gamma,
    entropy,
    f_information,
    guessing_probability,
    is_private,
    local_dp,
    log_lift,
    max_lift,
    maximal_leakage,
    measures,
    min_lift,
    mutual_information,
    pointwise_maximal_leakage,
    risk,
    sibson,
)

TOLD = Joint([[0.5, 0.0], [0.0, 0.5]])
HALF_TOLD = Joint([[0.4, 0.1], [0.1, 0.4]])


def orders():
    return st.one_of(st.floats(0.05, 40), st.floats(0.999, 1.001), st.sampled_from([0.5, 1.0, 2.0, np.inf]))


def extended(joint):
    """The joint in extended precision, summing to 1 in it too: near order 1 the definitions magnify what is missing."""
    matrix = np.asarray(joint.matrix, dtype=np.longdouble)
    return matrix / matrix.sum()


def exact_sibson(joint, order):
    """The definition, in extended precision."""
    matrix = extended(joint)
    prior = matrix.sum(axis=1)
    order = np.longdouble(order)
    inner = (prior[:, None] * (matrix / prior[:, None]) ** order).sum(axis=0) ** (1 / order)
    return float(order / (order - 1) * np.log(inner.sum()))


def exact_arimoto(joint, order):
    """The definition, in extended precision."""
    matrix = extended(joint)
    order = np.longdouble(order)
    expected_norm = ((matrix**order).sum(axis=0) ** (1 / order)).sum()
    prior_norm = (matrix.sum(axis=1) ** order).sum() ** (1 / order)
    return float(order / (order - 1) * np.log(expected_norm / prior_norm))


def exact_mutual_information(joint):
    matrix = extended(joint)
    product = np.outer(matrix.sum(axis=1), matrix.sum(axis=0))
    occurs = matrix > 0
    return float((matrix[occurs] * np.log(matrix[occurs] / product[occurs])).sum())


def test_log_lift_of_a_small_table_by_hand():
    assert np.allclose(log_lift(HALF_TOLD), np.log([[1.6, 0.4], [0.4, 1.6]]))
    assert np.allclose(risk(HALF_TOLD), -np.log(0.4))
    assert np.allclose(max_lift(HALF_TOLD), np.log(1.6))
    assert np.allclose(min_lift(HALF_TOLD), np.log(0.4))


def test_a_release_of_the_secret_itself_has_infinite_risk():
    assert log_lift(TOLD).tolist() == [[np.log(2), -np.inf], [-np.inf, np.log(2)]]
    assert risk(TOLD).tolist() == [np.inf, np.inf]
    assert local_dp(TOLD) == np.inf
    assert f_information(TOLD, "reverse_kl") == np.inf
    assert mutual_information(TOLD) == pytest.approx(np.log(2), abs=1e-15)
    assert maximal_leakage(TOLD) == pytest.approx(np.log(2), abs=1e-15)
    assert guessing_probability(TOLD) == 1
    assert f_information(TOLD, "hellinger") == pytest.approx(1 - np.sqrt(0.5), abs=1e-15)


@given(joints(zero_cells=True), orders())
def test_sibson_and_arimoto_agree_with_their_definitions(joint, order):
    if order in (1, np.inf):
        return
    # Near order 1 the definition itself loses digits, even in extended precision.
    slack = max(1e-12, 1e-18 / abs(order - 1))
    assert sibson(joint, order) == pytest.approx(exact_sibson(joint, order), rel=1e-9, abs=slack)
    assert arimoto(joint, order) == pytest.approx(exact_arimoto(joint, order), rel=1e-9, abs=slack)


@given(joints(zero_cells=True))
def test_order_one_is_mutual_information_from_both_sides(joint):
    expected = exact_mutual_information(joint)
    assert mutual_information(joint) == pytest.approx(expected, abs=1e-14)
    # The derivative in the order is at most the variance of log-lift: some hundreds for these tables.
    for order in (1 - 1e-13, 1.0, 1 + 1e-13, 1 + 1e-12):
        assert sibson(joint, order) == pytest.approx(expected, abs=1e-9)
        assert arimoto(joint, order) == pytest.approx(expected, abs=1e-9)


def test_probabilities_down_to_a_trillionth_keep_their_digits():
    joint = Joint([[0.5 - 1e-12, 1e-12], [0.25, 0.25]])
    assert mutual_information(joint) == pytest.approx(exact_mutual_information(joint), rel=1e-13)
    for order in (0.3, 0.9999, 1.0001, 3.0, 200.0):
        assert sibson(joint, order) == pytest.approx(exact_sibson(joint, order), rel=1e-11)
        assert arimoto(joint, order) == pytest.approx(exact_arimoto(joint, order), rel=1e-11)
    assert log_lift(joint)[0, 1] == pytest.approx(np.log(1e-12 / (0.5 * (0.25 + 1e-12))), rel=1e-15)
    assert np.isfinite(local_dp(joint))


def test_a_lift_far_below_rounding_of_one_is_still_counted():
    joint = Joint([[0.5, 1e-30], [0.25, 0.25]])
    assert mutual_information(joint) == pytest.approx(exact_mutual_information(joint), rel=1e-13)


@pytest.mark.parametrize("order", [1e-300, 1e-18, 1e16, 1e300])
def test_orders_at_the_ends_neither_overflow_nor_vanish(order):
    assert sibson(TOLD, order) == pytest.approx(np.log(2), abs=1e-12)
    assert arimoto(TOLD, order) == pytest.approx(np.log(2), abs=1e-12)
    assert 0 <= sibson(HALF_TOLD, order) <= np.log(1.6) + 1e-12


@given(joints(zero_cells=True), orders(), orders())
def test_sibson_grows_with_the_order(joint, one, other):
    low, high = sorted((one, other))
    assert sibson(joint, low) <= sibson(joint, high) + 1e-12


@given(joints(zero_cells=True))
def test_the_measures_stand_in_their_order(joint):
    assert 0 <= mutual_information(joint) <= sibson(joint, 2) + 1e-12
    assert sibson(joint, 2) <= maximal_leakage(joint) + 1e-12
    assert arimoto(joint, np.inf) <= maximal_leakage(joint) + 1e-12
    assert maximal_leakage(joint) <= pointwise_maximal_leakage(joint).max() + 1e-12
    assert pointwise_maximal_leakage(joint).max() <= risk(joint).max() + 1e-12
    assert risk(joint).max() <= local_dp(joint) + 1e-12
    assert np.exp(arimoto(joint, np.inf)) * joint.prior.max() == pytest.approx(guessing_probability(joint))


@given(joints_with_channels(zero_cells=True))
def test_no_channel_makes_a_release_say_more(pair):
    joint, channel = pair
    released = joint.through(channel)
    for measure in MEASURES.values():
        assert measure.function(released) <= measure.function(joint) * (1 + 1e-9) + 1e-9, measure.name


@given(joints(zero_cells=True), st.randoms(use_true_random=False))
def test_names_of_secrets_and_values_do_not_matter(joint, random):
    rows, columns = list(range(joint.shape[0])), list(range(joint.shape[1]))
    random.shuffle(rows)
    random.shuffle(columns)
    shuffled = Joint(joint.matrix[np.ix_(rows, columns)])
    for measure in MEASURES.values():
        assert measure.function(shuffled) == pytest.approx(measure.function(joint), rel=1e-9, abs=1e-12), measure.name


@given(joints())
def test_a_release_independent_of_the_secret_leaks_nothing(joint):
    independent = Joint(np.outer(joint.prior, joint.marginal))
    for name, measure in MEASURES.items():
        nothing = joint.prior.max() if name == "guessing_probability" else 0
        assert measure.function(independent) == pytest.approx(nothing, abs=1e-12), name
    assert sibson(independent, 1 + 1e-9) == pytest.approx(0, abs=1e-12)


@given(joints(zero_cells=True))
def test_no_measure_passes_its_ceiling_and_telling_the_secret_reaches_it(joint):
    told = Joint(np.diag(joint.prior))
    for measure in MEASURES.values():
        ceiling = measure.ceiling(joint)
        assert measure.function(joint) <= ceiling + 1e-9, measure.name
        assert measure.function(told) == pytest.approx(ceiling, abs=1e-9), measure.name


@given(joints(zero_cells=True))
def test_the_shannon_measures_are_symmetric_in_secret_and_released(joint):
    turned = Joint(joint.matrix.T)
    for f in ("kl", "chi_squared", "total_variation", "hellinger"):
        assert f_information(turned, f) == pytest.approx(f_information(joint, f), abs=1e-12, rel=1e-9)


@given(joints(zero_cells=True), st.floats(0.1, 5))
def test_f_informations_agree_with_sums_over_the_pairs(joint, gamma):
    product = np.outer(joint.prior, joint.marginal)
    difference = joint.matrix - product
    expected = {
        "chi_squared": (difference**2 / product).sum(),
        "total_variation": np.abs(difference).sum() / 2,
        "hellinger": 1 - np.sqrt(joint.matrix * product).sum(),
        "kl": exact_mutual_information(joint),
    }
    for name, value in expected.items():
        assert f_information(joint, name) == pytest.approx(value, abs=1e-12, rel=1e-9), name
    stick = e_gamma(joint.matrix, product, gamma)
    assert stick == pytest.approx(np.maximum(joint.matrix - gamma * product, 0).sum(), abs=1e-12)
    assert f_information(joint, "e_gamma", gamma=gamma) == pytest.approx(stick - max(1 - gamma, 0), abs=1e-12)
    assert f_information(joint, lambda t: (t - 1) ** 2) == pytest.approx(expected["chi_squared"], rel=1e-9, abs=1e-12)


@given(joints())
def test_the_reversed_divergence_agrees_with_its_sum(joint):
    product = np.outer(joint.prior, joint.marginal)
    expected = (product * np.log(product / joint.matrix)).sum()
    assert f_information(joint, "reverse_kl") == pytest.approx(expected, abs=1e-12, rel=1e-9)


@given(st.lists(st.integers(0, 9), min_size=2, max_size=6).filter(any), st.floats(1, 4))
def test_the_hockey_stick_is_the_largest_excess_over_events(counts, gamma):
    p = np.array(counts) / sum(counts)
    q = np.roll(p, 1)
    members = (np.arange(2 ** len(p))[:, None] >> np.arange(len(p))) & 1
    assert e_gamma(p, q, gamma) == pytest.approx((members @ (p - gamma * q)).max(), abs=1e-12)


@given(joints(zero_cells=True))
def test_local_dp_is_the_largest_ratio_of_beliefs(joint):
    beliefs = joint.matrix / joint.marginal
    ratios = [
        np.log(beliefs[s, x] / beliefs[s, y]) if beliefs[s, y] > 0 else np.inf
        for s in range(joint.shape[0])
        for x in range(joint.shape[1])
        for y in range(joint.shape[1])
        if beliefs[s, x] > 0
    ]
    assert local_dp(joint) == pytest.approx(max(ratios), rel=1e-9, abs=1e-12)


@given(joints(zero_cells=True))
def test_a_joint_is_private_at_its_own_largest_lifts_and_not_below(joint):
    values = log_lift(joint)
    low, high = -values.min(), values.max()
    assert is_private(joint, risk(joint).max())
    assert is_private(joint, 0, epsilon_low=max(low, 0), epsilon_high=max(high, 0))
    if high > 1e-6:
        assert not is_private(joint, np.inf, epsilon_high=high * 0.999)
        assert not is_private(joint, np.inf, epsilon_low=min(low, 1e6) * 0.999)


def test_the_sides_of_the_bound_are_checked_apart():
    # Log-lifts are log 1.6 = 0.47 and log 0.4 = -0.92.
    assert not is_private(HALF_TOLD, 0.5)
    assert is_private(HALF_TOLD, 0.5, epsilon_low=1.0)
    assert not is_private(HALF_TOLD, 1.0, epsilon_high=0.4)
    assert is_private(TOLD, np.log(2), epsilon_low=np.inf)


def test_rounding_is_forgiven_and_no_more():
    assert is_private(HALF_TOLD, -np.log(0.4) - 1e-13)
    assert not is_private(HALF_TOLD, -np.log(0.4) - 1e-11)


def test_entropy_of_every_order():
    p = [0.5, 0.25, 0.25, 0.0]
    assert entropy(p) == pytest.approx(1.5 * np.log(2))
    assert entropy(p, order=0) == pytest.approx(np.log(3))
    assert entropy(p, order=2) == pytest.approx(-np.log(0.375))
    assert entropy(p, order=np.inf) == pytest.approx(np.log(2))
    assert entropy(p, order=1 + 1e-12) == pytest.approx(1.5 * np.log(2))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: sibson(TOLD, 0), "order is 0"),
        (lambda: arimoto(TOLD, np.nan), "order is nan"),
        (lambda: entropy([0.5, 0.5], order=-1), "order is -1"),
        (lambda: entropy([0.5, 0.6]), "sums to 1.1"),
        (lambda: is_private(TOLD, -1), "epsilon is -1"),
        (lambda: is_private(TOLD, 1, epsilon_low=np.nan), "epsilon_low is nan"),
        (lambda: f_information(TOLD, "chi2"), "no f-information called 'chi2'"),
        (lambda: f_information(TOLD, "e_gamma"), "needs a gamma"),
        (lambda: f_information(TOLD, np.exp), r"f\(1\) is 2.7"),
        (lambda: f_information(TOLD, lambda t: t * np.log(t)), "at 0, give it its limit"),
        (lambda: e_gamma([1.0], [0.5, 0.5], 2), "one shape"),
        (lambda: e_gamma([1.0], [1.0], -2), "gamma is -2"),
    ],
)
def test_a_wrong_argument_is_named(call, words):
    with pytest.raises(ArgumentError, match=words):
        call()


def test_every_measure_explains_itself():
    for name, measure in MEASURES.items():
        assert measure.name == name
        assert all((measure.title, measure.formula, measure.meaning))
    assert {"risk", "mutual_information", "maximal_leakage", "local_dp"} <= set(MEASURES)
    assert set(measures.GENERATORS) - {"kl"} <= set(MEASURES)
