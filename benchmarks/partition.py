"""How the partition scales with the number of released values: 15 secrets, epsilon 1, delta 0.01, epsilon_max 4.

    .venv/bin/python benchmarks/partition.py

Two kinds of table: `uniform` (random cells) and `zipf` (frequencies of released values fall as 1/rank^1.1). For each
size: seconds of the greedy partition and how they grew for ten times the values (10 is linear), the same for the
certified partition, and the most that any partition could still gain on it.
"""

from __future__ import annotations

from time import perf_counter

import numpy as np

from tacit.lift import Joint, Partition, partition

SIZES = (10_000, 100_000, 1_000_000)
QUESTION = (1.0, 0.01, 4.0)


def random_joint(kind: str, n_released: int, *, n_secrets: int = 15) -> Joint:
    table = np.random.default_rng(n_released).random((n_secrets, n_released))
    if kind == "zipf":
        table *= 1 / np.arange(1, n_released + 1) ** 1.1 / table.sum(axis=0)
    return Joint(table / table.sum())


def timed(joint: Joint, method: str, *, repeats: int = 3) -> tuple[float, Partition]:
    """Best of some runs: the machine may be busy with other things."""
    seconds = []
    for _ in range(repeats):
        start = perf_counter()
        result = partition(joint, *QUESTION, method=method)  # type: ignore[arg-type]
        seconds.append(perf_counter() - start)
    return min(seconds), result


def main() -> None:
    print("released  table    greedy s  growth    nmil | certified s  growth    nmil      gap")
    for kind in ("uniform", "zipf"):
        before: dict[str, float] = {}
        for n in SIZES:
            joint = random_joint(kind, n)
            cells = []
            for method in ("greedy", "certified"):
                seconds, result = timed(joint, method)
                growth = f"{seconds / before[method]:7.1f}" if method in before else "      -"
                before[method] = seconds
                cells.append(f"{seconds:8.3f} {growth} {result.nmil:7.4f}")
            print(f"{n:>8}  {kind:8} {cells[0]} |    {cells[1]} {result.gap:8.1e}", flush=True)


if __name__ == "__main__":
    main()
