"""Rewriting on DuckDB: order-keeping lookups instead of joins, and hashes of risky rows only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.tables.drawing import BITS, HEX_DIGITS, AliasTable
from tacit.tables.duckdb_engine import column_type, constant_list, enumeration, identifier, text, variable
from tacit.tables.levels import level_text, positions_of
from tacit.tables.symbols import Symbols
from tacit.tables.table import ROW

if TYPE_CHECKING:
    import duckdb

CODE = "__tacit_code__"
SLOT = "__tacit_slot__"
KEPT = "__tacit_kept__"
BITS_OF_ROW = "__tacit_bits__"

# DuckDB copies a constant for every 2,048 rows. Up to so many combinations of levels that costs next to nothing, and a
# row finds its entry by position; beyond, a join finds it and a sort puts the rows back in order.
DENSE_NUMBERS = 1 << 16
DENSE_BITS = 1 << 20
# Codes of several columns are packed into one number below this.
PACKED = 1 << 62


def looked_up(
    relation: duckdb.DuckDBPyRelation, symbols: Symbols, values: Mapping[str, NDArray[Any]]
) -> duckdb.DuckDBPyRelation:
    """The rows, in order, with columns that hold the entry of ``values`` of each row's symbol; null where unseen."""
    parts, sizes, positions = [], [], []
    for name, levels in zip(symbols.columns, symbols.levels, strict=True):
        sql, size, position = _column_code(relation, name, levels)
        parts.append(sql)
        sizes.append(size)
        positions.append(position)
    # The position of each symbol's level in each column; -1 where the level cannot occur in the column's type.
    at = np.column_stack([p[symbols.codes[:, c]] for c, p in enumerate(positions)])
    total = prod(sizes)
    limit = DENSE_BITS if all(array.dtype == np.bool_ for array in values.values()) else DENSE_NUMBERS
    if total > limit:
        return _joined(relation, parts, at, values)
    strides = np.cumprod([1, *sizes[:-1]])
    known = (at >= 0).all(axis=1)
    code = " + ".join(f"({part}) * {stride}" for part, stride in zip(parts, strides, strict=True))
    coded = relation.project(f"*, {code} AS {CODE}")
    places = (at @ strides)[known]
    found = (f"{_by_position(relation, array[known], places, total)} AS {identifier(n)}" for n, array in values.items())
    kept = (identifier(column) for column in relation.columns)
    return coded.project(", ".join([*kept, *found]))


def _by_position(relation: duckdb.DuckDBPyRelation, values: NDArray[Any], places: NDArray[np.int64], size: int) -> str:
    """SQL for the entry at the place that CODE tells; null where CODE is null or no entry is there."""
    import pyarrow as pa

    filled = np.zeros(size, values.dtype)
    filled[places] = values
    if values.dtype == np.bool_:
        # One bit of a constant is read in a few nanoseconds; unseen combinations are false, as doubt must be.
        written = (filled + ord("0")).astype(np.uint8).tobytes().decode()
        held = variable(relation, pa.array([written]), "first(v)::BIT")
        return f"(get_bit({held}, {CODE}::INTEGER) = 1)"
    missing = np.ones(size, bool)
    missing[places] = False
    return f"{constant_list(relation, pa.array(filled, mask=missing))}[{CODE} + 1]"


def _column_code(
    relation: duckdb.DuckDBPyRelation, name: str, levels: Sequence[Any]
) -> tuple[str, int, NDArray[np.int64]]:
    """SQL for the position of a row's value (null if unknown), how many positions, and that of each level."""
    kind = column_type(relation, name)
    value = identifier(name)
    if kind in ("FLOAT", "DOUBLE"):
        value = f"(CASE WHEN isnan({value}) THEN NULL WHEN {value} = 0 THEN 0 ELSE {value} END)"
    written = _as_stored(relation, [level_text(level) for level in levels], kind)
    labels, position = positions_of(levels, written)
    if not labels:
        return f"CASE WHEN {value} IS NULL THEN 0::BIGINT END", 1, position
    cast = value if kind == "VARCHAR" else f"CAST({value} AS VARCHAR)"
    code = f"enum_code(try_cast({cast} AS {enumeration(relation, labels)}))::BIGINT"
    return f"CASE WHEN {value} IS NULL THEN {len(labels)} ELSE {code} END", len(labels) + 1, position


def _as_stored(relation: duckdb.DuckDBPyRelation, written: list[str | None], kind: str) -> list[str | None]:
    """Values as the column's type would print them; None for those it cannot hold."""
    import pyarrow as pa

    if kind == "VARCHAR" or not written:
        return written
    held = variable(relation, pa.array(written, pa.string()))
    rows = relation.query("tacit_unused", f"SELECT CAST(try_cast(unnest({held}) AS {kind}) AS VARCHAR)").fetchall()
    return [row[0] for row in rows]


def _joined(
    relation: duckdb.DuckDBPyRelation, parts: list[str], at: NDArray[np.int64], values: Mapping[str, NDArray[Any]]
) -> duckdb.DuckDBPyRelation:
    """By a join and a sort on the row position, both of which the engine can do on disk."""
    import pyarrow as pa

    names = [f"__tacit_c{c}__" for c in range(len(parts))]
    known = (at >= 0).all(axis=1)
    lookup = {name: at[known, c] for c, name in enumerate(names)} | {n: array[known] for n, array in values.items()}
    # DuckDB finds this table by the name of the Python variable.
    tacit_symbols = pa.table(lookup)
    keyed = relation.project("*, " + ", ".join(f"{part} AS {name}" for part, name in zip(parts, names, strict=True)))
    kept = [f"r.{identifier(column)}" for column in relation.columns]
    found = [f"s.{identifier(name)}" for name in values]
    joined = keyed.query(
        "tacit_rows",
        f"SELECT {', '.join([*kept, *found])} FROM tacit_rows r LEFT JOIN tacit_symbols s ON "
        + " AND ".join(f"r.{name} = s.{name}" for name in names)
        + f" ORDER BY r.{identifier(ROW)}",
    )
    del tacit_symbols
    return joined


def _flagged(relation: duckdb.DuckDBPyRelation, symbols: Symbols, kept: NDArray[np.bool_]) -> duckdb.DuckDBPyRelation:
    """The rows with KEPT, which is false for rows that were never seen."""
    found = looked_up(relation, symbols, {KEPT: kept})
    columns = ", ".join(identifier(column) for column in relation.columns)
    return found.project(f"{columns}, coalesce({KEPT}, false) AS {KEPT}")


def suppressed(relation: duckdb.DuckDBPyRelation, symbols: Symbols, kept: NDArray[np.bool_]) -> duckdb.DuckDBPyRelation:
    """Every released cell of a row that is not kept becomes missing."""
    return _replaced(_flagged(relation, symbols, kept), symbols, f"NOT {KEPT}", dict.fromkeys(symbols.columns, "NULL"))


def redrawn(
    relation: duckdb.DuckDBPyRelation, symbols: Symbols, kept: NDArray[np.bool_], alias: AliasTable, key: str
) -> duckdb.DuckDBPyRelation:
    """Every released cell of a row that is not kept becomes that of a drawn symbol."""
    import pyarrow as pa

    digits = f"substr(sha256({text(key)} || {identifier(ROW)}::VARCHAR), 1, {HEX_DIGITS})"
    hashed = _flagged(relation, symbols, kept).project(
        f"*, CASE WHEN NOT {KEPT} THEN ('0x' || {digits})::BIGINT END AS {BITS_OF_ROW}"
    )
    threshold = constant_list(relation, pa.array(alias.threshold))
    bucket = f"({BITS_OF_ROW} >> {alias.shift})" if alias.shift < BITS else f"({BITS_OF_ROW} * 0)"
    rest = f"({BITS_OF_ROW} & {(1 << alias.shift) - 1})"
    slot = f"CASE WHEN NOT {KEPT} THEN 2 * {bucket} + ({rest} >= {threshold}[{bucket} + 1])::BIGINT END"
    slotted = hashed.project(f"*, {slot} AS {SLOT}")
    packs = _packs([len(levels) for levels in symbols.levels])
    packed, drawn = [], {}
    for number, pack in enumerate(packs):
        sizes = [len(symbols.levels[c]) for c in pack]
        strides = np.cumprod([1, *sizes[:-1]])
        codes = constant_list(relation, pa.array(symbols.codes[alias.symbols][:, pack] @ strides))
        packed.append(f"CASE WHEN NOT {KEPT} THEN {codes}[{SLOT} + 1] END AS __tacit_pack{number}__")
        for c, size, stride in zip(pack, sizes, strides, strict=True):
            name = symbols.columns[c]
            levels = pa.array([level_text(level) for level in symbols.levels[c]], pa.string())
            held = constant_list(relation, levels, column_type(relation, name))
            drawn[name] = f"{held}[(__tacit_pack{number}__ // {stride}) % {size} + 1]"
    return _replaced(slotted.project(", ".join(["*", *packed])), symbols, f"NOT {KEPT}", drawn)


def _packs(sizes: Sequence[int]) -> list[list[int]]:
    """Columns in groups whose codes, written one after the other, stay below PACKED."""
    packs: list[list[int]] = []
    room = 0
    for column, size in enumerate(sizes):
        if not packs or size > room:
            packs.append([])
            room = PACKED
        packs[-1].append(column)
        room //= size
    return packs


def _replaced(
    relation: duckdb.DuckDBPyRelation, symbols: Symbols, risky: str, value: Mapping[str, str]
) -> duckdb.DuckDBPyRelation:
    parts = []
    for column in relation.columns:
        if column in symbols.columns:
            name = identifier(column)
            parts.append(f"CASE WHEN {risky} THEN {value[column]} ELSE {name} END AS {name}")
        elif not column.startswith("__tacit_") or column == ROW:
            parts.append(identifier(column))
    return relation.project(", ".join(parts))


def valued(
    relation: duckdb.DuckDBPyRelation, symbols: Symbols, values: Mapping[str, NDArray[Any]], unseen: float | None
) -> duckdb.DuckDBPyRelation:
    """The rows with a column for each of ``values``, looked up by symbol."""
    found = looked_up(relation, symbols, values)
    if unseen is None:
        return found
    default = f"{text(level_text(float(unseen)) or '')}::DOUBLE"
    parts = [identifier(column) for column in relation.columns]
    parts += [f"coalesce({identifier(name)}, {default}) AS {identifier(name)}" for name in values]
    return found.project(", ".join(parts))
