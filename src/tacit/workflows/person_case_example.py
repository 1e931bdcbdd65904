"""A commented example of a case, with small sources of every kind; everybody in it is invented."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from tacit.errors import ArgumentError
from tacit.tables.writing import os_errors

CASE = """\
# A case: one person, the sources that speak of them, and who might read those sources.
#   tacit person audit case.yaml         how much of the person's file each adversary can piece together
#   tacit person release case.yaml       which way to make the next releases
#   tacit person dip case.yaml           what somebody who knows a little finds
#   tacit person remove case.yaml        which sources to have removed first
#   tacit person decoy case.yaml         what false records would do
#   tacit person verify-next case.yaml   what an adversary would check next
#   tacit person population case.yaml    the same for many people, one row each
# Only 'person' and 'sources' are needed. Paths are relative to this file. Everybody here is invented.

# The truth: what there is to be found out. Values are text as it is written here; a label may have several.
person:
  name: Alice Archer
  dob: 1984-03-12
  email: [alice@archer.example, a.archer@work.example]
  phone: 020 7946 0018
  address: 12 Mill Lane, Ambleford
  zip: AM1 4QX
  card: ["4000 0012 3456 7899", "4000 0098 7654 3210"]
  employer: Northgate Mills

# How values are weighed and compared. What is not said: weight 1, several values, compared as they are.
#   weight      how much the label matters to the person; only ratios count
#   single      there is one true value, so two different ones cannot both be right
#   normalise   text | name | email | phone | digits | date | date-day-first | date-month-first | address
#   similarity  partial credit: jaro_winkler | levenshtein | {jaro_winkler: {from: 0.9}} | {exp_abs: 10} (days: 365d)
#   suppressed  what "AM1 ***" is worth for AM1 4QX: equal (all of it) | size | prior
#   domain      all values there are, for 'suppressed: size': a list, or {from: 18, to: 99}
#   prior       how common each value is: {table: counts.csv}, or value: count. Rare values then weigh more (surprisal)
#   synonyms    value: the value that is meant
labels:
  name: {weight: 1, normalise: name, similarity: jaro_winkler}
  dob: {weight: 2, single: true, normalise: date, similarity: {exp_abs: 365d}}
  email: {weight: 2, normalise: email}
  phone: {weight: 2, normalise: digits}
  address: {weight: 2, normalise: address, similarity: levenshtein}
  zip: {weight: 1, normalise: text}
  card: {weight: 4, normalise: digits}
  employer: {weight: 1, single: true, normalise: text, synonyms: {Northgate: Northgate Mills}}

# Labels that tell something in common: who knows the address knows the better part of the zip code.
correlated:
  - {labels: [address, zip], shared: 1}

# Where records are. CSV, JSONL, Parquet, Arrow or a DuckDB table (file.duckdb::table); JSONL with Senzing's FEATURES
# (features: true); the list of breaches that Have I Been Pwned gives (breaches: true).
#   map                column: label. A column not named is its own label; null leaves it out, "*": null all the others
#   join               label: columns that make up one value, such as join: {name: [first, last]}
#   id                 the column that names the records
#   confidence         how much of the source is true, or of the right person: a number, or {column: score}
#   column_confidence  label: a number, times the above
#   remove             what it costs to ask for removal, and the probability that it works
sources:
  - name: shop
    path: shop.csv
    id: customer
    map: {full_name: name, mail: email, tel: phone, cc: card, since: null}
    remove: {cost: 1, success: 0.9}
  - name: broker
    path: broker.jsonl
    features: true
    confidence: {column: score}
    column_confidence: {phone: 0.6}
    remove: {cost: 5, success: 0.5}
  - name: forum
    path: forum.csv
    map: {nick: null, real_name: name, mail: email, city: null}
    confidence: 0.8
    remove: {cost: 1, success: 0.7}
  - name: breaches
    path: breaches.json
    breaches: true

# Who reads them, from the weakest to the strongest.
#   steps       normalise | {correct: {label, table}} | {augment: {given, adds, table, confidence}} |
#               {resolve: {rules, min_confidence, closure: swoosh | components}} | {resolve: {clusters: file}} |
#               {resolve: {splink: model.json, threshold: 0.9}}
#   merge       union (everything, as in the paper) | consensus | vote | diluted
#   keep_base   records it started from stay beside those it merged: true if not said
#   cost        {fixed, per_record, per_pair}
adversaries:
  - name: reads
  - name: joins
    steps:
      - normalise
      - resolve: {rules: [[email], [name, card], [name, phone]]}
    merge: consensus
    keep_base: true
    cost: {fixed: 10, per_record: 0.01}
  - name: looks up
    steps:
      - correct: {label: name, table: {Alice Acher: Alice Archer}}
      - augment: {given: address, adds: zip, table: zip_codes.csv, confidence: 0.9}
      - normalise
      - resolve: {rules: [[email], [name, card], [name, phone], [name, zip]], min_confidence: 0.3}
    merge: vote
    keep_base: true
    cost: {fixed: 100, per_record: 0.02, per_pair: 0.0001}

# What is about to be released, and the ways to do it. An option without attributes releases nothing.
releases:
  - name: book shop
    options:
      - {name: old card, attributes: {name: Alice Archer, phone: 020 7946 0018, card: "4000 0012 3456 7899"}}
      - {name: new card, attributes: {name: Alice Archer, phone: 020 7946 0018, card: "4000 0098 7654 3210"}}
      - {name: cash}
  - name: newsletter
    options:
      - {name: private mail, attributes: {email: alice@archer.example}}
      - {name: work mail, attributes: {email: a.archer@work.example, employer: Northgate Mills}}

# What somebody knows who goes looking.
queries:
  - name: a colleague
    attributes: {name: Alice Archer, email: a.archer@work.example}
  - name: a caller
    attributes: [{label: phone, value: 020 7946 0018}, {label: name, value: Alice Archer, confidence: 0.5}]

# False records that may be spread. Only labels named here; never where the truth is owed (banks, authorities).
decoys:
  budget: 6
  labels: [name, email, phone, employer]
  values: {employer: [Harbour Books], phone: [020 7946 0999]}
  costs: {phone: 2}

# What an adversary may spend on checking, and what a label costs to check; 1 if not said.
verify:
  budget: 3
  costs: {dob: 2, phone: 0.5}

# Many people instead of one: their true records, which may take several rows each.
#   quasi_identifiers  labels by which people are told apart: k is how many agree on all of them
#   sensitive          labels of which l-diversity is counted
population:
  references: people.csv
  person: person
  map: {born: dob}
  quasi_identifiers: [zip, dob]
  sensitive: [employer]
"""

SHOP = """\
customer,full_name,mail,tel,cc,since
1001,Alice Archer,alice@archer.example,020 7946 0018,4000 0012 3456 7899,2019
1002,Bob Byrne,bob@byrne.example,020 7946 0100,4000 0055 5555 5555,2020
1003,ALICE ARCHER,,,4000001234567899,2021
1004,Carol Clay,carol@clay.example,,,2022
"""

BROKER = """\
{"DATA_SOURCE": "BROKER", "RECORD_ID": "b1", "score": 0.9, "FEATURES": [{"RECORD_TYPE": "PERSON"}, \
{"NAME_FIRST": "Alice", "NAME_LAST": "Archer"}, {"DATE_OF_BIRTH": "1984-03-21"}, \
{"ADDR_LINE1": "12 Mill Lane", "ADDR_CITY": "Ambleford"}, {"EMAIL_ADDRESS": "alice@archer.example"}]}
{"DATA_SOURCE": "BROKER", "RECORD_ID": "b2", "score": 0.5, "FEATURES": [{"RECORD_TYPE": "PERSON"}, \
{"NAME_FULL": "Alice Acher"}, {"PHONE_TYPE": "HOME", "PHONE_NUMBER": "020 7946 0018"}, \
{"ADDR_POSTAL_CODE": "AM1 4QX"}, {"EMPLOYER": "Northgate"}]}
{"DATA_SOURCE": "BROKER", "RECORD_ID": "b3", "score": 0.7, "FEATURES": [{"RECORD_TYPE": "PERSON"}, \
{"NAME_FIRST": "Bob", "NAME_LAST": "Byrne"}, {"EMAIL_ADDRESS": "bob@byrne.example"}, {"EMPLOYER": "Harbour Books"}]}
"""

FORUM = """\
nick,real_name,mail,employer,city
millgirl,Alice Archer,a.archer@work.example,Northgate Mills,Ambleford
byrner,Bob Byrne,bob@byrne.example,,Ambleford
"""

BREACHES = """\
[
  {"Name": "PhotoBook", "Domain": "photobook.example", "BreachDate": "2021-05-04", "PwnCount": 1200345,
   "DataClasses": ["Email addresses", "Names", "Dates of birth", "Passwords"],
   "IsVerified": true, "IsFabricated": false, "IsSpamList": false},
  {"Name": "MarketingList", "Domain": "", "BreachDate": "2022-11-20", "PwnCount": 900000,
   "DataClasses": ["Email addresses", "Phone numbers"],
   "IsVerified": false, "IsFabricated": false, "IsSpamList": true}
]
"""

ZIP_CODES = """\
address,zip
"12 Mill Lane, Ambleford",AM1 4QX
"3 High Street, Ambleford",AM1 2AB
"""

PEOPLE = """\
person,name,born,email,phone,card,address,zip,employer
p1,Alice Archer,1984-03-12,alice@archer.example,020 7946 0018,4000 0012 3456 7899,"12 Mill Lane, Ambleford",AM1 4QX,\
Northgate Mills
p1,,,a.archer@work.example,,4000 0098 7654 3210,,,
p2,Bob Byrne,1990-07-01,bob@byrne.example,020 7946 0100,4000 0055 5555 5555,"3 High Street, Ambleford",AM1 2AB,\
Harbour Books
p3,Carol Clay,1990-07-01,carol@clay.example,020 7946 0300,,"5 High Street, Ambleford",AM1 2AB,Northgate Mills
"""

FILES: Mapping[str, str] = {
    "shop.csv": SHOP,
    "broker.jsonl": BROKER,
    "forum.csv": FORUM,
    "breaches.json": BREACHES,
    "zip_codes.csv": ZIP_CODES,
    "people.csv": PEOPLE,
    "case.yaml": CASE,
}


def example_case(directory: str | os.PathLike[str]) -> list[Path]:
    """Write the example case and its sources into a directory, which is made if it is not there.

    Returns
    -------
    list of Path
        What was written; the case file is the last.

    Guarantees
    ----------
    No file is overwritten. All files are written, or none.
    """
    folder = Path(directory)
    with os_errors(folder):
        if folder.exists() and not folder.is_dir():
            raise ArgumentError(f"{folder} is a file: choose another name for the directory")
        there = [name for name in FILES if os.path.lexists(folder / name)]
        if there:
            raise ArgumentError(f"{folder / there[0]} is there already: choose another directory, or move it away")
        # Drafts lie beside the directory's own files, so that they get their names without being copied.
        made = _missing_parents(folder)
        folder.mkdir(parents=True, exist_ok=True)
        draft = folder / f".tacit-draft-{secrets.token_hex(4)}"
        placed: list[Path] = []
        try:
            draft.mkdir()
            for name, text in FILES.items():
                (draft / name).write_text(text, "utf-8")
            for name in FILES:
                # Unlike a rename, a link never replaces a file that somebody else has written meanwhile.
                os.link(draft / name, folder / name)
                placed.append(folder / name)
        except BaseException:
            _undo(placed)
            _removed(draft)
            for parent in made:
                with suppress(OSError):
                    parent.rmdir()
            raise
        _removed(draft)
    return placed


def person_init(directory: str | os.PathLike[str] = ".") -> list[Path]:
    """Write a commented example of a case, with its sources, to start from; see :func:`example_case`."""
    return example_case(directory)


def _missing_parents(folder: Path) -> list[Path]:
    """The directories that will be made, innermost first."""
    absolute = Path(os.path.abspath(folder))
    return [path for path in (absolute, *absolute.parents) if not path.exists()]


def _undo(placed: list[Path]) -> None:
    for path in placed:
        with suppress(OSError):
            path.unlink()


def _removed(draft: Path) -> None:
    for path in draft.iterdir() if draft.is_dir() else ():
        path.unlink(missing_ok=True)
    with suppress(OSError):
        draft.rmdir()
