"""Small tables that a case file names: pairs of a value and what goes with it, and names of columns."""

from __future__ import annotations

from pathlib import Path

import yaml

from tacit.errors import DataError
from tacit.person.case.schema import CaseReader
from tacit.person.sources.source import SourceFormat


def pairs_in(
    reader: CaseReader, node: yaml.Node, what: str, given: str = "", wanted: str = ""
) -> list[tuple[str, str]]:
    """Two columns of the table that a node names, as texts, rows with an empty cell left out; none after a mistake.

    The columns called ``given`` and ``wanted`` if it has both, else its first two.
    """
    from tacit.person.link.wide import text_columns
    from tacit.tables.sources import open_table

    path = reader.file(node, what)
    if path is None:
        return []
    with reader.refusals(node, what):
        table = open_table(path)
        columns = [given, wanted] if given in table.names and wanted in table.names else list(table.names[:2])
        if len(columns) < 2:
            raise DataError(f"{path} has one column where two are needed: a value, and what goes with it")
        rows = text_columns(table, columns)
        pairs = zip(rows.column("c0").to_pylist(), rows.column("c1").to_pylist(), strict=True)
        return [(one, other) for one, other in pairs if one is not None and other is not None]
    return []


def columns_of(
    reader: CaseReader, node: yaml.Node, path: Path, what: str, format_: SourceFormat = "table"
) -> tuple[str, ...]:
    """The columns of a table; none after a mistake."""
    from tacit.person.sources.formats import table_of

    with reader.refusals(node, what):
        return table_of(path, format_).names
    return ()
