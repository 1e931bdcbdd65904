"""Rewriting on DuckDB: order-keeping lookups instead of joins, and hashes of risky rows only."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.tables.channels import BUCKET, MISSING, SHIFT_BITS, THRESHOLD, DrawTables, other_name, own_name
from tacit.tables.columns import ROW, Column
from tacit.tables.drawing import BITS, HEX_DIGITS
from tacit.tables.engines.duckdb.sql import (
    column_type,
    constant_bits,
    constant_list,
    constant_lists,
    enumeration,
    identifier,
    text,
)
from tacit.tables.symbols import Symbols, level_text, positions_of

if TYPE_CHECKING:
    import duckdb

CODE = "__tacit_code__"
KEPT = "__tacit_kept__"
PLACE = "__tacit_place__"
DRAWN = "__tacit_drawn__"
BITS_OF_ROW = "__tacit_bits__"
CELL = "__tacit_cell__"
SLOT = "__tacit_slot__"
NUMBER = "__tacit_number__"

# DuckDB copies a constant for every 2,048 rows. Up to this many combinations of levels that costs next to nothing, and
# a row finds its entry by position; beyond that, a join finds it and a sort puts the rows back in order.
DENSE_NUMBERS = 1 << 16
DENSE_BITS = 1 << 20
WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT")
# Codes of several columns are packed into one number below this.
PACKED = 1 << 62


def looked_up(
    relation: duckdb.DuckDBPyRelation, symbols: Symbols, values: Mapping[str, NDArray[Any]], *, in_order: bool = True
) -> duckdb.DuckDBPyRelation:
    """The rows with columns that hold the entry of ``values`` of each row's symbol; null where unseen.

    They stay in order if ``in_order``; a caller that sorts them later saves a sort without it.
    """
    limit = DENSE_BITS if all(array.dtype == np.bool_ for array in values.values()) else DENSE_NUMBERS
    if prod(len(levels) + 1 for levels in symbols.levels) > limit:
        joined = _joined(relation, symbols, values)
        return joined.order(identifier(ROW)) if in_order else joined
    parts, sizes, positions = [], [], []
    for name, levels in zip(symbols.columns, symbols.levels, strict=True):
        sql, size, position = _column_code(relation, name, levels)
        parts.append(sql)
        sizes.append(size)
        positions.append(position)
    # The position of each symbol's level in each column; -1 where the level cannot occur in the column's type.
    at = np.column_stack([p[symbols.codes[:, c]] for c, p in enumerate(positions)])
    strides = np.cumprod([1, *sizes[:-1]])
    known = (at >= 0).all(axis=1)
    code = " + ".join(f"({part}) * {stride}" for part, stride in zip(parts, strides, strict=True))
    coded = relation.project(f"*, {code} AS {CODE}")
    places = (at @ strides)[known]
    entries = (
        f"{_by_position(relation, array[known], places, prod(sizes))} AS {identifier(n)}" for n, array in values.items()
    )
    kept = (identifier(column) for column in relation.columns)
    return coded.project(", ".join([*kept, *entries]))


def _by_position(relation: duckdb.DuckDBPyRelation, values: NDArray[Any], places: NDArray[np.int64], size: int) -> str:
    """SQL for the entry at the place given by CODE; null where CODE is null or there is no entry."""
    import pyarrow as pa

    filled = np.zeros(size, values.dtype)
    filled[places] = values
    if values.dtype == np.bool_:
        # One bit of a constant is read in a few nanoseconds; unseen combinations are false, the safe answer.
        written = (filled + ord("0")).astype(np.uint8).tobytes().decode()
        return f"(get_bit({constant_bits(relation, written)}, {CODE}::INTEGER) = 1)"
    missing = np.ones(size, bool)
    missing[places] = False
    return f"{constant_list(relation, pa.array(filled, mask=missing))}[{CODE} + 1]"


def _value(name: str, kind: str) -> str:
    """SQL for a cell as it is counted: NaN is missing, -0.0 is 0.0."""
    value = identifier(name)
    if kind in ("FLOAT", "DOUBLE"):
        return f"(CASE WHEN isnan({value}) THEN NULL WHEN {value} = 0 THEN 0::{kind} ELSE {value} END)"
    return value


def _column_code(
    relation: duckdb.DuckDBPyRelation, name: str, levels: Sequence[Any]
) -> tuple[str, int, NDArray[np.int64]]:
    """SQL for the position of a row's value (null if unknown), how many positions, and that of each level."""
    kind = column_type(relation, name)
    value = _value(name, kind)
    written = _as_stored(relation, [level_text(level) for level in levels], kind)
    labels, position = positions_of(levels, written)
    if not labels:
        return f"CASE WHEN {value} IS NULL THEN 0::BIGINT END", 1, position
    cast = value if kind == "VARCHAR" else f"CAST({value} AS VARCHAR)"
    hidden = _label(name)
    label = identifier(hidden) if hidden in relation.columns else f"try_cast({cast} AS {enumeration(relation, labels)})"
    code = f"enum_code({label})::BIGINT"
    return f"CASE WHEN {value} IS NULL THEN {len(labels)} ELSE {code} END", len(labels) + 1, position


def _as_stored(relation: duckdb.DuckDBPyRelation, written: list[str | None], kind: str) -> list[str | None]:
    """Values as the column's type would print them; None for those it cannot hold."""
    import pyarrow as pa

    if kind == "VARCHAR" or not written:
        return written
    texts = constant_list(relation, pa.array(written, pa.string()))
    # An aggregate of no rows has one row, which also holds what this connection makes of the texts.
    printed = f"count(*), [CAST(try_cast(written AS {kind}) AS VARCHAR) for written in {texts}]"
    return list(relation.limit(0).aggregate(printed).fetchall()[0][1])


def _told_apart(levels: Sequence[Any], kind: str) -> bool:
    """Whether different levels are surely different values of the column's type."""
    return kind == "VARCHAR" or (kind in WHOLE and all(level is None or type(level) is int for level in levels))


def _joined(
    relation: duckdb.DuckDBPyRelation, symbols: Symbols, values: Mapping[str, NDArray[Any]]
) -> duckdb.DuckDBPyRelation:
    """The same by a join, which the engine can do on disk, but which loses the order."""
    import pyarrow as pa

    kinds = [column_type(relation, name) for name in symbols.columns]
    names = [f"__tacit_c{c}__" for c in range(len(kinds))]
    written = {
        name: pa.array([level_text(level) for level in levels], pa.string()).take(pa.array(symbols.codes[:, c]))
        for c, (name, levels) in enumerate(zip(names, symbols.levels, strict=True))
    }
    # DuckDB finds this table by the name of the Python variable.
    tacit_symbols = pa.table(written | {name: pa.array(array) for name, array in values.items()})
    typed = ", ".join(f"try_cast({name} AS {kind}) AS {name}" for name, kind in zip(names, kinds, strict=True))
    payload = [identifier(name) for name in values]
    # A level that the column's type cannot hold, and two that it cannot distinguish, are unknown: doubt counts as risk.
    storable = " AND ".join(
        f"({n} IS NULL OR try_cast({n} AS {k}) IS NOT NULL)" for n, k in zip(names, kinds, strict=True)
    )
    lookup = f"SELECT {typed}, {', '.join(payload)} FROM tacit_symbols WHERE {storable}"
    if not all(_told_apart(levels, kind) for levels, kind in zip(symbols.levels, kinds, strict=True)):
        lookup = (
            f"SELECT {', '.join(names)}, {', '.join(f'any_value({p}) AS {p}' for p in payload)} "
            f"FROM ({lookup}) GROUP BY {', '.join(names)} HAVING count(*) = 1"
        )
    matches = " AND ".join(
        f"{_value(column, kind)} IS NOT DISTINCT FROM s.{name}"
        for column, kind, name in zip(symbols.columns, kinds, names, strict=True)
    )
    kept = [f"r.{identifier(column)}" for column in relation.columns]
    joined = relation.query(
        "tacit_rows",
        f"SELECT {', '.join([*kept, *(f's.{p}' for p in payload)])} "
        f"FROM tacit_rows r LEFT JOIN ({lookup}) s ON {matches}",
    )
    del tacit_symbols
    return joined


def redrawn(
    relation: duckdb.DuckDBPyRelation,
    symbols: Symbols,
    draws: DrawTables,
    key: str,
    texts: Mapping[str, Sequence[str]],
) -> duckdb.DuckDBPyRelation:
    """Every released cell of a row that is not kept becomes that of a drawn output.

    Columns in ``texts`` are enumerated where that saves time: writing Parquet from the numbers takes a fraction of it.
    """
    if (draws.outputs == MISSING).all():
        placed, _ = _placed(relation, symbols, draws, in_order=True)
        return _replaced(placed, symbols, dict.fromkeys(symbols.columns, "NULL"))
    largest = max(len(draws.outputs), *(len(levels) for levels in symbols.levels))
    if largest > DENSE_NUMBERS:
        return _drawn_by_join(relation, symbols, draws, key)
    return _drawn_by_position(*_with_labels(relation, symbols, texts), symbols, draws, key)


def drawn_numbers(
    relation: duckdb.DuckDBPyRelation, symbols: Symbols, draws: DrawTables, key: str, name: str
) -> duckdb.DuckDBPyRelation | None:
    """The number of the symbol that each row becomes, null where it has none; None where a row takes a join to draw."""
    combinations = prod(len(levels) + 1 for levels in symbols.levels)
    if max(len(draws.outputs), combinations) > DENSE_NUMBERS:
        return None
    import pyarrow as pa

    slotted = _slotted(relation, symbols, draws, key, {NUMBER: np.arange(len(symbols))})
    outputs = constant_list(relation, pa.array(draws.outputs, mask=draws.outputs == MISSING))
    number = f"CASE WHEN {DRAWN} THEN {outputs}[{SLOT} + 1] ELSE {NUMBER} END AS {identifier(name)}"
    return slotted.project(f"{number}, {identifier(ROW)}")


def _label(name: str) -> str:
    """The hidden column with the cells of a column of text as an enumeration."""
    return f"__tacit_label_{name}__"


def _with_labels(
    relation: duckdb.DuckDBPyRelation, symbols: Symbols, texts: Mapping[str, Sequence[str]]
) -> tuple[duckdb.DuckDBPyRelation, dict[str, str]]:
    """The rows with columns of labels, and their types: of columns whose levels are all told, and in the same order."""
    kinds = {
        name: enumeration(relation, texts[name])
        for name, levels in zip(symbols.columns, symbols.levels, strict=True)
        if column_type(relation, name) == "VARCHAR"
        and texts.get(name)
        and list(texts[name]) == [level for level in levels if level is not None]
    }
    labels = [f"try_cast({identifier(name)} AS {kind}) AS {identifier(_label(name))}" for name, kind in kinds.items()]
    return relation.project(", ".join(["*", *labels])) if labels else relation, kinds


def _placed(
    relation: duckdb.DuckDBPyRelation,
    symbols: Symbols,
    draws: DrawTables,
    *,
    in_order: bool,
    more: Mapping[str, NDArray[Any]] | None = None,
) -> tuple[duckdb.DuckDBPyRelation, str]:
    """The rows with DRAWN, and ``more`` values of their symbols; and the SQL for the place of their distribution."""
    more = more or {}
    columns = ", ".join(identifier(column) for column in [*relation.columns, *more])
    if draws.only_place is not None:
        # Then only whether a row is kept must be looked up: a bit, which is faster than a number.
        looked = looked_up(relation, symbols, {KEPT: draws.place < 0, **more}, in_order=in_order)
        return looked.project(f"{columns}, NOT coalesce({KEPT}, false) AS {DRAWN}"), f"{draws.only_place}::BIGINT"
    looked = looked_up(relation, symbols, {PLACE: draws.place, **more}, in_order=in_order)
    place = f"coalesce({PLACE}, {draws.unseen})"
    return looked.project(f"{columns}, {place} AS {PLACE}, {place} >= 0 AS {DRAWN}"), PLACE


def _in_cells(
    relation: duckdb.DuckDBPyRelation,
    symbols: Symbols,
    draws: DrawTables,
    key: str,
    *,
    in_order: bool,
    more: Mapping[str, NDArray[Any]] | None = None,
) -> tuple[duckdb.DuckDBPyRelation, str]:
    """The rows with the number of their bucket as CELL, null where kept, and the SQL for what is left of their bits."""
    placed, place = _placed(relation, symbols, draws, in_order=in_order, more=more)
    shift = f"({place} & {(1 << SHIFT_BITS) - 1})"
    digits = f"substr(sha256({text(key)} || {identifier(ROW)}::VARCHAR), 1, {HEX_DIGITS})"
    # A table with a single bucket has a single output, which needs no random bits.
    bits = f"CASE WHEN {DRAWN} AND {shift} < {BITS} THEN ('0x' || {digits})::BIGINT WHEN {DRAWN} THEN 0::BIGINT END"
    hashed = placed.project(f"*, {bits} AS {BITS_OF_ROW}")
    cells = hashed.project(f"*, ({place} >> {SHIFT_BITS}) + ({BITS_OF_ROW} >> {shift}) AS {CELL}")
    return cells, f"({BITS_OF_ROW} & ((1::BIGINT << {shift}) - 1))"


def _slotted(
    relation: duckdb.DuckDBPyRelation,
    symbols: Symbols,
    draws: DrawTables,
    key: str,
    more: Mapping[str, NDArray[Any]] | None = None,
) -> duckdb.DuckDBPyRelation:
    """The rows with the place of their output among all outputs as SLOT, null where they are kept; in order."""
    import pyarrow as pa

    cells, rest = _in_cells(relation, symbols, draws, key, in_order=True, more=more)
    threshold = constant_list(relation, pa.array(draws.threshold))
    slot = f"CASE WHEN {DRAWN} THEN 2 * {CELL} + ({rest} >= {threshold}[{CELL} + 1])::BIGINT END"
    return cells.project(f"*, {slot} AS {SLOT}")


def _drawn_by_position(
    relation: duckdb.DuckDBPyRelation, kinds: Mapping[str, str], symbols: Symbols, draws: DrawTables, key: str
) -> duckdb.DuckDBPyRelation:
    """Draw by lists, in which a row finds its threshold and its output by position; the rows stay in order.

    ``kinds`` are the types of the columns that are written from their labels (`_with_labels`).
    """
    import pyarrow as pa

    slotted = _slotted(relation, symbols, draws, key)
    missing = draws.outputs == MISSING
    outputs = symbols.codes[draws.outputs]
    packed, drawn = [], {}
    for number, pack in enumerate(_packs([len(levels) for levels in symbols.levels])):
        sizes = [len(symbols.levels[c]) for c in pack]
        strides = np.cumprod([1, *sizes[:-1]])
        codes = constant_list(relation, pa.array(outputs[:, pack] @ strides, mask=missing))
        packed.append(f"CASE WHEN {DRAWN} THEN {codes}[{SLOT} + 1] END AS __tacit_pack{number}__")
        for c, size, stride in zip(pack, sizes, strides, strict=True):
            name = symbols.columns[c]
            # A level that is never drawn need not fit the column's type.
            used = set(outputs[~missing, c].tolist())
            levels = [level_text(level) if at in used else None for at, level in enumerate(symbols.levels[c])]
            kind = kinds.get(name) or column_type(relation, name)
            values = constant_list(relation, pa.array(levels, pa.string()), kind)
            drawn[name] = f"{values}[(__tacit_pack{number}__ // {stride}) % {size} + 1]"
    return _replaced(slotted.project(", ".join(["*", *packed])), symbols, drawn, kinds)


def _drawn_by_join(
    relation: duckdb.DuckDBPyRelation, symbols: Symbols, draws: DrawTables, key: str
) -> duckdb.DuckDBPyRelation:
    """Draw by a join with the table of buckets and a sort on row positions, both of which the engine can do on disk."""
    cells, rest = _in_cells(relation, symbols, draws, key, in_order=False)
    # DuckDB finds this table by the name of the Python variable.
    tacit_buckets = draws.written(symbols)
    # A join on null matches nothing, so kept rows never meet the buckets.
    joined = cells.query(
        "tacit_rows", f"SELECT * FROM tacit_rows r LEFT JOIN tacit_buckets b ON r.{CELL} = b.{identifier(BUCKET)}"
    )
    del tacit_buckets
    drawn = {}
    for c, name in enumerate(symbols.columns):
        chosen = f"CASE WHEN {rest} < {THRESHOLD} THEN {own_name(c)} ELSE {other_name(c)} END"
        drawn[name] = f"({chosen})::{column_type(relation, name)}"
    return _replaced(joined, symbols, drawn).order(identifier(ROW))


def _packs(sizes: Sequence[int]) -> list[list[int]]:
    """Columns in groups whose codes, packed into one number, stay below PACKED."""
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
    relation: duckdb.DuckDBPyRelation, symbols: Symbols, drawn: Mapping[str, str], labels: Collection[str] = ()
) -> duckdb.DuckDBPyRelation:
    """Released cells of rows that are DRAWN become ``drawn``, the others their label if there is one; helper columns
    are left out."""
    parts = []
    for column in relation.columns:
        if column in symbols.columns:
            # Kept cells are written as counted: NaN versus missing, or -0.0 versus 0.0, would tell more.
            kept = identifier(_label(column)) if column in labels else _value(column, column_type(relation, column))
            parts.append(f"CASE WHEN {DRAWN} THEN {drawn[column]} ELSE {kept} END AS {identifier(column)}")
        elif not column.startswith("__tacit_") or column == ROW:
            parts.append(identifier(column))
    return relation.project(", ".join(parts))


def found(relation: duckdb.DuckDBPyRelation, lists: Mapping[str, Sequence[Any]]) -> duckdb.DuckDBPyRelation:
    """The rows with columns replaced by the place of their value in a list; null where it is not in it."""
    import pyarrow as pa

    places = {}
    for name, levels in lists.items():
        code, size, position = _column_code(relation, name, levels)
        at = np.full(size, -1)
        at[position[position >= 0]] = np.flatnonzero(position >= 0)
        if (at[:-1] == np.arange(size - 1)).all() and at[-1] in (-1, size - 1):
            # The code is the place; the last one is that of missing values.
            places[name] = code if at[-1] >= 0 else f"nullif({code}, {size - 1})"
        else:
            places[name] = f"{constant_list(relation, pa.array(at, mask=at < 0))}[({code}) + 1]"
    parts = (f"{places.get(name, identifier(name))} AS {identifier(name)}" for name in relation.columns)
    return relation.project(", ".join(parts))


def labelled(
    relation: duckdb.DuckDBPyRelation, number: str, texts: Mapping[str, Sequence[str | None]]
) -> duckdb.DuckDBPyRelation:
    """The rows with columns of texts at the place given by a number, by lists, so that the rows stay in order.

    Texts are enumerated, in their order: writing Parquet from the numbers takes a fraction of the time.
    """
    import pyarrow as pa

    all_texts = [Column.of_texts(name, words).told for name, words in texts.items()]
    kinds = [enumeration(relation, each) if each else "VARCHAR" for each in all_texts]
    lists = constant_lists(relation, [pa.array(words, pa.string()) for words in texts.values()], kinds)
    looked = {name: f"{each}[{identifier(number)}::BIGINT + 1]" for name, each in zip(texts, lists, strict=True)}
    kept = [name for name in relation.columns if name != ROW]
    columns = [*kept, *(name for name in looked if name not in kept), ROW]
    return relation.project(
        ", ".join(f"{looked.get(name, identifier(name))} AS {identifier(name)}" for name in columns)
    )


def valued(
    relation: duckdb.DuckDBPyRelation, symbols: Symbols, values: Mapping[str, NDArray[Any]], unseen: float | None
) -> duckdb.DuckDBPyRelation:
    """The rows with a column for each of ``values``, looked up by symbol."""
    looked = looked_up(relation, symbols, values)
    if unseen is None:
        return looked
    default = f"{text(level_text(float(unseen)) or '')}::DOUBLE"
    parts = [identifier(column) for column in relation.columns]
    parts += [f"coalesce({identifier(name)}, {default}) AS {identifier(name)}" for name in values]
    return looked.project(", ".join(parts))
