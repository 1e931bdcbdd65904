"""Counts corrected for a known channel: unbiased, with the right spread, and honest about what is not told."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from sizes import many
from tacit import ArgumentError
from tacit.lift import correction, counts_before

# Two values are mixed, one is kept, and one may become any.
CHANNEL = np.array([[0.7, 0.3, 0.0, 0.0], [0.2, 0.8, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.1, 0.1, 0.3, 0.5]])
TRUE = np.array([1383, 2500, 700, 417])


def drawn(channel: np.ndarray, true: np.ndarray, rng: np.random.Generator, times: int) -> np.ndarray:
    """What comes out of the channel, so many times."""
    return sum(rng.multinomial(n, row, size=times) for n, row in zip(true, channel, strict=True))


def exact_variance(channel: np.ndarray, true: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The variance of sums of weights, from the covariance of what comes out."""
    covariance = sum(n * (np.diag(row) - np.outer(row, row)) for n, row in zip(true, channel, strict=True))
    return np.diag(weights.T @ covariance @ weights)


def test_corrected_counts_are_right_on_average_and_within_two_errors_nineteen_times_in_twenty() -> None:
    times = many(2_000, 40_000)
    found = [counts_before(CHANNEL, each) for each in drawn(CHANNEL, TRUE, np.random.default_rng(0), times)]
    estimates, errors = (np.array(part) for part in zip(*found, strict=True))
    spread = np.sqrt(exact_variance(CHANNEL, TRUE, correction(CHANNEL).weights))
    assert np.abs(estimates.mean(axis=0) - TRUE).max() < 5 * spread.max() / np.sqrt(times)
    assert errors.mean(axis=0) == pytest.approx(spread, rel=0.02)
    covered = (np.abs(estimates - TRUE) <= 1.96 * errors).mean(axis=0)
    assert (np.abs(covered - 0.95) < 5 * np.sqrt(0.95 * 0.05 / times) + 0.005).all()


def test_what_is_counted_without_a_correction_is_far_off() -> None:
    observed = drawn(CHANNEL, TRUE, np.random.default_rng(1), 1)[0]
    estimate, error = counts_before(CHANNEL, observed)
    assert (np.abs(observed - TRUE) > 5 * error)[1:].any()
    assert (np.abs(estimate - TRUE) < 4 * error).all()


@given(st.data())
def test_variances_add_up_to_the_exact_variance(data: st.DataObject) -> None:
    size = data.draw(st.integers(1, 5))
    cells = st.lists(st.integers(0, 9), min_size=size, max_size=size)
    channel = np.array([data.draw(cells) for _ in range(size)], dtype=float) + 10 * np.eye(size)
    channel /= channel.sum(axis=1, keepdims=True)
    true = np.array(data.draw(st.lists(st.integers(0, 1000), min_size=size, max_size=size)))
    made = correction(channel)
    # Of what is expected to come out, the weights make what went in, and the variances its variance.
    assert made.told.all()
    assert (true @ channel) @ made.weights == pytest.approx(true, abs=1e-6)
    exact = exact_variance(channel, true, made.weights)
    assert (true @ channel) @ made.variances == pytest.approx(exact, rel=1e-6, abs=1e-6)


def test_a_mean_of_channels_is_corrected_as_well_and_its_error_is_too_large_rather_than_too_small() -> None:
    rng, times = np.random.default_rng(2), many(2_000, 20_000)
    # Half of the records of the first value always stay; the channel is the mean over its records.
    stays, moves, other = np.array([1.0, 0.0]), np.array([0.2, 0.8]), np.array([0.1, 0.9])
    mean = np.array([(stays + moves) / 2, other])
    observed = (
        rng.multinomial(500, stays, size=times)
        + rng.multinomial(500, moves, size=times)
        + rng.multinomial(800, other, size=times)
    )
    found = np.array([counts_before(mean, each) for each in observed])
    estimates, errors = found[:, 0], found[:, 1]
    assert estimates.mean(axis=0) == pytest.approx([1000, 800], abs=5 * estimates.std() / np.sqrt(times))
    assert (errors.mean(axis=0) >= estimates.std(axis=0)).all()


def test_values_that_become_the_same_are_not_told_apart_and_their_sum_is_divided_evenly() -> None:
    channel = np.array([[0.5, 0.5, 0.0], [0.5, 0.5, 0.0], [0.0, 0.2, 0.8]])
    estimate, error = counts_before(channel, [300, 340, 160])
    assert np.isinf(error[:2]).all()
    assert estimate[0] == pytest.approx(estimate[1], rel=1e-6)
    assert estimate[2] == pytest.approx(200)
    assert np.isfinite(error[2])
    assert (estimate >= 0).all()
    assert estimate.sum() == pytest.approx(800, rel=1e-6)


def test_digits_that_were_rounded_do_not_tell_values_apart() -> None:
    third = [0.333333, 0.333334, 0.333333]
    _, error = counts_before([third, [0.333334, 0.333333, 0.333333], [0.333333, 0.333333, 0.333334]], [10, 20, 30])
    assert np.isinf(error).all()


def test_what_is_kept_has_no_error() -> None:
    estimate, error = counts_before(np.eye(3), [4, 0, 7])
    assert estimate.tolist() == [4, 0, 7]
    assert error.tolist() == [0, 0, 0]


def test_a_channel_that_keeps_counts_leaves_them_and_says_how_they_spread() -> None:
    rng, times = np.random.default_rng(3), many(3_000, 30_000)
    true = np.array([600, 300, 100])
    # Everybody's value is drawn anew from the shares: nothing can be undone, and nothing has to be.
    channel = np.tile(true / true.sum(), (3, 1))
    assert np.isinf(counts_before(channel, true)[1]).all()
    found = np.array([counts_before(channel, each, stationary=True) for each in drawn(channel, true, rng, times)])
    estimates, errors = found[:, 0], found[:, 1]
    assert estimates.mean(axis=0) == pytest.approx(true, abs=1.5)
    assert errors.mean(axis=0) == pytest.approx(estimates.std(axis=0), rel=0.06)


@pytest.mark.parametrize(
    ("channel", "observed"),
    [([[0.5, 0.4]], [1, 1]), ([[1.0, 0.0]], [1]), ([[-1.0, 2.0]], [1, 1]), ([1.0], [1]), ([[1.0]], [-1])],
)
def test_what_is_no_channel_or_no_counts_is_refused(channel: list, observed: list) -> None:
    with pytest.raises(ArgumentError):
        counts_before(channel, observed)
    with pytest.raises(ArgumentError, match="outputs are its inputs"):
        counts_before([[0.5, 0.5]], [1, 1], stationary=True)
