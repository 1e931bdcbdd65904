"""What was found about a person, as frozen values: the parts that answers are made of.

Values of the person are masked when a result is made, unless the caller asked to see them: a result is printed, logged
and passed on, and what is not in it cannot leak from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

State = Literal["correct", "near", "covered", "wrong"]
Searched = Literal["exact", "heuristic"]


@dataclass(frozen=True)
class PersonSource:
    """A source of the case: where its records came from and how many there are."""

    name: str
    path: str
    records: int
    sha256: str | None


@dataclass(frozen=True)
class Rung:
    """One step of the leakage-cost ladder: an adversary, what it learns, and what that costs it.

    ``leakage``, ``precision`` and ``recall`` are of the record with the largest leakage; ``best_recall`` is the largest
    recall of any one record, which under the union never falls when an adversary resolves more, unless a label has a
    single true value, where a second value makes the first doubtful. ``best_precision`` is the largest precision of any
    record that was looked at; a record that says one true thing has 1. ``cost`` is what the case declares, ``seconds``
    what the work took here. ``records`` is the number of base records, ``entities`` what is left after resolving,
    ``merged`` how many base records the leaking one was made of.
    """

    adversary: str
    does: str
    merge: str
    leakage: float
    precision: float
    recall: float
    best_recall: float
    best_precision: float
    cost: float
    seconds: float
    records: int
    entities: int
    merged: int


@dataclass(frozen=True)
class Held:
    """An attribute of the merged record: what it says, whether it is true, how sure the adversary is, and from where.

    ``contribution`` is the leakage minus the leakage without it: negative for what misleads the adversary. ``credit``
    in [0, 1] is how much of its weight counts as right.
    """

    label: str
    value: str
    state: State
    confidence: float
    weight: float
    credit: float
    contribution: float
    sources: tuple[str, ...]


@dataclass(frozen=True)
class Missing:
    """A true thing about the person that the merged record does not have."""

    label: str
    value: str
    weight: float


@dataclass(frozen=True)
class Join:
    """Why two records were taken to be one person's: the labels on which they, or what each was merged into, agree."""

    left: str
    right: str
    labels: tuple[str, ...]


@dataclass(frozen=True)
class Finding:
    """The record that leaks most under one adversary, attribute by attribute, and how it came to be.

    ``bits`` is the sum of the positive log-lifts log2(confidence / prior) of what is right, where the case gives
    priors; None where it gives none.
    """

    adversary: str
    leakage: float
    held: tuple[Held, ...]
    missing: tuple[Missing, ...]
    members: tuple[str, ...]
    joins: tuple[Join, ...]
    bits: float | None


@dataclass(frozen=True)
class SourceShare:
    """What one source adds: the leakage with all sources minus the leakage without it, everything resolved again.

    ``only_there`` is the share of the person's file that is in its records and in no other source's.
    """

    source: str
    records: int
    leakage_without: float
    contribution: float
    only_there: float = 0.0


@dataclass(frozen=True)
class Action:
    """Something the person can do, and what the leakage under the strongest adversary would be after it."""

    kind: Literal["remove", "change", "decoy", "release"]
    what: str
    before: float
    after: float
    cost: float | None
    success: float | None
    why: str


@dataclass(frozen=True)
class ReleaseOption:
    """One way to make a release: the leakage after it and how much it adds, under each adversary."""

    slot: str
    option: str
    labels: tuple[str, ...]
    after: Mapping[str, float]
    added: Mapping[str, float]
    joins: tuple[str, ...]


@dataclass(frozen=True)
class ReleasePlan:
    """The choice for every release that leaks least under one adversary, and the worst choice there was."""

    adversary: str
    choices: Mapping[str, str]
    before: float
    after: float
    worst: float
    plans: int
    searched: Searched


@dataclass(frozen=True)
class Dipped:
    """What an adversary that starts from a query gets: everything that resolves with it."""

    query: str
    adversary: str
    leakage: float
    precision: float
    recall: float
    finding: Finding


@dataclass(frozen=True)
class RemovalStep:
    """One request to remove a source's records, in the order to make them.

    ``if_removed`` is the leakage if this and all earlier requests succeed, ``expected`` its expectation over which of
    them do.
    """

    source: str
    records: int
    cost: float
    success: float
    if_removed: float
    expected: float


@dataclass(frozen=True)
class DecoyRecord:
    """A record to plant: what links it, what is false in it, and what it costs."""

    kind: Literal["self", "linkage"]
    links: tuple[tuple[str, str], ...]
    false: tuple[tuple[str, str], ...]
    cost: float


@dataclass(frozen=True)
class Verification:
    """An attribute the adversary could verify: how much surer of its record that would make it, and per cost."""

    label: str
    value: str
    record: str
    confidence: float
    cost: float
    gain: float
    gain_per_cost: float
    chosen: bool


@dataclass(frozen=True)
class PopulationRung:
    """The leakage of all people under one adversary: quantiles, how many are above the limit, and a histogram.

    ``bins`` counts people in twenty equal parts of [0, 1].
    """

    adversary: str
    does: str
    quantiles: Mapping[str, float]
    mean: float
    mean_recall: float
    above: int | None
    bins: tuple[int, ...]
    cost: float
    seconds: float
    entities: int


@dataclass(frozen=True)
class RungChange:
    """What leaked to an adversary at the last audit (None if that did not include it), and what leaks now."""

    adversary: str
    then: float | None
    now: float


@dataclass(frozen=True)
class AuditChanges:
    """What changed since the last watched audit of the case.

    ``new_facts`` and ``gone_facts`` count, by label, true facts about the person that some adversary now knows and none
    did, or that none knows any more. Only the number of sources that are gone is known, not their names. ``rewritten``
    are sources whose file changed but whose number of records did not. ``same_person`` is False if the case now says
    other things about the person: then the leakages are not about the same file.
    """

    since: str
    rungs: tuple[RungChange, ...]
    new_facts: Mapping[str, int]
    gone_facts: Mapping[str, int]
    new_sources: tuple[str, ...]
    gone_sources: int
    new_records: Mapping[str, int]
    gone_records: Mapping[str, int]
    rewritten: tuple[str, ...]
    same_person: bool
