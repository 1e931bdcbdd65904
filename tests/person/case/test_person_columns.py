"""What a column says of its values that none of them says alone, and what stars and odd names are worth."""

from __future__ import annotations

from pathlib import Path

import pytest

import tacit
from sizes import few
from tacit.person.answers import PersonAuditResult


def audited(folder: Path, person: str, table: str, more: str = "") -> PersonAuditResult:
    (folder / "shop.csv").write_text(table, "utf-8")
    (folder / "case.yaml").write_text(f"person: {person}\nsources: [{{name: shop, path: shop.csv}}]\n{more}", "utf-8")
    return tacit.person_audit(folder / "case.yaml", adversary="E0")


def states(audit: PersonAuditResult, label: str) -> set[str]:
    return {held.state for held in audit.findings[0].held if held.label == label}


@pytest.mark.parametrize(
    ("days", "wanted"),
    few(
        [
            # A spreadsheet's numbers, if all of the column are.
            (["30753", "33218"], "correct"),
            (["30753.0", "33218.0"], "correct"),
            (["30753", "1990-01-01"], "wrong"),
            # Seconds since 1970, of fewer digits too.
            (["447897600", "662688000"], "correct"),
            (["447897600", "-662688000"], "correct"),
            # Digits alone: one above 12 decides.
            (["12031984", "25121990"], "correct"),
            (["03121984", "12251990"], "correct"),
            (["3121984", "12251990"], "correct"),
            (["12031984", "01021990"], "near"),
        ],
        3,
    ),
)
def test_a_column_of_numbers_says_which_days_they_are(tmp_path: Path, days: list[str], wanted: str) -> None:
    table = "name,birthdate\n" + "".join(f"Alice Archer,{day}\n" for day in days[:1])
    table += "".join(f"Bob Baker,{day}\n" for day in days[1:])
    assert states(audited(tmp_path, "{name: Alice Archer, dob: 1984-03-12}", table), "dob") == {wanted}


@pytest.mark.parametrize(
    ("zips", "more", "wanted"),
    few(
        [
            (["2138", "90210", "10001"], "", "correct"),
            (["2138.0", "90210.0", "10001.0"], "", "correct"),
            # Zeros were kept, so that none was lost: a code of four digits is of another country.
            (["2138", "01067", "10001"], "", "near"),
            (["2138", "3001", "8001"], "", "near"),
            (["2138", "3001", "8001"], "country: US\n", "correct"),
            (["2138", "SW1A 1AA", "10001"], "", "near"),
        ],
        2,
    ),
)
def test_a_postcode_has_the_zero_back_that_its_column_or_country_says(
    tmp_path: Path, zips: list[str], more: str, wanted: str
) -> None:
    table = "email,zip\n" + "".join(
        f"{who}@archer.example,{code}\n" for who, code in zip(("alice", "bobby", "carol"), zips, strict=True)
    )
    audit = audited(tmp_path, '{email: alice@archer.example, zip: "02138"}', table, more)
    assert states(audit, "zip") == {wanted}


@pytest.mark.parametrize(
    "cell",
    few(
        [
            "+49 160 1234567 / +49 89 7654321",
            "+49 89 7654321; +49 160 1234567",
            "+491601234567/+49897654321",
            "+49 89 7654321 or +49 160 1234567",
        ]
    ),
)
def test_two_telephones_in_a_cell_are_two(tmp_path: Path, cell: str) -> None:
    audit = audited(tmp_path, "{name: Alice Archer, phone: '+49 160 1234567'}", f'name,phone\nAlice Archer,"{cell}"\n')
    assert states(audit, "phone") == {"correct", "wrong"}


def test_a_telephone_with_a_slash_is_one(tmp_path: Path) -> None:
    table = "name,phone\nAlice Archer,0160/1234567\nBob Baker,+49 89 7654321 ext. 12\n"
    audit = audited(tmp_path, "{name: Alice Archer, phone: '+49 160 1234567'}", table, "country: DE\n")
    assert states(audit, "phone") == {"correct"}


def test_two_addresses_of_e_mail_in_a_cell_are_two(tmp_path: Path) -> None:
    table = 'name,email\nAlice Archer,"alice@archer.example; shop@archer.example"\n'
    assert states(audited(tmp_path, "{email: alice@archer.example}", table), "email") == {"correct", "wrong"}


@pytest.mark.parametrize(
    ("country", "wanted"), few([("United States", "correct"), ("usa", "correct"), ("FR", "wrong")], 2)
)
def test_a_number_without_a_country_has_that_of_its_record(tmp_path: Path, country: str, wanted: str) -> None:
    table = f"name,phone,country,zip\nAlice Archer,415 555 2671,{country},2138\nBob Baker,0160 1234567,Germany,80331\n"
    person = "{name: Alice Archer, phone: '+1 415 555 2671', zip: '02138'}"
    audit = audited(tmp_path, person, table, "country: DE\n")
    assert states(audit, "phone") == {wanted}
    assert states(audit, "zip") == {"correct"}


def test_na_and_null_are_people_where_names_stand(tmp_path: Path) -> None:
    table = "given_name,surname,city\nNa,Null,Na\nNULL,n/a,Null\n"
    audit = audited(tmp_path, "{name: Na Null, city: Na}", table)
    assert states(audit, "name") == {"correct"}
    assert states(audit, "city") == set()


def test_a_star_alone_says_nothing_and_what_covers_the_truth_is_told(tmp_path: Path) -> None:
    hidden = audited(tmp_path, "{zip: '02138', city: Ambleford}", "zip,city\n*,*\n")
    assert (hidden.rungs[0].leakage, hidden.rungs[0].best_recall, hidden.together) == (0, 0, 0)
    covering = audited(tmp_path, "{zip: '02138', city: Ambleford}", "zip,city\n021**,***\n")
    assert covering.rungs[0].best_recall == pytest.approx(0.5)
    assert {missing.label for missing in covering.findings[0].missing} == {"city"}
    assert any("only covers the truth" in note and "zip" in note for note in covering.notes)
