"""The sources of a case read on a cluster: what their columns show first, then what each record says."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.document import Progress
from tacit.errors import ArgumentError, Setting, sentence
from tacit.person.case.model import Case
from tacit.person.inquiry.opening import forms_in
from tacit.person.inquiry.spread.looking import Looking
from tacit.person.link.attributes import IntArray
from tacit.person.link.distributed import rows
from tacit.person.link.distributed.rows import ROW_TYPE, in_parts
from tacit.person.link.forms.evidence import ColumnReading
from tacit.person.link.wide import Wide, WideEvidence, gathered, wide_evidence
from tacit.person.sources.formats import in_json
from tacit.person.sources.places import Place
from tacit.person.sources.reading import (
    OpenedSource,
    distinct_names,
    notes_on_rows,
    opened_source,
    source_sha256,
)
from tacit.person.sources.source import Source
from tacit.tables.columns import ROW, plain_names
from tacit.tables.engines.spark.lookups import from_arrow
from tacit.tables.engines.spark.sessions import on_this_machine, reading, session
from tacit.tables.sources import open_table

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

# The most tasks for each core of the cluster in which a table is read: a task takes a worker longer than a small file.
TASKS = 8
# What a worker makes of some rows of a table, which it gets with their places.
Look = Callable[["pa.Table", IntArray], Iterable["pa.Table"]]


@dataclass(frozen=True, eq=False)
class SpreadSource:
    """A source that was read on a cluster: its records are ``first`` to ``first + records - 1``.

    ``names`` are those of its records if they are on the driver; ``named`` says whether the rows have names.
    """

    name: str
    path: Place
    first: int
    records: int
    sha256: str | None
    names: pa.Array | None
    named: bool


@dataclass(frozen=True, eq=False)
class SpreadRows:
    """Rows about all records of a case (see :mod:`tacit.person.link.distributed.rows`), kept by the workers.

    ``opened`` are the sources as they were opened: what was unpacked or recoded for them is there as long as they are.
    """

    frame: DataFrame
    sources: tuple[SpreadSource, ...]
    notes: tuple[str, ...]
    opened: tuple[OpenedSource, ...] = field(default=(), repr=False)

    @property
    def records(self) -> int:
        """How many records there are."""
        return sum(source.records for source in self.sources)


def read_on_spark(case: Case, looking: Looking, progress: Progress) -> SpreadRows:
    """Read all sources of a case; tables are read by the workers, and other files, which are small, by the driver.

    Guarantees
    ----------
    A cell is read as :func:`tacit.person.sources.reading.read_pool` reads it: what the whole column shows decides, and
    is the sum of what its parts show. No row of a table comes to the driver. What a lost worker kept is computed again.
    No message holds a value of a person.
    """
    spark = session()
    from pyspark import StorageLevel

    _refuse_what_stays_here(looking)
    if on_this_machine():
        spark.sparkContext.pythonExec = sys.executable
    frames: list[DataFrame] = []
    sources: list[SpreadSource] = []
    notes: list[str] = []
    every: list[OpenedSource] = []
    first = 0
    for place, source in enumerate(case.sources):
        progress(f"reading {source.name}", place / len(case.sources))
        on_spark = source.format == "table" and not in_json(source.path, source.format)
        opened = opened_source(source, case.person, forms_in(case), engine="spark" if on_spark else "duckdb")
        read = _on_workers if on_spark else _on_driver
        frame, one, more = read(source, opened, looking, first)
        every.append(opened)
        frames.append(frame)
        sources.append(one)
        notes += [*opened.notes, *more]
        first += one.records
    whole = reduce(lambda one, other: one.union(other), frames).persist(StorageLevel.DISK_ONLY)
    with reading("the records"):
        whole.count()
    return SpreadRows(whole, tuple(sources), tuple(notes), tuple(every))


def _refuse_what_stays_here(looking: Looking) -> None:
    """A case made in Python may have functions of labels that no other process can be sent."""
    from pyspark.cloudpickle import dumps

    try:
        dumps(looking)
    except (pickle.PicklingError, TypeError, AttributeError) as error:
        words = (
            "a function of a label or of a step cannot be sent to the workers of Spark: wrap it "
            "in a Python function, or leave out {engine}"
        )
        raise ArgumentError(sentence(words, engine=Setting("engine", "spark"))) from error


def _on_driver(
    source: Source, opened: OpenedSource, looking: Looking, first: int
) -> tuple[DataFrame, SpreadSource, list[str]]:
    """A file that is no table of cells, read here and handed over."""
    import pyarrow as pa

    whole = gathered([opened.records])
    (records,), (unsure,), (undecided,) = whole.records, whole.unsure, whole.undecided
    (called,), (repeated,) = whole.names, whole.repeated
    names = opened.names if called is None else distinct_names(called) if repeated else called
    rids = np.arange(first, first + records, dtype=np.int64)
    frame = from_arrow(pa.concat_tables(looking.rows(whole.attributes, rids, None)))
    one = SpreadSource(source.name, source.path, first, records, source_sha256(source, opened), names, named=False)
    return frame, one, notes_on_rows(source, unsure, undecided)


def _on_workers(
    source: Source, opened: OpenedSource, looking: Looking, first: int
) -> tuple[DataFrame, SpreadSource, list[str]]:
    """A table, read by the workers: once for what its columns show, once for what its records say."""
    wide = opened.records
    assert isinstance(wide, Wide)
    shown = _shown(wide)
    readings = shown.readings(wide)
    named = wide.identifier is not None
    part = _part_of(wide, readings)

    def look(table: pa.Table, places: IntArray) -> Iterator[pa.Table]:
        whole = gathered([part(table)])
        yield from looking.rows(whole.attributes, places + first, whole.names[0])

    frame = _mapped(wide, look, ROW_TYPE)
    one = SpreadSource(source.name, source.path, first, shown.records, source_sha256(source, opened), None, named)
    undecided = [name for name in wide.columns if name in readings and readings[name].undecided]
    return frame, one, notes_on_rows(source, shown.unsure, undecided)


def _shown(wide: Wide) -> WideEvidence:
    """What all rows of a table show, part by part on the workers."""
    part = _part_of(wide, None)

    def look(table: pa.Table, places: IntArray) -> Iterator[pa.Table]:
        import pyarrow as pa

        shown = pickle.dumps(wide_evidence(part(table)))
        yield pa.table({"place": pa.array(places[:1]), "shown": pa.array([shown], pa.binary())})

    with wide.table.reading():
        empty = _placed_rows(wide).limit(0).toArrow().drop_columns([ROW])
        # What is wrong with a column is said here, once, and not by every worker.
        nothing = wide_evidence(part(empty))
        gathered([part(empty)])
        parts_read = _mapped(wide, look, "place bigint, shown binary").collect()
    parts = (pickle.loads(row["shown"]) for row in sorted(parts_read, key=lambda row: row["place"]))
    return reduce(WideEvidence.__add__, parts, nothing)


def _part_of(wide: Wide, readings: Mapping[str, ColumnReading] | None) -> Callable[[pa.Table], Wide]:
    """Makes some rows of a table, as the workers get them, a table of its own with the same columns."""
    kept = {each.name: getattr(wide, each.name) for each in fields(wide) if each.name not in ("table", "readings")}
    name, columns = wide.table.name, _columns(wide)

    def part(table: pa.Table) -> Wide:
        own = replace(open_table(table.rename_columns(columns)), name=name)
        return Wide(own, readings=readings, **kept)

    return part


def _columns(wide: Wide) -> list[str]:
    """The columns that are read, in the order of the table."""
    wanted = set(wide.wanted)
    return [name for name in wide.table.names if name in wanted]


def _placed_rows(wide: Wide) -> DataFrame:
    """The columns that are read, under plain names, and the places of the rows."""
    import narwhals as nw

    columns = _columns(wide)
    indexed: DataFrame = nw.to_native(wide.table.engine.indexed(wide.table.picked(columns, plain_names(columns))))
    return indexed


def _mapped(wide: Wide, look: Look, kinds: Any) -> DataFrame:
    size = rows.PART

    def on_worker(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return in_parts(batches, look, size)

    with wide.table.reading():
        placed = _placed_rows(wide)
        most = TASKS * placed.sparkSession.sparkContext.defaultParallelism
        # Small files are partitions of their own; where there are many, several make one task, in their order.
        return placed.coalesce(most).mapInArrow(on_worker, kinds)
