"""``person remove``, ``person decoy``, ``person verify-next``: plans of the person, and of the adversary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tacit.errors import ArgumentError
from tacit.person.decoys import DecoyPlan, plan_decoys
from tacit.person.records import Record
from tacit.person.removals import Offer, plan_removals
from tacit.person.verification import certainty, verify_next, verify_within
from tacit.workflows.person_auditing import CaseLike, Climbed, case_of, climbed, known_of
from tacit.workflows.person_case_model import AdversarySpec, Case, ClustersStep, ResolveStep, SplinkStep
from tacit.workflows.person_engine import Known
from tacit.workflows.person_findings import Names
from tacit.workflows.person_masking import Showing, showing
from tacit.workflows.person_near import Near, near, numbered
from tacit.workflows.person_results import (
    Action,
    DecoyRecord,
    PersonDecoyResult,
    PersonRemoveResult,
    PersonVerifyResult,
    RemovalStep,
    Searched,
    SourceShare,
    Verification,
)
from tacit.workflows.person_sources import Evidence, read_sources
from tacit.workflows.person_words import checked_limit, counted, level, listed, verdict
from tacit.workflows.tabulating import Progress, silent

# Up to so many records decoys may be linked with any of them; beyond, with what holds something of the person.
MOST_FOR_DECOYS = 200_000


def strongest(case: Case, evidence: Evidence, known: Known, progress: Progress) -> Climbed:
    """The adversary of a case with the largest leakage, carried out."""
    found = [climbed(evidence, spec, known, progress) for spec in case.adversaries]
    return max(found, key=lambda one: one.rung.leakage)


def person_remove(
    case: CaseLike,
    *,
    budget: float | None = None,
    at_most: int | None = None,
    limit: float | None = None,
    show_values: bool = False,
    progress: Progress | None = None,
) -> PersonRemoveResult:
    """Which sources to ask for removal, in which order, so that the expected leakage is least.

    Parameters
    ----------
    case : path or Case
        Sources with ``remove: {cost, success}`` can be asked; if none has it, all can, at cost 1 and with success.
    budget : float, optional
        The largest sum of costs.
    at_most : int, optional
        The largest number of requests.
    limit : float, optional
        A leakage that should not be exceeded in expectation after the plan.
    show_values : bool
        For symmetry; this result holds no values.
    progress : callable, optional

    Returns
    -------
    PersonRemoveResult
        Under the adversary to whom most leaks now.
    """
    checked_limit(limit)
    given, tell = case_of(case), progress or silent
    evidence, known = read_sources(given, progress=tell), known_of(given)
    top = strongest(given, evidence, known, tell)
    held = near(evidence, [top.work.spec], known, works=[top.work], progress=tell)
    tell("planning removals", None)
    offers = {s.name: Offer(s.removal.cost, s.removal.success) for s in given.sources if s.removal is not None}
    plan = plan_removals(held.what_if(0), offers=offers or None, budget=budget, at_most=at_most)
    size = {source.name: source.records for source in evidence.sources}
    steps = tuple(
        RemovalStep(r.source, size[r.source], r.cost, r.success, r.if_removed, r.expected) for r in plan.requests
    )
    notes = [*given.notes, *evidence.notes, *held.notes]
    if not offers:
        notes.append("no source says what a removal costs and how likely it is (remove: {cost, success}): all cost 1")
    if plan.expectation == "approximate":
        notes.append("with so many uncertain requests the expected leakage is an approximation")
    return PersonRemoveResult(
        case=str(given.path),
        adversary=top.rung.adversary,
        before=plan.before,
        steps=steps,
        source_shares=_shares(evidence, plan.before, {s.source: s.leakage_without for s in plan.sources}),
        budget=budget,
        searched=plan.searched,
        limit=limit,
        headline=_remove_headline(top.rung.adversary, plan.before, steps, limit),
        notes=tuple(notes),
    )


def _shares(evidence: Evidence, before: float, without: Mapping[str, float]) -> tuple[SourceShare, ...]:
    """What every source adds; one that holds nothing of the person adds nothing."""
    found = [
        SourceShare(s.name, s.records, without.get(s.name, before), before - without.get(s.name, before))
        for s in evidence.sources
    ]
    return tuple(sorted(found, key=lambda share: -share.contribution))


def _remove_headline(adversary: str, before: float, steps: Sequence[RemovalStep], limit: float | None) -> str:
    if before <= 0:
        return f"No record holds anything true of the person: there is nothing to remove{verdict(before, limit)}."
    if not steps:
        return (
            f"No removal within the limits lowers the leakage of {level(before)} under {adversary}"
            f"{verdict(before, limit)}."
        )
    last = steps[-1]
    asked = listed([f"'{step.source}'" for step in steps])
    words = (
        f"Ask {asked}{' in this order' if len(steps) > 1 else ''}: the leakage under {adversary} is {level(before)} now"
    )
    expected = f"{level(last.expected)} in expectation after"
    if all(step.success == 1 for step in steps):
        return f"{words} and {level(last.if_removed)} after{verdict(last.expected, limit)}."
    return f"{words}, {expected}, and {level(last.if_removed)} if all comply{verdict(last.expected, limit)}."


def person_decoy(
    case: CaseLike,
    *,
    budget: float | None = None,
    allowed: Sequence[str] | None = None,
    limit: float | None = None,
    show_values: bool = False,
    progress: Progress | None = None,
) -> PersonDecoyResult:
    """Plan decoys: records with false values that spoil what an adversary pieces together.

    Parameters
    ----------
    case : path or Case
        Its ``decoys`` say which labels may be false, with which values, at what cost; nothing is planned without.
    budget, allowed : optional
        In place of the case's budget and labels.
    limit : float, optional
        A leakage that should not be exceeded: with the decoys if they are recommended, without them if not.
    show_values : bool
        Values stand in the result as they are, so that the records can be planted; otherwise masked.
    progress : callable, optional

    Returns
    -------
    PersonDecoyResult
        Everything was resolved and measured again under every adversary, and the decoys are recommended only if the
        worst leakage falls and none rises.
    """
    checked_limit(limit)
    given, tell, shown = case_of(case), progress or silent, showing(show_values)
    evidence = read_sources(given, progress=tell)
    plan, notes = _decoy_plan(given, evidence, budget, allowed, tell)
    return PersonDecoyResult(
        case=str(given.path),
        adversary=plan.adversary,
        records=tuple(
            DecoyRecord(
                decoy.kind,
                tuple((attribute.label, shown(attribute.value)) for attribute in decoy.links),
                tuple((attribute.label, shown(attribute.value)) for attribute in decoy.adds),
                decoy.cost,
            )
            for decoy in plan.decoys
        ),
        before=plan.before,
        predicted=plan.predicted.get(plan.adversary, plan.before[plan.adversary]),
        after=plan.after,
        cost=plan.cost,
        budget=plan.budget,
        method=plan.method,
        recommended=plan.recommended,
        reasons=plan.reasons,
        limit=limit,
        values_shown=show_values,
        headline=_decoy_headline(plan, limit),
        notes=(*given.notes, *evidence.notes, *notes),
    )


def _decoy_plan(
    case: Case, evidence: Evidence, budget: float | None, allowed: Sequence[str] | None, progress: Progress
) -> tuple[DecoyPlan, list[str]]:
    known, said = known_of(case), case.decoys
    labels = tuple(allowed) if allowed is not None else said.labels if said is not None else ()
    money = budget if budget is not None else said.budget if said is not None else None
    if not labels or money is None:
        raise ArgumentError(
            f"decoys are planned only when asked for, with labels that may be false and a budget: add them to "
            f"{case.path} (decoys: {{labels: […], budget: …}}), or name them (--allow, --budget)"
        )
    held = near(evidence, case.adversaries, known, whole=MOST_FOR_DECOYS, progress=progress)
    progress("planning decoys", None)
    values = {label: values for label, values in (said.values if said is not None else {}).items() if label in labels}
    plan = plan_decoys(
        held.records,
        known.reference,
        held.adversaries,
        known.labels,
        budget=money,
        allowed=labels,
        bogus=values or None,
        costs=said.costs if said is not None else None,
        beta=known.beta,
    )
    notes = list(held.notes)
    if any(decoy.kind == "linkage" for decoy in plan.decoys):
        notes.append(
            "a decoy that links to records of other people repeats values that may be theirs: plant it only where that "
            "harms nobody"
        )
    notes += _believed(plan, held, evidence)
    if len(held.rids) < evidence.n_records and plan.decoys:
        plan, further = _measured_again(plan, case, evidence, known, progress)
        notes += further
    return plan, notes


def _believed(plan: DecoyPlan, held: Near, evidence: Evidence) -> list[str]:
    """The worst leakage if a decoy were believed as a whole, in all it says or as little as what links it.

    The plan takes what is false for certain and what links it for as certain as it is held already.
    """
    if all(attribute.confidence == 1 for record in plan.records for attribute in record):
        return []
    made = numbered(plan.records, evidence)
    least = [min(attribute.confidence for attribute in record) for record in made]
    found = []
    for shares in ([1.0] * len(made), least):
        whole = [
            Record(((label, value, share) for label, value, _ in record), name=record.name, source=record.source)
            for record, share in zip(made, shares, strict=True)
        ]
        found += [held.what_if(place).with_records(whole) for place in range(len(held.adversaries))]
    return [
        "the plan takes what is false in a decoy for certain, and what links it for as certain as it is held now; if a "
        f"decoy were believed as a whole, or doubted as a whole, the worst leakage could be {level(max(found))}"
    ]


def _measured_again(
    plan: DecoyPlan, case: Case, evidence: Evidence, known: Known, progress: Progress
) -> tuple[DecoyPlan, list[str]]:
    """The plan measured among all records that the decoys could be joined with, also those it was made without."""
    from dataclasses import replace

    more = numbered(plan.records, evidence)
    held = near(evidence, case.adversaries, known, more=more, progress=progress)
    after = {spec.name: held.what_if(place).with_records(more) for place, spec in enumerate(case.adversaries)}
    good = max(after.values()) < max(plan.before.values()) - 1e-9
    good = good and all(after[name] <= plan.before[name] + 1e-9 for name in after)
    reasons = plan.reasons
    if any(abs(after[name] - plan.after[name]) > 1e-9 for name in after):
        reasons = (*reasons, "among all records the decoys were joined with more than they were planned for")
    return replace(plan, after=after, recommended=plan.recommended and good, reasons=reasons), list(held.notes)


def _decoy_headline(plan: DecoyPlan, limit: float | None) -> str:
    worst, left = max(plan.before.values()), max(plan.after.values())
    if not plan.decoys:
        words = f"No decoy within the budget of {plan.budget:g} lowers the leakage of {level(worst)}"
        return f"{words}{verdict(worst, limit)}."
    made = counted(len(plan.decoys), "decoy")
    if not plan.recommended:
        return (
            f"Not recommended: with {made} the worst leakage under any adversary would be {level(left)}, and it is "
            f"{level(worst)} now{verdict(worst, limit)}."
        )
    return (
        f"{made} at a cost of {plan.cost:g} would lower the worst leakage under any adversary from {level(worst)} to "
        f"{level(left)}, measured after everything was resolved again{verdict(left, limit)}."
    )


def decoy_action(case: Case, evidence: Evidence, before: float, progress: Progress) -> list[Action]:
    """The plan of decoys as an action, if it is recommended."""
    if not evidence.n_records or not any(map(_by_rules, case.adversaries)) or not (case.decoys and case.decoys.budget):
        return []
    if case.beta == 0:  # precision alone, which no plan is made for
        return []
    plan, _ = _decoy_plan(case, evidence, None, None, progress)
    if not plan.recommended:
        return []
    return [
        Action(
            kind="decoy",
            what=f"spread {counted(len(plan.decoys), 'decoy')} with false {listed(_false_labels(plan))}",
            before=before,
            after=max(plan.after.values()),
            cost=plan.cost,
            success=None,
            why=plan.reasons[0] if plan.reasons else "",
        )
    ]


def _by_rules(spec: AdversarySpec) -> bool:
    """Whether decoys can be planned against an adversary: it resolves once, by rules."""
    groupings = [step for step in spec.steps if isinstance(step, ResolveStep | ClustersStep | SplinkStep)]
    return len(groupings) == 1 and isinstance(groupings[0], ResolveStep)


def _false_labels(plan: DecoyPlan) -> list[str]:
    return sorted({attribute.label for decoy in plan.decoys for attribute in decoy.adds} or {"links"})


def person_verify_next(
    case: CaseLike,
    *,
    budget: float | None = None,
    limit: float | None = None,
    show_values: bool = False,
    progress: Progress | None = None,
) -> PersonVerifyResult:
    """Which attribute of its record the strongest adversary had best verify next.

    Parameters
    ----------
    case : path or Case
        ``verify: {budget, costs}`` says what verifying costs; without costs it is 1 - confidence, as in the paper.
    budget : float, optional
        In place of the case's. Without any the one best check is chosen.
    limit : float, optional
        Taken for symmetry: certainty is no leakage, and nothing is compared with it.
    show_values : bool
        Values stand in the result as they are; otherwise masked.
    progress : callable, optional

    Returns
    -------
    PersonVerifyResult
        The adversary does not know the truth: gains are in how sure it is of its own record. What it gains most from
        is what the person should not confirm.
    """
    checked_limit(limit)
    given, tell, shown = case_of(case), progress or silent, showing(show_values)
    evidence, known = read_sources(given, progress=tell), known_of(given)
    top = strongest(given, evidence, known, tell)
    cluster = top.winner.cluster
    money = budget if budget is not None else given.verify.budget if given.verify is not None else None
    candidates, before, after, spent, searched = _checks(top, given, known, money, shown)
    notes = [*given.notes, *evidence.notes, *top.work.notes]
    if cluster is not None and top.work.spec.merge != "union" and len(cluster.members) > 1:
        notes.append(f"the record is merged by {top.work.spec.merge}: checks are of the merged record's attributes")
    return PersonVerifyResult(
        case=str(given.path),
        adversary=top.rung.adversary,
        certainty=before,
        certainty_after=after,
        candidates=candidates,
        budget=money,
        spent=spent,
        searched=searched,
        values_shown=show_values,
        headline=_verify_headline(top.rung.adversary, before, after, candidates),
        notes=tuple(notes),
    )


class _Checked(NamedTuple):
    """Every check with its gain, the best first; how sure the adversary is before and after; the cost; the search."""

    candidates: tuple[Verification, ...] = ()
    before: float = 0.0
    after: float = 0.0
    spent: float = 0.0
    searched: Searched = "exact"


def _checks(top: Climbed, case: Case, known: Known, budget: float | None, shown: Showing) -> _Checked:
    cluster = top.winner.cluster
    if cluster is None:
        return _Checked()
    rids = list(cluster.members)
    if top.work.spec.merge == "union" or len(rids) == 1:
        held = list(top.work.adversary(rids).holdings(top.work.records(rids), known.labels).records)
        names = list(Names(top.work.evidence, known).all(rids).values())
    else:
        held, names = [cluster.record], ["the merged record"]
    given = dict(case.verify.costs) if case.verify is not None else {}
    costs = {a.label: given.get(a.label, 1.0) for record in held for a in record} if given else None
    ranking = [check for check in verify_next(held, costs=costs, labels=known.labels) if check.gain > 0]
    before = certainty(held, labels=known.labels)
    chosen, after, spent = ranking[:1], before, 0.0
    searched: Searched = "exact"
    if budget is not None:
        plan = verify_within(held, budget, costs=costs, labels=known.labels)
        chosen, after, spent, searched = list(plan.checks), plan.certainty_after, plan.cost, plan.searched
    elif ranking:
        after, spent = min(1.0, before + ranking[0].gain), ranking[0].cost
    taken = {(check.member, check.place) for check in chosen}
    found = tuple(
        Verification(
            label=check.label,
            value=shown(held[check.member].attributes[check.place].value),
            record=names[check.member],
            confidence=check.confidence,
            cost=check.cost,
            gain=check.gain,
            gain_per_cost=check.gain_per_cost,
            chosen=(check.member, check.place) in taken,
        )
        for check in ranking
    )
    return _Checked(found, before, after, spent, searched)


def _verify_headline(adversary: str, before: float, after: float, candidates: Sequence[Verification]) -> str:
    chosen = [one for one in candidates if one.chosen]
    if not candidates:
        return f"{adversary} has nothing to verify: it is as sure of its record as it can be ({level(before)} of 1)."
    if not chosen:
        return f"{adversary} can verify nothing within the budget; it is {level(before)} of 1 sure of its record."
    return (
        f"{adversary} gains most by verifying {_checked_words(chosen)}: its certainty of its own record rises from "
        f"{level(before)} to {level(after)} of 1. That is what not to confirm."
    )


def _checked_words(chosen: Sequence[Verification]) -> str:
    """What is verified, each label of a record once: "phone (2 values) and name of the merged record"."""
    several = Counter((one.record, one.label) for one in chosen)
    parts: dict[str, list[str]] = {}
    for (record, label), values in several.items():
        parts.setdefault(record, []).append(label if values == 1 else f"{label} ({values} values)")
    said = [f"{listed(labels)} of {record}" for record, labels in parts.items()]
    return listed(said if len(said) <= 4 else [*said[:3], counted(len(said) - 3, "more record")])
