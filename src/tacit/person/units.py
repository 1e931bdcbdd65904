"""Attributes that depend on one another, as two functions of u: E[exp(-u W)] and E[I exp(-u W)].

W is what a unit adds to the weight of the record and I what it adds to the weight of what is right. With these two per
unit the leakage is one sum over the nodes of `tacit.person.quadrature`. Inside a unit worlds are told apart by what is
present, anything right and anything wrong, because only that decides how often the shared weight counts. Every term
is positive: nothing cancels.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tacit.person.comparing import Block, Comparison, FloatArray, Unit, absent

BoolArray = NDArray[np.bool_]

# What of a unit is present, as bits.
_RIGHT: Final = 1
_WRONG: Final = 2
_CREDITED: Final = 4


@dataclass(frozen=True)
class Transform:
    """E[exp(-u W)] (``mass``) and E[I exp(-u W)] (``credit``) at every node, by what is present."""

    mass: dict[int, FloatArray]
    credit: dict[int, FloatArray]

    def beside(self, other: Transform) -> Transform:
        """Of two independent blocks together."""
        mass: dict[int, FloatArray] = {}
        credit: dict[int, FloatArray] = {}
        for here, here_mass in self.mass.items():
            for there, there_mass in other.mass.items():
                both = here | there
                mass[both] = mass.get(both, 0.0) + here_mass * there_mass
                gained = self.credit[here] * there_mass + here_mass * other.credit[there]
                credit[both] = credit.get(both, 0.0) + gained
        return Transform(mass, credit)

    def total(self, shared: float, u: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The two functions of a whole unit: the shared weight counted once as right and once as wrong."""
        mass, credit = np.zeros_like(u), np.zeros_like(u)
        for present in self.mass:
            right, wrong = bool(present & _RIGHT), bool(present & _WRONG)
            factor = np.exp(-u * (shared * (right + wrong)))
            mass += self.mass[present] * factor
            credit += (self.credit[present] + shared * right * self.mass[present]) * factor
        return mass, credit


def _nothing(u: FloatArray) -> Transform:
    return Transform({0: np.ones_like(u)}, {0: np.zeros_like(u)})


def block_transform(block: Block, found: Comparison, confidence: FloatArray, u: FloatArray) -> Transform:
    """The transform of one block when its attributes have these confidences (over the whole record)."""
    places = list(block.places)
    probability, weight, credit = confidence[places], found.weight[places], found.credit[places]
    right = found.hit[places] >= 0
    if block.exclusive or len(places) == 1:
        return _one_of(probability, weight, credit, right, u)
    return _best_of(probability, weight, credit, u)


def _one_of(
    probability: FloatArray, weight: FloatArray, credit: FloatArray, right: BoolArray, u: FloatArray
) -> Transform:
    """At most one attribute is present."""
    mass = {0: np.full_like(u, absent(probability))}
    credits = {0: np.zeros_like(u)}
    for state, chosen in ((_RIGHT, right), (_WRONG, ~right)):
        if chosen.any():
            decay = np.exp(-np.outer(u, weight[chosen]))
            mass[state] = decay @ probability[chosen]
            credits[state] = decay @ (probability[chosen] * credit[chosen])
    return Transform(mass, credits)


def _best_of(probability: FloatArray, weight: FloatArray, credit: FloatArray, u: FloatArray) -> Transform:
    """Attributes present independently that are right about one fact; the best of those present is credited.

    The best present is the i-th if it is there and none of the better ones is; the worse ones are free.
    """
    order = np.argsort(-credit, kind="stable")
    present, credited = np.zeros_like(u), np.zeros_like(u)
    worse = np.ones_like(u)  # E[exp(-u W)] of the worse ones
    better_absent = np.concatenate([[1.0], np.cumprod(1 - probability[order])])
    for rank in range(len(order) - 1, -1, -1):
        place = order[rank]
        decay = np.exp(-u * weight[place])
        first = better_absent[rank] * probability[place] * decay * worse
        present += first
        credited += credit[place] * first
        worse = worse * ((1 - probability[place]) + probability[place] * decay)
    return Transform({0: np.full_like(u, better_absent[-1]), _RIGHT: present}, {0: np.zeros_like(u), _RIGHT: credited})


def unit_transform(unit: Unit, found: Comparison, u: FloatArray) -> tuple[FloatArray, FloatArray]:
    """E[exp(-u W)] and E[I exp(-u W)] of a unit."""
    whole = _nothing(u)
    for block in unit.blocks:
        whole = whole.beside(block_transform(block, found, found.confidence, u))
    return whole.total(unit.shared, u)


def others(transforms: list[Transform], u: FloatArray) -> list[Transform]:
    """For every block the transform of all the others, in linear time."""
    before = [_nothing(u)]
    for transform in transforms[:-1]:
        before.append(before[-1].beside(transform))
    after = _nothing(u)
    result: list[Transform] = []
    for place in range(len(transforms) - 1, -1, -1):
        result.append(before[place].beside(after))
        after = transforms[place].beside(after)
    return result[::-1]


# ------------------------------------------------------------------------------- weights of one or of all worlds


def world_weights(found: Comparison, present: BoolArray) -> tuple[float, float]:
    """Weight of what is held and of what is right in the world in which these attributes are present."""
    held, right = [float(found.weight[present].sum())], [float(found.credit[found.alone][present[found.alone]].sum())]
    for unit in found.units:
        best: dict[int, float] = {}
        wrong = False
        for place in (place for block in unit.blocks for place in block.places if present[place]):
            fact = int(found.hit[place])
            wrong |= fact < 0
            if fact >= 0:
                best[fact] = max(best.get(fact, 0.0), float(found.credit[place]))
        held.append(unit.shared * (bool(best) + wrong))
        right.append(math.fsum(best.values()) + unit.shared * bool(best))
    return math.fsum(held), math.fsum(right)


@dataclass(frozen=True)
class Bounds:
    """Of the weight a unit adds in any possible world: the least, the least where it has credit, the most."""

    least: float
    credited: float
    most: float


def unit_bounds(unit: Unit, found: Comparison, *, free: bool = False) -> Bounds:
    """Bounds of a unit; with ``free`` attributes may be absent or present whatever their confidence."""
    least: dict[int, float] = {0: 0.0}
    most = 0.0
    for block in unit.blocks:
        lightest, heaviest = _block_bounds(block, found, free=free)
        most += heaviest
        least = _lightest(
            (here | there, here_weight + there_weight)
            for here, here_weight in least.items()
            for there, there_weight in lightest.items()
        )
    shared = unit.shared
    worlds = [
        (weight + shared * (bool(present & _RIGHT) + bool(present & _WRONG)), present)
        for present, weight in least.items()
    ]
    credited = (w for w, present in worlds if present & _CREDITED or (shared > 0 and present & _RIGHT))
    return Bounds(min(weight for weight, _ in worlds), min(credited, default=np.inf), most + 2 * shared)


def _lightest(worlds: Iterable[tuple[int, float]]) -> dict[int, float]:
    best: dict[int, float] = {}
    for present, weight in worlds:
        best[present] = min(weight, best.get(present, np.inf))
    return best


def _block_bounds(block: Block, found: Comparison, *, free: bool) -> tuple[dict[int, float], float]:
    """The least weight for every state of a block, and the most weight."""
    places = list(block.places)
    if not free:
        places = [place for place in places if found.confidence[place] > 0]
    states = [
        (_RIGHT if found.hit[place] >= 0 else _WRONG) | (_CREDITED if found.credit[place] > 0 else 0)
        for place in places
    ]
    weights = [float(found.weight[place]) for place in places]
    if block.exclusive or len(places) <= 1:
        empty = free or absent(found.confidence[list(block.places)]) > 0
        worlds = [(0, 0.0)] if empty else []
        return _lightest([*worlds, *zip(states, weights, strict=True)]), max(weights, default=0.0)
    least = {0: 0.0}
    for place, state, weight in zip(places, states, weights, strict=True):
        stay = free or found.confidence[place] < 1
        least = _lightest(
            [(present | state, before + weight) for present, before in least.items()]
            + (list(least.items()) if stay else [])
        )
    return least, sum(weights)
