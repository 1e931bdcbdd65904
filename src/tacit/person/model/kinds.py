"""The usual names of columns, and what a name alone says about a column's values."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final

from tacit.person.model.forms import normaliser
from tacit.person.model.forms.texts import plain
from tacit.person.model.labels import Label
from tacit.person.model.values import similarity


@dataclass(frozen=True)
class ValueKind:
    """A kind of value: its normal form, what counts as nearly right, and whether a person has only one."""

    form: str
    near: str | None = None
    single: bool = False

    def label(self, *, country: str | None = None, form: str | None = None) -> Label:
        """How values of the kind are weighed and compared by default."""
        near = None if self.near is None else similarity(self.near)
        wanted = form or self.form
        normal = None if wanted == "exact" else normaliser(wanted, country=country)
        return Label(single=self.single, normalise=normal, similarity=near)


_CODE, _TEXT = ValueKind("code", "code"), ValueKind("text")
# Each kind, with the usual names of its columns.
KINDS: Final[dict[str, tuple[ValueKind, str]]] = {
    "name": (
        ValueKind("name", "name"),
        "name full_name fullname real_name realname person_name customer_name client_name patient_name employee_name "
        "contact_name cardholder cardholder_name display_name complete_name name_full nom_complet nombre_completo naam "
        "vollstandiger_name nachname_vorname name_vorname vorname_nachname vorname_name vor_und_nachname kundenname "
        "last_name_first_name last_first lastname_firstname surname_given_name nom_prenom prenom_nom "
        "nom_et_prenom prenom_et_nom nombre_y_apellidos nombre_apellidos apellidos_y_nombre apellidos_nombre "
        "nome_completo nome_cognome "
        "nome_e_cognome cognome_nome cognome_e_nome volledige_naam fio imie_i_nazwisko navn namn account_holder "
        "kontoinhaber",
    ),
    "given": (
        ValueKind("name", "name"),
        "given_name givenname given first_name firstname first forename fname vorname prenom nombre_de_pila fname_c1 "
        "name_first first_nm nombre rufname "
        "nome voornaam fornavn fornamn imie imya",
    ),
    "middle": (
        ValueKind("name", "name"),
        "middle_name middlename middle second_name mname fname_c2 middle_initial otchestvo",
    ),
    "surname": (
        ValueKind("name", "name"),
        "surname last_name lastname last family_name familyname lname nachname familienname nom_de_famille nom "
        "apellido apellidos lname_c1 name_last last_nm sur_name "
        "cognome sobrenome achternaam nazwisko efternavn etternavn efternamn primer_apellido familiya",
    ),
    "dob": (
        ValueKind("date", "date", single=True),
        "dob date_of_birth birth_date birthdate birthday birth_dt birth d_o_b bday born geburtsdatum geburtstag "
        "geb_datum geb_dat gebdatum geb date_birth date_naissance date_de_naissance "
        "fecha_nacimiento fecha_de_nacimiento data_nascita geboortedatum "
        "fecha_nac fec_nac f_nacimiento date_naiss data_di_nascita data_de_nascimento data_nascimento fodselsdato "
        "fodelsedatum "
        "data_urodzenia data_rozhdeniya geboren geboren_am born_on",
    ),
    "birth_year": (
        _TEXT,
        "birth_year year_of_birth yob by geburtsjahr geboortejaar annee_de_naissance anno_di_nascita",
    ),
    "birth_month": (_TEXT, "birth_month month_of_birth bm"),
    "birth_day": (_TEXT, "birth_day day_of_birth bd"),
    "email": (
        ValueKind("email", "email"),
        "email e_mail mail email_address emailaddress e_mail_address mail_address courriel correo correo_electronico "
        "emailadresse e_mail_adresse mailadresse emailadres e_mailadres mailadres pochta elektronnaya_pochta "
        "adres_elektronnoi_pochty "
        "adresse_mail adresse_email adresse_e_mail adresse_electronique correo_e posta_elettronica indirizzo_email "
        "e_post adres_e_mail adres_email adres_poczty "
        "epost",
    ),
    "phone": (
        ValueKind("phone", "phone"),
        "phone telephone tel phone_number phonenumber telephone_number tel_number tel_no phone_no phone_1 mobile "
        "mobile_phone cell cellphone cell_phone telefon telefonnummer handy telefono "
        "msisdn contact_number gsm mobil mobiltelefon mobilnummer handynummer rufnummer portable festnetz landline "
        "numero_de_telephone numero_telephone telefono_movil movil celular cellulare telefone telemovel "
        "telefoon telefoonnummer mobiel mobiele_telefoon nomer_telefona mobil_nyi_telefon "
        "numer_telefonu telefon_komorkowy telefon_stacjonarny contact_no",
    ),
    "address": (
        ValueKind("address", "address"),
        "address street_address streetaddress addr address_line_1 address_line1 addressline1 address1 address_1 street "
        "street_name adresse anschrift strasse direccion home_address postal_address residence full_address rue "
        "strasse_und_hausnummer strasse_hausnummer strasse_nr wohnadresse domicilio adresse_postale "
        "indirizzo endereco adres straat straatnaam calle domicile",
    ),
    "house": (_TEXT, "street_number streetnumber house_number housenumber house_no hausnummer huisnummer street_no"),
    "zip": (
        ValueKind("zip", "zip"),
        "zip zip_code zipcode postcode postal_code postalcode post_code plz postleitzahl code_postal cap zip5 "
        "codigo_postal "
        "cp cod_postal codice_postale cep kod_pocztowy postnummer postnr pochtovyi_indeks",
    ),
    "city": (
        ValueKind("place", "code"),
        "city town suburb locality ort wohnort stadt ville ciudad municipality place_of_residence "
        "localidad poblacion citta cidade woonplaats miasto commune comune",
    ),
    "ssn": (
        _CODE,
        "ssn soc_sec_id soc_sec social_security_number social_security social_security_no ss_number sin nino "
        "national_insurance_number national_insurance_no sozialversicherungsnummer numero_securite_sociale",
    ),
    "national_id": (
        _CODE,
        "national_id nationalid nid personal_number personnummer dni nie pesel bsn cpf id_card identity_no",
    ),
    "tax_id": (_CODE, "tax_id taxid tin steuer_id steuernummer nif codice_fiscale tax_number"),
    "passport": (_CODE, "passport passport_number passport_no passportnumber reisepass"),
    "driving_licence": (
        _CODE,
        "driving_licence driving_license drivers_license driver_license drivers_licence license_number dl",
    ),
    "card": (
        _CODE,
        "card cc credit_card creditcard card_number cardnumber cc_number pan kreditkarte "
        "kartennummer tarjeta tarjeta_de_credito numero_de_tarjeta carte_bancaire numero_de_carte carta_di_credito",
    ),
    "account": (
        _CODE,
        "account iban account_number bank_account account_no kontonummer numero_de_cuenta rekeningnummer",
    ),
    "employer": (
        ValueKind("company", "code"),
        "employer company organisation organization firm arbeitgeber employer_name company_name employeur "
        "entreprise empresa azienda werkgever",
    ),
    "username": (
        ValueKind("username"),
        "username user_name login handle nick nickname screen_name screenname userid alias benutzername usuario pseudo",
    ),
    "password": (ValueKind("exact"), "password passwort pass_word passwd pwd mot_de_passe contrasena kennwort"),
    "gender": (ValueKind("gender"), "gender sex geschlecht sexe sexo sesso geslacht"),
}
# Values that tables split into parts, and the parts in the order that makes up one value.
PARTS: Final[dict[str, tuple[tuple[str, ...], ...]]] = {
    "name": (("given", "middle", "surname"), ("given", "surname")),
    "dob": (("birth_year", "birth_month", "birth_day"),),
    "address": (("house", "address"),),
}


@lru_cache(maxsize=4096)
def usual(name: str) -> str | None:
    """The usual name of a column or label: e-mail-address is email; None if its name says nothing.

    Qualifiers do not matter: whose it is (customer_email), which of several (email_1, mobile_private), or that it is a
    number (phone_no). In a nested name (requester.email) the last part counts, if it can only be about people.

    Examples
    --------
    >>> usual("soc_sec_id"), usual("E-Mail Address"), usual("dateOfBirth"), usual("phones"), usual("price")
    ('ssn', 'email', 'dob', 'phone', None)
    >>> usual("email_addr"), usual("Tel.-Nr. (privat)"), usual("last_contact"), usual("address_2")
    ('email', 'phone', None, None)
    >>> usual("Téléphone portable"), usual("Fecha nac."), usual("profile.displayName"), usual("residence_zip")
    ('phone', 'dob', 'name', 'zip')
    """
    words = [_SHORT.get(word, word) for word in re.findall(r"[a-z]+|[0-9]+", column_name(name))]
    if (kind := _called("_".join(words)) or _called(column_name(name))) is not None:
        return kind
    kind = _beside(words)
    if kind is None and "." in name.strip(". "):
        inner = name.strip(". ").rpartition(".")[2]
        last = usual(inner)
        # A nested "name" may be a shop's or a product's; a display name is a person's.
        return last if last in _OF_PEOPLE or (last == "name" and column_name(inner) != "name") else None
    return kind


def _beside(words: list[str]) -> str | None:
    """The usual name without qualifiers; None if what is left says nothing."""
    while len(words) > 1 and words[0] in _WHOSE:
        words = words[1:]
    while len(words) > 1 and words[-1] in _WHICH:
        words = words[:-1]
    only = None
    if len(words) > 1 and (words[-1] == "number" or words[-1].isdecimal()):
        # The second line of an address is not an address, and the four digits after a ZIP code are not a postcode.
        only = ("phone", "code", "zip") if words[-1] == "number" else ("phone", "email")
        words = words[:-1]
    left = "_".join(words)
    kind = None if left in _SAYS_LITTLE else _called(left)
    return kind if kind is None or only is None or KINDS[kind][0].form in only else None


def _called(name: str) -> str | None:
    # A column of lists has a plural name.
    names = _usual_names()
    forms = (name, name.removesuffix("s"), name.removesuffix("es"))
    return next((names[form] for form in forms if form in names), None)


_SHORT: Final = {"addr": "address", "adr": "address"} | dict.fromkeys(("num", "nr", "nbr", "no", "nummer"), "number")
_PEOPLE: Final = (
    "person personal private privat customer cust client contact user member subscriber employee emp staff patient "
    "applicant owner requester sender recipient guest author billing shipping delivery mailing current registered home "
    "residence residential resident voter "
    "work office primary secondary main alternate other kunde kunden mitarbeiter"
)
_WHOSE: Final = frozenset(_PEOPLE.split())
_WHICH: Final = frozenset(
    (
        "private",
        "privat",
        "personal",
        "home",
        "work",
        "office",
        "primary",
        "main",
        "mobile",
        "portable",
        "movil",
        "fixe",
        "1",
    )
)
# Words that say what a column holds only if they are its whole name: last_contact is not a surname.
_SAYS_LITTLE: Final = frozenset(
    (
        "first",
        "last",
        "given",
        "middle",
        "by",
        "bm",
        "bd",
        "cap",
        "dl",
        "pan",
        "born",
        "birth",
        "geb",
        "nom",
        "nombre",
        "nome",
        "cp",
    )
)
_OF_PEOPLE: Final = frozenset(
    ("email", "phone", "dob", "given", "surname", "ssn", "passport", "national_id", "username")
)


def column_name(name: str) -> str:
    """The name of a column in small letters, its words separated by underscores: dateOfBirth as date_of_birth."""
    return "_".join(re.findall(r"[a-z0-9]+", plain(re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name.strip()))))


@cache
def _usual_names() -> dict[str, str]:
    return {name: kind for kind, (_, names) in KINDS.items() for name in names.split()} | {kind: kind for kind in KINDS}


def kind_of(label: str) -> ValueKind | None:
    """The kind of a label's values, by its name."""
    name = usual(label)
    return None if name is None else KINDS[name][0]


def is_name(label: str) -> bool:
    """Whether the values of a label are names of people, by its own name."""
    kind = kind_of(label)
    return kind is not None and kind.form == "name"


@dataclass(frozen=True)
class Recognised:
    """Columns of a table whose names say what they hold: the label of each, and labels made of several columns."""

    columns: Mapping[str, str]
    joined: Mapping[str, tuple[str, ...]]


def recognised(columns: Iterable[str], labels: Collection[str]) -> Recognised:
    """Which columns hold which of the ``labels`` under another name.

    A column with the name of a label is that label, and is left out here. Parts of a value (first and last name) make
    up a label that no column holds whole.
    """
    there = list(columns)
    # Of two labels of one kind, such as email and work_email, the one named after the kind gets the column.
    called = {
        kind: label for label in sorted(labels, key=lambda label: (label in KINDS, label)) if (kind := usual(label))
    }
    column_of = {
        kind: column for column in reversed(there) if column not in labels and (kind := usual(column)) is not None
    }
    joined: dict[str, tuple[str, ...]] = {}
    for whole, ways in PARTS.items():
        label = called.get(whole)
        if label is None or label in there or (whole in column_of and whole not in ways[0]):
            continue
        parts = next(
            (way for way in ways if all((part in column_of and part not in called) or part == whole for part in way)),
            (),
        )
        if parts and all(part in column_of for part in parts):
            joined[label] = tuple(column_of[part] for part in parts)
    joined_columns = {column for columns_joined in joined.values() for column in columns_joined}
    single = {
        column: called[kind]
        for column in there
        if column not in labels and column not in joined_columns and (kind := usual(column)) in called
    }
    return Recognised(single, joined)
