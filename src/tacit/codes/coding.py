"""Write a table in cells: every released column holds the level of the record's cell, in the engine."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tacit.codes.code import CellCode
from tacit.codes.scales.encoding import atoms_table
from tacit.codes.scales.scale import UNKNOWN
from tacit.errors import UnknownValueError, sentence
from tacit.tables.columns import ROW, Column
from tacit.tables.counting import Counts, count
from tacit.tables.rewriting import labelled, with_symbol
from tacit.tables.table import Table

# The hidden column of cell numbers, on its way to levels.
CELL = "__tacit_cell__"
# Rows of tables that are worked out once and kept, instead of again for every question.
MOST_HELD = 1_000_000


def coded(table: Table, code: CellCode) -> Table:
    """The table with its released columns written as the levels of each record's cell; the rest is left alone.

    Guarantees
    ----------
    Rows, their order and all other columns stay. What is written of a row depends on its cell alone, and is the same
    on every engine. A value that a scale does not know is refused, never guessed.
    """
    atoms = atoms_table(table, code.scales).held(MOST_HELD)
    combinations = count(atoms, code.columns)
    symbols, _ = combinations.symbols(code.columns)
    atoms_of = atom_codes(combinations, code.columns)
    unknown = unplaced(atoms_of, code.columns)
    if unknown:
        words = "column '{name}' of {table} holds a value that the levels of the release have no place for"
        raise UnknownValueError(sentence(words, name=unknown[0], table=table.name))
    cell = code.places[code.tree.leaf_of(atoms_of)]
    numbered = with_symbol(atoms, symbols, name=CELL, numbers=cell)
    levels = {name: [str(level) for level in told] for name, told in zip(code.columns, code.written, strict=True)}
    told = labelled(numbered, CELL, levels)
    plain = told.select([name for name in told.names if name != CELL])
    # A column that held its numbers as text, as those of a CSV do, holds them as text again.
    return _in_numbers(plain, [name for name in code.numbers if table[name].dtype != "String"]).held(MOST_HELD)


def unplaced(atoms: NDArray[np.int64], columns: Sequence[str]) -> list[str]:
    """The columns that hold a value which their scale does not know, by the atoms of groups (groups x columns)."""
    return [name for name, here in zip(columns, (atoms == UNKNOWN).any(axis=0), strict=True) if here]


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
