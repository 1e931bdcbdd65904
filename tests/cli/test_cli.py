"""The command: exit codes, pure JSON, one-line refusals, help that a stranger can read."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.shell_completion import BashComplete

from sizes import few, many
from tables_of_people import clinic, write_csv
from tacit.cli import main
from tacit.cli.commands import tacit as group
from tacit.lenses.table import audit as auditing

Run = Callable[..., tuple[int, str, str]]
pytestmark = pytest.mark.usefixtures("without_suggestion")


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tacit_command: Run, tmp_path: Path) -> Run:
    monkeypatch.chdir(tmp_path)
    return tacit_command


@pytest.fixture
def people(tmp_path: Path) -> Path:
    return write_csv(tmp_path / "people.csv", clinic(600))


def test_the_whole_job_from_file_to_verified_release(run: Run, people: Path) -> None:
    code, out, err = run("audit", "people.csv", "--secret", "illness", "--report", "audit.html", "-o", "scores.csv")
    assert (code, err) == (0, "")
    assert "illness" in out
    assert Path("audit.html").stat().st_size > 10_000
    assert Path("scores.csv").read_text().splitlines()[0] == "illness,age,ward,district,risk"
    assert run("protect", "people.csv", "--secret", "illness", "--epsilon", "0.8", "-o", "release")[0] == 0
    assert sorted(p.name for p in Path("release").iterdir()) == [
        "certificate.json",
        "data.csv",
        "levels.json",
        "private",
        "report.html",
    ]
    code, out, _ = run("verify", "release", "--against", "people.csv")
    assert code == 0
    assert "holds" in out.lower()
    assert run("verify", "release")[0] == 1
    assert run("attack", "release", "--against", "people.csv")[0] == 0


@pytest.mark.parametrize("command", few(["audit", "protect", "verify", "attack"], 2))
def test_json_is_one_object_and_nothing_else(run: Run, people: Path, command: str) -> None:
    if command in ("verify", "attack"):
        run("protect", "people.csv", "--secret", "illness", "--epsilon", "0.8", "-o", "release")
    words = {
        "audit": ["people.csv", "--secret", "illness"],
        "protect": ["people.csv", "--secret", "illness", "--epsilon", "0.8", "-o", "another"],
        "verify": ["release", "--against", "people.csv"],
        "attack": ["release", "--against", "people.csv"],
    }[command]
    code, out, err = run(command, *words, "--format", "json")
    assert (code, err) == (0, "")

    def refuse(name: str) -> None:
        raise AssertionError(f"{name} is not JSON")

    assert json.loads(out, parse_constant=refuse)["result"].lower().startswith(command)


def test_without_a_secret_the_columns_are_listed_and_at_a_terminal_it_asks(
    run: Run, people: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, out, err = run("audit", "people.csv")
    assert (code, err) == (0, "")
    assert "tacit audit people.csv --secret illness" in out
    code, out, err = run("audit", "people.csv", "--format", "json")
    assert json.loads(out)["proposed_secret"] == ["illness"]
    # Whoever asks for a verdict by exit code gets none without a secret.
    assert run("audit", "people.csv", "--epsilon", "1")[0] == 2
    answers = iter(["ilness", ""])
    monkeypatch.setattr("tacit.cli.asking.can_ask", lambda words: True)
    monkeypatch.setattr("click.termui.visible_prompt_func", lambda text: next(answers))
    code, out, err = run("audit", "people.csv")
    assert code == 0
    assert "there is no column 'ilness'" in out + err
    assert "uncertainty about illness" in out.replace("\n", " ")


def test_infinity_is_written_as_inf(run: Run, tmp_path: Path) -> None:
    write_csv(tmp_path / "p.csv", {"s": ["a", "b"] * 20, "x": ["p", "q"] * 20})
    out = run("audit", "p.csv", "--secret", "s", "--format", "json")[1]
    assert json.loads(out)["risk_histogram"]["quantiles"]["100%"] == "inf"


def test_no_answer_in_bits_speaks_of_nats_but_a_column_of_that_name_keeps_it(run: Run, tmp_path: Path) -> None:
    columns = {"5 nats" if name == "ward" else name: values for name, values in clinic(1500).items()}
    write_csv(tmp_path / "people.csv", columns)
    asked = ("people.csv", "--secret", "illness")
    answers = [
        run("audit", *asked, "--bits")[1],
        run("protect", *asked, "--epsilon", "0.8", "-o", "release", "--bits", "--full")[1],
        run("protect", *asked, "--epsilon", "0.8", "--delta", "0.01", "-o", "second", "--bits")[1],
        run("verify", "release", "--against", "people.csv", "--bits")[1],
    ]
    for told in answers:
        assert " nats" not in " ".join(told.split()).replace("5 nats", "")
    assert "1.155 bits" in answers[1]
    assert "5 nats" in answers[0]
    assert "5 nats" in answers[1]


def test_bits_are_nats_over_log_2(run: Run, people: Path) -> None:
    import math

    nats = json.loads(run("audit", "people.csv", "--secret", "illness", "--format", "json")[1])
    bits = json.loads(run("audit", "people.csv", "--secret", "illness", "--format", "json", "--bits")[1])
    for a, b in zip(nats["measures"], bits["measures"], strict=True):
        factor = math.log(2) if a["unit"] == "nats" else 1
        if a["value"] != "inf":
            assert b["value"] == pytest.approx(a["value"] / factor)


def test_audit_says_no_by_its_exit_code(run: Run, people: Path) -> None:
    assert run("audit", "people.csv", "--secret", "illness", "--epsilon", "0.1")[0] == 1
    assert run("audit", "people.csv", "--secret", "district", "--released", "age", "--epsilon", "3")[0] == 0


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["audit", "nowhere.csv", "--secret", "a"], 3, "nowhere.csv"),
        (["audit", "people.csv", "--drop", "age"], 2, "--secret"),
        (["audit", "people.csv", "--secret", "ilness"], 2, "did you mean 'illness'"),
        (["audit", "people.csv", "--secret", "illness", "--bins", "age"], 2, "COLUMN=10"),
        (["audit", "people.csv", "--secret", "illness", "--bins", "ward=3"], 2, "not numbers"),
        (["audit", "people.csv", "--secret", "illness", "--epsilon", "-1"], 2, "epsilon"),
        (["audit", "people.csv", "--secret", "illness", "--epsilon", "nan"], 2, "epsilon"),
        (["audit", "people.csv", "--secret", "illness", "-o", "scores.xlsx"], 2, "scores.xlsx"),
        (["protect", "people.csv", "--secret", "illness", "-o", "r"], 2, "--epsilon"),
        (["protect", "people.csv", "--secret", "illness", "--epsilon", "1", "--delta", "1", "-o", "r"], 2, "delta"),
        (["protect", "people.csv", "--secret", "illness", "--epsilon", "1"], 2, "--out"),
        (["verify", "nowhere"], 3, "nowhere"),
        (["attack", "nowhere", "--against", "people.csv"], 3, "nowhere"),
        (["explain", "epsylon"], 2, "did you mean 'epsilon'"),
        (["adit", "people.csv"], 2, "adit"),
    ],
)
def test_a_refusal_is_one_clear_line_and_the_right_exit_code(
    run: Run, people: Path, words: list[str], code: int, message: str
) -> None:
    found, out, err = run(*words)
    assert found == code
    assert out == ""
    assert message in err
    assert "Traceback" not in err
    assert not Path("r").exists()
    if err.startswith("tacit: "):
        assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("empty.csv", b"", "empty"),
        ("header.csv", b"s,x\n", "no rows"),
        ("twice.csv", b"s,x,x\na,1,2\nb,2,3\n", "more than one column 'x'"),
        ("bytes.csv", b"s,x\nb,z\xc3\xa4h\na,caf\xe9\n", "line 3"),
        ("quotes.csv", b's,x\na,p\nb,"q\nc,r\n', "quotes.csv"),
        ("ragged.csv", b"s,x\na,p\nb,q,r\nc,d\n", "line 3"),
        ("cut.parquet", b"PAR1 not really", "Parquet"),
        ("odd.xyz", b"s,x\na,p\n", ".xyz"),
        ("mixed.jsonl", b'{"s": "a", "x": 1}\n{"s": "b", "x": "one"}\n', "'x'"),
        ("one.csv", b"s,x\na,p\na,q\na,p\n", "has only one value in"),
        ("lists.jsonl", b'{"s": "a", "x": [1, 2]}\n{"s": "b", "x": [3]}\n', "'x'"),
        ("ours.csv", b"s,__tacit_kept__\na,p\nb,q\n", "__tacit_kept__"),
    ],
)
def test_bad_data_is_refused_by_name(run: Run, tmp_path: Path, name: str, data: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(data)
    for words in (["audit", name, "--secret", "s"], ["protect", name, "--secret", "s", "--epsilon", "1", "-o", "r"]):
        code, out, err = run(*words)
        assert code == 3, err
        assert out == ""
        assert message in err
        assert name in err
        assert err.count("\n") == 1, err
    assert not Path("r").exists()


def test_names_may_hold_commas_spaces_and_quotes(run: Run, tmp_path: Path) -> None:
    columns = clinic(400)
    odd = {
        'the "secret", really': columns["illness"],
        "a, b": columns["ward"],
        "SELECT": columns["age"],
        "é ü": columns["district"],
    }
    write_csv(tmp_path / "odd.csv", odd)
    code, _, err = run("audit", "odd.csv", "--secret", '"the ""secret"", really"', "--drop", '"a, b",SELECT')
    assert (code, err) == (0, "")


@pytest.mark.parametrize("command", [[], ["audit"], ["protect"], ["verify"], ["attack"], ["demo"], ["explain"]])
def test_every_command_has_help_that_fits_a_screen(run: Run, command: list[str]) -> None:
    code, out, _ = run(*command, "--help")
    assert code == 0
    assert "Usage: tacit" in out
    assert all(len(line) <= 100 for line in out.splitlines())


def test_explain_lists_and_explains(run: Run) -> None:
    assert "watchdog" in run("explain")[1]
    assert "log P(s,x)" in run("explain", "log-lift")[1]
    assert "nats" in run("explain", "maximal_leakage")[1]


def test_a_command_does_not_wait_for_pandas_which_can_still_be_imported() -> None:
    """Arrow loads pandas on first use, if it is installed."""
    code = (
        "import sys\nfrom tacit.cli.options import without_frames\nwithout_frames()\nimport pyarrow as pa\n"
        "pa.chunked_array([pa.array([1, 2])]).to_numpy()\nassert 'pandas' not in sys.modules\nimport pandas\n"
    )
    subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)


def test_a_closed_pipe_is_no_error(people: Path) -> None:
    """What reads is gone before the columns are listed."""
    command = f"{sys.executable} -m tacit audit {people} | true; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("0\n", "")


@pytest.mark.long
def test_ctrl_c_in_the_middle_leaves_no_release(tmp_path: Path) -> None:
    """SIGINT while a large table is being counted or written."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = clinic(5000)
    table = pa.table({name: pa.array(values).dictionary_encode() for name, values in columns.items()})
    with pq.ParquetWriter(tmp_path / "big.parquet", table.schema) as writer:
        for _ in range(many(700, 3000)):
            writer.write_table(table)
    words = ["protect", "big.parquet", "--secret", "illness", "--epsilon", "0.5", "-o", "release"]
    process = subprocess.Popen(
        [sys.executable, "-m", "tacit", *words], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 60
    while not list(tmp_path.glob(".*release*")) and time.monotonic() < deadline and process.poll() is None:
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err.strip() == "tacit: interrupted; nothing was written"
    assert [path.name for path in tmp_path.iterdir()] == ["big.parquet"]


@pytest.mark.long
def test_a_full_disk_is_one_line_and_no_release(people: Path, tmp_path: Path) -> None:
    """A limit on the size of files stands in for the full disk."""
    limit = (
        "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)); "
    )
    code = limit + "import sys; from tacit.cli import main; sys.argv[0] = 'tacit'; main()"
    words = ["protect", str(people), "--secret", "illness", "--epsilon", "0.8", "-o", "release"]
    done = subprocess.run([sys.executable, "-c", code, *words], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 3, done.stderr
    assert done.stderr.startswith("tacit: ")
    assert done.stderr.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["people.csv"]


def test_what_native_code_prints_does_not_spoil_the_json(
    people: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """HiGHS writes a line to standard output now and then, past Python."""
    real = auditing.counted

    def noisy(*given: Any, **more: Any) -> Any:
        os.write(1, b"HighsMipSolverData noise")
        return real(*given, **more)

    monkeypatch.setattr(auditing, "counted", noisy)
    monkeypatch.setattr(sys, "argv", ["tacit", "audit", str(people), "--secret", "illness", "--format", "json"])
    with pytest.raises(SystemExit):
        main()
    assert json.loads(capfd.readouterr().out)["result"] == "AuditResult"


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("pro", "plain,protect"),
        ("audit peo", "file,peo"),
        ("verify release --against peo", "file,peo"),
        ("protect people.csv --mechanism wa", "plain,watchdog"),
    ],
)
def test_shells_complete_commands_choices_and_names_of_files(typed: str, offered: str) -> None:
    words = f"tacit {typed}".split()
    found = BashComplete(group, {}, "tacit", "_TACIT_COMPLETE").get_completions(words[1:-1], words[-1])
    assert [f"{each.type},{each.value}" for each in found] == [offered]
