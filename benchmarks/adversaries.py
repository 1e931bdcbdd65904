"""What an adversary gets from a release: the secret from a row, and a person's row from what is known about the person.

A library for cells.py. The adversary of rows is retrained for each release, on what it can have: people outside whose
secrets it knows, or half of the released people, whose secrets somebody told it. The one who links knows some columns
of a person, keeps the released rows that fit, and reads what they say about the rest; people outside are its control,
since the file can tell nothing about them beyond what is usual.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from people_tables import PeopleTable
from readers import area, auc, fitted
from readings import Codes, Flags, TableReading, Vector

# This many people are looked for, inside and outside.
LOOKED_FOR = 1_000
# If this share of the candidates agree, they have told a value.
AGREED = 0.95


def secret_auc(table: PeopleTable, reading: TableReading) -> float:
    """The better of two adversaries: trained outside and applied to the release, or trained on half the release."""
    told, secrets = reading.features(), table.inside[table.secret].to_numpy()
    elsewhere = fitted(reading.features_of(table.outside), table.outside[table.secret].to_numpy())
    values, codes = np.unique(secrets, return_inverse=True)
    half = np.random.default_rng(0).random(len(told)) < 0.5
    guesses = np.zeros((len(told), len(values)))
    for learn, judge in ((half, ~half), (~half, half)):
        model = fitted(told[learn], codes[learn])
        guesses[np.ix_(judge, model.classes_)] = model.predict_proba(told[judge].to_numpy())
    return max(auc(elsewhere, told, secrets), area(guesses, np.arange(len(values)), codes))


@dataclass(frozen=True)
class Linked:
    """What linking found out: right guesses of the wanted column inside and outside, and people found with a value.

    ``picked`` is the chance that a row drawn from the candidates is the person's own.
    """

    inside: float
    outside: float
    found: float
    picked: float

    @property
    def excess(self) -> float:
        """How much of what is not guessed right outside is guessed right inside."""
        return (self.inside - self.outside) / max(1 - self.outside, 1e-9)


def linked(table: PeopleTable, reading: TableReading) -> Linked:
    """Look for people by the columns known, and read the wanted one off the rows that fit."""
    inside, outside = (_looked_for(frame) for frame in (table.inside, table.outside))
    column = reading.columns[table.wanted]
    rows = _DistinctRows.of(reading)
    chances = column.group_shares()[column.said[rows.first]]
    usual = np.average(chances, axis=0, weights=rows.count)
    right, found, picked = {}, 0.0, 0.0
    for where, frame in (("inside", inside), ("outside", outside)):
        fits = _fits(table, reading, frame, rows)
        candidates = fits @ rows.count
        told = (fits * rows.count) @ chances / np.maximum(candidates, 1)[:, None]
        # Of candidates that say nothing more, what is usual decides.
        guess = np.where((candidates > 0)[:, None], told + 1e-6 * usual, usual)
        truth = column.of.groups[column.of.codes(frame[table.wanted])]
        right[where] = float((guess.argmax(axis=1) == truth).mean())
        if where == "inside":
            found = float(((told.max(axis=1) >= AGREED) & (guess.argmax(axis=1) == truth)).mean())
            own = fits[np.arange(len(frame)), reading.rows[frame.index]]
            picked = float((own / np.maximum(candidates, 1)).mean())
    return Linked(right["inside"], right["outside"], found, picked)


def _looked_for(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.sample(min(LOOKED_FOR, len(frame)), random_state=1)


@dataclass(frozen=True)
class _DistinctRows:
    """The released rows that differ: the first of each kind, and how many there are."""

    first: Codes
    count: Vector

    @classmethod
    def of(cls, reading: TableReading) -> _DistinctRows:
        _, first, count = np.unique(reading.rows, return_index=True, return_counts=True)
        return cls(first.astype(np.intp), count.astype(np.float64))


def _fits(table: PeopleTable, reading: TableReading, people: pd.DataFrame, rows: _DistinctRows) -> Flags:
    """Which released rows allow all that is known about each person (people x rows)."""
    fits = np.ones((len(people), len(rows.first)), dtype=bool)
    for name in table.known:
        column = reading.columns[name]
        fits &= column.holds(column.of.codes(people[name]))[:, column.said[rows.first]]
    return fits


@dataclass(frozen=True)
class Guessed:
    """How often the secret is guessed right from what is known about a person alone, and with the file."""

    before: float
    after: float


def guessed(table: PeopleTable, reading: TableReading) -> Guessed:
    """The secret of people looked for: from what is known, and with what fitting rows say about the wanted column.

    Both come from models of people outside, P(wanted | known) and P(secret | known, wanted). The file's word on the
    wanted column counts as evidence, against what is usual in the file: a file that says nothing changes nothing.
    """
    people = _looked_for(table.inside)
    column, rows = reading.columns[table.wanted], _DistinctRows.of(reading)
    known = TableReading({name: reading.columns[name] for name in table.known}, reading.rows)
    groups = column.of.groups[column.of.codes(table.outside[table.wanted])]
    outside, inside = known.features_of(table.outside), known.features_of(people)
    n_groups = int(column.of.groups.max()) + 1
    wanted = np.zeros((len(people), n_groups))
    model = fitted(outside, groups)
    wanted[:, model.classes_] = model.predict_proba(inside.to_numpy())
    secrets = fitted(outside.assign(wanted=groups), table.outside[table.secret].to_numpy())
    by_wanted = np.stack([secrets.predict_proba(inside.assign(wanted=at).to_numpy()) for at in range(n_groups)])
    chances = column.group_shares()[column.said[rows.first]]
    usual = np.average(chances, axis=0, weights=rows.count)
    fits = _fits(table, reading, people, rows) * rows.count
    told = np.where(fits.sum(axis=1, keepdims=True) > 0, fits, rows.count) @ chances
    told /= told.sum(axis=1, keepdims=True)
    evidence = wanted * (told + 1e-6 * usual) / (usual + 1e-9)
    truth = people[table.secret].to_numpy()
    right = [
        (secrets.classes_[np.einsum("pw,wps->ps", weights, by_wanted).argmax(axis=1)] == truth).mean()
        for weights in (wanted, evidence / evidence.sum(axis=1, keepdims=True))
    ]
    return Guessed(float(right[0]), float(right[1]))
