"""The desk: takes requests, lets a few workers at a time answer them, and knows how far each has got."""

from __future__ import annotations

import re
import secrets
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from tacit.errors import ArgumentError
from tacit.web.files import MissingError
from tacit.web.jobs.kept import (
    CODE,
    ENDED,
    PROGRESS,
    REQUEST,
    RESULT,
    SAID,
    STARTED,
    STOP,
    KeptJob,
)

AT_ONCE = 2
# How many seconds a worker that was told to stop may take to clean up.
GRACE = 5.0
_OFTEN = 0.1
# How many earlier jobs are searched for how long the same request took.
_REMEMBERED = 50
_NAME = re.compile(r"[0-9]{8}-[0-9]{6}-[0-9a-f]{8}")


class Desk:
    """The jobs of one folder.

    Guarantees
    ----------
    A job is answered by a process of its own, whether or not anybody watches. It is kept until it is forgotten: a
    server that is started again lists it. A worker that outlived its server goes on, and is shown as running; any other
    job that had not ended is shown as interrupted.
    """

    def __init__(
        self, place: Path, root: Path, worker: Sequence[str], *, at_once: int = AT_ONCE, spare: bool = False
    ) -> None:
        self.place, self.root, self.worker, self.at_once, self.spare = place, root, tuple(worker), at_once, spare
        self.place.mkdir(mode=0o700, exist_ok=True)
        self._lock = threading.Lock()
        self._waiting: list[str] = []
        # A worker that an earlier server started is known only by its folder.
        self._running: dict[str, subprocess.Popen[bytes] | None] = {}
        self._closing = False
        self._spare: subprocess.Popen[bytes] | None = None
        for job in self._kept():
            if job.lives:
                self._running[job.name] = None
                threading.Thread(target=self._watch, args=(job, None), daemon=True).start()
            elif not job.has(ENDED):
                self._ended(job, None)
        self._keep_one_waiting()

    def ask(self, verb: str, request: Mapping[str, Any], command: str) -> str:
        """Take a request; the name of its job."""
        now = time.time()
        moment = f"{time.strftime('%Y%m%d-%H%M%S', time.localtime(now))}-{int(now % 1 * 1e6):06d}"
        job = KeptJob(self.place / f"{moment}{secrets.token_hex(1)}")
        job.place.mkdir(mode=0o700)
        facts = {"verb": verb, "request": dict(request), "command": command, "asked": now}
        with self._lock:
            job.write(REQUEST, facts)
            self._waiting.append(job.name)
        self._next()
        return job.name

    def all(self) -> list[dict[str, Any]]:
        """Every job, the newest first, without its answer."""
        return [self._facts(job) for job in reversed(self._kept())]

    def seen(self, name: str) -> dict[str, Any]:
        """One job, with its answer."""
        job = self.job(name)
        facts = self._facts(job)
        return facts | ({"result": job.read(RESULT)} if facts["state"] == "done" else {})

    def job(self, name: str) -> KeptJob:
        """The folder of a job."""
        job = KeptJob(self.place / name)
        if not _NAME.fullmatch(name) or not job.has(REQUEST):
            raise MissingError("there is no such job")
        return job

    def cancel(self, name: str) -> None:
        """Stop a job, with nothing left behind; one that has ended is left unchanged."""
        job = self.job(name)
        with self._lock:
            if name in self._waiting:
                self._waiting.remove(name)
                job.write_text(STOP, "")
                self._end(job, "cancelled", None)
            elif name in self._running and not job.has(STOP):
                job.write_text(STOP, "")
                threading.Thread(target=self._stop, args=(job,), daemon=True).start()

    def forget(self, name: str) -> None:
        """Remove a job that has ended, with its answer."""
        job = self.job(name)
        if not job.has(ENDED):
            raise ArgumentError("a waiting or running job cannot be deleted: cancel it first")
        shutil.rmtree(job.place, ignore_errors=True)

    def close(self) -> None:
        """Stop what runs: whoever stops the server wants the machine to be quiet. Jobs can be asked again."""
        with self._lock:
            self._closing = True
            self._waiting.clear()
            running = [KeptJob(self.place / name) for name in self._running]
            if self._spare is not None and self._spare.stdin is not None:
                # It has no job yet.
                self._spare.kill()
                self._spare.stdin.close()
                self._spare.wait()
        for job in running:
            self._stop(job)
        for job in self._kept():
            if not job.has(ENDED):
                self._ended(job, None)

    @property
    def closing(self) -> bool:
        """Whether the server is about to end."""
        return self._closing

    def _kept(self) -> list[KeptJob]:
        names = sorted(path.name for path in self.place.iterdir() if _NAME.fullmatch(path.name))
        return [job for job in (KeptJob(self.place / name) for name in names) if job.is_whole]

    def _next(self) -> None:
        with self._lock:
            while self._waiting and len(self._running) < self.at_once and not self._closing:
                name = self._waiting.pop(0)
                job = KeptJob(self.place / name)
                self._running[name] = worker = self._started(job)
                threading.Thread(target=self._watch, args=(job, worker), daemon=True).start()

    def _started(self, job: KeptJob) -> subprocess.Popen[bytes]:
        """A worker at work on a job: the one that waits, or a new one."""
        worker = self._spare if self._spare is not None and self._spare.poll() is None else self._hired()
        self._spare = None
        assert worker.stdin is not None
        # If the worker has already ended, its watcher will notice.
        with suppress(BrokenPipeError), worker.stdin as pipe:
            pipe.write(f"{job.place}\n".encode())
        return worker

    def _hired(self) -> subprocess.Popen[bytes]:
        # In a session of its own: Ctrl-C at the server's terminal is for the server.
        return subprocess.Popen(
            self.worker,
            cwd=self.root,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def _keep_one_waiting(self) -> None:
        """Let a worker load what it needs before it is asked, if the desk keeps a spare and no job is running."""
        with self._lock:
            if self.spare and self._spare is None and not self._running and not self._closing:
                self._spare = self._hired()

    def _watch(self, job: KeptJob, worker: subprocess.Popen[bytes] | None) -> None:
        if worker is not None:
            code: int | None = worker.wait()
        else:
            while job.lives:
                time.sleep(_OFTEN)
            code = None
        self._ended(job, code)
        with self._lock:
            del self._running[job.name]
        self._next()
        self._keep_one_waiting()

    def _stop(self, job: KeptJob) -> None:
        """Ask a worker to stop, then force it; one that even the system cannot stop is given up."""
        began, number = time.monotonic(), signal.SIGTERM
        while job.name in self._running and time.monotonic() < began + 2 * GRACE:
            worker = self._running.get(job.name)
            if worker is not None:
                worker.send_signal(number)
            else:
                job.signal(number)
            time.sleep(_OFTEN)
            if time.monotonic() > began + GRACE:
                number = signal.SIGKILL

    def _ended(self, job: KeptJob, code: int | None) -> None:
        """Note how a job ended, judging by the files it left behind."""
        written = job.text(CODE).strip()
        code = int(written) if code is None and written.isdigit() else code
        if job.has(RESULT):
            self._end(job, "done", None)
        elif job.has(STOP):
            self._end(job, "cancelled", None)
        elif code is None or self._closing:
            self._end(job, "interrupted", None)
        else:
            self._end(job, "failed", _error(job, code))

    def _end(self, job: KeptJob, state: str, error: dict[str, Any] | None) -> None:
        started, now = job.read(STARTED), time.time()
        seconds = 0.0 if started is None else now - started["at"]
        with suppress(FileNotFoundError):
            job.write(ENDED, {"state": state, "error": error, "seconds": seconds, "at": now})

    def _facts(self, job: KeptJob) -> dict[str, Any]:
        request, ended, started = job.read(REQUEST), job.read(ENDED), job.read(STARTED)
        at = job.read(PROGRESS)
        running = ended is None and job.name in self._running
        at = at or {"stage": "starting" if running else "waiting", "share": None}
        facts = {
            "id": job.name,
            **request,
            "state": ended["state"] if ended else "running" if running else "waiting",
            "stage": None if ended else at["stage"],
            "share": None if ended else at["share"],
            "seconds": 0.0 if started is None else time.time() - started["at"],
            "left": None,
            "error": None,
        }
        if ended:
            return facts | {"seconds": ended["seconds"], "error": ended["error"]}
        return facts | ({"left": self._left(request, facts["seconds"])} if running else {})

    def _left(self, request: dict[str, Any], seconds: float) -> float | None:
        """About how long it will still take, if the same was done before; otherwise nobody knows."""
        before = next((job for job in reversed(self._kept()[-_REMEMBERED:]) if self._alike(job, request)), None)
        if before is None:
            return None
        took: float = before.read(ENDED)["seconds"]
        return max(took - seconds, 0.0)

    @staticmethod
    def _alike(job: KeptJob, request: dict[str, Any]) -> bool:
        ended = job.read(ENDED)
        same = ("verb", "request")
        return bool(ended and ended["state"] == "done" and all(job.read(REQUEST)[key] == request[key] for key in same))


def _error(job: KeptJob, code: int) -> dict[str, Any]:
    if code < 0:
        name = signal.Signals(-code).name
        words = f"the run was ended from outside ({name}), most often because memory ran out: ask for fewer or coarser"
        return {"message": f"{words} columns", "code": 3}
    lines = [line for line in job.text(SAID).splitlines() if line.startswith("tacit: ")]
    message = lines[-1].removeprefix("tacit: ") if lines else "the run ended without a message"
    return {"message": message, "code": code if lines else 4}
