"""What is asked of a release: how much it may give away about a secret, on either side, and how often it may fail."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tacit.errors import ArgumentError, Setting, sentence
from tacit.lift import (
    TOLERANCE,
    Joint,
    Mask,
    Matrix,
    Vector,
    conditional_log_lift,
    egamma_excess,
    guessing_bound,
    log_lift,
    promises,
    settled,
)
from tacit.requests import Bound
from tacit.requests.settings import Further

DeltaKind = Literal["mass", "egamma"]
Places = NDArray[np.int64]

# e^100 is more than all the records of the world; a bound beyond it bounds nothing.
LARGEST_EPSILON = 100.0


def checked_epsilon(epsilon: float, *, name: str = "epsilon") -> float:
    """``epsilon`` itself, if it can bound a log-lift; otherwise it is refused."""
    if math.isnan(epsilon) or epsilon < 0:
        raise ArgumentError(f"{name} must be a number of nats, 0 or more; got {epsilon}")
    if epsilon > LARGEST_EPSILON:
        raise ArgumentError(
            f"{name} is {epsilon:g} nats, a factor that allows everything; choose at most {LARGEST_EPSILON:g}"
        )
    return float(epsilon)


@dataclass(frozen=True)
class LiftBounds:
    """Every log-lift of a release lies between ``-low`` and ``high`` nats, except for what delta allows.

    Attributes
    ----------
    low, high : float
        ``low`` is inf where the bound is only on how much likelier a secret becomes; it may then be ruled out.
    delta : float
        With ``delta_kind`` "mass", the probability of pairs of secret and output that may exceed the bounds, up to
        ``epsilon_max``; with "egamma", the total by which probabilities may exceed e^epsilon times independence.
    thresholds : float, optional
        The secret is a number, and the log-lifts are those of every event "at most t" and "more than t" that covers at
        least this share of all, instead of those of its values.
    """

    low: float
    high: float
    delta: float = 0.0
    delta_kind: DeltaKind = "mass"
    epsilon_max: float = math.inf
    thresholds: float | None = None

    def __post_init__(self) -> None:
        sides = 0 <= self.high < math.inf and self.low >= 0
        if not (sides and self.epsilon <= self.epsilon_max and 0 <= self.delta < 1):
            raise ValueError("the bounds are out of range")
        if self.thresholds is not None and not (0 < self.thresholds <= 0.5 and self.delta == 0):
            raise ValueError("thresholds are bounded for a share of all up to a half, and without a delta")

    @classmethod
    def within(cls, epsilon: float) -> LiftBounds:
        """The same bound on both sides."""
        return cls(epsilon, epsilon)

    @property
    def epsilon(self) -> float:
        """The larger of the finite bounds."""
        return max(side for side in (self.low, self.high) if math.isfinite(side))

    @property
    def symmetric(self) -> bool:
        """Whether both sides have the same bound."""
        return self.low == self.high

    @property
    def ceiling(self) -> tuple[float, float]:
        """What holds for every pair, whatever delta: how far below and above 0 a log-lift may lie."""
        if self.delta == 0:
            return self.low, self.high
        return (self.epsilon_max, self.epsilon_max) if self.delta_kind == "mass" else (math.inf, math.inf)

    def beyond(self, values: Matrix) -> Mask:
        """Which log-lifts are out of bounds."""
        return np.asarray((values > self.high + TOLERANCE) | (values < -self.low - TOLERANCE))

    def beyond_ceiling(self, values: Matrix) -> Mask:
        """Which log-lifts no delta allows."""
        low, high = self.ceiling
        return np.asarray((values > high + TOLERANCE) | (values < -low - TOLERANCE))

    def risks(self, values: Matrix) -> Vector:
        """Largest log-lift of each column on the sides that are bounded."""
        sides = [side for side, bound in ((-values, self.low), (values, self.high)) if math.isfinite(bound)]
        return np.asarray(np.maximum.reduce(sides).max(axis=0))

    def promised(self, joint: Joint) -> dict[str, float]:
        """What the bounds promise for each measure that they imply anything about."""
        if self.thresholds is not None:
            # Measures are about the values of the secret, and thresholds bound none of these.
            return {}
        low, high = self.ceiling
        # The measures of an order are shown at order 2.
        of_measure = {p.measure: p.bound for p in promises(high, epsilon_low=low) if p.order in (None, 2.0)}
        return {**of_measure, "guessing_probability": guessing_bound(joint.prior, high, epsilon_low=low)}


@dataclass(frozen=True)
class Attained:
    """What a release attains for one secret, computed on the joint of secret and output.

    ``epsilon`` is the largest log-lift on the sides that are bounded, ``low`` and ``high`` that of each side;
    ``delta`` is of the kind asked, ``breach_share`` the share of records out of bounds for some secret.
    """

    epsilon: float
    low: float
    high: float
    delta: float
    breach_share: float

    @classmethod
    def of(cls, output: Joint, bounds: LiftBounds, parts: Places | None = None) -> Attained:
        """Measure an output; with ``parts``, for somebody who knows which part of the outputs a record is in."""
        values = log_lift(output) if parts is None else conditional_log_lift(output, parts)
        beyond = bounds.beyond(values)
        delta = float(output.matrix[beyond].sum())
        if bounds.delta_kind == "egamma":
            delta = sum(weight * _excess(inside, bounds.epsilon) for weight, inside in inside_parts(output, parts))
        return cls(
            epsilon=settled(float(bounds.risks(values).max()), bounds.epsilon),
            low=settled(-float(values.min()), bounds.low),
            high=settled(float(values.max()), bounds.high),
            delta=delta,
            breach_share=float(output.marginal[beyond.any(axis=0)].sum()),
        )

    @classmethod
    def at_thresholds(cls, low: Vector, high: Vector, shares: Vector, bounds: LiftBounds) -> Attained:
        """From the largest -log-lift and log-lift of each output at any threshold, and the outputs' ``shares``."""
        sides = [side for side, bound in ((low, bounds.low), (high, bounds.high)) if math.isfinite(bound)]
        beyond = (low > bounds.low + TOLERANCE) | (high > bounds.high + TOLERANCE)
        return cls(
            epsilon=settled(float(np.max(sides)), bounds.epsilon),
            low=settled(float(low.max()), bounds.low),
            high=settled(float(high.max()), bounds.high),
            delta=0.0,
            breach_share=float(shares[beyond].sum()),
        )

    def holds(self, bounds: LiftBounds, *, slack: float = 0.0) -> bool:
        """Whether this is what was asked; ``slack`` is for those who measure again, with sums in another order."""
        low, high = bounds.ceiling
        within = self.low <= low + slack and self.high <= high + slack
        return within and (bounds.delta == 0 or self.delta <= bounds.delta * (1 + TOLERANCE) + slack)


def inside_parts(output: Joint, parts: Places | None) -> Iterator[tuple[float, Matrix]]:
    """The weight of every part of the outputs, and the joint inside it of those secrets that occur there."""
    for part in [slice(None)] if parts is None else [parts == each for each in np.unique(parts)]:
        inside = output.matrix[:, part]
        weight = float(inside.sum())
        yield weight, inside[inside.sum(axis=1) > 0] / weight


def _excess(inside: Matrix, epsilon: float) -> float:
    # Where only one secret occurs, there is nothing to learn.
    return float(egamma_excess(Joint(inside), epsilon).sum()) if len(inside) > 1 else 0.0


def asked_bounds(bound: Bound) -> LiftBounds:
    """The bounds that were asked for.

    A side without a bound of its own takes epsilon; without an epsilon, ``epsilon_high`` alone bounds one side only.
    """
    settings = {f.name: Setting(f.name) for f in fields(bound)}
    if bound.epsilon is None and bound.epsilon_high is None:
        words = "say how much may be learned: epsilon, in nats ({epsilon}), or give {rules}"
        raise ArgumentError(sentence(words, epsilon=Setting("epsilon", 0.5), rules=Setting("rules")))
    if None not in (bound.epsilon, bound.epsilon_low, bound.epsilon_high):
        raise ArgumentError(
            sentence(
                "epsilon bounds a side that has no bound of its own: leave out {epsilon}, {epsilon_low} or "
                "{epsilon_high}",
                **settings,
            )
        )
    unbounded = math.inf if bound.epsilon is None else bound.epsilon
    low = unbounded if bound.epsilon_low is None else bound.epsilon_low
    high = unbounded if bound.epsilon_high is None else bound.epsilon_high
    delta, kind = bound.delta or 0.0, bound.delta_kind or "mass"
    most = math.inf if bound.epsilon_max is None else bound.epsilon_max
    if math.isfinite(most):
        checked_epsilon(most, name="epsilon_max")
    largest = LiftBounds(low, high).epsilon
    if most < largest:
        raise ArgumentError(f"epsilon_max ({most:g}) is the looser bound; it cannot be below epsilon ({largest:g})")
    if delta == 1:
        raise ArgumentError(f"delta is a probability, 0 or more and below 1; got {delta}")
    reason = None
    if delta == 0 and (kind != "mass" or math.isfinite(most)):
        reason = "{delta_kind} and {epsilon_max} are about a delta: give {delta}, or leave them out"
    elif delta > 0 and low != high:
        reason = "delta takes one epsilon for both sides: leave out {delta}, or {epsilon_low} and {epsilon_high}"
    elif delta > 0 and kind == "egamma" and math.isfinite(most):
        reason = "a delta of the kind egamma bounds the excess itself: leave out {epsilon_max}"
    elif delta > 0 and bound.thresholds is not None:
        reason = "{thresholds} bounds a number without a delta: leave out one of the two"
    if reason is not None:
        raise ArgumentError(sentence(reason, **settings))
    if bound.thresholds == 0:
        raise ArgumentError(
            "thresholds is a share of the records above 0: an event that covers nobody cannot be bounded"
        )
    return LiftBounds(low, high, delta, kind, most, bound.thresholds)


@dataclass(frozen=True)
class FurtherSecret:
    """Another secret that the same release must keep, within its own epsilon."""

    secret: tuple[str, ...]
    epsilon: float

    @property
    def bounds(self) -> LiftBounds:
        """Its bounds."""
        return LiftBounds.within(self.epsilon)


def further_secrets(also: Mapping[str | Sequence[str], float] | None) -> tuple[FurtherSecret, ...]:
    """``{"sex": 0.3, ("race", "sex"): 0.8}`` as further secrets; a tuple of columns is their combination."""
    secrets = []
    for columns, epsilon in Further().checked("also", also or {}).items():
        secrets.append(FurtherSecret(columns, checked_epsilon(epsilon, name=f"epsilon of {', '.join(columns)}")))
    return tuple(secrets)
