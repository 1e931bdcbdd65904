"""Connections to DuckDB, how much memory they may take, and what DuckDB's errors mean."""

from __future__ import annotations

import atexit
import fcntl
import os
import re
import secrets
import shutil
import sys
import tempfile
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from tacit.errors import ArgumentError, DataError, EngineError, Setting, SourceError, TacitError, sentence

if TYPE_CHECKING:
    import duckdb

Answer = TypeVar("Answer")
_Cache = type(lru_cache(int))

# The share of the memory that is free when a database is made. Without a limit, the memory of an ordered COPY grows
# with the rows.
SHARE = 0.6
# A process locks the directory it has made within this many seconds.
FRESH = 60.0

# DuckDB would believe what a Parquet file says of its columns, and leave out questions that this seems to answer. But
# the largest number is stated without NaN, which was then counted as a number; and files may lie.
SETTINGS = "SET TimeZone = 'UTC'; SET enable_progress_bar = false; SET disabled_optimizers = 'statistics_propagation'"

_memory: ContextVar[str | None] = ContextVar("memory", default=None)
_starting = threading.Lock()
# By process, because a fork must not use its parent's threads, and by memory limit, which belongs to a database.
_databases: dict[tuple[int, str | None], tuple[duckdb.DuckDBPyConnection, Path]] = {}
# Where they spill.
_directories: dict[int, Path] = {}
_connections: weakref.WeakKeyDictionary[duckdb.DuckDBPyConnection, Path] = weakref.WeakKeyDictionary()
# How many bytes a database may take, and how many of them it leaves to arrays beside it, by where it spills.
_limits: dict[Path, int] = {}
_left: dict[Path, int] = {}


@contextmanager
def memory_limit(memory: str | None) -> Iterator[str | None]:
    """Within it, whatever is opened without a limit of its own has this one, such as ``4GB``; None changes nothing.

    Yields the limit that applies.
    """
    limit = _memory.get() if memory is None else _checked_memory(memory)
    before = _memory.set(limit)
    try:
        yield limit
    finally:
        _memory.reset(before)


def _checked_memory(memory: str) -> str:
    if re.fullmatch(r"\d+(\.\d+)? ?([KMGT]i?B)", memory, re.IGNORECASE):
        return memory
    raise ArgumentError(
        sentence("{given} is not an amount of memory: write {like}", given=repr(memory), like=Setting("memory", "4GB"))
    )


def _bytes(memory: str) -> int:
    number, unit = re.fullmatch(r"([\d.]+) ?([KMGT])i?B", memory, re.IGNORECASE).groups()  # type: ignore[union-attr]
    return int(float(number) * (1024 if "i" in memory.lower() else 1000) ** (1 + "KMGT".index(unit.upper())))


class LeftMemory:
    """Bytes that the database of a connection leaves to something beside it, for as long as this object lives.

    The database keeps at least half of what it may take.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection, size: int) -> None:
        spill = _connections[connection]
        # The last reference may go while a result of the connection is being read, which a further query would end.
        own = connection.cursor()
        _leave_more(own, spill, size)
        weakref.finalize(self, _leave_more, own, spill, -size).atexit = False


def _leave_more(connection: duckdb.DuckDBPyConnection, spill: Path, size: int) -> None:
    _left[spill] = _left.get(spill, 0) + size
    limit = _limits[spill]
    connection.execute(f"SET memory_limit = '{max(limit - _left[spill], limit // 2) >> 10}KiB'")


def free_memory() -> int:
    """Bytes that this process could still take: by what the machine, and its control group, allow."""
    pages = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    files = [(Path("/proc/meminfo"), r"MemAvailable: +(\d+) kB", 1024)]
    files += [(Path("/sys/fs/cgroup") / name, r"^(\d+)$", 1) for name in ("memory.max", "memory/memory.limit_in_bytes")]
    limits = [pages]
    for path, shape, unit in files:
        try:
            number = re.search(shape, path.read_text())
        except OSError:
            continue
        limits += [int(number[1]) * unit] if number else []
    return min(limits)


def connect(*, own: bool = False, memory: str | None = None) -> duckdb.DuckDBPyConnection:
    """A connection to this process's database in memory, or to an ``own`` database; every connection comes from here.

    The database takes at most ``memory``, spills to a private directory, and fetches nothing from the network. Starting
    one takes 20 ms, so tables share it; what a table holds on its connection is temporary and private to it. A file can
    be attached to a database only once, so attaching one takes an ``own`` database.
    """
    memory = _memory.get() if memory is None else _checked_memory(memory)
    if own:
        connection, spill = _database(memory)
    else:
        with _starting:
            shared = os.getpid(), memory
            if shared not in _databases:
                _databases[shared] = _database(memory)
            database, spill = _databases[shared]
            connection = database.cursor()
    _connections[connection] = spill
    connection.execute(SETTINGS)
    return connection


def _database(memory: str | None) -> tuple[duckdb.DuckDBPyConnection, Path]:
    import duckdb

    # DuckDB makes this directory when it first spills and removes it with the database. Everybody may read it, so it is
    # inside a private one.
    spill = _private() / secrets.token_hex(8)
    _limits[spill] = int(free_memory() * SHARE) if memory is None else _bytes(memory)
    database = duckdb.connect(
        ":memory:",
        config={
            "temp_directory": str(spill),
            "memory_limit": memory or f"{_limits[spill] >> 20}MiB",
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            # By default every 16 MB of temporary tables are written anew in memory, which nobody needs: they are
            # dropped. A file is checkpointed when it is closed.
            "checkpoint_threshold": "1TB",
        },
    )
    return database, spill


def _private() -> Path:
    """A directory of this process that no other user can read."""
    if os.getpid() not in _directories:
        _remove_abandoned()
        place = Path(tempfile.mkdtemp(prefix=f"tacit-spill-{os.getpid()}-"))
        # The system releases the lock when the process ends, however it ends.
        fcntl.flock(os.open(place, os.O_RDONLY), fcntl.LOCK_SH)
        _directories[os.getpid()] = place
    return _directories[os.getpid()]


def private_file(owner: object, suffix: str) -> Path:
    """A name for a copy of rows that no other user can read; the file is removed with its owner or the process."""
    path = _private() / f"{secrets.token_hex(8)}{suffix}"
    weakref.finalize(owner, _forget, path)
    return path


def is_private(path: Path) -> bool:
    """Whether a file is a copy that this process made for itself."""
    return os.getpid() in _directories and path.is_relative_to(_directories[os.getpid()])


def _forget(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _remove_abandoned() -> None:
    """Remove what killed processes left behind: rows of the tables they read."""
    for place in Path(tempfile.gettempdir()).glob("tacit-spill-*"):
        with suppress(OSError):
            # A directory that has just been made is not locked yet.
            if time.time() - place.stat().st_mtime < FRESH:
                continue
            descriptor = os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(place, ignore_errors=True)
            finally:
                os.close(descriptor)


@atexit.register
def _leave() -> None:
    for database, _ in _databases.values():
        database.close()
    _databases.clear()
    _clear_caches("narwhals")
    shutil.rmtree(_directories.pop(os.getpid(), ""), ignore_errors=True)


def _clear_caches(package: str) -> None:
    """Narwhals keeps modules and types of DuckDB, which would otherwise report each type as leaked."""
    modules = [module for name, module in sys.modules.items() if name.partition(".")[0] == package]
    for kept in [each for module in modules for each in vars(module).values()]:
        if isinstance(kept, _Cache):
            kept.cache_clear()


@contextmanager
def reading(name: str) -> Iterator[None]:
    """Within it, an error of DuckDB becomes one line that names the source."""
    import duckdb

    try:
        yield
    except duckdb.InterruptException as error:
        raise KeyboardInterrupt from error
    except RuntimeError as error:
        # This is how the Python client reports Ctrl-C during a query on its own thread.
        if str(error) == "Query interrupted":
            raise KeyboardInterrupt from error
        raise
    except duckdb.Error as error:
        # Ctrl-C while DuckDB reads a Python object comes back inside another error.
        if "KeyboardInterrupt" in str(error):
            raise KeyboardInterrupt from error
        raise translated(error, name) from error


def answered(call: Callable[[], Answer]) -> Answer:
    """The result of ``call``, which queries DuckDB; Ctrl-C takes effect at once.

    DuckDB 2.0 notices Ctrl-C only now and then, and one interrupted query in ten waits for ever for its own threads.
    So the query runs on another thread, is interrupted from here, and is abandoned if it does not stop.
    """
    if threading.current_thread() is not threading.main_thread():
        return call()
    answers: list[Answer] = []
    failures: list[BaseException] = []
    done = threading.Event()

    def ask() -> None:
        try:
            answers.append(call())
        except BaseException as error:  # noqa: BLE001 - raised again below, on the thread that asked
            failures.append(error)
        finally:
            done.set()

    threading.Thread(target=ask, daemon=True).start()
    try:
        done.wait()
    except KeyboardInterrupt:
        _stop(done)
        raise
    if failures:
        raise failures[0]
    return answers[0]


def _stop(done: threading.Event) -> None:
    for _ in range(20):
        for connection in list(_connections):
            connection.interrupt()
        if done.wait(0.1):
            return
    for spill in list(_connections.values()):
        shutil.rmtree(spill, ignore_errors=True)


def translated(error: duckdb.Error, name: str) -> TacitError:
    """What a DuckDB error means, in one line, without the values DuckDB quotes."""
    import duckdb

    message = str(error)
    line = re.search(r"CSV Error on Line: (\d+)", message)
    if line:
        return DataError(f"{name}, line {line[1]}: {_csv_reason(message)}")
    if isinstance(error, duckdb.OutOfMemoryException):
        return EngineError(
            sentence(
                "DuckDB ran out of memory on {name}: ask for fewer columns, free disk space, or set {memory}",
                name=name,
                memory=Setting("memory"),
            )
        )
    if "CSV Parser state machine" in message:
        return DataError(f"{name} mixes different line endings: save it with one kind")
    line = re.search(r"JSON.* line (\d+)", message)
    if line:
        # Of text that is not JSON, DuckDB 2.0 names the line after it.
        number = int(line[1]) - message.startswith("Invalid Input Error: Malformed JSON")
        words = "not a JSON object, or it has a key twice, or types that differ from those of other lines; fix it"
        return DataError(f"{name}, line {number}: {words}")
    if isinstance(error, duckdb.PermissionException):
        return SourceError(f"{name} has a view that reads other files of this machine: write its rows to a table first")
    first = re.sub(r"\s+", " ", message.splitlines()[0]).strip() if message else "no reason given"
    if isinstance(error, duckdb.IOException | duckdb.InvalidInputException | duckdb.SerializationException):
        return SourceError(f"cannot read or write {name}: {first}")
    if isinstance(error, duckdb.ConversionException | duckdb.OutOfRangeException):
        return DataError(f"a value of {name} does not fit its column: {first.split(':')[0]}")
    return EngineError(f"DuckDB refused a query on {name}: {first}")


def _csv_reason(message: str) -> str:
    ragged = re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", message)
    if ragged:
        cells = "1 cell" if ragged[2] == "1" else f"{ragged[2]} cells"
        return f"it has {cells} where the header has {ragged[1]}; fix the line, or give the right delimiter"
    if re.search("unicode|utf-8|byte sequence", message, re.IGNORECASE):
        return "its bytes are not UTF-8; save the file as UTF-8"
    if "Maximum line size" in message:
        return "the line is longer than 2 MB; look for a quote that is not closed"
    if re.search("quote", message, re.IGNORECASE):
        return (
            "a quote is opened but not closed, text follows a closing quote, or the line ending differs from the "
            "first; fix the line"
        )
    return "it does not follow the CSV format; fix the line"
