"""What is kept beside a case: it changes no answer, is the owner's alone, and goes when the sources change."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

import tacit
from tacit.person.inquiry import index as keeping, opened
from tacit.person.sources import reading

CASE = """person: {name: Alice Archer, email: alice@archer.example}
sources: [{name: shop, path: shop.csv, id: id}]
adversaries:
- {name: reads}
- {name: joins, steps: [{normalise: {}}, {resolve: {rules: [[email]]}}]}
"""


@pytest.fixture
def case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(keeping, "FEWEST", 1)
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


def test_it_is_for_the_owner_alone(case: Path) -> None:
    answer(case)
    assert {stat.S_IMODE(path.stat().st_mode) for path in kept(case)} == {0o600}
    assert {stat.S_IMODE(path.stat().st_mode) for path in (kept(case)[0].parent, case.parent / ".tacit")} == {0o700}
    assert (case.parent / ".tacit" / ".gitignore").read_text() == "*\n"


def test_a_source_that_changed_is_read_again_and_the_old_forgotten(case: Path) -> None:
    before = answer(case), kept(case)
    (case.parent / "shop.csv").write_text("id,name,email\n1,Alice Archer,alice@archer.example\n")
    assert answer(case)[0][1] == 1.0 > before[0][0][1]
    assert not set(kept(case)) & set(before[1])


@pytest.mark.parametrize("place", range(8))
def test_a_damaged_file_is_made_again(case: Path, place: int) -> None:
    first, files = answer(case), kept(case)
    path = files[place % len(files)]
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    assert answer(case) == first


def test_a_case_may_want_none_and_few_records_are_not_kept(case: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeping, "FEWEST", 4)
    answer(case)
    monkeypatch.setattr(keeping, "FEWEST", 1)
    case.write_text(f"{CASE}index: false\n")
    answer(case)
    assert not (case.parent / ".tacit").exists()


def test_where_nothing_can_be_written_nothing_is_kept(case: Path) -> None:
    (case.parent / ".tacit").write_text("a file in the way")
    assert answer(case)
