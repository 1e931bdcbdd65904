"""One adversary's work, done in the engine: who is whom among all records, and who holds something of the person."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tacit.person.adversaries import Adversary, Cluster, Clusters, Resolve
from tacit.person.comparing import Comparer
from tacit.person.labels import Labels
from tacit.person.leakage import Leakage, measure_of
from tacit.person.records import Attribute, Record, Reference
from tacit.person.steps import Step as PersonStep
from tacit.workflows.person_case_model import (
    AdversarySpec,
    AugmentStep,
    ClustersStep,
    CorrectStep,
    NormaliseStep,
    ResolveStep,
    SplinkStep,
)
from tacit.workflows.person_sources import Evidence
from tacit.workflows.person_steps import (
    Grouping,
    Linked,
    brought_clusters,
    cost_of,
    rules_of,
    splink_table,
    stepped,
    value_steps,
)
from tacit.workflows.tabulating import Progress, silent

if TYPE_CHECKING:
    import pyarrow as pa

    from tacit.tables.linking import Attributes

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]

# Values compared with the reference at a time.
VALUES = 100_000
# Records fetched and merged at a time: few at first, because the first are likely to hold the winner.
FIRST_RECORDS, MORE_RECORDS = 500, 20_000
# Normal forms remembered of each label.
REMEMBERED = 1 << 20
# Leakages whose ratio is closer to 1 than this are the same.
SAME = 1e-12


@dataclass(frozen=True)
class Known:
    """What every question about a person needs: the truth, how values are compared, and beta."""

    reference: Reference
    labels: Labels
    beta: float = 1.0

    def comparer(self) -> Comparer:
        """A record is laid beside the reference by this."""
        return Comparer(self.reference, self.labels)

    def measure(self, beside: Comparer, record: Record) -> Leakage:
        """Leakage, precision and recall of a record."""
        return measure_of(beside.compare(record), beta=self.beta)

    def ceiling(self, right: float, whole: float) -> float:
        """The most that can leak from a record whose right part is expected to weigh at most ``right``.

        With I the weight of what is right in a possible world, its F-measure is at most that of a record that holds
        nothing else, (1 + b^2) I / (I + b^2 W): rising and concave in I, so that expectations keep the inequality.
        """
        square = self.beta * self.beta
        return (1 + square) * right / (right + square * whole) if right > 0 else 0.0


def remembering(labels: Labels) -> Labels:
    """The labels, with normal forms remembered: every adversary looks at the same values, and most of the time at that
    scale goes into bringing them to their normal form."""
    found = {
        name: label if label.normalise is None else replace(label, normalise=lru_cache(REMEMBERED)(label.normalise))
        for name, label in labels.items()
    }
    return Labels(found, correlated=labels.correlated)


@dataclass(frozen=True, eq=False)
class Grouped:
    """An adversary carried out in the engine.

    Attributes
    ----------
    spec : AdversarySpec
    held : Attributes
        After all steps on values.
    cluster : int array
        The cluster of every record, named by its smallest record.
    given : tuple
        For each grouping step of the case what it is for records: rules, the clusters of all records, or pairs.
    seen : tuple
        For each grouping step the attributes as it saw them.
    """

    evidence: Evidence
    spec: AdversarySpec
    held: Attributes
    cluster: IntArray
    given: tuple[Resolve | IntArray | tuple[IntArray, IntArray], ...]
    seen: tuple[Attributes, ...] = ()
    notes: tuple[str, ...] = ()
    _order: IntArray = field(init=False, repr=False)
    _starts: IntArray = field(init=False, repr=False)
    _names: IntArray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        order = np.argsort(self.cluster, kind="stable").astype(np.int64)
        names, starts = np.unique(self.cluster[order], return_index=True)
        object.__setattr__(self, "_order", order)
        object.__setattr__(self, "_names", names.astype(np.int64))
        object.__setattr__(self, "_starts", np.append(starts, len(order)).astype(np.int64))

    @property
    def entities(self) -> int:
        """How many clusters there are."""
        return len(self._names)

    def members(self, clusters: Iterable[int]) -> list[int]:
        """The records of some clusters, cluster after cluster."""
        found: list[int] = []
        for place in np.searchsorted(self._names, np.fromiter(clusters, np.int64)):
            found.extend(self._order[self._starts[place] : self._starts[place + 1]].tolist())
        return found

    def sizes(self, clusters: IntArray) -> IntArray:
        """How many records each of these clusters has."""
        places = np.searchsorted(self._names, clusters)
        return self._starts[places + 1] - self._starts[places]

    def records(self, rids: Sequence[int]) -> list[Record]:
        """Records as the sources have them; named by their numbers, which no value is."""
        return fetched(self.evidence, rids)

    def adversary(self, rids: Sequence[int], more: Sequence[int] = ()) -> Adversary:
        """The adversary for these records in memory, in this order; ``more`` are numbers of records to come."""
        steps: list[PersonStep] = []
        groupings = iter(self.given)
        for step in self.spec.steps:
            if isinstance(step, NormaliseStep | CorrectStep | AugmentStep):
                steps += value_steps(step)
                continue
            given, cost = next(groupings), cost_of(step.cost)
            if isinstance(given, Resolve):
                steps.append(given)
            elif isinstance(given, tuple):
                steps.append(Linked(cost=cost, pairs=_pairs_among(given, [*rids, *more])))
            else:
                steps.append(Clusters([None if given[rid] < 0 else int(given[rid]) for rid in rids], cost))
        spec = self.spec
        return Adversary(spec.name, tuple(steps), spec.merge, spec.keep_base, cost_of(spec.cost))


def _pairs_among(pairs: tuple[IntArray, IntArray], rids: Sequence[int]) -> tuple[tuple[str, str], ...]:
    wanted = np.fromiter(rids, np.int64)
    inside = np.isin(pairs[0], wanted) & np.isin(pairs[1], wanted)
    return tuple((str(a), str(b)) for a, b in zip(pairs[0][inside].tolist(), pairs[1][inside].tolist(), strict=True))


def fetched(evidence: Evidence, rids: Sequence[int]) -> list[Record]:
    """Records out of the engine, named by their numbers."""
    from tacit.tables import linking

    held = linking.records(evidence.attributes, rids)
    return [
        Record.trusted((Attribute(*parts) for parts in held[rid]), name=str(rid), source=evidence.source(rid).name)
        for rid in rids
    ]


def grouped(
    evidence: Evidence,
    spec: AdversarySpec,
    labels: Labels,
    *,
    more: Sequence[Record] = (),
    progress: Progress = silent,
) -> Grouped:
    """Carry out an adversary in the engine.

    ``more`` are records that are not out yet, whose pairs a Splink model scores along with the others; they are called
    by the numbers after the last record, and are in no cluster.
    """
    held, cluster = evidence.attributes, np.arange(evidence.n_records, dtype=np.int64)
    given: list[Resolve | IntArray | tuple[IntArray, IntArray]] = []
    seen: list[Attributes] = []
    notes: list[str] = []
    for step in spec.steps:
        if isinstance(step, NormaliseStep | CorrectStep | AugmentStep):
            progress(f"{spec.name}: values", None)
            held = stepped(held, step, labels)
            continue
        progress(f"{spec.name}: resolving", None)
        seen.append(held)
        cluster = _regrouped(evidence, spec, step, held, cluster, given, notes, more)
    return Grouped(evidence, spec, held, cluster, tuple(given), tuple(seen), tuple(notes))


def _regrouped(
    evidence: Evidence,
    spec: AdversarySpec,
    step: Grouping,
    held: Attributes,
    cluster: IntArray,
    given: list[Resolve | IntArray | tuple[IntArray, IntArray]],
    notes: list[str],
    more: Sequence[Record],
) -> IntArray:
    """The clusters after one more resolution; what it is for records in memory is added to ``given``."""
    size = evidence.n_records
    if isinstance(step, ResolveStep):
        resolve = Resolve(rules_of(step), step.closure, cost_of(step.cost))
        given.append(resolve)
        return _resolved(held, resolve, cluster)
    if isinstance(step, ClustersStep):
        found, said = brought_clusters(evidence, step, spec.name)
        given.append(found)
        notes += said
        inside = np.flatnonzero(found >= 0)
        first = np.full(int(found.max()) + 1 if len(inside) else 0, size, dtype=np.int64)
        np.minimum.at(first, found[inside], inside)
        return _joined(cluster, inside, first[found[inside]], size)
    assert isinstance(step, SplinkStep)
    from tacit.workflows.person_splink import splink_pairs

    pairs = splink_pairs(splink_table(held, evidence, more), step.model, step.threshold)
    given.append(pairs)
    out = (pairs[0] < size) & (pairs[1] < size)
    return _joined(cluster, pairs[0][out], pairs[1][out], size)


def _joined(cluster: IntArray, first: IntArray, second: IntArray, size: int) -> IntArray:
    """The clusters that are left when these records are joined besides."""
    from tacit.tables.linking_components import components

    here = np.arange(size, dtype=np.int64)
    return components(np.concatenate([here, first]), np.concatenate([cluster, second]), size)


def _resolved(held: Attributes, resolve: Resolve, cluster: IntArray) -> IntArray:
    from tacit.tables import linking

    if (cluster == np.arange(len(cluster))).all():
        return linking.resolve(held, resolve.rules, closure=resolve.closure)
    import pyarrow as pa

    # A second resolution starts from the clusters of the first, each with all that its records say.
    store = held.store
    places = store.load(pa.table({"rid": np.arange(len(cluster)), "cid": cluster}))
    name = store.make(
        f"SELECT c.cid AS rid, a.label, a.value, max(a.confidence) AS confidence FROM {held.name} a "
        f"JOIN {places} c ON c.rid = a.rid GROUP BY c.cid, a.label, a.value ORDER BY a.label, c.cid"
    )
    store.drop(places)
    merged = type(held)(store, name, held.records)
    return linking.resolve(merged, resolve.rules, closure=resolve.closure)[cluster]


class Hot:
    """The clusters that hold something of the person, the most promising first; fetched as far as they are needed.

    Attributes
    ----------
    clusters : int array
    right : float array
        At most so much weight of each is right, in expectation.
    """

    def __init__(self, work: Grouped, known: Known) -> None:
        self.work, self.known = work, known
        self._beside = known.comparer()
        self._whole = self._beside.reference_weight
        found = _right_weights(work.held, work.cluster, known)
        if work.spec.keep_base and work.held is not work.evidence.attributes:
            # Originals are kept as they were given, whatever the steps made of them.
            other = _right_weights(work.evidence.attributes, work.cluster, known)
            found = {cid: max(found.get(cid, 0.0), other.get(cid, 0.0)) for cid in {*found, *other}}
        order = sorted(found, key=lambda cid: (-found[cid], cid))
        self.clusters = np.array(order, dtype=np.int64)
        self.right = np.array([found[cid] for cid in order], dtype=np.float64)

    def __len__(self) -> int:
        return len(self.clusters)

    def ceiling(self, place: int) -> float:
        """The most that can leak from the cluster at a place or from any after it; 0 after the last."""
        return self.known.ceiling(float(self.right[place]), self._whole) if place < len(self) else 0.0

    def recall_ceiling(self, place: int) -> float:
        """The largest recall of the cluster at a place or of any after it."""
        return min(1.0, float(self.right[place]) / self._whole) if place < len(self) and self._whole else 0.0

    def batches(self) -> Iterator[tuple[int, list[int]]]:
        """Clusters in order, some at a time: the place after the last, and the records of all."""
        start, room = 0, FIRST_RECORDS
        while start < len(self):
            total = np.cumsum(self.work.sizes(self.clusters[start : start + room]))
            count = max(1, int(np.searchsorted(total, room, side="right")))
            yield start + count, self.work.members(self.clusters[start : start + count].tolist())
            start += count
            room = MORE_RECORDS


def _right_weights(held: Attributes, cluster: IntArray, known: Known) -> dict[int, float]:
    """For every cluster that holds something right, the largest weight that can be expected of what is right in it."""
    import pyarrow as pa

    hits = right_values(held, known)
    if not hits.num_rows:
        return {}
    store = held.store
    given = store.load(hits)
    places = store.load(pa.table({"rid": np.arange(len(cluster)), "cid": cluster}))
    found = store.ask(
        # Several values that hit one fact are present independently, and credit is the best one's.
        "SELECT cid, sum(w) AS w FROM (SELECT cid, fact, least(max(credit), sum(credit * confidence)) AS w FROM ("
        f"SELECT c.cid, h.fact, h.credit, a.label, a.value, max(a.confidence) AS confidence FROM {held.name} a "
        f"JOIN {given} h ON h.label = a.label AND h.value = a.value JOIN {places} c ON c.rid = a.rid "
        "GROUP BY c.cid, h.fact, h.credit, a.label, a.value) GROUP BY cid, fact) GROUP BY cid HAVING sum(w) > 0"
    )
    store.drop(given, places)
    return dict(zip(found.column("cid").to_pylist(), found.column("w").to_pylist(), strict=True))


def right_values(held: Attributes, known: Known) -> pa.Table:
    """Every (label, value) that is right, nearly right or covers the truth: the fact it hits and the credit it has.

    What correlated labels share is a fact of its own, hit by whatever is right of any of them.
    """
    import pyarrow as pa

    beside = known.comparer()
    shared = {
        label: (-1 - place, group.shared)
        for place, group in enumerate(known.labels.correlated)
        for label in group.labels
    }
    rows: list[tuple[str, str, int, float]] = []
    for label, some in _distinct(held, known):
        found = beside.compare(Record.trusted(Attribute(label, value) for value in some))
        for place in np.flatnonzero(found.hit >= 0).tolist():
            rows.append((label, some[place], int(found.hit[place]), float(found.credit[place])))
            if label in shared:
                rows.append((label, some[place], *shared[label]))
    rows = [row for row in rows if row[3] > 0]
    kinds = {"label": pa.string(), "value": pa.string(), "fact": pa.int64(), "credit": pa.float64()}
    return pa.table({name: pa.array([row[at] for row in rows], kind) for at, (name, kind) in enumerate(kinds.items())})


def _distinct(held: Attributes, known: Known) -> Iterator[tuple[str, list[str]]]:
    """The values that may be right, label by label, some at a time.

    Where a value is right only if it is equal to a true one, or covers it, the engine picks those out.
    """
    store = held.store
    parts = []
    for label in dict.fromkeys(label for label, _ in known.reference):
        how = known.labels[label]
        where = f"label = {store.text(label)}"
        if how.normalise is None and how.similarity is None and not how.synonyms:
            true = ", ".join(store.text(value) for value in known.reference.values(label))
            where += f" AND (value IN ({true}) OR regexp_matches(value, '[*<>≥≤(){{}}\\[\\]]'))"
        parts.append(f"SELECT DISTINCT label, value FROM {held.name} WHERE {where}")
    found = store.ask(" UNION ALL ".join(parts) + " ORDER BY label, value")
    start = 0
    # Sorted, so that what is added up is added in one order.
    for run in found.column("label").combine_chunks().value_counts().to_pylist():
        values = found.column("value").slice(start, run["counts"]).to_pylist()
        start += run["counts"]
        for place in range(0, len(values), VALUES):
            yield run["values"], values[place : place + VALUES]


def exceeds(one: float, other: float) -> bool:
    """Whether a leakage is larger than another by more than rounding, however small both are."""
    return one > other * (1 + SAME)


@dataclass(frozen=True)
class Winner:
    """The record that leaks most of all that an adversary holds; the members of its cluster are record numbers."""

    leakage: Leakage
    best_recall: float
    cluster: Cluster | None


def winner(hot: Hot) -> Winner:
    """Merge and measure the clusters that hold something of the person, until no other can leak more."""
    known, beside = hot.known, hot.known.comparer()
    best: tuple[Leakage, Cluster] | None = None
    greatest, place = 0.0, 0
    for after, rids in hot.batches():
        value = best[0].value if best is not None else 0.0
        if not exceeds(hot.ceiling(place), value) and not exceeds(hot.recall_ceiling(place), greatest):
            break
        for cluster in hot.work.adversary(rids).holdings(hot.work.records(rids), known.labels).candidates:
            found = known.measure(beside, cluster.record)
            greatest = max(greatest, found.recall)
            if best is not None and exceeds(best[0].value, found.value):
                continue
            named = renumbered(cluster, rids)
            if best is None or _before(found, named, *best):
                best = found, named
        place = after
    if best is None or best[0].value <= 0:
        return Winner(Leakage(0.0, 0.0, 0.0), greatest, None)
    return Winner(best[0], greatest, best[1])


def _before(one: Leakage, its: Cluster, other: Leakage, theirs: Cluster) -> bool:
    """More leakage first; of equals fewer members, then the earlier record."""
    if exceeds(one.value, other.value) or exceeds(other.value, one.value):
        return one.value > other.value
    return (len(its.members), its.members) < (len(theirs.members), theirs.members)


def renumbered(cluster: Cluster, rids: Sequence[int]) -> Cluster:
    """A cluster whose members are places in a list of records, with the records' own numbers."""
    links = tuple(replace(link, left=rids[link.left], right=rids[link.right]) for link in cluster.links)
    sources = {fact: tuple(rids[member] for member in members) for fact, members in cluster.sources.items()}
    members = tuple(sorted(rids[member] for member in cluster.members))
    return replace(cluster, members=members, links=links, sources=sources)


class Shrinking:
    """What would leak if something were taken away, everything resolved again.

    Taking records or attributes away can only split clusters: what holds nothing of the person now holds nothing then,
    and clusters do not come together that were apart. So the clusters that hold something are enough, the most
    promising first, until no other can leak more.

    Attributes
    ----------
    rough : bool
        Whether an answer was given as its upper bound, because too many records would have had to be looked at.
    """

    MOST_RECORDS = 200_000

    def __init__(self, hot: Hot) -> None:
        self._hot = hot
        self._source = hot.batches()
        self._batches: list[tuple[int, list[Record]]] = []
        self._standing: dict[int, float] = {}
        self.rough = False

    def _batch(self, place: int) -> tuple[int, list[Record]] | None:
        while len(self._batches) <= place:
            found = next(self._source, None)
            if found is None:
                return None
            self._batches.append((found[0], self._hot.work.records(found[1])))
        return self._batches[place]

    def leakage(self, change: Callable[[Record], Record | None]) -> float:
        """The leakage if every record were what ``change`` makes of it, None if it were gone."""
        best, after, seen, place = 0.0, 0, 0, 0
        while exceeds(self._hot.ceiling(after), best):
            if seen > self.MOST_RECORDS:
                self.rough = True
                return self._hot.ceiling(after)
            batch = self._batch(place)
            if batch is None:
                break
            after, records = batch
            best = max(best, self._of_batch(place, records, [change(record) for record in records]))
            seen, place = seen + len(records), place + 1
        return best

    def _of_batch(self, place: int, records: list[Record], changed: list[Record | None]) -> float:
        same = all(one is other for one, other in zip(records, changed, strict=True))
        if same and place in self._standing:
            return self._standing[place]
        left = [record for record in changed if record is not None]
        adversary = self._hot.work.adversary([int(record.name) for record in left])
        found = leakage_of_records(left, adversary, self._hot.known)
        if same:
            self._standing[place] = found
        return found


def leakage_of_records(records: Sequence[Record], adversary: Adversary, known: Known) -> float:
    """The largest leakage of anything an adversary makes of these records."""
    beside = known.comparer()
    candidates = adversary.holdings(records, known.labels).candidates
    return max((known.measure(beside, cluster.record).value for cluster in candidates), default=0.0)
