"""DuckDB behind the protocol of the engines."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import count
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.tables.channels import DrawTables
from tacit.tables.columns import ROW
from tacit.tables.engines.duckdb import numbering, rewriting, steps
from tacit.tables.engines.duckdb.connections import LeftMemory, answered, connect, reading
from tacit.tables.engines.duckdb.layouts import FILE, attached, csv_scan, is_view, jsonl_scan, patterns, told_by_folders
from tacit.tables.engines.duckdb.sql import (
    held_table,
    identifier,
    in_texts,
    pattern,
    renamed,
    shown_as_texts,
    text,
)
from tacit.tables.engines.duckdb.stored import first_rows, stored_height, stored_rows, symbol_numbers, tallied
from tacit.tables.engines.protocol import Engine, Store
from tacit.tables.symbols import Symbols

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

    from tacit.tables.engines.protocol import Partitions, RowNumber, Rows

# Rows of a relation transferred at a time.
BATCH = 100_000
# A CSV of at most this many bytes is read once: parsing it for every query would take longer than most queries do.
SMALL = 1 << 20
_serial = count()


class DuckDBEngine(Engine):
    """Files and frames, read in place by DuckDB in this process."""

    name = "duckdb"
    title = "DuckDB"
    modules = ("duckdb", "_duckdb")
    frames = "DuckDB relation"

    def __init__(self, memory: str | None = None) -> None:
        super().__init__(memory)
        self._query = False
        # The unchanged rows of files, and the SQL that reads them in order.
        self._files: tuple[Rows, str] | None = None
        # Those files, if they are Parquet and nothing else tells of their rows.
        self._stored: tuple[Path, ...] | None = None

    def of_frame(self, frame: duckdb.DuckDBPyRelation) -> Rows:
        """A relation, on the connection it has."""
        self._query = True
        return _positioned(frame)

    @staticmethod
    def frame_of(data: pa.Table, like: duckdb.DuckDBPyRelation) -> duckdb.DuckDBPyRelation:
        """A relation on the connection of the other, so that the two can be joined."""
        return answered(lambda: held_table(like, data))

    def of_arrow(self, data: Any) -> Rows:
        return _positioned(connect(memory=self.memory).from_arrow(data))

    def of_csv(self, paths: Sequence[Path], names: Sequence[str], delimiter: str, partitions: Partitions) -> Rows:
        """Every cell as text; the rows of small files are held, since a command asks for them a dozen times."""
        rows = self._scanned(csv_scan(paths, names, delimiter), names, paths, partitions)
        return self.held(rows) if sum(path.stat().st_size for path in paths) <= SMALL else rows

    def of_parquet(self, paths: Sequence[Path], names: Sequence[str], partitions: Partitions) -> Rows:
        """Parquet files; DuckDB numbers the rows of a single one, unless a column has the name it uses for that."""
        self._stored = tuple(paths)
        scan = f"read_parquet({patterns(paths)}, hive_partitioning = false)"
        if len(paths) > 1 or partitions or any(name.lower() == "file_row_number" for name in names):
            return self._scanned(scan, names, paths, partitions)
        scan = f"read_parquet({pattern(paths[0])}, file_row_number = true, hive_partitioning = false)"
        rows = _positioned(connect(memory=self.memory).sql(f"SELECT * FROM {scan}"), "file_row_number")
        self._files = rows, scan
        return rows

    def of_jsonl(self, paths: Sequence[Path], types: Mapping[str, str], partitions: Partitions) -> Rows:
        return self._scanned(jsonl_scan(paths, types), list(types), paths, partitions)

    def of_database(self, path: Path, schema: str, table: str) -> Rows:
        """A table, read in place; the rows of a view, which is somebody else's query, are held."""
        place = f"tacit_source.{identifier(schema)}.{identifier(table)}"
        source = attached(path, self.memory)
        if not is_view(source, schema, table):
            return _positioned(source.sql(f"SELECT * FROM {place}"))
        # It may read its own database, and no other file of this machine.
        source.execute("SET enable_external_access = false")
        return self.of_arrow(answered(lambda: source.sql(f"SELECT * FROM {place}").to_arrow_table()))

    def _scanned(self, scan: str, names: Sequence[str], paths: Sequence[Path], partitions: Partitions) -> Rows:
        shown = "*"
        if partitions:
            kept = [identifier(name) for name in names if name not in partitions]
            shown = ", ".join([*kept, told_by_folders(paths, partitions)])
            scan = f"{scan[:-1]}, filename = {text(FILE)})"
        rows = _positioned(connect(memory=self.memory).sql(f"SELECT {shown} FROM {scan}"))
        self._files = None if partitions else (rows, scan)
        return rows

    def schema(self, rows: Rows) -> dict[str, Any]:
        return {name: dtype for name, dtype in rows.collect_schema().items() if name != ROW}

    def reading(self, name: str) -> AbstractContextManager[None]:
        return reading(name)

    def renamed(self, rows: Rows, columns: Sequence[str], names: Sequence[str]) -> Rows:
        return _lazy(renamed(rows.to_native(), columns, names))

    def indexed(self, rows: Rows) -> Rows:
        """The rows, unchanged: their positions are already 0, 1, 2, ..."""
        return rows

    def held(self, rows: Rows) -> Rows:
        return _lazy(answered(lambda: rows.to_native().materialize()))

    def pinned(self, rows: Rows) -> Rows:
        """A relation is a query, which may draw at random or read what others write: its rows are held."""
        return self.held(rows) if self._query else rows

    def collected(self, rows: Rows) -> pa.Table:
        return answered(lambda: in_texts(rows.to_native()).to_arrow_table())

    def counted(self, rows: Rows, columns: Sequence[str], names: Sequence[str], most: int) -> pa.Table | None:
        """Without columns, files need not be read in full: they state how many rows they have, or are only parsed."""
        scan = self._scan_of(rows)
        if columns or scan is None:
            return None
        if self._stored is not None and len(self._stored) == 1:
            return stored_height(self._stored[0])
        return answered(lambda: connect(memory=self.memory).sql(f"SELECT count(*) AS n FROM {scan}").to_arrow_table())

    def loaded(self, rows: Rows, columns: Sequence[str], names: Sequence[str], store: Store) -> str | None:
        """For CSV files, which hold only texts: read again on the connection of the store."""
        scan = self._scan_of(rows)
        if scan is None or not scan.startswith("read_csv(") or not isinstance(store, DuckDBStore):
            return None
        shown = ", ".join(
            f"{identifier(each)} AS {identifier(name)}" for each, name in zip(columns, names, strict=True)
        )
        return store.made(f"SELECT {shown}, row_number() OVER () - 1 AS {identifier(ROW)} FROM {scan}")

    def first(self, rows: Rows, columns: Sequence[str], most: int) -> pa.Table | None:
        """For a Parquet file of texts."""
        if self._stored is None or self._scan_of(rows) is None:
            return None
        return first_rows(self._stored[0], columns, most)

    def looked_through(
        self, rows: Rows, columns: Sequence[str], names: Sequence[str], most: int, steps: Collection[int]
    ) -> tuple[pa.Table, dict[int, pa.Table]] | None:
        """For Parquet files, whose dictionaries tell values apart."""
        if not columns or self._stored is None or self._scan_of(rows) is None:
            return None
        tally = tallied(stored_rows(self._stored, columns), len(columns), steps)
        return None if tally is None else (tally.groups(names, most), tally.samples(names))

    def told_numbers(self, rows: Rows, symbols: Symbols, keep: Callable[[NDArray[np.integer[Any]]], None]) -> bool:
        """For Parquet files, whose dictionaries tell values apart."""
        if self._stored is None or self._scan_of(rows) is None:
            return False
        return symbol_numbers(stored_rows(self._stored, symbols.columns), symbols, keep)

    def counted_beside(
        self, rows: Rows, columns: Sequence[str], other: Engine, beside: Rows, names: Sequence[str], most: int
    ) -> pa.Table | None:
        """By DuckDB's positional join, which reads two files in step, and holds neither."""
        here, there = self._scan_of(rows), other._scan_of(beside) if isinstance(other, DuckDBEngine) else None
        if here is None or there is None:
            return None
        both = [f"t.{identifier(name)}" for name in columns] + [f"o.{identifier(name)}" for name in names]
        shown = ", ".join(f"{name} AS c{at}" for at, name in enumerate(both))
        query = f"SELECT {shown}, count(*) AS n FROM {here} t POSITIONAL JOIN {there} o GROUP BY ALL LIMIT {most}"
        return answered(lambda: in_texts(connect(memory=self.memory).sql(query)).to_arrow_table())

    def _scan_of(self, rows: Rows) -> str | None:
        return self._files[1] if self._files is not None and self._files[0] is rows else None

    def batches(self, rows: Rows, names: Sequence[str], size: int) -> Iterator[pa.RecordBatch]:
        # The connection can answer no other query until this result is closed.
        with in_texts(renamed(rows.to_native(), names, names)).to_arrow_reader(size) as reader:
            yield from reader

    def valued(self, rows: Rows, symbols: Symbols, values: Mapping[str, NDArray[Any]], unseen: float | None) -> Rows:
        return _lazy(rewriting.valued(rows.to_native(), symbols, values, unseen))

    def stepped(self, rows: Rows, edges: Mapping[str, NDArray[np.float64]]) -> Rows:
        return _lazy(steps.stepped(rows.to_native(), edges))

    def found(self, rows: Rows, lists: Mapping[str, Sequence[Any]]) -> Rows:
        return _lazy(rewriting.found(rows.to_native(), lists))

    def numbered(
        self, rows: Rows, columns: Sequence[str], number: RowNumber, name: str, sizes: Sequence[int] | None
    ) -> Rows:
        if sizes is not None and prod(sizes) <= numbering.FEW:
            return _lazy(numbering.looked_up(rows.to_native(), columns, number, name, sizes))
        return _positioned(numbering.numbered(rows.to_native(), columns, number, name, self.memory))

    def labelled(self, rows: Rows, number: str, texts: Mapping[str, Sequence[str | None]]) -> Rows:
        return _lazy(rewriting.labelled(rows.to_native(), number, texts))

    def redrawn(
        self, rows: Rows, symbols: Symbols, draws: DrawTables, key: str, texts: Mapping[str, Sequence[str]]
    ) -> Rows:
        return _lazy(rewriting.redrawn(rows.to_native(), symbols, draws, key, texts))

    def drawn_numbers(self, rows: Rows, symbols: Symbols, draws: DrawTables, key: str, name: str) -> Rows | None:
        numbers = rewriting.drawn_numbers(rows.to_native(), symbols, draws, key, name)
        return None if numbers is None else _lazy(numbers)

    def spooled(self, rows: Rows, names: Sequence[str]) -> AbstractContextManager[duckdb.DuckDBPyRelation]:
        return nullcontext(renamed(rows.to_native(), names, names))

    def store(self, name: str = "the records") -> DuckDBStore:
        return DuckDBStore(name, self.memory)


def _lazy(relation: duckdb.DuckDBPyRelation) -> Rows:
    import narwhals as nw

    rows: Rows = nw.from_native(relation)
    return rows


def _positioned(relation: duckdb.DuckDBPyRelation, position: str = "row_number() OVER () - 1") -> Rows:
    """The columns, and the positions last."""
    texts = shown_as_texts(relation)
    names = [
        f"{identifier(column)}::VARCHAR AS {identifier(column)}" if column in texts else identifier(column)
        for column in relation.columns
        if column != position
    ]
    return _lazy(relation.project(f"{', '.join(names)}, {position} AS {identifier(ROW)}"))


class DuckDBStore(Store):
    """Temporary tables on a connection of their own; beyond the memory limit they are on disk."""

    engine = "duckdb"
    local = True

    def __init__(self, name: str = "the records", memory: str | None = None) -> None:
        self._name = name
        self._connection = connect(memory=memory)

    def run(self, query: str) -> None:
        with reading(self._name):
            answered(lambda: self._connection.execute(query))

    def make(self, query: str) -> str:
        with reading(self._name):
            return self.made(query)

    def made(self, query: str) -> str:
        """As :meth:`make`; an error of DuckDB is raised unchanged, for a caller who knows what is being read."""
        name = f"tacit_store_{next(_serial)}"
        answered(lambda: self._connection.execute(f"CREATE TEMP TABLE {name} AS {query}"))
        return name

    def load(self, data: Any) -> str:
        source = f"tacit_store_{next(_serial)}"
        # A relation may be on another connection, which this one cannot query.
        streamed = data.to_arrow_reader(BATCH) if hasattr(data, "to_arrow_reader") else data
        with reading(self._name):
            self._connection.register(source, streamed)
            try:
                return self.make(f"FROM {source}")
            finally:
                self._connection.unregister(source)

    def ask(self, query: str) -> pa.Table:
        with reading(self._name):
            return answered(lambda: self._connection.sql(query).to_arrow_table())

    def drop(self, *names: str) -> None:
        if names:
            self.run("; ".join(f"DROP TABLE IF EXISTS {name}" for name in names))

    def leave(self, size: int) -> LeftMemory:
        with reading(self._name):
            return LeftMemory(self._connection, size)

    def hashed(self, *terms: str) -> str:
        return f"hash({', '.join(terms)})"

    def identifier(self, name: str) -> str:
        return identifier(name)

    def text(self, value: str) -> str:
        return text(value)
