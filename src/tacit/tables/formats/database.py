"""A DuckDB database: one of its tables."""

from __future__ import annotations

from tacit.tables.columns import check_names
from tacit.tables.engines import Engine
from tacit.tables.engines.duckdb.layouts import database_tables
from tacit.tables.formats.format import Format, Opened, SourceFile, chosen_table


class Database(Format):
    """A table of a DuckDB database, ``people.duckdb::table``."""

    name = "duckdb"
    title = "a DuckDB database"
    endings = (".duckdb", ".ddb", ".db")
    options = ("table",)
    written = False

    def open(self, file: SourceFile, engine: Engine) -> Opened:
        """The table of that name, or the only one."""
        tables = database_tables(file.path)
        names = [name if schema == "main" else f"{schema}.{name}" for schema, name in tables]
        schema, name = tables[names.index(chosen_table(file.name, names, file.table))]
        rows = engine.of_database(file.path, schema, name)
        check_names(list(engine.schema(rows)), f"{file.name}::{name}")
        return Opened(rows, f"{file.name}::{name}")
