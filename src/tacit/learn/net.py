"""A small regularised net in numpy: cross-entropy, AdamW, early stopping; several nets trained at once.

With a thousand records a step costs more in calls than in arithmetic, so the nets of all folds are trained together, as
one stack of matrices.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Codes = NDArray[np.int64]
Layers = list[tuple[Singles, Singles]]

# Adam's usual constants.
MOMENTUM, SQUARES, TINY = 0.9, 0.999, 1e-8
# A held-out loss must fall by this much to count as better; less is noise.
WORTH_WHILE = 1e-4
# Steps between two looks at the held-out loss.
LOOK_EVERY = 25


@dataclass(frozen=True)
class Network:
    """Layers of weights and biases; between them z / (1 + e^-z)."""

    layers: tuple[tuple[Singles, Singles], ...]

    def log_posterior(self, design: Floats) -> Floats:
        """Log p(s | x) for every row and secret."""
        # In double precision, so that a record's score does not depend on the records scored beside it.
        stacked: Any = [(w[None].astype(np.float64), b[None].astype(np.float64)) for w, b in self.layers]
        out = np.empty((len(design), self.layers[-1][1].shape[-1]))
        for start in range(0, len(design), 65_536):
            rows = slice(start, start + 65_536)
            scores, _, _ = _forward(stacked, design[rows][None])
            out[rows] = _log_softmax(scores)[0]
        return out


@dataclass(frozen=True)
class Networks:
    """Several networks; their log-posteriors are averaged."""

    members: tuple[Network, ...]

    def log_posterior(self, design: Floats) -> Floats:
        """Log p(s | x) for every row and secret."""
        return np.asarray(_log_softmax(np.mean([net.log_posterior(design) for net in self.members], axis=0)))


def train_networks(
    design: Floats,
    secret: Codes,
    parts: Sequence[tuple[Codes, Codes]],
    *,
    secrets: int,
    random_state: np.random.Generator,
    hidden: tuple[int, ...] = (32, 32),
    rate: float = 2e-3,
    decay: float = 0.3,
    batch: int | None = None,
    patience: int = 12,
    steps: int = 4_000,
    progress: Callable[[float], None] | None = None,
) -> list[Network]:
    """One net for each of ``parts``: pairs of rows to learn from and rows that say when to stop.

    The rows of each pair are cut to the smallest of them, so that all nets take the same steps.
    """
    learn = _stacked([rows for rows, _ in parts])
    check = _stacked([rows for _, rows in parts])
    trainer = _Trainer(np.asarray(design, dtype=np.float32), secret, secrets, len(parts), hidden, random_state)
    trainer.rate, trainer.decay = rate, decay
    # Many records can be had quieter slopes from; few need the noise of small batches.
    batch = batch or (64 if learn.shape[1] < 10_000 else 256)
    best, lowest, waited = trainer.copy(), trainer.loss(check), np.zeros(len(parts), dtype=int)
    for step, rows in enumerate(_batches(learn, batch, random_state), start=1):
        trainer.step(rows)
        if step % LOOK_EVERY:
            continue
        loss = trainer.loss(check)
        better = loss < lowest - WORTH_WHILE
        for kept, now in zip(best, trainer.layers, strict=True):
            kept[0][better], kept[1][better] = now[0][better], now[1][better]
        lowest, waited = np.where(better, loss, lowest), np.where(better, 0, waited + 1)
        if progress is not None:
            progress(min(1.0, step / steps))
        if step >= steps or (waited >= patience).all():
            break
    return [Network(tuple((w[k].copy(), b[k].copy()) for w, b in best)) for k in range(len(parts))]


def _batches(learn: Codes, batch: int, random_state: np.random.Generator) -> Iterator[Codes]:
    """Rows of every net's next batch, without end; each net goes through its records in an order of its own."""
    size = learn.shape[1]
    batch = min(batch, size)
    while True:
        order = np.take_along_axis(learn, np.argsort(random_state.random(learn.shape), axis=1), axis=1)
        for start in range(0, size - batch + 1, batch):
            yield order[:, start : start + batch]


def _stacked(rows: Sequence[Codes]) -> Codes:
    shortest = min(map(len, rows))
    return np.stack([part[:shortest] for part in rows])


class _Trainer:
    """The weights of all nets, stacked, and the state of AdamW."""

    rate: float
    decay: float

    def __init__(
        self,
        design: Singles,
        secret: Codes,
        secrets: int,
        nets: int,
        hidden: tuple[int, ...],
        random_state: np.random.Generator,
    ) -> None:
        self.design, self.secret = design, secret
        self.hot = np.eye(secrets, dtype=np.float32)
        sizes = (design.shape[1], *hidden, secrets)
        self.layers: Layers = []
        for into, out in pairwise(sizes):
            weights = random_state.standard_normal((nets, into, out)) * np.sqrt(2 / into)
            self.layers.append((weights.astype(np.float32), np.zeros((nets, 1, out), dtype=np.float32)))
        # Every net begins as the one that says nothing, and has to be taught that there is something to say.
        self.layers[-1][0][:] = 0.0
        self.moments = [tuple((np.zeros_like(p), np.zeros_like(p)) for p in layer) for layer in self.layers]
        self.steps = 0

    def copy(self) -> Layers:
        return [(w.copy(), b.copy()) for w, b in self.layers]

    def loss(self, rows: Codes) -> Floats:
        """Mean cross-entropy of each net on its rows."""
        scores, _, _ = _forward(self.layers, self.design[rows])
        log_p = _log_softmax(scores)
        return np.asarray(-np.take_along_axis(log_p, self.secret[rows][:, :, None], axis=2).mean(axis=(1, 2)))

    def step(self, rows: Codes) -> None:
        """One step of AdamW for every net on its own batch."""
        scores, given, slopes = _forward(self.layers, self.design[rows])
        slope = (np.exp(_log_softmax(scores)) - self.hot[self.secret[rows]]) / np.float32(rows.shape[1])
        self.steps += 1
        for at in range(len(self.layers) - 1, -1, -1):
            weights, _ = self.layers[at]
            gradients = (np.matmul(given[at].swapaxes(1, 2), slope), slope.sum(axis=1, keepdims=True))
            if at:
                slope = np.matmul(slope, weights.swapaxes(1, 2)) * slopes[at - 1]
            weights *= np.float32(1 - self.rate * self.decay)
            for parameter, gradient, moments in zip(self.layers[at], gradients, self.moments[at], strict=True):
                self._adam(parameter, gradient, *moments)

    def _adam(self, parameter: Singles, gradient: Any, mean: Singles, square: Singles) -> None:
        mean *= np.float32(MOMENTUM)
        mean += np.float32(1 - MOMENTUM) * gradient
        square *= np.float32(SQUARES)
        square += np.float32(1 - SQUARES) * gradient * gradient
        unbiased = np.float32(self.rate / (1 - MOMENTUM**self.steps))
        spread = np.sqrt(square / np.float32(1 - SQUARES**self.steps)) + np.float32(TINY)
        parameter -= unbiased * mean / spread


def _forward(layers: Layers, rows: Any) -> tuple[Any, list[Any], list[Any]]:
    """Scores of the last layer, what each layer was given, and the slopes of the activations between them."""
    given, slopes = [rows], []
    for weights, bias in layers[:-1]:
        z = np.matmul(given[-1], weights) + bias
        # By tanh, because e^-z overflows.
        gate = 0.5 + 0.5 * np.tanh(0.5 * z)
        given.append(z * gate)
        slopes.append(gate * (1 + z * (1 - gate)))
    return np.matmul(given[-1], layers[-1][0]) + layers[-1][1], given, slopes


def _log_softmax(scores: Any) -> Any:
    shifted = scores - scores.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
