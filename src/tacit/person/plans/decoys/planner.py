"""From records to decoys against one adversary: lay out the board, search it, make the records."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np

from tacit.errors import ArgumentError
from tacit.lift.joint import Vector
from tacit.person.model import Attribute, Record, record_leakages
from tacit.person.model.leakage import leakage_of, transform_of
from tacit.person.model.quadrature import nodes
from tacit.person.plans.decoys.allowance import Allowance
from tacit.person.plans.decoys.board import NOTHING, Adds, Board, Lane
from tacit.person.plans.decoys.create import Create
from tacit.person.plans.decoys.knapsack import by_partition
from tacit.person.plans.decoys.search import MOST_FOR_EXACT, better, exact, greedy
from tacit.person.resolve import Adversary, Resolve, WhatIf, merge
from tacit.person.resolve.rules import Facts
from tacit.person.resolve.steps import Grouping

Method = Literal["auto", "exact", "greedy", "partition"]

# If there are more clusters, only those that matter most are searched: of those that hold something of the person the
# worst, and of the others those with the most wrong weight for the cost of a link.
MOST_HOT = 128
MOST_COLD = 300


@dataclass(frozen=True)
class Decoy:
    """A record to plant.

    ``links`` make it match: facts the adversary already holds, with a confidence at which it holds them. ``adds`` are
    false and new. A decoy of ``kind`` "self" spoils one cluster by what it adds; one of kind "linkage" joins several.
    """

    record: Record
    links: tuple[Attribute, ...] = field(repr=False)
    adds: tuple[Attribute, ...] = field(repr=False)
    cost: float
    kind: Literal["self", "linkage"]


class Proposal(NamedTuple):
    """The result of a search as records, and the leakage it expects from them."""

    decoys: tuple[Decoy, ...]
    predicted: float
    method: str


def resolving(adversary: Adversary) -> Resolve | None:
    """The step in which the adversary resolves by rules; None if it does not, or resolves in other ways as well."""
    steps = [step for step in adversary.steps if isinstance(step, Grouping)]
    return steps[0] if len(steps) == 1 and isinstance(steps[0], Resolve) else None


class Planner:
    """Plans against one adversary, who holds the records. Clusters are named by their places in ``members``."""

    def __init__(self, what_if: WhatIf, adversary: Adversary, allowance: Allowance, lanes: Sequence[Lane]) -> None:
        resolve = resolving(adversary)
        assert resolve is not None
        self._adversary, self._allowance, self._lanes = adversary, allowance, lanes
        self._create = Create(resolve.rules, allowance)
        self._base_only = resolve.closure == "components"
        # Links use values as the resolution sees them; later steps may change them again.
        self._standing = what_if.standing()
        self.members = list(self._standing.leakages)
        self._leakages = np.array(list(self._standing.leakages.values()))
        base = what_if.records if adversary.keep_base else ()
        kept = record_leakages(base, allowance.reference, allowance.labels, beta=allowance.beta)
        self._kept = float(kept.max(initial=0.0))

    def proposals(self, method: Method) -> Iterator[Proposal]:
        """The decoys found by the searches of a method, best first; ``auto`` is exact for few clusters."""
        budget = self._allowance.budget
        chosen, board = self._board(budget)
        if method == "exact" and len(board) > MOST_FOR_EXACT:
            raise ArgumentError(
                f"method 'exact' would try every grouping of {len(board)} clusters; it does so for at most "
                f"{MOST_FOR_EXACT}: take 'auto'"
            )
        few = len(board.hot) + len(board.cold) <= MOST_FOR_EXACT
        names = [method] if method != "auto" else ["exact"] if few else ["greedy", "partition"]
        searches = {"exact": exact, "greedy": greedy, "partition": by_partition}
        sketches = [(searches[name](board, budget), name) for name in names]
        if better(sketches[0][0], sketches[-1][0]) is not sketches[0][0]:
            sketches.reverse()
        for sketch, name in sketches:
            groups = [[chosen[c] for c in sorted(group.members)] for group in sketch.groups]
            used = list(board.no_adds)
            decoys = tuple(
                self._decoy(number, clusters, group.adds, used)
                for number, (group, clusters) in enumerate(zip(sketch.groups, groups, strict=True), start=1)
            )
            yield Proposal(decoys, self._predicted(groups, decoys), name)

    def _merged(self, *clusters: int, more: Sequence[Record] = ()) -> Record:
        """What the adversary writes down for clusters taken together."""
        members = [self._standing.written[member] for cluster in clusters for member in self.members[cluster]]
        return merge([*members, *more], self._adversary.merge, self._allowance.labels)

    def _wholes(self, cluster: int) -> tuple[Facts, ...]:
        """What a record must share values with to join the cluster."""
        members = [self._standing.seen[member] for member in self.members[cluster]]
        return tuple(record.confidences for record in (members if self._base_only else [merge(members)]))

    def _board(self, budget: float) -> tuple[list[int], Board]:
        """The clusters worth searching, and the board they are laid on."""
        costs: dict[int, float] = {}
        hot: list[int] = []
        floor = self._kept
        for c in np.argsort(-self._leakages, kind="stable").tolist():
            if self._leakages[c] <= NOTHING or len(hot) == MOST_HOT:
                floor = max(floor, float(self._leakages[c]))
                break
            costs[c] = self._create.link_cost(self._wholes(c))
            if costs[c] <= budget:
                hot.append(c)
            else:
                floor = max(floor, float(self._leakages[c]))  # out of reach, so it stays
        labels = self._allowance.labels
        junk: dict[int, float] = {}
        for c in np.flatnonzero(self._leakages <= NOTHING).tolist() if hot else []:
            costs[c] = self._create.link_cost(self._wholes(c))
            if costs[c] <= budget:
                junk[c] = sum(a.confidence * labels[a.label].weigh(a.value) for a in self._merged(c))
        chosen = hot + sorted(junk, key=lambda c: -junk[c] / costs[c])[:MOST_COLD]
        link_costs, junk_weights = [costs[c] for c in chosen], [junk.get(c, 0.0) for c in chosen]
        return chosen, self._laid_out(chosen, link_costs, junk_weights, floor)

    def _laid_out(self, chosen: list[int], link_costs: list[float], junk: list[float], floor: float) -> Board:
        merged = [self._merged(c) for c in chosen]
        wholes = [self._wholes(c) for c in chosen]
        comparer, square = self._allowance.comparer, self._allowance.beta**2
        # L = (1 + beta^2) E[I / (W + base)]; if the reference has no weight, nothing is hot and the value is not used.
        base = square * comparer.reference_weight or 1.0
        shared = sum(group.shared for group in self._allowance.labels.correlated)
        false = sum(lane.weight * lane.limit for lane in self._lanes)
        weight = sum(float(comparer.compare(record).weight.sum()) for record in merged)
        u, omega = nodes(1 + (weight + 2 * shared + false) / base)

        def vectors(members: frozenset[int], bound: Adds) -> tuple[Vector, Vector]:
            together = merge([merged[place] for place in sorted(members)])
            adds = self._next_values(bound, [0] * len(bound))
            return transform_of(comparer.compare(Record.trusted([*together, *adds])), u / base)

        def group_cost(members: frozenset[int]) -> float:
            facts = self._create([wholes[place] for place in sorted(members)])
            return self._create.cost(facts) if facts else math.inf

        return Board(
            nodes=u / base,
            base=(1 + square) / base * omega * np.exp(-u),
            vectors=vectors,
            link_costs=link_costs,
            lanes=self._lanes,
            floor=floor,
            group_cost=group_cost,
            junk=junk,
        )

    def _next_values(self, adds: Adds, used: list[int]) -> list[Attribute]:
        """The next values of each lane, none of them twice; ``used`` counts those given out, and is updated.

        Two decoys that shared a false value might be merged.
        """
        attributes: list[Attribute] = []
        for at, (lane, count) in enumerate(zip(self._lanes, adds, strict=True)):
            values = lane.values[used[at] : used[at] + count]
            used[at] += count
            attributes.extend(Attribute(lane.label, value, lane.confidence) for value in values)
        return attributes

    def _decoy(self, number: int, clusters: Sequence[int], counts: Adds, used: list[int]) -> Decoy:
        facts = self._create([self._wholes(cluster) for cluster in clusters])
        links = tuple(Attribute(*fact, confidence) for fact, confidence in facts.items())
        adds = tuple(self._next_values(counts, used))
        record = Record([*links, *adds], name=f"decoy {number}", source="decoys")
        cost = self._create.cost(attribute.fact for attribute in record)
        return Decoy(record, links, adds, cost, "linkage" if len(clusters) > 1 else "self")

    def _predicted(self, groups: Sequence[Sequence[int]], decoys: Sequence[Decoy]) -> float:
        """The worst leakage if every decoy joins exactly the clusters it was made for."""
        left = self._leakages.copy()
        records: list[Record] = []
        for clusters, decoy in zip(groups, decoys, strict=True):
            left[list(clusters)] = 0.0
            written = self._adversary.holdings([decoy.record], self._allowance.labels).records  # after its other steps
            records.append(self._merged(*clusters, more=written))
            if self._adversary.keep_base:
                records.append(decoy.record)
        compare, beta = self._allowance.comparer.compare, self._allowance.beta
        values = [leakage_of(compare(record), beta=beta) for record in records]
        return max([*values, float(left.max(initial=0.0)), self._kept])
