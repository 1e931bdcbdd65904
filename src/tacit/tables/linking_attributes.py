"""Attributes of many records as one long table in an engine: who holds what, and with which confidence."""

from __future__ import annotations

import weakref
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import ArgumentError, DataError
from tacit.tables import engines
from tacit.tables.linking_engines import Store, store_on
from tacit.tables.table import ROW, Column, Engine, Table

if TYPE_CHECKING:
    import pyarrow as pa

IntArray = NDArray[np.int64]

# Rows of a source that travel from one connection to another at a time.
BATCH = 100_000


@dataclass(frozen=True)
class Wide:
    """A table with one record a row, and what its columns are called as labels.

    Parameters
    ----------
    table : Table
    columns : mapping from column to label
        Several columns may have one label; columns that are not named are left out.
    confidence : float
        Of everything in the table.
    label_confidence : mapping from label to float
        Times this, for the values of a label.
    confidence_column : str, optional
        Times the number in this column, for the values of a row; 1 where it is missing.
    """

    table: Table
    columns: Mapping[str, str]
    confidence: float = 1.0
    label_confidence: Mapping[str, float] = field(default_factory=dict)
    confidence_column: str | None = None

    def __post_init__(self) -> None:
        self.table.require_countable(list(self.columns))
        if self.confidence_column is not None:
            self.table.require([self.confidence_column])
        for what, share in (
            ("", self.confidence),
            *((f" of label '{k}'", v) for k, v in self.label_confidence.items()),
        ):
            if not 0.0 <= share <= 1.0:
                raise ArgumentError(f"the confidence{what} of {self.table.name} is {share:g}: it lies in [0, 1]")


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
    def engine(self) -> Engine:
        """duckdb or spark."""
        return self.store.engine

    @cached_property
    def several(self) -> frozenset[str]:
        """The labels of which some record has, or may have, several values."""
        if self._several is not None:
            return self._several
        found = self.store.ask(f"SELECT label FROM {self.name} GROUP BY label HAVING count(*) > count(DISTINCT rid)")
        return frozenset(found.column("label").to_pylist())

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The labels that occur, sorted."""
        return tuple(sorted(self.store.ask(f"SELECT DISTINCT label FROM {self.name}").column("label").to_pylist()))

    def __repr__(self) -> str:
        return f"Attributes({self.records:,} records on {self.engine})"


def attributes(data: Any, *, records: int | None = None, engine: Engine = "duckdb") -> Attributes:
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
        columns = _columns(store, given)
        missing = [name for name in ("rid", "label", "value") if name not in columns]
        if missing:
            raise DataError(f"the long table has no column '{missing[0]}': it needs rid, label and value")
        confidence = "coalesce(CAST(confidence AS DOUBLE), 1.0)" if "confidence" in columns else "CAST(1.0 AS DOUBLE)"
        found = store.ask(
            f"SELECT min(rid) AS least, max(rid) AS most, count(*) AS n, count(rid) AS numbered, "
            f"min({confidence}) AS low, max({confidence}) AS high FROM {given}"
        ).to_pylist()[0]
        size = _checked_size(found, records)
        name = store.make(
            f"SELECT CAST(rid AS BIGINT) AS rid, CAST(label AS STRING) AS label, CAST(value AS STRING) AS value, "
            f"max({confidence}) AS confidence FROM {given} WHERE label IS NOT NULL AND value IS NOT NULL "
            # Sorted by label, an engine that looks for one label skips the rest.
            f"GROUP BY rid, label, value ORDER BY label, rid"
        )
    finally:
        store.drop(given)
    return Attributes(store, name, size)


def _checked_size(found: Mapping[str, Any], records: int | None) -> int:
    if found["numbered"] < found["n"]:
        raise DataError("the long table has rows without a rid: number the records from 0")
    size = (0 if found["most"] is None else int(found["most"]) + 1) if records is None else records
    if found["n"] and not (found["least"] >= 0 and found["most"] < size):
        raise DataError(f"the long table has a rid that is not in 0 to {size - 1}: number the records from 0")
    if found["n"] and not (found["low"] >= 0.0 and found["high"] <= 1.0):  # NaN is the largest number in both engines
        raise DataError("the long table has a confidence outside [0, 1]: give probabilities")
    return size


def wide_attributes(sources: Sequence[Wide]) -> Attributes:
    """Attributes of tables with one record a row; the rows of all tables are numbered one after the other, from 0.

    Missing and blank cells are no attributes. Numbers are written as people write them: 30, not 30.0.
    """
    found = {source.table.engine for source in sources}
    if len(found) != 1:
        raise ArgumentError("give one or more tables that are all on one engine")
    store = store_on(next(iter(found)))
    held: list[str] = []
    try:
        parts: dict[str, list[str]] = {}
        start = 0
        for source in sources:
            held.append(_load_wide(store, source))
            rows = store.ask(f"SELECT count(*) AS n, min(f) AS low, max(f) AS high FROM {held[-1]}").to_pylist()[0]
            if rows["n"] and not (rows["low"] >= 0.0 and rows["high"] <= 1.0):
                raise DataError(f"{source.table.name} has a confidence outside [0, 1] in '{source.confidence_column}'")
            for label, part in _long_parts(store, source, held[-1], start):
                parts.setdefault(label, []).append(part)
            start += rows["n"]
        name = store.make(" UNION ALL ".join(_united(parts[label]) for label in sorted(parts)) or _NOTHING)
    finally:
        store.drop(*held)
    twice = (label for source in sources for label, number in Counter(source.columns.values()).items() if number > 1)
    return Attributes(store, name, start, frozenset(twice))


_NOTHING = (
    "SELECT CAST(0 AS BIGINT) AS rid, CAST('' AS STRING) AS label, CAST('' AS STRING) AS value, "
    "CAST(0 AS DOUBLE) AS confidence WHERE 1 = 0"
)


def _load_wide(store: Store, source: Wide) -> str:
    """The columns as c0, c1, ..., their rows numbered r from 0 and the row's confidence f."""
    import narwhals as nw

    names = [f"c{at}" for at in range(len(source.columns))]
    wanted, given = list(source.columns), list(names)
    if source.confidence_column is not None:
        wanted, given = [*wanted, source.confidence_column], [*given, "f"]
    native = nw.to_native(engines.indexed(source.table, engines.picked(source.table, wanted, given)))
    with source.table.reading():
        raw = store.load(native.to_arrow_reader(BATCH) if source.table.engine == "duckdb" else native)
    share = "coalesce(CAST(f AS DOUBLE), 1.0)" if source.confidence_column is not None else "1.0"
    values = [
        f"{_written(name, source.table[column])} AS {name}" for name, column in zip(names, source.columns, strict=True)
    ]
    quote = '"' if store.engine == "duckdb" else "`"
    done = store.make(f"SELECT {quote}{ROW}{quote} AS r, CAST({share} AS DOUBLE) AS f, {', '.join(values)} FROM {raw}")
    store.drop(raw)
    return done


def _written(name: str, column: Column) -> str:
    """A cell as text, as people write it; null for what is blank or no finite number."""
    if column.dtype.startswith(("Float", "Decimal")):
        number = f"CAST({name} AS DOUBLE)"
        whole = f"CAST(CAST({number} AS BIGINT) AS STRING)"
        return (
            f"CASE WHEN NOT abs({number}) < 1e300 THEN NULL WHEN abs({number}) < 1e15 AND {number} = floor({number}) "
            f"THEN {whole} ELSE CAST({number} AS STRING) END"
        )
    return f"CASE WHEN trim(CAST({name} AS STRING)) = '' THEN NULL ELSE CAST({name} AS STRING) END"


def _long_parts(store: Store, source: Wide, held: str, start: int) -> Iterable[tuple[str, str]]:
    for at, label in enumerate(source.columns.values()):
        share = source.confidence * source.label_confidence.get(label, 1.0)
        yield (
            label,
            f"SELECT CAST(r + {start} AS BIGINT) AS rid, {store.text(label)} AS label, c{at} AS value, "
            f"f * CAST({share!r} AS DOUBLE) AS confidence FROM {held} WHERE c{at} IS NOT NULL",
        )


def _united(parts: list[str]) -> str:
    if len(parts) == 1:
        return parts[0]
    union = " UNION ALL ".join(parts)
    return f"SELECT rid, label, value, max(confidence) AS confidence FROM ({union}) u GROUP BY rid, label, value"


def _columns(store: Store, table: str) -> list[str]:
    return list(store.ask(f"SELECT * FROM {table} LIMIT 0").column_names)


def holding(held: Attributes, facts: Iterable[tuple[str, str]]) -> IntArray:
    """The records that hold any of the given (label, value) facts, in order."""
    import pyarrow as pa

    given = list(facts)
    columns = {"label": [label for label, _ in given], "value": [value for _, value in given]}
    wanted = held.store.load(pa.table({name: pa.array(one, pa.string()) for name, one in columns.items()}))
    found = held.store.ask(
        f"SELECT DISTINCT a.rid FROM {held.name} a JOIN {wanted} w USING (label, value) ORDER BY rid"
    )
    held.store.drop(wanted)
    return np.asarray(found.column("rid").to_numpy(), np.int64)


def records(held: Attributes, rids: Iterable[int]) -> dict[int, list[tuple[str, str, float]]]:
    """What the given records hold: (label, value, confidence), sorted; an empty list for one that holds nothing."""
    import pyarrow as pa

    found: dict[int, list[tuple[str, str, float]]] = {int(rid): [] for rid in rids}
    wanted = held.store.load(pa.table({"rid": pa.array(list(found), pa.int64())}))
    rows = held.store.ask(
        f"SELECT a.rid, a.label, a.value, a.confidence FROM {held.name} a JOIN {wanted} w USING (rid) "
        "ORDER BY rid, label, value"
    )
    held.store.drop(wanted)
    for rid, *attribute in zip(*(rows.column(name).to_pylist() for name in rows.column_names), strict=True):
        found[rid].append((attribute[0], attribute[1], attribute[2]))
    return found


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
        for label, mapping in loaded.items():
            twice = f"SELECT count(*) - count(DISTINCT old) AS n FROM {mapping}"
            if store.ask(twice).column("n")[0].as_py():
                raise ArgumentError(f"the mapping of label '{label}' has an old value twice, or a missing one")
        parts = [f"SELECT rid, label, value, confidence FROM {held.name}{_other_labels(store, loaded)}"]
        for label, mapping in loaded.items():
            parts.append(
                f"SELECT rid, label, value, max(confidence) AS confidence FROM (SELECT a.rid, a.label, CASE WHEN m.old "
                f"IS NULL THEN a.value ELSE m.new END AS value, a.confidence FROM {held.name} a LEFT JOIN {mapping} m "
                f"ON m.old = a.value WHERE a.label = {store.text(label)}) x WHERE value IS NOT NULL "
                f"GROUP BY rid, label, value"
            )
        name = store.make(" UNION ALL ".join(parts))
    finally:
        store.drop(*loaded.values())
    return Attributes(store, name, held.records)


def _other_labels(store: Store, labels: Iterable[str]) -> str:
    listed = ", ".join(store.text(label) for label in labels)
    return f" WHERE label NOT IN ({listed})" if listed else ""


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
    wanted = store.load(table.select(["given", "adds"]))
    own, other = store.text(adds), store.text(given)
    name = store.make(
        f"SELECT rid, label, value, confidence FROM {held.name} WHERE label <> {own} UNION ALL "
        f"SELECT rid, {own} AS label, value, max(confidence) AS confidence FROM ("
        f"SELECT rid, value, confidence FROM {held.name} WHERE label = {own} UNION ALL "
        f"SELECT a.rid, w.adds, a.confidence * CAST({float(confidence)!r} AS DOUBLE) FROM {held.name} a "
        f"JOIN {wanted} w ON w.given = a.value WHERE a.label = {other} AND w.adds IS NOT NULL) x GROUP BY rid, value"
    )
    store.drop(wanted)
    return Attributes(store, name, held.records)
