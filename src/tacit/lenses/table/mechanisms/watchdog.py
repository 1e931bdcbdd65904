"""One merged set: the watchdog's, with camouflage if that is out of bounds, or a smaller one if delta allows it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tacit.lenses.table.mechanisms.goal import ReleaseGoal
from tacit.lenses.table.mechanisms.mixtures import climbed
from tacit.lenses.table.mechanisms.plan import Candidate, Claim, claims_of
from tacit.lenses.table.tabulating import Counted
from tacit.lift import Mask, Region, cover_set, egamma_partition, nmil, watchdog, watchdog_bound_exact
from tacit.release.treatment import Merging, Replacement

# How many values are added to a merged set one by one; if it needs more, everything is merged, which always suffices.
MOST_STEPS = 2_000


def one_set(counted: Counted, goal: ReleaseGoal) -> Candidate:
    """One merged set: the watchdog's or, if that is out of bounds, with camouflage."""
    merged, method = _strict_set(counted, goal)
    candidate = merging(counted, goal, merged, method)
    return replace(candidate, beside={"effort": goal.effort, "watchdog_nmil": candidate.loss, **candidate.beside})


def _strict_set(counted: Counted, goal: ReleaseGoal) -> tuple[Mask, str]:
    """The merged set of the watchdog or, if that is out of bounds, with camouflage; and how it was found."""
    if goal.bounds.symmetric and not goal.also:
        chosen = watchdog(counted.joint, goal.bounds.epsilon, method="auto").partition
        return np.array(chosen.merged), chosen.method
    channel = climbed(counted, goal, "camouflage")
    output = channel.sparse.indices
    return np.asarray((np.bincount(output) > 1)[output]), channel.rung


def relaxed_set(counted: Counted, goal: ReleaseGoal) -> Candidate:
    """The least that must be merged if the bound may fail by delta."""
    bounds = goal.bounds
    if bounds.delta_kind == "egamma":
        chosen = egamma_partition(counted.joint, bounds.epsilon, bounds.delta)
    else:
        watched = watchdog(
            counted.joint, bounds.epsilon, delta=bounds.delta, epsilon_max=bounds.epsilon_max, method="auto"
        )
        chosen = watched.partition
    return merging(counted, goal, np.array(chosen.merged), chosen.method)


def merging(counted: Counted, goal: ReleaseGoal, merged: Mask, method: str) -> Candidate:
    """The candidate that merges a set; also states what merging only the risky values would leak."""
    how: Replacement = goal.replacement or "resample"
    loss = nmil(counted.joint, merged)
    if how == "suppress" and merged.any():
        merged = with_missing(counted, merged, claims_of(counted, goal.bounds.ceiling, goal.also))
    plain = {}
    if goal.bounds.symmetric:
        plain = {"plain_watchdog_attains": watchdog_bound_exact(counted.joint, goal.bounds.epsilon)}
    made_by = {"name": "watchdog", "replacement": how, "method": method}
    return Candidate(Merging.of(counted.joint.marginal, merged, how), loss, made_by, plain)


def with_missing(counted: Counted, merged: Mask, claims: Sequence[Claim]) -> Mask:
    """The merged set, including the wholly missing value, which nobody could tell from a suppressed one."""
    missing = counted.symbols.all_missing
    if not (missing & ~merged).any():
        return merged
    # The set is no longer the one that was chosen, so it is extended until it keeps the bounds outright.
    region = Region.of(claims)
    return cover_set(region, merged | missing | ~region.safe, most=MOST_STEPS)
