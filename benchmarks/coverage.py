"""What the 95% intervals of ``AutoLogLift`` cover on populations on which nothing was tuned (``untuned_lift.py``).

    python benchmarks/coverage.py                        the first set, 1,000 records, three seeds
    python benchmarks/coverage.py --set second --sizes 1000 5000
    python benchmarks/coverage.py --table                the tables of what was measured so far, also into README.md

Every measurement is one line of coverage.jsonl, and is not made again; delete the lines when the rule changes.
Coverage is the share of pairs of a fresh record and a secret whose true log-lift is in the interval; "riskiest tenth"
that among the tenth of the records with the highest true risk; "at once" that of records with all secrets in the
simultaneous intervals; "open" the share of pairs whose lower end is minus infinity; widths are medians, infinite ones
counted.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
from untuned_lift import FIFTH, FIRST, FOURTH, SECOND, SEVENTH, SIXTH, THIRD

from tacit import AutoLogLift

RESULTS = Path(__file__).with_suffix(".jsonl")
PAGE = Path(__file__).with_name("README.md")
MARKS = ("<!-- coverage: written by coverage.py -->", "<!-- end of coverage -->")
FRESH = 5_000
EVERY = FIRST | SECOND | THIRD | FOURTH | FIFTH | SIXTH | SEVENTH
SETS = {"first": FIRST, "second": SECOND, "third": THIRD, "fourth": FOURTH, "fifth": FIFTH}
SETS |= {"sixth": SIXTH, "seventh": SEVENTH}
# Of fewer records hardly one has the rare secret.
LEAST_FOR_RARE = 5_000


def measure(name: str, n: int, seed: int) -> dict[str, Any]:
    """One fit."""
    sampler = EVERY[name]
    table, fresh = sampler(n, np.random.default_rng([seed, n, 3])), sampler(FRESH, np.random.default_rng([seed, n, 4]))
    start = time.process_time()
    estimator = AutoLogLift(random_state=seed).fit(table.X, table.s)
    seconds = time.process_time() - start
    truth = fresh.log_lift[:, estimator.secrets_]
    low, high = estimator.log_lift_interval(fresh.X)
    inside = (low <= truth) & (truth <= high)
    risk = np.abs(truth).max(axis=1)
    riskiest = np.argsort(-risk, kind="stable")[: FRESH // 10]
    lowest, highest = estimator.log_lift_interval(fresh.X, simultaneous=True)
    all_inside = ((lowest <= truth) & (truth <= highest)).all(axis=1)
    shares = {"covered": inside, "riskiest": inside[riskiest], "at once": all_inside, "open": np.isneginf(low)}
    widths = {"width": high - low, "width at once": highest - lowest}
    return (
        {"population": name, "n": n, "seed": seed, "cpu": round(seconds, 1)}
        | {key: round(float(np.mean(value)), 4) for key, value in shares.items()}
        | {key: round(float(np.median(value)), 3) for key, value in widths.items()}
    )


def table(results: list[dict[str, Any]]) -> str:
    """Markdown, one row per population and size: means over seeds, and in brackets the worst of a seed."""
    head = (
        "| population | records | seeds | covered (least) | riskiest tenth | width | open | at once (least) | width |"
    )
    rows = [
        _row(name, [r for r in results if (r["population"], r["n"]) == (name, n)])
        for n in sorted({r["n"] for r in results})
        for name in EVERY
        if any((r["population"], r["n"]) == (name, n) for r in results)
    ]
    return "\n".join([head, "|---|--:|--:|---|---|---|---|---|---|", *rows])


def _row(name: str, own: list[dict[str, Any]]) -> str:
    mean = {key: float(np.mean([r[key] for r in own])) for key in own[0] if key != "population"}
    both = [f"{mean[key]:.3f} ({min(r[key] for r in own):.3f})" for key in ("covered", "at once")]
    first = f"| {name} | {own[0]['n']:,} | {len(own)} | {both[0]} | {mean['riskiest']:.3f} "
    return f"{first}| {mean['width']:.2f} | {mean['open']:.3f} | {both[1]} | {mean['width at once']:.2f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", default="first", choices=list(SETS))
    parser.add_argument("--only", nargs="+", default=None, choices=list(EVERY))
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--table", action="store_true", help="measure nothing, show the table")
    words = parser.parse_args()
    results = [json.loads(line) for line in RESULTS.read_text().splitlines()] if RESULTS.exists() else []
    done = {(r["population"], r["n"], r["seed"]) for r in results}
    for n in [] if words.table else words.sizes:
        for name in words.only or SETS[words.set]:
            for seed in words.seeds:
                if (name, n, seed) in done or (name.startswith("rare") and n < LEAST_FOR_RARE):
                    continue
                results.append(measure(name, n, seed))
                with RESULTS.open("a") as file:
                    file.write(json.dumps(results[-1]) + "\n")
                print(json.dumps(results[-1]), flush=True)
    shown = table(results)
    page = PAGE.read_text()
    if MARKS[0] in page:
        before, rest = page.split(MARKS[0])
        PAGE.write_text(f"{before}{MARKS[0]}\n\n{shown}\n\n{MARKS[1]}{rest.split(MARKS[1])[1]}")
    print(shown)


if __name__ == "__main__":
    main()
