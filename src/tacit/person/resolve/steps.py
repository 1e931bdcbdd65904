"""The operations of an adversary: normalise, correct, augment, generalise, and find the records of one person."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, get_args, runtime_checkable

from tacit.errors import ArgumentError
from tacit.person.model import Attribute, Labels, Record, covers, is_suppressed
from tacit.person.model.records import Fact
from tacit.person.resolve.grouping import Closure, Group, forest, groups, unions
from tacit.person.resolve.resolver import Link
from tacit.person.resolve.rules import Rules


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


FREE = Cost()


@runtime_checkable
class Step(Protocol):
    """One operation of an adversary."""

    @property
    def cost(self) -> Cost:
        """What it costs."""

    def apply(self, records: Sequence[Record], labels: Labels) -> tuple[Record, ...]:
        """The records after the step."""


# What becomes of one attribute.
_Change = Callable[[Attribute], Iterable[Attribute]]


class Rewording:
    """A step that changes each attribute by itself; attributes that become equal keep the best confidence."""

    def _change(self, records: Sequence[Record], labels: Labels) -> _Change:
        raise NotImplementedError

    def apply(self, records: Sequence[Record], labels: Labels) -> tuple[Record, ...]:
        """The records with their values changed."""
        change = self._change(records, labels)
        return tuple(_reworded(record, change) for record in records)


def _reworded(record: Record, change: _Change) -> Record:
    facts: dict[Fact, float] = {}
    for attribute in record:
        for label, value, confidence in change(attribute):
            facts[label, value] = max(confidence, facts.get((label, value), 0.0))
    if facts == record.confidences:
        return record
    attributes = (Attribute(label, value, confidence) for (label, value), confidence in facts.items())
    return Record.trusted(attributes, name=record.name, source=record.source)


def _valued(label: str, value_of: Callable[[str], str]) -> _Change:
    """A change that replaces the values of one label."""
    return lambda attribute: (
        attribute._replace(value=value_of(attribute.value)) if attribute.label == label else attribute,
    )


class _Lookup:
    """A table keyed by values of a label, which are found as written or by their normal form."""

    def __init__(self, table: Mapping[str, str], label: str, labels: Labels) -> None:
        self._table = table
        self._normal = {labels[label].meant(value): entry for value, entry in table.items()}

    def get(self, value: str) -> str | None:
        entry = self._table.get(value)
        return self._normal.get(value) if entry is None else entry


@dataclass(frozen=True)
class Normalise(Rewording):
    """Write values of these labels, or of all, in their normal form (`Label.meant`): Influenza as Flu.

    Suppressed values (11*) are not changed.
    """

    labels: tuple[str, ...] | None = None
    cost: Cost = FREE

    def _change(self, records: Sequence[Record], labels: Labels) -> _Change:
        wanted = None if self.labels is None else frozenset(self.labels)

        def change(attribute: Attribute) -> tuple[Attribute]:
            # The normal form of a suppressed value may be a different value: the digits of 11* are 11.
            if (wanted is not None and attribute.label not in wanted) or is_suppressed(attribute.value):
                return (attribute,)
            return (attribute._replace(value=labels[attribute.label].meant(attribute.value)),)

        return change


@dataclass(frozen=True)
class Correct(Rewording):
    """Replace wrong values of a label by right ones.

    A value in normal form also finds an entry that has this normal form, so `Normalise` may come first.
    """

    label: str
    mapping: Mapping[str, str] = field(repr=False)
    cost: Cost = FREE

    def _change(self, records: Sequence[Record], labels: Labels) -> _Change:
        table = _Lookup(self.mapping, self.label, labels)
        return _valued(self.label, lambda value: value if (right := table.get(value)) is None else right)


@dataclass(frozen=True)
class Augment(Rewording):
    """Add what a table knows: for a value of one label, the value of another (the zip code of an address).

    The confidence of the added attribute is that of the given one times the table's. Values are looked up as in
    `Correct`. They are added as the table writes them: after `Normalise`, a table should write normal forms. The tables
    of a case file do.
    """

    given: str
    adds: str
    table: Mapping[str, str] = field(repr=False)
    confidence: float = 1.0
    cost: Cost = FREE

    def __post_init__(self) -> None:
        if not 0.0 <= self.confidence <= 1.0:
            raise ArgumentError(
                f"the confidence of the table of '{self.adds}' is {self.confidence:g}: it lies in [0, 1]"
            )

    def _change(self, records: Sequence[Record], labels: Labels) -> _Change:
        table = _Lookup(self.table, self.given, labels)

        def change(attribute: Attribute) -> tuple[Attribute, ...]:
            added = table.get(attribute.value) if attribute.label == self.given else None
            if added is None:
                return (attribute,)
            return attribute, Attribute(self.adds, added, attribute.confidence * self.confidence)

        return change


@dataclass(frozen=True)
class Generalise(Rewording):
    """Write the exact values of a label as coarsely as a published table does, so records join on it.

    Covering is not an equivalence (11* covers 111 and 112, which differ), so matching never does this by itself: the
    finer side is first brought to the level of the coarser. The exact value is replaced, as in the paper.

    Parameters
    ----------
    label : str
    level : int, callable or None
        How many characters stay (2 writes 111 as 11*, and 11* stays); or a function from exact to coarse value; or
        None: the suppressed value in the records that covers the exact one or, if there are several, the one that
        covers the fewest exact values in the records. A value that nothing covers stays.
    """

    label: str
    level: int | Callable[[str], str] | None = None
    cost: Cost = FREE

    def __post_init__(self) -> None:
        if isinstance(self.level, int) and self.level < 0:
            raise ArgumentError(
                f"the level of '{self.label}' is {self.level}: give how many characters stay, 0 or more"
            )

    def _change(self, records: Sequence[Record], labels: Labels) -> _Change:
        return _valued(self.label, self._coarse(records))

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
    # The characters of a range or a set cannot be starred one by one.
    if is_suppressed(value) and value.strip()[0] in "<>≥≤[({":
        return value
    return value[:level] + "*" * (len(value) - level)


class Grouping:
    """A step that finds the records of one person and does not change their values."""

    def groups(self, records: Sequence[Record], earlier: Sequence[Group] = ()) -> list[Group]:
        """Which records are one person's, and why; groups found earlier stay together."""
        raise NotImplementedError

    @property
    def doubts(self) -> bool:
        """Whether the step may put records of two people together."""
        return False

    def doubted(self, records: tuple[Record, ...]) -> tuple[Record, ...]:
        """The records, as certain as it is that they belong to their group; unchanged if that is not in doubt."""
        return records

    def apply(self, records: Sequence[Record], labels: Labels) -> tuple[Record, ...]:
        """The merged records, each fact with its best confidence."""
        return unions(records, self.groups(records))


@dataclass(frozen=True)
class Resolve(Grouping):
    """Find the records that are one person's.

    Parameters
    ----------
    rules : Rules
    closure : {"swoosh", "components"}
        Whether merged records are matched again until nothing changes, or only base records.
    """

    rules: Rules
    closure: Closure = "swoosh"
    cost: Cost = FREE

    def __post_init__(self) -> None:
        if self.closure not in get_args(Closure):
            raise ArgumentError(f"no closure '{self.closure}': choose {' or '.join(get_args(Closure))}")

    def groups(self, records: Sequence[Record], earlier: Sequence[Group] = ()) -> list[Group]:
        """Which records are one person's, and why."""
        return groups(records, self.rules, self.closure, earlier)


@dataclass(frozen=True)
class Clusters(Grouping):
    """Clusters made elsewhere: by Splink, Zingg or Senzing, or the true ones.

    Parameters
    ----------
    ids : mapping from a record's name to a cluster, or a sequence with one for each record
        A record without a cluster, or with None, stays alone.
    """

    ids: Mapping[str, Hashable] | Sequence[Hashable] = field(repr=False)
    cost: Cost = FREE

    def groups(self, records: Sequence[Record], earlier: Sequence[Group] = ()) -> list[Group]:
        """Which records are one person's."""
        before = (link for group in earlier for link in group.links)
        return forest(len(records), itertools.chain(before, self.links(records)))

    def links(self, records: Sequence[Record]) -> Iterator[Link]:
        """A link from each record to the previous one in its cluster."""
        if isinstance(self.ids, Mapping):
            ids = [self.ids.get(record.name) for record in records]
        else:
            ids = list(self.ids)
            if len(ids) != len(records):
                raise ArgumentError(
                    f"there are clusters for {len(ids)} records and {len(records)} records: give one each, "
                    "or a mapping from the records' names"
                )
        last: dict[Hashable, int] = {}
        for place, cluster in enumerate(ids):
            if cluster is not None:
                if cluster in last:
                    yield Link(last[cluster], place, ())
                last[cluster] = place
