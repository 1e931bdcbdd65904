"""A table whose columns are replaced by the numbers of their atoms, in the engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.codes.scales.kinds.beginnings import BeginningScale
from tacit.codes.scales.kinds.dates import DateScale
from tacit.codes.scales.kinds.listed import ListedScale
from tacit.codes.scales.kinds.numbers import NumberScale
from tacit.codes.scales.kinds.prefixes import PrefixScale
from tacit.codes.scales.kinds.stretches import StretchScale
from tacit.codes.scales.kinds.whole import WholeScale
from tacit.codes.scales.moments import BLANK, with_numbers
from tacit.codes.scales.scale import UNKNOWN, Scale
from tacit.errors import ArgumentError
from tacit.tables.columns import ROW, Column
from tacit.tables.engines.protocol import halved
from tacit.tables.numbers import MISSING, as_number
from tacit.tables.symbols import Symbols
from tacit.tables.table import Table

if TYPE_CHECKING:
    import narwhals as nw


def atoms_table(table: Table, scales: Sequence[Scale]) -> Table:
    """The table with the column of each scale replaced by the number of its atom; the rest is left alone.

    Guarantees
    ----------
    Nothing is read yet. Rows, their order and all other columns stay. The number is that of :meth:`Scale.atoms_of`:
    -1 for a value that the scale cannot place, such as a category it does not know or text that is no number.
    """
    by_name = {scale.column: scale for scale in scales}
    if len(by_name) < len(scales):
        raise ArgumentError("a column has two scales: give it one")
    table.require(list(by_name))
    rows, names = table.plainly(table.names)
    with table.reading():
        for name, column in zip(names, table.columns, strict=True):
            if column.name in by_name:
                rows = _placed(table, rows, name, column, by_name[column.name])
    columns = [Column(each.name, "number", "Int64") if each.name in by_name else each for each in table.columns]
    return table.with_rows(table.engine.renamed(rows, [*names, ROW], [*table.names, ROW]), columns)


def _placed(table: Table, rows: Any, name: str, column: Column, scale: Scale) -> Any:
    """The rows with a column, under its plain name, replaced by atoms."""
    import narwhals as nw

    if isinstance(scale, WholeScale):
        return rows.with_columns(nw.lit(0, nw.Int64).alias(name))
    if isinstance(scale, BeginningScale):
        text = nw.col(name) if column.dtype == "String" else nw.col(name).cast(nw.String)
        place = halved(text, list(scale.starts), 0, len(scale.starts))
        return rows.with_columns(_or(nw.when(~text.is_null()).then(place), scale.missing_atom).alias(name))
    if isinstance(scale, ListedScale):
        return _looked_up(table, rows, name, column, scale)
    if isinstance(scale, NumberScale):
        # What is neither a number nor missing is told apart before the text is gone.
        rows = _marked(rows, name, column, MISSING)
        rows = rows.with_columns(as_number(name, column).alias(name))
        rows = table.engine.stepped(rows, name, np.array(scale.edges))
        return _filled(rows, name, nw.col(name), scale)
    assert isinstance(scale, DateScale | StretchScale)
    rows = _marked(rows, name, column, BLANK)
    rows = with_numbers(rows, name, column, scale.layout, scale.unit)
    if isinstance(scale, StretchScale):
        rows = table.engine.stepped(rows.with_columns(nw.col(name).cast(nw.Float64).alias(name)), name, scale.edges)
        return _filled(rows, name, nw.col(name), scale)
    place = nw.col(name) - (scale.first - scale.open_start)
    return _filled(rows, name, place.clip(0, scale.present - 1), scale)


def _looked_up(table: Table, rows: Any, name: str, column: Column, scale: ListedScale) -> Any:
    import narwhals as nw

    if isinstance(scale, PrefixScale):
        text = nw.col(name) if column.dtype == "String" else nw.col(name).cast(nw.String)
        rows = rows.with_columns((text if scale.length is None else text.str.head(scale.length)).alias(name))
    symbols = Symbols((name,), scale.symbols.levels, scale.symbols.codes)
    kept = [each for each in rows.collect_schema().names() if each != name]
    atom = f"{name}_atom"
    rows = table.engine.valued(rows, symbols, {atom: np.arange(len(symbols), dtype=np.int64)}, None)
    rows = table.engine.renamed(rows, [*kept, atom], [*kept, name])
    return rows.with_columns(_or(nw.col(name), UNKNOWN).alias(name))


def _marked(rows: Any, name: str, column: Column, missing: str) -> Any:
    """The rows with a further column that says where a text is not missing; a typed column needs none."""
    import narwhals as nw

    if column.dtype != "String":
        return rows
    return rows.with_columns((~nw.col(name).str.contains(missing)).alias(_mark(name)))


def _mark(name: str) -> str:
    return f"{name}_said"


def _filled(rows: Any, name: str, place: nw.Expr, scale: Scale) -> Any:
    """The rows with atoms where there are any, else missing; where something was said, else unknown."""
    import narwhals as nw

    absent: Any = nw.lit(scale.missing_atom, nw.Int64)
    if _mark(name) in rows.collect_schema().names():
        absent = nw.when(nw.col(_mark(name))).then(nw.lit(UNKNOWN, nw.Int64)).otherwise(absent)
    return rows.with_columns(nw.when(~place.is_null()).then(place.cast(nw.Int64)).otherwise(absent).alias(name))


def _or(value: nw.Expr, default: int) -> nw.Expr:
    import narwhals as nw

    return nw.when(~value.is_null()).then(value).otherwise(nw.lit(default, nw.Int64))
