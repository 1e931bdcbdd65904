"""A person audited on a real Spark cluster, one of whose workers dies while records are joined."""

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


def lake_case(folder: Path) -> Path:
    """A case of 12,000 records in groups that several tasks read, and a few in a file that only the driver sees."""
    chance = random.Random(5)
    people = [somebody(chance) for _ in range(3_000)]
    lines = [oddly(chance, one) for one in chance.choices(people, k=12_000)]
    for at, path in enumerate(folder / f"{name}.parquet" for name in ("shop", "gym")):
        pq.write_table(pa.Table.from_pylist(lines[at::2]), path, row_group_size=1_234)
        path.chmod(0o644)
    card = f"BEGIN:VCARD\nVERSION:3.0\nFN:{people[0]['name']}\nEMAIL:{people[0]['email']}\nEND:VCARD\n"
    (folder / "book.vcf").write_text(card)
    (folder / "book.vcf").chmod(0o600)
    sources = [{"name": name, "path": f"{name}.parquet"} for name in ("shop", "gym")]
    case = {
        "country": "DE",
        "person": people[0],
        "sources": [*sources, {"name": "book", "path": "book.vcf"}],
        "adversaries": [{"name": "reads"}, {"name": "joins", "steps": ["normalise", {"resolve": {"rules": RULES}}]}],
    }
    (folder / "case.yaml").write_text(yaml.safe_dump(case, allow_unicode=True))
    return folder / "case.yaml"


def test_an_audit_that_loses_a_worker_says_what_one_machine_says() -> None:
    # The workers run Python.
    with spark_cluster(strangers=False) as cluster:
        case = lake_case(cluster.lake)
        settings = {"spark.sql.files.maxPartitionBytes": "20k"}
        with cluster.submit(JOB, str(case), *map(str, cluster.workers), settings=settings) as job:
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
        assert said["audit"] == json.loads(json.dumps(told(person_audit(case))))
