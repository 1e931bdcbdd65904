"""Records in an adversary's hands, ready for questions: what if this one were released, or those removed?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np

from tacit.errors import ArgumentError
from tacit.person.model import Attribute, Comparer, Labels, Record, Reference
from tacit.person.model.labels import as_labels
from tacit.person.model.leakage import check_beta, leakage_of
from tacit.person.resolve.adversaries import Adversary, Cluster, Operator, said_by
from tacit.person.resolve.grouping import MOST_KEYS, agreements, forest, groups
from tacit.person.resolve.merging import merge
from tacit.person.resolve.resolver import Link, Resolver
from tacit.person.resolve.rules import Key, Rules
from tacit.person.resolve.steps import Clusters, Grouping, Resolve


@dataclass(frozen=True)
class Standing:
    """What an adversary has made of its records: each as the resolution has ``seen`` it, and as it is ``written`` when
    merged; and by the members of each cluster, the leakage of its merged record, clusters ordered by their first
    record."""

    seen: Sequence[Record]
    written: Sequence[Record]
    leakages: dict[tuple[int, ...], float]


class WhatIf:
    """What an adversary who has these records would learn if there were more of them, or fewer.

    Without a reference there are dips but no leakages; recall counts ``beta`` times as much as precision.

    Notes
    -----
    **Guarantee.** Every leakage is that of `tacit.person.leakage` on the changed records. Where the adversary resolves
    by rules to the fix-point, a change touches only the clusters of the records in question: only they are resolved,
    merged under the adversary's policy and measured again. Other adversaries start afresh.

    Examples
    --------
    >>> from tacit.person import Resolve
    >>> shop = [Record([("N", "n1"), ("C", "c1"), ("P", "p1")]), Record([("N", "n1"), ("C", "c2")])]
    >>> alice = Reference([("N", "n1"), ("C", "c1"), ("C", "c2"), ("P", "p1"), ("A", "a1")])
    >>> held = WhatIf(shop, alice, Adversary("shop", [Resolve(Rules([["N", "C"], ["N", "P"]]))]))
    >>> round(held.leakage, 4), round(held.with_record(Record([("N", "n1"), ("C", "c2"), ("P", "p1")])), 4)
    (0.75, 0.8889)
    """

    def __init__(
        self,
        records: Iterable[Record],
        reference: Reference | None = None,
        adversary: Adversary | Operator | None = None,
        labels: Labels | None = None,
        *,
        beta: float = 1.0,
    ) -> None:
        check_beta(beta)
        self.reference = reference
        self.labels = as_labels(None, labels)
        self._hands = _hands(tuple(records), reference, adversary, self.labels, beta)

    @classmethod
    def over(
        cls,
        records: Iterable[Record] | WhatIf,
        reference: Reference | None,
        adversary: Adversary | Operator | None,
        labels: Labels | None,
    ) -> WhatIf:
        """A what-if over the records and adversary; a `WhatIf` is returned unchanged, with its own."""
        return records if isinstance(records, WhatIf) else cls(records, reference, adversary, labels)

    def __len__(self) -> int:
        return len(self.records)

    def __repr__(self) -> str:
        return f"WhatIf({len(self):,} record{'' if len(self) == 1 else 's'})"

    @property
    def records(self) -> Sequence[Record]:
        """The original records, then those that were added."""
        return self._hands.given

    @property
    def leakage(self) -> float:
        """The current leakage."""
        self._check_measured()
        return self._hands.leakage()

    def add(self, record: Record) -> float:
        """Add a record at the last place, until it is undone, and return the leakage."""
        self._check_measured()
        self._hands.add(record)
        return self._hands.leakage()

    def undo(self) -> None:
        """Take back the last record added."""
        self._hands.undo()

    def with_record(self, record: Record) -> float:
        """The leakage if this record were there too."""
        return self.with_records((record,))

    def with_records(self, records: Iterable[Record]) -> float:
        """The leakage if these records were there too."""
        with self.adding(records):
            return self.leakage

    @contextmanager
    def adding(self, records: Iterable[Record]) -> Iterator[None]:
        """Add these records until the block ends."""
        self._check_measured()
        more = tuple(records)
        self._hands.expect(more)
        for record in more:
            self._hands.add(record)
        try:
            yield
        finally:
            for _ in more:
                self._hands.undo()

    def without(self, members: Collection[int]) -> float:
        """The leakage if the records at these places were not there."""
        self._check_measured()
        gone = frozenset(members)
        if gone and not (min(gone) >= 0 and max(gone) < len(self)):
            raise ArgumentError(f"there is no record at a place to remove: places run from 0 to {len(self) - 1}")
        return self._hands.without(gone)

    def dip(self, query: Record) -> Cluster:
        """What the query ends up merged with; the query itself is the member after the last record."""
        return self.dips(query)[0]

    def dips(self, query: Record) -> tuple[Cluster, ...]:
        """What the query is merged with, then what fewer of several resolutions merge it with, if those are kept."""
        self._hands.expect((query,))
        return self._hands.dips(query)

    def standing(self) -> Standing:
        """What the adversary has made of the records, without resolving them again."""
        self._check_measured()
        return self._hands.standing()

    def expect(self, records: Iterable[Record]) -> None:
        """Prepare records that will be asked about, all at once: cheaper where a step looks things up in a table."""
        self._hands.expect(tuple(records))

    def _check_measured(self) -> None:
        if self.reference is None:
            raise ArgumentError("there is no reference to measure against: give the person's")


def _hands(
    records: tuple[Record, ...],
    reference: Reference | None,
    adversary: Adversary | Operator | None,
    labels: Labels,
    beta: float,
) -> _Anew:
    who = Adversary("nobody") if adversary is None else adversary
    meter = _Meter(reference, labels, beta)
    if not isinstance(who, Adversary):
        return _Anew(records, meter, who, labels)
    if any(isinstance(step, Grouping) for step in who.steps):
        rules = who.rules
    else:
        # An adversary that resolves nothing gets rules that match nothing, unless a step looks at all records at once.
        rules = replace(who, steps=(*who.steps, Resolve(Rules([])))).rules
    return _Anew(records, meter, who, labels) if rules is None else _Resolved(records, meter, who, rules, labels)


class _Anew:
    """An adversary that must start afresh for every question."""

    def __init__(
        self, records: Sequence[Record], meter: _Meter, adversary: Adversary | Operator, labels: Labels
    ) -> None:
        self.given = list(records)
        self._count = len(self.given)
        self._meter = meter
        self._adversary = adversary
        self._labels = labels

    def expect(self, records: Sequence[Record]) -> None:
        """Prepare records that will be asked about."""

    def leakage(self) -> float:
        return self.without(frozenset())

    def add(self, record: Record) -> None:
        self.given.append(record)

    def undo(self) -> None:
        if len(self.given) == self._count:
            raise ArgumentError("there is nothing to undo: no record was added")
        self.given.pop()

    def without(self, gone: frozenset[int]) -> float:
        left = [place for place in range(len(self.given)) if place not in gone]
        records = [self.given[place] for place in left]
        adversary = self._over(left)
        if isinstance(adversary, Adversary):
            clusters = adversary.holdings(records, self._labels).candidates
            candidates: Iterable[Record] = (cluster.record for cluster in clusters)
        else:
            candidates = adversary(records)
        return max(map(self._meter.of, candidates), default=0.0)

    def dips(self, query: Record) -> tuple[Cluster, ...]:
        place = len(self.given)
        adversary = self._over(range(place + 1))
        if not isinstance(adversary, Adversary):
            raise ArgumentError("the adversary is a function, which does not say what merged: give an Adversary")
        holdings = adversary.holdings([*self.given, query], self._labels)
        clusters = (*holdings.clusters, *holdings.kept_clusters())
        return tuple(cluster for cluster in clusters if place in cluster.members)

    def standing(self) -> Standing:
        assert isinstance(self._adversary, Adversary)
        holdings = self._adversary.holdings(self.given, self._labels)
        prepared = self._adversary.prepared(self.given, self._labels)
        values = {cluster.members: self._meter.of(cluster.record) for cluster in holdings.clusters}
        return Standing(prepared, holdings.records, values)

    def _over(self, places: Sequence[int]) -> Adversary | Operator:
        """The adversary, with clusters that are listed by place restricted to the places of these records."""
        if not isinstance(self._adversary, Adversary):
            return self._adversary
        steps = [_moved(step, places) if isinstance(step, Clusters) else step for step in self._adversary.steps]
        return replace(self._adversary, steps=steps)


def _moved(step: Clusters, places: Sequence[int]) -> Clusters:
    ids = step.ids
    if not isinstance(ids, Sequence):
        return step
    # Whoever made the clusters did not see a record that was added later: it stays alone.
    return replace(step, ids=[ids[place] if place < len(ids) else None for place in places])


@dataclass(eq=False)
class _Entry:
    """What the steps make of a record: as the resolution sees it, and as it is merged.

    The ``token`` is a number that stands for its contents, negative if nothing in it is right.
    """

    token: int
    seen: Record
    written: Record
    keys: tuple[Key, ...] | None = None


@dataclass
class _Frame:
    """What one ``add`` changed, beyond the resolver."""

    cluster: int
    touched: tuple[int, ...]
    changed: dict[int, float]
    kept: float


class _Resolved(_Anew):
    """An adversary that resolves by rules: a resolver keeps the clusters, and only changed ones are measured again."""

    _adversary: Adversary

    def __init__(
        self, records: Sequence[Record], meter: _Meter, adversary: Adversary, rules: Rules, labels: Labels
    ) -> None:
        super().__init__(records, meter, adversary, labels)
        self._rules = rules
        self._values_only = replace(adversary, steps=[s for s in adversary.steps if not isinstance(s, Grouping)])
        self._late = bool(adversary.steps) and not isinstance(adversary.steps[-1], Grouping)
        self._known: dict[tuple[Attribute, ...], _Entry] = {}
        self._measured: dict[tuple[int, ...], float] = {}
        self._splits: dict[tuple[int, ...], float] = {}
        self.expect(self.given)
        self._entries = [self._known[record.attributes] for record in self.given]
        self._tokens = [entry.token for entry in self._entries]
        self._resolver = Resolver.of((entry.seen for entry in self._entries), rules)
        self._hidden: Counter[int] = Counter()
        self._changed: dict[int, float] = {}
        self._frames: list[_Frame] = []
        self._home: dict[int, int] | None = None
        values = {cluster: self._cluster_value(cluster) for cluster in self._resolver.clusters if meter.ready}
        # Sorted once: a question hides the few clusters it touches and takes the first that is not hidden.
        self._order = sorted(values.items(), key=lambda item: -item[1])
        alone = enumerate(map(meter.of, self.given)) if adversary.keep_base and meter.ready else ()
        self._alone = sorted(alone, key=lambda item: -item[1])
        self._kept = 0.0

    def expect(self, records: Sequence[Record]) -> None:
        new = list({r.attributes: r for r in records if r.attributes not in self._known}.values())
        if not new:
            return
        prepared = self._adversary.prepared(new, self._labels)
        written = self._values_only.prepared(new, self._labels) if self._late else prepared
        for record, before, after in zip(new, prepared, written, strict=True):
            sign = 1 if self._meter.hopeful(after) else -1
            self._known[record.attributes] = _Entry(sign * (len(self._known) + 1), before, after)

    def leakage(self) -> float:
        return max(self._untouched(()), self._kept, self._best_alone(frozenset()), *self._changed.values())

    def _untouched(self, touched: Collection[int]) -> float:
        """The largest leakage of a cluster that no added record and no removal touched."""
        return next((v for c, v in self._order if not self._hidden[c] and c not in touched), 0.0)

    def _best_alone(self, gone: frozenset[int]) -> float:
        return next((value for place, value in self._alone if place not in gone), 0.0)

    def add(self, record: Record) -> None:
        self.expect((record,))
        entry = self._known[record.attributes]
        cluster = self._resolver.add(entry.seen, len(self.given))
        self.given.append(record)
        self._entries.append(entry)
        self._tokens.append(entry.token)
        touched = self._resolver.absorbed
        before = {c: self._changed.pop(c) for c in touched if c in self._changed}
        self._frames.append(_Frame(cluster, touched, before, self._kept))
        self._hidden.update(touched)
        if self._meter.ready:
            self._changed[cluster] = self._cluster_value(cluster)
            if self._adversary.keep_base:
                self._kept = max(self._kept, self._meter.of(record))
        self._home = None

    def undo(self) -> None:
        super().undo()
        frame = self._frames.pop()
        self._changed.pop(frame.cluster, None)
        self._changed.update(frame.changed)
        self._hidden.subtract(frame.touched)
        self._kept = frame.kept
        self._resolver.undo()
        self._entries.pop()
        self._tokens.pop()
        self._home = None

    def without(self, gone: frozenset[int]) -> float:
        touched = {self._homes()[member] for member in gone}
        values = [self._untouched(touched), self._best_alone(gone)]
        values.extend(value for cluster, value in self._changed.items() if cluster not in touched)
        values.extend(self._split(cluster, gone) for cluster in touched)
        if self._adversary.keep_base:
            added = range(self._count, len(self.given))
            values.extend(self._meter.of(self.given[place]) for place in added if place not in gone)
        return max(values)

    def _homes(self) -> dict[int, int]:
        if self._home is None:
            self._home = {m: c for c, cluster in self._resolver.clusters.items() for m in cluster.members}
        return self._home

    def _split(self, cluster: int, gone: frozenset[int]) -> float:
        """The leakage of what is left of a cluster, resolved again: fewer records never join with other clusters."""
        left = sorted(member for member in self._resolver.clusters[cluster].members if member not in gone)
        key = tuple(sorted(self._tokens[member] for member in left))
        if key not in self._splits:
            self._splits[key] = max(map(self._value, self._parts(left)), default=0.0)
        return self._splits[key]

    def _parts(self, left: Sequence[int]) -> list[list[int]]:
        """The clusters that these records fall into.

        First by the keys of the base records, which are known: what is left of a cluster usually still holds together.
        Only what does not is merged and matched again; so are records with too many keys.
        """
        entries = [self._entries[member] for member in left]
        agreed = agreements(map(self._keys, entries))
        parts = forest(len(left), (Link(owner, place, ()) for owner, place, _ in agreed))
        if len(parts) > 1 and not self._rules.single_labels_only:
            parts = groups([entry.seen for entry in entries], self._rules, earlier=parts)
        return [[left[place] for place in part.members] for part in parts]

    def _keys(self, entry: _Entry) -> tuple[Key, ...]:
        if entry.keys is None:
            entry.keys = tuple(self._rules.keys(entry.seen, MOST_KEYS))
        return entry.keys

    def dips(self, query: Record) -> tuple[Cluster, ...]:
        self.expect((query,))
        entry = self._known[query.attributes]
        resolved = self._resolver.peek(entry.seen, len(self.given))
        members = tuple(sorted(resolved.members))
        written = {m: (self._entries[m] if m < len(self._entries) else entry).written for m in members}
        record = merge(list(written.values()), self._adversary.merge, self._labels)
        return (Cluster(record, members, tuple(resolved.links), said_by(record, written)),)

    def standing(self) -> Standing:
        clusters = sorted(tuple(sorted(cluster.members)) for cluster in self._resolver.clusters.values())
        prepared, written = ([getattr(entry, name) for entry in self._entries] for name in ("seen", "written"))
        return Standing(prepared, written, {members: self._value(members) for members in clusters})

    def _value(self, members: Sequence[int], cluster: int | None = None) -> float:
        """The leakage of these records merged; for an existing ``cluster`` the resolver may have the merged facts."""
        key = tuple(sorted([self._tokens[member] for member in members]))
        # No policy adds a fact: if no record says anything right, neither does the merged one.
        if not key or key[-1] < 0:
            return 0.0
        if key not in self._measured:
            self._measured[key] = self._meter.measure(self._merged(members, cluster))
        return self._measured[key]

    def _cluster_value(self, cluster: int) -> float:
        return self._value(self._resolver.clusters[cluster].members, cluster)

    def _merged(self, members: Sequence[int], cluster: int | None) -> Record:
        if cluster is None or self._late or self._adversary.merge != "union":
            written = [self._entries[member].written for member in sorted(members)]
            return merge(written, self._adversary.merge, self._labels)
        # The resolver keeps the union up to date: no need to go through a thousand members to add one.
        facts = self._resolver.clusters[cluster].facts.items()
        return Record.trusted(Attribute(label, value, confidence) for (label, value), confidence in facts)


class _Meter:
    """Leakages against one reference."""

    def __init__(self, reference: Reference | None, labels: Labels, beta: float) -> None:
        self.ready = reference is not None
        self._beta = beta
        self._comparer = Comparer(reference, labels) if reference is not None else None
        self._leakages: dict[tuple[Attribute, ...], float] = {}

    def of(self, record: Record) -> float:
        """The leakage of one record, cached."""
        leakage = self._leakages.get(record.attributes)
        if leakage is None:
            leakage = self._leakages[record.attributes] = self.measure(record)
        return leakage

    def measure(self, record: Record) -> float:
        """The leakage of one record."""
        assert self._comparer is not None
        return leakage_of(self._comparer.compare(record), beta=self._beta)

    def hopeful(self, record: Record) -> bool:
        """Whether the record can have any leakage."""
        # A hit without credit of its own may still be right about the weight that correlated labels share.
        return self._comparer is not None and bool(np.any(self._comparer.compare(record).hit >= 0))
