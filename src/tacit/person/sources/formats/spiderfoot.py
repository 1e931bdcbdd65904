"""Scans of SpiderFoot, exported as CSV or JSON: what one module found in one place is one record.

What it was found from (the address that a key server was asked about) is added to the record, if the scan knows what
it is: that is what ties records together. False positives are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from tacit.errors import DataError
from tacit.loading import bytes_in
from tacit.person.sources.formats.encodings import rows_of_text, text_of_file
from tacit.person.sources.formats.format import Beginning, FileEntry, of_entries, text_of
from tacit.person.sources.source import parsed

_CSV = {"Type", "Module", "Source", "Data"}
_JSON = {"data", "module"}


class _Event(NamedTuple):
    kind: str
    module: str
    origin: str
    data: str


def _entries(path: Path) -> Iterator[FileEntry]:
    fields_of: dict[tuple[str, str], dict[tuple[str, str], None]] = {}
    known: dict[str, tuple[str, str]] = {}
    for event in _events(path):
        field = (event.kind, _value(event.kind, event.data))
        known.setdefault(event.data, field)
        fields_of.setdefault((event.module, event.origin), {})[field] = None
    for (_, origin), fields in fields_of.items():
        yield FileEntry(None, list({**({known[origin]: None} if origin in known else {}), **fields}))


def _value(kind: str, data: str) -> str:
    """The value in the data of an event; what follows in brackets says where it was found."""
    text = re.sub(r"</?SFURL>", "", data).strip()
    address = re.search(r"https?://\S+", text)
    if "\n" in text and address is not None:
        return address[0]
    if "ompromised" in kind or "COMPROMISED" in kind:
        text = re.sub(r"\s*\[[^\]]*\]$", "", text)
        return text.partition(":")[2] or text if "assword" in kind or "PASSWORD" in kind else text
    return text


def _events(path: Path) -> Iterator[_Event]:
    rows = _objects(path) if bytes_in(path, "scan").lstrip()[:1] in (b"[", b"{") else _cells(path)
    for row in rows:
        kind = text_of(row.get("event_type", row.get("type", row.get("Type"))))
        origin = text_of(row.get("source_data", row.get("source", row.get("Source"))))
        module, data = (text_of(row.get(name, row.get(name.title()))) for name in ("module", "data"))
        false = text_of(row.get("false_positive", row.get("F/P"))) in ("1", "True", "true")
        if kind and data and not false and kind not in ("ROOT", "Internal SpiderFoot Root event"):
            yield _Event(kind, module, origin, data)


def _cells(path: Path) -> Iterator[Mapping[str, Any]]:
    rows = rows_of_text(path, text_of_file(path, "scan"))
    for _, row in rows[1:]:
        yield dict(zip(rows[0][1], row, strict=False))


def _objects(path: Path) -> Iterator[Mapping[str, Any]]:
    wanted = "a list of events; export the scan as JSON"
    data = parsed(bytes_in(path, "scan"), path, wanted)
    for place, event in enumerate(data if isinstance(data, list) else [data], start=1):
        if not isinstance(event, dict):
            raise DataError(f"{path}, event {place}: not {wanted}")
        yield event


def _fits(file: Beginning) -> bool:
    listed = file.first.keys() >= _JSON and bool(file.first.keys() & {"event_type", "source_data", "generated"})
    return file.columns >= _CSV or listed


FORMAT = of_entries("spiderfoot", "a SpiderFoot scan", fits=_fits, entries=_entries)
