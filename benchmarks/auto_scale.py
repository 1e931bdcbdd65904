"""``AutoLogLift`` against scikit-learn's histogram boosting on many records: CPU seconds of ``fit``, and log-loss.

    python benchmarks/auto_scale.py                      10^5 records; two, three and five secrets
    python benchmarks/auto_scale.py --seeds 1 2 3        other records, and other effects of the columns
    python benchmarks/auto_scale.py --sizes 1000000 --secrets 2 --no-intervals

A mixed table of ten columns: categories, numbers, a heavy tail, a point mass, interactions. Both see the same records
on one thread; log-loss is on 20,000 fresh records, next to that of the true posteriors, which nothing can beat.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import resource
import time

import numpy as np
import pandas as pd
from harder import categories
from known_lift import drawn, mixed_records
from scipy.special import log_softmax
from sklearn.ensemble import HistGradientBoostingClassifier

from tacit import AutoLogLift

FRESH = 20_000


def table(n: int, secrets: int, seed: int, part: int) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """Records, secrets and the logarithms of the true posteriors; ``part`` draws other records of the same table."""
    rng = np.random.default_rng([part, seed])
    frame, logits = mixed_records(n, rng)
    frame["region"] = rng.choice([f"region {code}" for code in range(12)], size=n)
    frame["debt"] = np.where(rng.random(n) < 0.6, 0.0, rng.exponential(2.0, size=n))
    frame["x1"], frame["x2"] = rng.normal(size=n), rng.normal(size=n)
    parts = [logits[:, 1] - logits[:, 0], 0.6 * np.sign(frame["x1"] * frame["x2"]), 0.4 * (frame["debt"] == 0)]
    weights = np.random.default_rng(4 + seed).normal(size=(len(parts) + 1, secrets - 1))
    scores = np.column_stack([*parts, 0.3 * frame["x1"]]) @ weights
    logs = log_softmax(np.column_stack([np.zeros(n), scores]), axis=1)
    return frame, drawn(np.exp(logs), rng), logs


def measure(n: int, secrets: int, seed: int, *, intervals: bool) -> str:
    """A row of the table."""
    X, s, _ = table(n, secrets, seed, 1)
    fresh, own, true = table(FRESH, secrets, seed, 2)
    rows = np.arange(FRESH)
    boosting, auto = HistGradientBoostingClassifier(random_state=0), AutoLogLift(doubt=intervals, random_state=0)
    shown, seconds = categories(X), []
    for estimator, records in ((boosting, shown), (auto, X)):
        start = time.process_time()
        estimator.fit(records, s)
        seconds.append(time.process_time() - start)
    said = [boosting.predict_proba(categories(fresh)), auto.predict_proba(fresh), np.exp(true)]
    losses = [-float(np.log(p[rows, own]).mean()) for p in said]
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    used = ", ".join(f"{c.name} {c.weight:.2f}" for c in auto.candidates_ if c.weight >= 0.005)
    cells = [f"{n:,}", str(secrets), str(seed), "with" if intervals else "without", *(f"{t:.1f}" for t in seconds)]
    cells += [f"{seconds[1] / seconds[0]:.1f}", *(f"{loss:.4f}" for loss in losses), f"{memory:.1f}", used]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[100_000])
    parser.add_argument("--secrets", type=int, nargs="+", default=[2, 3, 5])
    parser.add_argument("--seeds", type=int, nargs="+", default=[1])
    parser.add_argument("--no-intervals", action="store_true", help="only without")
    words = parser.parse_args()
    titles = "records, secrets, seed, intervals, boosting CPU-s, auto, ratio, its log-loss, auto, true, GB, blend"
    print(f"| {titles.replace(', ', ' | ')} |\n{'|---' * 12}|")
    for n in words.sizes:
        for secrets in words.secrets:
            for seed in words.seeds:
                for intervals in (False, True)[: 1 if words.no_intervals else 2]:
                    print(measure(n, secrets, seed, intervals=intervals), flush=True)


if __name__ == "__main__":
    main()
