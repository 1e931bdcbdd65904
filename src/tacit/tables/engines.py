"""The few things narwhals cannot say, sent to the engine a table is on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from tacit.tables.table import ROW, Table

if TYPE_CHECKING:
    import narwhals as nw
    import pyarrow as pa


def reading(table: Table) -> AbstractContextManager[None]:
    """Within it, what the engine refuses becomes one line under the table's name."""
    if table.engine == "spark":
        from tacit.tables import spark_engine

        return spark_engine.reading(table.name)
    from tacit.tables import duckdb_engine

    return duckdb_engine.reading(table.name)


def picked(table: Table, columns: Sequence[str], names: Sequence[str] | None = None) -> nw.LazyFrame[Any]:
    """The columns, called ``names`` if given, and the row positions.

    Plain names make narwhals expressions safe from names such as ``*`` or ``a.b``, which engines read as something
    else.
    """
    import narwhals as nw

    native = nw.to_native(table.rows)
    names = [*(columns if names is None else names), ROW]
    columns = [*columns, ROW]
    if table.engine == "spark":
        from tacit.tables import spark_engine

        native = spark_engine.renamed(native, columns, names)
    else:
        from tacit.tables import duckdb_engine

        native = duckdb_engine.renamed(native, columns, names)
    rows: nw.LazyFrame[Any] = nw.from_native(native)
    return rows


def indexed(table: Table, rows: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
    """``rows`` with the positions as 0, 1, 2, ... in the order of the table."""
    if table.engine == "spark":
        from tacit.tables import spark_engine

        assert table.positions is not None
        return spark_engine.indexed(rows, table.positions)
    return rows


def collected(table: Table, rows: nw.LazyFrame[Any]) -> pa.Table:
    """Read ``rows``, made of the table's, as an Arrow table."""
    with reading(table):
        if table.engine == "spark":
            return rows.collect("pyarrow").to_native()
        from tacit.tables import duckdb_engine

        return duckdb_engine.answered(lambda: rows.collect("pyarrow").to_native())


def every(table: Table, columns: Sequence[str], step: int) -> pa.Table:
    """Every ``step``-th row of the columns, in order."""
    import narwhals as nw

    names = [f"c{i}" for i in range(len(columns))]
    rows = indexed(table, picked(table, columns, names)).filter(nw.col(ROW) % step == 0).sort(ROW)
    return collected(table, rows.select(*names)).rename_columns(list(columns))


def batches(table: Table, columns: Sequence[str], rows: int) -> Iterator[pa.Table]:
    """All rows of the columns, in order, ``rows`` of them at a time."""
    import narwhals as nw

    names = [f"c{i}" for i in range(len(columns))]
    ordered = indexed(table, picked(table, columns, names)).sort(ROW)
    if table.engine == "spark":
        for start in range(0, table.row_count(), rows):
            part = ordered.filter((nw.col(ROW) >= start) & (nw.col(ROW) < start + rows)).sort(ROW)
            yield collected(table, part.select(*names)).rename_columns(list(columns))
        return
    import pyarrow as pa

    with reading(table):
        for batch in nw.to_native(ordered.select(*names)).to_arrow_reader(rows):
            yield pa.Table.from_batches([batch]).rename_columns(list(columns))
