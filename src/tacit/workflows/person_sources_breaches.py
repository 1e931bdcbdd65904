"""Breaches as Have I Been Pwned lists them: which classes of data got out, and no values.

Fetch them for an account with ``truncateResponse=false``. The file says that, for example, the e-mail address and the
date of birth were in a breach; so each breach becomes a record in which the person's own values stand.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tacit.errors import DataError
from tacit.person.records import Reference
from tacit.workflows.person_case_model import Source
from tacit.workflows.person_sources_features import is_text

CLASS_LABELS: Mapping[str, str] = {
    "Ages": "age",
    "Auth tokens": "auth_token",
    "Bank account numbers": "account",
    "Biometric data": "biometrics",
    "Citizenship statuses": "citizenship",
    "Credit card CVV": "cvv",
    "Credit cards": "card",
    "Dates of birth": "dob",
    "Device serial numbers": "device",
    "Driver's licenses": "driving_licence",
    "Education levels": "education",
    "Email addresses": "email",
    "Employers": "employer",
    "Ethnicities": "ethnicity",
    "Family members' names": "family",
    "Genders": "gender",
    "Geographic locations": "location",
    "Government issued IDs": "national_id",
    "Health insurance information": "health_insurance",
    "Historical passwords": "password",
    "IMEI numbers": "imei",
    "IP addresses": "ip",
    "Income levels": "income",
    "Instant messenger identities": "messenger",
    "Job titles": "job",
    "Licence plates": "licence_plate",
    "MAC addresses": "mac",
    "Marital statuses": "marital_status",
    "Mothers maiden names": "mothers_maiden_name",
    "Names": "name",
    "Nationalities": "nationality",
    "Nicknames": "nickname",
    "Occupations": "job",
    "PINs": "pin",
    "Passport numbers": "passport",
    "Password hints": "password_hint",
    "Passwords": "password",
    "Personal health data": "health",
    "Phone numbers": "phone",
    "Photos": "photo",
    "Physical addresses": "address",
    "Places of birth": "place_of_birth",
    "Political views": "politics",
    "Profile photos": "photo",
    "Races": "ethnicity",
    "Recovery email addresses": "recovery_email",
    "Religions": "religion",
    "Security questions and answers": "security_answer",
    "Sexual orientations": "sexual_orientation",
    "Social media profiles": "social_media",
    "Social security numbers": "ssn",
    "Spoken languages": "language",
    "Spouses names": "spouse",
    "Taxation records": "tax_id",
    "Usernames": "username",
    "Vehicle details": "vehicle",
    "Vehicle identification numbers (VINs)": "vin",
    "Years of birth": "birth_year",
}

VERIFIED, UNVERIFIED, SPAM_LIST = 1.0, 0.5, 0.3


@dataclass(frozen=True)
class Breaches:
    """The breaches of one file: name, labels and confidence of each, and what was left out, in sentences."""

    records: tuple[tuple[str, tuple[str, ...], float], ...]
    notes: tuple[str, ...]


def class_labels(source: Source) -> dict[str, str | None]:
    """The label of every data class: Tacit's table, and what the case says besides."""
    known: dict[str, str | None] = {} if "*" in source.columns else dict(CLASS_LABELS)
    return known | {name: label for name, label in source.columns.items() if name != "*"}


def labels_in(source: Source) -> set[str]:
    """The labels of which the breaches in a file speak."""
    labels = class_labels(source)
    found = {
        labels.get(each)
        for place, breach in enumerate(_models(source), start=1)
        for each in _named(breach, f"{source.path}, breach {place}")[1]
    }
    return {label for label in found if label is not None}


def read_breaches(source: Source, reference: Reference) -> Breaches:
    """Read the file; fabricated breaches are left out, and so are classes that the person has no value of."""
    labels = class_labels(source)
    records: list[tuple[str, tuple[str, ...], float]] = []
    fabricated: list[str] = []
    unknown: set[str] = set()
    missing: set[str] = set()
    for place, breach in enumerate(_models(source), start=1):
        name, classes = _named(breach, f"{source.path}, breach {place}")
        if breach.get("IsFabricated") is True:
            fabricated.append(name)
            continue
        unknown |= {each for each in classes if each not in labels}
        wanted = dict.fromkeys(label for each in classes if (label := labels.get(each)) is not None)
        missing |= {label for label in wanted if not reference.values(label)}
        records.append((name, tuple(label for label in wanted if reference.values(label)), _confidence(breach)))
    notes = []
    if fabricated:
        notes.append(f"source '{source.name}': left out as fabricated: {', '.join(sorted(fabricated))}")
    if unknown:
        notes.append(f"source '{source.name}': data classes without a label, left out: {', '.join(sorted(unknown))}")
    if missing:
        said = ", ".join(sorted(missing))
        notes.append(f"source '{source.name}': breaches hold labels the person has no value of, left out: {said}")
    return Breaches(tuple(records), tuple(notes))


def _models(source: Source) -> list[dict[str, Any]]:
    try:
        data = json.loads(source.path.read_bytes())
    except UnicodeDecodeError:
        raise DataError(f"{source.path} is not UTF-8 text: save it as UTF-8") from None
    except json.JSONDecodeError as error:
        raise DataError(
            f"{source.path}, line {error.lineno}: not JSON; save the answer of the service as it is"
        ) from None
    except RecursionError:
        raise DataError(f"{source.path} nests too deeply: save the answer of the service as it is") from None
    if not is_text(data):
        raise DataError(f"{source.path} has half a character (\\ud800 to \\udfff), which is no text: mend it")
    models = data if isinstance(data, list) else [data]
    if not all(isinstance(model, dict) for model in models):
        raise DataError(f"{source.path} is no list of breaches: save the answer of the service as it is")
    return models


def _named(breach: Mapping[str, Any], where: str) -> tuple[str, list[str]]:
    name, classes = breach.get("Name"), breach.get("DataClasses")
    if not isinstance(name, str) or not name:
        raise DataError(f"{where} has no Name: is it a list of breaches of Have I Been Pwned?")
    if not isinstance(classes, list) or not all(isinstance(each, str) for each in classes):
        raise DataError(f"{where} has no DataClasses: fetch it with truncateResponse=false")
    return name, classes


def _confidence(breach: Mapping[str, Any]) -> float:
    verified = VERIFIED if breach.get("IsVerified", True) is True else UNVERIFIED
    return min(verified, SPAM_LIST) if breach.get("IsSpamList") is True else verified
