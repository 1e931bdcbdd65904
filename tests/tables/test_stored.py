"""Parquet files counted by the dictionaries they are stored with, against counting row by row."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tacit.tables import open_table
from tacit.tables.counting import count
from tacit.tables.engines.duckdb import stored

ROWS = 120_000


def _texts(rng: np.random.Generator, values: list[str | None], rows: int) -> pa.Array:
    return pa.array(values, pa.string()).take(pa.array(rng.integers(0, len(values), rows)))


def _table(rows: int = ROWS) -> pa.Table:
    """Values that are missing, empty or first met in a late group of rows."""
    rng = np.random.default_rng(0)
    late = pa.concat_arrays([_texts(rng, ["x", "y"], rows - 500), _texts(rng, ["y", "z", None], 500)])
    return pa.table({"late": late, "few": _texts(rng, ["b", None, "", "a", "é"], rows)})


def _plainly(table: pa.Table) -> Counter[tuple[str | None, ...]]:
    return Counter(zip(*(column.to_pylist() for column in table.columns), strict=True))


@pytest.mark.parametrize("parts", [1, 3])
def test_stored_dictionaries_count_and_sample_as_rows_do(tmp_path: Path, parts: int) -> None:
    data, size = _table(), ROWS // parts
    for at in range(parts):
        pq.write_table(data.slice(at * size, size), tmp_path / f"{at}.parquet", row_group_size=7_000)
    table = open_table(tmp_path if parts > 1 else tmp_path / "0.parquet")
    assert table.engine.looked_through(table.rows, ["few"], ["c0"], 10, ()) is not None
    counts = count(table, ["few", "late"])
    right = _plainly(data.select(["few", "late"]))
    told = zip(*(counts.values(name) for name in counts.columns), strict=True)
    assert dict(zip(told, counts.records.tolist(), strict=True)) == right
    assert counts.levels == (("", "a", "b", "é", None), ("x", "y", "z", None))
    for rows in (20_000, 50_000):
        step = -(-ROWS // rows)
        assert table.sample(["late"], rows).column(0).to_pylist() == data.column("late").to_pylist()[::step]
    assert table.thinned(20_000).sample(["few"], 20_000).column(0).to_pylist() == data.column("few").to_pylist()[::6]


def test_rows_of_two_files_are_set_side_by_side() -> None:
    one, other = (
        stored.StoredRows((["a", "b"],), (np.array([0, 1, 1, 0, 1], np.int32),)),
        stored.StoredRows((["c", "d"],), (np.array([1, 0, 1, 1, 0], np.int32),)),
    )
    both = stored.in_step(
        iter([one.slice(0, 2), one.slice(2, 5)]), iter([other.slice(0, 1), other.slice(1, 1), other.slice(1, 5)])
    )
    tally = stored.tallied(both, 2)
    assert tally is not None
    assert tally.rows == 5
    found = tally.groups(["x", "y"], 10).to_pylist()
    assert {(row["x"], row["y"]): row["n"] for row in found} == {("a", "d"): 2, ("b", "c"): 2, ("b", "d"): 1}
    assert stored.tallied(stored.in_step(iter([one]), iter([other.slice(0, 4)])), 2) is None


@pytest.mark.parametrize(
    "column",
    [
        pa.array(range(1_000)),
        pa.array([b"\xff"] * 1_000),
        pa.array([["a"]] * 1_000),
        pa.array([str(each) for each in range(1_000)]),
    ],
    ids=["numbers", "bytes", "lists", "texts without a dictionary"],
)
def test_what_is_stored_otherwise_is_left_to_the_engine(tmp_path: Path, column: pa.Array) -> None:
    path = tmp_path / "other.parquet"
    pq.write_table(pa.table({"a": column}), path, use_dictionary=False)
    assert stored.tallied(stored.stored_rows([path], ["a"]), 1) is None


def test_too_many_combinations_and_damaged_files_are_left_to_the_engine(tmp_path: Path) -> None:
    path, many = tmp_path / "many.parquet", pa.array([str(each) for each in range(3_000)])
    pq.write_table(pa.table({"a": many, "b": many}), path)
    assert stored.tallied(stored.stored_rows([path], ["a"]), 1) is not None
    assert stored.tallied(stored.stored_rows([path], ["a", "b"]), 2) is None
    path.write_bytes(path.read_bytes()[:200])
    assert stored.tallied(stored.stored_rows([path], ["a"]), 1) is None


def test_a_dictionary_that_holds_a_value_twice_is_left_to_the_engine() -> None:
    twice = stored.StoredRows((["a", "a", "b"],), (np.array([0, 1, 2, 0], np.int32),))
    assert stored.tallied(iter([twice]), 1) is None
    once = stored.StoredRows((["a", "b"],), (np.array([0, 1, 1, 0], np.int32),))
    assert stored.tallied(iter([once, stored.StoredRows((["a", "a"],), once.places)]), 1) is None
