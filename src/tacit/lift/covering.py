"""Cover a set of released values that must be merged: add others to it until together they say little enough."""

from __future__ import annotations

import numpy as np

from tacit.lift.joint import Joint, Mask, Matrix, Vector
from tacit.lift.measures import TOLERANCE, Distribution

# Values added one by one; a set that needs more than this is merged whole, which always suffices.
MOST_STEPS = 2_000


def cover(joint: Distribution, merged: Mask, epsilon: float) -> Mask:
    """The merged set, with the fewest values besides that a greedy choice finds, so that its risk is within epsilon.

    At every step the value that brings the risk of the set down most is added.

    Guarantees
    ----------
    The result holds ``merged``, and its risk as one value is at most epsilon (at worst it holds everything, risk 0).
    """
    joint = Joint.of(joint)
    chosen = np.array(merged, dtype=bool)
    if not chosen.any():
        return chosen
    for _ in range(MOST_STEPS):
        together = joint.matrix[:, chosen].sum(axis=1, keepdims=True)
        if chosen.all() or _risks(together, joint.prior)[0] <= epsilon + TOLERANCE:
            return chosen
        others = np.flatnonzero(~chosen)
        chosen[others[int(np.argmin(_risks(together + joint.matrix[:, others], joint.prior)))]] = True
    return np.ones_like(chosen)


def _risks(sets: Matrix, prior: Vector) -> Vector:
    """Largest abs(log-lift) of each column of p(s, set)."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.abs(np.log(sets / sets.sum(axis=0)) - np.log(prior)[:, None]).max(axis=0))
