"""Decoys as concrete records: the smallest that matches given clusters (Create), and false values for it (Add)."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from tacit.errors import ArgumentError
from tacit.person.comparing import Comparer
from tacit.person.decoy_search import Lane
from tacit.person.labels import Labels
from tacit.person.records import Attribute, Record, Reference, as_text
from tacit.person.rules import Fact, Facts, Rules

# False values of a label: drawn one at a time, or given.
Bogus = Callable[[str], str] | Mapping[str, Sequence[str]]

# Choices of links that Create tries before it keeps the best so far.
MOST_CHOICES = 5_000
# More bogus attributes than this of one label are never made.
MOST_OF_A_LABEL = 1_000


@dataclass(frozen=True)
class Create:
    """Makes the smallest record that matches given clusters: the paper's Create.

    Parameters
    ----------
    rules : Rules
        When the adversary takes two records for the same person's.
    allowed : frozenset of labels
        The labels that may carry something false. A link of another label must be true of the person.
    cost : callable
        What an attribute of a label costs.

    Notes
    -----
    **Guarantees.** The record matches every cluster. It holds only facts that the clusters hold, each with the lowest
    confidence at which one of the clusters it links holds it, so that joining raises no confidence. It is the cheapest
    such record (of the cheapest, one that repeats least of what is true), as long as there are no more than
    ``MOST_CHOICES`` ways to choose the links; beyond that the best that was found.
    """

    rules: Rules
    allowed: frozenset[str]
    cost: Callable[[str], float]
    reference: Reference
    labels: Labels

    def usable(self, fact: Fact) -> bool:
        """Whether a decoy may say this: of a label that may carry false values, or true."""
        label, value = fact
        if label in self.allowed:
            return True
        return label in self._truths and self.labels[label].meant(value) in self._truths[label]

    def link_cost(self, wholes: Iterable[Facts]) -> float:
        """The cost of the cheapest link to a cluster; infinite if no decoy may match it.

        ``wholes`` are what a record must share its values with: the merged record of the cluster or, for an adversary
        that matches base records only, each of these.
        """
        return min(self._cost_with(frozenset(fact[0] for fact in self._links(whole))) for whole in wholes)

    def __call__(self, clusters: Sequence[Sequence[Facts]]) -> dict[Fact, float]:
        """The record that matches all clusters, as facts with confidences; empty if no decoy may match them all."""
        options = [self._options(at, clusters) for at in range(len(clusters))]
        if not all(options):
            return {}
        chosen = self._cheapest(options)
        return {
            fact: min(
                whole[fact]
                for cluster in clusters
                for whole in cluster
                if fact in whole and self.rules.counts(whole[fact])
            )
            for fact in chosen
        }

    def _cost_with(self, there: frozenset[str]) -> float:
        """The cost of the cheapest alternative whose labels are there."""
        if there not in self._known_costs:  # a table has many clusters and few sets of labels
            met = [sum(map(self.cost, labels)) for labels in self.rules.alternatives if there.issuperset(labels)]
            self._known_costs[there] = min(met, default=math.inf)
        return self._known_costs[there]

    @cached_property
    def _known_costs(self) -> dict[frozenset[str], float]:
        return {}

    @cached_property
    def _truths(self) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        for label, value in self.reference:
            found.setdefault(label, set()).add(self.labels[label].meant(value))
        return found

    @cached_property
    def _wanted(self) -> frozenset[str]:
        return frozenset(self.rules.labels)

    @cached_property
    def _comparer(self) -> Comparer:
        return Comparer(self.reference, self.labels)

    def _links(self, whole: Facts) -> list[Fact]:
        return [f for f, held in whole.items() if f[0] in self._wanted and self.rules.counts(held) and self.usable(f)]

    def _telling(self, fact: Fact) -> float:
        """The weight of what is true in the fact: 0 for a wrong value, which makes the better link."""
        if fact not in self._told:
            self._told[fact] = float(self._comparer.compare(Record.trusted([Attribute(*fact)])).credit.sum())
        return self._told[fact]

    @cached_property
    def _told(self) -> dict[Fact, float]:
        return {}

    def _options(self, at: int, clusters: Sequence[Sequence[Facts]]) -> list[frozenset[Fact]]:
        """The sets of facts that match the cluster.

        All values of a label cost the same. So values that no other cluster of the group holds are alike but for what
        they tell, and the one that tells least stands for all of them.
        """
        elsewhere = {fact for place, other in enumerate(clusters) if place != at for whole in other for fact in whole}
        found: dict[frozenset[Fact], None] = {}
        for whole in clusters[at]:
            values: dict[str, list[Fact]] = {}
            for fact in self._links(whole):
                values.setdefault(fact[0], []).append(fact)
            for label, facts in values.items():
                shared = [fact for fact in facts if fact in elsewhere]
                alone = [fact for fact in facts if fact not in elsewhere]
                values[label] = shared + sorted(alone, key=lambda fact: (self._telling(fact), fact))[:1]
            for labels in self.rules.alternatives:
                sides = [values.get(label, []) for label in labels]
                found.update(dict.fromkeys(map(frozenset, itertools.product(*sides))))
        return [option for option in found if not any(other < option for other in found)]

    def _cheapest(self, options: list[list[frozenset[Fact]]]) -> frozenset[Fact]:
        """One option for each cluster, such that all together are cheapest."""
        prices = {f: (self.cost(f[0]), self._telling(f)) for cluster in options for option in cluster for f in option}
        holders = Counter(fact for cluster in options for fact in frozenset().union(*cluster))
        shared = frozenset(fact for fact, count in holders.items() if count > 1)
        chosen: frozenset[Fact] = frozenset()
        for part in _connected([frozenset().union(*cluster) & shared for cluster in options]):
            chosen |= _search(_worthwhile([options[place] for place in part], shared, prices), shared, prices)
        return chosen


Price = tuple[float, float]


def _sum(facts: Iterable[Fact], prices: Mapping[Fact, Price]) -> Price:
    ordered = [prices[fact] for fact in sorted(facts)]  # so that equal sets have equal sums to the last digit
    return math.fsum(cost for cost, _ in ordered), math.fsum(telling for _, telling in ordered)


def _connected(sets: Sequence[frozenset[Fact]]) -> list[list[int]]:
    """Places of sets that have elements in common, directly or through others; a set without elements is alone."""
    parts: list[tuple[list[int], frozenset[Fact]]] = []
    for place, elements in enumerate(sets):
        meeting = [part for part in parts if part[1] & elements]
        parts = [part for part in parts if not part[1] & elements]
        places = sorted([place, *(p for part in meeting for p in part[0])])
        parts.append((places, elements.union(*(part[1] for part in meeting))))
    return [places for places, _ in parts]


def _worthwhile(
    options: list[list[frozenset[Fact]]], shared: frozenset[Fact], prices: Mapping[Fact, Price]
) -> list[list[frozenset[Fact]]]:
    """Of options of a cluster that contain the same shared facts only the cheapest; clusters with few options first."""
    kept = []
    for cluster in options:
        best: dict[frozenset[Fact], frozenset[Fact]] = {}
        for option in sorted(cluster, key=lambda option: (_sum(option, prices), sorted(option))):
            best.setdefault(option & shared, option)
        kept.append(list(best.values()))
    return sorted(kept, key=len)


def _search(
    options: list[list[frozenset[Fact]]], shared: frozenset[Fact], prices: Mapping[Fact, Price]
) -> frozenset[Fact]:
    """Depth first, the cheapest step first; cut off where what is yet to come cannot make up for it."""
    to_come = [0.0]
    for cluster in reversed(options):
        # A cluster costs at least what no other cluster can have brought already.
        to_come.append(to_come[-1] + min(_sum(option - shared, prices)[0] for option in cluster))
    to_come.reverse()
    best: tuple[Price, frozenset[Fact]] = ((math.inf, math.inf), frozenset())
    stack: list[tuple[int, frozenset[Fact], Price]] = [(0, frozenset(), (0.0, 0.0))]
    tried = 0
    while stack and (tried <= MOST_CHOICES or not best[1]):
        depth, facts, price = stack.pop()
        tried += 1
        if (price[0] + to_come[depth], price[1]) >= best[0]:
            continue
        if depth == len(options):
            best = price, facts
            continue
        grown = {facts | option for option in options[depth]}
        steps = [(_sum(more, prices), sorted(more), more) for more in grown]
        stack.extend((depth + 1, more, cost) for cost, _, more in sorted(steps, key=lambda s: s[:2], reverse=True))
    return best[1]


def placeholders() -> Iterator[str]:
    """False values that nobody takes for true: decoy-1, decoy-2 and so on."""
    return (f"decoy-{number}" for number in itertools.count(1))


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
        if isinstance(bogus, Mapping):
            for label in bogus:
                if label not in allowed:
                    raise ArgumentError(f"false values are given for '{label}', which may not carry any: allow it")
        held: dict[str, set[str]] = {label: set() for label in allowed}
        for record in records:
            for attribute in record:
                if attribute.label in held:
                    held[attribute.label].add(labels[attribute.label].meant(attribute.value))
        lanes: dict[Lane, list[str]] = {}
        bound = {label for group in labels.correlated for label in group.labels}
        comparer = Comparer(reference, labels)
        for label in allowed:
            wanted = min(int(budget / cost(label) + 1e-9), MOST_OF_A_LABEL)
            by_weight: dict[float, list[str]] = {}
            for value in _false(label, comparer, labels, bogus=bogus, held=held[label], wanted=wanted):
                by_weight.setdefault(labels[label].weigh(value), []).append(value)
            free = not labels[label].single and label not in bound
            for weight, values in by_weight.items():
                if weight > 0:
                    lanes[Lane(label, weight, confidence, cost(label), len(values), free)] = values
        kept = [lane for lane in lanes if not any(_dominates(other, lane, budget) for other in lanes)]
        return cls(tuple(kept), tuple(tuple(lanes[lane]) for lane in kept))

    def taken(self, adds: Sequence[int], used: list[int]) -> list[Attribute]:
        """The next so many values of each lane, as attributes; ``used`` counts what was taken, and is moved on."""
        made: list[Attribute] = []
        for at, (lane, count) in enumerate(zip(self.lanes, adds, strict=True)):
            values = self.values[at][used[at] : used[at] + count]
            used[at] += count
            made.extend(Attribute(lane.label, value, lane.confidence) for value in values)
        return made


def _dominates(better: Lane, lane: Lane, budget: float) -> bool:
    """Whether the lane can be left out: the other weighs as much, costs no more, and never runs out."""
    endless = better.limit >= int(budget / better.cost + 1e-9)
    if better is lane or not (better.free and lane.free and endless):
        return False
    ahead = (better.weight, -better.cost), (lane.weight, -lane.cost)
    # Of lanes that are worth the same the first in the alphabet stays, so that not each removes the other.
    equal = ahead[0] == ahead[1] and lane.limit >= int(budget / lane.cost + 1e-9)
    if equal:
        return better.label < lane.label
    return better.weight >= lane.weight and better.cost <= lane.cost


def _false(
    label: str, comparer: Comparer, labels: Labels, *, bogus: Bogus | None, held: set[str], wanted: int
) -> Iterator[str]:
    """At most so many usable false values of a label."""
    given = isinstance(bogus, Mapping)
    seen = set(held)
    count = 0
    for place, value in enumerate(_drawn(label, bogus, wanted), start=1):
        if count >= wanted:
            return
        if comparer.compare(Record([(label, value)])).kinds[0] != "wrong":
            if given:
                raise ArgumentError(
                    f"false value {place} of '{label}' is true of the person or near the truth: leave it out"
                )
            continue
        meant = labels[label].meant(value)
        if meant not in seen:
            seen.add(meant)
            count += 1
            yield value


def _drawn(label: str, bogus: Bogus | None, wanted: int) -> Iterator[str]:
    if isinstance(bogus, Mapping):
        given = bogus.get(label, ())
        if isinstance(given, str):
            raise ArgumentError(f"the false values of '{label}' are one text: give a list of values")
        yield from (as_text(value, where=f"false value {at} of '{label}'") for at, value in enumerate(given, start=1))
        return
    source = placeholders()
    # A normaliser may read many as the same value, and a caller's function may repeat itself: trying has an end.
    for _ in range(10 * wanted + 20):
        yield next(source) if bogus is None else as_text(bogus(label), where=f"a false value of '{label}'")
