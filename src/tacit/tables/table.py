"""A table that stays in its engine: what it is called, what its columns are, and a few bounded looks into it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from tacit.errors import ArgumentError, ColumnError, DataError

if TYPE_CHECKING:
    import narwhals as nw
    import pyarrow as pa

    from tacit.tables.spark_engine import Positions

Kind = Literal["text", "number", "boolean", "time", "other"]
Engine = Literal["duckdb", "spark"]

# The hidden column that keeps the order of the rows; no table may have one of this name.
ROW = "__tacit_row__"


@dataclass(frozen=True)
class Column:
    """A column: its name, what kind of values it holds and how the engine stores them.

    ``order`` is the order of its values where that is not the order of the values themselves (bins).
    """

    name: str
    kind: Kind
    dtype: str
    order: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Table:
    """Rows in an engine, in a fixed order. Made by :func:`tacit.tables.open_table`.

    Attributes
    ----------
    rows : narwhals LazyFrame
        The columns and the hidden column of row positions.
    name : str
        What messages call the table.
    columns : tuple of Column
        In the order of the source.
    format : str
        csv, parquet, jsonl, arrow, duckdb (a database), or frame.
    engine : str
        duckdb or spark.
    path : Path or None
        The file, if it came from one.
    delimiter, codec : str or None
        Of a CSV, and of a Parquet file: a release is written the same way.
    """

    rows: nw.LazyFrame[Any]
    name: str
    columns: tuple[Column, ...]
    format: str
    engine: Engine
    path: Path | None = None
    delimiter: str | None = None
    codec: str | None = None
    positions: Positions | None = None

    @property
    def frame(self) -> nw.LazyFrame[Any]:
        """The table as a lazy narwhals frame; nothing is read yet."""
        return self.rows.drop(ROW)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return tuple(column.name for column in self.columns)

    def __getitem__(self, name: str) -> Column:
        """The column of that name."""
        for column in self.columns:
            if column.name == name:
                return column
        raise ColumnError(name, self.names)

    def require(self, columns: Sequence[str]) -> None:
        """Raise a ColumnError for the first of ``columns`` that the table lacks."""
        if isinstance(columns, str):
            raise ArgumentError(f"columns must be a list of names, not the text '{columns}': write ['{columns}']")
        for name in columns:
            self[name]

    def require_countable(self, columns: Sequence[str]) -> None:
        """Raise for columns that are not there, named twice, or hold lists, structs or bytes."""
        self.require(columns)
        for position, name in enumerate(columns):
            if name in columns[:position]:
                raise ArgumentError(f"column '{name}' is named twice: name it once")
            if self[name].kind == "other":
                raise DataError(
                    f"column '{name}' of {self.name} holds {self[name].dtype}, which has no values to count: "
                    "leave it out, or turn it into text first"
                )

    def select(self, columns: Sequence[str]) -> Table:
        """The table with these columns only, in this order."""
        self.require(columns)
        from tacit.tables import engines

        return self.with_rows(engines.picked(self, columns), [self[name] for name in columns])

    def drop(self, columns: Sequence[str]) -> Table:
        """The table without these columns."""
        self.require(columns)
        return self.select([name for name in self.names if name not in columns])

    def with_rows(self, rows: nw.LazyFrame[Any], columns: Sequence[Column]) -> Table:
        """This table with other rows; it still knows where it came from."""
        return replace(self, rows=rows, columns=tuple(columns))

    def reading(self) -> AbstractContextManager[None]:
        """Within it, what the engine refuses becomes one line under this table's name."""
        from tacit.tables import engines

        return engines.reading(self)

    def row_count(self) -> int:
        """Number of rows."""
        import narwhals as nw

        from tacit.tables import engines

        return int(engines.collected(self, self.rows.select(nw.len().alias("n"))).column("n")[0].as_py())

    def sample(self, columns: Sequence[str], rows: int) -> pa.Table:
        """At most ``rows`` rows, evenly spaced, in order: those whose index is a multiple of a step.

        Guarantees
        ----------
        The rows depend on the number of rows alone, so that a table and its release give the same ones.
        """
        self.require(columns)
        if rows < 1:
            raise ArgumentError(f"a sample needs at least one row, not {rows}")
        from tacit.tables import engines

        step = max(1, -(-self.row_count() // rows))
        with self.reading():
            return engines.every(self, columns, step)

    def head(self, columns: Sequence[str], rows: int) -> pa.Table:
        """Some ``rows`` rows, the cheapest to read; for a first look, not for counting."""
        self.require(columns)
        from tacit.tables import engines

        names = [f"c{at}" for at in range(len(columns))]
        with self.reading():
            found = engines.picked(self, columns, names).select(*names).head(rows).collect("pyarrow").to_native()
        return found.rename_columns(list(columns))

    def sha256(self) -> str | None:
        """SHA-256 of the file in hex; None for a frame, whose bytes depend on how it is held in memory."""
        if self.path is None:
            return None
        with self.path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
