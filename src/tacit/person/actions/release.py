"""What would a pending release add, and which of its options leaks least?

The case lists releases with their options (which card, which address, which alias). Every option is measured with
all records resolved again, and so is the best choice for all releases together. The limit is about the leakage after
the best choice.
"""

# No "from __future__ import annotations": what may be asked is read off the annotations.

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from tacit.document import Progress
from tacit.errors import DataError
from tacit.person.actions.asking import Adversaries, Examples, FailAbove, Memory, Records, Remote, ask, limited
from tacit.person.answers import PersonReleaseResult
from tacit.person.answers.results import ReleaseOption, ReleasePlan
from tacit.person.answers.words import check_limit, level, listed, verdict

if TYPE_CHECKING:
    from tacit.person.inquiry import CaseLike, Inquiry, Near
    from tacit.person.model.records import Record
    from tacit.person.plans.releases import BestRelease
    from tacit.person.resolve.what_if import WhatIf

EXAMPLES: Examples = ({}, {"record": ("name=Alice,card=999", "name=Alice,card=888")})


@limited
def person_release(
    case: "CaseLike",
    *,
    record: Annotated[
        "Record | Sequence[Record]",
        ask(
            Records(),
            "A release that is not in the case: what would be given away. Repeat it for another option. Write "
            "phone=555@0.6 for a confidence of 0.6, and quote a value with a comma: 'name=Al,\"town=Rye, NY\"'. Your "
            "shell may keep what you type.",
        ),
    ] = (),
    fail_above: FailAbove = None,
    adversary: Adversaries = (),
    remote: Remote = False,
    memory: Memory = None,
    progress: Progress | None = None,
) -> PersonReleaseResult:
    """What each option of each pending release would add to the leakage, and the best choice of all together.

    ``record`` are named records, options of one release, that replace the releases of the case. The limit is about the
    leakage after the best choice. The result holds names of options, labels and records, but no values.

    Guarantees
    ----------
    Every leakage is that of all records with the release, everything resolved again; ``notes`` says if a very large
    table was not examined as a whole.
    """
    from tacit.person.inquiry import narrowed, near, numbered, opened, unseen_note
    from tacit.person.plans.releases import best_release

    check_limit(fail_above)
    narrow_case = narrowed(case, adversary=adversary, record=record, remote=remote)
    if not narrow_case.releases:
        raise DataError(
            f"{narrow_case.path} has no 'releases': name what is to be released, with one option or more each"
        )
    inquiry = opened(narrow_case, progress=progress)
    subject = inquiry.subject
    more = numbered([option for slot in narrow_case.releases for option in slot.options], inquiry)
    left = iter(more)
    slots = [[next(left) for _ in slot.options] for slot in narrow_case.releases]
    loaded = near(inquiry, more=more)
    hands, plans = [], {}
    for place, spec in enumerate(narrow_case.adversaries):
        inquiry.progress(f"{spec.name}: releases", place / len(narrow_case.adversaries))
        hands.append(loaded.what_if(place))
        plans[spec.name] = best_release(hands[-1], subject.reference, loaded.adversaries[place], slots, subject.labels)
    best = tuple(_plan(name, plan, inquiry) for name, plan in plans.items())
    return PersonReleaseResult(
        case=str(narrow_case.path),
        before={name: plan.before for name, plan in plans.items()},
        options=tuple(_options(inquiry, slots, plans, hands, loaded)),
        best=best,
        fail_above=fail_above,
        headline=_headline(best, fail_above),
        notes=(*inquiry.notes, *loaded.notes, *unseen_note(narrow_case.adversaries, "a release")),
    )


def _options(
    inquiry: "Inquiry",
    slots: "list[list[Record]]",
    plans: "dict[str, BestRelease]",
    hands: "list[WhatIf]",
    loaded: "Near",
) -> list[ReleaseOption]:
    from tacit.person.inquiry import RecordNames

    names = RecordNames(inquiry.pool, inquiry.subject)
    options = []
    for at, slot in enumerate(inquiry.case.releases):
        for which, option in enumerate(slot.options):
            values = {
                adversary: next(o for o in plan.options if (o.slot, o.option) == (at, which))
                for adversary, plan in plans.items()
            }
            joined = [hand.dip(slots[at][which]).members for hand in hands]
            # Shown for the adversary that learns most or, among equals, the one that joins most.
            _, members = max(
                zip(values.values(), joined, strict=True), key=lambda one: (round(one[0].alone, 12), len(one[1]))
            )
            rids = [loaded.rids[member] for member in members if member < len(loaded.rids)]
            called = names.all(rids)
            options.append(
                ReleaseOption(
                    slot=slot.name,
                    option=option.name,
                    labels=tuple(dict.fromkeys(attribute.label for attribute in option)),
                    after={adversary: value.alone for adversary, value in values.items()},
                    added={adversary: value.added for adversary, value in values.items()},
                    joins=tuple(called[rid] for rid in rids),
                )
            )
    return options


def _plan(adversary: str, plan: "BestRelease", inquiry: "Inquiry") -> ReleasePlan:
    chosen = zip(inquiry.case.releases, plan.choices, strict=True)
    return ReleasePlan(
        adversary=adversary,
        choices={slot.name: slot.options[choice].name for slot, choice in chosen},
        before=plan.before,
        after=plan.after,
        worst=plan.worst,
        plans=plan.plans,
        searched=plan.searched,
    )


def _headline(best: tuple[ReleasePlan, ...], fail_above: float | None) -> str:
    from tacit.person.inquiry import SAME

    top = max(best, key=lambda plan: (plan.after, plan.worst))
    chosen = listed([f"'{option}' for '{slot}'" for slot, option in top.choices.items()])
    if top.worst - top.after <= SAME:
        how = "stays at" if abs(top.after - top.before) <= SAME else f"goes from {level(top.before)} to"
        return (
            f"No choice leaks less than another: the leakage under '{top.adversary}' {how} {level(top.after)} "
            f"with each; {chosen} gives out least{verdict(top.after, fail_above)}."
        )
    least = "the least" if top.searched == "exact" else "the least found"
    return (
        f"Choose {chosen}: the leakage under '{top.adversary}' goes from {level(top.before)} to {level(top.after)}, "
        f"{least}; the worst choice makes it {level(top.worst)}{verdict(top.after, fail_above)}."
    )
