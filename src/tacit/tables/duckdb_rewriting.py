"""Rewriting on DuckDB: order-keeping lookups instead of joins, and hashes of risky rows only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.tables.drawing import BITS, HEX_DIGITS, AliasTable
from tacit.tables.duckdb_engine import column_type, enumeration, identifier, text, variable
from tacit.tables.levels import level_text, positions_of
from tacit.tables.symbols import Symbols
from tacit.tables.table import ROW

if TYPE_CHECKING:
    import duckdb

CODE = "__tacit_code__"
SLOT = "__tacit_slot__"
BITS_OF_ROW = "__tacit_bits__"

# Up to this many combinations of levels the code of a row is a position in a dense list; beyond, a join finds it.
DENSE = 1 << 24


@dataclass(frozen=True, eq=False)
class Coded:
    """Rows with the code of their symbol; a code is null or below ``size``; ``codes`` are those of the symbols."""

    relation: duckdb.DuckDBPyRelation
    size: int
    codes: NDArray[np.int64]

    def flags(self, wanted: NDArray[np.bool_]) -> str:
        """SQL that is true for rows whose symbol is ``wanted``, and false for all others, unseen ones included."""
        import pyarrow as pa

        bits = np.zeros(self.size, np.uint8)
        known = self.codes >= 0
        bits[self.codes[known & wanted]] = 1
        written = (bits + ord("0")).tobytes().decode()
        # One bit of a constant is read in a nanosecond or two; a list element takes sixty.
        held = variable(self.relation, pa.array([written]), "first(v)::BIT")
        return f"coalesce(get_bit({held}, {identifier(CODE)}::INTEGER) = 1, false)"

    def looked_up(self, values: NDArray[Any]) -> str:
        """SQL for the entry of ``values`` (one for each symbol) of a row; null where it is unseen."""
        import pyarrow as pa

        known = self.codes >= 0
        filled = np.zeros(self.size, values.dtype)
        filled[self.codes[known]] = values[known]
        missing = np.ones(self.size, bool)
        missing[self.codes[known]] = False
        held = variable(self.relation, pa.array(filled, mask=missing))
        return f"{held}[{identifier(CODE)} + 1]"


def coded(relation: duckdb.DuckDBPyRelation, symbols: Symbols) -> Coded:
    """Give each row the code of its symbol, in row order."""
    parts, sizes, positions = [], [], []
    for name, levels in zip(symbols.columns, symbols.levels, strict=True):
        sql, size, position = _column_code(relation, name, levels)
        parts.append(sql)
        sizes.append(size)
        positions.append(position)
    # The position of each symbol's level in each column; -1 where the level cannot occur in the column's type.
    at = np.column_stack([p[symbols.codes[:, c]] for c, p in enumerate(positions)])
    total = 1
    for size in sizes:
        total *= size
    if total <= DENSE:
        strides = np.cumprod([1, *sizes[:-1]])
        flat = np.where((at >= 0).all(axis=1), at @ strides, -1)
        code = " + ".join(f"({part}) * {stride}" for part, stride in zip(parts, strides, strict=True))
        return Coded(relation.project(f"*, {code} AS {identifier(CODE)}"), total, flat)
    return _joined(relation, parts, at)


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


def _joined(relation: duckdb.DuckDBPyRelation, parts: list[str], at: NDArray[np.int64]) -> Coded:
    """By a join and a sort on the row position, both of which the engine can do on disk."""
    import pyarrow as pa

    names = [f"__tacit_c{c}__" for c in range(len(parts))]
    known = (at >= 0).all(axis=1)
    lookup = {name: at[known, c] for c, name in enumerate(names)} | {CODE: np.flatnonzero(known)}
    tacit_symbols = pa.table(lookup)
    keyed = relation.project("*, " + ", ".join(f"{part} AS {name}" for part, name in zip(parts, names, strict=True)))
    kept = ", ".join(f"r.{identifier(column)}" for column in relation.columns)
    joined = keyed.query(
        "tacit_rows",
        f"SELECT {kept}, s.{CODE} FROM tacit_rows r LEFT JOIN tacit_symbols s ON "
        + " AND ".join(f"r.{name} = s.{name}" for name in names)
        + f" ORDER BY r.{identifier(ROW)}",
    )
    del tacit_symbols
    return Coded(joined, len(at), np.where(known, np.arange(len(at)), -1))


def suppressed(rows: Coded, symbols: Symbols, kept: NDArray[np.bool_]) -> duckdb.DuckDBPyRelation:
    """Every released cell of a row that is not kept becomes missing."""
    flag = rows.flags(kept)
    return _replaced(rows.relation.project(f"*, {flag} AS {SLOT}"), symbols, lambda _: f"NOT {SLOT}", lambda _: "NULL")


def redrawn(
    rows: Coded, symbols: Symbols, kept: NDArray[np.bool_], alias: AliasTable, key: str
) -> duckdb.DuckDBPyRelation:
    """Every released cell of a row that is not kept becomes that of a drawn symbol."""
    import pyarrow as pa

    source = rows.relation
    digits = f"substr(sha256({text(key)} || {identifier(ROW)}::VARCHAR), 1, {HEX_DIGITS})"
    hashed = source.project(f"*, CASE WHEN NOT {rows.flags(kept)} THEN ('0x' || {digits})::BIGINT END AS {BITS_OF_ROW}")
    threshold = variable(source, pa.array(alias.threshold))
    bucket = f"({BITS_OF_ROW} >> {alias.shift})" if alias.shift < BITS else f"({BITS_OF_ROW} * 0)"
    rest = f"({BITS_OF_ROW} & {(1 << alias.shift) - 1})"
    slot = f"CASE WHEN {BITS_OF_ROW} IS NOT NULL THEN 2 * {bucket} + ({rest} >= {threshold}[{bucket} + 1])::BIGINT END"
    slotted = hashed.project(f"*, {slot} AS {SLOT}")
    drawn = {}
    for c, name in enumerate(symbols.columns):
        written = [level_text(level) for level in symbols.levels[c]]
        values = [written[code] for code in symbols.codes[alias.symbols, c]]
        kind = column_type(source, name)
        drawn[name] = variable(source, pa.array(values, pa.string()), f"list(v::{kind} ORDER BY i)")
    return _replaced(slotted, symbols, lambda _: f"{SLOT} IS NOT NULL", lambda name: f"{drawn[name]}[{SLOT} + 1]")


def _replaced(relation: duckdb.DuckDBPyRelation, symbols: Symbols, risky: Any, value: Any) -> duckdb.DuckDBPyRelation:
    hidden = {CODE, SLOT, BITS_OF_ROW}
    parts = []
    for column in relation.columns:
        if column in hidden:
            continue
        if column in symbols.columns:
            parts.append(
                f"CASE WHEN {risky(column)} THEN {value(column)} ELSE {identifier(column)} END AS {identifier(column)}"
            )
        else:
            parts.append(identifier(column))
    return relation.project(", ".join(parts))


def valued(rows: Coded, values: Mapping[str, NDArray[Any]], unseen: float | None) -> duckdb.DuckDBPyRelation:
    """The rows with a column for each of ``values``, looked up by symbol."""
    parts = [identifier(column) for column in rows.relation.columns if column != CODE]
    for name, array in values.items():
        found = rows.looked_up(array)
        if unseen is not None:
            found = f"coalesce({found}, {text(level_text(float(unseen)) or '')}::DOUBLE)"
        parts.append(f"{found} AS {identifier(name)}")
    return rows.relation.project(", ".join(parts))
