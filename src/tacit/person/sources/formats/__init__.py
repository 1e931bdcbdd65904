"""The formats of sources that are not tables, one file each; a new one is one file and one line here."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from tacit.errors import SourceError
from tacit.person.answers.kept import place_state
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
from tacit.person.sources.places import Address, Place, files_at, has_parts, table_at
from tacit.person.sources.source import SourceFormat
from tacit.requests.names import DISTRIBUTED
from tacit.tables.table import Table

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
    "in_json",
    "is_long",
    "long_labels",
    "long_records",
    "table_of",
]


def found_format(place: Place) -> SourceFormat:
    """The format of a file, by the end of its name and its first bytes; a table if nothing says otherwise.

    The first of several files shows what they are.
    """
    if isinstance(place, Address):
        return "table"
    if not has_parts(place):
        return _format_of(place)
    format_ = _format_of(files_at(place)[0])
    return "table" if format_ == "json" else format_


def _format_of(path: Path) -> SourceFormat:
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


# Tables that were opened for their columns, until they are read: by process, format and place.
_waiting: dict[tuple[int, SourceFormat, Place], tuple[list[int] | None, Table]] = {}
MOST_WAITING = 16


def columns_in(place: Place, format_: SourceFormat, engine: str = "duckdb") -> tuple[str, ...]:
    """The columns of a source of rows and columns; on this machine, the table stays open for :func:`table_of`."""
    state = _state(place)
    table = _opened(place, format_, engine)
    if engine not in DISTRIBUTED and (state is not None or isinstance(place, Address)):
        _waiting[_waits_as(place, format_)] = state, table
        if len(_waiting) > MOST_WAITING:
            _waiting.pop(next(iter(_waiting)))
    return table.names


def table_of(place: Place, format_: SourceFormat, engine: str = "duckdb") -> Table:
    """A source of rows and columns, opened as a table, unless it is open and has not changed since.

    JSON is read on this machine, whatever the ``engine``.
    """
    if engine not in DISTRIBUTED:
        state, waiting = _waiting.pop(_waits_as(place, format_), (None, None))
        if waiting is not None and state == _state(place):
            return waiting
    return _opened(place, format_, engine)


def _waits_as(place: Place, format_: SourceFormat) -> tuple[int, SourceFormat, Place]:
    return os.getpid(), format_, place if isinstance(place, Address) else place.resolve()


def _state(place: Place) -> list[int] | None:
    """The state of the files at a place; None for an address, or a table within a file."""
    return place_state(place) if isinstance(place, Path) and (place.is_file() or has_parts(place)) else None


def _opened(place: Place, format_: SourceFormat, engine: str = "duckdb") -> Table:
    if isinstance(place, Path) and in_json(place, format_):
        return json_table(place)
    return table_at(place, engine=engine, delimiter=":" if _colons(place) else None)


def in_json(place: Place, format_: SourceFormat) -> bool:
    """Whether a source of rows and columns is one file of JSON, which is read whole, with what is nested in it."""
    if isinstance(place, Address) or has_parts(place):
        return False
    return format_ == "json" or place.suffix.lower() == ".json"


def _colons(place: Place) -> bool:
    """Whether a dump has colons between its cells, and no other possible delimiter."""
    path = next(iter(files_at(place)), None)
    if path is None or path.suffix.lower() not in _DELIMITED or not path.is_file():
        return False
    first = Beginning(path).text.partition("\n")[0]
    return ":" in first and not any(sign in first for sign in ",;\t|")


def encoding_told(paths: Iterable[Path]) -> str | None:
    """The name of the encoding of a CSV, of the first of several, that is not UTF-8."""
    some = (path for path in paths if path.suffix.lower() in _DELIMITED and path.is_file())
    return next(filter(None, map(other_encoding, some)), None)
