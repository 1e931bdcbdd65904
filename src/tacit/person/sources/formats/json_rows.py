"""JSON as a table: one row per object, nested fields as columns of their own, lists as several values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.errors import DataError
from tacit.loading import bytes_in
from tacit.person.model.kinds import usual
from tacit.person.sources.formats.format import text_of
from tacit.person.sources.source import parsed
from tacit.tables.sources import open_table

if TYPE_CHECKING:
    from tacit.tables.table import Table

_DEEPEST = 20
_WANTED = "JSON: a list of objects, or one object per line"


def json_table(path: Path) -> Table:
    """A file of objects as a table of texts.

    ``{"name": {"first": ...}}`` is the column name.first; a list is several values, and ``{"value": ...}`` in it is
    the value itself: ``{"emails": [{"value": ..., "type": ...}]}`` has the columns emails and emails.type.
    """
    import pyarrow as pa

    rows: list[dict[str, list[str]]] = []
    for place, item in enumerate(_objects(path), start=1):
        row: dict[str, list[str]] = {}
        for column, text in _flat(item, "", 0, f"{path}, object {place}"):
            row.setdefault(column, []).append(text)
        rows.append(row)
    columns = dict.fromkeys(column for row in rows for column in row)
    several = {column for row in rows for column, texts in row.items() if len(texts) > 1}
    if not columns:
        raise DataError(f"{path} holds no value: is it the right file?")
    arrays = {
        column: pa.array([row.get(column) for row in rows], pa.list_(pa.string()))
        if column in several
        else pa.array([row[column][0] if column in row else None for row in rows], pa.string())
        for column in columns
    }
    return replace(open_table(pa.table(arrays)), name=str(path))


def _objects(path: Path) -> list[Mapping[str, Any]]:
    raw = bytes_in(path, "list of objects")
    try:
        data = parsed(raw, path, _WANTED)
    except DataError:
        lines = [line for line in raw.splitlines() if line.strip()]
        if len(lines) < 2 or not lines[0].lstrip().startswith(b"{"):
            raise
        data = [parsed(line, path, _WANTED, number) for number, line in enumerate(lines, start=1)]
    if isinstance(data, dict):
        data = _listed(data, str(path)) or [data]
    if not isinstance(data, list) or not data or not all(isinstance(each, dict) for each in data):
        raise DataError(f"{path} is not {_WANTED}")
    return data


def _listed(data: Mapping[str, Any], where: str) -> list[Mapping[str, Any]]:
    """The rows that an export has under a key: ``{"contacts": [...], "total": 2, "meta": {...}}``; none if the object
    describes one person.

    One person's phones are not such a list, and neither is a list next to a person's fields. Of several lists, those
    about people are used.
    """
    lists = {
        key: each for key, each in data.items() if isinstance(each, list) and isinstance(next(iter(each), 0), dict)
    }
    beside = {key: each for key, each in data.items() if isinstance(each, list | dict) and key not in lists}
    if any(usual(key) for key in lists) or _of_people(beside, where):
        return []
    if len(lists) > 1:
        lists = {key: each for key, each in lists.items() if _of_people(each[0], where)}
    return [row for each in lists.values() for row in each]


def _of_people(value: Any, where: str) -> bool:
    return any(usual(column) is not None for column, _ in _flat(value, "", 0, where))


def _flat(value: Any, column: str, depth: int, where: str) -> Iterator[tuple[str, str]]:
    if depth > _DEEPEST:
        raise DataError(f"{where} nests too deeply: give {_WANTED}")
    if isinstance(value, dict):
        for key, inner in value.items():
            name = ".".join(filter(None, [column, "" if column and key.casefold() == "value" else key.strip()]))
            yield from _flat(inner, name, depth + 1, where)
    elif isinstance(value, list):
        for inner in value:
            yield from _flat(inner, column, depth + 1, where)
    elif text := (str(value).lower() if isinstance(value, bool) else text_of(value)):
        yield column or "value", text
