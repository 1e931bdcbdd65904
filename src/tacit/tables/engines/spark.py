"""Spark behind the protocol of the engines: positions of rows in partitions, joins with small broadcast tables.

Joins with broadcast tables leave the big side's rows where they are; one file out of many parts is DuckDB's to write.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import DataError, EngineError, Setting, sentence
from tacit.tables.channels import BUCKET, KEPT, SHIFT_BITS, THRESHOLD, DrawTables, other_name, own_name
from tacit.tables.columns import ROW, plain_names
from tacit.tables.drawing import BITS, HEX_DIGITS
from tacit.tables.engines.duckdb import connections
from tacit.tables.engines.duckdb.sql import renamed, text
from tacit.tables.engines.protocol import Engine, Store
from tacit.tables.symbols import Symbols, level_text, positions_of

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa
    from pyspark.sql import Column, DataFrame, SparkSession

    from tacit.tables.engines.protocol import Partitions, Rows

# Spark takes a quoted empty cell for missing unless it is read as something else; no text holds this character.
_EMPTY = "\uffff"
# monotonically_increasing_id keeps the partition above these bits and the place in it below.
_PLACE_BITS = 33
_SYMBOL = "__tacit_symbol__"
_PLACE = "__tacit_place__"
_serial = count()


def session() -> SparkSession:
    """The running Spark session, or a local one."""
    _refusals()
    from pyspark.errors import PySparkRuntimeError
    from pyspark.sql import SparkSession

    running = SparkSession.getActiveSession()
    if running is not None:
        return running
    # Spark looks for an address of the machine, and says so at length, unless it is told one.
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    local = SparkSession.builder.appName("tacit").config("spark.ui.enabled", "false").config("spark.log.level", "ERROR")
    try:
        return local.config("spark.ui.showConsoleProgress", "false").getOrCreate()
    except (PySparkRuntimeError, FileNotFoundError) as error:
        raise _without("Spark could not start: it needs Java 17 or later; or use {engine}") from error


def _refusals() -> tuple[type[Exception], ...]:
    """What Spark raises; an EngineError if it is not there."""
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
    """Within it, what Spark, or DuckDB on its behalf, refuses becomes one line that names the source."""
    refusals = _refusals()
    try:
        with connections.reading(name):
            yield
    except refusals as error:
        message = str(error)
        if re.search("MALFORMED|FAILED_READ_FILE|CANNOT_PARSE|BadRecord", message):
            raise DataError(f"{name} has a line or value Spark cannot read: fix it; DuckDB names the line") from error
        if "tacit: rows moved" in message:
            raise EngineError(f"the rows of {name} moved between two passes: cache or save the DataFrame") from error
        first = re.sub(r"\s+", " ", message.splitlines()[0])[:300] if message else type(error).__name__
        raise EngineError(f"Spark refused a question about {name}: {first}") from error


def column(name: str) -> Column:
    """A column by its name, whatever is in it."""
    from pyspark.sql import functions as F

    return F.col(_quoted(name))


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _together(frames: Sequence[DataFrame], partitions: Partitions) -> DataFrame:
    """The rows of several files in their order, which a reader of all of them would not keep."""
    from functools import reduce

    from pyspark.sql import functions as F

    told = []
    for at, frame in enumerate(frames):
        for key, values in partitions.items():
            kind = "bigint" if any(isinstance(value, int) for value in values) else "string"
            frame = frame.drop(column(key)) if key in frame.columns else frame
            frame = frame.withColumn(key, F.lit(values[at]).cast(kind))
        told.append(frame)
    return reduce(lambda one, other: one.union(other), told)


class SparkEngine(Engine):
    """Files and frames on the running Spark session, or a local one."""

    name = "spark"
    title = "Spark"
    modules = ("pyspark",)
    frames = "Spark frame"

    def __init__(self, memory: str | None = None) -> None:
        super().__init__(memory)
        self._frame: DataFrame | None = None
        self._opened: DataFrame | None = None
        self._counts: list[int] | None = None

    def of_frame(self, frame: DataFrame) -> Rows:
        """A Spark DataFrame; its rows keep the order of its partitions."""
        from pyspark.sql import functions as F

        self._frame = frame
        self._opened = frame.withColumn(ROW, F.monotonically_increasing_id())
        return _lazy(self._opened)

    def pinned(self, rows: Rows) -> Rows:
        """Spark works rows out anew for every question: a plan that draws gives others each time."""
        if self._frame is not None and not self._frame._jdf.queryExecution().analyzed().deterministic():
            raise DataError(
                "the Spark frame draws anew each time it is read (rand() or the like): write it to a file first, "
                "and protect that"
            )
        return rows

    @staticmethod
    def frame_of(data: pa.Table, like: DataFrame) -> DataFrame:
        """A Spark DataFrame of the running session."""
        return _from_arrow(data)

    def of_arrow(self, data: Any) -> Rows:
        return self.of_frame(_from_arrow(data if hasattr(data, "num_columns") else data.to_table()))

    def of_csv(self, paths: Sequence[Path], names: Sequence[str], delimiter: str, partitions: Partitions) -> Rows:
        """Every cell as the text it is. A quoted cell may hold a line break, so a file is read in one piece."""
        spark = session()
        from pyspark.sql import functions as F
        from pyspark.sql.types import StringType, StructField, StructType

        def cells(path: Path) -> DataFrame:
            frame = spark.read.csv(
                _address(path),
                schema=StructType([StructField(name, StringType()) for name in names]),
                sep=delimiter,
                header=True,
                quote='"',
                escape='"',
                mode="FAILFAST",
                multiLine=True,
                enforceSchema=True,
                maxCharsPerColumn=-1,
                emptyValue=_EMPTY,
            )
            read = [F.when(column(n) == _EMPTY, "").otherwise(column(n)).alias(n) for n in names]
            return frame.select(*read)

        return self.of_frame(_together([cells(path) for path in paths], partitions))

    def of_parquet(self, paths: Sequence[Path], names: Sequence[str], partitions: Partitions) -> Rows:
        return self.of_frame(_together([session().read.parquet(_address(path)) for path in paths], partitions))

    def of_jsonl(self, paths: Sequence[Path], types: Mapping[str, str], partitions: Partitions) -> Rows:
        addresses = [_address(path) for path in paths]
        schema = session().read.json(addresses, mode="FAILFAST").select(*map(column, types)).schema
        frames = [session().read.json(address, mode="FAILFAST", schema=schema) for address in addresses]
        return self.of_frame(_together(frames, partitions))

    def schema(self, rows: Rows) -> dict[str, Any]:
        names = [name for name in rows.to_native().columns if name != ROW]
        plain = self.renamed(rows, names, plain_names(names))
        return dict(zip(names, plain.collect_schema().values(), strict=True))

    def reading(self, name: str) -> AbstractContextManager[None]:
        return reading(name)

    def renamed(self, rows: Rows, columns: Sequence[str], names: Sequence[str]) -> Rows:
        return _lazy(_renamed(rows.to_native(), columns, names))

    def indexed(self, rows: Rows) -> Rows:
        """Rows with their positions as 0, 1, 2, ... in the order of partitions and of rows within them.

        Guarantees
        ----------
        No two rows get one index: if the partitions are not those that were counted, the job fails.
        """
        from pyspark.sql import functions as F

        counts = self._partition_counts()
        offsets = [sum(counts[:at]) for at in range(len(counts))]
        partition = F.shiftright(column(ROW), _PLACE_BITS).cast("int")
        place = column(ROW).bitwiseAND(F.lit((1 << _PLACE_BITS) - 1))
        inside = place < F.coalesce(F.get(F.array(*map(F.lit, counts)), partition), F.lit(0))
        index = F.get(F.array(*(F.lit(offset).cast("bigint") for offset in offsets)), partition) + place
        checked = F.when(inside, index).otherwise(F.raise_error(F.lit("tacit: rows moved")).cast("bigint"))
        return _lazy(rows.to_native().withColumn(ROW, checked))

    def _partition_counts(self) -> list[int]:
        """The number of rows of each partition of what was opened, counted once."""
        if self._counts is None:
            from pyspark.sql import functions as F

            assert self._opened is not None
            partition = F.shiftright(column(ROW), _PLACE_BITS).alias("p")
            counted = self._opened.select(partition).groupBy("p").count().collect()
            counts = [0] * (1 + max((row["p"] for row in counted), default=0))
            for row in counted:
                counts[row["p"]] = row["count"]
            self._counts = counts
        return self._counts

    def held(self, rows: Rows) -> Rows:
        import narwhals as nw

        held: Rows = nw.from_native(rows.to_native().cache())
        return held

    def collected(self, rows: Rows) -> pa.Table:
        return rows.collect("pyarrow").to_native()

    def batches(self, rows: Rows, names: Sequence[str], size: int) -> Iterator[pa.RecordBatch]:
        with self.spooled(rows, [*names, ROW]) as relation:
            in_order = renamed(relation.order(f'"{ROW}"'), names, names)
            with in_order.to_arrow_reader(size) as reader:
                yield from reader

    def valued(self, rows: Rows, symbols: Symbols, values: Mapping[str, NDArray[Any]], unseen: float | None) -> Rows:
        import pyarrow as pa
        from pyspark.sql import functions as F

        frame = rows.to_native()
        hidden = {f"__tacit_v{at}__": pa.array(array) for at, array in enumerate(values.values())}
        looked_up = _beside_symbols(_with_symbol(frame, symbols), hidden)
        filled = [F.col(name) if unseen is None else F.coalesce(F.col(name), F.lit(float(unseen))) for name in hidden]
        new = [value.alias(name) for name, value in zip(values, filled, strict=True)]
        kept = [column(name) for name in frame.columns if name != ROW]
        return _lazy(looked_up.select(*kept, *new, column(ROW)))

    def found(self, rows: Rows, lists: Mapping[str, Sequence[Any]]) -> Rows:
        frame = rows.to_native()
        names = frame.columns
        for at, (name, levels) in enumerate(lists.items()):
            symbols = Symbols((name,), (tuple(levels),), np.arange(len(levels)))
            frame = _with_symbol(frame, symbols).withColumnRenamed(_SYMBOL, f"__tacit_f{at}__")
        places = {name: f"__tacit_f{at}__" for at, name in enumerate(lists)}
        return _lazy(frame.select(*(column(places.get(name, name)).alias(name) for name in names)))

    def labelled(self, rows: Rows, number: str, texts: Mapping[str, Sequence[str | None]]) -> Rows:
        import pyarrow as pa

        frame = rows.to_native()
        hidden = {f"__tacit_v{at}__": pa.array(words, pa.string()) for at, words in enumerate(texts.values())}
        looked_up = _beside_symbols(frame.select("*", column(number).alias(_SYMBOL)), hidden)
        new = {name: column(at).alias(name) for name, at in zip(texts, hidden, strict=True)}
        kept = [name for name in frame.columns if name != ROW]
        added = [value for name, value in new.items() if name not in kept]
        return _lazy(looked_up.select(*(new.get(name, column(name)) for name in kept), *added, column(ROW)))

    def redrawn(self, rows: Rows, symbols: Symbols, draws: DrawTables, key: str) -> Rows:
        import pyarrow as pa
        from pyspark.sql import functions as F

        frame = rows.to_native()
        placed = _beside_symbols(_with_symbol(frame, symbols), {"__tacit_p__": pa.array(draws.place)})
        placed = placed.withColumn(_PLACE, F.coalesce(F.col("__tacit_p__"), F.lit(draws.unseen)))
        with_outputs, outputs = self._with_outputs(placed, symbols, draws, key)
        new = []
        for name in frame.columns:
            value = column(name)
            if name in symbols.columns:
                kind = with_outputs.schema[name].dataType
                # Kept cells are written as counted: NaN against missing, -0.0 against 0.0, would be side doors.
                kept = _counted(name, kind)
                value = F.when(F.col(_PLACE) == KEPT, kept).otherwise(outputs[name].cast(kind))
            new.append(value.alias(name))
        return _lazy(with_outputs.select(*new))

    def _with_outputs(
        self, frame: DataFrame, symbols: Symbols, draws: DrawTables, key: str
    ) -> tuple[DataFrame, dict[str, Column]]:
        """The frame joined with the bucket of each row that is drawn, and each column's drawn value as text."""
        from pyspark.sql import functions as F

        index = self.indexed(_lazy(frame.select("*", column(ROW).alias("__tacit_at__"))))
        digits = F.substring(F.sha2(F.concat(F.lit(key), column(ROW).cast("string")), 256), 1, HEX_DIGITS)
        drawn, shift = F.col(_PLACE) != KEPT, F.col(_PLACE).bitwiseAND(F.lit((1 << SHIFT_BITS) - 1)).cast("int")
        # A table of a single bucket has a single output, which takes no chance.
        bits = F.when(drawn & (shift < BITS), F.conv(digits, 16, 10)).when(drawn, F.lit("0")).cast("bigint")
        hashed = index.to_native().withColumn("__tacit_bits__", bits)
        cell = F.call_function("shiftright", F.col("__tacit_bits__"), shift)
        hashed = hashed.withColumn("__tacit_bucket__", F.when(drawn, F.shiftright(F.col(_PLACE), SHIFT_BITS) + cell))
        small = F.broadcast(session().createDataFrame(draws.written(symbols)))
        joined = hashed.join(small, F.col("__tacit_bucket__") == F.col(BUCKET), "left")
        rest = F.col("__tacit_bits__") - F.call_function("shiftleft", cell, shift)
        own = rest < F.col(THRESHOLD)
        outputs = {
            name: F.when(own, F.col(own_name(at))).otherwise(F.col(other_name(at)))
            for at, name in enumerate(symbols.columns)
        }
        # The hidden position goes on as it came, for a later step may ask for the index again.
        return joined.withColumn(ROW, F.col("__tacit_at__")), outputs

    @contextmanager
    def spooled(self, rows: Rows, names: Sequence[str]) -> Iterator[duckdb.DuckDBPyRelation]:
        """Some columns in order as a DuckDB relation, by way of a directory of parts that Spark writes side by side.

        The directory must be visible to the driver and its workers alike.
        """
        place = Path(tempfile.mkdtemp(prefix="tacit-spool-"))
        try:
            plain = plain_names(names)
            frame = _renamed(rows.to_native(), names, plain)
            frame.write.mode("overwrite").parquet(_address(place))
            parts = sorted(place.glob("part-*.parquet"), key=_part_number)
            listed = ", ".join(text(part) for part in parts)
            # Spark writes instants without saying that they are in UTC.
            instants = [name for name, kind in frame.dtypes if kind == "timestamp"]
            mended = ", ".join(f"{name}::TIMESTAMPTZ AS {name}" for name in instants)
            kept = f"* REPLACE ({mended})" if instants else "*"
            connection = connections.connect(memory=self.memory)
            yield renamed(connection.sql(f"SELECT {kept} FROM read_parquet([{listed}])"), plain, names)
        finally:
            shutil.rmtree(place, ignore_errors=True)

    def store(self, name: str = "the records") -> SparkStore:
        return SparkStore(name)


def _lazy(frame: DataFrame) -> Rows:
    import narwhals as nw

    rows: Rows = nw.from_native(frame)
    return rows


def _address(path: Path) -> str:
    return f"file:{path.resolve()}"


def _renamed(frame: DataFrame, columns: Sequence[str], names: Sequence[str]) -> DataFrame:
    return frame.select(*(column(old).alias(new) for old, new in zip(columns, names, strict=True)))


def _from_arrow(data: pa.Table) -> DataFrame:
    """An Arrow table on Spark; times without a zone stay without one."""
    import pyarrow as pa

    frame = session().createDataFrame(data.rename_columns(plain_names(data.schema)))
    columns = []
    for field, at in zip(data.schema, frame.columns, strict=True):
        plain = pa.types.is_timestamp(field.type) and field.type.tz is None
        columns.append((column(at).cast("timestamp_ntz") if plain else column(at)).alias(field.name))
    return frame.select(*columns)


def _part_number(path: Path) -> tuple[int, str]:
    number = re.match(r"part-(\d+)", path.name)
    return int(number[1]) if number else 0, path.name


def _with_symbol(frame: DataFrame, symbols: Symbols) -> DataFrame:
    """The frame with the number of each row's symbol, null where it was never seen."""
    import pyarrow as pa
    from pyspark.sql import functions as F

    keys, lookup, known = [], {}, np.ones(len(symbols), bool)
    for c, (name, levels) in enumerate(zip(symbols.columns, symbols.levels, strict=True)):
        kind = frame.schema[name].dataType
        labels, position = positions_of(levels, _as_stored([level_text(level) for level in levels], kind))
        at = position[symbols.codes[:, c]]
        known &= at >= 0
        named = np.array([*labels, None, None], dtype=object)  # null's own position, then -1
        lookup[f"__tacit_k{c}__"] = pa.array(named[at], pa.string())
        keys.append(_counted(name, kind).cast("string").alias(f"__tacit_r{c}__"))
    table = pa.table(lookup | {_SYMBOL: pa.array(np.arange(len(symbols)))}).filter(pa.array(known))
    small = F.broadcast(session().createDataFrame(table))
    big = frame.select("*", *keys)
    matches = [big[f"__tacit_r{c}__"].eqNullSafe(small[f"__tacit_k{c}__"]) for c in range(len(keys))]
    joined = big.join(small, matches, "left")
    return joined.select(*(column(name) for name in frame.columns), _SYMBOL)


def _counted(name: str, kind: Any) -> Column:
    """A cell as it is counted: NaN is missing, -0.0 is 0.0."""
    from pyspark.sql import functions as F
    from pyspark.sql.types import DoubleType, FloatType

    value = column(name)
    if isinstance(kind, DoubleType | FloatType):
        return F.when(F.isnan(value), None).when(value == 0, F.lit(0).cast(kind)).otherwise(value)
    return value


def _as_stored(written: list[str | None], kind: Any) -> list[str | None]:
    import pyarrow as pa
    from pyspark.sql import functions as F
    from pyspark.sql.types import StringType

    if isinstance(kind, StringType) or not written:
        return written
    small = session().createDataFrame(
        pa.table({"i": pa.array(range(len(written))), "v": pa.array(written, pa.string())})
    )
    stored = small.select("i", F.col("v").try_cast(kind).cast("string").alias("v")).orderBy("i").toArrow()
    return stored.column("v").to_pylist()  # type: ignore[no-any-return]


def _beside_symbols(frame: DataFrame, values: Mapping[str, pa.Array]) -> DataFrame:
    """The frame with the entry of each row's symbol; null where it was never seen."""
    import pyarrow as pa
    from pyspark.sql import functions as F

    size = len(next(iter(values.values())))
    small = session().createDataFrame(pa.table({"__tacit_s__": pa.array(np.arange(size)), **values}))
    return frame.join(F.broadcast(small), F.col(_SYMBOL) == F.col("__tacit_s__"), "left").drop("__tacit_s__")


class SparkStore(Store):
    """Temporary views of frames that Spark has computed and keeps."""

    engine = "spark"
    local = False

    def __init__(self, name: str = "the records") -> None:
        self._name = name
        self._spark = session()

    def run(self, query: str) -> None:
        with reading(self._name):
            self._spark.sql(query)

    def _hold(self, frame: DataFrame) -> str:
        # The session sees all views, so that each has a name of its own.
        name = f"tacit_store_{next(_serial)}"
        # A checkpoint also cuts the plan, which would otherwise grow with every round.
        frame.localCheckpoint().createOrReplaceTempView(name)
        return name

    def make(self, query: str) -> str:
        with reading(self._name):
            return self._hold(self._spark.sql(query))

    def load(self, data: Any) -> str:
        import pyarrow as pa

        with reading(self._name):
            if isinstance(data, pa.RecordBatchReader):
                data = data.read_all()
            return self._hold(_from_arrow(data) if isinstance(data, pa.Table) else data)

    def ask(self, query: str) -> pa.Table:
        with reading(self._name):
            return self._spark.sql(query).toArrow()

    def drop(self, *names: str) -> None:
        for name in names:
            self._spark.catalog.dropTempView(name)

    def hashed(self, *terms: str) -> str:
        return f"xxhash64({', '.join(terms)})"

    def identifier(self, name: str) -> str:
        return _quoted(name)

    def text(self, value: str) -> str:
        return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
