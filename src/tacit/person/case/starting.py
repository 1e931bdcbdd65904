"""A commented case to start from: an example, in which everybody is invented, or one made from a folder of files."""

from __future__ import annotations

import os
from pathlib import Path

from tacit.person.case.placing import placed
from tacit.person.case.proposing import ProposedCase, proposed

EXAMPLE = Path(__file__).parent / "example"
# The case file is written last, so that nobody finds it before its sources.
FILES = ("shop.csv", "broker.jsonl", "forum.csv", "breaches.json", "zip_codes.csv", "people.csv", "case.yaml")


def person_init(directory: str | os.PathLike[str] = ".", *, source: str | os.PathLike[str] | None = None) -> list[Path]:
    """Write a commented case into a directory, which is created if needed: an example, or one made from a folder.

    Parameters
    ----------
    directory : path
        Where the case file goes.
    source : path, optional
        A folder of files (tables, JSON, vCards, mailboxes, breaches, scans), which become the sources of the case; the
        person is left to be filled in. Without it the case is an example with its own sources.

    Returns
    -------
    list of Path
        What was written; the case file is the last.

    Guarantees
    ----------
    No file is overwritten. All files are written, or none.
    """
    if source is None:
        return placed(Path(directory), {name: (EXAMPLE / name).read_bytes() for name in FILES})
    return write_proposed(proposed(source), directory)


def write_proposed(case: ProposedCase, directory: str | os.PathLike[str]) -> list[Path]:
    """Write the case of a folder; only the owner can read it, because a person will be filled in."""
    folder = Path(directory)
    return placed(folder, {"case.yaml": case.text(folder).encode()}, mode=0o600)
