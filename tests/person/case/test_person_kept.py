"""An answer is given again while nothing that it depends on has changed, and made again when something has."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import tacit
from sizes import many
from tacit.person import inquiry
from tacit.person.answers import kept
from tacit.person.link import wide

CASE = """person: {name: Alice Archer, email: alice@archer.example, zip: "10115"}
sources: [{name: shop, path: shop.csv, id: id}]
adversaries:
- {name: reads}
- {name: adds, steps: [{augment: {given: name, adds: zip, table: zips.csv}}, {resolve: {rules: [[email]]}}]}
"""


@pytest.fixture
def case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(wide, "MANY", 1)
    (tmp_path / "shop.csv").write_text("id,name,email\n1,Alice Archer,x@y.example\n2,,X@Y.example\n3,Bo,b@y.example\n")
    (tmp_path / "zips.csv").write_text("name,zip\nAlice Archer,10115\n")
    (tmp_path / "case.yaml").write_text(CASE)
    return tmp_path / "case.yaml"


def worked(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The cases that are opened from now on."""
    opened: list[object] = []
    real = inquiry.opened
    monkeypatch.setattr(inquiry, "opened", lambda case, **given: opened.append(case) or real(case, **given))
    return opened


def test_the_same_question_is_answered_at_once_and_another_is_not(case: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = worked(monkeypatch)
    first = tacit.person_audit(case)
    assert tacit.person_audit(case) == first
    assert len(opened) == 1
    others = [{"adversary": "reads"}, {"watch": True}, {"watch": True}, {"show_values": True}, {"fail_above": 0.1}]
    for other in others[: many(2, 5)]:
        tacit.person_audit(case, **other)
    assert len(opened) == 1 + many(2, 5)


def test_whatever_it_depends_on_makes_it_anew(case: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = worked(monkeypatch)
    before = tacit.person_audit(case).rungs
    for times, changed in enumerate(["code", "answer", "shop.csv", "zips.csv", "case.yaml"][: many(4, 5)], start=2):
        if changed == "code":
            monkeypatch.setattr(kept, "code", lambda: "another")
        elif changed == "answer":
            (path,) = (case.parent / ".tacit" / case.name).glob("answer-*")
            path.write_text(path.read_text().replace("0.", "0.9", 1))
        else:
            path = case.parent / changed
            # As long as it was, and said to be as old.
            seen = path.stat()
            path.write_text(path.read_text().replace("Alice Archer", "Alise Archer"))
            os.utime(path, ns=(seen.st_atime_ns, seen.st_mtime_ns))
        after = tacit.person_audit(case).rungs
        assert len(opened) == times, changed
        same = [(rung.leakage, rung.entities) for rung in before] == [(rung.leakage, rung.entities) for rung in after]
        assert same == (changed in ("code", "answer")), changed
        before = after


def test_few_records_and_a_case_that_wants_no_index_keep_none(case: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case.write_text(f"{CASE}index: false\n")
    tacit.person_audit(case)
    monkeypatch.setattr(wide, "MANY", 4)
    case.write_text(CASE)
    tacit.person_audit(case)
    assert not (case.parent / ".tacit").exists()


def test_a_database_that_waits_for_changes_is_another(tmp_path: Path) -> None:
    (tmp_path / "shop.sqlite").write_bytes(b"as it was")
    before = kept.seen(tmp_path / "shop.sqlite")
    (tmp_path / "shop.sqlite-wal").write_bytes(b"new")
    assert kept.seen(tmp_path / "shop.sqlite") != before
