"""The records for a question, in memory: all of them, or those that the answer can depend on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from tacit.errors import DataError
from tacit.person.inquiry.hot import Hot
from tacit.person.inquiry.opening import Inquiry
from tacit.person.inquiry.subject import Subject
from tacit.person.inquiry.work import Grouped, ends_of
from tacit.person.link.likely import LikelyPairs
from tacit.person.link.linking import reached
from tacit.person.model.labels import Labels
from tacit.person.model.records import Record
from tacit.person.resolve.adversaries import Adversary
from tacit.person.resolve.steps import Grouping, Resolve
from tacit.person.resolve.what_if import WhatIf

# Up to this many records, all are loaded.
MOST_WHOLE = 20_000
# Otherwise clusters that hold something of the person are loaded, the most promising first: at least the fewest
# records, then clusters that could leak a quarter of what the first could, up to the most.
FEWEST_HOT, MOST_HOT = 2_000, 50_000
WORTH = 0.25
# A question that needs more records than this in memory is refused.
MOST_LOADED = 300_000


@dataclass(frozen=True, eq=False)
class Near:
    """Records in memory, and the adversaries of the case over them.

    Attributes
    ----------
    rids : list of int
        The records' numbers; a record is named by its number.
    records : list of Record
    adversaries : list of Adversary
    notes : tuple of str
        What was left out, if anything.
    """

    rids: list[int]
    records: list[Record]
    adversaries: list[Adversary]
    subject: Subject
    notes: tuple[str, ...]

    def what_if(self, place: int) -> WhatIf:
        """The records in the hands of one adversary."""
        subject = self.subject
        return WhatIf(self.records, subject.reference, self.adversaries[place], subject.labels, beta=subject.beta)


def numbered(records: Iterable[Record], inquiry: Inquiry) -> list[Record]:
    """Records that are not public yet, named by the numbers after the last record."""
    return [
        Record.trusted(record.attributes, name=str(number), source=record.source)
        for number, record in enumerate(records, start=inquiry.pool.n_records)
    ]


def near(
    inquiry: Inquiry, *, more: Sequence[Record] = (), whole: int | None = None, works: Sequence[Grouped] = ()
) -> Near:
    """Load what the answer to a question can depend on.

    Parameters
    ----------
    inquiry : Inquiry
    more : sequence of Record
        Records that may be added, named by ``numbered``.
    whole : int, optional
        Up to this many records, all are loaded.
    works : sequence of Grouped
        Adversaries that were already carried out, if the question is only about these; only without ``more``.

    Guarantees
    ----------
    Under every adversary whole clusters are loaded: all that hold something of the person, and all that any of ``more``
    could be joined with, directly or through one another. A cluster that is not loaded holds nothing of the person and
    does not change, whichever of ``more`` are added and whatever is removed. If there are too many, ``notes`` says so.
    """
    pool, subject = inquiry.pool, inquiry.subject
    works = works or [inquiry.bench.grouped(spec, more=more) for spec in inquiry.case.adversaries]
    notes = [note for work in works for note in work.notes]
    inquiry.progress("loading records", None)
    if pool.n_records <= (MOST_WHOLE if whole is None else whole):
        rids = list(range(pool.n_records))
    else:
        needed: set[int] = set()
        for work in works:
            needed |= _hot(work, subject, notes)
            needed |= _joinable(work, more, subject.labels)
        rids = sorted(_closed(works, needed))
        if len(rids) > MOST_LOADED:
            raise DataError(
                f"{len(rids):,} records are joined with the person or the records in question, too many for a what-if "
                "question: make the rules of the adversaries stricter, or ask about fewer adversaries"
            )
    adversaries = [work.adversary(rids, more=[int(record.name) for record in more]) for work in works]
    return Near(rids, pool.numbered(rids), adversaries, subject, tuple(dict.fromkeys(notes)))


def _hot(work: Grouped, subject: Subject, notes: list[str]) -> set[int]:
    hot = Hot(work, subject)
    total = np.cumsum(work.sizes(hot.clusters)) if len(hot) else np.zeros(0)
    few, most = (int(np.searchsorted(total, size, side="right")) for size in (FEWEST_HOT, MOST_HOT))
    count = min(len(hot), max(1, few))
    while count < min(len(hot), most) and hot.ceiling(count) >= WORTH * hot.ceiling(0):
        count += 1
    if count < len(hot):
        notes.append(
            f"adversary '{work.spec.name}': {int(total[-1]):,} records hold something about the person; those that can "
            f"leak at most {hot.ceiling(count):.3f} were not examined, so a smaller leakage may really be that large"
        )
    return set(work.members(hot.clusters[:count].tolist()))


def _joinable(work: Grouped, more: Sequence[Record], labels: Labels) -> set[int]:
    """The records of all clusters that any of the records in question could be joined with."""
    clusters: set[int] = set()
    before, size = -1, work.pool.n_records
    # The next resolution may extend what one has joined, so all are repeated until none reaches further.
    while more and len(clusters) != before:
        before = len(clusters)
        for (joining, attributes), some in zip(work.groupings, _as_seen(work, more, labels), strict=True):
            if isinstance(joining, tuple | LikelyPairs):
                # A model scored the records in question along with the others.
                ends = ends_of(joining)
                for one, other in (ends, ends[::-1]):
                    clusters.update(work.cluster[other[(one >= size) & (other < size)]].tolist())
            elif isinstance(joining, Resolve):
                rules = joining.rules
                facts = {
                    (label, v) for record in some for label, values in rules.values(record).items() for v in values
                }
                clusters |= reached(attributes, rules, work.cluster, facts, clusters)
        if len(work.groupings) < 2:
            break
    return set(work.members(sorted(clusters)))


def _as_seen(work: Grouped, more: Sequence[Record], labels: Labels) -> list[Sequence[Record]]:
    """The records in question as each resolution of the adversary sees them."""
    views: list[Sequence[Record]] = []
    for step in work.spec.steps:
        if isinstance(step, Grouping):
            views.append(more)
        else:
            more = step.apply(more, labels)
    return views


def _closed(works: Sequence[Grouped], rids: set[int]) -> set[int]:
    """The records, with all others that any adversary has in a cluster with one of them."""
    while True:
        size = len(rids)
        for work in works:
            places = np.fromiter(rids, np.int64)
            rids = rids | set(work.members(np.unique(work.cluster[places]).tolist()))
        if len(rids) == size:
            return rids
