"""DuckDB's SQL: names and literals, and constants held on a connection so that rows look them up in order."""

from __future__ import annotations

import glob
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from tacit.tables.engines.duckdb.connections import answered

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

# Names of variables and types on a connection that may be the caller's own.
_serial = count()


def identifier(name: str) -> str:
    """A name as SQL reads it, whatever is in it."""
    return '"' + name.replace('"', '""') + '"'


def text(value: str | Path) -> str:
    """A text literal."""
    return "'" + str(value).replace("'", "''") + "'"


def pattern(path: Path) -> str:
    """The name of a file as a literal for DuckDB's readers, which take ``[1]`` or ``*`` in a name for a pattern."""
    return text(glob.escape(str(path)))


def renamed(relation: duckdb.DuckDBPyRelation, columns: Sequence[str], names: Sequence[str]) -> duckdb.DuckDBPyRelation:
    """Some columns of a relation under other names."""
    parts = (f"{identifier(old)} AS {identifier(new)}" for old, new in zip(columns, names, strict=True))
    return relation.project(", ".join(parts))


def variable(relation: duckdb.DuckDBPyRelation, values: pa.Array, sql: str = "list(v ORDER BY i)") -> str:
    """Hold ``values`` (or what ``sql`` makes of them) on the relation's connection; gives the SQL that reads them."""
    import pyarrow as pa

    name = f"tacit_{next(_serial)}"
    # DuckDB finds this table by the name of the Python variable.
    tacit_values = pa.table({"i": pa.array(range(len(values)), pa.int64()), "v": values})
    relation.query("tacit_unused", f"SET VARIABLE {name} = (SELECT {sql} FROM tacit_values)")
    del tacit_values
    return f"getvariable('{name}')"


def constant_list(relation: duckdb.DuckDBPyRelation, values: pa.Array, kind: str | None = None) -> str:
    """Hold ``values`` as a list (of type ``kind``) on the relation's connection; gives the SQL that reads it.

    A list in a table of one row is looked into without being built again for every batch, as a variable would be,
    and the cross product with one row keeps the order.
    """
    return constant_lists(relation, [values], kind)[0]


def constant_lists(
    relation: duckdb.DuckDBPyRelation, several: Sequence[pa.Array], kind: str | None = None
) -> list[str]:
    """Hold several lists as :func:`constant_list` does, all in one table; gives the SQL that reads each."""
    import pyarrow as pa

    name = f"tacit_{next(_serial)}"
    # DuckDB finds this table by the name of the Python variable.
    tacit_values = pa.table(
        {
            f"v{at}": pa.ListArray.from_arrays(pa.array([0, len(values)], pa.int32()), values)
            for at, values in enumerate(several)
        }
    )
    cast = f"::{kind}[]" if kind else ""
    parts = ", ".join(f"v{at}{cast} AS v{at}" for at in range(len(several)))
    relation.query("tacit_unused", f"CREATE TEMP TABLE {name} AS SELECT {parts} FROM tacit_values")
    del tacit_values
    return [f"(SELECT v{at} FROM {name})" for at in range(len(several))]


def held_table(relation: duckdb.DuckDBPyRelation, data: pa.Table) -> duckdb.DuckDBPyRelation:
    """An Arrow table as a relation on the connection of another, which holds it until it is closed."""
    name = f"tacit_{next(_serial)}"
    # DuckDB finds this table by the name of the Python variable.
    tacit_rows = data
    relation.query("tacit_unused", f"CREATE TEMP TABLE {name} AS SELECT * FROM tacit_rows")
    del tacit_rows
    return relation.query("tacit_unused", f"SELECT * FROM {name}")


def enumeration(relation: duckdb.DuckDBPyRelation, labels: Sequence[str]) -> str:
    """Make an enumeration type of ``labels`` on the relation's connection; gives its name.

    Text becomes its code by one look into a hash table, and, unlike a join, the rows stay in order.
    """
    import pyarrow as pa

    name = f"tacit_{next(_serial)}"
    if len(labels) <= 1000:
        written = ", ".join(text(label) for label in labels)
    else:
        written = f"SELECT unnest({variable(relation, pa.array(labels, pa.string()))})"
    relation.query("tacit_unused", f"CREATE TEMP TYPE {name} AS ENUM ({written})")
    return name


def column_type(relation: duckdb.DuckDBPyRelation, column: str) -> str:
    """The DuckDB type of a column, as SQL writes it."""
    return str(relation.types[relation.columns.index(column)])


def copied(relation: duckdb.DuckDBPyRelation, target: Path, options: str) -> None:
    """Write the rows of a relation, in order, to one file."""
    answered(lambda: relation.query("tacit_rows", f"COPY (SELECT * FROM tacit_rows) TO {text(target)} ({options})"))
