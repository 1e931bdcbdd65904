"""Numbers that this process computes from rows, on DuckDB: rows stream through it in order; what is needed is kept."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.tables.columns import ROW
from tacit.tables.engines.duckdb.connections import connect
from tacit.tables.engines.duckdb.sql import column_type, constant_list, identifier

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

    from tacit.tables.engines.protocol import RowNumber

# Rows that stream through at a time.
BATCH = 1 << 17
# Texts are stored once each if at least this many rows share one on average.
SHARED = 10
# Numbers of at most this many combinations are looked up in a list.
FEW = 1 << 16


def numbered(
    relation: duckdb.DuckDBPyRelation, columns: Sequence[str], number: RowNumber, name: str, memory: str | None
) -> duckdb.DuckDBPyRelation:
    """The rows with columns of whole numbers replaced by their number, as :meth:`Engine.numbered` says.

    Guarantees
    ----------
    They are read once. Memory holds four bytes per row, and the other columns.
    """
    import pyarrow as pa

    others = [each for each in relation.columns if each not in columns and each != ROW]
    parts = [f"{identifier(each)}::INTEGER AS {identifier(each)}" for each in columns]
    read = relation.project(", ".join([*parts, *map(identifier, others)]))
    chunks: list[list[Any]] = [[] for _ in [*others, name]]
    with read.to_arrow_reader(BATCH) as reader:
        schema = reader.schema
        for batch in reader:
            numbers = number(np.column_stack([batch.column(at).to_numpy() for at in range(len(columns))]))
            arrays = [*map(_shared, batch.columns[len(columns) :]), pa.array(numbers.astype(np.int32))]
            for chunk, array in zip(chunks, arrays, strict=True):
                chunk.append(array)
    types = [*(schema.field(len(columns) + at).type for at in range(len(others))), pa.int32()]
    whole_columns = [_joined(chunk, kind) for chunk, kind in zip(chunks, types, strict=True)]
    # On a connection of its own: on the relation's, all its other queries would be bound again.
    kept = connect(memory=memory).from_arrow(pa.table(whole_columns, names=[*others, name]))
    # A type that Arrow lacks comes back as another one.
    typed = (f"{identifier(each)}::{column_type(relation, each)} AS {identifier(each)}" for each in others)
    return kept.project(", ".join([*typed, identifier(name)]))


def looked_up(
    relation: duckdb.DuckDBPyRelation, columns: Sequence[str], number: RowNumber, name: str, sizes: Sequence[int]
) -> duckdb.DuckDBPyRelation:
    """The same by a list of all combinations, where there are few; nothing is read yet."""
    import pyarrow as pa

    numbers = number(np.stack(np.unravel_index(np.arange(prod(sizes)), sizes), axis=1))
    number_list = constant_list(relation, pa.array(numbers.astype(np.int32)))
    # A cell that is the same for all rows must not look like a constant: of a constant Parquet says that it is never
    # missing, which a file that was written from finer parts does not say.
    place = f"{identifier(ROW)} % 1" if prod(sizes) == 1 else "0"
    for each, size in zip(columns, sizes, strict=True):
        place = f"({place}) * {size} + {identifier(each)}"
    others = [identifier(each) for each in relation.columns if each not in columns and each != ROW]
    return relation.project(", ".join([*others, f"{number_list}[{place} + 1] AS {identifier(name)}", identifier(ROW)]))


def _shared(array: pa.Array) -> pa.Array:
    import pyarrow as pa

    if not pa.types.is_string(array.type):
        return array
    once = array.dictionary_encode()
    return once if len(once.dictionary) * SHARED <= len(once) else array


def _joined(chunks: Sequence[pa.Array], kind: pa.DataType) -> pa.ChunkedArray:
    """The chunks as one column, dictionary-encoded if all chunks are."""
    import pyarrow as pa

    once = bool(chunks) and all(pa.types.is_dictionary(each.type) for each in chunks)
    if once:
        return pa.chunked_array(chunks).unify_dictionaries()
    plain = [each.cast(kind) if pa.types.is_dictionary(each.type) else each for each in chunks]
    return pa.chunked_array(plain, kind)
