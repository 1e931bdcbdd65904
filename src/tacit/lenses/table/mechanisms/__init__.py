"""The mechanisms: what a release does to a table. A new one is a file, a line here, and its name in ``requests.names``.

A mechanism is asked for a goal, and offers a candidate: a treatment, how it was made, and what it loses.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from tacit.lenses.table.mechanisms.goal import ReleaseGoal
from tacit.lenses.table.mechanisms.mixtures import optimal_mixture, several_sets
from tacit.lenses.table.mechanisms.plan import Candidate, Plan, applied, merged_facts, outputs_of
from tacit.lenses.table.mechanisms.proving import enough, proof_of, proved_set
from tacit.lenses.table.mechanisms.rules import plan_by_rules
from tacit.lenses.table.mechanisms.watchdog import one_set, relaxed_set
from tacit.lenses.table.tabulating import Counted
from tacit.release.bounds import LiftBounds
from tacit.release.rules import ReleaseRules

__all__ = [
    "MECHANISMS",
    "Candidate",
    "Plan",
    "ReleaseGoal",
    "enough",
    "merged_facts",
    "outputs_of",
    "plan_by_goal",
    "plan_by_rules",
    "proof_of",
]

MECHANISMS: dict[str, Callable[[Counted, ReleaseGoal], Candidate]] = {
    "watchdog": one_set,
    "subsets": several_sets,
    "optimal": optimal_mixture,
}
# "auto" need not try what another mechanism has among its ways.
WITHIN_OTHERS = {"subsets"}
# A candidate is worth its chance only if it loses less than one merged set by this, as a share of the information.
WORTH = 1e-6


def plan_by_goal(counted: Counted, goal: ReleaseGoal) -> Plan:
    """The release that loses least, of those that were asked for.

    Raises
    ------
    NotCertifiedError
        If the records are too few to prove what was asked, or a release would break its bounds.
    """
    candidate = _candidate(counted, goal)
    rules = ReleaseRules(
        secret=counted.question.secret,
        released=counted.question.released,
        cuts=counted.question.cuts,
        symbols=counted.symbols,
        treatment=candidate.treatment,
        bounds=goal.bounds,
        also=goal.also,
    )
    return applied(counted, rules, {**candidate.beside, **candidate.made_by}, candidate.proof)


def _candidate(counted: Counted, goal: ReleaseGoal) -> Candidate:
    if goal.confidence is not None:
        return proved_set(counted, goal, goal.confidence)
    if goal.bounds.delta == 0:
        return _least_lost(counted, goal)
    relaxed = relaxed_set(counted, goal)
    if goal.merges:
        return relaxed
    # A mixture that never passes epsilon may lose less than a merged set that sometimes does.
    strict = _least_lost(counted, replace(goal, bounds=LiftBounds.within(goal.bounds.epsilon)))
    return min(relaxed, strict, key=lambda each: each.loss)


def _least_lost(counted: Counted, goal: ReleaseGoal) -> Candidate:
    """One merged set or, where that loses less and may be, what another mechanism offers."""
    candidates = [MECHANISMS[name](counted, goal) for name in _tried(goal)]
    chosen = candidates[0]
    for candidate in candidates[1:]:
        if candidate.loss < chosen.loss - WORTH:
            chosen = candidate
    beside = {name: fact for each in candidates for name, fact in each.beside.items()}
    return replace(chosen, beside=beside)


def _tried(goal: ReleaseGoal) -> Sequence[str]:
    """The mechanisms that are tried; one merged set always is, and first."""
    if goal.merges:
        return ["watchdog"]
    if goal.mechanism == "auto":
        return [name for name in MECHANISMS if name not in WITHIN_OTHERS]
    return ["watchdog", goal.mechanism]
