"""A forger who writes -0.0 for 0.0, or NaN for missing, says one bit about each record; columns have an order, too."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from papers import forge
from tables_of_people import clinic
from tacit import protect, verify
from tacit.loading import file_sha256
from tacit.release import read_certificate
from tacit.tables import open_table, write_table

HOW: dict[str, dict[str, Any]] = {
    "resample": {"replacement": "resample"},
    "merge": {"replacement": "merge"},
    "optimal": {"mechanism": "optimal", "keep_secret": True},
}


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place, rng = tmp_path_factory.mktemp("forger"), np.random.default_rng(2)
    numbers = [[0.0, -0.0, 1.5, float("nan"), None][at] for at in rng.integers(0, 5, 600)]
    columns = {**clinic(600), "score": numbers}
    pq.write_table(pa.table({name: columns[name] for name in ("illness", "ward", "score")}), place / "people.parquet")
    return place / "people.parquet"


def honest(data: pa.Table) -> pa.Table:
    return data


def zeros_signed(data: pa.Table) -> pa.Table:
    return with_scores(data, lambda at, value: -0.0 if value == 0 and at % 2 else value)


def missing_told(data: pa.Table) -> pa.Table:
    return with_scores(data, lambda at, value: float("nan") if value is None and at % 2 else value)


def columns_turned(data: pa.Table) -> pa.Table:
    return data.select(data.column_names[::-1])


def with_scores(data: pa.Table, change: Callable[[int, float | None], float | None]) -> pa.Table:
    scores = [change(at, value) for at, value in enumerate(data["score"].to_pylist())]
    assert pa.array(scores).cast(pa.string()) != data["score"].combine_chunks().cast(pa.string())
    return data.set_column(data.schema.get_field_index("score"), "score", pa.array(scores, pa.float64()))


@pytest.mark.parametrize("how", HOW)
def test_a_release_written_as_protect_writes_but_with_other_zeros_missing_numbers_or_columns_does_not_hold(
    people: Path, tmp_path: Path, how: str
) -> None:
    protect(people, secret="illness", epsilon=0.2, random_state=3, out=tmp_path / "honest", **HOW[how])
    for tamper in (honest, zeros_signed, missing_told, columns_turned):
        for owner in (True, False):
            release = Path(shutil.copytree(tmp_path / "honest", tmp_path / "forged"))
            data = release / "data.parquet"
            rows = tamper(pq.read_table(data))
            data.unlink()
            write_table(open_table(rows), data, like=open_table(people))
            forge(release, output=replace(read_certificate(release).output, sha256=file_sha256(data)))
            if not owner:
                shutil.rmtree(release / "private")
            verdict = verify(release, against=people).verdict
            if tamper is honest:
                assert verdict in ("holds", "holds" if owner else "not checked")
            else:
                # Without the owner's rules, draws are not checked.
                assert verdict in ("broken", "broken" if owner else "not checked")
            shutil.rmtree(release)
