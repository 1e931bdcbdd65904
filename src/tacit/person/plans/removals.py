"""Which sources to ask for removal first, when asking costs something and may fail."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from tacit.errors import ArgumentError
from tacit.person.model import Labels, Record, Reference
from tacit.person.resolve import Adversary, Operator, WhatIf

# All plans are tried if there are at most this many; otherwise requests are added one by one.
MOST_PLANS = 5_000
# When not all plans are tried: up to this many uncertain requests, every case of success and failure is counted; for
# more, equally many cases are sampled, evenly spread.
MOST_UNCERTAIN = 7
_SAME = 1e-12

# A plan (the holders asked) or an outcome (those that removed their records).
_Set = frozenset[int]


@dataclass(frozen=True)
class Offer:
    """What it costs to ask a holder to remove its records, and the probability that it does."""

    cost: float = 1.0
    success: float = 1.0

    def __post_init__(self) -> None:
        if not (math.isfinite(self.cost) and self.cost >= 0):
            raise ArgumentError(f"a removal costs {self.cost:g}: give a finite number, 0 or more")
        if not 0.0 <= self.success <= 1.0:
            raise ArgumentError(f"a removal succeeds with probability {self.success:g}: it lies in [0, 1]")


@dataclass(frozen=True)
class SourceContribution:
    """What one holder of records adds: the leakage minus the leakage without it, everything resolved again.

    A negative contribution means junk that misleads the adversary: removing it would raise the leakage.
    """

    source: str
    records: int
    leakage_without: float
    contribution: float


@dataclass(frozen=True)
class RemovalRequest:
    """One request of a plan; a plan lists them in the order to make them.

    ``expected`` is the expected leakage after this request and those before it, ``if_removed`` the leakage if all of
    them succeed.
    """

    source: str
    records: int
    cost: float
    success: float
    expected: float
    if_removed: float


@dataclass(frozen=True)
class RemovalPlan:
    """Whom to ask for removal.

    The first of the ``requests`` lowers the expected leakage most per cost. ``before`` is the leakage now,
    ``expected`` its expectation after all requests, ``if_removed`` the leakage if all of them succeed. ``searched``
    says whether all plans within the limits were tried, ``expectation`` whether every case of which requests succeed
    was counted. ``sources`` are all sources, the largest contribution first.
    """

    requests: tuple[RemovalRequest, ...]
    before: float
    expected: float
    if_removed: float
    cost: float
    searched: Literal["exact", "heuristic"]
    expectation: Literal["exact", "approximate"]
    sources: tuple[SourceContribution, ...]


def plan_removals(
    records: Iterable[Record] | WhatIf,
    reference: Reference | None = None,
    adversary: Adversary | Operator | None = None,
    labels: Labels | None = None,
    *,
    offers: Mapping[str, Offer] | None = None,
    budget: float | None = None,
    at_most: int | None = None,
) -> RemovalPlan:
    """Whom to ask for removal, so that the expected leakage is least.

    Parameters
    ----------
    records, reference, adversary, labels
        What is already public, and in whose hands; a `WhatIf` brings its own reference, adversary and labels. Records
        with the same ``source`` are removed together; those without a source cannot be removed.
    offers : mapping from source to Offer, optional
        Who can be asked, at what cost and with what success; requests succeed independently of one another. An offer
        for a source without records is ignored. Default: everybody, at cost 1 and with certainty.
    budget : float, optional
        The largest sum of costs.
    at_most : int, optional
        The largest number of requests.

    Returns
    -------
    RemovalPlan
        Possibly without a request: if removing anything would raise the leakage, because the adversary's record of the
        person would lose its errors, the plan asks for nothing.

    Guarantees
    ----------
    Of plans that leak equally little (within 1e-12) a cheapest is chosen. If ``searched`` is "exact", no plan within
    the limits has a smaller expected leakage.

    Notes
    -----
    All plans are tried if there are at most 5,000 of them (any of twelve holders, three of thirty). Otherwise requests
    are added one by one, by reduction per cost and by reduction alone, starting from nothing and from the best pair
    (removing one of two holders of the same facts gains nothing), and the best plan met on the way is kept. In that
    case, with more than seven uncertain requests, the expectation is taken over 128 points of a Sobol sequence instead
    of all cases: a deterministic approximation.
    """
    if budget is not None and not budget >= 0:
        raise ArgumentError(f"the budget is {budget:g}: it is 0 or more")
    if at_most is not None and at_most < 0:
        raise ArgumentError(f"at most {at_most} requests: it is 0 or more")
    what_if = WhatIf.over(records, reference, adversary, labels)
    holders: dict[str, list[int]] = {}
    for place, record in enumerate(what_if.records):
        if record.source:
            holders.setdefault(record.source, []).append(place)
    offered = {name: Offer() for name in holders} if offers is None else offers
    for name, offer in offered.items():
        if not isinstance(offer, Offer):
            raise ArgumentError(f"the offer of '{name}' is not an Offer: give Offer(cost=1, success=0.5)")
    table = _Requests(what_if, holders, offered, math.inf if budget is None else budget, at_most)
    best = table.best(table.plans) if table.exact else _grown(table)
    requests: list[RemovalRequest] = []
    so_far = _Set()
    for place in _order(table, best):
        so_far |= {place}
        name, offer = table.names[place], table.offers[place]
        leakages = table.expected(so_far), table.leakage(so_far)
        requests.append(RemovalRequest(name, len(holders[name]), offer.cost, offer.success, *leakages))
    return RemovalPlan(
        requests=tuple(requests),
        before=what_if.leakage,
        expected=table.expected(best),
        if_removed=table.leakage(best),
        cost=table.cost(best),
        searched="exact" if table.exact else "heuristic",
        expectation="approximate" if table.approximate(best) else "exact",
        sources=_contributions(what_if, holders),
    )


def _contributions(what_if: WhatIf, holders: Mapping[str, Sequence[int]]) -> tuple[SourceContribution, ...]:
    """Leave one source out: what the leakage would be without each, the largest contribution first."""
    before = what_if.leakage
    without = {name: what_if.without(members) for name, members in holders.items()}
    sources = (SourceContribution(name, len(holders[name]), after, before - after) for name, after in without.items())
    return tuple(sorted(sources, key=lambda source: -source.contribution))


class _Requests:
    """Who can be asked, which plans the limits allow, and the leakage after any of them removed their records."""

    def __init__(
        self,
        what_if: WhatIf,
        holders: Mapping[str, Sequence[int]],
        offers: Mapping[str, Offer],
        budget: float,
        at_most: int | None,
    ) -> None:
        self._held, self._budget = what_if, budget
        self.names = [name for name in offers if name in holders]
        self._members = [holders[name] for name in self.names]
        self.offers = [offers[name] for name in self.names]
        self._size = len(self.names) if at_most is None else at_most
        self._leakages: dict[_Set, float] = {}
        self._expected: dict[tuple[_Set, _Set], float] = {}
        # One more than the limit, to see whether all of them can be tried.
        self.plans = list(itertools.islice(self._plans(), MOST_PLANS + 1))
        self.exact = len(self.plans) <= MOST_PLANS

    def cost(self, plan: _Set) -> float:
        return math.fsum(self.offers[place].cost for place in plan)

    def allow(self, plan: _Set) -> bool:
        return len(plan) <= self._size and self.cost(plan) <= self._budget

    def _plans(self) -> Iterator[_Set]:
        """Every allowed plan, smaller first. Costs are not negative, so a plan is allowed only if its parts are."""
        plans: list[tuple[int, ...]] = [()]
        while plans:
            yield from map(frozenset, plans)
            plans = [
                (*plan, place)
                for plan in plans
                for place in range(plan[-1] + 1 if plan else 0, len(self.names))
                if self.allow(frozenset((*plan, place)))
            ]

    def leakage(self, removed: _Set) -> float:
        """The leakage if exactly these have removed their records."""
        if removed not in self._leakages:
            self._leakages[removed] = self._held.without([m for place in removed for m in self._members[place]])
        return self._leakages[removed]

    def _uncertain(self, plan: _Set) -> _Set:
        return _Set(place for place in plan if 0 < self.offers[place].success < 1)

    def approximate(self, plan: _Set) -> bool:
        """Whether a plan has too many uncertain requests to count every case."""
        return not self.exact and len(self._uncertain(plan)) > MOST_UNCERTAIN

    def expected(self, plan: _Set) -> float:
        """The expected leakage if these are asked."""
        uncertain = self._uncertain(plan)
        certain = _Set(place for place in plan if self.offers[place].success == 1)
        if not self.approximate(plan):
            return self._after(uncertain, certain)
        if (uncertain, certain) not in self._expected:
            cases = [_Set(p for p in plan if point[p] < self.offers[p].success) for point in self._points]
            self._expected[uncertain, certain] = math.fsum(map(self.leakage, cases)) / len(cases)
        return self._expected[uncertain, certain]

    def _after(self, pending: _Set, removed: _Set) -> float:
        """The expected leakage if the ``pending`` are still to answer and the ``removed`` have removed their records.

        Answers are considered in the same order for every plan, so that plans share most of the cases.
        """
        if not pending:
            return self.leakage(removed)
        if (pending, removed) not in self._expected:
            last = max(pending)
            complies, refuses = (self._after(pending - {last}, gone) for gone in (removed | {last}, removed))
            success = self.offers[last].success
            self._expected[pending, removed] = success * complies + (1 - success) * refuses
        return self._expected[pending, removed]

    @cached_property
    def _points(self) -> list[list[float]]:
        """Evenly spread cases, one coordinate for each holder: the same for all plans, so that they compare fairly."""
        from scipy.stats import qmc  # takes a second to load, and few plans need it

        # Shifted by half a cell, because the sequence begins at the corner.
        points = qmc.Sobol(len(self.names), scramble=False).random_base2(MOST_UNCERTAIN) + 0.5 / 2**MOST_UNCERTAIN
        return list(points.tolist())

    def best(self, plans: Iterable[_Set]) -> _Set:
        """The plan with the least expected leakage; among equals, the cheapest."""
        best = _Set()
        for plan in plans:
            new, old = self.expected(plan), self.expected(best)
            if new < old - _SAME or (new <= old + _SAME and self.cost(plan) < self.cost(best)):
                best = plan
        return best

    def worth(self, plan: _Set, place: int, *, per_cost: bool) -> float:
        """What one more request takes from the expected leakage."""
        reduction = self.expected(plan) - self.expected(plan | {place})
        # Dividing by cost makes sense for a reduction; of increases, the smallest is best.
        if abs(reduction) <= _SAME:
            return 0.0  # rounding must not decide, not even where asking costs nothing
        return reduction / max(self.offers[place].cost, 1e-300) if per_cost and reduction > 0 else reduction


def _grown(table: _Requests) -> _Set:
    """A plan grown greedily, by reduction and by reduction per cost, from nothing and from the best pair.

    A step that does not lower the leakage is taken too: the next may, and the best plan met on the way is kept.
    """
    places = range(len(table.names))
    seeds = {_Set(), table.best(filter(table.allow, map(_Set, itertools.combinations(places, 2))))}
    met: list[_Set] = []
    for plan, per_cost in itertools.product(seeds, (True, False)):
        while True:
            met.append(plan)
            wider = [place for place in places if place not in plan and table.allow(plan | {place})]
            if not wider:
                break
            plan |= {max(wider, key=lambda place: table.worth(plan, place, per_cost=per_cost))}
    return table.best(met)


def _order(table: _Requests, plan: _Set) -> list[int]:
    """The requests of a plan, each the one that then lowers the expected leakage most per cost."""
    order: list[int] = []
    while left := sorted(plan.difference(order)):
        so_far = _Set(order)
        # Among equals, first the one without which the rest of the plan would leave most.
        worth = {p: (table.worth(so_far, p, per_cost=True), table.leakage(plan - {p})) for p in left}
        order.append(max(left, key=worth.__getitem__))
    return order
