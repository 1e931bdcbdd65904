"""Rows that reach the driver in order, one partition at a time, over Spark's own connections."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, repeat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

    from tacit.tables.engines.spark.spelling import SpelledRows

# Rows that DuckDB works on at a time, and the most it puts into a row group of a Parquet file.
VECTOR = 2048
GROUP = 60 * VECTOR


def streamed(frame: DataFrame, groups: Sequence[int] = (), spelled: SpelledRows | None = None) -> pa.RecordBatchReader:
    """The rows of a frame as Arrow batches, in the order of its partitions and of the rows in them; read once.

    Parameters
    ----------
    frame : DataFrame
    groups : sequence of int
        How many rows are in each row group of the file they come from, if it has any. Batches end where these do, as
        they do where DuckDB reads the file itself, so that it writes the same bytes.
    spelled : SpelledRows, optional
        The texts that follow from the numbers of the frame, which come in their stead.

    Guarantees
    ----------
    All partitions are computed in parallel before the first batch comes, and are kept on the disks of their workers: no
    directory is shared, and what a lost worker had is computed again. The driver holds two partitions at a time, and a
    batch.
    """
    import pyarrow as pa
    from pyspark import StorageLevel
    from pyspark.core.rdd import RDD
    from pyspark.serializers import NoOpSerializer

    context = frame.sparkSession.sparkContext
    schema = frame.limit(0).toArrow().schema
    written = frame._jdf.toArrowBatchRdd().toJavaRDD()
    several = written.getNumPartitions() > 1
    if several:
        written = written.persist(context._getJavaStorageLevel(StorageLevel.DISK_ONLY))
        written.count()

    def batches() -> Iterator[pa.RecordBatch]:
        try:
            messages: RDD[bytes] = RDD(written, context, NoOpSerializer())
            for message in messages.toLocalIterator(prefetchPartitions=several):
                yield pa.ipc.read_record_batch(pa.py_buffer(message), schema)
        finally:
            written.unpersist()

    cut = in_vectors(batches(), chain(groups, repeat(GROUP)))
    if spelled is None:
        return pa.RecordBatchReader.from_batches(schema, cut)
    return pa.RecordBatchReader.from_batches(spelled.schema(), spelled.spelled(cut))


def in_vectors(batches: Iterable[pa.RecordBatch], groups: Iterator[int]) -> Iterator[pa.RecordBatch]:
    """The same rows in batches of whole vectors, except for the last batch of each group."""
    import pyarrow as pa

    waiting: list[pa.RecordBatch] = []
    left = next(groups)
    for batch in batches:
        while batch.num_rows:
            wanted = min(left, GROUP) - sum(each.num_rows for each in waiting)
            waiting.append(batch.slice(0, wanted))
            if batch.num_rows < wanted:
                break
            batch = batch.slice(wanted)
            left -= min(left, GROUP)
            yield pa.concat_batches(waiting)
            waiting = []
            while not left:
                left = next(groups)
    if waiting:
        yield pa.concat_batches(waiting)
