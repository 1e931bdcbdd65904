"""What each source adds and what the person can do, both found by resolving everything again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from tacit.person.answers.masking import Showing
from tacit.person.answers.results import Action, SourceShare
from tacit.person.answers.words import level
from tacit.person.case.model import Case
from tacit.person.inquiry.hot import Shrinking
from tacit.person.inquiry.subject import Subject
from tacit.person.model.kinds import usual
from tacit.person.resolve.adversaries import Cluster
from tacit.person.sources.pool import RecordPool

# What nobody changes from one place to the next.
_FOR_LIFE = "name given middle surname dob address zip city ssn national_id tax_id passport driving_licence gender"
GIVEN_FOR_LIFE = frozenset(_FOR_LIFE.split())
# Differences of leakages below this are rounding.
SAME = 1e-9


def source_shares(
    pool: RecordPool, before: float, without: Mapping[str, float], only_there: Mapping[str, float]
) -> tuple[SourceShare, ...]:
    """What every source adds, the largest contribution first; ``without`` is what leaks without each source (the same
    as before if it is missing), and ``only_there`` the share of the file that no other source has."""
    shares = [
        SourceShare(
            source=s.name,
            records=s.counted,
            leakage_without=without.get(s.name, before),
            contribution=before - without.get(s.name, before),
            only_there=only_there.get(s.name, 0.0),
        )
        for s in pool.sources
    ]
    return tuple(sorted(shares, key=lambda share: (-share.contribution, -share.only_there)))


def removals(case: Case, shares: Iterable[SourceShare], before: float) -> list[Action]:
    """Requests to remove a source, if that lowers the leakage."""
    offers = {source.name: source.removal for source in case.sources if source.removal is not None}
    own = {source.name for source in case.sources if source.own_book}
    lists = {source.name for source in case.sources if source.format == "breaches"}
    actions = []
    for share in shares:
        offer = offers.get(share.source)
        if share.contribution <= SAME or (offers and offer is None):
            continue
        cost, success = (None, None) if offer is None else (offer.cost, offer.success)
        what = f"have '{share.source}' remove its records"
        why = f"{level(share.contribution)} of the leakage goes with this source, if it removes its records"
        if share.source in lists:
            # Whoever lists breaches holds nothing.
            what = f"have those whose breaches '{share.source}' lists remove their records"
            why = f"{level(share.contribution)} of the leakage goes with these, if they remove their records"
        if share.source in own:
            what = f"delete the person's entries in '{share.source}', an address book or mailbox of your own"
            why = f"{level(share.contribution)} of the leakage goes with them; there is nobody to ask"
        if success is not None and success < 1:
            why += f" (it does with probability {success:g})"
        actions.append(Action("remove", what, before, share.leakage_without, cost, success, why))
    return actions


def changes(
    cluster: Cluster | None, subject: Subject, shrinking: Shrinking, before: float, shown: Showing
) -> list[Action]:
    """Identifiers to stop using: what would leak if no record held a true value by which records were joined."""
    links = cluster.links if cluster is not None else ()
    joins = Counter(label for link in links for label in link.labels)
    actions = []
    facts: set[tuple[str, str]] = set()
    for label, value in subject.reference:
        meant = label, subject.labels[label].meant(value)
        if label not in joins or meant in facts:
            continue
        facts.add(meant)
        after = shrinking.without_fact(label, value)
        if before - after > SAME:
            what = f"use another {label} in each place instead of {shown(value)}"
            if subject.labels[label].single or usual(label) in GIVEN_FOR_LIFE:
                # Nobody has a second date of birth: what cannot be changed can only be left out.
                what = f"stop giving out {label} {shown(value)}"
            why = f"{label} is in {joins[label]} of the {len(links)} joins"
            why += "; the leakage after is as if no record held this one"
            actions.append(Action("change", what, before, after, cost=None, success=None, why=why))
    return actions


def ranked(actions: list[Action]) -> tuple[Action, ...]:
    """Actions by the expected leakage after them, the best first; decoys come last.

    Decoys must not look like the first thing to do: what is removed or no longer given out is gone for every adversary,
    whereas false records only work on those who believe them.
    """

    def place(action: Action) -> tuple[bool, float]:
        success = 1.0 if action.success is None else action.success
        return action.kind == "decoy", success * action.after + (1 - success) * action.before

    return tuple(sorted(actions, key=place))
