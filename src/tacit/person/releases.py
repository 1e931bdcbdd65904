"""Releasing a record: what it adds, which of several to choose, and what a query brings up (§4.1 and §2.4)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from tacit.errors import ArgumentError
from tacit.person.adversaries import Adversary, Link, Operator
from tacit.person.labels import Labels
from tacit.person.leakage import record_leakage
from tacit.person.records import Record, Reference
from tacit.person.what_if import WhatIf

# Leakages that differ by less are the same choice: rounding must not decide which card somebody uses.
_SAME = 1e-12


@dataclass(frozen=True)
class Option:
    """One way to make one release.

    ``alone`` is the leakage if it is the only release made, ``added`` what that adds to the leakage before;
    ``in_plan`` is the leakage of the chosen plan with this option in its slot.
    """

    slot: int
    option: int
    alone: float
    added: float
    in_plan: float


@dataclass(frozen=True)
class BestRelease:
    """The choice of one record per slot that leaks least.

    Parameters
    ----------
    choices : tuple of int
        The option for every slot.
    before, after : float
        The leakage now, and after the chosen releases.
    worst : float
        The largest leakage of a plan that was tried.
    ties : int
        How many plans that were tried leak as little; the choice is the one of these that gives out fewest attributes.
    plans : int
        How many plans there are.
    searched : {"exact", "heuristic"}
        Whether all of them were tried.
    options : tuple of Option
        All options of all slots.
    """

    choices: tuple[int, ...]
    before: float
    after: float
    worst: float
    ties: int
    plans: int
    searched: Literal["exact", "heuristic"]
    options: tuple[Option, ...]


@dataclass(frozen=True)
class DipResult:
    """What an adversary brings up who starts from a query: D(R, E, q).

    Parameters
    ----------
    record : Record
        Everything that resolves with the query, merged with it.
    members : tuple of int
        The places of the records in it; without the query's.
    links : tuple of Link
        Why they are one; the query is the place after the last record.
    leakage : float or None
        Of the merged record; None without a reference.
    """

    record: Record
    members: tuple[int, ...]
    links: tuple[Link, ...] = field(repr=False)
    leakage: float | None


def incremental_leakage(
    records: Iterable[Record] | WhatIf,
    reference: Reference | None,
    adversary: Adversary | Operator | None,
    release: Record,
    labels: Labels | None = None,
) -> float:
    """What releasing a record adds to the leakage: I(R, e, E, r) = L(R + {r}) - L(R).

    Parameters
    ----------
    records : iterable of Record, or WhatIf
        What is out already; a `WhatIf` brings its own reference, adversary and labels, and answers the next question
        without resolving all records again.
    reference : Reference
    adversary : Adversary, function or None
    release : Record
    labels : Labels, optional

    Returns
    -------
    float
        Large where the record lets others be pieced together, even if it says little itself. Negative where it makes
        the adversary mix up the person with somebody else.

    Examples
    --------
    >>> from tacit.person.adversaries import Resolve
    >>> from tacit.person.rules import Rules
    >>> shop = [Record([("N", "n1"), ("C", "c1"), ("P", "p1")]), Record([("N", "n1"), ("C", "c2")])]
    >>> alice = Reference([("N", "n1"), ("C", "c1"), ("C", "c2"), ("P", "p1"), ("A", "a1")])
    >>> joins = Adversary("joins", [Resolve(Rules([["N", "C"], ["N", "P"]]))])
    >>> other_card = Record([("N", "n1"), ("C", "c2"), ("P", "p1")])
    >>> round(incremental_leakage(shop, alice, joins, other_card), 6)  # 5/36
    0.138889
    """
    held = _held(records, reference, adversary, labels)
    return held.with_record(release) - held.leakage


def best_release(
    records: Iterable[Record] | WhatIf,
    reference: Reference | None,
    adversary: Adversary | Operator | None,
    slots: Sequence[Sequence[Record]],
    labels: Labels | None = None,
    limit: int = 100_000,
) -> BestRelease:
    """Choose one record for every slot, so that all together leak least: which card, which telephone, which alias.

    Parameters
    ----------
    records, reference, adversary, labels
        As for `incremental_leakage`.
    slots : sequence of sequences of Record
        The releases to make, each with the records that would do.
    limit : int
        Up to so many plans all are tried.

    Returns
    -------
    BestRelease
        With more plans than ``limit`` slot after slot is chosen greedily, and then any two slots are changed together
        as long as that helps; the result says that it was searched heuristically. The leakage of a set of records may
        rise or fall with each record, so no bound could cut the search short.

    Guarantees
    ----------
    ``after`` is the leakage of the chosen plan, everything resolved. If ``searched`` is "exact", no plan leaks less.
    """
    for place, slot in enumerate(slots, start=1):
        if isinstance(slot, Record):
            raise ArgumentError(f"release {place} is one record: give a list of the records that would do for it")
        if not slot:
            raise ArgumentError(f"release {place} has no option: give at least one record for it")
    held = _held(records, reference, adversary, labels)
    held.expect(record for slot in slots for record in slot)
    before = held.leakage
    plans = math.prod(len(slot) for slot in slots)
    tried = _Tried(slots)
    if plans <= limit:
        for choices, after in _all_plans(held, slots):
            tried.see(choices, after)
    else:
        _swap(held, slots, _greedy(held, slots, tried), tried)
    options = []
    for place, slot in enumerate(slots):
        in_plan = _each_option(held, slots, tried.choices, place)
        for option, record in enumerate(slot):
            alone = held.with_record(record)
            options.append(Option(place, option, alone, alone - before, in_plan[option]))
    return BestRelease(
        choices=tried.choices,
        before=before,
        after=tried.least,
        worst=tried.most,
        ties=tried.ties,
        plans=plans,
        searched="exact" if plans <= limit else "heuristic",
        options=tuple(options),
    )


def dip(
    records: Iterable[Record] | WhatIf,
    adversary: Adversary | None,
    query: Record,
    labels: Labels | None = None,
    reference: Reference | None = None,
) -> DipResult:
    """What an adversary learns who looks for a query: the record of E(R + {q}) that the query was merged into.

    The records are resolved first, as two of them may match the query together and neither alone: following matches
    from the query, record by record, would miss them.

    Parameters
    ----------
    records : iterable of Record, or WhatIf
        A `WhatIf` brings its own adversary, labels and, unless another is given, reference.
    adversary : Adversary or None
        Its steps change the query too; its policy merges, the query being one of those merged.
    query : Record
        What the adversary starts from: a name and an age.
    labels : Labels, optional
    reference : Reference, optional
        To measure the leakage of what comes up.
    """
    held = records if isinstance(records, WhatIf) else WhatIf(records, None, adversary, labels)
    found = held.dip(query)
    person = reference if reference is not None else held.reference
    return DipResult(
        record=found.record,
        members=tuple(member for member in found.members if member < len(held)),
        links=found.links,
        leakage=None if person is None else record_leakage(found.record, person, labels=held.labels),
    )


def _held(
    records: Iterable[Record] | WhatIf,
    reference: Reference | None,
    adversary: Adversary | Operator | None,
    labels: Labels | None,
) -> WhatIf:
    return records if isinstance(records, WhatIf) else WhatIf(records, reference, adversary, labels)


class _Tried:
    """The best of the plans tried; of equals the one that gives out fewest attributes, and of these the first."""

    def __init__(self, slots: Sequence[Sequence[Record]]) -> None:
        self._slots = slots
        self.choices: tuple[int, ...] = ()
        self.least = math.inf
        self.most = -math.inf
        self._given = 0
        self._seen: dict[tuple[int, ...], float] = {}

    def see(self, choices: tuple[int, ...], after: float) -> None:
        self._seen[choices] = after
        self.most = max(self.most, after)
        given = sum(len(slot[option]) for slot, option in zip(self._slots, choices, strict=True))
        if after < self.least - _SAME or (after <= self.least + _SAME and given < self._given):
            self.choices, self._given = choices, given
            self.least = min(self.least, after)

    @property
    def ties(self) -> int:
        return sum(after <= self.least + _SAME for after in self._seen.values())


def _all_plans(held: WhatIf, slots: Sequence[Sequence[Record]]) -> Iterator[tuple[tuple[int, ...], float]]:
    """Every plan in order with its leakage, depth first: what two plans have in common is resolved once."""
    if not slots:
        yield (), held.leakage
        return
    first, rest = slots[0], slots[1:]
    for option, record in enumerate(first):
        held.add(record)
        try:
            for choices, after in _all_plans(held, rest):
                yield (option, *choices), after
        finally:
            held.undo()


def _greedy(held: WhatIf, slots: Sequence[Sequence[Record]], tried: _Tried) -> tuple[int, ...]:
    choices: list[int] = []
    after = held.leakage
    for slot in slots:
        values = [held.with_record(record) for record in slot]
        after = min(values)
        choices.append(next(option for option, value in enumerate(values) if value <= after + _SAME))
        held.add(slot[choices[-1]])
    for _ in slots:
        held.undo()
    tried.see(tuple(choices), after)
    return tuple(choices)


def _swap(held: WhatIf, slots: Sequence[Sequence[Record]], choices: tuple[int, ...], tried: _Tried) -> None:
    """Change the options of any two slots together while that helps."""
    better = True
    while better:
        better = False
        for pair in itertools.combinations(range(len(slots)), min(2, len(slots))):
            others = [slots[place][choices[place]] for place in range(len(slots)) if place not in pair]
            for record in others:
                held.add(record)
            for some, after in _all_plans(held, [slots[place] for place in pair]):
                changed = list(choices)
                for place, option in zip(pair, some, strict=True):
                    changed[place] = option
                tried.see(tuple(changed), after)
            for _ in others:
                held.undo()
            if tried.choices != choices:
                choices, better = tried.choices, True


def _each_option(
    held: WhatIf, slots: Sequence[Sequence[Record]], choices: Sequence[int], place: int
) -> tuple[float, ...]:
    """The leakage of a plan with each option of one slot."""
    others = [slots[other][choices[other]] for other in range(len(slots)) if other != place]
    for record in others:
        held.add(record)
    found = tuple(held.with_record(record) for record in slots[place])
    for _ in others:
        held.undo()
    return found
