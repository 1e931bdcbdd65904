"""How often each atom of a column occurs, or of two columns together, worked out from parts of them.

Every part is shared out over its atoms by the shares so far, and they are counted again (expectation maximisation).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_ROUNDS = 100
# Neighbouring ranges are evened out a little in every round: without, what is not told becomes ever more uneven.
_EVENED = 0.2


def shares_of(parts: Floats, records: Floats, start: Floats, *, even: bool) -> Floats:
    """The share of each atom; ``parts`` (parts x atoms) is 1 where a part has it, ``records`` are those of each part.

    ``start`` is how likely the atoms are as far as nothing is told. With ``even`` neighbours are about as likely for
    their start (Silverman's smoothed expectation maximisation).
    """
    start = start / start.sum()
    shares = start
    for _ in range(_ROUNDS):
        shares = shares * (parts.T @ _ratio(records, parts @ shares)) / records.sum()
        if even:
            shares = start * _evened(shares) / _evened(start)
            shares = shares / shares.sum()
    return np.asarray(shares)


def _evened(shares: Floats) -> Floats:
    return np.convolve(np.pad(shares, 1), [_EVENED / 2, 1 - _EVENED, _EVENED / 2], "valid")


def pair_shares(first: Floats, second: Floats, records: Floats, start: Floats) -> Floats:
    """The share of each atom of one column together with each of another; ``records`` are those of two parts."""
    shares = start / start.sum()
    for _ in range(_ROUNDS):
        shares = shares * (first.T @ _ratio(records, first @ shares @ second.T) @ second) / records.sum()
    return np.asarray(shares)


def _ratio(records: Floats, mass: Floats) -> Floats:
    return np.divide(records, mass, out=np.zeros_like(mass), where=mass > 0)


def smallest_mean(surely: Floats, maybe: Floats) -> float:
    """The smallest mean of all numbers in ``surely`` and any of those in ``maybe``; NaN where there are none.

    Guarantees
    ----------
    No choice of ``maybe`` has a smaller mean: a number is taken in as long as it is below the mean of those before.
    """
    taken = np.sort(maybe)
    if not len(surely):
        return float(taken[0]) if len(taken) else float("nan")
    if np.isneginf(surely).any() or (len(taken) and np.isneginf(taken[0])):
        return float("-inf")
    sums = surely.sum() + np.concatenate([[0.0], np.cumsum(taken)])
    return float((sums / (len(surely) + np.arange(len(taken) + 1))).min())
