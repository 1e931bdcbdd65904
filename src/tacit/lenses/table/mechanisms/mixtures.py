"""Mixtures: several merged sets, or values that are written as one of a few."""

from __future__ import annotations

from tacit.lenses.table.mechanisms.goal import ReleaseGoal
from tacit.lenses.table.mechanisms.plan import Candidate
from tacit.lenses.table.tabulating import Counted
from tacit.lift import MixtureChannel, Rung, optimal
from tacit.release.certificate import MIXTURE
from tacit.release.treatment import Mixing


def several_sets(counted: Counted, goal: ReleaseGoal) -> Candidate:
    """Several merged sets."""
    return _mixture(climbed(counted, goal, "subsets"))


def optimal_mixture(counted: Counted, goal: ReleaseGoal) -> Candidate:
    """Values mixed as little as epsilon allows; merging several sets is one way to do it."""
    return _mixture(climbed(counted, goal, "optimal"))


def _mixture(channel: MixtureChannel) -> Candidate:
    made_by = {"name": channel.rung, "replacement": MIXTURE, "method": channel.proof}
    treatment = Mixing.of(channel.sparse, channel.labels)
    return Candidate(treatment, channel.nmil, made_by, {"loss_bound": channel.loss_bound})


def climbed(counted: Counted, goal: ReleaseGoal, rung: Rung) -> MixtureChannel:
    """The best channel up to a rung of the ladder."""
    bounds = goal.bounds
    return optimal(
        counted.joint,
        bounds.epsilon,
        epsilon_low=bounds.low,
        epsilon_high=bounds.high,
        also=[(joint, each.epsilon) for joint, each in zip(counted.further, goal.also, strict=True)],
        effort=goal.effort,
        rung=rung,
    )
