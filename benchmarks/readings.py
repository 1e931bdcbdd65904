"""What a release says about each person: for every column, which values the person may have.

A library for cells.py and outside_judge.py. A reader of "30 to 39" knows an interval, a reader of "Private or
Local-gov" a set, a reader of a drawn value one value, which may be wrong. From that a reader makes numbers: the mean of
the values and the chance of each category; one drawn; or the usual one. How often each value occurs in the whole table
counts as known.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Codes = NDArray[np.intp]
Flags = NDArray[np.bool_]
GROUPS = 10
MANY = 24


def plain(column: pd.Series) -> pd.Series:
    """Numbers as they are, dates as days, all else as text."""
    if column.dtype.kind in "fiu":
        return column
    if isinstance(column.iloc[0], dt.date):
        return column.map(lambda day: day.toordinal()).astype(np.int64)
    return column.astype(str)


@dataclass(frozen=True)
class Values:
    """The values of a column, sorted, how often each occurs among the released, and a coarse group for each."""

    values: NDArray
    share: Vector
    groups: Codes
    ordered: bool

    @classmethod
    def of(cls, inside: pd.Series, outside: pd.Series) -> Values:
        own = plain(inside).to_numpy()
        values = np.unique(np.concatenate([own, plain(outside).to_numpy()]))
        ordered = values.dtype.kind in "fiu"
        share = np.bincount(np.searchsorted(values, own), minlength=len(values)) / len(own)
        groups = np.arange(len(values))
        if ordered and len(values) > 2 * GROUPS:
            edges = np.unique(np.quantile(own, np.arange(1, GROUPS) / GROUPS))
            groups = np.searchsorted(edges, values, side="left")
        return cls(values, share, groups.astype(np.intp), ordered)

    def codes(self, column: pd.Series) -> Codes:
        return np.searchsorted(self.values, plain(column).to_numpy()).astype(np.intp)


@dataclass(frozen=True)
class ColumnReading:
    """What is said about one column: ``said`` is a statement for each row, ``may`` its values (statements x values).

    For an ordered column a statement is a run of values, from ``low`` to ``high``, and ``may`` is empty.
    """

    of: Values
    said: Codes
    low: Codes
    high: Codes
    may: Flags

    def holds(self, codes: Codes) -> Flags:
        """Does a statement allow a person's value (people x statements)?"""
        if self.of.ordered:
            return (self.low[None, :] <= codes[:, None]) & (codes[:, None] <= self.high[None, :])
        return np.asarray(self.may[:, codes].T)

    def drawn(self, rng: np.random.Generator) -> Codes:
        """A value for every row among those that it may have, drawn as often as they occur."""
        uniform = rng.random(len(self.said))
        running = self._running(self.of.share)
        if self.of.ordered:
            low, high = self.low[self.said], self.high[self.said]
            wanted = running[low] + uniform * (running[high + 1] - running[low])
            return np.clip(np.searchsorted(running, wanted, side="right") - 1, low, high)
        shares = self._shares().cumsum(axis=1)
        return (uniform[:, None] >= shares[self.said]).sum(axis=1).clip(max=len(self.of.values) - 1).astype(np.intp)

    def usual(self) -> Codes:
        """The value in the middle of those that a row may have, or the commonest."""
        if not self.of.ordered:
            return np.asarray(self._shares().argmax(axis=1)[self.said])
        running = self._running(self.of.share)
        middle = (running[self.low] + running[self.high + 1]) / 2
        return np.clip(np.searchsorted(running, middle, side="left") - 1, self.low, self.high)[self.said]

    def means(self) -> Vector:
        """For an ordered column: the mean of the values that each statement allows."""
        share = self.of.share + 1e-12
        sums = [self._running(weight) for weight in (share * self.of.values, share)]
        over, under = (each[self.high + 1] - each[self.low] for each in sums)
        return np.asarray(over / under)

    def group_shares(self) -> Vector:
        """How likely each coarse group is, by what each statement allows (statements x groups)."""
        members = np.eye(self.of.groups.max() + 1)[self.of.groups]
        if not self.of.ordered:
            return self._shares() @ members
        sums = np.vstack([np.zeros(members.shape[1]), np.cumsum((self.of.share + 1e-12)[:, None] * members, axis=0)])
        found = sums[self.high + 1] - sums[self.low]
        return np.asarray(found / found.sum(axis=1, keepdims=True))

    def features(self, name: str) -> dict[str, Vector]:
        """What a model is given of each row: a mean, or the chance of each category."""
        if self.of.ordered:
            return {name: self.means()[self.said]}
        return {f"{name} {at}": chances[self.said] for at, chances in enumerate(self._chances(self._shares()))}

    def features_of(self, name: str, codes: Codes) -> dict[str, Vector]:
        """The same of people as they are."""
        if self.of.ordered:
            return {name: self.of.values[codes].astype(np.float64)}
        return {f"{name} {at}": chances[codes] for at, chances in enumerate(self._chances(np.eye(len(self.of.values))))}

    def _chances(self, shares: Vector) -> Vector:
        """By category; where there are many, as for postcodes, their mean place in the alphabet."""
        many = len(self.of.values) > MANY
        return (shares @ np.arange(len(self.of.values)))[None, :] if many else shares.T

    @staticmethod
    def _running(weights: Vector) -> Vector:
        return np.concatenate([[0.0], np.cumsum(weights)])

    def _shares(self) -> Vector:
        weights = np.where(self.may, self.of.share, 0.0)
        # A set of values that the released table has not: they count alike.
        weights = np.where(weights.sum(axis=1, keepdims=True) > 0, weights, self.may)
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))


@dataclass(frozen=True)
class TableReading:
    """What a release says about all columns; ``rows`` numbers the released rows that read alike."""

    columns: Mapping[str, ColumnReading]
    rows: Codes

    @classmethod
    def of(cls, columns: Mapping[str, ColumnReading]) -> TableReading:
        said = pd.DataFrame({name: column.said for name, column in columns.items()})
        return cls(columns, said.groupby(list(said)).ngroup().to_numpy(dtype=np.intp))

    def drawn(self, rng: np.random.Generator) -> dict[str, Codes]:
        """Every row filled in, column by column."""
        return {name: column.drawn(rng) for name, column in self.columns.items()}

    def usual(self) -> dict[str, Codes]:
        return {name: column.usual() for name, column in self.columns.items()}

    def features(self, without: str = "") -> pd.DataFrame:
        """What a model is given of the release."""
        told = [column.features(name) for name, column in self.columns.items() if name != without]
        return pd.DataFrame({name: values for one in told for name, values in one.items()})

    def features_of(self, people: pd.DataFrame, without: str = "") -> pd.DataFrame:
        """What a model is given of people as they are."""
        told = [
            column.features_of(name, column.of.codes(people[name]))
            for name, column in self.columns.items()
            if name != without
        ]
        return pd.DataFrame({name: values for one in told for name, values in one.items()})


def read_true(release: pd.DataFrame, original: pd.DataFrame, values: Mapping[str, Values]) -> TableReading:
    """For a release whose statements are true: a statement means the values of the people about whom it is made."""
    return TableReading.of({name: _true(release[name], original[name], values[name]) for name in values})


def _true(release: pd.Series, original: pd.Series, of: Values) -> ColumnReading:
    texts, said = np.unique(release.astype(str).to_numpy(), return_inverse=True)
    codes = of.codes(original)
    low, high = np.full(len(texts), len(of.values), dtype=np.intp), np.zeros(len(texts), dtype=np.intp)
    np.minimum.at(low, said, codes)
    np.maximum.at(high, said, codes)
    may = np.zeros((0, 0) if of.ordered else (len(texts), len(of.values)), dtype=bool)
    if not of.ordered:
        may[said, codes] = True
    return ColumnReading(of, said.astype(np.intp), low, high, may)


def read_drawn(release: pd.DataFrame, values: Mapping[str, Values]) -> TableReading:
    """For a release of values of the table: each statement is a value, or a bin with its edges."""
    return TableReading.of({name: _drawn(release[name], values[name]) for name in values})


_BIN = re.compile(r"\[(?P<low>[^,]+), (?P<high>[^)]+)\)|< (?P<below>.+)|>= (?P<above>.+)|(?P<any>any number)")


def _drawn(release: pd.Series, of: Values) -> ColumnReading:
    if not of.ordered:
        texts, said = np.unique(release.astype(str).to_numpy(), return_inverse=True)
        return ColumnReading(of, said.astype(np.intp), *_none(), of.values[None, :] == texts[:, None])
    cut = release.dtype.kind not in "fiu" and not isinstance(release.iloc[0], dt.date)
    texts, said = np.unique((release if cut else plain(release)).to_numpy(), return_inverse=True)
    runs = np.array([_run(text, of) if cut else [np.searchsorted(of.values, text)] * 2 for text in texts])
    return ColumnReading(of, said.astype(np.intp), runs[:, 0], runs[:, 1], np.zeros((0, 0), dtype=bool))


def _none() -> tuple[Codes, Codes]:
    return np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.intp)


def _run(text: str, of: Values) -> list[int]:
    found = _BIN.fullmatch(text)
    assert found, text
    low, high = found["low"] or found["above"], found["high"] or found["below"]
    first = int(np.searchsorted(of.values, float(low))) if low else 0
    last = int(np.searchsorted(of.values, float(high))) - 1 if high else len(of.values) - 1
    return [first, last]


def read_levels(release: pd.DataFrame, original: pd.DataFrame, values: Mapping[str, Values], code: Any) -> TableReading:
    """For a release in cells, drawn or not: each statement is a level, and the published code says what it means."""
    columns = {}
    for at, scale in enumerate(code.scales):
        of = values[scale.column]
        meant = {scale.text(part): np.append(part, np.all(part)) for part in code.tree.parts_of(at)[1]}
        texts, said = np.unique(release[scale.column].astype(str).to_numpy(), return_inverse=True)
        # An atom of -1, of a value that no released person has, is the last: only "any" allows it.
        atoms = scale.atoms_of(_as_given(of, original[scale.column]))
        may = np.array([meant[text][atoms] for text in texts])
        low, high = may.argmax(axis=1), may.shape[1] - 1 - may[:, ::-1].argmax(axis=1)
        columns[scale.column] = ColumnReading(of, said.astype(np.intp), low, high, may[:0, :0] if of.ordered else may)
    return TableReading.of(columns)


def _as_given(of: Values, original: pd.Series) -> list[Any]:
    values = of.values.tolist()
    if original.dtype == bool:
        return [value == "True" for value in values]
    return [dt.date.fromordinal(day) for day in values] if isinstance(original.iloc[0], dt.date) else values
