"""Splits of records: every record is scored by models that never saw it, and held-out records decide when to stop."""

from __future__ import annotations

import numpy as np

from tacit.learn.arrays import Codes

# Share of the learning records that only say when to stop.
CHECK_SHARE = 0.15


def fold_of_each(secret: Codes, folds: int, random_state: np.random.Generator) -> Codes:
    """A fold for every record, each secret spread evenly over the folds."""
    fold = np.empty(len(secret), dtype=np.int64)
    # One running number over all secrets, so that rare secrets do not all land in fold 0 and sizes differ by one.
    order = np.lexsort((random_state.random(len(secret)), secret))
    fold[order] = np.arange(len(secret)) % folds
    return fold


def learn_and_check(fold: Codes, k: int, secret: Codes, random_state: np.random.Generator) -> tuple[Codes, Codes]:
    """The records outside fold ``k``: those to learn from, and those that say when to stop."""
    return checked_apart(np.flatnonzero(fold != k), secret, random_state)


def checked_apart(
    rows: Codes, secret: Codes, random_state: np.random.Generator, *, share: float = CHECK_SHARE
) -> tuple[Codes, Codes]:
    """Rows to learn from, and about a ``share`` of them that say when to stop."""
    order = rows[np.lexsort((random_state.random(len(rows)), secret[rows]))]
    # Every seventh, say, in order of secret, so that both parts hold every secret that occurs often enough.
    every = round(1 / share)
    check = np.arange(len(order)) % every == every - 1
    learn, apart = order[~check], order[check]
    # A secret must not occur only in the check; and where no record can be spared, the learners check themselves.
    apart = apart[np.isin(secret[apart], secret[learn])]
    return random_state.permutation(learn), random_state.permutation(apart if len(apart) else learn)
