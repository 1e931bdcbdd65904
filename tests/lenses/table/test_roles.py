"""Roles: what columns seem to be, with a reason for every guess, and a command that works when it is followed."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from hospital import hospital
from sizes import few
from tables_of_people import clinic, write_csv
from tacit import ArgumentError, AuditResult, ColumnsResult, DataError, audit
from tacit.cli.wording import COMMAND_LINE
from tacit.lenses.table.answers.columns import GuessedColumn
from tacit.lenses.table.roles.names import is_identifier, is_known_to_neighbours, is_place, personal_in, secret_in


def people(n: int = 400) -> dict[str, list[Any]]:
    """The hospital with what identifies its patients, notes, a constant and a column of lists."""
    columns = hospital(n)
    return columns | {
        "patient_id": list(range(1, n + 1)),
        "code": [f"{i * 7919 % 100_003:05d}-X" for i in range(n)],
        "notes": [f"patient {i} came in with pain and left better after {i % 9} days" for i in range(n)],
        "country": ["DE"] * n,
        "stays": [i % 3 for i in range(n)],
    }


def guesses(found: ColumnsResult) -> dict[str, GuessedColumn]:
    return {column.name: column for column in found.columns}


@pytest.fixture(scope="module")
def listed(tmp_path_factory: pytest.TempPathFactory) -> ColumnsResult:
    found = audit(write_csv(tmp_path_factory.mktemp("roles") / "people.csv", people()))
    assert isinstance(found, ColumnsResult)
    return found


def test_every_column_of_a_hospital_is_taken_for_what_it_is(listed: ColumnsResult) -> None:
    kinds = {name: column.kind for name, column in guesses(listed).items()}
    assert kinds == {
        **{"illness": "category", "admission": "date", "discharge": "date", "age": "number", "sex": "category"},
        **{"postcode": "place", "ward": "category", "insurance": "category", "patient_id": "identifier"},
        **{"code": "identifier", "notes": "text", "country": "constant", "stays": "category"},
    }


def test_the_secret_is_proposed_with_its_reason_and_identifiers_are_left_out(listed: ColumnsResult) -> None:
    assert listed.proposed_secret == ("illness",)
    assert guesses(listed)["illness"].reason == "named like an illness"
    assert listed.proposed_drop == ("patient_id", "code", "notes")
    assert listed.proposed_known == ("admission", "discharge", "age", "sex", "postcode")
    assert guesses(listed)["admission"].levels[-1] in ("quarter", "year")
    assert "by 10" in guesses(listed)["age"].levels


@pytest.mark.usefixtures("without_suggestion")
def test_the_command_it_proposes_is_answered(tmp_path: Path) -> None:
    columns = {"id, old": list(range(200)), "full name": [f"Ann {i}" for i in range(200)], **clinic(200)}
    listed = audit(write_csv(tmp_path / "my people.csv", columns))
    assert listed.written == ".csv"
    told = listed.command.told(COMMAND_LINE)
    assert told == f"tacit audit '{tmp_path}/my people.csv' --secret illness --drop '\"id, old\",full name'"
    words = {"secret": listed.proposed_secret, "drop": listed.proposed_drop}
    assert isinstance(audit(listed.source.name, **words, shuffles=19), AuditResult)


def test_no_value_of_fewer_than_ten_records_is_told(listed: ColumnsResult) -> None:
    columns = people()
    for column in listed.columns:
        for value in column.examples:
            assert sum(str(each) == value for each in columns[column.name]) >= 10
    assert guesses(listed)["patient_id"].examples == ()
    assert guesses(listed)["sex"].examples


def test_a_secret_is_guessed_from_values_only_if_the_reason_says_so() -> None:
    columns = hospital(300)
    columns["x1"] = columns.pop("illness")
    found = audit(pa.table(columns))
    assert guesses(found)["x1"].likely_secret
    assert guesses(found)["x1"].reason == "values like codes of illnesses"
    columns["x1"] = random.Random(0).choices(["red", "green", "blue"], k=300)
    found = audit(pa.table(columns))
    assert found.proposed_secret == ()
    assert "COLUMN" in found.command


@pytest.mark.parametrize(
    ("name", "what"),
    [
        *[("DiagnosisCode", "an illness"), ("Hauptdiagnose", "an illness"), ("maladie_principale", "an illness")],
        *[
            ("diagnóstico", "an illness"),
            ("RACE", "race or origin"),
            ("ethnie", "race or origin"),
            ("raza", "race or origin"),
        ],
        *[("Konfession", "a belief"), ("parti politique", "a belief"), ("sexual_orientation", "sexuality")],
        *[("two_year_recid", "a crime"), ("Nettoeinkommen", "money"), ("salaire", "money"), ("ingresos", "money")],
        *[("age", None), ("ward", None), ("trace", None), ("column_7", None), ("racecar", None)],
    ],
)
def test_secrets_are_known_by_their_names_in_four_languages(name: str, what: str | None) -> None:
    assert secret_in(name) == what


def test_places_names_and_what_neighbours_know_are_known_by_their_names() -> None:
    assert all(map(is_place, ["PLZ", "zip_code", "Postleitzahl", "ville", "Ciudad", "code postal", "HomeCity"]))
    assert all(map(is_identifier, ["id", "Patient ID", "e-mail", "Nachname", "prénom", "teléfono", "IBAN"]))
    assert all(map(is_identifier, ["Collar no", "Case No.", "Aktennummer"]))
    assert not is_identifier("No. of visits")
    assert all(map(is_known_to_neighbours, ["Geburtsdatum", "sexe", "edad", "marital-status", "postcode"]))
    assert not any(map(is_place, ["report", "sport", "wort"]))


@pytest.mark.parametrize(
    ("what", "names"),
    [
        ("a person's name", "Patient name/surname/Nachname/nom/nom de famille/apellido/name/lastName/Name, Vorname"),
        ("an e-mail address", "E-Mail/email/adresse e-mail/correo electrónico/customer e-mail address"),
        ("a phone number", "Telefon/phone number/mobile_number/teléfono/phone 2"),
        ("a person's address", "Adresse/home address/Anschrift"),
        ("a person's number", "Patient-Nr./customer_id/subject_id/Kundennummer/social security number/SSN"),
        (None, "file name/name of product/company_name/email_opened/address city/IP address/number of children"),
        (None, "nombre d'enfants/id/patient/number/first/street/child number/age"),
    ],
)
def test_what_one_person_has_is_known_by_whole_names(what: str | None, names: str) -> None:
    assert {name: personal_in(name) for name in names.split("/")} == dict.fromkeys(names.split("/"), what)


def test_a_name_is_left_out_though_its_values_repeat() -> None:
    names = ["Ann Lee", "Bo Ray", "Cy Fox"] * 40
    found = audit(pa.table({"Patient name": names, "Telefon": [5, 6] * 60, "nom": ["x"] * 120, "file name": names}))
    assert found.proposed_drop == ("Patient name", "Telefon", "nom")
    assert guesses(found)["Patient name"].reason == "named like a person's name"


def test_a_table_alone_is_not_asked_for_more_than_its_columns() -> None:
    with pytest.raises(ArgumentError, match="no secret column was named"):
        audit(pa.table(clinic(100)), epsilon=0.5)
    with pytest.raises(DataError, match="no rows"):
        audit(pa.table({"a": pa.array([], pa.string())}))


def test_odd_tables_are_listed_too() -> None:
    one = audit(pa.table({"only": ["a", "b"] * 30}))
    assert [column.kind for column in one.columns] == ["category"]
    empty = audit(pa.table({"gone": pa.array([None] * 20, pa.string()), "big": [2**60 + i for i in range(20)]}))
    assert [column.kind for column in empty.columns] == ["constant", "category"]
    lists = audit(pa.table({"tags": [["a"], ["b"]] * 10, "a": ["x", "y"] * 10}))
    assert lists.proposed_drop == ("tags",)


def test_the_list_fits_eighty_columns(listed: ColumnsResult, tmp_path: Path) -> None:
    from tacit.report import to_text

    text = to_text(listed, width=80, wording=COMMAND_LINE)
    rest = [line for line in text.splitlines() if not line.startswith("tacit audit ")]  # a command is never broken
    assert max(map(len, rest)) <= 80
    assert len(text.splitlines()) <= 45
    page = listed.write_report(tmp_path / "columns.html").read_text("utf-8")
    assert str(tmp_path.parent) not in page


@pytest.mark.parametrize("write", few(["£{:,.2f}", "{:.2f} €", "CHF {:.2f}", "-${:,.0f}"]))
def test_amounts_written_as_text_are_named_so_and_not_taken_for_identifiers(write: str) -> None:
    columns = {"race": ["a", "b"] * 200, "cost": [write.format(i * 37.11 + 1) for i in range(400)]}
    cost = guesses(audit(pa.table(columns)))["cost"]  # type: ignore[arg-type]
    assert (cost.kind, cost.reason) == ("text", "amounts written as text")


def test_who_leaves_out_amounts_is_told_how_to_keep_them() -> None:
    from tacit.report import to_text

    columns = {"race": ["a", "b"] * 200, "cost": [f"£{i * 37.11 + 1:,.2f}" for i in range(400)]}
    told = " ".join(to_text(audit(pa.table(columns)), width=400, wording=COMMAND_LINE).split())  # type: ignore[arg-type]
    assert "--drop cost" in told
    assert "To keep cost instead, write the amounts as plain numbers, 1216.04 for £1,216.04" in told
    columns["cost"] = [cost.strip("£").replace(",", "") for cost in columns["cost"]]
    kept = to_text(audit(pa.table(columns)), width=400, wording=COMMAND_LINE)  # type: ignore[arg-type]
    assert "To keep" not in kept
    assert "--drop" not in kept


def test_codes_and_phone_numbers_are_no_amounts() -> None:
    columns = {"a": [f"PSD {i:05d}" for i in range(400)], "b": [f"0171 {i:03d} {999 - i:03d}" for i in range(400)]}
    found = guesses(audit(pa.table(columns)))  # type: ignore[arg-type]
    assert [found[name].kind for name in "ab"] == ["identifier", "identifier"]


def test_an_officers_or_payees_name_is_a_persons_name_and_a_products_is_not() -> None:
    assert {personal_in(name) for name in ["Officer name", "payee_name", "Name des Zeugen"]} == {"a person's name"}
    assert personal_in("Product name") is None


def test_people_with_several_rows_are_told_of():
    stays = {
        "patient_id": [i // 2 for i in range(60)],
        "doctor": ["A", "B"] * 30,
        "illness": ["flu", "none", "cold"] * 20,
    }
    told = "patient_id has 30 values in 60 rows"
    assert told in str(audit(pa.table(stays)))
    assert told not in str(audit(pa.table(stays | {"patient_id": list(range(60))})))
