"""Estimators of log-lift, and the watchdog paper's own, against the truth.

    python benchmarks/estimators.py                      1,000 and 5,000 records, two seeds, then the table
    python benchmarks/estimators.py --sizes 50000 --seeds 1
    python benchmarks/estimators.py --table              the table of what was measured so far, also into README.md

Every measurement is one line of benchmarks/estimators.jsonl, so that the hours of the paper's estimator are spent once;
delete the file to measure anew. RMSE is over all pairs of a fresh record and a secret; precision and recall are of
"some log-lift exceeds 0.5"; CPU seconds are of ``fit``, on one thread.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from known_lift import SAMPLERS
from numpy.typing import NDArray
from sklearn.neural_network import MLPClassifier

from tacit import AutoLogLift, ClassifierLogLift, NeuralLogLift

RESULTS = Path(__file__).with_suffix(".jsonl")
PAGE = Path(__file__).with_name("README.md")
MARKS = ("<!-- estimators: written by estimators.py -->", "<!-- end of estimators -->")
FRESH = 5_000
RISKY = 0.5

ESTIMATORS: dict[str, Callable[[int], Any]] = {
    "DV, the paper's setting": lambda seed: NeuralLogLift.as_in_the_paper(random_state=seed),
    "the same, TensorFlow's accumulator 0.1": lambda seed: NeuralLogLift.as_in_the_paper(
        initial_accumulator=0.1, random_state=seed
    ),
    "NeuralLogLift": lambda seed: NeuralLogLift(doubt=False, random_state=seed),
    "counts": lambda seed: AutoLogLift(learners=("counts",), doubt=False, random_state=seed),
    "linear": lambda seed: AutoLogLift(learners=("linear", "products"), doubt=False, random_state=seed),
    "trees": lambda seed: AutoLogLift(learners=("trees",), doubt=False, random_state=seed),
    "net": lambda seed: AutoLogLift(learners=("net",), doubt=False, random_state=seed),
    "scikit-learn's MLPClassifier": lambda seed: ClassifierLogLift(
        MLPClassifier((64,), early_stopping=True, validation_fraction=0.15, random_state=seed),
        doubt=False,
        random_state=seed,
    ),
    "auto": lambda seed: AutoLogLift(doubt=False, random_state=seed),
    "auto with intervals": lambda seed: AutoLogLift(random_state=seed),
}
# The paper leaves the maximiser's constant free; these say what taking it off does to the very same networks.
NORMALISED = {
    "DV, the paper's setting": {"constant": "DV, constant taken off", "record": "DV, normalised per record"},
    "the same, TensorFlow's accumulator 0.1": {"constant": "accumulator 0.1, constant taken off"},
}
ORDER = [title for name in ESTIMATORS for title in (name, *NORMALISED.get(name, {}).values())]


def measure(name: str, sampler: str, n: int, seed: int) -> list[dict[str, Any]]:
    """Fit once; one result, and one more for every way of taking the free constant off."""
    known = SAMPLERS[sampler](n, np.random.default_rng([seed, n]))
    fresh = SAMPLERS[sampler](FRESH, np.random.default_rng([seed, n, 1]))
    estimator = ESTIMATORS[name](seed)
    start = time.process_time()
    estimator.fit(known.X, known.s)
    seconds = time.process_time() - start
    lift = estimator.log_lift(fresh.X)
    of = {"sampler": sampler, "n": n, "seed": seed, "cpu": round(seconds, 2)}
    found = [{"estimator": name, **of, **accuracy(lift, fresh.log_lift)}]
    if name == "auto with intervals":
        low, high = estimator.log_lift_interval(fresh.X)
        # A level never met has an interval that covers everything; it is left out of the count.
        judged = np.isfinite(low)
        inside = (low <= fresh.log_lift) & (fresh.log_lift <= high)
        found[0]["coverage"] = round(float(inside[judged].mean()), 4)
        found[0]["width"] = round(float((high - low)[judged].mean()), 3)
    for way, title in NORMALISED.get(name, {}).items():
        found.append({"estimator": title, **of, **accuracy(normalised(lift, estimator, known.X, way), fresh.log_lift)})
    return found


def normalised(lift: NDArray[np.float64], estimator: Any, X: Any, way: str) -> NDArray[np.float64]:
    """The lift of a raw network with its free constant, or each record's normaliser, taken off."""
    if way == "record":
        return lift - np.log((estimator.prior_ * np.exp(lift)).sum(axis=1, keepdims=True))
    return lift - np.log((estimator.prior_ * np.exp(estimator.log_lift(X))).sum(axis=1).mean())


def accuracy(lift: NDArray[np.float64], truth: NDArray[np.float64]) -> dict[str, float]:
    """RMSE, and precision and recall of the records called risky."""
    called, risky = (np.abs(values).max(axis=1) > RISKY for values in (lift, truth))
    return {
        "rmse": round(float(np.sqrt(((lift - truth) ** 2).mean())), 4),
        "precision": round(float(risky[called].mean()), 4) if called.any() else 1.0,
        "recall": round(float(called[risky].mean()), 4),
    }


def table(results: list[dict[str, Any]]) -> str:
    """Markdown, one block per size: means over seeds, estimators down, populations across."""
    lines = []
    for n in sorted({r["n"] for r in results}):
        lines += [
            f"\n**n = {n:,}** (RMSE of the log-lift; precision/recall of risky records; CPU seconds)\n",
            "| estimator | " + " | ".join(SAMPLERS) + " | mean | RMSE / DV's | CPU-s | CPU / DV's |",
            "|---|" + "---|" * (len(SAMPLERS) + 4),
        ]
        here = [r for r in results if r["n"] == n]
        names = [name for name in ORDER if any(r["estimator"] == name for r in here)]
        base = _means([r for r in here if r["estimator"] == "DV, constant taken off"])
        lines += [_row(name, _means([r for r in here if r["estimator"] == name]), base) for name in names]
        covered = [r for r in here if "coverage" in r]
        if covered:
            shown = {s: np.mean([r["coverage"] for r in covered if r["sampler"] == s]) for s in SAMPLERS}
            lines.append("\nCoverage of the 95% intervals: " + ", ".join(f"{s} {v:.2f}" for s, v in shown.items()))
    return "\n".join(lines)


def _means(results: list[dict[str, Any]]) -> dict[str, dict[str, float]]:
    keys = ("rmse", "precision", "recall", "cpu")
    return {
        s: {k: float(np.mean([r[k] for r in results if r["sampler"] == s])) for k in keys}
        for s in SAMPLERS
        if any(r["sampler"] == s for r in results)
    }


def _row(name: str, means: dict[str, dict[str, float]], base: dict[str, dict[str, float]]) -> str:
    cells = [
        f"{m['rmse']:.2f} ({m['precision']:.2f}/{m['recall']:.2f})" if (m := means.get(s)) else "" for s in SAMPLERS
    ]
    both = [s for s in means if s in base]
    # Ratios only over the populations that both were measured on.
    ratio, cpu = (
        f"{np.mean([means[s][k] for s in both]) / np.mean([base[s][k] for s in both]):.2f}" if both else ""
        for k in ("rmse", "cpu")
    )
    mean, seconds = (np.mean([m[k] for m in means.values()]) for k in ("rmse", "cpu"))
    whole = "" if len(means) == len(SAMPLERS) else f" ({len(means)} of {len(SAMPLERS)})"
    return f"| {name} | {' | '.join(cells)} | {mean:.3f}{whole} | {ratio} | {seconds:.1f} | {cpu} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 5_000])
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--estimators", nargs="+", default=list(ESTIMATORS), choices=list(ESTIMATORS))
    parser.add_argument("--samplers", nargs="+", default=list(SAMPLERS), choices=list(SAMPLERS))
    parser.add_argument("--table", action="store_true", help="measure nothing, show the table")
    words = parser.parse_args()
    done = [json.loads(line) for line in RESULTS.read_text().splitlines()] if RESULTS.exists() else []
    have = {(r["estimator"], r["sampler"], r["n"], r["seed"]) for r in done}
    if not words.table:
        # A first fit, so that imports are not measured.
        NeuralLogLift(steps=50, folds=2, random_state=0).fit(np.random.default_rng(0).normal(size=(64, 2)), [0, 1] * 32)
        for n in words.sizes:
            for name in words.estimators:
                for sampler in words.samplers:
                    for seed in range(words.seeds):
                        if (name, sampler, n, seed) in have:
                            continue
                        found = measure(name, sampler, n, seed)
                        done += found
                        with RESULTS.open("a") as file:
                            file.writelines(json.dumps(result) + "\n" for result in found)
                        print(
                            f"{n:>6} {name:40} {sampler:9} seed {seed}: {found[-1]['rmse']:.3f}, {found[0]['cpu']} s",
                            flush=True,
                        )
    shown = table(done)
    before, rest = PAGE.read_text().split(MARKS[0])
    PAGE.write_text(f"{before}{MARKS[0]}\n{shown}\n\n{MARKS[1]}{rest.split(MARKS[1])[1]}")
    print(shown)


if __name__ == "__main__":
    main()
