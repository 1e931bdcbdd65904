"""Rule resolution against bare DuckDB and against Splink, and whole populations: all in one run.

    python benchmarks/linking.py [--records 1000000] [--persons 100000] [--rounds 3]

``bare`` is one query for the star edges (each record to the smallest record of each of its keys) over a table with one
column per label, and scipy's connected components. ``components`` is Tacit's resolution of base records, on a long
table of attributes; ``swoosh`` matches what was merged again until nothing changes. ``splink`` is Splink's
deterministic link and clustering with the same rules. ``hot`` has a block of a tenth of all records with one name and
phone; Splink is left out, because it would make a pair of every two of them. ``population`` measures everybody against
the clusters: as single records, and as swoosh joins them. Loading into the engine is timed separately. All partitions
of base records must be the same, or the run fails.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import resource
import subprocess
import sys
import time
from pathlib import Path

DATA = Path(__file__).parent / "data"
LABELS = ["name", "dob", "zip", "phone", "email", "card"]
RULES = [["name", "card"], ["name", "phone"], ["email"], ["name", "dob", "zip"]]
WEIGHTS = {"name": 1.0, "dob": 2.0, "zip": 1.0, "phone": 2.0, "email": 2.0, "card": 4.0}
# How often each of four sources has each label.
KEPT = {
    "name": [1, 0.9, 1, 0.5],
    "dob": [0, 0.9, 0, 0.3],
    "zip": [0.8, 0.9, 0, 0.3],
    "phone": [0.6, 0.2, 0.7, 0.2],
    "email": [0.7, 0.0, 0.3, 0.9],
    "card": [0.0, 0.0, 0.9, 0.0],
}
PER_PERSON = 4
RESOLVING = ["bare", "components", "swoosh", "splink"]
HOT = ["hot bare", "hot components", "hot swoosh"]
POPULATION = ["population alone", "population swoosh"]
JOBS = [*RESOLVING, *HOT, *POPULATION]


def generate(path: Path, records: int, hot: int) -> None:
    """Records of four sources, about four per person, two values in a hundred mistyped, names shared as in reality."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    chance = np.random.default_rng(0)
    persons = records // PER_PERSON
    who, source = chance.integers(0, persons, records), chance.integers(0, 4, records)
    true = {
        "name": chance.zipf(1.3, persons) % 20000 * 1000 + chance.integers(0, 50, persons),
        "dob": chance.integers(0, 365 * 70, persons),
        "zip": chance.integers(0, 30000, persons),
        "phone": chance.integers(0, 10**9, persons),
        "email": chance.integers(0, 10**9, persons),
    }
    cards = chance.integers(0, 10**12, (2, persons))
    hot_ones = chance.choice(records, hot, replace=False)
    columns = {"rid": pa.array(np.arange(records)), "person": pa.array(who)}
    for label in LABELS:
        value = true[label][who] if label in true else np.where(chance.random(records) < 0.7, *cards[:, who])
        value = np.where(chance.random(records) < 0.02, value + chance.integers(1, 10**6, records), value)
        missing = chance.random(records) >= np.array(KEPT[label])[source]
        if label in ("name", "phone"):
            value[hot_ones], missing[hot_ones] = -1, False
        text = np.char.add(label[0], value.astype(str))
        columns[label] = pa.array(text, mask=missing)
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), path)


def bare(path: Path):
    """The star-edge query over a wide table, and scipy's components."""
    import duckdb
    import numpy as np
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    connection = duckdb.connect()
    connection.execute(f"CREATE TABLE r AS FROM '{path}'")
    keys = " UNION ALL ".join(
        f"SELECT rid, hash({place}, {', '.join(labels)}) AS k FROM r WHERE "
        + " AND ".join(f"{label} IS NOT NULL" for label in labels)
        for place, labels in enumerate(RULES)
    )
    edges = (
        f"WITH e AS ({keys}) SELECT rid, m FROM (SELECT rid, min(rid) OVER (PARTITION BY k) AS m FROM e) WHERE m < rid"
    )
    size = connection.execute("SELECT count(*) FROM r").fetchone()[0]

    def work():
        found = connection.execute(edges).fetchnumpy()
        ones = np.ones(len(found["rid"]), np.int8)
        graph = coo_matrix((ones, (found["rid"], found["m"])), shape=(size, size))
        return connected_components(graph, directed=False)[1]

    return work


def held(path: Path):
    """The attributes of the file."""
    from tacit.person.link import Wide, gathered
    from tacit.tables import open_table

    return gathered([Wide(open_table(path), {label: label for label in LABELS})]).attributes


def components(path: Path):
    """Base records."""
    from tacit.person.link import resolve

    attributes = held(path)
    return lambda: resolve(attributes, RULES, closure="components")


def swoosh(path: Path):
    """To the fix-point."""
    from tacit.person.link import resolve

    attributes = held(path)
    return lambda: resolve(attributes, RULES)


def splink(path: Path):
    """Splink's deterministic link and clustering."""
    import logging
    import warnings

    import pyarrow.parquet as pq
    from splink import DuckDBAPI, Linker, SettingsCreator, block_on

    warnings.simplefilter("ignore")
    logging.getLogger("splink").setLevel(logging.CRITICAL)
    data = DuckDBAPI().register(pq.read_table(path, columns=["rid", *LABELS]))
    settings = SettingsCreator(
        link_type="dedupe_only",
        unique_id_column_name="rid",
        blocking_rules_to_generate_predictions=[block_on(*labels) for labels in RULES],
    )

    def work():
        linker = Linker(data, settings)
        pairs = linker.inference.deterministic_link()
        clusters = linker.clustering.cluster_pairwise_predictions_at_threshold(pairs)
        return clusters.as_duckdbpyrelation().order("rid").project("cluster_id").fetchnumpy()["cluster_id"]

    return work


def population(path: Path, resolved: bool):
    """Everybody against the clusters; what is true of a person is what most of the person's records say."""
    import duckdb
    import numpy as np

    from tacit.person import Labels
    from tacit.person.link import population as measured, resolve, wide_references
    from tacit.tables import open_table

    attributes = held(path)
    clusters = resolve(attributes, RULES) if resolved else np.arange(attributes.records)
    said = " UNION ALL ".join(
        f"SELECT person AS pid, '{label}' AS label, {label} AS value FROM '{path}' WHERE {label} IS NOT NULL"
        for label in LABELS
    )
    truth = duckdb.connect().sql(
        f"SELECT pid, label, value FROM ({said}) GROUP BY pid, label, value "
        "QUALIFY row_number() OVER (PARTITION BY pid, label ORDER BY count(*) DESC, value) = 1"
    )
    table = open_table(truth.query("truth", "PIVOT truth ON label USING any_value(value)").to_arrow_table())
    known = wide_references(attributes.store, table, "pid", {label: label for label in LABELS})

    def work():
        found = measured(attributes, clusters, known, Labels.weighted(WEIGHTS))
        return np.array([known.count, round(found.mean(), 6)])

    return work


def run(job: str, path: Path, small: Path) -> None:
    """One job in this process: seconds to load and to work, peak memory in MB, and what came out."""
    import numpy as np

    makers = {"bare": bare, "components": components, "swoosh": swoosh, "splink": splink}
    makers |= {f"hot {name}": maker for name, maker in makers.items()}
    makers |= {
        "population alone": lambda path: population(path, resolved=False),
        "population swoosh": lambda path: population(path, resolved=True),
    }
    # Modules load on first use; a small table brings them in, for the bare jobs as for ours.
    makers[job](small)()
    begun = time.perf_counter()
    work = makers[job](path)
    loaded = time.perf_counter()
    found = work()
    done = time.perf_counter()
    answer = {"load": loaded - begun, "seconds": done - loaded}
    answer["memory"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    if job in POPULATION:
        answer["found"] = f"{int(found[0]):,} persons, mean leakage {found[1]:.4f}"
    else:
        _, first, place = np.unique(found, return_index=True, return_inverse=True)
        answer["found"] = f"{len(first):,} clusters"
        answer["partition"] = hashlib.sha256(first[place].astype(np.int64).tobytes()).hexdigest()
    print(json.dumps(answer))


def main() -> None:
    """Run every job in a process of its own, round by round, and print the best of each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--persons", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--job", choices=JOBS, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    hot = asked.records // 10
    sizes = dict.fromkeys(RESOLVING, (asked.records, 0)) | dict.fromkeys(HOT, (asked.records, hot))
    sizes |= dict.fromkeys(POPULATION, (asked.persons * PER_PERSON, 0))
    files = {job: DATA / f"linking-{size}-{block}.parquet" for job, (size, block) in sizes.items()}
    small = DATA / "linking-4000-0.parquet"
    if asked.job:
        run(asked.job, files[asked.job], small)
        return
    for path, (size, block) in [*((files[job], sizes[job]) for job in JOBS), (small, (4000, 0))]:
        if not path.exists():
            # In a process of its own: a job's peak of memory would otherwise begin with this one's.
            code = f"import linking, pathlib; linking.generate(pathlib.Path({str(path)!r}), {size}, {block})"
            subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parent)
    best: dict[str, dict] = {}
    for _ in range(asked.rounds):
        for job in JOBS:
            command = [sys.executable, __file__, "--records", str(asked.records), "--persons", str(asked.persons)]
            done = subprocess.run([*command, "--job", job], capture_output=True, text=True, check=True)
            answer = json.loads(done.stdout.splitlines()[-1])
            if job not in best or answer["seconds"] < best[job]["seconds"]:
                best[job] = answer
    for one, others in (("bare", ["components", "splink"]), ("hot bare", ["hot components"])):
        for other in others:
            assert best[one]["partition"] == best[other]["partition"], f"{one} and {other} differ"
    print(
        f"{asked.records:,} records, {len(RULES)} rules, hot block of {hot:,}; {asked.persons:,} persons with ", end=""
    )
    print(f"{asked.persons * PER_PERSON:,} records; best of {asked.rounds}\n")
    print(f"{'':<20}{'load':>8}{'seconds':>9}{'ratio':>7}{'peak MB':>9}  found")
    for job in JOBS:
        answer, base = best[job], best.get("hot bare" if job in HOT else "bare")
        ratio = "" if job in POPULATION else f"{answer['seconds'] / base['seconds']:.2f}"
        numbers = f"{answer['load']:>8.2f}{answer['seconds']:>9.2f}{ratio:>7}{answer['memory']:>9.0f}"
        print(f"{job:<20}{numbers}  {answer['found']}")


if __name__ == "__main__":
    main()
