"""A small convolutional network that tells classes of pictures apart; the one trainer trains it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy.special import log_softmax, softmax

from tacit.learn.arrays import Codes, Floats, Singles
from tacit.learn.nets.training import Schedule, Weights, train

ROWS_AT_ONCE = 512
# A fifth of the records says when to stop.
CHECKED = 0.2
RATE, DECAY, BATCH, STEPS, PATIENCE, LOOK = 2e-3, 0.05, 64, 600, 150, 30


class Filters(NamedTuple):
    """One layer: ``filters`` of ``side`` by ``side`` pixels, applied at every ``step``-th place."""

    side: int
    step: int
    filters: int


def layers_for(height: int, width: int) -> tuple[Filters, ...]:
    """Two layers, as coarse as the pictures allow; for the smallest pictures one layer of their size."""
    side = min(height, width)
    if side >= 16:
        return Filters(5, 2, 8), Filters(3, 2, 16)
    return (Filters(3, 1, 8), Filters(3, 2, 16)) if side >= 5 else (Filters(side, 1, 16),)


class ConvolutionNetwork:
    """One network over pictures (records x height x width x channels), ready to be trained; see ``Trainable``."""

    def __init__(self, pictures: Singles, classes: Codes, count: int, check: Codes, rng: np.random.Generator) -> None:
        self.pictures, self.classes, self.check = pictures, classes, check
        self.layers = layers_for(*pictures.shape[1:3])
        self.weights: Weights = []
        height, width, into = pictures.shape[1:]
        for side, step, filters in self.layers:
            self._add(side * side * into, filters, rng)
            height, width, into = (height - side) // step + 1, (width - side) // step + 1, filters
        self._add(height * width * into, count, rng)

    def _add(self, into: int, out: int, rng: np.random.Generator) -> None:
        self.weights.append(rng.normal(0, np.sqrt(2 / into), (1, into, out)).astype(np.float32))
        self.weights.append(np.zeros((1, out), dtype=np.float32))

    def outputs(self, pictures: Any, weights: Weights | None = None) -> tuple[Any, list[tuple[Any, Any]]]:
        """Scores of every class, and the way there: the windows of every layer, and its outputs."""
        arrays = self.weights if weights is None else weights
        level, way = pictures, []
        for at, (side, step, _) in enumerate(self.layers):
            view = sliding_window_view(level, (side, side), axis=(1, 2))[:, ::step, ::step]
            # Channels come before the window in the view, as rows of the matrix do.
            windows = np.ascontiguousarray(view).reshape(*view.shape[:3], -1)
            level = np.maximum(windows @ arrays[2 * at][0] + arrays[2 * at + 1][0], 0)
            way.append((windows, level))
        flat = level.reshape(len(level), -1)
        return flat @ arrays[-2][0] + arrays[-1][0], way

    def slopes(self, rows: Codes) -> list[Any]:
        """Of the mean cross-entropy of a batch."""
        batch = rows[0]
        scores, way = self.outputs(self.pictures[batch])
        slope = softmax(scores, axis=1)
        slope[np.arange(len(batch)), self.classes[batch]] -= 1
        slope /= np.float32(len(batch))
        flat = way[-1][1].reshape(len(batch), -1)
        slopes: list[Any] = [(flat.T @ slope)[None], slope.sum(axis=0)[None]]
        slope = (slope @ self.weights[-2][0].T).reshape(way[-1][1].shape)
        for at in range(len(way) - 1, -1, -1):
            windows, level = way[at]
            slope = slope * (level > 0)
            rows_of = slope.reshape(-1, slope.shape[-1])
            slopes = [(windows.reshape(len(rows_of), -1).T @ rows_of)[None], rows_of.sum(axis=0)[None], *slopes]
            if at:
                slope = self._back(slope @ self.weights[2 * at][0].T, at, way[at - 1][1].shape)
        return slopes

    def _back(self, windows: Any, at: int, shape: tuple[int, ...]) -> Any:
        """The slope of the layer that windows were cut from: each pixel adds up those of its windows."""
        side, step, _ = self.layers[at]
        n, rows, columns, _ = windows.shape
        parts = windows.reshape(n, rows, columns, shape[3], side, side)
        whole = np.zeros(shape, dtype=windows.dtype)
        for y in range(side):
            for x in range(side):
                whole[:, y : y + step * rows : step, x : x + step * columns : step] += parts[..., y, x]
        return whole

    def loss(self) -> Floats:
        """The mean cross-entropy of the records held out."""
        scores = self.outputs(self.pictures[self.check[0]])[0].astype(np.float64)
        value = -log_softmax(scores, axis=1)[np.arange(self.check.shape[1]), self.classes[self.check[0]]].mean()
        return np.array([value if np.isfinite(value) else np.inf])


class ConvolutionClassifier:
    """Guesses a class from pictures (records x height x width x channels). ``fit`` and ``predict`` are scikit-learn's.

    Small on purpose: two layers of filters, a few hundred steps, a fifth of the records held out to stop by.
    """

    def __init__(self, *, random_state: int = 0) -> None:
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> ConvolutionClassifier:
        """Learn the classes ``y`` of pictures."""
        rng = np.random.default_rng(self.random_state)
        self.classes_, codes = np.unique(np.asarray(y), return_inverse=True)
        pictures = np.asarray(X, dtype=np.float32)
        self.mean_, self.spread_ = pictures.mean(axis=0), np.float32(pictures.std() or 1.0)
        order = rng.permutation(len(pictures))
        checked = max(1, int(CHECKED * len(order)))
        check, learn = order[None, :checked], order[None, checked:]
        if not learn.size:
            learn = check
        self.network_ = ConvolutionNetwork(self._levelled(pictures), codes, len(self.classes_), check, rng)
        schedule = Schedule(RATE, DECAY, BATCH, STEPS, PATIENCE, look_every=LOOK)
        self.weights_, _ = train(self.network_, learn, schedule, rng)
        return self

    def predict(self, X: Any) -> Any:
        """The likeliest class of every picture."""
        pictures = self._levelled(np.asarray(X, dtype=np.float32))
        parts = (pictures[at : at + ROWS_AT_ONCE] for at in range(0, len(pictures), ROWS_AT_ONCE))
        guesses = [self.network_.outputs(part, self.weights_)[0].argmax(axis=1) for part in parts]
        return self.classes_[np.concatenate([np.zeros(0, dtype=np.int64), *guesses])]

    def _levelled(self, pictures: Any) -> Any:
        return (pictures - self.mean_) / self.spread_
