"""The families of adversaries that read images: shapes, pixels, bits, repaired patches, noised patches, order."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from tacit.learn.arrays import Codes, Flags, Floats
from tacit.lenses.bench.families import NEIGHBOURS, Family, linear
from tacit.lenses.bench.trying import spread
from tacit.lenses.images.files import Pixels
from tacit.lenses.images.hog import cell_of, hog_features, smaller

# Holes are filled in from this many directions, in this many rounds; the noised value still counts this much.
_DIRECTIONS, _ROUNDS, _TRUST = 40, 15, 0.3
_BIT_PLACES = 12_288


@dataclass(frozen=True, eq=False)
class ReadImages:
    """Images as an adversary gets them, where each stands in the file, and the side of the patches that it reads."""

    pixels: Pixels
    place: Codes
    patch: int


def image_families() -> tuple[Family, ...]:
    """The families that are tried on images."""
    return (
        Family("gradients", "reads edges and mean brightness in 8 by 8 cells; nothing finer", _gradients, _machine),
        Family("pixels", "a linear reader of 32 pixels a side; no shape that moves", _pixels, partial(linear, 0.01)),
        Family("network", "two layers of small filters over 32 pixels a side; trained briefly", _pictures, _network),
        Family(
            "repaired",
            "fills in patches that look noised from the rest, as other images of the file go, then reads edges; 32 "
            "pixels a side",
            _repaired,
            _machine,
        ),
        Family("flags", "reads which patches look noised; no pixel", _flags, partial(linear, 0.1)),
        Family(
            "bits",
            f"reads the lowest and the highest bit of up to {_BIT_PLACES:,} values, one by one; no shape",
            _bits,
            BitsReader,
        ),
        NEIGHBOURS,
    )


def _gradients(images: ReadImages) -> Any:
    return hog_features(images.pixels)


def _machine() -> Any:
    from sklearn.svm import LinearSVC

    return LinearSVC(C=0.03, tol=1e-2, random_state=0)


def _pixels(images: ReadImages) -> Any:
    return smaller(images.pixels)


def _pictures(images: ReadImages) -> Any:
    """Smaller pictures, records x height x width x channels."""
    n, height, width = images.pixels.shape[:3]
    cell = cell_of(images.pixels)
    return smaller(images.pixels).reshape(n, height // cell, width // cell, -1)


def _network() -> Any:
    from tacit.learn.nets.convolution import ConvolutionClassifier

    return ConvolutionClassifier()


def _bits(images: ReadImages) -> Any:
    values = images.pixels.reshape(len(images.pixels), -1)
    chosen = values[:, spread(values.shape[1], _BIT_PLACES)]
    return np.hstack([chosen & 1, chosen >> 7])


class BitsReader:
    """Guesses from the few bits that differ most between secrets; ``fit`` and ``predict`` are scikit-learn's."""

    _MOST = 32

    def fit(self, bits: Any, secret: Codes) -> BitsReader:
        """Choose bits, and learn from them."""
        values, codes, counts = np.unique(secret, return_inverse=True, return_counts=True)
        share = np.stack([bits[codes == s].mean(axis=0) for s in range(len(values))])
        apart = (np.abs(share - bits.mean(axis=0)) * np.sqrt(counts)[:, None]).max(axis=0)
        self.chosen_ = np.argsort(-apart, kind="stable")[: self._MOST]
        self.model_ = linear(1.0).fit(bits[:, self.chosen_], secret)
        return self

    def predict(self, bits: Any) -> Any:
        """The likeliest secret of every row."""
        return self.model_.predict(bits[:, self.chosen_])


def _roughness(images: ReadImages) -> Floats:
    """The logarithm of how much neighbouring pixels of each patch differ: (n, rows, columns)."""
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
    """Which patches look noised: those above the threshold that best splits all patches in two."""
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
    """Edges and brightness of the pictures after patches that look noised are filled in."""
    pictures = _pictures(images)
    n, rows, columns, _ = pictures.shape
    noised, cell = _noised(_roughness(images)), cell_of(images.pixels)
    at = [
        np.minimum(np.arange(many) * cell // images.patch, limit - 1)
        for many, limit in zip((rows, columns), noised.shape[1:], strict=True)
    ]
    holes = np.broadcast_to(noised[:, at[0]][:, :, at[1]][..., None], pictures.shape)
    filled = completed(pictures.reshape(n, -1), holes.reshape(n, -1)).reshape(pictures.shape)
    # Smaller pictures hold the square root of brightness.
    again = np.rint(255 * filled.clip(0, 1) ** 2).astype(np.uint8)
    again = again[..., 0] if again.shape[3] == 1 else again
    return np.asarray(hog_features(again), dtype=np.float64)


def completed(values: Any, holes: Flags) -> Any:
    """Rows with their holes filled in, mostly from the other rows: along the few directions in which rows differ most.

    The directions are found with the holes filled, then the holes filled from the directions, in turn (iterated
    principal components; Kiers 1997). No secret is used.
    """
    whole = ~holes
    mean = np.where(whole, values, 0).sum(axis=0) / np.maximum(whole.sum(axis=0), 1)
    # A place that is a hole in every row has only its noise to go by.
    mean = np.where(whole.any(axis=0), mean, values.mean(axis=0))
    filled = np.where(holes, mean, values)
    directions = min(_DIRECTIONS, min(values.shape) - 1)
    if directions < 1 or not holes.any():
        return filled
    rng = np.random.default_rng(0)
    axes = rng.standard_normal((values.shape[1], directions)).astype(np.float32)
    for _ in range(_ROUNDS):
        centre = filled.mean(axis=0)
        apart = filled - centre
        # One step of subspace iteration per round: each begins where the last one ended.
        axes = np.linalg.qr(apart.T @ (apart @ axes))[0]
        filled = np.where(holes, (1 - _TRUST) * (centre + (apart @ axes) @ axes.T) + _TRUST * values, values)
    return filled
