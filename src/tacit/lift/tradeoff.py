"""The whole trade-off of the watchdog: what every epsilon costs in information and what it lets through."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.lift.joint import Joint, Matrix, Vector
from tacit.lift.measures import Distribution, entropy, p_log_p, sides
from tacit.lift.partitions.chains import chain, sums_of_first
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


def funnel(joint: Distribution) -> Funnel:
    """The trade-off curve over all epsilons, in one pass: O(n |S| + n log n).

    Guarantees
    ----------
    Every point equals what `watchdog` gives for its epsilon.
    """
    joint = Joint.of(joint)
    sets = chain(joint)
    marginal = joint.marginal[sets.order]
    pointwise = _information(joint.matrix, joint.lift)[sets.order]
    cells = sums_of_first(joint.matrix[:, sets.order], sets.sizes)
    masses = cells.sum(axis=0)
    lifts = cells / np.where(masses > 0, masses, 1.0) / joint.prior[:, None]
    losses = sums_of_first((-marginal * np.log(marginal))[None, :], sets.sizes)[0]
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
        leakage=kept + _information(cells, lifts),
        kept_share=np.minimum(kept_share, 1.0),
    )


def _information(cells: Matrix, lifts: Matrix) -> Vector:
    """What values or sets, given as columns p(s, set), add to I(S;Y): sum over s of p log-lift, never negative."""
    logs = np.log(lifts, out=np.zeros_like(lifts), where=lifts > 0)
    return np.asarray(np.maximum((cells * logs).sum(axis=0), 0.0))
