"""How fast record leakage is, against the paper's methods in the same language, and how near to the truth.

    .venv/bin/python benchmarks/record_leakage.py

Four tables from one run, in CPU seconds, because the machine may be shared; where it is long enough to be
felt, also by the clock. Records have as many attributes as the reference, half of them right, with random
confidences:

1. one record of equal weights: the exact method (and its arithmetic after comparing), Algorithm 1
   (pure Python, as the paper prints it) and the approximation of second order, from the same `Record` and `Reference`,
   with the ratio of times and the error of each;
2. one record as arrays, equal and very unequal weights (lognormal, over six orders of magnitude), up to a million;
3. batches of records as arrays, with the error of a sample of them against the sum over possible worlds;
4. all contributions at once, against one leakage.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from time import perf_counter, process_time

import numpy as np

from tacit.person import (
    ComparedRecord,
    Labels,
    Record,
    Reference,
    compare,
    contributions,
    leakage_batch,
    record_leakage,
)
from tacit.person.model.leakage import leakage_of


def timed(call: Callable[[], float], *, repeats: int) -> tuple[float, float, float]:
    """Seconds by the clock and by the processor, and the value; the best of some runs."""
    clock, processor, value = [], [], 0.0
    for _ in range(repeats):
        start, begun = perf_counter(), process_time()
        value = call()
        clock.append(perf_counter() - start)
        processor.append(process_time() - begun)
    return min(clock), min(processor), value


def example(size: int) -> tuple[Record, Reference]:
    rng = np.random.default_rng(size)
    record = Record([("l", i, float(p)) for i, p in enumerate(rng.random(size))])
    return record, Reference([("l", i) for i in range(size // 2)] + [("m", i) for i in range(size - size // 2)])


def one_record() -> None:
    print("one record, equal weights")
    print("attributes   exact ms   (arithmetic)   Algorithm 1 ms    ratio   error   second order ms   error")
    for size in (10, 50, 100, 250):
        record, reference = example(size)
        _, fast, exact = timed(lambda r=record, e=reference: record_leakage(r, e), repeats=20)
        found = compare(record, reference, Labels())
        _, bare, _ = timed(lambda f=found: leakage_of(f), repeats=20)
        _, slow, old = timed(lambda r=record, e=reference: record_leakage(r, e, method="algorithm1"), repeats=2)
        _, second, rough = timed(lambda r=record, e=reference: record_leakage(r, e, method="second_order"), repeats=20)
        print(
            f"{size:>10} {fast * 1e3:>10.3f} {bare * 1e3:>14.3f} {slow * 1e3:>16.1f} {slow / fast:>8.0f}"
            f" {abs(exact / old - 1):>7.0e} {second * 1e3:>17.3f} {abs(rough / old - 1):>7.0e}",
            flush=True,
        )


def arrays(size: int, spread: float) -> ComparedRecord:
    rng = np.random.default_rng(size)
    weight = np.exp(spread * rng.standard_normal(size))
    right = rng.random(size) < 0.5
    return ComparedRecord(
        confidence=rng.random(size),
        share=np.ones(size),
        weight=weight,
        credit=np.where(right, weight, 0.0),
        hit=np.where(right, np.arange(size), -1),
        kinds=(),
        alone=np.arange(size),
        units=(),
        reference_weight=float(weight.sum()),
        missing=(),
    )


def long_records() -> None:
    print("\none record as arrays: seconds, and growth of the processor's for ten times the attributes (10 is linear)")
    print("attributes   weights   seconds   processor   growth")
    for spread, kind in ((0.0, "equal"), (2.3, "unequal")):
        before = 0.0
        for size in (10_000, 100_000, 1_000_000):
            found = arrays(size, spread)
            seconds, processor, _ = timed(lambda f=found: leakage_of(f), repeats=7)
            growth = f"{processor / before:8.1f}" if before else "       -"
            print(f"{size:>10}   {kind:7} {seconds:>9.4f} {processor:>11.4f} {growth}", flush=True)
            before = processor


def by_worlds(p: np.ndarray, w: np.ndarray, c: np.ndarray, whole: float) -> float:
    present = (np.arange(1 << len(p))[:, None] >> np.arange(len(p)) & 1).astype(bool)
    chance = np.where(present, p, 1 - p).prod(axis=1)
    return math.fsum(chance * 2 * (present @ c) / (present @ w + whole))


def batches() -> None:
    print("\nbatches of records of 10 attributes as arrays")
    print("records   weights   seconds   processor   worst error of 200 against possible worlds")
    for n in (10_000, 100_000):
        for spread in (0.0, 2.3):
            rng = np.random.default_rng(n)
            starts = np.arange(n + 1) * 10
            p, w = rng.random(10 * n), np.exp(spread * rng.standard_normal(10 * n))
            p[rng.random(10 * n) < 0.2] = 1.0
            c = np.where(rng.random(10 * n) < 0.5, w, 0.0)
            whole = np.add.reduceat(w, starts[:-1])
            found: list[np.ndarray] = []
            seconds, processor, _ = timed(
                lambda a=(starts, p, w, c, whole), f=found: f.append(leakage_batch(*a)) or 0.0, repeats=5
            )
            errors = []
            for i in range(200):
                own = slice(10 * i, 10 * i + 10)
                wanted = by_worlds(p[own], w[own], c[own], whole[i])
                errors.append(abs(found[-1][i] / wanted - 1) if wanted else abs(found[-1][i]))
            kind = "equal" if spread == 0 else "unequal"
            print(f"{n:>7}   {kind:7} {seconds:>9.3f} {processor:>11.3f} {max(errors):>12.0e}", flush=True)


def all_contributions() -> None:
    print("\nall contributions at once")
    print("attributes   one leakage ms   all contributions ms   ratio")
    for size in (10, 250, 2_500):
        record, reference = example(size)
        _, one, _ = timed(lambda r=record, e=reference: record_leakage(r, e), repeats=10)
        _, every, _ = timed(lambda r=record, e=reference: float(contributions(r, e)[0]), repeats=10)
        print(f"{size:>10} {one * 1e3:>16.3f} {every * 1e3:>22.3f} {every / one:>7.1f}", flush=True)


def main() -> None:
    one_record()
    long_records()
    batches()
    all_contributions()


if __name__ == "__main__":
    main()
