"""The sets that the watchdog merges as epsilon falls."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.lift.joint import Joint, Labels, Mask, Matrix, Vector
from tacit.lift.measures import Distribution, risk
from tacit.lift.partitions.merging import sets_at_once
from tacit.lift.tolerances import TOLERANCE


@dataclass(frozen=True, eq=False)
class Chain:
    """The sets the watchdog merges as epsilon falls: each holds the one before it.

    ``order`` are the released values, riskiest first: the j-th set is the first ``sizes[j]`` of them, from none to all,
    or to all but the values that have no risk. ``epsilons[j]`` is the smallest epsilon for which it is the one merged,
    ``set_risks[j]`` the risk of the merged set itself, which can exceed epsilon, and ``attained[j]`` the larger of the
    two: the largest abs(log-lift) of the release.
    """

    order: Labels
    sizes: Labels
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
    set_risks = sets_at_once(sums_of_first(joint.matrix[:, order], sizes), joint.prior, 0.0)[0]
    return Chain(order, sizes, epsilons, set_risks, np.maximum(epsilons, set_risks))


def sums_of_first(rows: Matrix, sizes: Labels) -> Matrix:
    """Sums of the first ``sizes[j]`` entries of each row, for sizes that start at 0."""
    return np.column_stack([np.zeros(len(rows)), np.cumsum(rows, axis=1)[:, sizes[1:] - 1]])


def _starts(risks: Vector) -> Labels:
    """Where a new risk begins in risks sorted from large to small."""
    with np.errstate(invalid="ignore"):
        falls = risks[:-1] - risks[1:]
    return np.flatnonzero(np.append(True, falls > TOLERANCE))
