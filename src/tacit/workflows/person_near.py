"""Records near a question, in memory: all there are, or those that the answer can depend on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tacit.errors import DataError
from tacit.person.adversaries import Adversary, Resolve
from tacit.person.records import Record
from tacit.person.rules import Rules
from tacit.person.what_if import WhatIf
from tacit.workflows.person_case_model import AdversarySpec, AugmentStep, CorrectStep, NormaliseStep
from tacit.workflows.person_engine import Grouped, Hot, Known, fetched, grouped
from tacit.workflows.person_sources import Evidence
from tacit.workflows.person_steps import value_steps
from tacit.workflows.tabulating import Progress, silent

if TYPE_CHECKING:
    from tacit.tables.linking import Attributes

IntArray = NDArray[np.int64]

# Up to so many records all are loaded.
MOST_WHOLE = 20_000
# Of more, clusters that hold something of the person are loaded, the most promising first: so many records at least,
# then those that could leak a quarter of what the first could, up to so many.
FEWEST_HOT, MOST_HOT = 2_000, 50_000
WORTH = 0.25
# More records than these are not held in memory for a question.
MOST_LOADED = 300_000


@dataclass(frozen=True, eq=False)
class Near:
    """Records in memory, and the adversaries of the case over them.

    Attributes
    ----------
    rids : list of int
        The records' numbers; a record is called by its number.
    records : list of Record
    adversaries : list of Adversary
    works : list of Grouped
        What the engine made of all records, adversary by adversary.
    notes : tuple of str
        What was left out, if anything.
    """

    rids: list[int]
    records: list[Record]
    adversaries: list[Adversary]
    works: list[Grouped]
    known: Known
    notes: tuple[str, ...]

    def what_if(self, place: int) -> WhatIf:
        """The records in the hands of one adversary."""
        return WhatIf(
            self.records, self.known.reference, self.adversaries[place], self.known.labels, beta=self.known.beta
        )

    def number(self, place: int) -> int:
        """The number of the record at a place; of records added later, the numbers after the last of all."""
        size = len(self.rids)
        return self.rids[place] if place < size else self.works[0].evidence.n_records + place - size


def numbered(records: Iterable[Record], evidence: Evidence) -> list[Record]:
    """Records that are not out yet, called by the numbers after the last record."""
    return [
        Record.trusted(record.attributes, name=str(number), source=record.source)
        for number, record in enumerate(records, start=evidence.n_records)
    ]


def near(
    evidence: Evidence,
    specs: Sequence[AdversarySpec],
    known: Known,
    *,
    more: Sequence[Record] = (),
    whole: int = MOST_WHOLE,
    works: Sequence[Grouped] = (),
    progress: Progress = silent,
) -> Near:
    """Load what the answer to a question can depend on.

    Parameters
    ----------
    evidence : Evidence
    specs : sequence of AdversarySpec
    known : Known
    more : sequence of Record
        Records that may be added, called by ``numbered``.
    whole : int
        Up to so many records all are loaded.
    works : sequence of Grouped
        The adversaries, if they were carried out before; only without ``more``.

    Guarantees
    ----------
    Under every adversary whole clusters are loaded: all that hold something of the person, and all that any of ``more``
    could be joined with, directly or through one another. A cluster that is not loaded holds nothing of the person and
    stays as it is, whichever of ``more`` are added and whatever is removed. If there are too many, ``notes`` says so.
    """
    works = list(works) or [grouped(evidence, spec, known.labels, more=more, progress=progress) for spec in specs]
    notes = [note for work in works for note in work.notes]
    progress("loading records", None)
    if evidence.n_records <= whole:
        rids = list(range(evidence.n_records))
    else:
        found: set[int] = set()
        for work in works:
            found |= _hot(work, known, notes)
            found |= _reached(work, more, known)
        rids = sorted(_closed(works, found))
        if len(rids) > MOST_LOADED:
            raise DataError(
                f"{len(rids):,} records are joined with the person or the records in question, too many to ask what "
                "would be if: make the rules of the adversaries stricter, or ask about some of them"
            )
    adversaries = [work.adversary(rids, more=[int(record.name) for record in more]) for work in works]
    return Near(rids, fetched(evidence, rids), adversaries, works, known, tuple(dict.fromkeys(notes)))


def _hot(work: Grouped, known: Known, notes: list[str]) -> set[int]:
    hot = Hot(work, known)
    total = np.cumsum(work.sizes(hot.clusters)) if len(hot) else np.zeros(0)
    few, most = (int(np.searchsorted(total, size, side="right")) for size in (FEWEST_HOT, MOST_HOT))
    count = min(len(hot), max(1, few))
    while count < min(len(hot), most) and hot.ceiling(count) >= WORTH * hot.ceiling(0):
        count += 1
    if count < len(hot):
        notes.append(
            f"adversary '{work.spec.name}': {int(total[-1]):,} records hold something of the person; those that can "
            f"leak {hot.ceiling(count):.3f} at most were not looked at, so that a smaller leakage is not told from it"
        )
    return set(work.members(hot.clusters[:count].tolist()))


def _reached(work: Grouped, more: Sequence[Record], known: Known) -> set[int]:
    """The records of all clusters that some of the records in question could be joined with."""
    clusters: set[int] = set()
    before = -1
    # What one resolution joined, the next may join with more; so all are looked at until none reaches further.
    while more and len(clusters) != before:
        before = len(clusters)
        for given, seen, asked in zip(work.given, work.seen, _as_seen(work, more, known), strict=True):
            if isinstance(given, tuple):
                # A model scored the records in question along with the others.
                size = work.evidence.n_records
                for one, other in (given, given[::-1]):
                    clusters.update(work.cluster[other[(one >= size) & (other < size)]].tolist())
            elif isinstance(given, Resolve):
                clusters |= _rule_reach(work, given.rules, seen, asked, clusters)
        if len(work.given) < 2:
            break
    return set(work.members(sorted(clusters)))


def _as_seen(work: Grouped, more: Sequence[Record], known: Known) -> list[Sequence[Record]]:
    """The records in question as each resolution of the adversary sees them."""
    found: list[Sequence[Record]] = []
    for step in work.spec.steps:
        if not isinstance(step, NormaliseStep | CorrectStep | AugmentStep):
            found.append(more)
            continue
        for one in value_steps(step):
            more = one.apply(more, known.labels)
    return found


def _rule_reach(work: Grouped, rules: Rules, seen: Attributes, more: Sequence[Record], start: set[int]) -> set[int]:
    """Clusters that share a value of every label of a rule with the pool: the records in question and clusters reached.

    A merged record holds some of the pool's values, so that nothing outside can match it. ``start`` are clusters that
    were reached before, in another way.
    """
    import pyarrow as pa

    store = seen.store
    places = store.load(pa.table({"rid": np.arange(len(work.cluster)), "cid": work.cluster}))
    listed = ", ".join(store.text(label) for label in rules.labels) or "''"
    counts = f"a.confidence > 0 AND a.confidence >= CAST({rules.min_confidence!r} AS DOUBLE) AND a.label IN ({listed})"
    pool = {(label, value) for record in more for label, values in rules.values(record).items() for value in values}
    reached: set[int] = set()
    new = set(start)
    while True:
        reached |= new
        if new:
            some = store.load(pa.table({"cid": pa.array(sorted(new), pa.int64())}))
            facts = store.ask(
                f"SELECT DISTINCT a.label, a.value FROM {seen.name} a JOIN {places} c ON c.rid = a.rid JOIN {some} s "
                f"ON s.cid = c.cid WHERE {counts}"
            )
            store.drop(some)
            pool |= set(zip(facts.column("label").to_pylist(), facts.column("value").to_pylist(), strict=True))
        table = {"label": [label for label, _ in pool], "value": [value for _, value in pool]}
        held = store.load(pa.table({name: pa.array(one, pa.string()) for name, one in table.items()}))
        found = store.ask(
            f"SELECT c.cid, list(DISTINCT a.label) AS labels FROM {seen.name} a JOIN {held} p ON p.label = a.label AND "
            f"p.value = a.value JOIN {places} c ON c.rid = a.rid WHERE {counts} GROUP BY c.cid"
        )
        store.drop(held)
        new = {
            cid
            for cid, labels in zip(found.column("cid").to_pylist(), found.column("labels").to_pylist(), strict=True)
            if cid not in reached and any(set(labels).issuperset(rule) for rule in rules.alternatives)
        }
        if not new:
            break
    store.drop(places)
    return reached


def _closed(works: Sequence[Grouped], rids: set[int]) -> set[int]:
    """The records with all that any adversary has in a cluster with one of them."""
    while True:
        size = len(rids)
        for work in works:
            some = np.fromiter(rids, np.int64)
            rids = rids | set(work.members(np.unique(work.cluster[some]).tolist()))
        if len(rids) == size:
            return rids
