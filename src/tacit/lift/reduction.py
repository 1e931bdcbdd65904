"""Linear reduction, the mechanism that is always possible; and alpha-lift, a bound on the average over secrets."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from functools import cached_property

import numpy as np

from tacit.errors import ArgumentError
from tacit.lift.joint import Channel, Joint, Matrix, Vector
from tacit.lift.measures import Distribution, entropy, log_lift, sides

_LARGEST_DENSE = 200_000_000
_LARGEST_EXPONENT = 700.0


class ReductionChannel(Channel):
    """Keeps every value with one probability and otherwise draws one from the marginal.

    Attributes
    ----------
    keep : float
        Probability with which a value is kept, whatever it is.
    marginal : array
        What is drawn from otherwise; it is also the marginal of the release.
    attained, utility, nmil : float
        Largest abs(log-lift) on the output joint, I(X;Y) in nats, and the share of information lost.
    """

    keep: float
    marginal: Vector
    attained: float
    utility: float
    nmil: float

    def __init__(self, joint: Joint, keep: float) -> None:
        for name, value in (("keep", keep), ("marginal", joint.marginal), ("outputs", joint.released)):
            object.__setattr__(self, name, value)
        whole = entropy(joint.marginal)
        loss = min(max(_noise(joint.marginal, keep), 0.0), whole)
        values = log_lift(joint.through(self))
        object.__setattr__(self, "attained", float(np.abs(values).max()))
        object.__setattr__(self, "utility", whole - loss)
        object.__setattr__(self, "nmil", loss / whole if whole > 0 else 0.0)

    def __setattr__(self, name: str, value: object) -> None:
        raise FrozenInstanceError(f"cannot assign to {name!r}: a channel does not change")

    def __repr__(self) -> str:
        return f"ReductionChannel(keep={self.keep:g}, attained={self.attained:g}, nmil={self.nmil:g})"

    @cached_property
    def matrix(self) -> Matrix:
        """The channel as a dense table, built when first asked for; `push` does without it."""
        n = len(self.marginal)
        if n * n > _LARGEST_DENSE:
            raise ArgumentError(f"the channel as a table would be {n} x {n}, too large to build; use keep and marginal")
        dense = np.tile((1 - self.keep) * self.marginal, (n, 1))
        dense[np.diag_indices(n)] += self.keep
        dense.setflags(write=False)
        return dense

    def push(self, matrix: Matrix) -> Matrix:
        """The joint matrix of secret and output, in time proportional to its size."""
        if matrix.shape[1] != len(self.marginal):
            raise ArgumentError(
                f"the channel takes {len(self.marginal)} released values, the joint has {matrix.shape[1]}"
            )
        pushed = np.outer((1 - self.keep) * matrix.sum(axis=1), self.marginal)
        return np.asarray(pushed + self.keep * matrix)


def _noise(p: Vector, keep: float) -> float:
    """H(Y|X), which is H(X|Y), since X and Y have one marginal: the entropy of each row of the channel, on average."""
    drawn = (1 - keep) * p
    stays = keep + drawn
    terms = np.log(drawn, out=np.zeros_like(drawn), where=drawn > 0) * drawn
    # Each row is all the draws, with that of the value itself replaced by the chance that it stays.
    return float(-(p @ (terms.sum() - terms + stays * np.log(stays))))


def linear_reduction(
    joint: Distribution,
    epsilon: float,
    *,
    epsilon_low: float | None = None,
    epsilon_high: float | None = None,
) -> ReductionChannel:
    """Keep each value with a probability as large as epsilon allows, and otherwise draw one from the marginal.

    Guarantees
    ----------
    The release is within the bounds, whatever the joint, and has the marginal of the data. A log-lift of a lift l
    becomes that of 1 + keep (l - 1). No smaller noise of this kind is within the bounds; other mechanisms lose less.
    """
    joint = Joint.of(joint)
    low, high = sides(epsilon, epsilon_low=epsilon_low, epsilon_high=epsilon_high)
    most, least = float(joint.lift.max()), float(joint.lift.min())
    keep = 1.0
    # expm1, since for a small epsilon 1 - e^-epsilon would lose its digits.
    if most > 1:
        keep = min(keep, float(np.expm1(min(high, _LARGEST_EXPONENT))) / (most - 1))
    if least < 1:
        keep = min(keep, float(-np.expm1(-low)) / (1 - least))
    return ReductionChannel(joint, keep)


def alpha_lift(joint: Distribution, order: float) -> Vector:
    """Alpha-lift of every released value: (E_s lift(s, x)^order)^(1/order) under the prior; 1 if it says nothing.

    It grows with the order from 1 to the largest lift, at order inf. Sibson's mutual information of the order is
    order / (order - 1) times the logarithm of its mean over released values.
    """
    joint = Joint.of(joint)
    if not order >= 1:
        raise ArgumentError(f"order is {order}; it must be 1 or more")
    largest = joint.lift.max(axis=0)
    if np.isinf(order):
        return np.asarray(largest)
    # Divided by the largest first, so that no power overflows.
    means = joint.prior @ (joint.lift / largest) ** order
    return np.asarray(largest * means ** (1 / order))
