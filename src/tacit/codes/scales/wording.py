"""How values are written in the text of a part, so that no value can be mistaken for one of our own words."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

ANY, MISSING = "any", "missing"
# A value that is not named because few have it.
OTHER = "another value"
ALL_BUT = "any but "
# Words between values. A value that contains one of them as a separate word is quoted.
_BETWEEN = {"or", "to"}


def shown(value: str) -> str:
    """A value as a text shows it: unchanged, or in double quotes where it could be mistaken for something else.

    Guarantees
    ----------
    Different values are shown differently, and what is shown without quotes is none of our words and contains no
    " or " and no " to ", not even together with what is next to it.
    """
    plain = (
        value == value.strip()
        and value not in ("", ANY, MISSING, OTHER)
        and not value.startswith(ALL_BUT)
        and '"' not in value
        and "*" not in value
        and "\n" not in value
        and _BETWEEN.isdisjoint(value.split())
    )
    return value if plain else '"' + value.replace('"', '""') + '"'


def either(texts: Iterable[str]) -> str:
    """Several texts of which one is true."""
    return " or ".join(texts)


def runs(mask: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """The first and last position of every run of true entries."""
    # A mask is short: looking for a byte is quicker than arithmetic on arrays.
    flags, out, after = mask.tobytes(), list[tuple[int, int]](), 0
    while (first := flags.find(1, after)) >= 0:
        after = flags.find(0, first)
        after = len(flags) if after < 0 else after
        out.append((first, after - 1))
    return out
