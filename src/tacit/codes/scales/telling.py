"""A table whose columns are told at the levels asked for: each value as the text of its atom, in the engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tacit.codes.scales.encoding import atoms_table
from tacit.codes.scales.scale import Scale
from tacit.tables.rewriting import labelled
from tacit.tables.table import Table


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
