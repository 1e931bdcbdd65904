"""Random words for noise: from the operating system, or repeatable ones for tests."""

from __future__ import annotations

import secrets
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tacit.errors import ArgumentError

# Words asked of the operating system at a time: a megabyte.
_BLOCK: Final = 1 << 17


def secure_words(n: int, random_state: int | np.random.Generator | None = None) -> NDArray[np.uint64]:
    """Random 64-bit words, one for each draw of `GridGaussian`.

    Parameters
    ----------
    n : int
        How many.
    random_state : int or numpy Generator, optional
        Makes the words repeatable, for tests and experiments. Whoever knows or guesses the seed, or sees enough of the
        words, can take the noise off again: never give one for a release.

    Guarantees
    ----------
    Without ``random_state`` they come from the operating system's secure source (`secrets`), all 64 bits of each.
    """
    if not (isinstance(n, int | np.integer) and n >= 0):
        raise ArgumentError(f"n is {n}; it must be a whole number, 0 or more")
    if random_state is not None:
        return np.random.default_rng(random_state).integers(0, 1 << 64, size=n, dtype=np.uint64)
    words = np.empty(n, dtype=np.uint64)
    for start in range(0, n, _BLOCK):
        part = words[start : start + _BLOCK]
        part[:] = np.frombuffer(secrets.token_bytes(8 * len(part)), dtype=np.uint64)
    return words
