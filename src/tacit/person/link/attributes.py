"""Attributes of many records as one long table in an engine: who holds what, and with which confidence."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import ArgumentError, DataError
from tacit.tables.engines import Store, store_on

if TYPE_CHECKING:
    import pyarrow as pa

# Numbers of records, and of clusters, which are called by their smallest record.
IntArray = NDArray[np.int64]

# Rows of a source that travel from one connection to another at a time.
BATCH = 100_000


@dataclass(frozen=True, eq=False, repr=False)
class Attributes:
    """A table (rid, label, value, confidence) held in an engine; records are numbered from 0.

    Made by :func:`attributes` and :func:`wide_attributes`. A record has every (label, value) at most once. The table is
    dropped with the object.

    Attributes
    ----------
    store : Store
        The engine's side.
    name : str
        The table's name there.
    records : int
        How many records there are, those without any attribute included.
    """

    store: Store
    name: str
    records: int
    _several: frozenset[str] | None = None

    def __post_init__(self) -> None:
        weakref.finalize(self, self.store.drop, self.name).atexit = False

    @property
    def engine(self) -> str:
        """duckdb or spark."""
        return self.store.engine

    @cached_property
    def several(self) -> frozenset[str]:
        """The labels of which some record has, or may have, several values."""
        if self._several is not None:
            return self._several
        labels = self.store.ask(f"SELECT label FROM {self.name} GROUP BY label HAVING count(*) > count(DISTINCT rid)")
        return frozenset(labels.column("label").to_pylist())

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The labels that occur, sorted."""
        return tuple(sorted(self.store.ask(f"SELECT DISTINCT label FROM {self.name}").column("label").to_pylist()))

    def __repr__(self) -> str:
        return f"Attributes({self.records:,} records on {self.engine})"


def attributes(data: Any, *, records: int | None = None, engine: str = "duckdb") -> Attributes:
    """Attributes of a long table: an Arrow table, a stream of batches, a DuckDB relation or a Spark frame.

    Parameters
    ----------
    data : frame with columns rid, label, value and perhaps confidence
        Rows without a label or a value are left out; a missing confidence is 1; of rows that repeat a record's label
        and value the best confidence counts.
    records : int, optional
        How many records there are; else one more than the largest rid.
    engine : {"duckdb", "spark"}
        Where to hold them.
    """
    store = store_on(engine)
    if hasattr(data, "to_arrow_reader"):
        data = data.to_arrow_reader(BATCH)
    given = store.load(data)
    try:
        columns = store.ask(f"SELECT * FROM {given} LIMIT 0").column_names
        missing = [name for name in ("rid", "label", "value") if name not in columns]
        if missing:
            raise DataError(f"the long table has no column '{missing[0]}': it needs rid, label and value")
        confidence = "coalesce(CAST(confidence AS DOUBLE), 1.0)" if "confidence" in columns else "CAST(1.0 AS DOUBLE)"
        range_of = store.ask(
            f"SELECT min(rid) AS least, max(rid) AS most, count(*) AS n, count(rid) AS numbered, "
            f"min({confidence}) AS low, max({confidence}) AS high FROM {given}"
        ).to_pylist()[0]
        size = _checked_size(range_of, records)
        name = store.make(
            f"SELECT CAST(rid AS BIGINT) AS rid, CAST(label AS STRING) AS label, CAST(value AS STRING) AS value, "
            f"max({confidence}) AS confidence FROM {given} WHERE label IS NOT NULL AND value IS NOT NULL "
            # Sorted by label, an engine that looks for one label skips the rest.
            f"GROUP BY rid, label, value ORDER BY label, rid"
        )
    finally:
        store.drop(given)
    return Attributes(store, name, size)


def _checked_size(range_of: Mapping[str, Any], records: int | None) -> int:
    if range_of["numbered"] < range_of["n"]:
        raise DataError("the long table has rows without a rid: number the records from 0")
    size = (0 if range_of["most"] is None else int(range_of["most"]) + 1) if records is None else records
    if range_of["n"] and not (range_of["least"] >= 0 and range_of["most"] < size):
        raise DataError(f"the long table has a rid that is not in 0 to {size - 1}: number the records from 0")
    # NaN is the largest number in both engines.
    if range_of["n"] and not (range_of["low"] >= 0.0 and range_of["high"] <= 1.0):
        raise DataError("the long table has a confidence outside [0, 1]: give probabilities")
    return size


@contextmanager
def lent(store: Store, data: pa.Table) -> Iterator[str]:
    """An Arrow table in a store for a while; gives its name there."""
    name = store.load(data)
    try:
        yield name
    finally:
        store.drop(name)


def pair_table(pairs: Iterable[tuple[str, str]], first: str = "label", second: str = "value") -> pa.Table:
    """Pairs of texts as an Arrow table of two columns."""
    import pyarrow as pa

    columns = list(zip(*pairs, strict=True)) or [(), ()]
    return pa.table(
        {name: pa.array(column, pa.string()) for name, column in zip((first, second), columns, strict=True)}
    )


def cluster_table(clusters: IntArray, **more: Any) -> pa.Table:
    """The cluster of every record as an Arrow table (rid, cid), and what else there is to say of each."""
    import pyarrow as pa

    return pa.table({"rid": np.arange(len(clusters)), "cid": clusters, **more})


def listed(store: Store, labels: Iterable[str]) -> str:
    """Labels as SQL lists them: an empty list is that of a label nobody has."""
    return ", ".join(store.text(label) for label in sorted(labels)) or "NULL"


def records(held: Attributes, rids: Iterable[int]) -> dict[int, list[tuple[str, str, float]]]:
    """What the given records hold: (label, value, confidence), sorted; an empty list for one that holds nothing."""
    import pyarrow as pa

    contents: dict[int, list[tuple[str, str, float]]] = {int(rid): [] for rid in rids}
    with lent(held.store, pa.table({"rid": pa.array(list(contents), pa.int64())})) as wanted:
        rows = held.store.ask(
            f"SELECT a.rid, a.label, a.value, a.confidence FROM {held.name} a JOIN {wanted} w USING (rid) "
            "ORDER BY rid, label, value"
        )
    for rid, *attribute in zip(*(rows.column(name).to_pylist() for name in rows.column_names), strict=True):
        contents[rid].append((attribute[0], attribute[1], attribute[2]))
    return contents


def distinct_values(held: Attributes, label: str) -> pa.Array:
    """The values of a label, sorted by their bytes."""
    rows = held.store.ask(
        f"SELECT DISTINCT value FROM {held.name} WHERE label = {held.store.text(label)} ORDER BY value"
    )
    return rows.column("value").combine_chunks()


def recoded(held: Attributes, mappings: Mapping[str, pa.Table]) -> Attributes:
    """The attributes with values of some labels replaced.

    Parameters
    ----------
    held : Attributes
    mappings : mapping from label to an Arrow table with columns old and new
        A value that is not among ``old`` stays; one whose ``new`` is missing goes. Where two values of a record become
        one, the better confidence counts.
    """
    store = held.store
    loaded = {label: store.load(mapping.select(["old", "new"])) for label, mapping in mappings.items()}
    try:
        others = f" WHERE label NOT IN ({listed(store, loaded)})" if loaded else ""
        parts = [f"SELECT rid, label, value, confidence FROM {held.name}{others}"]
        for label, mapping in loaded.items():
            twice = f"SELECT count(*) - count(DISTINCT old) AS n FROM {mapping}"
            if store.ask(twice).column("n")[0].as_py():
                raise ArgumentError(f"the mapping of label '{label}' has an old value twice, or a missing one")
            parts.append(
                f"SELECT rid, label, value, max(confidence) AS confidence FROM (SELECT a.rid, a.label, CASE WHEN m.old "
                f"IS NULL THEN a.value ELSE m.new END AS value, a.confidence FROM {held.name} a LEFT JOIN {mapping} m "
                f"ON m.old = a.value WHERE a.label = {store.text(label)}) x WHERE value IS NOT NULL "
                f"GROUP BY rid, label, value"
            )
        return Attributes(store, store.make(" UNION ALL ".join(parts)), held.records)
    finally:
        store.drop(*loaded.values())


def augmented(held: Attributes, given: str, adds: str, table: pa.Table, *, confidence: float = 1.0) -> Attributes:
    """The attributes, and for every record that holds a value of a label what goes with it: the zip code of an address.

    Parameters
    ----------
    held : Attributes
    given, adds : str
        The label looked up and the label added.
    table : Arrow table with columns given and adds
        Values of the one and what goes with them; a value may stand in several rows.
    confidence : float
        Of the table. What is added has this confidence times that of the value looked up, or the confidence the
        record held it with before, if that is better.
    """
    store = held.store
    own, other = store.text(adds), store.text(given)
    with lent(store, table.select(["given", "adds"])) as wanted:
        name = store.make(
            f"SELECT rid, label, value, confidence FROM {held.name} WHERE label <> {own} UNION ALL "
            f"SELECT rid, {own} AS label, value, max(confidence) AS confidence FROM ("
            f"SELECT rid, value, confidence FROM {held.name} WHERE label = {own} UNION ALL "
            f"SELECT a.rid, w.adds, a.confidence * CAST({float(confidence)!r} AS DOUBLE) FROM {held.name} a JOIN "
            f"{wanted} w ON w.given = a.value WHERE a.label = {other} AND w.adds IS NOT NULL) x GROUP BY rid, value"
        )
    return Attributes(store, name, held.records)
