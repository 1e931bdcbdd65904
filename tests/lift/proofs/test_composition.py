"""Several releases of the same people: exact joints against loops, bounds against random and worst populations."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from sizes import many
from strategies import channels, joints
from tacit.errors import ArgumentError
from tacit.lift import (
    Channel,
    Joint,
    ReleaseBound,
    compose,
    compose_bounds,
    compose_given_secret,
    compose_table,
    dp_epsilon,
    log_lift,
    risk,
)

XOR = Joint([[0.25, 0, 0, 0.25], [0, 0.25, 0.25, 0]])
FIRST_BIT = Channel([[1, 0], [1, 0], [0, 1], [0, 1]])
SECOND_BIT = Channel([[1, 0], [0, 1], [1, 0], [0, 1]])


def within(joint, composition, *, slack=1e-9):
    values = log_lift(joint)
    return -composition.epsilon_low - slack <= values.min() and values.max() <= composition.epsilon_high + slack


def given_secret(prior, *lifts):
    """The joint of releases that are independent given the secret, each of two values, from the lifts of the first."""
    parts = []
    for lift in lifts:
        share = 0.5 / np.max(lift)
        parts.append(Joint(np.column_stack([prior * lift * share, prior * (1 - lift * share)])))
    return parts


@st.composite
def joints_with_several_channels(draw):
    joint = draw(joints(secrets=(2, 3), released=(2, 4), zero_cells=True))
    return joint, [draw(channels(released=joint.shape[1], outputs=(1, 3))) for _ in range(draw(st.integers(1, 3)))]


# ---- exactly


@given(joints_with_several_channels())
@settings(max_examples=many(13, 40), deadline=None)
def test_channels_that_draw_on_their_own_compose_as_the_sum_over_released_values(case):
    joint, several = case
    composed = compose(joint, *several)
    total = 0.0
    for outputs in product(*(range(channel.matrix.shape[1]) for channel in several)):
        column = sum(
            joint.matrix[:, x] * np.prod([channel.matrix[x, y] for channel, y in zip(several, outputs, strict=True)])
            for x in range(joint.shape[1])
        )
        total += column.sum()
        if column.sum() > 0:
            found = composed.matrix[:, list(composed.released).index(outputs)]
            assert found == pytest.approx(column, abs=1e-12)
        else:
            assert outputs not in composed.released
    assert total == pytest.approx(1)


@given(joints_with_several_channels())
@settings(max_examples=many(13, 40), deadline=None)
def test_what_is_made_from_the_data_says_no_more_than_the_data_however_often(case):
    joint, several = case
    composed = compose(joint, *several)
    releases = [ReleaseBound.of(joint.through(channel)) for channel in several]
    bound = compose_bounds(releases, relation="unknown", source=ReleaseBound.of(joint), prior=joint.prior)
    assert within(composed, bound)
    # A later release never takes back what an earlier one said.
    assert risk(composed).max() >= risk(compose(joint, several[0])).max() - 1e-9


@given(joints(secrets=(2, 3), released=(1, 3)), st.integers(0, 10**6))
@settings(max_examples=many(10, 30), deadline=None)
def test_releases_that_are_independent_given_the_secret_compose_as_the_product(joint, seed):
    rng = np.random.default_rng(seed)
    other = Joint(joint.prior[:, None] * rng.dirichlet(np.ones(3), size=joint.shape[0]))
    composed = compose_given_secret(joint, other)
    for s, y1, y2 in product(range(joint.shape[0]), range(joint.shape[1]), range(3)):
        expected = joint.matrix[s, y1] * other.matrix[s, y2] / joint.prior[s]
        assert composed.matrix[s, list(composed.released).index((y1, y2))] == pytest.approx(expected)


def test_counts_over_secret_and_releases_give_the_joint_of_those_that_occur():
    counts = np.zeros((2, 2, 3))
    counts[0, 0, 1], counts[1, 0, 1], counts[1, 1, 2] = 3, 1, 4
    joint = compose_table(counts, secrets=["no", "yes"])
    assert list(joint.released) == [(0, 1), (1, 2)]
    assert joint.matrix.tolist() == [[3 / 8, 0], [1 / 8, 4 / 8]]
    assert list(joint.secrets) == ["no", "yes"]


def test_what_cannot_be_composed_is_refused():
    with pytest.raises(ArgumentError, match="no channel"):
        compose(XOR)
    with pytest.raises(ArgumentError, match="takes 2 released values"):
        compose(XOR, Channel(np.eye(2)))
    with pytest.raises(ArgumentError, match="compose_table"):
        compose(Joint(np.full((2, 600), 1 / 1200)), *[Channel(np.full((600, 600), 1 / 600))] * 2)
    with pytest.raises(ArgumentError, match="not of the same people"):
        compose_given_secret(Joint([[0.5], [0.5]]), Joint([[0.4], [0.6]]))
    with pytest.raises(ArgumentError, match="no relation 'side by side'"):
        compose_bounds([ReleaseBound(1, 1)], relation="side by side")
    with pytest.raises(ArgumentError, match="no release"):
        compose_bounds([], relation="unknown")
    with pytest.raises(ArgumentError, match="0 or more"):
        ReleaseBound(-1, 1)
    with pytest.raises(ArgumentError, match="beta is 1"):
        ReleaseBound(1, 1, 1)
    with pytest.raises(ArgumentError, match="prior must be"):
        compose_bounds([ReleaseBound(1, 1)], relation="unknown", prior=[0.5, 0.6])


# ---- no bound where none is true


def test_two_releases_that_say_nothing_alone_tell_everything_together():
    alone = [ReleaseBound.of(XOR.through(channel)) for channel in (FIRST_BIT, SECOND_BIT)]
    assert [(release.epsilon_low, release.epsilon_high) for release in alone] == [(0, 0), (0, 0)]
    together = compose(XOR, FIRST_BIT, SECOND_BIT)
    assert risk(together).max() == np.inf
    bound = compose_bounds(alone, relation="unknown")
    assert (bound.epsilon_low, bound.epsilon_high) == (np.inf, np.inf)
    assert "Nothing bounds" in bound.sentence
    with_prior = compose_bounds(alone, relation="unknown", prior=[0.5, 0.5])
    assert with_prior.epsilon_high == pytest.approx(log_lift(together).max()) == pytest.approx(np.log(2))
    assert with_prior.epsilon_low == np.inf


def test_the_sum_is_no_bound_even_for_releases_that_are_independent_given_the_secret():
    prior = np.array([0.02, 0.49, 0.49])
    first, second = given_secret(prior, np.array([1.5, 1.48, 0.5]), np.array([1.5, 0.5, 1.48]))
    apart = [log_lift(release)[0, 0] for release in (first, second)]
    together = log_lift(compose_given_secret(first, second)).max()
    assert together > sum(apart) + 0.2
    bound = compose_bounds([ReleaseBound.of(first), ReleaseBound.of(second)], relation="given secret")
    assert bound.epsilon_high >= together


# ---- bounds


@given(joints(secrets=(2, 5), released=(2, 4)), st.integers(0, 10**6), st.integers(2, 4), st.sampled_from([0.2, 1, 5]))
@settings(max_examples=many(25, 100), deadline=None)
def test_releases_that_are_independent_given_the_secret_stay_within_their_bound(joint, seed, size, spread):
    rng = np.random.default_rng(seed)
    several = [joint]
    several += [
        Joint(joint.prior[:, None] * rng.dirichlet(np.full(2, spread), size=joint.shape[0])) for _ in range(size - 1)
    ]
    releases = [ReleaseBound.of(release) for release in several]
    composed = compose_given_secret(*several)
    assert within(composed, compose_bounds(releases, relation="given secret"))
    assert within(composed, compose_bounds(releases, relation="given secret", prior=joint.prior))


@pytest.mark.parametrize(("low", "high"), [(0.5, 0.5), (0.1, 0.1), (2.0, 2.0), (1.0, 0.3), (0.3, 1.0)])
def test_the_bound_for_two_releases_given_the_secret_is_attained(low, high):
    """A secret of almost no probability, high (or low) in both, and the rest at the ends of the ranges."""
    bound = compose_bounds([ReleaseBound(low, high)] * 2, relation="given secret")
    a, b = np.exp(-low), np.exp(high)
    share, tiny = (1 - a) / (b - a), 1e-9
    if share <= 0.5:
        prior, one, two = [tiny, share, share, 1 - 2 * share], [b, b, a, a], [b, a, b, a]
    else:
        prior, one, two = [tiny, 1 - share, 1 - share, 2 * share - 1], [b, a, b, b], [b, b, a, b]
    highest = log_lift(compose_given_secret(*given_secret(normal(prior), normal_lift(prior, one),
                                                          normal_lift(prior, two))))[0, 0]  # fmt: skip
    assert highest == pytest.approx(bound.epsilon_high, abs=1e-6)
    prior = [tiny, share, 1 - share]
    together = given_secret(normal(prior), *[normal_lift(prior, [a, b, a])] * 2)
    assert log_lift(compose_given_secret(*together))[0, 0] == pytest.approx(-bound.epsilon_low, abs=1e-6)


def normal(prior):
    return np.array(prior) / np.sum(prior)


def normal_lift(prior, lift):
    return np.array(lift) / (normal(prior) @ np.array(lift))


@given(st.lists(st.tuples(st.floats(0, 4), st.floats(0, 4)), min_size=2, max_size=4))
@settings(max_examples=many(15, 60), deadline=None)
def test_a_bound_given_the_secret_is_at_least_the_sum_and_at_most_what_the_plain_argument_gives(pairs):
    releases = [ReleaseBound(*pair) for pair in pairs]
    lows, highs = zip(*(release.tight for release in releases), strict=True)
    bound = compose_bounds(releases, relation="given secret")
    assert sum(highs) - 1e-9 <= bound.epsilon_high <= sum(highs) + sum(sorted(lows)[:-1]) + 1e-9
    assert sum(lows) - 1e-9 <= bound.epsilon_low <= sum(lows) + sum(sorted(highs)[:-1]) + 1e-9


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 1.0, 10.0, 400.0])
def test_two_equal_releases_given_the_secret_stay_between_two_and_three_epsilon(epsilon):
    bound = compose_bounds([ReleaseBound(epsilon, epsilon)] * 2, relation="given secret")
    assert 2 * epsilon < bound.epsilon <= 3 * epsilon
    if epsilon <= 0.1:
        assert bound.epsilon <= 2 * epsilon + 1.1 * epsilon**2


def test_a_side_without_a_bound_leaves_the_other_without_one_unless_one_release_has_both():
    open_low = ReleaseBound(np.inf, 0.5)
    assert compose_bounds([open_low, open_low], relation="given secret").epsilon_high == np.inf
    assert compose_bounds([open_low, ReleaseBound(0.2, 0.5)], relation="given secret").epsilon_high == pytest.approx(
        1.2
    )
    assert compose_bounds([open_low, open_low], relation="in sequence").epsilon_high == 1.0
    assert compose_bounds([ReleaseBound(0.5, np.inf)] * 2, relation="given secret").epsilon_low == np.inf


@given(joints(secrets=(2, 4), released=(2, 4)), st.data())
@settings(max_examples=many(15, 60), deadline=None)
def test_bounds_that_hold_for_whoever_knows_the_first_release_add(joint, data):
    first, second = (data.draw(channels(released=joint.shape[1], outputs=(1, 3))) for _ in range(2))
    opening = joint.through(first)
    low = high = 0.0
    for y in range(first.matrix.shape[1]):
        seen = joint.matrix * first.matrix[:, y]
        if seen.sum() > 0:
            columns = (seen / seen.sum()) @ second.matrix
            columns = columns[:, columns.sum(axis=0) > 0]
            knowing = (
                ReleaseBound.of(Joint(columns)) if (columns.sum(axis=1) > 0).all() else ReleaseBound(np.inf, np.inf)
            )
            low, high = max(low, knowing.epsilon_low), max(high, knowing.epsilon_high)
    bound = compose_bounds([ReleaseBound.of(opening), ReleaseBound(low, high)], relation="in sequence")
    assert within(compose(joint, first, second), bound)


@given(joints(secrets=(2, 4), released=(2, 4), zero_cells=True), st.data())
@settings(max_examples=many(15, 60), deadline=None)
def test_a_fresh_locally_private_draw_adds_its_dp_epsilon_to_whatever_was_released(joint, data):
    first, second = (data.draw(channels(released=joint.shape[1], outputs=(1, 3))) for _ in range(2))
    fresh = Channel((second.matrix + 0.2) / (second.matrix + 0.2).sum(axis=1, keepdims=True))
    epsilon = dp_epsilon(fresh)
    releases = [ReleaseBound.of(joint.through(first)), ReleaseBound(epsilon, epsilon)]
    assert within(compose(joint, first, fresh), compose_bounds(releases, relation="in sequence"))


def test_dp_epsilon_is_the_largest_log_ratio_in_a_column():
    assert dp_epsilon(Channel([[0.8, 0.2], [0.4, 0.6]])) == pytest.approx(np.log(3))
    assert dp_epsilon(Channel([[1, 0], [0.5, 0.5]])) == np.inf
    assert dp_epsilon(Channel([[1, 0], [1, 0]])) == 0


def test_releases_of_other_people_are_as_bad_as_the_worst_and_their_doubts_add():
    releases = [ReleaseBound(0.5, 0.2, 0.05), ReleaseBound(0.3, 0.4, 0.01)]
    bound = compose_bounds(releases, relation="other people")
    assert (bound.epsilon_low, bound.epsilon_high, bound.epsilon) == (0.5, 0.4, 0.5)
    assert bound.beta == pytest.approx(0.06)
    assert "94.0% confidence" in bound.sentence
    assert "no person is in two releases" in bound.sentence


def test_a_single_release_needs_no_relation():
    bound = compose_bounds([ReleaseBound(0.5, 0.2)], relation="unknown")
    assert (bound.epsilon_low, bound.epsilon_high, bound.assumptions) == (0.5, 0.2, ())


def test_the_data_itself_bounds_all_releases_and_its_doubt_counts_where_it_does():
    source = ReleaseBound(0.7, 0.6, 0.05)
    bound = compose_bounds([ReleaseBound(0.5, 0.5)] * 2, relation="unknown", source=source)
    assert (bound.epsilon_low, bound.epsilon_high, bound.beta) == (0.7, 0.6, 0.05)
    assert "made from the data" in bound.sentence
    idle = compose_bounds([ReleaseBound(0.1, 0.1)] * 2, relation="in sequence", source=source)
    assert (idle.epsilon, idle.beta) == (0.2, 0.0)
