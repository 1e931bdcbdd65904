"""Values as real records write them: each is read as what it means, or is told to be near it; none is nothing."""

from __future__ import annotations

from pathlib import Path

import phonenumbers
import pytest

import tacit
from sizes import few
from tacit.person.model import Label, Record, Reference, normaliser, similarity
from tacit.person.model.comparing import compare
from tacit.person.model.forms import says_nothing
from tacit.person.model.labels import Labels

# The kind of value, the country of the case, how a record writes it, the truth, and whether it is the very same.
SAME, NEAR, OTHER = "correct", "near", "wrong"
FORMATS = [
    # Names: order, titles, capitals, marks, scripts.
    ("name", None, "Archer, Alice", "Alice Archer", SAME),
    ("name", None, "ARCHER, ALICE", "Alice Archer", SAME),
    ("name", None, "  alice   archer ", "Alice Archer", SAME),
    ("name", None, "Dr. Alice Archer", "Alice Archer", SAME),
    ("name", None, "Mrs Alice Archer", "Alice Archer", SAME),
    ("name", None, "Alice Archer, PhD", "Alice Archer", SAME),
    ("name", None, "Prof. Dr. Archer, Alice", "Alice Archer", SAME),
    ("name", None, "Mw. dr. Alice Archer", "Alice Archer", SAME),
    ("name", None, "Dhr. A. Archer", "A. Archer", SAME),
    ("name", None, "Herr Jürgen Müller", "Juergen Mueller", SAME),
    ("name", None, "JURGEN MULLER", "Jürgen Müller", NEAR),
    ("name", None, "Mu\u0308ller, Jürgen", "Jürgen Müller", SAME),
    ("name", None, "Joel Archer", "Jol Archer", NEAR),
    ("name", None, "María García-López", "Maria Garcia", NEAR),
    ("name", None, "Maria Garcia", "María García López", NEAR),
    ("name", None, "Anna Schmidt-Weber", "Anna Weber", NEAR),
    ("name", None, "Сидоров Иван Петрович", "Ivan Petrovich Sidorov", NEAR),
    ("name", None, "Сидоров, Иван Петрович", "Ivan Petrovich Sidorov", SAME),
    ("name", None, "Sidorov I. P.", "Ivan Petrovich Sidorov", NEAR),
    ("name", None, "Ivan Sidorov", "Ivan Petrovich Sidorov", NEAR),
    ("name", None, "张伟", "张伟", SAME),
    ("name", None, "张 伟", "张伟", SAME),
    ("name", None, "章伟", "张伟", NEAR),
    ("name", None, "Zhang Wei", "张伟", NEAR),
    ("name", None, "王芳", "张伟", OTHER),
    ("name", None, "García Márquez, Gabriel", "Gabriel Garcia Marquez", SAME),
    ("name", None, "Łukasz Wójcik", "Lukasz Wojcik", SAME),
    ("name", None, "Søren Kierkegaard", "Soeren Kierkegaard", SAME),
    ("name", None, "Анна Петрова", "Anna Petrova", SAME),
    ("name", None, "Seán O'Neill", "Sean ONeill", SAME),
    ("name", None, "Anne-Marie Dupont", "Anne Marie Dupont", SAME),
    ("name", None, "van der Berg, Jan", "Jan van der Berg", SAME),
    ("name", None, "José da Silva Jr.", "Jose da Silva", NEAR),
    ("name", None, "John Smith Sr.", "John Smith Jr.", OTHER),
    ("name", None, "Don Johnson", "Don Johnson", SAME),
    ("name", None, "Don Johnson", "Bob Johnson", OTHER),
    ("name", None, "Jack Ma", "Jack", NEAR),
    ("name", None, "Ma, Jack", "Jack", NEAR),
    ("name", None, "Archer Alice", "Alice Archer", NEAR),
    ("name", None, "Bob Archer", "Robert Archer", NEAR),
    ("name", None, "Liz Archer", "Elizabeth Archer", NEAR),
    ("name", None, "A. Archer", "Alice Archer", NEAR),
    ("name", None, "Alice M. Archer", "Alice Archer", NEAR),
    ("name", None, "Alice Acher", "Alice Archer", NEAR),
    ("name", None, "Juan Delacruz", "Juan de la Cruz", NEAR),
    ("name", None, "Alice", "Alice Archer", NEAR),
    ("name", None, "Alice Baker", "Alice Archer", OTHER),
    ("name", None, "Peter Archer", "Alice Archer", OTHER),
    # Days: every usual form, in some languages.
    ("date", None, "1936-04-21", "1936-04-21", SAME),
    ("date", None, "19360421", "1936-04-21", SAME),
    ("date", None, "1936/4/21", "1936-04-21", SAME),
    ("date", None, "1936.04.21", "1936-04-21", SAME),
    ("date", None, "21-APR-1936", "1936-04-21", SAME),
    ("date", None, "21 April 1936", "1936-04-21", SAME),
    ("date", None, "21. April 1936", "1936-04-21", SAME),
    ("date", None, "21.4.1936", "1936-04-21", SAME),
    ("date", None, "21.04.36", "1936-04-21", SAME),
    ("date", None, "April 21, 1936", "1936-04-21", SAME),
    ("date", None, "April 21st, 1936", "1936-04-21", SAME),
    ("date", None, "21st of April 1936", "1936-04-21", SAME),
    ("date", None, "Apr 21 1936", "1936-04-21", SAME),
    ("date", None, "Tuesday, 21 April 1936", "1936-04-21", SAME),
    ("date", None, "21 avril 1936", "1936-04-21", SAME),
    ("date", None, "1er mai 1936", "1936-05-01", SAME),
    ("date", None, "21 de abril de 1936", "1936-04-21", SAME),
    ("date", None, "3. März 1984", "1984-03-03", SAME),
    ("date", None, "21 kwietnia 1936", "1936-04-21", SAME),
    ("date", None, "1936年4月21日", "1936-04-21", SAME),
    ("date", None, "1936-04-21T00:00:00Z", "1936-04-21", SAME),
    ("date", None, "1936-04-21 00:00:00", "1936-04-21", SAME),
    ("date", None, "04/21/1936", "1936-04-21", SAME),
    ("date", None, "21/04/1936", "1936-04-21", SAME),
    ("date", None, "21/4/36", "1936-04-21", SAME),
    ("date", None, "12-Mar-84", "1984-03-12", SAME),
    ("date", None, "12/03/1984", "1984-03-12", NEAR),
    ("date", None, "1984-12-03", "1984-03-12", NEAR),
    ("date", None, "1984-03-13", "1984-03-12", NEAR),
    ("date", None, "1884-03-12", "1984-03-12", NEAR),
    ("date", None, "1984", "1984-03-12", NEAR),
    ("date", None, "1984-03", "1984-03-12", NEAR),
    ("date", None, "March 1984", "1984-03-12", NEAR),
    ("date", None, "12. 3. 1984", "1984-03-12", SAME),
    ("date", None, "(12.03.1984)", "1984-03-12", SAME),
    ("date", None, "12 mrt 1984", "1984-03-12", SAME),
    ("date", None, "1984-03-21", "1984-03-12", NEAR),
    ("date", None, "1984-03-82", "1984-03-12", NEAR),
    ("date", None, "1984-13-12", "1984-03-12", NEAR),
    ("date", None, "1984-03-00", "1984-03-12", NEAR),
    ("date", None, "c. 1984", "1984-03-12", NEAR),
    ("date", None, "03/1984", "1984-03-12", NEAR),
    ("date", None, "--0312", "1984-03-12", NEAR),
    ("date", None, "12 March", "1984-03-12", NEAR),
    ("date", None, "1984-03-12", "1984", NEAR),
    ("date", None, "1985-03-12", "1984", OTHER),
    ("date", None, "1977-07-30", "1984-03-12", OTHER),
    ("date", None, "21041936", "1936-04-21", SAME),
    ("date", None, "04211936", "1936-04-21", SAME),
    ("date", None, "4211936", "1936-04-21", SAME),
    ("date", None, "03041990", "1990-04-03", NEAR),
    ("date", None, "1036800000", "2002-11-09", SAME),
    ("date", None, "1036800000000", "2002-11-09", SAME),
    ("date", None, "-1063411200", "1936-04-21", SAME),
    ("date", None, "21 апреля 1936 г.", "1936-04-21", SAME),
    ("date", None, "21 Απριλίου 1936", "1936-04-21", SAME),
    ("date", None, "21. dubna 1936", "1936-04-21", SAME),
    ("date", None, "21 Nisan 1936", "1936-04-21", SAME),
    ("date", None, "21 Ağustos 1936", "1936-08-21", SAME),
    ("date", None, "1936. április 21.", "1936-04-21", SAME),
    ("date", None, "21. huhtikuuta 1936", "1936-04-21", SAME),
    ("date", None, "21 квітня 1936", "1936-04-21", SAME),
    ("date", None, "昭和11年4月21日", "1936-04-21", SAME),
    ("date", None, "令和元年5月1日", "2019-05-01", SAME),
    ("date", None, "S11.4.21", "1936-04-21", SAME),
    # Telephones, by the country of the case.
    ("phone", "DE", "tel:+49-160-1234567", "0160 1234567", SAME),
    ("phone", "DE", "0049 160 1234567", "+491601234567", SAME),
    ("phone", "DE", "+49 (0)160 123 45 67", "+491601234567", SAME),
    ("phone", "DE", "0160/1234567", "+49 160 1234567", SAME),
    ("phone", "DE", "Mobil: 0160-1234567", "+491601234567", SAME),
    ("phone", "GB", "020 7946 0018", "+44 20 7946 0018", SAME),
    ("phone", "GB", "(020) 79460018", "+442079460018", SAME),
    ("phone", "US", "(555) 123-4567", "+1 555 123 4567", SAME),
    ("phone", "US", "1-555-123-4567", "+15551234567", SAME),
    ("phone", "US", "555.123.4567", "+15551234567", SAME),
    ("phone", "FR", "06 12 34 56 78", "+33612345678", SAME),
    ("phone", "IT", "02 1234567", "+39021234567", SAME),
    ("phone", "ES", "612 345 678", "+34 612 345 678", SAME),
    ("phone", "IN", "098765 43210", "+91 98765 43210", SAME),
    ("phone", "JP", "03-1234-5678", "+81312345678", SAME),
    ("phone", "RU", "8 (912) 345-67-89", "+79123456789", SAME),
    ("phone", None, "0160 1234567", "+491601234567", NEAR),
    ("phone", None, "+49 160 1234567 ext. 12", "+491601234567", NEAR),
    ("phone", None, "+49 160 1234568", "+491601234567", NEAR),
    ("phone", None, "+49 160 7654321", "+491601234567", OTHER),
    ("phone", "US", "4155552671.0", "+1 415 555 2671", SAME),
    ("phone", "US", "4.155552671E9", "+1 415 555 2671", SAME),
    # Postcodes.
    ("zip", None, "02138-1234", "02138", SAME),
    ("zip", None, "SW1A1AA", "sw1a 1aa", SAME),
    ("zip", "US", "2138", "02138", SAME),
    ("zip", "US", "2138.0", "02138", SAME),
    ("zip", "US", "021381234", "02138", SAME),
    ("zip", "DE", "1067", "01067", SAME),
    ("zip", "CH", "8001", "08001", NEAR),
    ("zip", None, "2138", "02138", NEAR),
    ("zip", None, "02139", "02138", OTHER),
    # E-mail.
    ("email", None, "Alice@Archer.Example", "alice@archer.example", SAME),
    ("email", None, "mailto:alice@archer.example", "alice@archer.example", SAME),
    ("email", None, "Alice Archer <alice@archer.example>", "alice@archer.example", SAME),
    ("email", None, "alice+shop@archer.example", "alice@archer.example", SAME),
    ("email", None, "al.ice@googlemail.com", "alice@gmail.com", SAME),
    ("email", None, "alice@archer.org", "alice@archer.example", OTHER),
    ("email", None, "alise@archer.example", "alice@archer.example", NEAR),
    ("email", None, "jo@archer.exampel", "jo@archer.example", NEAR),
    ("email", None, "bo@archer.example", "jo@archer.example", OTHER),
    # Addresses.
    ("address", None, "12 MILL LN.", "12 Mill Lane", SAME),
    ("address", None, "12, Mill Lane", "12 Mill Lane", NEAR),
    ("address", None, "123 Main Street, Apartment 4", "123 Main St Apt 4", SAME),
    ("address", None, "123 Main St #4", "123 Main Street Apt. 4", NEAR),
    ("address", None, "Hauptstr. 5", "Hauptstraße 5", SAME),
    ("address", None, "Hauptstrasse Nr. 5", "Hauptstr. 5", SAME),
    ("address", None, "5 boulevard Saint-Michel", "5 bd Saint Michel", SAME),
    ("address", None, "123 N. Oak Ave", "123 North Oak Avenue", SAME),
    ("address", None, "12 Mill Lane, Ambleford", "12 Mill Lane", NEAR),
    ("address", None, "12 Mill Lane, Ambleford, AM1 2BC, United Kingdom", "12 Mill Lane", NEAR),
    ("address", None, "77 Quarry Road", "12 Mill Lane", OTHER),
    # Written before looking at what is read, from records of many countries.
    ("phone", "GB", "+44 (0) 7911 123456", "+447911123456", SAME),
    ("phone", "US", "011 44 7911 123456", "+447911123456", SAME),
    ("phone", "DE", "+49 171 1234567 (privat)", "+491711234567", SAME),
    ("phone", "BR", "(11) 98765-4321", "+5511987654321", SAME),
    ("phone", "NL", "06-12345678", "+31612345678", SAME),
    ("phone", "JP", "０９０－１２３４－５６７８", "+819012345678", SAME),
    ("phone", "TR", "0 (532) 123 45 67", "+905321234567", SAME),
    ("phone", "CN", "138 0013 8000", "+8613800138000", SAME),
    ("phone", "EG", "٠١٠ ١٢٣٤ ٥٦٧٨", "+201012345678", SAME),
    ("date", None, "16 de fevereiro de 1963", "1963-02-16", SAME),
    ("date", None, "16 Şubat 1963", "1963-02-16", SAME),
    ("date", None, "1963년 2월 16일", "1963-02-16", SAME),
    ("date", None, "16.II.1963", "1963-02-16", SAME),
    ("date", None, "16 februari 1963", "1963-02-16", SAME),
    ("name", None, "J. v.d. Meer", "Jan van der Meer", NEAR),
    ("name", None, "Iuliia Shcherbakova", "Юлия Щербакова", NEAR),
    ("name", None, "Wei Zhang", "张伟", NEAR),
    ("name", None, "ZHANG, Wei", "张伟", NEAR),
    ("name", None, "IŞIK ILGAZ", "Işık Ilgaz", SAME),
    ("name", None, "İBRAHİM YILDIZ", "İbrahim Yıldız", SAME),
    ("name", None, "Nguyễn Văn Đức", "Nguyen Van Duc", SAME),
    ("name", None, "Duc Nguyen Van", "Nguyễn Văn Đức", NEAR),
    ("name", None, "Muhammed Ali", "Mohammed Ali", NEAR),
    ("name", None, "Γιώργος Παπαδόπουλος", "Giorgos Papadopoulos", NEAR),
    ("name", None, "John S.", "John Smith", NEAR),
    ("address", None, "123 Main St", "123 Main Street, Springfield, IL 62704", NEAR),
    ("address", None, "Springfield", "123 Main Street, Springfield, IL 62704", NEAR),
    ("address", None, "C/ Mayor 5, 2º B", "Calle Mayor, 5 2B", NEAR),
    ("address", None, "R. Augusta, 1500 - Apto 31", "Rua Augusta 1500 apt 31", NEAR),
    ("address", None, "Kerkstr. 10-II", "Kerkstraat 10 II", SAME),
    ("email", None, "john@gmail.com (work)", "john@gmail.com", SAME),
    ("email", None, "john [at] gmail [dot] com", "john@gmail.com", SAME),
    ("email", None, "john at gmail dot com", "john@gmail.com", SAME),
    ("email", None, "john%40gmail.com", "john@gmail.com", SAME),
    ("place", None, "MÜNCHEN", "Muenchen", SAME),
    ("place", None, "Munchen", "München", SAME),
    ("place", None, "Sao Paulo", "São Paulo", SAME),
    ("place", None, "St. Gallen", "Sankt Gallen", SAME),
    ("place", None, "London, UK", "London", SAME),
    ("place", None, "İstanbul", "Istanbul", SAME),
    ("place", None, "Москва", "Moskva", SAME),
    ("place", None, "Belfat", "Belfast", NEAR),
    ("place", None, "Leeds", "London", OTHER),
    ("company", None, "ACME, Inc.", "Acme", SAME),
    ("company", None, "Zielony Las Sp. z o.o.", "Zielony Las", SAME),
    ("company", None, "Müller GmbH & Co. KG", "MULLER", SAME),
    ("company", None, "Ames Ltd", "Baker Ltd", OTHER),
    ("gender", None, "weiblich", "F", SAME),
    ("gender", None, "Male", "m", SAME),
    ("gender", None, "nonbinary", "f", OTHER),
    ("username", None, "@JSmith", "jsmith", SAME),
    ("username", None, "https://www.linkedin.com/in/jsmith/", "jsmith", SAME),
    ("username", None, "jsmith", "jsmyth", OTHER),
]


@pytest.mark.parametrize(("kind", "country", "held", "true", "verdict"), FORMATS)
def test_a_format_is_read_or_told(kind: str, country: str | None, held: str, true: str, verdict: str) -> None:
    near = {"place": "code", "company": "code", "gender": "exact", "username": "exact"}.get(kind, kind)
    labels = Labels({kind: Label(normalise=normaliser(kind, country=country), similarity=similarity(near))})
    compared = compare(Record([(kind, held)]), Reference([(kind, true)]), labels)
    assert compared.kinds[0] == verdict


def test_enough_formats_of_several_countries() -> None:
    assert len(FORMATS) >= 60
    assert len({country for _, country, *_ in FORMATS}) >= 6


@pytest.mark.parametrize(
    "country", ["DE", "GB", "US", "FR", "IT", "ES", "IN", "JP", "PL", "BR", "AU", "SE", "NL", "ZA"]
)
def test_a_number_inside_its_country_is_the_number_from_outside(country: str) -> None:
    kinds = phonenumbers.PhoneNumberType
    forms = phonenumbers.PhoneNumberFormat
    read = normaliser("phone", country=country)
    for kind in (kinds.FIXED_LINE, kinds.MOBILE):
        example = phonenumbers.example_number_for_type(country, kind)
        whole = phonenumbers.format_number(example, forms.E164)
        for form in (forms.E164, forms.INTERNATIONAL, forms.NATIONAL, forms.RFC3966):
            assert read(phonenumbers.format_number(example, form)) == whole


NO_DAYS = ["0000-00-00", "00/00/0000", "00.00.0000", "0000-00-00 00:00:00", "0000-00-00T00:00:00Z", " 0000/00/00 "]


@pytest.mark.parametrize(
    "said", ["N/A", "n.a.", "unknown", "None", "-", "--", "???", "NULL", " ", "xxx", "k.A.", *NO_DAYS]
)
def test_what_stands_for_nothing_is_nothing(said: str) -> None:
    assert says_nothing(said)


@pytest.mark.parametrize("said", ["*", "1**", "Nadia", "0", "x@y.org", "Max", "Noneya", "no", "0000", "0000-00-01"])
def test_what_says_something_is_not_nothing(said: str) -> None:
    assert not says_nothing(said)


def test_the_day_that_a_database_writes_for_none_is_missing_from_the_records(tmp_path: Path) -> None:
    rows = [f"Alice Archer,{day},alice@archer.example\n" for day in (*NO_DAYS, "1984-03-12")]
    (tmp_path / "shop.csv").write_text("name,dob,email\n" + "".join(rows))
    (tmp_path / "case.yaml").write_text(
        "person: {name: Alice Archer, dob: 1984-03-12, email: alice@archer.example}\n"
        "sources: [{name: shop, path: shop.csv}]\n"
    )
    audit = tacit.person_audit(tmp_path / "case.yaml")
    assert {rung.leakage for rung in audit.rungs} == {1.0}
    assert all(held.state == "correct" for finding in audit.findings for held in finding.held)


@pytest.mark.parametrize(
    ("days", "wanted", "noted"),
    few(
        [
            # A day above 12 anywhere in the column decides about all of it.
            (["12/03/1984", "25/12/1990"], "correct", False),
            (["12/03/84", "25/12/90"], "correct", False),
            (["03/12/1984", "12/25/1990"], "correct", False),
            # Nothing decides: the day is nearly right, and that is said.
            (["12/03/1984", "01/02/1990"], "near", True),
            (["N/A", "1984-03-12"], "correct", False),
        ],
        2,
    ),
)
def test_the_column_decides_whether_the_day_comes_first(
    tmp_path: Path, days: list[str], wanted: str, noted: bool
) -> None:
    (tmp_path / "shop.csv").write_text("name,birthdate\n" + "".join(f"Alice Archer,{day}\n" for day in days))
    (tmp_path / "case.yaml").write_text(
        "person: {name: Alice Archer, dob: 1984-03-12}\nsources: [{name: shop, path: shop.csv}]\n"
        "adversaries: [{name: reads}]\n"
    )
    audit = tacit.person_audit(tmp_path / "case.yaml")
    (state,) = {held.state for held in audit.findings[0].held if held.label == "dob"}
    assert state == wanted
    assert any("nothing says whether" in note for note in audit.notes) == noted
    assert any("read birthdate as dob" in note for note in audit.notes)
