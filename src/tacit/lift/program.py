"""The integer program of the best partition, for HiGHS."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.lift.joint import Mask, Vector
from tacit.lift.partition import Task

# The solver's tolerances are absolute; in these units they are small beside the loss.
_SCALE = 1e3
_MARGIN = 1e-6


class Program:
    """min sum h z + phi over z in {0,1}, with phi above tangents of m log m, under the bounds of a task.

    For delta > 0 there are also v_s = 1 if the merged set exceeds epsilon for the secret s, and t_s, its cost then.
    """

    def __init__(self, task: Task) -> None:
        self.task = task
        self.n, self.n_secrets = len(task.risks), (len(task.joint.prior) if task.delta > 0 else 0)
        self.margin = 0.0
        self.tangents = list(np.geomspace(max(float(task.joint.marginal.min()), 1e-6), 1.0, 16))

    @property
    def tightened(self) -> bool:
        """Whether the bounds are tighter than those asked, so that the program's bound is not the problem's."""
        return self.margin > 0

    def tighten(self) -> None:
        """Leave room for the solver's rounding."""
        self.margin = _MARGIN

    def touch(self, merged: Mask) -> bool:
        """Add the tangent at a solution; False if it was there already, so that nothing is left to gain."""
        mass = float(self.task.joint.marginal[merged].sum())
        if mass <= 0 or any(abs(mass - at) <= 1e-12 for at in self.tangents):
            return False
        self.tangents.append(mass)
        return True

    def solve(self, time_limit: float) -> tuple[Mask, float] | None:
        """The merged set and a lower bound on the loss, or None if the solver found nothing in time."""
        from scipy.optimize import Bounds, LinearConstraint, milp

        rows, tops = self._rows()
        cost = np.zeros(self._width)
        cost[: self.n], cost[-1] = self.task.losses, 1.0
        integral = np.zeros(self._width)
        integral[: self.n + self.n_secrets] = 1
        answer = milp(
            cost * _SCALE,
            constraints=LinearConstraint(rows, -np.inf, tops),
            integrality=integral,
            bounds=Bounds(*self._bounds()),
            options={"time_limit": time_limit, "mip_rel_gap": 1e-9},
        )
        if answer.x is None:
            return None
        bound = answer.mip_dual_bound
        usable = bound is not None and np.isfinite(bound)
        return np.asarray(answer.x[: self.n] > 0.5), bound / _SCALE if usable else 0.0

    @property
    def _width(self) -> int:
        return self.n + 2 * self.n_secrets + 1

    def _bounds(self) -> tuple[Vector, Vector]:
        low, high = np.zeros(self._width), np.ones(self._width)
        low[: self.n][~(self.task.safe | self.task.exempt)] = 1
        if self.n_secrets:
            high[self.n + self.n_secrets : -1] = self.task.joint.prior
        low[-1], high[-1] = -1, 0
        return low, high

    def _rows(self) -> tuple[NDArray[np.float64], Vector]:
        task, p = self.task, self.task.joint.marginal
        rows: list[Vector] = []
        tops: list[float] = []
        for at in self.tangents:
            rows.append(self._row(z=(1 + np.log(at)) * p, phi=-1.0))
            tops.append(at)
        for s in range(len(task.joint.prior)):
            for lift in self._excesses(s, task.epsilon_max):
                rows.append(self._row(z=lift))
                tops.append(0.0)
        if self.n_secrets:
            self._add_delta_rows(rows, tops)
        return np.array(rows), np.array(tops)

    def _add_delta_rows(self, rows: list[Vector], tops: list[float]) -> None:
        task = self.task
        unit = task.delta
        row = self._row(z=-task.deltas / unit)
        row[self.n + self.n_secrets : -1] = 1 / unit
        rows.append(row)
        tops.append(1 - self.margin - float(task.deltas.sum()) / unit)
        for s, prior in enumerate(task.joint.prior):
            for lift in self._excesses(s, task.epsilon):
                row = self._row(z=lift)
                row[self.n + s] = -np.maximum(lift, 0).sum()
                rows.append(row)
                tops.append(0.0)
            row = self._row(z=task.joint.matrix[s] / prior)
            row[self.n + s], row[self.n + self.n_secrets + s] = 1.0, -1 / prior
            rows.append(row)
            tops.append(1.0)

    def _row(self, *, z: Vector, phi: float = 0.0) -> Vector:
        row = np.zeros(self._width)
        row[: self.n], row[-1] = z, phi
        return row

    def _excesses(self, s: int, epsilon: float) -> list[Vector]:
        """What each value adds to the excess of the merged set over epsilon for a secret: high side, low side."""
        task = self.task
        prior, p, cells = task.joint.prior[s], task.joint.marginal, task.joint.matrix[s]
        epsilon *= 1 - self.margin
        sides = []
        # A lift is at most 1 / P(s), so a larger bound needs no row; an infinite one none on the low side either.
        if epsilon < -np.log(prior):
            sides.append(cells - np.exp(epsilon) * prior * p)
        if np.isfinite(epsilon):
            sides.append(np.exp(-epsilon) * prior * p - cells)
        return [side / max(float(np.abs(side).max()), 1e-300) for side in sides]
