"""Text that is not UTF-8: exports of older programs, and spreadsheets saved as "Unicode text"."""

from __future__ import annotations

import codecs
import csv
import io
from dataclasses import replace
from pathlib import Path

from tacit.errors import SourceError
from tacit.loading import bytes_in, opening_of
from tacit.tables.sources import open_table
from tacit.tables.table import Table

# So much of a file is looked at to tell its encoding.
_LOOKED_AT = 1 << 22
_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_TITLES = {"cp1252": "Windows-1252 (Latin-1)"}


def encoding_of(head: bytes) -> str:
    """The encoding that the first bytes of a text show.

    What is no UTF-8 is taken for Windows-1252, which has all letters of Latin-1, unless some of its bytes are letters
    in UTF-8: that is a text in UTF-8 with a mistake, whose line the reader names.
    """
    for mark, encoding in _MARKS:
        if head.startswith(mark):
            return encoding
    even, odd = head[:1000:2].count(0), head[1:1000:2].count(0)
    if even or odd:
        return "utf-16-be" if even > odd else "utf-16-le"
    try:
        # The last character may be cut in two.
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return "cp1252" if head.decode("utf-8", errors="ignore").isascii() else "utf-8"
    return "utf-8"


def other_encoding(path: Path) -> str | None:
    """What the encoding of a text file is called, if it is not UTF-8."""
    encoding = encoding_of(opening_of(path, "source", most=_LOOKED_AT))
    return None if encoding == "utf-8" else _TITLES.get(encoding, "UTF-16")


def text_of_file(path: Path, what: str) -> str:
    """The text of a file, in whatever encoding it shows."""
    raw = bytes_in(path, what)
    encoding = encoding_of(raw[:_LOOKED_AT])
    try:
        return raw.decode("utf-8-sig" if encoding == "utf-8" else encoding)
    except UnicodeDecodeError as error:
        raise SourceError(f"{path} is not text in one encoding: save the {what} as UTF-8") from error


def rows_of_text(path: Path, text: str) -> list[tuple[int, list[str]]]:
    """The rows of a CSV, each with its line; its delimiter is the one that its first line has most of."""
    delimiter = max(",;\t|", key=text.partition("\n")[0].count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        return [(reader.line_num, row) for row in reader if row]
    except csv.Error as error:
        raise SourceError(f"{path}, line {reader.line_num}: cannot be read as rows ({error}); mend it") from error


def recoded_table(path: Path) -> Table:
    """A CSV that is not UTF-8 as a table of texts."""
    import pyarrow as pa

    rows = rows_of_text(path, text_of_file(path, "table"))
    names = rows[0][1] if rows else []
    for line, row in rows:
        if len(row) != len(names):
            raise SourceError(
                f"{path}, line {line}: has {len(row)} cells, and {len(names)} columns have names; mend it"
            )
    if not all(name.strip() for name in names) or len({name.casefold() for name in names}) < len(names):
        raise SourceError(f"{path}, line 1: a column has no name, or two have one; give each its own")
    cells = zip(*(row for _, row in rows[1:]), strict=True) if len(rows) > 1 else ((),) * len(names)
    columns = [pa.array([cell or None for cell in column], pa.string()) for column in cells]
    return replace(open_table(pa.table(columns, names=names)), name=str(path))
