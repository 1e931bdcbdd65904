"""The linear program over candidate outputs: how likely each must be so that together they make up the marginal."""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock
from typing import Any

import numpy as np
from scipy.sparse import csc_array, csr_array, eye_array, vstack

from tacit.lift.joint import Labels, Matrix, Vector, sums
from tacit.lift.measures import p_log_p

# What the solver leaves at this share of the largest weight possible is zero.
_NOTHING = 1e-11
# Up to this size a dense solver is fast enough.
_SMALL = 200
# One thread, no presolve, which would lose the solver's place, and the kind of simplex method chosen each time: outputs
# that are added leave the last answer possible but not best, which is what the primal method is for. The rows are
# scaled already; Dantzig's rule and devex weights take more steps, but quicker ones, in two thirds of the time here.
_OPTIONS: dict[str, Any] = {
    "output_flag": False,
    "threads": 1,
    "presolve": "off",
    "simplex_strategy": 0,
    "simplex_scale_strategy": 0,
    "simplex_primal_edge_weight_strategy": 0,
    "simplex_dual_edge_weight_strategy": 1,
    "primal_feasibility_tolerance": 1e-9,
    "dual_feasibility_tolerance": 1e-9,
}


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
    """The same for a sparse table."""
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


class Master:
    """The same program, to which outputs can be added: it continues from where it was.

    In addition to the outputs, every value may stay uncovered, at a fee.
    """

    def __init__(self, marginal: Vector, fees: Vector, *, turn: Lock | None = None) -> None:
        """The program of these frequencies and fees; while it is solved, others may have their ``turn``."""
        import highspy

        n = len(marginal)
        self.turn = turn
        self.marginal, self.unit = marginal, float(marginal.mean())
        self.columns, self.costs, self.scales = csr_array((0, n)), np.zeros(0), np.zeros(0)
        self.highs = highspy.Highs()
        for name, value in _OPTIONS.items():
            self.highs.setOptionValue(name, value)
        nothing = np.zeros(0, dtype=np.int32)
        self.highs.addRows(n, np.ones(n), np.ones(n), 0, nothing, nothing, np.zeros(0))
        self.fees = fees
        self._add(csr_array(eye_array(n)), self._scaled(fees, 1 / marginal), np.ones(n))

    def _scaled(self, costs: Vector, scales: Vector) -> Vector:
        return np.asarray(costs / scales / self.unit)

    def _add(self, table: csr_array, costs: Vector, tops: Vector) -> None:
        n = len(costs)
        self.highs.addCols(
            n,
            costs,
            np.zeros(n),
            tops,
            len(table.data),
            table.indptr[:-1].astype(np.int32),
            table.indices.astype(np.int32),
            table.data,
        )

    def add(self, columns: csr_array, costs: Vector) -> None:
        """Add outputs (outputs x released) to those so far."""
        if not len(costs):
            return
        table = csr_array(columns, copy=True)
        table.data = table.data / self.marginal[table.indices]
        scales = np.maximum.reduceat(table.data, table.indptr[:-1])
        table.data = table.data / np.repeat(scales, np.diff(table.indptr))
        self._add(table, self._scaled(costs, scales), np.full(len(costs), np.inf))
        self.columns = vstack([self.columns, columns]).tocsr()
        self.costs, self.scales = np.append(self.costs, costs), np.append(self.scales, scales)

    def charge(self, fees: Vector) -> None:
        """Change the fees."""
        n = len(fees)
        self.fees = fees
        self.highs.changeColsCost(n, np.arange(n, dtype=np.int32), self._scaled(fees, 1 / self.marginal))

    def close(self) -> None:
        """From now on no value may stay uncovered."""
        n = len(self.marginal)
        self.highs.changeColsBounds(n, np.arange(n, dtype=np.int32), np.zeros(n), np.zeros(n))

    def solve(self) -> tuple[Weights, Vector] | None:
        """The weights of the outputs, and which share of every value is uncovered; None if there are no weights."""
        import highspy

        if self.turn is None:
            self.highs.run()
        else:
            self.turn.release()
            try:
                self.highs.run()
            finally:
                self.turn.acquire()
        if self.highs.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            return None
        answer = self.highs.getSolution()
        n = len(self.marginal)
        levels = np.maximum(np.asarray(answer.col_value), 0.0)
        weights, uncovered = levels[n:] / self.scales, levels[:n]
        prices = np.asarray(answer.row_dual) * self.unit / self.marginal
        cost = float(self.costs @ weights + self.fees * self.marginal @ uncovered)
        return Weights(weights, cost, prices), uncovered


def nearest_paying(columns: Any, costs: Vector, prices: Vector, most: int, *, always: Labels | None = None) -> Labels:
    """The columns that pay, or come nearest to it, at most ``most``; those of ``always`` are among them."""
    short = costs - columns @ prices
    if always is not None:
        short[always] = -np.inf
    return np.sort(np.argsort(short, kind="stable")[:most])


def _polished(table: csc_array, weights: Vector) -> Vector:
    """The same basic solution, solved again to the last digit; the original one if that fails."""
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
