"""Files written together: all or none, and never over an existing one."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from tacit.errors import ArgumentError
from tacit.tables.writing import os_errors


def placed(folder: Path, files: Mapping[str, bytes], *, mode: int = 0o666) -> list[Path]:
    """Write files into a folder, which is created if needed.

    Guarantees
    ----------
    No file is overwritten. All are written, or none.
    """
    absolute = Path(os.path.abspath(folder))
    written: list[Path] = []
    with os_errors(folder):
        if folder.exists() and not folder.is_dir():
            raise ArgumentError(f"{folder} is a file: choose another name for the directory")
        there = [name for name in files if os.path.lexists(folder / name)]
        if there:
            raise ArgumentError(f"{folder / there[0]} already exists: choose another directory, or move it away")
        missing = [path for path in (absolute, *absolute.parents) if not path.exists()]
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for name, data in files.items():
                # Never overwrite a file that somebody else has written in the meantime.
                descriptor = os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
                written.append(folder / name)
                with os.fdopen(descriptor, "wb") as file:
                    file.write(data)
        except BaseException:
            for path in written:
                path.unlink(missing_ok=True)
            for parent in missing:
                with suppress(OSError):
                    parent.rmdir()
            raise
    return written
