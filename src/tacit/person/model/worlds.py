"""Slow ways to compute a record's leakage, kept for comparison: possible worlds, Algorithm 1, second-order Taylor.

Probabilities of worlds are products, which underflow below 1e-308; such a world adds nothing to the leakage.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Final, Protocol

import numpy as np

from tacit.errors import ArgumentError
from tacit.lift.joint import Mask
from tacit.person.model.comparing import ComparedRecord, absent, compare
from tacit.person.model.labels import Labels
from tacit.person.model.records import Record, Reference
from tacit.person.model.units import f_measure, world_weights

MOST_ATTRIBUTES: Final = 20
"""The most attributes of a record whose possible worlds may be listed."""


def possible_worlds(record: Record, compared: ComparedRecord, labels: Labels) -> Iterator[tuple[float, Mask]]:
    """Every possible world that can happen, as its probability and which attributes are in it."""
    choices: list[list[tuple[float, tuple[int, ...]]]] = []
    single: dict[str, list[int]] = {}
    for place, attribute in enumerate(record.attributes):
        if labels[attribute.label].single:
            single.setdefault(attribute.label, []).append(place)
        else:
            probability = float(compared.confidence[place])
            choices.append([(1 - probability, ()), (probability, (place,))])
    for places in single.values():
        options = [(float(compared.confidence[place]), (place,)) for place in places]
        choices.append([(absent(compared.confidence[places]), ()), *options])
    for world in itertools.product(*choices):
        probability = math.prod(part for part, _ in world)
        if probability > 0:
            present = np.zeros(len(record), dtype=np.bool_)
            present[[place for _, places in world for place in places]] = True
            yield probability, present


def by_worlds(record: Record, reference: Reference, labels: Labels, *, beta: float) -> float:
    """Definition 1 of the paper: the sum over possible worlds of probability times F-measure. Exponential time."""
    if len(record) > MOST_ATTRIBUTES:
        raise ArgumentError(
            f"the record has {len(record)} attributes and so {2.0 ** len(record):.1g} possible worlds; "
            f"they are listed up to {MOST_ATTRIBUTES} attributes: use method='exact'"
        )
    compared = compare(record, reference, labels)
    return math.fsum(
        probability * f_measure(*world_weights(compared, present), compared.reference_weight, beta=beta)
        for probability, present in possible_worlds(record, compared, labels)
    )


def _only_independent(compared: ComparedRecord, method: str) -> None:
    if compared.units:
        raise ArgumentError(
            f"method='{method}' needs independent attributes, and here values exclude one another, are about the same "
            "fact or share a weight: use method='exact'"
        )


def by_algorithm1(record: Record, reference: Reference, labels: Labels, *, beta: float) -> float:
    """The paper's Algorithm 1, for equal weights, in O(|e| |r|^2) steps of Python.

    Its line 9 runs to abs(Y) - 2 here: as printed, to abs(Y) - 1, line 10 reads beyond the end of Y.
    """
    compared = compare(record, reference, labels)
    _only_independent(compared, "algorithm1")
    weight = float(max(compared.weight, default=1.0))
    whole = (compared.credit == 0) | (compared.credit == weight)
    size = compared.reference_weight / weight if weight > 0 else 0.0
    if not (np.all(compared.weight == weight) and np.all(whole) and weight > 0 and math.isclose(size, round(size))):
        raise ArgumentError("method='algorithm1' needs one weight for all and no partial credit: use method='exact'")
    confidence = compared.confidence.tolist()
    sayer = {int(fact): place for place, fact in enumerate(compared.hit) if fact >= 0}
    leakage, square = 0.0, beta * beta
    for b in map(sayer.get, range(len(reference))):
        chances = [1.0]
        for a, p in enumerate(confidence):
            if a != b:
                inner = [here * (1 - p) + there * p for here, there in itertools.pairwise(chances)]
                chances = [chances[0] * p, *inner, chances[-1] * (1 - p)]
        right = 0.0 if b is None else confidence[b]
        for x, chance in enumerate(chances):
            leakage += (1 + square) * right * chance / (square * len(reference) + len(chances) - x)
    return leakage


def by_second_order(record: Record, reference: Reference, labels: Labels, *, beta: float) -> float:
    """The Taylor series of 1/x around the mean, to second order: E[1/A] is about 1/m + v/m^3. Linear time.

    Good for many attributes of similar weight (an error of 1e-4 for 10 of them, 1e-6 for 100); if weights are very
    unequal, the error may exceed the value itself.
    """
    compared = compare(record, reference, labels)
    _only_independent(compared, "second_order")
    p, w, c = compared.confidence, compared.weight, compared.credit
    b = (c > 0) & (p > 0)
    mean, variance = p * w, p * (1 - p) * w * w
    m = beta * beta * compared.reference_weight + w[b] + (mean.sum() - mean[b])
    v = np.maximum(variance.sum() - variance[b], 0.0)
    return float((1 + beta * beta) * np.sum(p[b] * c[b] * (1 / m + v / m**3)))


class _Method(Protocol):
    def __call__(self, record: Record, reference: Reference, labels: Labels, *, beta: float) -> float: ...


SLOW_METHODS: Final[dict[str, _Method]] = {
    "worlds": by_worlds,
    "algorithm1": by_algorithm1,
    "second_order": by_second_order,
}
