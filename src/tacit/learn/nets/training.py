"""One trainer for all networks: batches, AdamW or Adagrad, and early stopping by records held out. In numpy.

numpy and not JAX, because ``auto`` and the prefixes train networks where no extra is installed, because networks of
this size cost more in calls and in compiling for every new shape than in arithmetic (so those of all folds are trained
together, as one stack of matrices), and because the same code trains and scores them, alike on every machine. The
price: slopes are written by hand, and the tests compare them with numerical ones; a GPU is not used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from tacit.learn.arrays import Codes, Floats, Singles

# Every array is networks x ...; an array of three dimensions holds matrices, one of two holds biases.
Weights = list[Singles]

# Adam's usual constants, and what keeps Adagrad from dividing by zero where there is no slope.
MOMENTUM, SQUARES, TINY, ADAGRAD_TINY = 0.9, 0.999, 1e-8, 1e-12
# A held-out loss must fall by this much to count as better; less is noise.
WORTH_WHILE = 1e-4
# The rate is multiplied by this when it is cut.
CUT = 0.3


class RowSlope(NamedTuple):
    """The slope of some rows of the only network's matrix; all other rows have none, and stay unchanged."""

    rows: Codes
    values: Any


class Trainable(Protocol):
    """Networks of one shape, side by side."""

    weights: Weights

    def slopes(self, rows: Codes) -> Sequence[Any]:
        """For every array of weights the slope of the loss, or a ``RowSlope``; ``rows`` is networks x a batch."""

    def loss(self) -> Floats:
        """The held-out loss of each network."""


@dataclass(frozen=True)
class Schedule:
    """How networks are trained.

    ``decay`` is AdamW's, applied only to matrices; ``accumulator`` is where Adagrad's sums of squares begin. A
    ``batch`` of None is all records. The held-out loss is computed every ``look_every`` steps. Without a better one for
    ``patience`` steps the rate is cut, ``cuts`` times, and then training ends; without patience it goes on to the end.
    """

    rate: float
    decay: float
    batch: int | None
    steps: int
    patience: int | None
    look_every: int
    cuts: int = 0
    optimiser: str = "adamw"
    accumulator: float = 0.0


def usual_batch(records: int) -> int:
    """With many records, larger batches give less noisy slopes; few records need the noise of small ones."""
    return 64 if records < 10_000 else 256


def train(
    networks: Trainable,
    learn: Codes,
    schedule: Schedule,
    rng: np.random.Generator,
    progress: Callable[[float], None] | None = None,
) -> tuple[Weights, Codes]:
    """The weights with the smallest held-out loss, and the step at which each network had them.

    ``learn`` is networks x records. Without patience they are the weights of the last step.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        return _train(networks, learn, schedule, rng, progress)


def _train(
    networks: Trainable,
    learn: Codes,
    schedule: Schedule,
    rng: np.random.Generator,
    progress: Callable[[float], None] | None,
) -> tuple[Weights, Codes]:
    optimiser = Optimiser(networks.weights, schedule)
    best, kept = [w.copy() for w in networks.weights], np.zeros(len(learn), dtype=np.int64)
    patient = schedule.patience is not None
    lowest = networks.loss() if patient else np.full(len(learn), np.inf)
    began = cuts = 0
    for step, rows in enumerate(_batches(learn, schedule, rng), start=1):
        optimiser.move(networks.slopes(rows))
        if step % schedule.look_every and step < schedule.steps:
            continue
        if progress is not None:
            progress(step / schedule.steps)
        if not patient:
            continue
        loss = networks.loss()
        better = loss < lowest - WORTH_WHILE
        for chosen, now in zip(best, networks.weights, strict=True):
            chosen[better] = now[better]
        lowest, kept = np.where(better, loss, lowest), np.where(better, step, kept)
        if step - max(began, int(kept.max())) < (schedule.patience or 0):
            continue
        if cuts == schedule.cuts:
            break
        # Back to the best, and on in smaller steps.
        cuts, began, optimiser.rate = cuts + 1, step, optimiser.rate * CUT
        for chosen, now in zip(best, networks.weights, strict=True):
            now[...] = chosen
    return (best, kept) if patient else (networks.weights, np.full(len(learn), schedule.steps))


def _batches(learn: Codes, schedule: Schedule, rng: np.random.Generator) -> Iterator[Codes]:
    """Rows of every network's next batch, one per step; each network goes through its records in its own order."""
    size = learn.shape[1]
    batch, step = min(schedule.batch or size, size), 0
    while step < schedule.steps:
        order = learn
        if schedule.batch is not None:
            order = np.take_along_axis(learn, np.argsort(rng.random(learn.shape), axis=1), axis=1)
        for start in range(0, size - batch + 1, batch)[: schedule.steps - step]:
            step += 1
            yield order if batch == size else order[:, start : start + batch]


class Optimiser:
    """Moves weights down their slopes, in place."""

    def __init__(self, weights: Weights, schedule: Schedule) -> None:
        self.weights, self.rate, self.decay = weights, schedule.rate, schedule.decay
        self.adamw, self.steps = schedule.optimiser == "adamw", 0
        begin = 0.0 if self.adamw else schedule.accumulator
        self.squares = [np.full_like(w, begin) for w in weights]
        self.means = [np.zeros_like(w) for w in weights] if self.adamw else self.squares

    def move(self, slopes: Sequence[Any]) -> None:
        """One step."""
        self.steps += 1
        for weights, mean, square, slope in zip(self.weights, self.means, self.squares, slopes, strict=True):
            arrays, shrink = (weights, mean, square), weights.ndim == 3
            if isinstance(slope, RowSlope):
                parts = [array[0, slope.rows] for array in arrays]
                self._move(*parts, slope=slope.values, shrink=shrink)
                for array, moved in zip(arrays, parts, strict=True):
                    array[0, slope.rows] = moved
            else:
                self._move(*arrays, slope=slope, shrink=shrink)

    def _move(self, weights: Any, mean: Any, square: Any, *, slope: Any, shrink: bool) -> None:
        if not self.adamw:
            square += slope * slope
            weights -= np.float32(self.rate) * slope / (np.sqrt(square) + np.float32(ADAGRAD_TINY))
            return
        mean += np.float32(1 - MOMENTUM) * (slope - mean)
        slope = slope * slope
        slope -= square
        square += np.float32(1 - SQUARES) * slope
        spread = np.sqrt(square)
        spread *= np.float32(1 / np.sqrt(1 - SQUARES**self.steps))
        spread += np.float32(TINY)
        np.divide(mean, spread, out=spread)
        spread *= np.float32(self.rate / (1 - MOMENTUM**self.steps))
        if shrink and self.decay:
            weights *= np.float32(1 - self.rate * self.decay)
        weights -= spread
