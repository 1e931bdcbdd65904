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
    return f"CASE WHEN trim(CAST({cell} AS VARCHAR), {_SPACES}) <> '' THEN CAST({cell} AS VARCHAR) END"


def cell_texts(cell: str, kind: str) -> str | None:
    """SQL for a list of all texts in a cell: one, or those of a list; None if it holds no value."""
    inner = re.fullmatch(r"(.*)\[\d*\]", kind, re.DOTALL)
    if inner is None:
        one = cell_text(cell, kind)
        return None if one is None else f"[{one}]"
    each = cell_text("x", inner[1])
    return None if each is None else f"list_transform({cell}, lambda x: {each})"


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


__all__ = ["ROW", "cell_text", "cell_texts", "picked", "texts"]
