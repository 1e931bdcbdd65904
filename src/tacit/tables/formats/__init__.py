"""The formats, one file each; a new one is one file and one line here."""

from __future__ import annotations

from pathlib import Path

from tacit.errors import SourceError
from tacit.tables.formats.arrow import Arrow
from tacit.tables.formats.csv import Csv
from tacit.tables.formats.database import Database
from tacit.tables.formats.format import Format, Opened
from tacit.tables.formats.jsonl import Jsonl
from tacit.tables.formats.parquet import Parquet

__all__ = ["FORMATS", "Format", "Opened", "format_of", "written_as", "written_endings"]

FORMATS: dict[str, Format] = {made.name: made for made in (Csv(), Parquet(), Jsonl(), Arrow(), Database())}
_BY_ENDING = {ending: format for format in FORMATS.values() for ending in format.endings}


def format_of(path: Path) -> Format:
    """The format that the ending of a file's name tells."""
    format = _BY_ENDING.get(path.suffix.lower())
    if format is None:
        endings = ", ".join(sorted(_BY_ENDING))
        raise SourceError(f"{path} has the ending '{path.suffix}', which Tacit cannot read; it reads {endings}")
    return format


def written_as(name: str) -> Format:
    """The format in which tables of a format are written: their own, or Parquet for databases and frames."""
    format = FORMATS.get(name)
    return format if format is not None and format.written else FORMATS["parquet"]


def written_endings() -> tuple[str, ...]:
    """The endings of files that can be written."""
    return tuple(ending for format in FORMATS.values() if format.written for ending in format.endings)
