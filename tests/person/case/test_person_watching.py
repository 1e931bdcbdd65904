"""An audit that is watched tells what changed since the last, and keeps nothing from which a value could be read."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from sizes import few
from tacit.errors import DataError
from tacit.person import person_audit
from tacit.person.case.watching import state_of

CASE = """
person: {name: Alice Archer, email: alice@archer.example, phone: "0207946"}
sources:
  - {name: shop, path: shop.csv}
  - {name: forum, path: forum.csv}
adversaries:
  - {name: reads}
  - {name: joins, steps: [{resolve: {rules: [[email]]}}]}
"""


@pytest.fixture
def case(tmp_path: Path) -> Path:
    (tmp_path / "shop.csv").write_text("name,email\nAlice Archer,alice@archer.example\n")
    (tmp_path / "forum.csv").write_text("name,email\nBob,bob@x.example\n")
    (tmp_path / "case.yaml").write_text(CASE)
    return tmp_path / "case.yaml"


def test_the_first_audit_remembers_and_the_next_finds_nothing_new(case: Path) -> None:
    first = person_audit(case, watch=True)
    assert first.changes is None
    assert any("the first watched audit" in note for note in first.notes)
    changes = person_audit(case, watch=True).changes
    assert changes is not None
    assert (changes.new_facts, changes.new_sources, changes.new_records, changes.rewritten) == ({}, (), {}, ())
    assert changes.same_person
    assert [(one.adversary, one.then) for one in changes.rungs] == [(r.adversary, r.leakage) for r in first.rungs]


def test_new_records_sources_and_facts_are_told_with_the_leakage_then_and_now(case: Path) -> None:
    before = person_audit(case, watch=True).leakage
    with (case.parent / "forum.csv").open("a") as file:
        file.write("Alice A.,alice@archer.example\n")
    (case.parent / "gym.csv").write_text("email,phone\nalice@archer.example,0207946\n")
    case.write_text(CASE.replace("sources:", "sources:\n  - {name: gym, path: gym.csv}"))
    found = person_audit(case, watch=True)
    changes = found.changes
    assert changes is not None
    assert (changes.new_facts, changes.gone_facts) == ({"phone": 1}, {})
    assert (changes.new_sources, changes.gone_sources, changes.new_records) == (("gym",), 0, {"forum": 1})
    then, now = next((one.then, one.now) for one in changes.rungs if one.adversary == "joins")
    assert then == before
    assert now == found.rungs[1].leakage > before
    shown = str(found)
    assert "Newly known: phone (1)." in shown
    assert "New sources: gym." in shown
    assert shown.index("Since the last audit") < shown.index("What to do first")


def test_what_is_gone_is_told_and_another_person_too(case: Path) -> None:
    person_audit(case, watch=True)
    (case.parent / "shop.csv").write_text("name,email\nCarol,alice@archer.example\n")
    text = CASE.replace("  - {name: forum, path: forum.csv}\n", "").replace("0207946", "555")
    case.write_text(text)
    changes = person_audit(case, watch=True).changes
    assert changes is not None
    assert (changes.gone_facts, changes.gone_sources) == ({"name": 1}, 1)
    assert (changes.rewritten, changes.same_person) == (("shop",), False)


def test_who_was_not_asked_about_is_remembered_as_before(case: Path) -> None:
    person_audit(case, watch=True)
    narrow = person_audit(case, watch=True, adversary="reads").changes
    whole = person_audit(case, watch=True).changes
    assert narrow is not None
    assert whole is not None
    assert [one.adversary for one in narrow.rungs] == ["reads"]
    assert all(one.then == one.now for one in whole.rungs)
    assert whole.new_facts == whole.gone_facts == {}


def test_the_state_holds_no_value_and_no_name_and_is_the_owners_alone(case: Path) -> None:
    person_audit(case, watch=True)
    path = state_of(case)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    text = path.read_text()
    assert not any(word in text for word in ("Alice", "alice", "0207946", "shop", "joins", "email"))
    assert json.loads(text)["salt"] not in ("", "0" * 32)


@pytest.mark.parametrize("text", few(["", "{", "[]", '{"version": 2}', '{"version": 1, "salt": "zz"}', "null"], 2))
def test_a_damaged_state_is_named_and_left(case: Path, text: str) -> None:
    state_of(case).write_text(text)
    with pytest.raises(DataError, match="is damaged, or of another version: delete it"):
        person_audit(case, watch=True)
    assert state_of(case).read_text() == text


def test_without_watching_nothing_is_kept(case: Path) -> None:
    assert person_audit(case).changes is None
    assert not state_of(case).exists()


def test_a_state_of_somebody_else_is_refused(case: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    state_of(case).write_text("{}")
    owner = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    with pytest.raises(DataError, match="is somebody else's, who may have made it up"):
        person_audit(case, watch=True)
