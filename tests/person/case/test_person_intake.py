"""Files as people have them are records: address books, mailboxes, scans, breaches, entities, JSON, facts in rows."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tacit.errors import DataError, TacitError
from tacit.person.case import Case, read_case
from tacit.person.inquiry import read_sources
from tacit.person.sources import RecordPool
from tacit.person.sources.formats import found_format

SECRET = "Zyxwv"
ALICE = {"name": "Alice Archer", "email": ["alice@archer.example", "a.archer@work.example"], "phone": "020 7946 0018"}


def case_of(folder: Path, *sources: dict[str, Any], person: Any = None) -> Case:
    (folder / "case.json").write_text(json.dumps({"person": person or ALICE, "sources": list(sources)}))
    return read_case(folder / "case.json")


def read(folder: Path, name: str, text: str | bytes, person: Any = None, **more: Any) -> RecordPool:
    (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_sources(case_of(folder, {"name": "s", "path": name, **more}, person=person))


def facts(pool: RecordPool) -> list[set[tuple[str, str]]]:
    return [set(record.confidences) for record in pool.numbered(range(pool.n_records))]


# ------------------------------------------------------------------------------------------------------ vCard

OLD_CARD = (
    "BEGIN:VCARD\r\nVERSION:2.1\r\nN;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:M=C3=BCller;J=C3=B6rg;;;\r\n"
    "TEL;CELL:0160 1234567\r\nADR;HOME:;;Hauptstr. 5;Ulm;;89073;DE\r\n"
    "NOTE;ENCODING=QUOTED-PRINTABLE:one=\r\ntwo\r\n"
    "PHOTO;ENCODING=BASE64;TYPE=JPEG:AAAA\r\n BBBB\r\n\r\nEND:VCARD\r\n"
)
NEW_CARD = (
    "BEGIN:VCARD\nVERSION:4.0\nFN:Alice Archer\nN:Archer;Alice;;;\nitem1.EMAIL;TYPE=home:alice@archer.exa\n mple\n"
    'EMAIL;PREF=1:mailto:a.archer@work.example\nTEL;VALUE=uri;TYPE="voice,home":tel:+44-20-7946-0018\n'
    "BDAY:19840312\nORG:Northgate Mills\\, Ltd;Sales\nADR;TYPE=home:;;12 Mill Lane;Ambleford;;AM1 4QX;\nEND:VCARD\n"
)


def test_cards_of_every_version_are_records(tmp_path: Path) -> None:
    assert facts(read(tmp_path, "a.vcf", OLD_CARD + NEW_CARD)) == [
        {("name", "Jörg Müller"), ("phone", "0160 1234567"), ("address", "Hauptstr. 5, Ulm"), ("zip", "89073")},
        {
            ("name", "Alice Archer"),
            ("email", "alice@archer.example"),
            ("email", "a.archer@work.example"),
            ("phone", "+44-20-7946-0018"),
            ("dob", "19840312"),
            ("employer", "Northgate Mills, Ltd"),
            ("address", "12 Mill Lane, Ambleford"),
            ("zip", "AM1 4QX"),
        },
    ]


def test_a_card_is_known_by_its_content_and_one_that_is_cut_off_still_counts(tmp_path: Path) -> None:
    pool = read(tmp_path, "contacts.txt", "BEGIN:VCARD\nFN:Alice Archer\nX-ODD:1")
    assert facts(pool) == [{("name", "Alice Archer")}]
    assert any("left out: X-ODD" in note for note in pool.notes)


def test_fields_are_called_as_the_person_calls_them_or_as_the_map_says(tmp_path: Path) -> None:
    person = {"full name": "Alice Archer", "mail": "alice@archer.example"}
    pool = read(tmp_path, "a.vcf", NEW_CARD, person, map={"ORG": None, "BDAY": "born"})
    labels = {label for label, _ in facts(pool)[0]}
    assert labels == {"full name", "mail", "phone", "born", "address", "zip"}


# ---------------------------------------------------------------------------------------------------- mailbox

MAILS = (
    b"From alice@archer.example Mon Jan  1 00:00:00 2024\nFrom: =?utf-8?q?J=C3=B6rg?= <joerg@x.example>\n"
    b'To: Alice Archer <Alice@archer.example>,\n "Doe, Jane" <jane@x.example>\nSubject: ' + SECRET.encode() + b"\n\n"
    b"From: Mallory <mallory@body.example>\nbody " + SECRET.encode() + b"\n\n"
    b"From joerg@x.example Mon Jan  1 00:00:00 2024\nFrom: joerg@x.example\nCc: Alice <alice@archer.example>\n\nhello\n"
)


def test_a_mailbox_gives_who_wrote_to_whom_and_nothing_of_what(tmp_path: Path) -> None:
    pool = read(tmp_path, "all.mbox", MAILS)
    assert facts(pool) == [
        {("email", "joerg@x.example"), ("name", "Jörg")},
        {("email", "alice@archer.example"), ("name", "Alice Archer"), ("name", "Alice")},
        {("email", "jane@x.example"), ("name", "Doe, Jane")},
    ]


def test_a_message_alone_is_read_up_to_its_body(tmp_path: Path) -> None:
    pool = read(tmp_path, "one.eml", b"From: Alice <alice@archer.example>\r\n\r\nTo: Bob <bob@x.example>\r\n")
    assert facts(pool) == [{("email", "alice@archer.example"), ("name", "Alice")}]


# ----------------------------------------------------------------------------------------------- Google contacts


@pytest.mark.parametrize("first", ["Given Name,Family Name", "First Name,Last Name"])
def test_contacts_of_google_are_read_with_all_their_values(tmp_path: Path, first: str) -> None:
    text = (
        f"{first},Notes,Birthday,E-mail 1 - Type,E-mail 1 - Value,Phone 1 - Value,Address 1 - Formatted,"
        "Address 1 - Street,Address 1 - City,Address 1 - Postal Code\n"
        'Alice,Archer,x,1984-03-12,Home,alice@archer.example ::: a@b.example,1,"12 Mill Lane\nAmbleford AM1 4QX",'
        "12 Mill Lane,Ambleford,AM1 4QX\n"
    )
    assert facts(read(tmp_path, "contacts.csv", text)) == [
        {
            ("name", "Alice Archer"),
            ("dob", "1984-03-12"),
            ("email", "alice@archer.example"),
            ("email", "a@b.example"),
            ("phone", "1"),
            ("address", "12 Mill Lane, Ambleford"),
            ("zip", "AM1 4QX"),
        }
    ]


# ---------------------------------------------------------------------------------------------------- entities

ENTITIES = [
    {"id": "a1", "schema": "Address", "properties": {"full": ["12 Mill Lane, Ambleford"]}},
    {
        "id": "p1",
        "schema": "Person",
        "properties": {"name": ["Alice Archer"], "birthDate": ["1984-03-12"], "addressEntity": ["a1"], "topics": ["x"]},
    },
    {"id": "i1", "schema": "Passport", "properties": {"number": ["P1"], "holder": ["p1"]}},
    {
        "id": "p2",
        "schema": "Person",
        "properties": {
            "firstName": ["Bob"],
            "lastName": ["Smith"],
            "addressEntity": [{"schema": "Address", "properties": {"street": ["1 Road"], "city": ["Town"]}}],
        },
    },
    {"id": "c1", "schema": "Company", "properties": {"name": ["ACME"]}},
]


def test_persons_of_follow_the_money_have_their_papers_and_addresses(tmp_path: Path) -> None:
    pool = read(tmp_path, "entities.ftm.json", "\n".join(map(json.dumps, ENTITIES)))
    assert facts(pool) == [
        {("name", "Alice Archer"), ("dob", "1984-03-12"), ("address", "12 Mill Lane, Ambleford"), ("passport", "P1")},
        {("name", "Bob Smith"), ("address", "1 Road, Town")},
    ]
    assert [pool.name(rid) for rid in range(2)] == ["s p1", "s p2"]
    assert any("left out: topics" in note for note in pool.notes)


# ------------------------------------------------------------------------------------------- SpiderFoot, theHarvester

EVENTS = [
    ("EMAILADDR", "sfp_one", "archer.example", 0, "alice@archer.example"),
    ("HUMAN_NAME", "sfp_pgp", "alice@archer.example", 0, "Alice Archer"),
    ("PHONE_NUMBER", "sfp_pgp", "alice@archer.example", 0, "020 7946 0018"),
    ("HUMAN_NAME", "sfp_pgp", "alice@archer.example", 1, "Wrong Person"),
    ("EMAILADDR_COMPROMISED", "sfp_leak", "x", 0, "alice@archer.example [Adobe]"),
    ("TCP_PORT_OPEN", "sfp_port", "x", 0, "80"),
]
FOUND = [
    {("email", "alice@archer.example")},
    {("email", "alice@archer.example"), ("name", "Alice Archer"), ("phone", "020 7946 0018")},
    {("email", "alice@archer.example")},
]


def test_what_a_module_of_spiderfoot_found_in_one_place_is_a_record(tmp_path: Path) -> None:
    rows = [f"2024-01-01,{kind},{module},{origin},{false},{data}" for kind, module, origin, false, data in EVENTS]
    pool = read(tmp_path, "scan.csv", "\n".join(["Updated,Type,Module,Source,F/P,Data", *rows]))
    assert facts(pool) == FOUND
    assert any("left out: TCP_PORT_OPEN" in note for note in pool.notes)
    keys = ("event_type", "module", "source_data", "false_positive", "data")
    listed = [dict(zip(keys, event, strict=True)) for event in EVENTS]
    assert facts(read(tmp_path, "scan.json", json.dumps(listed))) == FOUND


def test_what_the_harvester_found_is_a_record_each(tmp_path: Path) -> None:
    harvest = {
        "cmd": "x",
        "emails": ["alice@archer.example"],
        "hosts": ["h"],
        "linkedin_people": ["Alice A - CTO - Ox"],
    }
    expected = [{("email", "alice@archer.example")}, {("name", "Alice A"), ("job", "CTO"), ("employer", "Ox")}]
    assert facts(read(tmp_path, "out.json", json.dumps(harvest))) == expected
    text = "<theHarvester><email>alice@archer.example</email><host>h</host></theHarvester>"
    assert facts(read(tmp_path, "out.xml", text)) == expected[:1]


def test_xml_that_declares_entities_is_refused_before_it_unfolds(tmp_path: Path) -> None:
    bomb = '<!DOCTYPE x [<!ENTITY a "aaaa">]><theHarvester><email>&a;@x</email></theHarvester>'
    with pytest.raises(DataError, match="declares entities"):
        read(tmp_path, "out.xml", bomb)


# ----------------------------------------------------------------------------------------------------- breaches


def test_breaches_of_a_domain_are_the_persons_where_the_alias_is(tmp_path: Path) -> None:
    pool = read(tmp_path, "domain.json", json.dumps({"alice": ["Adobe"], "bob": ["Adobe", "Gawker"]}))
    assert facts(pool) == [{("email", "alice@archer.example")}]
    assert any("not what was in them" in note for note in pool.notes)
    assert any("2 breaches of other accounts" in note for note in pool.notes)


def test_breaches_of_a_domain_with_what_was_in_them_say_it(tmp_path: Path) -> None:
    breach = {"Name": "Adobe", "DataClasses": ["Email addresses", "Phone numbers"], "IsVerified": True}
    results = [
        {"Alias": "Alice", "DomainName": "archer.example", "Breaches": [breach]},
        {"Alias": "bob", "DomainName": "archer.example", "Breaches": [breach]},
    ]
    pool = read(tmp_path, "export.json", json.dumps({"BreachSearchResults": results, "PasteSearchResults": []}))
    assert facts(pool) == [
        {("email", "alice@archer.example"), ("phone", "020 7946 0018")},
        {("email", "bob@archer.example")},
    ]


def test_breaches_of_an_account_need_no_word_in_the_case(tmp_path: Path) -> None:
    pool = read(tmp_path, "b.json", json.dumps([{"Name": "Adobe", "DataClasses": ["Names"]}]))
    assert facts(pool) == [{("name", "Alice Archer")}]


# --------------------------------------------------------------------------------------------------- JSON, long


def test_json_is_a_table_whose_nested_parts_are_columns(tmp_path: Path) -> None:
    rows = [
        {"name": {"first": "Alice", "last": "Archer"}, "emails": [{"value": "a@x"}, {"value": "b@x"}], "age": 30.0},
        {"name": {"first": "Bob"}, "vip": True, "none": None},
    ]
    expected = [
        {("name", "Alice Archer"), ("email", "a@x"), ("email", "b@x"), ("age", "30")},
        {("name", "Bob"), ("vip", "true")},
    ]
    assert facts(read(tmp_path, "a.json", json.dumps(rows))) == expected
    assert facts(read(tmp_path, "b.json", json.dumps({"people": rows}))) == expected
    export = {"export": {"at": "2026-11-12"}, "people": rows, "deleted": [], "orders": [{"sku": "1"}]}
    assert facts(read(tmp_path, "e.json", json.dumps(export))) == expected
    assert facts(read(tmp_path, "c.json", "\n".join(map(json.dumps, rows)))) == expected
    assert facts(read(tmp_path, "d.json", json.dumps(rows[0]))) == expected[:1]


LONG = "record,label,value,confidence\n1,name,Alice Archer,0.5\n2,name,Bob,\n1,dob,21/04/1936,1\n2,dob,03/04/1936,1\n"


def test_facts_in_rows_are_put_to_their_records(tmp_path: Path) -> None:
    pool = read(
        tmp_path, "long.csv", LONG + "2,phone,N/A,1\n2,shoe,44,1\n", column_confidence={"dob": 0.5}, map={"shoe": None}
    )
    held = [dict(record.confidences) for record in pool.numbered(range(pool.n_records))]
    assert held == [
        {("name", "Alice Archer"): 0.5, ("dob", "1936-04-21"): 0.5},
        {("name", "Bob"): 1.0, ("dob", "1936-04-03"): 0.5},
    ]
    assert [pool.name(rid) for rid in range(2)] == ["s 1", "s 2"]
    assert any("1 row has no 'confidence'" in note for note in pool.notes)


def test_facts_without_a_record_are_all_of_one_and_a_note_says_so(tmp_path: Path) -> None:
    pool = read(tmp_path, "long.csv", "label,value\nname,Alice Archer\nphone,1\n")
    assert facts(pool) == [{("name", "Alice Archer"), ("phone", "1")}]
    assert any("taken to be one person's" in note for note in pool.notes)


def test_a_table_with_more_columns_is_no_list_of_facts_unless_the_case_says_so(tmp_path: Path) -> None:
    text = "label,value,who\nname,Alice Archer,7\n"
    assert facts(read(tmp_path, "t.csv", text)) == [{("label", "name"), ("value", "Alice Archer"), ("who", "7")}]
    pool = read(tmp_path, "t.csv", text, format="long", id="who")
    assert facts(pool) == [{("name", "Alice Archer")}]
    assert pool.name(0) == "s 7"


# ------------------------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("name", "format_", "text", "reason"),
    [
        ("a.vcf", "vcard", SECRET, "no record of vCards"),
        ("a.vcf", "vcard", b"BEGIN:VCARD\nFN:\xc3\xa9" + SECRET.encode() + b"\xff\n", "save the vCard as UTF-8"),
        ("a.mbox", "mailbox", f"From x\nSubject: {SECRET}\n\n{SECRET}", "no record of message headers"),
        ("a.csv", "contacts", f"name\n{SECRET}\n", "no record of Google contacts"),
        ("a.jsonl", "ftm", f'{{"schema": "{SECRET}"}}\n', "line 1: not an entity"),
        ("a.jsonl", "entities", f'{{"schema": "Person", "properties": {{"{SECRET}": ', "line 1: not an entity"),
        ("a.json", "spiderfoot", f'["{SECRET}"]', "event 1: not a list of events"),
        ("a.json", "theharvester", f'["{SECRET}"]', "is not what theHarvester writes"),
        ("a.xml", "harvester", f"<a>{SECRET}", "is not XML, or damaged"),
        ("a.json", "json", f'["{SECRET}"]', "is not JSON: a list of objects"),
        ("a.json", "json", '{"a":' * 60 + f'"{SECRET}"' + "}" * 60, "nests too deeply"),
        ("a.json", "json", '{"a":' * 90_000 + "1" + "}" * 90_000, "nests too deeply"),
        ("a.csv", "long", f"who\n{SECRET}\n", "no columns 'label' and 'value'"),
        ("a.csv", "long", f"label,value,score\nname,A,1\nname,B,{SECRET}\n", "row 2: 'score' is not a confidence"),
        ("a.csv", "long", "label,value,score\nname,A,1\nname,B,2\n", "row 2: 'score' is not a confidence"),
    ],
)
def test_a_file_that_is_something_else_is_named_with_the_way_out(
    tmp_path: Path, name: str, format_: str, text: str | bytes, reason: str
) -> None:
    with pytest.raises(TacitError) as raised:
        read(tmp_path, name, text, format=format_)
    assert reason in str(raised.value)
    assert name in str(raised.value)
    assert SECRET not in str(raised.value)


def test_columns_of_a_file_that_has_none_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.vcf").write_text(NEW_CARD)
    for more in ({"id": "x"}, {"confidence": {"column": "x"}}, {"join": {"name": ["a", "b"]}}):
        with pytest.raises(DataError, match="leave out"):
            case_of(tmp_path, {"name": "s", "path": "a.vcf", **more})


def test_a_pipe_is_never_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.vcf")
    assert found_format(tmp_path / "a.vcf") == "table"
