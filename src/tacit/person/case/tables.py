"""Small tables that a case file names: pairs of a value and what goes with it, and names of columns."""

from __future__ import annotations

from pathlib import Path

import yaml

from tacit.errors import DataError, TacitError
from tacit.person.case.schema import CaseReader


def pairs_of_file(path: Path, given: str = "", wanted: str = "") -> list[tuple[str, str]]:
    """Two columns of a table, as texts, rows with an empty cell left out.

    The columns called ``given`` and ``wanted`` if it has both, else its first two.
    """
    from tacit.person.link.wide import text_columns
    from tacit.tables.sources import open_table

    table = open_table(path)
    columns = [given, wanted] if given in table.names and wanted in table.names else list(table.names[:2])
    if len(columns) < 2:
        raise DataError(f"{path} has one column where two are needed: a value, and what goes with it")
    rows = text_columns(table, columns)
    pairs = zip(rows.column("c0").to_pylist(), rows.column("c1").to_pylist(), strict=True)
    return [(one, other) for one, other in pairs if one is not None and other is not None]


def columns_of_file(reader: CaseReader, node: yaml.Node, path: Path, what: str, hint: str = "") -> tuple[str, ...]:
    """The columns of a table that is there; none after a mistake, which may be an old one. ``hint`` ends a new one."""
    from tacit.tables.sources import open_table

    if not path.exists() and "::" not in path.name:
        return ()
    try:
        return open_table(path).names
    except TacitError as error:
        reader.wrong(node, f"{what}: {error}{hint}")
        return ()
