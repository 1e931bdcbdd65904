"""CSV and its cousins: find the delimiter and the header, then read every cell as text, unchanged."""

from __future__ import annotations

import csv
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tacit.errors import ArgumentError, DataError, SourceError
from tacit.tables.columns import Kind, check_names
from tacit.tables.engines import Engine
from tacit.tables.engines.duckdb.connections import answered, private_file, reading
from tacit.tables.engines.duckdb.layouts import csv_delimiter, csv_kinds, decimal_commas, write_points
from tacit.tables.formats.format import Format, Opened, SourceFile
from tacit.tables.formats.parts import same_columns
from tacit.tables.formats.plain import codec_of, head_of, in_plain_text
from tacit.tables.table import Table

if TYPE_CHECKING:
    import duckdb

_DELIMITERS = (",", ";", "\t", "|")
# A first line of its own tells Excel the delimiter.
_FOR_EXCEL = re.compile(r"\A\"?sep=([^\"\r\n])\"?\r?\n")


class Csv(Format):
    """Text with a delimiter, the first line the names; the delimiter and the text of every cell are kept.

    A first column without a name is called ``row``.
    """

    name = "csv"
    title = "CSV"
    endings = (".csv", ".tsv", ".tab", ".txt")
    options = ("delimiter", "encoding")
    several = True
    packed = True

    def open(self, file: SourceFile, engine: Engine) -> Opened:
        """Every cell as text; the first lines determine the kind of a column."""
        delimiter = file.delimiter
        if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n'):
            raise ArgumentError(f"delimiter {delimiter!r} cannot be used: give one character that is not a quote")
        read, notes = in_plain_text(file, engine)
        heads = [_head(each) for each in read]
        if delimiters := [line[1] for head in heads if (line := _FOR_EXCEL.match(head))]:
            delimiter = delimiter or delimiters[0]
            read = tuple(
                _without_first_line(each, engine) if _FOR_EXCEL.match(head) else each
                for each, head in zip(read, heads, strict=True)
            )
            heads = [_FOR_EXCEL.sub("", head) for head in heads]
        delimiter = delimiter or _likely_delimiter(read[0], heads[0], file.name)
        headers = [_header(_called(file, at), head, delimiter) for at, head in enumerate(heads)]
        if not headers[0][0].strip():
            # R and pandas write the number or the label of each row first, under no name.
            called = _free_name(headers[0])
            headers = [(called, *names[1:]) if not names[0].strip() else names for names in headers]
            notes = (*notes, f"the first column has no name in the file: it is called '{called}'")
        same_columns(file, headers)
        names = [name for name in headers[0] if name not in file.partitions]
        check_names([*names, *file.partitions], file.name)
        if commas := decimal_commas(read[0], headers[0], delimiter, _called(file, 0)) if delimiter != "," else ():
            read = tuple(
                _with_points(file, at, each, headers[at], delimiter, commas, engine) for at, each in enumerate(read)
            )
            notes = (*notes, _of_commas(commas))
        kinds = csv_kinds(read[0], headers[0], delimiter, _called(file, 0))
        in_file = [kind for name, kind in zip(headers[0], kinds, strict=True) if name not in file.partitions]
        in_folders: list[Kind] = [
            "number" if any(isinstance(value, int) for value in values) else "text"
            for values in file.partitions.values()
        ]
        rows = engine.of_csv(read, headers[0], delimiter, file.partitions)
        codec = codec_of(file.parts[0])
        return Opened(rows, file.name, [*in_file, *in_folders], delimiter=delimiter, codec=codec, notes=notes)

    def write(self, relation: duckdb.DuckDBPyRelation, target: Path, like: Table) -> None:
        """Write it with quotes only where they are needed."""
        packed = {"compression": codec} if (codec := codec_of(target)) else {}
        answered(
            lambda: relation.write_csv(
                str(target), sep=like.delimiter or ",", na_rep="", header=True, quotechar='"', escapechar='"', **packed
            )
        )


def _called(file: SourceFile, at: int) -> str:
    """What messages call a part, whose rows may be read from a copy of it."""
    return file.name if len(file.parts) == 1 else str(file.parts[at])


def _without_first_line(path: Path, engine: Engine) -> Path:
    """A private copy that begins with the names."""
    target = private_file(engine, ".csv")
    with path.open("rb") as stream, target.open("wb") as out:
        stream.readline()
        shutil.copyfileobj(stream, out)
    return target


def _with_points(
    file: SourceFile,
    at: int,
    path: Path,
    names: Sequence[str],
    delimiter: str,
    commas: Sequence[str],
    engine: Engine,
) -> Path:
    """A private copy in which 1.640,50 is 1640.50, for every engine."""
    target = private_file(engine, ".csv")
    with reading(_called(file, at)):
        write_points(path, names, delimiter, commas, target)
    return target


def _of_commas(commas: Sequence[str]) -> str:
    return f"read as numbers with a decimal comma: {', '.join(commas)}; what is written has decimal points"


def _head(path: Path) -> str:
    # The last character may be cut off; bad bytes elsewhere are reported by the reader, with their line.
    return head_of(path).decode("utf-8-sig", errors="replace")


def _likely_delimiter(path: Path, head: str, name: str) -> str:
    if Path(name).suffix.lower() in (".tsv", ".tab") or path.suffix.lower() in (".tsv", ".tab"):
        return "\t"
    first = head.split("\n", 1)[0]
    likely = csv_delimiter(path)
    return likely if likely is not None and likely in first else max(_DELIMITERS, key=first.count)


def _free_name(names: Sequence[str]) -> str:
    others = {name.lower() for name in names}
    return next(name for name in (f"row{'_' * more}" for more in range(len(names) + 1)) if name not in others)


def _header(path: str, head: str, delimiter: str) -> tuple[str, ...]:
    rows = csv.reader(head.splitlines(keepends=True), delimiter=delimiter, strict=True)
    try:
        names = next(rows, None)
    except csv.Error as error:
        raise DataError(f"{path}, line 1: the header cannot be read ({error}); fix its quotes") from error
    if not head.strip():
        raise SourceError(f"{path} is empty: a CSV needs a line of column names")
    if not names:
        raise DataError(f"{path}, line 1: it is empty, where the column names should be; delete the lines above them")
    for number, name in enumerate(names, start=1):
        if not name.strip() and (number > 1 or len(names) == 1):
            way_out = "give it one, or, if lines stand above the column names, delete these"
            raise DataError(f"{path}, line 1: column {number} has no name; {way_out}")
    return tuple(names)
