"""Draw symbols from a distribution with the bits of a keyed hash: exact tables, the same draw on every engine."""

from __future__ import annotations

import base64
import hashlib
import secrets
from dataclasses import dataclass
from math import fsum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tacit.errors import ArgumentError

KEY_BYTES = 32
# A draw uses 60 bits: 15 hexadecimal digits of the hash, which fit a signed 64-bit integer.
BITS = 60
HEX_DIGITS = BITS // 4
# As for a Channel: how much the floating-point probabilities of a mechanism may miss a sum of one by.
SUM_TOLERANCE = 1e-6


def new_key(random_state: int | None = None) -> bytes:
    """256 bits from the system's secure source; or, to repeat a release, derived from an int.

    A key from an int is as secret as the int is hard to guess.
    """
    if random_state is None:
        return secrets.token_bytes(KEY_BYTES)
    return hashlib.sha256(f"tacit random_state {int(random_state)}".encode()).digest()


def key_text(key: bytes) -> str:
    """The key as 43 characters: with a row index below 10^12 the hash is of a single block, twice as fast as of two."""
    if len(key) != KEY_BYTES:
        raise ArgumentError(f"a key has {KEY_BYTES} bytes, not {len(key)}: make one with new_key()")
    return base64.b64encode(key).decode().rstrip("=")


def row_bits(key: bytes, index: int) -> int:
    """The 60 bits of a row: the first 15 hexadecimal digits of SHA-256 of the key's text and the index in decimal."""
    return int(hashlib.sha256(f"{key_text(key)}{index}".encode()).hexdigest()[:HEX_DIGITS], 16)


@dataclass(frozen=True, eq=False)
class AliasTable:
    """A distribution as buckets of equal size, each shared by at most two symbols (Walker and Vose).

    Bits ``u`` choose bucket ``u >> shift``; its own symbol if ``u`` without those bits is below ``threshold``, else the
    other one. ``symbols[2 * bucket]`` is the own, ``symbols[2 * bucket + 1]`` the other.

    Guarantees
    ----------
    Over all ``2**60`` values of the bits a symbol is drawn ``round(p * 2**60)`` times, up to one: its probability is
    within ``2**-60`` of p; a symbol of probability zero is never drawn.
    """

    shift: int
    threshold: NDArray[np.int64]
    symbols: NDArray[np.int64]

    def draw(self, bits: int) -> int:
        """The symbol for these bits."""
        bucket, rest = bits >> self.shift, bits & ((1 << self.shift) - 1)
        return int(self.symbols[2 * bucket + int(rest >= self.threshold[bucket])])


def checked_distribution(probabilities: ArrayLike, name: str) -> NDArray[np.float64]:
    """The probabilities as a vector, which must sum to one."""
    vector = np.asarray(probabilities, dtype=np.float64)
    if vector.ndim != 1 or not len(vector) or not np.isfinite(vector).all() or (vector < 0).any():
        raise ArgumentError(f"{name} must be a vector of probabilities")
    if abs(fsum(vector) - 1) > SUM_TOLERANCE:
        raise ArgumentError(f"{name} sums to {fsum(vector):g}, not 1")
    return vector


def alias_table(probabilities: ArrayLike) -> AliasTable:
    """The alias table of a probability vector, made with whole numbers throughout."""
    vector = checked_distribution(probabilities, "the replacement")
    support = np.flatnonzero(vector)
    shift, threshold, places = alias_lists(vector[support].tolist())
    return AliasTable(shift, np.array(threshold, np.int64), support[places].astype(np.int64))


def alias_lists(probabilities: list[float]) -> tuple[int, list[int], list[int]]:
    """The shift, thresholds and symbols of an :class:`AliasTable`, for probabilities > 0 that sum to about one.

    Whole numbers of any length, so that entries of every magnitude are exact. Of many rows of ordinary magnitude
    :func:`tacit.tables.aliasing.alias_tables` makes the same tables at once, and far faster.
    """
    bucket_bits = (len(probabilities) - 1).bit_length()
    buckets = 1 << bucket_bits
    shares = _whole_shares(probabilities) + [0] * (buckets - len(probabilities))
    threshold, other = _vose(shares, 1 << (BITS - bucket_bits))
    # Buckets beyond the last symbol are the first symbol's, of which they hold nothing.
    named = [*range(len(probabilities)), *[0] * (buckets - len(probabilities))]
    return BITS - bucket_bits, threshold, [named[at] for own in range(buckets) for at in (own, other[own])]


def _whole_shares(probabilities: list[float]) -> list[int]:
    """Whole numbers in proportion that sum to 2^60: floors, and one more for the largest remainders."""
    ratios = [p.as_integer_ratio() for p in probabilities]
    common = max(denominator for _, denominator in ratios)  # all are powers of two
    whole = [(numerator * (common // denominator)) << BITS for numerator, denominator in ratios]
    total = sum(whole) >> BITS
    shares = [value // total for value in whole]
    short = (1 << BITS) - sum(shares)
    by_remainder = sorted(range(len(whole)), key=lambda i: (-(whole[i] % total), i))
    for i in by_remainder[:short]:
        shares[i] += 1
    return shares


def _vose(shares: list[int], size: int) -> tuple[list[int], list[int]]:
    """For each bucket its threshold and the symbol that has the rest of it."""
    threshold, other = [size] * len(shares), list(range(len(shares)))
    left = list(shares)
    small = [i for i, share in enumerate(left) if share < size]
    large = [i for i, share in enumerate(left) if share > size]
    while small:
        low, high = small.pop(), large[-1]
        threshold[low], other[low] = left[low], high
        left[high] -= size - left[low]
        if left[high] <= size:
            large.pop()
            if left[high] < size:
                small.append(high)
    return threshold, other
