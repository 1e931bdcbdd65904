"""Open a file, several files, a database, an address or a frame as a table that stays in its engine."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tacit.errors import ArgumentError, EngineError, Setting, SourceError, sentence
from tacit.loading import checked_path, is_fenced, without_credentials
from tacit.tables.columns import Column, check_names, kind_of
from tacit.tables.engines import Engine, engine_class
from tacit.tables.engines.duckdb.connections import memory_limit
from tacit.tables.formats import Format, Opened, SourceFile, format_of, reads
from tacit.tables.formats.format import chosen_table
from tacit.tables.formats.frames import open_frame
from tacit.tables.formats.parts import is_several, partitions_of, parts_of
from tacit.tables.formats.remote import SCHEMES, fetched, refuse_unasked
from tacit.tables.formats.standard_input import copied_input, is_standard_input
from tacit.tables.table import Table, stamp_of

_POSTGRES = ("postgresql", "postgres")
STANDARD_INPUT = "standard input"


def open_table(
    source: Any,
    *,
    engine: str = "duckdb",
    memory: str | None = None,
    table: str | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    remote: bool = False,
) -> Table:
    """Open a table; its rows are read when a question is asked.

    Parameters
    ----------
    source : path, address or frame
        A CSV (any delimiter, first line the names), JSON (an array, or one object per line), Parquet, ORC, Arrow IPC or
        Feather file; an Excel sheet (``people.xlsx`` or ``people.xlsx::sheet``); a Stata, SPSS or SAS file; a
        DuckDB or SQLite database (``people.duckdb`` or ``people.duckdb::table``). CSV and JSON may be packed
        (``.csv.gz``, ``.csv.zst``). A folder or a pattern (``2024/*.parquet``) is one table of several files, and
        folders such as ``year=2024`` are a column. ``-`` is standard input. ``postgresql://HOST/DATABASE/TABLE`` is a
        table of a server. Or a pandas, Polars, Arrow, narwhals or Spark frame or a DuckDB relation.
    engine : str
        duckdb (default) or spark. A Spark DataFrame runs on Spark, whatever is asked.
    memory : str, optional
        The most that DuckDB may take, such as ``4GB``, before it works on disk; by default a share of what is free.
    table : str, optional
        The table of a database.
    delimiter : str, optional
        Of a CSV; found from its first lines if not given.
    encoding : str, optional
        Of text, as Python calls it (``latin-1``); found from its first bytes if not given.
    remote : bool
        Whether files at ``s3://`` and ``https://`` addresses may be fetched.

    Notes
    -----
    CSV cells are read as text, unchanged: ``007`` stays ``007``; an empty cell is missing, a quoted empty cell is
    empty text. Times in JSON are read as text for the same reason. A JSON column of mixed types is refused.
    Column names that differ only by case are refused, because DuckDB and Spark do not distinguish them.
    """
    if isinstance(source, Table):
        engine_class(engine)
        return source
    options = {"table": table, "delimiter": delimiter, "encoding": encoding}
    with memory_limit(memory) as limit:
        if isinstance(source, str | os.PathLike):
            address = os.fspath(source)
            scheme = scheme_of(address)
            if scheme in _POSTGRES:
                return _open_postgres(address, engine, limit, **options)
            return _open_path(address, scheme, engine_class(engine)(limit), remote, **options)
        if any(value is not None for value in options.values()):
            raise ArgumentError(f"{', '.join(options)} belong to files; this source is a frame")
        opened, used = open_frame(source, engine_class(engine)(limit))
        return _table(opened, used, "frame")


def scheme_of(address: str) -> str | None:
    """The scheme of an address; None for a path."""
    head, mark, _ = address.partition("://")
    return head.lower() if mark and head.isascii() and head.replace("+", "").isalnum() else None


def is_elsewhere(source: Any) -> bool:
    """Whether a source can be read only once, or is on another machine: it is opened once, and kept."""
    return isinstance(source, str) and (scheme_of(source) is not None or is_standard_input(source))


def _open_postgres(address: str, engine: str, memory: str | None, **options: str | None) -> Table:
    from tacit.tables.engines.postgres import PostgresEngine

    _refuse_fenced(address)
    if engine != PostgresEngine.name:
        words = "PostgreSQL is read by DuckDB: leave {engine} out"
        raise EngineError(sentence(words, engine=Setting("engine", engine)))
    address, mark, named = address.partition("::")
    for option in ("delimiter", "encoding"):
        if options[option] is not None:
            raise ArgumentError(f"{without_credentials(address)} has no {option} to choose: leave {option} out")
    server = PostgresEngine(address, memory)
    wanted = options["table"] or (named if mark else server.named)
    chosen = chosen_table(server.shown, server.tables(), wanted and wanted.removeprefix("public."))
    rows, kinds = server.opened(chosen)
    name = f"{server.shown}::{chosen}"
    opened = _table(Opened(rows, name, notes=server.notes), server, "postgres", address=name)
    columns = tuple(
        replace(column, kind=kind or column.kind) for column, kind in zip(opened.columns, kinds, strict=True)
    )
    check_names(opened.names, name)
    return replace(opened, columns=columns)


def _refuse_fenced(address: str) -> None:
    if is_fenced():
        raise SourceError(f"{without_credentials(address)} is outside the folder that may be read: copy it there")


def _checked_address(address: str) -> str:
    """An address as messages show it; a SourceError if it is none."""
    shown = without_credentials(address)
    try:
        urlsplit(address)
    except ValueError:
        raise SourceError(f"{shown} is not an address: check its brackets") from None
    return shown


def _open_path(address: str, scheme: str | None, engine: Engine, remote: bool, **options: str | None) -> Table:
    shown = STANDARD_INPUT if is_standard_input(address) else address
    if scheme is not None:
        _refuse_fenced(address)
        address, mark, named = address.partition("::")
        options["table"] = options["table"] or (named if mark else None)
        shown = _checked_address(address)
        if scheme not in SCHEMES and (not engine.addresses or any(options.values())):
            raise SourceError(f"{shown} is an address that Tacit cannot read: download it first")
        if not remote and scheme != "file":
            refuse_unasked(address)
        if scheme not in SCHEMES:
            return _open_address(address, shown, engine)
        read: str = str(fetched(address, engine))
    elif is_standard_input(address):
        _refuse_fenced(address)
        read = str(copied_input(address))
    else:
        checked_path(address)
        if "::" in address and options["table"] is None and not Path(address).exists():
            address, options["table"] = address.rsplit("::", 1)
            shown = address
        read = address
    file, format = _file_at(read, shown, options)
    for option, value in options.items():
        if value is not None and option not in format.options:
            raise ArgumentError(f"{shown} has no {option} to choose: it is {format.title}; leave {option} out")
    stamps = tuple(map(stamp_of, file.parts))
    with engine.reading(file.name):
        opened = format.open(file, engine)
        table = _table(opened, engine, format.name, address="-" if shown == STANDARD_INPUT else opened.name)
    return replace(table, stamp=stamps, path=file.path, parts=file.parts, folders=tuple(file.partitions))


def _open_address(address: str, shown: str, engine: Engine) -> Table:
    """Parquet at an address that the engine itself can read."""
    with engine.reading(shown):
        rows, folders = engine.of_address(address)
        table = _table(Opened(rows, shown), engine, "parquet", address=shown)
    check_names(table.names, shown)
    return replace(table, folders=folders)


def tables_at(address: str, shown: str | None = None) -> tuple[Path, list[Path]]:
    """The folder that an address of several files begins with, and those that are tables, in order."""
    folder, files = parts_of(address)
    parts = [each for each in files if reads(each)]
    if not parts:
        words = "holds no table: name a file, or a folder of CSV, Parquet, ORC, Arrow or JSON files"
        raise SourceError(f"{shown or address} {words}")
    return folder, parts


def _file_at(address: str, shown: str, options: dict[str, str | None]) -> tuple[SourceFile, Format]:
    """The files that an address stands for, and their format."""
    path = Path(address)
    if not is_several(address):
        one = SourceFile(path, (path,), shown, options["table"], options["delimiter"], options["encoding"])
        return one, _checked_format(path, shown)
    folder, parts = tables_at(address, shown)
    formats = {each: _checked_format(each, str(each)) for each in parts}
    kinds = {each.name: each for each in formats.values()}
    if len(kinds) > 1:
        two = [next(str(part) for part in parts if formats[part].name == kind) for kind in kinds][:2]
        raise SourceError(
            f"{shown} holds files of several formats ({' and '.join(two)}): name one of them, or a pattern"
        )
    (format,) = kinds.values()
    if len(parts) > 1 and not format.several:
        words = f"{shown} holds {len(parts)} files, and only CSV, Parquet, ORC, Arrow and JSON lines make one table "
        raise SourceError(f"{words}of several: name one of them")
    partitions = partitions_of(folder, parts, shown)
    file = SourceFile(
        folder, tuple(parts), shown, options["table"], options["delimiter"], options["encoding"], partitions
    )
    return file, format


def _table(opened: Opened, engine: Engine, format: str, address: str | None = None) -> Table:
    with engine.reading(opened.name):
        types = engine.schema(opened.rows)
    kinds = opened.kinds or [kind_of(dtype) for dtype in types.values()]
    columns = tuple(Column(name, kind, str(dtype)) for (name, dtype), kind in zip(types.items(), kinds, strict=True))
    return Table(
        opened.rows,
        opened.name,
        columns,
        format,
        engine,
        delimiter=opened.delimiter,
        codec=opened.codec,
        address=address,
        notes=tuple(opened.notes),
    )


def _checked_format(path: Path, shown: str) -> Format:
    if not path.exists():
        raise SourceError(f"no file {shown}: check the name and the folder")
    if not path.is_file():
        raise SourceError(
            f"{shown} is not a file but a device or a pipe, which can be read only once or never ends: save it first"
        )
    format = format_of(path)
    try:
        with path.open("rb") as file:
            empty = not file.read(1)
    except OSError as error:
        raise SourceError(f"cannot read {shown}: {error.strerror}") from error
    if empty:
        raise SourceError(f"{shown} is empty")
    return format
