"""What surrounds the arithmetic: broken streams, foreign files, two at once. Each line was made to happen."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tables_of_people import clinic, write_csv
from tacit import ArgumentError, DataError, SourceError, audit, protect, verify
from tacit.loading import arrays_in, bytes_in
from tacit.release import new_release


@pytest.fixture
def people(tmp_path: Path) -> Path:
    return write_csv(tmp_path / "people.csv", clinic(300))


def tacit(*words: str, out: str = "/dev/null", **environment: str) -> tuple[int, str]:
    """The command, with its output sent somewhere; its exit code and what it said."""
    with open(out, "w") as sink:
        done = subprocess.run(
            [sys.executable, "-m", "tacit", *words],
            stdout=sink,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **environment},
            timeout=60,
        )
    return done.returncode, done.stderr


@pytest.mark.long
def test_a_full_output_says_what_was_written_all_the_same(people: Path, tmp_path: Path) -> None:
    words = ("protect", str(people), "--secret", "illness", "--epsilon", "0.5", "-o", str(tmp_path / "r"))
    code, said = tacit(*words, out="/dev/full")
    assert (code, said) == (
        3,
        f"tacit: cannot read or write the output: No space left on device; {tmp_path}/r is written\n",
    )
    assert verify(tmp_path / "r", against=people).verdict == "holds"


@pytest.mark.long
def test_a_closed_output_and_a_locale_of_ascii_are_no_defects(tmp_path: Path) -> None:
    people = write_csv(tmp_path / "few.csv", clinic(40))
    # Its columns alone are sooner told.
    done = subprocess.run(
        ["sh", "-c", f"{sys.executable} -m tacit audit {people} >&-"], capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")
    code, said = tacit("audit", str(people), "--secret", "illness", PYTHONIOENCODING="ascii")
    assert (code, said) == (0, "")


def test_a_defect_is_one_line_and_exit_code_4(people: Path, tmp_path: Path) -> None:
    code = (
        "import sys, tacit.cli.commands as c\n"
        "import tacit.verbs.audit as v\n"
        "def broken(*a, **k): raise KeyError('SECRET')\n"
        "c.tacit.main = broken\n"
        "from tacit.cli import main\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, "TMPDIR": str(tmp_path)}
    )
    assert done.returncode == 4
    assert done.stderr.startswith("tacit: a bug in Tacit (KeyError): the details are in ")
    assert done.stderr.count("\n") == 1
    assert "SECRET" not in done.stderr
    (details,) = tmp_path.glob("tacit-defect-*.txt")
    assert "SECRET" in details.read_text()
    assert details.stat().st_mode & 0o777 == 0o600


def test_the_second_of_two_runs_at_once_is_refused(tmp_path: Path) -> None:
    with new_release(tmp_path / "r") as draft:
        with pytest.raises(ArgumentError, match="another run of Tacit is writing"), new_release(tmp_path / "r"):
            pass
        draft.publish("certificate.json", "{}")
    assert [each.name for each in tmp_path.iterdir()] == ["r"]


def test_what_came_in_between_is_not_replaced(tmp_path: Path) -> None:
    def interrupted() -> None:
        with new_release(tmp_path / "r"):
            (tmp_path / "r").mkdir()
            (tmp_path / "r" / "diary.txt").write_text("mine")

    with pytest.raises(ArgumentError, match="not empty"):
        interrupted()
    assert [each.name for each in tmp_path.iterdir()] == ["r"]
    assert (tmp_path / "r" / "diary.txt").read_text() == "mine"


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/full"])
def test_a_device_that_never_ends_is_no_paper(people: Path, tmp_path: Path, device: str) -> None:
    with pytest.raises(SourceError, match="it is not a file"):
        protect(people, secret="illness", epsilon=0.5, ledger=device, out=tmp_path / "r")
    with pytest.raises(SourceError, match="it is not a file"):
        protect(people, rules=device, out=tmp_path / "r")


def test_a_pipe_that_nobody_writes_to_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(SourceError, match="it is not a file"):
        bytes_in(tmp_path / "pipe", "paper")


def test_a_paper_that_is_too_large_is_refused_before_it_is_read(tmp_path: Path) -> None:
    with (tmp_path / "large").open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(SourceError, match="too large for a paper"):
        bytes_in(tmp_path / "large", "paper", most=1 << 20)


def test_archives_that_unpack_to_more_than_they_may_are_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "bomb.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.npy", b"\0" * 50_000_000)
    with pytest.raises(SourceError, match="unpacks to more than"):
        arrays_in(tmp_path / "bomb.npz", "npz", most=1 << 22)


def test_an_array_that_says_it_is_larger_than_its_file_is_refused(tmp_path: Path) -> None:
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1099511627776,), }".ljust(117) + b"\n"
    with zipfile.ZipFile(tmp_path / "liar.npz", "w") as archive:
        archive.writestr("x.npy", b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header)
    with pytest.raises(SourceError, match="damaged"):
        arrays_in(tmp_path / "liar.npz", "npz")


def test_a_pickle_in_an_archive_is_never_run(tmp_path: Path) -> None:
    class Harm:
        def __reduce__(self) -> tuple[Any, ...]:
            return os.system, (f"touch {tmp_path}/harmed",)

    np.savez(tmp_path / "pickled.npz", x=np.array([Harm()], dtype=object))
    with pytest.raises(SourceError, match="damaged"):
        arrays_in(tmp_path / "pickled.npz", "npz")
    assert not (tmp_path / "harmed").exists()


def test_brackets_without_end_are_no_rules(people: Path, tmp_path: Path) -> None:
    (tmp_path / "deep.json").write_text("[" * 100_000)
    with pytest.raises(SourceError, match="not JSON"):
        protect(people, rules=tmp_path / "deep.json", out=tmp_path / "r")


def test_a_damaged_jsonl_is_named_by_its_line_and_shows_no_record(tmp_path: Path) -> None:
    lines = ['{"a": 1, "illness": "HIV"}', '{"a": 2, "illness": "HIV", "name": "Ann"']
    (tmp_path / "p.jsonl").write_text("\n".join(lines) + "\n")
    with pytest.raises(DataError, match=r"p\.jsonl, line \d") as refusal:
        audit(tmp_path / "p.jsonl", secret="illness")
    assert "HIV" not in str(refusal.value)
    assert "Ann" not in str(refusal.value)


def test_offsets_that_lead_out_of_an_arrow_file_are_refused(tmp_path: Path) -> None:
    import pyarrow as pa

    table = pa.table({"s": ["a", "b"] * 20, "x": ["long enough to stand apart", "and another"] * 20})
    with pa.OSFile(str(tmp_path / "p.arrow"), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    data = bytearray((tmp_path / "p.arrow").read_bytes())
    offsets = np.cumsum([0, 26, 11, 26, 11]).astype("<i4").tobytes()
    at = bytes(data).index(offsets)
    data[at + 8 : at + 12] = (2**31 - 1).to_bytes(4, "little")
    (tmp_path / "p.arrow").write_bytes(data)
    with pytest.raises(SourceError, match=r"p\.arrow"):
        audit(tmp_path / "p.arrow", secret="s")


def test_a_column_may_have_a_line_break_in_its_name(
    tmp_path: Path, tacit_command: Callable[..., tuple[int, str, str]]
) -> None:
    columns = clinic(40)
    table = write_csv(tmp_path / "p.csv", {"ill\nness": columns.pop("illness"), **columns})
    code, _, said = tacit_command("audit", str(table), "--secret", "ill\nness")
    assert (code, said) == (0, "")


@pytest.mark.long
def test_what_a_killed_process_spilled_is_removed_by_the_next(tmp_path: Path) -> None:
    code = "from tacit.tables.engines.duckdb.connections import connect\nconnect()\nprint('ready', flush=True)\n"
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    held = [sys.executable, "-c", code + "import time\ntime.sleep(60)\n"]
    with (
        subprocess.Popen(held, stdout=subprocess.PIPE, env=environment) as dead,
        subprocess.Popen(held, stdout=subprocess.PIPE, env=environment) as living,
    ):
        for process in (dead, living):
            assert process.stdout is not None
            process.stdout.readline()
        dead.kill()
        dead.wait()
        for place in tmp_path.iterdir():
            os.utime(place, (time.time() - 600,) * 2)
        subprocess.run([sys.executable, "-c", code], env=environment, check=True, capture_output=True)
        left = [place.name.split("-")[2] for place in tmp_path.iterdir()]
        living.kill()
    assert left == [str(living.pid)]


def test_a_path_with_a_null_character_is_refused() -> None:
    with pytest.raises(SourceError, match="null character"):
        audit("people\0.csv", secret="illness")


@pytest.mark.usefixtures("without_suggestion")
def test_models_and_scores_are_for_their_owner_alone(people: Path, tmp_path: Path) -> None:
    audit(people, secret="illness", estimator="linear", save_model=tmp_path / "m.tacit")
    audit(people, secret="illness", scores=tmp_path / "scores.parquet")
    for name in ("m.tacit", "scores.parquet"):
        assert (tmp_path / name).stat().st_mode & 0o777 == 0o600


def test_a_ledger_that_is_no_json_is_refused(people: Path, tmp_path: Path) -> None:
    (tmp_path / "ledger.json").write_text('{"entries": [')
    with pytest.raises(SourceError, match="not JSON"):
        protect(people, secret="illness", epsilon=0.5, ledger=tmp_path / "ledger.json", out=tmp_path / "r")
