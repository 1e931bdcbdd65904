"""What values say about a secret, learned from other people's records: counted, and held back if rare."""

from __future__ import annotations

import numpy as np

from tacit.lift import Matrix, Vector
from tacit.tables.symbols import Codes, in_order

# How many records it takes for a count to weigh as much as what was believed before.
STRENGTH = 5.0


def lifts_of(answer: Codes, learned: Codes, secret: Codes, prior: Vector) -> Matrix:
    """P(s | values) / P(s) of each row of ``answer``, learned from records and their secrets.

    Each column speaks by its counts; the product of what the columns say is then combined with the counts of the whole
    combination. A value or combination that was seldom seen is held back towards what was believed without it: one
    that was never seen changes nothing.

    Parameters
    ----------
    asked : int array of shape (rows, columns)
        -1 is a value that was never seen.
    learned : int array of shape (records, columns)
        The records learned from, none of them of a person who is asked about.
    secret : int array
        The secret of each of them.
    prior : array
        P(s), nowhere zero.

    Guarantees
    ----------
    Every lift is positive, and the lifts of a row times the prior sum to 1.
    """
    believed = np.tile(np.log(prior), (len(answer), 1))
    for column in range(answer.shape[1]):
        values, which = np.unique(answer[:, column], return_inverse=True)
        counts = _counts(values.reshape(-1, 1), learned[:, [column]], secret, len(prior))
        counts[values < 0] = 0
        believed += np.log(_beliefs(counts, prior[None, :]) / prior)[which.reshape(-1)]
    posterior = np.exp(believed - believed.max(axis=1, keepdims=True))
    posterior /= posterior.sum(axis=1, keepdims=True)
    if answer.shape[1] > 1:
        posterior = _beliefs(_counts(answer, learned, secret, len(prior)), posterior)
    return np.asarray(posterior / prior)


def _beliefs(counts: Matrix, toward: Matrix) -> Matrix:
    """Shares by the counts, held back towards what was believed before."""
    return np.asarray((counts + STRENGTH * toward) / (counts.sum(axis=1, keepdims=True) + STRENGTH))


def _counts(answer: Codes, learned: Codes, secret: Codes, secrets: int) -> Matrix:
    """How many records of each secret have the values of each row asked about."""
    _, number = in_order(np.concatenate([answer, learned]) + 1)
    place = np.full(int(number.max(initial=-1)) + 1, -1, dtype=np.int64)
    place[number[: len(answer)]] = np.arange(len(answer))
    at = place[number[len(answer) :]]
    present = at >= 0
    counts = np.bincount(at[present] * secrets + secret[present], minlength=len(answer) * secrets)
    # If a row is asked about twice, its records are counted at its last place.
    return np.asarray(counts.reshape(len(answer), secrets)[place[number[: len(answer)]]], dtype=np.float64)
