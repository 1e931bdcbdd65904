"""Which released values to keep and which to merge: the watchdog's set, and the (epsilon, delta)-partitions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tacit.errors import ArgumentError
from tacit.lift.joint import Joint, Mask, Matrix, Vector
from tacit.lift.measures import TOLERANCE, Distribution, entropy, log_lift, risk

Method = Literal["auto", "watchdog", "greedy", "exact", "certified"]
Order = NDArray[np.intp]

# A prefix is tested this many values at a time, so that its tests stay small beside the joint itself.
_LARGEST_BLOCK = 1 << 16


@dataclass(frozen=True, eq=False)
class Partition:
    """The released values to merge, and what the release then promises. The rest are kept as they are.

    Attributes
    ----------
    merged : array of bool
        True for the released values that lose their identity.
    epsilon, delta, epsilon_max : float
        What was asked. With ``delta`` 0 there is nothing to exceed, so ``epsilon_max`` is ``epsilon``.
    attained : float
        Largest abs(log-lift) after merging, computed on the merged joint.
    delta_total : float
        Probability, under the joint, of a pair whose abs(log-lift) exceeds epsilon. A pair that never occurs has
        no probability, so it is not charged here: see ``breach_share``.
    breach_share : float
        Share of records released with a value whose risk exceeds epsilon.
    nmil : float
        Share of the information in the released values that is lost; 0 nothing, 1 all.
    utility : float
        I(X;Y) in nats.
    method : str
        How the set was found.
    lower_bound : float or None
        No partition that attains what was asked has a smaller nmil than this; None where that is not known.
    """

    merged: Mask = field(repr=False)
    epsilon: float
    delta: float
    epsilon_max: float
    attained: float
    delta_total: float
    breach_share: float
    nmil: float
    utility: float
    method: str
    lower_bound: float | None = None

    @property
    def attains(self) -> bool:
        """Whether the partition does what was asked, to within `TOLERANCE`."""
        return within_delta(self.delta_total, self.delta) and self.attained <= self.epsilon_max + TOLERANCE

    @property
    def gap(self) -> float | None:
        """How much smaller the nmil might have been; None where that is not known."""
        return None if self.lower_bound is None else self.nmil - self.lower_bound


def within_delta(value: float, delta: float) -> bool:
    """Whether a probability is at most delta, up to rounding; at delta 0 it must be 0."""
    return value <= delta * (1 + TOLERANCE)


@dataclass(frozen=True, eq=False)
class Task:
    """A question to a partition, with what every method needs to know of each released value."""

    joint: Joint
    epsilon: float
    delta: float
    epsilon_max: float
    risks: Vector
    deltas: Vector
    losses: Vector

    @classmethod
    def of(cls, joint: Distribution, epsilon: float, delta: float = 0.0, epsilon_max: float = np.inf) -> Task:
        """Check the question and compute risk, Delta and -p log p of every released value."""
        joint = Joint.of(joint)
        if not epsilon >= 0:
            raise ArgumentError(f"epsilon is {epsilon}; it bounds an absolute value, so it must be 0 or more")
        if not 0 <= delta <= 1:
            raise ArgumentError(f"delta is {delta}; it is a probability")
        if not epsilon_max >= epsilon:
            raise ArgumentError(f"epsilon_max is {epsilon_max}, less than epsilon, which is {epsilon}")
        values = np.abs(log_lift(joint))
        deltas = np.where(values > epsilon + TOLERANCE, joint.matrix, 0.0).sum(axis=0)
        losses = -joint.marginal * np.log(joint.marginal)
        # With no probability to spend, epsilon itself may never be exceeded, not even by a pair that never occurs.
        bound = epsilon if delta == 0 else epsilon_max
        return cls(joint, epsilon, delta, bound, values.max(axis=0), deltas, losses)

    @property
    def safe(self) -> Mask:
        """The values that may be kept at no cost in delta."""
        return np.asarray(self.risks <= self.epsilon + TOLERANCE)

    @property
    def exempt(self) -> Mask:
        """The values that may be kept at some cost in delta; all others must be merged."""
        fits = self.deltas <= self.delta * (1 + TOLERANCE)
        return np.asarray(~self.safe & fits & (self.risks <= self.epsilon_max + TOLERANCE))

    def feasible(self, merged: Matrix, kept_delta: Vector) -> Mask:
        """Which merged sets do what was asked; columns of ``merged`` are p(s, set)."""
        worst, breach = _set_risk_and_delta(merged, self.joint.prior, self.epsilon)
        spent = kept_delta + breach
        return np.asarray((spent <= self.delta * (1 + TOLERANCE)) & (worst <= self.epsilon_max + TOLERANCE))

    def result(self, merged: Mask, method: str, lower_bound: float | None = None) -> Partition:
        """The partition of a merged set, with its numbers computed from that set and nothing else."""
        joint = self.joint
        at_once = joint.matrix[:, merged].sum(axis=1, keepdims=True)
        worst, breach = _set_risk_and_delta(at_once, joint.prior, self.epsilon)
        kept = ~merged
        loss = nmil(joint, merged)
        whole = entropy(joint.marginal)
        frozen = merged.copy()
        frozen.setflags(write=False)
        return Partition(
            merged=frozen,
            epsilon=self.epsilon,
            delta=self.delta,
            epsilon_max=self.epsilon_max,
            attained=float(max(worst[0], self.risks[kept].max(initial=0.0))),
            delta_total=float(self.deltas[kept].sum() + breach[0]),
            breach_share=self._breach_share(kept, merged_breaches=bool(worst[0] > self.epsilon + TOLERANCE)),
            nmil=loss,
            utility=whole * (1 - loss),
            method=method,
            lower_bound=None if lower_bound is None else min(lower_bound, loss),
        )

    def _breach_share(self, kept: Mask, *, merged_breaches: bool) -> float:
        breaching = kept & ~self.safe
        if merged_breaches:
            breaching |= ~kept
        return min(float(self.joint.marginal[breaching].sum()), 1.0)


def _set_risk_and_delta(sets: Matrix, prior: Vector, epsilon: float) -> tuple[Vector, Vector]:
    """Risk and Delta of sets of released values, given p(s, set) as columns; both 0 for the empty set."""
    mass = sets.sum(axis=0)
    lifts = sets / np.where(mass > 0, mass, 1.0)
    lifts /= prior[:, None]
    lifts[:, mass == 0] = 1.0
    with np.errstate(divide="ignore"):
        values = np.abs(np.log(lifts, out=lifts))
    return values.max(axis=0), np.where(values > epsilon + TOLERANCE, sets, 0.0).sum(axis=0)


def set_risk(joint: Distribution, merged: ArrayLike) -> float:
    """Risk of releasing a set of values as one: the largest abs(log-lift) of the set; 0 for the empty set."""
    joint = Joint.of(joint)
    at_once = joint.matrix[:, _mask(joint, merged)].sum(axis=1, keepdims=True)
    return float(_set_risk_and_delta(at_once, joint.prior, 0.0)[0][0])


def delta_of(joint: Distribution, epsilon: float, merged: ArrayLike) -> float:
    """Delta of a set released as one: the probability of it together with a secret whose log-lift exceeds epsilon."""
    joint = Joint.of(joint)
    at_once = joint.matrix[:, _mask(joint, merged)].sum(axis=1, keepdims=True)
    return float(_set_risk_and_delta(at_once, joint.prior, epsilon)[1][0])


def delta_total(joint: Distribution, epsilon: float, merged: ArrayLike) -> float:
    """Probability of a pair whose abs(log-lift) exceeds epsilon, when one set is merged and all else is kept.

    It is the sum of Delta over the kept values plus the Delta of the merged set.
    """
    task = Task.of(joint, epsilon)
    mask = _mask(task.joint, merged)
    return float(task.deltas[~mask].sum()) + delta_of(task.joint, epsilon, mask)


def nmil(joint: Distribution, merged: ArrayLike) -> float:
    """Normalised mutual-information loss of merging a set: H(X|Y) / H(X), between 0 and 1."""
    joint = Joint.of(joint)
    p = joint.marginal[_mask(joint, merged)]
    if len(p) <= 1:
        return 0.0
    return min(max(float((p * np.log(p.sum() / p)).sum()) / entropy(joint.marginal), 0.0), 1.0)


def _mask(joint: Joint, merged: ArrayLike) -> Mask:
    mask = np.asarray(merged)
    if mask.dtype != np.bool_ or mask.shape != (joint.shape[1],):
        raise ArgumentError(
            f"merged must be {joint.shape[1]} booleans, one for each released value; "
            f"it is {mask.dtype} of shape {mask.shape}"
        )
    return mask


@dataclass(frozen=True, eq=False)
class Chain:
    """The sets the watchdog merges as epsilon falls: each holds the one before it.

    Attributes
    ----------
    order : array of int
        Released values, riskiest first; the j-th set is the first ``sizes[j]`` of them.
    sizes : array of int
        Sizes of the sets, from none to all, or to all but the values that have no risk.
    epsilons : array
        Smallest epsilon for which the j-th set is the one merged.
    set_risks : array
        Risk of the merged set itself; it can exceed epsilon.
    attained : array
        Largest abs(log-lift) of the release: the larger of the two.
    """

    order: Order
    sizes: Order
    epsilons: Vector
    set_risks: Vector
    attained: Vector

    def merged(self, j: int) -> Mask:
        """The j-th set as a mask over released values."""
        mask = np.zeros(len(self.order), dtype=np.bool_)
        mask[self.order[: self.sizes[j]]] = True
        return mask


def critical_epsilons(joint: Distribution) -> Vector:
    """The distinct risks, largest first: between two of them the watchdog's merged set does not change.

    Risks within `TOLERANCE` of their neighbour count as one. The first may be inf.
    """
    risks = np.sort(risk(joint))[::-1]
    return risks[_starts(risks)]


def chain(joint: Distribution) -> Chain:
    """Every set the watchdog can merge, with what the release attains, in one pass over the sorted risks."""
    joint = Joint.of(joint)
    risks = risk(joint)
    order = np.argsort(-risks, kind="stable")
    risks = risks[order]
    starts = _starts(risks)
    epsilons = risks[starts]
    # Merging everything is what epsilon 0 asks for, unless some values have no risk, up to rounding.
    sizes = np.append(starts, len(risks)) if risks[-1] > TOLERANCE else starts
    epsilons = np.append(epsilons, 0.0)[: len(sizes)]
    sums = np.cumsum(joint.matrix[:, order], axis=1)
    sets = np.column_stack([np.zeros(len(sums)), sums[:, sizes[1:] - 1]])
    set_risks = _set_risk_and_delta(sets, joint.prior, 0.0)[0]
    return Chain(order, sizes, epsilons, set_risks, np.maximum(epsilons, set_risks))


def _starts(risks: Vector) -> Order:
    """Where a new risk begins in risks sorted from large to small."""
    with np.errstate(invalid="ignore"):
        falls = risks[:-1] - risks[1:]
    return np.flatnonzero(np.append(True, falls > TOLERANCE))


def greedy(task: Task) -> Partition:
    """Algorithm 1 of Sadeghi, Ding and Rakotoarivelo (2020), with its errata, in O(n |S| + n log n).

    Starts from the watchdog's set and takes values out of it, smallest Delta first, while the rest stays within
    delta and epsilon_max.
    """
    candidates = np.flatnonzero(task.exempt)
    candidates = candidates[np.argsort(task.deltas[candidates], kind="stable")]
    return task.result(~keep_in_order(task, task.safe, candidates, increasing=True), "greedy")


def keep_in_order(task: Task, kept: Mask, candidates: Order, *, increasing: bool = False) -> Mask:
    """Keep the candidates one after another, each if the partition is then feasible; the last stays merged.

    ``increasing`` says that the candidates come in order of Delta, so that after the first which delta cannot
    afford none can be afforded. Equals the loop that tests one candidate at a time: a block is tested as if
    all of it were kept, and it is kept up to the first candidate for which that was wrong.
    """
    joint, kept = task.joint, kept.copy()
    others = ~kept
    others[candidates] = False
    # Sums of what stays merged are taken from the end: sums of positive terms, never differences, keep their digits.
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
        ``exact`` finds the best partition, for up to a thousand; ``auto`` takes what fits the size, and merges
        safe values too where risky ones alone do not hide one another.
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
    # The solvers load scipy.optimize, which the plain mechanisms do without.
    from tacit.lift import optimum

    if method == "certified":
        return optimum.certified(task)
    if method == "exact":
        return optimum.exact(task, time_limit=time_limit)
    if method == "auto":
        return optimum.best(task, time_limit=time_limit)
    raise ArgumentError(f"there is no method '{method}'; there are: auto, watchdog, greedy, exact, certified")
