"""Adversaries: what somebody does with records before looking, what it costs, and what leaks to them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import get_args

from tacit.errors import ArgumentError
from tacit.person.comparing import Comparer
from tacit.person.labels import Labels
from tacit.person.leakage import Leakage, as_labels, leakage_of, measure_of
from tacit.person.merging import Policy, merge
from tacit.person.records import Record, Reference
from tacit.person.resolver import Link as Link
from tacit.person.rules import Fact, Rules
from tacit.person.steps import FREE
from tacit.person.steps import Augment as Augment
from tacit.person.steps import Clusters as Clusters
from tacit.person.steps import Correct as Correct
from tacit.person.steps import Cost as Cost
from tacit.person.steps import Generalise as Generalise
from tacit.person.steps import Normalise as Normalise
from tacit.person.steps import Resolve as Resolve
from tacit.person.steps import Step as Step
from tacit.person.swoosh import Group, forest, unions
from tacit.person.values import is_suppressed

# The paper's E: any function from records to records.
Operator = Callable[[Sequence[Record]], Iterable[Record]]


@dataclass(frozen=True)
class Cluster:
    """Records an adversary takes for one person's, merged.

    Parameters
    ----------
    record : Record
        What the adversary holds of the person.
    members : tuple of int
        The places of the records, rising.
    links : tuple of Link
        Why they are one: a tree over the members.
    sources : mapping from (label, value) to a tuple of int
        Which members say it.
    """

    record: Record
    members: tuple[int, ...]
    links: tuple[Link, ...] = ()
    sources: Mapping[Fact, tuple[int, ...]] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class Holdings:
    """What an adversary has after all steps. Clusters are merged when they are first looked at.

    Parameters
    ----------
    given : tuple of Record
        As they were given.
    records : tuple of Record
        One for each record given, after the steps that change values; members of clusters are places here.
    groups : tuple of Group
        Which records are one person's, and why; each record is in exactly one.
    merge : {"union", "consensus", "vote", "diluted"}
        What is written down for a group.
    keep_base : bool
        Whether the records as they were given are held besides.
    labels : Labels
    cost : float
    """

    given: tuple[Record, ...]
    records: tuple[Record, ...]
    groups: tuple[Group, ...]
    merge: Policy
    keep_base: bool
    labels: Labels
    cost: float

    @cached_property
    def clusters(self) -> tuple[Cluster, ...]:
        """The groups, merged."""
        return tuple(map(self._merged, self.groups))

    @cached_property
    def kept(self) -> tuple[Cluster, ...]:
        """If the adversary keeps them: the records as they were given, less those that are a cluster as they are."""
        return tuple(map(self._original, self._originals()))

    @property
    def candidates(self) -> tuple[Cluster, ...]:
        """All that could be taken for the person: the clusters, then what was kept."""
        return self.clusters + self.kept

    def about(self, reference: Reference) -> Iterator[Cluster]:
        """The candidates that can have any leakage; most records of a table are other people's."""
        hopeful = _hopeful(reference, self.labels)
        for group in self.groups:
            # Whatever a merged record holds, a member holds.
            if any(hopeful(self.records[place]) for place in group.members):
                yield self._merged(group)
        for place in self._originals():
            if hopeful(self.given[place]):
                yield self._original(place)

    def _merged(self, group: Group) -> Cluster:
        record = merge([self.records[place] for place in group.members], self.merge, self.labels)
        sources = sayers(record, {place: self.records[place] for place in group.members})
        return Cluster(record, group.members, group.links, sources)

    def _originals(self) -> list[int]:
        if not self.keep_base:
            return []
        alone = {group.members[0] for group in self.groups if len(group.members) == 1}
        return [place for place, record in enumerate(self.given) if place not in alone or self.records[place] != record]

    def _original(self, place: int) -> Cluster:
        record = self.given[place]
        return Cluster(record, (place,), (), {attribute.fact: (place,) for attribute in record})


def sayers(merged: Record, members: Mapping[int, Record]) -> dict[Fact, tuple[int, ...]]:
    """Which members say each fact of the merged record, in the order of the members."""
    found: dict[Fact, list[int]] = {attribute.fact: [] for attribute in merged}
    for place, record in members.items():
        for attribute in record:
            if attribute.fact in found:
                found[attribute.fact].append(place)
    return {fact: tuple(places) for fact, places in found.items()}


@dataclass(frozen=True)
class Adversary:
    """Somebody who has the records: what they do with them, and what that costs.

    Parameters
    ----------
    name : str
    steps : sequence of steps
        In this order: `Normalise`, `Correct`, `Augment`, `Generalise`, `Resolve`, `Clusters`. A resolution sees values
        as the steps before it left them; steps after it change values and leave the clusters, and a second resolution
        starts from the clusters of the first.
    merge : {"union", "consensus", "vote", "diluted"}
        What is written down for a cluster (see `tacit.person.merging.merge`). Matching always sees the union.
    keep_base : bool
        The records as they were given stay, besides the clusters: whoever merges does not burn the originals. Then no
        step can lower the leakage below that of the records.
    cost : Cost
        Of the adversary as a whole, besides its steps'.
    """

    name: str
    steps: Sequence[Step] = ()
    merge: Policy = "union"
    keep_base: bool = False
    cost: Cost = FREE

    def __post_init__(self) -> None:
        if isinstance(self.steps, Step):
            raise ArgumentError(f"the steps of adversary '{self.name}' are no list: put [ ] around a single step")
        object.__setattr__(self, "steps", tuple(self.steps))
        if self.merge not in get_args(Policy):
            raise ArgumentError(f"no merge policy '{self.merge}': choose {', '.join(get_args(Policy))}")
        for place, step in enumerate(self.steps, start=1):
            if not isinstance(step, Step):
                raise ArgumentError(f"step {place} of adversary '{self.name}' is no step: give such as Resolve(rules)")

    @property
    def rules(self) -> Rules | None:
        """The rules with which a `Resolver` over ``prepared`` records answers what-if questions for this adversary.

        None if only running all steps again is right: there is not exactly one resolution, it is not R-Swoosh's, or a
        step looks at all records at once.
        """
        grouping = [step for step in self.steps if isinstance(step, Resolve | Clusters)]
        whole = any(isinstance(step, Generalise) and step.level is None for step in self.steps)
        known = all(isinstance(step, Normalise | Correct | Augment | Generalise | Resolve) for step in self.steps)
        if len(grouping) != 1 or whole or not known or not isinstance(grouping[0], Resolve):
            return None
        return grouping[0].rules if grouping[0].closure == "swoosh" or grouping[0].rules.single_labels_only else None

    def prepared(self, records: Sequence[Record], labels: Labels | None = None) -> tuple[Record, ...]:
        """The records as the first resolution sees them."""
        current = tuple(records)
        for step in self.steps:
            if isinstance(step, Resolve | Clusters):
                break
            current = self._stepped(step, current, labels or Labels())
        return current

    def holdings(self, records: Sequence[Record], labels: Labels | None = None) -> Holdings:
        """What the adversary has after all steps, and what it cost."""
        known = labels if labels is not None else Labels()
        given = tuple(records)
        current, found = given, [Group((place,), ()) for place in range(len(given))]
        for step in self.steps:
            if isinstance(step, Resolve | Clusters):
                found = _regrouped(step, current, found)
            else:
                current = self._stepped(step, current, known)
        return Holdings(given, current, tuple(found), self.merge, self.keep_base, known, cost=self.cost_of(len(given)))

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


def _regrouped(step: Resolve | Clusters, records: tuple[Record, ...], found: list[Group]) -> list[Group]:
    """The groups after one more resolution, none of which is split."""
    earlier = [link for group in found for link in group.links]
    if not earlier:
        return step.groups(records)
    if isinstance(step, Clusters):
        later = [link for group in step.groups(records) for link in group.links]
    else:
        later = []
        for group in step.groups(unions(records, found)):
            for link in group.links:
                ends = [_carrier(records, found[end], link.labels) for end in (link.left, link.right)]
                later.append(Link(min(ends), max(ends), link.labels))
    return forest(len(records), [*earlier, *later])


def _carrier(records: Sequence[Record], group: Group, labels: tuple[str, ...]) -> int:
    """The member that speaks of most of the labels."""
    wanted = set(labels)
    return max(group.members, key=lambda place: len(wanted.intersection(a.label for a in records[place])))


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
        cannot lower it, though leakage may fall when wrong facts are gathered along; unless a label has a single true
        value, where every further value makes the others doubtful.
    cost : float
    cluster : Cluster or None
        The one with the largest leakage; of equals the one with fewest members. None if nothing leaks.
    holdings : Holdings
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
        What is done with the records; None is nothing.
    weights : mapping from label to weight
    labels : Labels
        How values are weighed and compared; instead of ``weights``.

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
    known = as_labels(weights, labels)
    given = tuple(records)
    held: Iterable[Record]
    if isinstance(adversary, Adversary):
        held = (cluster.record for cluster in adversary.holdings(given, known).about(reference))
    else:
        held = filter(_hopeful(reference, known), given if adversary is None else adversary(given))
    beside = Comparer(reference, known)
    return max((leakage_of(beside.compare(record)) for record in held), default=0.0)


def exposure(
    records: Iterable[Record], reference: Reference, adversary: Adversary, labels: Labels | None = None
) -> Exposure:
    """What leaks to an adversary, with the record that leaks most."""
    known = labels if labels is not None else Labels()
    holdings = adversary.holdings(tuple(records), known)
    beside = Comparer(reference, known)
    best: tuple[Leakage, Cluster] | None = None
    greatest = 0.0
    for cluster in holdings.about(reference):
        found = measure_of(beside.compare(cluster.record))
        greatest = max(greatest, found.recall)
        if best is None or (found.value, -len(cluster.members)) > (best[0].value, -len(best[1].members)):
            best = found, cluster
    if best is None or best[0].value <= 0.0:
        return Exposure(adversary.name, 0.0, 0.0, 0.0, greatest, holdings.cost, None, holdings)
    top, winner = best
    return Exposure(adversary.name, top.value, top.precision, top.recall, greatest, holdings.cost, winner, holdings)


def ladder(
    records: Iterable[Record], reference: Reference, adversaries: Iterable[Adversary], labels: Labels | None = None
) -> tuple[Exposure, ...]:
    """What leaks to each of several adversaries, and at what cost, in their order.

    Parameters
    ----------
    records : iterable of Record
        All that is out, of whomever.
    reference : Reference
        The person.
    adversaries : iterable of Adversary
    labels : Labels, optional

    Returns
    -------
    tuple of Exposure
        As `exposure` gives them.
    """
    if isinstance(records, Record) or isinstance(adversaries, Adversary):
        raise ArgumentError("a ladder takes a list of records and a list of adversaries: put [ ] around a single one")
    given = tuple(records)
    return tuple(exposure(given, reference, adversary, labels) for adversary in adversaries)


def _hopeful(reference: Reference, labels: Labels) -> Callable[[Record], bool]:
    """A cheap test that is true of every record with any leakage."""
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
