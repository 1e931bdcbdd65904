"""What nobody guesses better than: a ceiling on every adversary who sees one released value, proved from counts."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from tacit.lift.proofs.certificates import Sample
from tacit.lift.proofs.intervals import checked_beta


def guessing_ceiling(counts: ArrayLike, *, beta: float = 0.05) -> float:
    """How often an adversary who sees one released value guesses the secret right, at most.

    Parameters
    ----------
    counts : array of whole numbers, secrets x released values
        Records of each pair, after the mechanism.
    beta : float
        Probability with which the claim may be false.

    Guarantees
    ----------
    If the records are independent draws from a population, and the released values were fixed without looking at them,
    then with probability at least 1 - beta no adversary, however it was trained and whatever it computes from one
    released value, is right more often than this about a new record. The best there can be is right with probability
    V = sum over y of max over s of P(s, y). What is counted is V or more in expectation (a mean of maxima is at least
    the maximum of means), and one record changes it by at most 1/n; the rest is McDiarmid's inequality.

    Examples
    --------
    >>> round(guessing_ceiling([[300, 200], [250, 250]], beta=0.05), 4)
    0.5887
    """
    table = Sample.of(counts).table
    n = float(table.sum())
    counted = float(table.max(axis=0).sum()) / n
    return min(1.0, float(np.nextafter(counted + math.sqrt(math.log(1 / checked_beta(beta)) / (2 * n)), 2)))
