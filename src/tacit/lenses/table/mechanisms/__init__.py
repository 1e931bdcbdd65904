"""The mechanisms: what a release does to a table. A new one is a file, and a line in ``tacit.requests.names``.

A mechanism is given a goal, and offers a candidate: a treatment, how it was made, and what it loses.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib import import_module

from tacit.lenses.table.mechanisms.goal import ReleaseGoal
from tacit.lenses.table.mechanisms.plan import Candidate, CellProof, Plan, applied, merged_facts, outputs_of
from tacit.lenses.table.mechanisms.proving import enough, proof_of, proved_set
from tacit.lenses.table.mechanisms.rules import plan_by_rules
from tacit.lenses.table.mechanisms.watchdog import one_set, relaxed_set
from tacit.lenses.table.tabulating import Counted
from tacit.release.rules import ReleaseRules
from tacit.release.treatment import Merging
from tacit.requests.names import MECHANISMS

__all__ = [
    "Candidate",
    "CellProof",
    "Mechanism",
    "Plan",
    "ReleaseGoal",
    "enough",
    "mechanism_of",
    "merged_facts",
    "outputs_of",
    "plan_by_goal",
    "plan_by_rules",
    "proof_of",
]

Mechanism = Callable[[Counted, ReleaseGoal], Candidate]
# A mixture is worth its randomness only if it loses less than one merged set by this share of the information.
WORTH = 1e-6


def mechanism_of(name: str) -> Mechanism:
    """The function of a mechanism."""
    module, function = MECHANISMS[name].place.split(":")
    chosen: Mechanism = getattr(import_module(module), function)
    return chosen


def plan_by_goal(counted: Counted, goal: ReleaseGoal, proof: CellProof | None = None) -> Plan:
    """The release that loses least of those that were asked for; ``proof`` is that of proved cells.

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
        secret_values=counted.question.secret_values,
        least=goal.least,
        weight=counted.question.weight,
        code=counted.question.code,
        design=None if proof is None else proof.design,
    )
    return applied(counted, rules, {**candidate.beside, **candidate.made_by}, proof or candidate.proof)


def _candidate(counted: Counted, goal: ReleaseGoal) -> Candidate:
    if goal.coded:
        return mechanism_of(goal.mechanism)(counted, goal)
    if goal.confidence is not None:
        return proved_set(counted, goal, goal.confidence)
    if goal.bounds.delta > 0:
        return relaxed_set(counted, goal)
    return _least_lost(counted, goal)


def _least_lost(counted: Counted, goal: ReleaseGoal) -> Candidate:
    """What the mechanism offers or, if that is a mixture that loses no less, one merged set.

    Another merged set is used whatever it loses, because it was asked for by the name of its mechanism. So are several
    sets: they promise that nothing is drawn, but the replacement of one merged set may be drawn.
    """
    watchdog = one_set(counted, goal)
    if goal.mechanism == "watchdog":
        return watchdog
    candidate = mechanism_of(goal.mechanism)(counted, goal)
    asked_for = isinstance(candidate.treatment, Merging) or goal.mechanism == "subsets"
    worth = asked_for or candidate.loss < watchdog.loss - WORTH
    return replace(candidate if worth else watchdog, beside={**watchdog.beside, **candidate.beside})
