"""How well anybody can guess: a ceiling on every adversary who sees one released value, proved from counts."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from tacit.lift.proofs.certificates import Sample
from tacit.lift.proofs.intervals import checked_beta, upper_limit


def guessing_ceiling(counts: ArrayLike, *, beta: float = 0.05) -> float:
    """Upper bound on how often an adversary who sees one released value guesses the secret right.

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
    released value, is right more often than this about a new record. The best possible one always guesses the secret
    g(y) that is likeliest in the population with the released value y, and is right with probability V = sum over y of
    P(g(y), y). Of n records it is right about a binomial number, n and V. What is counted, the sum over y of the
    largest count, is never less than that number, whatever g is; and the limit of Clopper and Pearson grows with what
    is counted. So it is at least the limit of that binomial number, which is below V with probability at most beta.

    Examples
    --------
    >>> round(guessing_ceiling([[300, 200], [250, 250]], beta=0.05), 4)
    0.5874
    """
    table = Sample.of(counts).table
    limit = upper_limit(table.max(axis=0).sum(), table.sum(), beta=checked_beta(beta))
    return min(1.0, float(np.nextafter(limit, 2)))
