"""What a reader keeps of a release: of each column, of how columns are related, and of what a model learns from it.

A library for cells.py. The reader never sees the original, only what the release says (readings.py).
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from people_tables import PeopleTable
from readings import Codes, TableReading, Vector
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

# Every released row is filled in this many times.
FILLED = 4


def fitted(told: pd.DataFrame, wanted: NDArray, weight: Vector | None = None) -> HistGradientBoostingClassifier:
    """The model of readers and adversaries alike: boosted trees."""
    several = len(np.unique(wanted)) > 2
    return HistGradientBoostingClassifier(
        max_iter=40 if several else 80, learning_rate=0.08, max_leaf_nodes=15, min_samples_leaf=20, random_state=0
    ).fit(told.to_numpy(), wanted, sample_weight=weight)


def auc(model: HistGradientBoostingClassifier, judged: pd.DataFrame, truth: NDArray) -> float:
    """Area under the curve; of several values, the mean over each against the rest, by their shares."""
    if len(model.classes_) == 1:
        return 0.5
    return area(model.predict_proba(judged.to_numpy()), model.classes_, truth)


def area(guesses: Vector, values: NDArray, truth: NDArray) -> float:
    areas, shares = [], []
    for at, value in enumerate(values):
        here = truth == value
        if 0 < here.sum() < len(here):
            areas.append(roc_auc_score(here, guesses[:, at]))
            shares.append(here.mean())
    return float(np.average(areas, weights=shares))


def use_auc(table: PeopleTable, reading: TableReading) -> float:
    """A model trained on the release, with ranges as their means, judged on original records of people in no release.

    It is the reader's first idea, and a poor one: trees learn from values that nobody has, such as the mean of a column
    that a cell does not tell, and with cells that hardly differ the area moves by .05. See :func:`filled_auc`.
    """
    told, judged = reading.features(without=table.use), reading.features_of(table.outside, without=table.use)
    wanted, truth = _wanted(table, reading)
    return auc(fitted(told, wanted), judged, truth)


def filled_auc(table: PeopleTable, reading: TableReading) -> float:
    """The same for a reader who fills in values that the statements allow, several times for each row.

    Each is weighted by how well it fits what is known about the person's use, by a first, additive model, which reads
    ranges as it reads values. Where a release states values, nothing is filled in.
    """
    others = {name: column for name, column in reading.columns.items() if name != table.use}
    wanted, truth = _wanted(table, reading)
    judged = reading.features_of(table.outside, without=table.use)
    if len(np.unique(wanted)) < 2:
        return 0.5
    told = np.hstack([column.group_shares()[column.said] for column in others.values()])
    first = LogisticRegression(C=0.3, max_iter=300).fit(told, wanted)
    rng, filled, fits = np.random.default_rng(0), [], []
    for _ in range(FILLED):
        drawn = {name: column.drawn(rng) for name, column in others.items()}
        filled.append(np.column_stack([v for n, c in others.items() for v in c.features_of(n, drawn[n]).values()]))
        groups = [np.eye(column.of.groups.max() + 1)[column.of.groups[drawn[name]]] for name, column in others.items()]
        guesses = first.predict_proba(np.hstack(groups))
        fits.append(guesses[np.arange(len(wanted)), np.searchsorted(first.classes_, wanted)])
    weight = (np.array(fits) / np.sum(fits, axis=0)).ravel()
    model = fitted(pd.DataFrame(np.vstack(filled)), np.tile(wanted, FILLED), weight)
    return auc(model, judged, truth)


def _wanted(table: PeopleTable, reading: TableReading) -> tuple[NDArray, NDArray]:
    """What the reader predicts: for released people, as far as it is told, and for those who are not."""
    if table.use in table.released:
        column = reading.columns[table.use]
        return column.drawn(np.random.default_rng(0)), column.of.codes(table.outside[table.use])
    return table.inside[table.use].to_numpy(), table.outside[table.use].to_numpy()


def association_error(table: PeopleTable, reading: TableReading) -> float:
    """Mean difference of Cramer's V over all pairs of columns in coarse groups, release against original."""
    original, told = {}, {}
    for name, column in reading.columns.items():
        n_groups = column.of.groups.max() + 1
        original[name] = np.eye(n_groups)[column.of.groups[column.of.codes(table.inside[name])]]
        told[name] = column.group_shares()[column.said]
    pairs = list(combinations(original, 2))
    return float(np.mean([abs(cramer(original[a].T @ original[b]) - cramer(told[a].T @ told[b])) for a, b in pairs]))


def cramer(counts: Vector) -> float:
    """Cramer's V of a cross table."""
    counts = counts[counts.sum(axis=1) > 1e-9][:, counts.sum(axis=0) > 1e-9]
    if min(counts.shape) < 2:
        return 0.0
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.sum()
    chi = ((counts - expected) ** 2 / expected).sum() / counts.sum()
    return float(np.sqrt(chi / (min(counts.shape) - 1)))


def kept_of_columns(table: PeopleTable, reading: TableReading) -> dict[str, float]:
    """What a person's row says about a column in that very column: information, less chance, as a share of its own.

    Columns are taken in coarse groups. Chance is what the same statements say when shuffled among the rows.
    """
    kept = {}
    for name, column in reading.columns.items():
        groups = column.of.groups[column.of.codes(table.inside[name])]
        by_chance = information(groups, np.random.default_rng(0).permutation(column.said))
        # A statement for every group at most tells the groups; where there are more, chance is nearly all.
        whole = information(groups, groups)
        kept[name] = float((information(groups, column.said) - by_chance) / max(whole - by_chance, 1e-9))
    return kept


def kept_by_rows(table: PeopleTable, reading: TableReading) -> dict[str, float]:
    """What the whole released row says about a column, less chance (THEORY.md 8.3); 0 if every row is different."""
    kept = {}
    for name, column in reading.columns.items():
        groups = column.of.groups[column.of.codes(table.inside[name])]
        by_chance = information(groups, np.random.default_rng(0).permutation(reading.rows))
        kept[name] = float((information(groups, reading.rows) - by_chance) / max(information(groups, groups), 1e-9))
    return kept


def information(first: Codes, second: Codes) -> float:
    """Mutual information in nats, counted."""
    pairs = np.unique(first * (second.max() + 1) + second, return_counts=True)[1] / len(first)
    marginals = [np.bincount(codes) / len(codes) for codes in (first, second)]
    return float(sum(_entropy(share) for share in marginals) - _entropy(pairs))


def _entropy(share: Vector) -> float:
    share = share[share > 0]
    return float(-(share * np.log(share)).sum())
