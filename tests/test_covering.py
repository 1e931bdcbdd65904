"""Covering: the merged set grows until it says little enough, and no further than it must."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from strategies import epsilons, joints
from tacit.lift.covering import cover
from tacit.lift.joint import Joint
from tacit.lift.partition import set_risk


@given(joints(), epsilons(), st.data())
def test_the_cover_holds_the_set_and_is_within_epsilon(joint, epsilon, data):
    merged = np.array(data.draw(st.lists(st.booleans(), min_size=joint.shape[1], max_size=joint.shape[1])))
    covered = cover(joint, merged, epsilon)
    assert (covered >= merged).all()
    assert set_risk(joint, covered) <= epsilon + 1e-9


def test_a_set_that_is_within_epsilon_is_left_alone():
    joint = Joint.from_counts([[5, 1, 4], [4, 6, 5]])
    merged = np.array([True, False, True])
    assert cover(joint, merged, 0.5).tolist() == merged.tolist()
    assert not cover(joint, np.zeros(3, dtype=bool), 0.0).any()


def test_one_tilted_value_takes_one_value_of_the_other_tilt():
    joint = Joint.from_counts([[9, 1, 5, 5], [1, 9, 5, 5]])
    assert cover(joint, np.array([True, False, False, False]), 0.01).tolist() == [True, True, False, False]
