"""Rewrite the released columns of risky rows, and write risks beside the rows; everything else is left alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tacit.errors import ArgumentError, DataError
from tacit.tables import engines
from tacit.tables.drawing import AliasTable, alias_table, key_text
from tacit.tables.symbols import Symbols
from tacit.tables.table import Column, Table

if TYPE_CHECKING:
    import narwhals as nw


def rewrite(
    table: Table,
    symbols: Symbols,
    *,
    merged: ArrayLike,
    replacement: ArrayLike | None,
    key: bytes,
    unseen: Literal["risky", "refuse"] = "risky",
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
    unseen : str
        ``risky``: a row whose values are no symbol is replaced; ``refuse``: it is a DataError.

    Guarantees
    ----------
    Rows, their order, the columns and their types stay; so does every cell of a row that is kept and of a column that
    is not released, but for numbers: NaN is written as missing and -0.0 as 0.0, as they are counted. The same key gives
    the same rows on every engine and partitioning. The probability of each replacement is within 2^-60 of what was
    asked, were SHA-256 with an unknown key uniform.
    """
    mask = _mask(merged, symbols)
    _check_columns(table, symbols)
    if unseen not in ("risky", "refuse"):
        raise ArgumentError(f"unseen must be 'risky' or 'refuse', not {unseen!r}")
    if unseen == "refuse":
        _refuse_unseen(table, symbols)
    alias = None if replacement is None else _alias(replacement, symbols)
    written = key_text(key)
    if table.engine == "spark":
        from tacit.tables import spark_rewriting

        with table.reading():
            return table.with_rows(spark_rewriting.rewritten(table, symbols, ~mask, alias, written), table.columns)
    import narwhals as nw

    from tacit.tables import duckdb_rewriting

    with table.reading():
        rows = nw.to_native(table.rows)
        if alias is None:
            done = duckdb_rewriting.suppressed(rows, symbols, ~mask)
        else:
            done = duckdb_rewriting.redrawn(rows, symbols, ~mask, alias, written)
        return table.with_rows(nw.from_native(done), table.columns)


def with_symbol(table: Table, symbols: Symbols, *, name: str = "symbol") -> Table:
    """The table with a last column of the number of each row's symbol, missing where it was never seen."""
    return _with_values(table, symbols, {name: np.arange(len(symbols), dtype=np.int64)}, None)


def scores(table: Table, symbols: Symbols, values: Mapping[str, ArrayLike], *, unseen: float = float("inf")) -> Table:
    """The table with more columns, each the number its row's symbol has, such as the risk.

    Guarantees
    ----------
    A row whose symbol was never seen gets ``unseen``, infinite unless said otherwise.
    """
    arrays = {name: np.asarray(array, dtype=np.float64) for name, array in values.items()}
    for name, array in arrays.items():
        if array.shape != (len(symbols),):
            raise ArgumentError(
                f"'{name}' has shape {array.shape}; it needs one number for each of {len(symbols)} symbols"
            )
    return _with_values(table, symbols, arrays, unseen)


def _with_values(table: Table, symbols: Symbols, values: Mapping[str, NDArray[Any]], unseen: float | None) -> Table:
    _check_columns(table, symbols)
    lower = {name.lower() for name in table.names}
    for name in values:
        if name.lower() in lower:
            raise ArgumentError(f"{table.name} has a column '{name}' already: choose another name")
    with table.reading():
        rows = _valued(table, symbols, values, unseen)
    dtype = "Int64" if unseen is None else "Float64"
    return table.with_rows(rows, [*table.columns, *(Column(name, "number", dtype) for name in values)])


def _valued(
    table: Table, symbols: Symbols, values: Mapping[str, NDArray[Any]], unseen: float | None
) -> nw.LazyFrame[Any]:
    if table.engine == "spark":
        from tacit.tables import spark_rewriting

        return spark_rewriting.valued(table, symbols, values, unseen)
    import narwhals as nw

    from tacit.tables import duckdb_rewriting

    found = duckdb_rewriting.valued(nw.to_native(table.rows), symbols, values, unseen)
    rows: nw.LazyFrame[Any] = nw.from_native(found)
    return rows


def _check_columns(table: Table, symbols: Symbols) -> None:
    table.require_countable(symbols.columns)
    if not symbols.columns or not len(symbols):
        raise ArgumentError("there are no symbols: count the released columns first")


def _mask(merged: ArrayLike, symbols: Symbols) -> NDArray[np.bool_]:
    mask = np.asarray(merged)
    if mask.dtype != bool or mask.shape != (len(symbols),):
        raise ArgumentError(f"merged must be true or false for each of {len(symbols)} symbols")
    return mask


def _alias(replacement: ArrayLike, symbols: Symbols) -> AliasTable:
    vector = np.asarray(replacement, dtype=np.float64)
    if vector.shape != (len(symbols),):
        raise ArgumentError(f"replacement must have a probability for each of {len(symbols)} symbols")
    return alias_table(vector)


def _refuse_unseen(table: Table, symbols: Symbols) -> None:
    import narwhals as nw

    name = "__tacit_symbol__"
    rows = with_symbol(table, symbols, name=name).rows
    number = int(engines.collected(table, rows.select(nw.col(name).is_null().sum())).column(name)[0].as_py())
    if number:
        raise DataError(
            f"{number:,} rows of {table.name} have released values that were never counted: "
            "count them too, or let them be replaced"
        )
