"""An additive model of what is told, and how well it ranks: in closed form, deterministic, in milliseconds.

A release gives each record a probability for each value of each column ("30 to 39", "A or B"). A model in which every
value adds its part can use such probabilities just like the values themselves. Trees cannot: to them, a level that no
other record has is one more value, and what they learn about it is of no use for original values.
"""

from __future__ import annotations

import numpy as np

from tacit.lift import Matrix, Vector

# The ridge penalty: every part is drawn towards 0 as if by this many records.
_DRAWN = 30.0
# A guess of such a model is never taken for surer than this.
_SURE = 0.95


def additive_guesses(features: Matrix, counts: Matrix, judged: Matrix) -> Matrix:
    """A score for each class of each row of ``judged``, by ridge regression of the classes' shares on what is told.

    It learns from ``features`` (rows x features); ``counts`` (rows x classes) is how much each class weighs there.
    """
    weight = counts.sum(axis=1)
    total = max(float(weight.sum()), 1e-300)
    middle = weight @ features / total
    share = counts.sum(axis=0) / total
    centred = features - middle
    square = (centred * weight[:, None]).T @ centred + _DRAWN * np.eye(features.shape[1])
    parts = np.linalg.solve(square, centred.T @ (counts - weight[:, None] * share))
    # What differs only by rounding is equal: it ranks nothing.
    return np.asarray(np.round((judged - middle) @ parts + share, 10), dtype=np.float64)


def never_sure(guesses: Vector) -> Vector:
    """Guesses of an additive model, kept away from 0 and 1: it is too simple to be certain."""
    return np.clip(guesses, 1 - _SURE, _SURE)


def area_under_curve(guesses: Matrix, counts: Matrix) -> float:
    """How well the guesses rank each class before the others, the mean over classes by their weight; 0.5 is chance.

    ``counts`` (rows x classes) is what each class weighs in each row that is judged.
    """
    areas, shares = [], []
    for guess, here in zip(guesses.T, counts.T, strict=True):
        there = counts.sum(axis=1) - here
        if here.sum() > 0 and there.sum() > 0:
            areas.append(_area(guess, here, there))
            shares.append(float(here.sum()))
    return float(np.average(areas, weights=shares)) if areas else 0.5


def _area(guess: Vector, here: Vector, there: Vector) -> float:
    """The probability that one of ``here`` is guessed higher than one of ``there``; equal guesses count half."""
    place = np.unique(guess, return_inverse=True)[1]
    before, behind = np.bincount(place, here), np.bincount(place, there)
    return float(before @ (np.cumsum(behind) - behind / 2) / (here.sum() * there.sum()))
