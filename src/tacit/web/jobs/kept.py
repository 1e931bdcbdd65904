"""A job on disk: a folder for the owner only, which the server and the worker both write to."""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tacit.errors import SourceError
from tacit.loading import json_of

REQUEST, STARTED, PROGRESS, RESULT, ENDED, PAGE = (
    f"{name}.json" if name != "page" else "page.html"
    for name in ("request", "started", "progress", "result", "ended", "page")
)
# What the files hold; one that lacks any of it was not made by Tacit.
_HOLDS: dict[str, dict[str, Any]] = {
    REQUEST: {"verb": str, "request": dict, "command": str, "asked": float | int},
    STARTED: {"pid": int, "at": float | int},
    PROGRESS: {"stage": str, "share": float | int | None, "since": float | int, "at": float | int},
    ENDED: {"state": str, "error": dict | None, "seconds": float | int},
}
# What the worker wrote to standard error, its exit code, that it was told to stop, and its lock while it lives.
SAID, CODE, STOP, ALIVE = "said.txt", "code.txt", "stop", "alive"


@dataclass(frozen=True)
class KeptJob:
    """The folder of a job.

    Guarantees
    ----------
    Each of its files is whole or not there, however the process that wrote it ended. Whether the worker lives is told
    by a lock, which the system releases when it ends, and not by a process id, which another process may have by now.
    """

    place: Path

    @property
    def name(self) -> str:
        """What the job is called."""
        return self.place.name

    def write(self, name: str, value: Any) -> None:
        """Write a file of JSON."""
        self.write_text(name, json.dumps(value, allow_nan=True))

    def write_text(self, name: str, text: str) -> None:
        """Write a file."""
        draft = self.place / f".{name}.{os.getpid()}"
        draft.write_text(text, "utf-8")
        os.replace(draft, self.place / name)

    def read(self, name: str) -> Any:
        """What a file of JSON holds; None if it is not there (yet)."""
        try:
            value = json_of((self.place / name).read_bytes())
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise SourceError(f"cannot read {name} of the job {self.name}: it is damaged") from error
        holds = _HOLDS.get(name, {})
        if holds and not (isinstance(value, dict) and all(isinstance(value.get(key), holds[key]) for key in holds)):
            raise SourceError(f"{name} of the job {self.name} was not made by Tacit: remove the job")
        return value

    @property
    def is_whole(self) -> bool:
        """Whether it is a job, as far as its files tell: a folder from elsewhere may hold what looks like one."""
        try:
            return self.read(REQUEST) is not None and all(self.read(name) or True for name in _HOLDS)
        except SourceError:
            return False

    def text(self, name: str) -> str:
        """What a file holds; nothing if it is not there."""
        try:
            return (self.place / name).read_text("utf-8", errors="replace")
        except OSError:
            return ""

    def has(self, name: str) -> bool:
        """Whether a file is there."""
        return (self.place / name).exists()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Within it the worker is seen to live."""
        descriptor = os.open(self.place / ALIVE, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            self.write(STARTED, {"pid": os.getpid(), "at": time.time()})
            yield
        finally:
            os.close(descriptor)

    @property
    def lives(self) -> bool:
        """Whether its worker holds it."""
        try:
            descriptor = os.open(self.place / ALIVE, os.O_RDWR)
        except OSError:
            return False
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return True
        finally:
            os.close(descriptor)
        return False

    def signal(self, number: int) -> None:
        """Send its worker a signal, if it lives."""
        started = self.read(STARTED)
        if started and self.lives:
            with suppress(ProcessLookupError):
                os.kill(started["pid"], number)
