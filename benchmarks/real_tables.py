"""COMPAS and Adult, cut as somebody would publish them, with a secret, a column to predict and generalisation steps.

A library for mechanisms_on_tables.py; run by itself, it prints how large the tables are:

    .venv/bin/python benchmarks/real_tables.py
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
from adult import NAMES, adult_path
from numpy.typing import NDArray

from tacit.lift import Joint
from tacit.verbs.examples import COMPAS_RACES, COMPAS_RECORDS, compas_path

Labels = NDArray[np.intp]
# For every column, what a value becomes at each step; the last step says nothing.
Steps = dict[str, list[dict[str, str]]]
ANY = "*"


@dataclass(frozen=True)
class Problem:
    """A table to release (`train`), what it must not give away, what its readers want, and records to test them on."""

    name: str
    secret: str
    target: str
    released: tuple[str, ...]
    steps: Steps
    train: pd.DataFrame
    test: pd.DataFrame
    # With more than two secrets a normal effort takes half a minute, too long to answer every peer with.
    effort: str = "normal"

    @cached_property
    def codes(self) -> Labels:
        """Which released value each record has."""
        return np.asarray(self.train.groupby(list(self.released), sort=True).ngroup(), dtype=np.intp)

    @cached_property
    def secrets(self) -> Labels:
        return np.asarray(self.train.groupby(self.secret, sort=True).ngroup(), dtype=np.intp)

    @cached_property
    def values(self) -> pd.DataFrame:
        """The released values, one per row, in the order of their codes."""
        first = np.unique(self.codes, return_index=True)[1]
        return self.train.iloc[first][list(self.released)].reset_index(drop=True)

    @cached_property
    def joint(self) -> Joint:
        return Joint.from_counts(counted(self.secrets, self.codes))


def counted(secrets: Labels, codes: Labels) -> NDArray[np.float64]:
    """Counts of pairs, secrets x released values."""
    table = np.zeros((secrets.max() + 1, codes.max() + 1))
    np.add.at(table, (secrets, codes), 1)
    return table


def _cut(numbers: pd.Series, points: list[int]) -> pd.Series:
    """Numbers as '<25', '25-45', '46+' and so on."""
    names = [f"<{points[0]}", *(f"{a}-{b - 1}" for a, b in pairwise(points)), f"{points[-1]}+"]
    return pd.Series(np.array(names, dtype=object)[np.searchsorted(points, numbers, side="right")], numbers.index)


def _halves(values: list[str], first: int) -> list[dict[str, str]]:
    """An ordered cut column in two, then dropped."""
    low, high = f"up to {values[first - 1]}", f"from {values[first]}"
    return [
        {v: v for v in values},
        {v: low if at < first else high for at, v in enumerate(values)},
        dict.fromkeys(values, ANY),
    ]


def _groups(*steps: dict[str, str]) -> list[dict[str, str]]:
    """A column unchanged, in each of the groupings, then dropped."""
    values = list(steps[0])
    return [{v: v for v in values}, *steps, dict.fromkeys(values, ANY)]


def compas_records() -> tuple[pd.DataFrame, pd.Series] | None:
    """COMPAS with ProPublica's filter and the two races that the watchdog paper compares, and their days in jail."""
    path = compas_path()
    if path is None:
        return None
    raw = pd.read_csv(path)
    kept = raw[
        raw.days_b_screening_arrest.between(-30, 30)
        & (raw.is_recid != -1)
        & (raw.c_charge_degree != "O")
        & (raw.score_text != "N/A")
        & raw.race.isin(COMPAS_RACES)
    ].reset_index(drop=True)
    assert len(kept) == COMPAS_RECORDS, len(kept)
    return kept, (pd.to_datetime(kept.c_jail_out) - pd.to_datetime(kept.c_jail_in)).dt.days


def compas() -> Problem | None:
    """COMPAS with the cuts of `tacit demo`, and days in jail cut too; a third of it is held out."""
    found = compas_records()
    if found is None:
        return None
    kept, days = found
    table = pd.DataFrame({name: kept[name].astype(object) for name in ("race", "sex", "two_year_recid")})
    table["age"] = _cut(kept.age, [25, 46])
    table["priors"] = _cut(kept.priors_count, [1, 4, 8])
    table["score"] = _cut(kept.decile_score, [3, 5, 8])
    table["stay"] = _cut(days, [1, 3, 15])
    steps = {
        "sex": [{v: v for v in ("Female", "Male")}, dict.fromkeys(("Female", "Male"), ANY)],
        "age": _halves(["<25", "25-45", "46+"], 1),
        "priors": _halves(["<1", "1-3", "4-7", "8+"], 2),
        "score": _halves(["<3", "3-4", "5-7", "8+"], 2),
        "stay": _halves(["<1", "1-2", "3-14", "15+"], 2),
    }
    drawn = np.random.default_rng(0).permutation(len(table))
    shuffled, n_train = table.iloc[drawn].reset_index(drop=True), 2 * len(table) // 3
    train, test = shuffled[:n_train], shuffled[n_train:]
    return Problem("COMPAS, secret race", "race", "two_year_recid", tuple(steps), steps, train, test)


SCHOOL = {
    **dict.fromkeys(["Preschool", "1st-4th", "5th-6th", "7th-8th"], "primary"),
    **dict.fromkeys(["9th", "10th", "11th", "12th"], "some high school"),
    "HS-grad": "high school",
    **dict.fromkeys(["Some-college", "Assoc-acdm", "Assoc-voc"], "some college"),
    "Bachelors": "bachelor",
    **dict.fromkeys(["Masters", "Prof-school", "Doctorate"], "higher degree"),
}
DEGREE = {v: "degree" if g in ("bachelor", "higher degree") else "no degree" for v, g in SCHOOL.items()}
MARRIED = {
    **dict.fromkeys(["Married-civ-spouse", "Married-AF-spouse"], "married"),
    "Never-married": "never",
    **dict.fromkeys(["Divorced", "Separated", "Widowed", "Married-spouse-absent"], "no longer"),
}
WORK = {
    **dict.fromkeys(["Exec-managerial", "Prof-specialty", "Tech-support"], "professional"),
    **dict.fromkeys(["Adm-clerical", "Sales"], "office"),
    **dict.fromkeys(["Craft-repair", "Machine-op-inspct", "Transport-moving", "Handlers-cleaners"], "manual"),
    **dict.fromkeys(["Farming-fishing", "Armed-Forces"], "manual"),
    **dict.fromkeys(["Other-service", "Priv-house-serv", "Protective-serv"], "service"),
}
ADULT_STEPS: Steps = {
    "age": _halves(["<25", "25-34", "35-44", "45-54", "55+"], 2),
    "education": _groups(SCHOOL, DEGREE),
    "marital-status": _groups(MARRIED),
    "occupation": _groups(WORK),
    "hours": _halves(["<35", "35-40", "41-49", "50+"], 2),
}


def _adult_file(name: str) -> pd.DataFrame | None:
    """Adult's training or test file, with the cuts; from where adult.py finds it."""
    path: Path | None = adult_path()
    if path is None:
        return None
    path = path.with_name(path.name.replace("adult.data", name))
    raw = pd.read_csv(path, names=NAMES, skipinitialspace=True, na_values="?", comment="|").dropna()
    raw = raw.astype({name: object for name in NAMES if raw[name].dtype.kind not in "if"})
    raw["age"] = _cut(pd.to_numeric(raw["age"]), [25, 35, 45, 55])
    raw["hours"] = _cut(pd.to_numeric(raw["hours-per-week"]), [35, 41, 50])
    raw["income"] = raw["salary"].str.rstrip(".")
    return raw.reset_index(drop=True)


def adult(secret: str, released: tuple[str, ...] = tuple(ADULT_STEPS)) -> Problem | None:
    """UCI Adult: its 30,162 full training records are released, its 15,060 full test records test the reader."""
    train, test = _adult_file("adult.data"), _adult_file("adult.test")
    if train is None or test is None:
        return None
    steps = {name: ADULT_STEPS[name] for name in released}
    effort = "normal" if train[secret].nunique() == 2 else "low"
    return Problem(f"Adult, secret {secret}", secret, "income", released, steps, train, test, effort)


PROBLEMS: dict[str, Callable[[], Problem | None]] = {
    "compas": compas,
    "adult-sex": lambda: adult("sex"),
    "adult-race": lambda: adult("race"),
}


def main() -> None:
    for name, load in PROBLEMS.items():
        problem = load()
        print(name, "is not here" if problem is None else f"{problem.joint.shape}, {len(problem.train):,} records")


if __name__ == "__main__":
    main()
