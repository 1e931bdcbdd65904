"""What each rung of the mechanism ladder loses, and how long it takes, from 8 to a million released values.

    .venv/bin/python benchmarks/mechanisms.py            under five minutes
    .venv/bin/python benchmarks/mechanisms.py --all      also the rows that take more than half a minute each
    .venv/bin/python benchmarks/mechanisms.py --sizes 100 1000 --secrets 3 [--epsilon 0.5] [--effort low|normal|high]

Random tables: each P(s|x) is a uniform draw, normalised; P(x) is `uniform` (uniform draws) or `zipf` (1/rank^1.1). NMIL
is the share of the information in the released values that is lost; the bound says what no mechanism can go below. The
watchdog is shown as 1 where its merged set breaks epsilon, since it may then release nothing. --write puts the rows
into README.md, where they replace those of the same table. For real tables and peers see mechanisms_on_tables.py.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from time import perf_counter

# Before numpy is there: seconds are of one thread.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from tacit.lift import Joint, MixtureChannel, optimal, watchdog

PAGE = Path(__file__).with_name("README.md")
MARKS = ("<!-- mechanisms: written by mechanisms.py -->", "<!-- end of mechanisms -->")
HEAD = (
    "| values | secrets | P(x) | watchdog | camouflage | subsets | optimal | bound | unchanged | won | seconds |\n"
    "|---|---|---|---|---|---|---|---|---|---|---|"
)
SIZES = (8, 20, 100, 1_000, 10_000, 100_000, 1_000_000)
SECRETS = (2, 3, 15)
KINDS = ("uniform", "zipf")
# Each takes more than half a minute on a busy machine, so that they are run only when asked for.
SLOW = {
    *((n_released, 15, kind) for n_released in (1_000, 10_000, 100_000, 1_000_000) for kind in KINDS),
    *((1_000_000, 3, kind) for kind in KINDS),
}
Key = tuple[int, int, str]


def random_joint(kind: str, n_secrets: int, n_released: int) -> Joint:
    rng = np.random.default_rng([n_secrets, n_released])
    posteriors = rng.random((n_secrets, n_released))
    posteriors /= posteriors.sum(axis=0)
    marginal = rng.random(n_released) if kind == "uniform" else 1 / np.arange(1, n_released + 1) ** 1.1
    return Joint(posteriors * (marginal / marginal.sum()))


def timed(joint: Joint, epsilon: float, rung: str, effort: str) -> tuple[float, MixtureChannel]:
    start = perf_counter()
    channel = optimal(joint, epsilon, rung=rung, effort=effort)  # type: ignore[arg-type]
    return perf_counter() - start, channel


def line(key: Key, epsilon: float, effort: str) -> str:
    n_released, n_secrets, kind = key
    joint = random_joint(kind, n_secrets, n_released)
    start = perf_counter()
    plain = watchdog(joint, epsilon)
    seconds = [perf_counter() - start]
    losses = [plain.nmil if plain.attains else 1.0]
    for rung in ("camouflage", "subsets", "optimal"):
        took, channel = timed(joint, epsilon, rung, effort)
        seconds.append(took)
        losses.append(channel.nmil)
    shown = " | ".join(f"{loss:.4f}" for loss in losses)
    times = " / ".join(f"{each:.2g}" if each < 99 else f"{each:.0f}" for each in seconds)
    return (
        f"| {n_released:,} | {n_secrets} | {kind} | {shown} | {channel.loss_bound:.4f} ({channel.proof}) | "
        f"{channel.kept_share:.3f} | {channel.rung} | {times} |"
    )


def key_of(row: str) -> Key:
    """Which table a row is of: (values, secrets, P(x))."""
    cells = [cell.strip() for cell in row.split("|")]
    return int(cells[1].replace(",", "")), int(cells[2]), cells[3]


def rewritten(page: str, lines: list[str]) -> str:
    """The page with the rows put into its table, in the order of the sizes."""
    before, rest = page.split(MARKS[0])
    inside, after = rest.split(MARKS[1])
    old = [row for row in inside.splitlines() if row.startswith("|")][2:]
    found = {key_of(row): row for row in [*old, *lines]}
    order = sorted(found, key=lambda key: (key[1], key[2], key[0]))
    return "\n".join([f"{before}{MARKS[0]}\n", HEAD, *(found[key] for key in order), f"\n{MARKS[1]}{after}"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--effort", default="normal", choices=["low", "normal", "high"])
    parser.add_argument("--epsilon", type=float, default=0.5)
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES)
    parser.add_argument("--secrets", type=int, nargs="*", default=SECRETS)
    parser.add_argument("--all", action="store_true", help="also what takes more than half a minute a row")
    parser.add_argument("--write", action="store_true", help="put the rows into README.md")
    given = parser.parse_args()
    start, lines = perf_counter(), []
    print(f"epsilon {given.epsilon:g}, effort {given.effort}; seconds are of the four rungs\n\n{HEAD}")
    for key in ((size, n, kind) for n in given.secrets for kind in KINDS for size in given.sizes):
        if key not in SLOW or given.all:
            lines.append(line(key, given.epsilon, given.effort))
            print(lines[-1], flush=True)
    print(f"\n{perf_counter() - start:.0f} s in all")
    if given.write:
        PAGE.write_text(rewritten(PAGE.read_text(), lines))


if __name__ == "__main__":
    main()
