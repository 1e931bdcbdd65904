"""Spark's native corner: sessions, what its errors mean, row positions, and one file out of many parts."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.errors import DataError, EngineError
from tacit.tables import duckdb_engine
from tacit.tables.table import ROW, Table

if TYPE_CHECKING:
    import duckdb
    import narwhals as nw
    import pyarrow as pa
    from pyspark.sql import Column, DataFrame, SparkSession

# Spark takes a quoted empty cell for missing unless it is read as something else; no text holds this character.
_EMPTY = "\uffff"
# monotonically_increasing_id keeps the partition above these bits and the place in it below.
_PLACE_BITS = 33


def session() -> SparkSession:
    """The running Spark session, or a local one."""
    try:
        from pyspark.errors import PySparkRuntimeError
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise EngineError("Spark is not installed: pip install 'tacit[spark]', or use --engine duckdb") from error
    running = SparkSession.getActiveSession()
    if running is not None:
        return running
    # Spark looks for an address of the machine, and says so at length, unless it is told one.
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    local = SparkSession.builder.appName("tacit").config("spark.ui.enabled", "false").config("spark.log.level", "ERROR")
    try:
        return local.config("spark.ui.showConsoleProgress", "false").getOrCreate()
    except (PySparkRuntimeError, FileNotFoundError) as error:
        raise EngineError("Spark could not start: it needs Java 17 or later; or use --engine duckdb") from error


@contextmanager
def reading(name: str) -> Iterator[None]:
    """Within it, what Spark refuses becomes one line that names the source."""
    from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JJavaError) as error:
        message = str(error)
        if re.search("MALFORMED|FAILED_READ_FILE|CANNOT_PARSE|BadRecord", message):
            raise DataError(f"{name} has a line or value Spark cannot read: mend it; DuckDB names the line") from error
        if "tacit: rows moved" in message:
            raise EngineError(f"the rows of {name} moved between two passes: cache or save the DataFrame") from error
        first = re.sub(r"\s+", " ", message.splitlines()[0])[:300] if message else type(error).__name__
        raise EngineError(f"Spark refused a question about {name}: {first}") from error


def column(name: str) -> Column:
    """A column by its name, whatever is in it."""
    from pyspark.sql import functions as F

    return F.col("`" + name.replace("`", "``") + "`")


def renamed(frame: DataFrame, columns: Sequence[str], names: Sequence[str]) -> DataFrame:
    """Some columns of a frame under other names."""
    return frame.select(*(column(old).alias(new) for old, new in zip(columns, names, strict=True)))


class Positions:
    """How many rows each partition of a frame has, counted once, when an index is first asked for."""

    def __init__(self, frame: DataFrame) -> None:
        self._frame = frame
        self._counts: list[int] | None = None

    def counts(self) -> list[int]:
        """The number of rows of each partition, in order."""
        if self._counts is None:
            from pyspark.sql import functions as F

            partition = F.shiftright(column(ROW), _PLACE_BITS).alias("p")
            found = self._frame.select(partition).groupBy("p").count().collect()
            counts = [0] * (1 + max((row["p"] for row in found), default=0))
            for row in found:
                counts[row["p"]] = row["count"]
            self._counts = counts
        return self._counts


def indexed(rows: nw.LazyFrame[Any], positions: Positions) -> nw.LazyFrame[Any]:
    """Rows with their positions as 0, 1, 2, ... in the order of partitions and of rows within them.

    Guarantees
    ----------
    No two rows get one index: if the partitions are not those that were counted, the job fails.
    """
    import narwhals as nw
    from pyspark.sql import functions as F

    counts = positions.counts()
    offsets = [sum(counts[:at]) for at in range(len(counts))]
    partition = F.shiftright(column(ROW), _PLACE_BITS).cast("int")
    place = column(ROW).bitwiseAND(F.lit((1 << _PLACE_BITS) - 1))
    inside = place < F.coalesce(F.get(F.array(*map(F.lit, counts)), partition), F.lit(0))
    index = F.get(F.array(*(F.lit(offset).cast("bigint") for offset in offsets)), partition) + place
    checked = F.when(inside, index).otherwise(F.raise_error(F.lit("tacit: rows moved")).cast("bigint"))
    done: nw.LazyFrame[Any] = nw.from_native(nw.to_native(rows).withColumn(ROW, checked))
    return done


def open_frame(frame: DataFrame, name: str = "the Spark frame", **origin: Any) -> Table:
    """A Spark DataFrame as a table; its rows keep the order of its partitions."""
    import narwhals as nw
    from pyspark.sql import functions as F

    from tacit.tables.sources import check_names, columns_of

    check_names(frame.columns, name)
    with reading(name):
        placed = frame.withColumn(ROW, F.monotonically_increasing_id())
        plain = [f"c{at}" for at in range(len(frame.columns))]
        typed = columns_of(nw.from_native(frame.toDF(*plain)))
    kinds = origin.pop("kinds", ()) or [one.kind for one in typed]
    from tacit.tables.table import Column

    columns = tuple(
        Column(named, kind, one.dtype) for named, kind, one in zip(frame.columns, kinds, typed, strict=True)
    )
    rows = nw.from_native(placed)
    origin.setdefault("format", "frame")
    return Table(rows, name, columns, engine="spark", positions=Positions(placed), **origin)


def open_path(path: Path, format: str, delimiter: str | None) -> Table:
    """A file read by Spark. DuckDB looks at its layout first, so that both engines see the same columns."""
    from tacit.tables.sources import open_table

    if format == "duckdb":
        raise EngineError(f"{path} is a DuckDB database, which Spark cannot read: use --engine duckdb")
    plain = open_table(path, delimiter=delimiter)
    session()  # says in one line if Spark is not there
    from pyspark.sql import functions as F

    spark, address = session(), f"file:{path.resolve()}"
    with reading(str(path)):
        if format == "csv":
            # A quoted cell may hold a line break, so the file is read in one piece.
            frame = spark.read.csv(
                address,
                schema=_all_text(plain.names),
                sep=plain.delimiter,
                header=True,
                quote='"',
                escape='"',
                mode="FAILFAST",
                multiLine=True,
                enforceSchema=True,
                maxCharsPerColumn=-1,
                emptyValue=_EMPTY,
            )
            whole = [F.when(column(n) == _EMPTY, "").otherwise(column(n)).alias(n) for n in plain.names]
            frame = frame.select(*whole)
        elif format == "jsonl":
            frame = spark.read.json(address, mode="FAILFAST").select(*(column(name) for name in plain.names))
        elif format == "parquet":
            frame = spark.read.parquet(address)
        else:
            frame = from_arrow(plain.frame.collect("pyarrow").to_native())
    kinds = [one.kind for one in plain.columns]
    origin = {"format": plain.format, "path": path, "delimiter": plain.delimiter, "codec": plain.codec}
    return open_frame(frame, str(path), kinds=kinds, **origin)


def from_arrow(data: pa.Table) -> DataFrame:
    """An Arrow table on Spark; times without a zone stay without one."""
    import pyarrow as pa

    frame = session().createDataFrame(data.rename_columns([f"c{at}" for at in range(data.num_columns)]))
    columns = []
    for field, at in zip(data.schema, frame.columns, strict=True):
        plain = pa.types.is_timestamp(field.type) and field.type.tz is None
        columns.append((column(at).cast("timestamp_ntz") if plain else column(at)).alias(field.name))
    return frame.select(*columns)


def _all_text(names: Sequence[str]) -> Any:
    from pyspark.sql.types import StringType, StructField, StructType

    return StructType([StructField(name, StringType()) for name in names])


@contextmanager
def spooled(table: Table) -> Iterator[duckdb.DuckDBPyRelation]:
    """The rows in order as a DuckDB relation, by way of a directory of parts that Spark writes side by side.

    The directory must be visible to the driver and its workers alike.
    """
    import narwhals as nw

    place = Path(tempfile.mkdtemp(prefix="tacit-spool-"))
    try:
        plain = [f"c{at}" for at in range(len(table.columns))]
        frame = renamed(nw.to_native(table.rows), table.names, plain)
        with reading(table.name):
            frame.write.mode("overwrite").parquet(f"file:{place}")
        parts = sorted(place.glob("part-*.parquet"), key=_part_number)
        listed = ", ".join(duckdb_engine.text(part) for part in parts)
        # Spark writes instants without saying that they are in UTC.
        instants = [name for name, kind in frame.dtypes if kind == "timestamp"]
        mended = ", ".join(f"{name}::TIMESTAMPTZ AS {name}" for name in instants)
        kept = f"* REPLACE ({mended})" if instants else "*"
        source = duckdb_engine.connect().sql(f"SELECT {kept} FROM read_parquet([{listed}])")
        yield duckdb_engine.renamed(source, plain, table.names)
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _part_number(path: Path) -> tuple[int, str]:
    found = re.match(r"part-(\d+)", path.name)
    return int(found[1]) if found else 0, path.name
