"""Releasing a record: what it adds, which of several to choose, and what a query brings up (§4.1 and §2.4)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Literal

from tacit.errors import ArgumentError
from tacit.person.model import Labels, Record, Reference, record_leakage
from tacit.person.resolve import Adversary, Link, Operator, WhatIf

# The releases to make, each with the records that would do.
Slots = Sequence[Sequence[Record]]

# Leakages that differ by less count as equal: rounding must not decide which card somebody uses.
_SAME = 1e-12


@dataclass(frozen=True)
class ReleaseChoice:
    """One way to make one release: the leakage if it is the only one made, and what it adds to the current leakage."""

    slot: int
    option: int
    alone: float
    added: float


@dataclass(frozen=True)
class BestRelease:
    """The choice of one record per slot that leaks least.

    ``choices`` is the option for every slot; ``before`` and ``after`` the leakage now and after these releases, and
    ``worst`` the largest leakage of any plan that was tried. ``plans`` is how many there are; all were tried if
    ``searched`` is "exact". Among plans that leak equally little, the choice gives away the fewest attributes.
    """

    choices: tuple[int, ...]
    before: float
    after: float
    worst: float
    plans: int
    searched: Literal["exact", "heuristic"]
    options: tuple[ReleaseChoice, ...]


@dataclass(frozen=True)
class DipResult:
    """What an adversary that starts from a query brings up: D(R, E, q).

    ``record`` is everything that resolves with the query, merged with it; ``members`` the places of the records in it,
    without the query; ``links`` why they belong together, the query being the place after the last record; ``leakage``
    that of the merged record, None without a reference.
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

    ``records`` are what is already public; a `WhatIf` brings its own reference, adversary and labels, and answers the
    next question without resolving all records again.

    Returns
    -------
    float
        Large if the record lets others be pieced together, even if it says little itself. Negative if it makes the
        adversary mix up the person with somebody else.

    Examples
    --------
    >>> from tacit.person import Resolve, Rules
    >>> shop = [Record([("N", "n1"), ("C", "c1"), ("P", "p1")]), Record([("N", "n1"), ("C", "c2")])]
    >>> alice = Reference([("N", "n1"), ("C", "c1"), ("C", "c2"), ("P", "p1"), ("A", "a1")])
    >>> joins = Adversary("joins", [Resolve(Rules([["N", "C"], ["N", "P"]]))])
    >>> other_card = Record([("N", "n1"), ("C", "c2"), ("P", "p1")])
    >>> round(incremental_leakage(shop, alice, joins, other_card), 6)  # 5/36
    0.138889
    """
    what_if = WhatIf.over(records, reference, adversary, labels)
    return what_if.with_record(release) - what_if.leakage


def best_release(
    records: Iterable[Record] | WhatIf,
    reference: Reference | None,
    adversary: Adversary | Operator | None,
    slots: Slots,
    labels: Labels | None = None,
    limit: int = 100_000,
) -> BestRelease:
    """Choose one record for every slot so that they leak least together: which card, which phone, which alias.

    Parameters
    ----------
    records, reference, adversary, labels
        As for `incremental_leakage`.
    slots : sequence of sequences of Record
        The releases to make, each with the records that would do.
    limit : int
        Up to this many plans, all are tried.

    Returns
    -------
    BestRelease
        With more plans than ``limit``, one slot after another is chosen greedily, and then any two slots are changed
        together as long as that helps; the result says that the search was heuristic. The leakage of a set of records
        may rise or fall with each record, so no bound could cut the search short.

    Guarantees
    ----------
    ``after`` is the leakage of the chosen plan with everything resolved. If ``searched`` is "exact", no plan leaks
    less.
    """
    for place, slot in enumerate(slots, start=1):
        if isinstance(slot, Record):
            raise ArgumentError(f"release {place} is one record: give a list of the records that would do for it")
        if not slot:
            raise ArgumentError(f"release {place} has no option: give at least one record for it")
    what_if = WhatIf.over(records, reference, adversary, labels)
    what_if.expect(record for slot in slots for record in slot)
    before = what_if.leakage
    plans = math.prod(len(slot) for slot in slots)
    tried = _Tried(slots)
    if plans <= limit:
        tried.see(_all_plans(what_if, slots))
    else:
        tried.see([_greedy(what_if, slots)])
        _swap(what_if, slots, tried)
    alone = [
        (place, option, what_if.with_record(r)) for place, slot in enumerate(slots) for option, r in enumerate(slot)
    ]
    return BestRelease(
        choices=tried.choices,
        before=before,
        after=tried.least,
        worst=tried.worst,
        plans=plans,
        searched="exact" if plans <= limit else "heuristic",
        options=tuple(ReleaseChoice(place, option, after, after - before) for place, option, after in alone),
    )


def dip(
    records: Iterable[Record] | WhatIf,
    adversary: Adversary | None,
    query: Record,
    labels: Labels | None = None,
    reference: Reference | None = None,
) -> DipResult:
    """What an adversary that looks for a query learns: the record of E(R + {q}) that the query was merged into.

    The records are resolved first, because two of them may match the query together although neither does alone:
    following matches from the query, record by record, would miss them.

    The adversary's steps change the query too, and the query is merged with the rest by the adversary's policy. A
    `WhatIf` brings its own adversary and labels, and its reference unless another is passed.
    """
    what_if = WhatIf.over(records, None, adversary, labels)
    cluster = what_if.dip(query)
    person = reference if reference is not None else what_if.reference
    return DipResult(
        record=cluster.record,
        members=tuple(member for member in cluster.members if member < len(what_if)),
        links=cluster.links,
        leakage=None if person is None else record_leakage(cluster.record, person, labels=what_if.labels),
    )


# The option for every slot, and the leakage after all of them.
_Plan = tuple[tuple[int, ...], float]


class _Tried:
    """The best plan tried; among equals, the one that gives away the fewest attributes, and then the first."""

    def __init__(self, slots: Slots) -> None:
        self._slots = slots
        self.choices: tuple[int, ...] = ()
        self.least, self.worst = math.inf, 0.0
        self._length = 0

    def see(self, plans: Iterable[_Plan]) -> None:
        for choices, after in plans:
            self.worst = max(self.worst, after)
            length = sum(len(slot[option]) for slot, option in zip(self._slots, choices, strict=True))
            if after < self.least - _SAME or (after <= self.least + _SAME and length < self._length):
                self.choices, self._length = choices, length
                self.least = min(self.least, after)


def _all_plans(what_if: WhatIf, slots: Slots) -> Iterator[_Plan]:
    """Every plan in order with its leakage, depth first, so that what two plans have in common is resolved once."""
    if not slots:
        yield (), what_if.leakage
        return
    for option, record in enumerate(slots[0]):
        with what_if.adding([record]):
            for choices, after in _all_plans(what_if, slots[1:]):
                yield (option, *choices), after


def _greedy(what_if: WhatIf, slots: Slots) -> _Plan:
    choices: list[int] = []
    least = what_if.leakage
    with ExitStack() as chosen:
        for slot in slots:
            values = list(map(what_if.with_record, slot))
            least = min(values)
            choices.append(next(option for option, value in enumerate(values) if value <= least + _SAME))
            chosen.enter_context(what_if.adding([slot[choices[-1]]]))
    return tuple(choices), least


def _swap(what_if: WhatIf, slots: Slots, tried: _Tried) -> None:
    """Change the options of any two slots together while that helps."""
    before: tuple[int, ...] | None = None
    while before != tried.choices:
        before = tried.choices
        for pair in itertools.combinations(range(len(slots)), min(2, len(slots))):
            choices = tried.choices
            with what_if.adding(slot[choices[place]] for place, slot in enumerate(slots) if place not in pair):
                for options, after in _all_plans(what_if, [slots[place] for place in pair]):
                    changed = dict(zip(pair, options, strict=True))
                    tried.see([(tuple(changed.get(place, choice) for place, choice in enumerate(choices)), after)])
