"""The array types used in this package, what turns scores into probabilities, and the threads that work on them."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

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


@cache
def _threads() -> ThreadpoolController:
    return ThreadpoolController()


def one_thread() -> Any:
    """A context in which numpy and scikit-learn use one thread.

    The matrices here are small: a second thread gains nothing on an idle machine, and on a busy one the two wait for
    each other, which took up to a hundred times as long.
    """
    return _threads().limit(limits=1)
