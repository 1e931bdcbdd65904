"""The slow, obviously right oracle of draws: one distribution at a time, in Python's whole numbers."""

from __future__ import annotations

import hashlib
from fractions import Fraction
from itertools import accumulate, pairwise
from math import floor

import numpy as np

from tacit.tables.drawing import BITS, HEX_DIGITS, key_text


def row_bits(key, index):
    """The 60 bits of a row: the first 15 hexadecimal digits of SHA-256 of the key's text and the index in decimal."""
    return int(hashlib.sha256(f"{key_text(key)}{index}".encode()).hexdigest()[:HEX_DIGITS], 16)


def slow_alias(probabilities):
    """The shift, thresholds and outputs of one table, for probabilities > 0.

    Of 2^60 bits everyone has a share: the running sum, rounded down, steps by it. Then, in order, the outputs with more
    than a bucket fill up the buckets of those with less, and of those that have given away too much.
    """
    exact = [Fraction(p) for p in probabilities]
    whole = Fraction(1 << BITS) / sum(exact)
    reached = [floor(part * whole) for part in accumulate(exact, initial=Fraction(0))]
    bucket_bits = (len(exact) - 1).bit_length()
    buckets, size = 1 << bucket_bits, 1 << (BITS - bucket_bits)
    left = [after - before for before, after in pairwise(reached)] + [0] * (buckets - len(exact))
    small, large = [i for i in range(buckets) if left[i] < size], [i for i in range(buckets) if left[i] > size]
    threshold, other = [size] * buckets, list(range(buckets))
    for low in small:
        needy = low
        while left[needy] < size:
            giver = large[0]
            threshold[needy], other[needy] = left[needy], giver
            left[giver] -= size - left[needy]
            left[needy] = size
            if left[giver] <= size:
                large.pop(0)
            # One that has less than a bucket now is filled by the next.
            needy = giver
    named = [*range(len(exact)), *[0] * (buckets - len(exact))]
    return BITS - bucket_bits, threshold, [named[at] for own in range(buckets) for at in (own, other[own])]


def drawn(probabilities, bits):
    """The position that these bits draw."""
    support = np.flatnonzero(probabilities)
    shift, threshold, chosen = slow_alias(np.asarray(probabilities, float)[support].tolist())
    bucket, rest = bits >> shift, bits & ((1 << shift) - 1)
    return int(support[chosen[2 * bucket + (rest >= threshold[bucket])]])
