"""Numbers that Python computes from rows on Spark's workers, where more combinations occur than can be looked up."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from tacit.tables.columns import ROW
from tacit.tables.engines.spark.lookups import column
from tacit.tables.engines.spark.sessions import on_this_machine

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

    from tacit.tables.engines.protocol import RowNumber

# Up to FEW possible combinations, numbers are looked up in a list of all of them; up to SOME that occur, among these.
# More would be slow to bring to the driver and back.
FEW = 1 << 16
SOME = 1_000_000


def numbered_on_workers(frame: DataFrame, columns: Sequence[str], number: RowNumber, name: str) -> DataFrame:
    """The rows with columns of whole numbers replaced by their number, as :meth:`Engine.numbered` says.

    The workers keep the results on their disks, and need Python with this package. No row comes to the driver.
    """
    from pyspark import StorageLevel
    from pyspark.sql.types import LongType, StructField, StructType

    if on_this_machine():
        frame.sparkSession.sparkContext.pythonExec = sys.executable
    others = [each for each in frame.columns if each not in columns and each != ROW]
    fields = frame.schema
    kinds = StructType([*(fields[each] for each in others), StructField(name, LongType()), fields[ROW]])

    def made(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        for batch in batches:
            parts = np.column_stack([batch.column(at).to_numpy() for at in range(len(columns))])
            numbers = pa.array(number(parts).astype(np.int64))
            rest = batch.columns[len(columns) :]
            yield pa.RecordBatch.from_arrays([*rest[:-1], numbers, rest[-1]], names=kinds.names)

    read = frame.select(*map(column, [*columns, *others, ROW]))
    return read.mapInArrow(made, kinds).persist(StorageLevel.DISK_ONLY)
