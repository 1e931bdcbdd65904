"""What a new user gets wrong, or reads first: messages in Python, notes about a case, headlines and advice."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tacit import (
    Record,
    Reference,
    person_audit,
    person_dip,
    person_init,
    person_release,
    person_remove,
    person_verify_next,
    record_leakage,
)
from tacit.errors import ArgumentError, DataError
from tacit.person import Adversary, Label, Labels, Resolve, Rules, WhatIf, ladder, plan_decoys, plan_removals
from tacit.person.case import read_case
from tacit.person.inquiry import read_sources
from tacit.report import to_text

ANA = Reference([("name", "Ana"), ("phone", "1"), ("card", "9")])
HELD = [Record([("name", "Ana"), ("phone", "1")], source="shop"), Record([("phone", "1"), ("card", "9", 0.8)])]
JOINS = Adversary("joins", [Resolve(Rules([["phone"]]))])


def wrong(value: Any) -> Any:
    """A value of another type than is asked for, past the type checker."""
    return value


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: Record(wrong({"name": "Ana"})), "the record is a mapping: give a list of (label, value, confidence)"),
        (lambda: Record("name"), "the record is text"),
        (lambda: Record(["name"]), "attribute 1 of the record is text"),
        (lambda: Reference(wrong({"name": "Ana"})), "the reference is a mapping: give a list of (label, value);"),
        (lambda: record_leakage(wrong(ANA), wrong(HELD[0])), "takes a Record and then a Reference"),
        (lambda: record_leakage(HELD[0], ANA, wrong(Labels())), "give labels=..."),
        (lambda: ladder(HELD, ANA, wrong(JOINS)), "put [ ] around a single one"),
        (lambda: ladder(wrong(HELD[0]), ANA, [JOINS]), "put [ ] around a single one"),
        (lambda: Adversary("a", wrong(Resolve(Rules([["phone"]])))), "put [ ] around a single step"),
        (lambda: Label(normalise=wrong("email")), "such as normaliser('email')"),
        (lambda: Label(similarity=wrong("jaro_winkler")), "such as similarity('jaro_winkler')"),
        (lambda: Labels(wrong({"card": 4})), "label 'card' is not a Label"),
        (lambda: plan_decoys(HELD, ANA, wrong(JOINS), budget=3, allowed=["phone"]), "adversaries is a single one"),
        (
            lambda: plan_decoys(HELD, ANA, [JOINS], budget=3, allowed="phone"),
            "'allowed' is text: list in",
        ),
        (lambda: plan_removals(HELD, ANA, JOINS, offers=wrong({"shop": 5})), "the offer of 'shop' is not an Offer"),
    ],
)
def test_a_mistake_in_python_is_told_with_the_way_out(call: Callable[[], object], said: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        call()
    assert said in str(caught.value)
    assert "Ana" not in str(caught.value)


def test_reprs_say_what_is_there_and_no_value() -> None:
    assert repr(HELD[1]) == "Record(phone, card with 0.8)"
    assert repr(Labels({"card": Label(weight=4), "zip": Label()})) == "Labels(card 4, zip 1)"
    assert repr(WhatIf(HELD, ANA, JOINS)) == "WhatIf(2 records)"


CASE = """
person: {name: Ana Ames, email: ana@x.example, phone: "1", dob: 1984-03-12, card: "9"}
labels: {dob: {single: true, normalise: date}, email: {normalise: email}}
sources:
  - {name: shop, path: shop.csv, confidence: 0.9}
  - {name: gym, path: gym.csv, remove: {cost: 1}}
adversaries:
  - {name: joins, steps: [normalise, {resolve: {rules: [[email], [phone], [name, dob]]}}], merge: consensus}
releases:
  - name: club
    options:
      - {name: mail, attributes: {email: ana@x.example}}
      - {name: nothing}
queries:
  - {name: stranger, attributes: {name: Ana Ames}}
verify: {budget: 9}
"""


@pytest.fixture
def case(tmp_path: Path) -> Path:
    (tmp_path / "shop.csv").write_text("name,email,phone,dob,card\nAna Ames,ana@x.example,1,1984-03-12,\n")
    (tmp_path / "gym.csv").write_text("name,phone,dob,card,email\nAna Ames,1,12.03.1984,9,\nA Ames,1,,,\n")
    file = tmp_path / "case.yaml"
    file.write_text(CASE)
    return file


def changed(case: Path, old: str, new: str) -> Path:
    text = case.read_text()
    assert old in text
    case.write_text(text.replace(old, new, 1))
    return case


def test_a_label_of_the_person_that_is_nearly_one_of_the_records_is_noted(case: Path) -> None:
    assert not person_audit(case).notes
    notes = person_audit(changed(case, "phone: ", "phonne: ")).notes
    assert any("the person has 'phonne', which no record has, and records have 'phone'" in note for note in notes)


def test_a_rule_that_can_join_nothing_is_noted(case: Path) -> None:
    # The column is there, and empty.
    for name in ("shop.csv", "gym.csv"):
        file = case.parent / name
        file.write_text(file.read_text().replace("ana@x.example", ""))
    notes = person_audit(case).notes
    assert "adversary 'joins': the rule email joins nothing, as no record has email" in notes


def test_nobody_is_advised_to_use_another_date_of_birth(case: Path) -> None:
    changed(case, "merge: consensus", "merge: consensus, keep_base: false")
    changed(case, "[[email], [phone], [name, dob]]", "[[name, dob], [phone]]")
    told = [action.what for action in person_audit(case).actions if action.kind == "change"]
    assert any(what.startswith("use another phone") for what in told)
    assert not any(what.startswith("use another dob") for what in told)
    assert any(what.startswith("stop giving out dob 1") for what in told)


def test_what_cannot_be_compared_for_how_it_is_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "all.csv").write_text(
        "name,dob,email\nAna Ames,sometime in spring,a@x.example\nשרה כהן,1984,b@x.example\n"
        "Ana Ames,12.03.1984,c@x.example\n"
    )
    case = tmp_path / "case.yaml"
    case.write_text(
        "person: {name: Ana Ames, dob: 1984-03-12, email: a@x.example}\nsources: [{name: all, path: all.csv}]\n"
    )
    notes = person_audit(case).notes
    assert "1 value of 'dob' is in no form of a day that is read, and counts as wrong" in notes
    assert any(note.startswith("1 value of 'name' is in other letters (Arabic, Chinese, Hebrew") for note in notes)
    case.write_text(case.read_text().replace("name: Ana Ames", "name: [Ana Ames, שרה כהן]"))
    assert not any("other letters" in note for note in person_audit(case).notes)


def test_nobody_is_told_to_ask_themselves_or_to_change_what_is_theirs_for_life(tmp_path: Path) -> None:
    card = "BEGIN:VCARD\nVERSION:3.0\nFN:{}\nEMAIL:ana@x.example\nTEL:{}\nEND:VCARD\n"
    (tmp_path / "book.vcf").write_text(card.format("Ana Ames", "020 7946 0018"))
    (tmp_path / "shop.csv").write_text("name,email,ssn\nAna Ames,ana@x.example,\nAna Ames,,078-05-1120\n")
    case = tmp_path / "case.yaml"
    person = "person: {name: Ana Ames, email: ana@x.example, phone: 020 7946 0018, ssn: 078-05-1120}\n"
    case.write_text(f"{person}sources: [{{name: book, path: book.vcf}}]\n")
    alone = person_remove(case)
    assert not alone.steps
    assert "'book', your own, can only be cleared by you" in alone.headline
    assert "Ask" not in alone.headline
    case.write_text(f"{person}sources: [{{name: book, path: book.vcf}}, {{name: shop, path: shop.csv}}]\n")
    assert [step.source for step in person_remove(case).steps] == ["shop"]
    said = [action.what for action in person_audit(case).actions]
    assert any("delete the person's entries in 'book'" in what for what in said)
    assert not any(what.startswith(("use another name", "use another ssn")) for what in said)
    case.write_text(f"{person}sources: [{{name: book, path: book.vcf, remove: {{cost: 1}}}}]\n")
    assert [step.source for step in person_remove(case).steps] == ["book"]


def test_choices_that_leak_alike_are_said_to_leak_alike(case: Path) -> None:
    changed(case, "{email: ana@x.example}}", "{email: other@x.example}}")
    headline = person_release(case).headline
    assert headline.startswith("No choice leaks less than another: the leakage under 'joins' stays at")
    assert "'nothing' for 'club' gives out least" in headline


def test_the_query_is_no_record_that_it_brings_up(case: Path) -> None:
    found = person_dip(case)
    assert found.headline.startswith("No adversary joins a record to what the query says")
    shown = next(line for line in str(found).splitlines() if line.startswith("stranger"))
    assert shown.split()[-1] == "0"


def test_what_is_verified_names_a_record_once(case: Path) -> None:
    changed(case, "path: gym.csv", "path: gym.csv, confidence: 0.7")
    changed(case.with_name("gym.csv"), "\nA Ames", "\nAnnie Ames")
    headline = person_verify_next(case).headline
    assert headline.count("the merged record") == 1
    assert "name (2 values)" in headline


def test_a_first_and_a_last_name_make_one_name(case: Path) -> None:
    (case.parent / "gym.csv").write_text("first,last,born\nAna, Ames ,12.03.1984\nA,,\n,,1990-01-01\n")
    source = "path: gym.csv, map: {born: dob}, join: {name: [first, last]}"
    records = read_sources(read_case(changed(case, "path: gym.csv", source))).numbered([1, 2, 3])
    assert [[(a.label, a.value) for a in sorted(record)] for record in records] == [
        [("dob", "12.03.1984"), ("name", "Ana Ames")],
        [("name", "A")],
        [("dob", "1990-01-01")],
    ]


@pytest.mark.parametrize(
    ("join", "said"),
    [
        ("{name: [fist, last]}", "no column 'fist' in source 'gym'; did you mean 'first'?"),
        ("[first, last]", "'join' of source 'gym' is a list where a mapping (key: value) is needed"),
        ("{name: [first, last]}, features: true", "is not a table, and has no columns to join"),
    ],
)
def test_a_wrong_join_is_told_with_its_line(case: Path, join: str, said: str) -> None:
    (case.parent / "gym.csv").write_text("first,last\nAna,Ames\n")
    with pytest.raises(DataError) as caught:
        read_case(changed(case, "path: gym.csv", f"path: gym.csv, join: {join}"))
    assert any("line 6" in line and said in line for line in str(caught.value).splitlines())


@pytest.fixture
def shop_and_bank(tmp_path: Path) -> Path:
    (tmp_path / "shop.csv").write_text("name,email,phone\nAlice Archer,alice@archer.example,020 7946 0018\n")
    (tmp_path / "bank.csv").write_text("name,iban,mail\nA. Acher,GB82WEST12345698765432,alice@archer.example\n")
    (tmp_path / "case.yaml").write_text(
        "person: {name: Alice Archer, email: alice@archer.example, phone: 020 7946 0018, account: "
        "GB82WEST12345698765432}\nsources: [{name: shop, path: shop.csv}, {name: bank, path: bank.csv}]\n"
    )
    return tmp_path / "case.yaml"


def test_a_source_that_alone_has_a_fact_is_not_told_to_add_nothing(shop_and_bank: Path) -> None:
    shares = {one.source: one.only_there for one in person_audit(shop_and_bank).source_shares}
    assert shares["bank"] == pytest.approx(0.25)
    assert shares["shop"] > 0.25  # the telephone, and the name as it is
    again = person_remove(shop_and_bank).source_shares
    assert {one.source: one.only_there for one in again} == shares


def test_a_search_for_a_name_that_records_hold_is_not_told_to_find_nothing(shop_and_bank: Path) -> None:
    found = person_dip(shop_and_bank, query=Record([("name", "Alice Archer")], name="a neighbour"))
    assert "whoever searches for it sees them" in found.headline
    assert any(note.startswith("query 'a neighbour': ") for note in found.notes)
    nobody = person_dip(shop_and_bank, query=Record([("name", "Zoe Quist")], name="a stranger"))
    assert nobody.headline.startswith("No query brings up any record")


def test_a_query_that_says_everything_still_brings_up_records(shop_and_bank: Path) -> None:
    everything = list(read_case(shop_and_bank).person or ())
    found = person_dip(shop_and_bank, query=Record(everything, name="the person"))
    alone, *others = found.dips
    assert (alone.recall, len(alone.finding.members)) == (1, 1)
    assert any(len(one.finding.members) > 1 for one in others)
    assert found.headline.startswith("Starting from 'the person'")


def test_requests_that_are_taken_to_succeed_are_not_told_to_fail(shop_and_bank: Path) -> None:
    said = person_remove(shop_and_bank).as_text(full=True)
    assert "every request succeeds" in said
    assert "some requests fail" not in said


BOOK = "BEGIN:VCARD\nVERSION:3.0\nFN:Jana Weißhaupt\nTEL:0221/5550147\nEND:VCARD\n"
OFFICE = "kundenverwaltung_ausgelagert_stand_november_2026"


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The case of an officer: exports in several languages and encodings, an address book, an address spelled twice."""
    folder = tmp_path_factory.mktemp("office")
    kunden = "Vorname;Nachname;Straße;PLZ;Telefon\nJana;Weißhaupt;Lindenallee 14;50931;0221 5550147\nKai;Dose;;;\n"
    (folder / f"{OFFICE}.csv").write_text(kunden, encoding="cp1252")
    clients = "Nom;Prénom;Adresse;Téléphone portable\nWEISSHAUPT;Jana;Lindenallee 14, Cologne;+49 221 5550147\n"
    (folder / "clients.csv").write_text(clients, encoding="utf-16")
    (folder / "book.vcf").write_text(BOOK)
    *_, case = person_init(folder / "case", source=folder)
    person = (
        "person:\n  name: Jana Weißhaupt\n  phone: +49 221 5550147\n  zip: '50931'\n"
        "  address: [Lindenallee 14, 'Lindenallee 14, Cologne', Linden-Allee 14]\n"
    )
    text = Path(case).read_text().replace("person:\n", person, 1).replace("# country: GB", "country: DE")
    Path(case).write_text(text)
    return Path(case)


def test_an_officer_gets_one_answer_from_every_command(office: Path, tmp_path: Path) -> None:
    audit = person_audit(office)
    assert any(f"'{OFFICE}' is not UTF-8 and was read as Windows-1252" in note for note in audit.notes)
    assert any("3 are 1, written in several ways" in note for note in audit.notes)
    top = next(rung for rung in audit.rungs if rung.adversary == audit.strongest)
    assert (top.best_recall, top.best_precision, audit.strongest) == (pytest.approx(1), pytest.approx(1), "E3")
    assert "knows 100% of what matters" in audit.headline
    removing = person_remove(office, letters=tmp_path / "letters")
    assert (removing.adversary, removing.before) == (audit.strongest, pytest.approx(top.leakage))
    alone = {share.source: share.leakage_without for share in audit.source_shares}
    assert {share.source: share.leakage_without for share in removing.source_shares} == pytest.approx(alone)
    for action in (action for action in audit.actions if action.kind == "remove"):
        assert action.after in [pytest.approx(value) for value in alone.values()]
    assert not any("book" in Path(letter).name for letter in removing.letters)
    assert "book" not in [step.source for step in removing.steps]
    assert "'book'" not in removing.headline
    assert any("'book' is taken to be your own" in note and "nobody to ask" in note for note in removing.notes)
    dipping = person_dip(office, query=Record([("phone", "0221 5550147"), ("name", "Jana Weißhaupt")], name="q"))
    assert "E3 knows 100% of what matters" in dipping.headline
    cells = to_text(audit, width=80).partition("What each source adds")[2]
    assert OFFICE[:20] in cells
    assert "…" not in cells
