"""An exact test of independence that needs no learning: is any column, or product of two, tied to the secret?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from scipy import sparse
from scipy.stats import rankdata

from tacit.learn.arrays import Codes, Floats
from tacit.learn.linear import MOST_COLUMNS

SHUFFLES = 199
# More records than this say nothing more about whether there is any association.
MOST_RECORDS = 20_000
SHUFFLES_AT_ONCE, COLUMNS_AT_ONCE = 50, 128


def some_records(records: int, random_state: np.random.Generator) -> Codes:
    """The records that the test looks at: all, or some of them drawn."""
    if records <= MOST_RECORDS:
        return np.arange(records)
    return np.sort(random_state.choice(records, MOST_RECORDS, replace=False))


def association_test(design: Any, secret: Codes, random_state: np.random.Generator) -> float:
    """Chance, over shuffles of the secrets, of associations as strong as those found.

    There are four statistics: the strongest single association and the sum of all, for the columns and, separately, for
    products of two. The p-value is that of the most surprising of the four.

    Guarantees
    ----------
    Exact: if the secrets are exchangeable, the p-value is at most a with probability at most a.
    """
    rows = some_records(len(secret), random_state)
    own = secret[rows].astype(np.int32)
    drawn = np.stack([own, *(random_state.permutation(own) for _ in range(SHUFFLES))])
    statistics = []
    for blocks in _column_sets(design[rows]):
        squares = np.hstack([_squared_associations(columns, drawn) for columns in blocks])
        if squares.shape[1]:
            statistics += [squares.max(axis=1), squares.sum(axis=1)]
    if not statistics:
        return 1.0
    # Rounding must not break ties.
    surprise = np.stack([rankdata(-np.round(statistic, 9), method="max") for statistic in statistics]).min(axis=0)
    return float((surprise <= surprise[0]).mean())


def _column_sets(design: Any) -> list[Iterable[Any]]:
    """The columns, and their products block by block: memory of many megabytes takes longer to get than to fill."""
    if sparse.issparse(design):
        return [[design]]
    design = design[:, design.std(axis=0) > 1e-9]
    if not 1 < design.shape[1] <= MOST_COLUMNS:
        return [[design]]
    return [[design], _products(design)]


def _products(design: Floats) -> Iterator[Floats]:
    """The products of every two columns, and the squares, about ``COLUMNS_AT_ONCE`` at once."""
    size, left = design.shape[1], 0
    while left < size:
        right = left + max(1, COLUMNS_AT_ONCE // (size - left))
        yield np.hstack([design[:, c, None] * design[:, c:] for c in range(left, min(right, size))])
        left = right


def _squared_associations(columns: Any, drawn: Codes) -> Floats:
    """For every row of secrets and every column, the squared correlation with the secrets, summed over them."""
    n, secrets = drawn.shape[1], int(drawn.max()) + 1
    share = np.bincount(drawn[0], minlength=secrets) / n
    if sparse.issparse(columns):
        mean = np.asarray(columns.mean(axis=0)).ravel()
        deviation = np.sqrt(np.maximum(np.asarray(columns.power(2).mean(axis=0)).ravel() - mean**2, 0))
    else:
        mean, deviation = columns.mean(axis=0), columns.std(axis=0)
    used = deviation > 1e-9
    columns, mean, deviation = columns[:, used], mean[used], deviation[used]
    out = np.zeros((len(drawn), len(mean)))
    for start in range(0, len(drawn), SHUFFLES_AT_ONCE):
        batch = drawn[start : start + SHUFFLES_AT_ONCE]
        # With two secrets, the correlations of one are those of the other reversed, and only their order counts.
        for s in range(1 if secrets == 2 else 0, secrets):
            hit = (batch == s).astype(np.float64)
            # The mean of a column among the records of the secret, in standard errors.
            total = np.asarray(columns.T @ hit.T).T
            z = (total - n * share[s] * mean) / (deviation * np.sqrt(max(share[s] * n, 1.0)))
            out[start : start + len(batch)] += (1 - share[s]) * z**2
    return out
