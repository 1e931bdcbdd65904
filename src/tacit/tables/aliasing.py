"""The alias tables of many distributions at once: what :mod:`tacit.tables.drawing` does for one, to the last bit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.tables.drawing import BITS, alias_lists

Whole = NDArray[np.int64]
Bits = NDArray[np.uint64]

# Entries of so many rows are worked on at a time: the arrays stay in the processor's cache, and memory stays flat.
PIECE = 1 << 16
# Below so many rows of a size one by one is as fast. Above so many buckets the sum of fractions would overflow.
FEWEST_ROWS = 16
MOST_BUCKETS = 1 << 11
# A probability times 2^60 is a whole number and a fraction; of one that is not below 2^-60 this holds all bits.
FRACTION_BITS = 52
_FRACTION = (1 << FRACTION_BITS) - 1
_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)


@dataclass(frozen=True, eq=False)
class AliasTables:
    """Alias tables laid end to end.

    Attributes
    ----------
    start, shift : int arrays
        The first bucket and the shift of each table.
    threshold, outputs : int arrays
        Of each bucket its threshold, and the two outputs that share it.
    """

    start: Whole
    shift: Whole
    threshold: Whole
    outputs: Whole


def alias_tables(starts: Whole, outputs: Whole, probabilities: NDArray[np.float64]) -> AliasTables:
    """The alias tables of rows laid end to end; row i has the entries from ``starts[i]`` up to ``starts[i + 1]``.

    Each row has at least one entry; the entries are > 0 and sum to about one, as those of a checked channel do.

    Guarantees
    ----------
    The tables are those of :func:`tacit.tables.drawing.alias_lists`, bit for bit, made with whole numbers throughout:
    each output's probability is within 2^-60 of its entry divided by the sum of its row. Memory grows with the entries.
    """
    sizes = np.diff(starts)
    bucket_bits = np.frexp((sizes - 1).astype(np.float64))[1].astype(np.int64)
    ends = np.cumsum(1 << bucket_bits)
    begins = ends - (1 << bucket_bits)
    buckets = int(ends[-1]) if len(ends) else 0
    made = AliasTables(begins, BITS - bucket_bits, np.empty(buckets, np.int64), np.empty(2 * buckets, np.int64))
    # The smallest entry decides: the fraction of a smaller one has more bits than are kept here.
    fine = np.zeros(len(sizes), bool)
    if len(sizes):
        fine = np.minimum.reduceat(probabilities, starts[:-1]) >= 2.0**-BITS
    for bits in np.unique(bucket_bits).tolist():
        rows = np.flatnonzero(bucket_bits == bits)
        many = fine[rows] & (1 << bits <= MOST_BUCKETS)
        if many.sum() < FEWEST_ROWS:
            many[:] = False
        for row in rows[~many].tolist():
            entries, at = slice(starts[row], starts[row + 1]), begins[row]
            _, threshold, chosen = alias_lists(probabilities[entries].tolist())
            made.threshold[at : at + (1 << bits)] = threshold
            made.outputs[2 * at : 2 * (at + (1 << bits))] = outputs[entries][chosen]
        together = rows[many]
        step = max(1, PIECE >> bits)
        for piece in (together[at : at + step] for at in range(0, len(together), step)):
            _fill(made, piece, 1 << bits, starts, outputs, probabilities)
    return made


def _fill(
    made: AliasTables, rows: Whole, buckets: int, starts: Whole, outputs: Whole, probabilities: NDArray[np.float64]
) -> None:
    """Write the tables of some rows, all of so many buckets."""
    bucket = np.arange(buckets)
    first = starts[rows][:, None]
    held = bucket < (starts[rows + 1] - starts[rows])[:, None]
    # Buckets beyond the last output are the first output's, of which they hold nothing.
    at = np.where(held, first + bucket, first)
    threshold, other = _vose(_whole_shares(np.where(held, probabilities[at], 0.0)))
    own = outputs[at]
    where = made.start[rows][:, None] + bucket
    made.threshold[where] = threshold
    made.outputs[2 * where] = own
    made.outputs[2 * where + 1] = np.take_along_axis(own, other, axis=1)


def _whole_shares(probabilities: NDArray[np.float64]) -> Whole:
    """For each row whole numbers in proportion that sum to 2^60: floors, and one more for the largest remainders."""
    scaled = probabilities * 2.0**BITS  # exact: a power of two
    floor = np.floor(scaled)
    whole = floor.astype(np.int64)
    fraction = ((scaled - floor) * 2.0**FRACTION_BITS).astype(np.int64)
    carried = fraction.sum(axis=1, keepdims=True)
    # How far the row's sum is from one, times 2^60: a whole number and a fraction.
    beyond = whole.sum(axis=1, keepdims=True) + (carried >> FRACTION_BITS) - (1 << BITS)
    beyond_fraction = carried & _FRACTION
    off = beyond + beyond_fraction * 2.0**-FRACTION_BITS
    # The sum is within 10^-6 of one, so this misses the quotient by far less than one, and its floor by one at most.
    shares = whole + np.floor(scaled - floor - scaled * (off / (2.0**BITS + off))).astype(np.int64)
    shares, high, low = _settled(shares, whole, fraction, beyond, beyond_fraction)
    short = (1 << BITS) - shares.sum(axis=1)
    some = np.flatnonzero(short)
    if len(some):
        # By remainder, largest first; of equal ones the first. Two sorts, for a remainder is two numbers.
        order = np.argsort(~low[some], axis=1, kind="stable")
        by_high = np.argsort(-np.take_along_axis(high[some], order, axis=1), axis=1, kind="stable")
        order = np.take_along_axis(order, by_high, axis=1)
        more = np.zeros((len(some), shares.shape[1]), np.int64)
        np.put_along_axis(more, order, (np.arange(shares.shape[1]) < short[some, None]).astype(np.int64), axis=1)
        shares[some] += more
    return shares


def _settled(
    shares: Whole, whole: Whole, fraction: Whole, beyond: Whole, beyond_fraction: Whole
) -> tuple[Whole, Whole, Bits]:
    """Shares that may miss the floor of the quotient by one, put right; and the remainders, high and low 64 bits.

    In units of 2^-52 the divisor is 2^112 + d, where d is what the row's sum is beyond 2^60, and the remainder is
    (2^52 whole + fraction) 2^60 - shares (2^112 + d). That is below 2^114 either way, so it is known once it is known
    modulo 2^128: numbers of two times 64 bits that wrap around are enough.
    """
    d_high = (beyond >> (64 - FRACTION_BITS)).astype(np.uint64)
    d_low = (beyond.astype(np.uint64) << np.uint64(FRACTION_BITS)) + beyond_fraction.astype(np.uint64)
    shares_ = shares.astype(np.uint64)
    product_high, product_low = _product(shares_, d_low)
    product_high += shares_ * d_high
    part = fraction.astype(np.uint64)
    part_low = part << np.uint64(BITS)
    low = part_low - product_low
    high = (part >> np.uint64(64 - BITS)) + ((whole - shares).astype(np.uint64) << np.uint64(48))
    high = (high - product_high - (part_low < product_low)).astype(np.int64)
    divisor_high, divisor_low = (d_high + np.uint64(1 << 48)).astype(np.int64), d_low
    below = high < 0
    shares = shares - below
    summed = low + divisor_low
    high, low = (
        np.where(below, high + divisor_high + (summed < low), high),
        np.where(below, summed, low),
    )
    above = (high > divisor_high) | ((high == divisor_high) & (low >= divisor_low))
    shares = shares + above
    high, low = (
        np.where(above, high - divisor_high - (low < divisor_low), high),
        np.where(above, low - divisor_low, low),
    )
    return shares, high, low


def _product(one: Bits, other: Bits) -> tuple[Bits, Bits]:
    """The high and low 64 bits of the product of two numbers of 64 bits, by halves."""
    one_high, one_low, other_high, other_low = one >> _HALF, one & _LOW, other >> _HALF, other & _LOW
    crossed, crossed_too = one_low * other_high, one_high * other_low
    middle = ((one_low * other_low) >> _HALF) + (crossed & _LOW) + (crossed_too & _LOW)
    high = one_high * other_high + (crossed >> _HALF) + (crossed_too >> _HALF) + (middle >> _HALF)
    return high, one * other


def _vose(shares: Whole) -> tuple[Whole, Whole]:
    """For each row and bucket the threshold, and the place that has the rest; every row takes its step at once."""
    rows, buckets = shares.shape
    size = (1 << BITS) // buckets
    threshold = np.full(shares.shape, size)
    other = np.tile(np.arange(buckets), (rows, 1))
    left = shares.copy()
    # Two stacks for each row: its places with less than a bucket, and those with more.
    small = np.argsort(left >= size, axis=1, kind="stable")
    large = np.argsort(left <= size, axis=1, kind="stable")
    smalls, larges = (left < size).sum(axis=1), (left > size).sum(axis=1)
    active = np.flatnonzero(smalls)
    while len(active):
        smalls[active] -= 1
        low, high = small[active, smalls[active]], large[active, larges[active] - 1]
        held = left[active, low]
        threshold[active, low], other[active, low] = held, high
        now = left[active, high] - (size - held)
        left[active, high] = now
        larges[active] -= now <= size
        turned = now < size
        moved = active[turned]
        small[moved, smalls[moved]] = high[turned]
        smalls[moved] += 1
        active = active[smalls[active] > 0]
    return threshold, other


def same_rows(starts: Whole, outputs: Whole, probabilities: NDArray[np.float64]) -> Whole:
    """For each row the first row that is equal to it; the rows are laid end to end, none of them empty.

    Guarantees
    ----------
    A row is never said to be equal to one that it is not. Two that are equal are found, but for a chance of hash
    collisions of about the number of rows squared times 2^-64; then they are told apart, which costs room and no more.
    """
    rows = np.arange(len(starts) - 1)
    if not len(rows):
        return rows
    sizes = np.diff(starts)
    of_entry = np.repeat(rows, sizes)
    place = np.arange(len(outputs)) - starts[of_entry]
    bits = probabilities.view(np.uint64)
    mixed = _mixed(_mixed(_mixed(outputs.astype(np.uint64)) + bits) + place.astype(np.uint64))
    _, first, which = np.unique(np.add.reduceat(mixed, starts[:-1]), return_index=True, return_inverse=True)
    found = first[which.reshape(-1)]
    at = np.minimum(starts[found[of_entry]] + place, len(outputs) - 1)
    differs = np.logical_or.reduceat((outputs[at] != outputs) | (bits[at] != bits), starts[:-1])
    return np.where(differs | (sizes[found] != sizes), rows, found)


def _mixed(bits: Bits) -> Bits:
    """Each number scattered over all 64 bits (the last step of SplitMix64)."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))
