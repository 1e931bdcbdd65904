"""A page that is served, clients of it, and a worker that does at once as it is told."""

from __future__ import annotations

import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from tacit.cli.wording import COMMAND_LINE
from tacit.web.app import application
from tacit.web.jobs.desk import Desk
from tacit.web.security import Keys

PORT = 8765
ORIGIN = f"http://127.0.0.1:{PORT}"
# It speaks to the desk as a worker does, and the name of the source says what becomes of it.
STUB = """
import signal, sys, time
from pathlib import Path
from tacit.web.jobs.kept import KeptJob, PAGE, PROGRESS, REQUEST, RESULT, SAID

job = KeptJob(Path(sys.stdin.readline().strip()))
source = job.read(REQUEST)["request"].get("source", "")
with job.held():
    if source.startswith("deaf"):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if source.startswith("bad"):
        job.write_text(SAID, "tacit: bad is no table\\n")
        sys.exit(3)
    job.write(PROGRESS, {"stage": "counting", "share": 0.25, "since": time.time() - 2, "at": time.time()})
    until = time.time() + (60 if "slow" in source else 0)
    while time.time() < until and not (Path.cwd() / "go").exists():
        time.sleep(0.02)
    job.write_text(PAGE, "<!DOCTYPE html><title>done</title>")
    job.write(RESULT, {"found": 1})
"""
STUB_WORKER = (sys.executable, "-c", STUB)


class Page:
    """A server of a folder, and clients of it."""

    def __init__(self, folder: Path, stack: ExitStack, **how: Any) -> None:
        self.keys, self.folder, self.stack = Keys(), folder, stack
        how = {"worker": STUB_WORKER, **how}
        self.app = application(folder, self.keys, port=PORT, wording=COMMAND_LINE, **how)
        self.script = self.client(headers={"authorization": f"token {self.keys.token}"})

    @property
    def desk(self) -> Desk:
        desk: Desk = self.app.app.state.desk
        return desk

    def client(self, **how: Any) -> TestClient:
        """Somebody without a token."""
        client = TestClient(self.app, base_url=ORIGIN, follow_redirects=False, **how)
        # Each client that is entered would end the application for all; one that is not is none the worse for it.
        self.stack.callback(client.close)
        return client

    def browser(self) -> TestClient:
        """A browser that was given the address with the token."""
        client = self.client(headers={"origin": ORIGIN, "sec-fetch-site": "same-origin"})
        assert client.get(f"/?token={self.keys.token}").status_code == 303
        return client

    def ask(self, verb: str = "audit", **request: Any) -> str:
        """The name of a job."""
        answer = self.script.post(f"/api/{verb}", json=request)
        assert answer.status_code == 202, answer.text
        return str(answer.json()["id"])

    def seen(self, job: str) -> dict[str, Any]:
        facts: dict[str, Any] = self.script.get(f"/api/jobs/{job}").json()
        return facts

    def at_work(self, job: str, seconds: float = 60) -> dict[str, Any]:
        """A job when its worker has begun."""
        end = time.monotonic() + seconds
        while (seen := self.seen(job))["state"] != "running" or seen["stage"] == "starting":
            assert time.monotonic() < end, seen
            time.sleep(0.05)
        return seen

    def until(self, job: str, *states: str, seconds: float = 20) -> dict[str, Any]:
        """A job when it is in one of these states, by default an end."""
        wanted = states or ("done", "failed", "cancelled", "interrupted")
        end = time.monotonic() + seconds
        while (seen := self.seen(job))["state"] not in wanted:
            assert time.monotonic() < end, seen
            time.sleep(0.02)
        return seen
