"""The cells of a table in a store: as text, as numbers, and as values of a label."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from tacit.errors import DataError
from tacit.person.link.attributes import one
from tacit.person.link.forms.columns import ColumnCells
from tacit.person.link.forms.missing import SPACES, unless_nothing
from tacit.person.model.kinds import is_name
from tacit.tables.columns import ROW
from tacit.tables.engines import Store
from tacit.tables.table import Table

if TYPE_CHECKING:
    import pyarrow as pa

# Rows of a table that travel from one connection to another at a time.
BATCH = 100_000


class TableCells:
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
