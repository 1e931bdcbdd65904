"""Spark behind the protocol of the engines: positions of rows in partitions, joins with small broadcast tables.

Joins with broadcast tables leave the big side's rows in place; writing one file out of many parts is left to DuckDB.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from itertools import accumulate
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary, finalize

import numpy as np
from numpy.typing import NDArray

from tacit.errors import DataError, Setting, SourceError, sentence
from tacit.tables.channels import DrawTables
from tacit.tables.columns import ROW, plain_names
from tacit.tables.engines.duckdb import connections
from tacit.tables.engines.duckdb.sql import renamed
from tacit.tables.engines.protocol import Engine
from tacit.tables.engines.spark.addresses import parquet_at
from tacit.tables.engines.spark.drawing import NUMBER, drawn_numbers, redrawn
from tacit.tables.engines.spark.lookups import at_place, column, from_arrow, with_symbol
from tacit.tables.engines.spark.numbering import FEW, SOME, numbered_on_workers
from tacit.tables.engines.spark.parts import copied, write_parts
from tacit.tables.engines.spark.sessions import MOVED, keep_partitions, on_this_machine, reading, session
from tacit.tables.engines.spark.spelling import SpelledRows, spelled_labels, spelled_symbols
from tacit.tables.engines.spark.store import SparkStore
from tacit.tables.engines.spark.streams import streamed
from tacit.tables.symbols import Symbols

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa
    from pyspark.sql import Column, DataFrame

    from tacit.tables.engines.protocol import Partitions, RowNumber, Rows

# Spark takes a quoted empty cell for missing unless it is read as something else; no text holds this character.
_EMPTY = "\uffff"
# monotonically_increasing_id keeps the partition above these bits and the place in it below.
_PLACE_BITS = 33
_KEPT = "__tacit_kept__"


def _together(frames: Sequence[DataFrame], partitions: Partitions) -> DataFrame:
    """The rows of several files in their order, which Spark would not keep if it read all of them at once."""
    from functools import reduce

    from pyspark.sql import functions as F

    parts = []
    for at, frame in enumerate(frames):
        for key, values in partitions.items():
            kind = "bigint" if any(isinstance(value, int) for value in values) else "string"
            frame = frame.drop(column(key)) if key in frame.columns else frame
            frame = frame.withColumn(key, F.lit(values[at]).cast(kind))
        parts.append(frame)
    return reduce(lambda one, other: one.union(other), parts)


class SparkEngine(Engine):
    """Files and frames on the running Spark session, or a local one."""

    name = "spark"
    title = "Spark"
    modules = ("pyspark",)
    frames = "Spark frame"
    addresses = True
    has_workers = True

    def __init__(self, memory: str | None = None) -> None:
        super().__init__(memory)
        self._frame: DataFrame | None = None
        self._opened: DataFrame | None = None
        self._counts: list[int] | None = None
        # Whether positions are 0, 1, 2, ... already.
        self._numbered = False
        # The number of rows of each row group of the files, where they have any.
        self._groups: tuple[int, ...] = ()
        # Frames of texts that follow from a number for each row.
        self._spelled: WeakKeyDictionary[DataFrame, SpelledRows] = WeakKeyDictionary()

    @property
    def is_here(self) -> bool:
        return on_this_machine()

    def of_frame(self, frame: DataFrame) -> Rows:
        """A Spark DataFrame; its rows keep the order of its partitions."""
        from pyspark.sql import functions as F

        keep_partitions(frame.sparkSession)
        self._frame, self._numbered = frame, False
        self._opened = frame.withColumn(ROW, F.monotonically_increasing_id())
        return _lazy(self._opened)

    def pinned(self, rows: Rows) -> Rows:
        """Spark computes rows anew for every question: a plan that draws at random gives different ones each time."""
        if self._frame is not None and not self._frame._jdf.queryExecution().analyzed().deterministic():
            raise DataError(
                "the Spark frame draws anew each time it is read (rand() or the like): write it to a file first, "
                "and protect that"
            )
        return rows

    @staticmethod
    def frame_of(data: pa.Table, like: DataFrame) -> DataFrame:
        """A Spark DataFrame of the running session."""
        return from_arrow(data)

    def of_arrow(self, data: Any) -> Rows:
        return self.of_frame(from_arrow(data if hasattr(data, "num_columns") else data.to_table()))

    def of_csv(self, paths: Sequence[Path], names: Sequence[str], delimiter: str, partitions: Partitions) -> Rows:
        """Every cell as text, unchanged. A quoted cell may hold a line break, so a file is read in one piece."""
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
        """Parquet files, whose row groups are remembered: a release is written in the same ones.

        A row's position is its index in its file, whatever partition it is read in.
        """
        import pyarrow.parquet as pq
        from pyspark.sql import functions as F

        papers = [pq.read_metadata(path) for path in paths]
        self._groups = tuple(paper.row_group(at).num_rows for paper in papers for at in range(paper.num_row_groups))
        keep_partitions(session())
        frames, before = [], 0
        for path, paper in zip(paths, papers, strict=True):
            frame = session().read.parquet(_address(path))
            place = frame.metadataColumn("_metadata").getField("row_index")
            frames.append(frame.select("*", (place + F.lit(before)).alias(ROW)))
            before += paper.num_rows
        self._numbered = True
        together = _together(frames, partitions)
        return _lazy(together.select(*(column(name) for name in together.columns if name != ROW), column(ROW)))

    def of_address(self, address: str) -> tuple[Rows, tuple[str, ...]]:
        """Parquet at any address that the session has a reader for, in Spark's own order of the files."""
        frame, folders = parquet_at(address)
        return self.of_frame(frame), folders

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
        frame = rows.to_native()
        other = _renamed(frame, columns, names)
        if frame in self._spelled:
            # The positions stay with the rows, whether they are among the columns or not.
            pairs = [pair for pair in zip(columns, names, strict=True) if pair[0] != ROW]
            spelled = self._spelled[frame].renamed([old for old, _ in pairs], [new for _, new in pairs])
            if spelled is not None:
                self._spelled[other] = spelled
        return _lazy(other)

    def indexed(self, rows: Rows) -> Rows:
        """Rows with their positions as 0, 1, 2, ... in the order of partitions and of rows within them.

        Guarantees
        ----------
        No two rows get the same index: if the partitions are not those that were counted, the job fails.
        """
        return _lazy(rows.to_native().withColumn(ROW, self._index()))

    def _index(self) -> Column:
        """The index of a row, from its position; the job fails if its partition is not the one that was counted."""
        from pyspark.sql import functions as F

        if self._numbered:
            return column(ROW)
        counts = self._partition_counts()
        partition = F.shiftright(column(ROW), _PLACE_BITS).cast("int")
        place = column(ROW).bitwiseAND(F.lit((1 << _PLACE_BITS) - 1))
        inside = place < F.coalesce(F.get(_whole_numbers(counts), partition), F.lit(0))
        index = F.get(_whole_numbers([0, *accumulate(counts)]), partition) + place
        return F.when(inside, index).otherwise(F.raise_error(F.lit(MOVED)).cast("bigint"))

    def where(self, rows: Rows, wanted: Any) -> Rows:
        import narwhals as nw

        # The rows keep their places in their partitions, by which they are indexed.
        placed = self.indexed(rows.with_columns(nw.col(ROW).alias(_KEPT)))
        return placed.filter(wanted).with_columns(nw.col(_KEPT).alias(ROW)).drop(_KEPT)

    def _partition_counts(self) -> list[int]:
        """The number of rows of each partition of what was opened, counted once."""
        if self._counts is None:
            from pyspark.sql import functions as F

            assert self._opened is not None
            partition = F.shiftright(column(ROW), _PLACE_BITS).alias("p")
            rows = self._opened.select(partition).groupBy("p").count().collect()
            counts = [0] * (1 + max((row["p"] for row in rows), default=0))
            for row in rows:
                counts[row["p"]] = row["count"]
            self._counts = counts
        return self._counts

    def held(self, rows: Rows) -> Rows:
        import narwhals as nw

        cached: Rows = nw.from_native(rows.to_native().cache())
        return cached

    def collected(self, rows: Rows) -> pa.Table:
        return rows.collect("pyarrow").to_native()

    def batches(self, rows: Rows, names: Sequence[str], size: int) -> Iterator[pa.RecordBatch]:
        with self.spooled(rows, names) as relation, relation.to_arrow_reader(size) as reader:
            yield from reader

    def valued(self, rows: Rows, symbols: Symbols, values: Mapping[str, NDArray[Any]], unseen: float | None) -> Rows:
        import pyarrow as pa
        from pyspark.sql import functions as F

        frame = rows.to_native()
        hidden = {f"__tacit_v{at}__": pa.array(array) for at, array in enumerate(values.values())}
        looked_up = with_symbol(frame, symbols, hidden)
        filled = [F.col(name) if unseen is None else F.coalesce(F.col(name), F.lit(float(unseen))) for name in hidden]
        new = [value.alias(name) for name, value in zip(values, filled, strict=True)]
        kept = [column(name) for name in frame.columns if name != ROW]
        return _lazy(looked_up.select(*kept, *new, column(ROW)))

    def found(self, rows: Rows, lists: Mapping[str, Sequence[Any]]) -> Rows:
        import pyarrow as pa

        frame = rows.to_native()
        names = frame.columns
        for at, (name, levels) in enumerate(lists.items()):
            every = np.arange(len(levels))
            frame = with_symbol(frame, Symbols((name,), (tuple(levels),), every), {f"__tacit_f{at}__": pa.array(every)})
        places = {name: f"__tacit_f{at}__" for at, name in enumerate(lists)}
        return _lazy(frame.select(*(column(places.get(name, name)).alias(name) for name in names)))

    def numbered(
        self, rows: Rows, columns: Sequence[str], number: RowNumber, name: str, sizes: Sequence[int] | None
    ) -> Rows | None:
        """By a list of all combinations, if few are possible; otherwise, if many occur, by Python on the workers.

        None in between: the caller counts the combinations that occur, and looks up their numbers.
        """
        import pyarrow as pa
        from pyspark.sql import functions as F

        frame = rows.to_native()
        others = [column(each) for each in frame.columns if each not in columns and each != ROW]
        if sizes is not None and prod(sizes) <= FEW:
            place = F.lit(0).cast("bigint")
            for each, size in zip(columns, sizes, strict=True):
                place = place * size + column(each)
            every = number(np.stack(np.unravel_index(np.arange(prod(sizes)), sizes), axis=1)).astype(np.int64)
            looked_up = at_place(frame, place, {"__tacit_v__": pa.array(every)})
            return _lazy(looked_up.select(*others, F.col("__tacit_v__").alias(name), column(ROW)))
        distinct = frame.select(F.approx_count_distinct(F.hash(*map(column, columns)))).head()
        if distinct is None or distinct[0] <= SOME:
            return None
        numbered_frame = numbered_on_workers(frame, columns, number, name)
        # A value without a number must be reported now.
        numbered_frame.count()
        finalize(self, _let_go, numbered_frame).atexit = False
        return _lazy(numbered_frame)

    def labelled(self, rows: Rows, number: str, texts: Mapping[str, Sequence[str | None]]) -> Rows:
        import pyarrow as pa

        frame = rows.to_native()
        hidden = {f"__tacit_v{at}__": pa.array(words, pa.string()) for at, words in enumerate(texts.values())}
        looked_up = at_place(frame, column(number), hidden)
        new = {name: column(at).alias(name) for name, at in zip(texts, hidden, strict=True)}
        kept = [name for name in frame.columns if name != ROW]
        added = [value for name, value in new.items() if name not in kept]
        with_texts = looked_up.select(*(new.get(name, column(name)) for name in kept), *added, column(ROW))
        self._spelled[with_texts] = spelled_labels(frame, number, texts)
        return _lazy(with_texts)

    def redrawn(
        self, rows: Rows, symbols: Symbols, draws: DrawTables, key: str, texts: Mapping[str, Sequence[str]]
    ) -> Rows:
        frame = rows.to_native()
        drawn = redrawn(frame, symbols, draws, key, self._index)
        names = [name for name in frame.columns if name != ROW]
        if {*names} == {*symbols.columns} and all(drawn.schema[name].dataType.typeName() == "string" for name in names):
            numbers = drawn_numbers(frame, symbols, draws, key, self._index)
            self._spelled[drawn] = spelled_symbols(numbers, NUMBER, symbols, names)
        return _lazy(drawn)

    @contextmanager
    def spooled(self, rows: Rows, names: Sequence[str]) -> Iterator[duckdb.DuckDBPyRelation]:
        """Some columns in order as a DuckDB relation that can be read once: its rows stream through this process."""
        plain, frame = plain_names(names), rows.to_native()
        spelled = self._spelled[frame].renamed(names, plain) if frame in self._spelled else None
        shown = _renamed(frame, names, plain) if spelled is None else spelled.numbers()
        with streamed(shown, self._groups, spelled) as reader:
            yield renamed(connections.connect(memory=self.memory).from_arrow(reader), plain, names)

    def rows_of_partitions(self) -> list[int] | None:
        return None if self._opened is None else self._partition_counts()

    def write_parts(self, rows: Rows, names: Sequence[str], folder: Path, codec: str) -> None:
        write_parts(rows.to_native(), names, _target(folder), codec)

    def copy_parts(self, paths: Sequence[Path], folder: Path, codec: str) -> None:
        # The types of the first serve for all: a part with others cannot come out as the same bytes.
        schema = session().read.parquet(_address(paths[0])).schema
        together = copied([session().read.parquet(_address(path), schema=schema) for path in paths])
        write_parts(together, together.columns, _target(folder), codec)

    def store(self, name: str = "the records") -> SparkStore:
        return SparkStore(name)


def _let_go(frame: DataFrame) -> None:
    """Drop what the workers keep of a frame, unless its session has already ended."""
    if frame.sparkSession.sparkContext._jsc is not None:
        frame.unpersist()


def _lazy(frame: DataFrame) -> Rows:
    import narwhals as nw

    rows: Rows = nw.from_native(frame)
    return rows


def _address(path: Path) -> str:
    """The address of a file of this machine; workers elsewhere may see it too, unless it is a private copy.

    Spark takes an address for a pattern, and would read another file, b1.csv for b[1].csv; and it would read a hidden
    file as an empty one.
    """
    if connections.is_private(path) and not on_this_machine():
        raise SourceError(
            "a copy that was made for this run is on the driver, where the workers of Spark cannot see it: give them a "
            "plain file or Parquet at a path that all of them see, or a Spark frame"
        )
    whole = path.resolve()
    hidden = whole.name.startswith((".", "_"))
    if hidden or ":" in whole.name:
        why = "begins with a dot or an underscore" if hidden else "has a colon"
        words = "Spark does not read {path}, because its name {why}: rename it, or use {engine}"
        raise SourceError(sentence(words, path=path, why=why, engine=Setting("engine", "duckdb")))
    return "file:" + re.sub(r"([\\\[\]{}*?])", r"\\\1", str(whole))


def _target(folder: Path) -> str:
    """The address of a folder of this machine to write to, which Spark takes as it is."""
    return f"file:{folder.resolve()}"


def _whole_numbers(numbers: Sequence[int]) -> Column:
    """A list of numbers in one expression: separate literals would each be a call to Java."""
    from pyspark.sql import functions as F

    return F.expr(f"array({', '.join(f'{number}L' for number in numbers)})")


def _renamed(frame: DataFrame, columns: Sequence[str], names: Sequence[str]) -> DataFrame:
    return frame.select(*(column(old).alias(new) for old, new in zip(columns, names, strict=True)))
