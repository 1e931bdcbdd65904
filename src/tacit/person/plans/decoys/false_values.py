"""Add: false values that a decoy may carry, and none of which is true, near the truth or somebody's."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tacit.errors import ArgumentError
from tacit.person.model import Attribute, Comparer, Labels, Record, Reference
from tacit.person.model.records import as_text
from tacit.person.plans.decoys.board import Lane

# False values of a label: drawn one at a time, or given.
Bogus = Callable[[str], str] | Mapping[str, Sequence[str]]

# More bogus attributes than this of one label are never made.
MOST_OF_A_LABEL = 1_000


@dataclass(frozen=True)
class FalseValues:
    """Bogus attributes in lanes, each with its values: what Add appends.

    Notes
    -----
    **Guarantees.** No value is true of the person or earns credit for being near the truth, none is held by a record
    under the same label (it would link the decoy to whoever holds it), and no value is used twice (two decoys that
    share one may be taken for one).
    """

    lanes: tuple[Lane, ...]
    values: tuple[tuple[str, ...], ...]

    @classmethod
    def gathered(
        cls,
        records: Iterable[Record],
        reference: Reference,
        labels: Labels,
        *,
        allowed: Sequence[str],
        bogus: Bogus | None,
        cost: Callable[[str], float],
        confidence: float,
        budget: float,
    ) -> FalseValues:
        """What may be added, within the budget, of the labels that may carry false values."""
        for label in bogus if isinstance(bogus, Mapping) else ():
            if label not in allowed:
                raise ArgumentError(f"false values are given for '{label}', which may not carry any: allow it")
        held: dict[str, set[str]] = {label: set() for label in allowed}
        for record in records:
            for label, value, _ in record:
                if label in held:
                    held[label].add(labels[label].meant(value))
        lanes: dict[Lane, list[str]] = {}
        bound = {label for group in labels.correlated for label in group.labels}
        comparer = Comparer(reference, labels)
        for label in allowed:
            most = min(_affordable(budget, cost(label)), MOST_OF_A_LABEL)
            by_weight: dict[float, list[str]] = {}
            usable = _usable(label, comparer, labels, bogus=bogus, held=held[label], most=most)
            for value in itertools.islice(usable, most):
                by_weight.setdefault(labels[label].weigh(value), []).append(value)
            free = not labels[label].single and label not in bound
            for weight, values in by_weight.items():
                if weight > 0:
                    lanes[Lane(label, weight, confidence, cost(label), len(values), free)] = values
        kept = [lane for lane in lanes if not any(_dominates(other, lane, budget) for other in lanes)]
        return cls(tuple(kept), tuple(tuple(lanes[lane]) for lane in kept))

    def next_values(self, adds: Sequence[int], used: list[int]) -> list[Attribute]:
        """The next so many values of each lane, as attributes; ``used`` counts what was given out, and is moved on."""
        attributes: list[Attribute] = []
        for at, (lane, count) in enumerate(zip(self.lanes, adds, strict=True)):
            values = self.values[at][used[at] : used[at] + count]
            used[at] += count
            attributes.extend(Attribute(lane.label, value, lane.confidence) for value in values)
        return attributes


def _affordable(budget: float, cost: float) -> int:
    return int(budget / cost + 1e-9)


def _dominates(better: Lane, lane: Lane, budget: float) -> bool:
    """Whether the lane can be left out: the other weighs as much, costs no more, and never runs out."""
    if better is lane or not (better.free and lane.free and better.limit >= _affordable(budget, better.cost)):
        return False
    if (better.weight, better.cost) == (lane.weight, lane.cost) and lane.limit >= _affordable(budget, lane.cost):
        # Of lanes that are worth the same the first in the alphabet stays, so that not each removes the other.
        return better.label < lane.label
    return better.weight >= lane.weight and better.cost <= lane.cost


def _usable(
    label: str, comparer: Comparer, labels: Labels, *, bogus: Bogus | None, held: set[str], most: int
) -> Iterator[str]:
    """Values of a label that are false, new and different from one another."""
    seen = set(held)
    for place, value in enumerate(_drawn(label, bogus, most), start=1):
        if comparer.compare(Record([(label, value)])).kinds[0] != "wrong":
            if isinstance(bogus, Mapping):
                raise ArgumentError(
                    f"false value {place} of '{label}' is true of the person or near the truth: leave it out"
                )
            continue
        meant = labels[label].meant(value)
        if meant not in seen:
            seen.add(meant)
            yield value


def _drawn(label: str, bogus: Bogus | None, most: int) -> Iterator[str]:
    if isinstance(bogus, Mapping):
        given = bogus.get(label, ())
        if isinstance(given, str):
            raise ArgumentError(f"the false values of '{label}' are one text: give a list of values")
        yield from (as_text(value, where=f"false value {at} of '{label}'") for at, value in enumerate(given, start=1))
        return
    # A normaliser may read many as the same value, and a caller's function may repeat itself: trying has an end.
    for number in range(1, 10 * most + 21):
        # Without a source, values that nobody takes for true.
        yield f"decoy-{number}" if bogus is None else as_text(bogus(label), where=f"a false value of '{label}'")
