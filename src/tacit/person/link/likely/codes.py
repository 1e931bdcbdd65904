"""Which of very many records may share fields with given ones, quickly, by 32 bits of every field of every record."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tacit.person.link.attributes import Attributes, IntArray, numbers
from tacit.person.link.brought import surest_query
from tacit.person.link.likely.fields import Field
from tacit.person.link.matching import coded_numbers, mixed

# One row per field and one column per record; 0 where a record has no value.
Codes = NDArray[np.uint32]
_CODE = "CASE WHEN {0} IS NULL THEN 0 ELSE greatest(1, hash({0}) & 4294967295) END::UINTEGER"
# A sieve of 2^_BITS entries is tried first.
_BITS = 20


def field_codes(attributes: Attributes, fields: Sequence[Field]) -> Codes:
    """A code of every field of every record: equal values have equal codes, different ones hardly ever."""
    codes = np.zeros((len(fields), attributes.records), np.uint32)
    if attributes.coded is None or attributes.several:
        field_terms = ", ".join(f"{_CODE.format(f'({field.value})')} AS t{at}" for at, field in enumerate(fields))
        rows = attributes.store.ask(f"SELECT rid, {field_terms} FROM ({surest_query(attributes)})")
        rids = numbers(rows, "rid")
        for at in range(len(fields)):
            codes[at, rids] = numbers(rows, f"t{at}")
        return codes
    for place, label in enumerate(attributes.labels):
        own = [at for at, field in enumerate(fields) if field.label == label]
        terms = [_CODE.format(f"({fields[at].value})") for at in own]
        rids, places, columns = coded_numbers(attributes.coded, label, "true", *terms, called=f"c{place}")
        for at, column in zip(own, columns, strict=True):
            codes[at, rids] = column[places]
    return codes


def partners(codes: Codes, keys: Sequence[Sequence[int]], some: IntArray) -> IntArray:
    """The records that may share all fields of a key with one of ``some``: at least every one that does, and ``some``.

    ``keys`` are rows of the codes.
    """
    near = [some]
    for key in keys:
        whole = _together(codes, key)
        wanted = np.unique(whole[some])
        wanted = wanted[wanted != 0]
        sieve = np.zeros(1 << _BITS, bool)
        sieve[_short(wanted)] = True
        likely = np.flatnonzero(sieve[_short(whole)])
        near.append(likely[np.isin(whole[likely], wanted)])
    return np.unique(np.concatenate(near))


def _together(codes: Codes, key: Sequence[int]) -> NDArray[np.uint64]:
    """A number for the fields of a key, for every record; 0 where a record lacks one."""
    whole = codes[key[0]].astype(np.uint64)
    there = codes[key[0]] != 0
    for at in key[1:]:
        whole = mixed(whole, codes[at].astype(np.uint64))
        there &= codes[at] != 0
    return np.where(there, np.maximum(whole, 1), np.uint64(0))


def _short(whole: NDArray[np.uint64]) -> NDArray[np.uint64]:
    return (whole * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(64 - _BITS)
