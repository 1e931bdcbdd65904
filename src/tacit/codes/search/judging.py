"""Which cuts the bounds allow, and how much of the bounds they leave for further cuts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.codes.descent import Ints
from tacit.codes.search.frontier import Frontier, Tally
from tacit.codes.search.limits import CellLimits
from tacit.lift import Matrix, Vector

# A cut that uses up its bounds is still worth a little.
_FLOOR = 0.02


@dataclass(frozen=True, eq=False)
class Strict:
    """Both sides of a cut keep to every bound; the more of it they leave, the better.

    ``guided`` says that the marks of the frontier are expected counts of the first claim's bounded values, from a
    learned estimate. They estimate what a cut leaves; whether it keeps to the bounds is always counted.
    """

    limits: tuple[CellLimits, ...]
    guided: bool = False

    def factor(self, frontier: Frontier, tally: Tally, at: Ints, left: Vector, right: Vector) -> Vector:
        """What the sides leave of their bounds: the mean of the root of the share that is left."""
        sides = _sides(frontier, tally, at, self.limits, left, right)
        allowed = (sides <= 1).all(axis=0)
        if self.guided:
            expected = _used(tally.marks, frontier, tally, at, self.limits[0], left, right)
            others = _sides(frontier, tally, at, self.limits[1:], left, right, first=1)
            sides = np.maximum(expected, others)
        if any(limits.doubt for limits in self.limits):
            # A cut is proved only if both its sides are; otherwise nothing below it is.
            sides = _sides(frontier, tally, at, self.limits, left, right, doubted=True).max(axis=0, keepdims=True)
        root = np.sqrt(np.clip(1 - sides, 0.0, 1.0))
        kept = (left * root[0] + right * root[-1]) / np.where(allowed, left + right, 1.0)
        return np.where(allowed, _FLOOR + kept, 0.0)


@dataclass(frozen=True, eq=False)
class Spending:
    """Both sides of a cut keep to wider limits; the less probability breaks the bounds, the better.

    ``smallest`` is a probability, in weight, that is as good as none.
    """

    limits: tuple[CellLimits, ...]
    wider: tuple[CellLimits, ...]
    smallest: float

    def factor(self, frontier: Frontier, tally: Tally, at: Ints, left: Vector, right: Vector) -> Vector:
        """The weight of a node for each unit of weight that would break the bounds."""
        allowed = (_sides(frontier, tally, at, self.wider, left, right) <= 1).all(axis=0)
        node, spent = tally.node[at], np.full(len(at), self.smallest)
        for counts, limits in zip(tally.secrets, self.limits, strict=True):
            inside = tally.running(counts).take(at, axis=1)
            outside = tally.totals(counts).take(node, axis=1) - inside
            for side, weight in ((inside, left), (outside, right)):
                spent += limits.beyond(side, weight, frontier.part[node])
        return np.where(allowed, (left + right) / spent, 0.0)


def departure(tally: Tally) -> Vector:
    """The largest difference of a secret's share in a pair from that in its node, as a share of the latter."""
    out, weight = np.zeros(len(tally)), np.maximum(tally.weight, 1e-300)
    whole = np.maximum(tally.totals(tally.weight), 1e-300)
    for counts in tally.secrets:
        for row in counts:
            share = (tally.totals(row) / whole)[tally.node]
            np.maximum(out, np.abs(row / weight - share) / np.maximum(share, 1e-300), out=out)
    return out


def _sides(
    frontier: Frontier,
    tally: Tally,
    at: Ints,
    limits: tuple[CellLimits, ...],
    left: Vector,
    right: Vector,
    *,
    first: int = 0,
    doubted: bool = False,
) -> Matrix:
    """The share of the bounds that each side of a cut uses, in the claim that uses most (sides x cuts)."""
    out = np.zeros((2, len(at)))
    for counts, each in zip(tally.secrets[first:], limits, strict=True):
        np.maximum(out, _used(counts, frontier, tally, at, each, left, right, doubted=doubted), out=out)
    return out


def _used(
    counts: Matrix,
    frontier: Frontier,
    tally: Tally,
    at: Ints,
    limits: CellLimits,
    left: Vector,
    right: Vector,
    *,
    doubted: bool = False,
) -> Matrix:
    node, counted = tally.node[at], len(at)
    inside = tally.running(counts).take(at, axis=1)
    outside = tally.totals(counts).take(node, axis=1) - inside
    # One call for both sides: in small nodes, calls take longer than what they compute.
    both, weight, part = np.hstack([inside, outside]), np.concatenate([left, right]), np.tile(frontier.part[node], 2)
    return limits.used(both, weight, part, doubted=doubted).reshape(2, counted)
