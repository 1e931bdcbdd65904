"""CSV and its cousins: find the delimiter and the header, then read every cell as the text it is."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tacit.errors import ArgumentError, DataError, SourceError
from tacit.tables.duckdb_engine import identifier, pattern, reading, text
from tacit.tables.table import Kind

if TYPE_CHECKING:
    import duckdb

# A header longer than this is a file that is no CSV.
_HEADER_BYTES = 1 << 22
_DELIMITERS = (",", ";", "\t", "|")


@dataclass(frozen=True)
class Layout:
    """How a CSV file is laid out."""

    delimiter: str
    names: tuple[str, ...]
    kinds: tuple[Kind, ...]


def layout(connection: duckdb.DuckDBPyConnection, path: Path, delimiter: str | None) -> Layout:
    """Find out how the file is laid out from its first lines. The first line is the header."""
    if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n'):
        raise ArgumentError(f"delimiter {delimiter!r} cannot be used: give one character that is not a quote")
    head = _head(path)
    if delimiter is None:
        delimiter = _sniffed(connection, path, head)
    names = _header(path, head, delimiter)
    return Layout(delimiter, names, _kinds(connection, path, names, delimiter))


def relation(connection: duckdb.DuckDBPyConnection, path: Path, found: Layout) -> duckdb.DuckDBPyRelation:
    """Every cell as text; an empty cell is missing, a quoted empty one is empty text."""
    return connection.sql(f"SELECT * FROM {_scan(path, found.names, found.delimiter)}")


def _scan(path: Path, names: tuple[str, ...], delimiter: str) -> str:
    columns = ", ".join(f"{identifier(name)}: 'VARCHAR'" for name in names)
    # DuckDB finds the line ending itself: told new_line = '\\r\\n', version 2.0 reads no rows and says nothing.
    return (
        f"read_csv({pattern(path)}, auto_detect = false, header = true, columns = {{{columns}}}, "
        f"delim = {text(delimiter)}, quote = '\"', escape = '\"', "
        "nullstr = '', allow_quoted_nulls = false, strict_mode = true, compression = 'none')"
    )


def _head(path: Path) -> str:
    with path.open("rb") as file:
        head = file.read(_HEADER_BYTES)
    if head[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\x00" in head[:1000]:
        raise SourceError(f"{path} is not UTF-8 text: save it as UTF-8")
    # The last character may be cut in two; bad bytes elsewhere are reported with their line by the reader.
    return head.decode("utf-8-sig", errors="replace")


def _sniffed(connection: duckdb.DuckDBPyConnection, path: Path, head: str) -> str:
    import duckdb

    if path.suffix.lower() in (".tsv", ".tab"):
        return "\t"
    try:
        found = connection.execute(
            f"SELECT Delimiter FROM sniff_csv({pattern(path)}, header = true, quote = '\"', escape = '\"', "
            "all_varchar = true, strict_mode = true)"
        ).fetchall()
    except duckdb.Error:
        found = []  # a broken line: the header decides, and reading will name the line
    if found and found[0][0] in head.split("\n", 1)[0]:
        return str(found[0][0])
    first = head.split("\n", 1)[0]
    return max(_DELIMITERS, key=first.count)


def _header(path: Path, head: str, delimiter: str) -> tuple[str, ...]:
    rows = csv.reader(head.splitlines(keepends=True), delimiter=delimiter, strict=True)
    try:
        names = next(rows, None)
    except csv.Error as error:
        raise DataError(f"{path}, line 1: the header cannot be read ({error}); mend its quotes") from error
    if not names or not head.strip():
        raise SourceError(f"{path} is empty: a CSV needs a line of column names")
    for number, name in enumerate(names, start=1):
        if not name.strip():
            raise DataError(f"{path}, line 1: column {number} has no name; give it one")
    return tuple(names)


def _kinds(
    connection: duckdb.DuckDBPyConnection, path: Path, names: tuple[str, ...], delimiter: str
) -> tuple[Kind, ...]:
    """What the first 20,000 lines hold: numbers, times or booleans written as text, else text."""
    tests: dict[Kind, str] = {"number": "DOUBLE", "boolean": "BOOLEAN", "time": "TIMESTAMP"}
    wanted = [
        f"count({identifier(n)}) > 0 AND count(try_cast({identifier(n)} AS {t})) = count(nullif({identifier(n)}, ''))"
        for n in names
        for t in tests.values()
    ]
    if len({name.lower() for name in names}) < len(names):
        return tuple("text" for _ in names)  # refused by the caller, with the names
    with reading(str(path)):
        found = connection.execute(
            f"SELECT {', '.join(wanted)} FROM (SELECT * FROM {_scan(path, names, delimiter)} LIMIT 20000)"
        ).fetchall()
    kinds: list[Kind] = []
    for at in range(0, len(wanted), len(tests)):
        kinds.append(next((k for k, yes in zip(tests, found[0][at : at + len(tests)], strict=True) if yes), "text"))
    return tuple(kinds)
