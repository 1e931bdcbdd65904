"""DuckDB's SQL: names and literals, and constants that rows look up in order: written out, or held on a connection."""

from __future__ import annotations

import glob
from collections.abc import Collection, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from tacit.tables.engines.duckdb.connections import answered

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

# Names of variables and types on a connection that may be the caller's own.
_serial = count()
# Holding something on a connection makes DuckDB bind all its queries again, which takes longer than parsing a short
# list in the query each time. Labels written one by one take longer to parse than one text with the whole list, and
# long texts take longer to copy than numbers.
SHORT = 1024
FEW_TEXTS = 256
FEW_LABELS = 40
_SEPARATOR = "\x1f"
_SHOWN = ("UUID", "JSON", '"NULL"')


def identifier(name: str) -> str:
    """A quoted name, whatever characters it has."""
    return '"' + name.replace('"', '""') + '"'


def text(value: str | Path) -> str:
    """A text literal."""
    return "'" + str(value).replace("'", "''") + "'"


def pattern(path: Path) -> str:
    """The name of a file as a literal for DuckDB's readers, which would read ``[1]`` or ``*`` in it as a pattern."""
    return text(glob.escape(str(path)))


def renamed(relation: duckdb.DuckDBPyRelation, columns: Sequence[str], names: Sequence[str]) -> duckdb.DuckDBPyRelation:
    """Some columns of a relation under other names."""
    parts = (f"{identifier(old)} AS {identifier(new)}" for old, new in zip(columns, names, strict=True))
    return relation.project(", ".join(parts))


def shown_as_texts(relation: duckdb.DuckDBPyRelation) -> set[str]:
    """The columns whose values are the texts that they show: identifiers, JSON, and a column without any value."""
    return {name for name, kind in zip(relation.columns, relation.types, strict=True) if str(kind) in _SHOWN}


def in_texts(relation: duckdb.DuckDBPyRelation, but: Collection[str] = ()) -> duckdb.DuckDBPyRelation:
    """The relation with its enumerated columns, except those in ``but``, as the texts they stand for.

    So are the columns that are :func:`shown_as_texts`.
    """
    texts = {
        name
        for name, kind in zip(relation.columns, relation.types, strict=True)
        if kind.id == "enum" and name not in but
    } | shown_as_texts(relation)
    names = ((name, identifier(name)) for name in relation.columns)
    parts = (f"{quoted}::VARCHAR AS {quoted}" if name in texts else quoted for name, quoted in names)
    return relation.project(", ".join(parts)) if texts else relation


def variable(relation: duckdb.DuckDBPyRelation, values: pa.Array, sql: str = "list(v ORDER BY i)") -> str:
    """Hold ``values`` (or what ``sql`` makes of them) on the relation's connection; returns the SQL to read them."""
    import pyarrow as pa

    name = f"tacit_{next(_serial)}"
    # DuckDB finds this table by the name of the Python variable.
    tacit_values = pa.table({"i": pa.array(range(len(values)), pa.int64()), "v": values})
    relation.query("tacit_unused", f"SET VARIABLE {name} = (SELECT {sql} FROM tacit_values)")
    del tacit_values
    return f"getvariable('{name}')"


def constant_bits(relation: duckdb.DuckDBPyRelation, written: str) -> str:
    """The SQL that reads zeros and ones as bits; many are held on the relation's connection."""
    import pyarrow as pa

    if len(written) <= SHORT:
        return f"{text(written)}::BIT"
    return variable(relation, pa.array([written]), "first(v)::BIT")


def constant_list(relation: duckdb.DuckDBPyRelation, values: pa.Array, kind: str | None = None) -> str:
    """The SQL that reads ``values`` as a list (of type ``kind``); a long one is held on the relation's connection.

    It is held in a table of one row: unlike a variable, that is not built again for every batch, and the cross product
    with one row keeps the order.
    """
    return constant_lists(relation, [values], None if kind is None else [kind])[0]


def constant_lists(
    relation: duckdb.DuckDBPyRelation, several: Sequence[pa.Array], kinds: Sequence[str] | None = None
) -> list[str]:
    """Several lists as :func:`constant_list` gives them, the long ones all in one table."""
    import pyarrow as pa

    casts = [""] * len(several) if kinds is None else [f"::{kind}[]" for kind in kinds]
    short = [_written(values) for values in several]
    name = f"tacit_{next(_serial)}"
    # DuckDB finds this table by the name of the Python variable.
    tacit_values = pa.table(
        {
            f"v{at}": pa.ListArray.from_arrays(pa.array([0, len(values)], pa.int32()), values)
            for at, values in enumerate(several)
            if short[at] is None
        }
    )
    if tacit_values.num_columns:
        parts = ", ".join(f"{v}{casts[int(v[1:])]} AS {v}" for v in tacit_values.column_names)
        relation.query("tacit_unused", f"CREATE TEMP TABLE {name} AS SELECT {parts} FROM tacit_values")
    del tacit_values
    return [f"(SELECT v{at} FROM {name})" if here is None else f"({here}{casts[at]})" for at, here in enumerate(short)]


def _written(values: pa.Array) -> str | None:
    """A short list as SQL, mostly one text that the query splits; None if it is long, or cannot be written so."""
    import pyarrow as pa

    kinds = {pa.int64(): "BIGINT", pa.int32(): "INTEGER", pa.float64(): "DOUBLE"}
    if values.type in kinds and 0 < len(values) <= SHORT:
        numbers = ", ".join("NULL" if value is None else repr(value) for value in values.to_pylist())
        return f"'[{numbers}]'::{kinds[values.type]}[]"
    if values.type != pa.string() or not 0 < len(values) <= FEW_TEXTS:
        return None
    texts = values.to_pylist()
    joined = _SEPARATOR.join(each or "" for each in texts)
    if joined.count(_SEPARATOR) != len(texts) - 1 or "\0" in joined:
        return None
    if not values.null_count:
        return f"string_split({text(joined)}, {text(_SEPARATOR)})"
    one_by_one = ", ".join("NULL" if each is None else text(each) for each in texts)
    return f"[{one_by_one}]" if len(texts) <= FEW_LABELS else None


def held_table(relation: duckdb.DuckDBPyRelation, data: pa.Table) -> duckdb.DuckDBPyRelation:
    """An Arrow table as a relation on another's connection, which holds it until the connection is closed."""
    name = f"tacit_{next(_serial)}"
    # DuckDB finds this table by the name of the Python variable.
    tacit_rows = data
    relation.query("tacit_unused", f"CREATE TEMP TABLE {name} AS SELECT * FROM tacit_rows")
    del tacit_rows
    return relation.query("tacit_unused", f"SELECT * FROM {name}")


def enumeration(relation: duckdb.DuckDBPyRelation, labels: Sequence[str]) -> str:
    """An enumeration type of ``labels``, as SQL names it; a long one is made on the relation's connection.

    Text becomes its code by one lookup in a hash table and, unlike with a join, the rows stay in order.
    """
    import pyarrow as pa

    name = f"tacit_{next(_serial)}"
    if len(labels) <= 1000:
        written = ", ".join(text(label) for label in labels)
        if len(labels) <= FEW_LABELS:
            return f"ENUM({written})"
    else:
        written = f"SELECT unnest({variable(relation, pa.array(labels, pa.string()))})"
    relation.query("tacit_unused", f"CREATE TEMP TYPE {name} AS ENUM ({written})")
    return name


def enumerated(relation: duckdb.DuckDBPyRelation, all_texts: Mapping[str, Sequence[str]]) -> duckdb.DuckDBPyRelation:
    """The relation with columns of text as enumerations of all their texts; those already enumerated stay."""
    texts = {name for name, kind in zip(relation.columns, relation.types, strict=True) if kind.id == "varchar"}
    kinds = {name: enumeration(relation, labels) for name, labels in all_texts.items() if name in texts}
    quoted = ((name, identifier(name)) for name in relation.columns)
    parts = (f"{each}::{kinds[name]} AS {each}" if name in kinds else each for name, each in quoted)
    return relation.project(", ".join(parts)) if kinds else relation


def column_type(relation: duckdb.DuckDBPyRelation, column: str) -> str:
    """The DuckDB type of a column, as SQL writes it."""
    return str(relation.types[relation.columns.index(column)])


def copied(relation: duckdb.DuckDBPyRelation, target: Path, options: str) -> None:
    """Write the rows of a relation, in order, to one file."""
    answered(lambda: relation.query("tacit_rows", f"COPY (SELECT * FROM tacit_rows) TO {text(target)} ({options})"))
