"""No more outputs than there are values to write: those are joined that lose least by it."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np
from scipy.sparse import csr_array

from tacit.lift.joint import Labels, Vector, sums
from tacit.lift.measures import p_log_p
from tacit.lift.solvers.mixture import Mixture

# Of all pairs of outputs only this share is joined at a time: then the others may find better partners.
_AT_ONCE: Final = 0.3


def fewer(mixture: Mixture, most: int) -> Mixture:
    """At most this many outputs: others are joined, which breaks no bound.

    Where a frequent value is dealt out in pieces, every block has outputs of its own for it. Two of similar size that
    have the same likeliest value differ only in what covers it, so that little is lost when they become one.

    Guarantees
    ----------
    It loses no more than if the least likely outputs became one.
    """
    surplus = len(mixture.totals) - most
    if surplus <= 0:
        return mixture
    return min(_joined(mixture, most), _least_likely_as_one(mixture, surplus), key=lambda each: each.loss)


def _joined(mixture: Mixture, most: int) -> Mixture:
    """Pairs of outputs joined, the cheapest first; the least likely ones become one where there are no pairs left."""
    while (surplus := len(mixture.totals) - most) > 0:
        first, second = _pairs(mixture)
        if not len(first):
            return _least_likely_as_one(mixture, surplus)
        every = np.arange(len(mixture.totals))
        together = every.copy()
        together[second] = first
        apart = _left_open(mixture)
        lost = _left_open(replace(mixture, outputs=together[mixture.outputs]))[first] - apart[first] - apart[second]
        chosen = np.argsort(lost, kind="stable")[: min(surplus, int(np.ceil(_AT_ONCE * len(first))))]
        every[second[chosen]] = first[chosen]
        mixture = _renumbered(mixture, every)
    return mixture


def _pairs(mixture: Mixture) -> tuple[Labels, Labels]:
    """Outputs of similar size with the same likeliest value, each in one pair at most."""
    totals = mixture.totals
    order = np.lexsort((mixture.masses, mixture.outputs))
    likeliest = mixture.values[order][np.cumsum(np.bincount(mixture.outputs)) - 1]
    order = np.lexsort((totals, likeliest))
    _, starts, counts = np.unique(likeliest[order], return_index=True, return_counts=True)
    place = np.arange(len(order)) - np.repeat(starts, counts)
    at = np.flatnonzero((place % 2 == 0) & (place + 1 < np.repeat(counts, counts)))
    return order[at], order[at + 1]


def _left_open(mixture: Mixture) -> Vector:
    """What each output contributes to H(X|Y), in nats."""
    table = csr_array((mixture.masses, (mixture.outputs, mixture.values)))
    table.sum_duplicates()
    outputs = np.repeat(np.arange(table.shape[0]), np.diff(table.indptr))
    return np.asarray(p_log_p(mixture.totals) - sums(outputs, p_log_p(table.data), table.shape[0]))


def _least_likely_as_one(mixture: Mixture, surplus: int) -> Mixture:
    new = np.arange(len(mixture.totals))
    least = np.argsort(mixture.totals, kind="stable")[: surplus + 1]
    new[least] = least[0]
    return _renumbered(mixture, new)


def _renumbered(mixture: Mixture, new: Labels) -> Mixture:
    """The mechanism with new numbers for its outputs, some of them the same."""
    outputs = np.unique(new, return_inverse=True)[1][mixture.outputs]
    # A flow may now come twice.
    table = csr_array((mixture.masses, (mixture.values, outputs)))
    table.sum_duplicates()
    return replace(Mixture.of_channel(table, np.ones(table.shape[0])), bound=mixture.bound)
