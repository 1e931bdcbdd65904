"""Create: the smallest record that matches given clusters."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from tacit.person.model import Attribute, Record
from tacit.person.model.records import Fact
from tacit.person.plans.decoys.allowance import Allowance
from tacit.person.resolve import Rules
from tacit.person.resolve.rules import Facts

# How many choices of links are tried before the best so far is accepted.
MOST_CHOICES = 5_000

# A set of facts that matches a cluster; and what facts cost, then what they tell.
_Option = frozenset[Fact]
_Price = tuple[float, float]


class Create:
    """Makes the smallest record that matches given clusters, by the rules of an adversary: the paper's Create.

    Notes
    -----
    **Guarantees.** The record matches every cluster. It holds only facts that the clusters hold and a decoy may say,
    each with the lowest confidence at which one of the clusters it links holds it, so that joining raises no
    confidence. It is the cheapest such record (of the cheapest, one that repeats least of what is true), as long as
    there are no more than ``MOST_CHOICES`` ways to choose the links; beyond that, the best one found.
    """

    def __init__(self, rules: Rules, allowance: Allowance) -> None:
        self.rules, self.allowance = rules, allowance
        # A table has many clusters but few different sets of labels.
        self._costs: dict[frozenset[str], float] = {}
        self._telling: dict[Fact, float] = {}

    def cost(self, facts: Iterable[Fact]) -> float:
        """What facts cost in a decoy."""
        return sum(self.allowance.cost(label) for label, _ in facts)

    def link_cost(self, wholes: Iterable[Facts]) -> float:
        """The cost of the cheapest link to a cluster; infinite if no decoy may match it.

        ``wholes`` are what a record must share values with: the merged record of the cluster or, for an adversary that
        matches only base records, each of them.
        """
        return min(self._cost_with(frozenset(label for label, _ in self._links(whole))) for whole in wholes)

    def _cost_with(self, available: frozenset[str]) -> float:
        """The cost of the cheapest alternative whose labels are all available."""
        if available not in self._costs:
            met = (labels for labels in self.rules.alternatives if available.issuperset(labels))
            costs = (sum(map(self.allowance.cost, labels)) for labels in met)
            self._costs[available] = min(costs, default=math.inf)
        return self._costs[available]

    def __call__(self, clusters: Sequence[Sequence[Facts]]) -> dict[Fact, float]:
        """The record that matches all clusters, as facts with confidences; empty if no decoy may match them all."""
        options = [self._options(at, clusters) for at in range(len(clusters))]
        if not all(options):
            return {}
        wholes = [whole for cluster in clusters for whole in cluster]
        return {
            fact: min(whole[fact] for whole in wholes if fact in whole and self.rules.counts(whole[fact]))
            for fact in sorted(self._cheapest(options))
        }

    def _links(self, whole: Facts) -> list[Fact]:
        counts, wanted, usable = self.rules.counts, self.rules.labels, self.allowance.usable
        return [fact for fact, holding in whole.items() if fact[0] in wanted and counts(holding) and usable(fact)]

    def _tells(self, fact: Fact) -> float:
        """The weight of what is true in the fact: 0 for a wrong value, which makes the better link."""
        if fact not in self._telling:
            alone = Record.trusted([Attribute(*fact)])
            self._telling[fact] = float(self.allowance.comparer.compare(alone).credit.sum())
        return self._telling[fact]

    def _options(self, at: int, clusters: Sequence[Sequence[Facts]]) -> list[_Option]:
        """The sets of facts that match the cluster.

        All values of a label cost the same. Values that no other cluster of the group holds differ only in what they
        give away, so the one that gives away least stands for all of them.
        """
        elsewhere = {fact for place, other in enumerate(clusters) if place != at for whole in other for fact in whole}
        options: dict[_Option, None] = {}
        for whole in clusters[at]:
            values: dict[str, list[Fact]] = {}
            for fact in self._links(whole):
                values.setdefault(fact[0], []).append(fact)
            for label, facts in values.items():
                alone = sorted((fact for fact in facts if fact not in elsewhere), key=lambda f: (self._tells(f), f))
                values[label] = [fact for fact in facts if fact in elsewhere] + alone[:1]
            for labels in self.rules.alternatives:
                sides = [values.get(label, []) for label in labels]
                options.update(dict.fromkeys(map(frozenset, itertools.product(*sides))))
        return [option for option in options if not any(other < option for other in options)]

    def _cheapest(self, options: list[list[_Option]]) -> _Option:
        """One option for each cluster, so that all together are cheapest."""
        named = [_Option().union(*cluster) for cluster in options]
        prices = {fact: (self.allowance.cost(fact[0]), self._tells(fact)) for facts in named for fact in facts}
        holders = Counter(fact for facts in named for fact in facts)
        shared = frozenset(fact for fact, count in holders.items() if count > 1)
        chosen = _Option()
        for part in _connected([facts & shared for facts in named]):
            chosen |= _search(_worthwhile([options[place] for place in part], shared, prices), shared, prices)
        return chosen


def _sum(facts: Iterable[Fact], prices: Mapping[Fact, _Price]) -> _Price:
    ordered = [prices[fact] for fact in sorted(facts)]  # so that equal sets have equal sums to the last digit
    return math.fsum(cost for cost, _ in ordered), math.fsum(telling for _, telling in ordered)


def _connected(sets: Sequence[_Option]) -> list[list[int]]:
    """Places of sets that have elements in common, directly or through others; a set without elements is alone."""
    parts: list[tuple[list[int], _Option]] = []
    for place, elements in enumerate(sets):
        meeting = [part for part in parts if part[1] & elements]
        parts = [part for part in parts if not part[1] & elements]
        places = sorted([place, *(p for part in meeting for p in part[0])])
        parts.append((places, elements.union(*(part[1] for part in meeting))))
    return [places for places, _ in parts]


def _worthwhile(options: list[list[_Option]], shared: _Option, prices: Mapping[Fact, _Price]) -> list[list[_Option]]:
    """Among options of a cluster with the same shared facts, only the cheapest; clusters with few options first."""
    kept = []
    for cluster in options:
        best: dict[_Option, _Option] = {}
        for option in sorted(cluster, key=lambda option: (_sum(option, prices), sorted(option))):
            best.setdefault(option & shared, option)
        kept.append(list(best.values()))
    return sorted(kept, key=len)


def _search(options: list[list[_Option]], shared: _Option, prices: Mapping[Fact, _Price]) -> _Option:
    """Depth first, cheapest step first; a branch is cut off when its lower bound is no better than the best plan."""
    # A cluster costs at least its facts that no other cluster can contribute.
    own = [min(_sum(option - shared, prices)[0] for option in cluster) for cluster in options]
    to_come = list(itertools.accumulate(reversed(own), initial=0.0))[::-1]
    best: tuple[_Price, _Option] = ((math.inf, math.inf), _Option())
    stack: list[tuple[int, _Option, _Price]] = [(0, _Option(), (0.0, 0.0))]
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
        steps = sorted(((_sum(more, prices), sorted(more), more) for more in grown), key=lambda s: s[:2], reverse=True)
        stack.extend((depth + 1, more, cost) for cost, _, more in steps)
    return best[1]
