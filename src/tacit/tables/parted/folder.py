"""Write a table as a folder of Parquet parts, each by the worker that has its rows, and tell the parts apart again."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import accumulate
from pathlib import Path

from tacit.errors import DataError, EngineError, Setting, SourceError, sentence
from tacit.tables.engines import Engine, engine_class
from tacit.tables.formats import FORMATS
from tacit.tables.formats.format import whole
from tacit.tables.table import Table, batched
from tacit.tables.writing import at as reached, drafted, os_errors

# The codecs that workers have without further packages.
_CODECS = ("snappy", "gzip", "zstd", "lz4_raw", "uncompressed")
# By Spark: the partition, and the how manieth file of it.
_WRITTEN = re.compile(r"part-(\d+)-.*-c(\d+)\..*parquet")
# Parts that are written again in one job.
_TOGETHER = 64


def refuse_parts(engine: Engine) -> None:
    """Refuse an engine without workers, who would write the parts."""
    if not engine.has_workers:
        words = "parts are written by the workers of Spark: leave out {parts}, or use {engine}"
        raise EngineError(sentence(words, parts=Setting("parts", True), engine=Setting("engine", "spark")))


def names_of_parts(parts: int) -> list[str]:
    """The names of the files of a folder of so many parts, in order: nobody can choose any."""
    width = max(5, len(str(parts - 1)))
    return [f"part-{at:0{width}d}.parquet" for at in range(parts)]


def _known(codec: str | None) -> str:
    """What parts are compressed with: as the files of a table, where the workers can do that."""
    return codec if codec in _CODECS else "zstd"


def write_parts(table: Table, folder: Path, *, like: Table, shared: Path) -> None:
    """Write the rows to files ``part-00000.parquet`` and so on of an empty folder, by the workers of the engine.

    Parameters
    ----------
    table : Table
    folder : Path
        Where the parts belong. Only this process need reach it; it is on the same disk as ``shared``.
    like : Table
        The table that the rows come from: as many rows, and compressed in the same way.
    shared : Path
        A folder that the workers may write to, under the path that it has here. What is left in it can be removed.

    Guarantees
    ----------
    The parts, in the order of their names, hold the rows in their order; each part holds some. No row comes to this
    process. If this process does not see all that the workers wrote, it is a SourceError.
    """
    with table.reading(), os_errors(shared):
        table.engine.write_parts(table.rows, table.names, shared / "parts", _known(like.codec))
        reached("parts written")
        files = _in_order(shared / "parts")
    counted = [(part, rows) for part in files if (rows := rows_of_part(part))]
    here, expected = sum(rows for _, rows in counted), like.row_count()
    if here != expected:
        raise SourceError(
            f"of {expected:,} rows that the workers wrote, {here:,} are seen here: choose a folder for the release "
            "that the workers and this process share"
        )
    with os_errors(folder):
        for (part, _), name in zip(counted, names_of_parts(len(counted)), strict=True):
            os.rename(part, folder / name)


def rows_of_part(part: Path) -> int:
    """The number of rows of a part, as its footer says."""
    import pyarrow.parquet as pq

    with whole(part, "Parquet"):
        return int(pq.read_metadata(part).num_rows)


def ends_within(table: Table) -> frozenset[int] | None:
    """The numbers of rows after which a part of the table may end; None where its engine does not tell.

    Workers read whole row groups of Parquet files, and whole partitions of anything else.
    """
    format = FORMATS.get(table.format)
    sizes: Sequence[int] | None = [size for part in table.parts for size in (format.groups(part) if format else ())]
    if not sizes:
        with table.reading():
            sizes = table.engine.rows_of_partitions()
    return None if sizes is None else frozenset(accumulate(sizes))


def _in_order(folder: Path) -> list[Path]:
    """The files that were written, in the order of their partitions."""
    matched = [(match, each) for each in folder.glob("*") if (match := _WRITTEN.fullmatch(each.name))]
    return [each for match, each in sorted(matched, key=lambda pair: (int(pair[0][1]), int(pair[0][2])))]


def parts_written_again(parts: Sequence[Path], *, codec: str) -> Iterator[tuple[Path, Path]]:
    """Each part of a folder, and a file that the workers of Spark wrote of its rows alone.

    The files are removed in the end. Where workers are on other machines, they are written beside the release that the
    folder is in.

    Guarantees
    ----------
    The same rows give the same bytes, with the same version of Spark, but for the order in which a footer lists the
    encodings of a column: what else differs says more than its rows.
    """
    engine, folder = engine_class("spark")(), parts[0].parent
    with engine.reading(str(folder)), _shared_beside(folder.parent, engine) as shared, os_errors(shared):
        for at, names in enumerate(batched(map(str, parts), _TOGETHER)):
            some, place = [Path(name) for name in names], shared / f"again-{at}"
            engine.copy_parts(some, place, _known(codec))
            written = _in_order(place)
            if len(written) != len(some):
                raise DataError(f"{folder} holds a part without rows, which protect does not write: make it anew")
            yield from zip(some, written, strict=True)


@contextmanager
def _shared_beside(release: Path, engine: Engine) -> Iterator[Path]:
    """A passing folder that the workers may write to."""
    if engine.is_here:
        with tempfile.TemporaryDirectory(prefix="tacit-parts-") as place:
            yield Path(place)
        return
    with os_errors(release.parent), drafted(Path(os.path.realpath(release))) as place:
        place.mkdir()
        yield place
