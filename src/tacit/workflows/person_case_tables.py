"""Small tables that a case file names: pairs of a value and what goes with it."""

from __future__ import annotations

from pathlib import Path

from tacit.errors import DataError


def pairs_of_file(path: Path, given: str = "", wanted: str = "") -> list[tuple[str, str]]:
    """Two columns of a table, as texts, rows with an empty cell left out.

    The columns called ``given`` and ``wanted`` if it has both, else its first two.
    """
    from tacit.tables.duckdb_engine import answered
    from tacit.tables.sources import open_table
    from tacit.workflows.person_sources_cells import ROW, cell_text, picked, texts

    table = open_table(path)
    names = list(table.names)
    columns = [given, wanted] if given in names and wanted in names else names[:2]
    if len(columns) < 2:
        raise DataError(f"{path} has one column where two are needed: a value, and what goes with it")
    relation = picked(table, columns)
    one, other = texts(table, columns, relation, cell_text)
    sql = f'SELECT {one} AS a, {other} AS b FROM t WHERE a IS NOT NULL AND b IS NOT NULL ORDER BY "{ROW}"'
    with table.reading():
        return answered(lambda: relation.query("t", sql).fetchall())


def columns_of_file(path: Path) -> tuple[str, ...]:
    """The names of a table's columns."""
    from tacit.tables.sources import open_table

    return open_table(path).names
