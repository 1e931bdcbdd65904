"""Resolution of persons' records on Spark against bare Spark SQL of the same joins, and against DuckDB.

    python benchmarks/spark_people.py [--records 1000000] [--rounds 2]

The records and rules are those of ``linking.py``, as a long table of attributes in Parquet. ``bare`` is what one would
write by hand for base records: for every rule its labels joined by record, a hash of the values, the smallest record of
each hash by a window, these links collected, scipy's components, and the answer joined with the records. ``components``
is ``resolved_on_spark`` on base records, which gives the same clusters; ``swoosh`` matches merged records again until
nothing changes. ``duckdb`` is ``resolve`` to the same fix-point, of attributes that are already in DuckDB. Seconds are
CPU seconds as in ``spark.py``: the least of all rounds after one that is not counted, on a local session of two
threads. All clusters must be right, or the run fails.
"""

from __future__ import annotations

import argparse
import itertools
import os
import resource
from pathlib import Path
from typing import Any

import numpy as np
from linking import DATA, LABELS, RULES, generate
from spark import least, session


def attributes_of(path: Path, records: int) -> Path:
    """The wide table as a long one."""
    import duckdb

    wide, long = path.with_name(f"linking-{records}-0.parquet"), path
    if not wide.exists():
        generate(wide, records, 0)
    parts = " UNION ALL ".join(
        f"SELECT rid, '{label}' AS label, {label} AS value, 1.0::DOUBLE AS confidence FROM '{wide}' "
        f"WHERE {label} IS NOT NULL"
        for label in LABELS
    )
    if not long.exists():
        duckdb.sql(f"COPY ({parts} ORDER BY rid) TO '{long}' (FORMAT parquet, ROW_GROUP_SIZE 500000)")
    return long


def bare(spark: Any, path: Path) -> Any:
    """Links by joins and a window; components on the driver."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    spark.read.parquet(str(path)).createOrReplaceTempView("a")
    keys = []
    for place, labels in enumerate(RULES):
        sides = [f"(SELECT rid, value FROM a WHERE label = '{label}') t{at}" for at, label in enumerate(labels)]
        joined = sides[0] + "".join(f" JOIN {side} USING (rid)" for side in sides[1:])
        values = ", ".join(f"t{at}.value" for at in range(len(labels)))
        keys.append(f"SELECT rid, xxhash64({place}, {values}) AS k FROM {joined}")
    least_of = f"SELECT rid, min(rid) OVER (PARTITION BY k) AS least FROM ({' UNION ALL '.join(keys)})"
    links = spark.sql(f"SELECT rid, least FROM ({least_of}) WHERE least < rid").toArrow()
    first, second = (links.column(name).to_numpy() for name in ("rid", "least"))
    nodes, places = np.unique(np.concatenate([first, second]), return_inverse=True)
    ends = places[: len(first)], places[len(first) :]
    graph = coo_matrix((np.ones(len(first), np.int8), ends), shape=(len(nodes), len(nodes)))
    number, component = connected_components(graph, directed=False)
    smallest = np.full(number, np.iinfo(np.int64).max)
    np.minimum.at(smallest, component, nodes)
    import pyarrow as pa

    spark.createDataFrame(pa.table({"rid": nodes, "cid": smallest[component]})).createOrReplaceTempView("c")
    return spark.sql("SELECT rid, coalesce(cid, rid) AS cid FROM (SELECT DISTINCT rid FROM a) LEFT JOIN c USING (rid)")


def summed(frame: Any) -> tuple[int, ...]:
    """What tells two answers apart."""
    row = frame.selectExpr("count(*)", "count(DISTINCT cid)", "bit_xor(xxhash64(rid, cid))").collect()[0]
    return tuple(row)


def main() -> None:
    """Print CPU seconds and ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=2)
    asked = parser.parse_args()
    path = attributes_of(DATA / f"attributes-{asked.records}.parquet", asked.records)
    spark, answers = session(), {}

    from tacit.person import Rules
    from tacit.person.link.distributed import resolved_on_spark

    def ours(closure: Any) -> Any:
        return resolved_on_spark(spark.read.parquet(str(path)), Rules(RULES), closure=closure)

    jobs = {
        "bare": lambda: answers.update(bare=summed(bare(spark, path))),
        "components": lambda: answers.update(components=summed(ours("components"))),
        "swoosh": lambda: answers.update(swoosh=summed(ours("swoosh"))),
    }
    print(f"load {os.getloadavg()[0]:.1f} at the beginning", flush=True)
    best = least(spark, jobs, asked.rounds)
    assert answers["bare"] == answers["components"], "the clusters differ"
    duckdb_seconds, clusters = on_duckdb(path, asked.records, asked.rounds)
    assert answers["swoosh"] == summed(of_clusters(spark, path, clusters)), "the clusters differ"
    for name, (both, own) in best.items():
        ratio, number = both / best["bare"][0], answers[name][1]
        print(f"{name:<12}{both:>8.2f} CPU s ({own:.2f} Python){ratio:>7.2f}  {number:,} clusters")
    print(f"{'duckdb':<12}{duckdb_seconds:>8.2f} CPU s")
    print(f"load {os.getloadavg()[0]:.1f} at the end")


def of_clusters(spark: Any, path: Path, clusters: Any) -> Any:
    """The answer of one machine, as the others are."""
    import pyarrow as pa

    table = spark.createDataFrame(pa.table({"rid": np.arange(len(clusters)), "cid": clusters}))
    return table.join(spark.read.parquet(str(path)).select("rid").distinct(), "rid", "left_semi")


def on_duckdb(path: Path, records: int, rounds: int) -> tuple[float, Any]:
    """The CPU seconds of ``resolve``, and what it gives."""
    import pyarrow.parquet as pq

    from tacit.person import Rules
    from tacit.person.link import Long, gathered, resolve

    attributes = gathered([Long(pq.read_table(path), records)]).attributes
    best, clusters = float("inf"), None
    for _ in itertools.repeat(None, rounds + 1):
        before = resource.getrusage(resource.RUSAGE_SELF)
        clusters = resolve(attributes, Rules(RULES))
        after = resource.getrusage(resource.RUSAGE_SELF)
        best = min(best, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return best, clusters


if __name__ == "__main__":
    main()
