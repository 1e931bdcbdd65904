"""Is what was released what was claimed? Numbers that agree up to rounding."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.lift.joint import Matrix, Vector
from tacit.lift.tolerances import AGREEMENT

Codes = NDArray[np.int64]


def agree(a: float, b: float, *, within: float = AGREEMENT) -> bool:
    """Whether two numbers are the same except for rounding; infinity agrees only with itself."""
    if not (np.isfinite(a) and np.isfinite(b)):
        return a == b
    return abs(a - b) <= within * max(1.0, abs(a), abs(b))


def crosstab(rows: Codes, columns: Codes, weight: Codes | Vector) -> Matrix:
    """The weight of every pair of a row and a column that occur, in the order of their codes."""
    row_codes, row = np.unique(rows, return_inverse=True)
    column_codes, column = np.unique(columns, return_inverse=True)
    shape = len(row_codes), len(column_codes)
    flat = np.bincount(row * shape[1] + column, weights=weight, minlength=shape[0] * shape[1])
    return flat.astype(np.float64).reshape(shape)
