"""What an adversary writes down for records taken to be one person's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal, get_args

from tacit.errors import ArgumentError
from tacit.person.model import Attribute, Label, Labels, Record

Policy = Literal["union", "consensus", "vote", "diluted"]


def merge(records: Sequence[Record], policy: Policy = "union", labels: Mapping[str, Label] | None = None) -> Record:
    """Merge the records of one cluster.

    Parameters
    ----------
    records : sequence of Record
        At least one. A single record is returned unchanged, whatever the policy.
    policy : {"union", "consensus", "vote", "diluted"}
        - ``"union"``: every fact, with its best confidence (as in the paper).
        - ``"consensus"``: for a label with a single true value, only the value with the most votes, with its best
          confidence; union for other labels. A vote counts as much as its confidence; ties go to the value with the
          higher best confidence, then to the first in alphabetical order.
        - ``"vote"``: values of a label with a single true value keep their share of the votes times their best
          confidence; union for other labels.
        - ``"diluted"``: each value of any label with its mean confidence over the records that have the label: what is
          known about a random member of a class (of a k-anonymous table).
    labels : mapping from label to Label
        Which labels have a single true value.

    Guarantees
    ----------
    The facts and confidences do not depend on the order of the records (means up to rounding). For labels that are not
    single, all policies except ``"diluted"`` keep what union keeps; no policy adds a fact or raises a confidence above
    union's.
    """
    if policy not in get_args(Policy):
        raise ArgumentError(f"no merge policy '{policy}': choose {', '.join(get_args(Policy))}")
    if not records:
        raise ArgumentError("there is no record to merge: give at least one")
    if len(records) == 1:
        return records[0]
    described: Mapping[str, Label] = labels if labels is not None else Labels()
    votes_of: dict[str, dict[str, list[float]]] = {}
    speakers: dict[str, int] = {}
    for record in records:
        for label in {attribute.label for attribute in record}:
            speakers[label] = speakers.get(label, 0) + 1
        for label, value, confidence in record:
            votes_of.setdefault(label, {}).setdefault(value, []).append(confidence)
    merged: list[Attribute] = []
    for label, votes in votes_of.items():
        # Labels may be a plain mapping, which has only the labels that were described.
        single = label in described and described[label].single
        if policy == "diluted":
            # Rounding must not lift a mean above the maximum.
            kept = {value: min(max(cast), sum(cast) / speakers[label]) for value, cast in votes.items()}
        else:
            kept = (_OF_ONE[policy] if single else _best)(votes)
        merged.extend(Attribute(label, value, confidence) for value, confidence in kept.items())
    return Record.trusted(merged)


_Votes = dict[str, list[float]]


def _best(votes: _Votes) -> dict[str, float]:
    return {value: max(cast) for value, cast in votes.items()}


def _consensus(votes: _Votes) -> dict[str, float]:
    chosen = min(votes, key=lambda value: (-sum(sorted(votes[value])), -max(votes[value]), value))
    return {chosen: max(votes[chosen])}


def _vote(votes: _Votes) -> dict[str, float]:
    total = sum(sum(cast) for cast in votes.values())
    return {value: max(cast) * (sum(cast) / total if total > 0 else 0.0) for value, cast in votes.items()}


# What becomes of the values of a label with a single true value; other labels keep all of theirs.
_OF_ONE: dict[str, Callable[[_Votes], dict[str, float]]] = {"union": _best, "consensus": _consensus, "vote": _vote}
