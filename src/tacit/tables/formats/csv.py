"""CSV and its cousins: find the delimiter and the header, then read every cell as the text it is."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING

from tacit.errors import ArgumentError, DataError, SourceError
from tacit.tables.columns import check_names
from tacit.tables.engines import Engine
from tacit.tables.engines.duckdb.connections import answered
from tacit.tables.engines.duckdb.layouts import csv_delimiter, csv_kinds
from tacit.tables.formats.format import Format, Opened
from tacit.tables.table import Table

if TYPE_CHECKING:
    import duckdb

# A header longer than this is a file that is no CSV.
_HEADER_BYTES = 1 << 22
_DELIMITERS = (",", ";", "\t", "|")


class Csv(Format):
    """Text with a delimiter, the first line the names; the delimiter and the text of every cell are kept."""

    name = "csv"
    endings = (".csv", ".tsv", ".tab", ".txt")
    options = ("delimiter",)

    def open(self, path: Path, engine: Engine, *, table: str | None, delimiter: str | None) -> Opened:
        """Every cell as text; what its first lines hold tells the kind of a column."""
        if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n'):
            raise ArgumentError(f"delimiter {delimiter!r} cannot be used: give one character that is not a quote")
        head = _head(path)
        delimiter = delimiter or _likely_delimiter(path, head)
        names = _header(path, head, delimiter)
        check_names(names, str(path))
        kinds = csv_kinds(path, names, delimiter)
        return Opened(engine.of_csv(path, names, delimiter), str(path), kinds, delimiter=delimiter)

    def write(self, relation: duckdb.DuckDBPyRelation, target: Path, like: Table) -> None:
        """With quotes only where they are needed."""
        answered(
            lambda: relation.write_csv(
                str(target), sep=like.delimiter or ",", na_rep="", header=True, quotechar='"', escapechar='"'
            )
        )


def _head(path: Path) -> str:
    with path.open("rb") as file:
        head = file.read(_HEADER_BYTES)
    if head[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\x00" in head[:1000]:
        raise SourceError(f"{path} is not UTF-8 text: save it as UTF-8")
    # The last character may be cut in two; bad bytes elsewhere are reported with their line by the reader.
    return head.decode("utf-8-sig", errors="replace")


def _likely_delimiter(path: Path, head: str) -> str:
    if path.suffix.lower() in (".tsv", ".tab"):
        return "\t"
    first = head.split("\n", 1)[0]
    likely = csv_delimiter(path)
    return likely if likely is not None and likely in first else max(_DELIMITERS, key=first.count)


def _header(path: Path, head: str, delimiter: str) -> tuple[str, ...]:
    rows = csv.reader(head.splitlines(keepends=True), delimiter=delimiter, strict=True)
    try:
        names = next(rows, None)
    except csv.Error as error:
        raise DataError(f"{path}, line 1: the header cannot be read ({error}); fix its quotes") from error
    if not names or not head.strip():
        raise SourceError(f"{path} is empty: a CSV needs a line of column names")
    for number, name in enumerate(names, start=1):
        if not name.strip():
            raise DataError(f"{path}, line 1: column {number} has no name; give it one")
    return tuple(names)
