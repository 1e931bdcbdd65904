"""Bags of words: records as rows of a CSR matrix, whose stored entries are read in the order of storage."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tacit.learn.arrays import Codes, Floats

# Entries times numbers per entry that are worked on at once.
MOST_AT_ONCE = 4_000_000


def row_of_each(bags: Any) -> Codes:
    """The row of every stored entry."""
    return np.repeat(np.arange(bags.shape[0]), np.diff(bags.indptr))


def running_sums(bags: Any, weights: Floats) -> Iterator[tuple[slice, Floats]]:
    """For every entry the sum of its record's weighted entries so far (entries x numbers), whole records at a time."""
    starts, sizes = bags.indptr, np.diff(bags.indptr)
    most = max(1, MOST_AT_ONCE // weights.shape[1])
    first = 0
    while first < len(sizes):
        # As many as fit; at least one.
        last = max(first + 1, int(np.searchsorted(starts, starts[first] + most, side="right")) - 1)
        cells = slice(starts[first], starts[last])
        total = np.cumsum(weights[bags.indices[cells]] * bags.data[cells, None], axis=0)
        ahead = np.vstack([np.zeros(weights.shape[1]), total])[starts[first:last] - starts[first]]
        yield cells, total - np.repeat(ahead, sizes[first:last], axis=0)
        first = last
