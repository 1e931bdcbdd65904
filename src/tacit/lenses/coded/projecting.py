"""From many numbers per record to few: the directions in which a design part varies most."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.learn.arrays import Floats


@dataclass(frozen=True, eq=False)
class Projection:
    """Rows of numbers become vectors along ``axes``; with ``as_directions`` each is brought to length 1."""

    mean: Floats
    axes: Floats
    as_directions: bool

    def __call__(self, rows: Any) -> Floats:
        """The vector of every row, dense or sparse."""
        vectors = np.asarray(rows @ self.axes.T) - self.mean @ self.axes.T
        if not self.as_directions:
            return vectors
        return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12))


def principal(rows: Floats, *, most: int, random_state: int) -> Projection:
    """The directions in which dense rows vary most."""
    from sklearn.decomposition import PCA

    kept = min(most, *rows.shape)
    tool = PCA(kept, svd_solver="randomized", random_state=random_state).fit(rows)
    return Projection(np.asarray(tool.mean_), np.asarray(tool.components_), as_directions=False)


def topical(rows: Any, *, most: int, random_state: int) -> Projection:
    """The directions in which sparse bags of words vary most; only the direction of a bag counts, not its length."""
    from sklearn.decomposition import TruncatedSVD

    kept = max(1, min(most, rows.shape[1] - 1, rows.shape[0] - 1))
    tool = TruncatedSVD(kept, random_state=random_state).fit(rows)
    return Projection(np.zeros(rows.shape[1]), np.asarray(tool.components_), as_directions=True)
