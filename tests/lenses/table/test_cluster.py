"""The verbs on a real Spark cluster, whose workers see nothing of the driver's, and two of whom die in the job."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tacit
from spark_cluster import SparkCluster, spark_cluster
from tables_of_people import clinic

pytestmark = [pytest.mark.spark, pytest.mark.long]

JOB = Path(__file__).parents[2] / "cluster_job.py"
WORDS: dict[str, Any] = {"secret": "illness", "epsilon": 0.5, "random_state": 3}


@pytest.fixture(scope="module")
def cluster() -> Iterator[SparkCluster]:
    with spark_cluster() as running:
        yield running


@pytest.fixture(scope="module")
def people(cluster: SparkCluster) -> Path:
    """A table in groups that are no multiples of anything DuckDB works in, read in several partitions."""
    path = cluster.lake / "people.parquet"
    pq.write_table(pa.table(clinic(130_000, missing=0.1)), path, row_group_size=23_456)
    path.chmod(0o644)
    return path


@pytest.mark.usefixtures("without_suggestion")
def test_a_job_that_loses_workers_ends_right_and_writes_the_bytes_that_duckdb_writes(
    cluster: SparkCluster, people: Path, tmp_path: Path
) -> None:
    settings = {"spark.sql.files.maxPartitionBytes": "100k"}
    workers = map(str, cluster.workers)
    with cluster.submit(JOB, str(people), str(tmp_path), *workers, settings=settings) as job:
        assert job.stdout is not None
        printed = job.stdout.read()
    assert job.returncode == 0, printed
    said: dict[str, list[Any]] = {}
    for line in printed.splitlines():
        for name, value in (json.loads(line) if line.startswith("{") else {}).items():
            said.setdefault(name, []).append(value)
    assert said["master"] == [cluster.address]
    assert said["local"] == [False]
    assert len(set(said["killed"])) == 2
    assert {each for each in cluster.workers if not alive(each)} == set(said["killed"])
    assert min(said["lost"]) > 0
    # One value has 99% of the rows.
    assert sum(said["skewed"][0]) == 1_000_000
    assert max(said["skewed"][0]) == 990_000
    assert said["audit"] == [tacit.audit(people, secret="illness").headline]
    assert said["verdict"] == ["holds", "holds"]
    assert "workers of Spark cannot see it" in said["refused"][0]
    for mechanism in ("optimal", "cells"):
        tacit.protect(people, out=tmp_path / "here" / mechanism, mechanism=mechanism, **WORDS)
        there, here = (place / mechanism / "data.parquet" for place in (tmp_path, tmp_path / "here"))
        assert there.read_bytes() == here.read_bytes()
    assert said["parts"] == ["holds", "holds"]
    assert "the workers of Spark" in said["unseen"][0]
    assert not (tmp_path / "unseen").exists()
    for mechanism in ("optimal", "cells"):
        one, out = pq.read_table(tmp_path / mechanism / "data.parquet"), cluster.lake / f"{mechanism} in parts"
        for folder in (out / "data", Path(f"{people}.{mechanism}")):
            parts = sorted(folder.glob("part-*.parquet"))
            assert len(parts) > 1
            assert pa.concat_tables(map(pq.read_table, parts)).equals(one)
        # The driver's own engine, which knows nothing of the cluster, verifies what its workers wrote.
        assert tacit.verify(out, against=people).verdict == "holds"
        assert oct((out / "private").stat().st_mode & 0o777) == "0o700"
    assert [each.name for each in cluster.lake.iterdir() if each.name.startswith(".tacit")] == []


def alive(pid: int) -> bool:
    """Whether a process runs; one that was killed and not yet waited for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
