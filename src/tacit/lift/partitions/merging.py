"""Which released values to keep and which to merge: the watchdog's set, and the (epsilon, delta)-partitions."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from tacit.errors import ArgumentError
from tacit.lift.joint import Joint, Mask, Matrix, Vector, frozen
from tacit.lift.measures import Distribution, entropy, log_lift, sides
from tacit.lift.tolerances import LARGEST_EXPONENT, TOLERANCE


@dataclass(frozen=True, eq=False)
class Partition:
    """The released values to merge, and what the release then promises. The rest are kept unchanged.

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
    """What is asked of a partition, and what every method needs to know about each released value."""

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
        sides(epsilon)
        if not 0 <= delta <= 1:
            raise ArgumentError(f"delta is {delta}; it must be a probability")
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

    def of_sets(self, sets: Matrix) -> tuple[Vector, Vector]:
        """Risk and Delta of sets of released values, given p(s, set) as columns; both 0 for the empty set."""
        return sets_at_once(sets, self.joint.prior, self.epsilon)

    def feasible(self, merged: Matrix, kept_delta: Vector) -> Mask:
        """Which merged sets do what was asked; columns of ``merged`` are p(s, set)."""
        worst, breach = self.of_sets(merged)
        spent = kept_delta + breach
        return np.asarray((spent <= self.delta * (1 + TOLERANCE)) & (worst <= self.epsilon_max + TOLERANCE))

    def result(self, merged: Mask, method: str, lower_bound: float | None = None) -> Partition:
        """The partition of a merged set, with its numbers computed from that set and nothing else."""
        joint, kept = self.joint, ~merged
        worst, breach = self.of_sets(joint.matrix[:, merged].sum(axis=1, keepdims=True))
        loss = nmil(joint, merged)
        breaching = kept & ~self.safe
        if worst[0] > self.epsilon + TOLERANCE:
            breaching |= merged
        return Partition(
            merged=frozen(merged),
            epsilon=self.epsilon,
            delta=self.delta,
            epsilon_max=self.epsilon_max,
            attained=float(max(worst[0], self.risks[kept].max(initial=0.0))),
            delta_total=float(self.deltas[kept].sum() + breach[0]),
            breach_share=min(float(joint.marginal[breaching].sum()), 1.0),
            nmil=loss,
            utility=entropy(joint.marginal) * (1 - loss),
            method=method,
            lower_bound=None if lower_bound is None else min(lower_bound, loss),
        )


@dataclass(frozen=True, eq=False)
class EGammaTask(Task):
    """The same question with D in place of Delta: how far the bound fails in the E-gamma sense.

    D(y) = sum_s max(p(s,y) - e^epsilon p(s) p(y), 0) + max(p(s) p(y) - e^epsilon p(s,y), 0) adds up over outputs, and
    merging outputs never raises the sum, nor does any post-processing. It charges for secrets that are ruled out too,
    which Delta does not.
    """

    @classmethod
    def of(cls, joint: Distribution, epsilon: float, delta: float = 0.0, epsilon_max: float = np.inf) -> EGammaTask:
        """Check the question and compute risk, D and -p log p of every released value."""
        task = Task.of(joint, epsilon, delta, epsilon_max)
        return cls(**{**vars(task), "deltas": egamma_excess(task.joint, epsilon)})

    def of_sets(self, sets: Matrix) -> tuple[Vector, Vector]:
        """Risk and D of sets of released values."""
        return super().of_sets(sets)[0], _excess(sets, self.joint.prior, self.epsilon)


def sets_at_once(sets: Matrix, prior: Vector, epsilon: float) -> tuple[Vector, Vector]:
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
    return _at_once(joint, merged, 0.0)[0]


def delta_of(joint: Distribution, epsilon: float, merged: ArrayLike) -> float:
    """Delta of a set released as one: the probability of it together with a secret whose log-lift exceeds epsilon."""
    return _at_once(joint, merged, epsilon)[1]


def _at_once(joint: Distribution, merged: ArrayLike, epsilon: float) -> tuple[float, float]:
    joint = Joint.of(joint)
    risks, deltas = sets_at_once(joint.matrix[:, _mask(joint, merged)].sum(axis=1, keepdims=True), joint.prior, epsilon)
    return float(risks[0]), float(deltas[0])


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


def egamma_excess(joint: Distribution, epsilon: float) -> Vector:
    """D of every released value: by how much its cells exceed epsilon, on both sides, in probability."""
    joint = Joint.of(joint)
    return _excess(joint.matrix, joint.prior, epsilon)


def _excess(cells: Matrix, prior: Vector, epsilon: float) -> Vector:
    """D of values or sets given as columns p(s, set)."""
    factor = np.exp(min(epsilon, LARGEST_EXPONENT))
    independent = prior[:, None] * cells.sum(axis=0)
    over = np.maximum(cells - factor * independent, 0.0)
    under = np.maximum(independent - factor * cells, 0.0)
    # A cell on its bound is off by rounding only.
    over[over <= TOLERANCE * cells] = 0.0
    under[under <= TOLERANCE * independent] = 0.0
    return np.asarray((over + under).sum(axis=0))
