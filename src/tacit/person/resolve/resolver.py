"""An incremental resolver: records are added one by one, and the last ones can be taken back."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from tacit.errors import ArgumentError
from tacit.person.model import Record
from tacit.person.model.records import Fact
from tacit.person.resolve.rules import Facts, Key, Rules, facts_of


class Link(NamedTuple):
    """Two records were joined because values of these labels agree.

    Where the values had been gathered from several records, each side is the record that carries most of them. A link
    without labels comes from outside.
    """

    left: int
    right: int
    labels: tuple[str, ...]


# By label, the values that count in matching, each with the first member that carries it.
_Values = dict[str, dict[str, int]]


@dataclass
class Resolved:
    """One cluster: each fact with its best confidence, the records in it, and why they belong together (a tree)."""

    facts: dict[Fact, float] = field(repr=False)
    members: list[int]
    links: list[Link]
    values: _Values = field(repr=False)

    def copy(self) -> Resolved:
        """A snapshot that later records do not change, without the values used for matching."""
        return Resolved(dict(self.facts), list(self.members), list(self.links), {})


@dataclass(repr=False)
class _Absorption:
    home: int
    other: int
    absorbed: Resolved
    before: list[tuple[Fact, float | None]]
    fresh: list[Fact]
    n_members: int
    n_links: int


@dataclass(repr=False)
class _Addition:
    """Everything that one call of ``add`` did, in order, so that it can be undone."""

    cluster: int
    keys: list[Key] = field(default_factory=list)
    held: list[Fact] = field(default_factory=list)
    wide: list[int] = field(default_factory=list)
    absorptions: list[_Absorption] = field(default_factory=list)


class Resolver:
    """Records resolved as R-Swoosh would, kept up to date record by record.

    Parameters
    ----------
    rules : Rules
        When records match.
    wide : int
        A merged record with more keys than this for one alternative (a thousand names times a thousand cards, because
        everybody left the same telephone number) is found by its values, not by keys. Affects time, not results.

    Attributes
    ----------
    clusters : dict from cluster to Resolved
        The resolver's own objects: read them, do not change them.
    absorbed : tuple of int
        The clusters that existed before the last ``add`` and were joined by it.

    Notes
    -----
    **Guarantee.** After any records in any order, the clusters are those of R-Swoosh with union merging. What was
    resolved before is a fix-point, so only the cluster of the new record can change: its keys are looked up, their
    owners are absorbed, and what is new is looked up again. The smaller cluster always moves into the larger, so an
    ``add`` costs about the size of what is new. ``undo`` restores exactly the previous state.

    Examples
    --------
    >>> resolver = Resolver(Rules([["name"]]))
    >>> first = resolver.add(Record([("name", "Alice"), ("phone", "123")]))
    >>> second = resolver.add(Record([("name", "Alice"), ("card", "999")]))
    >>> resolver.clusters[second].members
    [0, 1]
    >>> resolver.undo()
    >>> resolver.clusters[first].members
    [0]
    """

    def __init__(self, rules: Rules, *, wide: int = 256) -> None:
        self.rules = rules
        self._limit = wide
        self.clusters: dict[int, Resolved] = {}
        # An absorbed cluster points to its absorber, so that its keys need not be rewritten.
        self._forward: dict[int, int] = {}
        self._owner: dict[Key, int] = {}
        self._sets = [frozenset(labels) for labels in rules.alternatives]
        self._joint = frozenset(label for labels in rules.alternatives if len(labels) > 1 for label in labels)
        self._holders: dict[Fact, list[int]] = {}
        self._wide: list[list[int]] = [[] for _ in rules.alternatives]
        self._log: list[_Addition] = []
        self._count = 0
        self.absorbed: tuple[int, ...] = ()

    @classmethod
    def of(cls, records: Iterable[Record | Facts], rules: Rules) -> Resolver:
        """A resolver that holds these records, member i being the i-th; they cannot be undone."""
        resolver = cls(rules)
        for member, record in enumerate(records):
            resolver.add(record, member)
            resolver.settle()
        return resolver

    def add(self, record: Record | Facts, member: int | None = None) -> int:
        """Add a record and return the cluster that now holds it; ``member`` is its name in traces."""
        done = _Addition(self._count)
        home = done.cluster
        mark = self._count if member is None else member
        counting = self.rules.values(record)
        values = {label: dict.fromkeys(label_values, mark) for label, label_values in counting.items()}
        fresh = [(label, value) for label, label_values in counting.items() for value in label_values]
        self.clusters[home] = Resolved(dict(facts_of(record)), [mark], [], values)
        self._count += 1
        self._log.append(done)
        self._hold(home, fresh, done)
        touched: list[int] = []
        while fresh:
            hits = self._hits(home, fresh, done)
            if not hits:
                break
            touched.extend(hits)
            home, fresh = self._merge(home, hits, done)
        self.absorbed = tuple(cluster for cluster in dict.fromkeys(touched) if cluster != done.cluster)
        return home

    def undo(self) -> None:
        """Take back the last ``add`` that was neither undone nor settled."""
        if not self._log:
            raise ArgumentError("there is nothing to undo: no record was added since the resolver was settled")
        done = self._log.pop()
        for absorption in reversed(done.absorptions):
            self._release(absorption)
        for place in reversed(done.wide):
            self._wide[place].pop()
        for fact in reversed(done.held):
            holders = self._holders[fact]
            holders.pop()
            if not holders:
                del self._holders[fact]
        for key in done.keys:
            del self._owner[key]
        del self.clusters[done.cluster]
        self._count = done.cluster
        self.absorbed = ()

    def settle(self) -> None:
        """Make what was added so far permanent: it can no longer be undone."""
        self._log.clear()

    def peek(self, record: Record | Facts, member: int | None = None) -> Resolved:
        """The cluster a record would end up in; the resolver does not change. With a query, this is dipping."""
        before = self.absorbed
        result = self.clusters[self.add(record, member)].copy()
        self.undo()
        self.absorbed = before
        return result

    def _find(self, cluster: int) -> int:
        # No path compression, because undo needs the original pointers. Merging smaller into larger keeps paths short.
        while cluster in self._forward:
            cluster = self._forward[cluster]
        return cluster

    def _hold(self, home: int, fresh: Iterable[Fact], done: _Addition) -> None:
        for fact in fresh:
            if fact[0] in self._joint:
                self._holders.setdefault(fact, []).append(home)
                done.held.append(fact)

    def _hits(self, home: int, fresh: list[Fact], done: _Addition) -> dict[int, Link]:
        """The clusters that match the home cluster through facts that are new in it, each with the reason."""
        new: dict[str, list[str]] = {}
        for label, value in fresh:
            new.setdefault(label, []).append(value)
        values = self.clusters[home].values
        hits: dict[int, Link] = {}
        for place, labels in enumerate(self.rules.alternatives):
            if new.keys().isdisjoint(labels) or not values.keys() >= self._sets[place]:
                continue
            if len(labels) > 1 and self._widely(home, place, fresh, hits, done):
                continue
            for combination in _combinations(values, new, labels):
                key: Key = (place, *combination)
                owner = self._owner.get(key)
                if owner is None:
                    self._owner[key] = home
                    done.keys.append(key)
                elif (other := self._find(owner)) != home and other not in hits:
                    hits[other] = self._link(home, other, labels, combination)
        return hits

    def _widely(self, home: int, place: int, fresh: list[Fact], hits: dict[int, Link], done: _Addition) -> bool:
        """Try the wide clusters of an alternative; if the home cluster is wide too, try all holders of its values."""
        labels, values = self.rules.alternatives[place], self.clusters[home].values
        wide = {self._find(cluster) for cluster in self._wide[place]}
        for other in wide:
            self._try(home, other, labels, hits)
        if math.prod(len(values[label]) for label in labels) <= self._limit:
            return False
        if home not in wide:
            self._wide[place].append(home)
            done.wide.append(place)
        for fact in fresh:
            if fact[0] in labels:
                for other in {self._find(cluster) for cluster in self._holders[fact]}:
                    self._try(home, other, labels, hits)
        return True

    def _try(self, home: int, other: int, labels: tuple[str, ...], hits: dict[int, Link]) -> None:
        if other == home or other in hits:
            return
        shared: list[str] = []
        for label in labels:
            few, many = self.clusters[home].values[label], self.clusters[other].values.get(label, {})
            if len(few) > len(many):
                few, many = many, few
            agreed = next((value for value in few if value in many), None)
            if agreed is None:
                return
            shared.append(agreed)
        hits[other] = self._link(home, other, labels, tuple(shared))

    def _link(self, home: int, other: int, labels: tuple[str, ...], shared: tuple[str, ...]) -> Link:
        ends = []
        for cluster in (home, other):
            values = self.clusters[cluster].values
            carriers = [values[label][value] for label, value in zip(labels, shared, strict=True)]
            ends.append(max(carriers, key=carriers.count))
        return Link(min(ends), max(ends), labels)

    def _merge(self, home: int, hits: dict[int, Link], done: _Addition) -> tuple[int, list[Fact]]:
        """Merge the home cluster with all it matches; the largest stays, and what is new in it is returned."""
        group = [*hits, home]
        kept = max(group, key=lambda cluster: len(self.clusters[cluster].facts))
        fresh: list[Fact] = []
        links = list(hits.values())
        for other in group:
            if other != kept:
                # Each absorption brings one of the links, so that a cluster has one link fewer than members.
                fresh.extend(self._absorb(kept, other, links.pop(0), done))
        self._hold(kept, fresh, done)
        return kept, fresh

    def _absorb(self, home: int, other: int, link: Link, done: _Addition) -> list[Fact]:
        kept, absorbed = self.clusters[home], self.clusters.pop(other)
        before: list[tuple[Fact, float | None]] = []
        for fact, confidence in absorbed.facts.items():
            known = kept.facts.get(fact)
            if known is None or confidence > known:
                before.append((fact, known))
                kept.facts[fact] = confidence
        fresh: list[Fact] = []
        for label, carried in absorbed.values.items():
            mine = kept.values.setdefault(label, {})
            for value, member in carried.items():
                if value not in mine:
                    mine[value] = member
                    fresh.append((label, value))
        done.absorptions.append(_Absorption(home, other, absorbed, before, fresh, len(kept.members), len(kept.links)))
        kept.members.extend(absorbed.members)
        kept.links.extend(absorbed.links)
        kept.links.append(link)
        self._forward[other] = home
        return fresh

    def _release(self, absorption: _Absorption) -> None:
        kept = self.clusters[absorption.home]
        for fact, confidence in absorption.before:
            if confidence is None:
                del kept.facts[fact]
            else:
                kept.facts[fact] = confidence
        for label, value in absorption.fresh:
            del kept.values[label][value]
            if not kept.values[label]:
                del kept.values[label]
        del kept.members[absorption.n_members :]
        del kept.links[absorption.n_links :]
        del self._forward[absorption.other]
        self.clusters[absorption.other] = absorption.absorbed


def _combinations(values: _Values, new: dict[str, list[str]], labels: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """The combinations of values of the labels in which at least one is new, each once."""
    if len(labels) == 1:
        yield from zip(new[labels[0]])
        return
    for place, label in enumerate(labels):
        if label not in new:
            continue
        sides: list[Iterable[str]] = []
        for position, name in enumerate(labels):
            if position == place:
                sides.append(new[name])
            elif position < place and name in new:
                # Combinations with a new value further left were yielded earlier.
                brought = set(new[name])
                sides.append([value for value in values[name] if value not in brought])
            else:
                sides.append(values[name])
        yield from itertools.product(*sides)
