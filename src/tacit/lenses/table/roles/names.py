"""What the name of a column suggests, in English, German, French and Spanish."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping

# What a column is named like, and the words that show it. What is worst to give away comes first.
_SECRETS: Mapping[str, str] = {
    "an illness": """
        illness disease diagnosis diagnoses icd symptom hiv aids cancer tumour tumor diabetes depression disability
        medication pregnancy pregnant abortion addiction alcoholism health smoker mental
        krankheit erkrankung diagnose befund behinderung schwanger schwangerschaft sucht gesundheit medikament
        maladie diagnostic pathologie handicap grossesse sante
        enfermedad diagnostico patologia discapacidad embarazo salud""",
    "race or origin": """
        race racial ethnicity ethnic ethnie caste skin rasse hautfarbe ethnizitaet ethnizitat migrationshintergrund
        raza etnia""",
    "a belief": """
        religion religious faith denomination creed party political politics ideology vote voted voter
        konfession glaube partei parteizugehoerigkeit wahlverhalten gewerkschaft
        confession croyance parti syndicat religiosa partido voto sindicato""",
    "sexuality": "sexuality orientation gay lesbian lgbt sexualitaet orientierung sexualite orientacion sexualidad",
    "genes": "gene genes genome genotype dna genom genotyp adn genetique genetica",
    "a crime": """
        crime criminal convicted conviction offence offense arrest arrested prison recid recidivism felony
        straftat verurteilt verurteilung vorstrafe haft delit condamnation condamne recidive
        delito condena condenado carcel""",
    "money": """
        income salary wage wages earnings debt wealth credit
        einkommen gehalt lohn verdienst schulden vermoegen vermogen
        revenu revenus salaire dette patrimoine ingresos salario sueldo deuda""",
}
_PLACES = """
    zip zipcode postcode postal plz postleitzahl city town village district county region province state country
    municipality borough neighbourhood neighborhood residence location place lat latitude lon lng longitude
    stadt ort wohnort wohnsitz geburtsort gemeinde kreis landkreis bezirk bundesland land stadtteil standort
    ville commune departement quartier pays lieu
    ciudad municipio provincia pais lugar barrio comarca localidad"""
_IDENTIFIERS = """
    id ids uuid guid key identifier name firstname lastname surname forename fullname email mail phone telephone mobile
    fax ssn passport iban account mrn username login url ip plate licence license street address
    nummer kennung vorname nachname familienname telefon handy konto kontonummer versichertennummer kennzeichen
    strasse anschrift adresse
    nom prenom identifiant courriel matricule rue
    nombre apellido apellidos identificador correo telefono dni nif nie pasaporte matricula calle direccion"""
PERSONS_NUMBER = "a person's number"
# What belongs to one person, whatever the values are. Such a word counts only if all other words of the column's name
# go with it: "file name" and "email opened" are nobody's.
_PERSONAL: Mapping[str, str] = {
    "a person's name": """
        name names surname forename firstname lastname middlename fullname fname lname nickname username
        vorname nachname familienname geburtsname patientenname kundenname
        nom prenom noms prenoms nombre apellido apellidos""",
    "an e-mail address": "email mail emailaddress mailadresse emailadresse courriel correo",
    "a phone number": """
        phone telephone tel fax phonenumber mobilephone mobilenumber cellphone cellnumber
        telefon telefonnummer handynummer mobilnummer rufnummer telefono""",
    "a person's address": "address anschrift adresse wohnadresse direccion domicilio",
    PERSONS_NUMBER: """
        ssn mrn socialsecurity socialsecuritynumber nhsnumber medicalrecordnumber passport passportnumber
        patientennummer kundennummer versichertennummer personalnummer sozialversicherungsnummer
        numerosecuritesociale numerodesecuritesociale numerodeseguridadsocial dni nif pasaporte""",
}
_PERSONS = """
    patient customer client person user employee member student pupil owner holder contact applicant participant
    respondent individual subject insured mother father spouse doctor physician nurse officer agent staff worker
    teacher judge driver defendant accused complainant claimant plaintiff witness suspect victim payee recipient
    beneficiary donor tenant
    patienten kunde kunden mitarbeiter versicherten schueler arzt mutter vater beamten lehrer
    richter zeugen mieter empfaenger spender
    personne salarie employe eleve medecin juge temoin victime beneficiaire locataire
    paciente cliente persona empleado alumno medico madre padre juez testigo victima beneficiario inquilino"""
_NUMBERS = "id number no nr num nummer numero identifier kennung identifiant identificador"
# Words that go with them.
_FILLERS = """
    e s of the child parent and und et y de du des der del la le el l d first last middle full family given maiden
    birth legal preferred private privat home work mobile cell emergency primary secondary main billing shipping
    postal mailing residential street famille naissance complet electronique electronico electronica completo"""
_NEIGHBOURS = """
    age agegroup sex gender birth birthday birthdate dob born height marital married spouse children household
    occupation job profession employer school nationality admission admitted discharge
    alter geschlecht geburt geburtstag geburtsdatum geburtsjahr familienstand beruf kinder staatsangehoerigkeit
    nationalitaet aufnahme entlassung
    sexe genre naissance matrimonial metier enfants nationalite entree sortie
    edad sexo genero nacimiento civil ocupacion profesion hijos nacionalidad alta"""
# German joins words, and all languages inflect them: a word at least this long may also begin or end a word of a name.
_LONG = 5


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_OF_SECRETS = {what: _words(words) for what, words in _SECRETS.items()}
_OF_PLACES, _OF_IDENTIFIERS, _OF_NEIGHBOURS = map(_words, (_PLACES, _IDENTIFIERS, _NEIGHBOURS))
_OF_PERSONS, _OF_NUMBERS = _words(_PERSONS), _words(_NUMBERS)
_OF_PERSONAL = {what: _words(words) for what, words in _PERSONAL.items()}
_BESIDE = _words(_FILLERS).union(_OF_PERSONS, _OF_NUMBERS, *_OF_PERSONAL.values())
SECRET_KINDS = tuple(_SECRETS)


def secret_in(name: str) -> str | None:
    """What kind of secret a column is named like, such as "an illness"; None if like none."""
    return next((what for what, words in _OF_SECRETS.items() if _has(name, words)), None)


def is_place(name: str) -> bool:
    """Whether a column is named like a place."""
    return _has(name, _OF_PLACES)


def is_identifier(name: str) -> bool:
    """Whether a column is named like something that one person has: a number, a name, an address."""
    return _has(name, _OF_IDENTIFIERS) or not _OF_NUMBERS.isdisjoint(_parts(name)[-1:])


def personal_in(name: str) -> str | None:
    """What belongs to one person that a column is named like, such as "a person's name"; None if there is nothing."""
    joined, parts = "".join(_parts(name)), frozenset(_parts(name))
    alone = parts <= _BESIDE
    kinds = (what for what, words in _OF_PERSONAL.items() if joined in words or (alone and words & parts))
    numbered = alone and _OF_PERSONS & parts and _OF_NUMBERS & parts
    return next(kinds, PERSONS_NUMBER if numbered else None)


def is_known_to_neighbours(name: str) -> bool:
    """Whether a column is named like what a neighbour or a colleague knows about a person."""
    return _has(name, _OF_NEIGHBOURS) or is_place(name)


def _has(name: str, words: frozenset[str]) -> bool:
    parts = _parts(name)
    if any(part in words for part in [*parts, "".join(parts)]):
        return True
    long = [word for word in words if len(word) >= _LONG]
    return any(part.startswith(word) or part.endswith(word) for part in parts for word in long)


def _parts(name: str) -> list[str]:
    """The words of a name in lower case without accents: ``DiagnosisCode`` and ``diagnosis_code`` are the same."""
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name).replace("ß", "ss")
    bare = "".join(c for c in unicodedata.normalize("NFKD", apart) if not unicodedata.combining(c))
    return re.findall(r"[a-z]+", bare.lower())
