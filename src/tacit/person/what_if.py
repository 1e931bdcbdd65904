"""Records in an adversary's hands, ready for questions: what if this one were released, or those removed?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from tacit.errors import ArgumentError
from tacit.person.adversaries import Adversary, Cluster, Clusters, Operator, Resolve, sayers
from tacit.person.comparing import Comparer
from tacit.person.labels import Labels
from tacit.person.leakage import check_beta, leakage_of
from tacit.person.merging import merge
from tacit.person.records import Attribute, Record, Reference
from tacit.person.resolver import Resolver
from tacit.person.rules import Key, Rules
from tacit.person.swoosh import MOST_KEYS


class WhatIf:
    """What an adversary who has these records would learn if there were others, or fewer.

    Parameters
    ----------
    records : iterable of Record
    reference : Reference, optional
        The person; without one there are dips and no leakages.
    adversary : Adversary, function from records to records, or None
    labels : Labels, optional
    beta : float
        Recall counts so many times as much as precision.

    Notes
    -----
    **Guarantee.** Every leakage is that of `tacit.person.adversaries.leakage` on the changed records. Where the
    adversary resolves by rules to the fix-point, a change touches only the clusters of the records in question: they
    alone are resolved, merged under the adversary's policy and measured again. Other adversaries start anew.

    Examples
    --------
    >>> from tacit.person.adversaries import Resolve
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
        given = tuple(records)
        self.reference = reference
        self.labels = known = labels if labels is not None else Labels()
        who = Adversary("nobody") if adversary is None else adversary
        rules = _rules(who) if isinstance(who, Adversary) else None
        self._hands: _Hands
        if rules is not None and isinstance(who, Adversary):
            self._hands = _Resolved(given, _Meter(reference, known, beta), who, rules, known)
        else:
            self._hands = _Anew(given, _Meter(reference, known, beta), who, known)

    def __len__(self) -> int:
        return len(self.records)

    def __repr__(self) -> str:
        return f"WhatIf({len(self):,} record{'' if len(self) == 1 else 's'})"

    @property
    def records(self) -> Sequence[Record]:
        """The records as they were given, then those that were added."""
        return self._hands.given

    @property
    def leakage(self) -> float:
        """The leakage as things stand."""
        self._check_measured()
        return self._hands.leakage()

    def add(self, record: Record) -> float:
        """Add a record, until it is undone, and return the leakage; its place is the last."""
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
        self._check_measured()
        more = tuple(records)
        self._hands.expect(more)
        for record in more:
            self._hands.add(record)
        found = self._hands.leakage()
        for _ in more:
            self._hands.undo()
        return found

    def without(self, members: Collection[int]) -> float:
        """The leakage if the records at these places were not there."""
        self._check_measured()
        gone = frozenset(members)
        if gone and not (min(gone) >= 0 and max(gone) < len(self)):
            raise ArgumentError(f"there is no record at a place to remove: places run from 0 to {len(self) - 1}")
        return self._hands.without(gone)

    def dip(self, query: Record) -> Cluster:
        """What the query ends up merged with; the query itself is the member after the last record."""
        self._hands.expect((query,))
        return self._hands.dip(query)

    def expect(self, records: Iterable[Record]) -> None:
        """Prepare records that will be asked about, all at once: cheaper where a step looks things up in a table."""
        self._hands.expect(tuple(records))

    def _check_measured(self) -> None:
        if self.reference is None:
            raise ArgumentError("there is no reference to measure against: give the person's")


def _rules(adversary: Adversary) -> Rules | None:
    """The rules with which clusters can be kept up to date; none that match anything if nothing is resolved."""
    grouping = any(isinstance(step, Resolve | Clusters) for step in adversary.steps)
    if grouping:
        return adversary.rules
    # Whether the other steps take each record by itself is for the adversary to say.
    return replace(adversary, steps=(*adversary.steps, Resolve(Rules([])))).rules


class _Hands(Protocol):
    """What both kinds of holding can do."""

    given: list[Record]

    def expect(self, records: Sequence[Record]) -> None: ...
    def leakage(self) -> float: ...
    def add(self, record: Record) -> None: ...
    def undo(self) -> None: ...
    def without(self, gone: frozenset[int]) -> float: ...
    def dip(self, query: Record) -> Cluster: ...


class _Anew:
    """An adversary that must start anew for every question."""

    def __init__(self, given: Sequence[Record], meter: _Meter, adversary: Adversary | Operator, labels: Labels) -> None:
        self.given = list(given)
        self._count = len(self.given)
        self._meter = meter
        self._adversary = adversary
        self._labels = labels

    def expect(self, records: Sequence[Record]) -> None:
        pass

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
            held: Iterable[Record] = (c.record for c in adversary.holdings(records, self._labels).candidates)
        else:
            held = adversary(records)
        return max((self._meter.of(record) for record in held if self._meter.token(record) > 0), default=0.0)

    def dip(self, query: Record) -> Cluster:
        place = len(self.given)
        adversary = self._over(range(place + 1))
        if not isinstance(adversary, Adversary):
            raise ArgumentError("the adversary is a function, which does not say what merged: give an Adversary")
        held = adversary.holdings([*self.given, query], self._labels)
        return next(cluster for cluster in held.clusters if place in cluster.members)

    def _over(self, places: Sequence[int]) -> Adversary | Operator:
        """The adversary, with clusters that are given by place moved to the places of these records."""
        if not isinstance(self._adversary, Adversary):
            return self._adversary
        steps = [_moved(step, places) if isinstance(step, Clusters) else step for step in self._adversary.steps]
        return replace(self._adversary, steps=steps)


def _moved(step: Clusters, places: Sequence[int]) -> Clusters:
    ids = step.ids
    if not isinstance(ids, Sequence):
        return step
    # A record that came later was not seen by whoever made the clusters: it stays alone.
    return replace(step, ids=[ids[place] if place < len(ids) else None for place in places])


@dataclass
class _Frame:
    """What one ``add`` changed, beyond the resolver."""

    cluster: int
    touched: tuple[int, ...]
    changed: dict[int, float]
    kept: float


class _Resolved:
    """An adversary that resolves by rules: a resolver keeps the clusters, only what is touched is measured again."""

    def __init__(
        self, given: Sequence[Record], meter: _Meter, adversary: Adversary, rules: Rules, labels: Labels
    ) -> None:
        self.given = list(given)
        self._adversary = adversary
        self._rules = rules
        self._labels = labels
        self._steps = _Steps(adversary, rules, labels)
        self._meter = meter
        self.expect(self.given)
        prepared = [self._steps.prepared(record) for record in self.given]
        self._final = [self._steps.final(record) for record in self.given]
        self._tokens = [self._meter.token(record) for record in self._final]
        self._resolver = Resolver.of(prepared, rules)
        self._hidden: Counter[int] = Counter()
        self._changed: dict[int, float] = {}
        self._frames: list[_Frame] = []
        self._home: dict[int, int] | None = None
        self._splits: dict[tuple[int, ...], float] = {}
        held = self._resolver.members if self._meter.ready else {}
        values = {cluster: self._cluster_value(cluster) for cluster in held}
        # Sorted once: a question hides the few clusters it touches and looks for the first that is not hidden.
        self._order = sorted(values.items(), key=lambda item: -item[1])
        alone = enumerate(map(self._meter.of, self.given)) if adversary.keep_base and self._meter.ready else ()
        self._alone = sorted(alone, key=lambda item: -item[1])
        self._kept = 0.0

    def expect(self, records: Sequence[Record]) -> None:
        self._steps.expect(records)

    def leakage(self) -> float:
        return max(self._standing(()), self._kept, self._best_alone(frozenset()), *self._changed.values())

    def _standing(self, touched: Collection[int]) -> float:
        """The largest leakage of a cluster that no added record and no removal touched."""
        return next((v for c, v in self._order if not self._hidden[c] and c not in touched), 0.0)

    def _best_alone(self, gone: frozenset[int]) -> float:
        return next((value for place, value in self._alone if place not in gone), 0.0)

    def add(self, record: Record) -> None:
        self.expect((record,))
        member = len(self.given)
        self.given.append(record)
        self._final.append(self._steps.final(record))
        self._tokens.append(self._meter.token(self._final[-1]))
        cluster = self._resolver.add(self._steps.prepared(record), member)
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
        if not self._frames:
            raise ArgumentError("there is nothing to undo: no record was added")
        frame = self._frames.pop()
        self._changed.pop(frame.cluster, None)
        self._changed.update(frame.changed)
        self._hidden.subtract(frame.touched)
        self._kept = frame.kept
        self._resolver.undo()
        self.given.pop()
        self._final.pop()
        self._tokens.pop()
        self._home = None

    def without(self, gone: frozenset[int]) -> float:
        touched = {self._homes()[member] for member in gone}
        found = [self._standing(touched), self._best_alone(gone)]
        found.extend(value for cluster, value in self._changed.items() if cluster not in touched)
        found.extend(self._split(cluster, gone) for cluster in touched)
        if self._adversary.keep_base:
            added = range(len(self.given) - len(self._frames), len(self.given))
            found.extend(self._meter.of(self.given[place]) for place in added if place not in gone)
        return max(found)

    def _homes(self) -> dict[int, int]:
        if self._home is None:
            self._home = {m: cluster for cluster, members in self._resolver.members.items() for m in members}
        return self._home

    def _split(self, cluster: int, gone: frozenset[int]) -> float:
        """The leakage of what is left of a cluster, resolved again: resolution only ever joins more with more."""
        left = sorted(member for member in self._resolver.members[cluster] if member not in gone)
        tokens = tuple(sorted(self._steps.token(self.given[member]) for member in left))
        if tokens not in self._splits:
            self._splits[tokens] = max(map(self._value, self._resolve(left)), default=0.0)
        return self._splits[tokens]

    def _resolve(self, left: Sequence[int]) -> list[list[int]]:
        """The clusters of some of the records.

        First by the keys of the base records, which are known: what is left of a cluster mostly still hangs together.
        Only what does not is merged and matched again.
        """
        parts: dict[int, list[int]] = {member: [member] for member in left}
        part_of: dict[Key, int] = {}
        top = {member: member for member in left}
        for member in left:
            for key in self._steps.keys(self.given[member]):
                one, other = top[part_of.setdefault(key, member)], top[member]
                if one != other:
                    small, large = sorted((one, other), key=lambda part: len(parts[part]))
                    for moved in parts[small]:
                        top[moved] = large
                    parts[large].extend(parts.pop(small))
        found = list(parts.values())
        if len(found) == 1 or self._rules.single_labels_only:
            return found
        merged = [merge([self._steps.prepared(self.given[m]) for m in part]) for part in found]
        again = Resolver.of(merged, self._rules)
        return [[m for place in places for m in found[place]] for places in again.members.values()]

    def dip(self, query: Record) -> Cluster:
        self.expect((query,))
        resolved = self._resolver.peek(self._steps.prepared(query), len(self.given))
        members = tuple(sorted(resolved.members))
        held = {m: self._final[m] if m < len(self._final) else self._steps.final(query) for m in members}
        record = merge(list(held.values()), self._adversary.merge, self._labels)
        return Cluster(record, members, tuple(resolved.links), sayers(record, held))

    def _value(self, members: Sequence[int]) -> float:
        """The leakage of some records merged."""
        return self._meter.merged([self._tokens[member] for member in members], lambda: self._merge(members))

    def _cluster_value(self, cluster: int) -> float:
        """The leakage of a cluster as it stands."""
        tokens = [self._tokens[member] for member in self._resolver.members[cluster]]
        return self._meter.merged(tokens, lambda: self._merge_cluster(cluster))

    def _merge(self, members: Iterable[int]) -> Record:
        return merge([self._final[member] for member in sorted(members)], self._adversary.merge, self._labels)

    def _merge_cluster(self, cluster: int) -> Record:
        if self._steps.late or self._adversary.merge != "union":
            return self._merge(self._resolver.members[cluster])
        # The resolver keeps the union up to date: no need to go through a thousand members for one more.
        facts = self._resolver.clusters[cluster].items()
        return Record.trusted(Attribute(label, value, confidence) for (label, value), confidence in facts)


class _Steps:
    """What an adversary's steps make of each record by itself, remembered."""

    def __init__(self, adversary: Adversary, rules: Rules, labels: Labels) -> None:
        self._adversary = adversary
        self._rules = rules
        self._keys: dict[int, tuple[Key, ...]] = {}
        self._values_only = replace(
            adversary, steps=[step for step in adversary.steps if not isinstance(step, Resolve | Clusters)]
        )
        self._labels = labels
        # Whether a step changes values after the resolution.
        self.late = bool(adversary.steps) and not isinstance(adversary.steps[-1], Resolve | Clusters)
        self._known: dict[tuple[Attribute, ...], tuple[Record, Record, int]] = {}

    def expect(self, records: Sequence[Record]) -> None:
        new = list({r.attributes: r for r in records if r.attributes not in self._known}.values())
        if not new:
            return
        prepared = self._adversary.prepared(new, self._labels)
        final = self._values_only.prepared(new, self._labels)
        for record, seen, written in zip(new, prepared, final, strict=True):
            self._known[record.attributes] = seen, written, len(self._known)

    def prepared(self, record: Record) -> Record:
        """As the resolution sees it."""
        return self._known[record.attributes][0]

    def final(self, record: Record) -> Record:
        """As it is merged."""
        return self._known[record.attributes][1]

    def token(self, record: Record) -> int:
        """A number for what the record says."""
        return self._known[record.attributes][2]

    def keys(self, record: Record) -> tuple[Key, ...]:
        """What the record is found by, unless that is too much."""
        number = self.token(record)
        if number not in self._keys:
            # What has too many keys is found when the parts are matched again.
            self._keys[number] = tuple(self._rules.keys(self.prepared(record), MOST_KEYS))
        return self._keys[number]


class _Meter:
    """Leakages against one reference, remembered."""

    def __init__(self, reference: Reference | None, labels: Labels, beta: float) -> None:
        self.ready = reference is not None
        self._beta = beta
        self._comparer = Comparer(reference, labels) if reference is not None else None
        self._labels = labels
        self._alone: dict[tuple[Attribute, ...], float] = {}
        self._merged: dict[tuple[int, ...], float] = {}
        self._hopeful: dict[tuple[Attribute, ...], int] = {}

    def of(self, record: Record) -> float:
        """The leakage of one record."""
        if record.attributes not in self._alone:
            assert self._comparer is not None
            self._alone[record.attributes] = leakage_of(self._comparer.compare(record), beta=self._beta)
        return self._alone[record.attributes]

    def merged(self, tokens: Sequence[int], merged: Callable[[], Record]) -> float:
        """The leakage of records with these tokens, merged."""
        # No policy adds a fact, so where no record says anything right, the merged one does not.
        if all(token < 0 for token in tokens):
            return 0.0
        key = tuple(sorted(tokens))
        if key not in self._merged:
            assert self._comparer is not None
            self._merged[key] = leakage_of(self._comparer.compare(merged()), beta=self._beta)
        return self._merged[key]

    def token(self, record: Record) -> int:
        """A number for what the record says; negative if nothing of it is right."""
        found = self._hopeful.get(record.attributes)
        if found is None:
            # A hit without credit of its own may be right about what correlated labels share.
            right = self._comparer is not None and bool(np.any(self._comparer.compare(record).hit >= 0))
            found = self._hopeful[record.attributes] = (1 if right else -1) * (len(self._hopeful) + 1)
        return found
