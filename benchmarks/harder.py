"""``AutoLogLift`` where estimators stumble: against boosted trees with a temperature, and what its intervals cover.

    python benchmarks/harder.py                          all populations, 1,000 records, two seeds
    python benchmarks/harder.py --sizes 5000 --only xor3 rare
    python benchmarks/harder.py --table                  the tables of what was measured so far, also into README.md

Every measurement is one line of benchmarks/harder.jsonl; delete the file to measure anew. Log-loss and RMSE are on
5,000 fresh records; pairs that never occur are not in the RMSE. The boosted trees are scikit-learn's with its defaults,
fitted to all records; their temperature is the one that loses least on their out-of-fold predictions in three folds.
Coverage is the share of pairs whose true log-lift is in the 95% interval; "at once" that of records with all secrets in
the simultaneous ones.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from known_lift import HARDER, SAMPLERS, Known
from scipy.special import log_softmax
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import cross_val_predict

from tacit import AutoLogLift
from tacit.learn.crossfitting.blending import best_weights, blend

RESULTS = Path(__file__).with_suffix(".jsonl")
PAGE = Path(__file__).with_name("README.md")
MARKS = ("<!-- harder: written by harder.py -->", "<!-- end of harder -->")
FRESH = 5_000
POPULATIONS = SAMPLERS | HARDER


def categories(X: pd.DataFrame) -> pd.DataFrame:
    """Text as categories, which is how scikit-learn's boosting reads it."""
    return X.astype({name: "category" for name in X.columns if not pd.api.types.is_numeric_dtype(X[name])})


def tempered(known: Known, fresh: Known, prior: np.ndarray) -> np.ndarray:
    """Log-lifts of the fresh records by boosted trees with a temperature."""
    trees = HistGradientBoostingClassifier(random_state=0)
    both = categories(pd.concat([known.X, fresh.X], ignore_index=True))
    X, X_fresh = both[: len(known.s)], both[len(known.s) :]
    apart = cross_val_predict(trees, X, known.s, cv=3, method="predict_proba").clip(1e-9)
    temper = best_weights((np.log(apart) - np.log(prior))[None], known.s, prior)
    said = trees.fit(X, known.s).predict_proba(X_fresh).clip(1e-9)
    return blend((np.log(said) - np.log(prior))[None], temper, prior)


def measure(name: str, n: int, seed: int) -> dict[str, Any]:
    """Fit both once."""
    known = POPULATIONS[name](n, np.random.default_rng([seed, n]))
    fresh = POPULATIONS[name](FRESH, np.random.default_rng([seed, n, 1]))
    estimator = AutoLogLift(random_state=seed).fit(known.X, known.s)
    met = np.isin(fresh.s, estimator.secrets_)
    truth, prior = fresh.log_lift[:, estimator.secrets_], estimator.prior_
    codes = np.searchsorted(estimator.secrets_, fresh.s)
    relabelled = Known(known.X, np.searchsorted(estimator.secrets_, known.s), known.log_lift)
    found: dict[str, Any] = {"population": name, "n": n, "seed": seed}
    occurs = np.isfinite(truth)
    for title, lift in {"auto": estimator.log_lift(fresh.X), "boosted": tempered(relabelled, fresh, prior)}.items():
        logs = log_softmax(lift + np.log(prior), axis=1)[met, codes[met]]
        found[f"{title} loss"] = round(-float(logs.mean()), 4)
        found[f"{title} rmse"] = round(float(np.sqrt(((lift - truth)[occurs] ** 2).mean())), 4)
    for title, words in {"": {}, " at once": {"simultaneous": True}}.items():
        low, high = estimator.log_lift_interval(fresh.X, **words)
        inside = (low <= truth) & (truth <= high)
        found[f"coverage{title}"] = round(float(inside.all(axis=1).mean() if title else inside.mean()), 4)
        found[f"width{title}"] = round(float(np.median(high - low)), 3)
    found["open"] = round(float(np.isneginf(low).mean()), 3)
    return found


def table(results: list[dict[str, Any]]) -> str:
    """Markdown, one block per size: means over seeds, and the least coverage of a seed."""
    lines = []
    for n in sorted({r["n"] for r in results}):
        here = [r for r in results if r["n"] == n]
        seeds = len({r["seed"] for r in here})
        lines += [
            f"\n**n = {n:,}** ({seeds} seeds)\n",
            "| population | log-loss, trees | auto | RMSE, trees | auto "
            "| covered (least) | width | at once (least) | width |",
            "|---|---|---|---|---|---|---|---|---|",
        ]
        for name in POPULATIONS:
            own = [r for r in here if r["population"] == name]
            if own:
                lines.append(f"| {name} | {_row(own)} |")
    return "\n".join(lines)


def _row(own: list[dict[str, Any]]) -> str:
    mean = {key: float(np.mean([r[key] for r in own])) for key in own[0] if key not in ("population", "n", "seed")}
    least = {key: min(r[key] for r in own) for key in ("coverage", "coverage at once")}
    cells = [f"{mean[key]:.3f}" for key in ("boosted loss", "auto loss")]
    cells += [f"{mean[key]:.2f}" for key in ("boosted rmse", "auto rmse")]
    for title in ("", " at once"):
        key = f"coverage{title}"
        cells += [f"{mean[key]:.3f} ({least[key]:.3f})", f"{mean[f'width{title}']:.2f}"]
    return " | ".join(cells)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1])
    parser.add_argument("--only", nargs="+", default=list(POPULATIONS), choices=list(POPULATIONS))
    parser.add_argument("--table", action="store_true", help="measure nothing, show the table")
    words = parser.parse_args()
    done = [json.loads(line) for line in RESULTS.read_text().splitlines()] if RESULTS.exists() else []
    have = {(r["population"], r["n"], r["seed"]) for r in done}
    asked = [] if words.table else [(p, n, s) for n in words.sizes for s in words.seeds for p in words.only]
    for name, n, seed in asked:
        # Of a thousand records one, or none, has the rare secret: there is nothing to be learned.
        if (name, n, seed) in have or (name == "rare" and n < 5_000):
            continue
        done.append(measure(name, n, seed))
        with RESULTS.open("a") as file:
            file.write(json.dumps(done[-1]) + "\n")
        print(json.dumps(done[-1]), flush=True)
    shown = table(done)
    before, rest = PAGE.read_text().split(MARKS[0])
    PAGE.write_text(f"{before}{MARKS[0]}\n{shown}\n\n{MARKS[1]}{rest.split(MARKS[1])[1]}")
    print(shown)


if __name__ == "__main__":
    main()
