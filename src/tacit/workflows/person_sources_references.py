"""The true records of many persons: a table as a stream of (pid, label, value)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tacit.errors import DataError
from tacit.tables.table import ROW
from tacit.workflows.person_case_model import PopulationSpec
from tacit.workflows.person_case_sources import labelled

if TYPE_CHECKING:
    import pyarrow as pa

BATCH = 100_000


def read_references(population: PopulationSpec) -> pa.RecordBatchReader:
    """The references of a population, for :func:`tacit.tables.populations.references`.

    Columns pid, label, value, all text; values as they stand in the table, not in their normal form. Rows of one person
    may lie apart. Every person has a row with neither label nor value besides, so that one without any counts too.

    Raises
    ------
    ColumnError
        If the table lacks a column that the case names.
    DataError
        If a row does not say whose it is; the row is named.
    """
    import pyarrow as pa

    from tacit.tables.duckdb_engine import answered, text
    from tacit.tables.sources import open_table
    from tacit.workflows.person_sources_cells import any_text, cell_text, picked, texts

    table = open_table(population.references)
    columns = labelled(population, table.names)
    names = [name for name, _ in columns]
    table.require([population.person, *(name for name in population.columns if name != "*")])
    relation = picked(table, [population.person, *names])
    person = texts(table, [population.person], relation, cell_text)[0]
    # The cells of a person's several values are lists already; the others become lists of one.
    cells = [
        sql if str(kind).endswith("]") else f"[{sql}]"
        for sql, kind in zip(
            texts(table, [population.person, *names], relation, any_text), relation.types, strict=False
        )
    ][1:]
    with table.reading():
        missing = f'SELECT min("{ROW}") FROM t WHERE {person} IS NULL'
        first = answered(lambda: relation.query("t", missing).fetchall())[0][0]
    if first is not None:
        raise DataError(
            f"{table.name}, row {first + 1}: no '{population.person}': say whose row it is, or leave it out"
        )
    # The first part keeps persons of whom nothing is said.
    parts = [f"SELECT DISTINCT {person} AS pid, CAST(NULL AS VARCHAR) AS label, CAST(NULL AS VARCHAR) AS value FROM t"]
    for (_, label), cell in zip(columns, cells, strict=True):
        found = f"SELECT {person} AS pid, {text(label)} AS label, unnest({cell}) AS value FROM t"
        parts.append(f"SELECT * FROM ({found}) WHERE value IS NOT NULL")
    schema = pa.schema([("pid", pa.string()), ("label", pa.string()), ("value", pa.string())])

    def batches() -> Iterator[pa.RecordBatch]:
        with table.reading():
            for batch in relation.query("t", " UNION ALL ".join(parts)).to_arrow_reader(BATCH):
                yield batch.cast(schema) if batch.schema != schema else batch

    return pa.RecordBatchReader.from_batches(schema, batches())
