"""Which records are one person's: matching rules carried out in an engine, to the fix-point of R-Swoosh."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np

from tacit.person.link.attributes import (
    Attributes,
    IntArray,
    arrow_table,
    cluster_table,
    lent,
    listed,
    numbers,
    text_table,
)
from tacit.person.link.components import joined
from tacit.person.link.matching import TooRichError, matched
from tacit.person.resolve.grouping import Closure
from tacit.person.resolve.rules import Rules

if TYPE_CHECKING:
    import pyarrow as pa

Alternative = tuple[int, tuple[str, ...]]

# A cluster may have this many times as many keys as values; the combinations of a richer one are compared instead of
# written out, so that keys never outgrow the table.
KEYS_PER_VALUE = 16


def resolve(
    attributes: Attributes, rules: Rules | Iterable[Iterable[str] | str], *, closure: Closure = "swoosh"
) -> IntArray:
    """The cluster of every record, named by its smallest record.

    Parameters
    ----------
    attributes : Attributes
    rules : Rules, or alternatives of labels
        Two records match if for one alternative they share a value of every label in it; values held with less than
        the rules' least confidence, or with confidence 0, do not count.
    closure : {"swoosh", "components"}
        Whether merged records are matched again until nothing changes, as R-Swoosh does, or only base records.

    Returns
    -------
    int array, one entry per record

    Guarantees
    ----------
    The result does not depend on the order of records or on threads. It is exact unless two different keys have the
    same 64-bit hash: with m different keys the probability is at most m^2 / 2^65, for ten million 3 in a million, if
    values are not made to collide. Memory grows with the number of records (some 100 bytes each), not with the number
    of matching pairs.

    Notes
    -----
    A record has a key for every alternative and choice of its values; records that share a key are linked one to the
    next, and clusters are the components. A later round considers only clusters that grew in the round before: of two
    clusters that newly match, one has grown. Alternatives with one label need no later round, because merging makes no
    new value. A chain of merges in which each needs the one before takes one round for each.
    """
    wanted = rules if isinstance(rules, Rules) else Rules(rules)
    with suppress(TooRichError):
        return matched(attributes, wanted, counting(wanted), closure=closure, most=KEYS_PER_VALUE)
    if attributes.coded is not None:
        # Hashes are enough to see that two values are equal.
        there = f"label IN ({listed(attributes.store, wanted.labels)})"
        hashes = (
            f"SELECT vid, label, {attributes.store.hashed('value')} AS value FROM {attributes.coded.values} "
            f"WHERE {there}"
        )
        hashed = (
            f"SELECT r.rid, v.label, v.value, r.confidence FROM {attributes.coded.rows} r JOIN ({hashes}) v USING (vid)"
        )
        attributes = Attributes(attributes.store, attributes.store.make(hashed), attributes.records, attributes.several)
    matcher = _Matcher(attributes, wanted)
    try:
        grown = matcher.first_round()
        while len(grown) and closure == "swoosh" and matcher.ands:
            grown = matcher.next_round(grown)
        return matcher.cluster
    finally:
        matcher.close()


def counting(rules: Rules) -> str:
    """SQL for what takes part in matching."""
    return f"confidence > 0 AND confidence >= CAST({rules.min_confidence!r} AS DOUBLE)"


def resolved_again(
    attributes: Attributes, rules: Rules, clusters: IntArray, *, closure: Closure = "swoosh"
) -> IntArray:
    """The clusters after one more resolution, in which each given cluster stands for everything its records say."""
    if (clusters == np.arange(len(clusters))).all():
        return resolve(attributes, rules, closure=closure)
    with lent(attributes.store, cluster_table(clusters)) as place:
        name = attributes.store.make(
            f"SELECT c.cid AS rid, a.label, a.value, max(a.confidence) AS confidence FROM {attributes.name} a "
            f"JOIN {place} c ON c.rid = a.rid GROUP BY c.cid, a.label, a.value ORDER BY a.label, c.cid"
        )
    again: IntArray = resolve(Attributes(attributes.store, name, attributes.records), rules, closure=closure)[clusters]
    return again


def reached(
    attributes: Attributes, rules: Rules, clusters: IntArray, facts: Iterable[tuple[str, str]], start: Iterable[int]
) -> set[int]:
    """Clusters that share a value of every label of a rule with a pool: the facts, and the clusters reached so far.

    A merged record holds only values of the pool, so nothing outside can match it. ``start`` are clusters that were
    reached earlier, in another way.
    """
    store, pool = attributes.store, set(facts)
    counts = f"{counting(rules)} AND a.label IN ({listed(store, rules.labels)})"
    near: set[int] = set()
    new = set(start)
    with lent(store, cluster_table(clusters)) as place:
        rows = f"FROM {attributes.name} a JOIN {place} c ON c.rid = a.rid"
        while True:
            near |= new
            if new:
                with lent(store, arrow_table({"cid": np.array(sorted(new), np.int64)})) as some:
                    values = store.ask(
                        f"SELECT DISTINCT a.label, a.value {rows} JOIN {some} s ON s.cid = c.cid WHERE {counts}"
                    )
                pool |= set(zip(*(column.to_pylist() for column in values.columns), strict=True))
            with lent(store, text_table(pool, "label", "value")) as shared:
                agreeing = store.ask(
                    f"SELECT c.cid, list(DISTINCT a.label) AS labels {rows} JOIN {shared} p ON p.label = a.label AND "
                    f"p.value = a.value WHERE {counts} GROUP BY c.cid"
                )
            new = {
                cid
                for cid, labels in zip(*(column.to_pylist() for column in agreeing.columns), strict=True)
                if any(set(labels).issuperset(rule) for rule in rules.alternatives)
            } - near
            if not new:
                return near


class _Matcher:
    """The state of one resolution: the clusters, the keys seen, and the clusters too rich in values for keys."""

    def __init__(self, attributes: Attributes, rules: Rules) -> None:
        self._attributes, self._store, self._rules = attributes, attributes.store, rules
        self._alternatives: list[Alternative] = list(enumerate(rules.alternatives))
        self.ands = [(place, labels) for place, labels in self._alternatives if len(labels) > 1]
        self.cluster: IntArray = np.arange(attributes.records, dtype=np.int64)
        self._keys, self._owners = np.zeros(0, np.uint64), np.zeros(0, np.int64)
        # For each alternative, records whose clusters are compared and have no keys of it.
        self._rich: dict[int, list[str]] = {}

    def close(self) -> None:
        """Drop every table."""
        self._store.drop(*itertools.chain.from_iterable(self._rich.values()))

    def first_round(self) -> IntArray:
        """Link base records; returns the records of the clusters that grew."""
        if not self._alternatives or not self._attributes.records:
            return np.zeros(0, np.int64)
        name, where = self._attributes.name, f"AND {counting(self._rules)}"
        sides = [labels for _, labels in self.ands if len(self._attributes.several.intersection(labels)) > 1]
        if sides:
            self._find_rich(
                f"SELECT rid AS cid, label, count(*) AS n FROM {name} WHERE label IN "
                f"({listed(self._store, itertools.chain(*sides))}) {where} GROUP BY rid, label HAVING count(*) > 1"
            )
        return self._linked(self._key_query(name, "rid", self._alternatives, where))

    def next_round(self, grown: IntArray) -> IntArray:
        """Link the clusters that grew, given by their records, with each other and with all others."""
        store = self._store
        labels_in = listed(store, itertools.chain.from_iterable(labels for _, labels in self.ands))
        with lent(store, arrow_table({"rid": grown, "cid": self.cluster[grown]})) as place:
            values = (
                f"SELECT DISTINCT g.cid, a.label, a.value FROM {self._attributes.name} a JOIN {place} g "
                f"ON g.rid = a.rid WHERE a.label IN ({labels_in}) AND {counting(self._rules)}"
            )
            with lent(store, values) as merged:
                self._find_rich(
                    f"SELECT cid, label, count(*) AS n FROM {merged} GROUP BY cid, label HAVING count(*) > 1"
                )
                return self._linked(self._key_query(merged, "cid", self.ands, ""))

    def _find_rich(self, query: str) -> None:
        """Note the clusters with too many combinations; the query returns cid, label and n of those with n > 1."""
        store = self._store
        with lent(store, query) as counts:
            for place, labels in self.ands:
                rich = store.make(
                    f"SELECT cid FROM {counts} WHERE label IN ({listed(store, labels)}) GROUP BY cid "
                    f"HAVING sum(ln(n)) > ln({KEYS_PER_VALUE} * sum(n))"
                )
                if store.ask(f"SELECT 1 AS x FROM {rich} LIMIT 1").num_rows:
                    self._rich.setdefault(place, []).append(rich)
                else:
                    store.drop(rich)

    def _key_query(self, table: str, member: str, alternatives: Sequence[Alternative], where: str) -> str:
        """(cid, k) for every alternative and combination of values, except those of the rich clusters."""
        parts = []
        for place, labels in alternatives:
            # The rich are left out on every side, so that no order of joins can multiply their values.
            poor = "".join(f" ANTI JOIN {rich} ON {rich}.cid = s.{member}" for rich in self._rich.get(place, ()))
            sides = [
                f"(SELECT s.{member} AS cid, s.value FROM {table} s{poor} "
                f"WHERE s.label = {self._store.text(label)} {where}) t{at}"
                for at, label in enumerate(labels)
            ]
            together = sides[0] + "".join(f" JOIN {side} ON t{at}.cid = t0.cid" for at, side in enumerate(sides[1:], 1))
            key = self._store.hashed(str(place), *(f"t{at}.value" for at in range(len(labels))))
            parts.append(f"SELECT t0.cid AS cid, {key} AS k FROM {together}")
        return " UNION ALL ".join(parts)

    def _linked(self, key_query: str) -> IntArray:
        """Join clusters that share a key, new or seen before; returns the records of those that grew."""
        new = self._store.ask(key_query)
        self._keys = np.concatenate([self._keys, numbers(new, "k")])
        self._owners = np.concatenate([self._owners, numbers(new, "cid")])
        # Owners of the same key are now neighbours, and each is linked to the next.
        order = np.argsort(self._keys)
        keys, owners = self._keys[order], self._owners[order]
        same = np.flatnonzero(keys[1:] == keys[:-1])
        links = [(owners[same], owners[same + 1])]
        links += [(numbers(some, "a"), numbers(some, "b")) for some in self._compared()]
        # One owner of a key is enough, because all that share it are together from now on.
        first = np.append(True, keys[1:] != keys[:-1]) if len(keys) else np.zeros(0, bool)
        self._keys, self._owners = keys[first], owners[first]
        self.cluster, grown = joined(self.cluster, *(np.concatenate(ends) for ends in zip(*links, strict=True)))
        return grown

    def _compared(self) -> list[pa.Table]:
        """The pairs (a, b) of a rich cluster and one that shares a value of every label of an alternative with it.

        One pass over the attributes serves all alternatives. A pair found by an alternative for which the first is not
        rich is still a match.
        """
        if not self._rich:
            return []
        store, name = self._store, self._attributes.name
        wanted = [self._rules.alternatives[place] for place in self._rich]
        there = f"a.label IN ({listed(store, itertools.chain(*wanted))}) AND {counting(self._rules)}"
        named = " UNION ".join(f"SELECT cid FROM {table}" for tables in self._rich.values() for table in tables)
        shared = " OR ".join(
            "(" + " AND ".join(f"bool_or(a.label = {store.text(label)})" for label in labels) + ")" for labels in wanted
        )
        with lent(store, cluster_table(self.cluster)) as cluster:
            rich = f"SELECT DISTINCT c.cid FROM {cluster} c JOIN ({named}) r ON r.cid = c.rid"
            rich_values = (
                f"SELECT DISTINCT c.cid, a.label, a.value FROM {name} a JOIN {cluster} c ON c.rid = a.rid "
                f"SEMI JOIN ({rich}) r ON r.cid = c.cid WHERE {there}"
            )
            with lent(store, rich_values) as values:
                pairs = store.ask(
                    f"SELECT v.cid AS a, c.cid AS b FROM {name} a JOIN {values} v ON v.label = a.label AND "
                    f"v.value = a.value JOIN {cluster} c ON c.rid = a.rid WHERE c.cid <> v.cid AND {there} "
                    f"GROUP BY v.cid, c.cid HAVING {shared}"
                )
        return [pairs]
