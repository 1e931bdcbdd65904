"""Round numbers at which a column may be cut, from a sample of it."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

# The finest scale of a column of numbers. A cell holds several people, so finer steps would gain nothing.
MOST_ATOMS = 256
# A value that at least this share of the records has can be told on its own.
FREQUENT = 1 / 128
# Powers of ten from here down are not round to anybody.
SMALLEST = -300
# A value with more digits than this (2/3, or a number that was kept in 32 bits) has a rounder edge just below it: this
# near, relative to the value.
DIGITS, NEAR = 9, 1e-3

Numbers = NDArray[np.float64]


def nicest(low: float, high: float) -> float:
    """The number above ``low`` and not above ``high`` with the fewest digits: 0, or a multiple of a large power of ten.

    Of several, one that is a multiple of five times that power is nicer.
    """
    if low < 0 <= high:
        return 0.0
    if high < 0:
        # The largest multiple not above ``high`` is found on the side of the positive numbers.
        return -_nicest_from(-high, -low)
    for power in range(math.floor(math.log10(high)), SMALLEST, -1):
        for factor in (5, 1):
            number = _multiple(math.floor(high / _power(factor, power)), factor, power)
            if low < number <= high:
                return number
    return high


def _nicest_from(low: float, high: float) -> float:
    """The nicest number from ``low`` on and below ``high``, both positive."""
    for power in range(math.floor(math.log10(high)), SMALLEST, -1):
        for factor in (5, 1):
            number = _multiple(math.ceil(low / _power(factor, power)), factor, power)
            if low <= number < high:
                return number
    return low


def _power(factor: int, power: int) -> float:
    return float(f"{factor}e{power}")


def _multiple(times: int, factor: int, power: int) -> float:
    """``times * factor * 10**power`` as the float that its decimals read as."""
    return float(f"{times * factor}e{power}")


def nice_edges(sample: Numbers, *, whole: bool, least: int, exact: bool = False) -> Numbers:
    """Edges between at most 256 atoms of about equal numbers of records, at round numbers or, ``exact``, at values.

    Whole numbers over a short range are each an atom. The outer atoms, below the first edge and from the last on,
    hold at least ``least`` records of the sample, so that no edge reveals an extreme value of a few people.
    """
    ordered = np.sort(sample[np.isfinite(sample)])
    if not len(ordered):
        return np.array([])
    values, counts = np.unique(ordered, return_counts=True)
    if whole and values[-1] - values[0] < MOST_ATOMS:
        edges = np.arange(values[0] + 1, values[-1] + 1)
    else:
        frequent = counts >= max(least, FREQUENT * len(ordered))
        between = _between(values, ordered, MOST_ATOMS - 2 * int(frequent.sum()), exact)
        edges = np.unique([*between, *_around(values, frequent, whole, exact)])
    return trimmed(edges, ordered, least)


def _between(values: Numbers, ordered: Numbers, room: int, exact: bool) -> list[float]:
    """An edge between every two neighbouring values, or between quantiles if there are too many values."""
    if len(values) <= room:
        windows = list(pairwise(values))
    else:
        groups = max(2, room)
        steps = np.arange(1, groups)
        low, high = (np.quantile(ordered, (steps + by) / groups, method="higher") for by in (-0.25, 0.25))
        windows = list(zip(low, high, strict=True))
    return [float(high) if exact else nicest(float(low), float(high)) for low, high in windows if low < high]


def _around(values: Numbers, frequent: NDArray[np.bool_], whole: bool, exact: bool) -> list[float]:
    """Edges before and after each frequent value, so that it can stand alone."""
    edges = []
    for at in np.flatnonzero(frequent).tolist():
        if at > 0:
            value, before = float(values[at]), float(values[at - 1])
            noisy = not (whole or exact or _is_short(value))
            edges.append(nicest(max(before, value - NEAR * abs(value)), value) if noisy else value)
        if at + 1 < len(values):
            after = values[at] + 1 if whole else nicest(float(values[at]), float(values[at + 1]))
            edges.append(float(after))
    return edges


def _is_short(value: float) -> bool:
    """Whether a number has so few digits that people wrote it."""
    return float(f"{value:.{DIGITS}g}") == value


def trimmed(edges: Numbers, ordered: Numbers, least: int) -> Numbers:
    """The edges with at least ``least`` numbers of the sorted sample on either side."""
    below = np.searchsorted(ordered, edges, side="left")
    return np.asarray(edges[(below >= least) & (len(ordered) - below >= least)], dtype=np.float64)


def centres(edges: Numbers, sample: Numbers, *, whole: bool, least: int) -> Numbers:
    """A number that stands for each atom: the mean of the sample in it, or its middle if the sample has few there.

    The mean is a sober one, see :func:`sober_mean`.
    """
    finite = np.sort(sample[np.isfinite(sample)])
    parts = np.split(finite, np.searchsorted(finite, edges, side="left"))
    count = np.array([len(part) for part in parts])
    mean = np.array([sober_mean(part, np.ones(len(part)), least) if len(part) else 0.0 for part in parts])
    if not len(edges):
        return np.array([float(f"{mean[0]:.6g}")])
    low = np.concatenate([[edges[0] - whole], edges])
    high = np.concatenate([edges - whole, [edges[-1]]])
    with np.errstate(over="ignore"):
        half = low + (high - low) / 2
    middle = np.where(count >= least, mean, np.where(np.isfinite(half), half, low / 2 + high / 2))
    single = low == high if whole else np.zeros(len(low), bool)
    inner = np.arange(len(low))
    alone = single & (inner > 0) & (inner < len(edges))
    return np.array([low[at] if alone[at] else float(f"{middle[at]:.6g}") for at in inner])


def sober_mean(values: Numbers, records: Numbers, least: int) -> float:
    """The winsorised mean of rising values with so many ``records`` each: a few records at the ends do not show.

    The ``least`` smallest count as the largest of them, the ``least`` largest as the smallest of them; with fewer than
    twice as many records, each half does. Otherwise an income that dwarfs all others could be read from the mean.
    """
    below = np.cumsum(records)
    rank = max(1, min(least, int(below[-1]) // 2))
    first = values[np.searchsorted(below, rank, side="left")]
    last = values[np.searchsorted(below, below[-1] - rank, side="right")]
    sober = np.clip(values, first, last)
    with np.errstate(over="ignore"):
        mean = float(np.average(sober, weights=records))
        # The sum of a few of the largest floats is infinite; that of their shares is not, but for rounding.
        shares = (sober * (records / records.sum())).sum()
    return mean if np.isfinite(mean) else float(np.clip(shares, first, last))
