"""From what a known channel gave back to what went in: counts corrected for a draw, and how far off they may be."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from tacit.errors import ArgumentError
from tacit.lift.joint import Mask, Matrix, Vector
from tacit.lift.tolerances import SUM_TOLERANCE, TOLERANCE

# Directions that the channel shrinks to less than this share of the largest carry only noise and rounding.
SHRUNK = 1e-4
# A weight vector that misses its input by more than this mixes several inputs.
MISSED = 1e-6
ROUNDS, SETTLED = 2_000, 1e-9


@dataclass(frozen=True, eq=False)
class Correction:
    """What one record of each output adds to the corrected count of each input, and to its variance.

    Attributes
    ----------
    weights, variances : arrays of shape (outputs, inputs)
    told : bool array
        The inputs whose count can be recovered from the outputs. Inputs that the channel makes alike cannot: their
        columns are 0.

    Guarantees
    ----------
    If each record's output is drawn by the channel, independently, then for an input that is told the sum of weights
    over all records has the input's true count as its mean, and the sum of variances has the variance of that sum as
    its mean. Where records of one input are drawn by different channels, of which this is the mean, the first stays
    true and the second errs on the large side.
    """

    weights: Matrix
    variances: Matrix
    told: Mask


def correction(channel: ArrayLike, *, stationary: bool = False) -> Correction:
    """The weights that undo a channel of inputs x outputs.

    Parameters
    ----------
    channel : array
        Rows are distributions.
    stationary : bool
        Whether, for these very inputs, the counts that come out equal on average those that go in. Then there is
        nothing to undo, and the observed counts err least; every input is told.
    """
    table = _checked(channel)
    inputs, outputs = table.shape
    if stationary:
        if inputs != outputs:
            raise ArgumentError("only a channel whose outputs are its inputs can keep their counts")
        return Correction(np.eye(inputs), np.asarray(table * (1 - table)), np.ones(inputs, dtype=bool))
    weights: Matrix = np.linalg.pinv(table, rcond=SHRUNK).astype(np.float64)
    tellable = np.abs(table @ weights - np.eye(inputs)).max(axis=0) <= MISSED
    # What rounding leaves of a zero is zero.
    weights = np.where(tellable & (np.abs(weights) > TOLERANCE), weights, 0.0)
    return Correction(weights, np.asarray(weights * (weights - 1)), tellable)


def counts_before(channel: ArrayLike, observed: ArrayLike, *, stationary: bool = False) -> tuple[Vector, Vector]:
    """How many records of each input went into a channel, judging by its outputs; with standard errors.

    Parameters
    ----------
    channel : array of shape (inputs, outputs)
        Rows are distributions.
    observed : array
        Records of each output.
    stationary : bool
        As in :func:`correction`.

    Returns
    -------
    estimate, standard_error : arrays
        For an input that the outputs do not tell, the estimate is the one of maximum likelihood that divides evenly
        what cannot be told apart, and the standard error is infinite.

    Guarantees
    ----------
    Told estimates are unbiased, which is why they may fall below 0 or above the number of records. The standard error
    is that of the draw only: the records are fixed, and only their outputs are random.
    """
    table, counts = _checked(channel), np.asarray(observed, dtype=np.float64)
    if counts.shape != table.shape[1:] or not (np.isfinite(counts).all() and (counts >= 0).all()):
        raise ArgumentError(f"the channel has {table.shape[1]} outputs: give how many records have each")
    undoing = correction(table, stationary=stationary)
    estimate = counts @ undoing.weights
    # The variance of few records may by chance be estimated below 0.
    error = np.sqrt(np.maximum(counts @ undoing.variances, 0.0))
    if undoing.told.all():
        return estimate, error
    likely = _likeliest(table, counts)
    return np.where(undoing.told, estimate, likely), np.where(undoing.told, error, np.inf)


def _likeliest(table: Matrix, counts: Vector) -> Vector:
    """The counts under which what was observed is likeliest, none below 0 (expectation and maximisation)."""
    estimate = np.full(len(table), counts.sum() / len(table))
    for _ in range(ROUNDS):
        expected = estimate @ table
        ratio = np.divide(counts, expected, out=np.zeros_like(counts), where=expected > 0)
        better = estimate * (table @ ratio)
        if np.abs(better - estimate).max(initial=0.0) <= SETTLED * max(counts.sum(), 1.0):
            return better
        estimate = better
    return estimate


def _checked(channel: ArrayLike) -> Matrix:
    table: Matrix = np.asarray(channel, dtype=np.float64)
    if table.ndim != 2 or not table.size or not np.isfinite(table).all() or (table < 0).any():
        raise ArgumentError("a channel is a table of probabilities, inputs x outputs")
    sums = table.sum(axis=1)
    # Published probabilities have six digits.
    if (np.abs(sums - 1) > 10 * SUM_TOLERANCE).any():
        raise ArgumentError(f"a row of the channel sums to {sums[np.argmax(np.abs(sums - 1))]:g}, not 1")
    return np.asarray(table / sums[:, None])
