"""Write a table in cells: every released column holds the level of the record's cell, in the engine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.codes.code import CellCode
from tacit.codes.descent import Ints
from tacit.codes.scales.encoding import atoms_table
from tacit.codes.scales.kinds.beginnings import BeginningScale
from tacit.codes.scales.kinds.categories import CategoryScale
from tacit.codes.scales.kinds.listed import ListedScale
from tacit.codes.scales.kinds.numbers import NumberScale
from tacit.codes.scales.scale import UNKNOWN, Scale
from tacit.errors import UnknownValueError, sentence
from tacit.lift.joint import sums
from tacit.tables.columns import ROW, Column
from tacit.tables.counting import Counts, count, counted_before
from tacit.tables.numbering import numbered
from tacit.tables.numbers import ALIKE
from tacit.tables.rewriting import labelled
from tacit.tables.symbols import encoded, in_order
from tacit.tables.table import Table

if TYPE_CHECKING:
    import pyarrow as pa

# The hidden column of cell numbers, before they become levels.
CELL = "__tacit_cell__"
# Up to this many beginnings, placing texts is as fast as looking them up. SAMPLED rows show how many texts differ.
FEW_STARTS = 8
SAMPLED = 50_000
# Columns with at most this many combinations of atoms are counted in full, however many records there are.
FEW_COMBINATIONS = 100_000


@dataclass(frozen=True, eq=False)
class PlacedTable:
    """A table that holds the number of each record's cell in place of its released columns.

    Attributes
    ----------
    table : Table
        The rows in their order, with the hidden column of numbers last.
    cell : array of int
        The cell that each number stands for: cells may have been merged since.
    counts : mapping
        What was already counted, by the weight and the columns besides the number.
    """

    table: Table
    cell: Ints
    counts: Mapping[tuple[str | None, ...], Counts] = field(default_factory=dict)

    def counted(self, columns: Sequence[str], *, weight: str | None = None) -> tuple[Counts, Ints]:
        """How often every combination of columns and numbers occurs, and the cell of each."""
        counts = self.counts.get((weight, *columns)) or count(self.table, [*columns, CELL], weight=weight)
        return counts, self.cell[atom_codes(counts, [CELL])[:, 0]]


def placed(table: Table, code: CellCode, *, own: bool = False) -> PlacedTable:
    """The table with the cell of each record; it is read once, and all its other columns are kept.

    With scales that were made from the table itself, its ``own``, the engine may look up cells on demand; so it may for
    a table whose released columns were counted, because all its values have then been seen.

    Guarantees
    ----------
    A value that a scale does not know is refused, never guessed.
    """

    def cell(atoms: NDArray[np.integer]) -> Ints:
        return _cells_of(code, atoms, table.name)

    counts = None if own else counted_before(table, code.columns)
    by_place: dict[tuple[str | None, ...], Counts] = {}
    if counts is not None:
        cells_of_groups(code, counts, code.columns, table.name)
        by_place = {(None, *others): by_cell for others, by_cell in _counted_by_cell(table, code)}

    listed = {at: _by_value(table, scale) for at, scale in enumerate(code.scales) if _is_slow(table, scale)}

    def cell_of_listed(places: NDArray[np.integer]) -> Ints:
        atoms = places.astype(np.int64)
        for at, (_, atom) in listed.items():
            atoms[:, at] = np.where(atoms[:, at] == UNKNOWN, UNKNOWN, atom[atoms[:, at]])
        return cell(atoms)

    # Values, rather than rows, are placed among beginnings.
    scales = [listed[at][0] if at in listed else scale for at, scale in enumerate(code.scales)]
    number = cell_of_listed if listed else cell
    sizes = [scale.size for scale in scales] if own or counts is not None else None
    in_cells = numbered(atoms_table(table, scales), code.columns, number, name=CELL, sizes=sizes)
    return PlacedTable(in_cells, np.arange(len(code.tree.leaves)), by_place)


def _counted_by_cell(table: Table, code: CellCode) -> Iterator[tuple[list[str], Counts]]:
    """Other columns of the table beside its cells, where both were counted before."""
    for counts in table.remembered:
        if set(code.columns) < set(counts.columns):
            others = [name for name in counts.columns if name not in code.columns]
            yield others, counts_by_cell(counts, others, cells_of_groups(code, counts, code.columns, table.name))


def _cells_of(code: CellCode, atoms: NDArray[np.integer], name: str) -> Ints:
    unknown = unplaced(atoms, code.columns)
    if unknown:
        words = "column '{name}' of {table} holds a value that does not fit the release's levels"
        raise UnknownValueError(sentence(words, name=unknown[0], table=name))
    return np.asarray(code.places[code.tree.leaf_of(atoms)])


def cells_of_groups(code: CellCode, counts: Counts, columns: Sequence[str], name: str) -> Ints:
    """The cell of each group that was counted, by its values in ``columns``, which are in the code's order.

    Guarantees
    ----------
    As for :func:`placed`: a value of the table ``name`` that a scale does not know is refused.
    """
    places = map(counts.columns.index, columns)
    scaled = zip(code.scales, places, strict=True)
    atoms = [scale.atoms_of(counts.levels[at])[counts.codes[:, at]] for scale, at in scaled]
    return _cells_of(code, np.column_stack(atoms), name)


def _is_slow(table: Table, scale: Scale) -> bool:
    """Whether texts are compared with many beginnings, and many rows share each text."""
    if not isinstance(scale, BeginningScale) or len(scale.starts) <= FEW_STARTS:
        return False
    if table[scale.column].dtype != "String":
        return False
    sample = table.sample([scale.column], SAMPLED).column(0)
    return len(sample.unique()) * 2 <= len(sample)


def _by_value(table: Table, scale: Scale) -> tuple[CategoryScale, Ints]:
    """A scale of the values of a column of texts, and the atom of each value on another scale."""
    levels = count(table, [scale.column]).levels[0]
    values = [value for value in levels if value is not None]
    return CategoryScale(scale.column, "text", tuple(values), None in levels), np.asarray(scale.atoms_of(levels))


def coded(table: Table, code: CellCode, placed_table: PlacedTable | None = None) -> Table:
    """The table with its released columns written as the levels of each record's cell; the rest is unchanged.

    ``placed_table`` has the cells of its records, where they are already known.

    Guarantees
    ----------
    Rows, their order and all other columns stay. What is written for a row depends only on its cell, and is the same
    on every engine. A value that a scale does not know is refused, never guessed.
    """
    placed_table = placed(table, code) if placed_table is None else placed_table
    levels = {
        name: [None if texts[at] is None else str(texts[at]) for at in placed_table.cell.tolist()]
        for name, texts in zip(code.columns, code.written, strict=True)
    }
    labels = labelled(placed_table.table, CELL, levels).select(table.names)
    return _in_numbers(labels, written_numbers(table, code))


def counts_by_cell(counts: Counts, columns: Sequence[str], cell: Ints) -> Counts:
    """Counts of atoms and some columns as counts of cells and these columns; ``cell`` is that of each group."""
    at = [counts.columns.index(name) for name in columns]
    levels = [*(counts.levels[each] for each in at), tuple(range(int(cell.max(initial=-1)) + 1))]
    return _grouped(counts, [*columns, CELL], levels, [*counts.codes[:, at].T, cell])


def sample_in_cells(rows: pa.Table, code: CellCode, table: Table) -> pa.Table | None:
    """Some rows of a table as :func:`coded` writes them; None where that takes the engine, or numbers are written."""
    import pyarrow as pa

    numbers = [scale.column for scale in code.scales if isinstance(scale, NumberScale)]
    if code.numbers or any(table[name].dtype not in ALIKE for name in numbers):
        return None
    atoms = []
    for scale in code.scales:
        levels, places = encoded(rows.column(scale.column), scale.column)
        atoms.append(scale.atoms_of(levels)[places])
    cell = pa.array(_cells_of(code, np.column_stack(atoms), table.name))
    columns = zip(code.columns, code.written, strict=True)
    return pa.table({name: pa.array(list(map(str, texts)), pa.string()).take(cell) for name, texts in columns})


def few_values(scales: Sequence[Scale]) -> bool:
    """Whether the scales list all values one by one, and there are few combinations of them."""
    listed = all(isinstance(scale, ListedScale) and scale.lists_all for scale in scales)
    return listed and prod(scale.size for scale in scales) <= FEW_COMBINATIONS


def atoms_here(table: Table, scales: Sequence[Scale]) -> NDArray[np.int64] | None:
    """The atoms of each row (rows x scales), as :func:`atoms_table` gives them; None if rows stay in the engine.

    They are those of values, which Python may read otherwise than an engine in types such as decimals.
    """
    if any(isinstance(scale, NumberScale) and table[scale.column].dtype not in ALIKE for scale in scales):
        return None
    read = table.encoded([scale.column for scale in scales])
    if read is None or not scales:
        return None
    return np.column_stack([scale.atoms_of(levels)[codes] for scale, (levels, codes) in zip(scales, read, strict=True)])


def counts_by_atom(counts: Counts, scales: Sequence[Scale]) -> Counts:
    """Counts of values as counts of the atoms of scales; columns without a scale are unchanged."""
    levels, codes = [*counts.levels], [*counts.codes.T]
    for scale in scales:
        at = counts.columns.index(scale.column)
        present, place = np.unique(scale.atoms_of(counts.levels[at]), return_inverse=True)
        levels[at], codes[at] = tuple(present.tolist()), place[codes[at]]
    return _grouped(counts, list(counts.columns), levels, codes)


def told_counts(table: Table, code: CellCode, counts: Counts, cell: Ints) -> Counts:
    """Counts by cell as counts of what is written: the released columns replace the last column, the cell."""
    levels, codes = [*counts.levels[:-1]], [*counts.codes[:, :-1].T]
    as_numbers = written_numbers(table, code)
    used = np.unique(cell)
    for name, texts in zip(code.columns, code.written, strict=True):
        is_number = name in as_numbers
        here = [texts[at] if is_number or texts[at] is None else str(texts[at]) for at in used.tolist()]
        present = sorted({*here} - {None})
        levels.append((*present, *([None] if None in here else [])))
        place = {value: at for at, value in enumerate(levels[-1])}
        codes.append(np.array([place[value] for value in here], np.int64)[np.searchsorted(used, cell)])
    # Two cells may be written alike, if their numbers agree.
    return _grouped(counts, [*counts.columns[:-1], *code.columns], levels, codes)


def _grouped(counts: Counts, columns: list[str], levels: list[tuple[Any, ...]], codes: list[Ints]) -> Counts:
    """The counts of the same records by other columns: the codes of each group, which may be alike."""
    rows, group = in_order(np.column_stack(codes))
    records = sums(group, counts.records.astype(np.float64), len(rows)).astype(np.int64)
    weight = sums(group, counts.weight, len(rows))
    return Counts(tuple(columns), tuple(levels), rows, records, weight, counts.effective_records)


def unplaced(atoms: NDArray[np.integer], columns: Sequence[str]) -> list[str]:
    """The columns with a value that their scale does not know, by the atoms of groups (groups x columns)."""
    return [name for name, here in zip(columns, (atoms == UNKNOWN).any(axis=0), strict=True) if here]


def written_numbers(table: Table, code: CellCode) -> list[str]:
    """The columns that are written as numbers; a column that held numbers as text, as in a CSV, stays text."""
    return [name for name in code.numbers if table[name].dtype != "String"]


def _in_numbers(table: Table, columns: Sequence[str]) -> Table:
    """The table with columns of texts that are numbers as numbers."""
    import narwhals as nw

    if not columns:
        return table
    rows, names = table.plainly(table.names)
    numbers = [nw.col(names[table.names.index(name)]).cast(nw.Float64) for name in columns]
    kinds = [Column(each.name, "number", "Float64") if each.name in columns else each for each in table.columns]
    return table.with_rows(table.engine.renamed(rows.with_columns(*numbers), [*names, ROW], [*table.names, ROW]), kinds)


def atom_codes(counts: Counts, columns: Sequence[str]) -> NDArray[np.int64]:
    """The atoms of every group that was counted on a table of atoms."""
    places = [counts.columns.index(name) for name in columns]
    return np.column_stack([np.array(counts.levels[at], np.int64)[counts.codes[:, at]] for at in places])
