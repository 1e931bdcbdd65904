"""A DuckDB database: one of its tables."""

from __future__ import annotations

from tacit.errors import SourceError
from tacit.tables.columns import check_names
from tacit.tables.engines import Engine
from tacit.tables.engines.duckdb.layouts import database_tables
from tacit.tables.formats.format import Format, Opened, SeveralTables, SourceFile


class Database(Format):
    """A table of a DuckDB database, ``people.duckdb::table``."""

    name = "duckdb"
    title = "a DuckDB database"
    endings = (".duckdb", ".ddb", ".db")
    options = ("table",)
    written = False

    def open(self, file: SourceFile, engine: Engine) -> Opened:
        """The table of that name, or the only one."""
        path, table = file.path, file.table
        tables = database_tables(path)
        names = [name if schema == "main" else f"{schema}.{name}" for schema, name in tables]
        if not names:
            raise SourceError(f"{file.name} has no table")
        if table is None and len(names) > 1:
            raise SeveralTables(file.name, "tables", names)
        if table is not None and table not in names:
            raise SourceError(f"{file.name} has no table '{table}'; it has {', '.join(names)}")
        schema, name = tables[0 if table is None else names.index(table)]
        rows = engine.of_database(path, schema, name)
        check_names(list(engine.schema(rows)), f"{file.name}::{name}")
        return Opened(rows, f"{file.name}::{name}")
