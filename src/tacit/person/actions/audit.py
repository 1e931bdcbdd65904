"""What does each adversary of CASE.yaml know about the person, how, and what should be done first?

It shows the ladder (leakage, precision, recall and cost of each adversary), the merged record that leaks most with
what is right, wrong and missing in it, how its records came together, what each source adds, and ranked actions.
"""

# No "from __future__ import annotations": what may be asked is read off the annotations.

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tacit.document import Progress
from tacit.person.actions.asking import (
    ON_ENGINE,
    Adversaries,
    Examples,
    FailAbove,
    Memory,
    OnEngine,
    Remote,
    ShowValues,
    ask,
    limited,
)
from tacit.person.answers import PersonAuditResult
from tacit.person.answers.kept import kept_answer
from tacit.person.answers.masking import showing
from tacit.person.answers.words import audit_headline, check_limit, weaker_notes
from tacit.requests.names import DISTRIBUTED
from tacit.requests.settings import Flag

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.person.answers.results import AuditChanges, Finding
    from tacit.person.case.watching import Seen
    from tacit.person.inquiry import CaseLike, Inquiry, Shrinking

EXAMPLES: Examples = ({}, {"fail_above": 0.6}, {"watch": True}, {"adversary": "detective", "show_values": True})


@limited
def person_audit(
    case: "CaseLike",
    *,
    fail_above: FailAbove = None,
    adversary: Adversaries = (),
    show_values: ShowValues = False,
    watch: Annotated[
        bool,
        ask(Flag(), "Report what changed since the last audit with this option; hashes are kept next to the case."),
    ] = False,
    engine: OnEngine = "duckdb",
    remote: Remote = False,
    memory: Memory = None,
    progress: Progress | None = None,
) -> PersonAuditResult:
    """Measure how much of a person's file each adversary of a case can piece together, and what to do about it.

    The limit (``fail_above``) is only compared with the leakage. Values are masked, showing one character at most,
    unless ``show_values``. ``watch`` reports what changed since the last watched audit, and remembers this one in a
    file next to the case, which holds numbers and salted hashes and which nobody else can read. With ``engine="spark"``
    the records stay on a cluster.

    Guarantees
    ----------
    Records stay in the engine; only clusters that may hold something of the person are fetched. The leakages are those
    of ``tacit.leakage`` on all records, to a relative 1e-12. Every number "without" a source or "after" an action was
    measured after everything was resolved again; likely pairs are those found with everything there, as a note says.
    With very many records the answer is kept next to the case, for its owner only, and returned again for the same
    question as long as the case, every file that it names and Tacit itself are unchanged; its seconds are those of the
    first time. On Spark the answer is the same, but for what a note leaves out; it is not kept.
    """
    check_limit(fail_above)
    if ON_ENGINE.checked("engine", engine) in DISTRIBUTED:
        from tacit.person.inquiry.spread import answered_on_spark

        named = [adversary] if isinstance(adversary, str) else list(adversary)
        question_there = partial(_answer, fail_above=fail_above, show_values=show_values, watch=watch)
        return answered_on_spark(case, question_there, adversary=named, remote=remote, progress=progress)
    # Only the answer to a case file can be kept; a watched audit also depends on the last one.
    path = Path(case) if isinstance(case, str | os.PathLike) and not watch else None
    named = [adversary] if isinstance(adversary, str) else list(adversary)
    question = ["audit", str(path), named, fail_above, show_values]
    if path is not None and (known := kept_answer(path, question, PersonAuditResult)) is not None:
        return known
    from tacit.person import inquiry as inquiring

    inquiry = inquiring.opened(case, adversary=named, progress=progress, remote=remote)
    answer = _answer(inquiry, fail_above=fail_above, show_values=show_values, watch=watch)
    if path is not None and inquiry.index is not None:
        inquiry.index.keep_answer(answer, question, inquiry.case.files)
    return answer


def _answer(inquiry: "Inquiry", *, fail_above: float | None, show_values: bool, watch: bool) -> PersonAuditResult:
    from tacit.person import inquiry as inquiring

    shown = showing(show_values, inquiry.case.reference)
    subject, ladder, top = inquiry.subject, inquiry.ladder, inquiry.strongest
    names, shrinking = inquiring.RecordNames(inquiry.pool, subject), inquiring.Shrinking(top.hot)
    before = top.rung.leakage
    shares = inquiring.source_shares(inquiry.pool, before, _without_each(inquiry, shrinking), inquiry.only_there)
    inquiry.progress("actions", None)
    actions = [
        *inquiring.removals(inquiry.case, shares, before),
        *inquiring.changes(top.winner.cluster, subject, shrinking, before, shown),
        *inquiring.decoy_action(inquiry, before),
    ]
    rungs = tuple(one.rung for one in ladder)
    members = top.winner.cluster.members if top.winner.cluster is not None else ()
    notes = [*inquiry.notes, *(note for one in ladder for note in one.work.notes)]
    changes = _changes(inquiry, notes) if watch else None
    findings = tuple(
        inquiring.finding(one.rung.adversary, one.rung.leakage, one.winner.cluster, names, shown) for one in ladder
    )
    notes += [*_covering(findings), *inquiring.fitted_once(top.work.spec)]
    return PersonAuditResult(
        case=str(inquiry.case.path),
        labels=tuple(dict.fromkeys(label for label, _ in subject.reference)),
        facts=len({(label, subject.labels[label].meant(value)) for label, value in subject.reference}),
        sources=inquiring.source_facts(inquiry.pool),
        rungs=rungs,
        findings=findings,
        strongest=top.rung.adversary,
        source_shares=shares,
        actions=inquiring.ranked(actions),
        fail_above=fail_above,
        values_shown=show_values,
        headline=audit_headline(
            top.rung,
            len(names.sources(members)),
            inquiry.together,
            max(rung.leakage for rung in rungs),
            fail_above,
        ),
        together=inquiry.together,
        notes=(*notes, *weaker_notes(rungs), *_rough(shrinking), *inquiring.crowd_note(inquiry)),
        changes=changes,
    )


def _state(inquiry: "Inquiry") -> "Seen":
    """What this audit saw, for the next one: who knows which of the person's facts, and what the sources hold."""
    from tacit.person.case.watching import Seen, SeenRung

    subject, adversaries = inquiry.subject, {}
    for one in inquiry.ladder:
        cluster = one.winner.cluster
        compared = None if cluster is None else subject.comparer.compare(cluster.record)
        hits = [] if compared is None else sorted({int(place) for place in compared.hit if place >= 0})
        facts = tuple(subject.reference.facts[place] for place in hits)
        adversaries[one.rung.adversary] = SeenRung(one.rung.leakage, one.rung.recall, facts)
    sources = {source.name: (source.counted, source.sha256) for source in inquiry.pool.sources}
    return Seen(adversaries, sources, tuple(subject.reference))


def _without_each(inquiry: "Inquiry", shrinking: "Shrinking") -> dict[str, float]:
    """What would leak without each source."""
    sources, without = inquiry.pool.sources, {}
    for place, source in enumerate(sources):
        inquiry.progress(f"without {source.name}", place / len(sources))
        if source.records:
            without[source.name] = shrinking.without_source(source.name)
    return without


def _changes(inquiry: "Inquiry", notes: list[str]) -> "AuditChanges | None":
    """What changed since the last watched audit; a note if there was none."""
    from tacit.person.case.watching import state_of, watched

    changes = watched(inquiry.case.path, _state(inquiry))
    if changes is None:
        notes.append(f"the first watched audit: the next one is compared with {state_of(inquiry.case.path)}")
    return changes


def _covering(findings: "Sequence[Finding]") -> list[str]:
    labels = dict.fromkeys(
        attribute.label for one in findings for attribute in one.held if attribute.state == "covered"
    )
    if not labels:
        return []
    return [
        f"for {', '.join(labels)} a value that only covers the truth (11* for 111) counts as the truth, as in the "
        "paper, and a value of only stars counts as nothing, unless the label says suppressed: size or prior"
    ]


def _rough(shrinking: "Shrinking") -> list[str]:
    if not shrinking.rough:
        return []
    return [
        f"more than {shrinking.MOST_RECORDS:,} records hold something about the person: where it mattered, what is "
        "left without a source or after an action is given as an upper bound"
    ]
