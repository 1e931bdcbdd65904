"""Runs that are killed, disks that are full, folders that may not be written to: whole or not at all, and said so.

``make faults`` is the long form of these tests.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from counted_kills import Kills, inside_the_swap
from sizes import many
from tables_of_people import clinic, write_csv
from tacit import protect, verify
from tacit.release.ledger.file import read_ledger

Run = Callable[..., dict[str, Any]]
LONG = bool(many(0, 1))
# What costs a run of the command for every step, or processes side by side.
by_hand = pytest.mark.skipif(not LONG, reason="takes minutes: make faults")
# What commands were seen to do, by their words but for places.
STEPS: dict[tuple[str, ...], list[str]] = {}
PROTECT = ("protect", "--secret", "illness", "--epsilon", "0.5", "--quiet")


@pytest.fixture(scope="module")
def kills() -> Iterator[Kills]:
    """All kills of this file; what ``make faults`` is asked for is their sum."""
    counted = Kills()
    yield counted
    print(f"\n{counted}")  # noqa: T201
    assert not LONG or (counted.steps.total() >= 1_000 and counted.in_the_swap >= 100)


@contextmanager
def serving(kills: Kills, *words: str) -> Iterator[Run]:
    """Stopped runs, by a process that forks; see ``stopped_runs.py``."""
    program = [sys.executable, str(Path(__file__).parent / "stopped_runs.py"), *words]
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        stdin, stdout = server.stdin, server.stdout

        def asked(**job: Any) -> dict[str, Any]:
            stdin.write(json.dumps(job) + "\n")
            stdin.flush()
            done: dict[str, Any] = json.loads(stdout.readline())
            assert "Traceback" not in done["said"], done["said"]
            assert "TRACEBACK" not in done["said"] or job.get("how") == "full", done["said"]
            if done["signal"] == 9:
                kills.add(done["steps"])
            return done

        yield asked
        stdin.close()


@pytest.fixture(scope="module")
def run(kills: Kills) -> Iterator[Run]:
    """Whole commands that are stopped."""
    with serving(kills, "commands") as asked:
        yield asked


@pytest.fixture(scope="module")
def swap(kills: Kills) -> Iterator[Run]:
    """Writing alone that is stopped: a process without the engines forks in a fraction of the time."""
    with serving(kills) as asked:
        yield asked


@pytest.fixture(scope="module")
def releases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table and two releases of it, each with the ledger that lists it alone."""
    place = tmp_path_factory.mktemp("releases")
    people = write_csv(place / "people.csv", clinic(120))
    for name, columns in (("old", ["age"]), ("new", ["age", "ward"])):
        ledger = place / f"{name}.ledger"
        protect(people, secret="illness", released=columns, epsilon=0.5, out=place / name, ledger=ledger)
    return place


def tree(place: Path) -> dict[str, bytes] | None:
    """Every file of a directory; None if there is no such directory."""
    if not place.exists():
        return None
    return {str(path.relative_to(place)): path.read_bytes() for path in place.rglob("*") if path.is_file()}


def hidden(place: Path) -> list[str]:
    return [path.name for path in place.iterdir() if path.name.startswith(".")]


# ---- kills at every line of the code that writes ------------------------------------------------------------------


@pytest.mark.parametrize("before", [None, "old"])
def test_a_release_killed_at_any_line_is_the_old_one_the_new_one_or_none(
    swap: Run, kills: Kills, releases: Path, tmp_path: Path, before: str | None
) -> None:
    target, ledger = tmp_path / "r", tmp_path / "ledger.json"
    old, new = tree(releases / "old"), tree(releases / "new")
    job = {"swap": [str(releases / "new"), str(target), str(ledger)]}

    def prepare() -> None:
        shutil.rmtree(tmp_path)
        tmp_path.mkdir()
        if before:
            shutil.copytree(releases / before, target)
            text = (releases / f"{before}.ledger").read_text()
            ledger.write_text(text.replace(str(releases / before), str(target)))

    prepare()
    lines = swap(**job, lines=True)["steps"]
    inside = [at for at in range(len(lines)) if inside_the_swap(lines[: at + 1])]
    for stop in (*range(0, len(lines), many(len(lines) // 6, 1)), *inside[:: many(9, 1)] * many(1, 7)):
        prepare()
        done = swap(**job, stop=stop, lines=True)
        assert done["signal"] == 9
        found = tree(target)
        assert found in (None, old if before else None, new), done["steps"][-1]
        if found is None and before:
            # Between two renames the old one waits under a hidden name, whole.
            (aside,) = tmp_path.glob(".r.tacit-old-*")
            assert tree(aside) == old
        listed = [entry.output_sha256 for entry in read_ledger(ledger)]
        assert (found == new) <= (len(listed) == (2 if before else 1))
        again = swap(**job)
        assert again["code"] == 0, again["said"]
        assert tree(target) == new
        assert not hidden(tmp_path), (done["steps"][-1], hidden(tmp_path))
        kills.whole += 1


# ---- kills of whole commands, at every named step -----------------------------------------------------------------


def stopped_everywhere(
    run: Run, argv: Sequence[str], prepare: Callable[[], None], *few: int, **job: Any
) -> Iterator[str]:
    """Stop a command at each of its steps, or at a ``few``; yields the name of the step.

    It is run once to learn them, unless another test has.
    """
    asked = tuple(word for word in argv if not Path(word).is_absolute())
    if asked not in STEPS:
        prepare()
        first = run(argv=list(argv))
        assert first["code"] == 0, first["said"]
        STEPS[asked] = first["steps"]
    steps = [*enumerate(STEPS[asked])]
    for at, step in steps if LONG else [steps[each] for each in few]:
        prepare()
        done = run(argv=list(argv), stop=at, **job)
        assert done["signal"] == 9 or job, done
        yield step


def words(place: Path, *more: str) -> list[str]:
    return [*PROTECT, str(place / "people.csv"), "-o", str(place / "r"), *more]


@pytest.mark.parametrize("overwrite", [True, False][: many(1, 2)])
def test_a_protect_that_was_killed_leaves_whole_releases_and_an_honest_ledger(
    run: Run, kills: Kills, releases: Path, tmp_path: Path, overwrite: bool
) -> None:
    people, target, ledger = tmp_path / "people.csv", tmp_path / "r", tmp_path / "ledger.json"
    argv = words(tmp_path, "--ledger", str(ledger), *(["--overwrite"] if overwrite else []))

    def prepare() -> None:
        shutil.rmtree(tmp_path)
        tmp_path.mkdir()
        shutil.copy(releases / "people.csv", people)
        if overwrite:
            shutil.copytree(releases / "old", target)

    seen = []
    for step in stopped_everywhere(run, argv, prepare, -3 if overwrite else -2):
        seen.append(step)
        listed = read_ledger(ledger)
        if target.exists() and tree(target) != tree(releases / "old"):
            assert verify(target, against=people).verdict == "holds"
            assert [entry.release for entry in listed] == [str(target)]
        else:
            assert target.exists() == (overwrite and step != "name is free")
        again = run(argv=[*argv, *([] if overwrite or not target.exists() else ["--overwrite"])])
        assert again["code"] == 0, again["said"]
        if listed and not target.exists():
            assert "the ledger counts a release that is not at" in again["said"]
        assert not hidden(tmp_path)
        assert verify(target, against=people).verdict == "holds"
        kills.whole += 1
    steps = ["draft made", "data written", "certificate written", "sealed", "synced", "name is free", "new moved in"]
    assert not LONG or {*steps, "file written", "file in place"} <= {*seen}
    assert not LONG or ("old given up" in seen) == overwrite


@by_hand
def test_a_population_and_a_report_that_were_killed_are_the_old_file_or_the_new(
    run: Run, kills: Kills, tmp_path: Path
) -> None:
    from random import Random

    from person.test_person_population import people, population_case, spilled, write

    case, rows = tmp_path / "c", tmp_path / "rows.csv"

    def prepare() -> None:
        shutil.rmtree(tmp_path)
        case.mkdir(parents=True)
        draw = Random(1)
        persons = people(draw, 6)
        write(case, population_case(draw), people=persons, one=spilled(draw, persons, 5), two=[{"town": "Rye"}])
        write_csv(tmp_path / "people.csv", clinic(120))
        for old in (rows, tmp_path / "page.html"):
            old.write_text("old")

    table, page = str(tmp_path / "people.csv"), str(tmp_path / "page.html")
    for argv, target in (
        (["person", "population", str(case / "case.yaml"), "-o", str(rows)], rows),
        (["audit", table, "--secret", "illness", "--report", page], tmp_path / "page.html"),
    ):
        for step in stopped_everywhere(run, argv, prepare, 0):
            assert (target.read_text() == "old") == (step == "file written")
            assert run(argv=argv)["code"] == 0
            assert target.read_text() != "old"
            assert not hidden(tmp_path)
            kills.whole += 1


# ---- disks, folders, inputs ---------------------------------------------------------------------------------------


def test_a_disk_that_is_full_at_any_step_is_one_line_and_leaves_what_was_there(
    run: Run, releases: Path, tmp_path: Path
) -> None:
    target, ledger = tmp_path / "r", tmp_path / "ledger.json"
    argv = words(tmp_path, "--ledger", str(ledger), "--overwrite")

    def prepare() -> None:
        shutil.rmtree(tmp_path)
        tmp_path.mkdir()
        shutil.copy(releases / "people.csv", tmp_path / "people.csv")
        shutil.copytree(releases / "old", target)

    for step in stopped_everywhere(run, argv, prepare, -4, how="full"):
        new = step in ("new moved in", "old given up")
        assert (tree(target) == tree(releases / "old")) != new
        assert len(read_ledger(ledger)) == new, step
        if new:
            assert verify(target, against=tmp_path / "people.csv").verdict == "holds"
        assert not [name for name in hidden(tmp_path) if "-old-" not in name]
        assert run(argv=argv)["code"] == 0
        assert not hidden(tmp_path)


@pytest.fixture
def mounted(tmp_path: Path) -> Iterator[Callable[..., Path]]:
    """A small disk, mounted somewhere; without the right to mount there is none."""
    places = []

    def mount(*options: str) -> Path:
        place = tmp_path / f"disk{len(places)}"
        place.mkdir()
        done = subprocess.run(["mount", "-t", "tmpfs", *options, "tmpfs", str(place)], capture_output=True, text=True)
        if done.returncode:
            pytest.skip("disks may not be mounted here: it takes the rights of root")
        places.append(place)
        return place

    yield mount
    for place in places:
        subprocess.run(["umount", "-l", str(place)], check=True)


@by_hand
def test_a_small_disk_for_a_release_a_ledger_or_spills_is_one_line(
    run: Run, releases: Path, tmp_path: Path, mounted: Callable[..., Path]
) -> None:
    shutil.copy(releases / "people.csv", tmp_path / "people.csv")
    for kilobytes in (4, 8, 16, 32, 64, 96, 128, 160, 192, 256, 512, 2000):
        disk = mounted("-o", f"size={kilobytes}k")
        argv = [*PROTECT, str(tmp_path / "people.csv"), "-o", str(disk / "r"), "--ledger", str(tmp_path / "l.json")]
        before = read_ledger(tmp_path / "l.json")
        done = run(argv=argv)
        assert done["code"] in (0, 3), done["said"]
        assert done["code"] == 0 or done["said"].count("\n") == 1
        assert (disk / "r").exists() == (done["code"] == 0) == (len(read_ledger(tmp_path / "l.json")) > len(before))
        assert not hidden(disk)
    ledger = mounted("-o", "size=4k")
    (ledger / "filler").write_bytes(bytes(4096))
    done = run(argv=words(tmp_path, "--ledger", str(ledger / "l.json")))
    assert (done["code"], done["said"].count("\n")) == (3, 1)
    assert not (tmp_path / "r").exists()
    assert not hidden(tmp_path)


@by_hand
def test_a_folder_that_may_not_be_written_to_is_one_line(
    run: Run, releases: Path, tmp_path: Path, mounted: Callable[..., Path]
) -> None:
    shutil.copy(releases / "people.csv", tmp_path / "people.csv")
    disk = mounted("-o", "ro,size=100k")
    for out, ledger in ((disk / "r", tmp_path / "l.json"), (tmp_path / "r", disk / "l.json")):
        done = run(argv=[*PROTECT, str(tmp_path / "people.csv"), "-o", str(out), "--ledger", str(ledger)])
        assert (done["code"], done["said"].count("\n")) == (3, 1)
        assert "Read-only file system" in done["said"]
        assert not (tmp_path / "r").exists()
    for report in (["--report", str(disk / "x.html")], ["--scores", str(disk / "x.csv")]):
        done = run(argv=["audit", str(tmp_path / "people.csv"), "--secret", "illness", "--quiet", *report])
        assert done["code"] == 3
        assert "Read-only file system" in done["said"]


@by_hand
def test_an_input_that_is_deleted_at_any_step_before_the_seal_is_refused(
    run: Run, releases: Path, tmp_path: Path
) -> None:
    people = tmp_path / "people.csv"

    def prepare() -> None:
        shutil.rmtree(tmp_path)
        tmp_path.mkdir()
        shutil.copy(releases / "people.csv", people)

    argv = words(tmp_path)
    for step in stopped_everywhere(run, argv, prepare, 1, how=str(people)):
        late = step in ("sealed", "synced", "name is free", "new moved in")
        assert (tmp_path / "r").exists() or not late or step == "sealed"
        if not (tmp_path / "r").exists():
            assert not hidden(tmp_path)


# ---- many at once, little memory, locales -------------------------------------------------------------------------


@by_hand
def test_of_many_at_once_one_writes_and_the_others_are_refused(releases: Path, tmp_path: Path) -> None:
    people = tmp_path / "people.csv"
    shutil.copy(releases / "people.csv", people)
    for turn in range(many(1, 20)):
        argv = [sys.executable, "-m", "tacit", *PROTECT, str(people), "-o", str(tmp_path / f"r{turn}")]
        running = [subprocess.Popen(argv, stdout=-3, stderr=subprocess.PIPE, text=True) for _ in range(2)]
        ends = [(process.communicate()[1], process.returncode) for process in running]
        assert sorted(code for _, code in ends) == [0, 2], ends
        assert verify(tmp_path / f"r{turn}", against=people).verdict == "holds"
        assert not hidden(tmp_path)


@by_hand
def test_a_wide_table_with_little_memory_is_released_or_refused_in_one_line(run: Run, tmp_path: Path) -> None:
    columns = {**clinic(many(300, 20_000))}
    wide = {f"c{n}": [f"{(k * 7919 + n) % 97}" for k in range(len(columns["age"]))] for n in range(60)}
    people = write_csv(tmp_path / "people.csv", {**columns, **wide})
    done = run(argv=[*PROTECT, str(people), "-o", str(tmp_path / "r"), "--memory", "60MB"])
    assert done["code"] in (0, 3), done["said"]
    assert (tmp_path / "r").exists() == (done["code"] == 0)
    assert not hidden(tmp_path)


@by_hand
@pytest.mark.parametrize("locale", ["C", "POSIX", "tr_TR.UTF-8", "de_DE.ISO-8859-1"])
def test_a_locale_changes_nothing(releases: Path, tmp_path: Path, locale: str) -> None:
    people = tmp_path / "people.csv"
    shutil.copy(releases / "people.csv", people)
    environment = {**os.environ, "LC_ALL": locale, "LANG": locale, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    argv = [sys.executable, "-m", "tacit", *PROTECT, str(people), "-o", str(tmp_path / "r")]
    done = subprocess.run(argv, capture_output=True, env=environment)
    assert (done.returncode, done.stderr) == (0, b"")
    assert verify(tmp_path / "r", against=people).verdict == "holds"
