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
        At least one. A single record stays as it is, whatever the policy.
    policy : {"union", "consensus", "vote", "diluted"}
        - ``"union"``: every fact, with its best confidence (the paper's).
        - ``"consensus"``: of a label with a single true value only the value with most votes, with its best
          confidence; union for other labels. A vote counts as much as its confidence; ties go to the value with the
          better best confidence, then to the first in the alphabet.
        - ``"vote"``: values of a label with a single true value keep their share of the votes times their best
          confidence; union for other labels.
        - ``"diluted"``: each value of any label with its mean confidence over the records that say anything of the
          label: what is known about one member of a class (of a k-anonymous table) taken at random.
    labels : mapping from label to Label
        Which labels have a single true value.

    Guarantees
    ----------
    The facts and confidences do not depend on the order of the records (means up to rounding). All policies but
    ``"diluted"`` keep, for labels that are not single, what union keeps; no policy adds a fact or raises a confidence
    above union's.
    """
    if policy not in get_args(Policy):
        raise ArgumentError(f"no merge policy '{policy}': choose {', '.join(get_args(Policy))}")
    if not records:
        raise ArgumentError("there is no record to merge: give at least one")
    if len(records) == 1:
        return records[0]
    described: Mapping[str, Label] = labels if labels is not None else Labels()
    said: dict[str, dict[str, list[float]]] = {}
    speakers: dict[str, int] = {}
    for record in records:
        for label in {attribute.label for attribute in record}:
            speakers[label] = speakers.get(label, 0) + 1
        for label, value, confidence in record:
            said.setdefault(label, {}).setdefault(value, []).append(confidence)
    merged: list[Attribute] = []
    for label, votes in said.items():
        # Labels may be a plain mapping, which knows only the labels that were described.
        single = label in described and described[label].single
        if policy == "diluted":
            # Rounding must not lift a mean above the largest.
            kept = {value: min(max(given), sum(given) / speakers[label]) for value, given in votes.items()}
        else:
            kept = (_OF_ONE[policy] if single else _best)(votes)
        merged.extend(Attribute(label, value, confidence) for value, confidence in kept.items())
    return Record.trusted(merged)


_Votes = dict[str, list[float]]


def _best(votes: _Votes) -> dict[str, float]:
    return {value: max(given) for value, given in votes.items()}


def _consensus(votes: _Votes) -> dict[str, float]:
    chosen = min(votes, key=lambda value: (-sum(sorted(votes[value])), -max(votes[value]), value))
    return {chosen: max(votes[chosen])}


def _vote(votes: _Votes) -> dict[str, float]:
    cast = sum(sum(given) for given in votes.values())
    return {value: max(given) * (sum(given) / cast if cast > 0 else 0.0) for value, given in votes.items()}


# What becomes of the values of a label with a single true value; of other labels all are kept.
_OF_ONE: dict[str, Callable[[_Votes], dict[str, float]]] = {"union": _best, "consensus": _consensus, "vote": _vote}
