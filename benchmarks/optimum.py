"""How near `optimal` comes to the bound on what any mechanism must lose, and what it costs, on large joints.

    .venv/bin/python benchmarks/optimum.py                           all rows: some minutes
    .venv/bin/python benchmarks/optimum.py --only 15x10000 50x1000   some of them
    .venv/bin/python benchmarks/optimum.py --kinds zipf --effort low --epsilon 0.3

The joints are those of mechanisms.py: each P(s|x) is a uniform draw, normalised; P(x) is `uniform` or `zipf`. Loss and
bound are NMIL. CPU seconds are of all threads; the clock shows what threads save. --write puts the rows into README.md,
where they replace those of the same joint.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from time import perf_counter, process_time

# Before numpy is there: its threads would hide what the work costs.
os.environ.setdefault("OMP_NUM_THREADS", "1")

from mechanisms import KINDS, random_joint

from tacit.lift import optimal

PAGE = Path(__file__).with_name("README.md")
MARKS = ("<!-- optimum: written by optimum.py -->", "<!-- end of optimum -->")
HEAD = (
    "| secrets x values | P(x) | effort | loss | bound | ratio | CPU s | s by the clock |\n"
    "|---|---|---|---|---|---|---|---|"
)
SIZES = ((5, 29_000), (5, 31_000), (15, 10_000), (15, 100_000), (16, 967), (50, 1_000))


def line(size: tuple[int, int], kind: str, epsilon: float, effort: str) -> str:
    joint = random_joint(kind, *size)
    clock, processor = perf_counter(), process_time()
    channel = optimal(joint, epsilon, effort=effort)  # type: ignore[arg-type]
    clock, processor = perf_counter() - clock, process_time() - processor
    assert channel.attained <= epsilon
    ratio = channel.nmil / channel.loss_bound if channel.loss_bound > 0 else float("inf")
    return (
        f"| {size[0]} x {size[1]:,} | {kind} | {effort} | {channel.nmil:.4f} | {channel.loss_bound:.4f} | "
        f"{ratio:.2f} | {processor:.1f} | {clock:.1f} |"
    )


def rewritten(page: str, lines: list[str]) -> str:
    """The page with the rows put into its table, in the order of the sizes."""
    before, rest = page.split(MARKS[0])
    inside, after = rest.split(MARKS[1])
    old = [row for row in inside.splitlines() if row.startswith("|")][2:]
    found = {tuple(row.split("|")[1:4]): row for row in [*old, *lines]}
    return "\n".join([f"{before}{MARKS[0]}\n", HEAD, *(found[key] for key in sorted(found)), f"\n{MARKS[1]}{after}"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--effort", default="normal", choices=["low", "normal", "high"])
    parser.add_argument("--epsilon", type=float, default=0.5)
    parser.add_argument("--only", nargs="*", default=[f"{secrets}x{values}" for secrets, values in SIZES])
    parser.add_argument("--kinds", nargs="*", default=list(KINDS))
    parser.add_argument("--write", action="store_true", help="put the rows into README.md")
    given = parser.parse_args()
    lines: list[str] = []
    print(f"epsilon {given.epsilon:g}\n\n{HEAD}")
    for only in given.only:
        secrets, values = (int(each) for each in only.split("x"))
        for kind in given.kinds:
            lines.append(line((secrets, values), kind, given.epsilon, given.effort))
            print(lines[-1], flush=True)
    if given.write:
        PAGE.write_text(rewritten(PAGE.read_text(), lines))


if __name__ == "__main__":
    main()
