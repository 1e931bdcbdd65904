"""Cells of any type as text, and tables as attributes, in SQL that runs in the engine."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from tacit.errors import DataError
from tacit.tables.duckdb_engine import text
from tacit.tables.table import ROW, Table

if TYPE_CHECKING:
    import duckdb

# Every character that Python, too, takes for a space; DuckDB by itself trims the ordinary one alone.
_SPACES = text("".join(chr(code) for code in range(1, 0x3001) if chr(code).isspace()))
_NO_VALUE = ("STRUCT", "MAP", "UNION", "BLOB", "BIT", "VARIANT", "GEOMETRY")


def cell_text(cell: str, kind: str) -> str | None:
    """SQL for a cell of a DuckDB type as text, the way people write it (30, not 30.0); None if it holds no value.

    Numbers that are not finite, and text of spaces alone, are missing.
    """
    if kind.startswith(_NO_VALUE) or kind.endswith("]"):
        return None
    if kind in ("FLOAT", "DOUBLE"):
        return (
            f"CASE WHEN NOT isfinite({cell}) THEN NULL WHEN {cell} = trunc({cell}) AND abs({cell}) < 1e15 "
            f"THEN CAST(CAST({cell} AS BIGINT) AS VARCHAR) ELSE CAST({cell} AS VARCHAR) END"
        )
    if kind.startswith("DECIMAL") and not kind.endswith(",0)"):
        return f"rtrim(rtrim(CAST({cell} AS VARCHAR), '0'), '.')"
    held = f"CAST({cell} AS VARCHAR)"
    # To trim is slow, and what begins with an ordinary sign is not blank.
    return (
        f"CASE WHEN {held} >= '!' AND {held} < chr(127) THEN {held} WHEN trim({held}, {_SPACES}) <> '' THEN {held} END"
    )


def list_texts(cell: str, kind: str) -> str | None:
    """SQL for a list in a cell as a list of texts; None if it is no list of values."""
    inner = re.fullmatch(r"(.*)\[\d*\]", kind, re.DOTALL)
    each = None if inner is None else cell_text("x", inner[1])
    return None if each is None else f"list_transform({cell}, lambda x: {each})"


def any_text(cell: str, kind: str) -> str | None:
    """SQL for the text or the list of texts of a cell; None if it holds no value."""
    return list_texts(cell, kind) if kind.endswith("]") else cell_text(cell, kind)


def picked(table: Table, columns: Sequence[str]) -> duckdb.DuckDBPyRelation:
    """Some columns of a table as c0, c1, ... beside the hidden row positions."""
    import narwhals as nw

    from tacit.tables import engines

    table.require(columns)
    names = [f"c{at}" for at in range(len(columns))]
    return nw.to_native(engines.picked(table, columns, names))


def texts(
    table: Table, columns: Sequence[str], relation: duckdb.DuckDBPyRelation, make: Callable[[str, str], str | None]
) -> list[str]:
    """SQL for the text or texts of each column of ``picked``; a DataError names one that holds no values."""
    made = []
    for at, (name, kind) in enumerate(zip(columns, map(str, relation.types), strict=False)):
        sql = make(f"c{at}", kind)
        if sql is None:
            hint = "; is it a file of Senzing? Add features: true" if name == "FEATURES" else ""
            raise DataError(
                f"column '{name}' of {table.name} holds {kind.split('(')[0]}, which is no value: "
                f"leave it out (map: {{{name}: null}}){hint}"
            )
        made.append(sql)
    return made


__all__ = ["ROW", "any_text", "cell_text", "list_texts", "picked", "texts"]
