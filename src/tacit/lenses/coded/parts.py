"""Who is coded, and the split of them in two parts: one to make the code from, one to prove it on."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tacit.errors import DataError, NotCertifiedError
from tacit.learn.arrays import Codes, Flags, Floats
from tacit.tables.drawing import BITS, HEX_DIGITS, key_text

# The share that makes the code: a larger one makes better codes, a smaller one leaves more to prove with.
_TO_DESIGN = 0.3


@dataclass(frozen=True, eq=False)
class Units:
    """Who is coded: every record by itself or, if a column says whose they are, all records of one person together.

    ``of_record`` is the unit of every record; ``secret`` and ``use`` have one entry per unit.
    """

    of_record: Codes
    secret: Codes
    secrets: tuple[str, ...]
    use: Codes | None = None

    def __len__(self) -> int:
        return len(self.secret)

    def means(self, vectors: Floats) -> Floats:
        """The mean of the vectors of each unit's records."""
        if len(self.of_record) == len(self.secret):
            return vectors
        sums = np.zeros((len(self), vectors.shape[1]))
        np.add.at(sums, self.of_record, vectors)
        return np.asarray(sums / np.bincount(self.of_record, minlength=len(self))[:, None])


def units_of(
    secret: Codes,
    secrets: Sequence[str],
    *,
    group: Sequence[str] | None = None,
    named: str | None = None,
    use: Codes | None = None,
) -> Units:
    """The units of records; ``group`` says whose each is, in the column ``named``.

    Raises
    ------
    DataError
        If somebody has records with different secrets: then no one secret of theirs can be kept. Likewise for the use.
    """
    if group is None:
        return Units(np.arange(len(secret)), secret, tuple(secrets), use)
    _, first, of_record = np.unique(np.asarray(group), return_index=True, return_inverse=True)
    if (secret != secret[first][of_record]).any():
        raise DataError(f"records of one '{named}' have different secrets: a claim about each needs one secret each")
    if use is not None and (use != use[first][of_record]).any():
        raise DataError(
            f"records of one '{named}' differ in the column to use: one code is released for each '{named}', so name "
            "a use that is the same in all records of one, or none"
        )
    return Units(of_record.astype(np.int64), secret[first], tuple(secrets), None if use is None else use[first])


@dataclass(frozen=True, eq=False)
class Parts:
    """Which units the code is made from, and which others prove it; copies of others are in neither.

    ``apart`` marks all that come after those the code is made from, copies included: they are released like the others,
    so a proof that leaves copies out could be false for them.
    """

    design: Flags
    proving: Flags
    apart: Flags

    @property
    def different(self) -> Flags:
        """One of each."""
        return self.design | self.proving


def dealt(units: Units, contents: Sequence[bytes], key: bytes) -> Parts:
    """Deal three of ten units to the part that makes the code, and the others to the one that proves it.

    They are dealt by a keyed hash of their place, without looking at the secrets: a proof treats the others as
    independent draws, and whoever checks it can deal them again. ``contents`` is what each record holds. Of units that
    hold the same, only one is dealt: copies would know the code, make the proof look larger than it is, and pass for
    people. All units after the last that makes the code are ``apart``, copies included: if copies are people in their
    own right who said the same, these are the others as they were drawn.
    """
    chance = chances(len(units), key, "part")
    first = _one_of_each(units, contents, chance)
    # Three in ten, to within one.
    place = np.argsort(np.argsort(np.where(first, chance, 2.0), kind="stable"), kind="stable")
    design = np.asarray(first & (place < _TO_DESIGN * first.sum()))
    after = np.asarray(chance > chance[design].max(initial=-1.0))
    parts = Parts(design, np.asarray(first & ~design), after)
    missing = [
        value
        for s, value in enumerate(units.secrets)
        if not (parts.design[units.secret == s].any() and parts.proving[units.secret == s].any())
    ]
    if missing:
        alike = "" if first.all() else f" ({int(first.sum()):,} of {len(first):,} are different)"
        raise NotCertifiedError(
            f"{len(missing):,} values of the secret have too few people{alike} to be in both parts, one that makes the "
            "code and one that proves it: gather more, or put rare values into one; nothing was written"
        )
    return parts


def _one_of_each(units: Units, contents: Sequence[bytes], chance: Floats) -> Flags:
    """One of the units that hold the same, the one with the smallest chance."""
    digests: list[list[bytes]] = [[] for _ in range(len(units))]
    for unit, content in zip(units.of_record.tolist(), contents, strict=True):
        digests[unit].append(hashlib.sha256(content).digest())
    earlier: set[bytes] = set()
    first = np.zeros(len(units), dtype=bool)
    for at in np.argsort(chance, kind="stable").tolist():
        whole = b"".join(sorted(digests[at]))
        first[at] = whole not in earlier
        earlier.add(whole)
    return first


def shuffled(units: int, key: bytes) -> Codes:
    """Which unit stands at each place of the release: ordered by a keyed hash, so that the order says nothing."""
    return np.argsort(chances(units, key, "order"), kind="stable")


def chances(units: int, key: bytes, purpose: str = "") -> Floats:
    """A number from 0 to 1 for every unit: a keyed hash of its place, another for each purpose."""
    start = (key_text(key) + purpose).encode()
    bits = [int(hashlib.sha256(start + str(at).encode()).hexdigest()[:HEX_DIGITS], 16) for at in range(units)]
    return np.array(bits, dtype=np.float64) / 2.0**BITS


def drawn(codes: Codes, channel: Floats | None, chance: Floats) -> Codes:
    """The released code of every unit: its own, or the one of its row of the channel that its chance falls on."""
    if channel is None:
        return codes
    steps = np.cumsum(channel, axis=1)
    out = np.empty(len(codes), dtype=np.int64)
    for code in np.unique(codes).tolist():
        rows = np.flatnonzero(codes == code)
        reached = np.searchsorted(steps[code], chance[rows] * steps[code, -1], side="right")
        out[rows] = np.minimum(reached, int(np.flatnonzero(channel[code])[-1]))
    return out


def share_drawn(codes: Codes, channel: Floats | None) -> float:
    """The share of units whose released code is left to chance: their row of the channel has several."""
    if channel is None:
        return 0.0
    return float(((channel > 0).sum(axis=1) > 1)[codes].mean())
