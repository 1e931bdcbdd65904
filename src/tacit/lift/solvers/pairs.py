"""Outputs of two values under many rows: all that some values have, found at once."""

from __future__ import annotations

import numpy as np

from tacit.lift.joint import Labels
from tacit.lift.measures import p_log_p
from tacit.lift.solvers.binary import Side
from tacit.lift.solvers.region import Region


def pairs_of(region: Region, outer: Labels) -> Side:
    """Each risky value with every value: as much of it as the bounds allow, nan where they allow no mixture of both."""
    rows, tops = region.inequalities()
    most = np.ones((region.n, region.n))
    for row, top in zip(rows, tops, strict=True):
        over = np.flatnonzero(row > top)
        # Values that break the same row never mend each other.
        room = np.maximum(top - row, 0.0)
        most[over] = np.minimum(most[over], room / (room + (row[over] - top)[:, None]))
    # A mixture is within bounds if it has no more of either than the other allows.
    shares = most[outer]
    shares = np.where((shares + most[:, outer].T >= 1) & (shares > 0) & (shares < 1), shares, np.nan)
    costs = -p_log_p(np.nan_to_num(shares, nan=1.0)) - p_log_p(np.nan_to_num(1 - shares, nan=1.0))
    return Side(outer, np.arange(region.n), shares, np.where(np.isnan(shares), np.inf, costs))
