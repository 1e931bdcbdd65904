"""The command itself: it says where the page is, and however it ends, what it was at is accounted for."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from sizes import many


class Served:
    """``tacit serve`` as a process of its own."""

    def __init__(self, folder: Path) -> None:
        words = [sys.executable, "-m", "tacit", "serve", str(folder), "--no-browser", "--port", "0"]
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        assert self.process.stdout is not None
        said = self.process.stdout.readline()
        found = re.search(r"(http://127\.0\.0\.1:\d+)/\?token=(\S+)", said)
        assert found, said
        self.address, self.token = found.groups()

    def asked(self, path: str, body: Any = None) -> Any:
        headers = {"authorization": f"token {self.token}", "content-type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        with urllib.request.urlopen(urllib.request.Request(self.address + path, data, headers), timeout=30) as answer:
            return json.load(answer)

    def until(self, job: str, *states: str) -> Any:
        end = time.monotonic() + 120
        while (seen := self.asked(f"/api/jobs/{job}"))["state"] not in states:
            assert time.monotonic() < end, seen
            time.sleep(0.1)
        return seen

    def ended(self, number: int) -> int:
        self.process.send_signal(number)
        code = self.process.wait(60)
        assert self.process.stdout is not None
        self.process.stdout.close()
        return code


def lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.skipif(many(1, 0) == 1, reason="starts and kills servers and workers: --long")
def test_a_killed_server_leaves_its_worker_to_the_next_and_a_stopped_one_leaves_nothing(tmp_path: Path) -> None:
    rows = "".join(f"{i % 97},{i % 89},{i % 83},{i % 7},{'AB'[i % 3 == 0]}\n" for i in range(200_000))
    (tmp_path / "long.csv").write_text(f"a,b,c,d,race\n{rows}")
    request = {"source": "long.csv", "secret": "race", "epsilon": 0.1, "out": "release"}
    first = Served(tmp_path)
    job = first.asked("/api/protect", request)["id"]
    first.until(job, "running")
    started = tmp_path / ".tacit/jobs" / job / "started.json"
    while not started.exists():
        time.sleep(0.05)
    assert first.ended(signal.SIGKILL) == -signal.SIGKILL
    second = Served(tmp_path)
    assert second.asked(f"/api/jobs/{job}")["state"] == "running"
    assert second.until(job, "done")["result"]["result"] == "ProtectResult"
    again = second.asked("/api/protect", {**request, "out": "other"})["id"]
    second.until(again, "running")
    while not (tmp_path / ".tacit/jobs" / again / "started.json").exists():
        time.sleep(0.05)
    worker = json.loads((tmp_path / ".tacit/jobs" / again / "started.json").read_text())["pid"]
    assert second.ended(signal.SIGINT) == 0
    assert not lives(worker)
    assert sorted(path.name for path in tmp_path.iterdir()) == [".tacit", "long.csv", "release"]
    third = Served(tmp_path)
    assert {each["id"]: each["state"] for each in third.asked("/api/jobs")} == {job: "done", again: "interrupted"}
    assert third.ended(signal.SIGTERM) in (0, 143)
