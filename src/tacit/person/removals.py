"""Which records or sources to have removed first, when asking costs something and may fail."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from tacit.errors import ArgumentError
from tacit.person.adversaries import Adversary, Operator
from tacit.person.labels import Labels
from tacit.person.records import Record, Reference
from tacit.person.what_if import WhatIf

# Plans of all sizes are tried while there are at most so many; beyond, one request is added after the other.
MOST_PLANS = 5_000
# When not all plans are tried: which requests succeed is counted case by case for so many uncertain ones; of more, as
# many cases are taken, evenly spread.
MOST_UNCERTAIN = 7
_SAME = 1e-12

# A plan, an outcome: the holders asked, those that did remove.
_Set = frozenset[int]


@dataclass(frozen=True)
class Offer:
    """What asking a holder to remove its records costs, and the probability that it does."""

    cost: float = 1.0
    success: float = 1.0

    def __post_init__(self) -> None:
        if not (math.isfinite(self.cost) and self.cost >= 0):
            raise ArgumentError(f"a removal costs {self.cost:g}: give a finite number, 0 or more")
        if not 0.0 <= self.success <= 1.0:
            raise ArgumentError(f"a removal succeeds with probability {self.success:g}: it lies in [0, 1]")


@dataclass(frozen=True)
class SourceContribution:
    """What one holder of records adds: the leakage less the leakage without it, everything resolved again.

    A negative contribution is junk that misleads the adversary: removing it would raise the leakage.
    """

    source: str
    records: int
    leakage_without: float
    contribution: float


@dataclass(frozen=True)
class Request:
    """One request of a plan, in the order to make them.

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

    Parameters
    ----------
    requests : tuple of Request
        First the one that lowers the expected leakage most per cost.
    before, expected, if_removed : float
        The leakage now; its expectation after all requests; and if all of them succeed.
    cost : float
    searched : {"exact", "heuristic"}
        Whether all plans within the limits were tried.
    expectation : {"exact", "approximate"}
        Whether the expectation counts every case of which requests succeed.
    sources : tuple of SourceContribution
        All holders of records, the largest contribution first.
    """

    requests: tuple[Request, ...]
    before: float
    expected: float
    if_removed: float
    cost: float
    searched: Literal["exact", "heuristic"]
    expectation: Literal["exact", "approximate"]
    sources: tuple[SourceContribution, ...]


def source_contributions(
    records: Iterable[Record] | WhatIf,
    reference: Reference | None = None,
    adversary: Adversary | Operator | None = None,
    labels: Labels | None = None,
    *,
    by: Literal["source", "record"] = "source",
) -> tuple[SourceContribution, ...]:
    """Leave one source out: what the leakage would be without each, the largest contribution first.

    Parameters
    ----------
    records : iterable of Record, or WhatIf
        A `WhatIf` brings its own reference, adversary and labels.
    reference : Reference
    adversary : Adversary, function or None
    labels : Labels, optional
    by : {"source", "record"}
        Whether records go together by their ``source`` or by their ``name``. Records that have none are not offered.
    """
    held = _held(records, reference, adversary, labels)
    return _contributions(held, _holders(held.records, by))


def plan_removals(
    records: Iterable[Record] | WhatIf,
    reference: Reference | None = None,
    adversary: Adversary | Operator | None = None,
    labels: Labels | None = None,
    *,
    offers: Mapping[str, Offer] | None = None,
    budget: float | None = None,
    at_most: int | None = None,
    by: Literal["source", "record"] = "source",
) -> RemovalPlan:
    """Whom to ask for removal, so that the expected leakage is least.

    Parameters
    ----------
    records, reference, adversary, labels, by
        As for `source_contributions`.
    offers : mapping from source (or record name) to Offer, optional
        Who can be asked, at what cost and with what success; requests succeed independently of one another. An offer
        of a holder without records is ignored. Default: everybody, at cost 1 and with certainty.
    budget : float, optional
        The largest sum of costs.
    at_most : int, optional
        The largest number of requests.

    Returns
    -------
    RemovalPlan
        Possibly without a request: where removing anything would raise the leakage, because the adversary's record of
        the person would lose its errors, nothing is asked.

    Guarantees
    ----------
    Of plans that leak equally little (within 1e-12) a cheapest is chosen. If ``searched`` is "exact", no plan within
    the limits has a smaller expected leakage.

    Notes
    -----
    All plans are tried while there are at most 5,000 of them (all of twelve holders, three of thirty). Beyond, requests
    are added by reduction per cost and by reduction alone, from nothing and from the best pair (two holders of the same
    facts are worth nothing one by one), and the best plan met on the way is kept. There, with more than seven uncertain
    requests, the expectation is taken over 128 points of Sobol's sequence in place of all cases: an approximation,
    with no chance in it.
    """
    if budget is not None and not budget >= 0:
        raise ArgumentError(f"the budget is {budget:g}: it is 0 or more")
    if at_most is not None and at_most < 0:
        raise ArgumentError(f"at most {at_most} requests: it is 0 or more")
    held = _held(records, reference, adversary, labels)
    holders = _holders(held.records, by)
    asked = {name: Offer() for name in holders} if offers is None else offers
    for name, offer in asked.items():
        if not isinstance(offer, Offer):
            raise ArgumentError(f"the offer of '{name}' is no Offer: give Offer(cost=1, success=0.5)")
    table = _Requests(held, {name: holders[name] for name in asked if name in holders}, asked)
    limits = _Limits(table.costs, math.inf if budget is None else budget, at_most)
    exact = limits.count(MOST_PLANS) <= MOST_PLANS
    if exact:
        table.count_all(list(limits.all()))
    best = _best(table, limits.all()) if exact else _grown(table, limits)
    order = _order(table, best)
    steps = [order[: size + 1] for size in range(len(order))]
    return RemovalPlan(
        requests=tuple(
            Request(
                source=table.names[plan[-1]],
                records=len(table.members[plan[-1]]),
                cost=table.costs[plan[-1]],
                success=table.success[plan[-1]],
                expected=table.expected(frozenset(plan)),
                if_removed=table.leakage(frozenset(plan)),
            )
            for plan in steps
        ),
        before=held.leakage,
        expected=table.expected(best),
        if_removed=table.leakage(best),
        cost=table.cost(best),
        searched="exact" if exact else "heuristic",
        expectation="exact" if table.is_exact(best) else "approximate",
        sources=_contributions(held, holders),
    )


def _held(
    records: Iterable[Record] | WhatIf,
    reference: Reference | None,
    adversary: Adversary | Operator | None,
    labels: Labels | None,
) -> WhatIf:
    return records if isinstance(records, WhatIf) else WhatIf(records, reference, adversary, labels)


def _holders(records: Sequence[Record], by: Literal["source", "record"]) -> dict[str, tuple[int, ...]]:
    if by not in ("source", "record"):
        raise ArgumentError(f"removals by {by!r}: choose 'source' or 'record'")
    found: dict[str, list[int]] = {}
    for place, record in enumerate(records):
        name = record.source if by == "source" else record.name
        if name:
            found.setdefault(name, []).append(place)
    return {name: tuple(members) for name, members in found.items()}


def _contributions(held: WhatIf, holders: Mapping[str, tuple[int, ...]]) -> tuple[SourceContribution, ...]:
    before = held.leakage
    without = {name: held.without(members) for name, members in holders.items()}
    found = [SourceContribution(name, len(holders[name]), after, before - after) for name, after in without.items()]
    return tuple(sorted(found, key=lambda source: -source.contribution))


class _Requests:
    """Who can be asked, and what the leakage is after any of them removed their records."""

    def __init__(self, held: WhatIf, holders: Mapping[str, tuple[int, ...]], offers: Mapping[str, Offer]) -> None:
        self._held = held
        self.names = list(holders)
        self.members = list(holders.values())
        self.costs = [offers[name].cost for name in holders]
        self.success = [offers[name].success for name in holders]
        self._leakages: dict[_Set, float] = {}
        self._expected: dict[_Set, float] = {}
        self._approximate: set[_Set] = set()

    def cost(self, plan: _Set) -> float:
        return math.fsum(self.costs[place] for place in plan)

    def leakage(self, removed: _Set) -> float:
        """The leakage if exactly these have removed their records."""
        if removed not in self._leakages:
            self._leakages[removed] = self._held.without([m for place in removed for m in self.members[place]])
        return self._leakages[removed]

    def _uncertain(self, plan: _Set) -> list[int]:
        return sorted(place for place in plan if 0 < self.success[place] < 1)

    def count_all(self, plans: Sequence[_Set]) -> None:
        """Expectations of many plans at once, over all cases; with a plan all its parts must be there.

        Holder by holder, the expectation over its answer is a mean of two numbers that are there already: for n holders
        n numbers a plan in place of 2^n.
        """
        found = {plan: self.leakage(plan) for plan in plans}
        for place, success in enumerate(self.success):
            without = {plan: found[plan - {place}] for plan in plans if place in plan}
            for plan, value in without.items():
                found[plan] = success * found[plan] + (1 - success) * value
        self._expected.update(found)

    def is_exact(self, plan: _Set) -> bool:
        """Whether the expectation of this plan was over all cases."""
        self.expected(plan)
        return plan not in self._approximate

    def expected(self, plan: _Set) -> float:
        """The expected leakage if these are asked."""
        if plan not in self._expected:
            certain = frozenset(place for place in plan if self.success[place] == 1)
            uncertain = self._uncertain(plan)
            if len(uncertain) > MOST_UNCERTAIN:
                self._approximate.add(plan)
            cases = self._cases(uncertain)
            self._expected[plan] = math.fsum(p * self.leakage(certain | removed) for removed, p in cases)
        return self._expected[plan]

    def _cases(self, uncertain: list[int]) -> Iterator[tuple[_Set, float]]:
        """Who of the uncertain removes, with probabilities."""
        if len(uncertain) <= MOST_UNCERTAIN:
            for did in itertools.product((True, False), repeat=len(uncertain)):
                removed = [place for place, yes in zip(uncertain, did, strict=True) if yes]
                chances = [
                    self.success[place] if yes else 1 - self.success[place]
                    for place, yes in zip(uncertain, did, strict=True)
                ]
                yield frozenset(removed), math.prod(chances)
            return
        for point in self._points:
            yield frozenset(place for place in uncertain if point[place] < self.success[place]), 1 / len(self._points)

    @cached_property
    def _points(self) -> list[list[float]]:
        """Evenly spread cases, one coordinate for each holder: plans meet the same luck, and are compared fairly."""
        from scipy.stats import qmc  # takes a second to load, and few have so many requests to make

        # Shifted by half a cell, as the sequence begins at the corner.
        points = qmc.Sobol(len(self.names), scramble=False).random_base2(MOST_UNCERTAIN) + 0.5 / 2**MOST_UNCERTAIN
        found: list[list[float]] = points.tolist()
        return found


class _Limits:
    """The plans that budget and number allow."""

    def __init__(self, costs: Sequence[float], budget: float, at_most: int | None) -> None:
        self._costs = costs
        self._budget = budget
        self.size = len(costs) if at_most is None else min(at_most, len(costs))

    def allow(self, plan: _Set) -> bool:
        return len(plan) <= self.size and math.fsum(self._costs[place] for place in plan) <= self._budget

    def all(self) -> Iterator[_Set]:
        """Every plan, the smaller first. Costs are not negative, so a plan is allowed only if its parts are."""
        plans: list[tuple[int, ...]] = [()]
        while plans:
            yield from map(frozenset, plans)
            plans = [
                (*plan, place)
                for plan in plans
                for place in range(plan[-1] + 1 if plan else 0, len(self._costs))
                if self.allow(frozenset((*plan, place)))
            ]

    def count(self, enough: int) -> int:
        """How many plans there are, or one more than enough."""
        return sum(1 for _ in itertools.islice(self.all(), enough + 1))


def _better(table: _Requests, plan: _Set, than: _Set) -> bool:
    new, old = table.expected(plan), table.expected(than)
    return new < old - _SAME or (new <= old + _SAME and table.cost(plan) < table.cost(than))


def _best(table: _Requests, plans: Iterable[_Set]) -> _Set:
    best = _Set()
    for plan in plans:
        if _better(table, plan, best):
            best = plan
    return best


def _grown(table: _Requests, limits: _Limits) -> _Set:
    """Greedily, by reduction and by reduction per cost, from nothing and from the best pair."""
    pairs = (_Set(pair) for pair in itertools.combinations(range(len(table.names)), 2))
    seeds = {_Set(), _best(table, (pair for pair in pairs if limits.allow(pair)))}
    met: list[_Set] = []
    for plan, per_cost in itertools.product(seeds, (True, False)):
        current: _Set | None = plan
        while current is not None:
            met.append(current)
            current = _next(table, limits, current, per_cost)
    return _best(table, met)


def _next(table: _Requests, limits: _Limits, plan: _Set, per_cost: bool) -> _Set | None:
    """The plan with one more request, or None if none is allowed.

    A step that does not lower the leakage is taken too: the next may, and the best plan on the way is kept.
    """
    before = table.expected(plan)
    wider = [plan | {place} for place in range(len(table.names)) if place not in plan]
    allowed = [more for more in wider if limits.allow(more)]

    def worth(more: _Set) -> float:
        reduction = before - table.expected(more)
        cost = table.cost(more) - table.cost(plan)
        # Per cost makes sense of a reduction; of an increase the smallest is the best.
        return reduction / max(cost, 1e-300) if per_cost and reduction > 0 else reduction

    return max(allowed, key=worth, default=None)


def _order(table: _Requests, plan: _Set) -> tuple[int, ...]:
    """The requests of a plan, each time the one that lowers the expected leakage most per cost."""
    order: tuple[int, ...] = ()
    while len(order) < len(plan):
        before = table.expected(frozenset(order))

        def worth(place: int, before: float = before, order: tuple[int, ...] = order) -> tuple[float, float]:
            reduction = before - table.expected(frozenset((*order, place)))
            if reduction > 0:
                reduction /= max(table.costs[place], 1e-300)
            # Of equally good ones first what would help most if it succeeds with all the others.
            return reduction, table.leakage(plan - {place})

        order = (*order, max((place for place in sorted(plan) if place not in order), key=worth))
    return order
