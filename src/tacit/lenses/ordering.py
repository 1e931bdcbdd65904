"""The order in which records are released: the original order, or one that reveals nothing."""

from __future__ import annotations

import secrets as secure

import numpy as np

from tacit.learn.arrays import Codes


def released_order(n: int, *, keep: bool, random_state: int | None) -> Codes:
    """Which original record each released one is. Without ``random_state``, the system's secure source draws it."""
    if keep:
        return np.arange(n)
    if random_state is not None:
        return np.random.default_rng([random_state, 1]).permutation(n)
    order = list(range(n))
    secure.SystemRandom().shuffle(order)
    return np.array(order, dtype=np.int64)
