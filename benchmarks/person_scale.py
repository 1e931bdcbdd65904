"""A person among a million records, and a population: whole commands against bare DuckDB and Splink, by CPU time.

    python benchmarks/person_scale.py [--records 1000000] [--persons 100000] [--only audit ...]

Four records per person in two CSV files, each value in one of many formats: "Surname, Given", initials and titles, days
in six forms, telephones with and without a country, aliases of e-mail, abbreviated addresses, some values mistyped.
``bare`` loads the files into DuckDB as they are and resolves by the same rules on the texts (a star-edge query and
scipy's components): no normal form, no measure. ``splink`` is its deterministic link with the same rules, if it is
installed. ``audit cold`` is a whole `tacit person audit` without an index, ``audit warm`` one with the index and
without the answer that was kept, ``audit kept`` the same question again; ``spark`` is the cold audit on a local Spark
session of two threads. Each job is a process of its own; CPU seconds are user and system, with those of processes that
it started; memory is the peak of the process alone.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path

DATA = Path(__file__).parent / "data"
RULES = [["email"], ["name", "phone"], ["name", "dob"]]
JOBS = [
    "bare",
    "splink",
    "audit cold",
    "audit warm",
    "audit kept",
    "default cold",
    "default warm",
    "population",
    "spark",
]
PER_PERSON = 4

GIVEN = (
    "James Mary Robert Patricia John Jennifer Michael Linda David Elizabeth William Barbara Richard Susan Joseph "
    "Jessica Thomas Sarah Charles Karen Hans Ursula Jürgen Anna Peter Maria Wolfgang Petra Klaus Sabine Zoë José "
    "Søren Łukasz"
)
SYLLABLES = [
    "ar",
    "ba",
    "cor",
    "den",
    "el",
    "fer",
    "gas",
    "hol",
    "in",
    "jor",
    "kal",
    "lem",
    "mor",
    "nor",
    "os",
    "pel",
    "quin",
    "ras",
    "sol",
    "tan",
    "ul",
    "ven",
    "wal",
    "xan",
    "yor",
    "zim",
]

CASE = """country: DE
person: {name: Alice Quorlemsol, email: alice.q@gmail.com, phone: "+49 160 5550199", dob: 1984-03-12,
  address: "Lindenstraße 12"}
sources:
- {name: shop, path: shop.csv, id: id}
- {name: club, path: club.csv, id: id}
"""

ADVERSARIES = """adversaries:
- name: reads
- name: joins
  steps:
  - normalise: {}
  - resolve: {rules: [[email], [name, phone], [name, dob]]}
"""
POPULATION = "population: {references: people.csv, person: id, quasi_identifiers: [dob]}\n"


def generate(folder: Path, records: int, persons: int) -> None:
    """Two files of records, the true records of some persons, and a case."""
    import duckdb

    folder.mkdir(parents=True, exist_ok=True)
    con = duckdb.connect()
    con.execute("SET threads = 1")
    con.execute(f"CREATE MACRO given(i) AS {GIVEN.split()!r}[1 + i % {len(GIVEN.split())}]")
    con.execute(f"CREATE MACRO part(i) AS {SYLLABLES!r}[1 + i % {len(SYLLABLES)}]")
    con.execute("CREATE MACRO chance(i, n) AS CAST(hash(i * 31 + n) % 1000003 AS BIGINT)")
    con.execute(
        """CREATE TABLE persons AS SELECT *, given(chance(p, 1)) AS g,
        upper(part(chance(p, 2))[1]) || part(chance(p, 2))[2:] || part(chance(p, 3)) || part(chance(p, 4)) AS s,
        DATE '1930-01-01' + CAST(chance(p, 5) % 28000 AS INTEGER) AS day,
        lpad(CAST(1000000 + p AS STRING), 8, '5') AS line,
        part(chance(p, 6)) || part(chance(p, 7)) AS street, 1 + chance(p, 8) % 150 AS house
        FROM range(?) r(p)""",
        [max(1, records // PER_PERSON)],
    )
    con.execute(
        """CREATE TABLE records AS SELECT i, g || ' ' || s AS name0, CASE chance(i, 11) % 8
            WHEN 0 THEN s || ', ' || g WHEN 1 THEN upper(g || ' ' || s) WHEN 2 THEN 'Dr. ' || g || ' ' || s
            WHEN 3 THEN g[1] || '. ' || s WHEN 4 THEN g || ' ' || s[:3] || s[5:] ELSE g || ' ' || s END AS name,
        CASE chance(i, 12) % 7 WHEN 0 THEN strftime(day, '%d.%m.%Y') WHEN 1 THEN strftime(day, '%d-%b-%Y')
            WHEN 2 THEN strftime(day, '%B %d, %Y') WHEN 3 THEN strftime(day, '%Y%m%d')
            WHEN 4 THEN NULL ELSE strftime(day, '%Y-%m-%d') END AS dob,
        CASE chance(i, 13) % 8 WHEN 0 THEN '+49 160 ' || line WHEN 1 THEN '0160/' || line WHEN 2 THEN '0049160' || line
            WHEN 3 THEN '+49 (0)160 ' || line WHEN 4 THEN NULL WHEN 5 THEN 'tel:+49-160-' || line
            WHEN 6 THEN '+49160' || line || ' ext. 7' ELSE '0160 ' || line[:4] || ' ' || line[5:] END AS phone,
        CASE chance(i, 14) % 5 WHEN 0 THEN lower(g) || '.' || lower(s) || p || '@gmail.com'
            WHEN 1 THEN lower(g) || lower(s) || p || '+shop@googlemail.com' WHEN 2 THEN NULL
            ELSE upper(lower(g) || lower(s) || p || '@gmail.com') END AS email,
        CASE chance(i, 15) % 4 WHEN 0 THEN upper(street[1]) || street[2:] || 'straße ' || house
            WHEN 1 THEN upper(street[1]) || street[2:] || 'str. ' || house
            WHEN 2 THEN house || ' ' || street || ' street, Apt. 4' ELSE NULL END AS address
        FROM (SELECT i, CAST(hash(i) % 1000000007 AS BIGINT) % ? AS who FROM range(?) r(i)) q
        JOIN persons p ON p.p = q.who ORDER BY i""",
        [max(1, records // PER_PERSON), records],
    )
    own = [
        "'a1', 'Quorlemsol, Alice', '12-MAR-1984', '0160 5550199', NULL, 'Lindenstr. 12'",
        "'a2', 'Alice QUORLEMSOL', NULL, 'tel:+49-160-5550199', 'alice.q@googlemail.com', NULL",
        "'a3', 'A. Quorlemsol', '1984-03-12', NULL, 'Alice.Q+x@gmail.com', NULL",
    ]
    columns = "CAST(i AS STRING) AS id, name, dob, phone, email, address"
    for place, name in enumerate(("shop", "club")):
        extra = " UNION ALL ".join(f"SELECT {row}" for row in own[place::2])
        con.execute(
            f"COPY (SELECT {columns} FROM records WHERE i % 2 = {place} UNION ALL {extra}) TO '{folder / name}.csv'"
        )
    con.execute(
        f"""COPY (SELECT p AS id, g || ' ' || s AS name, day AS dob, '+49160' || line AS phone,
        lower(g) || lower(s) || p || '@gmail.com' AS email, street || 'str. ' || house AS address
        FROM persons LIMIT {persons}) TO '{folder / "people.csv"}'"""
    )
    (folder / "case.yaml").write_text(CASE + ADVERSARIES)
    (folder / "population.yaml").write_text(CASE + ADVERSARIES + POPULATION)
    (folder / "default.yaml").write_text(CASE)


def bare(folder: Path) -> str:
    """Load, star edges on the texts, components."""
    import duckdb
    import numpy as np
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    con = duckdb.connect()
    con.execute(
        "CREATE TABLE r AS SELECT row_number() OVER () - 1 AS rid, * FROM "
        f"read_csv(['{folder / 'shop.csv'}', '{folder / 'club.csv'}'], all_varchar = true)"
    )
    keys = " UNION ALL ".join(
        f"SELECT rid, hash({place}, {', '.join(rule)}) AS k FROM r WHERE "
        f"{' AND '.join(f'{column} IS NOT NULL' for column in rule)}"
        for place, rule in enumerate(RULES)
    )
    edges = con.execute(
        f"WITH k AS MATERIALIZED ({keys}) SELECT k.rid AS a, f.m AS b FROM k JOIN (SELECT k, min(rid) AS m FROM k "
        "GROUP BY k HAVING min(rid) < max(rid)) f ON f.k = k.k"
    ).fetchnumpy()
    size = con.execute("SELECT count(*) FROM r").fetchone()[0]
    graph = coo_matrix((np.ones(len(edges["a"]), np.int8), (edges["a"], edges["b"])), shape=(size, size))
    return f"{connected_components(graph, directed=False)[0]:,} entities"


def with_splink(folder: Path) -> str:
    """Splink's deterministic link and clustering with the same rules."""
    import duckdb
    from splink import DuckDBAPI, Linker, SettingsCreator, block_on

    con = duckdb.connect()
    files = f"read_csv(['{folder / 'shop.csv'}', '{folder / 'club.csv'}'], all_varchar = true)"
    con.execute(f"CREATE TABLE r AS SELECT row_number() OVER () AS unique_id, * EXCLUDE id FROM {files}")
    rules = [block_on(*rule) for rule in RULES]
    api = DuckDBAPI(connection=con)
    settings = SettingsCreator(link_type="dedupe_only", blocking_rules_to_generate_predictions=rules)
    linker = Linker(api.register("r") if hasattr(api, "register") else "r", settings)
    found = linker.inference.deterministic_link()
    clusters = linker.clustering.cluster_pairwise_predictions_at_threshold(found)
    return f"{clusters.as_duckdbpyrelation().aggregate('count(distinct cluster_id)').fetchall()[0][0]:,} entities"


def audit(folder: Path, case: str = "case.yaml") -> str:
    """A whole audit."""
    import tacit.person

    result = tacit.person.person_audit(folder / case)
    return ", ".join(f"{rung.adversary} {rung.leakage:.4f}" for rung in result.rungs)


def default(folder: Path) -> str:
    """A whole audit with the default adversaries."""
    return audit(folder, "default.yaml")


def spark(folder: Path) -> str:
    from pyspark.sql import SparkSession

    import tacit.person

    quiet = {"spark.ui.enabled": "false", "spark.log.level": "OFF", "spark.ui.showConsoleProgress": "false"}
    builder = SparkSession.builder.master("local[2]").config("spark.driver.memory", "3g")
    for name, value in {**quiet, "spark.sql.shuffle.partitions": "4"}.items():
        builder = builder.config(name, value)
    builder.getOrCreate()
    result = tacit.person.person_audit(folder / "case.yaml", engine="spark")
    return ", ".join(f"{rung.adversary} {rung.leakage:.4f}" for rung in result.rungs)


def started_seconds() -> float:
    """CPU seconds of the processes that this one started, and of those that these did."""
    stats = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            cells = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        stats[int(path.parent.name)] = int(cells[1]), sum(map(int, cells[11:15])) / os.sysconf("SC_CLK_TCK")
    ours = {os.getpid()}
    while more := {pid for pid, (parent, _) in stats.items() if parent in ours} - ours:
        ours |= more
    return sum(stats[pid][1] for pid in ours - {os.getpid()})


def population(folder: Path) -> str:
    """A whole population."""
    import tacit.person

    result = tacit.person.person_population(folder / "population.yaml")
    return ", ".join(f"{rung.adversary} {rung.mean:.4f}" for rung in result.rungs)


def run(job: str, folder: Path, memory: str | None) -> None:
    """One job in this process, reported as JSON."""
    works = {"bare": bare, "splink": with_splink, "audit": audit, "default": default, "population": population}
    works["spark"] = spark
    start = time.perf_counter()
    try:
        if memory is None:
            said = works[job.split()[0]](folder)
        else:
            from tacit.tables import memory_limit

            with memory_limit(memory):
                said = works[job.split()[0]](folder)
    except ImportError as error:
        print(json.dumps({"job": job, "said": f"not installed: {error.name}"}))
        return
    used = resource.getrusage(resource.RUSAGE_SELF)
    told = {
        "job": job,
        "said": said,
        "cpu": used.ru_utime + used.ru_stime + started_seconds(),
        "wall": time.perf_counter() - start,
    }
    print(json.dumps({**told, "peak": used.ru_maxrss / 1024}))


def main() -> None:
    """Every job in a process of its own, and the ratios to bare DuckDB."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--persons", type=int, default=100_000)
    parser.add_argument("--only", nargs="*", default=JOBS)
    parser.add_argument("--memory")
    parser.add_argument("--job")
    asked = parser.parse_args()
    folder = DATA / f"person_scale_{asked.records}"
    if asked.job:
        run(asked.job, folder, asked.memory)
        return
    if not (folder / "default.yaml").exists():
        generate(folder, asked.records, asked.persons)
    results = {}
    for job in asked.only:
        if job.endswith("cold"):
            shutil.rmtree(folder / ".tacit", ignore_errors=True)
        if job.endswith("warm"):
            for answer in (folder / ".tacit").glob("*/answer-*"):
                answer.unlink()
        limit = [] if asked.memory is None else ["--memory", asked.memory]
        command = [sys.executable, __file__, "--records", str(asked.records), *limit, "--job", job]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            print(f"{job:12} failed: {done.stderr.strip().splitlines()[-1]}")
            continue
        results[job] = one = json.loads(done.stdout.strip().splitlines()[-1])
        if "cpu" in one:
            ratio = one["cpu"] / results["bare"]["cpu"] if "bare" in results else float("nan")
            spent = f"{one['cpu']:8.2f} CPU s  {ratio:6.2f} x bare  {one['wall']:7.2f} s  {one['peak']:7.0f} MB"
            print(f"{job:12} {spent}  {one['said']}")
        else:
            print(f"{job:12} {one['said']}")


if __name__ == "__main__":
    main()
