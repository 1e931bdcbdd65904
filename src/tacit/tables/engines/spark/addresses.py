"""Parquet at an address: its columns, those that come from the names of folders, and whether all parts have them."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from tacit.errors import DataError
from tacit.loading import without_credentials
from tacit.tables.columns import are_whole_numbers
from tacit.tables.engines.spark.sessions import session

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# How many footers are read at a time: each waits for the store, and none for the processor.
_AT_A_TIME = 16
# The value in the name of a folder whose rows have no value in that column.
_MISSING = "__HIVE_DEFAULT_PARTITION__"


def parquet_at(address: str) -> tuple[DataFrame, tuple[str, ...]]:
    """What Spark reads at an address, and the columns that come from the names of folders.

    Guarantees
    ----------
    No part lacks a column, which Spark would take for missing in all its rows. A column of folders is one of whole
    numbers only if all are written as such: 007 stays 007, which Spark would take for 7.
    """
    from pyspark.sql.types import LongType, StringType, StructField, StructType

    frame = session().read.parquet(address)
    files = frame.inputFiles()
    inside = _columns_of_all(files)
    folders = _folders(files, frame.columns)
    kinds = {
        name: LongType() if are_whole_numbers(values) else StringType()
        for name, values in folders.items()
        if name.lower() not in inside
    }
    fields = [StructField(one.name, kinds.get(one.name, one.dataType)) for one in frame.schema.fields]
    return session().read.schema(StructType(fields)).parquet(address) if kinds else frame, tuple(folders)


def _folders(files: Sequence[str], columns: Sequence[str]) -> dict[str, list[str | None]]:
    """By column, its values in the names of the folders of files."""
    places = [[each.partition("=") for each in unquote(file).split("/")[:-1]] for file in files]
    named = [{name: value for name, mark, value in place if mark} for place in places]
    return {
        name: [None if (value := one.get(name)) == _MISSING else value for one in named]
        for name in columns
        if named and name in named[0]
    }


def _columns_of_all(files: Sequence[str]) -> frozenset[str]:
    """The columns that all files have; a DataError if one lacks a column of another, whatever the order and the types.

    Types that do not go together are refused by Spark, when it reads them.
    """
    spark, ordered = session(), sorted(files)
    settings = spark._jsparkSession.sessionState().newHadoopConf()
    with ThreadPoolExecutor(_AT_A_TIME) as pool:
        columns = list(pool.map(lambda file: _columns(spark._jvm, settings, file), ordered))
    for file, each in zip(ordered, columns, strict=True):
        if each != columns[0]:
            one, other = (without_credentials(some) for some in (file, ordered[0]))
            raise DataError(
                f"{one} has other columns than {other}: give all parts the same columns, or name those that have them"
            )
    return columns[0] if columns else frozenset()


def _columns(java: Any, settings: Any, file: str) -> frozenset[str]:
    """The columns that a Parquet file has, in small letters, because Spark does not tell apart those that differ so."""
    hadoop, parquet = java.org.apache.hadoop, java.org.apache.parquet.hadoop
    reader = parquet.ParquetFileReader.open(
        parquet.util.HadoopInputFile.fromPath(hadoop.fs.Path(java.java.net.URI(file)), settings)
    )
    try:
        schema = reader.getFileMetaData().getSchema()
        return frozenset(schema.getFieldName(at).lower() for at in range(schema.getFieldCount()))
    finally:
        reader.close()
