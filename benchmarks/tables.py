"""Audit and protect against bare DuckDB, in one run: time (best of several, interleaved) and peak memory of each.

    python benchmarks/tables.py [--rows 10000000] [--rounds 5]

``bare count`` is one GROUP BY of the five columns, all that ``audit`` needs of the engine. ``bare protect`` joins the
rows with a table of their values, of which a tenth are replaced, and COPYs the result, losing the order of the rows.
``audit`` and ``protect`` are Tacit's, whole: null bands, certificate, report and fingerprints included.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

DATA = Path(__file__).parent / "data"
RELEASED = ["sex", "age", "region", "job"]
COLUMNS = ["origin", *RELEASED]
# At this epsilon about a tenth of the records of the generated table are merged.
EPSILON = 0.3
BASELINES = {"audit": "bare count", "protect": "bare protect"}
JOBS = ["bare count", "audit", "bare protect", "protect"]


def generate(path: Path, rows: int) -> None:
    """Five columns of text: 6 secrets and 2 x 5 x 5 x 60 = 3,000 released values, some of which tilt to a secret."""
    import duckdb

    path.parent.mkdir(parents=True, exist_ok=True)
    connection = duckdb.connect()
    connection.execute("SET threads = 1; SELECT setseed(0.5)")
    connection.execute(f"""
        COPY (SELECT 'origin ' || s AS origin, 'sex ' || floor(random() * 2)::INT AS sex,
              'age ' || floor(random() * 5)::INT AS age, 'region ' || floor(random() * 5)::INT AS region,
              'job ' || CASE WHEN random() < 0.02 THEN s ELSE floor(random() * 60)::INT END AS job
              FROM (SELECT floor(random() * 6)::INT AS s FROM range({rows})))
        TO '{path}' (FORMAT parquet, COMPRESSION snappy)""")


def bare_count(path: Path, _: Path) -> None:
    """One GROUP BY."""
    import duckdb

    duckdb.connect().sql(f"SELECT {', '.join(COLUMNS)}, count(*) FROM '{path}' GROUP BY ALL").to_arrow_table()


def audit(path: Path, _: Path) -> None:
    """The whole audit."""
    import tacit

    tacit.audit(path, secret="origin")


def bare_protect(path: Path, out: Path) -> None:
    """Join with a table of values, replace a tenth of them, write."""
    import duckdb

    connection = duckdb.connect()
    keys = ", ".join(RELEASED)
    connection.execute(
        f"CREATE TABLE released AS SELECT {keys}, hash({keys}) % 10 = 0 AS risky FROM '{path}' GROUP BY ALL"
    )
    cells = ", ".join(f"CASE WHEN risky THEN 'drawn' ELSE t.{name} END AS {name}" for name in RELEASED)
    connection.execute(
        f"COPY (SELECT {cells} FROM '{path}' t JOIN released USING ({keys})) "
        f"TO '{out}.parquet' (FORMAT parquet, COMPRESSION snappy)"
    )


def protect(path: Path, out: Path) -> None:
    """The whole release: count, choose, rewrite in order, certify, report."""
    import tacit

    words = {"secret": "origin", "epsilon": EPSILON, "mechanism": "watchdog"}
    merged = tacit.protect(path, **words, out=out).certificate.mechanism.records_merged
    assert path.stat().st_size < 1e6 or 0.05 < merged < 0.2, merged


def run(job: str, path: Path, small: Path) -> None:
    """One job in this process: its seconds without imports, and the peak of its memory in MB, modules included."""
    import duckdb  # noqa: F401
    import narwhals  # noqa: F401
    import pyarrow.dataset
    import pyarrow.parquet  # noqa: F401

    import tacit

    tacit.audit, tacit.protect  # noqa: B018 - names load on first use
    work = {"bare count": bare_count, "audit": audit, "bare protect": bare_protect, "protect": protect}
    with tempfile.TemporaryDirectory() as place:
        # Modules load on first use; a small table brings them in, for the bare jobs as for ours.
        work[job](small, Path(place) / "first")
        begun = time.perf_counter()
        work[job](path, Path(place) / "out")
        seconds = time.perf_counter() - begun
    print(seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def main() -> None:
    """Run every job in a process of its own, round by round, and print the best of each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--job", choices=JOBS, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    path = DATA / f"people-{asked.rows}.parquet"
    small = DATA / "people-20000.parquet"
    if asked.job:
        run(asked.job, path, small)
        return
    for file, rows in ((path, asked.rows), (small, 20_000)):
        if not file.exists():
            generate(file, rows)
    best = {job: (float("inf"), 0.0) for job in JOBS}
    for _ in range(asked.rounds):
        for job in JOBS:
            command = [sys.executable, __file__, "--rows", str(asked.rows), "--job", job]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            seconds, memory = map(float, done.stdout.split())
            best[job] = (min(best[job][0], seconds), max(best[job][1], memory))
    print(
        f"{asked.rows:,} rows, best of {asked.rounds}\n\n{'':<14}{'seconds':>9}{'ratio':>7}{'peak MB':>10}{'ratio':>7}"
    )
    for job in JOBS:
        base = best[BASELINES.get(job, job)]
        (seconds, memory) = best[job]
        print(f"{job:<14}{seconds:>9.2f}{seconds / base[0]:>7.2f}{memory:>10.0f}{memory / base[1]:>7.2f}")


if __name__ == "__main__":
    main()
