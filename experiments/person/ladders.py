"""Ladders: what better and better resolving adversaries know about everybody, and how the way of merging changes it."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from experiments.person.data import Floats
from experiments.person.linking import splink_clusters
from experiments.person.people import People
from tacit.person import Label, Labels, Normalise, Record, Rules, fix_point, merge

# An adversary's name, the cluster of every record, the records as it then has them, and CPU seconds.
Resolution = tuple[str, Sequence[Hashable], tuple[Record, ...], float]


def resolutions(people: People) -> Iterator[Resolution]:
    """Nothing resolved; rules; rules on normal forms, or Splink; the truth."""
    records = people.records
    yield "none", range(len(records)), records, 0.0
    yield _by_rules(people, "rules", records)
    if len(people.labels):
        records = tuple(Normalise().apply(records, people.labels))
        yield _by_rules(people, "normal forms and rules", records)
    else:
        start = time.process_time()
        clusters = splink_clusters(people)
        yield "Splink", clusters, records, time.process_time() - start
    yield "true clusters", people.truth, records, 0.0


def _by_rules(people: People, name: str, records: tuple[Record, ...]) -> Resolution:
    start = time.process_time()
    clusters = [0] * len(records)
    for members in fix_point(records, Rules(people.rules)):
        for member in members:
            clusters[member] = min(members)
    return name, clusters, records, time.process_time() - start


def ladder(people: People) -> dict[str, Any]:
    """A set of people and what every adversary knows about them, merging in two ways, with base records kept or not."""
    base, rungs = leakages(people, people.records), []
    # Labels of one value are marked for a consensus alone: leakage is measured as the paper does.
    single = Labels({label: Label(single=True) for label in people.single})
    for name, clusters, records, seconds in resolutions(people):
        groups: dict[Hashable, list[Record]] = defaultdict(list)
        for cluster, record in zip(clusters, records, strict=True):
            groups[cluster].append(record)
        right, found = quality(clusters, people.truth)
        rung = {"adversary": name, "entities": len(groups), "pairs_right": right, "pairs_found": found}
        for policy in ("union", "consensus"):
            merged = leakages(people, [merge(members, policy, single) for members in groups.values()])
            rung[policy] = _told(merged)
            rung[f"{policy}, base kept"] = _told(np.maximum(merged, base))
        rungs.append(rung | {"seconds": seconds})
    facts = float(np.mean([len(reference) for reference in people.references.values()]))
    return {"records": len(people.records), "persons": len(people.references), "facts": facts, "rungs": rungs}


def _told(found: Floats) -> dict[str, float]:
    return {"mean": float(found[0].mean()), "recall": float(found[1].mean())}


def leakages(people: People, records: Sequence[Record]) -> Floats:
    """For every person the largest leakage of any record, and the largest recall.

    All confidences and weights are 1, so L = 2 |r ∩ e| / (|r| + |e|): one sparse product for everybody.
    """
    assert all(a.confidence == 1.0 for record in records for a in record)
    places: dict[tuple[str, str], int] = {}

    def incidence(sets: Sequence[Sequence[tuple[str, str]]], *, new: bool) -> csr_array:
        """Which facts each set has; a fact counts once, however often it is spelled differently."""
        rows, columns = [], []
        for row, facts in enumerate(sets):
            meant = {(label, people.labels[label].meant(value)) for label, value in facts}
            if new:
                places.update({fact: len(places) + at for at, fact in enumerate(sorted(meant - places.keys()))})
            found = sorted(places[fact] for fact in meant & places.keys())
            rows += [row] * len(found)
            columns += found
        return csr_array((np.ones(len(rows)), (rows, columns)), shape=(len(sets), len(places)))

    truth = incidence([list(reference) for reference in people.references.values()], new=True)
    held = incidence([[(a.label, a.value) for a in record] for record in records], new=False)
    sizes = np.array([len(record) for record in records], dtype=float)
    facts = np.array([len(reference) for reference in people.references.values()], dtype=float)
    out = np.empty((2, len(facts)))
    for start in range(0, len(facts), 256):
        rows = slice(start, start + 256)
        right = (truth[rows] @ held.T).toarray()
        out[0, rows] = (2 * right / (sizes + facts[rows, None])).max(axis=1)
        out[1, rows] = right.max(axis=1) / facts[rows]
    return out


def quality(clusters: Sequence[Hashable], truth: Sequence[Hashable]) -> tuple[float, float]:
    """Precision and recall of the pairs that a partition puts together."""

    def pairs(of: Sequence[Hashable]) -> float:
        return sum(size * (size - 1) / 2 for size in Counter(of).values())

    both = pairs(list(zip(clusters, truth, strict=True)))
    made, true = pairs(clusters), pairs(truth)
    return (both / made if made else 1.0), (both / true if true else 1.0)
