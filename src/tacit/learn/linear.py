"""Penalised multinomial logistic models: of the columns, and of their products."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import minimize

from tacit.learn.arrays import Codes, Floats, log_softmax

LossAndSlope = Callable[[Floats], tuple[float, Floats]]

# Penalties tried, in records' worth, from strong to weak; each starts where the last one ended.
STRENGTHS = (1000.0, 200.0, 50.0, 12.0, 3.0, 0.8)
STEPS = 60
# A step that gains less than this ends a fit. With very many inputs each step takes long, and a hundred-thousandth of a
# nat is a hundredth of what held-out records can show.
NEAR, ENOUGH = 1e-7, 1e-5
# More columns than this make too many products to be learned from.
MOST_COLUMNS = 60
MOST_ROWS_AT_ONCE = 20_000
# Up to so many columns, SciPy multiplies a sparse matrix by one after the other in less time than by all at once.
FEW_COLUMNS = 6


@dataclass(frozen=True)
class LinearModel:
    """Weights of the scaled columns (or products) for every secret, and biases."""

    weights: Floats
    bias: Floats
    centre: Floats
    scale: Floats
    columns: Codes | None
    products: bool
    strength: float

    def log_posterior(self, design: Any) -> Floats:
        """Log p(s | x) for every row and secret."""
        out = np.empty((design.shape[0], len(self.bias)))
        for start in range(0, design.shape[0], MOST_ROWS_AT_ONCE):
            rows = slice(start, start + MOST_ROWS_AT_ONCE)
            out[rows] = log_softmax(product(self._inputs(design[rows]), self.weights) + self.bias, axis=1)
        return out

    def _inputs(self, design: Any) -> Any:
        if sparse.issparse(design):
            return design
        shown = with_products(design) if self.products else design
        return _scaled(shown[:, self.columns], self.centre, self.scale)


def with_products(design: Floats) -> Floats:
    """The columns, their squares and the products of every two."""
    size = design.shape[1]
    out = np.empty((len(design), size + size * (size + 1) // 2))
    out[:, :size], end = design, size
    for left in range(size):
        begin, end = end, end + size - left
        np.multiply(design[:, left, None], design[:, left:], out=out[:, begin:end])
    return out


def product(matrix: Any, columns: Floats) -> Floats:
    """The product of a matrix, which may be sparse, and columns; the same floats either way."""
    if not sparse.issparse(matrix) or not 1 < columns.shape[1] <= FEW_COLUMNS:
        return np.asarray(matrix @ columns)
    return np.stack([matrix @ np.ascontiguousarray(column) for column in columns.T], axis=1)


def train_linear(
    design: Any, secret: Codes, learn: Codes, check: Codes, *, secrets: int, products: bool = False
) -> LinearModel:
    """Fit along falling penalties while the loss on the rows ``check`` falls, then on all rows with the best."""
    rows = np.concatenate([learn, check])
    model, inputs = _prepared(design, rows, products)
    target = np.eye(secrets)[secret[rows]]
    first, last = slice(0, len(learn)), slice(len(learn), None)
    start = best = np.zeros((inputs.shape[1] + 1) * secrets)
    lowest, chosen = np.inf, STRENGTHS[0]
    for strength in STRENGTHS:
        start = _fitted(inputs[first], target[first], strength, start)
        loss = _loss(inputs[last], target[last], start)
        if loss > lowest:
            break
        lowest, chosen, best = loss, strength, start
    fitted = _fitted(inputs, target, chosen, best).reshape(-1, secrets)
    return LinearModel(fitted[:-1], fitted[-1], *model, products=products, strength=chosen)


def _prepared(design: Any, rows: Codes, products: bool) -> tuple[tuple[Any, Any, Any], Any]:
    """Centre, scale and used columns, and the scaled rows."""
    if sparse.issparse(design):
        return (np.zeros(0), np.ones(0), None), design[rows]
    shown = with_products(design[rows]) if products else design[rows]
    spread = shown.std(axis=0)
    columns = np.flatnonzero(spread > 1e-9)
    shown = shown[:, columns]
    centre, scale = shown.mean(axis=0), spread[columns]
    if products:
        # A product has to gain twice what a column gains to be given the same weight.
        scale = np.where(columns < design.shape[1], scale, 2 * scale)
    return (centre, scale, columns), _scaled(shown, centre, scale)


def _scaled(columns: Floats, centre: Floats, scale: Floats) -> Floats:
    """In place: with many products, getting more memory takes longer than filling it."""
    columns -= centre
    columns /= scale
    return columns


def penalised_loss(inputs: Any, target: Floats, strength: float, log_prior: Floats | None = None) -> LossAndSlope:
    """Mean log-loss and penalty of weights (inputs x secrets, flat), and its slope; the last row is the biases.

    With ``log_prior``, this is the bias, and there is no such row.
    """
    n, secrets = target.shape
    back = inputs.T.tocsr() if sparse.issparse(inputs) else inputs.T

    def loss_and_slope(flat: Floats) -> tuple[float, Floats]:
        rows = flat.reshape(-1, secrets)
        weights, bias = (rows[:-1], rows[-1]) if log_prior is None else (rows, log_prior)
        log_p = log_softmax(product(inputs, weights) + bias, axis=1)
        slope = (np.exp(log_p) - target) / n
        loss = -(log_p * target).sum() / n + strength / (2 * n) * (weights**2).sum()
        pull = product(back, slope) + strength / n * weights
        return float(loss), (np.vstack([pull, slope.sum(axis=0)]) if log_prior is None else pull).ravel()

    return loss_and_slope


def _fitted(inputs: Any, target: Floats, strength: float, start: Floats) -> Floats:
    options = {"maxiter": STEPS, "ftol": ENOUGH if sparse.issparse(inputs) else NEAR}
    best = minimize(penalised_loss(inputs, target, strength), start, jac=True, method="L-BFGS-B", options=options)
    return np.asarray(best.x)


def _loss(inputs: Any, target: Floats, flat: Floats) -> float:
    parameters = flat.reshape(-1, target.shape[1])
    return float(-(log_softmax(product(inputs, parameters[:-1]) + parameters[-1], axis=1) * target).sum() / len(target))
