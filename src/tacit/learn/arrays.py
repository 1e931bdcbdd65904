"""The array types used in this package, and what turns scores into probabilities."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.lift.joint import Mask, Matrix

Floats = Matrix
Flags = Mask
Codes = NDArray[np.int64]
Singles = NDArray[np.float32]


def log_softmax(scores: Floats, axis: int) -> Floats:
    """The logs of shares that add up to 1 along an axis, from finite scores.

    The same floats as scipy's, which spends most of its time on asking what kind of array it was given.
    """
    less = scores - scores.max(axis=axis, keepdims=True)
    return np.asarray(less - np.log(np.exp(less).sum(axis=axis, keepdims=True)))


def softmax(scores: Floats, axis: int) -> Floats:
    """Shares that add up to 1 along an axis, from finite scores."""
    powers = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return np.asarray(powers / powers.sum(axis=axis, keepdims=True))
