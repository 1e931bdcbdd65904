"""FollowTheMoney's entities, as OpenSanctions and Aleph write them: one JSON object per line, a schema, properties.

A person is a record. Addresses and papers, whether separate entities or nested, are added to their person.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tacit.errors import DataError
from tacit.loading import lines_in
from tacit.person.sources.formats.format import Beginning, FileEntry, of_entries, texts_of
from tacit.person.sources.source import parsed

_PERSONS = ("Person", "LegalEntity")
_PAPERS = {"Passport": "passportNumber", "Identification": "idNumber"}


def _entries(path: Path) -> Iterator[FileEntry]:
    """Two passes, because what belongs to a person may come before or after it."""
    addresses: dict[str, str] = {}
    papers: dict[str, list[tuple[str, str]]] = {}
    for entity, properties in _entities(path):
        if entity["schema"] == "Address":
            addresses |= {text: _address(properties) for text in texts_of(entity.get("id"))}
        elif entity["schema"] in _PAPERS:
            for holder in texts_of(properties.get("holder")):
                papers.setdefault(holder, []).extend(_paper(entity["schema"], properties))
    for entity, properties in _entities(path):
        if entity["schema"] in _PERSONS:
            called = next(iter(texts_of(entity.get("id"))), None)
            fields = [*_fields(properties, addresses), *papers.get(called or "", ())]
            yield FileEntry(called, list(dict.fromkeys(fields)))


def _fields(properties: Mapping[str, Any], addresses: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    if not properties.get("name"):
        parts = [next(iter(texts_of(properties.get(part))), "") for part in ("firstName", "lastName")]
        yield from [("name", " ".join(filter(None, parts)))] if any(parts) else []
    for name, values in properties.items():
        for each in values if isinstance(values, list) else [values]:
            nested = each.get("properties") if isinstance(each, dict) else None
            if isinstance(nested, dict) and each.get("schema") == "Address":
                yield "address", _address(nested)
            elif isinstance(nested, dict) and each.get("schema") in _PAPERS:
                yield from _paper(each["schema"], nested)
            elif name == "addressEntity":
                yield from [("address", addresses[each])] if isinstance(each, str) and each in addresses else []
            elif name not in ("firstName", "lastName"):
                yield from ((name, text) for text in texts_of(each))


def _address(properties: Mapping[str, Any]) -> str:
    whole = texts_of(properties.get("full"))
    parts = [text for name in ("street", "city", "region") for text in texts_of(properties.get(name))[:1]]
    return ", ".join(parts if len(parts) > 1 or not whole else whole[:1])


def _paper(schema: str, properties: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    return ((_PAPERS[schema], text) for text in texts_of(properties.get("number")))


def _entities(path: Path) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    wanted = "an entity: one JSON object per line, with a schema and properties"
    for number, line in enumerate(lines_in(path, "list of entities"), start=1):
        if line.strip():
            entity = parsed(line, path, wanted, number)
            properties = entity.get("properties") if isinstance(entity, dict) else None
            if not isinstance(properties, dict) or not isinstance(entity.get("schema"), str):
                raise DataError(f"{path}, line {number}: not {wanted}")
            yield entity, properties


def _fits(file: Beginning) -> bool:
    return isinstance(file.line.get("properties"), dict) and isinstance(file.line.get("schema"), str)


FORMAT = of_entries("entities", "FollowTheMoney entities", fits=_fits, entries=_entries)
