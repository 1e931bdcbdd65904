"""Open a file, a database or a frame as a table that stays in its engine."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.errors import ArgumentError, DataError, EngineError, SourceError
from tacit.tables import delimited, duckdb_engine
from tacit.tables.duckdb_engine import identifier, pattern, reading, text
from tacit.tables.table import ROW, Column, Engine, Kind, Table

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

FORMATS = {
    ".csv": "csv",
    ".tsv": "csv",
    ".tab": "csv",
    ".txt": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".arrow": "arrow",
    ".ipc": "arrow",
    ".feather": "arrow",
    ".duckdb": "duckdb",
    ".ddb": "duckdb",
    ".db": "duckdb",
}


def open_table(source: Any, *, engine: str = "duckdb", table: str | None = None, delimiter: str | None = None) -> Table:
    """Open a table; its rows are read when a question is asked.

    Parameters
    ----------
    source : path or frame
        A CSV (any delimiter, UTF-8, first line the names), Parquet, JSONL, Arrow IPC or Feather file, a DuckDB
        database (``people.duckdb`` or ``people.duckdb::table``); or a pandas, Polars, Arrow, narwhals or Spark frame
        or a DuckDB relation.
    engine : str
        duckdb (default) or spark. A Spark DataFrame runs on Spark, whatever is asked.
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
    if engine not in ("duckdb", "spark"):
        raise ArgumentError(f"no engine '{engine}': use duckdb or spark")
    if isinstance(source, Table):
        return source
    if isinstance(source, str | os.PathLike):
        return _open_path(os.fspath(source), engine, table, delimiter)  # type: ignore[arg-type]
    if table is not None or delimiter is not None:
        raise ArgumentError("table and delimiter belong to files; this source is a frame")
    return _open_frame(source, engine)  # type: ignore[arg-type]


def check_names(names: Sequence[str], source: str) -> None:
    """Refuse a table without columns, and names an engine could not tell apart."""
    if not names:
        raise SourceError(f"{source} has no columns")
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        raise DataError(f"{source} has more than one column '{twice[0]}': rename one of them")
    seen: dict[str, str] = {}
    for name in names:
        other = seen.setdefault(name.lower(), name)
        if other != name:
            raise DataError(f"{source} has columns '{other}' and '{name}' that differ by case alone: rename one")
    for name in names:
        if name.startswith("__tacit_"):
            raise DataError(f"{source} has a column '{name}'; names that begin so are Tacit's own: rename it")


def _open_path(source: str, engine: Engine, table: str | None, delimiter: str | None) -> Table:
    if "::" in source and table is None and not Path(source).exists():
        source, table = source.rsplit("::", 1)
    if re.match(r"[a-z0-9+]+://", source):
        raise SourceError(f"{source} is a remote address; Tacit reads files of this machine: download it first")
    path = Path(source)
    format = _checked_format(path)
    if table is not None and format != "duckdb":
        raise ArgumentError(f"{path} is one table; table '{table}' can be named in a DuckDB database only")
    if delimiter is not None and format != "csv":
        raise ArgumentError(f"{path} is no CSV and has no delimiter")
    if engine == "spark":
        from tacit.tables import spark_engine

        return spark_engine.open_path(path, format, delimiter)
    with reading(str(path)):
        if format == "csv":
            return _open_csv(path, delimiter)
        if format == "duckdb":
            return _open_database(path, table)
        return {"parquet": _open_parquet, "jsonl": _open_jsonl, "arrow": _open_arrow_file}[format](path)


def _checked_format(path: Path) -> str:
    if path.is_dir():
        raise SourceError(f"{path} is a directory: name a file in it")
    if not path.exists():
        raise SourceError(f"no file {path}: check the name and the folder")
    format = FORMATS.get(path.suffix.lower())
    if format is None:
        known = ", ".join(sorted(FORMATS))
        raise SourceError(f"{path} has the ending '{path.suffix}', which Tacit cannot read; it reads {known}")
    try:
        with path.open("rb") as file:
            empty = not file.read(1)
    except OSError as error:
        raise SourceError(f"cannot read {path}: {error.strerror}") from error
    if empty:
        raise SourceError(f"{path} is empty")
    return format


def kind_of(dtype: Any) -> Kind:
    """What kind of values a narwhals type holds."""
    import narwhals as nw

    if dtype in (nw.String, nw.Categorical, nw.Enum):
        return "text"
    if dtype.is_numeric():
        return "number"
    if dtype == nw.Boolean:
        return "boolean"
    return "time" if dtype in (nw.Date, nw.Datetime, nw.Time) else "other"


def columns_of(frame: Any, kinds: Sequence[Kind] = ()) -> tuple[Column, ...]:
    """The columns of a narwhals frame, their kinds given or taken from their types."""
    schema = [(name, dtype) for name, dtype in frame.collect_schema().items() if name != ROW]
    found = kinds or [kind_of(dtype) for _, dtype in schema]
    return tuple(Column(name, kind, str(dtype)) for (name, dtype), kind in zip(schema, found, strict=True))


def _on_duckdb(
    relation: duckdb.DuckDBPyRelation,
    name: str,
    format: str,
    *,
    row: str = "row_number() OVER () - 1",
    kinds: Sequence[Kind] = (),
    **origin: Any,
) -> Table:
    import narwhals as nw

    names = [identifier(column) for column in relation.columns if column != row]
    frame = nw.from_native(relation.project(f"{', '.join(names)}, {row} AS {identifier(ROW)}"))
    return Table(frame, name, columns_of(frame, kinds), format, "duckdb", **origin)


def _open_csv(path: Path, delimiter: str | None) -> Table:
    connection = duckdb_engine.connect()
    found = delimited.layout(connection, path, delimiter)
    check_names(found.names, str(path))
    relation = delimited.relation(connection, path, found)
    return _on_duckdb(relation, str(path), "csv", kinds=found.kinds, path=path, delimiter=found.delimiter)


def parquet_facts(path: Path) -> tuple[list[str], str]:
    """The names of a Parquet file's columns and the codec it is compressed with."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            names, meta = list(file.schema_arrow.names), file.metadata
            codec = meta.row_group(0).column(0).compression if meta.num_row_groups and meta.num_columns else "ZSTD"
    except (pa.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise SourceError(f"{path} is no whole Parquet file ({reason}): copy or write it again") from error
    return names, codec.lower()


def _open_parquet(path: Path) -> Table:
    names, codec = parquet_facts(path)
    check_names(names, str(path))
    connection = duckdb_engine.connect()
    if any(name.lower() == "file_row_number" for name in names):
        relation = connection.sql(f"SELECT * FROM read_parquet({pattern(path)})")
        return _on_duckdb(relation, str(path), "parquet", path=path, codec=codec)
    relation = connection.sql(f"SELECT * FROM read_parquet({pattern(path)}, file_row_number = true)")
    return _on_duckdb(relation, str(path), "parquet", row="file_row_number", path=path, codec=codec)


def _open_jsonl(path: Path) -> Table:
    check_names(_first_keys(path), str(path))
    connection = duckdb_engine.connect()
    scan = f"read_json({pattern(path)}, format = 'newline_delimited', sample_size = -1"
    found = connection.sql(f"SELECT * FROM {scan})")
    types = dict(zip(found.columns, map(str, found.types), strict=True))
    _refuse_mixed(found, types, path)
    # Times and all-missing columns are read as text, so that a cell is written back as it was.
    as_text = {n: t for n, t in types.items() if t in ("JSON", "UUID", '"NULL"') or t.startswith(("DATE", "TIME"))}
    columns = ", ".join(
        f"{identifier(name)}: {text('VARCHAR' if name in as_text else kept)}" for name, kept in types.items()
    )
    relation = connection.sql(
        f"SELECT * FROM read_json({pattern(path)}, format = 'newline_delimited', columns = {{{columns}}})"
    )
    table = _on_duckdb(relation, str(path), "jsonl", path=path)
    times = {name for name, kept in as_text.items() if kept.startswith(("DATE", "TIME"))}
    columns_ = [Column(c.name, "time", c.dtype) if c.name in times else c for c in table.columns]
    return table.with_rows(table.rows, columns_)


def _first_keys(path: Path) -> list[str]:
    """The keys of the first object, twice if they are there twice, which the engine would not tell."""
    with path.open("rb") as file:
        line = next((line for line in file if line.strip()), b"")
    try:
        first = json.loads(line, object_pairs_hook=lambda pairs: [key for key, _ in pairs])
    except (ValueError, UnicodeDecodeError) as error:
        raise DataError(f"{path}, line 1: not a JSON object; write one object to a line") from error
    if not isinstance(first, list) or not all(isinstance(key, str) for key in first) or not line.lstrip()[:1] == b"{":
        raise DataError(f"{path}, line 1: not a JSON object; write one object to a line")
    return first


def _refuse_mixed(found: duckdb.DuckDBPyRelation, types: dict[str, str], path: Path) -> None:
    mixed = [name for name, kept in types.items() if kept == "JSON"]
    if not mixed:
        return
    filled = found.aggregate(", ".join(f"count(nullif({identifier(n)}, 'null'))" for n in mixed)).fetchall()
    for name, number in zip(mixed, filled[0], strict=True):
        if number:
            raise DataError(
                f"column '{name}' of {path} mixes types, such as numbers and text: make all its values one type"
            )


def _open_arrow_file(path: Path) -> Table:
    import pyarrow as pa
    import pyarrow.dataset as ds

    try:
        with path.open("rb") as file:
            is_file = file.read(6) == b"ARROW1"
        if is_file:
            data = ds.dataset(path, format="ipc")
        else:
            with pa.memory_map(str(path)) as mapped, pa.ipc.open_stream(mapped) as stream:
                data = stream.read_all()
        names = data.schema.names
    except (pa.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise SourceError(f"{path} is no whole Arrow file ({reason}): copy or write it again") from error
    check_names(names, str(path))
    return _on_duckdb(duckdb_engine.connect().from_arrow(data), str(path), "arrow", path=path)


def _open_database(path: Path, table: str | None) -> Table:
    connection = duckdb_engine.connect(own=True)
    connection.execute(f"ATTACH {text(path)} AS tacit_source (READ_ONLY)")
    found = connection.execute(
        "SELECT table_schema, table_name FROM information_schema.tables WHERE table_catalog = 'tacit_source' "
        "ORDER BY ALL"
    ).fetchall()
    names = [name if schema == "main" else f"{schema}.{name}" for schema, name in found]
    if not names:
        raise SourceError(f"{path} has no table")
    if table is None and len(names) > 1:
        raise SourceError(f"{path} has {len(names)} tables, choose one with {path}::NAME: {', '.join(names)}")
    if table is not None and table not in names:
        raise SourceError(f"{path} has no table '{table}'; it has {', '.join(names)}")
    schema, name = found[0 if table is None else names.index(table)]
    relation = connection.sql(f"SELECT * FROM tacit_source.{identifier(schema)}.{identifier(name)}")
    check_names(relation.columns, f"{path}::{name}")
    return _on_duckdb(relation, f"{path}::{name}", "duckdb", path=path)


def _open_frame(source: Any, engine: Engine) -> Table:
    import narwhals as nw

    native = nw.to_native(source, pass_through=True)
    module = type(native).__module__.split(".")[0]
    if module == "pyspark":
        from tacit.tables import spark_engine

        return spark_engine.open_frame(native)
    if module in ("duckdb", "_duckdb"):
        if engine == "spark":
            raise EngineError("a DuckDB relation runs on DuckDB: leave engine='spark' out")
        check_names(native.columns, "the relation")
        with reading("the relation"):
            return _on_duckdb(native, "the relation", "frame")
    data = _as_arrow(native, module)
    check_names(data.schema.names, f"the {module} frame")
    if engine == "spark":
        from tacit.tables import spark_engine

        return spark_engine.open_frame(spark_engine.from_arrow(data), f"the {module} frame")
    name = f"the {module} frame"
    with reading(name):
        return _on_duckdb(duckdb_engine.connect().from_arrow(data), name, "frame")


def _as_arrow(native: Any, module: str) -> pa.Table:
    """A frame as an Arrow table, its memory shared where the frame is held as Arrow holds it."""
    import pyarrow as pa

    name = f"the {module} frame"
    try:
        if module == "pandas" and hasattr(native, "columns"):
            check_names([str(column) for column in native.columns], name)
            return pa.Table.from_pandas(native, preserve_index=False).replace_schema_metadata(None)
        if module == "polars" and hasattr(native, "collect_schema"):
            frame = native.collect() if hasattr(native, "collect") else native
            return frame.to_arrow()
        if module == "pyarrow":
            return native.read_all() if isinstance(native, pa.RecordBatchReader) else pa.table(native)
    except (pa.ArrowException, TypeError) as error:
        reason = str(error).splitlines()[0]
        raise DataError(f"{name} has a column of mixed or unknown type ({reason}): make it one type") from error
    kind = f"{type(native).__module__}.{type(native).__qualname__}"
    raise SourceError(f"cannot open a {kind}: give a path, a DataFrame, an Arrow table or a DuckDB relation")
