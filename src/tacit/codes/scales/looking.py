"""A look at a table before its scales are made: a sample of its numbers and dates, their ends, its texts' values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.codes.scales.moments import BLANK, Layout, with_numbers
from tacit.errors import DataError, Setting, sentence
from tacit.tables.columns import ROW, Column
from tacit.tables.counting import count, distinct_counts
from tacit.tables.numbers import MISSING, as_number
from tacit.tables.table import Table

SAMPLE_ROWS = 200_000
# More values than this are no categories, and nobody could read their groups.
MOST_VALUES = 200_000


@dataclass(frozen=True, eq=False)
class NumberFacts:
    """What is known of a column of numbers, or of dates as numbers of hours.

    ``low``, ``high``, ``whole`` and ``missing`` are of the whole table; both ends are NaN if it has no number.
    """

    sample: NDArray[np.float64]
    low: float
    high: float
    whole: bool
    missing: bool


@dataclass(frozen=True, eq=False)
class TextFacts:
    """The values of a column but missing, sorted, and whether some are missing."""

    values: tuple[Any, ...]
    missing: bool


def number_facts(table: Table, layouts: Mapping[str, Layout | None]) -> dict[str, NumberFacts]:
    """Facts of columns of numbers (no layout) and of dates (with one), in one pass and one look at a sample.

    Guarantees
    ----------
    Text that is neither missing nor a number (a date of the layout) is a DataError, never left out.
    """
    import narwhals as nw

    if not layouts:
        return {}
    rows, names = table.plainly(list(layouts))
    asked: list[Any] = []
    for name, (column, layout) in zip(names, layouts.items(), strict=True):
        rows = _numbered(rows, name, table[column], layout)
        value, said = nw.col(name), nw.col(f"{name}_said")
        wrong = nw.when(value.is_null()).then(said)
        finite = nw.when(value.is_finite()).then(value)
        asked += [
            value.min().alias(f"{name}_low"),
            value.max().alias(f"{name}_high"),
            value.is_null().cast(nw.Int64).sum().alias(f"{name}_missing"),
            (finite != finite.round(0)).cast(nw.Int64).sum().alias(f"{name}_broken"),
            wrong.count().alias(f"{name}_wrong"),
            wrong.min().alias(f"{name}_first"),
        ]
    found = table.collected(rows.select(*asked)).to_pylist()[0]
    for name, (column, layout) in zip(names, layouts.items(), strict=True):
        if found[f"{name}_wrong"]:
            raise _no_number(table, column, layout, found[f"{name}_wrong"], found[f"{name}_first"])
    view = table.with_rows(rows.select(*names, ROW), [Column(name, "number", "Float64") for name in names])
    sample = view.sample(names, SAMPLE_ROWS)
    return {
        column: _facts(sample.column(name).drop_null().to_numpy(), name, found)
        for name, column in zip(names, layouts, strict=True)
    }


def _numbered(rows: Any, name: str, column: Column, layout: Layout | None) -> Any:
    """The rows with a column as floats, and beside it what was said where it is text."""
    import narwhals as nw

    missing = MISSING if layout is None else BLANK
    said: Any = nw.lit(None, nw.String)
    if column.dtype == "String":
        said = nw.when(~nw.col(name).str.contains(missing)).then(nw.col(name))
    rows = rows.with_columns(said.alias(f"{name}_said"))
    if layout is None:
        return rows.with_columns(as_number(name, column).alias(name))
    rows = with_numbers(rows, name, column, layout, "hour")
    return rows.with_columns(nw.col(name).cast(nw.Float64).alias(name))


def _facts(sample: NDArray[np.float64], name: str, found: Mapping[str, Any]) -> NumberFacts:
    low, high = (np.nan if found[f"{name}_{end}"] is None else found[f"{name}_{end}"] for end in ("low", "high"))
    whole = not found[f"{name}_broken"] and max(abs(low), abs(high)) < 2**53
    return NumberFacts(sample.astype(np.float64), low, high, whole=whole, missing=bool(found[f"{name}_missing"]))


def _no_number(table: Table, column: str, layout: Layout | None, number: int, first: str) -> DataError:
    return DataError(
        sentence(
            "column '{column}' of {table} has {number:,} cells that are no {what}, such as {first}: mend them, take "
            "every value as it is ({levels}), or leave the column out ({drop})",
            column=column,
            table=table.name,
            number=number,
            what="number" if layout is None else f"date written {layout}",
            first=repr(first[:40]),
            levels=Setting("levels", {column: "values"}),
            drop=Setting("drop", column),
        )
    )


def text_facts(table: Table, column: str, length: int | None = None) -> TextFacts:
    """The different values of a column, or of its first ``length`` characters."""
    import narwhals as nw

    rows, (name,) = table.plainly([column])
    view = table.with_rows(rows, [replace(table[column], name=name)])
    if length is not None:
        text = nw.col(name) if table[column].dtype == "String" else nw.col(name).cast(nw.String)
        view = table.with_rows(rows.with_columns(text.str.head(length).alias(name)), [Column(name, "text", "String")])
    if distinct_counts(view, [name])[name] > MOST_VALUES:
        raise _too_many(table, column)
    (levels,) = count(view, [name]).levels
    return TextFacts(tuple(level for level in levels if level is not None), None in levels)


def _too_many(table: Table, column: str) -> DataError:
    return DataError(
        sentence(
            "column '{column}' of {table} has more than {most:,} different values, too many for groups: leave it out "
            "({drop}), tell how its values begin ({prefix}), or keep it whole ({whole})",
            column=column,
            table=table.name,
            most=MOST_VALUES,
            drop=Setting("drop", column),
            prefix=Setting("levels", {column: "prefix:3"}),
            whole=Setting("levels", {column: "whole"}),
        )
    )


def sampled_texts(table: Table, columns: Sequence[str], rows: int = 20_000) -> dict[str, list[str]]:
    """The different texts of columns in a sample, neither missing nor blank."""
    if not columns:
        return {}
    sample = table.sample(columns, rows)
    different = {name: sample.column(name).unique().to_pylist() for name in columns}
    return {name: [text for text in texts if text and text.strip()] for name, texts in different.items()}
