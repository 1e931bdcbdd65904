"""Tables with one record per row as attributes: loaded into a store, converted to text there, and concatenated."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from tacit.errors import ArgumentError, DataError
from tacit.person.link.attributes import Attributes, one
from tacit.person.link.coded import THERE, coded_attributes
from tacit.person.link.forms.cells import TableCells
from tacit.person.link.forms.columns import (
    ColumnCells,
    as_read,
    column_evidence,
    column_reading,
    in_their_countries,
)
from tacit.person.link.forms.evidence import IN_COUNTRIES, ColumnEvidence, ColumnReading
from tacit.person.link.forms.forming import NamedForm
from tacit.person.model.forms.countries import COUNTRY_COLUMNS
from tacit.person.model.kinds import column_name
from tacit.tables.engines import Store, store_on
from tacit.tables.table import Table

if TYPE_CHECKING:
    import pyarrow as pa

# From this many records on, attributes are held by number.
MANY = 50_000


@dataclass(frozen=True)
class Wide:
    """A table with one record per row, and the labels of its columns.

    Parameters
    ----------
    table : Table
    columns : mapping from column to label
        Several columns may have one label; columns that are not named are left out. A list in a cell is several values.
    joined : mapping from label to columns
        Columns whose texts are joined by a space into one value; empty cells are skipped.
    confidence : float
        Of everything in the table.
    label_confidence : mapping from label to float
        A factor for the values of each label.
    confidence_column : str, optional
        The column with a factor for the values of each row; 1 where it is missing.
    forms : mapping from label to (name, country)
        The normal forms of labels, by which whole columns are read: whether 03/04/1990 is in April.
    identifier : str, optional
        The column with the names of records.
    readings : mapping from column to ColumnReading, optional
        How columns are read, if the table is a part of one whose other rows count too; by default this one shows it.
    """

    table: Table
    columns: Mapping[str, str]
    joined: Mapping[str, Sequence[str]] = field(default_factory=dict)
    confidence: float = 1.0
    label_confidence: Mapping[str, float] = field(default_factory=dict)
    confidence_column: str | None = None
    forms: Mapping[str, NamedForm] = field(default_factory=dict)
    identifier: str | None = None
    readings: Mapping[str, ColumnReading] | None = None

    def __post_init__(self) -> None:
        self.table.require(self.wanted)
        of_labels = {f" of label '{label}'": share for label, share in self.label_confidence.items()}
        for what, share in {"": self.confidence, **of_labels}.items():
            if not 0.0 <= share <= 1.0:
                raise ArgumentError(f"the confidence{what} of {self.table.name} is {share:g}: it lies in [0, 1]")

    @property
    def wanted(self) -> list[str]:
        """All columns that are read, each once."""
        parts = [name for columns in self.joined.values() for name in columns]
        others = filter(None, [self.confidence_column, self.country, self.identifier])
        return list(dict.fromkeys([*self.columns, *parts, *others]))

    @property
    def country(self) -> str | None:
        """The column that says in which country the telephones and postcodes of a row are, judging by its name."""
        if not any(label in self.forms and self.forms[label][0] in IN_COUNTRIES for label in self.columns.values()):
            return None
        return next((name for name in self.table.names if column_name(name) in COUNTRY_COLUMNS), None)


@dataclass(frozen=True)
class Long:
    """Attributes of records that were read one by one: an Arrow table (rid, label, value, confidence), rid from 0.

    ``forms`` as in :class:`Wide`.
    """

    rows: pa.Table
    records: int
    forms: Mapping[str, NamedForm] = field(default_factory=dict)


class Gathered(NamedTuple):
    """Attributes of all sources; for each source, how many records it has and how many rows lack a confidence.

    ``undecided`` are the columns of each source that hold days where nothing shows whether the month comes first;
    ``names`` are the names of its records, in order, if it has any, and ``repeated`` says whether several share one.
    """

    attributes: Attributes
    records: tuple[int, ...]
    unsure: tuple[int, ...]
    undecided: tuple[tuple[str, ...], ...]
    names: tuple[pa.Array | None, ...] = ()
    repeated: tuple[bool, ...] = ()


def gathered(sources: Sequence[Wide | Long], *, starting: Callable[[int], None] = lambda place: None) -> Gathered:
    """The attributes of all sources in one store, their records numbered one after the other, from 0.

    Missing and blank cells are not attributes, and neither are values with confidence 0. Numbers are written as people
    write them: 30, not 30.0. ``starting`` is called with the place of each source before it is loaded.

    Guarantees
    ----------
    Rows of tables stay in engines and are never all in memory. No message holds a value.
    """
    store = store_on("duckdb")
    loaded: list[str] = []
    parts: dict[str, list[str]] = {}
    several: set[str] = set()
    sizes: list[tuple[int, int]] = []
    undecided: list[tuple[str, ...]] = []
    names: list[pa.Array | None] = []
    repeated: list[bool] = []
    records = 0
    try:
        for place, source in enumerate(sources):
            starting(place)
            if isinstance(source, Long):
                loaded.append(store.load(source.rows))
                own, doubtful = _long_parts(store, source, loaded[-1], records)
                several.update(own)
                sizes.append((source.records, 0))
                undecided.append(doubtful)
                names.append(None)
                repeated.append(False)
            else:
                columns = TableCells(store, source.table, source.wanted)
                loaded.append(columns.name)
                own, doubtful, more = _wide_parts(columns, source, records)
                undecided.append(doubtful)
                several |= _several(columns, source) | more
                sizes.append(_counted(columns, source))
                identifier = source.identifier
                names.append(None if identifier is None else columns.texts(identifier))
                repeated.append(identifier is not None and columns.repeats(identifier))
            records += sizes[-1][0]
            for label, part in own.items():
                parts.setdefault(label, []).append(part)
        united = {
            label: _best(parts[label]) if label in several else " UNION ALL ".join(parts[label])
            for label in sorted(parts)
        }
        if records >= MANY:
            attributes = coded_attributes(store, united, records=records, several=frozenset(several))
        else:
            name = store.make(f"SELECT * FROM ({' UNION ALL '.join(united.values()) or _NOTHING}) u WHERE {THERE}")
            attributes = Attributes(store, name, records, frozenset(several))
    finally:
        store.drop(*loaded)
    counts, unsure = zip(*sizes, strict=True) if sizes else ((), ())
    return Gathered(attributes, counts, unsure, tuple(undecided), tuple(names), tuple(repeated))


_NOTHING = (
    "SELECT CAST(0 AS BIGINT) AS rid, CAST('' AS STRING) AS label, CAST('' AS STRING) AS value, "
    "CAST(0 AS DOUBLE) AS confidence WHERE 1 = 0"
)


def _best(parts: Sequence[str]) -> str:
    """The better confidence of what a record says twice."""
    union = " UNION ALL ".join(parts)
    best = "SELECT rid, label, value, max(confidence) AS confidence"
    return f"{best} FROM ({union}) u WHERE {THERE} GROUP BY rid, label, value"


def _several(columns: TableCells, source: Wide) -> set[str]:
    """The labels of which a row may have several values."""
    named = Counter([*source.joined, *source.columns.values()])
    return {label for label, number in named.items() if number > 1}.union(
        label for name, label in source.columns.items() if columns.several(name)
    )


def _long_parts(store: Store, source: Long, name: str, first: int) -> tuple[dict[str, str], tuple[str, ...]]:
    """For every label, a query of (rid, label, value, confidence), also of what is missing; and labels of days that may
    be read in two ways."""
    queries: dict[str, str] = {}
    undecided: list[str] = []
    for label in source.rows.column("label").unique().to_pylist():
        cells = ColumnCells(f"(SELECT * FROM {name} WHERE label = {store.text(label)}) l", "value")
        if label in source.forms:
            form, country = source.forms[label]
            cells = as_read(store, cells, form, column_reading(store, cells, form, country))
        undecided += [label] if cells.undecided else []
        queries[label] = f"SELECT rid + {first} AS rid, label, {cells.value} AS value, confidence FROM {cells.rows}"
    return queries, tuple(undecided)


def _wide_parts(columns: TableCells, source: Wide, first: int) -> tuple[dict[str, str], tuple[str, ...], set[str]]:
    """For every label, a query of (rid, label, value, confidence), also of what is missing; columns of days that may be
    read in two ways; and labels for which a cell holds several values.
    """
    share = "1.0" if source.confidence_column is None else f"coalesce({columns.number(source.confidence_column)}, 1.0)"
    values = [(name, label, _column(columns, source, name, label)) for name, label in source.columns.items()]
    undecided = tuple(name for name, _, cells in values if cells.undecided)
    several = {label for _, label, cells in values if cells.several}
    values += [(label, label, columns.joined(label, parts)) for label, parts in source.joined.items()]
    parts: dict[str, list[str]] = {}
    for _, label, cells in values:
        own = source.confidence * source.label_confidence.get(label, 1.0)
        parts.setdefault(label, []).append(
            f"SELECT CAST({columns.row} + {first} AS BIGINT) AS rid, {columns.store.text(label)} AS label, "
            f"{cells.value} AS value, CAST({share} AS DOUBLE) * CAST({own!r} AS DOUBLE) AS confidence FROM {cells.rows}"
        )
    return {label: " UNION ALL ".join(some) for label, some in parts.items()}, undecided, several


def _column(columns: TableCells, source: Wide, name: str, label: str) -> ColumnCells:
    """The cells of a column, read as the column and the country of the row say."""
    cells = columns.values(name, label)
    if label not in source.forms:
        return cells
    store, (form, home) = columns.store, source.forms[label]
    beside = _country_beside(columns, source, label)
    reading = (
        column_reading(store, cells, form, home if beside is None else "", beside)
        if source.readings is None
        else source.readings[name]
    )
    read = as_read(store, cells, form, reading)
    if beside is None:
        return read
    kept = ", ".join([columns.row, *([] if source.confidence_column is None else [columns[source.confidence_column]])])
    return in_their_countries(store, read, form, reading, beside, kept)


def _country_beside(columns: TableCells, source: Wide, label: str) -> str | None:
    """SQL for the country of the row, if the normal form of a label depends on it."""
    country = source.country
    return columns.text(country) if country is not None and source.forms[label][0] in IN_COUNTRIES else None


def wide_evidence(source: Wide) -> WideEvidence:
    """What the rows of a table show about how to read it; what several parts of it show is the sum, in their order."""
    store = store_on("duckdb")
    columns = TableCells(store, source.table, source.wanted)
    shown = {}
    for name, label in source.columns.items():
        if label in source.forms:
            form, beside = source.forms[label][0], _country_beside(columns, source, label)
            shown[name] = column_evidence(store, columns.values(name, label), form, beside)
    return WideEvidence(*_counts(columns, source), shown)


@dataclass(frozen=True)
class WideEvidence:
    """What some rows of a table show: how many they are, how many lack a confidence, the place of the first with a
    wrong one, and for each column what its cells show."""

    records: int = 0
    unsure: int = 0
    wrong: int | None = None
    columns: Mapping[str, ColumnEvidence] = field(default_factory=dict)

    def __add__(self, after: WideEvidence) -> WideEvidence:
        wrong = self.wrong if self.wrong is not None or after.wrong is None else self.records + after.wrong
        empty = ColumnEvidence()
        columns = {
            name: self.columns.get(name, empty) + after.columns.get(name, empty)
            for name in {**self.columns, **after.columns}
        }
        return WideEvidence(self.records + after.records, self.unsure + after.unsure, wrong, columns)

    def readings(self, source: Wide) -> dict[str, ColumnReading]:
        """How the columns of a table are read of which this is what all rows show; a DataError names the first row
        with a wrong confidence."""
        _refuse_wrong(source, self.wrong)
        readings = {}
        for name, shown in self.columns.items():
            form, home = source.forms[source.columns[name]]
            own = source.country is not None and form in IN_COUNTRIES
            readings[name] = shown.reading(form, "" if own else home)
        return readings


def _counted(columns: TableCells, source: Wide) -> tuple[int, int]:
    """The number of rows, and of rows without a confidence; a DataError names the first row with a wrong one."""
    records, unsure, wrong = _counts(columns, source)
    _refuse_wrong(source, wrong)
    return records, unsure


def _counts(columns: TableCells, source: Wide) -> tuple[int, int, int | None]:
    """The number of rows, and of rows without a confidence; and the place of the first with a wrong one."""
    confidence = (
        "'1'" if source.confidence_column is None else f"trim(CAST({columns[source.confidence_column]} AS STRING))"
    )
    wrong = f"coalesce(NOT (try_cast({confidence} AS DOUBLE) BETWEEN 0 AND 1), true)"
    empty = f"coalesce({confidence}, '') = ''"
    counts = columns.store.ask(
        f"SELECT count(*) AS n, count(CASE WHEN {empty} THEN 1 END) AS missing, "
        f"min(CASE WHEN NOT {empty} AND {wrong} THEN {columns.row} END) AS wrong FROM {columns.name}"
    ).to_pylist()[0]
    return counts["n"], counts["missing"], counts["wrong"]


def _refuse_wrong(source: Wide, row: int | None) -> None:
    if row is not None:
        raise DataError(
            f"{source.table.name}, row {row + 1}: '{source.confidence_column}' is not a confidence: a number from 0 "
            "to 1"
        )


def text_columns(table: Table, columns: Sequence[str]) -> pa.Table:
    """Columns as text, in the order of the rows, named c0, c1, ... by their places; null where there is no value."""
    store = table.engine.store()
    cell_columns = TableCells(store, table, columns)
    try:
        parts = ", ".join(f"{cell_columns.text(name)} AS c{place}" for place, name in enumerate(columns))
        return store.ask(f"SELECT {parts} FROM {cell_columns.name} ORDER BY {cell_columns.row}")
    finally:
        store.drop(cell_columns.name)


def keyed_values(store: Store, table: Table, key: str, columns: Mapping[str, str]) -> str:
    """A table (pid, label, value) in a store: what a table says about the people that its column ``key`` names.

    Every key also has a row with neither label nor value, so that people without values count too.

    Raises
    ------
    DataError
        If a row has no key; the row is named.
    """
    cell_columns = TableCells(store, table, [key, *(name for name in columns if name != key)])
    try:
        who = cell_columns.text(key)
        missing = one(store, f"SELECT min({cell_columns.row}) FROM {cell_columns.name} WHERE {who} IS NULL")
        if missing is not None:
            raise DataError(f"{table.name}, row {missing + 1}: no '{key}': say whose row it is, or leave it out")
        nothing = "CAST(NULL AS STRING) AS label, CAST(NULL AS STRING) AS value"
        parts = [f"SELECT DISTINCT {who} AS pid, {nothing} FROM {cell_columns.name}"]
        for name, label in columns.items():
            cells = cell_columns.values(name, label)
            own = f"SELECT {who} AS pid, {store.text(label)} AS label, {cells.value} AS value FROM {cells.rows}"
            parts.append(f"SELECT * FROM ({own}) p WHERE value IS NOT NULL")
        return store.make(" UNION ALL ".join(parts))
    finally:
        store.drop(cell_columns.name)
