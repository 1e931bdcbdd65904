"""Which patches give a smile away, and what is released in their place."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from experiments.tide.data import Codes, Faces, Floats, Pixels
from tacit.learn import PrefixLogLift, secure_words
from tacit.lenses.images.images import patches, pixels_of
from tacit.lift import GridGaussian

Flags = NDArray[np.bool_]

SHAPE = (64, 64)
# The paper's M, and the share of faces that may leak through a patch before it is changed in all of them.
CLIP, SHARE = 3.0, 0.01
FOLDS = 2


class Density:
    """The log-lift of every prefix of patches of one size, learned from the training faces.

    Training faces are scored by networks that did not see them: otherwise more of their patches would be flagged than
    of others, and an adversary trained on them would not know what test faces look like.
    """

    def __init__(self, faces: Faces, size: int, *, random_state: int = 0) -> None:
        self.faces, self.size = faces, size
        self.groups = patches(*SHAPE, size)
        self.columns = [np.flatnonzero(self.groups == j) for j in range(int(self.groups.max()) + 1)]
        self.estimator = PrefixLogLift(
            groups=self.groups, clip=CLIP, cross_fit=FOLDS, random_state=random_state
        ).fit(faces.matrix(faces.train), faces.smile[faces.train])  # fmt: skip

    def right(self) -> int:
        """Smiles of test faces that the density itself guesses right."""
        lift = self.estimator.log_lift(self.faces.matrix(self.faces.test)) + np.log(self.estimator.prior_)
        return int((lift.argmax(axis=1) == self.faces.smile[self.faces.test]).sum())

    def order(self, order: str) -> Codes:
        """The order of patches: raster, or the most leaking first."""
        return np.arange(len(self.columns)) if order == "given" else self.estimator.leak_order_

    def flags_of_the_paper(self, rows: Codes, epsilon: float, *, training: bool) -> Flags:
        """|i(s; x_j | x_1 .. x_{j-1})| > epsilon, given the raw patches before it, released or not."""
        found = self.estimator.feature_log_lift(self.faces.matrix(rows), out_of_fold=training)
        return np.asarray(np.abs(found).max(axis=2) > epsilon)

    def flags(self, rows: Codes, epsilon: float, *, training: bool, order: str = "given") -> Flags:
        """The same given what was released: as `FeatureObfuscator` with ``rounds=0``."""
        matrix = self.faces.matrix(rows)
        sweep = self.estimator.sweep(len(rows), out_of_fold=training)
        flags = np.zeros((len(rows), len(self.columns)), dtype=bool)
        for j in self.order(order).tolist():
            columns = matrix[:, self.columns[j]]
            flags[:, j] = np.abs(sweep.candidate(j, columns) - sweep.log_lift).max(axis=1) > epsilon
            sweep.release(j, columns, where=~flags[:, j])
        return flags

    def mask(self, epsilon: float, *, order: str = "leak") -> Flags:
        """Patches to change in every face: those through which more than ``SHARE`` of faces leak.

        Judged on the faces that are neither learned from nor tested on. A patch that is changed in all faces reveals
        nothing by being changed.
        """
        rest = self.faces.matrix(self.faces.rest)
        sweep = self.estimator.sweep(len(rest))
        mask = np.zeros(len(self.columns), dtype=bool)
        for j in self.order(order).tolist():
            columns = rest[:, self.columns[j]]
            leaks = np.abs(sweep.candidate(j, columns) - sweep.log_lift).max(axis=1) > epsilon
            mask[j] = leaks.mean() > SHARE
            if not mask[j]:
                sweep.release(j, columns)
        return mask

    def heat(self, rows: Codes, *, orders: int = 4) -> Floats:
        """Mean over faces of what a patch says, averaged over random orders: a grid of nats."""
        found = np.abs(self.estimator.feature_log_lift(self.faces.matrix(rows), orders=orders)).max(axis=2).mean(axis=0)
        side = SHAPE[0] // self.size
        return np.asarray(found.reshape(side, side))


def noised(faces: Faces, rows: Codes, touched: Flags, scale: float, seed: int) -> Pixels:
    """Grid Gaussian noise on the touched pixels (faces x pixels), cut to the range of pixels."""
    matrix = faces.matrix(rows)
    cells = matrix[touched]
    matrix[touched] = GridGaussian(scale).release(cells, secure_words(len(cells), seed))
    return pixels_of(matrix, (len(rows), *SHAPE))


def averaged(faces: Faces, rows: Codes, touched: Flags) -> Pixels:
    """The average training face on the touched pixels: nothing of the face itself stays there."""
    average = faces.matrix(faces.train).mean(axis=0)
    return pixels_of(np.where(touched, average, faces.matrix(rows)), (len(rows), *SHAPE))


def mean_square(faces: Faces, released: Pixels) -> float:
    """The mean square by which released training faces differ from the originals, after clipping."""
    return float(np.square(released / 255.0 - faces.pixels[faces.train] / 255.0).mean())


def noise_everywhere(faces: Faces, wanted: float) -> float:
    """The scale of noise on all pixels that moves them, once cut to their range, by the wanted mean square."""
    some = faces.train[:200]
    everything = np.ones((len(some), SHAPE[0] * SHAPE[1]), dtype=bool)

    def moved(scale: float) -> float:
        return float(np.square(noised(faces, some, everything, scale, 1) / 255.0 - faces.pixels[some] / 255.0).mean())

    return _root(moved, wanted, 1e-3, 8.0)


def _root(rising: Callable[[float], float], wanted: float, low: float, high: float) -> float:
    for _ in range(14):
        middle = float(np.sqrt(low * high))
        low, high = (middle, high) if rising(middle) < wanted else (low, middle)
    return float(np.sqrt(low * high))


def shuffled(flags: Flags, seed: int) -> Flags:
    """As many patches of every face, but anywhere."""
    return np.asarray(np.random.default_rng(seed).permuted(flags, axis=1))
