"""A table that stays in its engine: its name, its columns, and a few bounded looks into it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import ArgumentError, ColumnError, DataError, SourceError
from tacit.loading import file_sha256
from tacit.tables.columns import ROW, Column, plain_names
from tacit.tables.engines import Engine
from tacit.tables.symbols import encoded

if TYPE_CHECKING:
    import pyarrow as pa

    from tacit.tables.counting import Counts
    from tacit.tables.engines.protocol import Rows

Stamp = tuple[int, int, int, int, int]

# A table of more columns than this is wide. It is brought to this process, once, if it has no more values than that:
# with hundreds of columns an engine takes longer to understand a question than to answer it.
WIDE = 40
MOST_BROUGHT = 12_000_000
# So is a table of no more rows than this: to plan one question takes an engine longer than to count them all here.
FEW_ROWS = 20_000
# Samples of so many rows are most often asked for.
USUAL_SAMPLES = 20_000, 50_000
# The golden section as a share of the other, by which rows are spread.
_GOLDEN, _WHOLE = 2_654_435_769, 1 << 32


@dataclass
class BroughtColumns:
    """Columns of all rows in this process, unchanged and, where they were counted, as levels and codes.

    ``following`` are columns that follow from others: what makes them of columns that were brought, without the engine.
    """

    columns: dict[str, pa.ChunkedArray] = field(default_factory=dict)
    encoded: dict[str, tuple[tuple[Any, ...], NDArray[np.int32]]] = field(default_factory=dict)
    following: dict[str, Callable[[], pa.ChunkedArray]] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Table:
    """Rows in an engine, in a fixed order. Made by :func:`tacit.tables.open_table`.

    Attributes
    ----------
    given : narwhals LazyFrame, or a function that makes it
        The columns and the hidden column of row positions, which ``rows`` are.
    name : str
        What messages call the table.
    columns : tuple of Column
        In the order of the source.
    format : str
        csv, parquet, jsonl, json_array, arrow, orc, excel, statistics, duckdb or sqlite (databases), postgres, frame.
    engine : Engine
        Where the rows are; its ``name`` is duckdb or spark.
    path : Path or None
        The file, or the folder of several, if it came from one.
    delimiter, codec : str or None
        Of a CSV, and of a Parquet file: a release is written the same way.
    stamp : tuple of stamps or None
        Which files they are, and of when: rows are read when they are asked for, and must be the same each time.
    parts : tuple of Path
        The files, in the order of their rows.
    address : str or None
        What somebody would type to open it again, without a password; None for a frame.
    folders : tuple of str
        The columns that come from the names of folders; the rows are in their order.
    notes : tuple of str
        What a reader would want to know about how it was read.
    """

    given: Rows | Callable[[], Rows]
    name: str
    columns: tuple[Column, ...]
    format: str
    engine: Engine
    path: Path | None = None
    delimiter: str | None = None
    codec: str | None = None
    stamp: tuple[Stamp, ...] | None = None
    parts: tuple[Path, ...] = ()
    address: str | None = None
    folders: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @cached_property
    def rows(self) -> Rows:
        """The columns and the hidden column of row positions; a table that was brought here may never need them."""
        if not callable(self.given):
            return self.given
        with self.reading():
            return self.given()

    @property
    def frame(self) -> Rows:
        """The table as a lazy narwhals frame; nothing is read yet."""
        return self.engine.renamed(self.rows, self.names, self.names)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return tuple(column.name for column in self.columns)

    def __getitem__(self, name: str) -> Column:
        """The column of that name."""
        if name not in self._by_name:
            raise ColumnError(name, self.names)
        return self._by_name[name]

    @cached_property
    def _by_name(self) -> dict[str, Column]:
        """The columns by name; the first, where two have the same."""
        return {column.name: column for column in reversed(self.columns)}

    def require(self, columns: Sequence[str]) -> None:
        """Raise a ColumnError for the first of ``columns`` that the table lacks."""
        if isinstance(columns, str):
            raise ArgumentError(f"columns must be a list of names, not the text '{columns}': write ['{columns}']")
        for name in columns:
            self[name]

    def require_countable(self, columns: Sequence[str]) -> None:
        """Raise for columns that are not there, named twice, or hold lists, structs or bytes."""
        self.require(columns)
        before = set[str]()
        for name in columns:
            if name in before:
                raise ArgumentError(f"column '{name}' is named twice: name it once")
            if self[name].kind == "other":
                raise DataError(
                    f"column '{name}' of {self.name} holds {self[name].dtype}, which has no values to count: "
                    "leave it out, or turn it into text first"
                )
            before.add(name)

    def select(self, columns: Sequence[str]) -> Table:
        """The table with these columns only, in this order."""
        return self.changed(lambda: self.picked(columns, columns), [self[name] for name in columns], same=columns)

    def with_rows(self, rows: Rows | Callable[[], Rows], columns: Sequence[Column]) -> Table:
        """This table with other rows; it still knows where it came from."""
        return replace(self, given=rows, columns=tuple(columns))

    def afresh(self) -> Table:
        """The table with nothing kept of what was counted, where nobody can tell whether its rows are still the same.

        Files bear a stamp; a frame can be written to in place, and a database by others.
        """
        return self if self.stamp is not None else replace(self)

    def changed(
        self,
        rows: Rows | Callable[[], Rows],
        columns: Sequence[Column],
        *,
        same: Iterable[str],
        following: Mapping[str, Callable[[], pa.ChunkedArray]] = MappingProxyType({}),
    ) -> Table:
        """This table with other contents: the number and order of rows, and the columns ``same``, are unchanged.

        ``following`` makes new columns of those that were brought, as the engine would, where they are here.
        """
        if not callable(rows) and rows is self.rows and tuple(columns) == self.columns:
            return self
        other, kept, here = self.with_rows(rows, columns), set(same), self._brought
        before = ({n: each for n, each in vars(here)[part].items() if n in kept} for part in vars(here))
        brought = vars(other)["_brought"] = BroughtColumns(*before)
        brought.following.update(following)
        vars(other)["_sampled"] = {
            step: {name: each for name, each in columns.items() if name in kept}
            for step, columns in self._sampled.items()
        }
        vars(other)["remembered"] = [each for each in self.remembered if kept.issuperset(each.columns)]
        if kept.issuperset(other.names):
            vars(other)["_thinned"] = self._thinned
        if "_row_count" in vars(self):
            vars(other)["_row_count"] = self._row_count
        return other

    def reading(self) -> AbstractContextManager[None]:
        """Within it, an error of the engine becomes one line that names this table."""
        return self.engine.reading(self.name)

    def picked(self, columns: Sequence[str], names: Sequence[str]) -> Rows:
        """Some columns under these names, and the row positions."""
        self.require(columns)
        pick = tuple(columns), tuple(names)
        if pick not in self._picks:
            with self.reading():
                self._picks[pick] = self.engine.renamed(self.rows, [*columns, ROW], [*names, ROW])
        return self._picks[pick]

    @cached_property
    def _picks(self) -> dict[tuple[tuple[str, ...], tuple[str, ...]], Rows]:
        """Earlier picks: the same columns are asked for again and again, and a pick reads nothing yet."""
        return {}

    def plainly(self, columns: Sequence[str]) -> tuple[Rows, list[str]]:
        """Some columns as c0, c1, ... and the row positions, for narwhals expressions; and those names."""
        names = plain_names(columns)
        return self.picked(columns, names), names

    def collected(self, rows: Rows) -> pa.Table:
        """Read ``rows``, made of this table's, as an Arrow table."""
        with self.reading():
            return self.engine.collected(rows)

    def brought(self, columns: Sequence[str]) -> pa.Table | None:
        """Some columns of all rows, in order, brought to this process once; None if there are too many.

        All columns of a table of few rows, or of many columns, that has no more than 12,000,000 values.
        """
        import pyarrow as pa

        wide = len(self.columns) > WIDE
        if not (wide or self.engine.brings_few):
            return None
        height = self.row_count()
        if not (wide or height <= FEW_ROWS) or not 0 < height * len(self.columns) <= MOST_BROUGHT:
            return None
        here, following = self._brought.columns, self._brought.following
        here.update({name: following[name]() for name in columns if name in following and name not in here})
        missing = [name for name in columns if name not in here]
        if missing:
            plain, names = self.plainly(missing)
            with self.reading():
                rows = self.engine.indexed(plain).sort(ROW)
                read = self.collected(self.engine.renamed(rows, names, names))
            here.update(zip(missing, read.columns, strict=True))
        return pa.table([here[name] for name in columns], names=list(columns))

    @cached_property
    def _brought(self) -> BroughtColumns:
        return BroughtColumns()

    def encoded(self, columns: Sequence[str]) -> list[tuple[tuple[Any, ...], NDArray[np.int32]]] | None:
        """The sorted values of columns, and which of them each row has, made once; None where they are not brought.

        One query reads all that were not brought before: where columns follow from each other, one for each would
        work out all of them again and again.
        """
        by_name = self._brought.encoded
        missing = [name for name in dict.fromkeys(columns) if name not in by_name]
        if missing:
            brought = self.brought(missing)
            if brought is None:
                return None
            for name in missing:
                levels, codes = encoded(brought.column(name), name, self[name].order)
                by_name[name] = levels, codes.astype(np.int32)
        return [by_name[name] for name in columns]

    def held(self, most: int) -> Table:
        """The table with its rows computed and kept, if there are at most ``most``; otherwise unchanged."""
        if self.row_count() > most:
            return self
        with self.reading():
            return self.changed(self.engine.held(self.rows), self.columns, same=self.names)

    @cached_property
    def remembered(self) -> list[Counts]:
        """Earlier counts of the table, without weights; its rows do not change."""
        return []

    @cached_property
    def retold(self) -> dict[tuple[str, ...], Counts]:
        """Counts by some columns, in their order, that followed from remembered ones."""
        return {}

    @cached_property
    def _thinned(self) -> dict[int, Table]:
        """Thinned tables that were computed before, by step."""
        return {}

    def looked_through(self, columns: Sequence[str], names: Sequence[str], most: int) -> pa.Table | None:
        """How many rows have each combination of values, and samples kept for those who ask for them later.

        None where the engine cannot give both in one pass.
        """
        steps = self.usual_steps
        with self.reading():
            both = self.engine.looked_through(self.rows, columns, names, most, steps)
        if both is None:
            return None
        counted, samples = both
        for step, rows in samples.items():
            self.remember_sample(step, rows.rename_columns(list(columns)))
        return counted

    @property
    def usual_steps(self) -> set[int]:
        """The steps of the samples that are often taken; none of a table that is small enough to be taken whole."""
        return {step for step in map(self.step_for, USUAL_SAMPLES) if step > 1}

    def remember_sample(self, step: int, rows: pa.Table) -> None:
        """Keep some columns of every ``step``-th row, for those who ask for them later."""
        self._sampled.setdefault(step, {}).update(zip(rows.column_names, rows.columns, strict=True))

    @cached_property
    def _sampled(self) -> dict[int, dict[str, pa.ChunkedArray]]:
        """Columns of samples that were kept when the table was counted, by step."""
        return {}

    def thinned(self, rows: int) -> Table:
        """The table with the rows that :meth:`sample` gives, computed once and kept."""
        step = self.step_for(rows)
        if step == 1:
            return self
        if step not in self._thinned:
            here = self._brought.columns.keys() >= set(self.names)
            kept = self.sample(self.names, rows) if here else self._spaced(step, self.names)

            def spaced() -> Rows:
                return self.engine.held(self.every(step).rows)

            if kept is None:
                with self.reading():
                    self._thinned[step] = self.with_rows(spaced(), self.columns)
            else:
                # These are all its rows, in order, and they are here: the engine may never need them.
                rows_later = spaced if here else partial(self.engine.of_arrow, kept)
                thin = self._thinned[step] = self.with_rows(rows_later, self.columns)
                thin._brought.columns.update(zip(kept.column_names, kept.columns, strict=True))
                vars(thin)["_row_count"] = kept.num_rows
        return self._thinned[step]

    def _spaced(self, step: int, columns: Sequence[str]) -> pa.Table | None:
        """Columns of every ``step``-th row, kept from before, or if the engine need not read all rows for them."""
        kept = self._kept(step, columns)
        if kept is None:
            with self.reading():
                kept = self.engine.spaced(self.rows, columns, step)
            if kept is not None:
                self.remember_sample(step, kept.rename_columns(list(columns)))
        return kept

    def _kept(self, step: int, columns: Sequence[str]) -> pa.Table | None:
        """Columns of every ``step``-th row, if they were all kept."""
        import pyarrow as pa

        kept = self._sampled.get(step, {})
        return pa.table([kept[name] for name in columns], names=list(columns)) if kept.keys() >= set(columns) else None

    def every(self, step: int) -> Table:
        """Every ``step``-th row of the table; nothing is read yet."""
        import narwhals as nw

        with self.reading():
            rows = self.engine.where(self.rows, nw.col(ROW) % step == 0)
        return self.with_rows(rows, self.columns)

    def spread(self, rows: int) -> Table:
        """About so many rows, spread over the table without a period; nothing is read yet.

        Where rows take turns, a case and its control, every second one would all be cases. Multiples of the golden
        section fall evenly between whole numbers, and never into step with anything.
        """
        import narwhals as nw

        most = _WHOLE * rows // max(1, self.row_count())
        with self.reading():
            kept = self.engine.where(self.rows, nw.col(ROW).cast(nw.Int64) * _GOLDEN % _WHOLE < most)
        return self.with_rows(kept, self.columns)

    def step_for(self, rows: int) -> int:
        """The step of a sample of at most so many rows: 1 if the table has no more."""
        if rows < 1:
            raise ArgumentError(f"a sample needs at least one row, not {rows}")
        return max(1, -(-self.row_count() // rows))

    def row_count(self) -> int:
        """Number of rows, counted once: they do not change."""
        return self._row_count

    @cached_property
    def _row_count(self) -> int:
        import narwhals as nw

        if self.remembered:
            return int(self.remembered[0].records.sum())
        with self.reading():
            counted = self.engine.counted(self.rows, [], [], 1)
        if counted is None:
            counted = self.collected(self.rows.select(nw.len().alias("n")))
        return int(counted.column("n")[0].as_py())

    def sample(self, columns: Sequence[str], rows: int) -> pa.Table:
        """At most ``rows`` rows, evenly spaced, in order: those whose index is a multiple of a step.

        Guarantees
        ----------
        The rows depend only on the number of rows, so that a table and its release give the same ones.
        """
        import narwhals as nw
        import pyarrow as pa

        step = self.step_for(rows)
        whole = self.brought(columns)
        if whole is not None:
            return whole if step == 1 else whole.take(pa.array(range(0, whole.num_rows, step)))
        if step > 1 and step not in self._thinned:
            kept = self._spaced(step, columns)
            if kept is not None:
                return kept
        if step in self._thinned:
            return self._thinned[step].sample(columns, rows)
        plain, names = self.plainly(columns)
        with self.reading():
            placed = self.engine.indexed(plain)
            spaced = (placed if step == 1 else placed.filter(nw.col(ROW) % step == 0)).sort(ROW)
        return self.collected(spaced.select(*names)).rename_columns(list(columns))

    def head(self, columns: Sequence[str], rows: int) -> pa.Table:
        """Some ``rows`` rows, whichever are cheapest to read; for a first look, not for counting."""
        whole = self.brought(columns)
        if whole is not None:
            return whole.slice(0, rows)
        before = self._heads.get(rows)
        if before is None or not set(columns) <= set(before.column_names):
            self.require(columns)
            before = self.engine.first(self.rows, columns, rows)
            if before is None:
                plain, names = self.plainly(columns)
                before = self.collected(plain.select(*names).head(rows))
            before = self._heads[rows] = before.rename_columns(list(columns))
        return before.select(list(columns))

    @cached_property
    def _heads(self) -> dict[int, pa.Table]:
        """The first looks that were taken before, by their number of rows."""
        return {}

    def batches(self, columns: Sequence[str], rows: int) -> Iterator[pa.Table]:
        """All rows of the columns, in order, about ``rows`` of them at a time."""
        import pyarrow as pa

        plain, names = self.plainly(columns)
        with self.reading():
            for batch in self.engine.batches(plain, names, rows):
                yield pa.Table.from_batches([batch]).rename_columns(list(columns))

    def pinned(self) -> Table:
        """The table with rows that are the same however often they are read; refused where that cannot be ensured.

        Rows of a file are assumed to be, until :meth:`sha256` says otherwise.
        """
        with self.reading():
            return self.changed(self.engine.pinned(self.rows), self.columns, same=self.names)

    def require_unchanged(self) -> None:
        """Raise a SourceError if the files are no longer those that were opened, or were written to since."""
        try:
            same = self.path is None or tuple(map(stamp_of, self.parts)) == self.stamp
        except OSError:
            same = False
        if not same:
            raise self._changed()

    def _changed(self) -> SourceError:
        words = "changed while it was read: nothing was released; run again on a copy of it"
        return SourceError(f"{self.name} {words}")

    def sha256(self) -> str | None:
        """SHA-256 of the file in hex; for several files, that of their names and SHA-256; None if it is not a file.

        Guarantees
        ----------
        A SourceError if the files are no longer those that were opened, or were written to since.
        """
        if self.path is None:
            return None
        try:
            digests = [file_sha256(part) for part in self.parts]
        except OSError as error:
            raise self._changed() from error
        self.require_unchanged()
        if self.parts == (self.path,):
            return digests[0]
        names = (part.relative_to(self.path).as_posix() for part in self.parts)
        lines = "".join(f"{digest}  {name}\n" for name, digest in zip(names, digests, strict=True))
        return hashlib.sha256(lines.encode()).hexdigest()


def batched(names: Iterable[str], size: int) -> Iterator[list[str]]:
    """Names, ``size`` at a time."""
    listed = list(names)
    for start in range(0, len(listed), size):
        yield listed[start : start + size]


def stamp_of(path: Path) -> Stamp:
    """Which file a path leads to, and when it was last written to or renamed."""
    status = path.stat()
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
