"""Runs of Tacit that are stopped on the way: a process of its own, which forks one child for each line it is given.

A line is a JSON object: ``argv`` (a command) or ``swap`` (template, target, ledger: a tiny release through the same
functions), ``stop`` (the step, counted from 0, or -1), ``how`` ("kill", "full" for a disk without space, or a path to
remove), ``lines`` (all lines of the code that writes are then steps). It is
answered by a line with signal, code, steps and what was said.
"""

from __future__ import annotations

import errno
import gc
import importlib
import json
import os
import signal
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

WRITING = ("tacit.release.directory", "tacit.release.ledger.file", "tacit.tables.writing")
COMMANDS = (
    *("duckdb", "narwhals", "pyarrow.parquet", "scipy.optimize", "tacit.cli.commands", "tacit.lenses.table.protect"),
    *("tacit.lenses.table.verify", "tacit.person.actions.population"),
)
WRITERS = ("tacit/tables/writing.py", "tacit/release/directory.py", "tacit/release/ledger/file.py", "/shutil.py")


class Stop:
    """Counts steps, keeps their names in a file that outlives the process, and stops at the one that was asked for."""

    def __init__(self, job: dict[str, Any], steps: Path) -> None:
        self.at, self.how, self.seen = job.get("stop", -1), job.get("how", "kill"), 0
        self.steps = os.open(steps, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def __call__(self, step: str) -> None:
        os.write(self.steps, (step + "\n").encode())
        self.seen += 1
        if self.seen - 1 != self.at:
            return
        if self.how == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        elif self.how == "full":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        else:
            Path(self.how).unlink()

    def line(self, frame: Any, event: str, _: Any) -> Any:
        """A tracer: every line of a writer is a step."""
        if not frame.f_code.co_filename.endswith(WRITERS):
            return None
        if event == "line":
            self(f"{Path(frame.f_code.co_filename).stem}.{frame.f_code.co_name}:{frame.f_lineno}")
        return self.line


def swapped(template: str, target: str, ledger: str | None) -> None:
    """Write a copy of a release, as ``protect`` does, and enter it in a ledger before it appears."""
    from tacit.release import new_release
    from tacit.release.ledger.file import alone_with, read_ledger, write_ledger

    with alone_with(Path(ledger or target + ".ledger")), new_release(target, overwrite=True) as draft:
        for path in sorted(Path(template).rglob("*")):
            copied = draft.place / path.relative_to(template)
            copied.mkdir() if path.is_dir() else copied.write_bytes(path.read_bytes())
        if ledger is not None:
            write_ledger(Path(ledger), [*read_ledger(Path(ledger)), *read_ledger(Path(template + ".ledger"))])


def child(job: dict[str, Any], place: Path) -> None:
    """What a forked child does; it never comes back."""
    from tacit.tables import writing

    errors = os.open(place / "said", os.O_WRONLY | os.O_CREAT)
    os.dup2(errors, 1)
    os.dup2(errors, 2)
    stop, code = Stop(job, place / "steps"), 0
    if job.get("lines"):
        threading.settrace(stop.line)
        sys.settrace(stop.line)
    else:
        writing.watchers.append(stop)
    try:
        if "swap" in job:
            swapped(*job["swap"])
        else:
            from tacit.cli import main

            sys.argv = ["tacit", *job["argv"]]
            main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    except BaseException as error:  # noqa: BLE001 - whatever it is, the parent is to know of it
        os.write(2, f"TRACEBACK {type(error).__name__}: {error}\n".encode())
        code = 99
    sys.settrace(None)
    sys.stdout.flush()
    os._exit(code)


def answer(job: dict[str, Any]) -> dict[str, Any]:
    """Fork, wait, and say what became of it."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        pid = os.fork()
        if pid == 0:
            child(job, place)
        status = os.waitpid(pid, 0)[1]
        steps = (place / "steps").read_text().splitlines() if (place / "steps").exists() else []
        said = (place / "said").read_text(errors="replace")
    killed = os.WTERMSIG(status) if os.WIFSIGNALED(status) else None
    return {"signal": killed, "code": os.waitstatus_to_exitcode(status), "steps": steps, "said": said}


if __name__ == "__main__":
    # Loaded once, so that a run costs what it does and not what Python's imports do.
    for name in (*WRITING, *(COMMANDS if "commands" in sys.argv else ())):
        importlib.import_module(name)
    # A child that collects garbage would have to copy all of it.
    gc.freeze()
    for given in sys.stdin:
        sys.stdout.write(json.dumps(answer(json.loads(given))) + "\n")
        sys.stdout.flush()
    # Else DuckDB complains of what was never let go.
    gc.unfreeze()
