"""Counting and rewriting on Spark against bare Spark SQL of the same plan, in one session, and how they grow.

    python benchmarks/spark.py [--rows 4000000] [--rounds 3]
    python benchmarks/spark.py --growth [--rounds 2]

Every job opens the file. ``bare count`` is one GROUP BY of the five columns, collected as Arrow. ``bare rewrite`` joins
the rows with a table of their 3,000 values, draws for a tenth of them from SHA-256 of a key and a number of the row,
joins these with what is drawn, and writes parts of Parquet with Spark. ``rewrite`` does the same by
``tacit.tables.redraw``, with indexes that do not depend on the partitions; ``one file`` has the rows streamed to the
driver and written in order by DuckDB, as ``protect`` does. Seconds are CPU seconds of Python, of Java and of all their
threads, the least of all rounds after one that is not counted, on a local session of two threads; in brackets those of
Python, which is the driver.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from tables import COLUMNS, DATA, RELEASED, generate

KEY = bytes(range(32))


def session() -> Any:
    """A local session of two threads."""
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    from pyspark.sql import SparkSession

    quiet = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.log.level": "ERROR"}
    builder = SparkSession.builder.master("local[2]").config("spark.driver.memory", "3g")
    for name, value in (quiet | {"spark.sql.shuffle.partitions": "8"}).items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def cpu_seconds(spark: Any) -> tuple[float, float]:
    """What this process has taken so far, and what it and its Java have."""
    java = int(spark._jvm.java.lang.ProcessHandle.current().pid())
    user, system = Path(f"/proc/{java}/stat").read_text().rpartition(")")[2].split()[11:13]
    used = resource.getrusage(resource.RUSAGE_SELF)
    own = used.ru_utime + used.ru_stime
    return own, own + (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def least(spark: Any, jobs: dict[str, Callable[[], Any]], rounds: int) -> dict[str, tuple[float, float]]:
    """The least seconds of each job, of all and of Python, interleaved, after a first round."""
    best = dict.fromkeys(jobs, (float("inf"), float("inf")))
    for at in range(rounds + 1):
        for name, job in jobs.items():
            own, both = cpu_seconds(spark)
            job()
            own_after, both_after = cpu_seconds(spark)
            best[name] = min(best[name], (both_after - both, own_after - own)) if at else best[name]
            print(f"  round {at}: {name} {both_after - both:.2f} CPU s", flush=True)
    return best


def channel_of(size: int) -> Any:
    """A tenth of the values becomes any of them; the others stay."""
    drawn = np.arange(size) % 10 == 0
    channel = sparse.lil_array((size, size))
    channel.setdiag(np.where(drawn, 0.0, 1.0))
    targets = np.flatnonzero(drawn)
    for each in targets:
        channel[each, targets] = 1 / len(targets)
    return channel.tocsr()


def jobs_on(
    spark: Any, path: Path, place: Path, columns: list[str], released: list[str]
) -> dict[str, Callable[[], Any]]:
    """Every job on one table."""
    from tacit.tables import count, open_table, redraw, write_table

    def bare(query: str) -> Any:
        spark.read.parquet(str(path)).createOrReplaceTempView("people")
        return spark.sql(query)

    counts = count(open_table(path), released)
    symbols, _ = counts.symbols(released)
    channel = channel_of(len(symbols))
    keys, names = ", ".join(columns), ", ".join(released)
    bare(
        f"SELECT {names}, int(row_number() OVER (ORDER BY {names}) - 1) AS place FROM people GROUP BY {names}"
    ).localCheckpoint().createOrReplaceTempView("places")
    drawn = -(-len(symbols) // 10)
    same = " AND ".join(f"p.{name} <=> v.{name}" for name in released)
    cells = ", ".join(f"CASE WHEN v.place % 10 = 0 THEN o.{name} ELSE p.{name} END AS {name}" for name in released)
    chance = "conv(substring(sha2(concat('key', string(p.row)), 256), 1, 15), 16, 10)"
    rewriting = (
        f"SELECT /*+ BROADCAST(v), BROADCAST(o) */ {cells} "
        f"FROM (SELECT *, monotonically_increasing_id() AS row FROM people) p LEFT JOIN places v ON {same} "
        f"LEFT JOIN places o ON o.place = CASE WHEN v.place % 10 = 0 THEN bigint({chance}) % {drawn} * 10 END"
    )

    def redrawn() -> Any:
        table = open_table(path, engine="spark").select(released)
        return redraw(table, symbols, channel=channel, key=KEY), table

    def rewrite() -> None:
        redrawn()[0].frame.to_native().write.mode("overwrite").parquet(str(place / "parts"))

    def one_file() -> None:
        done, table = redrawn()
        write_table(done, place / "one.parquet", like=table)

    return {
        "bare count": lambda: bare(f"SELECT {keys}, count(*) FROM people GROUP BY {keys}").toArrow(),
        "count": lambda: count(open_table(path, engine="spark"), columns),
        "bare rewrite": lambda: bare(rewriting).write.mode("overwrite").parquet(str(place / "bare")),
        "rewrite": rewrite,
        "bare one file": lambda: bare(rewriting).coalesce(1).write.mode("overwrite").parquet(str(place / "bare")),
        "one file": one_file,
    }


def generated(path: Path, *, rows: int = 500_000, values: int = 1_000, columns: int = 4, secrets: int = 6) -> Path:
    """A table of text with this many secrets, and this many values of its released columns together."""
    import duckdb

    width = round(values ** (1 / min(columns, 4)))
    told = [f"'v' || (hash(i * 31 + {at}) % {width if at < 4 else 1}) AS x{at}" for at in range(columns)]
    connection = duckdb.connect()
    connection.execute(
        f"COPY (SELECT 's' || (hash(i) % {secrets}) AS s, {', '.join(told)} FROM range({rows}) t(i)) "
        f"TO '{path}' (FORMAT parquet, COMPRESSION snappy)"
    )
    return path


GROWTH: dict[str, list[int]] = {
    "rows": [250_000, 1_000_000],
    "values": [100, 100_000],
    "columns": [2, 8],
    "secrets": [2, 200],
}


def main() -> None:
    """Print ratios at one size, or seconds as one size grows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=4_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--growth", action="store_true")
    asked = parser.parse_args()
    spark = session()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        if asked.growth:
            for what, sizes in GROWTH.items():
                for size in sizes:
                    path = generated(place / "grown.parquet", **{what: size})
                    names = [f"x{at}" for at in range(size if what == "columns" else 4)]
                    jobs = jobs_on(spark, path, place, ["s", *names], names)
                    found = least(
                        spark, {name: jobs[name] for name in ("bare count", "count", "rewrite")}, asked.rounds
                    )
                    shown = ", ".join(f"{name} {seconds:.2f}" for name, (seconds, _) in found.items())
                    print(f"{what} {size:,}: {shown} CPU s", flush=True)
            return
        path = DATA / f"people-{asked.rows}.parquet"
        if not path.exists():
            generate(path, asked.rows)
        found = least(spark, jobs_on(spark, path, place, COLUMNS, RELEASED), asked.rounds)
        for name, (seconds, own) in found.items():
            baseline = "bare count" if "count" in name else "bare rewrite"
            ratio = seconds / found[baseline][0]
            print(f"{name:<14} {seconds:6.2f} CPU s ({own:.2f})  {ratio:5.2f} of {baseline}", flush=True)
        shutil.rmtree(place / "parts", ignore_errors=True)


if __name__ == "__main__":
    main()
