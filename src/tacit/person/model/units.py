"""Attributes that depend on one another, as two functions of u: E[exp(-u W)] and E[I exp(-u W)].

W is what a unit adds to the weight of the record and I what it adds to the weight of what is right. With these two per
unit the leakage is one sum over the nodes of `tacit.person.model.quadrature`. Inside a unit, worlds are distinguished
only by whether anything right and anything wrong is present, because only that decides how often the shared weight
counts. Every term is positive, so nothing cancels. The mass of a thousand doubtful values of one fact underflows, so
masses are kept as shares of a whole, and the whole as its logarithm.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from tacit.lift.joint import Mask, Vector
from tacit.person.model.comparing import AttributeUnit, ComparedRecord, LabelBlock, Places, absent

# What is present of a unit, as bits.
RIGHT: Final = 1
WRONG: Final = 2
_CREDITED: Final = 4


def plain_factors(confidence: Vector, weight: Vector, u: Vector) -> tuple[Vector, Vector]:
    """log(1 - p + p t) and p t / (1 - p + p t) with t = exp(-u w), for every node and uncertain attribute.

    Near t = 1 the logarithm is computed from the difference to 1, or a million small factors would lose four digits;
    where the factor is small, 1 - p and p t are added, or almost certain attributes would lose them.
    """
    change = np.multiply.outer(-u, weight)
    np.expm1(change, out=change)
    decayed = change + 1.0
    decayed *= confidence
    change *= confidence
    mass = decayed + (1.0 - confidence)
    logs = np.log1p(change)
    small = change < -0.5
    if small.any():
        logs[small] = np.log(mass[small])
    decayed /= mass
    return logs, decayed


def factors(confidence: Vector, weight: Vector, u: Vector) -> tuple[Vector, Vector]:
    """The same for attributes that may be certain: their logarithm is -u w, even where t underflows."""
    certain = confidence == 1
    logs, ratios = plain_factors(np.where(certain, 0.0, confidence), weight, u)
    logs[:, certain] = np.multiply.outer(-u, weight[certain])
    ratios[:, certain] = 1.0
    return logs, ratios


@dataclass(frozen=True)
class Transform:
    """E[exp(-u W)] and E[I exp(-u W)] at every node, by what is present: ``mass`` and ``credit`` times exp(``log``).

    The masses of all states add up to 1.
    """

    mass: dict[int, Vector]
    credit: dict[int, Vector]
    log: Vector

    def beside(self, other: Transform) -> Transform:
        """The transform of two independent blocks together."""
        mass: dict[int, Vector] = {}
        credit: dict[int, Vector] = {}
        for here, here_mass in self.mass.items():
            for there, there_mass in other.mass.items():
                both = here | there
                mass[both] = mass.get(both, 0.0) + here_mass * there_mass
                gained = self.credit[here] * there_mass + here_mass * other.credit[there]
                credit[both] = credit.get(both, 0.0) + gained
        return Transform(mass, credit, self.log + other.log)

    def total(self, shared: float, u: Vector) -> tuple[Vector, Vector]:
        """log E[exp(-u W)] and E[I exp(-u W)] / E[exp(-u W)] of a whole unit, including its shared weight."""
        mass, credit = self.with_block(0, shared, u)
        possible = mass > 0
        with np.errstate(divide="ignore"):
            logs = self.log + np.log(mass)
        return logs, np.divide(credit, mass, out=np.zeros_like(u), where=possible)

    def with_block(self, state: int, shared: float, u: Vector) -> tuple[Vector, Vector]:
        """Mass and credit of the unit if one more block is in this state: the shared weight counts once if anything is
        right, once more if anything is wrong. The block's own credit is not included."""
        mass, credit = np.zeros_like(u), np.zeros_like(u)
        for present in self.mass:
            right, wrong = bool((present | state) & RIGHT), bool((present | state) & WRONG)
            factor = np.exp(-u * (shared * (right + wrong)))
            mass += self.mass[present] * factor
            credit += (self.credit[present] + shared * right * self.mass[present]) * factor
        return mass, credit


def _nothing(u: Vector) -> Transform:
    return Transform({0: np.ones_like(u)}, {0: np.zeros_like(u)}, np.zeros_like(u))


def block_transform(block: LabelBlock, compared: ComparedRecord, u: Vector) -> Transform:
    """The transform of one block."""
    places = list(block.places)
    probability, weight, credit = compared.confidence[places], compared.weight[places], compared.credit[places]
    if block.exclusive or len(places) == 1:
        return _one_of(probability, weight, credit, compared.hit[places] >= 0, u)
    ranked = Ranked.of(probability, weight, credit, u)
    present, credited = ranked.first.sum(axis=1), ranked.first @ ranked.credit
    nothing = ranked.none_better[:, -1] * ranked.absent[:, -1]
    return Transform({0: nothing, RIGHT: present}, {0: np.zeros_like(u), RIGHT: credited}, ranked.logs.sum(axis=1))


def _one_of(probability: Vector, weight: Vector, credit: Vector, right: Mask, u: Vector) -> Transform:
    """At most one attribute is present."""
    nothing = absent(probability)
    possible = weight[probability > 0]
    lightest = 0.0 if nothing > 0 or not len(possible) else float(possible.min())
    mass = {0: np.exp(u * lightest) * nothing if nothing > 0 else np.zeros_like(u)}
    credits = {0: np.zeros_like(u)}
    for state, chosen in ((RIGHT, right & (probability > 0)), (WRONG, ~right & (probability > 0))):
        if chosen.any():
            decay = np.exp(-np.outer(u, weight[chosen] - lightest))
            mass[state] = decay @ probability[chosen]
            credits[state] = decay @ (probability[chosen] * credit[chosen])
    whole = np.sum(list(mass.values()), axis=0)
    mass, credits = ({state: part / whole for state, part in parts.items()} for parts in (mass, credits))
    return Transform(mass, credits, np.log(whole) - u * lightest)


@dataclass(frozen=True)
class Ranked:
    """Independent attributes that are right about the same fact, best first: only the best one present counts.

    Arrays are nodes by ranks. ``logs`` is the logarithm of E[exp(-u W)] of each attribute; ``absent`` and ``present``
    are the shares of it in which the attribute is absent and present.
    """

    order: Places
    credit: Vector
    logs: Vector
    absent: Vector
    present: Vector

    @classmethod
    def of(cls, probability: Vector, weight: Vector, credit: Vector, u: Vector) -> Ranked:
        order = np.argsort(-credit, kind="stable")
        p = probability[order]
        logs, present = factors(p, weight[order], u)
        away = (1 - p) * np.exp(-np.where(p == 1, 0.0, logs))
        return cls(order, credit[order], logs, away, present)

    @cached_property
    def none_better(self) -> Vector:
        """The share in which no better attribute is present."""
        return np.cumprod(np.concatenate([np.ones((len(self.absent), 1)), self.absent[:, :-1]], axis=1), axis=1)

    @cached_property
    def first(self) -> Vector:
        """The share in which the attribute is the best one present."""
        return self.none_better * self.present

    def after(self, each: Vector) -> Vector:
        """Expected worth of the best one present after each rank, where ``each`` is what a rank is worth."""
        result = np.zeros_like(self.present)
        for rank in range(result.shape[1] - 2, -1, -1):
            there = rank + 1
            result[:, rank] = each[there] * self.present[:, there] + self.absent[:, there] * result[:, there]
        return result


def unit_transform(unit: AttributeUnit, compared: ComparedRecord, u: Vector) -> tuple[Vector, Vector]:
    """log E[exp(-u W)] and E[I exp(-u W)] / E[exp(-u W)] of a unit."""
    whole = _nothing(u)
    for block in unit.blocks:
        whole = whole.beside(block_transform(block, compared, u))
    return whole.total(unit.shared, u)


def others(transforms: list[Transform], u: Vector) -> list[Transform]:
    """For every block, the transform of all the others, in linear time."""
    before = [_nothing(u)]
    for transform in transforms[:-1]:
        before.append(before[-1].beside(transform))
    after = _nothing(u)
    result: list[Transform] = []
    for place in range(len(transforms) - 1, -1, -1):
        result.append(before[place].beside(after))
        after = transforms[place].beside(after)
    return result[::-1]


def world_weights(compared: ComparedRecord, present: Mask) -> tuple[float, float]:
    """Weight of what is held and of what is right, in the world where these attributes are present."""
    weights, right = (
        [float(compared.weight[present].sum())],
        [float(compared.credit[compared.alone][present[compared.alone]].sum())],
    )
    for unit in compared.units:
        best: dict[int, float] = {}
        wrong = False
        for place in (place for block in unit.blocks for place in block.places if present[place]):
            fact = int(compared.hit[place])
            wrong |= fact < 0
            if fact >= 0:
                best[fact] = max(best.get(fact, 0.0), float(compared.credit[place]))
        weights.append(unit.shared * (bool(best) + wrong))
        right.append(math.fsum(best.values()) + unit.shared * bool(best))
    return math.fsum(weights), math.fsum(right)


def f_measure(record_weight: float, right: float, reference_weight: float, *, beta: float = 1.0) -> float:
    """F-measure of one world, from the weights of what is held, of the part that is right, and of the reference."""
    total = record_weight + beta * beta * reference_weight
    return (1 + beta * beta) * right / total if right > 0 else 0.0


def weight_range(compared: ComparedRecord, base: float, *, free: bool = False) -> tuple[float, float]:
    """The least and the most weight (of record and ``base``) of a possible world that has credit; inf if none has.

    Certain attributes are in every world and raise the least; with ``free``, any attribute may be absent or present,
    whatever its confidence.
    """
    confidence, weight = compared.confidence[compared.alone], compared.weight[compared.alone]
    if free:
        confidence = np.full_like(confidence, 0.5)
    possible, certain = confidence > 0, confidence == 1
    credited = possible & (compared.credit[compared.alone] > 0)
    bounds = [_unit_range(unit, compared, free=free) for unit in compared.units]
    extra = [with_credit - least for least, with_credit, _ in bounds]
    if credited.any():
        extra.append(float(np.min(np.where(certain, 0.0, weight)[credited])))
    least = base + float(weight[certain].sum()) + sum(bound[0] for bound in bounds) + min(extra, default=np.inf)
    return least, max(least, base + float(weight[possible].sum()) + sum(bound[2] for bound in bounds))


def _unit_range(unit: AttributeUnit, compared: ComparedRecord, *, free: bool) -> tuple[float, float, float]:
    """The weight a unit adds in a possible world: the least, the least where it has credit, the most."""
    least: dict[int, float] = {0: 0.0}
    most = 2 * unit.shared
    for block in unit.blocks:
        lightest, heaviest = _block_range(block, compared, free=free)
        most += heaviest
        least = _lightest(
            (here | there, here_weight + there_weight)
            for here, here_weight in least.items()
            for there, there_weight in lightest.items()
        )
    worlds = [
        (weight + unit.shared * (bool(present & RIGHT) + bool(present & WRONG)), present)
        for present, weight in least.items()
    ]
    credited = (weight for weight, state in worlds if state & _CREDITED or (unit.shared > 0 and state & RIGHT))
    return min(weight for weight, _ in worlds), min(credited, default=np.inf), most


def _lightest(worlds: Iterable[tuple[int, float]]) -> dict[int, float]:
    best: dict[int, float] = {}
    for present, weight in worlds:
        best[present] = min(weight, best.get(present, np.inf))
    return best


def _block_range(block: LabelBlock, compared: ComparedRecord, *, free: bool) -> tuple[dict[int, float], float]:
    """The least weight for every state of a block, and the most weight."""
    places = list(block.places)
    if not free:
        places = [place for place in places if compared.confidence[place] > 0]
    states = [
        (RIGHT if compared.hit[place] >= 0 else WRONG) | (_CREDITED if compared.credit[place] > 0 else 0)
        for place in places
    ]
    weights = [float(compared.weight[place]) for place in places]
    if block.exclusive or len(places) <= 1:
        empty = free or absent(compared.confidence[list(block.places)]) > 0
        worlds = [(0, 0.0)] if empty else []
        return _lightest([*worlds, *zip(states, weights, strict=True)]), max(weights, default=0.0)
    least = {0: 0.0}
    for place, state, weight in zip(places, states, weights, strict=True):
        stay = free or compared.confidence[place] < 1
        least = _lightest(
            [(present | state, before + weight) for present, before in least.items()]
            + (list(least.items()) if stay else [])
        )
    return least, sum(weights)
