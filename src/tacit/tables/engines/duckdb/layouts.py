"""What DuckDB finds in a file before any engine reads it, so that all engines see the same columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tacit.tables.columns import Kind
from tacit.tables.engines.duckdb.connections import connect, reading
from tacit.tables.engines.duckdb.sql import identifier, pattern, text

if TYPE_CHECKING:
    import duckdb

    from tacit.tables.engines.protocol import Partitions

# The kinds that a text may spell, and DuckDB's types for them; the first that fits counts.
_WRITTEN: dict[Kind, str] = {"number": "DOUBLE", "boolean": "BOOLEAN", "time": "TIMESTAMP"}
# Enough to recognise a column of words.
_FEW_LINES = 50
_MANY_LINES = 20_000
# The most columns in one query.
_AT_ONCE = 40
# 1640,5 and 1.640,50; a number with three digits after its comma may be 12,345, and proves nothing by itself.
_WITH_COMMA = r"[+-]?([0-9]+|[0-9]{1,3}(\.[0-9]{3})+)(,[0-9]+)?"
_SURELY_DECIMAL = r".*,([0-9]{1,2}|[0-9]{4,})"


# The hidden column that says which file a row comes from.
FILE = "__tacit_file__"


def patterns(paths: Sequence[Path]) -> str:
    """The names of files, as DuckDB's readers take them."""
    return f"[{', '.join(map(pattern, paths))}]" if len(paths) > 1 else pattern(paths[0])


def told_by_folders(paths: Sequence[Path], partitions: Partitions) -> str:
    """SQL for the columns that come from the names of folders: their values by the name of the file."""
    columns = []
    for key, values in partitions.items():
        kind = "BIGINT" if any(isinstance(value, int) for value in values) else "VARCHAR"
        pairs = zip(paths, values, strict=True)
        cases = " ".join(f"WHEN {text(path)} THEN {_constant(value)}" for path, value in pairs if value is not None)
        columns.append(
            f"(CASE {identifier(FILE)} {cases} END)::{kind} AS {identifier(key)}"
            if cases
            else f"NULL::{kind} AS {identifier(key)}"
        )
    return ", ".join(columns)


def _constant(value: str | int) -> str:
    return str(value) if isinstance(value, int) else text(value)


def csv_scan(path: Path | Sequence[Path], names: Sequence[str], delimiter: str) -> str:
    """SQL that reads every cell of a CSV as text."""
    paths = [path] if isinstance(path, Path) else path
    columns = ", ".join(f"{identifier(name)}: 'VARCHAR'" for name in names)
    # DuckDB finds the line ending itself: given new_line = '\\r\\n', version 2.0 silently reads no rows.
    return (
        f"read_csv({patterns(paths)}, auto_detect = false, header = true, columns = {{{columns}}}, "
        f"delim = {text(delimiter)}, quote = '\"', escape = '\"', "
        "nullstr = '', allow_quoted_nulls = false, strict_mode = true, compression = 'none', hive_partitioning = false)"
    )


def csv_delimiter(path: Path) -> str | None:
    """The delimiter that DuckDB finds; None if a line is broken, which will be reported when the file is read."""
    import duckdb

    sniffed = (
        f"SELECT Delimiter FROM sniff_csv({pattern(path)}, header = true, quote = '\"', escape = '\"', "
        "all_varchar = true, strict_mode = true)"
    )
    try:
        row = connect().execute(sniffed).fetchone()
    except duckdb.Error:
        return None
    return None if row is None else str(row[0])


def csv_kinds(path: Path, names: Sequence[str], delimiter: str, called: str) -> tuple[Kind, ...]:
    """What the first lines of a CSV hold: numbers, times or booleans written as text, else text."""
    return _written_kinds(csv_scan(path, names, delimiter), names, tuple(_WRITTEN), called)


def decimal_commas(path: Path, names: Sequence[str], delimiter: str, called: str) -> tuple[str, ...]:
    """The columns of a CSV whose first lines hold only numbers, some of them with a decimal comma."""
    conditions = ", ".join(
        f"count(*) FILTER (regexp_full_match({name}, {text(_WITH_COMMA)})) = count(nullif({name}, '')) "
        f"AND count(*) FILTER (regexp_full_match({name}, {text(_SURELY_DECIMAL)})) > 0"
        for name in map(identifier, names)
    )
    scan = csv_scan(path, names, delimiter)
    with reading(called):
        answer = connect().execute(f"SELECT {conditions} FROM (SELECT * FROM {scan} LIMIT {_MANY_LINES})").fetchall()
    return tuple(name for name, decimal in zip(names, answer[0], strict=True) if decimal)


def write_points(path: Path, names: Sequence[str], delimiter: str, commas: Sequence[str], target: Path) -> None:
    """Write a CSV with decimal points in the numbers of these columns; other cells are unchanged."""
    plain = ", ".join(
        f"CASE WHEN regexp_full_match({name}, {text(_WITH_COMMA)}) "
        f"THEN replace(replace({name}, '.', ''), ',', '.') ELSE {name} END AS {name}"
        for name in map(identifier, commas)
    )
    written = f"FORMAT csv, HEADER true, QUOTE '\"', ESCAPE '\"', DELIMITER {text(delimiter)}"
    rows = f"SELECT * REPLACE ({plain}) FROM {csv_scan(path, names, delimiter)}"
    connect().execute(f"COPY ({rows}) TO {text(target)} ({written})")


def parquet_kinds(path: Path, names: Sequence[str], *kinds: Kind) -> list[Kind]:
    """What the columns of a Parquet file hold: by their types or, for text, by what kind its first rows are."""
    relation = connect().sql(f"SELECT * FROM read_parquet({pattern(path)})")
    typed = {name: _kind(str(kind)) for name, kind in zip(relation.columns, relation.types, strict=True)}
    texts = [name for name in names if typed[name] == "text"]
    written = _written_kinds(f"read_parquet({pattern(path)})", texts, kinds, str(path)) if texts else ()
    return [dict(zip(texts, written, strict=True)).get(name, typed[name]) for name in names]


def _kind(dtype: str) -> Kind:
    if dtype == "VARCHAR":
        return "text"
    return "number" if dtype in ("BIGINT", "DOUBLE") else "other"


def _written_kinds(scan: str, names: Sequence[str], kinds: Sequence[Kind], called: str) -> tuple[Kind, ...]:
    """Which kinds the first 20,000 values of columns of text are.

    A failing cast costs more than reading the text: kinds that the first lines rule out are not tried on the rest.
    """
    connection, fitting = connect(), list[Kind]()
    with reading(called):
        if len(names) > _AT_ONCE:
            # DuckDB's time grows with the square of the query's length: read the lines once, and query in parts.
            connection.execute(f"CREATE TEMP TABLE tacit_lines AS SELECT * FROM {scan} LIMIT {_MANY_LINES}")
            scan = "tacit_lines"
        for start in range(0, len(names), _AT_ONCE):
            fitting += _kinds_of(connection, scan, names[start : start + _AT_ONCE], kinds)
    return tuple(fitting)


def _kinds_of(
    connection: duckdb.DuckDBPyConnection, scan: str, names: Sequence[str], kinds: Sequence[Kind]
) -> list[Kind]:
    candidates: list[tuple[str, Kind]] = [(name, kind) for name in names for kind in kinds]
    filled = ", ".join(f"count({identifier(name)}) > 0" for name in names)
    for lines in (_FEW_LINES, _MANY_LINES):
        tried = "".join(
            f", count({_as_written(name, kind)}) = count(nullif({identifier(name)}, ''))" for name, kind in candidates
        )
        answer = connection.execute(f"SELECT {filled}{tried} FROM (SELECT * FROM {scan} LIMIT {lines})").fetchall()
        candidates = [each for each, fits in zip(candidates, answer[0][len(names) :], strict=True) if fits]
    holding = {name for name, some in zip(names, answer[0], strict=False) if some}
    # The first kind that fits: numbers such as 1 and 0 could also be booleans.
    fitting = {name: kind for name, kind in reversed(candidates) if name in holding}
    return [fitting.get(name, "text") for name in names]


def _as_written(name: str, kind: Kind) -> str:
    """A text as the value that it spells, or NULL; 1_000 is a number to DuckDB, and to no other engine."""
    value = f"try_cast({identifier(name)} AS {_WRITTEN[kind]})"
    return f"CASE WHEN NOT contains({identifier(name)}, '_') THEN {value} END" if kind == "number" else value


def parquet_codec(path: Path) -> str:
    """The codec of a Parquet file's first column, from DuckDB: a damaged file would crash the process in pyarrow."""
    with reading(str(path)):
        row = connect().execute(f"SELECT compression FROM parquet_metadata({pattern(path)}) LIMIT 1").fetchone()
    return "zstd" if row is None else str(row[0]).lower()


def jsonl_scan(paths: Sequence[Path], types: Mapping[str, str] | None = None) -> str:
    """SQL that reads files of one JSON object per line, with these types or those that all lines suggest."""
    typed = "sample_size = -1"
    if types is not None:
        typed = f"columns = {{{', '.join(f'{identifier(name)}: {text(kind)}' for name, kind in types.items())}}}"
    lines = "format = 'newline_delimited', hive_partitioning = false, compression = 'none'"
    return f"read_json({patterns(paths)}, {lines}, {typed})"


def json_lines(path: Path, target: Path) -> None:
    """Write the objects of an array, in their own spelling, one per line."""
    from tacit.tables.engines.duckdb.connections import answered

    scan = f"read_json({pattern(path)}, format = 'array', records = false, columns = {{'json': 'JSON'}}, "
    scan += "maximum_object_size = 67108864, compression = 'none', hive_partitioning = false)"
    lines = "FORMAT csv, HEADER false, QUOTE '', ESCAPE '', DELIMITER '\x01'"
    # A line break between the parts of an object would end its line, and an empty line would be no row.
    whole = f"SELECT coalesce(json(json)::VARCHAR, 'null') FROM {scan}"
    answered(lambda: connect().execute(f"COPY ({whole}) TO {text(target)} ({lines})"))


def jsonl_types(paths: Sequence[Path]) -> tuple[dict[str, str], list[str]]:
    """The DuckDB type of each column of JSONL files, and the columns that mix several."""
    relation = connect().sql(f"SELECT * FROM {jsonl_scan(paths)}")
    types = dict(zip(relation.columns, map(str, relation.types), strict=True))
    undecided = [name for name, kind in types.items() if kind == "JSON"]
    if not undecided:
        return types, []
    filled = relation.aggregate(", ".join(f"count(nullif({identifier(n)}, 'null'))" for n in undecided)).fetchall()[0]
    return types, [name for name, number in zip(undecided, filled, strict=True) if number]


def json_keys(paths: Sequence[Path]) -> list[str]:
    """The keys of all objects, each once, as they are written: DuckDB gives others to keys that differ only in case."""
    scan = f"read_json({patterns(paths)}, format = 'newline_delimited', records = false, columns = {{'json': 'JSON'}}, "
    scan += "hive_partitioning = false, compression = 'none')"
    keys = connect().execute(f"SELECT DISTINCT unnest(json_keys(json)) AS key FROM {scan} ORDER BY key").fetchall()
    return [key for (key,) in keys]


def attached(path: Path, memory: str | None) -> duckdb.DuckDBPyConnection:
    """A connection with the database of a file as ``tacit_source``, read-only."""
    connection = connect(own=True, memory=memory)
    connection.execute(f"ATTACH {text(path)} AS tacit_source (READ_ONLY)")
    return connection


def is_view(connection: duckdb.DuckDBPyConnection, schema: str, table: str) -> bool:
    """Whether a name in an attached database is that of a view."""
    named = "database_name = 'tacit_source' AND schema_name = ? AND view_name = ?"
    return connection.execute(f"SELECT 1 FROM duckdb_views() WHERE {named}", [schema, table]).fetchone() is not None


def database_tables(path: Path) -> list[tuple[str, str]]:
    """The schema and the name of each table of a database."""
    connection = attached(path, None)
    try:
        tables: list[tuple[str, str]] = connection.execute(
            "SELECT table_schema, table_name FROM information_schema.tables WHERE table_catalog = 'tacit_source' "
            "ORDER BY ALL"
        ).fetchall()
    finally:
        connection.close()
    return tables
