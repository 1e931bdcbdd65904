"""The formats of sources that are not tables, one file each; a new one is one file and one line here."""

from __future__ import annotations

import os
from pathlib import Path

from tacit.errors import SourceError
from tacit.person.sources.formats import (
    breaches,
    contacts,
    entities,
    features,
    harvester,
    mailbox,
    spiderfoot,
    vcard,
)
from tacit.person.sources.formats.encodings import other_encoding
from tacit.person.sources.formats.format import Beginning, FileFormat
from tacit.person.sources.formats.json_rows import json_table
from tacit.person.sources.formats.long import is_long, long_labels, long_records
from tacit.person.sources.source import SourceFormat
from tacit.requests.names import DISTRIBUTED
from tacit.tables.sources import open_table
from tacit.tables.table import Stamp, Table, stamp_of

_MODULES = (features, entities, breaches, harvester, spiderfoot, vcard, contacts, mailbox)
FORMATS: dict[str, FileFormat] = {module.FORMAT.name: module.FORMAT for module in _MODULES}
# Only these are opened to guess the format; the beginning of other files says nothing.
_TEXTS = ".csv .tsv .txt .json .jsonl .ndjson .ijson .vcf .vcard .mbox .mbx .eml .xml"
_DELIMITED = (".csv", ".tsv", ".tab", ".txt")
_LOOKED_INTO = frozenset([*_TEXTS.split(), ""])

__all__ = [
    "FORMATS",
    "FileFormat",
    "columns_in",
    "encoding_told",
    "found_format",
    "long_labels",
    "long_records",
    "table_of",
]


def found_format(path: Path) -> SourceFormat:
    """The format of a file, by the end of its name and its first bytes; a table if nothing says otherwise."""
    if path.suffix.lower() not in _LOOKED_INTO or not path.is_file():
        return "table"
    try:
        file = Beginning(path)
        for format_ in FORMATS.values():
            if format_.fits(file):
                return format_.name
    except SourceError:
        # Reading it will report why it cannot be read.
        return "table"
    if file.ending == ".json":
        return "json"
    return "long" if file.columns and is_long(tuple(file.columns)) else "table"


# Tables that were opened for their columns, until they are read: by process, format and path.
_waiting: dict[tuple[int, SourceFormat, Path], tuple[Stamp, Table]] = {}
MOST_WAITING = 16


def columns_in(path: Path, format_: SourceFormat) -> tuple[str, ...]:
    """The columns of a source of rows and columns; the table stays open for :func:`table_of`."""
    stamp = stamp_of(path) if path.is_file() else None
    table = _opened(path, format_)
    if stamp is not None:
        _waiting[os.getpid(), format_, path.resolve()] = stamp, table
        if len(_waiting) > MOST_WAITING:
            _waiting.pop(next(iter(_waiting)))
    return table.names


def table_of(path: Path, format_: SourceFormat, engine: str = "duckdb") -> Table:
    """A source of rows and columns, opened as a table, unless it is open and has not changed since.

    JSON is read on this machine, whatever the ``engine``.
    """
    if engine in DISTRIBUTED:
        return _opened(path, format_, engine)
    waiting = _waiting.pop((os.getpid(), format_, path.resolve()), None)
    if waiting is not None and path.is_file() and waiting[0] == stamp_of(path):
        return waiting[1]
    return _opened(path, format_)


def _opened(path: Path, format_: SourceFormat, engine: str = "duckdb") -> Table:
    if format_ == "json" or path.suffix.lower() == ".json":
        return json_table(path)
    return open_table(path, engine=engine, delimiter=":" if _colons(path) else None)


def _colons(path: Path) -> bool:
    """Whether a dump has colons between its cells, and no other possible delimiter."""
    if path.suffix.lower() not in _DELIMITED or not path.is_file():
        return False
    first = Beginning(path).text.partition("\n")[0]
    return ":" in first and not any(sign in first for sign in ",;\t|")


def encoding_told(path: Path) -> str | None:
    """The name of the encoding of a CSV, if it is not UTF-8."""
    return other_encoding(path) if path.suffix.lower() in _DELIMITED and path.is_file() else None
