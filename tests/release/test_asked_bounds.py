"""What is asked of a release: both sides of a bound, how often it may fail, and what cannot be asked."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from tacit import ArgumentError, Bound, Joint
from tacit.lift import egamma_excess
from tacit.release import Attained, LiftBounds, asked_bounds

VALUES = np.array([[-0.6, -0.2, 0.4], [0.2, 0.6, math.inf]])


def test_each_side_of_a_bound_is_held_against_its_own_limit() -> None:
    both = [[True, False, False], [False, True, True]]
    assert LiftBounds.within(0.5).beyond(VALUES).tolist() == both
    assert LiftBounds(math.inf, 0.5).beyond(VALUES).tolist() == [[False] * 3, [False, True, True]]
    assert LiftBounds(0.1, 0.7).beyond(VALUES).tolist() == [[True, True, False], [False, False, True]]
    assert LiftBounds(0.5, 0.5).risks(VALUES).tolist() == [0.6, 0.6, math.inf]
    assert LiftBounds(math.inf, 0.5).risks(VALUES).tolist() == [0.2, 0.6, math.inf]
    relaxed = LiftBounds(0.1, 0.1, delta=0.05, epsilon_max=0.5)
    assert relaxed.beyond_ceiling(VALUES).tolist() == both


def test_a_release_holds_only_if_both_sides_and_delta_do() -> None:
    asked, relaxed = LiftBounds.within(0.5), LiftBounds(0.5, 0.5, delta=0.1)
    for low, high, delta, holds, with_delta in (
        (0.5, 0.5, 0.0, True, True),
        (0.6, 0.5, 0.1, False, True),
        (0.5, 0.6, 0.1, False, True),
        (0.6, 0.6, 0.2, False, False),
    ):
        attained = Attained(max(low, high), low, high, delta, 0.0)
        assert attained.holds(asked) == holds
        assert attained.holds(relaxed) == with_delta
        assert not attained.holds(LiftBounds(0.4, 0.4, delta=0.3, epsilon_max=0.45))


def test_the_excess_inside_known_parts_is_the_mean_of_that_of_each() -> None:
    joint = Joint.from_counts([[8, 2, 1, 9], [2, 8, 4, 1]])
    bounds, parts = LiftBounds(0.2, 0.2, delta=0.5, delta_kind="egamma"), np.array([0, 0, 1, 1])
    each = [float(egamma_excess(Joint.from_counts(part), 0.2).sum()) for part in ([[8, 2], [2, 8]], [[1, 9], [4, 1]])]
    inside, outside = Attained.of(joint, bounds, parts).delta, Attained.of(joint, bounds).delta
    assert inside == pytest.approx((20 * each[0] + 15 * each[1]) / 35)
    assert outside == pytest.approx(float(egamma_excess(joint, 0.2).sum())) != pytest.approx(inside)


def test_a_threshold_beyond_either_side_counts_its_records() -> None:
    low, high, shares = np.array([0.1, 0.6, 0.1, 0.6]), np.array([0.1, 0.1, 0.7, 0.7]), np.array([0.4, 0.3, 0.2, 0.1])
    attained = Attained.at_thresholds(low, high, shares, LiftBounds(0.5, 0.5, thresholds=0.1))
    assert (attained.epsilon, attained.low, attained.high) == (0.7, 0.6, 0.7)
    assert attained.breach_share == pytest.approx(0.6)
    one_sided = Attained.at_thresholds(low, high, shares, LiftBounds(math.inf, 0.5, thresholds=0.1))
    assert one_sided.breach_share == pytest.approx(0.3)


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ({}, "say how much may be learned"),
        ({"epsilon": 0.5, "epsilon_low": 0.1, "epsilon_high": 0.2}, "a side that has no bound of its own"),
        ({"epsilon": 0.5, "delta": 0.1, "epsilon_max": 0.4}, "it cannot be below epsilon"),
        ({"epsilon": 0.5, "delta": 1.0}, "delta is a probability"),
        ({"epsilon": 0.5, "delta_kind": "egamma"}, "are about a delta"),
        ({"epsilon": 0.5, "epsilon_max": 1.0}, "are about a delta"),
        ({"epsilon_high": 0.5, "delta": 0.1}, "takes one epsilon for both sides"),
        ({"epsilon": 0.5, "epsilon_low": 0.1, "delta": 0.1}, "takes one epsilon for both sides"),
        ({"epsilon": 0.5, "delta": 0.1, "delta_kind": "egamma", "epsilon_max": 1.0}, "bounds the excess itself"),
        ({"epsilon": 0.5, "delta": 0.1, "thresholds": 0.1}, "without a delta"),
        ({"epsilon": 0.5, "thresholds": 0.0}, "covers nobody"),
    ],
)
def test_what_does_not_make_a_bound_is_refused(asked: dict[str, Any], why: str) -> None:
    with pytest.raises(ArgumentError, match=why):
        asked_bounds(Bound(**asked))
