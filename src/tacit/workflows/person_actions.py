"""What each source adds, and what the person can do, both by resolving everything again."""

from __future__ import annotations

from tacit.person.adversaries import Cluster
from tacit.person.records import Record
from tacit.workflows.person_case_model import Case
from tacit.workflows.person_engine import Known, Shrinking
from tacit.workflows.person_masking import Showing
from tacit.workflows.person_results import Action, SourceShare
from tacit.workflows.person_sources import Evidence
from tacit.workflows.person_words import level
from tacit.workflows.tabulating import Progress

# Differences of leakages below this are rounding.
SAME = 1e-9


def source_shares(
    evidence: Evidence, shrinking: Shrinking, before: float, progress: Progress
) -> tuple[SourceShare, ...]:
    """What would leak without each source, the source that adds most first."""
    found = []
    for place, source in enumerate(evidence.sources):
        progress(f"without {source.name}", place / len(evidence.sources))
        after = shrinking.leakage(_WithoutSource(source.name)) if source.records else before
        found.append(SourceShare(source.name, source.records, after, before - after))
    return tuple(sorted(found, key=lambda share: -share.contribution))


class _WithoutSource:
    """No record of one source."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __call__(self, record: Record) -> Record | None:
        return None if record.source == self._name else record


class _WithoutFact:
    """A record less whatever means one true value of one label."""

    def __init__(self, label: str, value: str, known: Known) -> None:
        self._label = label
        self._meant = known.labels[label].meant
        self._true = self._meant(value)

    def __call__(self, record: Record) -> Record | None:
        gone = [a for a in record if a.label == self._label and self._meant(a.value) == self._true]
        for attribute in gone:
            record = record.without(attribute)
        return record


def removals(case: Case, shares: tuple[SourceShare, ...], before: float) -> list[Action]:
    """Requests to remove a source, where that lowers the leakage."""
    offers = {source.name: source.removal for source in case.sources if source.removal is not None}
    found = []
    for share in shares:
        offer = offers.get(share.source)
        if share.contribution <= SAME or (offers and offer is None):
            continue
        said = f"{level(share.contribution)} of the leakage goes with this source, if it removes its records"
        if offer is not None and offer.success < 1:
            said += f" (it does with probability {offer.success:g})"
        found.append(
            Action(
                kind="remove",
                what=f"have '{share.source}' remove its records",
                before=before,
                after=share.leakage_without,
                cost=offer.cost if offer is not None else None,
                success=offer.success if offer is not None else None,
                why=said,
            )
        )
    return found


def changes(cluster: Cluster | None, known: Known, shrinking: Shrinking, before: float, shown: Showing) -> list[Action]:
    """Identifiers to use no more: what would leak if a true value by which records were joined were in none of them."""
    if cluster is None or not cluster.links:
        return []
    joins = {label: 0 for link in cluster.links for label in link.labels}
    for link in cluster.links:
        for label in link.labels:
            joins[label] += 1
    found = []
    for label, value in known.reference:
        if label not in joins:
            continue
        after = shrinking.leakage(_WithoutFact(label, value, known))
        if before - after > SAME:
            found.append(
                Action(
                    kind="change",
                    what=_no_more(label, shown(value), single=known.labels[label].single),
                    before=before,
                    after=after,
                    cost=None,
                    success=None,
                    why=f"{label} is in {joins[label]} of the {len(cluster.links)} joins; the leakage after is as if "
                    f"no record held this one",
                )
            )
    return found


def _no_more(label: str, value: str, *, single: bool) -> str:
    # Nobody has a second date of birth; what has one true value can only be left out.
    return f"give out {label} {value} no more" if single else f"use another {label} in each place instead of {value}"


def ranked(actions: list[Action]) -> tuple[Action, ...]:
    """Actions by what leaks after them, counting how likely they succeed, the best first; false records come last.

    Decoys must not look like the first thing to do: what is removed or no longer given out is gone for every adversary,
    and false records only work on those who believe them.
    """

    def place(action: Action) -> tuple[bool, float]:
        success = 1.0 if action.success is None else action.success
        return action.kind == "decoy", success * action.after + (1 - success) * action.before

    return tuple(sorted(actions, key=place))
