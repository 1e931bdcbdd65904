"""Adversaries for images: histograms of oriented gradients under a support vector machine, and plain pixels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import ArgumentError, DataError

BINS = 9
# The most that one bin may contribute to a normalised block (Dalal and Triggs).
MOST_OF_A_BLOCK = 0.2
CELLS_A_SIDE = 8
# There are few means next to the gradients; with more weight they count where only brightness differs.
MEANS_WEIGHT = 2.0
# The linear adversary looks at a picture of this many pixels a side.
MOST_PIXELS_A_SIDE = 32

Floats = NDArray[np.float32]


def oriented_gradients(pixels: NDArray[np.uint8], *, cell: int) -> Floats:
    """Histograms of nine directions over cells, normalised over blocks of two by two cells; one row per image."""
    grey = _grey(pixels)
    n, height, width = grey.shape
    down, across = np.zeros_like(grey), np.zeros_like(grey)
    down[:, 1:-1] = grey[:, 2:] - grey[:, :-2]
    across[:, :, 1:-1] = grey[:, :, 2:] - grey[:, :, :-2]
    size = np.hypot(across, down)
    direction = np.arctan2(down, across) / np.pi % 1 * BINS - 0.5
    lower = np.floor(direction)
    upper_share = (direction - lower).astype(np.float32)
    bin_ = lower.astype(np.int64) % BINS
    rows, columns = height // cell, width // cell
    whole = np.s_[:, : rows * cell, : columns * cell]
    first = np.arange(n * rows * columns).reshape(n, rows, 1, columns, 1) * BINS
    at = np.broadcast_to(first, (n, rows, cell, columns, cell)).reshape(n, rows * cell, columns * cell)
    votes = np.zeros(n * rows * columns * BINS)
    # A direction between two bins counts for both, in proportion to its nearness.
    for bin_here, share in ((bin_, 1 - upper_share), ((bin_ + 1) % BINS, upper_share)):
        where, weight = (at + bin_here[whole]).ravel(), (size * share)[whole].ravel()
        votes += np.bincount(where, weights=weight, minlength=len(votes))
    cells = votes.astype(np.float32).reshape(n, rows, columns, BINS)
    corners = (cells[:, :-1, :-1], cells[:, 1:, :-1], cells[:, :-1, 1:], cells[:, 1:, 1:])
    blocks = np.concatenate(corners, axis=-1)
    blocks /= np.sqrt((blocks**2).sum(axis=-1, keepdims=True) + (0.01 * cell) ** 2)
    blocks = np.minimum(blocks, MOST_OF_A_BLOCK)
    blocks /= np.sqrt((blocks**2).sum(axis=-1, keepdims=True) + 1e-4)
    return np.asarray(blocks.reshape(n, -1))


def cell_means(pixels: NDArray[np.uint8], *, cell: int) -> Floats:
    """The mean of every channel over cells, to which gradients are blind."""
    values = np.sqrt(pixels.astype(np.float32) / 255)
    n, height, width = values.shape[:3]
    rows, columns = height // cell, width // cell
    cut = values[:, : rows * cell, : columns * cell].reshape(n, rows, cell, columns, cell, -1)
    return np.asarray(cut.mean(axis=(2, 4)).reshape(n, -1))


def _grey(pixels: NDArray[np.uint8]) -> Floats:
    values = pixels.astype(np.float32) / 255
    # The square root evens out the effect of lighting on gradients.
    return np.sqrt(values if values.ndim == 3 else values @ np.array([0.299, 0.587, 0.114], np.float32))


class HogClassifier:
    """Guesses a label from images, as an adversary would: gradients, means, and a support vector machine.

    Follows scikit-learn: ``fit(images, s)``, ``predict(images)``; images are uint8 (n, height, width[, 3]).

    Parameters
    ----------
    cell : int, optional
        Side of a cell in pixels; by default an eighth of the shorter side, and at least 2.
    C : float
        Penalty of the support vector machine: larger trusts the training images more.
    """

    def __init__(self, *, cell: int | None = None, C: float = 3.0) -> None:
        self.cell = cell
        self.C = C

    def fit(self, images: NDArray[np.uint8], s: Any) -> HogClassifier:
        """Learn from images and their labels."""
        from sklearn.svm import SVC

        labels, pixels = np.asarray(s), _checked(images)
        if len(pixels) != len(labels):
            raise DataError(f"{len(pixels):,} images and {len(labels):,} labels")
        if len(np.unique(labels)) < 2:
            raise DataError("an adversary needs images of at least two labels")
        self.cell_ = self.cell or max(2, min(pixels.shape[1:3]) // CELLS_A_SIDE)
        self.model_ = SVC(C=self.C, gamma="scale", cache_size=500).fit(self._features(pixels), labels)
        self.classes_ = self.model_.classes_
        return self

    def predict(self, images: NDArray[np.uint8]) -> NDArray[Any]:
        """The label that each image looks most like."""
        return np.asarray(self.model_.predict(self._features(_checked(images))))

    def score(self, images: NDArray[np.uint8], s: Any) -> float:
        """Share of labels guessed right."""
        return float((self.predict(images) == np.asarray(s)).mean())

    def _features(self, pixels: NDArray[np.uint8]) -> Floats:
        return hog_features(pixels, cell=self.cell_)


def hog_features(pixels: NDArray[np.uint8], *, cell: int | None = None) -> Floats:
    """Gradients and means of cells, one row per image; by default a cell is an eighth of the shorter side."""
    side = min(pixels.shape[1:3])
    size = cell or min(side, max(2, side // CELLS_A_SIDE))
    return np.hstack([oriented_gradients(pixels, cell=size), MEANS_WEIGHT * cell_means(pixels, cell=size)])


def smaller(images: NDArray[np.uint8]) -> Floats:
    """A picture of at most about 32 pixels a side, one row per image."""
    pixels = _checked(images)
    return cell_means(pixels, cell=cell_of(pixels))


def cell_of(images: NDArray[np.uint8]) -> int:
    """The side of the cells that make one pixel of a smaller picture."""
    return int(max(1, max(images.shape[1:3]) // MOST_PIXELS_A_SIDE))


def _checked(images: Any) -> NDArray[np.uint8]:
    pixels = np.asarray(images)
    if pixels.dtype != np.uint8 or pixels.ndim not in (3, 4):
        raise ArgumentError(
            f"images are a uint8 array (n, height, width) or (n, height, width, 3); got {pixels.dtype}{pixels.shape}"
        )
    return pixels
