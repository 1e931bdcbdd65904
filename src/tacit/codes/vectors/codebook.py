"""A codebook: vectors become one of K codes, each a mean of vectors that at least so many people share."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from tacit.codes.vectors.erasing import Erasure, erasure_of
from tacit.learn.arrays import Codes, Floats

# The weight of the directions that tell the reader's use, compared with the direction in which vectors vary most.
_WEIGHT_OF_USE = 2.0
# Rounds of K-means with all vectors, after those with a few at a time.
_ROUNDS = 30
# Vectors that are compared with all centres at a time.
_AT_ONCE = 8_192


@dataclass(frozen=True, eq=False)
class CodeSpace:
    """Where codes are looked for: the vectors without the secret, and what they say about the reader's use."""

    erasure: Erasure
    use: Floats

    def __call__(self, vectors: Floats) -> Floats:
        """The vectors in this space."""
        erased = self.erasure(vectors)
        return np.hstack([erased, erased @ self.use]) if self.use.shape[1] else erased


def code_space(vectors: Floats, secret: Codes, use: Codes | None, *, random_state: int) -> CodeSpace:
    """The space of the vectors of a design part; ``use`` is what the reader wants to predict, a class per vector."""
    erasure = erasure_of(vectors, secret)
    if use is None or len(np.unique(use)) < 2:
        return CodeSpace(erasure, np.zeros((vectors.shape[1], 0)))
    from sklearn.linear_model import LogisticRegression

    erased = erasure(vectors)
    scale = erased.std(axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    model = LogisticRegression(C=0.05, max_iter=500, random_state=random_state).fit(erased / scale, use)
    directions = model.coef_.T / scale[:, None]
    spread = (erased @ directions).std(axis=0)
    weight = _WEIGHT_OF_USE * float(scale.max()) / np.sqrt(directions.shape[1])
    return CodeSpace(erasure, directions * (weight / np.where(spread > 0, spread, 1.0)))


@dataclass(frozen=True, eq=False)
class Codebook:
    """Codes of vectors. A vector gets the code of its nearest centre; a centre with too few people has a neighbour's.

    ``centres`` are points of the space; ``code_of`` is the code of each, codes being numbered from 0.
    """

    space: CodeSpace
    centres: Floats
    code_of: Codes

    def __len__(self) -> int:
        return int(self.code_of.max()) + 1

    def codes(self, vectors: Floats) -> Codes:
        """The code of every vector; it depends on nothing but the vector."""
        return np.asarray(self.code_of[nearest(self.space(vectors), self.centres)])


def codebook(space: CodeSpace, vectors: Floats, *, codes: int, least: int, random_state: int) -> Codebook:
    """A codebook of at most ``codes`` codes, from the vectors of a design part, one for each person.

    Guarantees
    ----------
    On these vectors every code has at least ``least`` people, or there is only one code.
    """
    from sklearn.cluster import KMeans, MiniBatchKMeans

    points = space(vectors)
    k = min(codes, len(np.unique(points, axis=0)))
    start = MiniBatchKMeans(k, random_state=random_state, n_init=3, batch_size=4096).fit(points).cluster_centers_
    with warnings.catch_warnings():
        # Points that coincide make fewer codes than asked for, which does not matter.
        warnings.filterwarnings("ignore", message="Number of distinct clusters")
        tool = KMeans(k, init=start, n_init=1, max_iter=_ROUNDS).fit(points)
    centres = np.asarray(tool.cluster_centers_, dtype=np.float64)
    people = np.bincount(nearest(points, centres), minlength=k).astype(np.float64)
    return Codebook(space, centres, joined(centres, people, least))


def joined(centres: Floats, people: Floats, least: int) -> Codes:
    """Codes of centres: the smallest joins its nearest neighbour until each has ``least`` people."""
    code, people, middles = np.arange(len(centres)), people.copy(), centres.copy()
    alive = np.ones(len(centres), dtype=bool)
    while alive.sum() > 1:
        small = int(np.where(alive, people, np.inf).argmin())
        if people[small] >= least:
            break
        alive[small] = False
        away = ((middles - middles[small]) ** 2).sum(axis=1)
        into = int(np.where(alive, away, np.inf).argmin())
        together = max(people[into] + people[small], 1.0)
        middles[into] = (middles[into] * people[into] + middles[small] * people[small]) / together
        people[into] += people[small]
        code[code == small] = into
    return np.unique(code, return_inverse=True)[1].astype(np.int64)


def nearest(points: Floats, centres: Floats) -> Codes:
    """The nearest centre of every point; the first of several that are equally near.

    Close calls are decided one row at a time: a row's answer must not depend on how many others come with it, and
    matrix products round differently for different shapes.
    """
    out = np.empty(len(points), dtype=np.int64)
    half = (centres**2).sum(axis=1) / 2
    for start in range(0, len(points), _AT_ONCE):
        piece = points[start : start + _AT_ONCE]
        score = piece @ centres.T - half
        best = score.argmax(axis=1)
        top = score[np.arange(len(piece)), best]
        # Where rounding could decide, the distances themselves do.
        close = np.flatnonzero((score > (top - 1e-9 * (1 + np.abs(top)))[:, None]).sum(axis=1) > 1)
        for row in close.tolist():
            best[row] = int(((piece[row] - centres) ** 2).sum(axis=1).argmin())
        out[start : start + len(piece)] = best
    return out


def means_of(values: Floats, codes: Codes, count: int) -> Floats:
    """The mean of the rows of each code; for a code without rows, the mean of all."""
    total = np.bincount(codes, minlength=count)[:, None]
    sums = np.zeros((count, values.shape[1]))
    np.add.at(sums, codes, values)
    return np.where(total > 0, sums / np.maximum(total, 1), values.mean(axis=0))
