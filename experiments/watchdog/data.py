"""The records of the watchdog paper's experiment, its split, and the 24 rows it prints in Tables I to IV."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from tacit.errors import DataError
from tacit.verbs.examples import COMPAS_RACES, compas, compas_path

RACES = COMPAS_RACES
COLUMNS = ["sex", "age", "priors_count", "length_of_stay", "decile_score"]
SHORT_RACE = dict(zip(("AA", "C"), RACES, strict=True))
TRAINED_SHARE = 0.7


@dataclass(frozen=True)
class Records:
    """Released columns, the code of each secret, and which records are learned from.

    ``days_cut`` is the stay as the difference of the two times cut down to whole days (pandas' ``.dt.days``); the
    column ``length_of_stay`` is the difference of the two dates. ``in_file`` counts the records of both races before
    ProPublica's filter.
    """

    X: pd.DataFrame
    secret: NDArray[np.int64]
    train: NDArray[np.int64]
    test: NDArray[np.int64]
    days_cut: NDArray[np.int64]
    elapsed: NDArray[np.float64]
    hours: NDArray[np.int64]
    in_file: int

    def part(self, name: str) -> tuple[pd.DataFrame, NDArray[np.int64]]:
        """Records and secrets of ``train`` or ``test``."""
        rows = {"train": self.train, "test": self.test}[name]
        return self.X.iloc[rows], self.secret[rows]


def read_records(*, random_state: int = 0, thinned: bool = False) -> Records:
    """COMPAS as in the paper, split 70/30; race African-American is secret 0, Caucasian is 1.

    ``thinned`` leaves a tenth of the records to learn from.
    """
    table = compas().to_pandas()
    came, went, in_file = _times(table)
    elapsed = ((went - came).dt.total_seconds() / 86_400).to_numpy()
    order = np.random.default_rng(random_state).permutation(len(table))
    learned = round(TRAINED_SHARE * len(table))
    return Records(
        X=table[COLUMNS],
        secret=(table["race"] == RACES[1]).to_numpy().astype(np.int64),
        train=np.sort(order[:learned:10] if thinned else order[:learned]),
        test=np.sort(order[learned:]),
        days_cut=np.floor(elapsed).astype(np.int64),
        elapsed=elapsed,
        hours=np.concatenate([came.dt.hour, went.dt.hour]),
        in_file=in_file,
    )


def describe(records: Records) -> dict[str, Any]:
    """What the page says about the data."""
    values = records.X.groupby(list(records.X.columns)).size()
    return {
        "of_each": np.bincount(records.secret),
        "train": len(records.train),
        "test": len(records.test),
        "in_file": records.in_file,
        "values": len(values),
        "of_one_person": int((values == 1).sum()),
        "missing": int(records.X.isna().to_numpy().sum()),
        "hours": [int(records.hours.min()), int(records.hours.max())],
        "left_before_they_came": int((records.elapsed < 0).sum()),
        "other_stay": float((records.days_cut != records.X["length_of_stay"]).mean()),
    }


def _times(table: pd.DataFrame) -> tuple[pd.Series, pd.Series, int]:
    """Times of entering and leaving jail, which the package's table has turned into days; records in the file."""
    raw = pd.read_csv(compas_path())
    raw = raw[raw["race"].isin(RACES)]
    in_file = len(raw)
    kept = raw["days_b_screening_arrest"].abs().le(30) & raw["is_recid"].ne(-1) & raw["c_charge_degree"].ne("O")
    raw = raw[kept & raw["score_text"].notna()].reset_index(drop=True)
    same = ["race", "sex", "age", "priors_count", "decile_score"]
    if not raw[same].equals(table[same]):
        raise DataError("the filter here and the one of tacit.verbs.examples.compas() keep different records")
    return pd.to_datetime(raw["c_jail_in"]), pd.to_datetime(raw["c_jail_out"]), in_file


@dataclass(frozen=True)
class PrintedRow:
    """A row of one of the paper's tables."""

    table: str
    sex: str
    race: str
    age: int
    priors_count: int
    length_of_stay: int
    decile_score: int

    def __str__(self) -> str:
        return f"{self.sex} {self.race} {self.age}, {self.priors_count}, {self.length_of_stay}, {self.decile_score}"

    def released(self, length_of_stay: int | None = None) -> pd.DataFrame:
        """The row as a record, perhaps with another length of stay."""
        stay = self.length_of_stay if length_of_stay is None else length_of_stay
        sex = {"M": "Male", "F": "Female"}[self.sex]
        return pd.DataFrame([[sex, self.age, self.priors_count, stay, self.decile_score]], columns=COLUMNS)


CLAIMS = {
    "I": "i(0,x) high, i(1,x) low",
    "II": "i(0,x) low, i(1,x) high",
    "III": "i(0,x) near 0, i(1,x) high",
    "IV": "i(1,x) near 0, i(0,x) high",
}
_PRINTED = {
    "I": "M AA 21 1 1 9; M AA 33 5 0 5; M C 43 0 2 1; M AA 27 13 0 10; M AA 59 8 8 8; M AA 29 5 5 7; M AA 25 1 0 3",
    "II": "F AA 39 0 57 5; M C 41 5 1 1; F C 31 2 1 1; M C 50 3 11 2; M C 27 2 1 2",
    "III": "M C 29 0 0 2; M C 45 0 2 2; M C 25 0 1 2; M C 42 1 1 2; M AA 25 3 7 6; F AA 37 3 28 7; M AA 19 2 1 10; "
    "M C 56 1 1 1",
    "IV": "M C 25 1 42 3; M AA 53 11 110 6; M AA 23 4 31 10; M C 48 0 68 8",
}
PRINTED = tuple(
    PrintedRow(table, sex, race, *map(int, numbers))
    for table, rows in _PRINTED.items()
    for sex, race, *numbers in (row.split() for row in rows.split(";"))
)


@dataclass(frozen=True)
class Match:
    """The records that a printed row may be, as (of the printed race, of the other race).

    ``by_date`` counts those whose stay in calendar days is the printed one, ``by_time`` those whose stay is by the
    difference of times cut to whole days, ``near`` those within a day in calendar days. ``rows`` are the records of
    the printed race under the first of the three that has any, and ``length_of_stay`` their stay in calendar days.
    """

    by_date: tuple[int, int]
    by_time: tuple[int, int]
    near: tuple[int, int]
    rows: NDArray[np.int64]
    length_of_stay: int


def match(row: PrintedRow, records: Records) -> Match:
    """Look a printed row up in the data."""
    wanted = row.released().iloc[0]
    same = (records.X[["sex", "age", "priors_count", "decile_score"]] == wanted.drop("length_of_stay")).all(axis=1)
    own = records.secret == list(SHORT_RACE).index(row.race)
    days = records.X["length_of_stay"].to_numpy()
    readings = [days == row.length_of_stay, records.days_cut == row.length_of_stay, abs(days - row.length_of_stay) <= 1]
    found = [same.to_numpy() & stay for stay in readings]
    rows = next((np.flatnonzero(f & own) for f in found if (f & own).any()), np.array([], dtype=np.int64))
    by_date, by_time, near = ((int((f & own).sum()), int((f & ~own).sum())) for f in found)
    return Match(by_date, by_time, near, rows, int(days[rows[0]]) if len(rows) else row.length_of_stay)
