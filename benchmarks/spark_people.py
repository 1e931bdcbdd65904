"""Resolution of persons' records on Spark against bare Spark SQL of the same joins, and against DuckDB.

    python benchmarks/spark_people.py [--records 1000000] [--rounds 2] [--few 1000000]

The records and rules are those of ``linking.py``, as a long table of attributes in Parquet. ``bare`` is what one would
write by hand for base records: for every rule its labels joined by record, a hash of the values, the smallest record of
each hash by a window, these links collected, scipy's components, and the answer joined with the records; ``bare
kept`` also keeps it on the disks of the workers, as ``resolved_on_spark`` does, and is what this is compared with.
``bare fix`` is what one would write by hand for merged records too: the same again, of the values that clusters hold,
until nothing changes. ``components`` is ``resolved_on_spark`` on base records, which gives the clusters of ``bare``;
``swoosh`` matches merged records again, and gives those of ``bare fix``. ``duckdb`` is ``resolve`` to the same
fix-point, of attributes that are already in DuckDB.
Seconds are CPU seconds as in ``spark.py``: the least of all rounds after one
that is not counted, on a local session of two threads. All clusters must be right, or the run fails.

Fewer records than a million are few enough for the driver at once; ``--few`` says how many links or rows are.
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
    """Base records: links by joins and a window; components on the driver."""
    spark.read.parquet(str(path)).createOrReplaceTempView("a")
    return named(spark, *moves(spark, "a", list(enumerate(RULES))))


def bare_fix_point(spark: Any, path: Path) -> Any:
    """Merged records too: the same again, of what clusters hold, until nothing changes.

    Rules of one label need only the first round, and what is held is cached, without what no other rule reads.
    """
    spark.read.parquet(str(path)).createOrReplaceTempView("a")
    several = [(place, labels) for place, labels in enumerate(RULES) if len(labels) > 1]
    wanted = ", ".join(f"'{label}'" for label in sorted({label for _, labels in several for label in labels}))
    nodes, ends = moves(spark, "a", list(enumerate(RULES)))
    held, moved, to = spark.sql(f"SELECT rid, label, value FROM a WHERE label IN ({wanted})"), nodes, ends
    while len(moved):
        pairs(spark, moved, to).createOrReplaceTempView("c")
        held.createOrReplaceTempView("held")
        merged = "SELECT DISTINCT coalesce(cid, rid) AS rid, label, value FROM held LEFT JOIN c USING (rid)"
        before, held = held, spark.sql(merged).cache()
        held.createOrReplaceTempView("held")
        moved, to = moves(spark, "held", several)
        before.unpersist()
        if len(moved):
            further = np.minimum(np.searchsorted(moved, ends), len(moved) - 1)
            ends = np.concatenate([np.where(moved[further] == ends, to[further], ends), to])
            nodes = np.concatenate([nodes, moved])
    held.unpersist()
    return named(spark, nodes, ends)


def moves(spark: Any, view: str, rules: list[tuple[int, list[str]]]) -> tuple[Any, Any]:
    """The records that share a key with a smaller one, sorted, and the smallest of their components."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    keys = []
    for place, labels in rules:
        sides = [f"(SELECT rid, value FROM {view} WHERE label = '{label}') t{at}" for at, label in enumerate(labels)]
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
    moved = smallest[component] != nodes
    return nodes[moved], smallest[component][moved]


def pairs(spark: Any, nodes: Any, ends: Any) -> Any:
    """Records and where they go, as a frame."""
    import pyarrow as pa

    return spark.createDataFrame(pa.table({"rid": nodes, "cid": ends}))


def named(spark: Any, nodes: Any, ends: Any) -> Any:
    """The cluster of every record."""
    pairs(spark, nodes, ends).createOrReplaceTempView("c")
    return spark.sql("SELECT rid, coalesce(cid, rid) AS cid FROM (SELECT DISTINCT rid FROM a) LEFT JOIN c USING (rid)")


def kept(frame: Any) -> Any:
    """The frame on the disks of the workers, as what ``resolved_on_spark`` returns is: it is used more than once."""
    from pyspark import StorageLevel

    frame = frame.persist(StorageLevel.DISK_ONLY)
    frame.count()
    return frame


def summed(frame: Any) -> tuple[int, ...]:
    """What tells two answers apart."""
    row = frame.selectExpr("count(*)", "count(DISTINCT cid)", "bit_xor(xxhash64(rid, cid))").collect()[0]
    return tuple(row)


BASELINES = {"bare kept": "bare", "components": "bare kept", "swoosh": "bare fix"}


def main() -> None:
    """Print CPU seconds and ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--few", type=int, default=1_000_000)
    asked = parser.parse_args()
    path = attributes_of(DATA / f"attributes-{asked.records}.parquet", asked.records)
    spark, answers = session(), {}

    from tacit.person import Rules
    from tacit.person.link.distributed import components, resolved_on_spark

    components.FEW = asked.few

    def ours(closure: Any) -> Any:
        return resolved_on_spark(spark.read.parquet(str(path)), Rules(RULES), closure=closure)

    makers = {
        "bare": lambda: bare(spark, path),
        "bare kept": lambda: kept(bare(spark, path)),
        "components": lambda: ours("components"),
        "bare fix": lambda: bare_fix_point(spark, path),
        "swoosh": lambda: ours("swoosh"),
    }

    def job(name: str) -> None:
        frame = makers[name]()
        answers[name] = summed(frame)
        frame.unpersist()

    jobs = {name: lambda name=name: job(name) for name in makers}
    print(f"load {os.getloadavg()[0]:.1f} at the beginning", flush=True)
    best = least(spark, jobs, asked.rounds)
    assert answers["bare"] == answers["components"], "the clusters differ"
    duckdb_seconds, clusters = on_duckdb(path, asked.records, asked.rounds)
    assert answers["bare fix"] == answers["swoosh"], "the clusters differ"
    assert answers["swoosh"] == summed(of_clusters(spark, path, clusters)), "the clusters differ"
    for name, (both, own) in best.items():
        baseline = BASELINES.get(name, name)
        ratio, number = both / best[baseline][0], answers[name][1]
        print(f"{name:<12}{both:>8.2f} CPU s ({own:.2f} Python){ratio:>7.2f} of {baseline}  {number:,} clusters")
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
