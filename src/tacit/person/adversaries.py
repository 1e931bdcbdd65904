"""Adversaries: what somebody does with records before looking, what it costs, and what leaks to them."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, Protocol, get_args, runtime_checkable

from tacit.errors import ArgumentError
from tacit.person.labels import Labels
from tacit.person.leakage import measure, record_leakage
from tacit.person.merging import Policy, merge
from tacit.person.records import Attribute, Record, Reference
from tacit.person.resolver import Link as Link
from tacit.person.rules import Fact, Rules
from tacit.person.swoosh import Closure, Group, groups, union
from tacit.person.values import covers, is_suppressed

# The paper's E: any function from records to records.
Operator = Callable[[Sequence[Record]], Iterable[Record]]


@dataclass(frozen=True)
class Cost:
    """What a step costs on n records, in whatever unit: fixed + per_record n + per_pair n^2."""

    fixed: float = 0.0
    per_record: float = 0.0
    per_pair: float = 0.0

    def __post_init__(self) -> None:
        if not all(math.isfinite(part) and part >= 0 for part in (self.fixed, self.per_record, self.per_pair)):
            raise ArgumentError("a part of a cost is negative or not finite: give finite numbers, 0 or more")

    def of(self, n: int) -> float:
        """The cost on n records."""
        return self.fixed + self.per_record * n + self.per_pair * n * n


@runtime_checkable
class Step(Protocol):
    """One operation of an adversary."""

    @property
    def cost(self) -> Cost:
        """What it costs."""

    def apply(self, records: Sequence[Record], labels: Labels) -> tuple[Record, ...]:
        """The records after it."""


def _reworded(record: Record, change: Callable[[Attribute], Iterable[Attribute]]) -> Record:
    """The record with each attribute replaced; what falls together keeps the better confidence."""
    facts: dict[Fact, float] = {}
    for attribute in record:
        for label, value, confidence in change(attribute):
            facts[label, value] = max(confidence, facts.get((label, value), 0.0))
    if facts == record.confidences:
        return record
    made = (Attribute(label, value, confidence) for (label, value), confidence in facts.items())
    return Record.trusted(made, name=record.name, source=record.source)


class _Table:
    """A table from values of a label, looked up as they are, and by values in normal form in theirs."""

    def __init__(self, table: Mapping[str, str], label: str, labels: Labels) -> None:
        self._table = table
        self._meant = labels[label].meant
        self._normal = {self._meant(value): found for value, found in table.items()}

    def get(self, value: str) -> str | None:
        found = self._table.get(value)
        if found is None and self._meant(value) == value:
            found = self._normal.get(value)
        return found


@dataclass(frozen=True)
class Normalise:
    """Write values in their normal form (`Label.meant`), of these labels or of all: Influenza as Flu."""

    labels: tuple[str, ...] | None = None
    cost: Cost = Cost()

    def apply(self, records: Sequence[Record], labels: Labels) -> tuple[Record, ...]:
        """The records with normal values; what falls together keeps the better confidence."""
        wanted = None if self.labels is None else frozenset(self.labels)

        def change(attribute: Attribute) -> tuple[Attribute]:
            if wanted is not None and attribute.label not in wanted:
                return (attribute,)
            return (attribute._replace(value=labels[attribute.label].meant(attribute.value)),)

        return tuple(_reworded(record, change) for record in records)


@dataclass(frozen=True)
class Correct:
    """Replace wrong values of a label by right ones.

    A value that is in its normal form also finds an entry whose normal form it is, so that `Normalise` may come before.
    """

    label: str
    mapping: Mapping[str, str] = field(repr=False)
    cost: Cost = Cost()

    def apply(self, records: Sequence[Record], labels: Labels) -> tuple[Record, ...]:
        """The records with wrong values replaced."""
        table = _Table(self.mapping, self.label, labels)

        def change(attribute: Attribute) -> tuple[Attribute]:
            right = table.get(attribute.value) if attribute.label == self.label else None
            return (attribute if right is None else attribute._replace(value=right),)

        return tuple(_reworded(record, change) for record in records)


@dataclass(frozen=True)
class Augment:
    """Add what a table knows: for a value of one label the value of another (the zip code of an address).

    The added attribute is as certain as the given one times the table's confidence. Values are looked up as in
    `Correct`.
    """

    given: str
    adds: str
    table: Mapping[str, str] = field(repr=False)
    confidence: float = 1.0
    cost: Cost = Cost()

    def __post_init__(self) -> None:
        if not 0.0 <= self.confidence <= 1.0:
            raise ArgumentError(
                f"the confidence of the table of '{self.adds}' is {self.confidence:g}: it lies in [0, 1]"
            )

    def apply(self, records: Sequence[Record], labels: Labels) -> tuple[Record, ...]:
        """The records with what the table adds."""
        table = _Table(self.table, self.given, labels)

        def change(attribute: Attribute) -> tuple[Attribute, ...]:
            added = table.get(attribute.value) if attribute.label == self.given else None
            if added is None:
                return (attribute,)
            return attribute, Attribute(self.adds, added, attribute.confidence * self.confidence)

        return tuple(_reworded(record, change) for record in records)


@dataclass(frozen=True)
class Generalise:
    """Write the exact values of a label as coarsely as a published table does, so that records join on it.

    Covering is no equivalence (11* covers 111 and 112, which differ), so that matching never does it by itself: the
    finer side is brought to the level of the coarser first. The exact value is replaced, as in the paper.

    Parameters
    ----------
    label : str
    level : int, callable or None
        How many characters stay (2 writes 111 as 11*, and 11* stays); or a function from exact to coarse value; or
        None: the suppressed value among the records that covers the exact one, of several the one that covers fewest
        of the exact values there. A value that nothing covers stays.
    """

    label: str
    level: int | Callable[[str], str] | None = None
    cost: Cost = Cost()

    def __post_init__(self) -> None:
        if isinstance(self.level, int) and self.level < 0:
            raise ArgumentError(
                f"the level of '{self.label}' is {self.level}: give how many characters stay, 0 or more"
            )

    def apply(self, records: Sequence[Record], labels: Labels) -> tuple[Record, ...]:
        """The records with coarse values of the label."""
        coarse = self._coarse(records)

        def change(attribute: Attribute) -> tuple[Attribute]:
            if attribute.label != self.label:
                return (attribute,)
            return (attribute._replace(value=coarse(attribute.value)),)

        return tuple(_reworded(record, change) for record in records)

    def _coarse(self, records: Sequence[Record]) -> Callable[[str], str]:
        level = self.level
        if isinstance(level, int):
            return lambda value: _cut(value, level)
        if level is not None:
            return lambda value: value if is_suppressed(value) else level(value)
        values = sorted({a.value for record in records for a in record if a.label == self.label})
        exact = [value for value in values if not is_suppressed(value)]
        patterns = [value for value in values if is_suppressed(value)]
        breadth = {pattern: [value for value in exact if covers(pattern, value)] for pattern in patterns}
        best: dict[str, str] = {}
        for pattern in sorted(patterns, key=lambda pattern: len(breadth[pattern]), reverse=True):
            best.update(dict.fromkeys(breadth[pattern], pattern))
        return lambda value: best.get(value, value)


def _cut(value: str, level: int) -> str:
    # A range or a set is not a row of characters of which some could be starred.
    if is_suppressed(value) and not value.rstrip("*").isalnum():
        return value
    return value[:level] + "*" * (len(value) - level)


@dataclass(frozen=True)
class Resolve:
    """Find the records that are one person's.

    Parameters
    ----------
    rules : Rules
    closure : {"swoosh", "components"}
        Whether merged records are matched again until nothing changes, or base records alone.
    """

    rules: Rules
    closure: Closure = "swoosh"
    cost: Cost = Cost()

    def __post_init__(self) -> None:
        if self.closure not in get_args(Closure):
            raise ArgumentError(f"no closure '{self.closure}': choose {' or '.join(get_args(Closure))}")

    def groups(self, records: Sequence[Record]) -> list[Group]:
        """Which records are one person's, and why."""
        return groups(records, self.rules, self.closure)

    def apply(self, records: Sequence[Record], labels: Labels) -> tuple[Record, ...]:
        """The merged records, each fact with its best confidence."""
        return _merged(records, self.groups(records))


@dataclass(frozen=True)
class Clusters:
    """Clusters brought from elsewhere: of Splink, Zingg, Senzing, or the truth.

    Parameters
    ----------
    ids : mapping from a record's name to a cluster, or a sequence with one for each record
        A record without one, or with None, stays alone.
    """

    ids: Mapping[str, Hashable] | Sequence[Hashable] = field(repr=False)
    cost: Cost = Cost()

    def groups(self, records: Sequence[Record]) -> list[Group]:
        """Which records are one person's."""
        if isinstance(self.ids, Mapping):
            found = [self.ids.get(record.name) for record in records]
        else:
            found = list(self.ids)
            if len(found) != len(records):
                raise ArgumentError(
                    f"there are clusters for {len(found)} records and {len(records)} records: give one each, "
                    "or a mapping from the records' names"
                )
        last: dict[Hashable, int] = {}
        links: list[Link] = []
        for place, cluster in enumerate(found):
            if cluster is not None:
                if cluster in last:
                    links.append(Link(last[cluster], place, ()))
                last[cluster] = place
        return _forest(len(records), links)

    def apply(self, records: Sequence[Record], labels: Labels) -> tuple[Record, ...]:
        """The merged records, each fact with its best confidence."""
        return _merged(records, self.groups(records))


def _merged(records: Sequence[Record], found: Iterable[Group]) -> tuple[Record, ...]:
    return tuple(reduce(union, (records[place] for place in group.members)) for group in found)


def _forest(n: int, links: Iterable[Link]) -> list[Group]:
    """The groups that links make of n records; a link between records that are together already is dropped."""
    above = list(range(n))

    def top(place: int) -> int:
        while above[place] != place:
            above[place] = above[above[place]]
            place = above[place]
        return place

    kept: list[Link] = []
    for link in links:
        low, high = sorted((top(link.left), top(link.right)))
        if low != high:
            above[high] = low
            kept.append(link)
    members: dict[int, list[int]] = {}
    for place in range(n):
        members.setdefault(top(place), []).append(place)
    reasons: dict[int, list[Link]] = {}
    for link in kept:
        reasons.setdefault(top(link.left), []).append(link)
    return [Group(tuple(places), tuple(reasons.get(root, ()))) for root, places in members.items()]


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


def _cluster(records: Sequence[Record], group: Group, policy: Policy, labels: Labels) -> Cluster:
    record = merge([records[place] for place in group.members], policy, labels)
    sources = {
        attribute.fact: tuple(place for place in group.members if attribute.fact in records[place].confidences)
        for attribute in record
    }
    return Cluster(record, group.members, group.links, sources)


@dataclass(frozen=True)
class Holdings:
    """What an adversary has after all steps.

    Parameters
    ----------
    records : tuple of Record
        One for each record given, after the steps that change values; members of clusters are places here.
    clusters : tuple of Cluster
        Each record is in exactly one.
    kept : tuple of Cluster
        The records as they were given, each alone, if the adversary keeps them besides.
    cost : float
    """

    records: tuple[Record, ...]
    clusters: tuple[Cluster, ...]
    kept: tuple[Cluster, ...] = ()
    cost: float = 0.0

    @property
    def candidates(self) -> tuple[Cluster, ...]:
        """All that could be taken for the person: the clusters, then what was kept."""
        return self.clusters + self.kept


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
    cost: Cost = Cost()

    def __post_init__(self) -> None:
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
        return Holdings(
            records=current,
            clusters=tuple(_cluster(current, group, self.merge, known) for group in found),
            kept=tuple(_alone(record, place) for place, record in enumerate(given)) if self.keep_base else (),
            cost=self.cost_of(len(given)),
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


def _alone(record: Record, place: int) -> Cluster:
    return Cluster(record, (place,), (), {attribute.fact: (place,) for attribute in record})


def _regrouped(step: Resolve | Clusters, records: tuple[Record, ...], found: list[Group]) -> list[Group]:
    """The groups after one more resolution, none of which is split."""
    earlier = [link for group in found for link in group.links]
    if not earlier:
        return step.groups(records)
    if isinstance(step, Clusters):
        later = [link for group in step.groups(records) for link in group.links]
    else:
        later = []
        for group in step.groups(_merged(records, found)):
            for link in group.links:
                ends = [_carrier(records, found[end], link.labels) for end in (link.left, link.right)]
                later.append(Link(min(ends), max(ends), link.labels))
    return _forest(len(records), [*earlier, *later])


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
        The largest recall of any record the adversary holds: under union merging a stronger resolution cannot lower
        it, though leakage may fall when wrong facts are gathered along.
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
    known = _known(weights, labels)
    given = tuple(records)
    if isinstance(adversary, Adversary):
        held: Iterable[Record] = (cluster.record for cluster in adversary.holdings(given, known).candidates)
    else:
        held = given if adversary is None else adversary(given)
    hopeful = _hopeful(reference, known)
    return max((record_leakage(record, reference, labels=known) for record in held if hopeful(record)), default=0.0)


def exposure(
    records: Iterable[Record], reference: Reference, adversary: Adversary, labels: Labels | None = None
) -> Exposure:
    """What leaks to an adversary, with the record that leaks most."""
    known = labels if labels is not None else Labels()
    holdings = adversary.holdings(tuple(records), known)
    hopeful = _hopeful(reference, known)
    best: tuple[Any, Cluster] | None = None
    greatest = 0.0
    for cluster in holdings.candidates:
        if not hopeful(cluster.record):
            continue
        found = measure(cluster.record, reference, known)
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
    """What leaks to each of several adversaries, and at what cost, in their order."""
    given = tuple(records)
    return tuple(exposure(given, reference, adversary, labels) for adversary in adversaries)


def _known(weights: Mapping[str, float] | None, labels: Labels | None) -> Labels:
    if weights is not None and labels is not None:
        raise ArgumentError("both weights and labels are given: put the weights into the labels")
    return labels if labels is not None else Labels.weighted(weights)


def _hopeful(reference: Reference, labels: Labels) -> Callable[[Record], bool]:
    """A cheap test that is true of every record with any leakage: most records of a table are other people's."""
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
