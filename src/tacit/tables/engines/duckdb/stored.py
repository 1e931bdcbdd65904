"""Count the rows of Parquet files by the dictionaries they are stored with.

A column of few texts is stored as a dictionary and a small number for each row. To add up such numbers takes half as
long as to hash the texts, and the pass that counts can keep samples of the rows, which would each take another pass.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.tables.engines.duckdb.dictionaries import values_listed
from tacit.tables.symbols import Symbols

if TYPE_CHECKING:
    import pyarrow as pa

Numbers = NDArray[np.int32]

# More combinations of stored values than this, or than this many per row of a group, are left to the engine: most of
# them would not occur.
MOST_CELLS, PER_ROW = 1 << 22, 4
# Larger groups of rows, and larger dictionaries, would take much memory or time in this process.
MOST_ROWS, MOST_VALUES = 1 << 21, 1 << 16
THREADS = 4


class NotStoredSo(Exception):
    """The files are not stored in a way that can be counted here; the engine counts them."""


@dataclass(frozen=True, eq=False)
class StoredRows:
    """Rows that follow each other: of each column the values it is stored with, and which of them each row has."""

    values: tuple[list[str | None], ...]
    places: tuple[Numbers, ...]

    def slice(self, start: int, end: int) -> StoredRows:
        """Some of the rows."""
        return StoredRows(self.values, tuple(each[start:end] for each in self.places))

    def beside(self, other: StoredRows) -> StoredRows:
        """The columns of as many other rows next to these."""
        return StoredRows((*self.values, *other.values), (*self.places, *other.places))

    def combined(self) -> Numbers:
        """The number of each row's combination of values; the caller has seen that there are few."""
        number = self.places[0].copy()
        for values, place in zip(self.values[1:], self.places[1:], strict=True):
            number *= np.int32(len(values))
            number += place
        return number

    def __len__(self) -> int:
        return len(self.places[0])


def stored_height(path: Path) -> pa.Table:
    """How many rows a file states that it has, as ``n``; it was opened before, so it is intact."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    return pa.table({"n": [pq.read_metadata(path).num_rows]})


def first_rows(path: Path, columns: Sequence[str], most: int) -> pa.Table | None:
    """The first rows of a file; None if there are fewer, or a column is not text, which the engine reads alike."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            kinds = file.schema_arrow
            if not columns or any(kinds.field(name).type != pa.string() for name in columns):
                return None
            batches = file.iter_batches(most, row_groups=[0], columns=list(columns), use_threads=False)
            first = next(batches, None)
    except (OSError, KeyError, pa.ArrowException, UnicodeDecodeError):
        # The engine says what is wrong with the file.
        return None
    whole = first is not None and first.num_rows == most
    return pa.Table.from_batches([first]).select(columns) if whole else None


def stored_rows(paths: Sequence[Path], columns: Sequence[str]) -> Iterator[StoredRows]:
    """The rows of files, in order, a group at a time; NotStoredSo if a column is not text in dictionaries."""
    import pyarrow as pa

    for path in paths:
        try:
            yield from _in_groups(path, list(columns))
        except (OSError, KeyError, pa.ArrowException, UnicodeDecodeError) as error:
            # The engine says what is wrong with the file.
            raise NotStoredSo from error


def _in_groups(path: Path, columns: list[str]) -> Iterator[StoredRows]:
    """The rows of one file; a few threads read ahead, each with the file open for itself."""
    import pyarrow.parquet as pq

    mine, opened = threading.local(), list[Any]()

    def read(group: int) -> StoredRows:
        if not hasattr(mine, "file"):
            mine.bytes, mine.file = path.open("rb"), pq.ParquetFile(path, read_dictionary=columns)
            opened.extend((mine.bytes, mine.file))
        about = mine.file.metadata.row_group(group)
        listed = [values_listed(mine.bytes, about.column(at)) if about.num_rows else 0 for at in places]
        return _rows(mine.file.read_row_group(group, columns=columns, use_threads=False).select(columns), listed)

    with pq.ParquetFile(path) as file:
        places = _refuse(file, columns)
        groups = iter(range(file.num_row_groups))
    with ThreadPoolExecutor(max_workers=min(THREADS, os.cpu_count() or 1)) as pool:
        try:
            waiting = deque(pool.submit(read, group) for group in islice(groups, THREADS))
            while waiting:
                yield waiting.popleft().result()
                waiting.extend(pool.submit(read, group) for group in islice(groups, 1))
        finally:
            pool.shutdown(cancel_futures=True)
            for each in opened:
                each.close()


def _refuse(file: Any, columns: Sequence[str]) -> list[int]:
    """Where the columns are in the file; NotStoredSo if it cannot be counted here."""
    import pyarrow as pa

    kinds = file.schema_arrow
    texts = all(kinds.field(name).type in (pa.string(), pa.dictionary(pa.int32(), pa.string())) for name in columns)
    about, at = file.metadata, [kinds.names.index(name) for name in columns]
    # In a table without lists and structs, stored columns are those of the schema.
    flat = len(kinds.names) == about.num_columns
    groups = [about.row_group(each) for each in range(about.num_row_groups)]
    if not (texts and flat and all(group.num_rows <= MOST_ROWS for group in groups)):
        raise NotStoredSo
    if not all(group.column(each).has_dictionary_page for group in groups if group.num_rows for each in at):
        raise NotStoredSo
    return at


def _rows(read: pa.Table, listed: Sequence[int | None]) -> StoredRows:
    """What was read of a group of rows; ``listed`` is how many values the dictionary of each column lists."""
    values, places = [], []
    for column, number in zip(read.columns, listed, strict=True):
        # One chunk: those of a row group share a dictionary, unless part of it is stored as plain text.
        if column.num_chunks > 1:
            raise NotStoredSo
        stored = column.chunk(0) if column.num_chunks else column.combine_chunks()
        # Fewer where one is listed twice: the places of those after it are then wrong.
        if len(stored.dictionary) >= MOST_VALUES or len(stored.dictionary) != number:
            raise NotStoredSo
        texts, place = stored.dictionary.to_pylist(), stored.indices
        if stored.null_count:
            place, texts = place.fill_null(len(texts)), [*texts, None]
        values.append(texts)
        places.append(place.to_numpy(zero_copy_only=False))
    return StoredRows(tuple(values), tuple(places))


def in_step(some: Iterator[StoredRows], others: Iterator[StoredRows]) -> Iterator[StoredRows]:
    """Two tables of as many rows next to each other: row i with row i."""
    empty = StoredRows((), (np.empty(0, np.int32),))
    here: StoredRows | None = empty
    there: StoredRows | None = empty
    while True:
        while here is not None and not len(here):
            here = next(some, None)
        while there is not None and not len(there):
            there = next(others, None)
        if here is None or there is None:
            if here is not there:
                raise NotStoredSo
            return
        both = min(len(here), len(there))
        yield here.slice(0, both).beside(there.slice(0, both))
        here, there = here.slice(both, len(here)), there.slice(both, len(there))


class ValueTally:
    """How many rows have each combination of values, and which combination every so-manieth row has.

    ``levels`` are the values of each column in the order in which they were met; ``counts`` has an axis for each.
    """

    def __init__(self, columns: int, steps: Collection[int] = ()) -> None:
        self.levels: list[dict[str | None, int]] = [{} for _ in range(columns)]
        self.counts = np.zeros([0] * columns, np.int64)
        self.rows = 0
        self._here = np.zeros(0, np.int64)
        self._kept: dict[int, list[NDArray[np.int64]]] = {step: [] for step in steps}

    def add(self, rows: StoredRows) -> None:
        """Count some more rows."""
        sizes = [len(values) for values in rows.values]
        cells = prod(sizes)
        if cells > min(MOST_CELLS, PER_ROW * max(len(rows), MOST_VALUES)):
            raise NotStoredSo
        number = rows.combined()
        homes = [
            np.array([levels.setdefault(value, len(levels)) for value in values], np.int64)
            for levels, values in zip(self.levels, rows.values, strict=True)
        ]
        # Adding up by place would lose rows of a value that is listed twice.
        if any(len(set(home.tolist())) < len(home) for home in homes):
            raise NotStoredSo
        self._make_room()
        here = self._counted(number, cells).reshape(sizes)
        if here.shape == self.counts.shape:
            # Every value occurs: to put each axis in order takes half as long as to find each place.
            for axis, home in enumerate(homes):
                here = here.take(np.argsort(home), axis)
            self.counts += here
        else:
            self.counts[np.ix_(*homes)] += here
        for step, kept in self._kept.items():
            places = np.unravel_index(number[-self.rows % step :: step], sizes)
            kept.append(np.column_stack([home[at] for home, at in zip(homes, places, strict=True)]))
        self.rows += len(rows)

    def _counted(self, number: Numbers, cells: int) -> NDArray[np.int64]:
        """How often each number occurs; good until the next call."""
        if len(self._here) < cells:
            self._here = np.zeros(cells, np.int64)
        here = self._here[:cells]
        here.fill(0)
        # A table for each group of rows would be new memory each time, which takes longer than to count.
        np.add.at(here, number.astype(np.intp), np.int64(1))
        return here

    def _make_room(self) -> None:
        shape = tuple(map(len, self.levels))
        if prod(shape) > MOST_CELLS:
            raise NotStoredSo
        if shape != self.counts.shape:
            wider = np.zeros(shape, np.int64)
            wider[tuple(map(slice, self.counts.shape))] = self.counts
            self.counts = wider

    def groups(self, names: Sequence[str], most: int) -> pa.Table:
        """The combinations that occur, and how many rows have each, as ``n``."""
        import pyarrow as pa

        places = np.nonzero(self.counts)
        some = [place[:most] for place in places]
        columns = self._texts(some, names)
        return pa.table({**columns, "n": self.counts[tuple(some)]})

    def samples(self, names: Sequence[str]) -> dict[int, pa.Table]:
        """The rows that were kept, in order, by step."""
        import pyarrow as pa

        none = np.empty((0, len(self.levels)), np.int64)
        kept = {step: np.concatenate([none, *parts]).T for step, parts in self._kept.items()}
        return {step: pa.table(self._texts(list(places), names)) for step, places in kept.items()}

    def _texts(self, places: Sequence[NDArray[np.int64]], names: Sequence[str]) -> dict[str, pa.Array]:
        import pyarrow as pa

        texts = [pa.array(list(levels), pa.string()) for levels in self.levels]
        return {name: text.take(pa.array(at)) for name, text, at in zip(names, texts, places, strict=True)}


def tallied(rows: Iterator[StoredRows], columns: int, steps: Collection[int] = ()) -> ValueTally | None:
    """The rows counted, and every so-manieth kept; None if the engine had better count them."""
    tally = ValueTally(columns, steps)
    try:
        for each in rows:
            tally.add(each)
    except NotStoredSo:
        return None
    return tally


def symbol_numbers(
    rows: Iterator[StoredRows], symbols: Symbols, keep: Callable[[NDArray[np.integer[Any]]], None]
) -> bool:
    """Give ``keep`` the number of each row's symbol, -1 where it is none; False if the engine had better tell it."""
    # One more place in each column is that of values that are not a level.
    sizes = [len(levels) + 1 for levels in symbols.levels]
    texts = all(level is None or isinstance(level, str) for levels in symbols.levels for level in levels)
    if not texts or not sizes or prod(sizes) > MOST_CELLS:
        return False
    number_of = np.full(sizes, -1, np.int32)
    number_of[tuple(symbols.codes.T)] = np.arange(len(symbols))
    places = [{level: at for at, level in enumerate(levels)} for levels in symbols.levels]
    try:
        for each in rows:
            if prod(map(len, each.values)) > min(MOST_CELLS, PER_ROW * max(len(each), MOST_VALUES)):
                return False
            columns = zip(places, each.values, strict=True)
            homes = [np.array([at.get(value, len(at)) for value in values], np.int64) for at, values in columns]
            keep(number_of[np.ix_(*homes)].ravel().take(each.combined()))
    except NotStoredSo:
        return False
    return True
