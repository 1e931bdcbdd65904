"""DuckDB's native corner: connections, what its errors mean, and order-keeping lookups in SQL."""

from __future__ import annotations

import atexit
import glob
import os
import re
import secrets
import shutil
import tempfile
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from tacit.errors import DataError, EngineError, SourceError, TacitError

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

Answer = TypeVar("Answer")

# Without a limit an ordered COPY holds more rows the more there are; with one it is as fast. At this one counting
# four million groups still takes no longer, and a rewrite by join and sort half as long again.
MEMORY_MB = 250

SETTINGS = "SET TimeZone = 'UTC'; SET enable_progress_bar = false"

# Names of variables and types on a connection that may be the caller's own.
_serial = count()
_starting = threading.Lock()
# By process, because a fork must not use its parent's threads.
_databases: dict[int, tuple[duckdb.DuckDBPyConnection, Path]] = {}
# Where they spill.
_directories: dict[int, Path] = {}
_connections: weakref.WeakKeyDictionary[duckdb.DuckDBPyConnection, Path] = weakref.WeakKeyDictionary()


def connect(*, own: bool = False) -> duckdb.DuckDBPyConnection:
    """A connection of its own to this process's database in memory, or to an ``own`` database.

    The database spills to a private directory and fetches nothing from the network. To start one takes 20 ms, so
    tables share it; what a table holds on its connection is temporary and its own. A file can be attached to one
    database once, so whoever attaches needs an own one.
    """
    if own:
        database, spill = _database()
        _connections[database] = spill
        database.execute(SETTINGS)
        return database
    with _starting:
        if os.getpid() not in _databases:
            _databases[os.getpid()] = _database()
        database, spill = _databases[os.getpid()]
        connection = database.cursor()
    _connections[connection] = spill
    connection.execute(SETTINGS)
    return connection


def _database() -> tuple[duckdb.DuckDBPyConnection, Path]:
    import duckdb

    # DuckDB makes the directory when it first spills and removes it when the database goes. It lets everybody look
    # into it, so that it stands in one that does not.
    spill = _private() / secrets.token_hex(8)
    database = duckdb.connect(
        ":memory:",
        config={
            "temp_directory": str(spill),
            "memory_limit": f"{min(MEMORY_MB, _physical_mb() * 3 // 5)}MB",
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
        },
    )
    return database, spill


def _private() -> Path:
    """A directory of this process that nobody else can look into."""
    if os.getpid() not in _directories:
        _directories[os.getpid()] = Path(tempfile.mkdtemp(prefix=f"tacit-spill-{os.getpid()}-"))
    return _directories[os.getpid()]


@atexit.register
def _leave() -> None:
    for database, _ in _databases.values():
        database.close()
    _databases.clear()
    shutil.rmtree(_directories.pop(os.getpid(), ""), ignore_errors=True)


def _physical_mb() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 20


def identifier(name: str) -> str:
    """A name as SQL reads it, whatever is in it."""
    return '"' + name.replace('"', '""') + '"'


def text(value: str | Path) -> str:
    """A text literal."""
    return "'" + str(value).replace("'", "''") + "'"


def pattern(path: Path) -> str:
    """The name of a file as a literal for DuckDB's readers, which take ``[1]`` or ``*`` in a name for a pattern."""
    return text(glob.escape(str(path)))


def renamed(relation: duckdb.DuckDBPyRelation, columns: Sequence[str], names: Sequence[str]) -> duckdb.DuckDBPyRelation:
    """Some columns of a relation under other names."""
    parts = (f"{identifier(old)} AS {identifier(new)}" for old, new in zip(columns, names, strict=True))
    return relation.project(", ".join(parts))


def variable(relation: duckdb.DuckDBPyRelation, values: pa.Array, sql: str = "list(v ORDER BY i)") -> str:
    """Hold ``values`` (or what ``sql`` makes of them) on the relation's connection; gives the SQL that reads them."""
    import pyarrow as pa

    name = f"tacit_{next(_serial)}"
    # DuckDB finds this table by the name of the Python variable.
    tacit_values = pa.table({"i": pa.array(range(len(values)), pa.int64()), "v": values})
    relation.query("tacit_unused", f"SET VARIABLE {name} = (SELECT {sql} FROM tacit_values)")
    del tacit_values
    return f"getvariable('{name}')"


def constant_list(relation: duckdb.DuckDBPyRelation, values: pa.Array, kind: str | None = None) -> str:
    """Hold ``values`` as a list (of type ``kind``) on the relation's connection; gives the SQL that reads it.

    A list in a table of one row is looked into without being built again for every batch, as a variable would be,
    and the cross product with one row keeps the order.
    """
    import pyarrow as pa

    name = f"tacit_{next(_serial)}"
    # DuckDB finds this table by the name of the Python variable.
    tacit_values = pa.table({"v": pa.ListArray.from_arrays(pa.array([0, len(values)], pa.int32()), values)})
    cast = f"v::{kind}[]" if kind else "v"
    relation.query("tacit_unused", f"CREATE TEMP TABLE {name} AS SELECT {cast} AS v FROM tacit_values")
    del tacit_values
    return f"(SELECT v FROM {name})"


def enumeration(relation: duckdb.DuckDBPyRelation, labels: Sequence[str]) -> str:
    """Make an enumeration type of ``labels`` on the relation's connection; gives its name.

    Text becomes its code by one look into a hash table, and, unlike a join, the rows stay in order.
    """
    import pyarrow as pa

    name = f"tacit_{next(_serial)}"
    if len(labels) <= 1000:
        written = ", ".join(text(label) for label in labels)
    else:
        written = f"SELECT unnest({variable(relation, pa.array(labels, pa.string()))})"
    relation.query("tacit_unused", f"CREATE TEMP TYPE {name} AS ENUM ({written})")
    return name


@contextmanager
def reading(name: str) -> Iterator[None]:
    """Within it, what DuckDB refuses becomes one line that names the source."""
    import duckdb

    try:
        yield
    except duckdb.InterruptException as error:
        raise KeyboardInterrupt from error
    except RuntimeError as error:
        # What the Python client makes of Ctrl-C in a query of its own thread.
        if str(error) == "Query interrupted":
            raise KeyboardInterrupt from error
        raise
    except duckdb.Error as error:
        # Ctrl-C while DuckDB reads a Python object comes back inside another error.
        if "KeyboardInterrupt" in str(error):
            raise KeyboardInterrupt from error
        raise translated(error, name) from error


def answered(call: Callable[[], Answer]) -> Answer:
    """What ``call`` gives, which asks DuckDB; Ctrl-C is heard at once.

    DuckDB 2.0 hears of Ctrl-C now and then only, and one query interrupted in ten waits for ever for its own threads.
    So the query runs on another thread, is interrupted from here, and left behind if it does not stop.
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
        return EngineError(f"DuckDB ran out of memory on {name}: ask for fewer columns, or free memory or disk space")
    first = re.sub(r"\s+", " ", message.splitlines()[0]).strip() if message else "no reason given"
    if isinstance(error, duckdb.IOException | duckdb.InvalidInputException | duckdb.SerializationException):
        return SourceError(f"cannot read or write {name}: {first}")
    if isinstance(error, duckdb.ConversionException | duckdb.OutOfRangeException):
        return DataError(f"a value of {name} does not fit its column: {first.split(':')[0]}")
    return EngineError(f"DuckDB refused a question about {name}: {first}")


def _csv_reason(message: str) -> str:
    ragged = re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", message)
    if ragged:
        return f"it has {ragged[2]} cells where the header has {ragged[1]}; mend the line, or give the right delimiter"
    if re.search("unicode|utf-8|byte sequence", message, re.IGNORECASE):
        return "its bytes are not UTF-8; save the file as UTF-8"
    if re.search("quote", message, re.IGNORECASE):
        return "a quote is opened and not closed, or text follows a closing quote; mend the line"
    if re.search("line size", message, re.IGNORECASE):
        return "the line is too long; look for a quote that is not closed"
    return "it does not follow the CSV format; mend the line"


def column_type(relation: duckdb.DuckDBPyRelation, column: str) -> str:
    """The DuckDB type of a column, as SQL writes it."""
    return str(relation.types[relation.columns.index(column)])
