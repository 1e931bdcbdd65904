"""Databases of records to be linked, and what R-Swoosh makes of them, pair by pair."""

from __future__ import annotations

import itertools

import numpy as np
import pyarrow as pa

from tacit.person import Rules

LABELS = ["N", "P", "C", "o'e\\\"`"]
# Pieces whose concatenations are easily confused, and what engines may trip over.
ODD = ["", "a", "aa", "'", '"', "\\", "a\x00", "\x00a", "ü", "u\u0308", "\U0001f600", " a", "NULL", "\n", "\u2028"]
# Of the job on a cluster, and of the machine that it is compared with.
CLUSTER_RULES = Rules([["N"], ["P", "C"], ["C", "D"]], 0.3)


def long_table(found):
    """Records, each a mapping from (label, value) to confidence, as a long table."""
    rows = [(rid, label, value, conf) for rid, record in enumerate(found) for (label, value), conf in record.items()]
    columns = list(zip(*rows, strict=True)) or [(), (), (), ()]
    kinds = {"rid": pa.int64(), "label": pa.string(), "value": pa.string(), "confidence": pa.float64()}
    return pa.table({name: pa.array(column, kind) for (name, kind), column in zip(kinds.items(), columns, strict=True)})


def match(one, other, rules, least):
    """Whether two records match, read off the definition."""
    shared = {fact for fact in one.keys() & other.keys() if min(one[fact], other[fact]) >= max(least, 1e-300)}
    return any(all(any(label == c for label, _ in shared) for c in labels) for labels in rules)


def r_swoosh(found, rules, least):
    """R-Swoosh as its authors wrote it: (record, base records) merged until no two match."""
    waiting, done = [(dict(record), frozenset([rid])) for rid, record in enumerate(found)], []
    while waiting:
        record, members = waiting.pop()
        for at, (other, theirs) in enumerate(done):
            if match(record, other, rules, least):
                done.pop(at)
                merged = {f: max(record.get(f, 0), other.get(f, 0)) for f in record.keys() | other.keys()}
                waiting.append((merged, members | theirs))
                break
        else:
            done.append((record, members))
    return {members for _, members in done}


def naive_components(found, rules, least):
    """Every pair compared, and sets joined."""
    sets = [{rid} for rid in range(len(found))]
    for one, other in itertools.combinations(range(len(found)), 2):
        if sets[one] is not sets[other] and match(found[one], found[other], rules, least):
            sets[one] |= sets[other]
            for rid in sets[other]:
                sets[rid] = sets[one]
    return {frozenset(members) for members in sets}


def smallest(partition, size):
    """The cluster of each record, named by its smallest record."""
    named = np.empty(size, np.int64)
    for members in partition:
        named[list(members)] = min(members)
    return named


def random_record(chance, values):
    """A record with some labels, some of them with several values."""
    wanted = chance.sample(LABELS, chance.randint(0, len(LABELS)))
    return {
        (label, chance.choice(values)): chance.choice([0.0, 0.3, 0.6, 1.0, 1.0])
        for label in wanted
        for _ in range(chance.choice([1, 1, 1, 2, 3]))
    }


def random_databases(chance, number):
    """Databases side by side, as one, no value of which is in two; and where each begins."""
    found, starts = [], [0]
    for database in range(number):
        values = [f"{database}|{piece}" for piece in chance.sample(ODD, 4)]
        found += [random_record(chance, values) for _ in range(chance.randint(1, 9))]
        starts.append(len(found))
    return found, starts


def random_rules(chance):
    """One to three alternatives."""
    return [chance.sample(LABELS, chance.choice([1, 2, 2, 3])) for _ in range(chance.randint(1, 3))]
