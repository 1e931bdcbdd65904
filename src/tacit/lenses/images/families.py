"""The families of adversaries that look at images: gradients, pixels, a network, repaired patches, noised patches."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from tacit.learn.arrays import Codes, Flags, Floats
from tacit.lenses.bench.families import NEIGHBOURS, Family, linear
from tacit.lenses.images.hog import cell_means, hog_features, smaller
from tacit.lenses.images.results import Pixels

# Repaired pictures have about this many cells a side, and holes in them are filled in so many steps.
_CELLS, _ROUNDS = 16, 30


@dataclass(frozen=True, eq=False)
class ReadImages:
    """Images as an adversary gets them, where each stands in the file, and the side of the patches that it looks at."""

    pixels: Pixels
    place: Codes
    patch: int


def image_families() -> tuple[Family, ...]:
    """The families that are tried on images."""
    return (
        Family("gradients", "reads edges and mean brightness in 8 by 8 cells; nothing finer", _gradients, _machine),
        Family("pixels", "a linear reader of 32 pixels a side; no shape that moves", _pixels, partial(linear, 0.01)),
        Family("network", "one hidden layer over 32 pixels a side; small, and trained briefly", _pixels, _network),
        Family(
            "repaired",
            "fills in patches that look noised from those around them, then reads lines; no memory of other faces",
            _repaired,
            partial(linear, 0.01),
        ),
        Family("flags", "reads which patches look noised; no pixel", _flags, partial(linear, 0.1)),
        NEIGHBOURS,
    )


def _gradients(images: ReadImages) -> Any:
    return hog_features(images.pixels)


def _machine() -> Any:
    from sklearn.svm import LinearSVC

    return LinearSVC(C=0.03, tol=1e-2, random_state=0)


def _pixels(images: ReadImages) -> Any:
    return smaller(images.pixels)


def _network() -> Any:
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    net = MLPClassifier((32,), alpha=0.3, learning_rate_init=0.01, max_iter=40, tol=1e-3, random_state=0)
    return make_pipeline(StandardScaler(), net)


def _roughness(images: ReadImages) -> Floats:
    """How much neighbouring pixels of each patch differ, in the logarithm: (n, rows, columns)."""
    grey = images.pixels.astype(np.float32)
    grey = grey if grey.ndim == 3 else grey.mean(axis=3)
    steps = np.zeros_like(grey)
    steps[:, :, :-1] += np.abs(np.diff(grey, axis=2))
    steps[:, :-1] += np.abs(np.diff(grey, axis=1))
    size = images.patch
    n, rows, columns = len(grey), grey.shape[1] // size, grey.shape[2] // size
    cut = steps[:, : rows * size, : columns * size].reshape(n, rows, size, columns, size)
    return np.asarray(np.log1p(cut.mean(axis=(2, 4))), dtype=np.float64)


def _noised(rough: Floats) -> Flags:
    """Which patches look noised: those on the far side of the cut that parts all patches best in two."""
    values = np.sort(rough.ravel())
    below = np.cumsum(values)[:-1]
    count = np.arange(1, len(values))
    apart = (below / count - (below[-1] + values[-1] - below) / (len(values) - count)) ** 2 * count
    best = int((apart * (len(values) - count)).argmax())
    return np.asarray(rough > (values[best] + values[best + 1]) / 2)


def _flags(images: ReadImages) -> Floats:
    rough = _roughness(images)
    flags = _noised(rough).reshape(len(rough), -1)
    return np.hstack([flags, flags.mean(axis=1, keepdims=True), rough.reshape(len(rough), -1)])


def _repaired(images: ReadImages) -> Floats:
    """Means of small cells, those of patches that look noised filled in from around them; and these means, too."""
    size = max(1, min(images.patch, min(images.pixels.shape[1:3]) // _CELLS))
    n, height, width = images.pixels.shape[:3]
    rows, columns = height // size, width // size
    means = cell_means(images.pixels, cell=size).reshape(n, rows, columns, -1).astype(np.float64)
    noised = _noised(_roughness(images))
    at = [
        np.minimum(np.arange(many) * size // images.patch, limit - 1)
        for many, limit in zip((rows, columns), noised.shape[1:], strict=True)
    ]
    holes = noised[:, at[0]][:, :, at[1]][..., None]
    filled = np.where(holes, means.mean(axis=(0, 1, 2)), means)
    for _ in range(_ROUNDS):
        padded = np.pad(filled, ((0, 0), (1, 1), (1, 1), (0, 0)), mode="edge")
        around = (padded[:, :-2, 1:-1] + padded[:, 2:, 1:-1] + padded[:, 1:-1, :-2] + padded[:, 1:-1, 2:]) / 4
        filled = np.where(holes, around, means)
    return np.hstack([filled.reshape(n, -1), means.reshape(n, -1)])
