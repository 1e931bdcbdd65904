"""The best partition: exactly by integer programming, or nearly, with a bound on what is left to gain.

With z_x = 1 for the merged values, p the marginal, h_x = -p_x log p_x and m = sum p_x z_x, the information lost is
sum h_x z_x + m log m. It is convex in z, since m log m is: tangents from below turn the problem into a mixed integer
linear program, and the conjugate of m log m turns its relaxation into a knapsack.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Literal

import numpy as np

from tacit.errors import ArgumentError
from tacit.lift.joint import Labels, Mask, Vector
from tacit.lift.measures import Distribution, entropy
from tacit.lift.partitions.merging import EGammaTask, Partition, Task, within_delta
from tacit.lift.partitions.programs import EGammaProgram, Program

Method = Literal["auto", "watchdog", "greedy", "exact", "certified"]

# Sizes up to which the integer program is used: by `best`; for E-gamma, which needs fewer variables; and at all.
_LARGEST_BY_DEFAULT = 300
_LARGEST_EGAMMA = 1_000
_LARGEST_EXACT = 5_000
# How many candidates are tried one by one after the relaxation has been rounded.
_POLISH = 20_000
# A prefix is tested this many values at a time, so that its tests stay small compared with the joint itself.
_LARGEST_BLOCK = 1 << 16
# Safe values are left alone if merging some could not gain more than this in nmil.
_CLOSE = 1e-3
# Tangents are added until they touch the loss to this many nats.
_TOUCHES = 1e-9
_ROUNDS = 12


def partition(
    joint: Distribution,
    epsilon: float,
    delta: float = 0.0,
    epsilon_max: float = np.inf,
    *,
    method: Method = "auto",
    time_limit: float = 10.0,
) -> Partition:
    """Choose the released values to merge so that abs(log-lift) exceeds epsilon with probability at most delta.

    Parameters
    ----------
    joint : Joint or table of probabilities
    epsilon : float
        Bound on abs(log-lift).
    delta : float
        Probability with which the bound may fail; with 0 it never may.
    epsilon_max : float
        Bound that may not be broken at all; it matters only where delta is more than 0.
    method : str
        ``watchdog`` merges every risky value and looks no further; ``greedy`` is the paper's Algorithm 1;
        ``certified`` rounds a relaxation and bounds how far it is from the best, for up to a million values;
        ``exact`` finds the best partition (practical for up to about a thousand values, refused above 5,000);
        ``auto`` takes what fits the size, and merges safe values too where risky ones alone do not hide one another.
    time_limit : float
        Seconds that the solver of ``exact`` may take.

    Guarantees
    ----------
    ``attained``, ``delta_total`` and ``nmil`` are computed from the set returned. With ``auto`` and ``exact`` the
    partition attains what was asked; the other methods may fail to, and ``attains`` then says so.
    """
    task = Task.of(joint, epsilon, delta, epsilon_max)
    if method == "watchdog":
        return task.result(~task.safe, "watchdog")
    if method == "greedy":
        return greedy(task)
    if method == "certified":
        return certified(task)
    if method == "exact":
        return exact(task, time_limit=time_limit)
    if method == "auto":
        return best(task, time_limit=time_limit)
    raise ArgumentError(f"there is no method '{method}'; there are: auto, watchdog, greedy, exact, certified")


def egamma_partition(joint: Distribution, epsilon: float, delta: float, *, time_limit: float = 10.0) -> Partition:
    """Choose the released values to merge so that D, the excess over epsilon in the E-gamma sense, is at most delta.

    ``delta_total`` of the result is D, not the probability that `partition` bounds.

    Guarantees
    ----------
    ``delta_total`` is at most delta, and stays so whatever is done to the release. No partition of this kind has an
    nmil below ``lower_bound``; up to a thousand values the two meet, to 1e-6, unless the time limit was hit.
    """
    return best(EGammaTask.of(joint, epsilon, delta), time_limit=time_limit, largest=_LARGEST_EGAMMA)


def best(task: Task, *, time_limit: float, largest: int = _LARGEST_BY_DEFAULT) -> Partition:
    """The best partition to be had in reasonable time; it always attains what was asked."""
    plain = task.result(~task.safe, "watchdog")
    if plain.attains and not task.exempt.any():
        # Every risky value has to be merged, and merging more only loses more.
        return replace(plain, lower_bound=plain.nmil)
    if len(task.risks) <= largest:
        return exact(task, time_limit=time_limit)
    partitions = _heuristics(task)
    return _least_loss(partitions, partitions[0].lower_bound)


def _heuristics(task: Task) -> list[Partition]:
    """Partitions found without the solver, the first with a lower bound; one of them attains what was asked."""
    partitions = [certified(task), greedy(task)]
    close = any(each.attains and each.nmil - (partitions[0].lower_bound or 0.0) < _CLOSE for each in partitions)
    return partitions if close else [*partitions, camouflage(task)]


def _least_loss(partitions: Iterable[Partition], lower_bound: float | None) -> Partition:
    chosen = min((each for each in partitions if each.attains), key=lambda each: each.nmil)
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


def _relaxation(task: Task) -> tuple[float, Labels]:
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


def _knapsack(task: Task, c: float) -> tuple[float, float, Labels]:
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

    Starts from everything merged, which attains 0, and keeps values for as long as the bounds allow: once with those
    that hide least first, once with those dearest to lose first. The better of the two is within a few percent of the
    best.

    Guarantees
    ----------
    The partition attains what was asked.
    """
    safe = np.flatnonzero(task.safe)
    exempt = _relaxation(task)[1]
    partitions = []
    for rank in (_cover(task), -task.losses):
        candidates = np.concatenate([safe[np.argsort(rank[safe], kind="stable")], exempt])
        kept = keep_in_order(task, np.zeros(len(rank), dtype=np.bool_), candidates)
        partitions.append(task.result(~kept, "camouflage"))
    return min(partitions, key=lambda each: each.nmil)


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
    """The best of all partitions, by integer programming; the solver's answer is checked, not believed.

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
    partitions = _heuristics(task)
    whole = _whole(task)
    lower_bound = (partitions[0].lower_bound or 0.0) * whole
    program = EGammaProgram(task) if isinstance(task, EGammaTask) else Program(task)
    allowance = program.allowance * whole
    for _ in range(_ROUNDS):
        # There is no clock here: each round may take half of what is left.
        time_limit /= 2
        solution = program.solve(time_limit)
        if solution is None:
            break
        merged, bound = solution
        if program.trusted:
            lower_bound = max(lower_bound, bound - allowance)
        answer = task.result(merged, "exact")
        partitions.append(answer)
        if min(each.nmil for each in partitions if each.attains) * whole - lower_bound <= _TOUCHES + allowance:
            break
        if not (program.touch(merged) if answer.attains else program.tighten()):
            break
    return _least_loss(reversed(partitions), lower_bound / whole)


def greedy(task: Task) -> Partition:
    """Algorithm 1 of Sadeghi, Ding and Rakotoarivelo (2020), with its errata, in O(n |S| + n log n).

    Starts from the watchdog's set and takes values out of it, smallest Delta first, while the rest stays within
    delta and epsilon_max.
    """
    candidates = np.flatnonzero(task.exempt)
    candidates = candidates[np.argsort(task.deltas[candidates], kind="stable")]
    return task.result(~keep_in_order(task, task.safe, candidates, increasing=True), "greedy")


def keep_in_order(task: Task, kept: Mask, candidates: Labels, *, increasing: bool = False) -> Mask:
    """Keep the candidates one after another, each if the partition is then feasible; the last stays merged.

    ``increasing`` says that the candidates come in order of Delta, so that none after the first that delta cannot
    afford can be afforded either. Equals the loop that tests one candidate at a time: a block is tested as if
    all of it were kept, and it is kept up to the first candidate for which that was wrong.
    """
    joint, kept = task.joint, kept.copy()
    others = ~kept
    others[candidates] = False
    # What stays merged is summed from the end: sums of positive terms, unlike differences, keep their digits.
    stuck = joint.matrix[:, others].sum(axis=1, keepdims=True)
    n_stuck = int(others.sum())
    rest = np.cumsum(joint.matrix[:, candidates[::-1]], axis=1)[:, ::-1]
    rest = np.column_stack([rest, np.zeros(len(rest))])
    spent = float(task.deltas[kept].sum())
    start, size, n = 0, 64, len(candidates)
    while start < n:
        stop = min(start + size, n)
        block = candidates[start:stop]
        spending = spent + np.cumsum(task.deltas[block])
        fine = task.feasible(stuck + rest[:, start + 1 : stop + 1], spending)
        # One value alone is released as itself, so taking it out of the merged set gains nothing.
        fine &= n_stuck + n - 1 - np.arange(start, stop) > 0
        n_fine = len(block) if fine.all() else int(np.argmin(fine))
        kept[block[:n_fine]] = True
        spent = float(spending[n_fine - 1]) if n_fine else spent
        if n_fine == len(block):
            start, size = stop, min(2 * size, _LARGEST_BLOCK)
            continue
        refused = block[n_fine]
        if increasing and not within_delta(spent + float(task.deltas[refused]), task.delta):
            break
        stuck = stuck + joint.matrix[:, [refused]]
        n_stuck += 1
        start, size = start + n_fine + 1, max(size // 4, 1)
    return kept
