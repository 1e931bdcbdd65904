"""Leakage of every person of a table of references at once, against resolved records, in the engine."""

from __future__ import annotations

import weakref
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tacit.document import Progress, silent
from tacit.lift.joint import Vector
from tacit.person.link.attributes import Attributes, IntArray, cluster_table, lent, listed, one
from tacit.person.link.merging import merged
from tacit.person.link.references import References
from tacit.person.model.batches import leakage_batch
from tacit.person.resolve.merging import Policy
from tacit.tables.engines import Store

if TYPE_CHECKING:
    import pyarrow as pa


# A first look finds clusters through values that so many clusters hold at most.
RARE = 16
# Pairs of a person and a cluster that are laid side by side at a time, and attributes that leave the engine at a time.
PAIRS = 2_000_000
ITEMS = 1_000_000
# Sums are rounded differently by different threads; leakages this near are equal.
SLACK = 1e-12


@dataclass(frozen=True, eq=False, repr=False)
class Population:
    """The leakage of every person, as a table in the engine. Made by :func:`population`.

    The table ``name`` has a row a person, in order: person, leakage, precision, recall, cluster (-1 if no cluster holds
    anything of the person), candidates (how many clusters were laid beside the person), top_source (the place of the
    source that gives most away, -1 if none does).
    """

    store: Store
    name: str
    persons: int
    sources: tuple[str, ...]

    def __post_init__(self) -> None:
        weakref.finalize(self, self.store.drop, self.name).atexit = False

    def quantiles(self, shares: Sequence[float]) -> tuple[float, ...]:
        """The smallest leakage such that this share of the persons has it or less, for each of the shares."""
        if not self.persons:
            return tuple(0.0 for _ in shares)
        return tuple(one(self.store, f"SELECT quantile_disc(leakage, {[float(s) for s in shares]}) FROM {self.name}"))

    def mean(self, column: str = "leakage") -> float:
        """The mean over persons; 0 if there are none."""
        return float(one(self.store, f"SELECT coalesce(fsum({column}) / count(*), 0.0) FROM {self.name}"))

    def above(self, limit: float) -> int:
        """How many persons have a larger leakage."""
        return int(one(self.store, f"SELECT count(*) FROM {self.name} WHERE leakage > {float(limit)!r}"))

    def bins(self, number: int = 20) -> tuple[int, ...]:
        """How many persons' leakage is in each of equal parts of [0, 1]; 1 itself is in the last."""
        counts = self._counts(f"least(CAST(floor(leakage * {number}) AS BIGINT), {number - 1})")
        return tuple(counts.get(at, 0) for at in range(number))

    def top_sources(self) -> dict[str, int]:
        """For how many persons each source gives most away."""
        counts = self._counts("top_source")
        return {source: counts[at] for at, source in enumerate(self.sources) if at in counts}

    def _counts(self, what: str) -> dict[int, int]:
        rows = self.store.ask(f"SELECT {what} AS x, count(*) AS n FROM {self.name} GROUP BY x")
        return dict(zip(*(column.to_pylist() for column in rows.columns), strict=True))

    def __repr__(self) -> str:
        return f"Population({self.persons:,} persons)"


def population(
    held: Attributes,
    clusters: IntArray,
    people: References,
    weights: Mapping[str, float] | None = None,
    *,
    merge: Policy = "union",
    single: Collection[str] = (),
    base: Attributes | None = None,
    sources: Sequence[tuple[str, int]] = (),
    progress: Progress = silent,
) -> Population:
    """The largest leakage of any cluster against each person.

    Parameters
    ----------
    held : Attributes
        Values in the form in which they are compared with references.
    clusters : int array
        The cluster of every record.
    people : References
        In the store of ``held``.
    weights : mapping from label to float
        Finite and not negative; 1 for a label that is not there.
    merge, single, base
        As ``merged`` takes them.
    sources : sequence of (name, number of records)
        In the order of the records.
    progress : callable, optional
        Told what is being done, and the share of it that is done.

    Guarantees
    ----------
    The largest leakage over all pairs of a person and a cluster, with a relative error of at most 1e-11: a pair is
    left out only if no pair like it can beat the one found. Of clusters with equal leakage the first counts. Rows stay
    in the engine, which uses the disk beyond its limit of memory; at most a million attributes leave it at a time.

    Notes
    -----
    Values are right or wrong (no partial credit, nothing suppressed, no correlated labels), and a label's values have
    one weight: that is what can be asked of a whole population in an engine.

    Clusters are found through the rarest values of a person first. What shares only other values of the person, of
    weight I together, leaks at most 2 I / (I + W), W being the weight of the reference; where that is less than what
    was found, the person is done. For the others the search goes on through so many more values as it takes.
    """
    progress("merging clusters", None)
    holdings = merged(held, clusters, merge, single=single, base=base)
    work = _BestClusters(people, holdings, weights or {}, single, progress)
    try:
        work.run()
        name = work.finished(held, base, clusters, sources)
    finally:
        work.close()
    return Population(held.store, name, people.count, tuple(source for source, _ in sources))


class _BestClusters:
    """Tables of one search: facts and hits by numbers, totals of clusters and persons, and the best found so far."""

    def __init__(
        self, people: References, holdings: str, weights: Mapping[str, float], single: Collection[str], tell: Progress
    ) -> None:
        self._store, self._tell = people.store, tell
        self._temporary = [holdings]
        weight = self._weights(people, holdings, weights)
        plain = f"h.label NOT IN ({listed(self._store, single)})" if single else "true"
        # Values of a single-valued label have one weight and exclude one another: together they are one attribute, of
        # which the share of each in the confidences is right if that value is.
        self._items = self._make(
            "SELECT cid, label, value, w, plain, least(total, 1.0) AS p, p / total AS share FROM ("
            f"SELECT h.cid, h.label, h.value, w.w, h.p, {plain} AS plain, CASE WHEN {plain} THEN h.p ELSE fsum(h.p) "
            f"OVER (PARTITION BY h.cid, h.label) END AS total FROM {holdings} h JOIN {weight} w ON w.label = h.label "
            "WHERE w.w > 0) q"
        )
        self._facts = self._make(
            f"SELECT row_number() OVER () - 1 AS fid, f.label, f.value, any_value(w.w) AS w FROM {people.facts.name} f "
            f"JOIN {weight} w ON w.label = f.label WHERE w.w > 0 GROUP BY f.label, f.value"
        )
        self._truth = self._make(
            f"SELECT r.rid AS person, f.fid, f.w FROM {people.facts.name} r JOIN {self._facts} f "
            "ON f.label = r.label AND f.value = r.value"
        )
        self._hits = self._make(
            f"SELECT i.cid, f.fid, i.p, i.w, i.p * i.w * i.share AS g FROM {self._items} i JOIN {self._facts} f "
            "ON f.label = i.label AND f.value = i.value"
        )
        self._clusters = self._make(
            "SELECT cid, fsum(w * share) AS held, fsum(CASE WHEN p = 1 THEN w * share ELSE 0 END) AS sure, "
            f"fsum(p * w * share) AS mean, bool_and(p = 1) AS certain, count(*) AS n FROM {self._items} GROUP BY cid"
        )
        self._persons = self._make(
            f"SELECT p.person, coalesce(fsum(t.w), 0.0) AS whole FROM {people.persons} p LEFT JOIN {self._truth} t "
            "ON t.person = p.person GROUP BY p.person"
        )
        self._best = self._make(
            "SELECT person, CAST(0 AS DOUBLE) AS leakage, CAST(-1 AS BIGINT) AS cid, CAST(0 AS DOUBLE) AS credit, "
            f"CAST(0 AS BIGINT) AS candidates FROM {self._persons}"
        )

    def _make(self, data: pa.Table | str) -> str:
        """Hold an Arrow table, or what a query gives."""
        name = self._store.make(data) if isinstance(data, str) else self._store.load(data)
        self._temporary.append(name)
        return name

    def _drop(self, *names: str) -> None:
        self._store.drop(*names)
        self._temporary = [name for name in self._temporary if name not in names]

    def close(self) -> None:
        """Forget every table."""
        self._drop(*self._temporary)

    def _numbers(self, table: str) -> list[int]:
        """The numbers of the parts into which a table is cut."""
        rows = self._store.ask(f"SELECT DISTINCT part FROM {table} ORDER BY part")
        return list(rows.column("part").to_pylist())

    def _weights(self, people: References, holdings: str, weights: Mapping[str, float]) -> str:
        """A table (label, w) of all labels."""
        import pyarrow as pa

        columns = {"label": pa.array(list(weights), pa.string()), "w": pa.array(list(weights.values()), pa.float64())}
        given = self._make(pa.table(columns))
        return self._make(
            f"SELECT l.label, coalesce(g.w, 1.0) AS w FROM (SELECT DISTINCT label FROM {people.facts.name} UNION "
            f"SELECT DISTINCT label FROM {holdings}) l LEFT JOIN {given} g ON g.label = l.label"
        )

    def run(self) -> None:
        """Find the best cluster of every person."""
        frequency = self._make(f"SELECT fid, count(*) AS f FROM {self._hits} GROUP BY fid")
        keys = self._make(
            f"SELECT t.person, t.fid, f.f FROM {self._truth} t JOIN {frequency} f ON f.fid = t.fid WHERE f.f <= {RARE}"
        )
        self._look(keys, "first look")
        # Of a person's values, the most common first, as many are passed over as together cannot beat what was found.
        rest = self._make(
            "SELECT person, fid, f FROM (SELECT t.person, t.fid, f.f, b.leakage, p.whole, sum(t.w) OVER "
            f"(PARTITION BY t.person ORDER BY f.f DESC, t.fid) AS common FROM {self._truth} t JOIN {frequency} f "
            f"ON f.fid = t.fid JOIN {self._best} b ON b.person = t.person JOIN {self._persons} p "
            f"ON p.person = t.person) q WHERE 2 * common / (common + whole) > leakage * {1 + SLACK!r}"
        )
        unsure = self._make(f"SELECT person FROM {rest} GROUP BY person HAVING max(f) > {RARE}")
        again = self._make(f"SELECT r.person, r.fid, r.f FROM {rest} r SEMI JOIN {unsure} u ON u.person = r.person")
        self._look(again, "second look")
        self._drop(frequency, keys, rest, unsure, again)

    def _look(self, keys: str, what: str) -> None:
        """Lay persons beside the clusters that hold one of their ``keys`` (person, fid, f), and note what is better."""
        parts = self._make(
            f"SELECT person, CAST(floor((sum(f) OVER (ORDER BY person) - 1) / {PAIRS}) AS BIGINT) AS part FROM "
            f"(SELECT person, sum(f) AS f FROM {keys} GROUP BY person) q"
        )
        better = self._make(f"SELECT * FROM {self._best} WHERE false")
        numbers = self._numbers(parts)
        for place, part in enumerate(numbers):
            self._tell(what, place / len(numbers))
            pairs = self._make(
                f"SELECT DISTINCT k.person, h.cid FROM {keys} k SEMI JOIN (SELECT person FROM {parts} "
                f"WHERE part = {part}) s ON s.person = k.person JOIN {self._hits} h ON h.fid = k.fid"
            )
            self._judge(pairs, better)
            self._drop(pairs)
        # Of two looks at a person the second has seen all that the first has.
        best = self._make(
            f"SELECT * FROM {better} UNION ALL "
            f"SELECT b.* FROM {self._best} b ANTI JOIN {better} f ON f.person = b.person"
        )
        self._drop(parts, better, self._best)
        self._best = best

    def _judge(self, pairs: str, better: str) -> None:
        """Measure pairs (person, cid); the best of each person, and how many there were, go to ``better``."""
        # Bounds of the leakage of each pair: in the mean of 1/x over the other attributes, x is at its mean (Jensen)
        # or at its least. Where nothing is in doubt both are the leakage itself.
        bounds = self._make(
            # The fence keeps the engine from joining the common values of persons and clusters first.
            f"WITH beside AS MATERIALIZED (SELECT q.person, q.cid, t.fid FROM {pairs} q JOIN {self._truth} t "
            "ON t.person = q.person), hit AS MATERIALIZED (SELECT s.person, s.cid, h.p, h.w, h.g FROM beside s "
            f"JOIN {self._hits} h ON h.cid = s.cid AND h.fid = s.fid) "
            "SELECT h.person, h.cid, sum(h.g) AS credit, "
            "2 * sum(h.g / (e.whole + h.w + c.mean - h.p * h.w)) AS low, "
            "2 * sum(h.g / (e.whole + c.sure + CASE WHEN h.p = 1 THEN 0 ELSE h.w END)) AS high, "
            "any_value(2 / (c.held + e.whole)) AS scale, any_value(c.certain) AS certain, any_value(c.n) AS n, "
            f"any_value(e.whole) AS whole FROM hit h JOIN {self._clusters} c ON c.cid = h.cid "
            f"JOIN {self._persons} e ON e.person = h.person GROUP BY h.person, h.cid"
        )
        likely = self._make(
            f"SELECT * FROM {bounds} QUALIFY high >= max(low) OVER (PARTITION BY person) * {1 - SLACK!r}"
        )
        exact = self._exact(likely)
        self._store.run(
            f"INSERT INTO {better} SELECT a.person, a.leakage, a.cid, a.credit, m.n FROM ("
            f"SELECT person, least(1.0, credit * scale) AS leakage, cid, credit FROM {likely} WHERE certain UNION ALL "
            f"SELECT l.person, x.leakage, l.cid, l.credit FROM {likely} l JOIN {exact} x ON x.person = l.person "
            f"AND x.cid = l.cid) a JOIN (SELECT person, count(*) AS n FROM {pairs} GROUP BY person) m "
            "ON m.person = a.person "
            "QUALIFY row_number() OVER (PARTITION BY a.person ORDER BY round(a.leakage, 11) DESC, a.cid) = 1"
        )
        self._drop(bounds, likely, exact)

    def _exact(self, pairs: str, *, beta: float = 1.0) -> str:
        """A table (person, cid, leakage) of the pairs (person, cid, certain, n, whole) that are in doubt."""
        import pyarrow as pa

        doubtful = self._make(
            "SELECT person, cid, whole, row_number() OVER (ORDER BY person, cid) - 1 AS pair, "
            f"CAST(floor((sum(n) OVER (ORDER BY person, cid) - 1) / {ITEMS}) AS BIGINT) AS part "
            f"FROM {pairs} WHERE NOT certain"
        )
        kinds = {"person": pa.int64(), "cid": pa.int64(), "leakage": pa.float64()}
        measured = [pa.schema(kinds).empty_table()]
        for part in self._numbers(doubtful):
            some = f"(SELECT * FROM {doubtful} WHERE part = {part})"
            rows = self._store.ask(
                # All values of a single-valued label are one attribute.
                "SELECT d.pair, any_value(i.p) AS p, any_value(i.w) AS w, "
                f"sum(CASE WHEN t.fid IS NULL THEN 0 ELSE i.w * i.share END) AS credit FROM {some} d "
                f"JOIN {self._items} i ON i.cid = d.cid LEFT JOIN {self._facts} f ON f.label = i.label AND "
                f"f.value = i.value LEFT JOIN {self._truth} t ON t.person = d.person AND t.fid = f.fid "
                "GROUP BY d.pair, i.label, CASE WHEN i.plain THEN i.value END ORDER BY d.pair"
            )
            whose = self._store.ask(f"SELECT person, cid, whole, pair FROM {some} d ORDER BY pair")
            measured.append(
                whose.select(["person", "cid"]).append_column("leakage", pa.array(_leakages(rows, whose, beta)))
            )
        self._drop(doubtful)
        return self._make(pa.concat_tables(measured))

    def finished(
        self, held: Attributes, base: Attributes | None, clusters: IntArray, sources: Sequence[tuple[str, int]]
    ) -> str:
        """The table of results; precision and top source are of the best cluster alone."""
        self._tell("measuring precision", None)
        winning = self._make(
            "SELECT b.person, b.cid, c.certain, c.n, c.held, b.credit, CAST(0 AS DOUBLE) AS whole "
            f"FROM {self._best} b JOIN {self._clusters} c ON c.cid = b.cid"
        )
        precise = self._exact(winning, beta=0.0)
        top = self._top_sources(held, base, clusters, sources)
        return self._store.make(
            "SELECT b.person, b.leakage, CASE WHEN b.cid < 0 THEN 0.0 WHEN w.certain THEN least(1.0, b.credit / "
            "w.held) ELSE x.leakage END AS precision, CASE WHEN b.cid < 0 THEN 0.0 ELSE least(1.0, b.credit / e.whole) "
            "END AS recall, b.cid AS cluster, b.candidates, coalesce(s.source, -1) AS top_source "
            f"FROM {self._best} b JOIN {self._persons} e ON e.person = b.person LEFT JOIN {winning} w "
            f"ON w.person = b.person LEFT JOIN {precise} x ON x.person = b.person LEFT JOIN {top} s "
            "ON s.person = b.person ORDER BY b.person"
        )

    def _top_sources(
        self, held: Attributes, base: Attributes | None, clusters: IntArray, sources: Sequence[tuple[str, int]]
    ) -> str:
        """A table (person, source): whose records hold most right weight of the person in the best cluster."""
        if not sources:
            return self._make("SELECT CAST(0 AS BIGINT) AS person, CAST(0 AS BIGINT) AS source WHERE false")
        of_record = np.repeat(np.arange(len(sources)), [number for _, number in sources])
        place = self._make(cluster_table(clusters, source=of_record))
        rows = (
            f"SELECT p.cid, p.source, a.label, a.value, a.confidence FROM {held.name} a JOIN {place} p ON p.rid = a.rid"
        )
        if base is not None:
            rows += (
                f" UNION ALL SELECT p.rid + {held.records}, p.source, a.label, a.value, a.confidence "
                f"FROM {base.name} a JOIN {place} p ON p.rid = a.rid"
            )
        return self._make(
            "SELECT person, source FROM (SELECT person, source, sum(w) AS w FROM ("
            f"SELECT b.person, r.source, t.fid, max(r.confidence * t.w) AS w FROM {self._best} b JOIN {self._truth} t "
            f"ON t.person = b.person JOIN {self._facts} f ON f.fid = t.fid JOIN ({rows}) r ON r.cid = b.cid AND "
            "r.label = f.label AND r.value = f.value WHERE b.cid >= 0 GROUP BY b.person, r.source, t.fid) q "
            "GROUP BY person, source) s QUALIFY row_number() OVER (PARTITION BY person ORDER BY round(w, 9) DESC, "
            "source) = 1"
        )


def _leakages(rows: pa.Table, whose: pa.Table, beta: float) -> Vector:
    pair = rows.column("pair").to_numpy()
    first = whose.column("pair").to_numpy()
    starts = np.append(np.searchsorted(pair, first), len(pair))
    p, w, credit = (rows.column(name).to_numpy() for name in ("p", "w", "credit"))
    whole = whose.column("whole").to_numpy()
    return leakage_batch(starts, np.clip(p, 0.0, 1.0), w, np.minimum(credit, w), whole, beta=beta)


def write_persons(
    path: str | Path,
    people: References,
    results: Mapping[str, Population],
    *,
    k: IntArray | None = None,
    l: IntArray | None = None,  # noqa: E741 - the letter of l-diversity
) -> None:
    """Write one row a person, in the order of their names, without the rows leaving the engine.

    The file is Parquet, or CSV if its name ends so. It has the columns pid; for every adversary its leakage, precision,
    recall, cluster and candidates, and the name of its top source if it knows sources, each called ``ADVERSARY
    leakage`` and so on; k and l, as :func:`class_sizes` and :func:`class_diversity` give them, if given.
    """
    import pyarrow as pa

    store, identifier = people.store, people.store.identifier
    parts, joins = ["p.pid AS pid"], []
    for at, (adversary, result) in enumerate(results.items()):
        joins.append(f"JOIN {result.name} a{at} ON a{at}.person = p.person")
        for column in ("leakage", "precision", "recall", "cluster", "candidates"):
            parts.append(f"a{at}.{column} AS {identifier(f'{adversary} {column}')}")
        cases = " ".join(f"WHEN {place} THEN {store.text(name)}" for place, name in enumerate(result.sources))
        if cases:
            parts.append(f"CASE a{at}.top_source {cases} END AS {identifier(f'{adversary} top source')}")
    crowd = {name: column for name, column in (("k", k), ("l", l)) if column is not None}
    parts += [f"c.{name} AS {name}" for name in crowd]
    form = "FORMAT csv, HEADER" if str(path).endswith(".csv") else "FORMAT parquet"
    with lent(store, pa.table({"person": np.arange(people.count), **crowd})) as beside:
        joins.append(f"JOIN {beside} c ON c.person = p.person")
        query = f"SELECT {', '.join(parts)} FROM {people.persons} p {' '.join(joins)} ORDER BY p.person"
        store.run(f"COPY ({query}) TO {store.text(str(path))} ({form})")
