"""Parquet files that the workers write themselves, which depend on the rows and the version of Spark alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import reduce
from typing import TYPE_CHECKING

from tacit.tables.columns import ROW
from tacit.tables.engines.spark.lookups import column

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# What may be set for the session and would change the bytes, refuse a date before 1582, or (the last) put files that
# have a partition each into one.
_SETTINGS = {
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.parquet.writeLegacyFormat": "false",
    "spark.sql.parquet.datetimeRebaseModeInWrite": "CORRECTED",
    "spark.sql.parquet.int96RebaseModeInWrite": "CORRECTED",
    "spark.sql.files.maxRecordsPerFile": "0",
    "spark.sql.unionOutputPartitioning": "false",
}


def write_parts(frame: DataFrame, names: Sequence[str], address: str, codec: str) -> None:
    """Write some columns, a file for each partition that has rows.

    Guarantees
    ----------
    A file says nothing but its rows, the names and types of its columns and the version of Spark: what a frame tells
    beside its columns, such as comments or lists of their labels, is left out.
    """
    plain = frame.select(*(column(name).alias(name, metadata={}) for name in names))
    with _as_always(frame.sparkSession):
        plain.write.option("compression", codec).parquet(address)


def copied(frames: Sequence[DataFrame]) -> DataFrame:
    """The rows of several files, those of each in a partition of its own and in their order."""

    def one(frame: DataFrame) -> DataFrame:
        place = frame.metadataColumn("_metadata").getField("row_index").alias(ROW)
        return frame.select("*", place).coalesce(1).sortWithinPartitions(ROW).drop(ROW)

    return reduce(lambda first, second: first.union(second), map(one, frames))


@contextmanager
def _as_always(spark: SparkSession) -> Iterator[None]:
    before = {name: spark.conf.get(name, None) for name in _SETTINGS}
    try:
        for name, value in _SETTINGS.items():
            spark.conf.set(name, value)
        yield
    finally:
        for name, earlier in before.items():
            if earlier is None:
                spark.conf.unset(name)
            else:
                spark.conf.set(name, earlier)
