"""The formats of sources that are no tables, one file each; a new one is one file and one line here."""

from __future__ import annotations

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
from tacit.tables.sources import open_table
from tacit.tables.table import Table

_MODULES = (features, entities, breaches, harvester, spiderfoot, vcard, contacts, mailbox)
FORMATS: dict[str, FileFormat] = {module.FORMAT.name: module.FORMAT for module in _MODULES}
# What other tables begin with tells nothing.
_TEXTS = ".csv .tsv .txt .json .jsonl .ndjson .ijson .vcf .vcard .mbox .mbx .eml .xml"
_DELIMITED = (".csv", ".tsv", ".tab", ".txt")
_LOOKED_INTO = frozenset([*_TEXTS.split(), ""])

__all__ = ["FORMATS", "FileFormat", "encoding_told", "found_format", "long_labels", "long_records", "table_of"]


def found_format(path: Path) -> SourceFormat:
    """The format of a file, by what its name ends in and how it begins; a table if nothing tells otherwise."""
    if path.suffix.lower() not in _LOOKED_INTO or not path.is_file():
        return "table"
    try:
        file = Beginning(path)
        for one in FORMATS.values():
            if one.fits(file):
                return one.name
    except SourceError:
        # Whoever reads it will say why it cannot be read.
        return "table"
    if file.ending == ".json":
        return "json"
    return "long" if file.columns and is_long(tuple(file.columns)) else "table"


def table_of(path: Path, format_: SourceFormat) -> Table:
    """A source of rows and columns, open."""
    if format_ == "json" or path.suffix.lower() == ".json":
        return json_table(path)
    return open_table(path, delimiter=":" if _colons(path) else None)


def _colons(path: Path) -> bool:
    """Whether a dump has colons between its cells, and nothing else that could be between them."""
    if path.suffix.lower() not in _DELIMITED or not path.is_file():
        return False
    first = Beginning(path).text.partition("\n")[0]
    return ":" in first and not any(sign in first for sign in ",;\t|")


def encoding_told(path: Path) -> str | None:
    """What the encoding of a CSV is called, if it is not UTF-8."""
    return other_encoding(path) if path.suffix.lower() in _DELIMITED and path.is_file() else None
