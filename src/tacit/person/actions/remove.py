"""Which sources to have the person removed from first?

A source of the case may say what a request costs and how likely it succeeds (remove: {cost: 5, success: 0.5}). The
limit is about the expected leakage after the whole plan.

It can write the letters that ask for it: under article 17 of the GDPR, the CCPA, or both, as the case says (law: gdpr,
ccpa or both; else by its country). A letter holds the name and one value by which the source knows the person.
"""

# No "from __future__ import annotations": what may be asked is read off the annotations.

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tacit.document import Progress
from tacit.person.actions.asking import Adversaries, Examples, FailAbove, Memory, Remote, ask, limited
from tacit.person.answers import PersonRemoveResult
from tacit.person.answers.results import RemovalStep
from tacit.person.answers.words import check_limit, level, listed, verdict
from tacit.requests.settings import Amount, File

if TYPE_CHECKING:
    from tacit.person.inquiry import CaseLike, Inquiry, Near
    from tacit.person.plans.removals import RemovalPlan

EXAMPLES: Examples = ({"at_most": 3}, {"budget": 20, "fail_above": 0.5}, {"letters": "letters"})


@limited
def person_remove(
    case: "CaseLike",
    *,
    budget: Annotated[float | None, ask(Amount(0), "What all requests together may cost.", metavar="COST")] = None,
    at_most: Annotated[int | None, ask(Amount(1, whole=True), "Ask at most this many sources.", metavar="N")] = None,
    letters: Annotated[
        str | Path | None, ask(File(), "Write a request for erasure to each source into this folder.", metavar="DIR")
    ] = None,
    fail_above: FailAbove = None,
    adversary: Adversaries = (),
    remote: Remote = False,
    memory: Memory = None,
    progress: Progress | None = None,
) -> PersonRemoveResult:
    """Which sources to ask for removal, in which order, so that the expected leakage is least.

    Sources with ``remove: {cost, success}`` can be asked; if none has it, all can, at cost 1 and with success,
    except for address books and mailboxes: these are taken to be the reader's own, and a note says what to do there.
    The plan is made under the adversary who knows most now; the limit is compared with the expected leakage after it.
    ``letters`` is a folder for the requests for erasure, one per source of the plan.

    Guarantees
    ----------
    A letter holds no value that its source does not hold. No file is overwritten; all letters are written, or none,
    and nobody else can read them.
    """
    from tacit.person.inquiry import fitted_once, near, opened, source_shares
    from tacit.person.plans.removals import Offer, plan_removals

    check_limit(fail_above)
    inquiry = opened(case, adversary=adversary, progress=progress, remote=remote)
    top = inquiry.strongest
    loaded = near(inquiry, works=[top.work])
    inquiry.progress("planning removals", None)
    offers = {source.name: source.removal for source in inquiry.case.sources if source.removal is not None}
    own = [source.name for source in inquiry.case.sources if source.own_book]
    others = {source.name: Offer() for source in inquiry.case.sources if source.name not in own}
    plan = plan_removals(loaded.what_if(0), offers=offers or others, budget=budget, at_most=at_most)
    size = {source.name: source.records for source in inquiry.pool.sources}
    steps = tuple(
        RemovalStep(r.source, size[r.source], r.cost, r.success, r.if_removed, r.expected) for r in plan.requests
    )
    notes = [*inquiry.notes, *loaded.notes, *fitted_once(top.work.spec)]
    if not offers:
        notes.append("no source says what a removal costs and how likely it is (remove: {cost, success}): all cost 1")
    elif not_asked := [name for name in others if name not in offers]:
        names = listed([f"'{name}'" for name in not_asked])
        none = f"{names} {'has' if len(not_asked) == 1 else 'have'} none"
        notes.append(f"only sources with a 'remove' in the case are asked; {none}, so no plan asks for removal there")
    if plan.expectation == "approximate":
        notes.append("with this many uncertain requests the expected leakage is an approximation")
    notes += _own_notes(own, plan)
    notes += _other_holders([name for name in inquiry.only_there if name in others], [step.source for step in steps])
    written = _written(inquiry, loaded, [step.source for step in steps], letters) if letters is not None else ()
    return PersonRemoveResult(
        case=str(inquiry.case.path),
        adversary=top.rung.adversary,
        before=plan.before,
        steps=steps,
        source_shares=source_shares(
            inquiry.pool, plan.before, {s.source: s.leakage_without for s in plan.sources}, inquiry.only_there
        ),
        budget=budget,
        searched=plan.searched,
        fail_above=fail_above,
        headline=_headline(top.rung.adversary, plan.before, steps, fail_above, own),
        notes=tuple(notes),
        letters=written,
    )


def _written(inquiry: "Inquiry", loaded: "Near", sources: Sequence[str], folder: str | Path) -> tuple[str, ...]:
    """Write the letters to the sources of a plan, and return their paths."""
    from tacit.person.case.placing import placed
    from tacit.person.plans.letters import LetterTerms, file_names, known_by, law_of, letter

    named = {source.name: source for source in inquiry.case.sources}
    texts = []
    for name in sources:
        source, own = named[name], [record for record in loaded.records if record.source == name]
        known = known_by(own, inquiry.subject.reference, inquiry.subject.labels)
        law = law_of(source.law or inquiry.case.law, inquiry.case.country)
        # Whoever lists breaches holds nothing: the services whose breaches are listed do.
        services = [inquiry.pool.name(int(record.name)).removeprefix(f"{name} ") for record in own]
        listed_there = tuple(dict.fromkeys(services)) if source.format == "breaches" else ()
        texts.append(letter(LetterTerms(name, law, *known, listed_there)))
    files = dict(zip(file_names(sources), (text.encode() for text in texts), strict=True))
    return tuple(map(str, placed(Path(folder), files, mode=0o600)))


def _own_notes(own: Sequence[str], plan: "RemovalPlan") -> list[str]:
    """What to do about address books and mailboxes, whose owner need not be asked."""
    without = {source.source: source.leakage_without for source in plan.sources}
    return [
        f"'{name}' is taken to be your own address book or mailbox: there is nobody to ask, and no letter; delete the "
        f"person's entries there, if others can read it ({level(plan.before)} now, {level(without[name])} without it); "
        "if it is somebody else's, give the source a law or remove"
        for name in own
        if name in without
    ]


def _other_holders(holders: Sequence[str], planned: Sequence[str]) -> list[str]:
    """Who holds records and is not asked: the leakage would be no lower, or the limits are reached."""
    left = [f"'{name}'" for name in holders if name not in planned]
    if not left:
        return []
    holds = "holds records" if len(left) == 1 else "hold records"
    return [
        f"{listed(left)} {holds} of the person too, but no request to them is planned; to erase all, ask them as well"
    ]


def _headline(
    adversary: str, before: float, steps: Sequence[RemovalStep], fail_above: float | None, own: Sequence[str] = ()
) -> str:
    if before <= 0:
        return (
            f"No record holds anything true about the person: there is nothing to remove{verdict(before, fail_above)}."
        )
    if not steps:
        names = listed([f"'{name}'" for name in own])
        also = f"; {names}, your own, can only be cleared by you" if own else ""
        return (
            f"No request within the limits lowers the leakage of {level(before)} under '{adversary}'"
            f"{verdict(before, fail_above)}{also}."
        )
    last = steps[-1]
    sources = listed([f"'{step.source}'" for step in steps])
    order = " in this order" if len(steps) > 1 else ""
    words = f"Ask {sources}{order}: the leakage under '{adversary}' is {level(before)} now"
    if all(step.success == 1 for step in steps):
        return f"{words} and {level(last.if_removed)} after{verdict(last.expected, fail_above)}."
    return (
        f"{words}, {level(last.expected)} in expectation after, and {level(last.if_removed)} if all comply"
        f"{verdict(last.expected, fail_above)}."
    )
