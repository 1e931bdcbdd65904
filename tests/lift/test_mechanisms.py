"""The watchdog's channel: its short form against the dense one, its replacements, and what it says it attains."""

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

from strategies import epsilons, joints
from tacit.errors import ArgumentError
from tacit.lift import (
    SLACK,
    TOLERANCE,
    Channel,
    Joint,
    linear_reduction,
    log_lift,
    mutual_information,
    optimal,
    risk,
    watchdog,
)

COUNTS = Joint.from_counts([[8, 2, 6, 1, 3], [2, 9, 5, 4, 5], [5, 4, 4, 10, 2]], released=list("abcde"))
REPLACEMENTS = ("resample", "uniform", "merge", "suppress")
# Both values point to a secret of their own, and to the same one once merged.
LOPSIDED = Joint.from_counts([[60, 1, 1], [20, 9, 9]])


def dense(channel):
    """The same channel without its short form."""
    return Channel(channel.matrix, outputs=channel.outputs)


@given(joints(zero_cells=True), epsilons(), st.sampled_from(REPLACEMENTS))
def test_the_short_form_and_the_dense_channel_give_one_release(joint, epsilon, replacement):
    channel = watchdog(joint, epsilon, replacement=replacement)
    assert np.allclose(channel.matrix.sum(axis=1), 1)
    short, long = joint.through(channel), joint.through(dense(channel))
    assert np.allclose(short.matrix, long.matrix, atol=1e-14)
    assert list(short.released) == list(long.released)


@given(joints(zero_cells=True, released=(2, 8)), st.sampled_from([0.01, 0.1, 0.3, 1.0, 2.5]))
def test_what_a_mechanism_attains_is_at_most_epsilon_as_a_float(joint, epsilon):
    """One tolerance contract: what was risky is brought inside epsilon by a margin, so no digit passes it."""
    assume((abs(risk(joint) - epsilon) > SLACK).all())
    assert watchdog(joint, epsilon, method="auto").attained <= epsilon + TOLERANCE
    assert linear_reduction(joint, epsilon).attained <= epsilon
    assert optimal(joint, epsilon, effort="low").attained <= epsilon


@given(joints(zero_cells=True), epsilons(), st.sampled_from([0.0, 0.01, 0.2]), st.data())
def test_what_the_channel_says_it_attains_is_true_of_the_dense_release(joint, epsilon, delta, data):
    """Guarantee of `watchdog`, for any replacement, also one that reaches values that are kept."""
    n = joint.shape[1]
    weights = data.draw(st.lists(st.integers(0, 5), min_size=n, max_size=n + 1).filter(any))
    replacement = data.draw(st.sampled_from([*REPLACEMENTS, np.array(weights) / sum(weights)]))
    method = data.draw(st.sampled_from([None, "auto", "greedy"]))
    channel = watchdog(joint, epsilon, delta=delta, replacement=replacement, method=method)
    released = joint.through(dense(channel))
    assert channel.attained == pytest.approx(risk(released).max(), abs=1e-9)
    exceeds = np.abs(log_lift(released)) > epsilon + TOLERANCE
    assert channel.delta_attained == pytest.approx(released.matrix[exceeds].sum(), abs=1e-12)
    reached = channel.matrix.sum(axis=0) > 0
    utility = mutual_information(joint.marginal[:, None] * channel.matrix[:, reached])
    assert channel.utility == pytest.approx(utility, abs=1e-9)
    if delta == 0:
        assert channel.attains == (channel.attained <= epsilon + TOLERANCE)


@given(joints(zero_cells=True), epsilons(), st.sampled_from([0.0, 0.01, 0.2]), st.sampled_from(REPLACEMENTS))
def test_every_named_replacement_attains_what_the_partition_says(joint, epsilon, delta, replacement):
    channel = watchdog(joint, epsilon, delta=delta, replacement=replacement, method="auto")
    assert channel.attains
    assert channel.attained == pytest.approx(channel.partition.attained, abs=1e-9)
    assert channel.delta_attained == pytest.approx(channel.partition.delta_total, abs=1e-9)
    assert channel.utility == pytest.approx(channel.partition.utility, abs=1e-9)
    assert channel.nmil == pytest.approx(channel.partition.nmil, abs=1e-9)


@given(joints(zero_cells=True), epsilons())
def test_resampling_keeps_the_frequencies_of_the_released_values(joint, epsilon):
    assert np.allclose(joint.through(watchdog(joint, epsilon)).marginal, joint.marginal, atol=1e-12)


@given(joints(zero_cells=True), epsilons())
def test_merging_adds_no_risk(joint, epsilon):
    """Guarantee: the merged value is no riskier than the riskiest value merged."""
    assert watchdog(joint, epsilon).attained <= max(risk(joint).max(), 0) + 1e-9


def test_kept_values_pass_and_others_become_what_the_replacement_says():
    kept = [2, 4]
    for replacement in REPLACEMENTS:
        channel = watchdog(COUNTS, 0.6, replacement=replacement)
        assert np.flatnonzero(~channel.merged).tolist() == kept
        assert (channel.matrix[kept, kept] == 1).all()
    even = [1 / 3, 1 / 3, 0, 1 / 3, 0]
    assert np.allclose(watchdog(COUNTS, 0.6, replacement="uniform").matrix[0], even)
    assert watchdog(COUNTS, 0.6, replacement="merge").matrix[3].tolist() == [1, 0, 0, 0, 0]
    assert watchdog(COUNTS, 0.6, replacement="suppress").matrix[3].tolist() == [0, 0, 0, 0, 0, 1]


def test_a_suppressed_value_is_released_as_none():
    channel = watchdog(COUNTS, 0.6, replacement="suppress")
    assert list(COUNTS.through(channel).released) == ["c", "e", None]
    assert list(COUNTS.through(watchdog(COUNTS, 0.6, replacement="merge")).released) == ["a", "c", "e"]


def test_a_replacement_that_reaches_kept_values_mixes_them_and_is_measured_so():
    onto_kept = watchdog(COUNTS, 0.6, replacement=[0, 0, 0, 0, 1])
    released = COUNTS.through(onto_kept)
    assert list(released.released) == ["c", "e"]
    assert onto_kept.attained == pytest.approx(risk(released).max())
    assert onto_kept.attained != pytest.approx(onto_kept.partition.attained)
    assert onto_kept.utility < onto_kept.partition.utility
    with_none = watchdog(COUNTS, 0.6, replacement=[0, 0, 0, 0, 0.5, 0.5])
    assert list(COUNTS.through(with_none).released) == ["c", "e", None]


def test_a_watchdog_that_cannot_attain_epsilon_says_so_and_auto_goes_on():
    plain = watchdog(LOPSIDED, 0.5)
    assert not plain.attains
    assert plain.attained > 0.5
    assert plain.epsilon == 0.5
    hidden = watchdog(LOPSIDED, 0.5, method="auto")
    assert hidden.attains
    assert hidden.attained <= 0.5


def test_with_nothing_risky_the_release_is_the_data():
    for replacement in REPLACEMENTS:
        channel = watchdog(COUNTS, 2.0, replacement=replacement)
        assert not channel.merged.any()
        assert np.allclose(COUNTS.through(channel).matrix, COUNTS.matrix)
        assert channel.nmil == pytest.approx(0, abs=1e-12)


def test_delta_is_used_without_naming_a_method():
    strict, relaxed = watchdog(COUNTS, 0.6), watchdog(COUNTS, 0.6, delta=0.03)
    assert relaxed.partition.method == "greedy"
    assert relaxed.nmil < strict.nmil
    assert 0 < relaxed.delta_attained <= 0.03


def test_a_channel_shows_what_it_attains():
    assert repr(watchdog(COUNTS, 0.6)) == (
        "WatchdogChannel(epsilon=0.6, attained=0.579818, attains=True, merged=3 of 5, nmil=0.441857)"
    )


def test_a_dense_channel_that_would_not_fit_is_refused_but_the_release_is_not():
    table = np.random.default_rng(0).random((2, 20_000))
    joint = Joint(table / table.sum())
    channel = watchdog(joint, 0.5)
    assert joint.through(channel).shape == joint.shape
    with pytest.raises(ArgumentError, match="20000 x 20000, too large"):
        channel.matrix  # noqa: B018


@pytest.mark.parametrize(
    ("replacement", "words"),
    [
        ("shuffle", "no replacement 'shuffle'"),
        ([0.5, 0.5], r"one more for None; its shape is \(2,\)"),
        ([1, 1, 0, 0, 0], "sum to 1"),
        ([2, -1, 0, 0, 0], "sum to 1"),
        ([np.nan, 1, 0, 0, 0], "sum to 1"),
    ],
)
def test_a_replacement_that_is_none_is_refused(replacement, words):
    with pytest.raises(ArgumentError, match=words):
        watchdog(COUNTS, 0.6, replacement=replacement)


def test_a_channel_refuses_a_joint_of_another_size():
    with pytest.raises(ArgumentError, match="takes 5 released values, the joint has 3"):
        LOPSIDED.through(watchdog(COUNTS, 0.6))


def test_a_channel_cannot_be_changed():
    channel = watchdog(COUNTS, 0.6)
    with pytest.raises(AttributeError):
        channel.attained = 0.0
    with pytest.raises(ValueError, match="read-only"):
        channel.replacement[0] = 1
    with pytest.raises(ValueError, match="read-only"):
        channel.merged[0] = True
