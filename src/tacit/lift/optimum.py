"""The best partition: exactly by integer programming, or nearly, with a bound on what is left to gain.

With z_x = 1 for the merged values, p the marginal, h_x = -p_x log p_x and m = sum p_x z_x, the information lost is
sum h_x z_x + m log m. It is convex in z, since m log m is: tangents from below turn the problem into a mixed integer
linear program, and the conjugate of m log m turns its relaxation into a knapsack.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from tacit.errors import ArgumentError
from tacit.lift.joint import Vector
from tacit.lift.measures import entropy
from tacit.lift.partition import Order, Partition, Task, greedy, keep_in_order
from tacit.lift.program import Program

# Sizes up to which the integer program is asked: by `best`, and at all.
_LARGEST_BY_DEFAULT = 300
_LARGEST_EXACT = 5_000
# How many candidates are tried one by one after the relaxation has been rounded.
_POLISH = 20_000
# Safe values are left alone if merging some could not gain more than this in nmil.
_CLOSE = 1e-3
# Tangents are added until they touch the loss to this many nats.
_TOUCHES = 1e-9
_SOLVER_SCALE = 1e-6
_ROUNDS = 12


def best(task: Task, *, time_limit: float) -> Partition:
    """The best partition to be had in reasonable time; it always attains what was asked."""
    plain = task.result(~task.safe, "watchdog")
    if plain.attains and not task.exempt.any():
        # Every risky value has to be merged, and merging more only loses more.
        return replace(plain, lower_bound=plain.nmil)
    if len(task.risks) <= _LARGEST_BY_DEFAULT:
        return exact(task, time_limit=time_limit)
    found = _heuristics(task)
    return _least_loss(found, found[0].lower_bound)


def _heuristics(task: Task) -> list[Partition]:
    """Partitions found without the solver, the first with a lower bound; one of them attains what was asked."""
    found = [certified(task), greedy(task)]
    close = any(each.attains and each.nmil - (found[0].lower_bound or 0.0) < _CLOSE for each in found)
    return found if close else [*found, camouflage(task)]


def _least_loss(found: Iterable[Partition], lower_bound: float | None) -> Partition:
    chosen = min((each for each in found if each.attains), key=lambda each: each.nmil)
    return replace(chosen, lower_bound=None if lower_bound is None else min(lower_bound, chosen.nmil))


def certified(task: Task) -> Partition:
    """Keep values in the order of the relaxed problem's best exchange rate of information for Delta.

    Guarantees
    ----------
    No partition that attains what was asked has an nmil below ``lower_bound``. The gap shrinks with the number
    of released values; O(n |S| + n log n).
    """
    bound, order = _relaxation(task)
    affordable = np.cumsum(task.deltas[order]) <= task.delta - task.deltas[task.safe].sum()
    kept = keep_in_order(task, task.safe, order[affordable])
    slack = task.delta - task.deltas[kept].sum()
    rest = order[~kept[order] & (task.deltas[order] <= slack)][:_POLISH]
    kept = keep_in_order(task, kept, rest)
    return task.result(~kept, "certified", bound / _whole(task))


def _whole(task: Task) -> float:
    """H(X), or 1 where there is nothing to lose, so that it can be divided by."""
    return entropy(task.joint.marginal) or 1.0


def _relaxation(task: Task) -> tuple[float, Order]:
    """A lower bound on the information lost, and the exempt values in the order in which to keep them.

    m log m is at least c m - e^(c-1) for every c. That leaves the knapsack of keeping the values worth most
    per Delta, whose value is concave in c; its slope says on which side of c the largest bound lies.
    """
    floor, ceiling = np.log(task.joint.marginal.min()), 1.0
    c, largest, best_order = ceiling, 0.0, np.flatnonzero(task.exempt)
    for _ in range(30):
        bound, mass, order = _knapsack(task, c)
        if bound > largest:
            largest, best_order = bound, order
        floor, ceiling = (c, ceiling) if mass > np.exp(c - 1) else (floor, c)
        proposal = 1 + np.log(max(mass, 1e-300))
        if abs(proposal - c) < 1e-9 or ceiling - floor < 1e-9:
            break
        c = proposal if floor < proposal < ceiling else (floor + ceiling) / 2
    return largest, best_order


def _knapsack(task: Task, c: float) -> tuple[float, float, Order]:
    """Bound at c, the mass then merged, and the exempt values worth keeping, best first."""
    p = task.joint.marginal
    worth = task.losses + c * p
    exempt = np.flatnonzero(task.exempt & (worth > 0))
    with np.errstate(over="ignore"):
        rates = worth[exempt] / np.maximum(task.deltas[exempt], 1e-300)
    order = exempt[np.argsort(-rates, kind="stable")]
    spent = np.cumsum(task.deltas[order])
    n_kept = int(np.searchsorted(spent, task.delta * (1 + 1e-9), side="right"))
    # Safe values cost no Delta and merging them only loses more, so that the best relaxed choice keeps them all.
    merged = ~task.safe
    merged[order[:n_kept]] = False
    bound, mass = worth[merged].sum(), p[merged].sum()
    if n_kept < len(order):
        left = task.delta - (spent[n_kept - 1] if n_kept else 0.0)
        share = max(left, 0.0) / task.deltas[order[n_kept]]
        bound, mass = bound - share * worth[order[n_kept]], mass - share * p[order[n_kept]]
    return float(bound - np.exp(c - 1)), float(mass), order


def camouflage(task: Task) -> Partition:
    """Merge safe values too, so that risky values that all point to one secret hide among them.

    Starts from everything merged, which attains 0, and keeps values while that lasts: once those first that hide
    least, once those first that are dearest to lose. The better of the two is within a few percent of the best.

    Guarantees
    ----------
    The partition attains what was asked.
    """
    safe = np.flatnonzero(task.safe)
    exempt = _relaxation(task)[1]
    found = []
    for rank in (_cover(task), -task.losses):
        candidates = np.concatenate([safe[np.argsort(rank[safe], kind="stable")], exempt])
        kept = keep_in_order(task, np.zeros(len(rank), dtype=np.bool_), candidates)
        found.append(task.result(~kept, "camouflage"))
    return min(found, key=lambda each: each.nmil)


def _cover(task: Task) -> Vector:
    """How much of what the risky set gives away each value would hide if merged with it, per probability."""
    p, prior = task.joint.marginal, task.joint.prior
    risky = task.joint.matrix[:, ~task.safe].sum(axis=1)
    cover = np.zeros(len(p))
    for sign in (1.0, -1.0):
        with np.errstate(over="ignore"):
            bound = np.exp(sign * task.epsilon) * prior
        excess = sign * (risky - bound * risky.sum())
        for s in np.flatnonzero(excess > 0):
            cover += sign * (bound[s] - task.joint.matrix[s] / p) / excess[s]
    return cover


def exact(task: Task, *, time_limit: float) -> Partition:
    """The best of all partitions, by integer programming; what the solver says is checked, not believed.

    Guarantees
    ----------
    The partition attains what was asked. None that does has an nmil below ``lower_bound``, to within the
    solver's tolerance (1e-6); the two meet unless the time limit was hit, or some pair has a probability below 1e-6,
    which the solver cannot tell from zero: then the bound is that of ``certified``.
    """
    if len(task.risks) > _LARGEST_EXACT:
        raise ArgumentError(
            f"there are {len(task.risks)} released values, too many for the method 'exact'; "
            f"it takes up to {_LARGEST_EXACT}. Use 'certified' or 'auto'"
        )
    found = _heuristics(task)
    whole = _whole(task)
    lower_bound = (found[0].lower_bound or 0.0) * whole
    program = Program(task)
    smallest = float(task.joint.matrix[task.joint.matrix > 0].min())
    # The solver keeps its rows to 1e-7 only; among masses that small its bound says nothing.
    well_scaled = smallest > _SOLVER_SCALE and not 0 < task.delta < _SOLVER_SCALE
    for _ in range(_ROUNDS):
        # There is no clock here: each round may take half of what is left.
        time_limit /= 2
        solution = program.solve(time_limit)
        if solution is None:
            break
        merged, bound = solution
        if well_scaled and not program.tightened:
            lower_bound = max(lower_bound, bound)
        answer = task.result(merged, "exact")
        found.append(answer)
        if min(each.nmil for each in found if each.attains) * whole - lower_bound <= _TOUCHES:
            break
        if not answer.attains:
            if program.tightened:
                break
            program.tighten()
        elif not program.touch(merged):
            break
    return _least_loss(reversed(found), lower_bound / whole)
