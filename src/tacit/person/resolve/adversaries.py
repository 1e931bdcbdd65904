"""Adversaries: what somebody does with records, what it costs, and what leaks to them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import get_args

from tacit.errors import ArgumentError
from tacit.person.model import Comparer, Labels, Leakage, Record, Reference, is_suppressed
from tacit.person.model.labels import as_labels
from tacit.person.model.leakage import leakage_of, measure_of
from tacit.person.model.records import Fact
from tacit.person.resolve.grouping import Group
from tacit.person.resolve.merging import Policy, merge
from tacit.person.resolve.resolver import Link
from tacit.person.resolve.rules import Rules
from tacit.person.resolve.steps import FREE, Cost, Generalise, Grouping, Resolve, Rewording, Step

# The paper's E: any function from records to records.
Operator = Callable[[Sequence[Record]], Iterable[Record]]


@dataclass(frozen=True)
class Cluster:
    """Records that an adversary takes to be one person's, merged into one.

    ``members`` are the places of the records, ascending; ``links`` say why they belong together, as a tree over the
    members; ``sources`` says which members hold each (label, value).
    """

    record: Record
    members: tuple[int, ...]
    links: tuple[Link, ...] = ()
    sources: Mapping[Fact, tuple[int, ...]] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class Holdings:
    """What an adversary has after all steps. Clusters are merged when they are first needed.

    ``records`` are the ``given`` records after the steps that change values, and ``groups`` say which of them are one
    person's; each record is in exactly one. ``kept`` are records and groups as fewer resolutions left them: an
    adversary that joins in two ways still has the result of either.
    """

    given: tuple[Record, ...]
    records: tuple[Record, ...]
    groups: tuple[Group, ...]
    merge: Policy
    keep_base: bool
    labels: Labels
    cost: float
    kept: tuple[tuple[tuple[Record, ...], tuple[Group, ...]], ...] = ()

    @cached_property
    def clusters(self) -> tuple[Cluster, ...]:
        """The groups, merged."""
        return tuple(map(self._merged, self.groups))

    @property
    def candidates(self) -> tuple[Cluster, ...]:
        """Everything that could be taken to be the person: the clusters, then what was kept."""
        return (*self.clusters, *self.kept_clusters(), *map(self._original, self._originals()))

    def kept_clusters(self, hopeful: Callable[[Record], bool] = lambda record: True) -> Iterator[Cluster]:
        """The clusters of fewer resolutions, if at least one of their records is ``hopeful``."""
        records_of = {group.members: [self.records] for group in self.groups}
        for records, groups in self.kept:
            for group in groups:
                others = records_of.setdefault(group.members, [])
                same = any(all(other[place] == records[place] for place in group.members) for other in others)
                others.append(records)
                # A single record is among the originals, if those are kept.
                if len(group.members) > 1 and not same and any(hopeful(records[place]) for place in group.members):
                    yield self._merged(group, records)

    def about(self, reference: Reference) -> Iterator[Cluster]:
        """The candidates that can leak anything; most records of a table are other people's."""
        hopeful = _hopeful(reference, self.labels)
        for group in self.groups:
            # A merged record holds nothing that no member holds.
            if any(hopeful(self.records[place]) for place in group.members):
                yield self._merged(group)
        yield from self.kept_clusters(hopeful)
        for place in self._originals():
            if hopeful(self.given[place]):
                yield self._original(place)

    def _merged(self, group: Group, records: Sequence[Record] | None = None) -> Cluster:
        members = {place: (records or self.records)[place] for place in group.members}
        record = merge(list(members.values()), self.merge, self.labels)
        sources = said_by(record, members)
        return Cluster(record, group.members, group.links, sources)

    def _originals(self) -> list[int]:
        """Places of records kept as given, except those that are a cluster by themselves, unchanged."""
        if not self.keep_base:
            return []
        alone = {group.members[0] for group in self.groups if len(group.members) == 1}
        return [place for place, record in enumerate(self.given) if place not in alone or self.records[place] != record]

    def _original(self, place: int) -> Cluster:
        record = self.given[place]
        return Cluster(record, (place,), (), {attribute.fact: (place,) for attribute in record})


def said_by(merged: Record, members: Mapping[int, Record]) -> dict[Fact, tuple[int, ...]]:
    """Which members say each fact of the merged record, in the order of the members."""
    places: dict[Fact, list[int]] = {attribute.fact: [] for attribute in merged}
    for place, record in members.items():
        for attribute in record:
            if attribute.fact in places:
                places[attribute.fact].append(place)
    return {fact: tuple(saying) for fact, saying in places.items()}


@dataclass(frozen=True)
class Adversary:
    """Somebody who has the records: what they do with them, and what that costs.

    Parameters
    ----------
    name : str
    steps : sequence of steps
        Carried out in this order: `Normalise`, `Correct`, `Augment`, `Generalise`, `Resolve`, `Clusters`. A resolution
        sees values as the steps before it left them; steps after it change values but not the clusters, and a second
        resolution starts from the clusters of the first.
    merge : {"union", "consensus", "vote", "diluted"}
        What is written down for a cluster (see `tacit.person.resolve.merging.merge`). Matching always sees the union.
    keep_base : bool
        The original records are kept in addition to the clusters, and so are the results of fewer of several
        resolutions: whoever merges does not burn the originals. Then no step can lower the leakage below that of the
        records, and no further resolution below that of those before it.
    cost : Cost
        Of the adversary as a whole, in addition to that of its steps.
    """

    name: str
    steps: Sequence[Step] = ()
    merge: Policy = "union"
    keep_base: bool = False
    cost: Cost = FREE

    def __post_init__(self) -> None:
        if isinstance(self.steps, Step):
            raise ArgumentError(f"the steps of adversary '{self.name}' are not a list: put [ ] around a single step")
        object.__setattr__(self, "steps", tuple(self.steps))
        if self.merge not in get_args(Policy):
            raise ArgumentError(f"no merge policy '{self.merge}': choose {', '.join(get_args(Policy))}")
        for place, step in enumerate(self.steps, start=1):
            if not isinstance(step, Step):
                raise ArgumentError(
                    f"step {place} of adversary '{self.name}' is not a step: give one, such as Resolve(rules)"
                )

    @property
    def rules(self) -> Rules | None:
        """The rules with which a `Resolver` over ``prepared`` records answers what-if questions for this adversary.

        None if all steps have to run again to get the right answer: there is not exactly one resolution, it is not
        R-Swoosh's, or a step looks at all records at once.
        """
        grouping = [step for step in self.steps if isinstance(step, Grouping)]
        # A custom step, or a level taken from the records, may look at all records at once.
        alone = all(isinstance(step, Grouping | Rewording) for step in self.steps) and not any(
            isinstance(step, Generalise) and step.level is None for step in self.steps
        )
        if len(grouping) != 1 or not alone or not isinstance(grouping[0], Resolve):
            return None
        return grouping[0].rules if grouping[0].closure == "swoosh" or grouping[0].rules.single_labels_only else None

    def prepared(self, records: Sequence[Record], labels: Labels | None = None) -> tuple[Record, ...]:
        """The records as the first resolution sees them."""
        current = tuple(records)
        for step in itertools.takewhile(lambda step: not isinstance(step, Grouping), self.steps):
            current = self._stepped(step, current, as_labels(None, labels))
        return current

    def holdings(self, records: Sequence[Record], labels: Labels | None = None) -> Holdings:
        """What the adversary has after all steps, and what it cost."""
        described = as_labels(None, labels)
        current = originals = tuple(records)
        alone: list[tuple[Grouping, list[Group]]] = []
        stages: list[list[Group]] = []
        for step in self.steps:
            if isinstance(step, Grouping):
                alone.append((step, step.groups(current)))
                stages.append(step.groups(current, stages[-1]) if stages else alone[0][1])
            else:
                current = self._stepped(step, current, described)
        groups = stages[-1] if stages else [Group((place,), ()) for place in range(len(originals))]
        kept: list[tuple[tuple[Record, ...], tuple[Group, ...]]] = []
        if self.keep_base and len(alone) > 1:
            kept = [(_doubted(current, [resolution]), tuple(resolution[1])) for resolution in alone]
            kept += [(_doubted(current, alone[:n]), tuple(stages[n - 1])) for n in range(2, len(alone))]
        cost = self.cost_of(len(originals))
        return Holdings(
            originals,
            _doubted(current, alone),
            tuple(groups),
            self.merge,
            self.keep_base,
            described,
            cost,
            tuple(kept),
        )

    def cost_of(self, n: int) -> float:
        """The cost on n records: the adversary's own and all steps'."""
        return self.cost.of(n) + sum(step.cost.of(n) for step in self.steps)

    def _stepped(self, step: Step, records: tuple[Record, ...], labels: Labels) -> tuple[Record, ...]:
        after = step.apply(records, labels)
        if len(after) != len(records):
            raise ArgumentError(
                f"a step of adversary '{self.name}' made {len(after)} records of {len(records)}: a step changes each "
                "record by itself; joining records is for Resolve and Clusters"
            )
        return tuple(after)


def _doubted(records: tuple[Record, ...], resolutions: Sequence[tuple[Grouping, list[Group]]]) -> tuple[Record, ...]:
    """The records, each as certain as the most certain resolution that put it into its group."""
    sure = {
        place
        for step, groups in resolutions
        if not step.doubts
        for group in groups
        if len(group.members) > 1
        for place in group.members
    }
    for step, _ in resolutions:
        if step.doubts:
            after = step.doubted(records)
            records = tuple(old if place in sure else after[place] for place, old in enumerate(records))
    return records


@dataclass(frozen=True)
class Exposure:
    """What leaks to one adversary.

    Parameters
    ----------
    adversary : str
        Its name.
    leakage, precision, recall : float
        Of the record with the largest leakage.
    greatest_recall : float
        The largest recall of any record the adversary holds. Under union merging a stronger resolution (more rules)
        cannot lower it, though leakage may fall when wrong facts are gathered too. The exception is a label with a
        single true value, where every further value makes the others less certain.
    cluster : Cluster or None
        The one with the largest leakage; among equals, the one with fewest members. None if nothing leaks.
    """

    adversary: str
    leakage: float
    precision: float
    recall: float
    greatest_recall: float
    cost: float
    cluster: Cluster | None
    holdings: Holdings = field(repr=False)


def leakage(
    records: Iterable[Record],
    reference: Reference,
    adversary: Adversary | Operator | None = None,
    *,
    weights: Mapping[str, float] | None = None,
    labels: Labels | None = None,
) -> float:
    """Leakage of a set of records to an adversary: the largest of any record the adversary ends up with.

    Parameters
    ----------
    records : iterable of Record
    reference : Reference
        The whole truth about the person.
    adversary : Adversary, function from records to records, or None
        What is done with the records; None: nothing.
    weights, labels
        How labels are weighed, or weighed and compared.

    Returns
    -------
    float
        In [0, 1]; 0 without records.

    Examples
    --------
    >>> records = [Record([("N", "Alice"), ("P", "123")]), Record([("N", "Alice"), ("C", "999")])]
    >>> alice = Reference([("N", "Alice"), ("P", "123"), ("C", "999"), ("Z", "111")])
    >>> joins = Adversary("joins", [Resolve(Rules([["N"]]))])
    >>> round(leakage(records, alice), 4), round(leakage(records, alice, joins), 4)
    (0.6667, 0.8571)
    """
    described = as_labels(weights, labels)
    originals = tuple(records)
    candidates: Iterable[Record]
    if isinstance(adversary, Adversary):
        candidates = (cluster.record for cluster in adversary.holdings(originals, described).about(reference))
    else:
        candidates = filter(_hopeful(reference, described), originals if adversary is None else adversary(originals))
    comparer = Comparer(reference, described)
    return max((leakage_of(comparer.compare(record)) for record in candidates), default=0.0)


def exposure(
    records: Iterable[Record],
    reference: Reference,
    adversary: Adversary,
    *,
    weights: Mapping[str, float] | None = None,
    labels: Labels | None = None,
) -> Exposure:
    """What leaks to an adversary, with the record that leaks most; parameters as for :func:`leakage`."""
    described = as_labels(weights, labels)
    holdings = adversary.holdings(tuple(records), described)
    comparer = Comparer(reference, described)
    worst, leaker = Leakage(0.0, 0.0, 0.0), None
    greatest = 0.0
    for cluster in holdings.about(reference):
        measured = measure_of(comparer.compare(cluster.record))
        greatest = max(greatest, measured.recall)
        fewer = leaker is not None and len(cluster.members) < len(leaker.members)
        if measured.value > worst.value or (fewer and measured.value == worst.value):
            worst, leaker = measured, cluster
    return Exposure(
        adversary.name, worst.value, worst.precision, worst.recall, greatest, holdings.cost, leaker, holdings
    )


def ladder(
    records: Iterable[Record],
    reference: Reference,
    adversaries: Iterable[Adversary],
    *,
    weights: Mapping[str, float] | None = None,
    labels: Labels | None = None,
) -> tuple[Exposure, ...]:
    """What leaks to each of several adversaries who have all records, and at what cost, in their order."""
    if isinstance(records, Record) or isinstance(adversaries, Adversary):
        raise ArgumentError("a ladder takes a list of records and a list of adversaries: put [ ] around a single one")
    originals = tuple(records)
    described = as_labels(weights, labels)
    return tuple(exposure(originals, reference, adversary, labels=described) for adversary in adversaries)


def _hopeful(reference: Reference, labels: Labels) -> Callable[[Record], bool]:
    """A cheap test that every record with any leakage passes."""
    truth: dict[str, set[str]] = {}
    for label, value in reference:
        truth.setdefault(label, set()).add(labels[label].meant(value))
    near = {label for label in truth if labels[label].similarity is not None}

    def test(record: Record) -> bool:
        return any(
            label in truth and (label in near or labels[label].meant(value) in truth[label] or is_suppressed(value))
            for label, value, confidence in record
            if confidence > 0.0
        )

    return test
