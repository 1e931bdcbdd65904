"""Random words for noise: from the operating system, or repeatable ones for tests."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

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
        Makes the words repeatable, for tests and experiments. Anyone who knows or guesses the seed, or sees enough of
        the words, can take the noise off again: never give one for a release.

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


def drawn_places(words: NDArray[np.uint64], size: int) -> NDArray[np.int64]:
    """A place out of ``size`` for every random word."""
    return ((words >> np.uint64(11)) * 2.0**-53 * size).astype(np.int64)


def words_from(random_state: Any) -> Callable[[int], NDArray[np.uint64]]:
    """A source of random words: the system's, or a repeatable one."""
    if random_state is None:
        return secure_words
    rng = np.random.default_rng(check_random_state(random_state).randint(2**31))
    return lambda n: secure_words(n, rng)
