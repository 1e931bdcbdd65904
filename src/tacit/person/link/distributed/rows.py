"""Rows about records that workers make and keep: what each says, what of it is right, and what it comes near to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tacit.person.link.attributes import Attributes, IntArray, arrow_table, numbers
from tacit.person.link.recognising import Recognition
from tacit.person.link.right import RightRows
from tacit.tables.columns import ROW
from tacit.tables.engines import store_on

if TYPE_CHECKING:
    import pyarrow as pa

# What a row is about: an attribute of a record in a view of it, an attribute that is right, how near the record comes
# to each fact of the person, the record itself with its name, and a value that could not be compared.
SAID, RIGHT, HOLDS, RECORD, UNREAD = range(5)
# How many rows of a table a worker reads at a time.
PART = 40_000

_COLUMNS: Final = {
    "kind": "int",
    "view": "int",
    "rid": "bigint",
    "label": "string",
    "value": "string",
    "confidence": "double",
    "fact": "bigint",
    "credit": "double",
    "holds": "string",
    "against": "boolean",
}
# The columns, as Spark writes them: ``view`` is the number of an adversary's view of values, ``holds`` are numbers.
ROW_TYPE: Final = ", ".join(f"{name} {kind}" for name, kind in _COLUMNS.items())


def _row_schema() -> pa.Schema:
    import pyarrow as pa

    kinds = {"int": pa.int32(), "bigint": pa.int64(), "string": pa.string(), "double": pa.float64()}
    return pa.schema({name: kinds.get(kind, pa.bool_()) for name, kind in _COLUMNS.items()})


def _rows(kind: int, view: int, table: pa.Table, rids: IntArray | None) -> pa.Table:
    """Rows of one kind; a record that is number i among these is ``rids[i]`` among all."""
    import pyarrow as pa

    schema, size = _row_schema(), table.num_rows
    columns = {name: table.column(name) for name in table.column_names}
    columns["kind"], columns["view"] = (pa.array(np.full(size, each, np.int32)) for each in (kind, view))
    if rids is not None:
        columns["rid"] = pa.array(rids[numbers(table, "rid")])
    arrays = [columns[one.name].cast(one.type) if one.name in columns else pa.nulls(size, one.type) for one in schema]
    return pa.table(arrays, schema=schema)


def said_rows(attributes: Attributes, view: int, rids: IntArray) -> pa.Table:
    """What records say."""
    table = attributes.store.ask(
        f"SELECT CAST(rid AS BIGINT) AS rid, label, value, confidence FROM {attributes.name} ORDER BY rid, label, value"
    )
    return _rows(SAID, view, table, rids)


def right_rows(right: RightRows, view: int, rids: IntArray) -> pa.Table:
    """What of it is right about the person."""
    columns = "CAST(rid AS BIGINT) AS rid, label, value, confidence, fact, credit"
    return _rows(RIGHT, view, right.store.ask(f"SELECT {columns} FROM {right.name}"), rids)


def holding_rows(recognition: Recognition, view: int, rids: IntArray) -> pa.Table:
    """How near the records come to each fact of the person, as far as they come near any."""
    import pyarrow as pa

    table = recognition.holding()
    holds = pa.array([as_text(each) for each in table.column("holds").to_pylist()], pa.string())
    columns = {"rid": table.column("rid").cast(pa.int64()), "holds": holds, "against": table.column("against")}
    return _rows(HOLDS, view, pa.table(columns), rids)


def record_rows(names: pa.Array | None, rids: IntArray) -> pa.Table:
    """The records, each with its name if it has one."""
    table = arrow_table({"rid": np.arange(len(rids))})
    return _rows(RECORD, 0, table if names is None else table.append_column("value", names), rids)


def unread_rows(label: str, values: Sequence[str], view: int) -> pa.Table:
    """Values that could not be compared."""
    return _rows(UNREAD, view, arrow_table({"label": [label] * len(values), "value": values}), None)


def as_text(holds: Sequence[int]) -> str:
    """How near a record comes to each fact, as text."""
    return " ".join(map(str, holds))


def holds_of(text: str) -> tuple[int, ...]:
    """How near a record comes to each fact, as :func:`as_text` writes it."""
    return tuple(map(int, text.split()))


def in_parts(
    batches: Iterable[pa.RecordBatch], look: Callable[[pa.Table, IntArray], Iterable[pa.Table]], size: int
) -> Iterator[pa.RecordBatch]:
    """What is ``made`` of rows that follow each other, some at a time; it gets them without their places, and these."""
    import pyarrow as pa

    # The workers of a machine share its cores.
    store_on("duckdb").run("SET threads = 1")
    waiting: list[pa.RecordBatch] = []

    def part() -> Iterator[pa.RecordBatch]:
        table = pa.Table.from_batches(waiting)
        waiting.clear()
        places = numbers(table, ROW).astype(np.int64)
        for rows in look(table.drop_columns([ROW]), places):
            yield from rows.combine_chunks().to_batches()

    after: Any = None
    for batch in batches:
        rest = batch
        while rest.num_rows:
            places = rest.column(rest.schema.names.index(ROW)).to_numpy()
            if waiting and places[0] != after:
                yield from part()
            # Files may be read in pieces that do not follow each other.
            breaks = np.flatnonzero(np.diff(places) != 1)
            room = size - sum(each.num_rows for each in waiting)
            step = min(int(breaks[0]) + 1 if len(breaks) else rest.num_rows, room)
            waiting.append(rest.slice(0, step))
            after, rest = places[step - 1] + 1, rest.slice(step)
            if sum(each.num_rows for each in waiting) >= size:
                yield from part()
    if waiting:
        yield from part()
