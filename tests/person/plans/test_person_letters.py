"""Letters ask for erasure under the law that holds, and give away nothing that their reader does not have."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest

from sizes import few
from tacit.errors import ArgumentError, DataError
from tacit.person import person_audit, person_remove

PERSON = {
    "name": "Alice Archer",
    "email": ["alice@archer.example", "a.archer@work.example"],
    "phone": "007",
    "card": "999",
}


def case_of(folder: Path, sources: dict[str, str], **more: Any) -> Path:
    for name, text in sources.items():
        (folder / name).write_text(text)
    about = [{"name": name.partition(".")[0], "path": name, **more.pop(name, {})} for name in sources]
    (folder / "case.json").write_text(json.dumps({"person": PERSON, "sources": about, **more}))
    return folder / "case.json"


def letters(case: Path, folder: Path) -> dict[str, str]:
    result = person_remove(case, letters=folder)
    assert [Path(path).parent for path in result.letters] == [folder] * len(result.letters)
    return {Path(path).name: Path(path).read_text("utf-8") for path in result.letters}


SHOP = 'name,email,card\n"Archer, Alice",ALICE@archer.example,999\n'
FORUM = "phone,card\n007,999\n"


def test_a_letter_holds_the_name_and_one_value_that_its_source_holds_and_nothing_else(tmp_path: Path) -> None:
    written = letters(case_of(tmp_path, {"shop.csv": SHOP, "forum.csv": FORUM}), tmp_path / "letters")
    (shop,) = (text for name, text in written.items() if "shop" in name)
    (forum,) = (text for name, text in written.items() if "forum" in name)
    assert "under the name Alice Archer and by the email alice@archer.example" in shop
    assert all(value not in shop for value in ("007", "999", "work.example"))
    # The forum knows neither the name nor an address, and is not told them.
    assert "by the phone 007" in forum
    assert all(value not in forum for value in ("Alice", "Archer", "@", "999"))


def test_an_address_that_was_made_for_a_source_is_the_only_one_in_its_letter(tmp_path: Path) -> None:
    shop = SHOP.replace("ALICE@", "alice+shop@")
    (text,) = letters(case_of(tmp_path, {"shop.csv": shop}), tmp_path / "letters").values()
    assert "by the email alice+shop@archer.example" in text
    assert "alice@" not in text


def test_letters_can_be_read_by_nobody_else_and_overwrite_nothing(tmp_path: Path) -> None:
    case = case_of(tmp_path, {"shop.csv": SHOP})
    (name,) = letters(case, tmp_path / "letters")
    assert stat.S_IMODE((tmp_path / "letters" / name).stat().st_mode) == 0o600
    (tmp_path / "letters" / name).write_text("mine")
    with pytest.raises(ArgumentError, match="already exists"):
        person_remove(case, letters=tmp_path / "letters")
    assert (tmp_path / "letters" / name).read_text() == "mine"


@pytest.mark.parametrize(
    ("said", "of_source", "gdpr", "ccpa"),
    few(
        [
            ({"country": "DE"}, {}, True, False),
            ({"country": "US"}, {}, False, True),
            ({"country": "DE", "law": "ccpa"}, {"law": "both"}, True, True),
            ({}, {}, True, True),
            ({"country": "DE", "law": "ccpa"}, {}, False, True),
            ({"country": "JP"}, {}, True, True),
        ],
        2,
    ),
)
def test_the_law_is_the_sources_or_the_cases_or_that_of_the_country(
    tmp_path: Path, said: dict[str, Any], of_source: dict[str, Any], gdpr: bool, ccpa: bool
) -> None:
    reads = [{"name": "reads"}]
    case = case_of(tmp_path, {"shop.csv": SHOP}, adversaries=reads, **said, **{"shop.csv": of_source})
    (text,) = letters(case, tmp_path / "letters").values()
    assert ("17(1)" in text, "1798.105" in text) == (gdpr, ccpa)


def test_a_law_that_there_is_not_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no 'gdrp' for law; did you mean 'gdpr'"):
        person_remove(case_of(tmp_path, {"shop.csv": SHOP}, law="gdrp"))


def test_a_letter_about_breaches_goes_to_those_whose_they_were(tmp_path: Path) -> None:
    breaches = json.dumps([{"Name": name, "DataClasses": ["Email addresses", "Names"]} for name in ("Adobe", "Gawker")])
    (text,) = letters(case_of(tmp_path, {"b.json": breaches}), tmp_path / "letters").values()
    assert "To: [each of these, in a letter of its own] Adobe, Gawker" in text


def test_without_letters_nothing_is_written(tmp_path: Path) -> None:
    case = case_of(tmp_path, {"shop.csv": SHOP})
    before = sorted(tmp_path.iterdir())
    assert person_remove(case).letters == ()
    assert sorted(tmp_path.iterdir()) == before


# ------------------------------------------------------------------------------------------------------ masks


def test_actions_tell_two_masked_addresses_apart(tmp_path: Path) -> None:
    rows = "email,other,card,phone\nalice@archer.example,,999,\nalice@archer.example,a.archer@work.example,,\n"
    rows += "a.archer@work.example,,,007\n"
    case = case_of(
        tmp_path,
        {"shop.csv": rows},
        **{"shop.csv": {"map": {"other": "email"}}},
        adversaries=[{"name": "E", "steps": [{"resolve": {"rules": [["email"]]}}]}],
    )
    said = [action.what for action in person_audit(case).actions if "email" in action.what]
    assert all("@" not in what for what in said)
    assert set(said) == {f"use another email in each place instead of a••• ({place} of 2)" for place in (1, 2)}


def test_whoever_holds_records_and_is_not_asked_is_named(tmp_path: Path) -> None:
    club, stranger = "name,email\nAlice Archer,alice@archer.example\n", "phone,card\n008,998\n"
    case = case_of(tmp_path, {"shop.csv": SHOP, "club.csv": club, "forum.csv": stranger})
    whole, one = person_remove(case), person_remove(case, at_most=1)
    assert [step.source for step in one.steps] == ["shop"]
    named = [note for note in one.notes if "to erase all, ask them as well" in note]
    assert [note.partition(" ")[0] for note in named] == ["'club'"]
    assert {step.source for step in whole.steps} == {"shop", "club"}
    assert not [note for note in whole.notes if "to erase all" in note]
