"""Draw from many distributions with the bits of a keyed hash: exact tables, the same draw on every engine."""

from __future__ import annotations

import base64
import hashlib
import secrets
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.errors import ArgumentError

KEY_BYTES = 32
# A draw uses 60 bits: 15 hexadecimal digits of the hash, which fit a signed 64-bit integer.
BITS = 60
HEX_DIGITS = BITS // 4
# Buckets are made this many at a time: the arrays stay in the processor's cache, and memory stays flat.
PIECE = 1 << 16

Whole = NDArray[np.int64]


def new_key(random_state: int | None = None) -> bytes:
    """256 bits from the system's secure source; or, to repeat a release, derived from an int.

    A key from an int is as secret as the int is hard to guess.
    """
    if random_state is None:
        return secrets.token_bytes(KEY_BYTES)
    return hashlib.sha256(f"tacit random_state {int(random_state)}".encode()).digest()


def key_text(key: bytes) -> str:
    """The key as 43 characters: with a row index below 10^12, SHA-256 hashes one block, twice as fast as two.

    A row's 60 bits are the first 15 hexadecimal digits of SHA-256 of this text followed by the index in decimal.
    """
    if len(key) != KEY_BYTES:
        raise ArgumentError(f"a key has {KEY_BYTES} bytes, not {len(key)}: make one with new_key()")
    return base64.b64encode(key).decode().rstrip("=")


@dataclass(frozen=True, eq=False)
class AliasTables:
    """Distributions as buckets of equal size, each shared by at most two outputs (Walker), laid end to end.

    Bits ``u`` choose bucket ``start + (u >> shift)``; its first output if ``u`` without those bits is below the
    bucket's threshold, else its second.

    Attributes
    ----------
    start, shift : int arrays
        The first bucket and the shift of each table.
    threshold, outputs : int arrays
        The threshold of each bucket, and its two outputs one after the other.
    """

    start: Whole
    shift: Whole
    threshold: Whole
    outputs: Whole


def alias_tables(starts: Whole, outputs: Whole, probabilities: NDArray[np.float64]) -> AliasTables:
    """The alias tables of rows laid end to end; row i has the entries from ``starts[i]`` up to ``starts[i + 1]``.

    Each row has at least one entry; the entries are > 0, of any magnitude.

    Guarantees
    ----------
    Over all 2^60 values of the bits each output is drawn within one of 2^60 times its entry divided by the sum of its
    row: its probability is within 2^-60 of what was asked. Whole numbers throughout. Memory grows with the entries.
    """
    sizes = np.diff(starts)
    bucket_bits = np.frexp((sizes - 1).astype(np.float64))[1].astype(np.int64)
    ends = np.cumsum(1 << bucket_bits)
    begins = ends - (1 << bucket_bits)
    buckets = int(ends[-1]) if len(ends) else 0
    tables = AliasTables(begins, BITS - bucket_bits, np.empty(buckets, np.int64), np.empty(2 * buckets, np.int64))
    shares = _whole_shares(starts, probabilities)
    for bits in np.unique(bucket_bits).tolist():
        alike, bucket = np.flatnonzero(bucket_bits == bits), np.arange(1 << bits)
        step = max(1, PIECE >> bits)
        for rows in (alike[at : at + step] for at in range(0, len(alike), step)):
            first = starts[rows][:, None]
            # Buckets beyond the last output belong to the first one, with a share of 0.
            inside = bucket < sizes[rows][:, None]
            entry = np.where(inside, first + bucket, first)
            threshold, other = _shared(np.where(inside, shares[entry], 0))
            place = begins[rows][:, None] + bucket
            tables.threshold[place] = threshold
            tables.outputs[2 * place] = outputs[entry]
            tables.outputs[2 * place + 1] = np.take_along_axis(outputs[entry], other, axis=1)
    return tables


def _whole_shares(starts: Whole, probabilities: NDArray[np.float64]) -> Whole:
    """Whole numbers in proportion to the entries of each row that sum to 2^60.

    They are the steps of the row's running sum, rounded down at every entry, so none is off by one or more. The sums
    are Python integers of any length, so that entries of every magnitude are exact.
    """
    if not len(probabilities):
        return np.empty(0, np.int64)
    mantissa, exponent = np.frexp(probabilities)
    exact = (mantissa * 2.0**53).astype(np.int64).astype(object) << (exponent - exponent.min()).astype(object)
    row = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    running = np.cumsum(exact)
    within = running - (running - exact)[starts[:-1]][row]
    reached = ((within << BITS) // within[starts[1:] - 1][row]).astype(np.int64)
    shares: Whole = np.diff(reached, prepend=0)
    shares[starts[:-1]] = reached[starts[:-1]]
    return shares


def _shared(shares: Whole) -> tuple[Whole, Whole]:
    """For each row and bucket: the threshold below which its own output is drawn, and the output drawn above it.

    An output with a share smaller than a bucket leaves room, one with a larger share has an excess. Lay the excesses
    along the rooms, both in order: the room that begins at a point is filled by the output whose excess reaches beyond
    that point. An output that has given away more than its excess leaves room itself, which the next one fills.
    """
    size = (1 << BITS) // shares.shape[1]
    room = np.cumsum(np.maximum(size - shares, 0), axis=1)
    excess = np.cumsum(np.maximum(shares - size, 0), axis=1)
    begin = np.where(shares < size, room - (size - shares), excess)
    filled_by = _first_beyond(excess, begin)
    # Room that ends exactly where the excess does takes nothing more.
    room_end = np.take_along_axis(room, np.minimum(_first_beyond(room, excess - 1), room.shape[1] - 1), axis=1)
    threshold = np.where(shares < size, shares, np.where(shares > size, size + excess - room_end, size))
    return threshold, np.where(threshold < size, filled_by, np.arange(room.shape[1]))


def _first_beyond(rising: Whole, points: Whole) -> Whole:
    """For each row and point, the first place where ``rising``, which never falls, is above it; else its length."""
    both = np.append(rising, points, axis=1)
    order = np.argsort(both, axis=1, kind="stable")
    not_above = np.empty_like(order)
    np.put_along_axis(not_above, order, np.cumsum(order < rising.shape[1], axis=1), axis=1)
    return not_above[:, rising.shape[1] :]
