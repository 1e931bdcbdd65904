"""The Spark session, and what Spark's errors mean."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tacit.errors import DataError, EngineError, Setting, SourceError, TacitError, UnknownValueError, sentence
from tacit.tables.engines.duckdb import connections

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Marks in the messages of jobs that fail on purpose.
MOVED = "tacit: rows moved"
# Tacit's own errors, as workers raise them.
_OF_WORKERS = (UnknownValueError, DataError, SourceError, EngineError)
# The user and the password of an address.
_WHOSE = re.compile(r"(?<=//)[^\s/'\"]+@|(?<=//)[^\s/'\":]*:[^\s'\"]*@")
_OWN = r"tacit\.errors\.(\w+Error): (.*)"


def session() -> SparkSession:
    """The running Spark session, or a new one: on the cluster under ``spark-submit``, otherwise local."""
    _refusals()
    from pyspark.errors import PySparkRuntimeError
    from pyspark.sql import SparkSession

    running = SparkSession.getActiveSession()
    if running is not None:
        return running
    # Without this Spark looks for an address of the machine, and reports that at length.
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    local = SparkSession.builder.appName("tacit").config("spark.ui.enabled", "false").config("spark.log.level", "ERROR")
    try:
        return local.config("spark.ui.showConsoleProgress", "false").getOrCreate()
    except (PySparkRuntimeError, FileNotFoundError) as error:
        raise _without("Spark could not start: it needs Java 17 or later; or use {engine}") from error


def keep_partitions(spark: SparkSession) -> None:
    """Have a session read the same files and ranges in the same partitions, whatever workers come and go.

    Without a fixed number Spark goes by the cores it has at the moment, but a row's partition is part of its position.
    Numbers that are already set stay.
    """
    for name, number in (
        ("spark.sql.leafNodeDefaultParallelism", spark.sparkContext.defaultParallelism),
        ("spark.sql.files.minPartitionNum", spark.conf.get("spark.sql.shuffle.partitions")),
    ):
        if spark.conf.get(name, None) is None:
            spark.conf.set(name, str(number))


def on_this_machine() -> bool:
    """Whether the workers are threads of this machine, and see its files."""
    return bool(session().sparkContext._jsc.sc().isLocal())


def _refusals() -> tuple[type[Exception], ...]:
    """The exceptions that Spark raises; an EngineError if Spark is not installed."""
    try:
        from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]
        from pyspark.errors import PySparkException
    except ImportError as error:
        raise _without("Spark is not installed: pip install 'tacit[spark]', or use {engine}") from error
    return PySparkException, Py4JJavaError


def _without(template: str) -> EngineError:
    return EngineError(sentence(template, engine=Setting("engine", "duckdb")))


@contextmanager
def reading(name: str) -> Iterator[None]:
    """Within it, an error of Spark, or of DuckDB on its behalf, becomes one line that names the source."""
    refusals = _refusals()
    try:
        with connections.reading(name):
            yield
    except refusals as error:
        # Spark repeats an address with its password, and whoever shows the cause of an error would show that.
        hidden = "://" in name or _WHOSE.search(str(error)) is not None
        raise _tacit_error(name, error) from (None if hidden else error)


def _tacit_error(name: str, error: Exception) -> TacitError:
    """What Spark raised, in one line."""
    message = str(error)
    if MOVED in message:
        return EngineError(f"the rows of {name} moved between two passes: cache or save the DataFrame")
    if own := re.search(_OWN, message):
        return next((kind for kind in _OF_WORKERS if kind.__name__ == own[1]), DataError)(own[2])
    if 'Cannot run program "' in message:
        return EngineError(
            "the workers of Spark cannot start Python: install it there, with Tacit, and set PYSPARK_PYTHON"
        )
    if "Mkdirs failed to create" in message:
        return SourceError(
            "the workers of Spark cannot write beside the release: choose a folder for it that they and the driver "
            "share, and may write to"
        )
    if re.search("FILE_NOT_EXIST|FileNotFoundException|AccessControlException|Permission denied", message):
        return SourceError(f"the workers of Spark cannot read {name}: give them a path that all of them see")
    if re.search(
        r"No FileSystem for scheme|UNSUPPORTED_FILE_SYSTEM|Class org\.apache\.hadoop\.fs\.\S+ not found", message
    ):
        scheme = name.partition("://")[0]
        return SourceError(f"Spark has no reader for {scheme}: addresses here; add its package to the session")
    if "UNABLE_TO_INFER_SCHEMA" in message:
        return SourceError(f"Spark finds no Parquet at {name}, which is all that it reads at an address: check it")
    if re.search("CANNOT_READ_FILE_FOOTER|is not a Parquet file", message):
        return SourceError(f"{name} holds a file that is not intact Parquet: write it again, or name the others")
    if "PATH_NOT_FOUND" in message:
        return SourceError(f"Spark finds nothing at {name}: check the address")
    if "PARQUET_COLUMN_DATA_TYPE_MISMATCH" in message:
        return DataError(f"the parts of {name} have columns of the same name and other types: give all the same types")
    if re.search("MALFORMED|FAILED_READ_FILE|CANNOT_PARSE|BadRecord", message):
        return DataError(f"{name} has a line or value Spark cannot read: fix it; DuckDB names the line")
    if re.search(r"TIMESTAMP\(NANOS|UNSUPPORTED_TIME_TYPE", message):
        # Spark has no times of day, and no instants finer than a millionth of a second.
        words = (
            "{name} has a column of times that Spark cannot read: save it as text or in microseconds, or use {engine}"
        )
        return EngineError(sentence(words, name=name, engine=Setting("engine", "duckdb")))
    # Before the cause, py4j names which of its own objects was called.
    lines = [
        line
        for line in message.splitlines()
        if line.strip() and not line.startswith(("An error occurred while", "An exception was"))
    ]
    first = _WHOSE.sub("", re.sub(r"\s+", " ", lines[0]))[:300] if lines else type(error).__name__
    return EngineError(f"Spark refused a query on {name}: {first}")
