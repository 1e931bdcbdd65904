"""Write a table in the format it came in, and make files and directories appear whole or not at all."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.errors import ArgumentError, SourceError
from tacit.tables import duckdb_engine
from tacit.tables.duckdb_engine import text
from tacit.tables.table import Table

if TYPE_CHECKING:
    import duckdb

SUFFIXES = {"csv": ".csv", "parquet": ".parquet", "jsonl": ".jsonl", "arrow": ".arrow"}
_drafts: set[Path] = set()
_CODECS = ("snappy", "gzip", "zstd", "brotli", "lz4", "lz4_raw", "uncompressed")


def suffix_for(like: Table) -> str:
    """The ending of a file written like this table: that of its file, or .parquet for a database or frame."""
    if like.path is not None and like.format in SUFFIXES:
        return like.path.suffix
    return ".parquet"


def write_table(table: Table, path: str | os.PathLike[str], *, like: Table) -> None:
    """Write the rows, in order, to one file in the format of ``like``; databases and frames become Parquet.

    CSV keeps the delimiter and the text of every cell (quotes only where they are needed); Parquet keeps the codec.
    The file is made in place: use :func:`whole_file` or :func:`whole_directory` around it.
    """
    target = Path(path)
    with duckdb_engine.reading(str(target)), os_errors(target):
        if table.engine == "spark":
            from tacit.tables import spark_engine

            with spark_engine.spooled(table) as relation:
                duckdb_engine.answered(lambda: _write(relation, target, like))
        else:
            import narwhals as nw

            rows = nw.to_native(table.frame)
            duckdb_engine.answered(lambda: _write(rows, target, like))


def _write(relation: duckdb.DuckDBPyRelation, target: Path, like: Table) -> None:
    if like.format == "arrow":
        _write_arrow(relation, target)
        return
    if like.format == "csv":
        options = (
            f"FORMAT csv, HEADER true, DELIMITER {text(like.delimiter or ',')}, QUOTE '\"', ESCAPE '\"', NULLSTR ''"
        )
    elif like.format == "jsonl":
        options = "FORMAT json, ARRAY false"
    else:
        codec = like.codec if like.codec in _CODECS else "zstd"
        options = f"FORMAT parquet, COMPRESSION {codec}"
    relation.query("tacit_rows", f"COPY (SELECT * FROM tacit_rows) TO {text(target)} ({options})")


def _write_arrow(relation: duckdb.DuckDBPyRelation, target: Path) -> None:
    import pyarrow as pa

    packed = pa.ipc.IpcWriteOptions(compression="lz4" if target.suffix.lower() == ".feather" else None)
    reader = relation.to_arrow_reader(100_000)
    with pa.OSFile(str(target), "wb") as sink, pa.ipc.new_file(sink, reader.schema, options=packed) as writer:
        for batch in reader:
            writer.write_batch(batch)


@contextmanager
def os_errors(target: Path) -> Iterator[None]:
    """Within it, what the system refuses becomes one line that names the target."""
    try:
        yield
    except OSError as error:
        raise SourceError(f"cannot write {target}: {error.strerror or error}") from error


@contextmanager
def whole_directory(path: str | os.PathLike[str], *, overwrite: bool = False) -> Iterator[Path]:
    """A directory that appears under its name when the block ends well, and not at all otherwise.

    Yields a directory to write into, within a hidden sibling that nobody else may enter. With ``overwrite`` an
    existing directory stays until the new one is complete. What a killed process left behind is removed by the next
    call for the same path.
    """
    target = Path(os.path.abspath(path))
    with os_errors(target):
        _refuse_existing(target, overwrite)
        target.parent.mkdir(parents=True, exist_ok=True)
        _restore_or_clean(target)
        _refuse_existing(target, overwrite)
        draft = _beside(target, "draft")
        draft.mkdir(mode=0o700)
        release = draft / "release"
        release.mkdir(mode=0o755)
    _drafts.add(draft)
    try:
        yield release
        with os_errors(target):
            for file in sorted(release.rglob("*")):
                _synced(file)
            _synced(release)
            _put_in_place(release, target)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
        _drafts.discard(draft)


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A file that appears under its name when the block ends well; yields the hidden sibling to write to.

    A file already there is replaced at that moment. What a killed process left behind is removed by the next call.
    """
    target = Path(os.path.abspath(path))
    with os_errors(target):
        if target.is_dir():
            raise SourceError(f"cannot write {target}: it is a directory")
        target.parent.mkdir(parents=True, exist_ok=True)
        _restore_or_clean(target)
    draft = _beside(target, "draft")
    _drafts.add(draft)
    try:
        yield draft
        with os_errors(target):
            _synced(draft)
            os.replace(draft, target)
            _synced(target.parent)
    finally:
        draft.unlink(missing_ok=True)
        _drafts.discard(draft)


def _refuse_existing(target: Path, overwrite: bool) -> None:
    if not target.exists() and not target.is_symlink():
        return
    if not target.is_dir():
        raise ArgumentError(f"{target} is a file: choose another name for the directory")
    if not overwrite and any(target.iterdir()):
        raise ArgumentError(
            f"{target} is there already and not empty: choose another name, or replace it (--overwrite)"
        )


def abandon_drafts() -> None:
    """Remove what this process is writing, for those who must leave without unwinding."""
    for draft in list(_drafts):
        _removed(draft)
    for spill in Path(tempfile.gettempdir()).glob(f"tacit-spill-{os.getpid()}-*"):
        _removed(spill)


def _beside(target: Path, role: str) -> Path:
    # The suffix stays last, because writers choose a format by it.
    return target.with_name(f".{target.stem}.tacit-{role}-{os.getpid()}-{secrets.token_hex(4)}{target.suffix}")


def _left_behind(target: Path, role: str) -> list[Path]:
    shape = re.compile(rf"\.{re.escape(target.stem)}\.tacit-{role}-(\d+)-[0-9a-f]{{8}}{re.escape(target.suffix)}")
    found = []
    for path in target.parent.iterdir():
        match = shape.fullmatch(path.name)
        if match and not _runs(int(match[1])):
            found.append(path)
    return found


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _restore_or_clean(target: Path) -> None:
    """Remove drafts of dead processes; if one died between the two renames of a swap, put the old one back."""
    for old in _left_behind(target, "old"):
        if target.exists():
            _removed(old)
        else:
            os.rename(old, target)
    for draft in _left_behind(target, "draft"):
        _removed(draft)


def _removed(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _put_in_place(release: Path, target: Path) -> None:
    old = None
    if target.exists():
        old = _beside(target, "old")
        os.rename(target, old)
    try:
        os.rename(release, target)
    except BaseException:
        if old is not None:
            with suppress(OSError):
                os.rename(old, target)
        raise
    _synced(target.parent)
    if old is not None:
        shutil.rmtree(old, ignore_errors=True)


def _synced(path: Path) -> None:
    descriptor: Any = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
