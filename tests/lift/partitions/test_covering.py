"""Covering: the merged set grows until it says little enough, and no further than it must."""

import numpy as np
from hypothesis import given, strategies as st

from strategies import epsilons, joints
from tacit.lift import Joint, Region, cover_set, log_lift, set_risk


def some_of(joint: Joint, data: st.DataObject) -> np.ndarray:
    return np.array(data.draw(st.lists(st.booleans(), min_size=joint.shape[1], max_size=joint.shape[1])))


def cover(joint: Joint, merged: np.ndarray, epsilon: float, *, most: int = 400) -> np.ndarray:
    return cover_set(Region.of([(joint, epsilon, epsilon)]), merged, most=most)


@given(joints(), epsilons(), st.sampled_from([0, 1, 400]), st.data())
def test_the_cover_holds_the_set_and_is_within_epsilon(joint, epsilon, most, data):
    merged = some_of(joint, data)
    covered = cover(joint, merged, epsilon, most=most)
    assert (covered >= merged).all()
    assert set_risk(joint, covered) <= epsilon + 1e-9


@given(joints(), epsilons(), epsilons(), epsilons(), st.data())
def test_a_cover_is_within_every_claim_on_either_side(joint, low, high, epsilon, data):
    """Two secrets over one released value: the joint, and the same with its first two secrets told apart no longer."""
    coarse = Joint(np.vstack([joint.matrix[:2].sum(axis=0), joint.matrix[2:]]))
    claims = [(joint, low, high)] + ([(coarse, epsilon, epsilon)] if coarse.shape[0] > 1 else [])
    merged = some_of(joint, data)
    covered = cover_set(Region.of(claims), merged)
    assert (covered >= merged).all()
    if not covered.any():
        return
    for each, least, most in claims:
        pooled = each.matrix[:, covered].sum(axis=1)
        lifts = np.log(pooled / pooled.sum() / each.prior)
        assert lifts.max() <= most + 1e-9
        assert lifts.min() >= -least - 1e-9


def test_only_the_side_that_is_bounded_is_covered():
    joint = Joint.from_counts([[10, 2, 8], [0, 10, 10]])
    merged = np.array([True, False, False])
    assert log_lift(joint).max() <= np.log(2) + 1e-12
    region = Region.of([(joint, np.inf, 0.7)])
    assert cover_set(region, merged).tolist() == merged.tolist()
    assert cover_set(Region.of([(joint, 0.7, 0.7)]), merged).sum() > 1


def test_a_set_that_is_within_epsilon_is_left_alone():
    joint = Joint.from_counts([[5, 1, 4], [4, 6, 5]])
    merged = np.array([True, False, True])
    assert cover(joint, merged, 0.5).tolist() == merged.tolist()
    assert not cover(joint, np.zeros(3, dtype=bool), 0.0).any()


def test_one_tilted_value_takes_one_value_of_the_other_tilt():
    joint = Joint.from_counts([[9, 1, 5, 5], [1, 9, 5, 5]])
    assert cover(joint, np.array([True, False, False, False]), 0.01).tolist() == [True, True, False, False]
