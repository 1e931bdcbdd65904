"""Contacts as Google exports them in CSV: columns such as "E-mail 1 - Value", several values separated by :::."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from tacit.person.sources.formats.encodings import rows_of_text, text_of_file
from tacit.person.sources.formats.format import Beginning, FileEntry, of_entries

_NUMBERED = re.compile(r"(.+?) \d+ - (.+)")
_NAME_PARTS = (("First Name", "Given Name"), ("Last Name", "Family Name"))
# What a numbered column holds: E-mail 1 - Value is an e-mail address, E-mail 1 - Type is not.
_PARTS = {"Value": "", "Formatted": "", "Name": "", "Street": " street", "City": " city", "Postal Code": " code"}


def _entries(path: Path) -> Iterator[FileEntry]:
    rows = rows_of_text(path, text_of_file(path, "list of contacts"))
    columns = rows[0][1] if rows else []
    for _, row in rows[1:]:
        cells = {column: cell.strip() for column, cell in zip(columns, row, strict=False) if cell.strip()}
        fields = [(name, value) for column, cell in cells.items() for name, value in _fields(column, cell, cells)]
        parts = [next((cells[one] for one in either if one in cells), "") for either in _NAME_PARTS]
        if "Name" not in cells and any(parts):
            fields.insert(0, ("Name", " ".join(filter(None, parts))))
        if fields:
            yield FileEntry(None, fields)


def _fields(column: str, cell: str, cells: dict[str, str]) -> Iterator[tuple[str, str]]:
    match = _NUMBERED.fullmatch(column)
    if match is None:
        plain = ("Name", "Nickname", "Birthday", "Organization Name", "Organization Title", "Occupation")
        if column in plain:
            yield column, cell
        return
    kind, part = match[1], _PARTS.get(match[2])
    if part is None:
        return
    street = cells.get(column.removesuffix(match[2]) + "Street")
    for value in map(str.strip, cell.split(":::")):
        if kind == "Address" and part == " street":
            town = cells.get(column.removesuffix("Street") + "City", "")
            yield "Address", ", ".join(filter(None, (value, town)))
        elif kind == "Address" and part == " code":
            yield "Postal Code", value
        elif not part and value and not (kind == "Address" and street):
            yield kind, ", ".join(value.splitlines())


def _fits(file: Beginning) -> bool:
    names = file.columns & {"Name", "Given Name", "First Name"}
    return bool(names) and any(re.fullmatch(r"(E-mail|Phone) 1 - Value", column) for column in file.columns)


FORMAT = of_entries("contacts", "Google contacts", fits=_fits, entries=_entries)
