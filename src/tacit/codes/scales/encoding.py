"""A table whose columns are replaced by the numbers of their atoms, or by their texts, in the engine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.codes.scales.calendar import start_of
from tacit.codes.scales.kinds.beginnings import BeginningScale
from tacit.codes.scales.kinds.categories import CategoryScale
from tacit.codes.scales.kinds.dates import DateScale
from tacit.codes.scales.kinds.listed import ListedScale
from tacit.codes.scales.kinds.numbers import NumberScale
from tacit.codes.scales.kinds.prefixes import PrefixScale
from tacit.codes.scales.kinds.stretches import StretchScale
from tacit.codes.scales.kinds.whole import WholeScale
from tacit.codes.scales.moments import BLANK, TYPED, DatedColumn, with_numbers
from tacit.codes.scales.scale import UNKNOWN, Scale
from tacit.errors import ArgumentError
from tacit.tables.columns import ROW, Column
from tacit.tables.engines.coarsening import Coarsening, Stretch
from tacit.tables.engines.protocol import halved
from tacit.tables.numbers import MISSING, as_number
from tacit.tables.rewriting import labelled
from tacit.tables.table import Table

if TYPE_CHECKING:
    import narwhals as nw


def atoms_table(table: Table, scales: Sequence[Scale]) -> Table:
    """The table with the column of each scale replaced by the number of its atom; the rest is unchanged.

    Guarantees
    ----------
    Nothing is read yet. Rows, their order and all other columns stay. The number is that of :meth:`Scale.atoms_of`:
    -1 for a value that the scale cannot place, such as a category it does not know or text that is not a number.
    """
    by_name = {scale.column: scale for scale in scales}
    if len(by_name) < len(scales):
        raise ArgumentError("a column has two scales: give it one")
    table.require(list(by_name))
    rows, names = table.plainly(table.names)
    placed = {
        name: (column, by_name[column.name])
        for name, column in zip(names, table.columns, strict=True)
        if column.name in by_name
    }
    ways = {name: _way(column, scale) for name, (column, scale) in placed.items()}
    with table.reading():
        rows = table.engine.coarsened(rows, _encoded(table, rows, placed), ways)
    columns = [Column(each.name, "number", "Int64") if each.name in by_name else each for each in table.columns]
    placed_rows = table.engine.renamed(rows, [*names, ROW], [*table.names, ROW])
    return table.changed(placed_rows, columns, same=set(table.names) - set(by_name))


def _way(column: Column, scale: Scale) -> Coarsening | None:
    """How a server counts by the atoms of a scale; None where only the engine's own reading of a text tells them."""
    is_text = column.dtype == "String"
    if isinstance(scale, WholeScale):
        return Coarsening(scale.atoms_of, length=0)
    if isinstance(scale, NumberScale):
        return None if is_text else Coarsening(scale.atoms_of, edges=scale.edges)
    if isinstance(scale, DateScale):
        ends = start_of(scale.unit, scale.first), start_of(scale.unit, scale.last)
        return Coarsening(scale.atoms_of, stretch=Stretch(scale.unit, *ends)) if scale.layout in TYPED else None
    if isinstance(scale, BeginningScale):
        return Coarsening(scale.atoms_of, starts=scale.starts) if is_text else None
    if isinstance(scale, PrefixScale):
        return Coarsening(scale.atoms_of, length=scale.length) if is_text else None
    return Coarsening(scale.atoms_of) if isinstance(scale, ListedScale) else None


def _encoded(table: Table, rows: Any, placed: Mapping[str, tuple[Column, Scale]]) -> Any:
    """The rows with columns under plain names replaced by atoms, all at once, because deep plans are slow."""
    first = [each for name, (column, scale) in placed.items() for each in _readings(name, column, scale)]
    rows = rows.with_columns(*first) if first else rows
    dates, edges, lists = {}, {}, {}
    for name, (column, scale) in placed.items():
        if isinstance(scale, DateScale | StretchScale):
            dates[name] = DatedColumn(column, scale.layout, scale.unit)
        if isinstance(scale, NumberScale | StretchScale):
            edges[name] = np.array(scale.edges)
        elif isinstance(scale, ListedScale):
            values = scale.symbols.levels[0][: len(scale.values)]
            # Where every value has an atom, missing must be looked up even if it has none.
            lists[name] = (*values, *([None] * (scale.has_missing or _with_others(scale))))
    rows = _as_floats(with_numbers(rows, dates), [name for name in dates if name in edges])
    rows = table.engine.stepped(rows, edges) if edges else rows
    rows = table.engine.found(rows, lists) if lists else rows
    last = [_atom(name, column, scale).alias(name) for name, (column, scale) in placed.items()]
    return rows.with_columns(*last) if last else rows


def _readings(name: str, column: Column, scale: Scale) -> Iterator[nw.Expr]:
    """What is read off a column first: its numbers, how its codes begin, and where a text is not missing."""
    import narwhals as nw

    value = nw.col(name)
    if isinstance(scale, NumberScale):
        yield as_number(name, column).alias(name)
    if isinstance(scale, NumberScale | DateScale | StretchScale) and column.dtype == "String":
        # Text that is neither missing nor readable must be noted before the text is replaced.
        blank = MISSING if isinstance(scale, NumberScale) else BLANK
        yield (~value.str.contains(blank)).alias(_not_blank(name))
    text = value if column.dtype == "String" else value.cast(nw.String)
    if isinstance(scale, BeginningScale):
        place = halved(text, list(scale.starts), 0, len(scale.starts))
        yield nw.when(~text.is_null()).then(place).alias(name)
    if isinstance(scale, PrefixScale):
        yield (text if scale.length is None else text.str.head(scale.length)).alias(name)


def _as_floats(rows: Any, names: Sequence[str]) -> Any:
    """The rows with numbers of units as floats, as the engine's steps need them."""
    import narwhals as nw

    return rows.with_columns(*(nw.col(name).cast(nw.Float64) for name in names)) if names else rows


def _with_others(scale: Scale) -> bool:
    return isinstance(scale, CategoryScale) and scale.has_others


def _not_blank(name: str) -> str:
    return f"{name}_not_blank"


def _atom(name: str, column: Column, scale: Scale) -> nw.Expr:
    """The atom, once a column holds the place of each value, or null."""
    import narwhals as nw

    if isinstance(scale, WholeScale):
        return nw.lit(0, nw.Int64)
    place, absent = nw.col(name), nw.lit(UNKNOWN, nw.Int64)
    if isinstance(scale, DateScale):
        last = nw.lit(scale.present - 1, nw.Int64)
        inside = nw.when(place > scale.last).then(last).otherwise(place - scale.first)
        place = nw.when(place < scale.first).then(nw.lit(0, nw.Int64)).otherwise(inside)
    if isinstance(scale, CategoryScale) and scale.has_others:
        missing = nw.lit(scale.missing_atom, nw.Int64)
        place, absent = nw.when(place == len(scale.values)).then(missing).otherwise(place), nw.lit(scale.others_atom)
    elif not isinstance(scale, ListedScale):
        missing = nw.lit(scale.missing_atom, nw.Int64)
        as_text = column.dtype == "String" and not isinstance(scale, BeginningScale)
        absent = nw.when(nw.col(_not_blank(name))).then(absent).otherwise(missing) if as_text else missing
    return nw.when(~nw.col(name).is_null()).then(place.cast(nw.Int64)).otherwise(absent)


def told_at(table: Table, scales: Sequence[Scale]) -> Table:
    """The table with the column of each scale written as the texts of its atoms; the rest is unchanged.

    Guarantees
    ----------
    Rows, their order and all other columns stay.
    """
    table = atoms_table(table, scales)
    for scale in scales:
        atoms = np.arange(scale.size)
        texts = tuple(scale.text(atoms == atom) for atom in atoms)
        table = labelled(table, scale.column, {scale.column: texts})
        order = texts if scale.ordered else ()
        columns = [replace(each, order=order) if each.name == scale.column else each for each in table.columns]
        table = table.with_rows(table.rows, columns)
    return table
