"""What-if questions on resolved records, as ratios to resolving everything again; and that a hot block does not hurt.

Run by itself: .venv/bin/python benchmarks/what_if.py [records]

People are drawn: four records each on average from four kinds of source (shop, register, bank, forum), names that
several people share, one value in fifty wrong. The rules are those of a data broker: name and card, name and phone,
e-mail, or name, date and zip code. Seconds are CPU seconds: all of this is one thread of Python, and the clock would
measure whatever else the machine is doing.
"""

from __future__ import annotations

import random
import statistics
import sys
import time
from collections.abc import Callable
from typing import TypeVar

from tacit.person import (
    Adversary,
    Attribute,
    Record,
    Reference,
    Resolve,
    Resolver,
    Rules,
    components,
    exposure,
    fix_point,
    r_swoosh,
)

RULES = Rules([["name", "card"], ["name", "phone"], ["email"], ["name", "dob", "zip"]])
# How often each kind of source has each label.
SOURCES = (
    {"name": 1.0, "zip": 0.8, "phone": 0.6, "email": 0.7},
    {"name": 0.9, "dob": 0.9, "zip": 0.9, "phone": 0.2},
    {"name": 1.0, "phone": 0.7, "email": 0.3, "card": 0.9},
    {"name": 0.5, "dob": 0.3, "zip": 0.3, "phone": 0.2, "email": 0.9},
)
T = TypeVar("T")
QUESTIONS = 2_000
SLOW = 1_000


def people(n: int, chance: random.Random) -> list[dict[str, str]]:
    """The truth about n people."""
    return [
        {
            "name": f"n{int(chance.paretovariate(0.4)) % 200_000}",
            "dob": f"d{chance.randrange(365 * 70)}",
            "zip": f"z{chance.randrange(30_000)}",
            "phone": f"p{chance.randrange(10**9)}",
            "email": f"e{chance.randrange(10**9)}",
            "card": f"c{chance.randrange(10**12)}",
        }
        for _ in range(n)
    ]


def drawn(n: int, chance: random.Random) -> list[Record]:
    """n records of a quarter as many people."""
    truth = people(n // 4 or 1, chance)
    records = []
    for _ in range(n):
        person, source = chance.choice(truth), chance.choice(SOURCES)
        held = [
            Attribute(label, person[label] + ("x" if chance.random() < 0.02 else ""))
            for label, often in source.items()
            if chance.random() < often
        ]
        records.append(Record.trusted(held))
    return records


def timed(work: Callable[[], T]) -> tuple[float, T]:
    """Seconds, and what came out."""
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def each(work: Callable[[Record], object], records: list[Record]) -> tuple[float, float]:
    """The median and the 99th percentile of the seconds for one record."""
    seconds = sorted(timed(lambda record=record: work(record))[0] for record in records)
    return statistics.median(seconds), seconds[int(0.99 * len(seconds))]


def questions(records: list[Record], chance: random.Random) -> None:
    """Releases and queries on resolved records, against resolving again."""
    n = len(records)
    base, clusters = timed(lambda: components(records, RULES))
    print(f"components of {n:,} records: {base:.2f} s, {len(clusters):,} clusters")
    full, merged = timed(lambda: fix_point(records, RULES))
    print(f"all resolved to the fix-point: {full:.2f} s, {len(merged):,} clusters")
    load, resolver = timed(lambda: Resolver.of(records, RULES))
    print(f"resolver loaded: {load:.2f} s, {load / full:.2f} times one resolution")

    def add_and_undo(record: Record) -> None:
        resolver.add(record)
        resolver.undo()

    asked = chance.sample(records, QUESTIONS)
    queries = [Record.trusted(a for a in record if a.label in ("name", "email")) for record in asked]
    for name, (median, worst) in {
        "what if this record were released": each(add_and_undo, asked),
        "dipping with a name and an e-mail": each(resolver.peek, queries),
    }.items():
        print(
            f"{name}: median {median * 1e3:.4f} ms, 99th percentile {worst * 1e3:.4f} ms (bar: 1 ms); "
            f"resolving all again takes {full / median:,.0f} times as long"
        )


def slow(chance: random.Random) -> None:
    """The algorithm of the literature on few records."""
    few = drawn(SLOW, chance)
    quadratic, expected = timed(lambda: r_swoosh(few, RULES))
    quick, found = timed(lambda: fix_point(few, RULES))
    assert found == expected
    print(
        f"R-Swoosh of the literature, {SLOW:,} records: {quadratic:.2f} s, {quadratic / quick:,.0f} times the fix-point"
    )


def hot(records: list[Record], chance: random.Random) -> None:
    """Half of all records have the same number under the same name."""
    plain, _ = timed(lambda: Resolver.of(records, RULES))
    marked = set(chance.sample(range(len(records)), len(records) // 2))
    blocked = [
        Record.trusted(
            [a for a in record if a.label not in ("name", "phone")]
            + [Attribute("name", "TEST"), Attribute("phone", "000")]
        )
        if place in marked
        else record
        for place, record in enumerate(records)
    ]
    seconds, resolver = timed(lambda: Resolver.of(blocked, RULES))
    largest = max(len(cluster.members) for cluster in resolver.clusters.values())
    print(f"hot block, largest cluster {largest:,}: {seconds:.2f} s, {seconds / plain:.2f} times without")


def audit(records: list[Record], chance: random.Random) -> None:
    """One person against all records."""
    held = chance.choice([record for record in records if len(record) >= 4])
    reference = Reference([attribute.fact for attribute in held] + [("ssn", "1")])
    adversary = Adversary("broker", [Resolve(RULES)])
    seconds, found = timed(lambda: exposure(records, reference, adversary))
    print(f"exposure of one person to {len(records):,} records, all in: {seconds:.2f} s, L {found.leakage:.3f}")


def main() -> None:
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 200_000
    chance = random.Random(0)
    records = drawn(n, chance)
    questions(records, chance)
    slow(chance)
    hot(records, chance)
    audit(records, chance)


if __name__ == "__main__":
    main()
