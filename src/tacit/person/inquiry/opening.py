"""A case opened for one question: narrowed to what is asked, its records read, its adversaries carried out."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cached_property
from typing import TypeVar

from tacit.document import Progress, silent
from tacit.errors import ArgumentError
from tacit.person.answers.kept import FOLDER, kept_folder
from tacit.person.answers.results import Rung
from tacit.person.case.model import Case, Slot
from tacit.person.case.reading import read_case
from tacit.person.case.schema import nearest
from tacit.person.inquiry.describing import does
from tacit.person.inquiry.hot import Hot, Winner, hit_rows, winner
from tacit.person.inquiry.index import CaseIndex, case_index
from tacit.person.inquiry.subject import Subject, remembering
from tacit.person.inquiry.whole import Whole
from tacit.person.inquiry.work import Grouped, Workbench, in_normal_form, named_forms
from tacit.person.link.attributes import Attributes, IntArray
from tacit.person.link.forms.unread import unread_counts, unread_notes
from tacit.person.link.right import RightRows, records_that_hold, weight_together
from tacit.person.model.forms import form_name
from tacit.person.model.labels import Labels
from tacit.person.model.records import Record
from tacit.person.resolve.adversaries import Adversary
from tacit.person.resolve.steps import Augment, Resolve
from tacit.person.sources.pool import RecordPool
from tacit.person.sources.reading import read_pool

CaseLike = Case | str | os.PathLike[str]
Thing = TypeVar("Thing", str, Record)

FOREIGN = (
    f"somebody else may write in {FOLDER} next to the case: nothing there was read and nothing was kept; remove it, or "
    "move the case into a folder of your own"
)


@dataclass(frozen=True, eq=False)
class Climbed:
    """One adversary, carried out and measured."""

    rung: Rung
    work: Grouped
    hot: Hot
    winner: Winner


@dataclass(frozen=True, eq=False)
class Inquiry:
    """A case, its records in the engine, and its adversaries, each carried out at most once.

    ``everybody``: the question is about everybody, not only the person of the case. ``whole``: what is known about all
    records, if only those near the person are in the pool.
    """

    case: Case
    pool: RecordPool
    progress: Progress = silent
    index: CaseIndex | None = None
    everybody: bool = False
    whole: Whole | None = None

    @cached_property
    def labels(self) -> Labels:
        """How values are compared; normal forms are cached."""
        return remembering(self.case.labels)

    @cached_property
    def subject(self) -> Subject:
        """The person; a DataError if the case has none."""
        pool, index = self.pool, self.index
        if index is None:
            return Subject(self.case.reference, self.labels, self.case.beta)

        def keeping(some: Attributes, make: Callable[[], RightRows]) -> RightRows:
            among = "read" if some is pool.attributes else "formed" if some is pool.formed else None
            return make() if among is None else index.right(some.store, among, make)

        return Subject(self.case.reference, self.labels, self.case.beta, keeping)

    @cached_property
    def bench(self) -> Workbench:
        """Where adversaries are carried out."""
        subject = None if self.everybody or self.case.person is None else self.subject
        known = () if self.whole is None else self.whole.recognised
        return Workbench(self.pool, self.labels, self.progress, hit_rows, subject, self.index, known)

    @cached_property
    def ladder(self) -> tuple[Climbed, ...]:
        """Every adversary, carried out and measured."""
        return tuple(self._climbed(spec) for spec in self.case.adversaries)

    @property
    def strongest(self) -> Climbed:
        """The adversary who knows most about the person; among equals, the larger leakage, then the later one."""
        known = [(round(one.rung.best_recall, 12), round(one.rung.leakage, 12)) for one in self.ladder]
        return self.ladder[max(range(len(known)), key=lambda place: (*known[place], place))]

    @cached_property
    def together(self) -> float:
        """The share of the person's file that all their records hold together, joined or not."""
        # An adversary that joined a record which is not recognisable by itself may know more.
        return min(1.0, max(self._share_in(self._own), self.strongest.rung.best_recall))

    @cached_property
    def only_there(self) -> dict[str, float]:
        """By source, the share of the person's file that the person's records there hold and no other source does."""
        own, shares = self._own, {}
        for source in self.pool.sources:
            others = own[(own < source.first) | (own >= source.first + source.records)]
            if len(others) < len(own):
                shares[source.name] = self._share_in(own) - self._share_in(others)
        return shares

    def holding(self, known: Record) -> int:
        """How many records hold everything in ``known`` that is true of the person."""
        facts = {int(place) for place in self.subject.comparer.compare(known).hit if place >= 0}
        return records_that_hold(self._right, facts) if facts else 0

    @cached_property
    def _right(self) -> RightRows:
        return hit_rows(
            self.pool.attributes, self.subject, self.bench.normalised() if named_forms(self.labels) else None
        )

    @cached_property
    def _own(self) -> IntArray:
        """The records that are the person's, joined or not."""
        return self.bench.recognition(self.subject.reference, self.pool.attributes).rids

    def _share_in(self, rids: IntArray) -> float:
        whole = self.subject.comparer.reference_weight
        return weight_together(self._right, rids) / whole if whole else 0.0

    @property
    def notes(self) -> tuple[str, ...]:
        """What was assumed or left out when the case and its records were read."""
        foreign = [] if kept_folder(self.case.path) is not None or not self.case.index else [FOREIGN]
        left_out = () if self.whole is None else self.whole.notes
        return (*self.case.notes, *left_out, *self.pool.notes, *self._unread, *foreign)

    @cached_property
    def _unread(self) -> tuple[str, ...]:
        if self.everybody or self.case.person is None:
            return ()
        if self.whole is not None:
            return self.whole.unread
        person = self.subject
        counts = unread_counts(self.pool.attributes, self.bench.normalised(), person.reference, person.labels)
        return tuple(unread_notes(counts))

    def _before(self, spec: Adversary) -> tuple[Adversary, ...]:
        """The adversaries that come before this one in the case, the last first."""
        return self.case.adversaries[: self.case.adversaries.index(spec)][::-1]

    def _climbed(self, spec: Adversary) -> Climbed:
        start = time.perf_counter()
        work = self.bench.grouped(spec)
        self.progress(f"{spec.name}: measuring", None)
        whole = self.whole
        hot = Hot(work, self.subject, None if whole is None else whole.promising[spec.name])
        best = winner(hot)
        entities = work.entities if whole is None else whole.entities[spec.name]
        records = self.pool.n_records if whole is None else whole.records
        rung = Rung(
            adversary=spec.name,
            does=does(spec, self._before(spec)),
            merge=spec.merge,
            leakage=best.leakage.value,
            precision=best.leakage.precision,
            recall=best.leakage.recall,
            best_recall=best.best_recall,
            best_precision=best.best_precision,
            cost=spec.cost_of(records),
            seconds=time.perf_counter() - start + (0.0 if whole is None else whole.seconds[spec.name]),
            records=records,
            entities=entities,
            merged=len(best.cluster.members) if best.cluster is not None else 0,
        )
        return Climbed(rung, work, hot, best)


def opened(
    case: CaseLike,
    *,
    adversary: str | Sequence[str] = (),
    progress: Progress | None = None,
    everybody: bool = False,
    remote: bool = False,
) -> Inquiry:
    """Read a case, narrow it to these adversaries, and read its sources; see :func:`narrowed`."""
    tell = progress or silent
    narrow_case = narrowed(case, adversary=adversary, remote=remote)
    index = case_index(narrow_case)
    return Inquiry(narrow_case, read_sources(narrow_case, progress=tell, index=index), tell, index, everybody)


def narrowed(
    case: CaseLike,
    *,
    adversary: str | Sequence[str] = (),
    query: Record | Sequence[Record] = (),
    record: Record | Sequence[Record] = (),
    engine: str = "duckdb",
    remote: bool = False,
) -> Case:
    """The case with only these adversaries, queries and releases; an empty argument keeps those of the case.

    Parameters
    ----------
    case : path or Case
        A case file, or a case that was read.
    adversary : str or sequence of str
        Names of adversaries of the case; they stay in the order of the case.
    query : Record or sequence of Record
        Named records to dip with, instead of those of the case.
    record : Record or sequence of Record
        Named records that might be released, instead of the releases of the case: options of one release.
    engine, remote
        Of a case file, as :func:`read_case` takes them.
    """
    whole = case if isinstance(case, Case) else read_case(case, engine=engine, remote=remote)
    adversaries, queries, records = _several(adversary), _several(query), _several(record)
    names = [spec.name for spec in whole.adversaries]
    for name in adversaries:
        if name not in names:
            raise ArgumentError(f"no adversary '{name}' in {whole.path}{nearest(name, names)}")
    if adversaries:
        whole = replace(whole, adversaries=tuple(spec for spec in whole.adversaries if spec.name in adversaries))
    # A label that nothing has cannot match: a typing error must not look like safety.
    labels = sorted({*whole.source_labels, *whole.labels, *(label for label, _ in whole.person or ())})
    for label in (attribute.label for one in (*queries, *records) for attribute in one):
        if label not in labels:
            where = f"the person or the sources of {whole.path}"
            raise ArgumentError(f"no label '{label}' in {where}{nearest(label, labels)}")
    if queries:
        whole = replace(whole, queries=queries)
    return replace(whole, releases=(Slot("release", records),)) if records else whole


def _several(things: Thing | Sequence[Thing]) -> tuple[Thing, ...]:
    return (things,) if isinstance(things, str | Record) else tuple(things)


def read_sources(case: Case, *, progress: Progress = silent, index: CaseIndex | None = None) -> RecordPool:
    """All records of a case, with notes on labels that do not fit the person or the adversaries.

    What an ``index`` has kept is not read again.
    """
    pool = None if index is None else index.pool()
    if pool is None:
        pool = read_pool(case.sources, case.person, forms=forms_in(case), progress=progress)
        if pool.attributes.coded is not None:
            progress("normal forms", None)
            pool = replace(pool, formed=in_normal_form(pool.attributes, case.labels))
        if index is not None:
            index.keep(pool)
    return replace(pool, notes=(*pool.notes, *notes_on_labels(case, pool.attributes.labels)))


def notes_on_labels(case: Case, labels: tuple[str, ...]) -> list[str]:
    """Notes on labels of the records that do not fit the person or the adversaries."""
    return [*_undescribed(case, labels), *_joinless(case, labels)]


def forms_in(case: Case) -> dict[str, tuple[str, str | None]]:
    """The labels whose values have a normal form with a name, and the name."""
    named = ((label, form_name(case.labels[label].normalise)) for label in case.labels)
    return {label: form for label, form in named if form is not None}


def _undescribed(case: Case, labels: tuple[str, ...]) -> list[str]:
    if case.person is None:
        return []
    true = {label for label, _ in case.person}
    notes = []
    if strange := [label for label in labels if label not in true | case.described]:
        shown = ", ".join(strange[:20]) + (", …" if len(strange) > 20 else "")
        notes.append(
            f"labels for which the person has no value count as wrong: {shown}; if they are true, add their "
            "values to 'person', or the leakage is too low; to leave a column out, map it to null"
        )
    others = [label for label in labels if label not in true]
    for label in sorted(true.difference(labels)):
        if near := get_close_matches(label, others, n=1, cutoff=0.75):
            notes.append(
                f"the person has '{label}', which no record has, and records have '{near[0]}', which the person does "
                "not have: if they are the same, give them the same name"
            )
    return notes


def _joinless(case: Case, labels: tuple[str, ...]) -> list[str]:
    """Rules that can join nothing, because no record has one of their labels."""
    notes = []
    for spec in case.adversaries:
        available = set(labels) | {step.adds for step in spec.steps if isinstance(step, Augment)}
        rules = [rule for step in spec.steps if isinstance(step, Resolve) for rule in step.rules.alternatives]
        for rule in rules:
            if missing := [label for label in rule if label not in available]:
                notes.append(
                    f"adversary '{spec.name}': the rule {' + '.join(rule)} joins nothing, as no record has "
                    f"{' and '.join(missing)}"
                )
    return notes
