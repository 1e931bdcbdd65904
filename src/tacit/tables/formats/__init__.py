"""The formats, one file each; a new one is one file and one line here."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from tacit.errors import SourceError
from tacit.tables.formats.format import Format, Opened

__all__ = ["FORMATS", "Format", "Opened", "format_of", "many_tables", "written_as", "written_endings"]

_PLACES = (
    "tacit.tables.formats.csv:Csv",
    "tacit.tables.formats.parquet:Parquet",
    "tacit.tables.formats.jsonl:Jsonl",
    "tacit.tables.formats.arrow:Arrow",
    "tacit.tables.formats.database:Database",
    "tacit.tables.formats.excel:Excel",
)


def _made(place: str) -> Format:
    module, kind = place.split(":")
    made: Format = getattr(import_module(module), kind)()
    return made


FORMATS: dict[str, Format] = {made.name: made for made in map(_made, _PLACES)}
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


def many_tables(name: str) -> bool:
    """Whether a file of a format holds several tables, one of which is chosen by name; a frame is none."""
    return name in FORMATS and "table" in FORMATS[name].options


def written_endings() -> tuple[str, ...]:
    """The endings of files that can be written."""
    return tuple(ending for format in FORMATS.values() if format.written for ending in format.endings)
