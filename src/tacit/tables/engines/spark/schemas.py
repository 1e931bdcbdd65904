"""Whether the Parquet files at an address have the same columns; only their footers are read."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from tacit.errors import DataError
from tacit.loading import without_credentials
from tacit.tables.engines.spark.sessions import session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# How many footers are read at a time: each waits for the store, and none for the processor.
_AT_A_TIME = 16


def require_same_columns(files: Sequence[str]) -> None:
    """Raise a DataError if a file lacks a column that another has, whatever the order and the types.

    Types that do not go together are refused by Spark, when it reads them.
    """
    if len(files) < 2:
        return
    spark, ordered = session(), sorted(files)
    with ThreadPoolExecutor(_AT_A_TIME) as pool:
        columns = list(pool.map(lambda file: _columns(spark, file), ordered))
    for file, each in zip(ordered, columns, strict=True):
        if each != columns[0]:
            one, other = (without_credentials(some) for some in (file, ordered[0]))
            raise DataError(
                f"{one} has other columns than {other}: give all parts the same columns, or name those that have them"
            )


def _columns(spark: SparkSession, file: str) -> frozenset[str]:
    """The columns that a Parquet file has, in small letters, because Spark does not tell apart those that differ so."""
    java: Any = spark._jvm
    hadoop, parquet = java.org.apache.hadoop, java.org.apache.parquet.hadoop
    settings = spark._jsparkSession.sessionState().newHadoopConf()
    reader = parquet.ParquetFileReader.open(
        parquet.util.HadoopInputFile.fromPath(hadoop.fs.Path(java.java.net.URI(file)), settings)
    )
    try:
        schema = reader.getFileMetaData().getSchema()
        return frozenset(schema.getFieldName(at).lower() for at in range(schema.getFieldCount()))
    finally:
        reader.close()
