"""The joint and the channel: what they accept, and what passing one through the other gives."""

import numpy as np
import pytest
from hypothesis import given

from strategies import joints, joints_with_channels
from tacit.errors import ArgumentError, DataError
from tacit.lift import Channel, Joint


@given(joints(zero_cells=True))
def test_a_joint_sums_to_one_and_so_do_its_marginals(joint):
    assert joint.matrix.sum() == pytest.approx(1, abs=1e-12)
    assert np.allclose(joint.prior, joint.matrix.sum(axis=1), rtol=1e-12)
    assert np.allclose(joint.marginal, joint.matrix.sum(axis=0), rtol=1e-12)


def test_counts_keep_their_total_and_names():
    joint = Joint.from_counts([[30, 10], [20, 40]], secrets=["ill", "well"], released=["north", "south"])
    assert joint.total == 100
    assert list(joint.secrets) == ["ill", "well"]
    assert list(joint.released) == ["north", "south"]
    assert joint.prior.round(12).tolist() == [0.4, 0.6]


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ([[0.5, 0.6], [0.1, 0.1]], "sums to 1.3, not 1"),
        ([[0.5, -0.1], [0.3, 0.3]], "negative entry -0.1 in row 0, column 1"),
        ([[0.5, np.nan], [0.3, 0.2]], "not a finite number"),
        ([0.5, 0.5], "its shape is"),
        (np.zeros((0, 3)), "its shape is"),
    ],
)
def test_a_table_that_is_no_joint_is_refused_with_the_reason(table, words):
    with pytest.raises(ArgumentError, match=words):
        Joint(table)


def test_a_secret_or_value_that_never_occurs_is_refused_by_name():
    with pytest.raises(DataError, match="secret 'rare' never occurs"):
        Joint.from_counts([[1, 2], [0, 0]], secrets=["common", "rare"])
    with pytest.raises(DataError, match="released value 'south' never occurs"):
        Joint.from_counts([[1, 0], [2, 0]], released=["north", "south"])
    with pytest.raises(DataError, match="all zero"):
        Joint.from_counts([[0, 0]])


def test_names_must_fit_the_table():
    with pytest.raises(ArgumentError, match="2 x 2, but 3 secrets"):
        Joint.from_counts([[1, 2], [3, 4]], secrets="abc")
    with pytest.raises(ArgumentError, match="2 outputs, but 1 are named"):
        Channel([[0.5, 0.5]], outputs=["only"])


def test_a_joint_cannot_be_changed():
    table = np.array([[0.25, 0.25], [0.25, 0.25]])
    joint = Joint(table)
    table[0, 0] = 9
    assert joint.matrix[0, 0] == 0.25
    with pytest.raises(ValueError, match="read-only"):
        joint.matrix[0, 0] = 1
    with pytest.raises(AttributeError):
        joint.total = 3


@given(joints_with_channels(zero_cells=True))
def test_passing_through_a_channel_keeps_the_prior_and_drops_outputs_that_never_occur(pair):
    joint, channel = pair
    released = joint.through(channel)
    dense = joint.matrix @ channel.matrix
    occurs = dense.sum(axis=0) > 0
    assert np.allclose(released.matrix, dense[:, occurs], atol=1e-12)
    assert list(released.released) == np.flatnonzero(occurs).tolist()
    assert np.allclose(released.prior, joint.prior, atol=1e-12)


def test_a_channel_must_be_row_stochastic_and_fit_the_joint():
    with pytest.raises(ArgumentError, match=r"row 1 of the channel sums to 0\.9"):
        Channel([[0.5, 0.5], [0.5, 0.4]])
    with pytest.raises(ArgumentError, match="takes 1 released values, the joint has 2"):
        Joint.from_counts([[1, 2], [3, 4]]).through(Channel([[1.0]]))
