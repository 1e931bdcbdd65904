"""vCards of versions 2.1, 3 and 4, as address books and Google Takeout write them: one record per card."""

from __future__ import annotations

import quopri
import re
from collections.abc import Iterator
from pathlib import Path

from tacit.person.sources.formats.encodings import text_of_file
from tacit.person.sources.formats.format import Beginning, FileEntry, of_entries

_LINE = re.compile(r"(?:[\w-]+\.)?([\w-]+)((?:;[^:\"]*(?:\"[^\"]*\"[^:\"]*)*)?):(.*)", re.DOTALL)
_ESCAPED = re.compile(r"\\(.)")
# Fields that describe the card rather than the person, or are not text.
_QUIET = {
    "BEGIN",
    "END",
    "VERSION",
    "PRODID",
    "REV",
    "UID",
    "PHOTO",
    "LOGO",
    "SOUND",
    "KEY",
    "CATEGORIES",
    "SORT-STRING",
}


def _entries(path: Path) -> Iterator[FileEntry]:
    fields: list[tuple[str, str]] = []
    for name, parameters, value in _lines(text_of_file(path, "vCard")):
        if name == "BEGIN" or (name == "END" and fields):
            # A card that is cut off is still used.
            yield from _card(fields)
            fields = []
        elif name not in _QUIET and not name.startswith("X-AB") and "BASE64" not in parameters and value.strip(" ;"):
            fields.append((name, value))
    yield from _card(fields)


def _lines(text: str) -> Iterator[tuple[str, str, str]]:
    """Name, parameters and value of every line, with folded lines joined."""
    # After a soft break, quoted-printable continues without the blank that other folded lines begin with.
    text = re.sub(r"\r\n?", "\n", text)
    text = re.sub(r"\n[ \t]", "", text)
    text = re.sub(r"(?im)^([^:\n]*QUOTED-PRINTABLE[^:\n]*:(?:[^\n]*=\n)*[^\n]*)", _unbroken, text)
    for line in text.split("\n"):
        if match := _LINE.fullmatch(line):
            name, parameters, value = match[1].upper(), match[2].upper(), match[3]
            if "QUOTED-PRINTABLE" in parameters:
                value = quopri.decodestring(value.encode()).decode("utf-8", "replace")
            yield name, parameters.replace("ENCODING=B;", "BASE64").replace("ENCODING=B", "BASE64"), value


def _unbroken(match: re.Match[str]) -> str:
    return match[0].replace("=\n", "")


def _card(fields: list[tuple[str, str]]) -> Iterator[FileEntry]:
    whole = {name for name, _ in fields}
    plain_fields: list[tuple[str, str]] = []
    for name, value in fields:
        parts = [_plain(part) for part in re.split(r"(?<!\\);", value)]
        if name == "N":
            # The family name comes first; a card with the full name does not need the parts.
            plain_fields += [] if "FN" in whole else [("FN", " ".join(filter(None, [*parts[1:2], *parts[:1]])))]
        elif name == "ADR":
            street, town, region, code = (*parts, *[""] * 7)[2:6]
            plain_fields += [("ADR", ", ".join(filter(None, (street, town, region)))), ("ADR code", code)]
        else:
            plain_fields.append((name, parts[0] if name == "ORG" else _plain(value)))
    plain_fields = [(name, re.sub(r"(?i)^(tel|mailto):", "", value)) for name, value in plain_fields if value]
    if plain_fields:
        yield FileEntry(None, plain_fields)


def _plain(value: str) -> str:
    unescaped = _ESCAPED.sub(lambda match: " " if match[1] in "nN" else match[1], value)
    return " ".join(unescaped.split())


def _fits(file: Beginning) -> bool:
    return file.ending in (".vcf", ".vcard") or file.text.lstrip()[:11].upper() == "BEGIN:VCARD"


FORMAT = of_entries("vcard", "vCards", fits=_fits, entries=_entries)
