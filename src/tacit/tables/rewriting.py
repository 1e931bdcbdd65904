"""Rewrite released columns, of risky rows or by a channel, and add risks to rows; all else is unchanged."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tacit.errors import ArgumentError
from tacit.tables.channels import DrawTables, draws_by_channel, draws_by_replacement
from tacit.tables.columns import MOST_ENUMERATED, Column
from tacit.tables.drawing import key_text, new_key
from tacit.tables.symbols import Symbols
from tacit.tables.table import Table


def rewrite(
    table: Table,
    symbols: Symbols,
    *,
    merged: ArrayLike,
    replacement: ArrayLike | None,
    key: bytes,
    present: Symbols | None = None,
) -> Table:
    """Replace the released values of every row whose symbol is merged, or was never seen.

    Parameters
    ----------
    table : Table
    symbols : Symbols
        The released values.
    merged : bool array
        Which symbols are replaced.
    replacement : array, optional
        Probability of each symbol to be the replacement; None makes the released cells missing.
    key : bytes
        256 bits from :func:`new_key`; a row's chance is SHA-256 of the key and its index.
    present : Symbols, optional
        Values that the table is known to hold: they say which texts a column surely has afterwards, so that it can be
        written from a list of them.

    Guarantees
    ----------
    Rows, their order, the columns and their types stay; so does every cell of a row that is kept and of a column that
    is not released, except numbers: NaN is written as missing and -0.0 as 0.0, as they are counted. The same key gives
    the same rows on every engine and partitioning. The probability of each replacement is within 2^-60 of what was
    asked, were SHA-256 with an unknown key uniform.
    """
    _check_columns(table, symbols)
    mask = np.asarray(merged)
    if mask.dtype != bool or mask.shape != (len(symbols),):
        raise ArgumentError(f"merged must be true or false for each of {len(symbols)} symbols")
    return _drawn(table, symbols, draws_by_replacement(mask, replacement), key, present)


def redraw(
    table: Table, symbols: Symbols, *, channel: Any, key: bytes | None = None, present: Symbols | None = None
) -> Table:
    """Send the released values of every row through a channel: symbol i becomes j with probability ``channel[i, j]``.

    Values that are not symbols become missing.

    Parameters
    ----------
    table : Table
    symbols : Symbols
        The released values.
    channel : sparse matrix or array of shape (symbols, symbols) or (symbols, symbols + 1)
        Row-stochastic. The outputs are the symbols; the column after the last of them means that all released cells
        become missing.
    key : bytes, optional
        256 bits from :func:`new_key`; without it, fresh ones from the system's secure source.
    present : Symbols, optional
        As for :func:`rewrite`.

    Guarantees
    ----------
    Each output's probability is within 2^-60 of its entry of the channel, divided by the sum of its row, and rows are
    drawn independently, were SHA-256 with an unknown key uniform; an output of probability zero never occurs. A symbol
    whose row has no entry but its own is kept. Rows, their order, the columns and their types stay, and so does every
    cell of a row that is kept and of a column that is not released, except numbers: NaN is written as missing and -0.0
    as 0.0, as they are counted. The same key gives the same rows on every engine and partitioning. A table that is
    drawn twice needs two keys: with one, the second draw of a row would tell about the first.
    """
    _check_columns(table, symbols)
    return _drawn(table, symbols, draws_by_channel(channel, len(symbols)), new_key() if key is None else key, present)


def _drawn(table: Table, symbols: Symbols, draws: DrawTables, key: bytes, present: Symbols | None) -> Table:
    written = key_text(key)
    texts = {} if present is None else _sure_texts(table, symbols, draws, present)
    columns = [replace(each, told=texts[each.name]) if each.name in texts else each for each in table.columns]
    with table.reading():
        return table.with_rows(table.engine.redrawn(table.rows, symbols, draws, written, texts), columns)


def _sure_texts(table: Table, symbols: Symbols, draws: DrawTables, present: Symbols) -> dict[str, tuple[str, ...]]:
    """All texts of each column of text that can be in it afterwards, if they surely are: a list of texts in a file
    would give away one that is not.

    A value that is kept, and that the table holds, is in the release whatever is drawn.
    """
    occurs = np.zeros(len(symbols), dtype=np.bool_)
    position = present.positions_in(symbols)
    occurs[position[position >= 0]] = True
    surely = symbols.codes[occurs & (draws.place < 0)]
    possible = symbols.codes[np.append(np.flatnonzero(draws.place < 0), draws.outputs[draws.outputs >= 0])]
    every: dict[str, tuple[str, ...]] = {}
    for at, (name, levels) in enumerate(zip(symbols.columns, symbols.levels, strict=True)):
        sure = np.unique(surely[:, at])
        texts = [levels[code] for code in sure.tolist() if levels[code] is not None]
        certain = np.isin(possible[:, at], sure).all()
        if certain and table[name].kind == "text" and 0 < len(texts) <= MOST_ENUMERATED:
            every[name] = tuple(sorted(texts))
    return every


def drawn_numbers(table: Table, symbols: Symbols, draws: DrawTables, *, key: bytes, name: str) -> Table | None:
    """A table of one column, the number of the symbol that every row becomes; missing where it becomes none.

    None where that takes as long as drawing the rows.

    Guarantees
    ----------
    What :func:`with_symbol` gives for the rows that :func:`rewrite` and :func:`redraw` draw with this key.
    """
    _check_columns(table, symbols)
    with table.reading():
        rows = table.engine.drawn_numbers(table.rows, symbols, draws, key_text(key), name)
    return None if rows is None else table.with_rows(rows, [Column(name, "number", "Int64")])


def labelled(table: Table, number: str, texts: Mapping[str, Sequence[str | None]]) -> Table:
    """The table with columns of texts, each looked up at the place given by the row's ``number``.

    Parameters
    ----------
    table : Table
    number : str
        A column of whole numbers from 0; -1 and missing stand for no place.
    texts : mapping
        Column to its texts, None for missing, equally many for each. A column that the table has is replaced; others
        are added last.

    Guarantees
    ----------
    Rows, their order and all other columns stay. A row without a place has missing in the columns of texts.
    """
    if table[number].kind != "number" or not texts:
        raise ArgumentError(f"column '{number}' must hold whole numbers that tell the places of some texts")
    sizes = {len(words) for words in texts.values()}
    if len(sizes) > 1 or 0 in sizes:
        raise ArgumentError("the columns of texts must have one text for each number")
    by_lower_case = {name.lower(): name for name in table.names}
    for name in texts:
        if by_lower_case.get(name.lower(), name) != name:
            raise ArgumentError(f"columns '{by_lower_case[name.lower()]}' and '{name}' differ only in case: rename one")
    with table.reading():
        rows = table.engine.labelled(table.rows, number, texts)
    written = {name: Column.of_texts(name, words) for name, words in texts.items()}
    kept = [written.get(each.name, each) for each in table.columns]
    added = [column for name, column in written.items() if name not in table.names]
    return table.with_rows(rows, [*kept, *added])


def with_symbol(
    table: Table, symbols: Symbols, *, name: str = "symbol", numbers: NDArray[np.int64] | None = None
) -> Table:
    """The table with a last column of the number of each row's symbol, missing where it was never seen.

    Symbols have the ``numbers`` given, or are numbered as they come.
    """
    own = np.arange(len(symbols), dtype=np.int64) if numbers is None else numbers
    return _with_values(table, symbols, {name: own}, None)


def scores(table: Table, symbols: Symbols, values: Mapping[str, ArrayLike]) -> Table:
    """The table with more columns, each with a number that belongs to the row's symbol, such as its risk.

    Guarantees
    ----------
    A row whose symbol was never seen gets infinity.
    """
    arrays = {name: np.asarray(array, dtype=np.float64) for name, array in values.items()}
    for name, array in arrays.items():
        if array.shape != (len(symbols),):
            raise ArgumentError(
                f"'{name}' has shape {array.shape}; it needs one number for each of {len(symbols)} symbols"
            )
    return _with_values(table, symbols, arrays, math.inf)


def _with_values(table: Table, symbols: Symbols, values: Mapping[str, NDArray[Any]], unseen: float | None) -> Table:
    _check_columns(table, symbols)
    lower = {name.lower() for name in table.names}
    for name in values:
        if name.lower() in lower:
            raise ArgumentError(f"{table.name} has a column '{name}' already: choose another name")
    with table.reading():
        rows = table.engine.valued(table.rows, symbols, values, unseen)
    dtype = "Int64" if unseen is None else "Float64"
    return table.with_rows(rows, [*table.columns, *(Column(name, "number", dtype) for name in values)])


def _check_columns(table: Table, symbols: Symbols) -> None:
    table.require_countable(symbols.columns)
    if not symbols.columns or not len(symbols):
        raise ArgumentError("there are no symbols: count the released columns first")
