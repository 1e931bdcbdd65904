"""JSONL: one object a line, times as the text they are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from tacit.errors import DataError
from tacit.tables.columns import Kind, check_names, kind_of
from tacit.tables.engines import Engine
from tacit.tables.engines.duckdb import DuckDBEngine
from tacit.tables.engines.duckdb.layouts import jsonl_types
from tacit.tables.engines.duckdb.sql import copied
from tacit.tables.formats.format import Format, Opened
from tacit.tables.table import Table

if TYPE_CHECKING:
    import duckdb

_TIMES = ("DATE", "TIME")
_AS_TEXT = (*_TIMES, "JSON", "UUID", '"NULL"')


class Jsonl(Format):
    """One JSON object a line; a column of mixed types is refused."""

    name = "jsonl"
    endings = (".jsonl", ".ndjson")

    def open(self, path: Path, engine: Engine, *, table: str | None, delimiter: str | None) -> Opened:
        """Times and all-missing columns are read as text, so that a cell is written back as it was."""
        check_names(_first_keys(path), str(path))
        types, mixed = jsonl_types(path)
        if mixed:
            raise DataError(
                f"column '{mixed[0]}' of {path} mixes types, such as numbers and text: make all its values one type"
            )
        plain = {name: "VARCHAR" if kind.startswith(_AS_TEXT) else kind for name, kind in types.items()}
        local = DuckDBEngine()
        kinds: list[Kind] = [
            "time" if types[name].startswith(_TIMES) else kind_of(dtype)
            for name, dtype in local.schema(local.of_jsonl(path, plain)).items()
        ]
        return Opened(engine.of_jsonl(path, plain), str(path), kinds)

    def write(self, relation: duckdb.DuckDBPyRelation, target: Path, like: Table) -> None:
        copied(relation, target, "FORMAT json, ARRAY false")


def _first_keys(path: Path) -> list[str]:
    """The keys of the first object, twice if they are there twice, which the engine would not tell."""
    with path.open("rb") as file:
        line = next((line for line in file if line.strip()), b"")
    try:
        first = json.loads(line, object_pairs_hook=lambda pairs: [key for key, _ in pairs])
    except (ValueError, UnicodeDecodeError) as error:
        raise DataError(f"{path}, line 1: not a JSON object; write one object to a line") from error
    if not isinstance(first, list) or not all(isinstance(key, str) for key in first) or not line.lstrip()[:1] == b"{":
        raise DataError(f"{path}, line 1: not a JSON object; write one object to a line")
    return first
