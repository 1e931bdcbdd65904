"""What a format must do. A new format is one file with a class of this kind, and one line in the registry."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from tacit.errors import SourceError
from tacit.tables.columns import Kind
from tacit.tables.engines import Engine
from tacit.tables.engines.protocol import Partitions
from tacit.tables.table import Table

if TYPE_CHECKING:
    import duckdb

    from tacit.tables.engines.protocol import Rows


@dataclass(frozen=True)
class SourceFile:
    """A file, or several files that form one table, and the options given for it.

    ``path`` is the file, or the folder of several; ``parts`` are the files in the order of their rows. ``name`` is what
    messages call it. ``partitions`` are columns that come from the names of folders, with a value for each part.
    """

    path: Path
    parts: tuple[Path, ...]
    name: str
    table: str | None = None
    delimiter: str | None = None
    encoding: str | None = None
    partitions: Partitions = field(default_factory=dict)


@dataclass(frozen=True)
class Opened:
    """The rows of a file on an engine, and what it takes to write a release the same way.

    ``kinds`` are those of the columns, where their types do not tell; ``name`` is what messages call the table;
    ``notes`` say what a reader would want to know about how it was read.
    """

    rows: Rows
    name: str
    kinds: Sequence[Kind] = ()
    delimiter: str | None = None
    codec: str | None = None
    notes: Sequence[str] = ()


class Format(ABC):
    """A format of files: known by the endings of their names, opened on any engine, written from a DuckDB relation."""

    name: ClassVar[str]
    endings: ClassVar[tuple[str, ...]]
    # What messages call it.
    title: ClassVar[str]
    # The options that may be given for a file: table, delimiter, encoding.
    options: ClassVar[tuple[str, ...]] = ()
    # Whether several files can be one table, and whether they may be packed (.gz, .zst).
    several: ClassVar[bool] = False
    packed: ClassVar[bool] = False
    # Whether it can be written; if not, a release is written as Parquet.
    written: ClassVar[bool] = True
    # Whether another version of the writing library may write the same cells as different bytes.
    bytes_vary: ClassVar[bool] = False
    # Whether enumerated texts are written as the texts they stand for.
    enumerated: ClassVar[bool] = False

    @abstractmethod
    def open(self, file: SourceFile, engine: Engine) -> Opened:
        """The file on an engine; its names are checked."""

    def groups(self, path: Path) -> list[int]:
        """The number of rows of each group that a file keeps together; empty where it keeps none."""
        return []

    def write(self, relation: duckdb.DuckDBPyRelation, target: Path, like: Table) -> None:
        """Write the rows in order to one file, with the delimiter or codec of the table they come from."""
        raise NotImplementedError


class SeveralTables(SourceError):
    """A file holds several tables, and none was named."""

    def __init__(self, path: str, kind: str, names: Sequence[str]) -> None:
        super().__init__(f"{path} has {len(names)} {kind}, choose one with {path}::NAME: {', '.join(names)}")
        self.names = tuple(names)


def chosen_table(shown: str, names: Sequence[str], table: str | None) -> str:
    """The table of that name among those of a database, or the only one."""
    if not names:
        raise SourceError(f"{shown} has no table")
    if table is None and len(names) > 1:
        raise SeveralTables(shown, "tables", names)
    if table is not None and table not in names:
        raise SourceError(f"{shown} has no table '{table}'; it has {', '.join(names)}")
    return table or names[0]


@contextmanager
def whole(path: Path | str, kind: str) -> Iterator[None]:
    """Within it, an error of Arrow becomes one line that names the file."""
    import pyarrow as pa

    try:
        yield
    # The name of a column may not be valid text.
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise SourceError(f"{path} is not an intact {kind} file ({reason}): copy or write it again") from error
