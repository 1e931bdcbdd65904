"""A person audited on a real Spark cluster, one of whose workers dies while records are joined.

One source is a folder at an address, one a folder at a path, and one a file that only the driver sees.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from spark_cluster import spark_cluster
from tacit.person import person_audit
from test_person_agreement import oddly, somebody
from test_person_spark import told

pytestmark = [pytest.mark.spark, pytest.mark.long]

JOB = Path(__file__).parents[1] / "cluster_person_job.py"
RULES = [["email"], ["phone"], ["name", "dob"]]


def lake_case(folder: Path) -> tuple[Path, Path]:
    """A case of 12,000 records in parts that several tasks read, and the same with paths that one machine can read."""
    chance = random.Random(5)
    people = [somebody(chance) for _ in range(3_000)]
    chosen = enumerate(chance.choices(people, k=12_000))
    lines = [{"number": str(at), **oddly(chance, one)} for at, one in chosen]
    for at, name in enumerate(("shop", "gym")):
        for country, rows in {"DE": lines[at::4], "US": lines[at + 2 :: 4]}.items():
            place = folder / name / f"country={country}"
            place.mkdir(parents=True)
            pq.write_table(pa.Table.from_pylist(rows), place / "part.parquet", row_group_size=617)
            (place / "part.parquet").chmod(0o644)
    card = f"BEGIN:VCARD\nVERSION:3.0\nFN:{people[0]['name']}\nEMAIL:{people[0]['email']}\nEND:VCARD\n"
    (folder / "book.vcf").write_text(card)
    (folder / "book.vcf").chmod(0o600)
    book = {"name": "book", "path": "book.vcf"}
    case = {
        "country": "DE",
        "person": people[0] | {"country": "DE"},
        "adversaries": [{"name": "reads"}, {"name": "joins", "steps": ["normalise", {"resolve": {"rules": RULES}}]}],
    }
    written = []
    for own, shop in {"there.yaml": f"file://{folder}/shop", "here.yaml": "shop"}.items():
        tables = [{"name": name, "path": path, "id": "number"} for name, path in (("shop", shop), ("gym", "gym"))]
        text = yaml.safe_dump(case | {"sources": [*tables, book]}, allow_unicode=True)
        (folder / own).write_text(text)
        written.append(folder / own)
    return written[0], written[1]


def test_an_audit_that_loses_a_worker_says_what_one_machine_says() -> None:
    # The workers run Python.
    with spark_cluster(strangers=False) as cluster:
        there, here = lake_case(cluster.lake)
        settings = {"spark.sql.files.maxPartitionBytes": "20k"}
        with cluster.submit(JOB, str(there), *map(str, cluster.workers), settings=settings) as job:
            assert job.stdout is not None
            printed = job.stdout.read()
        assert job.returncode == 0, printed
        said: dict[str, Any] = {}
        for line in printed.splitlines():
            said |= json.loads(line) if line.startswith("{") else {}
        assert said["master"] == cluster.address
        assert said["local"] is False
        assert said["killed"] in cluster.workers
        assert said["lost"] > 0
        for rung in said["audit"]["rungs"]:
            del rung["seconds"]
        shop = said["audit"]["sources"][0]
        assert (shop["path"], shop["sha256"], shop["records"]) == (f"file://{cluster.lake}/shop", None, 6_000)
        alone = json.loads(json.dumps(told(person_audit(here))))
        (own_note,) = [note for note in said["audit"]["notes"] if note not in alone["notes"]]
        assert "source 'shop' is read in place" in own_note
        said["audit"]["notes"].remove(own_note)
        alone["case"] = str(there)
        alone["sources"][0] |= {"path": shop["path"], "sha256": None}
        assert said["audit"] == alone
