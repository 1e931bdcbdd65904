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


def test_a_first_look_at_texts_takes_no_query_and_one_at_anything_else_does(tmp_path: Path) -> None:
    data = _table(5_000).append_column("age", pa.array(range(5_000)))
    pq.write_table(data, tmp_path / "people.parquet", row_group_size=3_000)
    table = open_table(tmp_path / "people.parquet")
    first = table.engine.first(table.rows, ["few", "late"], 2_000)
    assert first is not None
    assert first.to_pylist() == data.select(["few", "late"]).slice(0, 2_000).to_pylist()
    assert table.head(["late"], 2_000).column(0).to_pylist() == data.column("late").to_pylist()[:2_000]
    assert table.row_count() == 5_000
    for columns, rows in (["few", "age"], 2_000), (["few"], 4_000), (["few"], 9_000), (["nobody"], 2_000):
        assert table.engine.first(table.rows, columns, rows) is None
    assert table.head(["few", "age"], 2_000).num_rows == 2_000
    assert table.head(["few"], 9_000).num_rows == 5_000


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


def _odd(rows: int = 3_000) -> pa.Table:
    """Values that are missing, empty, long or of one row; numbers, dates and truths beside them."""
    rng = np.random.default_rng(1)
    return pa.table(
        {
            "a": _texts(rng, ["b", None, "", "a", "é", "NaN", "x" * 300], rows),
            "b": _texts(rng, ["1", "1.0", " 1", "null"], rows),
            "number": pa.array(rng.choice([0.0, -0.0, 1.5, float("nan")], rows)),
            "truth": pa.array(rng.random(rows) < 0.5),
            "day": pa.array(rng.integers(0, 3, rows).astype("int32")).cast(pa.date32()),
        }
    )


def _doubled(column: pa.ChunkedArray) -> pa.Array:
    """The column as a dictionary in which every value is listed twice, beside one that no row has."""
    once = column.combine_chunks().dictionary_encode()
    size, half = len(once.dictionary), np.arange(len(once)) % 2
    places = once.indices.fill_null(0).to_numpy(zero_copy_only=False) + size * half
    missing = np.asarray(once.indices.is_null())
    values = pa.concat_arrays([once.dictionary, once.dictionary, pa.array(["nobody has this"])])
    return pa.DictionaryArray.from_arrays(pa.array(places.astype("int8"), mask=missing), values)


@pytest.mark.parametrize(
    "how",
    [
        "plain",
        "delta",
        "mixed pages",
        "large",
        "view",
        "uint8",
        "doubled",
        "no rows",
        "empty groups",
        "duckdb",
        "polars",
    ],
)
def test_oddly_stored_files_count_as_a_bare_group_by(tmp_path: Path, how: str) -> None:
    import duckdb

    path, data = tmp_path / "odd.parquet", _odd()
    options: dict[str, object] = {"row_group_size": 700}
    if how in ("plain", "delta"):
        options["use_dictionary"] = False
        options |= (
            {"column_encoding": {"a": "DELTA_BYTE_ARRAY", "b": "DELTA_LENGTH_BYTE_ARRAY"}} if how == "delta" else {}
        )
    elif how == "mixed pages":
        # The dictionary overflows, and the rest of the group is stored as plain text.
        options |= {"dictionary_pagesize_limit": 400, "data_page_size": 200, "write_batch_size": 50}
    elif how in ("large", "view", "uint8"):
        kinds = {"large": pa.large_string(), "view": pa.string_view(), "uint8": pa.dictionary(pa.uint8(), pa.string())}
        data = data.set_column(
            0, "a", data.column("a").combine_chunks().cast(kinds[how]) if how != "uint8" else _uint8(data)
        )
    elif how == "doubled":
        data = data.set_column(0, "a", _doubled(data.column("a")))
    elif how == "no rows":
        data = data.slice(0, 0)
    if how == "duckdb":
        duckdb.sql(f"COPY (SELECT * FROM data) TO '{path}' (ROW_GROUP_SIZE 2048)")
    elif how == "polars":
        pytest.importorskip("polars").from_arrow(data).write_parquet(path, row_group_size=500)
    else:
        with pq.ParquetWriter(
            path, data.schema, **{k: v for k, v in options.items() if k != "row_group_size"}
        ) as writer:
            for at in range(0, len(data), 700):
                writer.write_table(data.slice(at, 700))
                if how == "empty groups":
                    writer.write_table(data.slice(0, 0))
    table = open_table(path)
    for names in (["a", "b"], ["a"], ["a", "truth", "day"]):
        told = ", ".join(names)
        query = f"SELECT {told}, count(*) FROM read_parquet('{path}') GROUP BY ALL"
        bare = {tuple(map(str, row[:-1])): row[-1] for row in duckdb.sql(query).fetchall()}
        counts = count(table, names)
        found = zip(*(map(str, counts.values(name)) for name in names), strict=True)
        assert dict(zip(found, counts.records.tolist(), strict=True)) == bare


def _uint8(data: pa.Table) -> pa.Array:
    once = data.column("a").combine_chunks().dictionary_encode()
    return pa.DictionaryArray.from_arrays(once.indices.cast(pa.uint8()), once.dictionary)


@pytest.mark.parametrize("column", ["a", "b"])
def test_a_stored_dictionary_that_lists_a_value_twice_is_left_to_the_engine(tmp_path: Path, column: str) -> None:
    """Arrow leaves out the second, and does not move the places of the values after it."""
    path, rng = tmp_path / "twice.parquet", np.random.default_rng(2)
    data = pa.table({"a": rng.choice(["xx1", "xx2", "xx3"], 500), "b": rng.choice(["yy1", "yy2", "yy3", "yy4"], 500)})
    pq.write_table(data, path, compression="none", write_statistics=False)
    two, one = (b"xx2", b"xx1") if column == "a" else (b"yy2", b"yy1")
    assert path.read_bytes().count(two) == 1
    path.write_bytes(path.read_bytes().replace(two, one))
    rows = [
        {name: {two.decode(): one.decode()}.get(value, value) for name, value in row.items()}
        for row in data.to_pylist()
    ]
    counts = count(open_table(path), ["a", "b"])
    found = zip(counts.values("a"), counts.values("b"), strict=True)
    assert dict(zip(found, counts.records.tolist(), strict=True)) == Counter((row["a"], row["b"]) for row in rows)


@pytest.mark.parametrize("codec", ["none", "snappy", "gzip", "brotli", "zstd", "lz4"])
def test_dictionaries_are_read_whatever_they_are_packed_with(tmp_path: Path, codec: str) -> None:
    pq.write_table(_table(700), tmp_path / "packed.parquet", compression=codec)
    assert stored.tallied(stored.stored_rows([tmp_path / "packed.parquet"], ["late", "few"]), 2) is not None
