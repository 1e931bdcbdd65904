"""Add: false values that a decoy may carry. None is true, near the truth or held by a record."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from tacit.errors import ArgumentError
from tacit.person.model import Record
from tacit.person.model.records import as_text
from tacit.person.plans.decoys.allowance import Allowance
from tacit.person.plans.decoys.board import Lane

# False values of a label: drawn one at a time, or given.
Bogus = Callable[[str], str] | Mapping[str, Sequence[str]]

# More bogus attributes than this of one label are never made.
MOST_OF_A_LABEL = 1_000


def false_lanes(records: Iterable[Record], allowance: Allowance, bogus: Bogus | None) -> list[Lane]:
    """The false values that may be added within the budget, for the labels that may carry them.

    Guarantees
    ----------
    No value is true of the person or earns credit for being near the truth, and none is held by a record under the same
    label, since it would link the decoy to that record.
    """
    labels, budget = allowance.labels, allowance.budget
    for label in bogus if isinstance(bogus, Mapping) else ():
        if label not in allowance.allowed:
            raise ArgumentError(f"false values are given for '{label}', which may not carry any: allow it")
    values_of: dict[str, set[str]] = {label: set() for label in allowance.allowed}
    for record in records:
        for label, value, _ in record:
            if label in values_of:
                values_of[label].add(labels[label].meant(value))
    lanes: list[Lane] = []
    bound = {label for group in labels.correlated for label in group.labels}
    for label in allowance.allowed:
        cost = allowance.cost(label)
        most = min(_affordable(budget, cost), MOST_OF_A_LABEL)
        by_weight: dict[float, list[str]] = {}
        for value in itertools.islice(_usable(label, allowance, bogus, values_of[label], most), most):
            by_weight.setdefault(labels[label].weigh(value), []).append(value)
        free = not labels[label].single and label not in bound
        lanes += [
            Lane(label, weight, allowance.confidence, cost, tuple(values), free)
            for weight, values in by_weight.items()
            if weight > 0
        ]
    return [lane for lane in lanes if not any(_dominates(other, lane, budget) for other in lanes)]


def _affordable(budget: float, cost: float) -> int:
    return int(budget / cost + 1e-9)


def _dominates(better: Lane, lane: Lane, budget: float) -> bool:
    """Whether the lane can be left out: the other weighs as much, costs no more, and never runs out."""
    if better is lane or not (better.free and lane.free and better.limit >= _affordable(budget, better.cost)):
        return False
    if (better.weight, better.cost) == (lane.weight, lane.cost) and lane.limit >= _affordable(budget, lane.cost):
        # Of equivalent lanes the first in alphabetical order stays, or each would remove the other.
        return better.label < lane.label
    return better.weight >= lane.weight and better.cost <= lane.cost


def _usable(label: str, allowance: Allowance, bogus: Bogus | None, values: set[str], most: int) -> Iterator[str]:
    """Values of a label that are false, new and different from one another."""
    used = set(values)
    for place, value in enumerate(_drawn(label, bogus, most), start=1):
        if allowance.comparer.compare(Record([(label, value)])).kinds[0] != "wrong":
            if isinstance(bogus, Mapping):
                why = "is true of the person or near the truth: leave it out"
                raise ArgumentError(f"false value {place} of '{label}' {why}")
            continue
        meant = allowance.labels[label].meant(value)
        if meant not in used:
            used.add(meant)
            yield value


def _drawn(label: str, bogus: Bogus | None, most: int) -> Iterator[str]:
    if isinstance(bogus, Mapping):
        values = bogus.get(label, ())
        if isinstance(values, str):
            raise ArgumentError(f"the false values of '{label}' are one text: give a list of values")
        yield from (as_text(value, where=f"false value {at} of '{label}'") for at, value in enumerate(values, start=1))
        return
    # A normaliser may make many values equal, and a caller's function may repeat itself, so the attempts are limited.
    for number in range(1, 10 * most + 21):
        # Without a source: values that nobody takes to be true.
        yield f"decoy-{number}" if bogus is None else as_text(bogus(label), where=f"a false value of '{label}'")
