"""Tables against bare DuckDB, in one run: time (best of several, interleaved) and peak memory of each.

    python benchmarks/tables.py [--rows 10000000] [--rounds 5]

``bare count`` is one GROUP BY; ``bare protect`` is a join with a table of symbols and a COPY, which loses the order of
the rows. ``count`` and ``protect`` (count, rewrite, write) are Tacit's.
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
RELEASED = ["a", "b", "c"]
COLUMNS = ["secret", *RELEASED]
JOBS = ["bare count", "count", "bare protect", "protect"]


def generate(path: Path, rows: int) -> None:
    """Five columns of text: 6 secrets, 20 x 15 x 10 = 3,000 released symbols, and one that is neither."""
    import duckdb

    path.parent.mkdir(parents=True, exist_ok=True)
    connection = duckdb.connect()
    connection.execute("SELECT setseed(0.5)")
    connection.execute(f"""
        COPY (SELECT 's' || floor(random() * 6)::INT AS secret, 'a' || floor(random() * 20)::INT AS a,
              'b' || floor(random() * 15)::INT AS b, 'c' || floor(random() * 10)::INT AS c,
              'd' || floor(random() * 50)::INT AS d FROM range({rows}))
        TO '{path}' (FORMAT parquet, COMPRESSION zstd)""")


def bare_count(path: Path, _: Path) -> None:
    """One GROUP BY."""
    import duckdb

    duckdb.connect().sql(f"SELECT {', '.join(COLUMNS)}, count(*) FROM '{path}' GROUP BY ALL").to_arrow_table()


def tacit_count(path: Path, _: Path) -> None:
    """The same, as counts."""
    from tacit.tables import count, open_table

    count(open_table(path), COLUMNS)


def bare_protect(path: Path, out: Path) -> None:
    """Join with a table of symbols, write a tenth of them anew."""
    import duckdb

    connection = duckdb.connect()
    keys = ", ".join(RELEASED)
    connection.execute(
        f"CREATE TABLE symbols AS SELECT {keys}, hash({keys}) % 10 = 0 AS risky FROM '{path}' GROUP BY ALL"
    )
    cells = ", ".join(f"CASE WHEN risky THEN 'drawn' ELSE t.{name} END AS {name}" for name in RELEASED)
    connection.execute(
        f"COPY (SELECT t.secret, {cells}, t.d FROM '{path}' t JOIN symbols USING ({keys})) "
        f"TO '{out}' (FORMAT parquet, COMPRESSION zstd)"
    )


def tacit_protect(path: Path, out: Path) -> None:
    """Count, draw a tenth of the symbols anew, write in order."""
    import numpy as np

    from tacit.tables import count, new_key, open_table, rewrite, write_table

    table = open_table(path)
    joint, symbols = count(table, COLUMNS).joint(["secret"], RELEASED)
    merged = np.random.default_rng(0).random(len(symbols)) < 0.1
    replacement = np.where(merged, joint.marginal, 0)
    done = rewrite(
        table, symbols, merged=merged, replacement=replacement / replacement.sum(), key=new_key(random_state=1)
    )
    write_table(done, out, like=table)


def run(job: str, path: Path) -> None:
    """One job in this process: its seconds without imports, and the peak of its memory in MB."""
    import duckdb  # noqa: F401
    import narwhals  # noqa: F401
    import pyarrow.dataset
    import pyarrow.parquet  # noqa: F401

    import tacit.tables  # noqa: F401

    work = {"bare count": bare_count, "count": tacit_count, "bare protect": bare_protect, "protect": tacit_protect}
    with tempfile.TemporaryDirectory() as place:
        begun = time.perf_counter()
        work[job](path, Path(place) / "out.parquet")
        seconds = time.perf_counter() - begun
    print(seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def main() -> None:
    """Run every job in a process of its own, round by round, and print the best of each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--job", choices=JOBS, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    path = DATA / f"tables-{asked.rows}.parquet"
    if asked.job:
        run(asked.job, path)
        return
    if not path.exists():
        generate(path, asked.rows)
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
        base = best[job if job.startswith("bare") else f"bare {job}"]
        (seconds, memory) = best[job]
        print(f"{job:<14}{seconds:>9.2f}{seconds / base[0]:>7.2f}{memory:>10.0f}{memory / base[1]:>7.2f}")


if __name__ == "__main__":
    main()
