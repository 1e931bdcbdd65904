"""What an adversary writes down for records taken to be one person's."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Literal, get_args

from tacit.errors import ArgumentError
from tacit.person.model import Attribute, Label, Labels, Record, is_suppressed

Policy = Literal["union", "consensus", "vote", "diluted"]


def merge(records: Sequence[Record], policy: Policy = "union", labels: Mapping[str, Label] | None = None) -> Record:
    """Merge the records of one cluster.

    Parameters
    ----------
    records : sequence of Record
        At least one. From a single record nothing is chosen, whatever the policy.
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
        Which labels have a single true value, and how their values are compared.

    Guarantees
    ----------
    The facts and confidences do not depend on the order of the records (means up to rounding). No policy adds a fact or
    raises a confidence above the best that a record gives it.

    Notes
    -----
    A value that agrees with a finer one and says less (1963 and 1963-02-16, A. Archer and Alice Archer, a masked number
    and the whole one) is not against it. Its votes count for the finer one too, and it keeps only the confidence it has
    beyond the finer one's; without any it is left out. So it is with ``"consensus"`` and ``"vote"``, and with
    ``"union"`` for labels with a single true value. Where no value says less than another, everything is as in the
    paper; ``"diluted"`` and the union of other labels always are.
    """
    if policy not in get_args(Policy):
        raise ArgumentError(f"no merge policy '{policy}': choose {', '.join(get_args(Policy))}")
    if not records:
        raise ArgumentError("there is no record to merge: give at least one")
    if len(records) == 1:
        return _alone(records[0], policy, labels or {})
    described: Mapping[str, Label] = labels if labels is not None else Labels()
    votes_of: dict[str, _Votes] = {}
    speakers: dict[str, int] = {}
    for record in records:
        for label in {attribute.label for attribute in record}:
            speakers[label] = speakers.get(label, 0) + 1
        for label, value, confidence in record:
            votes_of.setdefault(label, {}).setdefault(value, []).append(confidence)
    merged: list[Attribute] = []
    for label, votes in votes_of.items():
        # Labels may be a plain mapping, which has only the labels that were described.
        own = described.get(label, _ANY)
        if policy == "diluted":
            # Rounding must not lift a mean above the maximum.
            kept = {value: min(max(cast), sum(cast) / speakers[label]) for value, cast in votes.items()}
        elif policy == "union" and not own.single:
            kept = _best(votes)
        else:
            kept = (_OF_ONE[policy] if own.single else _beyond)(votes, finer_values(votes, own))
        merged.extend(Attribute(label, value, confidence) for value, confidence in kept.items())
    return Record.trusted(merged)


def _alone(record: Record, policy: Policy, labels: Mapping[str, Label]) -> Record:
    """A single record, from which nothing is chosen; only what says less than other values of it is left out."""
    votes: dict[str, _Votes] = {}
    for label, value, confidence in record:
        votes.setdefault(label, {})[value] = [confidence]
    changed = dict[str, dict[str, float]]()
    for label, cast in votes.items():
        own = labels.get(label, _ANY)
        if len(cast) > 1 and policy != "diluted" and (policy != "union" or own.single):
            finer = finer_values(cast, own)
            changed |= {label: _beyond(cast, finer)} if finer else {}
    if not changed:
        return record
    kept = [
        attribute._replace(
            confidence=changed.get(attribute.label, {attribute.value: attribute.confidence})[attribute.value]
        )
        for attribute in record
        if attribute.label not in changed or attribute.value in changed[attribute.label]
    ]
    return Record.trusted(kept, name=record.name, source=record.source)


_ANY = Label()
# What was compared is kept for clusters with at most this many values of a label.
_MANY_VALUES = 2_000
_Votes = dict[str, list[float]]
# By value, the values that agree with it and say more.
_Finer = dict[str, list[str]]


def finer_values(values: Collection[str], label: Label) -> _Finer:
    """By value, those of the others that agree with it and say more; values of which there are none are left out."""
    if len(values) < 2:
        return {}
    coarse = values if label.has_parts else [value for value in values if is_suppressed(value)]
    together, finer = set(values), dict[str, list[str]]()
    # The same values meet again in cluster after cluster.
    known = label.known_finer if len(together) <= _MANY_VALUES else {}
    for value in coarse:
        compared, more = known.setdefault(value, (set(), set()))
        more.update(other for other in together - compared if label.says_less(value, other))
        compared |= together
        if not more.isdisjoint(together):
            finer[value] = [other for other in values if other in more]
    return finer


def _best(votes: _Votes) -> dict[str, float]:
    return {value: max(cast) for value, cast in votes.items()}


def _beyond(votes: _Votes, finer: _Finer) -> dict[str, float]:
    """Each value with its best confidence; a coarser one only with what is beyond that of the finer ones."""
    best = _best(votes)
    more = {value: best[value] - max(best[other] for other in others) for value, others in finer.items()}
    return {value: more.get(value, most) for value, most in best.items() if more.get(value, 1.0) > 0}


def _consensus(votes: _Votes, finer: _Finer) -> dict[str, float]:
    support = {value: list(cast) for value, cast in votes.items()}
    for value, others in finer.items():
        for other in others:
            support[other] += votes[value]
    order = sorted(votes, key=lambda value: (-math.fsum(support[value]), -max(votes[value]), value))
    kept: dict[str, float] = {}
    beyond = 0.0
    # The finer comes before the coarser, which adds what it is surer of: together they are as sure as the surest.
    for value in order:
        most = max(votes[value])
        if value == order[0] or (order[0] in finer.get(value, ()) and most > beyond):
            kept[value] = most - beyond
            beyond = max(beyond, most)
    return kept


def _vote(votes: _Votes, finer: _Finer) -> dict[str, float]:
    own = {value: math.fsum(cast) for value, cast in votes.items()}
    total, share = math.fsum(own.values()), dict(own)
    for value, others in finer.items():
        # The votes of a coarser value are votes for the finest, as they stand to each other.
        finest = [other for other in others if other not in finer]
        among = math.fsum(own[other] for other in finest)
        for other in finest if among > 0 else ():
            share[other] += own[value] * own[other] / among
    kept = _beyond(votes, finer)
    return {value: p * (share[value] / total if total > 0 else 0.0) for value, p in kept.items()}


# What becomes of the values of a label with a single true value. Of other labels, all are kept.
_OF_ONE: dict[str, Callable[[_Votes, _Finer], dict[str, float]]] = {
    "union": _beyond,
    "consensus": _consensus,
    "vote": _vote,
}
