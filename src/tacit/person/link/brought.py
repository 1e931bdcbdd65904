"""Clusters that somebody else's resolver made: a table that names records, or pairs scored by a Splink model."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tacit.errors import ArgumentError, DataError
from tacit.person.link.attributes import Attributes, Coded, IntArray
from tacit.person.link.recognising import Recognition
from tacit.person.link.wide import text_columns
from tacit.person.model.records import Attribute, Record, Reference
from tacit.person.resolve.resolver import Link
from tacit.person.resolve.steps import Clusters
from tacit.tables.engines import store_on
from tacit.tables.sources import open_table

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, kw_only=True)
class _Outside(Clusters):
    """A step whose clusters are known only within a case; on records in memory it refuses to work."""

    ids: Mapping[str, Hashable] | Sequence[Hashable] = field(default=(), repr=False)

    def links(self, records: Sequence[Record]) -> Iterator[Link]:
        """Refused: records in memory do not say what a file or a model makes of them."""
        raise ArgumentError("clusters of a file or a model are for the records of a case: ask about the case")


@dataclass(frozen=True, kw_only=True)
class FileClusters(_Outside):
    """Join records as somebody else's resolver did, with the names of the columns of its table.

    ``source`` is None if the column ``record`` alone tells records of different sources apart.
    """

    path: Path
    record: str
    cluster: str
    source: str | None = None


@dataclass(frozen=True, kw_only=True)
class SplinkClusters(_Outside):
    """Join records as a trained Splink model does, if its probability is at least the threshold."""

    model: Path
    threshold: float = 0.9


@dataclass(frozen=True, kw_only=True)
class LikelyClusters(_Outside):
    """Join records that are likely one person's, as the records themselves show (see :mod:`tacit.person.link.likely`).

    What a record says is then as certain as it is that the record is the person's.
    """


@dataclass(frozen=True, kw_only=True)
class TrueClusters(_Outside):
    """Join every record that is the person's, which nobody who does not know the person can do better.

    The truth decides whether a record is theirs (see :class:`tacit.person.link.recognising.Recognition`).
    """

    reference: Reference = field(repr=False)


@dataclass(frozen=True)
class Linked(Clusters):
    """Records joined along pairs that a model scored; which pairs count depends on which records are there.

    ``pairs`` are names of records; what was joined through a record that is gone falls apart again. ``likely`` gives
    the probability of each pair, unless all are certain: what a record says is then as certain as the most certain of
    its pairs. Records that are ``sure``, such as a query or a release, stay so whatever they are joined with.
    """

    ids: Mapping[str, Hashable] | Sequence[Hashable] = field(default_factory=dict, repr=False)
    pairs: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    likely: tuple[float, ...] = field(default=(), repr=False)
    sure: frozenset[str] = field(default=frozenset(), repr=False)

    @property
    def doubts(self) -> bool:
        """Whether pairs are only likely."""
        return bool(self.likely)

    def doubted(self, records: tuple[Record, ...]) -> tuple[Record, ...]:
        """The records, each as certain as the most certain pair that put it into its cluster."""
        there = {record.name for record in records}
        sure: dict[str, float] = {}
        for pair, probability in zip(self.pairs, self.likely, strict=False):
            if there.issuperset(pair):
                for name in pair:
                    sure[name] = max(sure.get(name, 0.0), probability)
        return tuple(
            record
            if record.name in self.sure or (share := sure.get(record.name, 1.0)) >= 1.0
            else Record.trusted(
                (Attribute(label, value, confidence * share) for label, value, confidence in record),
                name=record.name,
                source=record.source,
            )
            for record in records
        )

    def links(self, records: Sequence[Record]) -> Iterator[Link]:
        """The pairs of which both records are there."""
        places = {record.name: place for place, record in enumerate(records)}
        for a, b in self.pairs:
            if a in places and b in places:
                yield Link(min(places[a], places[b]), max(places[a], places[b]), ())


@dataclass(frozen=True)
class OwnRecords(Clusters):
    """The records of a person as one cluster, including those of the records to come (``more``) that are recognised."""

    more: frozenset[str] = frozenset()
    recognition: Recognition | None = field(default=None, repr=False)

    def links(self, records: Sequence[Record]) -> Iterator[Link]:
        """A link from each record of the person to the previous one."""
        own = dict(self.ids) if isinstance(self.ids, Mapping) else {}
        for record in records:
            if record.name in self.more and self.recognition is not None and self.recognition.recognises(record):
                own[record.name] = 0
        yield from Clusters(own).links(records)


def clusters_of_file(step: FileClusters, names: pa.Table) -> IntArray:
    """The cluster of every record according to a table of clusters, numbered from 0; -1 for none.

    ``names`` is a table (rid, source, own, whole) of the names of records.
    """
    columns = [step.record, step.cluster, *([step.source] if step.source is not None else [])]
    table = open_table(step.path)
    store = store_on("duckdb")
    assignments, called = store.load(text_columns(table, columns)), store.load(names)
    same = "g.c2 = n.source AND g.c0 = n.own" if step.source is not None else "g.c0 IN (n.own, n.whole)"
    rows = store.ask(
        f"SELECT n.rid, min(c.number) AS least, max(c.number) AS most FROM {called} n JOIN {assignments} g ON {same} "
        f"JOIN (SELECT c1, row_number() OVER (ORDER BY c1) - 1 AS number FROM {assignments} "
        f"WHERE c1 IS NOT NULL GROUP BY c1) c ON c.c1 = g.c1 GROUP BY n.rid"
    )
    rid, least, most = (rows.column(name).to_numpy().astype(np.int64) for name in ("rid", "least", "most"))
    if (least != most).any():
        raise DataError(f"{step.path} puts a record into two clusters: each record has one")
    if step.source is None:
        twice = store.ask(
            f"SELECT g.c0 FROM {called} n JOIN (SELECT DISTINCT c0 FROM {assignments}) g ON {same} "
            "GROUP BY g.c0 HAVING count(*) > 1 LIMIT 1"
        )
        if twice.num_rows:
            why = "names records that two sources have: add a column with the source, and name it (source: …)"
            raise DataError(f"{step.path} {why}")
    if not len(rid):
        why = f"'{step.record}' is what a source's id column holds, or the number of the row"
        raise DataError(f"{step.path} names no record of the case: {why}")
    cluster = np.full(names.num_rows, -1, dtype=np.int64)
    cluster[rid] = least
    return cluster


def surest_values(attributes: Attributes) -> pa.Table:
    """One row per record, in order, and one column per label with the value of highest confidence; among equals the
    last in alphabetical order."""
    names = {f"c{place}": label for place, label in enumerate(attributes.labels)}
    rows = attributes.store.ask(f"SELECT * EXCLUDE rid FROM ({surest_query(attributes)}) ORDER BY rid")
    return rows.rename_columns(list(names.values()) or ["id"])


def surest_query(attributes: Attributes, some: str | None = None) -> str:
    """A query (rid, c0, c1, ...) of the most confident value of each label, in the order of the labels, per record.

    ``some`` is a table of the records (rid) that are wanted, if not all are.
    """
    wanted = f"range({attributes.records}) r(id)" if some is None else f"(SELECT rid AS id FROM {some}) r"
    within = "" if some is None else f" SEMI JOIN {some} USING (rid)"
    if attributes.coded is not None and not attributes.several and attributes.labels:
        return _coded_query(attributes, attributes.coded, wanted, within)
    names = {f"c{place}": label for place, label in enumerate(attributes.labels)}
    best = ", ".join(
        f"arg_max(value, (confidence, value)) FILTER (label = {attributes.store.text(label)}) AS {name}"
        for name, label in names.items()
    )
    return (
        f"SELECT r.id AS rid, {', '.join(names) or 'r.id'} FROM {wanted} LEFT JOIN "
        f"(SELECT rid, {best or 'NULL AS nothing'} FROM {attributes.name}{within} GROUP BY rid) a ON a.rid = r.id"
    )


def _coded_query(attributes: Attributes, coded: Coded, wanted: str, within: str) -> str:
    """The same if no record has two values of a label: numbers are gathered first, then the values they stand for."""
    ends = attributes.store.ask(f"SELECT label, min(vid) AS low, max(vid) AS high FROM {coded.values} GROUP BY label")
    places = {one["label"]: one for one in ends.to_pylist()}
    numbers, values, joins = [], [], []
    for at, label in enumerate(attributes.labels):
        low, high = places[label]["low"], places[label]["high"]
        numbers.append(f"max(vid) FILTER (vid BETWEEN {low} AND {high}) AS v{at}")
        values.append(f"x{at}.value AS c{at}")
        own = f"(SELECT vid, value FROM {coded.values} WHERE vid BETWEEN {low} AND {high})"
        joins.append(f"LEFT JOIN {own} x{at} ON x{at}.vid = a.v{at}")
    return (
        f"SELECT r.id AS rid, {', '.join(values)} FROM {wanted} LEFT JOIN (SELECT rid, "
        f"{', '.join(numbers)} FROM {coded.rows}{within} GROUP BY rid) a ON a.rid = r.id {' '.join(joins)}"
    )
