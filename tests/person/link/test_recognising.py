"""Which records are recognised as a person's by somebody who knows the truth."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from sizes import many
from tacit.person.inquiry.opening import opened
from tacit.person.link.recognising import Recognition

ALICE = "{name: Alice Archer, email: alice@x.example, dob: 1984-03-12, city: Ambleford, occupation: carpenter}"
TOWNS = ("Hull", "Bath", "York", "Leeds", "Ambleford")


def crowd(size: int) -> list[str]:
    """People of many names, every fifth of them in Ambleford."""
    return [f"P{at}a Q{at * 7}b,p{at}@x.example,19{at % 90 + 10}-11-05,{TOWNS[at % 5]},clerk" for at in range(size)]


def recognition(folder: Path, rows: list[str], person: str = ALICE) -> Recognition:
    (folder / "all.csv").write_text("\n".join(["name,mail,dob,city,occupation", *rows]) + "\n")
    (folder / "case.yaml").write_text(f"person: {person}\nsources: [{{name: all, path: all.csv}}]\n")
    inquiry = opened(folder / "case.yaml")
    return inquiry.bench.recognition(inquiry.subject.reference, inquiry.pool.attributes)


def test_a_name_beside_what_few_have_is_the_person_and_beside_what_many_have_is_not(tmp_path: Path) -> None:
    rare = "Alice Archer,,,,carpenter"
    common = "Alice Archer,,,Ambleford,"
    only_rare = recognition(tmp_path, [*crowd(300), rare])
    assert only_rare.rids.tolist() == [300]
    # Three more of that name live elsewhere, and sixty people of other names live here.
    namesakes = ["Alice Archer,,,Hull,", "Alice Archer,,,Bath,", "Alice Archer,,,York,"]
    assert recognition(tmp_path, [*crowd(300), *namesakes, common]).rids.tolist() == []


def test_who_contradicts_the_person_needs_far_more_to_be_taken_for_them(tmp_path: Path) -> None:
    same, other = "Alice Archer,,,Ambleford,", "Alice Archer,,1950-08-30,Ambleford,"
    assert recognition(tmp_path, [*crowd(300), same]).rids.tolist() == [300]
    assert recognition(tmp_path, [*crowd(300), other]).rids.tolist() == []


def test_a_masked_address_beside_a_name_is_the_person_if_few_have_both(tmp_path: Path) -> None:
    masked = "A. Archer,a***@x.example,,,"
    assert recognition(tmp_path, [*crowd(300), masked]).rids.tolist() == [300]
    # A mask that fits many, or stands alone, says nothing; nor does one that hides all.
    alone = [*crowd(300), "A. Archer,***,,,", ",a***@x.example,,,"]
    assert recognition(tmp_path, alone).rids.tolist() == []
    fits = [f"B{at} Zed,a{at}***@x.example,,," for at in range(3)]
    many_fit = [*crowd(100), *(f"B{at} Zed,*@x.example,,," for at in range(300)), "A. Archer,*@x.example,,,"]
    many_fit += [f"A. Archer,q{at}@y.example,,," for at in range(5)]
    assert recognition(tmp_path, [*many_fit, *fits]).rids.tolist() == []


def test_a_surname_beside_the_day_of_birth_is_the_person(tmp_path: Path) -> None:
    assert recognition(tmp_path, [*crowd(300), "Archer,,1984-03-12,,"]).rids.tolist() == [300]


@pytest.mark.parametrize("seed", range(many(4, 60)))
def test_records_in_memory_and_in_the_engine_are_recognised_alike(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    alice = ["Alice Archer", "alice@x.example", "1984-03-12", "Ambleford", "carpenter"]
    near = ["A. Archer", "alise@x.example", "1984-12-03", "Amblefrod", "joiner"]
    rows = crowd(60)
    for _ in range(40):
        other = chance.choice(rows[:60]).split(",")
        ways = chance.choices((alice, near, other, [""] * 5), (4, 2, 2, 3), k=5)
        rows.append(",".join(way[place] for place, way in enumerate(ways)))
    found = recognition(tmp_path, rows)
    inquiry = opened(tmp_path / "case.yaml")
    own = [int(record.name) for record in inquiry.pool.numbered(range(len(rows))) if found.recognises(record)]
    assert own == found.rids.tolist()
    assert 0 < len(own) < 41


def test_more_facts_than_one_number_of_the_engine_holds_are_told_apart(tmp_path: Path) -> None:
    addresses = [f"box{at}@y.example" for at in range(40)]
    person = f"{{name: Alice Archer, email: [{', '.join(addresses)}]}}"
    rows = [f",{address},,," for address in addresses]
    assert recognition(tmp_path, [*crowd(20), *rows], person).rids.tolist() == list(range(20, 60))
