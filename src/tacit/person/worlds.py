"""The slow ways to a record's leakage, kept to compare with: possible worlds, Algorithm 1, Taylor's second order."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Final, Protocol

import numpy as np

from tacit.errors import ArgumentError
from tacit.person.comparing import Comparison, absent, compare
from tacit.person.labels import Labels
from tacit.person.records import Record, Reference

MOST_ATTRIBUTES: Final = 20
"""Attributes of a record whose possible worlds may be listed."""


def possible_worlds(record: Record, found: Comparison, labels: Labels) -> Iterator[tuple[float, tuple[int, ...]]]:
    """Every possible world as its probability and the places of the attributes in it; only those that can happen."""
    choices: list[list[tuple[float, tuple[int, ...]]]] = []
    single: dict[str, list[int]] = {}
    for place, attribute in enumerate(record.attributes):
        if labels[attribute.label].single:
            single.setdefault(attribute.label, []).append(place)
        else:
            probability = float(found.confidence[place])
            choices.append([(1 - probability, ()), (probability, (place,))])
    for places in single.values():
        options = [(float(found.confidence[place]), (place,)) for place in places]
        choices.append([(absent(found.confidence[places]), ()), *options])
    for world in itertools.product(*choices):
        probability = math.prod(part for part, _ in world)
        if probability > 0:
            yield probability, tuple(place for _, places in world for place in places)


def weights_of_world(places: tuple[int, ...], record: Record, found: Comparison, labels: Labels) -> tuple[float, float]:
    """Weight of what is held, and of what of it is right, in one world: the definition, word by word."""
    held = [float(found.weight[place]) for place in places]
    best: dict[int, float] = {}
    for place in places:
        if found.hit[place] >= 0:
            fact = int(found.hit[place])
            best[fact] = max(best.get(fact, 0.0), float(found.credit[place]))
    right = list(best.values())
    for group in labels.correlated:
        hits = [found.hit[place] >= 0 for place in places if record.attributes[place].label in group.labels]
        if any(hits):
            held.append(group.shared)
            right.append(group.shared)
        if not all(hits):
            held.append(group.shared)
    return math.fsum(held), math.fsum(right)


def by_worlds(record: Record, reference: Reference, labels: Labels, *, beta: float = 1.0) -> float:
    """Definition 1 of the paper: every possible world, its probability times its F-measure. Takes exponential time.

    It knows everything the exact method does, and is what that is tested against.
    """
    if len(record) > MOST_ATTRIBUTES:
        raise ArgumentError(
            f"the record has {len(record)} attributes and so {2.0 ** len(record):.1g} possible worlds; "
            f"they are listed up to {MOST_ATTRIBUTES} attributes: use method='exact'"
        )
    found = compare(record, reference, labels)
    base = beta * beta * found.reference_weight
    terms = []
    for probability, places in possible_worlds(record, found, labels):
        held, right = weights_of_world(places, record, found, labels)
        if right > 0:
            terms.append(probability * (1 + beta * beta) * right / (held + base))
    return math.fsum(terms)


def _only_independent(found: Comparison, method: str) -> None:
    if found.units:
        raise ArgumentError(
            f"method='{method}' needs independent attributes, and here values exclude one another, are about the same "
            "fact or share a weight: use method='exact'"
        )


def by_algorithm1(record: Record, reference: Reference, labels: Labels, *, beta: float = 1.0) -> float:
    """The paper's Algorithm 1, for equal weights, in O(|e| |r|^2) steps of Python.

    Its line 9 runs to abs(Y) - 2 here: as printed, to abs(Y) - 1, line 10 reads beyond the end of Y.
    """
    found = compare(record, reference, labels)
    _only_independent(found, "algorithm1")
    weight = float(max(found.weight, default=1.0))
    whole = (found.credit == 0) | (found.credit == weight)
    size = found.reference_weight / weight if weight > 0 else 0.0
    if not (np.all(found.weight == weight) and np.all(whole) and weight > 0 and math.isclose(size, round(size))):
        raise ArgumentError("method='algorithm1' needs one weight for all and no partial credit: use method='exact'")
    confidence = found.confidence.tolist()
    right = {int(fact): place for place, fact in enumerate(found.hit) if fact >= 0}
    return _algorithm1(confidence, [right.get(fact) for fact in range(len(reference))], beta)


def _algorithm1(confidence: list[float], right: list[int | None], beta: float) -> float:
    """Lines 1 to 15; ``right`` is for every fact of the reference the attribute that states it."""
    leakage = 0.0
    square = beta * beta
    for b in right:
        chances = [1.0]
        for a, p in enumerate(confidence):
            if a == b:
                continue
            longer = [chances[0] * p]
            for x in range(len(chances) - 1):
                longer.append(chances[x] * (1 - p) + chances[x + 1] * p)
            longer.append(chances[-1] * (1 - p))
            chances = longer
        held = 0.0 if b is None else confidence[b]
        for x, chance in enumerate(chances):
            leakage += (1 + square) * held * chance / (square * len(right) + len(chances) - x)
    return leakage


def by_second_order(record: Record, reference: Reference, labels: Labels, *, beta: float = 1.0) -> float:
    """Taylor's series of 1/x about the mean, to the second order: E[1/A] is about 1/m + v/m^3. Linear time.

    Good for many attributes of like weight (an error of 1e-4 for 10 of them, 1e-6 for 100); if weights are very
    unequal it may err by more than the value itself.
    """
    found = compare(record, reference, labels)
    _only_independent(found, "second_order")
    p, w, c = found.confidence, found.weight, found.credit
    b = (c > 0) & (p > 0)
    mean, variance = p * w, p * (1 - p) * w * w
    m = beta * beta * found.reference_weight + w[b] + (mean.sum() - mean[b])
    v = np.maximum(variance.sum() - variance[b], 0.0)
    return float((1 + beta * beta) * np.sum(p[b] * c[b] * (1 / m + v / m**3)))


class _Method(Protocol):
    def __call__(self, record: Record, reference: Reference, labels: Labels, *, beta: float) -> float: ...


METHODS: Final[dict[str, _Method]] = {
    "worlds": by_worlds,
    "algorithm1": by_algorithm1,
    "second_order": by_second_order,
}
