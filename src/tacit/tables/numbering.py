"""Columns of whole numbers become one number per row, which this process computes from them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from tacit.tables.columns import Column
from tacit.tables.counting import count
from tacit.tables.rewriting import with_symbol
from tacit.tables.table import Table

if TYPE_CHECKING:
    from tacit.tables.engines.protocol import RowNumber


def numbered(
    table: Table, columns: Sequence[str], number: RowNumber, *, name: str, sizes: Sequence[int] | None = None
) -> Table:
    """The table with columns of whole numbers, none missing, replaced by one: ``number`` of each row's numbers.

    Parameters
    ----------
    table : Table
    columns : sequence of str
    number : function
        From an array (rows x columns) to a whole number for each row.
    name : str
        What the new column is called.
    sizes : sequence of int, optional
        For each column, a number that all its values are known to be below; none is below 0.

    Guarantees
    ----------
    Rows, their order and all other columns stay; the new one is last. If its rows can be brought to this process, the
    table is read once, now, and the other columns are kept; or, if there are few combinations below ``sizes``, only
    when rows are asked for.
    """
    others = [each for each in table.names if each not in columns]
    with table.reading():
        rows = table.engine.numbered(table.rows, columns, number, name, sizes)
    if rows is not None:
        return table.with_rows(rows, [*(table[each] for each in others), Column(name, "number", "Int32")])
    counts = count(table, columns)
    symbols, _ = counts.symbols(columns)
    values = [np.array(levels, np.int64)[codes] for levels, codes in zip(symbols.levels, symbols.codes.T, strict=True)]
    numbers = number(np.column_stack(values)).astype(np.int64)
    return with_symbol(table, symbols, name=name, numbers=numbers).select([*others, name])
