"""``person audit``: how much of a person's file can be pieced together, by whom, from where, and what to do."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass

from tacit.workflows.person_actions import changes, ranked, removals, source_shares
from tacit.workflows.person_case import Case, read_case
from tacit.workflows.person_case_model import AdversarySpec
from tacit.workflows.person_crowd import crowd_note
from tacit.workflows.person_engine import Grouped, Hot, Known, Shrinking, Winner, grouped, remembering, winner
from tacit.workflows.person_findings import Names, finding, source_facts
from tacit.workflows.person_masking import showing
from tacit.workflows.person_results import Action, PersonAuditResult, Rung
from tacit.workflows.person_sources import Evidence, read_sources
from tacit.workflows.person_words import audit_headline, checked_limit, does, weaker_notes
from tacit.workflows.tabulating import Progress, silent

CaseLike = Case | str | os.PathLike[str]


@dataclass(frozen=True, eq=False)
class Climbed:
    """One adversary, carried out and measured."""

    rung: Rung
    work: Grouped
    hot: Hot
    winner: Winner


def case_of(case: CaseLike) -> Case:
    """The case, read if it is a path."""
    return case if isinstance(case, Case) else read_case(case)


def known_of(case: Case) -> Known:
    """The person of a case, and how values are compared."""
    return Known(case.reference, remembering(case.labels), case.beta)


def climbed(evidence: Evidence, spec: AdversarySpec, known: Known, progress: Progress = silent) -> Climbed:
    """Carry out one adversary in the engine, and measure what it holds of the person."""
    start = time.perf_counter()
    work = grouped(evidence, spec, known.labels, progress=progress)
    progress(f"{spec.name}: measuring", None)
    hot = Hot(work, known)
    found = winner(hot)
    seconds = time.perf_counter() - start
    rung = Rung(
        adversary=spec.name,
        does=does(spec),
        merge=spec.merge,
        leakage=found.leakage.value,
        precision=found.leakage.precision,
        recall=found.leakage.recall,
        best_recall=found.best_recall,
        cost=work.adversary(()).cost_of(evidence.n_records),
        seconds=seconds,
        records=evidence.n_records,
        entities=work.entities,
        merged=len(found.cluster.members) if found.cluster is not None else 0,
    )
    return Climbed(rung, work, hot, found)


def person_audit(
    case: CaseLike, *, limit: float | None = None, show_values: bool = False, progress: Progress | None = None
) -> PersonAuditResult:
    """Measure how much of a person's file each adversary of a case can piece together, and what to do about it.

    Parameters
    ----------
    case : path or Case
        A case file: the person, the labels, the sources, the adversaries.
    limit : float, optional
        A leakage that should not be exceeded; it is compared, and changes nothing.
    show_values : bool
        Values of the person stand in the result as they are. Without it they are masked: a first character at most.
    progress : callable, optional
        Told what is being done, and the share done if that is known.

    Returns
    -------
    PersonAuditResult

    Guarantees
    ----------
    Records stay in the engine; only clusters that may hold something of the person are fetched. The leakages are those
    of ``tacit.leakage`` on all records, to a relative 1e-12. Every number "without" a source or "after" an action was
    measured after everything was resolved again.
    """
    checked_limit(limit)
    given, tell, shown = case_of(case), progress or silent, showing(show_values)
    known = known_of(given)
    evidence = read_sources(given, progress=tell)
    ladder = [climbed(evidence, spec, known, tell) for spec in given.adversaries]
    top = max(ladder, key=lambda one: one.rung.leakage)
    names, before = Names(evidence, known), top.rung.leakage
    shrinking = Shrinking(top.hot)
    shares = source_shares(evidence, shrinking, before, tell)
    tell("actions", None)
    actions = [*removals(given, shares, before), *changes(top.winner.cluster, known, shrinking, before, shown)]
    actions += _decoys(given, evidence, before, tell)
    findings = [
        finding(one.rung.adversary, one.rung.leakage, one.winner.cluster, known, names, shown) for one in ladder
    ]
    members = top.winner.cluster.members if top.winner.cluster is not None else ()
    notes = [*given.notes, *evidence.notes, *(note for one in ladder for note in one.work.notes)]
    notes += [*weaker_notes([one.rung for one in ladder]), *_rough(shrinking), *crowd_note(given, evidence)]
    return PersonAuditResult(
        case=str(given.path),
        labels=tuple(dict.fromkeys(label for label, _ in known.reference)),
        facts=len(known.reference),
        sources=source_facts(evidence),
        rungs=tuple(one.rung for one in ladder),
        findings=tuple(findings),
        strongest=top.rung.adversary,
        source_shares=shares,
        actions=ranked(actions),
        limit=limit,
        values_shown=show_values,
        headline=audit_headline(top.rung, len(names.sources(members)), limit),
        notes=tuple(notes),
    )


def _rough(shrinking: Shrinking) -> list[str]:
    if not shrinking.rough:
        return []
    return [
        f"more than {Shrinking.MOST_RECORDS:,} records hold something of the person: where it mattered, what is left "
        "without a source or after an action is given as an upper bound"
    ]


def _decoys(case: Case, evidence: Evidence, before: float, progress: Progress) -> list[Action]:
    """The plan of decoys, if the case speaks of decoys and they would help."""
    if case.decoys is None:
        return []
    from tacit.workflows.person_planning import decoy_action

    return decoy_action(case, evidence, before, progress)
