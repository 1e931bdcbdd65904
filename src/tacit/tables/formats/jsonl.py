"""JSON: one object per line, or an array of objects; times are read as text."""

from __future__ import annotations

import json
import re
from codecs import BOM_UTF8
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from tacit.errors import DataError
from tacit.tables.columns import Kind, check_names, kind_of
from tacit.tables.engines import Engine
from tacit.tables.engines.duckdb import DuckDBEngine
from tacit.tables.engines.duckdb.connections import private_file, reading
from tacit.tables.engines.duckdb.layouts import json_keys, json_lines, jsonl_types
from tacit.tables.engines.duckdb.sql import copied
from tacit.tables.formats.format import Format, Opened, SourceFile
from tacit.tables.formats.plain import codec_of, head_of, in_plain_text, plain_copy
from tacit.tables.table import Table

if TYPE_CHECKING:
    import duckdb

_TIMES = ("DATE", "TIME")
_AS_TEXT = (*_TIMES, "JSON", "UUID", '"NULL"')
# A name that DuckDB may have made of another.
_NUMBERED = re.compile(r"(.+)_[0-9]+", re.DOTALL)
# More spaces than this after an array are not looked through.
_TAIL = 1 << 16


class Jsonl(Format):
    """One JSON object per line; a column of mixed types is refused."""

    name = "jsonl"
    title = "JSON lines"
    endings: ClassVar[tuple[str, ...]] = (".jsonl", ".ndjson")
    options = ("encoding",)
    several = True
    packed = True
    array = False

    def open(self, file: SourceFile, engine: Engine) -> Opened:
        """Times and all-missing columns are read as text, so that cells are written back unchanged."""
        read, notes = in_plain_text(file, engine)
        read = tuple(_without_mark(each, engine) for each in read)
        keys = (_array_keys if self.array else _first_keys)(read[0], file.name)
        check_names([*keys, *file.partitions], file.name)
        if self.array:
            with reading(file.name):
                read = tuple(self._in_lines(each, engine, file.name) for each in read)
        types, mixed = jsonl_types(read)
        _refuse_made_names(types, keys, read, file)
        if mixed:
            raise DataError(
                f"column '{mixed[0]}' of {file.name} mixes types, such as numbers and text: make all its "
                "values one type"
            )
        plain = {
            name: "VARCHAR" if kind.startswith(_AS_TEXT) else kind
            for name, kind in types.items()
            if name not in file.partitions
        }
        local = DuckDBEngine()
        kinds: list[Kind] = [
            "time" if types.get(name, "").startswith(_TIMES) else kind_of(dtype)
            for name, dtype in local.schema(local.of_jsonl(read, plain, file.partitions)).items()
        ]
        codec = codec_of(file.parts[0])
        return Opened(engine.of_jsonl(read, plain, file.partitions), file.name, kinds, codec=codec, notes=notes)

    def _in_lines(self, path: Path, engine: Engine, name: str) -> Path:
        """An array as lines, in a private copy: its numbers and texts stay as written."""
        if not _ends(path, b"]"):
            raise DataError(f"{name} is cut off: its array has no end; copy or write it again")
        target = private_file(engine, ".jsonl")
        json_lines(path, target)
        return target

    def write(self, relation: duckdb.DuckDBPyRelation, target: Path, like: Table) -> None:
        packed = f", COMPRESSION {codec}" if (codec := codec_of(target)) else ""
        copied(relation, target, f"FORMAT json, ARRAY {str(self.array).lower()}{packed}")


class JsonArray(Jsonl):
    """A JSON array of objects; a file of one object per line is read as such, whatever its name."""

    name = "json_array"
    title = "JSON"
    endings = (".json",)
    several = False
    array = True

    def open(self, file: SourceFile, engine: Engine) -> Opened:
        """Lines if it begins with an object, else an array."""
        first = head_of(file.parts[0]).lstrip(b"\xef\xbb\xbf\xff\xfe\x00 \t\r\n")[:1]
        return Jsonl().open(file, engine) if first == b"{" else super().open(file, engine)


def _without_mark(path: Path, engine: Engine) -> Path:
    """The file, or a private copy without the mark that some programs put before UTF-8."""
    with path.open("rb") as file:
        marked = file.read(len(BOM_UTF8)) == BOM_UTF8
    return plain_copy(path, "utf-8-sig", engine) if marked else path


def _ends(path: Path, end: bytes) -> bool:
    """Whether the last character of a file that is no space is this one."""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - _TAIL))
        return file.read().rstrip().endswith(end)


def _refuse_made_names(types: dict[str, str], keys: Sequence[str], read: Sequence[Path], file: SourceFile) -> None:
    """Refuse columns that DuckDB named itself, for their values would be lost: ``a_1`` of a key ``A`` beside ``a``."""
    if list(types) == ["json"] and list(keys) != ["json"]:
        raise DataError(f"{file.name} holds something that is not a JSON object: write one object for each row")
    known = {name.lower() for name in types}
    numbered = (_NUMBERED.fullmatch(name) for name in types)
    if any(each is not None and each[1].lower() in known for each in numbered):
        with reading(file.name):
            check_names(json_keys(read), file.name)


def _first_keys(path: Path, name: str) -> list[str]:
    """The keys of the first object, with duplicates, which the engine would not report."""
    with path.open("rb") as file:
        line = next((line for line in file if line.strip()), b"")
    try:
        first = json.loads(line.decode("utf-8-sig"), object_pairs_hook=lambda pairs: [key for key, _ in pairs])
    except (ValueError, UnicodeDecodeError) as error:
        raise DataError(f"{name}, line 1: not a JSON object; write one object per line") from error
    if not isinstance(first, list) or not all(isinstance(key, str) for key in first) or not line.lstrip()[:1] == b"{":
        raise DataError(f"{name}, line 1: not a JSON object; write one object per line")
    return first


def _array_keys(path: Path, name: str) -> list[str]:
    """The keys of the first object of an array, with duplicates."""
    text = head_of(path).decode("utf-8-sig", errors="replace").lstrip()
    try:
        decoder = json.JSONDecoder(object_pairs_hook=lambda pairs: [key for key, _ in pairs])
        first, _ = decoder.raw_decode(text[1:].lstrip()) if text[:1] == "[" else (None, 0)
    except (ValueError, RecursionError):
        first = None
    if not isinstance(first, list) or not first or not all(isinstance(key, str) for key in first):
        raise DataError(f"{name} is not an array of JSON objects: write one object for each row")
    return first
