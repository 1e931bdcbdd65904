"""A commented example of a case, with small sources of every kind, to start from; everybody in it is invented."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from tacit.errors import ArgumentError
from tacit.tables.writing import os_errors

EXAMPLE = Path(__file__).parent / "example"
# The case file is the last, so that nobody finds it before its sources.
FILES = ("shop.csv", "broker.jsonl", "forum.csv", "breaches.json", "zip_codes.csv", "people.csv", "case.yaml")


def person_init(directory: str | os.PathLike[str] = ".") -> list[Path]:
    """Write a commented example of a case, with its sources, into a directory, which is made if it is not there.

    Returns
    -------
    list of Path
        What was written; the case file is the last.

    Guarantees
    ----------
    No file is overwritten. All files are written, or none.
    """
    folder = Path(directory)
    absolute = Path(os.path.abspath(folder))
    placed: list[Path] = []
    with os_errors(folder):
        if folder.exists() and not folder.is_dir():
            raise ArgumentError(f"{folder} is a file: choose another name for the directory")
        there = [name for name in FILES if os.path.lexists(folder / name)]
        if there:
            raise ArgumentError(f"{folder / there[0]} is there already: choose another directory, or move it away")
        missing = [path for path in (absolute, *absolute.parents) if not path.exists()]
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for name in FILES:
                # Never a file that somebody else has written meanwhile.
                with (folder / name).open("xb") as file:
                    placed.append(folder / name)
                    file.write((EXAMPLE / name).read_bytes())
        except BaseException:
            for path in placed:
                path.unlink(missing_ok=True)
            for parent in missing:
                with suppress(OSError):
                    parent.rmdir()
            raise
    return placed
