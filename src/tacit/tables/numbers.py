"""Text that is a number: one reading of it on every engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tacit.errors import DataError, Setting, sentence
from tacit.tables.columns import ROW, Column
from tacit.tables.table import WIDE, Table, batched

if TYPE_CHECKING:
    import narwhals as nw

# Engines differ in what else they read as a number (1_000, 0x1F, 1d); here only this is one.
NUMBER = r"^ *[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)? *$"
INFINITE = r"^ *[+]?([iI]nf(inity)?|INF(INITY)?) *$"
MINUS_INFINITE = r"^ *-([iI]nf(inity)?|INF(INITY)?) *$"
MISSING = r"^ *([nN]a[nN]|NAN)? *$"


def as_number(name: str, column: Column) -> nw.Expr:
    """The column called ``name`` in a frame as a float; NaN, blank text and text that is not a number are missing."""
    import narwhals as nw

    value = nw.col(name)
    if column.kind == "number" and column.dtype != "String":
        number = value.cast(nw.Float64)
        if column.dtype.lstrip("U").startswith("Int"):
            return number
        return nw.when(~number.is_nan()).then(number)
    if column.dtype != "String":
        raise DataError(f"column '{column.name}' holds {column.dtype}, not numbers: choose another column")
    finite = nw.when(value.str.contains(NUMBER)).then(value).cast(nw.Float64)
    minus = nw.when(value.str.contains(MINUS_INFINITE)).then(nw.lit(float("-inf")))
    infinite = nw.when(value.str.contains(INFINITE)).then(nw.lit(float("inf"))).otherwise(minus)
    # Most texts are finite numbers, for which no other pattern has to be tried.
    return nw.when(~finite.is_null()).then(finite).otherwise(infinite)


def in_numbers(table: Table, column: str) -> Table:
    """The table with a column as floats, so that its values sort as numbers; the rest is unchanged."""
    refuse_non_numbers(table, [column])
    rows, names = table.plainly(table.names)
    name = names[table.names.index(column)]
    number = as_number(name, table[column]).alias(name)
    rows = table.engine.renamed(rows.with_columns(number), [*names, ROW], [*table.names, ROW])
    return table.with_rows(
        rows, [Column(column, "number", "Float64") if each.name == column else each for each in table.columns]
    )


def refuse_non_numbers(table: Table, columns: Sequence[str]) -> None:
    """Raise a DataError for a column with text that is not a number; it says how many such cells there are."""
    for texts in batched((name for name in columns if table[name].dtype == "String"), WIDE):
        _refuse_texts(table, texts)


def _refuse_texts(table: Table, texts: Sequence[str]) -> None:
    import narwhals as nw

    rows, names = table.plainly(texts)
    counted: list[Any] = []
    for name in names:
        value = nw.col(name)
        readable = value.str.contains(f"{NUMBER}|{INFINITE}|{MINUS_INFINITE}|{MISSING}")
        bad = nw.when(~readable).then(value)
        counted.append(bad.count().alias(f"n_{name}"))
    answer = table.collected(rows.select(*counted)).to_pylist()[0]
    for column, name in zip(texts, names, strict=True):
        if answer[f"n_{name}"]:
            raise DataError(
                sentence(
                    "column '{column}' of {table} has {number:,} cells that are not a number: fix them, or leave the "
                    "column out ({drop})",
                    column=column,
                    table=table.name,
                    number=answer[f"n_{name}"],
                    drop=Setting("drop", column),
                )
            )
