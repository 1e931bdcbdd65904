"""What theHarvester found about a domain, as JSON or XML: addresses and people, each its own record."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

from tacit.errors import DataError
from tacit.loading import bytes_in
from tacit.person.sources.formats.format import Beginning, FileEntry, of_entries, texts_of
from tacit.person.sources.source import parsed

_PEOPLE = ("people", "linkedin_people", "twitter_people")
_LISTS = ("emails", *_PEOPLE)
_TAGS = {"email": "emails", "person": "people", "people": "people"}


def _entries(path: Path) -> Iterator[FileEntry]:
    raw = bytes_in(path, "harvest")
    for kind, text in _tagged(raw, path) if raw.lstrip()[:1] == b"<" else _listed(raw, path):
        if kind in _PEOPLE:
            # LinkedIn's titles: a name, a job, an employer.
            parts = [part.strip() for part in text.split(" - ")]
            named = zip((kind, "job", "employer"), parts, strict=False)
            yield FileEntry(None, [(name, part) for name, part in named if part])
        else:
            yield FileEntry(None, [(kind, text)])


def _listed(raw: bytes, path: Path) -> Iterator[tuple[str, str]]:
    wanted = "what theHarvester writes: an object with lists of emails and hosts"
    data = parsed(raw, path, wanted)
    if not isinstance(data, dict):
        raise DataError(f"{path} is not {wanted}")
    return ((kind, text) for kind in _LISTS for text in dict.fromkeys(texts_of(data.get(kind))))


def _tagged(raw: bytes, path: Path) -> Iterator[tuple[str, str]]:
    # theHarvester never declares entities, and entities can be made to expand without end.
    if b"<!" in raw.replace(b"<!--", b""):
        raise DataError(f"{path} declares entities, which theHarvester does not: export it as JSON")
    try:
        root = ElementTree.fromstring(raw)
    except (ElementTree.ParseError, ValueError, LookupError):
        raise DataError(f"{path} is not XML, or damaged: export it again, or as JSON") from None
    tagged = ((_TAGS[each.tag], (each.text or "").strip()) for each in root.iter() if each.tag in _TAGS)
    return ((kind, text) for kind, text in dict.fromkeys(tagged) if text)


def _fits(file: Beginning) -> bool:
    data = file.whole
    listed = isinstance(data, dict) and bool(data.keys() & set(_LISTS)) and bool(data.keys() & {"hosts", "cmd", "ips"})
    return listed or "<theHarvester>" in file.text[:1000]


FORMAT = of_entries("harvester", "what theHarvester found", fits=_fits, entries=_entries)
