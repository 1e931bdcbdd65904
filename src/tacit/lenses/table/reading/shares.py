"""How often each atom of a column, or each pair of atoms of two columns, occurs, worked out from parts of them.

Every part is divided among its atoms by the shares so far, and these are counted again (expectation maximisation).
"""

from __future__ import annotations

import numpy as np

from tacit.codes.descent import Ints
from tacit.learn.arrays import Floats as Floats

_ROUNDS = 100
# Neighbouring ranges are evened out a little in every round: otherwise, what is not told becomes ever more uneven.
_EVENED = 0.1


def shares_of(parts: Floats, records: Floats, start: Floats, *, even: int = 0) -> Floats:
    """The share of each atom; ``parts`` (parts x atoms) is 1 if a part has it, ``records`` are those of each part.

    ``start`` is how likely the atoms are if nothing is told. Among the first ``even`` atoms, neighbours are made about
    equally likely, relative to their start (after Silverman's smoothed expectation maximisation).
    """
    start = start / start.sum()
    shares = start
    for _ in range(_ROUNDS):
        shares = shares * (parts.T @ _ratio(records, parts @ shares)) / records.sum()
        for first in (0, 1) if even else ():
            _even_out(shares, start, np.arange(first, even - 1, 2))
    return np.asarray(shares)


def _even_out(shares: Floats, start: Floats, at: Ints) -> None:
    """Each of these atoms and the next pool a little and divide it by their start; most of a share stays in place."""
    together = _EVENED * (shares[at] + shares[at + 1]) / (start[at] + start[at + 1])
    shares[at], shares[at + 1] = ((1 - _EVENED) * shares[each] + together * start[each] for each in (at, at + 1))


def pair_shares(first: Floats, second: Floats, records: Floats, start: Floats) -> Floats:
    """The share of each pair of atoms of two columns; ``records`` are those of each pair of parts."""
    shares = start / start.sum()
    for _ in range(_ROUNDS):
        shares = shares * (first.T @ _ratio(records, first @ shares @ second.T) @ second) / records.sum()
    return np.asarray(shares)


def _ratio(records: Floats, mass: Floats) -> Floats:
    return np.divide(records, mass, out=np.zeros_like(mass), where=mass > 0)


def smallest_mean(surely: Floats, maybe: Floats) -> float:
    """The smallest mean of all numbers in ``surely`` and any of those in ``maybe``; NaN if there are none.

    Guarantees
    ----------
    No choice from ``maybe`` has a smaller mean: the smallest are added for as long as they lower the mean.
    """
    ordered = np.sort(maybe)
    if not len(surely):
        return float(ordered[0]) if len(ordered) else float("nan")
    if np.isneginf(surely).any() or (len(ordered) and np.isneginf(ordered[0])):
        return float("-inf")
    sums = surely.sum() + np.concatenate([[0.0], np.cumsum(ordered)])
    return float((sums / (len(surely) + np.arange(len(ordered) + 1))).min())
