"""What agreement means: how often fields agree in one person's records and in two people's, by EM on pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

ROUNDS = 60
# The prior expectation counts as this many pairs per record. It keeps the fit from being led by people who are alike,
# where few pairs are one person's.
BELIEF = 0.03
# A likely pair is at least likelier than not.
LEAST_LIKELY = 0.5


@dataclass(frozen=True, eq=False)
class LevelFit:
    """How often the levels of each field occur in one person's and in two people's records.

    ``share`` is the share of all pairs that are one person's, ``least`` the smallest probability that is accepted.
    """

    own: list[Floats]
    other: list[Floats]
    share: float = 0.5
    least: float = 1.0

    def probability(self, weight: Floats) -> Floats:
        """How likely pairs are one person's, from the log-odds of what agrees in them."""
        return likely(weight, self.share)


def fitted(
    levels: NDArray[np.int64],
    counts: Floats,
    key: NDArray[np.int64],
    keys: Sequence[tuple[int, ...]],
    other: Sequence[Floats],
    equal: Sequence[int],
    records: float,
) -> list[Floats]:
    """How often each level of each field occurs in pairs that are one person's.

    Pairs that share a key agree on its fields by construction, which says nothing: only their other fields are used.
    """
    own = [_expected(top) for top in equal]
    free = np.array([[at not in fields for at in range(len(equal))] for fields in keys])[key]
    usable = (levels >= 0) & free
    whole = np.bincount(key, counts, len(keys))
    share = np.clip(0.1 * records / np.maximum(whole, 1), 1e-6, 0.5)
    for _ in range(ROUNDS):
        weight = np.log(share[key]) - np.log1p(-share[key])
        for at in range(len(equal)):
            ratio = np.log(own[at]) - np.log(other[at])
            weight += np.where(usable[:, at], ratio[np.maximum(levels[:, at], 0)], 0.0)
        match = counts / (1 + np.exp(-np.clip(weight, -50, 50)))
        share = np.clip(np.bincount(key, match, len(keys)) / np.maximum(whole, 1), 1e-6, 1 - 1e-6)
        for at, top in enumerate(equal):
            level_counts = (
                np.bincount(levels[usable[:, at], at], match[usable[:, at]], top + 1)
                + _expected(top) * BELIEF * records
            )
            # In one person's records, nearer levels are more frequent: mistakes are rarer than correct values.
            own[at] = _rising(level_counts / level_counts.sum())
    return own


def _expected(top: int) -> Floats:
    """How often levels occur in one person's records, before any data."""
    shares = np.full(top + 1, 0.1 / top)
    shares[-1] = 0.9
    return shares


def _rising(shares: Floats) -> Floats:
    """The nearest non-decreasing shares, by least squares: neighbours that decrease are pooled.

    Not scipy's, because this runs hundreds of times on four numbers, and loading scipy takes as long as all of them.
    """
    pools: list[tuple[float, int]] = []
    for share in shares.tolist():
        pools.append((share, 1))
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            (one, few), (other, more) = pools.pop(), pools.pop()
            pools.append(((one * few + other * more) / (few + more), few + more))
    return np.array([share for share, size in pools for _ in range(size)])


def calibrated(weight: Floats, records: int, scale: float) -> float:
    """The share of all pairs that are one person's: the sum of the probabilities, times ``scale``, over all pairs."""
    pairs = records * (records - 1) / 2
    share = 1 / max(2, records)
    for _ in range(ROUNDS):
        share = float(np.clip(likely(weight, share).sum() * scale / pairs, 1 / (pairs + 1), 0.5))
    return share


def likely(weight: Floats, share: float) -> Floats:
    """How likely pairs are one person's, from the log-odds of what agrees and the share of all pairs that are."""
    return np.asarray(1 / (1 + np.exp(-np.clip(weight + np.log(share) - np.log1p(-share), -50, 50))))


def least_taken(probability: Floats) -> float:
    """The smallest probability that is accepted: half of the largest expected F1, but at least ``LEAST_LIKELY``."""
    if not len(probability):
        return 1.0
    falling = np.sort(probability)[::-1]
    expected = 2 * np.cumsum(falling) / (np.arange(1, len(falling) + 1) + falling.sum())
    return float(max(expected.max() / 2, LEAST_LIKELY))
