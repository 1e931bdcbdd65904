"""Damaged inputs and odd arguments: an answer, or one line and an exit code; `make fuzz` tries more of them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from fuzzing import mutations
from fuzzing.judging import Case, wrong_in_message
from fuzzing.mutations import bytes_damaged, said_otherwise
from fuzzing.options import odd_words
from fuzzing.seeds import MARKER
from places import ROOT


@pytest.mark.long
def test_no_damaged_input_and_no_odd_argument_ends_in_a_traceback_a_signal_or_half_a_release(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "fuzzing", "--seconds", "3600", "--cases", "3000", "--seed", "0"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "tests"), *sys.path]), "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr


def test_a_signal_is_laid_to_the_case_that_it_came_with() -> None:
    code = (
        "import os, signal, fuzzing.running as r\n"
        "from pathlib import Path\n"
        "cases = [r.Case('csv', ('audit', str(k))) for k in range(5)]\n"
        "def judged(case, seeds, work):\n"
        "    if case.words[1] == '2': os.kill(os.getpid(), signal.SIGSEGV)\n"
        "    return 'run 0', None\n"
        "r.judged = judged\n"
        "tally = r.Tally()\n"
        "r.fuzz(r.listed(cases), Path('.'), tally, until=1e18)\n"
        "(why, found), = tally.findings.items()\n"
        "print(tally.cases, 'SIGSEGV' in why, [each.words[1] for each in found])\n"
    )
    path = os.pathsep.join([str(ROOT / "tests"), *sys.path])
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=True
    )
    assert done.stdout == "5 True ['2']\n"


@pytest.mark.parametrize("damage", [bytes_damaged, said_otherwise])
def test_the_same_seed_does_the_same_damage(damage: object) -> None:
    data = b'{"a": [1, 2, {"b": "c"}], "d": 0.5}'
    assert [damage(data, Random(k)) for k in range(50)] == [damage(data, Random(k)) for k in range(50)]  # type: ignore[operator]
    assert len({damage(data, Random(k)) for k in range(50)}) > 30  # type: ignore[operator]


def test_damage_to_one_case_is_none_to_the_next() -> None:
    """A constant that a case had changed came to hold itself, and a long run of the fuzzer never ended."""
    before = repr(mutations.CONSTANTS)
    for seed in range(200):
        said_otherwise(b'{"a": [1, 2, {"b": "c"}], "d": 0.5}', Random(seed))
    assert repr(mutations.CONSTANTS) == before


def test_odd_words_are_found_for_every_seed() -> None:
    """Once in some thousand cases nothing was left to be odd about, and a long run of the fuzzer ended there."""
    odd = [odd_words(Random(k)) for k in (*range(50), 517, 2_068, 2_560)]
    assert all(odd)


def test_a_message_that_tells_a_cell_or_says_nothing_is_a_finding() -> None:
    assert wrong_in_message(3, f"tacit: the value {MARKER} is odd") is not None
    assert wrong_in_message(2, f"no column 'x'; The table has: {MARKER}") is None
    assert wrong_in_message(3, f"no key '{MARKER}' in 'confidence' of a source") is None
    assert wrong_in_message(3, "") is not None
    assert wrong_in_message(0, "") is None


def test_a_case_that_the_corpus_keeps_is_the_case_that_was_found() -> None:
    case = Case("npz", ("read", "images", "\udcff"), "faces.npz", b"\x00PK\xff")
    assert Case.restored(case.stored("why")) == case
