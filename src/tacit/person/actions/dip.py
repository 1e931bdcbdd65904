"""What does a search bring up: everything that resolves with a query?"""

# No "from __future__ import annotations": what may be asked is read off the annotations.

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated

from tacit.document import Progress
from tacit.errors import DataError
from tacit.person.actions.asking import (
    Adversaries,
    Examples,
    FailAbove,
    Memory,
    Records,
    Remote,
    ShowValues,
    ask,
    limited,
)
from tacit.person.answers import PersonDipResult
from tacit.person.answers.dip import knows
from tacit.person.answers.masking import showing
from tacit.person.answers.results import Dipped
from tacit.person.answers.words import check_limit, counted, level, share, verdict

if TYPE_CHECKING:
    from tacit.person.inquiry import CaseLike
    from tacit.person.model.leakage import Leakage
    from tacit.person.model.records import Record

EXAMPLES: Examples = ({}, {"query": ("name=Alice,phone=555",)})


@limited
def person_dip(
    case: "CaseLike",
    *,
    query: Annotated[
        "Record | Sequence[Record]",
        ask(
            Records(),
            "A query that is not in the case: what somebody would type in. Repeatable. Write phone=555@0.6 for a "
            "confidence of 0.6, and quote a value with a comma. Your shell may keep what you type.",
        ),
    ] = (),
    fail_above: FailAbove = None,
    adversary: Adversaries = (),
    show_values: ShowValues = False,
    remote: Remote = False,
    memory: Memory = None,
    progress: Progress | None = None,
) -> PersonDipResult:
    """What an adversary gets by starting from each query of a case: everything that resolves with it.

    ``query`` are named records that replace the queries of the case. Values are masked unless ``show_values``. The
    leakage is that of what comes up, including the query, which the adversary already knew.
    """
    from tacit.person.inquiry import RecordNames, finding, narrowed, near, numbered, opened, renumbered, unseen_note

    check_limit(fail_above)
    narrow_case = narrowed(case, adversary=adversary, query=query, remote=remote)
    if not narrow_case.queries:
        raise DataError(f"{narrow_case.path} has no 'queries': name what an adversary may start from, such as a name")
    inquiry = opened(narrow_case, progress=progress)
    subject, size = inquiry.subject, inquiry.pool.n_records
    shown = showing(show_values, subject.reference)
    more = numbered(narrow_case.queries, inquiry)
    loaded = near(inquiry, more=more)
    # A query has the number after the last record.
    numbers = [*loaded.rids, size]
    dips = []
    for place, spec in enumerate(narrow_case.adversaries):
        inquiry.progress(f"{spec.name}: queries", place / len(narrow_case.adversaries))
        hand = loaded.what_if(place)
        for one, record in zip(narrow_case.queries, more, strict=True):
            # If several ways of joining bring something up, the one that knows most.
            best = max(hand.dips(record), key=lambda each: _known(subject.measure(each.record)))
            cluster = renumbered(best, numbers)
            names = RecordNames(inquiry.pool, subject, {size: (f"query '{one.name}'", "the query")})
            value = subject.measure(cluster.record)
            written = finding(spec.name, value.value, cluster, names, shown)
            dips.append(Dipped(one.name, spec.name, value.value, value.precision, value.recall, written))
    alone = {one.query for one in dips} - {one.query for one in dips if len(one.finding.members) > 1}
    matches = {one.name: inquiry.holding(one) for one in narrow_case.queries if one.name in alone}
    return PersonDipResult(
        case=str(narrow_case.path),
        dips=tuple(dips),
        fail_above=fail_above,
        values_shown=show_values,
        headline=_headline(
            max(reversed(dips), key=knows),
            max(one.leakage for one in dips),
            fail_above,
            max(matches.values(), default=0),
        ),
        notes=(*inquiry.notes, *loaded.notes, *unseen_note(narrow_case.adversaries, "a query"), *_searched(matches)),
    )


def _known(measured: "Leakage") -> tuple[float, float]:
    return round(measured.recall, 12), round(measured.value, 12)


def _searched(matches: Mapping[str, int]) -> list[str]:
    return [
        f"query '{name}': {counted(records, 'record')} of the sources match it, and no adversary takes them for the "
        "person's by that alone: others may be called the same. Anyone who searches for it sees them; a rule that "
        "joins by it (rules) says what they would show"
        for name, records in matches.items()
        if records
    ]


def _headline(top: Dipped, largest: float, fail_above: float | None, searched: int) -> str:
    records = len(top.finding.members) - 1
    if not records and searched:
        return (
            f"No adversary joins a record to what the query says, but {counted(searched, 'record')} of the sources "
            f"match it, and whoever searches for it sees them{verdict(largest, fail_above)}."
        )
    if not records:
        return f"No query brings up any record: the adversary learns nothing new{verdict(largest, fail_above)}."
    return (
        f"Starting from '{top.query}', {top.adversary} knows {share(top.recall)} of what matters about the person, "
        f"from {counted(records, 'record')}; {share(top.precision)} of what it holds is right. That is a leakage of "
        f"{level(top.leakage)}{verdict(largest, fail_above)}."
    )
