"""Write a table in the format it came in, and make files appear complete or not at all."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tacit.errors import ArgumentError, SourceError, TacitError
from tacit.tables.engines.duckdb.connections import reading
from tacit.tables.engines.duckdb.sql import enumerated, in_texts
from tacit.tables.formats import FORMATS, ending_of, written_as
from tacit.tables.table import Table

# Called with the name of every step of writing; `make faults` stops a run there, and nothing else uses it.
watchers: list[Callable[[str], None]] = []
_drafts: set[Path] = set()
_appeared: list[Path] = []


def suffix_for(like: Table) -> str:
    """The ending of a file written like this table: that of its files, or .parquet for a database or frame."""
    if like.parts and written_as(like.format).name == like.format:
        return ending_of(like.parts[0])
    return ".parquet"


def told_of_writing(like: Table, *, parts: bool = False) -> tuple[str, ...]:
    """Notes on a release of this table, written in ``parts`` or as one file: where its form is not the original's."""
    if parts:
        return (
            "the release is a folder of Parquet parts, whose rows follow each other as in the original: which part a "
            "row is in reveals where it was; shuffle the rows first if that gives something away",
        )
    notes, format = [], FORMATS.get(like.format)
    title = "a PostgreSQL table" if format is None and like.address else None
    if format is not None and not format.written:
        title = format.title
    if title is not None:
        notes.append(f"the release is written as Parquet: {title} can be read but not written")
    if len(like.parts) > 1:
        notes.append(
            f"the release is one file; its rows follow each other as in the {len(like.parts)} files of the original, "
            "so that their place reveals which file they are from: shuffle them first if that gives something away"
        )
    return tuple(notes)


def write_table(table: Table, path: str | os.PathLike[str], *, like: Table) -> None:
    """Write the rows, in order, to one file in the format of ``like``; databases and frames become Parquet.

    CSV keeps the delimiter and the text of every cell (quotes only where they are needed); Parquet keeps the codec.
    The file is made in place: use :func:`whole_file` around it.
    """
    target = Path(path)
    spooled = table.engine.spooled(table.rows, table.names)
    format = written_as(like.format)
    # In a column that Tacit wrote, every label is released; another enumeration may have labels that are not.
    own = {column.name: column.told for column in table.columns if column.told} if format.enumerated else {}
    with table.reading(), spooled as relation, reading(str(target)), os_errors(target):
        format.write(enumerated(in_texts(relation, own), own), target, like)


def refuse_source(source: Any, target: str | os.PathLike[str] | None, what: str) -> None:
    """Refuse, before any work is done, to write over the table that is read."""
    if target is None or not isinstance(source, str | os.PathLike | Table):
        return
    sources = source.parts if isinstance(source, Table) else (Path(source),)
    if Path(target).resolve() in [each.resolve() for each in sources]:
        raise ArgumentError(f"{target} is the table itself: choose another name for the {what}")


def at(step: str) -> None:
    """A step of writing is done. Nothing happens, unless a test is watching: it may then fail, or end the process."""
    for watcher in watchers:
        watcher(step)


@contextmanager
def os_errors(target: Path) -> Iterator[None]:
    """Within it, an error of the system becomes one line that names the target."""
    try:
        yield
    except OSError as error:
        raise SourceError(f"cannot write {target}: {error.strerror or error}") from error


@contextmanager
def whole_file(path: str | os.PathLike[str], *, for_owner: bool = False) -> Iterator[Path]:
    """A file that appears under its name when the block ends well; yields the hidden sibling to write to.

    A file already there is replaced at that moment. What a killed process left behind is removed by the next call.
    A file ``for_owner`` can be read by nobody else, from its first byte on.
    """
    target = Path(os.path.abspath(path))
    with os_errors(target):
        if target.is_dir():
            raise SourceError(f"cannot write {target}: it is a directory")
        if target.exists() and not target.is_file():
            raise SourceError(f"cannot write {target}: it is a device or a pipe, which a file would replace")
        target.parent.mkdir(parents=True, exist_ok=True)
        restore_or_clean(target)
    with drafted(target) as draft:
        if for_owner:
            with os_errors(target):
                draft.touch(mode=0o600)
        yield draft
        with os_errors(target):
            if for_owner:
                draft.chmod(0o600)
            synced(draft)
            at("file written")
            os.replace(draft, target)
            has_appeared(target)
            at("file in place")
            synced(target.parent)


@contextmanager
def locked(target: Path, busy: TacitError | None = None) -> Iterator[None]:
    """Within it no other process of Tacit has the same target; if one does, it is refused with ``busy``.

    The system releases the lock when a process ends, however it ends.
    """
    import fcntl

    lock = target.with_name(f".{target.name}.tacit-lock")
    with os_errors(target):
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # The previous holder may have removed it in between: a lock on a file without a name keeps nobody out.
            ours = os.path.samestat(os.fstat(descriptor), os.stat(lock))
        except OSError:
            ours = False
        if not ours:
            words = f"another run of Tacit is writing {target}: wait for it, or choose another name"
            raise busy or ArgumentError(words)
        _drafts.add(lock)
        try:
            yield
        finally:
            _removed(lock)
            _drafts.discard(lock)
    finally:
        os.close(descriptor)


@contextmanager
def drafted(target: Path) -> Iterator[Path]:
    """The name of a hidden sibling of ``target``; whatever is under it when the block ends is removed."""
    draft = beside(target, "draft")
    _drafts.add(draft)
    try:
        yield draft
    finally:
        _removed(draft)
        _drafts.discard(draft)


def has_appeared(path: Path) -> None:
    """Note that something now exists under its final name, whatever comes after; what is in a draft does not yet."""
    if not any(path.is_relative_to(draft) for draft in _drafts):
        _appeared.append(path)


def what_appeared() -> str:
    """What this process has written so far, for the message of a run that was cut short."""
    if not _appeared:
        return "nothing was written"
    return f"{' and '.join(map(str, dict.fromkeys(_appeared)))} {'are' if len(set(_appeared)) > 1 else 'is'} written"


def abandon_drafts() -> None:
    """Remove what this process is writing, for those who must leave without unwinding."""
    for draft in list(_drafts):
        _removed(draft)
    for spill in Path(tempfile.gettempdir()).glob(f"tacit-spill-{os.getpid()}-*"):
        _removed(spill)


def beside(target: Path, role: str) -> Path:
    """A hidden sibling of ``target`` whose name says what it is for and which process made it."""
    # The suffix stays last, because writers choose a format by it.
    return target.with_name(f".{target.stem}.tacit-{role}-{os.getpid()}-{secrets.token_hex(4)}{target.suffix}")


def _left_behind(target: Path, role: str) -> list[Path]:
    shape = re.compile(rf"\.{re.escape(target.stem)}\.tacit-{role}-(\d+)-[0-9a-f]{{8}}{re.escape(target.suffix)}")
    named = [(path, shape.fullmatch(path.name)) for path in target.parent.iterdir()]
    return [path for path, match in named if match and path not in _drafts and not _runs(int(match[1]))]


def _runs(pid: int) -> bool:
    """Whether another process has this number; in a container, a killed one may have had our own."""
    if pid == os.getpid():
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def restore_or_clean(target: Path) -> None:
    """Remove drafts of dead processes; if one died between the two renames of a swap, put the old one back."""
    for old in _left_behind(target, "old"):
        if target.exists():
            _removed(old)
        else:
            os.rename(old, target)
    for draft in _left_behind(target, "draft"):
        _removed(draft)


def _removed(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def synced(path: Path) -> None:
    """Have a file or directory written to the disk."""
    descriptor: Any = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
