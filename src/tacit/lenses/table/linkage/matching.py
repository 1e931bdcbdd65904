"""The adversary who links: finds the rows that fit what it knows about a person, reads the rest, guesses the secret."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tacit.lift import Mask, Matrix, Vector
from tacit.tables.symbols import Codes, in_order

# Pairs of a person and a row that are examined at a time.
MOST_PAIRS = 5_000_000


@dataclass(frozen=True, eq=False)
class AskedOfPeople:
    """Something to be guessed about every person: the secret, or a column that is not known.

    Attributes
    ----------
    belief : array of shape (people, answers)
        P(answer | what is known about the person), before the file is seen.
    said : int array
        What each row of the file says about it: a row of ``lifts``.
    lifts : array of shape (different sayings, answers)
        P(answer | saying) / P(answer), or whether the saying allows the answer.
    """

    belief: Matrix
    saying: Codes
    lifts: Matrix


@dataclass(frozen=True, eq=False)
class LinkedPeople:
    """What the adversary found for every person.

    Attributes
    ----------
    candidates : int array
        Rows of the file that fit what is known.
    right : bool array
        Exactly one row fits, and it is true of the person.
    read : int array of shape (people, other columns)
        The likeliest level of the candidates in each of the other columns; -1 if nothing fits.
    agreed : bool array of the same shape
        Whether all candidates have that level.
    posteriors : tuple of arrays of shape (people, answers)
        What the adversary then believes about everything asked.
    """

    candidates: Codes
    right: Mask
    read: Codes
    agreed: Mask
    posteriors: tuple[Matrix, ...]

    @property
    def found(self) -> Mask:
        """Who has a single row that fits."""
        return np.asarray(self.candidates == 1)

    def guess(self, question: int = 0) -> Codes:
        """The answer that is believed most; the first question is about the secret."""
        return np.asarray(self.posteriors[question].argmax(axis=1), dtype=np.int64)


def linkage(
    people: Codes,
    released: Codes,
    fits: Sequence[Mask],
    *,
    records: Codes,
    own: Codes,
    others: Codes,
    questions: Sequence[AskedOfPeople],
) -> LinkedPeople:
    """Link every person to the rows of a file that fit, and read those.

    Parameters
    ----------
    people : int array of shape (people, known columns)
        The true value of each person in each column that is known.
    released : int array of shape (rows, known columns)
        The released level of each row in those columns; equal rows may be given once.
    fits : sequence of bool arrays of shape (levels, values)
        For each known column, whether a released level may be that of a true value.
    records : int array
        How many records of the file each row stands for.
    own : int array
        The row that is true of each person in every column, -1 if the file has none.
    others : int array of shape (rows, other columns)
        The released level of each row in the columns that are not known.
    questions : sequence of AskedOfPeople
        What is to be guessed, the secret first.

    Guarantees
    ----------
    Candidates are exactly the rows whose every known column fits. The posterior is the mean, over candidate records, of
    the belief times the lifts, each scaled to 1; if nothing fits, it is the belief. A record that fits many of the
    people is likely somebody else's, and weighs one over their number. If all lifts are within [e^-a, e^b], the
    posterior is within [e^-(a+b), e^(a+b)] of the belief, and within [e^-a, e^b] of a belief that is the prior of the
    lifts.
    """
    n, columns = len(people), others.shape[1]
    different, which = in_order(people) if people.shape[1] else (people[:1], np.zeros(n, np.int64))
    rows, ends = _fitting(different, released, fits)
    crowd = np.bincount(rows, np.repeat(np.bincount(which), np.diff(ends, prepend=0)), minlength=len(released))
    likely = records / np.maximum(crowd, 1)
    candidates, right = np.zeros(n, np.int64), np.zeros(n, dtype=bool)
    read, agreed = np.full((n, columns), -1, np.int64), np.zeros((n, columns), dtype=bool)
    posteriors = tuple(np.array(each.belief, dtype=np.float64) for each in questions)
    # People whom a single row fits, which may stand for several records, are read all at once.
    lengths = np.diff(ends, prepend=0)[which]
    single = np.flatnonzero(lengths == 1)
    row = rows[ends[which[single]] - 1]
    candidates[single], right[single] = records[row], (records[row] == 1) & (own[single] == row)
    read[single], agreed[single] = others[row], True
    for each, posterior in zip(questions, posteriors, strict=True):
        posterior[single] = _scaled(each.belief[single] * each.lifts[each.saying[row]], each.belief[single])
    for alike in _alike(which, np.flatnonzero(lengths > 1)):
        end = ends[which[alike[0]]]
        fitting = rows[end - lengths[alike[0]] : end]
        weight = likely[fitting]
        candidates[alike] = records[fitting].sum()
        for column in range(columns):
            levels, at = np.unique(others[fitting, column], return_inverse=True)
            read[alike, column] = levels[np.bincount(at.reshape(-1), weights=weight).argmax()]
            agreed[alike, column] = len(levels) == 1
        for each, posterior in zip(questions, posteriors, strict=True):
            posterior[alike] = _posterior(each.belief[alike], each.saying[fitting], weight, each.lifts)
    return LinkedPeople(candidates, right, read, agreed, posteriors)


def _alike(which: Codes, some: Codes) -> list[Codes]:
    """Some people, split into those about whom the same is known."""
    order = some[np.argsort(which[some], kind="stable")]
    return np.split(order, np.flatnonzero(np.diff(which[order])) + 1) if len(order) else []


def _fitting(people: Codes, released: Codes, fits: Sequence[Mask]) -> tuple[Codes, Codes]:
    """The rows that fit each person, in order, one person after another; and where each person's rows end."""
    if not people.shape[1]:
        return np.tile(np.arange(len(released)), len(people)), (np.arange(len(people)) + 1) * len(released)
    sizes = [np.bincount(column, minlength=len(fit)) @ fit for column, fit in zip(released.T, fits, strict=True)]
    number = np.stack([size[column] for size, column in zip(sizes, people.T, strict=True)])
    # A search begins with the column in which the fewest rows fit.
    first, pairs = number.argmin(axis=0), int(number.min(axis=0).sum())
    matches: list[tuple[Codes, Codes]] = []
    for column, fit in enumerate(fits):
        here = np.flatnonzero(first == column)
        for part in np.array_split(here, pairs // MOST_PAIRS + 1):
            matches.append(_pairs(part, people, released, fits, column, fit))
    person = np.concatenate([each for each, _ in matches])
    rows = np.concatenate([each for _, each in matches])
    return rows[np.lexsort((rows, person))], np.cumsum(np.bincount(person, minlength=len(people)))


def _pairs(
    some: Codes, people: Codes, released: Codes, fits: Sequence[Mask], first: int, fit: Mask
) -> tuple[Codes, Codes]:
    """Some people, each repeated for every row that fits, and those rows; rows are looked up by one column's level."""
    values, which = np.unique(people[some, first], return_inverse=True)
    order = np.argsort(released[:, first], kind="stable")
    ends = np.cumsum(np.bincount(released[:, first], minlength=len(fit)))
    by_level = np.split(order, ends[:-1])
    by_value = [
        np.concatenate([order[:0], *(by_level[level] for level in np.flatnonzero(fit[:, value]))]) for value in values
    ]
    chosen = [by_value[at] for at in which.reshape(-1)]
    person = np.repeat(some, [len(each) for each in chosen])
    rows = np.concatenate([*chosen, np.zeros(0, np.int64)])
    for column, other in enumerate(fits):
        if column != first:
            keep = other[released[rows, column], people[person, column]]
            person, rows = person[keep], rows[keep]
    return person, rows


def _posterior(belief: Matrix, saying: Codes, weight: Vector, lifts: Matrix) -> Matrix:
    sayings, where = np.unique(saying, return_inverse=True)
    weights = np.bincount(where.reshape(-1), weights=weight)
    spoken = lifts[sayings]
    scale = belief @ spoken.T
    with np.errstate(divide="ignore"):
        shares = np.where(scale > 0, weights / scale, 0.0)
    return _scaled(belief * (shares @ spoken), belief)


def _scaled(believed: Matrix, before: Matrix) -> Matrix:
    """Scaled to 1; if what is seen was thought impossible, the adversary keeps the belief it had before."""
    total = believed.sum(axis=1, keepdims=True)
    return np.where(total > 0, believed / np.where(total > 0, total, 1.0), before)
