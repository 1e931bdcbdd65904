"""The bench: every family learns from two thirds of the records and guesses the others, for each third in turn."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from tacit.document import Progress, silent
from tacit.errors import DataError
from tacit.learn import binomial_limits, fold_of_each
from tacit.learn.arrays import Codes, Floats
from tacit.lenses.adversaries import scored
from tacit.lenses.bench.families import Family
from tacit.release.certificate import AdversaryScore

FOLDS = 3
# More records than this teach the families little more, and take minutes.
MOST_TRIED = 10_000
CONFIDENCE = 0.95


@dataclass(frozen=True, eq=False)
class BenchRecords:
    """Original records and what was released for them, row by row, with their secrets.

    ``fold`` says which third each is in; all records of one person are in the same one. ``middle`` is what somebody
    with the originals learns from if the release is written in other terms than they are; None means ``before``.
    """

    before: Any
    after: Any
    secret: Codes
    fold: Codes
    middle: Any = None


@dataclass(frozen=True)
class TriedFamily:
    """How well one family guesses: over all records, and in the third where it reads the release best.

    ``surely`` is the share that it surely guesses right from the release, over all or in one third, with the
    limits widened for every family, view and third that was looked at.
    """

    score: AdversaryScore
    limits: str
    worst_interval: tuple[float, float]
    surely: float

    @property
    def worst(self) -> float:
        """What it guesses right in the third that it reads best."""
        return self.score.worst or 0.0


def folds_of(secret: Codes, *, together: Any, random_state: int) -> Codes:
    """A third for every record, each secret spread evenly; records alike in ``together`` are in the same third."""
    _, first, of_record = np.unique(np.asarray(together), return_index=True, return_inverse=True)
    return fold_of_each(secret[first], FOLDS, np.random.default_rng(random_state))[of_record]


def first_of_each(contents: Iterable[bytes]) -> Codes:
    """For every record the first one with the same content: copies stay on one side of every split."""
    first_at: dict[bytes, int] = {}
    return np.array([first_at.setdefault(each, at) for at, each in enumerate(contents)], dtype=np.int64)


def spread(n: int, most: int) -> Codes:
    """At most ``most`` of ``n`` records, evenly spaced, and never more than the bench can take."""
    most = min(n, most, MOST_TRIED)
    return np.arange(most) * n // most


@dataclass(frozen=True)
class BenchRun:
    """What every family guesses right among ``tested_on`` records, and how often always guessing the commonest does.

    Each record was guessed by models that learned from about ``trained_on`` others.
    """

    families: tuple[TriedFamily, ...]
    prior: float
    prior_interval: tuple[float, float]
    trained_on: int
    tested_on: int


def benched(families: Sequence[Family], records: BenchRecords, *, progress: Progress = silent) -> BenchRun:
    """Try every family; as :func:`benched_beliefs`, without the beliefs."""
    return benched_beliefs(families, records, progress=progress)[0]


def benched_beliefs(
    families: Sequence[Family], records: BenchRecords, *, progress: Progress
) -> tuple[BenchRun, dict[str, Floats]]:
    """Try every family; with the beliefs, by name, of those that state them (views x records x secrets).

    Guarantees
    ----------
    No family has seen the secret of a record that it is scored on, nor that of another record in the same fold.

    Raises
    ------
    DataError
        If there are too few records, or people, to leave some out.
    """
    from threadpoolctl import threadpool_limits

    n = len(records.secret)
    if len(np.unique(records.fold)) < FOLDS:
        raise DataError(
            f"there are fewer than {FOLDS} different records, or people, to try adversaries on: gather more"
        )
    # Views after and retrained; over all records, and in each third.
    looks = len(families) * 2 * (1 + FOLDS)
    tried, beliefs = [], {}
    for number, family in enumerate(families):
        progress(f"trying {family.name}", number / len(families))
        # For small models, several threads cost more than they gain.
        with threadpool_limits(limits=1):
            right, chances = _right(family, records)
        if chances is not None:
            beliefs[family.name] = chances
        tried.append(_tried(family, right, records.fold, level=1 - (1 - CONFIDENCE) / looks))
    commonest = int(np.bincount(records.secret).max())
    return BenchRun(tuple(tried), commonest / n, binomial_limits(commonest, n), n - n // FOLDS, n), beliefs


def _right(family: Family, records: BenchRecords) -> tuple[Any, Floats | None]:
    """Which records were guessed right: before, after and retrained, a row each; and the beliefs, if stated."""
    before, after, secret = family.read(records.before), family.read(records.after), records.secret
    middle = before if records.middle is None else family.read(records.middle)
    right = np.zeros((3, len(secret)), dtype=bool)
    chances = np.zeros((3, len(secret), int(secret.max()) + 1))
    stated = True
    for k in np.unique(records.fold).tolist():
        train, test = np.flatnonzero(records.fold != k), np.flatnonzero(records.fold == k)
        clean, again = (_learned(family, rows[train], secret[train], chances.shape[2]) for rows in (before, after))
        between = clean if middle is before else _learned(family, middle[train], secret[train], chances.shape[2])
        for view, (model, rows) in enumerate(((clean, before), (between, after), (again, after))):
            guess = model(rows[test])
            stated = stated and guess.ndim == 2
            if stated:
                chances[view, test, : guess.shape[1]] = guess
            right[view, test] = (guess if guess.ndim == 1 else guess.argmax(axis=1)) == secret[test]
    return right, chances if stated else None


def _learned(family: Family, rows: Any, secret: Codes, secrets: int) -> Callable[[Any], Any]:
    """A function of rows: the likeliest secret of each or, from a model without guesses, how likely each secret is."""
    model = family.model()
    if len(np.unique(secret)) < 2:
        # There is nothing to learn but the one secret that was met.
        known = np.eye(secrets)[secret[0]] if not hasattr(model, "predict") else secret[0]
        return lambda others: np.repeat(known[None], others.shape[0], axis=0)
    with warnings.catch_warnings():
        # A model that did not converge is an adversary, too.
        warnings.simplefilter("ignore")
        model = model.fit(rows, secret)
    return model.predict if hasattr(model, "predict") else partial(_chances, model, int(secret.max()) + 1)


def _chances(model: Any, secrets: int, rows: Any) -> Floats:
    chances = np.zeros((len(rows), secrets))
    chances[:, model.classes_] = model.predict_proba(rows)
    return chances


def _tried(family: Family, right: Any, fold: Codes, *, level: float) -> TriedFamily:
    parts = [np.ones(len(fold), dtype=bool), *(fold == k for k in np.unique(fold).tolist())]
    hits = [(int(view[part].sum()), int(part.sum())) for view in right[1:] for part in parts]
    # The first of either view is over all records.
    by_third = [each for at, each in enumerate(hits) if at % len(parts)]
    most, of = max(by_third, key=lambda each: each[0] / each[1])
    return TriedFamily(
        score=replace(scored(family.name, [int(view.sum()) for view in right], of=len(fold)), worst=most / of),
        limits=family.limits,
        worst_interval=binomial_limits(most, of),
        surely=max(binomial_limits(hit, n, confidence=level)[0] for hit, n in hits),
    )
