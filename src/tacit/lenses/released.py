"""What the answers of ``protect`` have in common: where the release is, a copy elsewhere, its data as a frame."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from tacit import document as doc
from tacit.release.certificate import Certificate
from tacit.release.data import require_certified
from tacit.release.directory import copied_release
from tacit.report.result import Result
from tacit.tables.formats.arrow import without_remains
from tacit.tables.formats.frames import in_arrow
from tacit.tables.sources import open_table

# Rows read at a time.
BATCH = 250_000


class PassingFolder:
    """A folder that nobody else may enter, for as long as this object or the process lives."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="tacit-"))
        weakref.finalize(self, _removed, self.path, os.getpid())


def _removed(path: Path, owner: int) -> None:
    # A forked process has a copy of this object, and must not delete the folder of its parent.
    if os.getpid() == owner:
        shutil.rmtree(path, ignore_errors=True)


@dataclass(frozen=True)
class ReleaseResult(Result):
    """A release that was written to the directory ``out``.

    If no directory was named, it is ``held`` in a folder that is deleted together with the result.
    """

    out: str
    held: PassingFolder | None = field(default=None, kw_only=True, repr=False, compare=False)

    def __fspath__(self) -> str:
        """Its directory: wherever the path of a release is expected, the result will do."""
        return self.out

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> Self:
        """Put a copy of the release at ``path``, whole or not at all; returns the result for that copy.

        ``overwrite`` replaces another release, and nothing else.

        Raises
        ------
        SourceError
            If the release is no longer what was certified.
        """
        copied_release(self.out, Path(path), overwrite=overwrite)
        return replace(self, out=str(path), held=None)

    def place_tile(self, beside: str) -> doc.Tile:
        """Where the release is, only for the terminal."""
        if self.held is None:
            return doc.Tile("Release", doc.FilePath(self.out), beside, where="terminal")
        return doc.Tile("Release", "not saved yet", "save(path) puts it where you say", where="terminal")


@dataclass(frozen=True)
class ReleasedTable(ReleaseResult):
    """A release whose data is a table."""

    data_file: str
    certificate: Certificate
    framed: Callable[[Any], Any] = field(default=in_arrow, kw_only=True, repr=False, compare=False)

    def frame(self) -> Any:
        """The released data as the kind of frame that went in: pandas, Polars, Arrow, a DuckDB relation, Spark.

        If a file went in, it is an Arrow table. Rows are in the order of the original; a pandas index is not part of a
        release, so the index is new. A column of cells is text, unless every row states a single value or that it is
        missing: then the column has its original type.

        Raises
        ------
        SourceError
            If the data is no longer what was certified.
        """
        import pyarrow as pa

        table = open_table(require_certified(Path(self.out), self.certificate))
        data = self._typed(pa.concat_tables(table.batches(table.names, BATCH)))
        return self.framed(pa.Table.from_batches(map(without_remains, data.to_batches()), data.schema))

    def _typed(self, data: Any) -> Any:
        """The released data in the types that a reader expects, as far as they can be kept."""
        return data
