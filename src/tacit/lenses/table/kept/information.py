"""What released rows tell about a column or about whole rows: plug-in, less what they would tell by chance."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tacit.learn.arrays import Codes, Floats
from tacit.tables.symbols import in_order

SHUFFLES = 5
# If chance alone seems to tell more than this share of a column, counting rows says nothing about it.
MOST_BY_CHANCE = 0.5
# Codes with at most this many different values are counted without sorting.
MOST_COUNTED = 1 << 18


def entropy_of(codes: Codes) -> float:
    """Entropy in nats of the values that some rows have."""
    counts = _counted(codes)
    shares = counts / len(codes)
    return float(-(shares * np.log(shares)).sum())


def _counted(codes: Codes) -> Codes:
    """How often each code occurs, in the order of codes, without those that do not occur."""
    low, high = int(codes.min(initial=0)), int(codes.max(initial=0))
    if high - low >= MOST_COUNTED:
        return np.unique(codes, return_counts=True)[1]
    counts = np.bincount(codes - low if low else codes)
    return counts[counts > 0]


def numbered(columns: Sequence[Codes]) -> Codes:
    """Rows of several codes as one code from 0 on."""
    return in_order(np.column_stack(columns) + 1)[1]


def kept_share(column: Codes, row: Codes, rng: np.random.Generator) -> float:
    """The share of a column's entropy that rows tell, less chance: (I - E) / (H - E), where E is I of shuffled rows.

    Plug-in information of many different rows is too large, but exact for a column that is told in full: the share is
    where I lies between E and H (an adjusted mutual information).

    Guarantees
    ----------
    Between 0 and 1; 1 if the rows determine the column, except that it is 0 for columns of which chance seems to tell
    more than half.
    """
    whole = entropy_of(column)
    if whole < 1e-12:
        return 1.0
    # Shuffling the rows does not change their entropy.
    both = whole + entropy_of(row)
    # Codes start at -1; columns and rows as one code.
    width = int(row.max(initial=0)) + 2
    places = (column + 1) * width + 1

    def told(rows: Codes) -> float:
        return max(0.0, both - entropy_of(places + rows))

    chance = float(np.mean([told(rng.permutation(row)) for _ in range(SHUFFLES)]))
    if chance > MOST_BY_CHANCE * whole:
        return 0.0
    return float(np.clip((told(row) - chance) / (whole - chance), 0.0, 1.0))


def cramers_v(table: Floats) -> float:
    """Cramér's V of a contingency table, corrected for chance (Bergsma, 2013); 0 if a side has only one value."""
    table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    n = table.sum()
    rows, columns = table.shape
    if min(rows, columns) < 2 or n <= 1:
        return 0.0
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / n
    phi = float(((table - expected) ** 2 / expected).sum() / n) - (rows - 1) * (columns - 1) / (n - 1)
    sides = [side - (side - 1) ** 2 / (n - 1) - 1 for side in (rows, columns)]
    return float(np.sqrt(max(phi, 0.0) / min(sides))) if min(sides) > 0 else 0.0
