"""Mailboxes (.mbox) and messages (.eml): the names and addresses in From, To and Cc, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from tacit.loading import lines_in
from tacit.person.sources.formats.format import Beginning, FileEntry, of_entries

# The most bytes of a message's head that are read.
_MOST_HEAD = 1 << 20
_WANTED = ("From", "To", "Cc")


def _entries(path: Path) -> Iterator[FileEntry]:
    """One record per address, with every name used with it. No message body is read."""
    from email.parser import BytesHeaderParser
    from email.utils import getaddresses

    names: dict[str, dict[str, None]] = {}
    for head in _heads(path):
        message = BytesHeaderParser().parsebytes(head)
        lines = [str(line) for wanted in _WANTED for line in message.get_all(wanted, [])]
        for name, address in getaddresses(lines):
            if re.fullmatch(r"[^@\s]+@[^@\s]+", address):
                shown = _decoded(name)
                names.setdefault(address.casefold(), {}).update({shown: None} if shown and "@" not in shown else {})
    for address, called in names.items():
        yield FileEntry(None, [("address", address), *(("name", name) for name in called)])


def _heads(path: Path) -> Iterator[bytes]:
    """The head of every message; the rest is skipped."""
    head: list[bytes] | None = []
    size, blank = 0, True
    for line in lines_in(path, "mailbox"):
        if blank and line.startswith(b"From "):
            if head:
                yield b"".join(head)
            head, size = [], 0
        elif head is not None and not line.strip():
            if head:
                yield b"".join(head)
                head = None
        elif head is not None and size < _MOST_HEAD:
            head.append(line)
            size += len(line)
        blank = not line.strip()
    if head:
        yield b"".join(head)


def _decoded(name: str) -> str:
    from email.errors import HeaderParseError
    from email.header import decode_header, make_header

    try:
        name = str(make_header(decode_header(name)))
    except (HeaderParseError, LookupError, UnicodeError, ValueError):
        # A name in an unknown encoding is not used.
        return ""
    return " ".join(name.strip("'\" ").split())


def _fits(file: Beginning) -> bool:
    return file.ending in (".mbox", ".mbx", ".eml") or re.match(r"From \S+.*\n[\w-]+: ", file.text) is not None


FORMAT = of_entries("mailbox", "message headers", fits=_fits, entries=_entries)
