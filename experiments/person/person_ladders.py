"""Ladders: what adversaries who resolve better and better know of everybody, and what the way of merging does to it."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from person_people import People
from person_splink import quality, splink_clusters
from scipy.sparse import csr_array

from tacit.person import Label, Labels, Normalise, Record, Rules, fix_point, merge

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Resolution:
    """A way to resolve: the cluster of every record, and the records as the adversary then has them."""

    name: str
    clusters: tuple[Hashable, ...]
    records: tuple[Record, ...]
    seconds: float


@dataclass(frozen=True)
class Rung:
    """What one adversary knows, over all persons.

    ``best_recall`` is the largest share of a person's file in any one record, ``recall`` that of the record with the
    largest leakage.
    """

    people: str
    adversary: str
    merging: str
    keeps_base: bool
    entities: int
    pair_precision: float
    pair_recall: float
    mean: float
    low: float
    high: float
    recall: float
    best_recall: float
    seconds: float


def resolutions(people: People) -> list[Resolution]:
    """Nothing resolved; rules; rules on normal forms; Splink; the truth."""
    raw = people.records
    ways = [Resolution("none", tuple(range(len(raw))), raw, 0.0), _by_rules(people, "rules", raw)]
    if len(people.labels):
        normal = tuple(Normalise().apply(raw, people.labels))
        ways.append(_by_rules(people, "normal forms and rules", normal))
    else:
        start = time.process_time()
        clusters = tuple(splink_clusters(people))
        ways.append(Resolution("Splink", clusters, raw, time.process_time() - start))
    final = ways[-1].records
    return [*ways, Resolution("true clusters", people.truth, final, 0.0)]


def _by_rules(people: People, name: str, records: tuple[Record, ...]) -> Resolution:
    start = time.process_time()
    clusters = [0] * len(records)
    for members in fix_point(records, Rules(people.rules)):
        for member in members:
            clusters[member] = min(members)
    return Resolution(name, tuple(clusters), records, time.process_time() - start)


def ladder(people: People) -> list[Rung]:
    """Every resolution with every way of merging."""
    rungs = []
    base = _leakages(people, people.records)
    for way in resolutions(people):
        groups: dict[Hashable, list[Record]] = defaultdict(list)
        for cluster, record in zip(way.clusters, way.records, strict=True):
            groups[cluster].append(record)
        found = quality([str(c) for c in way.clusters], people.truth)
        for merging in ("union", "consensus"):
            merged = [merge(members, merging, _single(people)) for members in groups.values()]
            alone = _leakages(people, merged)
            for keeps in (False, True):
                rungs.append(
                    _rung(people, way, merging, len(groups), found, _kept(alone, base) if keeps else alone, keeps)
                )
    return rungs


def _single(people: People) -> Labels:
    """The labels with those of one value marked: how a consensus is found. Leakage is measured without the mark, as
    the paper does, so that the ways of merging differ in what they merge and in nothing else.
    """
    return Labels({label: Label(single=True) for label in people.single})


def _rung(
    people: People, way: Resolution, merging: str, entities: int, pairs: tuple[float, float], found: Floats, keeps: bool
) -> Rung:
    leakage, recall, best = found
    low, high = np.quantile(leakage, [0.05, 0.95])
    return Rung(
        people.name, way.name, merging, keeps, entities, *pairs, float(leakage.mean()), float(low), float(high),
        float(recall.mean()), float(best.mean()), way.seconds,
    )  # fmt: skip


def _kept(alone: Floats, base: Floats) -> Floats:
    """With the base records kept: the better of both for each person."""
    better = base[0] > alone[0]
    return np.stack(
        [np.where(better, base[0], alone[0]), np.where(better, base[1], alone[1]), np.maximum(base[2], alone[2])]
    )


def _leakages(people: People, records: Sequence[Record]) -> Floats:
    """Of every person the largest leakage of any record, its recall, and the largest recall.

    All confidences and weights are 1, so that L = 2 |r ∩ e| / (|r| + |e|): one sparse product for everybody.
    """
    assert all(a.confidence == 1.0 for record in records for a in record)
    places = {}
    for reference in people.references.values():
        for label, value in reference:
            places.setdefault((label, people.labels[label].meant(value)), len(places))
    held = csr_array(_incidence([[(a.label, a.value) for a in record] for record in records], people.labels, places))
    truth = csr_array(_incidence([list(e) for e in people.references.values()], people.labels, places))
    sizes = np.array([len(record) for record in records], dtype=float)
    facts = np.array([len(e) for e in people.references.values()], dtype=float)
    out = np.empty((3, len(facts)))
    for start in range(0, len(facts), 256):
        rows = slice(start, start + 256)
        right = (truth[rows] @ held.T).toarray()
        leakage = 2 * right / (sizes + facts[rows, None])
        best = leakage.argmax(axis=1)
        at = np.arange(len(best))
        out[0, rows], out[1, rows] = leakage[at, best], right[at, best] / facts[rows]
        out[2, rows] = right.max(axis=1) / facts[rows]
    return out


def _incidence(
    sets: Sequence[Sequence[tuple[str, str]]], labels: Labels, places: dict[tuple[str, str], int]
) -> csr_array:
    """Which facts each set has; a fact counts once, however often it is spelled differently."""
    rows, columns = [], []
    for row, facts in enumerate(sets):
        found = {places.get((label, labels[label].meant(value)), -1) for label, value in facts} - {-1}
        rows += [row] * len(found)
        columns += sorted(found)
    return csr_array((np.ones(len(rows)), (rows, columns)), shape=(len(sets), len(places)))
