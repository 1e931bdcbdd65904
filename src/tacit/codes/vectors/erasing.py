"""Linear erasure: the smallest change of vectors after which no linear reader can predict the secret (LEACE)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.learn.arrays import Codes, Floats

# Directions with less than this share of the largest variance are rounding.
_FLAT = 1e-10


@dataclass(frozen=True, eq=False)
class Erasure:
    """z becomes z - (z - mean) @ read @ write: what is read along a few directions is taken out along others."""

    mean: Floats
    read: Floats
    write: Floats

    def __call__(self, vectors: Floats) -> Floats:
        """The vectors without what was erased."""
        return np.asarray(vectors - ((vectors - self.mean) @ self.read) @ self.write)


def erasure_of(vectors: Floats, secret: Codes) -> Erasure:
    """The linear erasure of a secret, learned from these vectors.

    Guarantees
    ----------
    On the vectors that it was learned from, what is left of every coordinate has the same mean for each secret (to
    rounding), so that no linear classifier does better than a constant there; of all affine maps with that property it
    is the one that changes the vectors least, in mean square (Belrose and others, 2023: LEACE). It proves nothing about
    a reader that is not linear, nor about other vectors: what is certified is counted on codes.
    """
    mean = vectors.mean(axis=0)
    centred = vectors - mean
    variances, axes = np.linalg.eigh(centred.T @ centred / len(vectors))
    real = variances > _FLAT * max(float(variances.max(initial=0.0)), np.finfo(np.float64).tiny)
    roots, axes = np.sqrt(variances[real]), axes[:, real]
    marks = np.eye(int(secret.max()) + 1)[secret]
    # In white coordinates the change is smallest where it is an orthogonal projection.
    across = (axes / roots).T @ (centred.T @ (marks - marks.mean(axis=0))) / len(vectors)
    telling, strength, _ = np.linalg.svd(across, full_matrices=False)
    telling = telling[:, strength > _FLAT]
    return Erasure(mean, (axes / roots) @ telling, telling.T @ (axes * roots).T)
