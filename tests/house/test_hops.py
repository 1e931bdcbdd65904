"""CONTRIBUTING walks one audit and one protect through the house: the files it names run, and calls go downwards."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import tacit

SOURCE = Path(tacit.__file__).parent
WALKS = (SOURCE.parent.parent / "CONTRIBUTING.md").read_text("utf-8")
# The order of rooms as CONTRIBUTING draws it, and what stands under all of them.
ROOMS = ("loading", *re.findall(r"^  (\w+)(?:\.py|/) ", WALKS, re.MULTILINE))
# Notes every hop from a file of the house to another while a command runs; imports are no hops.
TRACED = """
import json, sys, threading
root, command = sys.argv[1] + "/", sys.argv[2:]
hops = set()

def importing(frame):
    while frame is not None:
        if frame.f_code.co_name == "_find_and_load":
            return True
        frame = frame.f_back
    return False

def note(frame, event, argument):
    code, caller = frame.f_code, frame.f_back
    # A class body runs as a call, too, without being optimised.
    if event != "call" or not code.co_filename.startswith(root) or not code.co_flags & 1:
        return
    while caller is not None and not caller.f_code.co_filename.startswith(root):
        caller = caller.f_back
    if caller is not None and caller.f_code.co_filename != code.co_filename:
        hop = caller.f_code.co_filename.removeprefix(root), code.co_filename.removeprefix(root)
        if hop not in hops and not importing(caller):
            hops.add(hop)

sys.argv = ["tacit", *command]
from tacit.cli import main
threading.setprofile(note)
sys.setprofile(note)
try:
    main()
except SystemExit:
    sys.setprofile(None)
with open("hops.json", "w") as file:
    json.dump(sorted(hops), file)
"""
COMMANDS = {
    "audit": ("audit", "people.csv", "--secret", "race"),
    "protect": ("protect", "people.csv", "--secret", "race", "--epsilon", "0.5", "-o", "release"),
}
# Files that a walk names beside its way: other forms of the answer, and what is done by other mechanisms.
BESIDE = {
    *("report/json.py", "report/page.py", "lift/mechanisms.py", "lift/solvers/", "lift/proofs/"),
    *("release/flows.py", "release/channel.py"),
}


@pytest.fixture(scope="module", params=[pytest.param("audit", marks=pytest.mark.long), "protect"])
def walk(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, set[tuple[str, str]]]:
    """A command, and the hops from file to file that it makes."""
    place = tmp_path_factory.mktemp("walk")
    rows = (f"{age},{race}" for age in range(20, 60) for race in "AABBC"[: 2 + age % 4])
    (place / "people.csv").write_text("age,race\n" + "\n".join(rows) + "\n")
    command = [sys.executable, "-c", TRACED, str(SOURCE), *COMMANDS[request.param]]
    env = {**os.environ, "PYTHONPATH": str(SOURCE.parent)}
    subprocess.run(command, cwd=place, check=True, capture_output=True, env=env)
    return request.param, {tuple(hop) for hop in json.loads((place / "hops.json").read_text())}


def test_nine_of_ten_hops_go_downwards(walk: tuple[str, set[tuple[str, str]]]) -> None:
    _, hops = walk
    place = {room: number for number, room in enumerate(ROOMS)}
    between = [
        (place[one.split("/")[0].removesuffix(".py")], place[other.split("/")[0].removesuffix(".py")])
        for one, other in hops
        if "__main__" not in one
    ]
    assert len(between) > 200
    assert sum(other <= one for one, other in between) >= 0.9 * len(between)


def test_the_walk_names_files_that_run(walk: tuple[str, set[tuple[str, str]]]) -> None:
    command, hops = walk
    files = {file for hop in hops for file in hop}
    text = WALKS.split(f"### One {command}")[1].split("###")[0]
    named = {name for name in re.findall(r"`([a-z_/]+(?:\.py|/))`", text) if "/" in name.rstrip("/")}
    named -= {"tests/house/test_hops.py"}
    assert len(named) > 15
    for name in named:
        assert any(file.endswith(name) or name in file for file in files) or name in BESIDE, name
        assert [*SOURCE.rglob(name.rstrip("/"))], name
