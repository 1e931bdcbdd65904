"""Decoys: records with false values that make an adversary's picture of a person worse (the paper's disinformation).

Only what was measured after everything was resolved again is called leakage. What a search expected is kept separately
as ``predicted``: values from two clusters in one record can match a third, and an adversary that corrects errors, or
keeps the value most sources agree on, throws single false values away.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

from tacit.errors import ArgumentError, DataError
from tacit.person.model import Labels, Record, Reference
from tacit.person.model.labels import as_labels
from tacit.person.plans.decoys.allowance import Allowance
from tacit.person.plans.decoys.false_values import Bogus, false_lanes
from tacit.person.plans.decoys.planner import Decoy, Method, Planner, Proposal, resolving
from tacit.person.resolve import Adversary, Clusters, Correct, WhatIf

# A difference of leakages below this is rounding.
_SAME = 1e-9


@dataclass(frozen=True)
class DecoyPlan:
    """Decoys, what they cost, and the leakage under every adversary after everything was resolved and measured again.

    ``adversary`` is the one it was planned against. ``before`` and ``after`` are measured leakages by adversary;
    ``predicted`` is what the search (``method``) expected, not a leakage. The plan is ``recommended`` if the worst
    leakage under any adversary falls and it rises under none; ``reasons`` say why or why not, and under which
    adversaries it does not work.
    """

    decoys: tuple[Decoy, ...]
    adversary: str
    before: Mapping[str, float]
    predicted: Mapping[str, float]
    after: Mapping[str, float]
    cost: float
    budget: float
    method: str
    recommended: bool
    reasons: tuple[str, ...]

    @property
    def records(self) -> tuple[Record, ...]:
        """The records to plant."""
        return tuple(decoy.record for decoy in self.decoys)


def plan_decoys(
    records: Sequence[Record],
    reference: Reference,
    adversaries: Sequence[Adversary],
    labels: Labels | None = None,
    *,
    budget: float,
    allowed: Sequence[str],
    bogus: Bogus | None = None,
    costs: Mapping[str, float] | None = None,
    confidence: float = 1.0,
    method: Method = "auto",
    beta: float = 1.0,
) -> DecoyPlan:
    """Plan records that lower what an adversary holds about a person: the paper's optimal disinformation.

    Parameters
    ----------
    records : sequence of Record
        What is already public.
    reference : Reference
    adversaries : sequence of Adversary
        The ladder. Those that resolve by rules are planned against; the others are measured.
    labels : Labels, optional
    budget : float
        For the cost of all decoys together.
    allowed : sequence of labels
        The only labels for which a decoy may state something untrue: false values given to a bank or an authority are
        not decoys.
    bogus : callable or mapping, optional
        False values: a function from label to a value, or for each label the values to use. Without it, values that
        nobody takes to be true ("decoy-1"), to be replaced before use. Values that the records already hold under the
        label are left out, because they would link the decoy to whoever holds them.
    costs : mapping from label to float, optional
        Cost of one attribute; 1 if not named, so that a record costs its length.
    confidence : float
        The confidence with which the adversary will hold the false values.
    method : {"auto", "exact", "greedy", "partition"}
        ``exact`` tries every grouping of at most 8 clusters; ``auto`` is exact where it can be, and otherwise the
        better of the other two.
    beta : float
        Recall counts ``beta`` times as much as precision; above 0.

    Returns
    -------
    DecoyPlan
        The plan with the least measured leakage, compared under the worst adversary first. It says whether it is
        recommended; a recommended plan goes before any other.

    Guarantees
    ----------
    The cost is within the budget. Whatever a decoy says is true of the person or has an allowed label. Nothing true is
    said with more confidence than the adversary had in it. ``before`` and ``after`` are measured, never predicted.

    Notes
    -----
    The searches assume union merging. For an adversary that merges otherwise, ``predicted`` is computed by its own
    policy, and the measurement decides.

    A link to a cluster that holds nothing of the person repeats values that may be somebody else's. Allow only labels
    for which that harms nobody.
    """
    _check(records, adversaries, method)
    allowance = Allowance(reference, as_labels(None, labels), allowed, budget, costs or {}, confidence, beta)
    hands = {who.name: WhatIf(records, reference, who, allowance.labels, beta=beta) for who in adversaries}
    before = {name: what_if.leakage for name, what_if in hands.items()}
    lanes = false_lanes(records, allowance, bogus)
    plans = []
    for adversary in filter(resolving, adversaries):
        for proposal in Planner(hands[adversary.name], adversary, allowance, lanes).proposals(method):
            after = {name: what_if.with_records(d.record for d in proposal.decoys) for name, what_if in hands.items()}
            plans.append(_judged(proposal, adversary, adversaries, before, after, budget))
            # The next best search is used only if this one's decoys matched something they should not have.
            if after[adversary.name] <= proposal.predicted + _SAME:
                break
    return min(plans, key=_order)


def _order(plan: DecoyPlan) -> tuple[bool, list[float], float]:
    """Recommended plans first; then the least leakage under the worst adversary, then the next worst; then cost."""
    left = sorted((round(value, 12) for value in plan.after.values()), reverse=True)
    return not plan.recommended, left, plan.cost


def _check(records: Sequence[Record], adversaries: Sequence[Adversary], method: str) -> None:
    if not records:
        raise DataError("there are no records: without any, nothing is out and there is nothing to spoil")
    if isinstance(adversaries, Adversary):
        raise ArgumentError("adversaries is a single one: put [ ] around it")
    if method not in get_args(Method):
        raise ArgumentError(f"no method '{method}': choose {', '.join(get_args(Method))}")
    if len({adversary.name for adversary in adversaries}) != len(adversaries):
        why = "results are told apart by it, so name each differently"
        raise ArgumentError(f"two adversaries have the same name: {why}")
    if not any(map(resolving, adversaries)):
        raise ArgumentError(
            "no adversary resolves records by rules, so nothing can be planned: add one with a step Resolve(rules); "
            "adversaries that do not resolve by rules are only measured"
        )


def _judged(
    proposal: Proposal,
    planned: Adversary,
    adversaries: Sequence[Adversary],
    before: Mapping[str, float],
    after: Mapping[str, float],
    budget: float,
) -> DecoyPlan:
    """The plan for a proposal, with whether it is recommended, and why or why not."""
    worst, left = max(before.values()), max(after.values())
    rising = [name for name in before if after[name] > before[name] + _SAME]
    falls = left < worst - _SAME
    reasons = []
    if not proposal.decoys:
        nothing = f"no decoy within the budget lowers the leakage under '{planned.name}'"
        why = f", {_why_not(planned)}" if planned.keep_base else ": it is too small, or nothing true or allowed links"
        reasons.append(f"not recommended: {nothing}{why}")
    elif falls:
        reasons.append(f"the worst leakage under any adversary falls from {worst:.3f} to {left:.3f}")
    else:
        reasons.append(f"not recommended: the worst leakage under any adversary was {worst:.3f} and is {left:.3f}")
    reasons.extend(
        f"not recommended: under '{name}' the leakage rises from {before[name]:.3f} to {after[name]:.3f}, "
        "because the decoys tell more than they hide"
        for name in rising
    )
    for adversary in adversaries if proposal.decoys else ():
        if abs(after[adversary.name] - before[adversary.name]) <= _SAME:
            reasons.append(f"it does not work under '{adversary.name}', {_why_not(adversary)}")
    measured = after[planned.name]
    if abs(measured - proposal.predicted) > _SAME:
        reasons.append(
            f"under '{planned.name}' {proposal.predicted:.3f} was expected and {measured:.3f} measured: decoys and "
            "records matched or merged otherwise than planned"
        )
    return DecoyPlan(
        decoys=proposal.decoys,
        adversary=planned.name,
        before=before,
        predicted={planned.name: proposal.predicted},
        after=after,
        cost=sum(decoy.cost for decoy in proposal.decoys),
        budget=budget,
        method=proposal.method,
        recommended=bool(proposal.decoys) and falls and not rising,
        reasons=tuple(reasons),
    )


def _why_not(adversary: Adversary) -> str:
    if any(isinstance(step, Clusters) for step in adversary.steps):
        return "whose clusters were brought from elsewhere and do not know the decoys"
    if resolving(adversary) is None:
        return "which does not resolve records by rules: what it holds was not planned for"
    if adversary.keep_base:
        return "which keeps the base records: no decoy changes these"
    if adversary.merge != "union":
        return f"which merges by {adversary.merge}: single false values do not stand against what several sources say"
    if any(isinstance(step, Correct) for step in adversary.steps):
        return "which corrects errors: false values may be taken out"
    return "whose worst cluster the decoys do not reach"
