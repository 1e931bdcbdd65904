"""Tables with one record per row as attributes: loaded into a store, converted to text there, and concatenated."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from tacit.errors import ArgumentError, DataError
from tacit.person.link.attributes import Attributes, one
from tacit.person.link.coded import THERE, coded_attributes
from tacit.person.link.forms.columns import ColumnCells, as_the_column_says, in_their_countries
from tacit.person.link.forms.forming import NamedForm
from tacit.person.link.forms.missing import SPACES, unless_nothing
from tacit.person.model.forms.countries import COUNTRY_COLUMNS
from tacit.person.model.kinds import column_name, is_name
from tacit.tables.columns import ROW
from tacit.tables.engines import Store, store_on
from tacit.tables.table import Table

if TYPE_CHECKING:
    import pyarrow as pa

# Normal forms that depend on the country.
IN_COUNTRIES = ("phone", "zip")
# From this many records on, attributes are held by number.
MANY = 50_000
# Rows of a table that travel from one connection to another at a time.
BATCH = 100_000


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
    """

    table: Table
    columns: Mapping[str, str]
    joined: Mapping[str, Sequence[str]] = field(default_factory=dict)
    confidence: float = 1.0
    label_confidence: Mapping[str, float] = field(default_factory=dict)
    confidence_column: str | None = None
    forms: Mapping[str, NamedForm] = field(default_factory=dict)
    identifier: str | None = None

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
                columns = _Columns(store, source.table, source.wanted)
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


def _several(columns: _Columns, source: Wide) -> set[str]:
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
            cells = as_the_column_says(store, cells, *source.forms[label])
        undecided += [label] if cells.undecided else []
        queries[label] = f"SELECT rid + {first} AS rid, label, {cells.value} AS value, confidence FROM {cells.rows}"
    return queries, tuple(undecided)


def _wide_parts(columns: _Columns, source: Wide, first: int) -> tuple[dict[str, str], tuple[str, ...], set[str]]:
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


def _column(columns: _Columns, source: Wide, name: str, label: str) -> ColumnCells:
    """The cells of a column, read as the column and the country of the row say."""
    cells, country = columns.values(name, label), source.country
    if label not in source.forms:
        return cells
    form, home = source.forms[label]
    at_home = country is None or form not in IN_COUNTRIES
    read = as_the_column_says(columns.store, cells, form, home if at_home else "")
    if at_home:
        return read
    assert country is not None
    kept = ", ".join([columns.row, *([] if source.confidence_column is None else [columns[source.confidence_column]])])
    return in_their_countries(columns.store, read, form, columns.text(country), kept)


def _counted(columns: _Columns, source: Wide) -> tuple[int, int]:
    """The number of rows, and of rows without a confidence; a DataError names the first row with a wrong one."""
    confidence = (
        "'1'" if source.confidence_column is None else f"trim(CAST({columns[source.confidence_column]} AS STRING))"
    )
    wrong = f"coalesce(NOT (try_cast({confidence} AS DOUBLE) BETWEEN 0 AND 1), true)"
    empty = f"coalesce({confidence}, '') = ''"
    counts = columns.store.ask(
        f"SELECT count(*) AS n, count(CASE WHEN {empty} THEN 1 END) AS missing, "
        f"min(CASE WHEN NOT {empty} AND {wrong} THEN {columns.row} END) AS wrong FROM {columns.name}"
    ).to_pylist()[0]
    if counts["wrong"] is not None:
        raise DataError(
            f"{source.table.name}, row {counts['wrong'] + 1}: '{source.confidence_column}' is not a confidence: a "
            "number from 0 to 1"
        )
    return counts["n"], counts["missing"]


def text_columns(table: Table, columns: Sequence[str]) -> pa.Table:
    """Columns as text, in the order of the rows, named c0, c1, ... by their places; null where there is no value."""
    store = table.engine.store()
    cell_columns = _Columns(store, table, columns)
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
    cell_columns = _Columns(store, table, [key, *(name for name in columns if name != key)])
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


class _Columns:
    """Columns of a table in a store: a table of numbered rows, and SQL for what its cells say."""

    def __init__(self, store: Store, table: Table, columns: Sequence[str]) -> None:
        import narwhals as nw

        self.store, self._table, self.row = store, table, store.identifier(ROW)
        self._cells = {name: f"c{place}" for place, name in enumerate(columns)}
        with table.reading():
            name = table.engine.loaded(table.rows, columns, list(self._cells.values()), store)
        if name is None:
            native = nw.to_native(table.engine.indexed(table.picked(columns, list(self._cells.values()))))
            with crossing(table, native) as rows:
                name = store.load(rows)
        self.name = name
        self._kinds = store.ask(f"SELECT * FROM {self.name} LIMIT 0").schema

    def __getitem__(self, name: str) -> str:
        return self._cells[name]

    def several(self, name: str) -> bool:
        """Whether the cells of a column are lists."""
        return hasattr(self._kinds.field(self._cells[name]).type, "value_field")

    def number(self, name: str) -> str:
        """SQL for the number in a cell; null if it is not a number."""
        return f"try_cast(trim(CAST({self._cells[name]} AS STRING)) AS DOUBLE)"

    def text(self, name: str) -> str:
        """SQL for a cell as text, as people write it (30, not 30.0); null if it is blank or not a finite number."""
        return self._text(name, self._cells[name], self._kinds.field(self._cells[name]).type)

    def texts(self, name: str) -> pa.Array:
        """The cells of a column as texts, in the order of the rows."""
        rows = self.store.ask(f"SELECT {self.text(name)} AS said FROM {self.name} ORDER BY {self.row}")
        return rows.column("said").combine_chunks()

    def repeats(self, name: str) -> bool:
        """Whether two cells of a column have the same text."""
        texts = f"SELECT {self.text(name)} AS said FROM {self.name}"
        return bool(one(self.store, f"SELECT count(DISTINCT said) < count(said) FROM ({texts}) t"))

    def values(self, name: str, label: str) -> ColumnCells:
        """The cells of a column one by one, which hold values of a label; lists are flattened."""
        cell = self._cells[name]
        kind = self._kinds.field(cell).type
        if not self.several(name):
            return ColumnCells(self.name, self._value(name, cell, kind, label), written=f"CAST({cell} AS STRING)")
        lists = f"(SELECT * EXCLUDE {cell}, unnest({cell}) AS x FROM {self.name}) l"
        return ColumnCells(lists, self._value(name, "x", kind.value_type, label), written="CAST(x AS STRING)")

    def joined(self, label: str, columns: Sequence[str]) -> ColumnCells:
        """The cells of several columns, and the text they make up together."""
        if any(map(self.several, columns)):
            raise DataError(f"'join' of '{label}' in {self._table.name} has a column of lists: join only texts")
        values = (self.values(name, label).value for name in columns)
        return ColumnCells(self.name, f"nullif(concat_ws(' ', {', '.join(f'trim({each})' for each in values)}), '')")

    def _text(self, name: str, cell: str, kind: pa.DataType) -> str:
        import pyarrow as pa

        if pa.types.is_nested(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
            hint = "; is it a Senzing file? Add features: true" if name == "FEATURES" else ""
            dtype = self._table[name].dtype.split("(")[0]
            raise DataError(
                f"column '{name}' of {self._table.name} holds {dtype}, which is not a value: leave it out "
                f"(map: {{{name}: null}}){hint}"
            )
        text = f"CAST({cell} AS STRING)"
        if pa.types.is_floating(kind):
            return (
                f"CASE WHEN NOT abs({cell}) < CAST('Infinity' AS DOUBLE) THEN NULL WHEN abs({cell}) < 1e15 AND "
                f"{cell} = floor({cell}) THEN CAST(CAST({cell} AS BIGINT) AS STRING) ELSE {text} END"
            )
        if pa.types.is_decimal(kind) and kind.scale > 0:
            return f"trim(TRAILING '.' FROM trim(TRAILING '0' FROM {text}))"
        if not (pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_dictionary(kind)):
            return text
        # Trimming is slow, and a text that begins with an ordinary character is not blank.
        trimmed = f"trim(BOTH {self.store.text(SPACES)} FROM {text})"
        return f"CASE WHEN {text} >= '!' AND {text} < chr(127) THEN {text} WHEN {trimmed} <> '' THEN {text} END"

    def _value(self, name: str, cell: str, kind: pa.DataType, label: str) -> str:
        """SQL for the value of a cell: its text, or null if the text means that the value is missing, such as N/A."""
        import pyarrow as pa

        text = self._text(name, cell, kind)
        if not (pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_dictionary(kind)):
            return text
        written = f"CAST({cell} AS STRING)"
        return unless_nothing(self.store, written, text, name=is_name(label))


@contextmanager
def crossing(table: Table, native: Any) -> Iterator[Any]:
    """The rows of a table on their way to a store, as a stream of batches.

    An error of the table is raised unchanged; the store that reads it would wrap it in an error of its own.
    """
    import pyarrow as pa

    failures: list[BaseException] = []
    with table.reading():
        reader = native.to_arrow_reader(BATCH)

    def batches() -> Iterator[pa.RecordBatch]:
        try:
            with table.reading(), _stream_errors(table):
                yield from reader
        except GeneratorExit:
            # The store stopped reading for its own reasons.
            raise
        except BaseException as failure:
            failures.append(failure)
            raise

    try:
        yield pa.RecordBatchReader.from_batches(reader.schema, batches())
    except Exception:
        if failures:
            raise failures[0] from None
        raise


@contextmanager
def _stream_errors(table: Table) -> Iterator[None]:
    """An error of DuckDB that comes through Arrow arrives as an OSError; raise it as DuckDB's again."""
    try:
        yield
    except OSError as error:
        import duckdb

        raise duckdb.InvalidInputException(str(error)) from error
