"""The trade-off curve: every point is what the watchdog gives."""

import numpy as np
import pytest
from hypothesis import given

from strategies import epsilons, joints
from tacit.errors import ArgumentError
from tacit.lift import Joint, funnel, mutual_information, watchdog


@given(joints(zero_cells=True))
def test_every_point_of_the_curve_is_what_the_watchdog_gives(joint):
    """Guarantee of `funnel`."""
    curve = funnel(joint)
    for j, epsilon in enumerate(curve.epsilons):
        channel = watchdog(joint, epsilon)
        assert curve.attained[j] == pytest.approx(channel.attained, abs=1e-9)
        assert curve.nmil[j] == pytest.approx(channel.nmil, abs=1e-9)
        assert curve.utility[j] == pytest.approx(channel.utility, abs=1e-9)
        assert curve.leakage[j] == pytest.approx(mutual_information(joint.through(channel)), abs=1e-9)
        assert curve.kept_share[j] == pytest.approx(joint.marginal[~channel.merged].sum(), abs=1e-9)


@given(joints(zero_cells=True), epsilons())
def test_the_point_for_an_epsilon_is_the_watchdogs(joint, epsilon):
    curve, channel = funnel(joint), watchdog(joint, epsilon)
    j = curve.at(epsilon)
    assert curve.nmil[j] == pytest.approx(channel.nmil, abs=1e-9)
    assert curve.attained[j] == pytest.approx(channel.attained, abs=1e-9)


@given(joints(zero_cells=True))
def test_along_the_curve_utility_and_leakage_fall_together(joint):
    curve = funnel(joint)
    assert (np.diff(curve.epsilons) < 0).all()
    assert (np.diff(curve.utility) <= 1e-12).all()
    assert (np.diff(curve.leakage) <= 1e-12).all()
    assert (np.diff(curve.kept_share) < 0).all()
    assert curve.leakage[0] == pytest.approx(mutual_information(joint), abs=1e-12)
    assert (curve.leakage <= curve.utility + 1e-12).all()


def test_a_long_curve_keeps_its_digits():
    table = np.random.default_rng(0).random((3, 50_000))
    joint = Joint(table / table.sum())
    curve = funnel(joint)
    for epsilon in (0.05, 0.5, 1.0):
        j, channel = curve.at(epsilon), watchdog(joint, epsilon)
        assert curve.leakage[j] == pytest.approx(mutual_information(joint.through(channel)), rel=1e-9)
        assert curve.utility[j] == pytest.approx(channel.utility, rel=1e-9)


def test_a_wrong_epsilon_is_refused():
    curve = funnel([[0.4, 0.1], [0.1, 0.4]])
    with pytest.raises(ArgumentError, match="epsilon is -1"):
        curve.at(-1)
