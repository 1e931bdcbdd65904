"""Plan decoys: false records that an adversary would merge with the person's.

This is opt-in: only labels that the case or the command allows may be false, and without any nothing is planned. It is
for forms that have no right to the truth, such as newsletters and loyalty cards. False data to banks, insurers or
authorities is not what it is for, and can be an offence.

Every plan is put into the records, resolved and measured again under every adversary; one that corrects errors or
takes the commonest value may not be misled. If so, the plan is shown and not recommended.
"""

# No "from __future__ import annotations": what may be asked is read off the annotations.

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from tacit.document import Progress
from tacit.person.actions.asking import (
    Adversaries,
    Examples,
    FailAbove,
    Memory,
    Remote,
    ShowValues,
    Texts,
    ask,
    limited,
)
from tacit.person.answers import PersonDecoyResult
from tacit.person.answers.masking import showing
from tacit.person.answers.results import DecoyRecord
from tacit.person.answers.words import check_limit, counted, level, verdict
from tacit.requests.settings import Amount

if TYPE_CHECKING:
    from tacit.person.inquiry import CaseLike
    from tacit.person.model import Attribute
    from tacit.person.plans.decoys import DecoyPlan

EXAMPLES: Examples = ({"budget": 5}, {"allow": ("phone", "e-mail"), "budget": 5})


@limited
def person_decoy(
    case: "CaseLike",
    *,
    budget: Annotated[
        float | None, ask(Amount(0), "What decoys may cost in all.  [default: the case's]", metavar="COST")
    ] = None,
    allow: Annotated[
        str | Sequence[str],
        ask(Texts(), "A label that may be false in a decoy. Repeatable.  [default: the case's]", metavar="LABEL"),
    ] = (),
    fail_above: FailAbove = None,
    adversary: Adversaries = (),
    show_values: ShowValues = False,
    remote: Remote = False,
    memory: Memory = None,
    progress: Progress | None = None,
) -> PersonDecoyResult:
    """Plan decoys: records with false values that spoil what an adversary pieces together.

    The ``decoys`` of the case say which labels may be false, with which values, at what cost: without them nothing is
    planned. ``budget`` and ``allow`` replace those of the case. Values are masked unless ``show_values``, which is
    needed to plant the records.

    Guarantees
    ----------
    Everything was resolved and measured again under every adversary, and the decoys are recommended only if the worst
    leakage falls and none rises. The limit is compared with the decoys if they are recommended, without them if not.
    """
    from tacit.person.inquiry import decoy_plan, opened

    check_limit(fail_above)
    inquiry = opened(case, adversary=adversary, progress=progress, remote=remote)
    shown = showing(show_values, inquiry.case.reference)
    plan, notes = decoy_plan(inquiry, budget=budget, allow=(allow,) if isinstance(allow, str) else allow)

    def masked(attributes: "Sequence[Attribute]") -> tuple[tuple[str, str], ...]:
        return tuple((attribute.label, shown(attribute.value)) for attribute in attributes)

    return PersonDecoyResult(
        case=str(inquiry.case.path),
        adversary=plan.adversary,
        records=tuple(DecoyRecord(d.kind, masked(d.links), masked(d.adds), d.cost) for d in plan.decoys),
        before=plan.before,
        predicted=plan.predicted.get(plan.adversary, plan.before[plan.adversary]),
        after=plan.after,
        cost=plan.cost,
        budget=plan.budget,
        method=plan.method,
        recommended=plan.recommended,
        reasons=plan.reasons,
        fail_above=fail_above,
        values_shown=show_values,
        headline=_headline(plan, fail_above),
        notes=(*inquiry.notes, *notes),
    )


def _headline(plan: "DecoyPlan", fail_above: float | None) -> str:
    worst, left = max(plan.before.values()), max(plan.after.values())
    if not plan.decoys:
        words = f"No decoy within the budget of {plan.budget:g} lowers the leakage of {level(worst)}"
        return f"{words}{verdict(worst, fail_above)}."
    decoys = counted(len(plan.decoys), "decoy")
    if not plan.recommended:
        return (
            f"Not recommended: with {decoys} the worst leakage under any adversary would be {level(left)}, and it is "
            f"{level(worst)} now{verdict(worst, fail_above)}."
        )
    return (
        f"{decoys} at a cost of {plan.cost:g} would lower the worst leakage under any adversary from {level(worst)} to "
        f"{level(left)}, measured after everything was resolved again{verdict(left, fail_above)}."
    )
