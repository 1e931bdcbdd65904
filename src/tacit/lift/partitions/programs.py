"""The integer programs of the best partition, for HiGHS."""

from __future__ import annotations

import numpy as np

from tacit.lift.joint import Mask, Matrix, Vector
from tacit.lift.partitions.merging import EGammaTask, Task
from tacit.lift.tolerances import LARGEST_EXPONENT

# The solver's tolerances are absolute; in these units they are small compared with the loss.
_SCALE = 1e3
# Room for the solver's rounding, as a share of epsilon and of delta: the first if needed; the second for E-gamma.
_MARGIN = 1e-6
_LEAST_MARGIN = 1e-7
# The solver satisfies its rows only to 1e-7; with masses as small as this its bound says nothing.
_SOLVER_SCALE = 1e-6


class Program:
    """min sum h z + phi over z in {0,1}, with phi above tangents of m log m, under the bounds of a task.

    For delta > 0 there are also v_s = 1 if the merged set exceeds epsilon for the secret s, and t_s, its cost then.
    """

    # Allowed between loss and bound for the solver's rounding, as a share of the information.
    allowance = 0.0

    def __init__(self, task: Task, *, margin: float = 0.0) -> None:
        self.task, self.margin = task, margin
        self.n, self.n_secrets = len(task.risks), (len(task.joint.prior) if task.delta > 0 else 0)
        self.tangents = list(np.geomspace(max(float(task.joint.marginal.min()), 1e-6), 1.0, 16))
        self.width = self.n + 2 * self.n_secrets + 1
        self.integral = self.n + self.n_secrets

    @property
    def trusted(self) -> bool:
        """Whether the program's lower bound holds for the problem: it was solved as asked, and is well scaled."""
        smallest = float(self.task.joint.matrix[self.task.joint.matrix > 0].min())
        return self.margin == 0 and smallest > _SOLVER_SCALE and not 0 < self.task.delta < _SOLVER_SCALE

    def tighten(self) -> bool:
        """Leave room for the solver's rounding; False if there already was."""
        tightened, self.margin = self.margin < _MARGIN, _MARGIN
        return tightened

    def touch(self, merged: Mask) -> bool:
        """Add the tangent at a solution; False if it was already there, and nothing is left to gain."""
        mass = float(self.task.joint.marginal[merged].sum())
        if mass <= 0 or any(abs(mass - at) <= 1e-12 for at in self.tangents):
            return False
        self.tangents.append(mass)
        return True

    def solve(self, time_limit: float) -> tuple[Mask, float] | None:
        """The merged set and a lower bound on the loss, or None if the solver found nothing in time."""
        from scipy.optimize import Bounds, LinearConstraint, milp

        rows, tops = self._rows()
        cuts = np.zeros((len(self.tangents), self.width))
        cuts[:, : self.n], cuts[:, -1] = (1 + np.log(self.tangents))[:, None] * self.task.joint.marginal, -1.0
        cost = np.append(self.task.losses, np.zeros(self.width - self.n))
        cost[-1] = 1.0
        answer = milp(
            cost * _SCALE,
            constraints=LinearConstraint(np.vstack([cuts, *rows]), -np.inf, np.append(self.tangents, tops)),
            integrality=np.arange(self.width) < self.integral,
            bounds=Bounds(*self._bounds()),
            options={"time_limit": time_limit, "mip_rel_gap": 1e-9},
        )
        if answer.x is None:
            return None
        bound = answer.mip_dual_bound
        usable = bound is not None and np.isfinite(bound)
        return np.asarray(answer.x[: self.n] > 0.5), bound / _SCALE if usable else 0.0

    def _bounds(self) -> tuple[Vector, Vector]:
        low, high = np.zeros(self.width), np.ones(self.width)
        low[: self.n][~(self.task.safe | self.task.exempt)] = 1
        if self.n_secrets:
            high[self.integral : -1] = self.task.joint.prior
        low[-1], high[-1] = -1, 0
        return low, high

    def _rows(self) -> tuple[list[Vector], list[float]]:
        task = self.task
        rows = [self._row(side) for s in range(len(task.joint.prior)) for side in self._excesses(s, task.epsilon_max)]
        tops = [0.0] * len(rows)
        if not self.n_secrets:
            return rows, tops
        costs = range(self.integral, self.width - 1)
        rows.append(self._row(-task.deltas / task.delta, dict.fromkeys(costs, 1 / task.delta)))
        tops.append(1 - self.margin - float(task.deltas.sum()) / task.delta)
        for s, prior in enumerate(task.joint.prior):
            for side in self._excesses(s, task.epsilon):
                rows.append(self._row(side, {self.n + s: -np.maximum(side, 0).sum()}))
                tops.append(0.0)
            rows.append(self._row(task.joint.matrix[s] / prior, {self.n + s: 1.0, costs[s]: -1 / prior}))
            tops.append(1.0)
        return rows, tops

    def _row(self, z: Vector, others: dict[int, float] | None = None) -> Vector:
        row = np.append(z, np.zeros(self.width - self.n))
        for at, value in (others or {}).items():
            row[at] = value
        return row

    def _excesses(self, s: int, epsilon: float) -> list[Vector]:
        """What each value adds to the excess of the merged set over epsilon for a secret: high side, low side."""
        task = self.task
        prior, p, cells = task.joint.prior[s], task.joint.marginal, task.joint.matrix[s]
        epsilon *= 1 - self.margin
        sides = []
        # A lift is at most 1 / P(s), so a larger bound needs no row; an infinite one needs none on the low side either.
        if epsilon < -np.log(prior):
            sides.append(cells - np.exp(epsilon) * prior * p)
        if np.isfinite(epsilon):
            sides.append(np.exp(-epsilon) * prior * p - cells)
        return [side / max(float(np.abs(side).max()), 1e-300) for side in sides]


class EGammaProgram(Program):
    """The same with D of kept values and merged set within delta; D is convex, so it needs no binaries of its own."""

    allowance = 1e-6

    def __init__(self, task: EGammaTask) -> None:
        super().__init__(task, margin=_LEAST_MARGIN)
        self.n_secrets, self.integral = 0, self.n
        self.width = self.n + 2 * len(task.joint.prior) + 1

    @property
    def trusted(self) -> bool:
        """Whether the program's lower bound holds for the problem, to its allowance."""
        return self.margin == _LEAST_MARGIN

    def _rows(self) -> tuple[list[Vector], list[float]]:
        """The budget of D, and two rows for the excess of the merged set for every secret."""
        task, p = self.task, self.task.joint.marginal
        factor = np.exp(min(task.epsilon, LARGEST_EXPONENT))
        # In units of delta: the solver's tolerance is absolute.
        unit = max(task.delta, 1e-9)
        costs = range(self.n, self.width - 1)
        rows = [self._row(-task.deltas / unit, dict.fromkeys(costs, 1.0))]
        tops = [(task.delta * (1 - self.margin) - float(task.deltas.sum())) / unit]
        for s, prior in enumerate(task.joint.prior):
            cells: Matrix = task.joint.matrix[s]
            for side, excess in enumerate((cells - factor * prior * p, prior * p - factor * cells)):
                rows.append(self._row(excess / unit, {costs[2 * s + side]: -1.0}))
                tops.append(0.0)
        return rows, tops
