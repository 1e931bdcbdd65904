"""Which attribute an adversary had best verify next: the paper's §4.3, asked without knowing the truth.

The adversary holds a composite record r_c and is as sure of it as L(r_c, r_e), where r_e is r_c with every doubt
removed. Verifying an attribute raises its confidence to 1. A person reads the answer the other way round: this is what
should not be confirmed to anybody.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt

from tacit.errors import ArgumentError
from tacit.person.labels import Labels
from tacit.person.quadrature import nodes
from tacit.person.records import Attribute, Record

FloatArray = npt.NDArray[np.float64]

# What verifying costs: by label, or by attribute; None is the paper's 1 - confidence.
Costs = Mapping[str, float] | Callable[[Attribute], float] | None

BRUTE_FORCE = 15
SEEDED = 100
_TINY = 1e-300


@dataclass(frozen=True)
class Check:
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

    ``searched`` is "exact" if every set was tried. The gain of a check is its own, alone; the gain of the set is
    ``certainty_after - certainty``.
    """

    checks: tuple[Check, ...]
    certainty: float
    certainty_after: float
    cost: float
    searched: Literal["exact", "heuristic"]


def certainty(held: Record | Sequence[Record], *, labels: Labels | None = None) -> float:
    """How sure an adversary is of a composite record: its leakage against itself without doubts, L(r_c, r_e).

    Parameters
    ----------
    held : Record or sequence of Record
        The composite record, or the records it is the union of (with the best confidence of each attribute).
    labels : Labels, optional
        Weights, and which labels have a single value: there r_e has the value the adversary trusts most, and the
        others speak against it. Values that mean the same (synonyms) are one attribute; no credit is given for
        similar values, because two similar values are two beliefs.

    Returns
    -------
    float
        In [0, 1]; 1 if nothing is in doubt.
    """
    return _Belief(_records(held), labels if labels is not None else Labels()).value(frozenset())


def verify_next(
    held: Record | Sequence[Record], *, costs: Costs = None, labels: Labels | None = None
) -> tuple[Check, ...]:
    """What verifying each attribute would gain an adversary, the best gain per cost first.

    Parameters
    ----------
    held : Record or sequence of Record
        The composite record, or the base records it is the union of.
    costs : mapping from label to float, or callable from attribute to float, optional
        What verifying costs; a label that is not in the mapping cannot be verified. Default 1 - confidence, as in the
        paper.
    labels : Labels, optional
        As for ``certainty``.

    Returns
    -------
    tuple of Check
        One for every base attribute whose confidence is below 1 (what is certain has nothing to gain and, at the
        default cost, nothing to pay: 0/0). Of several copies of an attribute each would lift the composite record just
        as far, so with the default cost only the copy with the best confidence is worth verifying; if a copy is
        certain already, the others gain nothing.

    Guarantees
    ----------
    The gain is never negative. For a single-valued label, verifying one value refutes the others.
    """
    records = _records(held)
    belief = _Belief(records, labels if labels is not None else Labels())
    return tuple(sorted(_checks(records, belief, costs), key=lambda check: -check.gain_per_cost))


def verify_within(
    held: Record | Sequence[Record], budget: float, *, costs: Costs = None, labels: Labels | None = None
) -> VerificationPlan:
    """The set of attributes to verify that makes an adversary surest within a budget.

    Parameters
    ----------
    held, costs, labels
        As for ``verify_next``.
    budget : float
        The largest sum of costs.

    Returns
    -------
    VerificationPlan
        Exact for up to 15 attributes in doubt. Beyond, greedily by gain per cost from every seed of at most two
        attributes; the certainty is monotone and submodular in the set, for which this is a good heuristic (of the
        hundred most promising attributes if there are more).
    """
    if not budget >= 0:
        raise ArgumentError(f"the budget is {budget:g}: it is 0 or more")
    records = _records(held)
    belief = _Belief(records, labels if labels is not None else Labels())
    cheapest: dict[int, Check] = {}
    for check in _checks(records, belief, costs):
        fact = belief.fact_of(check.member, check.place)
        # Every copy lifts the composite attribute equally far: only the cheapest is worth having.
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


def _records(held: Record | Sequence[Record]) -> tuple[Record, ...]:
    return (held,) if isinstance(held, Record) else tuple(held)


def _price(costs: Costs, attribute: Attribute) -> float | None:
    if costs is None:
        return 1.0 - attribute.confidence
    price = costs(attribute) if callable(costs) else costs.get(attribute.label)
    if price is not None and not (math.isfinite(price) and price >= 0):
        raise ArgumentError(f"verifying '{attribute.label}' costs {price:g}: give a finite number, 0 or more")
    return price


def _checks(records: Sequence[Record], belief: _Belief, costs: Costs) -> Iterator[Check]:
    for member, record in enumerate(records):
        for place, attribute in enumerate(record):
            price = _price(costs, attribute)
            if attribute.confidence < 1 and price is not None:
                gain = belief.gain(belief.fact_of(member, place))
                yield Check(member, place, attribute.label, attribute.confidence, price, gain)


class _Belief:
    """A composite record as independent units, each with what it adds under the integral for L.

    With t for the variable of 1/A = ∫exp(-tA)dt and (W, I) the weight held and the weight right in a unit, a unit is
    log φ(t) = log E[exp(-t(W + w_e))] and ψ(t) = E[I exp(-t(W + w_e))] / φ(t); both add over units, and
    L = 2∫ exp(Σ log φ) Σψ dt. A unit is a label's value, all values of a single-valued label, or all of a group of
    correlated labels. ``verified`` are positions of facts; at most one of each single-valued label.
    """

    def __init__(self, records: Sequence[Record], labels: Labels) -> None:
        self._places: dict[tuple[str, str], int] = {}
        self._copies: dict[tuple[int, int], int] = {}
        confidence: list[float] = []
        weight: list[float] = []
        for member, record in enumerate(records):
            for place, attribute in enumerate(record):
                meant = attribute.label, labels[attribute.label].meant(attribute.value)
                fact = self._places.setdefault(meant, len(self._places))
                if fact == len(confidence):
                    confidence.append(attribute.confidence)
                    weight.append(labels[attribute.label].weigh(attribute.value))
                confidence[fact] = max(confidence[fact], attribute.confidence)
                self._copies[member, place] = fact
        self.confidence = confidence
        self.weight = weight
        self._group(labels)
        self._t, self._omega = self._nodes()
        self._known: dict[tuple[int, frozenset[int]], tuple[FloatArray, FloatArray]] = {}
        self._values: dict[frozenset[int], float] = {}

    def _group(self, labels: Labels) -> None:
        """Sort the facts into parts (what excludes one another) and the parts into units (what shares a weight)."""
        group_of = {label: group for group in labels.correlated for label in group.labels}
        parts: dict[object, list[int]] = {}
        units: dict[object, list[object]] = {}
        shared: dict[object, float] = {}
        for (label, _), fact in self._places.items():
            part: object = label if labels[label].single else fact
            group = group_of.get(label)
            unit: object = group if group is not None else part
            if part not in parts:
                units.setdefault(unit, []).append(part)
                shared[unit] = group.shared if group is not None else 0.0
            parts.setdefault(part, []).append(fact)
        self.units = [[parts[part] for part in members] for members in units.values()]
        self.shared = [shared[unit] for unit in units]
        self.unit_of = {f: place for place, unit in enumerate(self.units) for part in unit for f in part}
        self.part_of = {f: frozenset(part) for unit in self.units for part in unit for f in part}

    def _nodes(self) -> tuple[FloatArray, FloatArray]:
        parts = [[self.weight[fact] for fact in part] for unit in self.units for part in unit]
        shared = math.fsum(self.shared)
        least = math.fsum(min(part) for part in parts) + shared
        # A part is held at most once, right or wrong; the shared weight counts as right and once more as wrong.
        most = 2 * math.fsum(max(part) for part in parts) + 3 * shared
        if least <= 0:
            # A value that weighs nothing may be the reference's only one of its label; the smallest weight there is
            # bounds the integrand where it matters, since a world without any weight has no credit either.
            least = min((w for part in parts for w in part if w > 0), default=0.0)
        if least <= 0:
            return np.zeros(0), np.zeros(0)
        u, omega = nodes(most / least)
        return np.asarray(u) / least, np.asarray(omega) / least

    def fact_of(self, member: int, place: int) -> int:
        """The composite's fact that an attribute of a base record is a copy of."""
        return self._copies[member, place]

    def open_to(self, verified: frozenset[int], prices: Mapping[int, float]) -> list[int]:
        """The facts that can still be verified: not those a verified one excludes."""
        return [fact for fact in prices if not self.part_of[fact] & verified]

    def gain(self, fact: int) -> float:
        """What verifying one fact alone adds."""
        if self.confidence[fact] >= 1 and len(self.part_of[fact]) == 1:
            return 0.0
        return max(0.0, self.value(frozenset((fact,))) - self.value(frozenset()))

    def value(self, verified: frozenset[int]) -> float:
        """L(r_c, r_e) with these facts verified."""
        if verified not in self._values:
            logs, psi = self.total(verified)
            self._values[verified] = min(1.0, float(2.0 * self._omega @ (np.exp(logs) * psi)))
        return self._values[verified]

    def total(self, verified: frozenset[int]) -> tuple[FloatArray, FloatArray]:
        """Σ log φ and Σψ over all units."""
        logs, psi = self._doubted
        for place in {self.unit_of[fact] for fact in verified}:
            (new_log, new_psi), (old_log, old_psi) = self.unit(place, verified), self.unit(place, frozenset())
            logs = logs + (new_log - old_log)
            psi = psi + (new_psi - old_psi)
        return logs, psi

    @cached_property
    def _doubted(self) -> tuple[FloatArray, FloatArray]:
        logs, psi = np.zeros_like(self._t), np.zeros_like(self._t)
        for place in range(len(self.units)):
            one_log, one_psi = self.unit(place, frozenset())
            logs, psi = logs + one_log, psi + one_psi
        return logs, psi

    @cached_property
    def _steps(self) -> tuple[FloatArray, FloatArray]:
        """What verifying each fact, before anything else of its unit, adds to log φ and ψ."""
        logs, psi = np.empty((len(self.weight), self._t.size)), np.empty((len(self.weight), self._t.size))
        for fact, place in self.unit_of.items():
            (new_log, new_psi), (old_log, old_psi) = self.unit(place, frozenset((fact,))), self.unit(place, frozenset())
            logs[fact], psi[fact] = new_log - old_log, new_psi - old_psi
        return logs, psi

    def with_each(self, verified: frozenset[int], facts: Sequence[int]) -> FloatArray:
        """L with each of these facts verified besides, in one product."""
        logs, psi = self.total(verified)
        steps = self._steps[0][facts], self._steps[1][facts]
        touched = {self.unit_of[fact] for fact in verified}
        for row, fact in enumerate(facts):
            # Only of correlated labels can something be verified and something else still be open.
            if (place := self.unit_of[fact]) in touched:
                new, old = self.unit(place, verified | {fact}), self.unit(place, verified)
                steps[0][row], steps[1][row] = new[0] - old[0], new[1] - old[1]
        found: FloatArray = np.minimum(1.0, 2.0 * (np.exp(logs + steps[0]) * (psi + steps[1])) @ self._omega)
        return found

    def unit(self, place: int, verified: frozenset[int]) -> tuple[FloatArray, FloatArray]:
        """Log φ and ψ of one unit."""
        inside = frozenset(fact for part in self.units[place] for fact in part if fact in verified)
        key = place, inside
        if key not in self._known:
            self._known[key] = self._integrand(self.units[place], self.shared[place], inside)
        return self._known[key]

    def _integrand(
        self, unit: Sequence[Sequence[int]], shared: float, verified: frozenset[int]
    ) -> tuple[FloatArray, FloatArray]:
        t = self._t
        truths = [self._truth(part, verified) for part in unit]
        reference = shared + math.fsum(self.weight[truth] for truth in truths)
        absent, right, wrong, credit = [], [], [], []
        for part, truth in zip(unit, truths, strict=True):
            held = self._held(part, verified)
            absent.append(max(0.0, 1.0 - math.fsum(held.values())))
            right.append(held[truth] * np.exp(-t * self.weight[truth]))
            wrong.append(
                sum((p * np.exp(-t * self.weight[f]) for f, p in held.items() if f != truth), np.zeros_like(t))
            )
            credit.append(self.weight[truth])
        everything = [a + r + q for a, r, q in zip(absent, right, wrong, strict=True)]
        no_wrong = [a + r for a, r in zip(absent, right, strict=True)]
        nothing, only_right = math.prod(absent), np.multiply.reduce(no_wrong)
        only_wrong = np.multiply.reduce([a + q for a, q in zip(absent, wrong, strict=True)])
        some = np.multiply.reduce(everything)
        once = np.exp(-t * shared)
        a_right, both = only_right - nothing, some - only_right - only_wrong + nothing
        phi = nothing + once * (a_right + only_wrong - nothing) + once**2 * both
        psi = shared * (once * a_right + once**2 * both)
        for place, (here, weight) in enumerate(zip(right, credit, strict=True)):
            others = _product_without(no_wrong, place, t)
            all_others = _product_without(everything, place, t)
            psi = psi + weight * here * (once * others + once**2 * (all_others - others))
        return np.log(np.maximum(phi, _TINY)) - t * reference, psi / np.maximum(phi, _TINY)

    def _truth(self, part: Sequence[int], verified: frozenset[int]) -> int:
        return max(part, key=lambda fact: (fact in verified, self.confidence[fact]))

    def _held(self, part: Sequence[int], verified: frozenset[int]) -> dict[int, float]:
        found = next((fact for fact in part if fact in verified), None)
        if found is not None:
            return {fact: float(fact == found) for fact in part}
        total = max(1.0, math.fsum(self.confidence[fact] for fact in part))
        return {fact: self.confidence[fact] / total for fact in part}


def _product_without(factors: Sequence[FloatArray], place: int, like: FloatArray) -> FloatArray:
    kept = [factor for other, factor in enumerate(factors) if other != place]
    found: FloatArray = np.multiply.reduce([np.ones_like(like), *kept])
    return found


def _brute_force(belief: _Belief, prices: Mapping[int, float], budget: float) -> tuple[frozenset[int], float]:
    best = frozenset[int]()
    spent, after = 0.0, belief.value(best)
    for size in range(1, len(prices) + 1):
        for some in itertools.combinations(prices, size):
            cost = math.fsum(prices[fact] for fact in some)
            chosen = frozenset(some)
            if cost > budget or any(len(belief.part_of[fact] & chosen) > 1 for fact in some):
                continue
            value = belief.value(chosen)
            if value > after + 1e-13 or (value > after - 1e-13 and cost < spent):
                best, spent, after = chosen, cost, value
    return best, after


def _seeded_greedy(belief: _Belief, prices: Mapping[int, float], budget: float) -> tuple[frozenset[int], float]:
    def promise(fact: int) -> float:
        return belief.gain(fact) / max(prices[fact], _TINY)

    seedable = sorted(prices, key=promise, reverse=True)[:SEEDED]
    best = frozenset[int]()
    after = belief.value(best)
    finished: dict[frozenset[int], float] = {}
    for size in range(3):
        for seed in itertools.combinations(seedable, size):
            affordable = math.fsum(prices[fact] for fact in seed) <= budget
            if affordable and not any(len(belief.part_of[fact] & frozenset(seed)) > 1 for fact in seed):
                chosen, value = _greedy(belief, prices, budget, frozenset(seed), finished)
                if value > after + 1e-13:
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

    ``finished`` are the sets already grown from: two seeds that meet go on together.
    """
    value = belief.value(chosen)
    while chosen not in finished:
        finished[chosen] = value
        left = budget - math.fsum(prices[fact] for fact in chosen)
        facts = [fact for fact in belief.open_to(chosen, prices) if prices[fact] <= left]
        if not facts:
            break
        values = belief.with_each(chosen, facts)
        ratios = (values - value) / np.maximum([prices[fact] for fact in facts], _TINY)
        place = int(np.argmax(ratios))
        if values[place] <= value:
            break
        chosen, value = chosen | {facts[place]}, float(values[place])
    return chosen, value
