"""Partitions whose bound may fail by a little in the E-gamma sense, which no post-processing can undo.

D(y) = sum_s max(p(s,y) - e^epsilon p(s) p(y), 0) + max(p(s) p(y) - e^epsilon p(s,y), 0) adds up over outputs, and
merging outputs never raises the sum. It charges for secrets that are ruled out too, which Delta does not.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tacit.lift.joint import Joint, Mask, Matrix, Vector
from tacit.lift.measures import TOLERANCE, Distribution
from tacit.lift.optimum import camouflage, certified
from tacit.lift.partition import Partition, Task

_LARGEST_EXACT = 1_000
_LARGEST_EXPONENT = 700.0
_SCALE = 1e3
_ROUNDS = 8
_TOUCHES = 1e-8


def egamma_excess(joint: Distribution, epsilon: float) -> Vector:
    """D of every released value: by how much its cells pass epsilon, on both sides, in probability."""
    joint = Joint.of(joint)
    return _excess(joint.matrix, joint.prior, epsilon)


def _excess(cells: Matrix, prior: Vector, epsilon: float) -> Vector:
    """D of values or sets given as columns p(s, set)."""
    factor = np.exp(min(epsilon, _LARGEST_EXPONENT))
    independent = prior[:, None] * cells.sum(axis=0)
    over = np.maximum(cells - factor * independent, 0.0)
    under = np.maximum(independent - factor * cells, 0.0)
    # A cell on its bound is off by rounding only.
    over[over <= TOLERANCE * cells] = 0.0
    under[under <= TOLERANCE * independent] = 0.0
    return np.asarray((over + under).sum(axis=0))


@dataclass(frozen=True, eq=False)
class EGammaTask(Task):
    """The question of a partition with D in place of Delta."""

    @classmethod
    def of(cls, joint: Distribution, epsilon: float, delta: float = 0.0, epsilon_max: float = np.inf) -> EGammaTask:
        """Check the question and compute risk, D and -p log p of every released value."""
        task = Task.of(joint, epsilon, delta, epsilon_max)
        deltas = _excess(task.joint.matrix, task.joint.prior, epsilon)
        return cls(task.joint, epsilon, delta, task.epsilon_max, task.risks, deltas, task.losses)

    def feasible(self, merged: Matrix, kept_delta: Vector) -> Mask:
        """Which merged sets do what was asked; columns of ``merged`` are p(s, set)."""
        spent = kept_delta + _excess(merged, self.joint.prior, self.epsilon)
        return np.asarray(spent <= self.delta * (1 + TOLERANCE))

    def result(self, merged: Mask, method: str, lower_bound: float | None = None) -> Partition:
        """The partition of a merged set, with D as its delta_total."""
        at_once = self.joint.matrix[:, merged].sum(axis=1, keepdims=True)
        total = float(self.deltas[~merged].sum() + _excess(at_once, self.joint.prior, self.epsilon)[0])
        return replace(super().result(merged, method, lower_bound), delta_total=total)


def egamma_partition(joint: Distribution, epsilon: float, delta: float, *, time_limit: float = 10.0) -> Partition:
    """Choose the released values to merge so that D, the excess over epsilon in the E-gamma sense, is at most delta.

    ``delta_total`` of the result is D, not the probability that `partition` bounds.

    Guarantees
    ----------
    ``delta_total`` is at most delta, and stays so whatever is done to the release. No partition of this kind has an
    nmil below ``lower_bound``; up to a thousand values the two meet, unless the time limit was hit.
    """
    task = EGammaTask.of(joint, epsilon, delta)
    found = [certified(task), camouflage(task)]
    bound = found[0].lower_bound or 0.0
    if len(task.risks) <= _LARGEST_EXACT:
        exact, proved = _exact(task, time_limit)
        found += exact
        bound = max(bound, proved)
    best = min((each for each in found if each.attains), key=lambda each: each.nmil)
    return replace(best, lower_bound=min(bound, best.nmil))


def _exact(task: EGammaTask, time_limit: float) -> tuple[list[Partition], float]:
    """Partitions from the integer program, and the bound it proves; D is convex, so it needs no binaries of its own."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    n, prior, p = len(task.risks), task.joint.prior, task.joint.marginal
    whole = float(task.losses.sum()) or 1.0
    width = n + 2 * len(prior) + 1
    costs = np.zeros(width)
    costs[:n], costs[-1] = task.losses, 1.0
    low, high = np.zeros(width), np.ones(width)
    low[:n][~(task.safe | task.exempt)] = 1
    low[-1], high[-1] = -whole, 0.0
    rows, tops = _rows(task, width)
    tangents = list(np.geomspace(max(float(p.min()), 1e-6), 1.0, 14))
    found, bound, least = [], 0.0, np.inf
    for _ in range(_ROUNDS):
        time_limit /= 2
        cuts = np.zeros((len(tangents), width))
        cuts[:, :n], cuts[:, -1] = (1 + np.log(tangents))[:, None] * p, -1.0
        answer = milp(
            costs * _SCALE,
            constraints=LinearConstraint(np.vstack([rows, cuts]), -np.inf, np.append(tops, tangents)),
            integrality=np.append(np.ones(n), np.zeros(width - n)),
            bounds=Bounds(low, high),
            options={"time_limit": max(time_limit, 0.1), "mip_rel_gap": 1e-9},
        )
        if answer.x is None:
            break
        if answer.mip_dual_bound is not None and np.isfinite(answer.mip_dual_bound):
            bound = max(bound, float(answer.mip_dual_bound) / _SCALE)
        merged = np.asarray(answer.x[:n] > 0.5)
        found.append(task.result(merged, "exact"))
        mass = float(p[merged].sum())
        least = min([least, *(each.nmil * whole for each in found if each.attains)])
        if least - bound <= _TOUCHES or mass <= 0 or any(abs(mass - at) < 1e-12 for at in tangents):
            break
        tangents.append(mass)
    return found, max(bound / whole - 1e-6, 0.0)


def _rows(task: EGammaTask, width: int) -> tuple[Matrix, Vector]:
    """D of the kept values and of the merged set within delta; two rows for the excess of the set for every secret."""
    n, prior, p = len(task.risks), task.joint.prior, task.joint.marginal
    factor = np.exp(min(task.epsilon, _LARGEST_EXPONENT))
    unit = max(task.delta, 1e-9)
    budget = np.zeros(width)
    budget[:n], budget[n:-1] = -task.deltas / unit, 1.0
    rows, tops = [budget], [(task.delta * (1 - 1e-7) - float(task.deltas.sum())) / unit]
    for s, prior_s in enumerate(prior):
        for side, excess in enumerate(
            (task.joint.matrix[s] - factor * prior_s * p, prior_s * p - factor * task.joint.matrix[s])
        ):
            row = np.zeros(width)
            # In units of delta, like the budget: the solver's tolerance is absolute.
            row[:n], row[n + 2 * s + side] = excess / unit, -1.0
            rows.append(row)
            tops.append(0.0)
    return np.array(rows), np.array(tops)
