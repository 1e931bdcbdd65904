"""Open a file, a database or a frame as a table that stays in its engine."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from tacit.errors import ArgumentError, SourceError
from tacit.loading import checked_path
from tacit.tables.columns import Column, kind_of
from tacit.tables.engines import Engine, engine_class
from tacit.tables.engines.duckdb.connections import memory_limit
from tacit.tables.formats import Format, Opened, format_of
from tacit.tables.formats.frames import open_frame
from tacit.tables.table import Table, stamp_of


def open_table(
    source: Any,
    *,
    engine: str = "duckdb",
    memory: str | None = None,
    table: str | None = None,
    delimiter: str | None = None,
) -> Table:
    """Open a table; its rows are read when a question is asked.

    Parameters
    ----------
    source : path or frame
        A CSV (any delimiter, UTF-8, first line the names), Parquet, JSONL, Arrow IPC or Feather file, an Excel sheet
        (``people.xlsx`` or ``people.xlsx::sheet``), a DuckDB database (``people.duckdb`` or ``people.duckdb::table``);
        or a pandas, Polars, Arrow, narwhals or Spark frame or a DuckDB relation.
    engine : str
        duckdb (default) or spark. A Spark DataFrame runs on Spark, whatever is asked.
    memory : str, optional
        The most that DuckDB may take, such as ``4GB``, before it works on disk; by default a share of what is free.
    table : str, optional
        The table of a database.
    delimiter : str, optional
        Of a CSV; found from its first lines if not given.

    Notes
    -----
    CSV cells are read as the text they are: ``007`` stays ``007``; an empty cell is missing, a quoted empty cell is
    empty text. Times in JSONL are read as text for the same reason. A JSONL column of mixed types is refused.
    Column names that differ by case alone are refused, because DuckDB and Spark take them for one.
    """
    if isinstance(source, Table):
        engine_class(engine)
        return source
    with memory_limit(memory) as limit:
        asked = engine_class(engine)(limit)
        if isinstance(source, str | os.PathLike):
            return _open_path(os.fspath(source), asked, table, delimiter)
        if table is not None or delimiter is not None:
            raise ArgumentError("table and delimiter belong to files; this source is a frame")
        opened, used = open_frame(source, asked)
        return _table(opened, used, "frame", None)


def _open_path(address: str, engine: Engine, table: str | None, delimiter: str | None) -> Table:
    checked_path(address)
    if "::" in address and table is None and not Path(address).exists():
        address, table = address.rsplit("::", 1)
    if re.match(r"[a-z0-9+]+://", address):
        raise SourceError(f"{address} is a remote address; Tacit reads files on this machine: download it first")
    path = Path(address)
    format = _checked_format(path)
    for option, value in (("table", table), ("delimiter", delimiter)):
        if value is not None and option not in format.options:
            raise ArgumentError(f"{path} has no {option} to choose: it is {format.name}; leave {option} out")
    stamp = stamp_of(path)
    with engine.reading(str(path)):
        opened = format.open(path, engine, table=table, delimiter=delimiter)
        return replace(_table(opened, engine, format.name, path), stamp=stamp)


def _table(opened: Opened, engine: Engine, format: str, path: Path | None) -> Table:
    with engine.reading(opened.name):
        types = engine.schema(opened.rows)
    kinds = opened.kinds or [kind_of(dtype) for dtype in types.values()]
    columns = tuple(Column(name, kind, str(dtype)) for (name, dtype), kind in zip(types.items(), kinds, strict=True))
    return Table(
        opened.rows, opened.name, columns, format, engine, path, delimiter=opened.delimiter, codec=opened.codec
    )


def _checked_format(path: Path) -> Format:
    if path.is_dir():
        raise SourceError(f"{path} is a directory: name a file in it")
    if not path.exists():
        raise SourceError(f"no file {path}: check the name and the folder")
    if not path.is_file():
        raise SourceError(
            f"{path} is not a file but a device or a pipe, which can be read only once or never ends: save it first"
        )
    format = format_of(path)
    try:
        with path.open("rb") as file:
            empty = not file.read(1)
    except OSError as error:
        raise SourceError(f"cannot read {path}: {error.strerror}") from error
    if empty:
        raise SourceError(f"{path} is empty")
    return format
