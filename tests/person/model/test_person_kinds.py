"""What a column holds, from what it is called."""

from __future__ import annotations

import pytest

from tacit.person.model.kinds import KINDS, kind_of, recognised, usual


@pytest.mark.parametrize(
    ("column", "label"),
    [
        ("given_name", "given"),
        ("First Name", "given"),
        ("lastName", "surname"),
        ("soc_sec_id", "ssn"),
        ("DOB", "dob"),
        ("Geburtsdatum", "dob"),
        ("dateOfBirth", "dob"),
        ("E-Mail", "email"),
        ("tel.", "phone"),
        ("PLZ", "zip"),
        ("address_1", "address"),
        ("iban", "account"),
        # What breaches, shops and offices call their columns.
        ("email_addr", "email"),
        ("E-Mail (privat)", "email"),
        ("email2", "email"),
        ("workEmail", "email"),
        ("phone_num", "phone"),
        ("Tel.-Nr.", "phone"),
        ("Mobil", "phone"),
        ("Téléphone", "phone"),
        ("customer_phone_no", "phone"),
        ("birth", "dob"),
        ("Geb.-Dat.", "dob"),
        ("addr1", "address"),
        ("Straße", "address"),
        ("billing_address", "address"),
        ("zip5", "zip"),
        ("zip4", None),
        ("address_2", None),
        ("cc_num", "card"),
        ("Nachname, Vorname", "name"),
        ("Prénom", "given"),
        ("e-mailadres", "email"),
        ("Telefoon", "phone"),
        ("huisnummer", "house"),
        ("geboortejaar", "birth_year"),
        ("ФИО", "name"),
        ("Имя", "given"),
        ("Дата рождения", "dob"),
        ("Электронная почта", "email"),
        ("Почтовый индекс", "zip"),
        ("Номер телефона", "phone"),
        ("requester.name", "name"),
        ("data.attributes.email", "email"),
        ("product.name", None),
        ("company.name", "employer"),
        ("last_contact", None),
        ("first_contact", None),
        ("address_number", None),
        ("customer_number", None),
        ("user_id", None),
        ("email_opt_in", None),
        ("mother_name", None),
        ("file name", None),
        ("price", None),
        ("", None),
    ],
)
def test_usual_names(column: str, label: str | None) -> None:
    assert usual(column) == label


def test_no_name_is_of_two_kinds() -> None:
    names = [name for _, names in KINDS.values() for name in names.split()]
    assert len(names) == len(set(names))


def test_columns_are_recognised_for_the_labels_of_the_person() -> None:
    found = recognised(["given_name", "surname", "dob", "mail", "shoe size"], ["name", "date_of_birth", "email"])
    assert found.joined == {"name": ("given_name", "surname")}
    assert found.columns == {"dob": "date_of_birth", "mail": "email"}


def test_a_label_that_a_column_holds_is_not_made_of_parts() -> None:
    assert recognised(["name", "given_name", "surname"], ["name"]).joined == {}
    assert recognised(["full_name", "surname", "given"], ["name"]) == recognised(["full_name"], ["name"])


def test_parts_that_are_labels_of_their_own_stay_apart() -> None:
    found = recognised(["first_name", "last_name"], ["name", "given_name", "surname"])
    assert found.joined == {}
    assert found.columns == {"first_name": "given_name", "last_name": "surname"}


def test_a_house_number_stands_beside_its_street() -> None:
    found = recognised(["street_number", "address_1", "by", "bm", "bd"], ["address", "dob"])
    assert found.joined == {"address": ("street_number", "address_1"), "dob": ("by", "bm", "bd")}


def test_kinds_say_how_values_are_compared() -> None:
    dob = kind_of("birthdate")
    assert dob is not None
    label = dob.label()
    assert label.single
    assert label.meant("21-APR-1936") == "1936-04-21"
    phone = kind_of("mobile")
    assert phone is not None
    assert phone.label(country="GB").meant("020 7946 0018") == "+442079460018"
    assert kind_of("price") is None
