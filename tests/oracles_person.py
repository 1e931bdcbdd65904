"""Slow and obviously right: what the person lens is held against."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

from tacit.person import ComparedRecord, Labels, Record, Reference, compare
from tacit.person.model.comparing import absent


def possible_worlds(
    record: Record, compared: ComparedRecord, labels: Labels
) -> Iterator[tuple[float, tuple[int, ...]]]:
    """Every possible world as its probability and the places of the attributes in it; only those that can happen."""
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
            yield probability, tuple(place for _, places in world for place in places)


def weights_of_world(
    places: tuple[int, ...], record: Record, compared: ComparedRecord, labels: Labels
) -> tuple[float, float]:
    """Weight of what is held, and of what of it is right, in one world: the definition, word by word."""
    held = [float(compared.weight[place]) for place in places]
    best: dict[int, float] = {}
    for place in places:
        if compared.hit[place] >= 0:
            fact = int(compared.hit[place])
            best[fact] = max(best.get(fact, 0.0), float(compared.credit[place]))
    right = list(best.values())
    for group in labels.correlated:
        hits = [compared.hit[place] >= 0 for place in places if record.attributes[place].label in group.labels]
        if any(hits):
            held.append(group.shared)
            right.append(group.shared)
        if not all(hits):
            held.append(group.shared)
    return math.fsum(held), math.fsum(right)


def leakage_by_worlds(record: Record, reference: Reference, labels: Labels, *, beta: float = 1.0) -> float:
    """Definition 1 of the paper: every possible world, its probability times its F-measure."""
    compared = compare(record, reference, labels)
    terms = []
    for probability, places in possible_worlds(record, compared, labels):
        held, right = weights_of_world(places, record, compared, labels)
        if right > 0:
            terms.append(probability * (1 + beta * beta) * right / (held + beta * beta * compared.reference_weight))
    return math.fsum(terms)
