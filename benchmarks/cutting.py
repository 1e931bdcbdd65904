"""Cutting a table into cells, and whole releases in cells, against a bare GROUP BY of the same columns, in one run.

    python benchmarks/cutting.py [--rows 10000000] [--rounds 3] [--kinds few unique]
    python benchmarks/cutting.py --rows 100000000 --rounds 1 --jobs "group by" cut     by hand: the files are large

Two kinds of tables: ``few``, five columns of text with 3,000 combinations; ``unique``, where nearly every row is
unique: a sum of money, an age, a day, a postcode, a sex. ``cut`` finds levels and cells and counts all records by cell
and secret; where there are many combinations, the cell of every record is also found and kept (where there are few, it
is looked up while the release is written). ``protect`` is the whole release: cells, rewriting in order, what readers
keep, certificate and report. Seconds are the best of all rounds, each job in a process of its own, without imports; CPU
seconds are of all threads, and say more on a busy machine.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tables import COLUMNS, generate as generate_few

DATA = Path(__file__).parent / "data"
EPSILON, LEAST = 0.5, 10
# Secret first.
NAMES = {"few": COLUMNS, "unique": ["illness", "income", "age", "admission", "postcode", "sex"]}
JOBS = ["group by", "cut", "protect"]


def generate_unique(path: Path, rows: int) -> None:
    """Eight illnesses that lean on age; income and day make nearly every row unique."""
    import duckdb

    path.parent.mkdir(parents=True, exist_ok=True)
    connection = duckdb.connect()
    connection.execute("SET threads = 1; SELECT setseed(0.5)")
    connection.execute(f"""
        COPY (SELECT 'illness ' || CASE WHEN random() < 0.2 THEN age // 15 ELSE floor(random() * 8)::INT END AS illness,
              round(exp(10 + random() + random()), 2) AS income, age,
              DATE '2024-01-01' + floor(random() * 366)::INT AS admission,
              lpad((1000 + floor(power(random(), 2) * 9000)::INT)::VARCHAR, 5, '0') AS postcode,
              CASE WHEN random() < 0.5 THEN 'f' ELSE 'm' END AS sex
              FROM (SELECT floor(random() * 95)::INT AS age FROM range({rows})))
        TO '{path}' (FORMAT parquet, COMPRESSION snappy)""")


GENERATORS: dict[str, Callable[[Path, int], None]] = {"few": generate_few, "unique": generate_unique}


def group_by(kind: str, path: Path, _: Path) -> None:
    """One GROUP BY of all columns."""
    import duckdb

    columns = ", ".join(NAMES[kind])
    duckdb.connect().sql(f"SELECT count(*) FROM (SELECT {columns}, count(*) FROM '{path}' GROUP BY ALL)").fetchall()


def cut(kind: str, path: Path, _: Path) -> None:
    """Scales, the search for cells, and the counts of all records by cell."""
    from tacit.codes.asking import CodeClaim, CodeRequest
    from tacit.codes.fitting import fit_code
    from tacit.tables import open_table

    secret, *released = NAMES[kind]
    claim = CodeClaim((secret,), EPSILON, EPSILON)
    found = fit_code(open_table(path), CodeRequest(tuple(released), (claim,), LEAST)).found
    assert found is not None
    found.counted([secret])


def protect(kind: str, path: Path, out: Path) -> None:
    """The whole release."""
    import tacit

    tacit.protect(path, secret=NAMES[kind][0], epsilon=EPSILON, least=LEAST, mechanism="cells", out=out)


def run(job: str, kind: str, path: Path, small: Path) -> None:
    """One job in this process: its seconds without imports, and the peak of its memory in MB, modules included."""
    work = {"group by": group_by, "cut": cut, "protect": protect}[job]
    with tempfile.TemporaryDirectory() as place:
        # Modules load on first use; a small table brings them in.
        work(kind, small, Path(place) / "first")
        begun, cpu = time.perf_counter(), time.process_time()
        work(kind, path, Path(place) / "out")
        seconds, cpu = time.perf_counter() - begun, time.process_time() - cpu
    print(seconds, cpu, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def table_of(kind: str, rows: int) -> Path:
    """The table, generated if it is not there; few combinations are those of tables.py."""
    path = DATA / (f"people-{rows}.parquet" if kind == "few" else f"unique-{rows}.parquet")
    if not path.exists():
        GENERATORS[kind](path, rows)
    return path


def main() -> None:
    """Run every job in a process of its own, round by round, and print the best of each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--kinds", nargs="+", default=list(GENERATORS), choices=list(GENERATORS))
    parser.add_argument("--jobs", nargs="+", default=JOBS, choices=JOBS)
    parser.add_argument("--job", choices=JOBS, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.job:
        (kind,) = asked.kinds
        run(asked.job, kind, table_of(kind, asked.rows), table_of(kind, 20_000))
        return
    jobs = [job for job in JOBS if job in asked.jobs or job == JOBS[0]]
    for kind in asked.kinds:
        table_of(kind, asked.rows), table_of(kind, 20_000)
        best = {job: (float("inf"), float("inf"), 0.0) for job in jobs}
        for _ in range(asked.rounds):
            for job in jobs:
                words = ["--rows", str(asked.rows), "--kinds", kind, "--job", job]
                done = subprocess.run([sys.executable, __file__, *words], stdout=subprocess.PIPE, text=True, check=True)
                seconds, cpu, memory = map(float, done.stdout.split()[-3:])
                best[job] = (min(best[job][0], seconds), min(best[job][1], cpu), max(best[job][2], memory))
        print(f"{kind}: {asked.rows:,} rows, best of {asked.rounds}\n")
        print("".join(f"{title:>10}{'ratio':>7}" for title in ("seconds", "CPU s", "peak MB")).rjust(65))
        for job, figures in best.items():
            beside = zip(figures, best[JOBS[0]], strict=True)
            print(f"{job:<14}" + "".join(f"{figure:>10.2f}{figure / base:>7.2f}" for figure, base in beside))
        print()


if __name__ == "__main__":
    main()
