"""The formats, one file each; a new one is one file and one line here."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from tacit.errors import SourceError
from tacit.tables.formats.format import Format, Opened, SourceFile
from tacit.tables.formats.plain import PACKED, codec_of
from tacit.tables.formats.sqlite import MAGIC

__all__ = [
    "FORMATS",
    "Format",
    "Opened",
    "SourceFile",
    "can_be_written",
    "ending_of",
    "format_of",
    "many_tables",
    "reads",
    "written_as",
    "written_endings",
]

_PLACES = (
    "tacit.tables.formats.csv:Csv",
    "tacit.tables.formats.parquet:Parquet",
    "tacit.tables.formats.jsonl:Jsonl",
    "tacit.tables.formats.jsonl:JsonArray",
    "tacit.tables.formats.arrow:Arrow",
    "tacit.tables.formats.orc:Orc",
    "tacit.tables.formats.database:Database",
    "tacit.tables.formats.sqlite:Sqlite",
    "tacit.tables.formats.excel:Excel",
    "tacit.tables.formats.statistics:Statistics",
)


def _format_at(place: str) -> Format:
    module, kind = place.split(":")
    instance: Format = getattr(import_module(module), kind)()
    return instance


FORMATS: dict[str, Format] = {each.name: each for each in map(_format_at, _PLACES)}
# An ending that several kinds of database share.
_ANY_DATABASE = ".db"
_BY_ENDING = {ending: format for format in FORMATS.values() for ending in format.endings}


def format_of(path: Path) -> Format:
    """The format of a file, by the ending of its name; a SQLite database is also recognised by its first bytes."""
    format = _BY_ENDING.get(_plain_name(path).suffix.lower())
    if format is None or (codec_of(path) and not format.packed):
        endings = ", ".join(sorted(_BY_ENDING))
        raise SourceError(
            f"{path} has the extension '{path.suffix}', which Tacit cannot read; it reads {endings}; text may be "
            f"compressed "
            f"({', '.join(PACKED)})"
        )
    if path.suffix.lower() == _ANY_DATABASE and _begins(path, MAGIC):
        return FORMATS["sqlite"]
    return format


def reads(path: Path) -> bool:
    """Whether the name of a file is that of a table."""
    format = _BY_ENDING.get(_plain_name(path).suffix.lower())
    return format is not None and (format.packed or not codec_of(path))


def ending_of(path: Path) -> str:
    """The ending of a file's name, including how it is packed: ``.csv.gz``."""
    return _plain_name(path).suffix + (path.suffix if codec_of(path) else "")


def _plain_name(path: Path) -> Path:
    return Path(path.stem) if codec_of(path) else path


def _begins(path: Path, magic: bytes) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(magic)) == magic
    except OSError:
        return False


def written_as(name: str) -> Format:
    """The format in which tables of a format are written: their own, or Parquet for databases and frames."""
    format = FORMATS.get(name)
    return format if format is not None and format.written else FORMATS["parquet"]


def many_tables(name: str) -> bool:
    """Whether a file of a format holds several tables, one of which is chosen by name; false for frames."""
    return name in FORMATS and "table" in FORMATS[name].options


def can_be_written(path: Path) -> bool:
    """Whether a table can be written to a file of that name."""
    return reads(path) and _BY_ENDING[_plain_name(path).suffix.lower()].written


def written_endings() -> tuple[str, ...]:
    """The endings of files that can be written."""
    return tuple(ending for format in FORMATS.values() if format.written for ending in format.endings)
