"""The clusters that hold something of the person, the one that leaks most, and what would leak with less."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from tacit.lift.joint import Vector
from tacit.person.inquiry.subject import Subject, exceeds
from tacit.person.inquiry.whole import DIGITS, MoreNeededError, Promising
from tacit.person.inquiry.work import Grouped, named_forms
from tacit.person.link.attributes import Attributes, IntArray, arrow_table
from tacit.person.link.right import NearForms, RightRows, Wanted, candidate_values, right_weights
from tacit.person.model.comparing import Comparer
from tacit.person.model.leakage import Leakage
from tacit.person.model.records import Record
from tacit.person.model.values import similarity_name
from tacit.person.resolve import Cluster, Link

if TYPE_CHECKING:
    import pyarrow as pa

# Records fetched and merged at a time: few at first, because the first are likely to hold the winner.
FIRST_RECORDS, TIMES_MORE, MORE_RECORDS = 60, 20, 20_000


class Hot:
    """The clusters that hold something of the person, the most promising first; fetched only as needed.

    Attributes
    ----------
    clusters : int array
    right : float array
        An upper bound on the expected weight of what is right in each.
    """

    def __init__(self, work: Grouped, subject: Subject, promising: Promising | None = None) -> None:
        self.work, self.subject = work, subject
        clusters, right = self._weights(work.held)
        if work.spec.keep_base and work.held is not work.pool.attributes:
            # Originals are kept unchanged, whatever the steps made of them.
            other, weights = self._weights(work.pool.attributes)
            every, weights = np.concatenate([clusters, other]), np.concatenate([right, weights])
            clusters, places = np.unique(every, return_inverse=True)
            right = np.zeros(len(clusters))
            np.maximum.at(right, places, weights)
        # The engine adds in any order: without rounding, it would decide between equals.
        order = np.lexsort((clusters, -np.round(right, DIGITS)))
        clusters, right = clusters[order], right[order]
        if promising is not None:
            there = np.isin(clusters, promising.clusters)
            clusters, right = clusters[there], right[there]
        self._beyond = 0.0 if promising is None else promising.beyond
        self.clusters, self.right = clusters, np.maximum.accumulate(right[::-1])[::-1]
        self._first: list[Record] = []

    def _weights(self, attributes: Attributes) -> tuple[IntArray, Vector]:
        return right_weights(hit_rows(attributes, self.subject, self.work.forms(attributes)), self.work.cluster)

    def __len__(self) -> int:
        return len(self.clusters)

    def ceiling(self, place: int) -> float:
        """The most that can leak from the cluster at a place or from any after it; 0 after the last of all."""
        return self.subject.ceiling(self._most(place))

    def recall_ceiling(self, place: int) -> float:
        """The largest recall of the cluster at a place or of any after it."""
        whole = self.subject.comparer.reference_weight
        return min(1.0, self._most(place) / whole) if whole else 0.0

    def _most(self, place: int) -> float:
        return float(self.right[place]) if place < len(self) else self._beyond

    def spans(self) -> Iterator[tuple[int, int]]:
        """Clusters in order, a few at a time: the place of the first, and the place after the last.

        If some are not in the pool, an empty span stands for the one that the first of them would be in.
        """
        start, room = 0, FIRST_RECORDS
        while start < len(self):
            total = np.cumsum(self.work.sizes(self.clusters[start : start + room]))
            after = start + max(1, int(np.searchsorted(total, room, side="right")))
            if self._beyond > 0 and after >= len(self) and total[-1] < room:
                break
            yield start, after
            start, room = after, min(TIMES_MORE * room, MORE_RECORDS)
        if self._beyond > 0:
            yield start, start

    def records(self, start: int, after: int) -> list[Record]:
        """The records of the clusters of a span, named by number; the first span is kept: every question needs it."""
        if start == after:
            raise MoreNeededError
        if start == 0 and self._first:
            return self._first
        records = self.work.pool.numbered(self.work.members(self.clusters[start:after].tolist()))
        if start == 0:
            self._first = records
        return records


def hit_rows(attributes: Attributes, subject: Subject, forms: Attributes | None = None) -> RightRows:
    """What is right among these attributes, cached; ``forms`` as for :func:`right_values`."""

    def made() -> RightRows:
        hits = right_values(attributes, subject, forms)
        formed = attributes if attributes.formed else forms
        return RightRows.of(attributes, hits, None if formed is None else subject.near.get(formed))

    if attributes not in subject.found:
        subject.found[attributes] = subject.keeping(attributes, made)
    return subject.found[attributes]


def right_values(attributes: Attributes, subject: Subject, forms: Attributes | None = None) -> pa.Table:
    """Every (label, value) that is right, nearly right or covers the truth: the fact it hits and its credit.

    ``forms`` are the attributes in normal form, if available. What correlated labels share is a separate fact, hit by
    whatever is right in any of them.
    """
    # Not the subject's own comparer, which would cache every value there is.
    comparer = Comparer(subject.reference, subject.labels)
    shared = {
        label: (-1 - place, group.shared)
        for place, group in enumerate(subject.labels.correlated)
        for label in group.labels
    }
    rows: list[tuple[str, str, int, float]] = []
    wanted, formed = _wanted(subject), attributes if attributes.formed else forms
    if formed is not None and formed not in subject.near:
        subject.near[formed] = NearForms(formed, wanted)
    near = None if formed is None else subject.near[formed]
    for label, candidates in candidate_values(attributes, wanted, near):
        verdicts = subject.verdicts.setdefault(label, {})
        for known in (True, False):
            new = list(dict.fromkeys(one.meant for one in candidates if one.known is known and one[1:] not in verdicts))
            for meant, verdict in zip(new, comparer.verdicts(label, new, formed=known), strict=True):
                verdicts[meant, known] = (verdict.hit if verdict.share > 0 else -1, verdict.credit)
        for value, meant, known in candidates:
            hit, credit = verdicts[meant, known]
            if hit >= 0:
                rows.append((label, value, hit, credit))
                rows += [(label, value, *shared[label])] if label in shared else []
    rows = [row for row in rows if row[3] > 0]
    labels, values, facts, credits = zip(*rows, strict=True) if rows else ((), (), (), ())
    numbers = {"fact": np.array(facts, np.int64), "credit": np.array(credits, np.float64)}
    return arrow_table({"label": labels, "value": values, **numbers})


def _wanted(subject: Subject) -> dict[str, Wanted]:
    """For each label of the person, what the engine needs to find values that are right."""
    forms = named_forms(subject.labels)
    wanted = {}
    for name in dict.fromkeys(label for label, _ in subject.reference):
        label = subject.labels[name]
        near = similarity_name(label.similarity)
        wanted[name] = Wanted(
            true=[label.meant(value) for value in subject.reference.values(name)],
            form=forms.get(name),
            near=near,
            plain=name not in forms,
            any=label.similarity is not None and near is None,
        )
    return wanted


@dataclass(frozen=True)
class Winner:
    """Of all records an adversary holds, the one that leaks most; the members of its cluster are record numbers."""

    leakage: Leakage
    best_recall: float
    best_precision: float
    cluster: Cluster | None


def winner(hot: Hot) -> Winner:
    """Merge and measure the clusters that hold something of the person, until no other can leak more."""
    subject, work = hot.subject, hot.work
    best: tuple[Leakage, Cluster] | None = None
    greatest = purest = 0.0
    for place, after in hot.spans():
        value = best[0].value if best is not None else 0.0
        if not exceeds(hot.ceiling(place), value) and not exceeds(hot.recall_ceiling(place), greatest):
            break
        records = hot.records(place, after)
        rids = [int(record.name) for record in records]
        for cluster in work.adversary(rids).holdings(records, subject.labels).candidates:
            measured = subject.measure(cluster.record)
            greatest, purest = max(greatest, measured.recall), max(purest, measured.precision)
            if best is not None and exceeds(best[0].value, measured.value):
                continue
            named = renumbered(cluster, rids)
            if best is None or _before(measured, named, *best):
                best = measured, named
    if best is None or best[0].value <= 0:
        return Winner(Leakage(0.0, 0.0, 0.0), greatest, purest, None)
    return Winner(best[0], greatest, purest, best[1])


def _before(one: Leakage, its: Cluster, other: Leakage, theirs: Cluster) -> bool:
    """More leakage first; among equals, fewer members, then the earlier record."""
    if exceeds(one.value, other.value) or exceeds(other.value, one.value):
        return one.value > other.value
    return (len(its.members), its.members) < (len(theirs.members), theirs.members)


def renumbered(cluster: Cluster, rids: Sequence[int]) -> Cluster:
    """A cluster whose members are places in a list of records, with the record numbers instead."""
    links = tuple(Link(rids[link.left], rids[link.right], link.labels) for link in cluster.links)
    sources = {fact: tuple(rids[member] for member in members) for fact, members in cluster.sources.items()}
    members = tuple(sorted(rids[member] for member in cluster.members))
    return replace(cluster, members=members, links=links, sources=sources)


class Shrinking:
    """What would leak if something were taken away, everything resolved again.

    Taking records or attributes away can only split clusters: what holds nothing of the person now will hold nothing
    then, and clusters that are apart do not come together. So the clusters that hold something are enough, the most
    promising first, until no other can leak more.

    Attributes
    ----------
    rough : bool
        Whether an answer is only an upper bound, because too many records would have had to be examined.
    """

    MOST_RECORDS = 200_000

    def __init__(self, hot: Hot) -> None:
        self._hot = hot
        # By the place of the first cluster of a span: its records, and what leaks from them unchanged.
        self._records: dict[int, list[Record]] = {}
        self._standing: dict[int, float] = {}
        self.rough = False

    def leakage(self, change: Callable[[Record], Record | None]) -> float:
        """The leakage if every record were replaced by what ``change`` returns; None removes it."""
        best, n_records = 0.0, 0
        for start, after in self._hot.spans():
            if not exceeds(self._hot.ceiling(start), best):
                break
            if n_records > self.MOST_RECORDS:
                self.rough = True
                return self._hot.ceiling(start)
            if start not in self._records:
                self._records[start] = self._hot.records(start, after)
            records = self._records[start]
            best = max(best, self._of_span(start, records, [change(record) for record in records]))
            n_records += len(records)
        return best

    def without_source(self, name: str) -> float:
        """The leakage without any record of a source."""
        return self.leakage(lambda record: None if record.source == name else record)

    def without_fact(self, label: str, value: str) -> float:
        """The leakage if no record held this value of a label, in any spelling with the same normal form."""
        meant = self._hot.subject.labels[label].meant
        true = meant(value)

        def without(record: Record) -> Record:
            kept = [attribute for attribute in record if attribute.label != label or meant(attribute.value) != true]
            return record if len(kept) == len(record) else Record.trusted(kept, name=record.name, source=record.source)

        return self.leakage(without)

    def _of_span(self, start: int, records: list[Record], changed: list[Record | None]) -> float:
        same = all(one is other for one, other in zip(records, changed, strict=True))
        if same and start in self._standing:
            return self._standing[start]
        left = [record for record in changed if record is not None]
        subject, adversary = self._hot.subject, self._hot.work.adversary([int(record.name) for record in left])
        candidates = adversary.holdings(left, subject.labels).candidates
        value = max((subject.measure(cluster.record).value for cluster in candidates), default=0.0)
        if same:
            self._standing[start] = value
        return value
