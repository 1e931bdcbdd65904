"""A folder of files is a case: what each file was taken for is told, and only the person is left to fill in."""

from __future__ import annotations

import json
import os
import re
import stat
from pathlib import Path

import pytest
from click.testing import CliRunner

from excel_files import Cell, write_workbook
from tacit.cli.commands import tacit as command
from tacit.errors import ArgumentError, DataError, SourceError
from tacit.person import person_audit, person_init
from tacit.person.case.proposing import proposed

CARD = "BEGIN:VCARD\nVERSION:3.0\nFN:Alice Archer\nEMAIL:alice@archer.example\nTEL:020 7946 0018\nEND:VCARD\n"
SHOP = "customer_id,First Name,Surname,tel,since,cc\n1,Alice,Archer,020 7946 0018,2020,4000 0012 3456 7899\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "files"
    (place / "Takeout" / "Contacts").mkdir(parents=True)
    (place / "Takeout" / "Contacts" / "shop.vcf").write_text(CARD)
    (place / "shop.csv").write_text(SHOP)
    (place / "counts.csv").write_text("a,b\n1,2\n")
    (place / "damaged.json").write_text("{")
    (place / "notes.docx").write_bytes(b"PK")
    (place / ".hidden.csv").write_text(SHOP)
    (place / "link.csv").symlink_to(place / "shop.csv")
    return place


def filled_in(case: Path) -> None:
    said = {
        "name": "Alice Archer",
        "email": "alice@archer.example",
        "phone": "020 7946 0018",
        "card": '"4000 0012 3456 7899"',
    }
    text = case.read_text("utf-8")
    for label, value in said.items():
        text, found = re.subn(rf"(?m)^  # {label}:    # in.*$", f"  {label}: {value}", text)
        assert found == 1, label
    case.write_text(text, "utf-8")


def test_the_parts_of_a_name_that_is_there_do_not_count_again(tmp_path: Path) -> None:
    profile = {"name": {"fullName": "Alice Archer", "givenName": "Alice", "familyName": "Archer"}, "birthday": "1979"}
    (tmp_path / "Profile.json").write_text(json.dumps(profile))
    (source,) = proposed(tmp_path).sources
    assert source.labels == ("name", "dob")
    assert source.left_out == ("name.givenName", "name.familyName")


def test_nobody_is_asked_for_a_password_that_no_file_holds(folder: Path, tmp_path: Path) -> None:
    breach = {"Name": "Adobe", "DataClasses": ["Email addresses", "Passwords"], "IsVerified": True}
    (folder / "breaches.json").write_text(json.dumps([breach]))
    (case,) = person_init(tmp_path / "mine", source=folder)
    (line,) = (line for line in case.read_text("utf-8").splitlines() if line.startswith("  # password:  "))
    assert line.endswith("# in breaches, without its values: any word will do, such as known")
    filled_in(case)
    (before,) = (note for note in person_audit(case).notes if "any word in the case counts one" in note)
    assert before.endswith(": password")
    case.write_text(case.read_text("utf-8").replace(line, "  password: known"), "utf-8")
    assert not any("any word in the case" in note for note in person_audit(case).notes)


def test_a_folder_is_a_case_as_soon_as_the_person_is_filled_in(folder: Path, tmp_path: Path) -> None:
    (case,) = person_init(tmp_path / "mine", source=folder)
    assert stat.S_IMODE(case.stat().st_mode) == 0o600
    with pytest.raises(DataError, match="has no 'person'"):
        person_audit(case)
    filled_in(case)
    found = person_audit(case)
    assert [source.name for source in found.sources] == ["shop", "shop.vcf"]
    assert found.leakage == pytest.approx(1.0)
    assert not any("count as wrong" in note for note in found.notes)


def test_it_is_told_what_was_taken_for_what_and_what_was_left_out(folder: Path) -> None:
    said = "\n".join(proposed(folder).told())
    assert "shop.csv: a table: tel as phone, cc as card, First Name + Surname as name; left out: since" in said
    assert "Takeout/Contacts/shop.vcf: vCards: email, name, phone" in said
    assert "counts.csv: left out: no column has a name that suggests a person" in said
    assert "damaged.json: left out: line 1: not JSON" in said
    assert "notes.docx: left out: not a format that Tacit reads" in said
    assert "link.csv: left out: it is a link" in said
    assert ".hidden" not in said
    assert "Alice" not in said


def test_the_command_tells_it_and_what_comes_next(folder: Path, tmp_path: Path) -> None:
    done = CliRunner().invoke(
        command, ["person", "init", "--from", str(folder), str(tmp_path / "mine")], standalone_mode=False
    )
    assert "tel as phone" in done.output
    assert done.output.rstrip().endswith(f"tacit person audit {tmp_path / 'mine' / 'case.yaml'}")


def test_a_case_that_is_there_is_never_overwritten(folder: Path) -> None:
    person_init(folder, source=folder)
    before = (folder / "case.yaml").read_bytes()
    with pytest.raises(ArgumentError, match="already exists"):
        person_init(folder, source=folder)
    assert (folder / "case.yaml").read_bytes() == before
    filled_in(folder / "case.yaml")
    assert person_audit(folder / "case.yaml").leakage == pytest.approx(1.0)


def test_a_folder_without_records_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="holds no file that Tacit reads"):
        proposed(tmp_path)
    with pytest.raises(SourceError, match="is not a folder"):
        proposed(tmp_path / "nowhere")


def test_odd_names_of_files_and_columns_stay_what_they_are(tmp_path: Path) -> None:
    (tmp_path / "no: 'a' #1.csv").write_text('"yes, # no: {name}",e-mail address\n1,alice@archer.example\n')
    os.mkfifo(tmp_path / "pipe.csv")
    (case,) = person_init(tmp_path / "mine", source=tmp_path)
    text = re.sub(r"(?m)^  # email:    # in.*$", "  email: alice@archer.example", case.read_text("utf-8"))
    case.write_text(text, "utf-8")
    assert person_audit(case).leakage == pytest.approx(1.0)


def test_every_sheet_of_a_workbook_is_a_source(tmp_path: Path) -> None:
    people: list[list[Cell]] = [["CustID", "Name", "E-Mail"], [7, "Alice Archer", "alice@archer.example"]]
    sheets = {"Accounts": people, "Read me": [["Version"], [4]], "Leads": people}
    write_workbook(tmp_path / "crm.xlsx", sheets)
    said = "\n".join(proposed(tmp_path).told())
    assert "crm.xlsx::Read me: left out: no column has a name that suggests a person" in said
    (case,) = person_init(tmp_path / "mine", source=tmp_path)
    assert "    id: CustID\n" in case.read_text("utf-8")
    text = re.sub(r"(?m)^  # email:    # in.*$", "  email: alice@archer.example", case.read_text("utf-8"))
    case.write_text(text, "utf-8")
    assert [source.name for source in person_audit(case).sources] == ["crm Accounts", "crm Leads"]


def test_a_source_is_not_called_by_the_mailbox_that_its_file_is_called_after(tmp_path: Path) -> None:
    (tmp_path / "hibp_alice@archer.example.csv").write_text("name,email\nAlice Archer,alice@archer.example\n")
    (tmp_path / "alice@archer.example.csv").write_text("name,email\nAlice Archer,alice@archer.example\n")
    assert [source.name for source in proposed(tmp_path).sources] == ["file (1)", "hibp"]


def test_a_dump_with_colons_is_a_table(tmp_path: Path) -> None:
    (tmp_path / "dump.txt").write_text("email:password:name\na@x.example:Hunter2:Alice Archer\n")
    (source,) = proposed(tmp_path).sources
    assert source.labels == ("email", "password", "name")
