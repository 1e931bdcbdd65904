"""The linear program over candidate outputs: how likely each must be so that together they make up the marginal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csc_array, csr_array

from tacit.lift.joint import Labels, Matrix, Vector, sums
from tacit.lift.measures import p_log_p

# What the solver leaves at this share of the largest weight possible is zero.
_NOTHING = 1e-11
# Up to this size a dense solver is fast enough.
_SMALL = 200


@dataclass(frozen=True, eq=False)
class Weights:
    """Probability of each candidate output, the information lost in nats, and what more of each value would cost."""

    weights: Vector
    cost: float
    prices: Vector


def entropies(columns: Matrix) -> Vector:
    """Entropy of every row, in nats."""
    return np.asarray(-p_log_p(columns).sum(axis=1))


def entropies_of(columns: csr_array) -> Vector:
    """The same of a sparse table."""
    rows = np.repeat(np.arange(columns.shape[0]), np.diff(columns.indptr))
    return sums(rows, -p_log_p(columns.data), columns.shape[0])


def weigh(columns: Any, costs: Vector, marginal: Vector, *, polish: bool = True) -> Weights | None:
    """min costs . w over w >= 0 with w @ columns = marginal, or None if there are no such weights.

    ``columns`` is outputs x released, dense or sparse. Rows and columns are scaled, since the solver's tolerances are
    absolute while frequencies may be tiny. Without ``polish`` the weights are as the solver leaves them.
    """
    from scipy.optimize import linprog

    table = csc_array(columns).T.tocsc()
    table.data = table.data / marginal[table.indices]
    lengths = np.diff(table.indptr)
    largest = np.maximum.reduceat(table.data, table.indptr[:-1]) if len(table.data) else np.ones(len(costs))
    table.data = table.data / np.repeat(largest, lengths)
    scaled = costs / largest
    unit = float(scaled.max()) or 1.0
    answer = linprog(scaled / unit, A_eq=table, b_eq=np.ones(len(marginal)), bounds=(0, None), method="highs-ds")
    if answer.status != 0:
        return None
    weights = np.maximum(answer.x, 0.0)
    weights = _polished(table, weights) if polish else weights
    prices = np.asarray(answer.eqlin.marginals) * unit / marginal
    return Weights(weights / largest, float(scaled @ weights), prices)


def nearest_paying(columns: Any, costs: Vector, prices: Vector, most: int, *, always: Labels | None = None) -> Labels:
    """The columns that pay, or come nearest to it, at most so many; those of ``always`` are among them."""
    short = costs - columns @ prices
    if always is not None:
        short[always] = -np.inf
    return np.sort(np.argsort(short, kind="stable")[:most])


def _polished(table: csc_array, weights: Vector) -> Vector:
    """The same basic solution, solved again to the last digit; the one given if that fails."""
    from scipy.sparse.linalg import lsqr

    used = np.flatnonzero(weights > _NOTHING)
    if len(used) > table.shape[0]:
        return weights
    basis = table[:, used]
    better = weights[used]
    dense = basis.toarray() if table.shape[0] <= _SMALL else None
    for _ in range(2):
        left = 1 - basis @ better
        if dense is not None:
            better = better + np.linalg.lstsq(dense, left, rcond=None)[0]
        else:
            better = better + lsqr(basis, left, atol=1e-15, btol=1e-15, iter_lim=500)[0]
    if (better < 0).any() or abs(1 - basis @ better).max() > max(abs(1 - table @ weights).max(), 1e-12):
        return weights
    polished = np.zeros_like(weights)
    polished[used] = better
    return polished
