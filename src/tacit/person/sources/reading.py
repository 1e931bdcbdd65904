"""Sources read into one pool of records, in the engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tacit.document import Progress
from tacit.loading import file_sha256
from tacit.person.link.forms.forming import NamedForm
from tacit.person.link.references import Meaning, References, wide_references
from tacit.person.link.wide import Long, Wide, gathered
from tacit.person.model.forms import says_nothing
from tacit.person.model.kinds import is_name
from tacit.person.model.records import Reference
from tacit.person.sources.formats import FORMATS, encoding_told, long_records, table_of
from tacit.person.sources.places import Address, has_parts, table_at
from tacit.person.sources.pool import PoolSource, RecordPool
from tacit.person.sources.source import FileRecord, PopulationSpec, Source
from tacit.tables.engines import Store
from tacit.tables.table import Table

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class OpenedSource:
    """A source that was checked: its records, their names unless a column has them, notes, and its table, if any."""

    records: Wide | Long
    names: pa.Array | None
    notes: Sequence[str] = ()
    table: Table | None = None


def read_pool(
    sources: Sequence[Source],
    person: Reference | None,
    *,
    forms: Mapping[str, NamedForm] | None = None,
    progress: Progress,
) -> RecordPool:
    """Read all records of these sources.

    The confidence of an attribute is that of its source, times that of its label, times that of its row. Empty cells
    are not attributes, and neither are values with confidence 0. Numbers are written as people write them; a list in a
    cell is several values. If a record has a label and value twice, the better confidence counts.

    Parameters
    ----------
    sources : sequence of Source
    person : Reference or None
        Whose values are put into breaches, which name only what kind of data got out.
    forms : mapping from label to (name, country)
        The names of the labels' normal forms, by which columns are read: whether 03/04/1990 is in April.
    progress : callable
        Called with what is being done, and the share done.

    Guarantees
    ----------
    Rows of tables stay in the engine and are never all in memory. No message holds a value of a person.
    """
    opened: list[OpenedSource] = []
    for place, source in enumerate(sources):
        progress(f"opening {source.name}", place / len(sources))
        opened.append(opened_source(source, person, forms or {}))
    together = gathered(
        [one.records for one in opened],
        starting=lambda place: progress(f"reading {sources[place].name}", place / len(sources)),
    )
    read: list[PoolSource] = []
    notes: list[str] = []
    first = 0
    counted = zip(sources, opened, *together[1:], strict=True)
    for source, one, records, unsure, undecided, called, repeated in counted:
        names = one.names if called is None else distinct_names(called) if repeated else called
        read.append(PoolSource(source.name, source.path, first, records, source_sha256(source, one), names))
        notes += [*one.notes, *notes_on_rows(source, unsure, undecided)]
        first += records
    return RecordPool(together.attributes, tuple(read), tuple(notes))


def read_references(population: PopulationSpec, store: Store, meant: Meaning = lambda value: value) -> References:
    """The true records of many people, in the same store as the attributes.

    ``meant`` brings values into the form in which they are compared.

    Raises
    ------
    ColumnError
        If the table lacks a column that the case names.
    DataError
        If a row does not say whose it is; the row is named.
    """
    table = table_at(population.references)
    table.require([population.person, *(name for name in population.columns if name != "*")])
    return wide_references(store, table, population.person, population.labelled(table.names), meant)


def source_sha256(source: Source, opened: OpenedSource) -> str | None:
    """The SHA-256 of the file of a source; of several, that of their names and SHA-256; None if it is not of files.

    Guarantees
    ----------
    A SourceError if several files, or what was fetched, are no longer those that were opened.
    """
    place = source.path
    if isinstance(place, Address) or has_parts(place):
        return None if opened.table is None else opened.table.sha256()
    return file_sha256(place if place.exists() else Path(str(place).rsplit("::", 1)[0]))


def opened_source(
    source: Source, person: Reference | None, forms: Mapping[str, NamedForm], *, engine: str = "duckdb"
) -> OpenedSource:
    """A source, checked; a table of rows and columns is opened on an ``engine``, and not read yet."""
    import pyarrow as pa

    if source.format in ("table", "json"):
        return _table(source, forms, engine)
    if source.format == "long":
        return _long_table(source, forms)
    records, notes = FORMATS[source.format].read(source, person)
    names = pa.array([record.name for record in records], pa.string())
    unsure = _unsure(source, sum(one.confidence is None for one in records))
    return OpenedSource(replace(_long(records, source), forms=forms), distinct_names(names), [*notes, *unsure])


def _table(source: Source, forms: Mapping[str, NamedForm], engine: str) -> OpenedSource:
    table = table_of(source.path, source.format, engine)
    table.require([*source.columns.keys() - {"*"}, *filter(None, [source.identifier])])
    wide = Wide(
        table,
        source.labelled(table.names),
        source.joined,
        source.confidence,
        source.label_confidence,
        source.confidence_column,
        forms,
        source.identifier,
    )
    return OpenedSource(wide, None, _notes_on(source, table), table)


def _long_table(source: Source, forms: Mapping[str, NamedForm]) -> OpenedSource:
    table = table_of(source.path, source.format)
    rows, names, unsure = long_records(table, source)
    alone = [f"source '{source.name}': no column says which record a fact is in: all are taken to be one person's"]
    notes = [*_notes_on(source, table), *(alone if names is None else ()), *_unsure(source, unsure)]
    called = names if names is None else distinct_names(names)
    return OpenedSource(replace(rows, forms=forms), called, notes, table)


def _long(records: Sequence[FileRecord], source: Source) -> Long:
    import pyarrow as pa

    rows = [
        (rid, label, value, (1.0 if confidence is None else confidence) * source.share_of(label))
        for rid, (_, facts, confidence) in enumerate(records)
        for label, value in facts
        if value.strip() and not says_nothing(value, name=is_name(label))
    ]
    kinds = {"rid": pa.int64(), "label": pa.string(), "value": pa.string(), "confidence": pa.float64()}
    columns = zip(*rows, strict=True) if rows else ((),) * len(kinds)
    arrays = [pa.array(column, kind) for column, kind in zip(columns, kinds.values(), strict=True)]
    return Long(pa.table(arrays, schema=pa.schema(kinds)), len(records))


def _notes_on(source: Source, table: Table) -> list[str]:
    """Notes on a table that is not in UTF-8, or not of files that have a fingerprint."""
    notes = []
    if (encoding := encoding_told(table.parts)) is not None:
        words = f"is not UTF-8 and was read as {encoding}; if letters come out wrong, save it as UTF-8"
        notes.append(f"source '{source.name}' {words}")
    if isinstance(source.path, Address) and table.path is None:
        words = f"is read in place, at {source.path}, and has no SHA-256: a change may go unnoticed"
        notes.append(f"source '{source.name}' {words}")
    return notes


def notes_on_rows(source: Source, unsure: int, undecided: Sequence[str]) -> list[str]:
    """Notes on rows without a confidence, and on columns of days that may be read in two ways."""
    return [*_unsure(source, unsure), *_undecided(source, undecided)]


def _unsure(source: Source, rows: int) -> list[str]:
    if not rows:
        return []
    some = "1 row has" if rows == 1 else f"{rows:,} rows have"
    return [f"source '{source.name}': {some} no '{source.confidence_column or 'confidence'}', which was taken to be 1"]


def _undecided(source: Source, columns: Sequence[str]) -> list[str]:
    if not columns:
        return []
    return [
        f"source '{source.name}': in {', '.join(columns)} nothing says whether 03/04/1990 is in March or in April; "
        "such days count as nearly right: say normalise: date-day-first or date-month-first of the label"
    ]


def distinct_names(names: pa.Array) -> pa.Array:
    """Names of records, with the row added where several have the same name."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pc.count_distinct(names).as_py() == len(names) - names.null_count:
        return names
    counts = pc.value_counts(names)
    twice = counts.field("values").filter(pc.greater(counts.field("counts"), 1))
    rows = pa.array(range(1, len(names) + 1)).cast(pa.string())
    apart = pc.binary_join_element_wise(names, " (row ", rows, ")", "")
    return pc.if_else(pc.is_in(names, twice), apart, names)
