"""Likely pairs as clusters that hold together."""

from __future__ import annotations

import numpy as np

from tacit.person.link.attributes import IntArray
from tacit.person.link.components import components
from tacit.person.link.likely.fitting import Floats

# Clusters are joined if at least this share of the pairs between them is linked.
LEAST_ACROSS = 0.25


def held_together(left: IntArray, right: IntArray, probability: Floats, records: int) -> IntArray:
    """The cluster of every record: pairs are joined, the most likely first, if enough of the two sides is linked.

    Two people who share a name may each be linked to a third; along such chains a whole village would become one
    person. Two clusters are joined if the mean probability of all pairs between them, many of which may be unlinked, is
    at least ``LEAST_ACROSS``.
    """
    cluster = components(left, right, records)
    sizes = np.bincount(cluster, minlength=records)
    chained = sizes[cluster[left]] > 2
    # Sum of the probabilities between two clusters, by the record that each is named after.
    across: dict[int, dict[int, float]] = {}
    home, members = {}, {}
    pairs = list(zip(left[chained].tolist(), right[chained].tolist(), probability[chained].tolist(), strict=True))
    for first, other, likely in pairs:
        across.setdefault(first, {})[other] = likely
        across.setdefault(other, {})[first] = likely
    for record in across:
        home[record], members[record] = record, [record]
    for first, other, _ in sorted(pairs, key=lambda pair: (-pair[2], pair[0], pair[1])):
        a, b = home[first], home[other]
        if a == b or across[a][b] < LEAST_ACROSS * len(members[a]) * len(members[b]):
            continue
        if len(members[a]) < len(members[b]):
            a, b = b, a
        for record in members[b]:
            home[record] = a
        members[a] += members.pop(b)
        for third, likely in across.pop(b).items():
            del across[third][b]
            if third != a:
                across[a][third] = across[third][a] = across[a].get(third, 0.0) + likely
    for records_of in members.values():
        cluster[records_of] = min(records_of)
    return cluster
