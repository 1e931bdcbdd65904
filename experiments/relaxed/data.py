"""Random joints. The paper says only "randomly generated distributions", so there are two readings of it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

SECRETS, VALUES = 15, 20
GENERATORS = {
    "cells": "every p(s,x) uniform on (0, 1), then divided by their sum",
    "posteriors": "p(x) = 1/|X|, and every p(s|x) uniform on (0, 1), then divided by their sum over s",
}


def joints(
    generator: str, number: int, *, secrets: int = SECRETS, values: int = VALUES, random_state: int
) -> NDArray[np.float64]:
    """``number`` joints of secrets x values."""
    cells = np.random.default_rng(random_state).random((number, secrets, values))
    if generator == "posteriors":
        cells /= cells.sum(axis=1, keepdims=True)
    return np.asarray(cells / cells.sum(axis=(1, 2), keepdims=True))
