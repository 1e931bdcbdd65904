"""The whole trade-off of the watchdog: what every epsilon costs in information and what it lets through."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from tacit.errors import ArgumentError
from tacit.lift.joint import Joint, Labels, Matrix, Vector
from tacit.lift.measures import Distribution, entropy, log_lift, p_log_p, sides
from tacit.lift.partitions.chains import chain
from tacit.lift.tolerances import TOLERANCE


@dataclass(frozen=True, eq=False)
class Funnel:
    """One point for every set the watchdog can merge, from nothing upwards; all arrays have that length.

    ``epsilons`` are the smallest epsilons for which the watchdog merges each set, falling to 0; ``attained`` the
    largest abs(log-lift) of the release, which can exceed epsilon; ``nmil`` the share of the information in the
    released values that is lost, ``utility`` I(X;Y) and ``leakage`` I(S;Y) in nats, ``kept_share`` the share of the
    records whose released value is kept.
    """

    epsilons: Vector
    attained: Vector
    nmil: Vector
    utility: Vector
    leakage: Vector
    kept_share: Vector

    def at(self, epsilon: float) -> int:
        """Index of the point that the watchdog gives for an epsilon."""
        sides(epsilon)
        return int(np.argmax(self.epsilons <= epsilon + TOLERANCE))

    def lagrangian(self, weights: ArrayLike) -> Vector:
        """Upper bound on the privacy funnel, min I(S;Y) - weight I(X;Y) over all channels, for each weight.

        The best of the points of this curve; an optimal channel may do better.
        """
        weights = np.atleast_1d(np.asarray(weights, dtype=np.float64))
        if not (weights >= 0).all():
            raise ArgumentError("the weights of utility must be 0 or more")
        return np.array([(self.leakage - weight * self.utility).min() for weight in weights])


def funnel(joint: Distribution) -> Funnel:
    """The trade-off curve over all epsilons, in one pass: O(n |S| + n log n).

    Guarantees
    ----------
    Every point equals what `watchdog` gives for its epsilon.
    """
    joint = Joint.of(joint)
    sets = chain(joint)
    marginal = joint.marginal[sets.order]
    pointwise = _pointwise_information(joint)[sets.order]
    cells = _first(np.cumsum(joint.matrix[:, sets.order], axis=1), sets.sizes)
    masses = cells.sum(axis=0)
    losses = _first(np.cumsum(-marginal * np.log(marginal))[None, :], sets.sizes)[0]
    losses = np.where(sets.sizes > 1, np.maximum(losses + p_log_p(masses), 0.0), 0.0)
    whole = entropy(joint.marginal)
    # What is kept is summed from its own end, so that it does not come out as a difference of large numbers.
    kept = np.append(np.cumsum(pointwise[::-1])[::-1], 0.0)[sets.sizes]
    kept_share = np.append(np.cumsum(marginal[::-1])[::-1], 0.0)[sets.sizes]
    losses = np.minimum(losses, whole)
    return Funnel(
        epsilons=sets.epsilons,
        attained=sets.attained,
        nmil=losses / whole if whole > 0 else losses,
        utility=whole - losses,
        leakage=kept + _information_of_sets(cells, joint.prior),
        kept_share=np.minimum(kept_share, 1.0),
    )


def _pointwise_information(joint: Joint) -> Vector:
    """What each released value adds to I(S;X): sum over s of p(s,x) log-lift, never negative."""
    values = log_lift(joint)
    terms = np.multiply(joint.matrix, values, out=np.zeros_like(values), where=joint.matrix > 0)
    return np.asarray(np.maximum(terms.sum(axis=0), 0.0))


def _information_of_sets(cells: Matrix, prior: Vector) -> Vector:
    masses = cells.sum(axis=0)
    lifts = cells / np.where(masses > 0, masses, 1.0) / prior[:, None]
    logs = np.log(lifts, out=np.zeros_like(lifts), where=lifts > 0)
    return np.asarray(np.maximum((cells * logs).sum(axis=0), 0.0))


def _first(sums: Matrix, sizes: Labels) -> Matrix:
    """Cumulative sums at the sizes, which start at 0."""
    return np.column_stack([np.zeros(len(sums)), sums[:, sizes[1:] - 1]])
