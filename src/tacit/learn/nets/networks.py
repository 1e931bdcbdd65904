"""Networks of dense layers whose outputs are log-lifts: how they start, what they say, and their slopes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tacit.learn.arrays import Codes, Floats, Singles
from tacit.learn.crossfitting.blending import blend
from tacit.learn.nets.objectives import OBJECTIVES
from tacit.learn.nets.training import Schedule, Weights, train, usual_batch

# Matrix and bias of every layer of one network.
Layers = list[Singles]

ROWS_AT_ONCE = 16_384
# The small nets of ``auto``.
SMALL_HIDDEN, SMALL_RATE, SMALL_DECAY = (32, 32), 2e-3, 0.3
SMALL_STEPS, SMALL_PATIENCE, SMALL_LOOK = 4_000, 300, 25


def _silu(z: Any) -> tuple[Any, Any]:
    # z / (1 + e^-z), by tanh because e^-z overflows.
    gate = np.tanh(z * z.dtype.type(0.5))
    gate *= z.dtype.type(0.5)
    gate += z.dtype.type(0.5)
    value = z * gate
    return value, gate + value * (1 - gate)


def _tanh(z: Any) -> tuple[Any, Any]:
    value = np.tanh(z)
    return value, 1 - value * value


def _relu(z: Any) -> tuple[Any, Any]:
    return np.maximum(z, 0), (z > 0).astype(z.dtype)


# Value and slope.
ACTIVATIONS: dict[str, Callable[[Any], tuple[Any, Any]]] = {"tanh": _tanh, "relu": _relu, "silu": _silu}


@dataclass(frozen=True)
class Shape:
    """How a network is built. ``secret_as``: "head", an output for every secret; "input", the secret is an input."""

    inputs: int
    secrets: int
    hidden: tuple[int, ...]
    activation: str = "silu"
    secret_as: str = "head"

    def start(self, networks: int, rng: np.random.Generator, *, at_rest: bool) -> Weights:
        """Glorot's uniform start; at rest, the readout is zero and so is every log-lift."""
        first, last = (self.inputs + self.secrets, 1) if self.secret_as == "input" else (self.inputs, self.secrets)
        weights: Weights = []
        for into, out in pairwise((first, *self.hidden, last)):
            limit = np.sqrt(6 / (into + out))
            weights.append(rng.uniform(-limit, limit, size=(networks, into, out)).astype(np.float32))
            weights.append(np.zeros((networks, out), dtype=np.float32))
        if at_rest:
            weights[-2][:] = 0.0
        return weights

    def outputs(self, layers: Sequence[Any], inputs: Any) -> tuple[Any, list[tuple[Any, Any]]]:
        """What a network, or every network of a stack, says (... x records x secrets), and the way there."""
        matrices, biases = layers[::2], layers[1::2]
        level = _product(inputs, matrices[0][..., : self.inputs, :]) + biases[0][..., None, :]
        if self.secret_as == "input":
            # A one-hot secret times its rows of the matrix is one of the rows.
            level = level[..., None, :] + matrices[0][..., None, self.inputs :, :]
            level = level.reshape(*level.shape[:-3], -1, level.shape[-1])
        way = []
        for matrix, bias in zip(matrices[1:], biases[1:], strict=True):
            way.append(ACTIVATIONS[self.activation](level))
            level = np.matmul(way[-1][0], matrix) + bias[..., None, :]
        return level.reshape(*level.shape[:-2], -1, self.secrets), way

    def slopes(self, weights: Weights, inputs: Any, way: list[tuple[Any, Any]], slope: Any) -> list[Any]:
        """The slope of every array of a stack, from that of the outputs."""
        slopes: list[Any] = []
        slope = slope.reshape(len(weights[0]), -1, weights[-1].shape[-1])
        for (value, bend), matrix in zip(reversed(way), reversed(weights[2::2]), strict=True):
            slopes = [np.matmul(value.swapaxes(1, 2), slope), slope.sum(axis=1), *slopes]
            slope = np.matmul(slope, matrix.swapaxes(1, 2)) * bend
        if self.secret_as == "head":
            return [_transposed_product(inputs, slope), slope.sum(axis=1), *slopes]
        apart = slope.reshape(len(slope), -1, self.secrets, slope.shape[-1])
        first = np.concatenate([_transposed_product(inputs, apart.sum(axis=2)), apart.sum(axis=1)], axis=1)
        return [first, slope.sum(axis=1), *slopes]

    def scores_of(self, layers: Sequence[Any], design: Any) -> Floats:
        """What one network says about every record; in double precision, so that no score depends on other records."""
        exact = [np.asarray(layer, dtype=np.float64) for layer in layers]
        parts = range(0, design.shape[0], ROWS_AT_ONCE)
        return np.concatenate([self.outputs(exact, design[at : at + ROWS_AT_ONCE])[0] for at in parts])


def _product(inputs: Any, matrices: Any) -> Any:
    if sparse.issparse(inputs):
        return inputs @ matrices if matrices.ndim == 2 else (inputs @ matrices[0])[None]
    return np.matmul(inputs, matrices)


def _transposed_product(inputs: Any, slope: Any) -> Any:
    return (inputs.T @ slope[0])[None] if sparse.issparse(inputs) else np.matmul(inputs.swapaxes(1, 2), slope)


def trimmed(lift: NDArray[Any], clip: float | None) -> NDArray[Any]:
    """Outputs, or log-lifts, within [-clip, clip]."""
    return lift if clip is None else lift.clip(-clip, clip)


class LiftNetworks:
    """Networks side by side, to be trained on log-lifts by an objective; see ``training.Trainable``.

    ``check`` is networks x held-out records, on which ``judge`` (an objective) is evaluated. An output beyond ``clip``
    has no slope. Sparse records work only with a single network.
    """

    def __init__(
        self,
        shape: Shape,
        weights: Weights,
        design: Any,
        posterior: Any,
        prior: Floats,
        check: Codes,
        objective: str = "ce",
        judge: str = "ce",
        clip: float | None = None,
    ) -> None:
        self.shape, self.weights, self.clip = shape, weights, clip
        self.design, self.posterior = design.astype(np.float32), posterior.astype(np.float32)
        self.prior = prior.astype(np.float32)
        self.objective, self.judge = OBJECTIVES[objective], OBJECTIVES[judge]
        self._rows, self._inputs = np.empty((0, 0), dtype=np.int64), None
        self.check, self._checked = check, self._of(check)

    def _of(self, rows: Codes) -> Any:
        return self.design[rows[0]] if sparse.issparse(self.design) else self.design[rows]

    def slopes(self, rows: Codes) -> list[Any]:
        """Of the loss, minus the objective."""
        if rows is not self._rows:
            self._rows, self._inputs = rows, self._of(rows)
        h, way = self.shape.outputs(self.weights, self._inputs)
        share = np.float32(1 / rows.shape[1])
        slope = -self.objective.slope(trimmed(h, self.clip), self.posterior[rows], self.prior, share)
        if self.clip is not None:
            slope *= np.abs(h) < self.clip
        return self.shape.slopes(self.weights, self._inputs, way, slope)

    def loss(self) -> Floats:
        """Held-out, of each network; infinite where an output is not a finite number."""
        h = trimmed(self.shape.outputs(self.weights, self._checked)[0].astype(np.float64), self.clip)
        with np.errstate(over="ignore", invalid="ignore"):
            value = self.judge.value(h, self.posterior[self.check], self.prior, 1 / self.check.shape[1])
        return np.where(np.isfinite(value), -value, np.inf)


@dataclass(frozen=True)
class NetworksModel:
    """Several networks; their log-lifts are averaged."""

    networks: tuple[Layers, ...]
    prior: Floats

    def log_posterior(self, design: Floats) -> Floats:
        """Log p(s | x) for every row and secret."""
        shape = Shape(design.shape[1], len(self.prior), ())
        lifts = np.stack([shape.scores_of(layers, design) for layers in self.networks])
        return blend(lifts, np.full(len(lifts), 1 / len(lifts)), self.prior) + np.log(self.prior)


def train_small_networks(
    design: Floats,
    secret: Codes,
    parts: Sequence[tuple[Codes, Codes]],
    *,
    prior: Floats,
    random_state: np.random.Generator,
    patience: int = SMALL_PATIENCE,
    steps: int = SMALL_STEPS,
    progress: Callable[[float], None] | None = None,
) -> list[Layers]:
    """One small regularised net for each of ``parts``: pairs of rows to learn from and rows that say when to stop.

    The rows of each pair are cut to the smallest of them, so that all nets take the same steps.
    """
    shortest = [min(len(part[side]) for part in parts) for side in (0, 1)]
    learn, check = (np.stack([part[side][: shortest[side]] for part in parts]) for side in (0, 1))
    shape = Shape(design.shape[1], len(prior), SMALL_HIDDEN)
    # Every net starts out saying nothing, and has to learn that there is something to say.
    weights = shape.start(len(parts), random_state, at_rest=True)
    networks = LiftNetworks(shape, weights, design, np.eye(len(prior))[secret], prior, check)
    batch = usual_batch(learn.shape[1])
    schedule = Schedule(SMALL_RATE, SMALL_DECAY, batch, steps, patience, look_every=SMALL_LOOK)
    best, _ = train(networks, learn, schedule, random_state, progress)
    return [[array[k].copy() for array in best] for k in range(len(parts))]
