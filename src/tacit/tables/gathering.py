"""Gather the values of a column into a few that matter and the rest."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING

from tacit.errors import DataError
from tacit.tables.columns import ROW, Column
from tacit.tables.numbers import as_number
from tacit.tables.table import Table

if TYPE_CHECKING:
    import narwhals as nw

REST = "any other value"


def gathered(table: Table, column: str, values: Sequence[str]) -> Table:
    """The table with all values of a column except those named, missing included, written as one.

    Guarantees
    ----------
    A value that never occurs is a DataError: a typing error would leave the intended value unprotected.
    """
    import narwhals as nw

    kind = table[column]
    if kind.kind not in ("text", "number", "boolean"):
        raise DataError(
            f"column '{column}' holds {kind.dtype}, whose values cannot be named one by one: name the column"
        )
    rows, plain = table.plainly(table.names)
    at = plain[table.names.index(column)]
    matches = [_is(at, kind, value) for value in values]
    named = nw.lit(REST)
    for match, value in zip(reversed(matches), reversed(values), strict=True):
        named = nw.when(match).then(nw.lit(value)).otherwise(named)
    groups = table.collected(rows.select(named.alias("v")).unique()).column("v").to_pylist()
    for value in values:
        if value not in groups or value == REST:
            raise DataError(f"column '{column}' of {table.name} has no value '{value}'{_hint(table, column, value)}")
    written = table.engine.renamed(rows.with_columns(named.alias(at)), [*plain, ROW], [*table.names, ROW])
    columns = [
        Column(column, "text", "String", order=(*values, REST)) if each.name == column else each
        for each in table.columns
    ]
    return table.changed(written, columns, same=set(table.names) - {column})


def _is(name: str, column: Column, value: str) -> nw.Expr:
    """Whether a cell has the value that was typed; a missing one has not."""
    import narwhals as nw

    if column.kind == "text":
        equal = nw.col(name) == value
    elif column.kind == "boolean":
        if value.lower() not in ("true", "false"):
            raise DataError(f"column '{column.name}' holds true and false, and '{value}' is neither")
        equal = nw.col(name) == (value.lower() == "true")
    else:
        try:
            number = float(value)
        except ValueError:
            raise DataError(f"column '{column.name}' holds numbers, and '{value}' is not one") from None
        equal = as_number(name, column) == number
    return nw.when(~nw.col(name).is_null()).then(equal).otherwise(nw.lit(False))


def _hint(table: Table, column: str, value: str) -> str:
    """The most similar of the first values, if any is similar."""
    first = {str(each) for each in table.head([column], 2_000).column(0).to_pylist()}
    near = get_close_matches(value, sorted(first), n=1)
    return f"; did you mean '{near[0]}'?" if near else ""
