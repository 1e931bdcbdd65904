"""Leakage of every person in a table of references at once, against resolved records, in the engine."""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tacit.document import Progress, silent
from tacit.person.link.attributes import Attributes, IntArray, cluster_table, lent, one
from tacit.person.link.beside import PeopleBeside
from tacit.person.link.merging import merged
from tacit.person.link.references import Meaning, References
from tacit.person.link.searching import Search
from tacit.person.model.labels import Labels
from tacit.person.resolve.merging import Policy
from tacit.tables.engines import Store


@dataclass(frozen=True, eq=False, repr=False)
class Population:
    """The leakage of every person, as a table in the engine. Made by :func:`population`.

    The table ``name`` has one row per person, in order: person, leakage, at_most (an upper bound; the leakage itself
    unless a cluster that was not examined might leak more), precision, recall, cluster (-1 if no cluster holds anything
    of the person), top_source (the place of the source that gives away most, -1 if none does).
    """

    store: Store
    name: str
    persons: int
    sources: tuple[str, ...]

    def __post_init__(self) -> None:
        weakref.finalize(self, self.store.drop, self.name).atexit = False

    def quantiles(self, shares: Sequence[float]) -> tuple[float, ...]:
        """For each of the shares, the smallest leakage such that this share of the people has it or less."""
        if not self.persons:
            return tuple(0.0 for _ in shares)
        return tuple(one(self.store, f"SELECT quantile_disc(leakage, {[float(s) for s in shares]}) FROM {self.name}"))

    def mean(self, column: str = "leakage") -> float:
        """The mean over people; 0 if there are none."""
        return float(one(self.store, f"SELECT coalesce(fsum({column}) / count(*), 0.0) FROM {self.name}"))

    def above(self, limit: float) -> int:
        """How many people have a larger leakage."""
        return int(one(self.store, f"SELECT count(*) FROM {self.name} WHERE leakage > {float(limit)!r}"))

    def unsettled(self) -> tuple[int, float]:
        """How many people may leak more than was found, and the most that one of them may leak."""
        (row,) = self.store.ask(
            f"SELECT count(*) AS n, coalesce(max(at_most), 0.0) AS most FROM {self.name} WHERE at_most > leakage"
        ).to_pylist()
        return int(row["n"]), float(row["most"])

    def bins(self, number: int = 20) -> tuple[int, ...]:
        """How many people have their leakage in each of equal parts of [0, 1]; 1 itself is in the last."""
        counts = self._counts(f"least(CAST(floor(leakage * {number}) AS BIGINT), {number - 1})")
        return tuple(counts.get(at, 0) for at in range(number))

    def top_sources(self) -> dict[str, int]:
        """For how many people each source gives away most."""
        counts = self._counts("top_source")
        return {source: counts[at] for at, source in enumerate(self.sources) if at in counts}

    def _counts(self, what: str) -> dict[int, int]:
        rows = self.store.ask(f"SELECT {what} AS x, count(*) AS n FROM {self.name} GROUP BY x")
        return dict(zip(*(column.to_pylist() for column in rows.columns), strict=True))

    def __repr__(self) -> str:
        return f"Population({self.persons:,} persons)"


def population(
    attributes: Attributes,
    clusters: IntArray,
    people: References,
    labels: Labels | None = None,
    *,
    beta: float = 1.0,
    merge: Policy = "union",
    base: Attributes | None = None,
    kept: Sequence[tuple[Attributes, IntArray]] = (),
    sources: Sequence[tuple[str, int]] = (),
    meant: Meaning = lambda attributes: attributes,
    progress: Progress = silent,
) -> Population:
    """The largest leakage of any cluster against each person.

    Parameters
    ----------
    attributes : Attributes
        Values as the adversary writes them down.
    clusters : int array
        The cluster of every record.
    people : References
        In the store of ``attributes``.
    labels : Labels
        How values are weighed and compared.
    beta : float
        Recall counts ``beta`` times as much as precision.
    merge, base, kept
        As for ``merged``.
    sources : sequence of (name, number of records)
        In the order of the records.
    meant : callable
        Brings values into the form in which they are compared.
    progress : callable, optional
        Called with what is being done, and the share of it that is done.

    Guarantees
    ----------
    Wherever ``at_most`` is the leakage itself, it is the largest leakage of any cluster for that person, as the audit
    of the person measures it, with a relative error of at most 1e-11; elsewhere that lies between the leakage and
    ``at_most``. Of clusters with equal leakage the first counts. Rows stay in the engine, which uses the disk beyond
    its memory limit; only distinct values and distinct patterns of weights leave it.

    Notes
    -----
    Clusters are found through the rarest values of a person first (see :class:`tacit.person.link.searching.Search`).
    Clusters that hold none of the person's values, but near ones, are found if there are keys or few enough values.
    """
    described = labels if labels is not None else Labels()
    progress("merging clusters", None)
    holdings = merged(attributes, clusters, merge, labels=described, base=base, kept=kept)
    try:
        beside = PeopleBeside(people, holdings, described, beta, meant)
    finally:
        attributes.store.drop(holdings)
    try:
        search = Search(beside, progress)
        search.run()
        name = _finished(search, beside, attributes, base, kept, clusters, sources)
    finally:
        beside.close()
    return Population(attributes.store, name, people.count, tuple(source for source, _ in sources))


def _finished(
    search: Search,
    beside: PeopleBeside,
    attributes: Attributes,
    base: Attributes | None,
    kept: Sequence[tuple[Attributes, IntArray]],
    clusters: IntArray,
    sources: Sequence[tuple[str, int]],
) -> str:
    """The table of results; the top source is taken from the best cluster only."""
    top = _top_sources(search, beside, attributes, base, kept, clusters, sources)
    return beside.store.make(
        f"SELECT b.person, b.leakage, c.at_most, b.precision, b.recall, b.cid AS cluster, coalesce(s.source, -1) AS "
        f"top_source FROM {search.best} b JOIN ({search.ceilings()}) c ON c.person = b.person LEFT JOIN {top} s ON "
        "s.person = b.person ORDER BY b.person"
    )


def _top_sources(
    search: Search,
    beside: PeopleBeside,
    attributes: Attributes,
    base: Attributes | None,
    kept: Sequence[tuple[Attributes, IntArray]],
    clusters: IntArray,
    sources: Sequence[tuple[str, int]],
) -> str:
    """A table (person, source): the source whose records hold most of the right weight in the best cluster."""
    if not sources:
        return beside.make("SELECT CAST(0 AS BIGINT) AS person, CAST(0 AS BIGINT) AS source WHERE false")
    of_record = np.repeat(np.arange(len(sources)), [number for _, number in sources])
    place = beside.make(cluster_table(clusters, source=of_record))
    winning = beside.make(f"SELECT person, cid FROM {search.best} WHERE cid >= 0")
    hits = beside.hits(winning)
    right = beside.make(
        f"SELECT h.person, h.cid, h.fid, h.label, v.value, h.credit * h.share AS w FROM {hits} h "
        f"JOIN {beside.values} v ON v.vid = h.vid"
    )
    rows = (
        f"SELECT p.cid, p.source, a.label, a.value, a.confidence FROM {attributes.name} a JOIN {place} p "
        "ON p.rid = a.rid"
    )
    if base is not None:
        rows += (
            f" UNION ALL SELECT p.rid + {attributes.records}, p.source, a.label, a.value, a.confidence "
            f"FROM {base.name} a JOIN {place} p ON p.rid = a.rid"
        )
    for more, (other, theirs) in enumerate(kept, start=2):
        also = beside.make(cluster_table(theirs + more * attributes.records, source=of_record))
        rows += (
            f" UNION ALL SELECT p.cid, p.source, a.label, a.value, a.confidence FROM {other.name} a JOIN {also} p "
            "ON p.rid = a.rid"
        )
    return beside.make(
        "SELECT person, source FROM (SELECT person, source, sum(w) AS w FROM (SELECT t.person, r.source, t.fid, "
        f"max(r.confidence * t.w) AS w FROM {right} t JOIN ({rows}) r ON r.cid = t.cid AND r.label = t.label AND "
        "r.value = t.value GROUP BY t.person, r.source, t.fid) q GROUP BY person, source) s QUALIFY row_number() OVER "
        "(PARTITION BY person ORDER BY round(w, 9) DESC, source) = 1"
    )


def write_persons(
    path: str | Path,
    people: References,
    results: Mapping[str, Population],
    *,
    k: IntArray | None = None,
    l: IntArray | None = None,  # noqa: E741 - the letter of l-diversity
) -> None:
    """Write one row per person, in the order of their ids, without the rows leaving the engine.

    The file is CSV if its name ends in .csv, otherwise Parquet. It has the columns pid; for every adversary the
    leakage, at most, precision, recall and cluster, and the name of the top source if sources are known, named
    ``ADVERSARY leakage`` and so on; and k and l, from :func:`class_sizes` and :func:`class_diversity`, if passed.
    """
    import pyarrow as pa

    store, identifier = people.store, people.store.identifier
    parts, joins = ["p.pid AS pid"], []
    for at, (adversary, result) in enumerate(results.items()):
        joins.append(f"JOIN {result.name} a{at} ON a{at}.person = p.person")
        for column in ("leakage", "at_most", "precision", "recall", "cluster"):
            named = column.replace("_", " ")
            parts.append(f"a{at}.{column} AS {identifier(f'{adversary} {named}')}")
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
