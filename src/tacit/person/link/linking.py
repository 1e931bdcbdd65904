"""Which records are of one person: rules of matching carried out in an engine, to the fix-point of R-Swoosh."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import get_args

import numpy as np

from tacit.document import Progress, silent
from tacit.errors import ArgumentError
from tacit.person.link.attributes import Attributes, IntArray, cluster_table, lent, listed, pair_table
from tacit.person.link.components import Clustering, clustering_on
from tacit.person.resolve.grouping import Closure
from tacit.person.resolve.rules import Rules
from tacit.tables.engines import Store

Alternative = tuple[int, tuple[str, ...]]

# A cluster may have this many times as many keys as values; the combinations of a larger one are compared and not
# written out, so that keys never outgrow the table.
KEYS_PER_VALUE = 16
# Tables of keys found so far are laid together when there are so many.
MOST_KEY_TABLES = 12


def resolve(
    held: Attributes,
    rules: Rules | Iterable[Iterable[str] | str],
    *,
    min_confidence: float = 0.0,
    closure: Closure = "swoosh",
    progress: Progress = silent,
) -> IntArray:
    """The cluster of every record, named by its smallest record.

    Parameters
    ----------
    held : Attributes
    rules : Rules, or alternatives of labels
        Two records match if for one alternative they share a value of every label in it.
    min_confidence : float
        Only values held with at least this confidence count (and never those held with confidence 0); if the rules
        have a least confidence too, the larger one.
    closure : {"swoosh", "components"}
        Whether what was merged is matched again until nothing changes, as R-Swoosh does, or only base records are.
    progress : callable, optional
        Told what is being done, and None.

    Returns
    -------
    int array, one entry a record

    Guarantees
    ----------
    The result does not depend on the order of records, on threads or on the engine. It is exact unless two different
    keys have one 64-bit hash: with m different keys the chance is at most m^2 / 2^65, for ten million 3 in a million,
    if values are not made to collide. Memory grows with the number of records (some 50 bytes each on DuckDB, in Spark
    nothing but the result) and not with the number of matching pairs.

    Notes
    -----
    A record has a key for every alternative and choice of its values; every record is linked to the smallest record
    of each of its keys, and clusters are the components. A later round looks only at clusters that grew in the round
    before: of two clusters that newly match one has grown. Alternatives of one label need no later round, because
    merging makes no new value. A chain of merges in which each needs the one before takes a round for each.
    """
    if closure not in get_args(Closure):
        raise ArgumentError(f"there is no closure '{closure}': use {' or '.join(get_args(Closure))}")
    given = rules if isinstance(rules, Rules) else Rules(rules)
    given = Rules(given.alternatives, max(given.min_confidence, min_confidence))
    matcher = _Matcher(held, given)
    try:
        progress("linking records", None)
        grown = matcher.first_round()
        turn = 1
        while grown is not None and closure == "swoosh" and matcher.ands:
            turn += 1
            progress(f"linking merged records, round {turn}", None)
            grown = matcher.next_round(grown)
        return matcher.partition.labels()
    finally:
        matcher.close()


def counting(rules: Rules) -> str:
    """SQL for what takes part in matching."""
    return f"confidence > 0 AND confidence >= CAST({rules.min_confidence!r} AS DOUBLE)"


def resolved_again(held: Attributes, rules: Rules, clusters: IntArray, *, closure: Closure = "swoosh") -> IntArray:
    """The clusters after one more resolution: each of those given stands for all that its records say."""
    if (clusters == np.arange(len(clusters))).all():
        return resolve(held, rules, closure=closure)
    with lent(held.store, cluster_table(clusters)) as place:
        name = held.store.make(
            f"SELECT c.cid AS rid, a.label, a.value, max(a.confidence) AS confidence FROM {held.name} a "
            f"JOIN {place} c ON c.rid = a.rid GROUP BY c.cid, a.label, a.value ORDER BY a.label, c.cid"
        )
    joined: IntArray = resolve(Attributes(held.store, name, held.records), rules, closure=closure)[clusters]
    return joined


def reached(
    held: Attributes, rules: Rules, clusters: IntArray, facts: Iterable[tuple[str, str]], start: Iterable[int]
) -> set[int]:
    """Clusters that share a value of every label of a rule with a pool: some facts, and the clusters reached.

    A merged record holds some of the pool's values, so that nothing outside can match it. ``start`` are clusters that
    were reached before, in another way.
    """
    import pyarrow as pa

    store, pool = held.store, set(facts)
    counts = f"{counting(rules)} AND a.label IN ({listed(store, rules.labels)})"
    near: set[int] = set()
    new = set(start)
    with lent(store, cluster_table(clusters)) as place:
        while True:
            near |= new
            if new:
                with lent(store, pa.table({"cid": pa.array(sorted(new), pa.int64())})) as some:
                    rows = store.ask(
                        f"SELECT DISTINCT a.label, a.value FROM {held.name} a JOIN {place} c ON c.rid = a.rid "
                        f"JOIN {some} s ON s.cid = c.cid WHERE {counts}"
                    )
                pool |= set(zip(rows.column("label").to_pylist(), rows.column("value").to_pylist(), strict=True))
            with lent(store, pair_table(pool)) as shared:
                rows = store.ask(
                    f"SELECT c.cid, list(DISTINCT a.label) AS labels FROM {held.name} a JOIN {shared} p ON "
                    f"p.label = a.label AND p.value = a.value JOIN {place} c ON c.rid = a.rid WHERE {counts} "
                    "GROUP BY c.cid"
                )
            agreeing = zip(rows.column("cid").to_pylist(), rows.column("labels").to_pylist(), strict=True)
            alternatives = rules.alternatives
            new = {cid for cid, labels in agreeing if any(set(labels).issuperset(rule) for rule in alternatives)} - near
            if not new:
                return near


class _Matcher:
    """The state of one resolution: the partition, the keys seen, and the clusters too rich in values for keys."""

    def __init__(self, held: Attributes, rules: Rules) -> None:
        self._held = held
        self._store: Store = held.store
        self._rules = rules
        self._alternatives: list[Alternative] = list(enumerate(rules.alternatives))
        self.ands = [(place, labels) for place, labels in self._alternatives if len(labels) > 1]
        self.partition: Clustering = clustering_on(held.store, held.records)
        self._keys: list[str] = []
        # For each alternative, records whose clusters are compared and have no keys of it.
        self._rich: dict[int, list[str]] = {}
        self._temporary: list[str] = []

    def close(self) -> None:
        """Forget every table."""
        rich = itertools.chain.from_iterable(self._rich.values())
        self._store.drop(*self._keys, *rich, *self._temporary)
        self.partition.close()

    def first_round(self) -> str | None:
        """Link base records."""
        if not self._alternatives or not self._held.records:
            return None
        name, where = self._held.name, f"AND {counting(self._rules)}"
        sides = [labels for _, labels in self.ands if len(self._held.several.intersection(labels)) > 1]
        if sides:
            labels_in = listed(self._store, {label for labels in sides for label in labels})
            counts = self._store.make(
                f"SELECT rid AS cid, label, count(*) AS n FROM {name} WHERE label IN ({labels_in}) {where} "
                "GROUP BY rid, label HAVING count(*) > 1"
            )
            self._find_rich(counts)
        keys = self._store.make(self._key_query(name, "rid", self._alternatives, where))
        self._keys.append(keys)
        firsts = f"SELECT k, min(cid) AS m FROM {keys} GROUP BY k HAVING min(cid) < max(cid)"
        edges = f"SELECT e.cid AS a, f.m AS b FROM {keys} e JOIN ({firsts}) f ON f.k = e.k WHERE f.m < e.cid"
        return self._absorbed([edges, *self._comparisons()])

    def next_round(self, grown: str) -> str | None:
        """Link clusters that grew with each other and with all others; ``grown`` has columns rid and cid."""
        store = self._store
        labels_in = listed(store, {label for _, labels in self.ands for label in labels})
        merged = store.make(
            f"SELECT DISTINCT g.cid, a.label, a.value FROM {self._held.name} a JOIN {grown} g ON g.rid = a.rid "
            f"WHERE a.label IN ({labels_in}) AND {counting(self._rules)}"
        )
        self._temporary.append(merged)
        counts = store.make(f"SELECT cid, label, count(*) AS n FROM {merged} GROUP BY cid, label HAVING count(*) > 1")
        self._find_rich(counts)
        keys = store.make(self._key_query(merged, "cid", self.ands, ""))
        inside = f"SELECT k, min(cid) AS m FROM {keys} GROUP BY k HAVING min(cid) < max(cid)"
        edges = [f"SELECT e.cid AS a, f.m AS b FROM {keys} e JOIN ({inside}) f ON f.k = e.k WHERE f.m < e.cid"]
        seen = " UNION ALL ".join(f"SELECT cid, k FROM {table}" for table in self._keys)
        # One owner of a key stands for all, because those that share a key are together already.
        owners = f"SELECT s.k, min(s.cid) AS m FROM ({seen}) s SEMI JOIN {keys} w ON w.k = s.k GROUP BY s.k"
        edges.append(f"SELECT e.cid AS a, o.m AS b FROM {keys} e JOIN ({owners}) o ON o.k = e.k")
        grown_now = self._absorbed([*edges, *self._comparisons()])
        self._keys.append(keys)
        if len(self._keys) > MOST_KEY_TABLES:
            together = store.make(f"SELECT k, min(cid) AS cid FROM ({seen}) s GROUP BY k")
            store.drop(*self._keys[:-1])
            self._keys = [together, keys]
        return grown_now

    def _find_rich(self, counts: str) -> None:
        """Note the clusters with too many combinations; ``counts`` has columns cid, label, n of those with n > 1."""
        store = self._store
        for place, labels in self.ands:
            rich = store.make(
                f"SELECT cid FROM {counts} WHERE label IN ({listed(self._store, labels)}) GROUP BY cid "
                f"HAVING sum(ln(n)) > ln({KEYS_PER_VALUE} * sum(n))"
            )
            if store.ask(f"SELECT count(*) AS n FROM {rich}").column("n")[0].as_py():
                self._rich.setdefault(place, []).append(rich)
            else:
                store.drop(rich)
        store.drop(counts)

    def _key_query(self, table: str, member: str, alternatives: Sequence[Alternative], where: str) -> str:
        """(cid, k) for every alternative and combination of values, but of the rich."""
        parts = []
        for place, labels in alternatives:
            # The rich are left out on every side, so that no order of joins can multiply their values.
            poor = "".join(f" ANTI JOIN {rich} ON {rich}.cid = s.{member}" for rich in self._rich.get(place, ()))
            sides = [
                f"(SELECT s.{member} AS cid, s.value FROM {table} s{poor} "
                f"WHERE s.label = {self._store.text(label)} {where}) t{at}"
                for at, label in enumerate(labels)
            ]
            joined = sides[0] + "".join(f" JOIN {side} ON t{at}.cid = t0.cid" for at, side in enumerate(sides[1:], 1))
            key = self._store.hashed(str(place), *(f"t{at}.value" for at in range(len(labels))))
            parts.append(f"SELECT t0.cid AS cid, {key} AS k FROM {joined}")
        return " UNION ALL ".join(parts)

    def _comparisons(self) -> list[str]:
        """A query for the pairs (a, b) of a rich cluster and one that shares a value of every label with it.

        One pass over the attributes serves all alternatives. A pair found by an alternative of which the first is not
        rich is a match all the same.
        """
        if not self._rich:
            return []
        store, name = self._store, self._held.name
        cluster = self.partition.table()
        named = " UNION ".join(f"SELECT cid FROM {table}" for tables in self._rich.values() for table in tables)
        rich = store.make(f"SELECT DISTINCT c.cid FROM {cluster} c JOIN ({named}) r ON r.cid = c.rid")
        wanted = [self._rules.alternatives[place] for place in self._rich]
        labels_in = listed(store, {label for labels in wanted for label in labels})
        there = f"a.label IN ({labels_in}) AND {counting(self._rules)}"
        values = store.make(
            f"SELECT DISTINCT c.cid, a.label, a.value FROM {name} a JOIN {cluster} c ON c.rid = a.rid "
            f"SEMI JOIN {rich} r ON r.cid = c.cid WHERE {there}"
        )
        self._temporary += [cluster, rich, values]
        shared = " OR ".join(
            "(" + " AND ".join(f"bool_or(a.label = {store.text(label)})" for label in labels) + ")" for labels in wanted
        )
        return [
            f"SELECT v.cid AS a, c.cid AS b FROM {name} a JOIN {values} v ON v.label = a.label AND v.value = a.value "
            f"JOIN {cluster} c ON c.rid = a.rid WHERE c.cid <> v.cid AND {there} GROUP BY v.cid, c.cid HAVING {shared}"
        ]

    def _absorbed(self, edges: Sequence[str]) -> str | None:
        grown = self.partition.absorb(" UNION ALL ".join(f"SELECT a, b FROM ({one}) q" for one in edges))
        self._store.drop(*self._temporary)
        self._temporary = [] if grown is None else [grown]
        return grown
