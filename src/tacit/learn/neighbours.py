"""The Bayes risk from nearest neighbours, without a model: the estimates of F-BLEAU.

Cherubin, Chatzikokolakis, Palamidessi, *F-BLEAU: Fast Black-box Leakage Estimation*, IEEE S&P 2019.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from tacit.errors import ArgumentError
from tacit.lift import Estimate, Matrix, lower_limit, upper_limit


@dataclass(frozen=True)
class NeighbourRisk:
    """How often guesses by neighbours are wrong about held-out records, and what follows for the best guess there is.

    ``error`` is that of the ``neighbours`` nearest (with exact 95% limits): as the number of records grows it falls to
    the Bayes risk, from above. ``nearest`` is that of the single nearest. ``least`` is the smallest Bayes risk that
    Cover and Hart's inequality allows in the limit, an estimate: no finite sample proves how good the best guess is.
    ``guessing`` is the error without any record.
    """

    error: Estimate
    nearest: float
    least: float
    guessing: float
    neighbours: int


def neighbour_risk(
    X: ArrayLike, secret: ArrayLike, X_apart: ArrayLike, secret_apart: ArrayLike, *, neighbours: int | None = None
) -> NeighbourRisk:
    """The error of nearest neighbours on held-out records; k is log n by default, which is consistent.

    Columns are finite numbers on comparable scales. A secret that no record to learn from has cannot be guessed; if
    that is true of all of them, the answer would say nothing about the release, and the question is refused.
    """
    from sklearn.neighbors import KNeighborsClassifier

    records, others = _numbers(X, secret), _numbers(X_apart, secret_apart)
    secrets, codes = np.unique(np.asarray(secret), return_inverse=True)
    apart = np.asarray(secret_apart)
    if len(secrets) < 2 or not len(apart):
        raise ArgumentError("there must be two secrets to learn from, and held-out records to guess")
    if records.shape[1] != others.shape[1]:
        raise ArgumentError(f"records have {records.shape[1]} columns, and those held out {others.shape[1]}")
    if not set(secrets.tolist()) & set(apart.tolist()):
        raise ArgumentError("no held-out record has a secret of the records to learn from")
    k = max(1, int(np.log(len(codes)))) if neighbours is None else neighbours
    if not (isinstance(k, int | np.integer) and 1 <= k <= len(codes)):
        raise ArgumentError(
            f"neighbours is {k}; it must be a whole number from 1 to the {len(codes)} records to learn from"
        )

    def wrong(number: int) -> int:
        guesses = KNeighborsClassifier(number).fit(records, codes).predict(others)
        return int((secrets[guesses] != apart).sum())

    n, missed, nearest = len(apart), wrong(k), wrong(1) / len(apart)
    most = (len(secrets) - 1) / len(secrets)
    least = most * (1 - np.sqrt(max(0.0, 1 - nearest / most)))
    commonest = secrets[np.bincount(codes).argmax()]
    limits = (float(lower_limit(missed, n, beta=0.025)), float(upper_limit(missed, n, beta=0.025)))
    return NeighbourRisk(
        error=Estimate(missed / n, *limits, "estimate"),
        nearest=nearest,
        least=float(least),
        guessing=float((apart != commonest).mean()),
        neighbours=k,
    )


def _numbers(X: ArrayLike, secret: ArrayLike) -> Matrix:
    try:
        rows = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError):
        rows = np.array(np.nan)
    if rows.ndim != 2 or np.shape(secret) != rows.shape[:1] or not np.isfinite(rows).all():
        raise ArgumentError("records are a table of finite numbers, with one secret for each of them")
    return rows
