"""A SQLite database: one of its tables, read by Python's own driver into a private copy. It is read, never written."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from tacit.errors import DataError, SourceError
from tacit.tables.columns import check_names
from tacit.tables.engines import Engine
from tacit.tables.engines.duckdb.connections import private_file
from tacit.tables.engines.duckdb.layouts import parquet_kinds
from tacit.tables.engines.duckdb.sql import identifier
from tacit.tables.formats.format import Format, Opened, SourceFile, chosen_table

if TYPE_CHECKING:
    import pyarrow as pa

MAGIC = b"SQLite format 3\x00"
_ROWS = 100_000


class Sqlite(Format):
    """A table of a SQLite database, ``people.sqlite::table``."""

    name = "sqlite"
    title = "a SQLite database"
    endings = (".sqlite", ".sqlite3", ".db3")
    options = ("table",)
    written = False

    def open(self, file: SourceFile, engine: Engine) -> Opened:
        """The table of that name, or the only one.

        SQLite holds values of any type in any column: a column with both text and numbers is refused.
        """
        path = file.path
        waiting = path.with_name(f"{path.name}-wal")
        if waiting.exists() and waiting.stat().st_size:
            raise SourceError(
                f"{file.name} has changes that are not in it yet ({waiting.name}): close what writes to it"
            )
        with _readable(file.name), closing(_connected(path)) as database:
            name = _chosen(file.name, database, file.table)
            columns = _types(file.name, database, name)
            check_names(list(columns), f"{file.name}::{name}")
            copy = private_file(engine, ".parquet")
            _copied(database, name, columns, copy)
        # SQLite keeps times as text.
        kinds = parquet_kinds(copy, list(columns), "time")
        return Opened(engine.of_parquet((copy,), list(columns), {}), f"{file.name}::{name}", kinds)


def _connected(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"file:{quote(str(path.resolve()))}?mode=ro&immutable=1", uri=True, check_same_thread=False)


def _chosen(path: str, database: sqlite3.Connection, table: str | None) -> str:
    query = "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
    names = [name for (name,) in database.execute(f"{query} ORDER BY name")]
    return chosen_table(path, names, table)


def _types(path: str, database: sqlite3.Connection, table: str) -> dict[str, pa.DataType]:
    """The type of each column, by all of its values."""
    import pyarrow as pa

    names = [row[1] for row in database.execute(f"PRAGMA table_xinfo({identifier(table)})") if row[6] != 1]
    kinds = {"integer": pa.int64(), "real": pa.float64(), "text": pa.string(), "blob": pa.binary()}
    by_name: dict[str, pa.DataType] = {}
    for name in names:
        column = identifier(name)
        query = f"SELECT DISTINCT typeof({column}) FROM {identifier(table)} WHERE {column} IS NOT NULL"
        types = {kind for (kind,) in database.execute(query)}
        if types == {"integer", "real"}:
            types = {"real"}
        if len(types) > 1:
            raise DataError(
                f"column '{name}' of {path}::{table} mixes types, such as numbers and text: make all its "
                "values one type"
            )
        by_name[name] = kinds[types.pop()] if types else pa.string()
    return by_name


def _copied(database: sqlite3.Connection, table: str, columns: dict[str, pa.DataType], copy: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema(list(columns.items()))
    shown = ", ".join(
        f"CAST({identifier(name)} AS REAL)" if pa.types.is_floating(kind) else identifier(name)
        for name, kind in columns.items()
    )
    cursor = database.execute(f"SELECT {shown} FROM {identifier(table)}")
    with pq.ParquetWriter(copy, schema) as writer:
        while rows := cursor.fetchmany(_ROWS):
            arrays = [
                pa.array(values, kind) for values, kind in zip(zip(*rows, strict=True), schema.types, strict=True)
            ]
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema))


@contextmanager
def _readable(path: str) -> Iterator[None]:
    try:
        yield
    except sqlite3.OperationalError as error:
        if "UTF-8" in str(error):
            raise DataError(f"{path} holds text that is not UTF-8: fix it") from error
        raise SourceError(f"cannot read {path}: {error}") from error
    except sqlite3.DatabaseError as error:
        raise SourceError(f"{path} is not an intact SQLite database: copy it again") from error
