"""Decoys for the person of a case: planned on the records near the person, and measured on all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tacit.errors import ArgumentError, Setting, sentence
from tacit.person.answers.results import Action
from tacit.person.answers.words import counted, level, listed
from tacit.person.inquiry.effects import SAME
from tacit.person.inquiry.loading import Near, near, numbered
from tacit.person.inquiry.opening import Inquiry
from tacit.person.inquiry.work import Grouped
from tacit.person.model.records import Record
from tacit.person.plans.decoys import DecoyPlan, plan_decoys
from tacit.person.resolve.adversaries import Adversary
from tacit.person.resolve.steps import Grouping, Resolve

# Up to this many records, decoys may link to any of them; beyond that, only to those that hold something of the person.
MOST_FOR_DECOYS = 200_000


def decoy_plan(
    inquiry: Inquiry, *, budget: float | None = None, allow: Sequence[str] = (), works: Sequence[Grouped] = ()
) -> tuple[DecoyPlan, list[str]]:
    """Decoys, with the case's budget and labels unless others are passed, and notes.

    ``works`` are the case's adversaries, if they were already carried out.
    """
    case, subject, terms = inquiry.case, inquiry.subject, inquiry.case.decoys
    labels = tuple(allow) or (terms.labels if terms is not None else ())
    money = budget if budget is not None else terms.budget if terms is not None else None
    if not labels or money is None:
        refusal = (
            "decoys are planned only when asked for, with labels that may be false and a budget: add them to {path} "
            "(decoys: {{labels: […], budget: …}}), or name them ({allow}, {budget})"
        )
        raise ArgumentError(sentence(refusal, path=case.path, allow=Setting("allow"), budget=Setting("budget")))
    loaded = near(inquiry, whole=MOST_FOR_DECOYS, works=works)
    inquiry.progress("planning decoys", None)
    declared = terms.values if terms is not None else {}
    values = {label: declared[label] for label in declared if label in labels}
    plan = plan_decoys(
        loaded.records,
        subject.reference,
        loaded.adversaries,
        subject.labels,
        budget=money,
        allowed=labels,
        bogus=values or None,
        costs=terms.costs if terms is not None else None,
        beta=subject.beta,
    )
    notes = list(loaded.notes)
    if any(decoy.kind == "linkage" for decoy in plan.decoys):
        notes.append(
            "a decoy that links to records of other people repeats values that may be theirs: plant it only where that "
            "harms nobody"
        )
    notes += _believed(plan, loaded, inquiry)
    if len(loaded.rids) < inquiry.pool.n_records and plan.decoys:
        plan, further = _measured_again(plan, inquiry)
        notes += further
    return plan, notes


def _believed(plan: DecoyPlan, loaded: Near, inquiry: Inquiry) -> list[str]:
    """A note on the worst leakage if a decoy were believed entirely, or only as much as the weakest part of it.

    The plan assumes that false values are held with certainty, and linking values as they are held now.
    """
    if all(attribute.confidence == 1 for record in plan.records for attribute in record):
        return []
    decoys = numbered(plan.records, inquiry)
    least = [min(attribute.confidence for attribute in record) for record in decoys]
    leakages = []
    for shares in ([1.0] * len(decoys), least):
        whole = [
            Record(((label, value, share) for label, value, _ in record), name=record.name, source=record.source)
            for record, share in zip(decoys, shares, strict=True)
        ]
        leakages += [loaded.what_if(place).with_records(whole) for place in range(len(loaded.adversaries))]
    return [
        "the plan assumes that the false part of a decoy is believed, and the part that links it as much as now; if a "
        f"decoy were believed as a whole, or doubted as a whole, the worst leakage could be {level(max(leakages))}"
    ]


def _measured_again(plan: DecoyPlan, inquiry: Inquiry) -> tuple[DecoyPlan, list[str]]:
    """The plan, measured on all records that the decoys could be joined with, including those it was made without."""
    more = numbered(plan.records, inquiry)
    loaded = near(inquiry, more=more)
    names = [spec.name for spec in inquiry.case.adversaries]
    after = {name: loaded.what_if(place).with_records(more) for place, name in enumerate(names)}
    good = max(after.values()) < max(plan.before.values()) - SAME
    good = good and all(after[name] <= plan.before[name] + SAME for name in after)
    reasons = plan.reasons
    if any(abs(after[name] - plan.after[name]) > SAME for name in after):
        reasons = (*reasons, "among all records the decoys were joined with more than they were planned for")
    return replace(plan, after=after, recommended=plan.recommended and good, reasons=reasons), list(loaded.notes)


def decoy_action(inquiry: Inquiry, before: float) -> list[Action]:
    """The decoy plan as an action, if the case has decoys and the plan is recommended; none if records are missing from
    the pool, which decoys might join."""
    case = inquiry.case
    if inquiry.whole is not None or case.decoys is None or not case.decoys.budget or not inquiry.pool.n_records:
        return []
    if (
        not any(map(_by_rules, case.adversaries)) or case.beta == 0
    ):  # only precision counts, and there is no plan for that
        return []
    plan, _ = decoy_plan(inquiry, works=[one.work for one in inquiry.ladder])
    if not plan.recommended:
        return []
    false = sorted({attribute.label for decoy in plan.decoys for attribute in decoy.adds} or {"links"})
    what = f"spread {counted(len(plan.decoys), 'decoy')} with false {listed(false)}"
    why = plan.reasons[0] if plan.reasons else ""
    return [Action("decoy", what, before, max(plan.after.values()), plan.cost, success=None, why=why)]


def _by_rules(spec: Adversary) -> bool:
    """Whether decoys can be planned against an adversary: it resolves once, by rules."""
    groupings = [step for step in spec.steps if isinstance(step, Grouping)]
    return len(groupings) == 1 and isinstance(groupings[0], Resolve)
