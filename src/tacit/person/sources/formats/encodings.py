"""Text that is not UTF-8: exports of older programs, and spreadsheets saved as "Unicode text"."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from tacit.errors import SourceError
from tacit.loading import bytes_in, opening_of
from tacit.tables.formats.plain import encoding_of

# How many bytes of a file are examined to guess its encoding.
_LOOKED_AT = 1 << 22
_TITLES = {"cp1252": "Windows-1252 (Latin-1)"}


def other_encoding(path: Path) -> str | None:
    """The name of the encoding of a text file, if it is not UTF-8."""
    encoding = encoding_of(opening_of(path, "source", most=_LOOKED_AT))
    return None if encoding == "utf-8" else _TITLES.get(encoding, "UTF-16")


def text_of_file(path: Path, what: str) -> str:
    """The text of a file, in whatever encoding it appears to have."""
    raw = bytes_in(path, what)
    encoding = encoding_of(raw[:_LOOKED_AT])
    try:
        return raw.decode("utf-8-sig" if encoding == "utf-8" else encoding)
    except UnicodeDecodeError as error:
        raise SourceError(f"{path} is not text in one encoding: save the {what} as UTF-8") from error


def rows_of_text(path: Path, text: str) -> list[tuple[int, list[str]]]:
    """The rows of a CSV, each with its line; the delimiter is the one that occurs most in the first line."""
    delimiter = max(",;\t|", key=text.partition("\n")[0].count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        return [(reader.line_num, row) for row in reader if row]
    except csv.Error as error:
        raise SourceError(f"{path}, line {reader.line_num}: cannot be read as rows ({error}); fix it") from error
