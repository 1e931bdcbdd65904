"""Which attribute an adversary should verify next: the paper's §4.3, answered without knowing the truth.

The adversary holds a composite record r_c and is as sure of it as L(r_c, r_e), where r_e is r_c with every doubt
removed. Verifying an attribute raises its confidence to 1. For the person, the answer is what not to confirm to
anybody.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tacit.errors import ArgumentError
from tacit.lift.joint import Matrix, Vector
from tacit.person.model import Attribute, ComparedRecord, Labels, Record
from tacit.person.model.comparing import AttributeUnit, Kind, LabelBlock
from tacit.person.model.labels import as_labels
from tacit.person.model.quadrature import nodes
from tacit.person.model.records import Fact
from tacit.person.model.units import unit_transform

# What verifying costs, by label or by attribute; None is the paper's 1 - confidence.
Costs = Mapping[str, float] | Callable[[Attribute], float] | None

BRUTE_FORCE = 15
SEEDED = 100
_TINY = 1e-300
_SAME = 1e-13
# Where E[exp(-tW)] underflows, its logarithm is cut off here.
_UNDERFLOW = -690.0


@dataclass(frozen=True)
class AttributeCheck:
    """One attribute that could be verified.

    ``member`` and ``place`` say which: attribute ``place`` of record ``member``, counted from 0. ``gain`` is how much
    surer of its composite record the adversary would be, ``gain_per_cost`` is infinite for a gain that costs nothing.
    """

    member: int
    place: int
    label: str
    confidence: float
    cost: float
    gain: float

    @property
    def gain_per_cost(self) -> float:
        """The gain for each unit of cost."""
        if self.cost > 0:
            return self.gain / self.cost
        return math.inf if self.gain > 0 else 0.0


@dataclass(frozen=True)
class VerificationPlan:
    """A set of attributes to verify within a budget, and how sure the adversary is before and after.

    ``searched`` is "exact" if every set was tried. The gain of a check is what it gains alone; the gain of the set is
    ``certainty_after - certainty``.
    """

    checks: tuple[AttributeCheck, ...]
    certainty: float
    certainty_after: float
    cost: float
    searched: Literal["exact", "heuristic"]


def certainty(records: Record | Sequence[Record], *, labels: Labels | None = None) -> float:
    """How sure an adversary is of a composite record: its leakage against itself without doubts, L(r_c, r_e).

    ``records`` is the composite record, or the records it is the union of (with the best confidence of each attribute).
    For a label with a single value, r_e has the value the adversary trusts most, and the others count against it.
    Values that mean the same (synonyms) are one attribute; no credit is given for similar values, because two similar
    values are two beliefs. In [0, 1]; 1 if nothing is in doubt.
    """
    return _Belief(records, labels).value(frozenset())


def verify_next(
    records: Record | Sequence[Record], *, costs: Costs = None, labels: Labels | None = None
) -> tuple[AttributeCheck, ...]:
    """What verifying each attribute would gain an adversary, the best gain per cost first.

    Parameters
    ----------
    records, labels
        As for ``certainty``.
    costs : mapping from label to float, or callable from attribute to float, optional
        What verifying costs; a label that is not in the mapping cannot be verified. Default 1 - confidence, as in the
        paper.

    Returns
    -------
    tuple of AttributeCheck
        One for every base attribute whose confidence is below 1 (a certain one has nothing to gain and, at the default
        cost, nothing to pay: 0/0). Any of several copies of an attribute would raise the composite record equally, so
        with the default cost only the copy with the best confidence is worth verifying; if a copy is already certain,
        the others gain nothing.

    Guarantees
    ----------
    The gain is never negative. For a single-valued label, verifying one value refutes the others.
    """
    return tuple(sorted(_Belief(records, labels).checks(costs), key=lambda check: -check.gain_per_cost))


def verify_within(
    records: Record | Sequence[Record], budget: float, *, costs: Costs = None, labels: Labels | None = None
) -> VerificationPlan:
    """The set of attributes to verify that makes an adversary surest within a budget.

    The budget is the largest sum of costs; the rest is as for ``verify_next``. Exact for up to 15 attributes in doubt.
    Beyond that, greedy by gain per cost from every seed of at most two attributes (among the hundred most promising if
    there are more): a good heuristic, as the certainty is monotone in the set and, unless a label with a single value
    is correlated with others, submodular.
    """
    if not budget >= 0:
        raise ArgumentError(f"the budget is {budget:g}: it is 0 or more")
    belief = _Belief(records, labels)
    cheapest: dict[int, AttributeCheck] = {}
    for check in belief.checks(costs):
        fact = belief.fact_of[check.member, check.place]
        # Every copy raises the composite attribute equally: only the cheapest is worth verifying.
        if check.gain > 0 and check.cost <= budget and (fact not in cheapest or check.cost < cheapest[fact].cost):
            cheapest[fact] = check
    prices = {fact: check.cost for fact, check in cheapest.items()}
    exact = len(prices) <= BRUTE_FORCE
    chosen, after = (_brute_force if exact else _seeded_greedy)(belief, prices, budget)
    checks = tuple(sorted((cheapest[fact] for fact in chosen), key=lambda check: -check.gain_per_cost))
    return VerificationPlan(
        checks=checks,
        certainty=belief.value(frozenset()),
        certainty_after=after,
        cost=math.fsum(check.cost for check in checks),
        searched="exact" if exact else "heuristic",
    )


def _price(costs: Costs, attribute: Attribute) -> float | None:
    if costs is None:
        return 1.0 - attribute.confidence
    price = costs(attribute) if callable(costs) else costs.get(attribute.label)
    if price is not None and not (math.isfinite(price) and price >= 0):
        raise ArgumentError(f"verifying '{attribute.label}' costs {price:g}: give a finite number, 0 or more")
    return price


class _Belief:
    """A composite record as independent units, each with its terms in the integral for L.

    With t for the variable of 1/A = ∫exp(-tA)dt and (W, I) the weight held and the weight right in a unit, a unit is
    log φ(t) = log E[exp(-t(W + w_e))] and ψ(t) = E[I exp(-t(W + w_e))] / φ(t); both add over units, and
    L = 2∫ exp(Σ log φ) Σψ dt. A unit is a label's value, all values of a single-valued label, or all of a group of
    correlated labels. ``verified`` are positions of facts; at most one of each single-valued label. Both functions
    are rows of one array.
    """

    def __init__(self, records: Record | Sequence[Record], labels: Labels | None) -> None:
        self._records = (records,) if isinstance(records, Record) else tuple(records)
        described = as_labels(None, labels)
        places: dict[Fact, int] = {}
        # By member and place, the fact of the composite that an attribute of a base record is a copy of.
        self.fact_of: dict[tuple[int, int], int] = {}
        self.confidence: list[float] = []
        self.weight: list[float] = []
        for member, record in enumerate(self._records):
            for place, (label, value, confidence) in enumerate(record):
                fact = places.setdefault((label, described[label].meant(value)), len(places))
                if fact == len(self.weight):
                    self.confidence.append(confidence)
                    self.weight.append(described[label].weigh(value))
                self.confidence[fact] = max(self.confidence[fact], confidence)
                self.fact_of[member, place] = fact
        self._group(places, described)
        self._t, self._omega = self._nodes()
        self._integrands: dict[tuple[int, frozenset[int]], Matrix] = {}
        self._values: dict[frozenset[int], float] = {}

    def _group(self, places: Mapping[Fact, int], labels: Labels) -> None:
        """Sort facts into parts (facts that exclude one another) and parts into units (parts that share a weight)."""
        group_of = {label: group for group in labels.correlated for label in group.labels}
        units: dict[object, dict[object, list[int]]] = {}
        shared: dict[object, float] = {}
        for (label, _), fact in places.items():
            part: object = label if labels[label].single else fact
            group = group_of.get(label)
            unit = part if group is None else group
            shared[unit] = 0.0 if group is None else group.shared
            units.setdefault(unit, {}).setdefault(part, []).append(fact)
        self.units = [list(parts.values()) for parts in units.values()]
        self.shared = [shared[unit] for unit in units]
        self.unit_of = {f: place for place, unit in enumerate(self.units) for part in unit for f in part}
        self.part_of = {f: frozenset(part) for unit in self.units for part in unit for f in part}

    def _nodes(self) -> tuple[Vector, Vector]:
        parts = [[self.weight[fact] for fact in part] for unit in self.units for part in unit]
        shared = math.fsum(self.shared)
        least = math.fsum(min(part) for part in parts) + shared
        # A part is held at most once, right or wrong; the shared weight counts as right and once more as wrong.
        most = 2 * math.fsum(max(part) for part in parts) + 3 * shared
        if least <= 0:
            # A value that weighs nothing may be the only one of its label in the reference; the smallest positive
            # weight bounds the integrand where it matters, since a world without any weight has no credit either.
            least = min((w for part in parts for w in part if w > 0), default=0.0)
        if least <= 0:
            return np.zeros(0), np.zeros(0)
        u, omega = nodes(most / least)
        return u / least, omega / least

    def checks(self, costs: Costs) -> Iterator[AttributeCheck]:
        """What each attribute in doubt would cost and gain."""
        for member, record in enumerate(self._records):
            for place, attribute in enumerate(record):
                price = _price(costs, attribute)
                if attribute.confidence < 1 and price is not None:
                    gain = self.gain(self.fact_of[member, place])
                    yield AttributeCheck(member, place, attribute.label, attribute.confidence, price, gain)

    def gain(self, fact: int) -> float:
        """What verifying one fact alone adds."""
        return max(0.0, self.value(frozenset((fact,))) - self.value(frozenset()))

    def value(self, verified: frozenset[int]) -> float:
        """L(r_c, r_e) with these facts verified."""
        if verified not in self._values:
            self._values[verified] = float(self._integral(self.total(verified)))
        return self._values[verified]

    def _integral(self, total: Matrix) -> Vector:
        return np.minimum(1.0, 2.0 * (np.exp(total[..., 0, :]) * total[..., 1, :]) @ self._omega)

    def total(self, verified: frozenset[int]) -> Matrix:
        """Σ log φ and Σψ over all units."""
        touched = {self.unit_of[fact] for fact in verified}
        return sum((self._change(place, verified) for place in touched), self._doubted)

    @cached_property
    def _doubted(self) -> Matrix:
        nothing = np.zeros((2, self._t.size))
        return sum((self.unit(place, frozenset()) for place in range(len(self.units))), nothing)

    @cached_property
    def _changes(self) -> NDArray[np.float64]:
        """What verifying each fact adds, if nothing else in its unit is verified."""
        facts = range(len(self.weight))
        return np.stack([self._change(self.unit_of[fact], frozenset((fact,))) for fact in facts])

    def _change(self, place: int, verified: frozenset[int], before: frozenset[int] = frozenset()) -> Matrix:
        return self.unit(place, verified) - self.unit(place, before)

    def with_each(self, verified: frozenset[int], facts: Sequence[int]) -> Vector:
        """L with each of these facts verified in addition, in one product."""
        changes = self._changes[facts]
        touched = {self.unit_of[fact] for fact in verified}
        for row, fact in enumerate(facts):
            # Only in a unit of correlated labels can one fact be verified while another is still open.
            if (place := self.unit_of[fact]) in touched:
                changes[row] = self._change(place, verified | {fact}, verified)
        return self._integral(self.total(verified) + changes)

    def unit(self, place: int, verified: frozenset[int]) -> Matrix:
        """Log φ and ψ of one unit."""
        key = place, frozenset(fact for part in self.units[place] for fact in part if fact in verified)
        if key not in self._integrands:
            self._integrands[key] = self._integrand(*key)
        return self._integrands[key]

    def _integrand(self, place: int, verified: frozenset[int]) -> Matrix:
        """The unit compared with itself without doubts: in each part, what was verified or is believed most is true."""
        parts, shared = self.units[place], self.shared[place]
        facts = [fact for part in parts for fact in part]
        confidence, weight = (np.array([row[fact] for fact in facts]) for row in (self.confidence, self.weight))
        hit = np.full(len(facts), -1)
        blocks, start = [], 0
        for number, part in enumerate(parts):
            own = slice(start, start + len(part))
            confidence[own] /= max(1.0, math.fsum(confidence[own]))
            if verified.intersection(part):
                confidence[own] = [float(fact in verified) for fact in part]
            hit[start + int(np.argmax(confidence[own]))] = number
            blocks.append(LabelBlock(tuple(range(start, start + len(part))), exclusive=True))
            start += len(part)
        credit = np.where(hit < 0, 0.0, weight)
        whole = float(credit.sum()) + shared
        unit = AttributeUnit(tuple(blocks), shared)
        kinds: tuple[Kind, ...] = tuple("wrong" if fact < 0 else "correct" for fact in hit)
        compared = ComparedRecord(
            confidence, np.ones_like(weight), weight, credit, hit, kinds, np.zeros(0, dtype=np.intp), (unit,), whole, ()
        )
        logs, ratio = unit_transform(unit, compared, self._t)
        return np.stack([np.maximum(logs, _UNDERFLOW) - self._t * whole, ratio])


def _affordable(belief: _Belief, prices: Mapping[int, float], budget: float, facts: Iterable[int]) -> bool:
    """Whether the facts can be verified together: within the budget, and no two that exclude one another."""
    chosen = frozenset(facts)
    cost = math.fsum(prices[fact] for fact in chosen)
    return cost <= budget and all(len(belief.part_of[fact] & chosen) == 1 for fact in chosen)


def _brute_force(belief: _Belief, prices: Mapping[int, float], budget: float) -> tuple[frozenset[int], float]:
    best = frozenset[int]()
    spent, after = 0.0, belief.value(best)
    for size in range(1, len(prices) + 1):
        for facts in itertools.combinations(prices, size):
            if not _affordable(belief, prices, budget, facts):
                continue
            cost, value = math.fsum(prices[fact] for fact in facts), belief.value(frozenset(facts))
            if value > after + _SAME or (value > after - _SAME and cost < spent):
                best, spent, after = frozenset(facts), cost, value
    return best, after


def _seeded_greedy(belief: _Belief, prices: Mapping[int, float], budget: float) -> tuple[frozenset[int], float]:
    seedable = sorted(prices, key=lambda fact: -belief.gain(fact) / max(prices[fact], _TINY))[:SEEDED]
    best = frozenset[int]()
    after = belief.value(best)
    finished: dict[frozenset[int], float] = {}
    for size in range(3):
        for seed in itertools.combinations(seedable, size):
            if _affordable(belief, prices, budget, seed):
                chosen, value = _greedy(belief, prices, budget, frozenset(seed), finished)
                if value > after + _SAME:
                    best, after = chosen, value
    return best, after


def _greedy(
    belief: _Belief,
    prices: Mapping[int, float],
    budget: float,
    chosen: frozenset[int],
    finished: dict[frozenset[int], float],
) -> tuple[frozenset[int], float]:
    """Add the affordable fact with the best gain per cost until none is left.

    ``finished`` are the sets that were already extended: where two seeds meet, the search goes on only once.
    """
    value = belief.value(chosen)
    while chosen not in finished:
        finished[chosen] = value
        left = budget - math.fsum(prices[fact] for fact in chosen)
        # A verified value excludes the other values of its label.
        facts = [fact for fact in prices if prices[fact] <= left and not belief.part_of[fact] & chosen]
        if not facts:
            break
        values = belief.with_each(chosen, facts)
        ratios = (values - value) / np.maximum([prices[fact] for fact in facts], _TINY)
        place = int(np.argmax(ratios))
        if values[place] <= value:
            break
        chosen, value = chosen | {facts[place]}, float(values[place])
    return chosen, value
