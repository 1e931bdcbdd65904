"""Means of one column for each value of another: estimates where the release supports them, and what is certain."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.learn.arrays import Floats
from tacit.lenses.table.reading.atoms import AtomRanges
from tacit.lenses.table.reading.columns import SAID, ReadColumn
from tacit.lenses.table.reading.shares import pair_shares, smallest_mean

# Equally good readings of a release may differ by this share of a mean, and by this share of the spread of numbers.
_OF_MEAN, _OF_SPREAD = 0.1, 0.25
# Beyond an open end there may be this many times as many records as the release makes likely.
_TIMES_BEYOND = 3.0
# A share of the records that is zero, up to rounding.
_NOTHING = 1e-9


@dataclass(frozen=True)
class GroupMean:
    """The mean of a column over the records that have a value of another, or lie in a range of it.

    ``records`` and ``mean`` are estimates, or None if the release supports none. ``told`` is the share of the group's
    records whose row states the group and no other. The true mean lies between ``at_least`` and ``at_most``: that is
    certain, but they are infinite where the release leaves an end open.
    """

    name: str
    records: float | None
    told: float
    mean: float | None
    at_least: float
    at_most: float


def group_means(numbers: ReadColumn, ranges: AtomRanges, groups: ReadColumn) -> tuple[GroupMean, ...]:
    """The mean of a column of numbers, which lie in ``ranges``, for each atom of another.

    There is no mean for a group that less than half of its records state (they are not a fair sample of it), nor if an
    equally good reading of the release gives a different one.

    Guarantees
    ----------
    The mean in the original lies between ``at_least`` and ``at_most``, if no number is beyond those of the ranges.
    """
    pairs = np.zeros((len(groups.parts), len(numbers.parts)))
    np.add.at(pairs, (groups.level, numbers.level), 1.0)
    joint = _joint(groups, numbers, pairs, numbers.shares)
    if numbers.numbers is not None:
        shares, means = _by_numbers(groups, numbers, pairs, joint)
        supported = np.ones(len(shares), dtype=bool)
    else:
        here, flat = numbers.scale.present, numbers.told.shares_without_widths
        shares, means = joint[:, :here].sum(axis=1), _means(joint[:, :here], ranges.middles(numbers.shares[:here]))
        others = [_with_more_beyond(numbers, ranges, joint[:, :here])]
        others += [_means(joint[:, :here], ranges.middles(numbers.shares[:here], "near"))]
        others += [_means(_joint(groups, numbers, pairs, flat)[:, :here], ranges.middles(flat[:here]))]
        supported = np.max(np.abs(np.array(others) - means), axis=0) <= _allowed(numbers, ranges, means)
    n, surely = len(groups.level), groups.told.surely
    share_told = _divided(surely, np.maximum(shares * n, surely))
    enough = (share_told >= SAID) & (shares > 0)
    return tuple(
        GroupMean(
            name,
            round(float(shares[at] * n), 1) if enough[at] else None,
            round(float(share_told[at]), 4),
            float(means[at]) if enough[at] and supported[at] else None,
            *ends,
        )
        for at, (name, ends) in enumerate(zip(groups.names, _ends(groups, numbers, ranges), strict=True))
    )


def _joint(groups: ReadColumn, numbers: ReadColumn, pairs: Floats, shares: Floats) -> Floats:
    """The share of each group together with each range, worked out from what the release says about both."""
    start = np.outer(np.maximum(groups.shares, 1e-12), np.maximum(shares, 1e-12))
    return pair_shares(groups.parts.astype(np.float64), numbers.parts.astype(np.float64), pairs, start)


def _with_more_beyond(numbers: ReadColumn, ranges: AtomRanges, joint: Floats) -> Floats:
    """The means if tails are thick and, where nobody knows how far they go, hold more records.

    Large numbers are often what a release hides, so it states them less often than they occur.
    """
    shares, here = numbers.shares[: numbers.scale.present], joint.shape[1]
    middles = ranges.middles(shares, "thick")
    out, total = _means(joint, middles), joint.sum(axis=1)
    for at, bounded in ((0, np.isfinite(ranges.least)), (here - 1, np.isfinite(ranges.most))):
        positive = at == 0 and ranges.high[0] >= 0
        if bounded or positive or np.isfinite((ranges.low, ranges.high)[at > 0][at]) or shares[at] <= 0:
            continue
        may = float(numbers.told.maybe[at]) / len(numbers.level)
        more = _divided(joint[:, at], total) * (min(_TIMES_BEYOND, may / shares[at]) - 1)
        with np.errstate(invalid="ignore"):
            out = np.where(more > _NOTHING, out + np.clip(more, 0, 1) * (middles[at] - out), out)
    return np.where(np.isnan(out), np.inf, out)


def _allowed(numbers: ReadColumn, ranges: AtomRanges, means: Floats) -> Floats:
    """How far readings of a mean may differ: a tenth of it or of the mean size, and at most a quarter of the spread."""
    shares = numbers.shares[: numbers.scale.present]
    middles = ranges.middles(shares)
    size, mean = np.average(np.abs(middles), weights=shares), np.average(middles, weights=shares)
    spread = np.sqrt(np.average((middles - mean) ** 2, weights=shares))
    return np.asarray(np.minimum(_OF_MEAN * np.maximum(np.abs(means), size), _OF_SPREAD * spread))


def _means(joint: Floats, middles: Floats) -> Floats:
    """The mean of each group; what no record has does not count, even if it is infinite."""
    return _divided(np.where(joint > _NOTHING, joint * middles, 0.0).sum(axis=1), joint.sum(axis=1))


def _divided(above: Floats, below: Floats) -> Floats:
    return np.divide(above, below, out=np.zeros(len(above)), where=below > 0)


def _by_numbers(groups: ReadColumn, numbers: ReadColumn, pairs: Floats, joint: Floats) -> tuple[Floats, Floats]:
    """The share of each group, and the mean of the numbers that stand for its levels."""
    assert numbers.numbers is not None
    fits = groups.parts[:, :, None] * (joint @ numbers.parts.T.astype(np.float64))[None, :, :]
    total = fits.sum(axis=1, keepdims=True)
    split = np.divide(fits, total, out=np.zeros_like(fits), where=total > 0) * pairs[:, None, :] / pairs.sum()
    there = ~np.isnan(numbers.numbers)
    by_level = split.sum(axis=0)[:, there]
    return by_level.sum(axis=1), _divided(by_level @ numbers.numbers[there], by_level.sum(axis=1))


def _ends(groups: ReadColumn, numbers: ReadColumn, ranges: AtomRanges) -> list[tuple[float, float]]:
    """The smallest and the largest mean of each group that the release allows."""
    here = numbers.scale.present
    parts = numbers.parts[:, :here]
    low = np.where(parts, np.maximum(ranges.low, ranges.least), np.inf).min(axis=1)[numbers.level]
    high = np.where(parts, np.minimum(ranges.high, ranges.most), -np.inf).max(axis=1)[numbers.level]
    is_told = np.any(parts, axis=1)[numbers.level]
    present = is_told & ~np.any(numbers.parts[:, here:], axis=1)[numbers.level]
    out = []
    for at in range(groups.scale.size):
        maybe = groups.parts[groups.level, at] & is_told
        surely = maybe & present & (groups.parts.sum(axis=1) == 1)[groups.level]
        maybe &= ~surely
        out.append((smallest_mean(low[surely], low[maybe]), -smallest_mean(-high[surely], -high[maybe])))
    return out
