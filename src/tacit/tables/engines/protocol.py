"""What an engine must do. A new engine is one file with a class of this kind, and one line in the registry."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from tacit.errors import EngineError, Setting, sentence

if TYPE_CHECKING:
    import duckdb
    import narwhals as nw
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from tacit.tables.channels import DrawTables
    from tacit.tables.engines.coarsening import Coarsening
    from tacit.tables.symbols import Symbols

    Rows = nw.LazyFrame[Any]
    # A number for each row of whole numbers (rows x columns).
    RowNumber = Callable[[NDArray[np.integer]], NDArray[np.integer]]

# Columns that come from the names of folders: a value for each file.
Partitions = Mapping[str, tuple[str | int | None, ...]]


class Engine(ABC):
    """An engine, as one table uses it. Rows are lazy, have the hidden column of positions, and stay in their order.

    Methods take and return rows as lazy narwhals frames. Column names may be anything, so the engine gets them quoted,
    and a narwhals expression never does: it is given only plain names.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    # The package its own frames come from, and what they are called.
    modules: ClassVar[tuple[str, ...]]
    frames: ClassVar[str]
    # Whether it reads addresses of any scheme itself, so that they need not be fetched.
    addresses: ClassVar[bool] = False
    # Whether it has workers, who can write files themselves.
    has_workers: ClassVar[bool] = False
    # Whether few rows are brought to this process and counted here; the rows of a server stay there if they can.
    brings_few: ClassVar[bool] = True

    def __init__(self, memory: str | None = None) -> None:
        self.memory = memory

    @property
    def is_here(self) -> bool:
        """Whether all of it runs on this machine, and sees its files."""
        return True

    @abstractmethod
    def of_frame(self, frame: Any) -> Rows:
        """A frame of this engine, with row positions."""

    @staticmethod
    @abstractmethod
    def frame_of(data: pa.Table, like: Any) -> Any:
        """An Arrow table as a frame of this engine, in the same place as another one, ``like``."""

    @abstractmethod
    def of_arrow(self, data: Any) -> Rows:
        """An Arrow table or dataset."""

    @abstractmethod
    def of_csv(self, paths: Sequence[Path], names: Sequence[str], delimiter: str, partitions: Partitions) -> Rows:
        """Every cell as text, unchanged; an empty cell is missing, a quoted empty one is empty text.

        The rows of several files follow each other; ``partitions`` are columns with a value for each of the files,
        which come last, and replace those of the same name.
        """

    @abstractmethod
    def of_parquet(self, paths: Sequence[Path], names: Sequence[str], partitions: Partitions) -> Rows:
        """These columns of Parquet files."""

    @abstractmethod
    def of_jsonl(self, paths: Sequence[Path], types: Mapping[str, str], partitions: Partitions) -> Rows:
        """One JSON object per line; the types are DuckDB's."""

    def of_address(self, address: str) -> tuple[Rows, tuple[str, ...]]:
        """Parquet at an address, a file or a folder of them, and the columns that come from the names of folders.

        Only for an engine that reads ``addresses`` itself.
        """
        raise NotImplementedError

    def of_database(self, path: Path, schema: str, table: str) -> Rows:
        """A table of a DuckDB database; an engine that cannot read one says so."""
        raise EngineError(
            sentence(
                "{path} is a DuckDB database, which {title} cannot read: use {engine}",
                path=path,
                title=self.title,
                engine=Setting("engine", "duckdb"),
            )
        )

    @abstractmethod
    def schema(self, rows: Rows) -> dict[str, Any]:
        """The narwhals type of each column but the positions."""

    @abstractmethod
    def reading(self, name: str) -> AbstractContextManager[None]:
        """Within it, an error of the engine becomes one line that names the source."""

    @abstractmethod
    def renamed(self, rows: Rows, columns: Sequence[str], names: Sequence[str]) -> Rows:
        """Some columns of the rows, and no others, under these names."""

    @abstractmethod
    def indexed(self, rows: Rows) -> Rows:
        """The rows with their positions as 0, 1, 2, ... in the order of the table."""

    def where(self, rows: Rows, wanted: Any) -> Rows:
        """The rows for which an expression of their index (:meth:`indexed`) is true; they can be indexed again."""
        return self.indexed(rows).filter(wanted)

    @abstractmethod
    def held(self, rows: Rows) -> Rows:
        """The rows, computed once and kept for as long as they are used: for tables that fit into memory."""

    @abstractmethod
    def pinned(self, rows: Rows) -> Rows:
        """The rows of a frame of this engine, such that they are the same however often they are read.

        Rows that would be computed anew each time, perhaps differently, are held or refused. Other rows are unchanged:
        files have a stamp, and what came through Arrow is in memory.
        """

    @abstractmethod
    def collected(self, rows: Rows) -> pa.Table:
        """The rows, whole."""

    def counted(self, rows: Rows, columns: Sequence[str], names: Sequence[str], most: int) -> pa.Table | None:
        """How many rows have each combination of values, as ``n`` next to the columns under these names.

        At most ``most`` combinations; without columns, the number of rows. None where the engine has no way of its own
        to count.
        """
        return None

    def loaded(self, rows: Rows, columns: Sequence[str], names: Sequence[str], store: Store) -> str | None:
        """Hold columns under these names, and the positions, in a store; returns the table's name there.

        None where the rows have to be brought to the store.
        """
        return None

    def coarsened(self, before: Rows, after: Rows, ways: Mapping[str, Coarsening | None]) -> Rows:
        """``after``: the rows ``before`` in which columns were replaced, each as its way says; None says nothing.

        All other columns and the positions are unchanged. An engine whose rows are elsewhere may count them there.
        """
        return after

    def spaced(self, rows: Rows, columns: Sequence[str], step: int) -> pa.Table | None:
        """Some columns of the rows whose index is a multiple of ``step``, in order; None if all rows must be read."""
        return None

    def first(self, rows: Rows, columns: Sequence[str], most: int) -> pa.Table | None:
        """So many rows of some columns, whichever are cheapest to read; None if that takes a query."""
        return None

    def looked_through(
        self, rows: Rows, columns: Sequence[str], names: Sequence[str], most: int, steps: Collection[int]
    ) -> tuple[pa.Table, dict[int, pa.Table]] | None:
        """What :meth:`counted` gives, and for each of ``steps`` every such row in order, in one pass.

        None where that takes more than one pass.
        """
        return None

    def told_numbers(self, rows: Rows, symbols: Symbols, keep: Callable[[NDArray[np.integer[Any]]], None]) -> bool:
        """Give ``keep`` the number of each row's symbol, -1 where it is none, some rows at a time and in order.

        False where the engine cannot tell them without computing a column; what ``keep`` was given is then void.
        """
        return False

    def counted_beside(
        self, rows: Rows, columns: Sequence[str], other: Engine, beside: Rows, names: Sequence[str], most: int
    ) -> pa.Table | None:
        """The same for columns of the rows followed by columns of other rows: row i with row i.

        There are as many rows as other ones, and the columns are called c0, c1, ... None where the engine would have to
        sort rows, and for rows that are not those of files.
        """
        return None

    @abstractmethod
    def batches(self, rows: Rows, names: Sequence[str], size: int) -> Iterator[pa.RecordBatch]:
        """Some columns with plain names, in the order of the rows, about ``size`` rows at a time."""

    @abstractmethod
    def valued(self, rows: Rows, symbols: Symbols, values: Mapping[str, NDArray[Any]], unseen: float | None) -> Rows:
        """The rows with a column for each of ``values``: the entry of the row's symbol, or ``unseen``."""

    def stepped(self, rows: Rows, edges: Mapping[str, NDArray[np.float64]]) -> Rows:
        """The rows with columns of numbers, under plain names, replaced by how many rising edges are not above each.

        What is missing stays missing; there is no NaN. By binary search, which any engine can do.
        """
        import narwhals as nw

        counted = {name: halved(nw.col(name), rising.tolist(), 0, len(rising)) for name, rising in edges.items()}
        return rows.with_columns(*(nw.when(~nw.col(name).is_null()).then(n).alias(name) for name, n in counted.items()))

    @abstractmethod
    def found(self, rows: Rows, lists: Mapping[str, Sequence[Any]]) -> Rows:
        """The rows with columns replaced by the place of their value in a list, null where it is not in it.

        Lists may be long, and None in one is missing. NaN is missing, -0.0 is 0.0.
        """

    def numbered(
        self, rows: Rows, columns: Sequence[str], number: RowNumber, name: str, sizes: Sequence[int] | None
    ) -> Rows | None:
        """The rows with columns of whole numbers replaced by one, last: their ``number``. All rows are computed now.

        With ``sizes`` the columns hold only numbers from 0 to below these, so that rows may be computed when asked for.
        None for an engine whose rows are not brought to this process.
        """
        return None

    @abstractmethod
    def labelled(self, rows: Rows, number: str, texts: Mapping[str, Sequence[str | None]]) -> Rows:
        """The rows with columns replaced by, or added as, the text at the place given by a column of numbers."""

    @abstractmethod
    def redrawn(
        self, rows: Rows, symbols: Symbols, draws: DrawTables, key: str, texts: Mapping[str, Sequence[str]]
    ) -> Rows:
        """The rows with every released cell of a row that is not kept replaced by that of a drawn output.

        ``texts`` are all that some columns hold afterwards; an engine may enumerate them.
        """

    def drawn_numbers(self, rows: Rows, symbols: Symbols, draws: DrawTables, key: str, name: str) -> Rows | None:
        """In the order of the rows, the number of the symbol that :meth:`redrawn` makes of each, null where it is none.

        None for an engine that has no faster way than to look at the cells.
        """
        return None

    @abstractmethod
    def spooled(self, rows: Rows, names: Sequence[str]) -> AbstractContextManager[duckdb.DuckDBPyRelation]:
        """Some columns in the order of the rows as a DuckDB relation, which writes every format."""

    def rows_of_partitions(self) -> Sequence[int] | None:
        """The number of rows of each partition of what was opened; None if there are none."""
        return None

    def write_parts(self, rows: Rows, names: Sequence[str], folder: Path, codec: str) -> None:
        """Write some columns to Parquet files in a new folder, each partition by the worker that has it.

        Only for an engine that has workers.
        """
        raise NotImplementedError

    def copy_parts(self, paths: Sequence[Path], folder: Path, codec: str) -> None:
        """Write the rows of each of these Parquet files to one file of a new folder, as :meth:`write_parts` does.

        Only for an engine that has workers.
        """
        raise NotImplementedError

    @abstractmethod
    def store(self, name: str = "the records") -> Store:
        """A new place for tables and the SQL about them."""


def halved(value: nw.Expr, edges: Sequence[float] | Sequence[str], low: int, high: int) -> nw.Expr:
    """How many of the rising edges are not above a value, where that is at least ``low`` and at most ``high``."""
    import narwhals as nw

    if low == high:
        return nw.lit(low, nw.Int64)
    middle = (low + high) // 2
    below, above = halved(value, edges, low, middle), halved(value, edges, middle + 1, high)
    return nw.when(value < edges[middle]).then(below).otherwise(above)


class Store(ABC):
    """Where tables are held, and the SQL spoken there."""

    engine: ClassVar[str]
    # Whether the tables are on this machine, so that all that is in them fits into its memory or disk.
    local: ClassVar[bool]

    @abstractmethod
    def run(self, query: str) -> None:
        """Carry out a statement."""

    @abstractmethod
    def make(self, query: str) -> str:
        """Hold the result of a query; returns the table's name."""

    @abstractmethod
    def load(self, data: Any) -> str:
        """Hold an Arrow table, a stream of batches or a frame of this engine; returns the table's name."""

    @abstractmethod
    def ask(self, query: str) -> pa.Table:
        """The whole result of a query."""

    @abstractmethod
    def drop(self, *names: str) -> None:
        """Forget tables."""

    @abstractmethod
    def leave(self, size: int) -> object:
        """Take fewer bytes of memory than allowed, by as many as the caller takes beside the tables.

        They are given back with the object that is returned.
        """

    @abstractmethod
    def hashed(self, *terms: str) -> str:
        """A 64-bit hash of the terms, kept separate: ("ab", "c") and ("a", "bc") have unrelated hashes."""

    @abstractmethod
    def identifier(self, name: str) -> str:
        """A quoted name, whatever characters it has."""

    @abstractmethod
    def text(self, value: str) -> str:
        """A text literal."""
