"""Which attribute would the adversary do best to verify next?

An adversary that is unsure of its record can check parts of it: call the number, visit the address. What gains it
most for the cost is what a person should keep from being confirmed.
"""

# No "from __future__ import annotations": what may be asked is read off the annotations.

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, NamedTuple

from tacit.document import Progress
from tacit.person.actions.asking import Adversaries, Examples, Memory, Remote, ShowValues, ask, limited
from tacit.person.answers import PersonVerifyResult
from tacit.person.answers.masking import Showing, showing
from tacit.person.answers.results import Searched, Verification
from tacit.person.answers.words import counted, level, listed
from tacit.requests.settings import Amount

if TYPE_CHECKING:
    from tacit.person.inquiry import CaseLike, Inquiry

EXAMPLES: Examples = ({"adversary": "detective"}, {"budget": 2})


@limited
def person_verify_next(
    case: "CaseLike",
    *,
    budget: Annotated[
        float | None, ask(Amount(0), "What verifying may cost.  [default: the case's]", metavar="COST")
    ] = None,
    adversary: Adversaries = (),
    show_values: ShowValues = False,
    remote: Remote = False,
    memory: Memory = None,
    progress: Progress | None = None,
) -> PersonVerifyResult:
    """Which attribute of its record the strongest adversary should verify next.

    ``verify: {budget, costs}`` of the case says what verifying costs; without costs it is 1 - confidence, as in the
    paper. Without a budget the single best check is chosen. The adversary does not know the truth: a gain is how much
    surer it becomes of its own record. What it gains most from is what the person should not confirm.
    """
    from tacit.person.inquiry import opened

    inquiry = opened(case, adversary=adversary, progress=progress, remote=remote)
    terms, top = inquiry.case.verify, inquiry.strongest
    money = budget if budget is not None else terms.budget if terms is not None else None
    checks = _checks(inquiry, money, showing(show_values, inquiry.case.reference))
    notes = [*inquiry.notes, *top.work.notes]
    merge, cluster = top.work.spec.merge, top.winner.cluster
    if cluster is not None and merge != "union" and len(cluster.members) > 1:
        notes.append(f"the record is merged by {merge}: checks are of the merged record's attributes")
    return PersonVerifyResult(
        case=str(inquiry.case.path),
        adversary=top.rung.adversary,
        certainty=checks.before,
        certainty_after=checks.after,
        candidates=checks.candidates,
        budget=money,
        spent=checks.spent,
        searched=checks.searched,
        values_shown=show_values,
        headline=_headline(top.rung.adversary, checks),
        notes=tuple(notes),
    )


class _Checks(NamedTuple):
    """Every check with its gain, the best first; how sure the adversary is before and after; the cost; the search."""

    candidates: tuple[Verification, ...] = ()
    before: float = 0.0
    after: float = 0.0
    spent: float = 0.0
    searched: Searched = "exact"


def _checks(inquiry: "Inquiry", budget: float | None, shown: Showing) -> _Checks:
    from tacit.person.inquiry import RecordNames
    from tacit.person.plans.verification import certainty, verify_next, verify_within

    subject, work, cluster = inquiry.subject, inquiry.strongest.work, inquiry.strongest.winner.cluster
    if cluster is None:
        return _Checks()
    rids = list(cluster.members)
    if work.spec.merge == "union" or len(rids) == 1:
        records = list(work.adversary(rids).holdings(work.pool.numbered(rids), subject.labels).records)
        names = list(RecordNames(work.pool, subject).all(rids).values())
    else:
        records, names = [cluster.record], ["the merged record"]
    declared = inquiry.case.verify.costs if inquiry.case.verify is not None else {}
    costs = {a.label: declared.get(a.label, 1.0) for record in records for a in record} if declared else None
    ranking = [check for check in verify_next(records, costs=costs, labels=subject.labels) if check.gain > 0]
    before = certainty(records, labels=subject.labels)
    chosen, after, spent = ranking[:1], before, 0.0
    searched: Searched = "exact"
    if budget is not None:
        plan = verify_within(records, budget, costs=costs, labels=subject.labels)
        chosen, after, spent, searched = list(plan.checks), plan.certainty_after, plan.cost, plan.searched
    elif ranking:
        after, spent = min(1.0, before + ranking[0].gain), ranking[0].cost
    places = {(check.member, check.place) for check in chosen}
    candidates = tuple(
        Verification(
            label=check.label,
            value=shown(records[check.member].attributes[check.place].value),
            record=names[check.member],
            confidence=check.confidence,
            cost=check.cost,
            gain=check.gain,
            gain_per_cost=check.gain_per_cost,
            chosen=(check.member, check.place) in places,
        )
        for check in ranking
    )
    return _Checks(candidates, before, after, spent, searched)


def _headline(adversary: str, checks: _Checks) -> str:
    chosen = [one for one in checks.candidates if one.chosen]
    before = level(checks.before)
    if not checks.candidates:
        return f"{adversary} has nothing to verify: it is as sure of its record as it can be ({before} of 1)."
    if not chosen:
        return f"{adversary} can verify nothing within the budget; it is {before} of 1 sure of its record."
    return (
        f"{adversary} gains most by verifying {_chosen_words(chosen)}: its certainty of its own record rises from "
        f"{before} to {level(checks.after)} of 1. That is what not to confirm."
    )


def _chosen_words(chosen: Sequence[Verification]) -> str:
    """What is verified, each label of a record once: "phone (2 values) and name of the merged record"."""
    several = Counter((one.record, one.label) for one in chosen)
    parts: dict[str, list[str]] = {}
    for (record, label), values in several.items():
        parts.setdefault(record, []).append(label if values == 1 else f"{label} ({values} values)")
    phrases = [f"{listed(labels)} of {record}" for record, labels in parts.items()]
    return listed(phrases if len(phrases) <= 4 else [*phrases[:3], counted(len(phrases) - 3, "more record")])
