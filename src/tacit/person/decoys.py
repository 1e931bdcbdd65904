"""Decoys: records with false values that make an adversary's picture of a person worse (the paper's disinformation).

Only what was measured after everything was resolved again is called leakage. What a search expected stays beside it as
``predicted``: values from two clusters in one record can match a third, and an adversary that corrects errors or keeps
the value most sources agree on throws single false values away.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple, get_args

import numpy as np

from tacit.errors import ArgumentError, DataError
from tacit.person.adversaries import Adversary, Clusters, Correct, Resolve
from tacit.person.batches import record_leakages
from tacit.person.comparing import Comparer, Comparison, FloatArray
from tacit.person.decoy_records import Bogus, Create, FalseValues
from tacit.person.decoy_search import MOST_FOR_EXACT, NOTHING, Adds, Board, Found, search
from tacit.person.labels import Labels
from tacit.person.leakage import leakage_of
from tacit.person.merging import merge
from tacit.person.quadrature import nodes
from tacit.person.records import Attribute, Record, Reference
from tacit.person.rules import Facts
from tacit.person.units import plain_factors, unit_transform
from tacit.person.what_if import WhatIf

Method = Literal["auto", "exact", "greedy", "partition"]
Kind = Literal["self", "linkage"]

# Of more clusters only those that matter most are searched: the worst that hold something of the person, and of the
# others those with most that is wrong for the cost of a link.
MOST_HOT = 128
MOST_COLD = 300
# A difference of leakages below this is rounding.
_SAME = 1e-9


@dataclass(frozen=True)
class Decoy:
    """A record to plant.

    Attributes
    ----------
    record : Record
    links : tuple of Attribute
        What makes it match: facts the adversary holds already, with a confidence at which it holds them.
    adds : tuple of Attribute
        What is false and new.
    cost : float
    kind : {"self", "linkage"}
        ``self``: it spoils one cluster by what it adds; ``linkage``: it joins several.
    """

    record: Record
    links: tuple[Attribute, ...] = field(repr=False)
    adds: tuple[Attribute, ...] = field(repr=False)
    cost: float
    kind: Kind


@dataclass(frozen=True)
class DecoyPlan:
    """Decoys, what they cost, and the leakage under every adversary after all was resolved and measured again.

    Attributes
    ----------
    decoys : tuple of Decoy
    adversary : str
        The one it was planned against.
    before, after : mapping from adversary to float
        Leakage without the decoys and with them, both measured.
    predicted : mapping from adversary to float
        What the search expected, for the adversary it was planned against; not a leakage.
    planned_cost, cost : float
        What the search reckoned, and what the records cost.
    budget : float
    method : {"exact", "greedy", "partition"}
        The search that found it.
    recommended : bool
        The worst leakage under any adversary falls, and under none it rises.
    reasons : tuple of str
        Why it is or is not recommended, and under which adversaries it does not work.
    """

    decoys: tuple[Decoy, ...]
    adversary: str
    before: Mapping[str, float]
    predicted: Mapping[str, float]
    after: Mapping[str, float]
    planned_cost: float
    cost: float
    budget: float
    method: str
    recommended: bool
    reasons: tuple[str, ...]

    @property
    def records(self) -> tuple[Record, ...]:
        """The records to plant."""
        return tuple(decoy.record for decoy in self.decoys)


def plan_decoys(
    records: Sequence[Record],
    reference: Reference,
    adversaries: Sequence[Adversary],
    labels: Labels | None = None,
    *,
    budget: float,
    allowed: Sequence[str],
    bogus: Bogus | None = None,
    costs: Mapping[str, float] | None = None,
    confidence: float = 1.0,
    method: Method = "auto",
    beta: float = 1.0,
) -> DecoyPlan:
    """Plan records that lower what an adversary holds of a person: the paper's optimal disinformation.

    Parameters
    ----------
    records : sequence of Record
        What is out.
    reference : Reference
    adversaries : sequence of Adversary
        The ladder. Those that resolve by rules are planned against; the others are measured.
    labels : Labels, optional
    budget : float
        For the cost of all decoys together.
    allowed : sequence of labels
        The only labels of which a decoy may say anything that is not true: false values given to a bank or an
        authority are no decoys.
    bogus : callable or mapping, optional
        False values: a function from label to a value, or for each label the values to use. Without it, values that
        nobody takes for true ("decoy-1"), to be replaced before use. Values that the records hold already under the
        label are left out, because they would link the decoy to whoever holds them.
    costs : mapping from label to float, optional
        Of one attribute; 1 if not named, so that a record costs its length.
    confidence : float
        With which the adversary will hold what is false.
    method : {"auto", "exact", "greedy", "partition"}
        ``exact`` tries every grouping of at most 8 clusters; ``auto`` is exact where it can be, and else the better of
        the other two.
    beta : float
        Recall counts so many times as much as precision; above 0.

    Returns
    -------
    DecoyPlan
        The plan with the least measured leakage, worst adversary first; whether it is recommended is a part of it.

    Guarantees
    ----------
    The cost is within the budget. Whatever a decoy says is true of the person or of an allowed label. Nothing true is
    said with more confidence than the adversary had in it. ``before`` and ``after`` are measured, never predicted.

    Notes
    -----
    The searches reckon with union merging. For an adversary that merges otherwise ``predicted`` is worked out by its
    own policy, and what is measured decides.

    A link to a cluster that holds nothing of the person repeats values that may be somebody else's. Allow only labels
    for which that harms nobody.
    """
    known = labels if labels is not None else Labels()
    price = _checked_costs(costs)
    _check(records, adversaries, budget=budget, allowed=allowed, confidence=confidence, method=method, beta=beta)
    hands = {adversary.name: WhatIf(records, reference, adversary, known, beta=beta) for adversary in adversaries}
    before = {name: held.leakage for name, held in hands.items()}
    false = FalseValues.gathered(
        records,
        reference,
        known,
        allowed=allowed,
        bogus=bogus,
        cost=price,
        confidence=confidence,
        budget=budget,
    )
    plans = []
    for adversary in adversaries:
        resolve = _resolving(adversary)
        if resolve is None:
            continue
        create = Create(resolve.rules, frozenset(allowed), price, reference, known)
        for proposal in Planner(records, adversary, create, false, beta=beta).proposals(budget, method):
            after = {name: held.with_records(d.record for d in proposal.decoys) for name, held in hands.items()}
            plans.append(_judged(proposal, adversary, adversaries, before, after, budget))
            # The next best search is asked only if this one's decoys matched what they should not have.
            if after[adversary.name] <= proposal.predicted + _SAME:
                break
    return min(plans, key=_order)


def _order(plan: DecoyPlan) -> tuple[bool, list[float], float]:
    """Recommended before others; then what leaves least under the worst adversary, then the next; then the cheaper."""
    left = sorted((round(value, 12) for value in plan.after.values()), reverse=True)
    return not plan.recommended, left, plan.cost


def _checked_costs(costs: Mapping[str, float] | None) -> Callable[[str], float]:
    given = dict(costs or {})
    for label, cost in given.items():
        if not (math.isfinite(cost) and cost > 0):
            raise ArgumentError(f"the cost of '{label}' is {cost:g}: give a finite number above 0")
    return lambda label: given.get(label, 1.0)


def _check(
    records: Sequence[Record],
    adversaries: Sequence[Adversary],
    *,
    budget: float,
    allowed: Sequence[str],
    confidence: float,
    method: str,
    beta: float,
) -> None:
    if not records:
        raise DataError("there are no records: without any, nothing is out and there is nothing to spoil")
    if not (math.isfinite(budget) and budget > 0):
        raise ArgumentError(f"the budget is {budget:g}: give a finite number above 0")
    if isinstance(adversaries, Adversary):
        raise ArgumentError("adversaries is a single one: put [ ] around it")
    if isinstance(allowed, str):
        raise ArgumentError("'allowed' is text: list in 'allowed' the labels that may be false, even if there is one")
    if not allowed:
        raise ArgumentError(
            "no label may carry false values: list in 'allowed' those that may, such as ['nickname', 'hobby']"
        )
    if not 0 < confidence <= 1:
        raise ArgumentError(f"the confidence of false values is {confidence:g}: it lies above 0 and not above 1")
    if method not in get_args(Method):
        raise ArgumentError(f"no method '{method}': choose {', '.join(get_args(Method))}")
    if not (math.isfinite(beta) and beta > 0):
        raise ArgumentError(f"beta is {beta:g}: give a finite number above 0 (1 weighs precision and recall alike)")
    names = [adversary.name for adversary in adversaries]
    if len(set(names)) != len(names):
        raise ArgumentError(
            "two adversaries have the same name: results are told apart by it, so name each differently"
        )
    if not any(_resolving(adversary) for adversary in adversaries):
        raise ArgumentError(
            "no adversary resolves records by rules, so nothing can be planned: add one with a step Resolve(rules); "
            "adversaries that do not resolve by rules are only measured"
        )


def _resolving(adversary: Adversary) -> Resolve | None:
    """The step in which the adversary resolves by rules; None if it does not, or resolves in other ways as well."""
    steps = [step for step in adversary.steps if isinstance(step, Resolve | Clusters)]
    return steps[0] if len(steps) == 1 and isinstance(steps[0], Resolve) else None


class Proposal(NamedTuple):
    """What a search found, as records, and what it expects of them."""

    decoys: tuple[Decoy, ...]
    predicted: float
    found: Found
    method: str


class Planner:
    """Plans against one adversary. Clusters are named by their places in ``members``."""

    def __init__(
        self, records: Sequence[Record], adversary: Adversary, create: Create, false: FalseValues, *, beta: float = 1.0
    ) -> None:
        self.adversary = adversary
        self.create = create
        self.false = false
        self.beta = beta
        self.labels = create.labels
        self.comparer = Comparer(create.reference, create.labels)
        resolve = _resolving(adversary)
        self._base_only = resolve is not None and resolve.closure == "components"
        # Links are made with values as the resolution sees them; later steps may change these again.
        self._seen = adversary.prepared(records, self.labels)
        held = replace(adversary, keep_base=False).holdings(records, self.labels)
        self._records = held.records
        self.members = [group.members for group in held.groups]
        places = {members: place for place, members in enumerate(self.members)}
        about = list(held.about(create.reference))
        self.leakages = np.zeros(len(self.members))
        self.leakages[[places[cluster.members] for cluster in about]] = record_leakages(
            [cluster.record for cluster in about], create.reference, self.labels, beta=beta
        )
        kept = (
            record_leakages(records, create.reference, self.labels, beta=beta) if adversary.keep_base else np.zeros(0)
        )
        self._kept = float(kept.max(initial=0.0))

    def proposals(self, budget: float, method: Method) -> Iterator[Proposal]:
        """Decoys a search finds, made, best first."""
        chosen, board = self._board(budget)
        if method == "exact" and len(board) > MOST_FOR_EXACT:
            raise ArgumentError(
                f"method 'exact' would try every grouping of {len(board)} clusters; it does so for at most "
                f"{MOST_FOR_EXACT}: take 'auto'"
            )
        for found, name in search(board, budget, method):
            groups = [[chosen[c] for c in sorted(group.members)] for group in found.groups]
            used = [0] * len(self.false.lanes)
            decoys = tuple(
                self._decoy(at, clusters, group.adds, used)
                for at, (group, clusters) in enumerate(zip(found.groups, groups, strict=True), start=1)
            )
            yield Proposal(decoys, self._predicted(groups, decoys), found, name)

    def _merged(self, *clusters: int, more: Sequence[Record] = ()) -> Record:
        """What the adversary writes down for clusters taken together."""
        members = [self._records[member] for cluster in clusters for member in self.members[cluster]]
        return merge([*members, *more], self.adversary.merge, self.labels)

    def _wholes(self, cluster: int) -> tuple[Facts, ...]:
        """What a record must share its values with to join the cluster."""
        members = [self._seen[member].confidences for member in self.members[cluster]]
        if self._base_only or len(members) == 1:
            return tuple(members)
        union: dict[tuple[str, str], float] = {}
        for facts in members:
            for fact, confidence in facts.items():
                union[fact] = max(confidence, union.get(fact, 0.0))
        return (union,)

    def _board(self, budget: float) -> tuple[list[int], Board]:
        """The clusters worth searching, and the board they are laid on."""
        costs: dict[int, float] = {}
        hot: list[int] = []
        floor = self._kept
        for c in np.argsort(-self.leakages, kind="stable").tolist():
            if self.leakages[c] <= NOTHING or len(hot) == MOST_HOT:
                floor = max(floor, float(self.leakages[c]))
                break
            costs[c] = self.create.link_cost(self._wholes(c))
            if costs[c] <= budget:
                hot.append(c)
            else:
                floor = max(floor, float(self.leakages[c]))  # out of reach, and stays as it is
        junk: dict[int, float] = {}
        for c in np.flatnonzero(self.leakages <= NOTHING).tolist() if hot else []:
            costs[c] = self.create.link_cost(self._wholes(c))
            if costs[c] <= budget:
                junk[c] = sum(a.confidence * self.labels[a.label].weigh(a.value) for a in self._merged(c))
        chosen = hot + sorted(junk, key=lambda c: -junk[c] / costs[c])[:MOST_COLD]
        return chosen, self._laid_out(chosen, costs, junk, floor=floor)

    def _laid_out(
        self, chosen: list[int], costs: Mapping[int, float], junk: Mapping[int, float], *, floor: float
    ) -> Board:
        merged = [self._merged(c) for c in chosen]
        wholes = [self._wholes(c) for c in chosen]
        # L = (1 + beta^2) E[I / (W + base)]; without any weight of the reference nothing is hot, and all this is idle.
        base = self.beta**2 * self.comparer.reference_weight or 1.0
        shared = sum(group.shared for group in self.labels.correlated)
        false = sum(lane.weight * lane.limit for lane in self.false.lanes)
        held = sum(float(self.comparer.compare(record).weight.sum()) for record in merged)
        u, omega = nodes(1 + (held + 2 * shared + false) / base)

        def vectors(members: frozenset[int], bound: Adds) -> tuple[FloatArray, FloatArray]:
            facts: dict[tuple[str, str], float] = {}
            for place in sorted(members):
                for fact, confidence in merged[place].confidences.items():
                    facts[fact] = max(confidence, facts.get(fact, 0.0))
            adds = self.false.taken(bound, [0] * len(bound))
            joined = Record.trusted([*(Attribute(*fact, held) for fact, held in facts.items()), *adds])
            return _transform(self.comparer.compare(joined), u / base)

        def group_cost(members: frozenset[int]) -> float:
            facts = self.create([wholes[place] for place in sorted(members)])
            return sum(self.create.cost(label) for label, _ in facts) if facts else math.inf

        return Board(
            nodes=u / base,
            base=(1 + self.beta**2) / base * omega * np.exp(-u),
            vectors=vectors,
            link_costs=[costs[c] for c in chosen],
            lanes=self.false.lanes,
            floor=floor,
            group_cost=group_cost,
            junk=[junk.get(c, 0.0) for c in chosen],
        )

    def _decoy(self, number: int, clusters: Sequence[int], counts: Adds, used: list[int]) -> Decoy:
        facts = self.create([self._wholes(cluster) for cluster in clusters])
        links = tuple(Attribute(*fact, confidence) for fact, confidence in facts.items())
        adds = tuple(self.false.taken(counts, used))
        record = Record([*links, *adds], name=f"decoy {number}", source="decoys")
        cost = sum(self.create.cost(attribute.label) for attribute in record)
        return Decoy(record, links, adds, cost, "linkage" if len(clusters) > 1 else "self")

    def _predicted(self, groups: Sequence[Sequence[int]], decoys: Sequence[Decoy]) -> float:
        """The worst leakage if every decoy joins just the clusters it was made for."""
        left = self.leakages.copy()
        made: list[Record] = []
        for clusters, decoy in zip(groups, decoys, strict=True):
            left[list(clusters)] = 0.0
            held = self.adversary.holdings([decoy.record], self.labels).records  # after the adversary's other steps
            made.append(self._merged(*clusters, more=held))
            if self.adversary.keep_base:
                made.append(decoy.record)
        values = [leakage_of(self.comparer.compare(record), beta=self.beta) for record in made]
        return max([*values, float(left.max(initial=0.0)), self._kept])


def _transform(found: Comparison, u: FloatArray) -> tuple[FloatArray, FloatArray]:
    """log E[exp(-u W)] of a record, and the sum over its units of E[I exp(-u W)] / E[exp(-u W)]."""
    confidence = found.confidence[found.alone]
    weight, credit = found.weight[found.alone], found.credit[found.alone]
    certain = confidence == 1
    log_mass = -u * float(weight[certain].sum())
    ratio = np.full_like(u, float(credit[certain].sum()))
    logs, ratios = plain_factors(confidence[~certain], weight[~certain], u)
    log_mass += logs.sum(axis=1)
    ratio += ratios @ credit[~certain]
    for unit in found.units:
        own, share = unit_transform(unit, found, u)
        log_mass += np.maximum(own, -1e300)  # where it underflows the node adds nothing
        ratio += share
    return log_mass, ratio


def _judged(
    proposal: Proposal,
    planned: Adversary,
    adversaries: Sequence[Adversary],
    before: Mapping[str, float],
    after: Mapping[str, float],
    budget: float,
) -> DecoyPlan:
    """The plan that comes of a proposal, with whether it is recommended, and why or why not."""
    worst, left = max(before.values()), max(after.values())
    rising = [name for name in before if after[name] > before[name] + _SAME]
    falls = left < worst - _SAME
    reasons = []
    if not proposal.decoys:
        because = (
            f", {_why_not(planned)}" if planned.keep_base else ": it is too small, or nothing true or allowed links"
        )
        reasons.append(
            f"not recommended: no decoy within the budget lowers the leakage under '{planned.name}'{because}"
        )
    elif falls:
        reasons.append(f"the worst leakage under any adversary falls from {worst:.3f} to {left:.3f}")
    else:
        reasons.append(f"not recommended: the worst leakage under any adversary was {worst:.3f} and is {left:.3f}")
    reasons.extend(
        f"not recommended: under '{name}' the leakage rises from {before[name]:.3f} to {after[name]:.3f}, "
        "because the decoys tell more than they hide"
        for name in rising
    )
    for adversary in adversaries if proposal.decoys else ():
        if abs(after[adversary.name] - before[adversary.name]) <= _SAME:
            reasons.append(f"it does not work under '{adversary.name}', {_why_not(adversary)}")
    measured = after[planned.name]
    if abs(measured - proposal.predicted) > _SAME:
        reasons.append(
            f"under '{planned.name}' {proposal.predicted:.3f} was expected and {measured:.3f} measured: decoys and "
            "records matched or merged otherwise than planned"
        )
    return DecoyPlan(
        decoys=proposal.decoys,
        adversary=planned.name,
        before=before,
        predicted={planned.name: proposal.predicted},
        after=after,
        planned_cost=proposal.found.cost,
        cost=sum(decoy.cost for decoy in proposal.decoys),
        budget=budget,
        method=proposal.method,
        recommended=bool(proposal.decoys) and falls and not rising,
        reasons=tuple(reasons),
    )


def _why_not(adversary: Adversary) -> str:
    if any(isinstance(step, Clusters) for step in adversary.steps):
        return "whose clusters were brought from elsewhere and do not know the decoys"
    if _resolving(adversary) is None:
        return "which does not resolve records by rules: what it holds was not planned for"
    if adversary.keep_base:
        return "which keeps the base records: no decoy changes these"
    if adversary.merge != "union":
        return f"which merges by {adversary.merge}: single false values do not stand against what several sources say"
    if any(isinstance(step, Correct) for step in adversary.steps):
        return "which corrects errors: false values may be taken out"
    return "whose worst cluster the decoys do not reach"
