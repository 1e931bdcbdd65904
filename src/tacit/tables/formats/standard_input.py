"""Standard input: copied once to a private file, whose format is given by an ending or found from its first bytes."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

from tacit.errors import SourceError
from tacit.tables.engines.duckdb.connections import private_file

# The first bytes of files, and the endings of their names; anything else is read as CSV.
_FIRST_BYTES = (
    (b"PAR1", ".parquet"),
    (b"ARROW1", ".arrow"),
    (b"\xff\xff\xff\xff", ".arrow"),
    (b"ORC", ".orc"),
    (b"SQLite format 3\x00", ".sqlite"),
    (b"PK\x03\x04", ".xlsx"),
    (b"<stata_dta>", ".dta"),
    (b"$FL", ".sav"),
    (b"\x1f\x8b", ".csv.gz"),
    (b"\x28\xb5\x2f\xfd", ".csv.zst"),
    (b"[", ".json"),
    (b"{", ".jsonl"),
)
# Standard input can be read only once, and a run may ask for its source more than once.
_copies: dict[int, tuple[Any, Path]] = {}


def is_standard_input(address: str) -> bool:
    """Whether an address stands for standard input: ``-``, or with its format ``-.csv``."""
    return address == "-" or (address.startswith("-.") and not Path(address).exists())


def copied_input(address: str) -> Path:
    """A private copy of what comes in."""
    stream = sys.stdin.buffer
    if id(stream) not in _copies:
        if sys.stdin.isatty():
            raise SourceError("standard input is a terminal: send a file to it, or name one")
        # The copy lives as long as the process.
        copy = private_file(copied_input, "")
        with copy.open("wb") as file:
            shutil.copyfileobj(stream, file, 1 << 22)
        _copies[id(stream)] = stream, copy
    copy = _copies[id(stream)][1]
    with copy.open("rb") as file:
        first = file.read(32)
    likely = next((ending for magic, ending in _FIRST_BYTES if first.lstrip().startswith(magic)), ".csv")
    ending = address[1:] or likely
    named = copy.with_name(f"{copy.name.partition('.')[0]}{ending}")
    return copy if copy == named else _linked(copy, named)


def _linked(copy: Path, named: Path) -> Path:
    if not named.exists():
        named.symlink_to(copy)
    return named
