"""What is asked of a release: how much it may give away of a secret, on either side, and how often it may fail."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from tacit.errors import ArgumentError
from tacit.lift.bounds import guessing_bound, promises
from tacit.lift.egamma import egamma_excess
from tacit.lift.joint import Joint, Mask, Matrix, Vector
from tacit.lift.measures import log_lift
from tacit.workflows.tabulating import checked_epsilon

DeltaKind = Literal["mass", "egamma"]
DELTA_KINDS: tuple[DeltaKind, ...] = get_args(DeltaKind)

# Rounding of sums of a million terms; a claim of "at most epsilon" is checked to this many nats.
TOLERANCE = 1e-9
# What linear programs and sums leave of nothing.
ROUNDING = 1e-10


@dataclass(frozen=True)
class Bounds:
    """Every log-lift of a release lies between ``-low`` and ``high`` nats, but for delta.

    Attributes
    ----------
    low, high : float
        ``low`` is inf where only how much likelier a secret becomes is bounded; then it may be ruled out.
    delta : float
        With ``delta_kind`` "mass", the probability of pairs of secret and output that may exceed the bounds, up to
        ``epsilon_max``; with "egamma", the total by which probabilities may exceed e^epsilon times independence.
    """

    low: float
    high: float
    delta: float = 0.0
    delta_kind: DeltaKind = "mass"
    epsilon_max: float = math.inf

    @classmethod
    def within(cls, epsilon: float) -> Bounds:
        """The same bound on both sides."""
        return cls(epsilon, epsilon)

    @property
    def epsilon(self) -> float:
        """The larger of the bounds that are bounds."""
        return max(side for side in (self.low, self.high) if math.isfinite(side))

    @property
    def symmetric(self) -> bool:
        """Whether both sides have one bound."""
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

    def risks(self, values: Matrix) -> Vector:
        """Largest log-lift of each column on the sides that are bounded."""
        sides = [side for side, bound in ((-values, self.low), (values, self.high)) if math.isfinite(bound)]
        return np.asarray(np.maximum.reduce(sides).max(axis=0))

    def promised(self, joint: Joint) -> dict[str, float]:
        """What the bounds promise of each measure that they promise anything of."""
        low, high = self.ceiling
        # The measures of an order are shown at order 2.
        of_measure = {p.measure: p.bound for p in promises(high, epsilon_low=low) if p.order in (None, 2.0)}
        return {**of_measure, "guessing_probability": guessing_bound(joint.prior, high, epsilon_low=low)}

    def to_dict(self) -> dict[str, Any]:
        """The bounds in JSON types; infinity is text."""
        sides = {"epsilon_low": self.low, "epsilon_high": self.high, "epsilon_max": self.epsilon_max}
        return {
            **{name: "inf" if math.isinf(value) else value for name, value in sides.items()},
            "delta": self.delta,
            "delta_kind": self.delta_kind,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Bounds:
        """Bounds that :meth:`to_dict` wrote."""
        made = cls(
            low=float(data["epsilon_low"]),
            high=float(data["epsilon_high"]),
            delta=float(data["delta"]),
            delta_kind=data["delta_kind"],
            epsilon_max=float(data["epsilon_max"]),
        )
        if made.delta_kind not in DELTA_KINDS or not (0 <= made.high < math.inf and made.low >= 0):
            raise ValueError("the bounds are out of range")
        if not (made.epsilon <= made.epsilon_max and 0 <= made.delta < 1):
            raise ValueError("the bounds are out of range")
        return made


@dataclass(frozen=True)
class Attained:
    """What a release attains of one secret, computed on the joint of secret and output.

    ``epsilon`` is the largest log-lift on the sides that are bounded, ``low`` and ``high`` that of each side;
    ``delta`` is of the kind asked, ``breach_share`` the share of records out of bounds for some secret.
    """

    epsilon: float
    low: float
    high: float
    delta: float
    breach_share: float

    @classmethod
    def of(cls, output: Joint, bounds: Bounds) -> Attained:
        """Measure an output."""
        values = log_lift(output)
        beyond = bounds.beyond(values)
        delta = float(output.matrix[beyond].sum())
        if bounds.delta_kind == "egamma":
            delta = float(egamma_excess(output, bounds.epsilon).sum())
        return cls(
            epsilon=_rounded(float(bounds.risks(values).max())),
            low=_rounded(-float(values.min())),
            high=_rounded(float(values.max())),
            delta=delta,
            breach_share=float(output.marginal[beyond.any(axis=0)].sum()),
        )

    def holds(self, bounds: Bounds) -> bool:
        """Whether this is what was asked."""
        low, high = bounds.ceiling
        within = self.low <= low + TOLERANCE and self.high <= high + TOLERANCE
        return within and (bounds.delta == 0 or self.delta <= bounds.delta + TOLERANCE)


def _rounded(value: float) -> float:
    """What is below the rounding of its sums is zero."""
    return value if value > ROUNDING else 0.0


def asked_bounds(
    epsilon: float | None,
    *,
    epsilon_low: float | None = None,
    epsilon_high: float | None = None,
    delta: float = 0.0,
    delta_kind: DeltaKind = "mass",
    epsilon_max: float = math.inf,
) -> Bounds:
    """The bounds that were asked for, checked.

    A side that is not given by itself is epsilon; without an epsilon, ``epsilon_high`` alone bounds one side only.
    """
    if epsilon is not None:
        checked_epsilon(epsilon)
    if epsilon is None and epsilon_high is None:
        raise ArgumentError("say how much may be learned: epsilon, in nats (--epsilon 0.5), or give --rules")
    if None not in (epsilon, epsilon_low, epsilon_high):
        raise ArgumentError(
            "epsilon is the bound of a side that has none of its own: leave out --epsilon, --epsilon-low or "
            "--epsilon-high"
        )
    unbounded = math.inf if epsilon is None else epsilon
    low = unbounded if epsilon_low is None else epsilon_low
    high = unbounded if epsilon_high is None else epsilon_high
    if not math.isinf(low):
        checked_epsilon(low, name="epsilon_low")
    checked_epsilon(high, name="epsilon_high")
    checked_epsilon(epsilon_max, name="epsilon_max")
    bounds = Bounds(low, high, delta, delta_kind, epsilon_max)
    if epsilon_max < bounds.epsilon:
        raise ArgumentError(
            f"epsilon_max ({epsilon_max:g}) is the looser bound; it cannot be below epsilon ({bounds.epsilon:g})"
        )
    if not 0 <= delta < 1:
        raise ArgumentError(f"delta is a probability, 0 or more and below 1; got {delta}")
    if delta_kind not in DELTA_KINDS:
        raise ArgumentError(f"no kind of delta is called '{delta_kind}'; choose one of {', '.join(DELTA_KINDS)}")
    if delta == 0 and (delta_kind != "mass" or math.isfinite(epsilon_max)):
        raise ArgumentError("--delta-kind and --epsilon-max are about a delta: give --delta, or leave them out")
    if delta > 0 and not bounds.symmetric:
        raise ArgumentError("delta takes one epsilon for both sides: leave out --delta, or --epsilon-low and -high")
    if delta > 0 and delta_kind == "egamma" and math.isfinite(epsilon_max):
        raise ArgumentError("a delta of the kind egamma bounds the excess itself: leave out --epsilon-max")
    return bounds


@dataclass(frozen=True)
class FurtherSecret:
    """Another secret that the same release must keep, within its own epsilon."""

    secret: tuple[str, ...]
    epsilon: float

    @property
    def bounds(self) -> Bounds:
        """Its bounds."""
        return Bounds.within(self.epsilon)


def further_secrets(also: Mapping[str | Sequence[str], float] | None) -> tuple[FurtherSecret, ...]:
    """``{"sex": 0.3, ("race", "sex"): 0.8}`` as further secrets; a tuple of columns is their combination."""
    found = []
    for names, epsilon in (also or {}).items():
        columns = (names,) if isinstance(names, str) else tuple(names)
        if not columns or not all(columns):
            raise ArgumentError("a further secret without a column")
        found.append(FurtherSecret(columns, checked_epsilon(epsilon, name=f"epsilon of {', '.join(columns)}")))
    return tuple(found)
