"""One adversary's work, done in the engine: what becomes of values, and which of all records belong together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from tacit.document import Progress
from tacit.person.inquiry.index import CaseIndex
from tacit.person.inquiry.subject import Subject
from tacit.person.inquiry.whole import Recognised
from tacit.person.link.attributes import Attributes, IntArray, augmented, distinct_values, recoded
from tacit.person.link.brought import (
    FileClusters,
    LikelyClusters,
    Linked,
    OwnRecords,
    SplinkClusters,
    TrueClusters,
    clusters_of_file,
    surest_values,
)
from tacit.person.link.coded import coded_forms, formed_by
from tacit.person.link.components import joined
from tacit.person.link.forms.forming import NamedForm, formed
from tacit.person.link.likely import LikelyPairs, learned, likely_near, likely_pairs
from tacit.person.link.linking import resolved_again
from tacit.person.link.merging import doubted
from tacit.person.link.recognising import Recognition
from tacit.person.link.right import RightRows
from tacit.person.link.splink import RECORD, SOURCE, splink_pairs
from tacit.person.model.forms import form_name
from tacit.person.model.labels import Labels
from tacit.person.model.records import Attribute, Record, Reference
from tacit.person.model.values import similarity_name
from tacit.person.resolve.adversaries import Adversary
from tacit.person.resolve.steps import Augment, Clusters, Correct, Generalise, Grouping, Normalise, Resolve, Step
from tacit.person.sources.pool import RecordPool

if TYPE_CHECKING:
    import pyarrow as pa

# A resolution in a form that works on records in memory: rules, the cluster of every record, or pairs of records.
Joining = Resolve | IntArray | tuple[IntArray, IntArray] | LikelyPairs


@dataclass(frozen=True, eq=False)
class Grouped:
    """An adversary carried out in the engine.

    Attributes
    ----------
    pool : RecordPool
    spec : Adversary
        As the case describes it.
    held : Attributes
        After all steps on values.
    cluster : int array
        The cluster of every record, named by its smallest record.
    groupings : tuple
        For each resolution, its form for records in memory, and the attributes as it saw them.
    normalised : callable, optional
        Returns the original records in normal form, which is made once.
    recognition : callable, optional
        Returns which of these attributes' records are a person's.
    """

    pool: RecordPool
    spec: Adversary
    held: Attributes
    cluster: IntArray
    groupings: tuple[tuple[Joining, Attributes], ...]
    notes: tuple[str, ...] = ()
    normalised: Callable[[], Attributes] | None = None
    labels: Labels = field(default_factory=Labels)
    recognition: Callable[[Reference, Attributes], Recognition] | None = None

    def forms(self, attributes: Attributes) -> Attributes | None:
        """The attributes in normal form, if these are the original records; None if a step has changed them."""
        return self.normalised() if attributes is self.pool.attributes and self.normalised is not None else None

    @property
    def doubted(self) -> Attributes:
        """What is held, each as certain as the most certain resolution that put its record into the cluster."""
        return self._doubted(len(self.groupings))

    def kept(self) -> list[tuple[Attributes, IntArray]]:
        """The results of fewer of several resolutions, with the cluster of every record: each resolution alone, and the
        first ones together."""
        last = len(self.groupings)
        if not self.spec.keep_base or last < 2:
            return []
        results = [(self._doubted(place + 1, place), self._alone[place]) for place in range(last)]
        for together in range(2, last):
            cluster = self._alone[0]
            for grouping in self.groupings[1:together]:
                cluster = _regrouped(*grouping, cluster)
            results.append((self._doubted(together), cluster))
        return results

    def _doubted(self, after: int, first: int = 0) -> Attributes:
        """What is held, with the doubts of the resolutions from ``first`` to before ``after``."""
        attributes = self.held
        surely = np.zeros(self.pool.n_records, dtype=bool)
        for place in range(first, after):
            if not isinstance(self.groupings[place][0], LikelyPairs) and after - first > 1:
                surely |= np.bincount(self._alone[place], minlength=len(surely))[self._alone[place]] > 1
        for joining, _ in self.groupings[first:after]:
            if isinstance(joining, LikelyPairs):
                sure = np.zeros(self.pool.n_records)
                for side in ends_of(joining):
                    there = side < len(sure)
                    np.maximum.at(sure, side[there], joining.probability[there])
                attributes = doubted(attributes, np.where((sure > 0) & ~surely, sure, 1.0))
        return attributes

    @cached_property
    def _alone(self) -> list[IntArray]:
        """The cluster of every record by each resolution alone."""
        here = np.arange(self.pool.n_records, dtype=np.int64)
        return [_regrouped(*grouping, here) for grouping in self.groupings]

    @cached_property
    def entities(self) -> int:
        """How many clusters there are."""
        return int((self.cluster == np.arange(len(self.cluster))).sum())

    @cached_property
    def _sizes(self) -> IntArray:
        return np.bincount(self.cluster, minlength=len(self.cluster))

    def members(self, clusters: Iterable[int]) -> list[int]:
        """The records of these clusters, cluster after cluster."""
        wanted = np.fromiter(clusters, np.int64)
        among = np.zeros(len(self.cluster), bool)
        among[wanted] = True
        records, by_name = np.flatnonzero(among[self.cluster]), np.argsort(wanted)
        place = by_name[np.searchsorted(wanted, self.cluster[records], sorter=by_name)]
        order: list[int] = records[np.argsort(place, kind="stable")].tolist()
        return order

    def sizes(self, clusters: IntArray) -> IntArray:
        """How many records each of these clusters has."""
        return self._sizes[clusters]

    def adversary(self, rids: Sequence[int], more: Sequence[int] = ()) -> Adversary:
        """The adversary for these records in memory, in this order; ``more`` are numbers of records to come."""
        groupings = iter(self.groupings)
        steps = [
            self._in_memory(*next(groupings), step, rids, more) if isinstance(step, Grouping) else step
            for step in self.spec.steps
        ]
        return replace(self.spec, steps=steps)

    def _in_memory(
        self, joining: Joining, attributes: Attributes, step: Step, rids: Sequence[int], more: Sequence[int]
    ) -> Step:
        """A resolution as a step on records in memory."""
        if isinstance(step, TrueClusters) and isinstance(joining, np.ndarray):
            own = {str(rid): 0 for rid in rids if joining[rid] >= 0}
            recognition = None if self.recognition is None else self.recognition(step.reference, attributes)
            return OwnRecords(own, step.cost, frozenset(map(str, more)), recognition)
        return _in_memory(joining, step, rids, more)


def _in_memory(joining: Joining, step: Step, rids: Sequence[int], more: Sequence[int]) -> Step:
    """A resolution as a step on records in memory, which needs no person."""
    if isinstance(joining, Resolve):
        return joining
    if isinstance(joining, tuple | LikelyPairs):
        wanted, (one, other) = np.fromiter([*rids, *more], np.int64), ends_of(joining)
        inside = np.isin(one, wanted) & np.isin(other, wanted)
        left, right = (side[inside].tolist() for side in (one, other))
        likely = tuple(joining.probability[inside].tolist()) if isinstance(joining, LikelyPairs) else ()
        pairs = tuple((str(a), str(b)) for a, b in zip(left, right, strict=True))
        return Linked(cost=step.cost, pairs=pairs, likely=likely, sure=frozenset(map(str, more)))
    return Clusters([None if joining[rid] < 0 else int(joining[rid]) for rid in rids], step.cost)


def ends_of(joining: tuple[IntArray, IntArray] | LikelyPairs) -> tuple[IntArray, IntArray]:
    """The records of pairs."""
    return joining if isinstance(joining, tuple) else (joining.left, joining.right)


class Workbench:
    """Carries out adversaries on one pool; a step on values that several of them share is done once.

    ``right`` returns what is right about a person in attributes: the values, the facts they hit and their credit.
    ``subject`` is the person asked about, if it is one: among very many records, only those near the person are joined.
    ``index`` is where earlier results are kept, if they are. ``known`` says which records are the person's as some
    steps on values leave them, where that depends on records that are not in the pool.
    """

    def __init__(
        self,
        pool: RecordPool,
        labels: Labels,
        progress: Progress,
        right: Callable[..., RightRows],
        subject: Subject | None = None,
        index: CaseIndex | None = None,
        known: Recognised = (),
    ) -> None:
        self.pool, self._labels, self._progress, self._right, self._subject = pool, labels, progress, right, subject
        self._index, self._known = index, known
        self._done: list[tuple[Attributes, Step, Attributes]] = []
        self._likely: list[tuple[Attributes, LikelyPairs]] = []
        self._begun: list[tuple[Sequence[Step], IntArray]] = []
        self._recognised: list[tuple[Attributes, Reference, Recognition]] = []

    def stepped(self, attributes: Attributes, step: Step) -> Attributes:
        """The attributes after a step on values."""
        step = free(step)
        for before, other, after in self._done:
            if before is attributes and other == step:
                return after
        if attributes is self.pool.attributes and step == Normalise() and self.pool.formed is not None:
            after = self.pool.formed
        else:
            after = stepped(attributes, step, self._labels)
        self._done.append((attributes, step, after))
        return after

    def meant(self, attributes: Attributes) -> Attributes:
        """Attributes in normal form, not cached; for values that occur in the records the known form is reused."""
        coded = None if self.pool.formed is None else self.pool.formed.coded
        if coded is None:
            return in_normal_form(attributes, self._labels)
        return formed_by(attributes, coded.values, lambda others: in_normal_form(others, self._labels))

    def normalised(self) -> Attributes:
        """All original records, every value in its normal form."""
        return self.stepped(self.pool.attributes, Normalise())

    def grouped(self, spec: Adversary, *, more: Sequence[Record] = ()) -> Grouped:
        """Carry out an adversary in the engine.

        ``more`` are records that are not public yet, whose pairs a Splink model scores along with the others; they are
        named by the numbers after the last record, and are in no cluster.
        """
        attributes, cluster = self.pool.attributes, np.arange(self.pool.n_records, dtype=np.int64)
        groupings: list[tuple[Joining, Attributes]] = []
        notes: list[str] = []
        for step in spec.steps:
            if isinstance(step, Grouping):
                self._progress(f"{spec.name}: resolving", None)
                joining = self._joining(step, attributes, more)
                if isinstance(step, FileClusters) and isinstance(joining, np.ndarray) and (joining < 0).any():
                    alone = int((joining < 0).sum())
                    notes.append(
                        f"adversary '{spec.name}': {alone:,} records are not in {step.path.name} and stay alone"
                    )
                groupings.append((joining, attributes))
            else:
                self._progress(f"{spec.name}: values", None)
                attributes, more = self.stepped(attributes, step), step.apply(more, self._labels)
        if groupings:
            cluster = self._first_joined(spec, *groupings[0])
            for grouping in groupings[1:]:
                cluster = _regrouped(*grouping, cluster)
        return Grouped(
            self.pool,
            spec,
            attributes,
            cluster,
            tuple(groupings),
            tuple(notes),
            self.normalised,
            self._labels,
            self.recognition,
        )

    def _first_joined(self, spec: Adversary, joining: Joining, attributes: Attributes) -> IntArray:
        """The clusters of the first resolution, kept because another adversary or a later command may begin with it."""
        first = next(place for place, step in enumerate(spec.steps) if isinstance(step, Grouping))
        steps = spec.steps[: first + 1]

        def made() -> IntArray:
            return _regrouped(joining, attributes, np.arange(self.pool.n_records, dtype=np.int64))

        if not isinstance(joining, Resolve):
            return made()
        for before, cluster in self._begun:
            if before == steps:
                return cluster
        begun = replace(spec, steps=steps)
        self._begun.append((steps, made() if self._index is None else self._index.clusters(begun, made)))
        return self._begun[-1][1]

    def _joining(self, step: Step, attributes: Attributes, more: Sequence[Record]) -> Joining:
        if isinstance(step, FileClusters):
            return clusters_of_file(step, self.pool.name_table())
        if isinstance(step, SplinkClusters):
            return splink_pairs(_row_a_record(attributes, self.pool, more), step.model, step.threshold)
        if isinstance(step, LikelyClusters):
            return self._likely_pairs(attributes, more)
        if isinstance(step, TrueClusters):
            return self._true_clusters(step, attributes)
        assert isinstance(step, Resolve)
        return step

    def _likely_pairs(self, attributes: Attributes, more: Sequence[Record]) -> LikelyPairs:
        subject = self._subject
        around = None if subject is None else lambda: self.recognition(subject.reference, attributes).rids
        if more:
            return likely_pairs(attributes, _row_a_record(attributes, self.pool, more), around=around)
        for before, pairs in self._likely:
            if before is attributes:
                return pairs
        known = None
        if around is not None and self._index is not None and attributes is self.pool.formed:
            known = self._index.learned(attributes.store, lambda: learned(attributes))
        pairs = (
            likely_pairs(attributes, around=around)
            if known is None or around is None
            else likely_near(attributes, known, around())
        )
        self._likely.append((attributes, pairs))
        return pairs

    def recognition(self, person: Reference, attributes: Attributes) -> Recognition:
        """Which records are a person's; found once."""
        for before, other, recognition in self._recognised:
            if before is attributes and other is person:
                return recognition
        known = self._subject
        subject = known if known is not None and known.reference == person else Subject(person, self._labels)
        forms = self.normalised() if attributes is self.pool.attributes else None
        recognition = Recognition(self._right(attributes, subject, forms), attributes, subject.comparer, person)
        if self._known:
            steps = self._steps_to(attributes)
            vars(recognition)["rids"] = next(rids for before, rids in self._known if before == steps)
        self._recognised.append((attributes, person, recognition))
        return recognition

    def _steps_to(self, attributes: Attributes) -> tuple[Step, ...]:
        """The steps on values that made these attributes."""
        if attributes is self.pool.attributes:
            return ()
        before, step = next((before, step) for before, step, after in self._done if after is attributes)
        return (*self._steps_to(before), step)

    def _true_clusters(self, step: TrueClusters, attributes: Attributes) -> IntArray:
        """0 for every record that is the person's, -1 for the others."""
        cluster = np.full(attributes.records, -1, dtype=np.int64)
        cluster[self.recognition(step.reference, attributes).rids] = 0
        return cluster


def _regrouped(joining: Joining, attributes: Attributes, cluster: IntArray) -> IntArray:
    """The clusters after one more resolution, which splits none of them."""
    if isinstance(joining, Resolve):
        return resolved_again(attributes, joining.rules, cluster, closure=joining.closure)
    size = len(cluster)
    if isinstance(joining, tuple | LikelyPairs):
        one, other = ends_of(joining)
        out = (one < size) & (other < size)
        first, second = one[out], other[out]
    else:
        first = np.flatnonzero(joining >= 0)
        smallest = np.full(int(joining.max(initial=-1)) + 1, size, dtype=np.int64)
        np.minimum.at(smallest, joining[first], first)
        second = smallest[joining[first]]
    return joined(cluster, first, second)[0]


def free(step: Step) -> Step:
    """The step, whatever it costs."""
    return Normalise(step.labels) if isinstance(step, Normalise) else step


def stepped(attributes: Attributes, step: Step, labels: Labels) -> Attributes:
    """The attributes after a step on values.

    What SQL cannot reproduce exactly is done by the step for records in memory, once for every distinct value, so that
    the engine cannot differ from it.
    """
    if isinstance(step, Augment):
        values = distinct_values(attributes, step.given)
        added = [
            (value, attribute.value)
            for value, record in zip(values, _record_a_value(step, step.given, values, labels), strict=True)
            for attribute in record
            if attribute.label == step.adds
        ]
        return augmented(attributes, step.given, step.adds, added, confidence=step.confidence)

    def changed(label: str, values: Sequence[str]) -> Iterator[str]:
        return (record.attributes[0].value for record in _record_a_value(step, label, values, labels))

    if isinstance(step, Correct | Generalise):
        values = distinct_values(attributes, step.label)
        return recoded(
            attributes, ((step.label, *pair) for pair in zip(values, changed(step.label, values), strict=True))
        )
    assert isinstance(step, Normalise)
    forms = named_forms(labels, step.labels)
    if attributes.coded is not None and not attributes.formed:
        names = [label for label in forms if similarity_name(labels[label].similarity) == "name"]
        return coded_forms(attributes, lambda different: formed(different, forms, changed), names)
    return formed(attributes, forms, changed)


def in_normal_form(attributes: Attributes, labels: Labels) -> Attributes:
    """Attributes with every value in its normal form."""
    return stepped(attributes, Normalise(), labels)


def _record_a_value(step: Step, label: str, values: Sequence[str], labels: Labels) -> tuple[Record, ...]:
    """One record per value, after the step."""
    return step.apply([Record.trusted((Attribute(label, value),)) for value in values], labels)


def named_forms(labels: Labels, wanted: Sequence[str] | None = None) -> dict[str, NamedForm | None]:
    """The labels whose values have a normal form or synonyms, and the name of the form, if SQL can make it.

    Synonyms are looked up after the form is made, which happens in memory.
    """
    return {
        name: None if label.synonyms else form_name(label.normalise)
        for name, label in labels.items()
        if (label.normalise or label.synonyms) and (wanted is None or name in wanted)
    }


def _row_a_record(attributes: Attributes, pool: RecordPool, more: Sequence[Record]) -> pa.Table:
    """One row per record, for a model that compares them: one column per label, the record's number and its source."""
    import pyarrow as pa

    labels = attributes.labels
    values = surest_values(attributes)
    owner = np.repeat([source.name for source in pool.sources], [source.records for source in pool.sources])
    columns = {RECORD: pa.array(np.arange(attributes.records)), **{label: values.column(label) for label in labels}}
    whole = pa.table(columns).append_column(SOURCE, pa.array(owner, pa.string()))
    rows = []
    for place, record in enumerate(more):
        best: dict[str, tuple[float, str]] = {}
        for label, value, confidence in record:
            best[label] = max(best.get(label, (-1.0, "")), (confidence, value))
        own = {label: value for label, (_, value) in best.items() if label in labels}
        rows.append({RECORD: attributes.records + place, SOURCE: record.source or "release", **own})
    return pa.concat_tables([whole, pa.Table.from_pylist(rows, schema=whole.schema)]) if rows else whole
