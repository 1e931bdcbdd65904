"""What is kept beside a case: it changes no answer, is the owner's alone, and goes when the sources change."""

from __future__ import annotations

import stat
import subprocess
import sys
from pathlib import Path

import pytest

import tacit
from sizes import many
from tacit.person.inquiry import hot, index as keeping, opened
from tacit.person.link import wide
from tacit.person.sources import reading

CASE = """person: {name: Alice Archer, email: alice@archer.example}
sources: [{name: shop, path: shop.csv, id: id}]
adversaries:
- {name: reads}
- {name: joins, steps: [{normalise: {}}, {resolve: {rules: [[email]]}}]}
"""


@pytest.fixture
def case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(wide, "MANY", 1)
    # A kept answer would be given before the index is looked at.
    monkeypatch.setattr(keeping.CaseIndex, "keep_answer", lambda *given: None)
    (tmp_path / "shop.csv").write_text("id,name,email\n1,ALICE ARCHER,x@y.example\n2,,X@Y.example\n3,Bo,b@y.example\n")
    (tmp_path / "case.yaml").write_text(CASE)
    return tmp_path / "case.yaml"


def kept(case: Path) -> list[Path]:
    return sorted((case.parent / ".tacit" / case.name).glob("*"))


def answer(case: Path) -> list[tuple[str, float, int]]:
    audit = tacit.person_audit(case)
    return [(rung.adversary, rung.leakage, rung.entities) for rung in audit.rungs]


def test_the_second_answer_is_the_first_and_reads_no_source(case: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = answer(case)
    assert len(kept(case)) >= 6
    # What a source is called by is kept too.
    assert opened(case).pool.name(1) == "shop 2"
    monkeypatch.setattr(reading, "gathered", None)
    assert answer(case) == first


def test_what_is_right_about_a_person_is_looked_for_once_and_again_for_another_truth(
    case: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = answer(case)
    looked = []
    real = hot.right_values
    monkeypatch.setattr(hot, "right_values", lambda *given: looked.append(given) or real(*given))
    assert answer(case) == first
    assert not looked
    # Another truth, and the same one weighed differently, in the same records: as if nothing had been kept.
    truth = CASE.replace("Alice Archer", "Bo").replace("alice@archer.example", "b@y.example")
    for new in (truth, CASE + "labels: {name: {weight: 3}}\n"):
        case.write_text(CASE)
        assert answer(case) == first
        looked.clear()
        case.write_text(new)
        told = answer(case)
        assert looked
        assert len({path.name.split("-")[2] for path in kept(case) if "-right-" in path.name}) == 1
        for path in kept(case):
            path.unlink()
        assert answer(case) == told != first


def test_it_is_for_the_owner_alone(case: Path) -> None:
    answer(case)
    assert {stat.S_IMODE(path.stat().st_mode) for path in kept(case)} == {0o600}
    assert {stat.S_IMODE(path.stat().st_mode) for path in (kept(case)[0].parent, case.parent / ".tacit")} == {0o700}
    assert (case.parent / ".tacit" / ".gitignore").read_text() == "*\n"


def test_a_source_that_changed_is_read_again_and_the_old_forgotten(case: Path) -> None:
    before = answer(case), kept(case)
    (case.parent / "shop.csv").write_text("id,name,email\n1,Alice Archer,alice@archer.example\n")
    assert answer(case)[0][1] == 1.0 > before[0][0][1]
    assert {path.name for path in set(kept(case)) & set(before[1])} <= {"columns.json"}


def test_a_damaged_file_is_made_again(case: Path) -> None:
    first = answer(case)
    for place, path in enumerate(kept(case)):
        if place % many(3, 1) == 0 or path.name.endswith("-records"):
            path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
            assert answer(case) == first
            # This process had opened the damaged file; now it reads the new one.
            assert answer(case) == first


AUDIT = """
import sys, tacit
from tacit.person.link import wide
wide.MANY = 1
tacit.person_audit
print("ready", flush=True)
print([(rung.adversary, rung.leakage, rung.entities) for rung in tacit.person_audit(sys.argv[1]).rungs])
"""


@pytest.mark.long
def test_two_processes_at_once_give_the_same_answer_and_leave_one_whole_index(
    case: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with subprocess.Popen([sys.executable, "-c", AUDIT, str(case)], stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "ready\n"
        told = [f"{answer(case)}\n", other.stdout.read()]
    assert other.returncode == 0
    assert not [path for path in kept(case) if path.name.startswith("draft-")]
    monkeypatch.setattr(reading, "gathered", None)
    assert told == [f"{answer(case)}\n"] * 2


def test_who_waits_for_another_to_write_does_not_write_it_again(case: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answer(case)
    before = {path: path.stat().st_mtime_ns for path in kept(case)}
    # As if the other had written it after it was looked for.
    monkeypatch.setattr(keeping.CaseIndex, "pool", lambda self: None)
    answer(case)
    assert {path: path.stat().st_mtime_ns for path in kept(case)} == before


def test_what_a_killed_process_left_is_removed(case: Path) -> None:
    answer(case)
    (kept(case)[0].parent / "draft-0123").write_text("half")
    (case.parent / "shop.csv").write_text("id,name,email\n1,Alice Archer,alice@archer.example\n")
    answer(case)
    assert not [path for path in kept(case) if path.name.startswith("draft-")]


def test_it_is_found_however_the_case_is_called(case: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = answer(case)
    monkeypatch.chdir(case.parent)
    monkeypatch.setattr(reading, "gathered", None)
    assert answer(Path("case.yaml")) == first


def test_where_nothing_can_be_written_nothing_is_kept(case: Path) -> None:
    (case.parent / ".tacit").write_text("a file in the way")
    assert answer(case)
