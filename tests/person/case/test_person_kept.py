"""An answer is given again while nothing that it depends on has changed, and made again when something has."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import numpy as np
import pytest

import tacit
from sizes import few, many
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


@pytest.mark.parametrize("beside", ["shop.sqlite-wal", "shop.sqlite.wal"])
def test_a_database_that_waits_for_changes_is_another(tmp_path: Path, beside: str) -> None:
    (tmp_path / "shop.sqlite").write_bytes(b"as it was")
    before = kept.file_state(tmp_path / "shop.sqlite")
    (tmp_path / beside).write_bytes(b"new")
    assert kept.file_state(tmp_path / "shop.sqlite") != before


def test_what_duckdb_has_not_yet_taken_in_is_read(case: Path) -> None:
    import duckdb

    shop = case.parent / "shop.duckdb"
    with duckdb.connect(str(shop)) as at:
        at.execute("CREATE TABLE t AS SELECT '1' AS id, 'Alice Archer' AS name, 'x@y.example' AS email")
    case.write_text(CASE.replace("shop.csv", "shop.duckdb::t"))
    first = tacit.person_audit(case)
    # As a process leaves it that was killed.
    copy = case.parent / "copy.duckdb"
    copy.write_bytes(shop.read_bytes())
    with duckdb.connect(str(copy)) as at:
        at.execute("UPDATE t SET email = 'alice@archer.example'")
        shop.with_name("shop.duckdb.wal").write_bytes(copy.with_name("copy.duckdb.wal").read_bytes())
    assert tacit.person_audit(case).rungs[0].leakage > first.rungs[0].leakage


def test_adversaries_one_after_the_other_are_as_asked(case: Path) -> None:
    for named in (iter(["reads"]), ["reads"]):
        assert [rung.adversary for rung in tacit.person_audit(case, adversary=named).rungs] == ["reads"]


def test_an_answer_that_json_cannot_write_is_given_all_the_same(case: Path) -> None:
    limit = np.float32(0.5)
    assert tacit.person_audit(case, fail_above=limit).fail_above == limit


@pytest.mark.parametrize("forged", few(["owner of the folder", "link", "mode", "owner of the file"], 2))
def test_what_somebody_else_kept_is_not_believed(case: Path, monkeypatch: pytest.MonkeyPatch, forged: str) -> None:
    true = tacit.person_audit(case)
    folder = case.parent / ".tacit" / case.name
    (answer,) = folder.glob("answer-*")
    said = json.loads(answer.read_text())
    said["answer"] = said["answer"].replace(true.headline, "nothing is known")
    said["sha256"] = hashlib.sha256(said["answer"].encode()).hexdigest()
    answer.write_text(json.dumps(said))
    assert tacit.person_audit(case).headline == "nothing is known"  # so it is forged well enough
    if forged == "mode":
        folder.parent.chmod(0o777)
    elif forged == "link":
        folder.parent.rename(case.parent / "elsewhere")
        folder.parent.symlink_to(case.parent / "elsewhere")
    else:
        theirs = folder.parent if forged.endswith("folder") else answer
        number = theirs.stat().st_ino
        real = {name: getattr(os, name) for name in ("stat", "lstat", "fstat")}

        def owned(found: os.stat_result) -> os.stat_result:
            mine = list(found)
            mine[4] += found.st_ino == number
            return os.stat_result(mine, {name: getattr(found, name) for name in ("st_mtime_ns", "st_ctime_ns")})

        for name, own in real.items():
            monkeypatch.setattr(os, name, lambda *path, own=own, **how: owned(own(*path, **how)))
    again = tacit.person_audit(case)
    assert again.headline == true.headline
    assert any("somebody else" in note for note in again.notes) == (forged != "owner of the file")
