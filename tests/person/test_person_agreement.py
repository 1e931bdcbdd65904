"""Records written in many odd ways: audit, dip, remove and population say the same, whichever way records are held."""

from __future__ import annotations

import csv
import json
import random
from pathlib import Path

import pytest
import yaml

from sizes import many
from tacit.person import (
    PersonAuditResult,
    Record,
    person_audit,
    person_dip,
    person_population,
    person_remove,
)
from tacit.person.link import wide

GIVEN = ["Ana", "José", "Zoë", "Jürgen", "Li", "Mary-Jane", "Søren", "Łukasz", "William", "Bob"]
SURNAMES = ["García López", "Müller", "van der Berg", "O'Brien", "Smith", "Nguyễn", "Smith-Jones", "Li"]
MONTHS = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"]
LABELS = ("name", "dob", "phone", "email", "address")
Person = dict[str, str]


def somebody(chance: random.Random) -> Person:
    given, surname = chance.choice(GIVEN), chance.choice(SURNAMES)
    return {
        "name": f"{given} {surname}",
        "dob": f"{chance.randint(1931, 2005)}-{chance.randint(1, 12):02}-{chance.randint(1, 28):02}",
        "phone": f"+49160{chance.randint(1_000_000, 9_999_999)}",
        "email": f"{given[0].lower()}.x{chance.randint(1, 999)}@{chance.choice(['gmail.com', 'web.de'])}",
        "address": f"{chance.choice(['Linden', 'Haupt', 'Berg'])}straße {chance.randint(1, 99)}",
    }


def oddly(chance: random.Random, person: Person) -> Person:
    """One record of a person, as some source writes it."""
    given, _, surname = person["name"].partition(" ")
    year, month, day = map(int, person["dob"].split("-"))
    own, mail, home = person["phone"][3:], person["email"], person["address"]
    names = [f"{surname}, {given}", f"{surname.upper()} {given}", f"Dr. {given} {surname}", f"{given[0]}. {surname}"]
    names += [f"  {given}  {surname} ", f"{given} {surname} Jr.", f"Mr {given} {surname}, PhD"]
    days = [f"{day:02}.{month:02}.{year}", f"{day}-{MONTHS[month - 1]}-{year}", f"{month}/{day}/{year}", f"{year}"]
    days += [f"{day}/{month}/{year % 100:02}", f"{year}{month:02}{day:02}", "0000-00-00", "N/A", ""]
    phones = [f"+49 {own}", f"0{own}", f"0049{own}", f"tel:+49-{own}", f"+49 (0){own}", f"0{own} ; 0301234567"]
    mails = [mail, mail.upper(), mail.replace("@", "+news@"), f"<{mail}>", f"mailto:{mail}", "null"]
    homes = [home.replace("straße", "str."), f"{home}, 10115 Berlin", " ".join(home.split()[::-1]), "***", ""]
    return dict(zip(LABELS, map(chance.choice, (names, days, phones, mails, homes)), strict=True))


def odd_case(folder: Path, chance: random.Random) -> tuple[Path, Person]:
    """Three sources of a dozen people, a table of them, and the case of the first."""
    people = [somebody(chance) for _ in range(12)]
    person = people[0]
    rows = [
        [oddly(chance, person), *(oddly(chance, one) for one in people for _ in range(chance.randint(0, 2)))]
        for _ in range(3)
    ]
    for some in rows:
        chance.shuffle(some)
    called = ["Full Name", "Geburtsdatum", "Telefon", "E-Mail", "Anschrift"]
    for name, header, sign, some in (("shop", LABELS, ",", rows[0]), ("gym", called, ";", rows[1])):
        with (folder / f"{name}.csv").open("w", newline="") as file:
            writer = csv.writer(file, delimiter=sign)
            writer.writerows([header, *(one.values() for one in some)])
    lines = (json.dumps({label: value or None for label, value in one.items()}) for one in rows[2])
    (folder / "club.jsonl").write_text("\n".join(lines))
    with (folder / "people.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["id", *LABELS], ["1", *person.values()]])
    case = {
        "country": "DE",
        "person": person,
        "sources": [
            {"name": "shop", "path": "shop.csv"},
            {"name": "gym", "path": "gym.csv", "map": dict(zip(called, LABELS, strict=True))},
            {"name": "club", "path": "club.jsonl"},
        ],
        "population": {"references": "people.csv", "person": "id"},
    }
    (folder / "case.yaml").write_text(yaml.safe_dump(case, allow_unicode=True))
    return folder / "case.yaml", person


def told(audit: PersonAuditResult) -> list[object]:
    """What an audit says, apart from the seconds it took."""
    rungs = [(one.adversary, round(one.leakage, 9), round(one.best_recall, 9), one.entities) for one in audit.rungs]
    return [audit.headline, round(audit.together, 9), rungs, [one.members for one in audit.findings]]


@pytest.mark.parametrize("seed", range(many(1, 40)))
def test_all_questions_about_odd_records_agree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    case, person = odd_case(tmp_path, random.Random(seed))
    audit = person_audit(case)
    rungs = {one.adversary: one for one in audit.rungs}
    assert audit.together >= max(one.best_recall for one in audit.rungs)
    removal = person_remove(case)
    assert removal.adversary == audit.strongest
    assert removal.before == pytest.approx(rungs[audit.strongest].leakage)
    assert [(one.source, one.only_there) for one in removal.source_shares] == [
        (one.source, one.only_there) for one in audit.source_shares
    ]
    for rung in person_population(case).rungs:
        assert rung.mean == pytest.approx(rungs[rung.adversary].leakage)
    dip = person_dip(case, query=Record(list(person.items()), name="the person"))
    some = any(len(one.finding.members) > 1 for one in dip.dips)
    assert dip.headline.startswith("Starting from" if some else "No ")
    monkeypatch.setattr(wide, "MANY", 1)
    assert told(person_audit(case)) == told(audit)
