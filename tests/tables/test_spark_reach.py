"""Spark beyond one machine: rows come in order without a shared folder, addresses go through, groups stay out there."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, repeat
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sizes import many
from tacit.errors import DataError, EngineError, SourceError, UnknownValueError
from tacit.tables import (
    count,
    counting,
    distinct_counts,
    group_sizes,
    labelled,
    open_table,
    redraw,
    scores,
    with_symbol,
    write_table,
)
from tacit.tables.engines.spark import engine, numbering, streams
from tacit.tables.gathering import gathered
from tacit.tables.numbering import numbered

VECTOR = 2048


def vectors(sizes: Any, rows: int) -> list[int]:
    """How DuckDB takes batches of these sizes apart, until there are no more rows."""
    taken: list[int] = []
    for size in sizes:
        size = min(size, rows - sum(taken))
        taken += [VECTOR] * (size // VECTOR) + ([size % VECTOR] if size % VECTOR else [])
        if sum(taken) == rows:
            break
    return taken


@pytest.mark.parametrize("seed", range(many(5, 200)))
def test_batches_are_taken_apart_as_the_groups_of_the_file_would_be(seed: int) -> None:
    rng = np.random.default_rng(seed)
    groups = rng.choice([0, 1, 500, VECTOR, 50_000, streams.GROUP, 200_001], size=rng.integers(8)).tolist()
    data = pa.record_batch({"i": np.arange(rng.integers(1, 400_000))})

    def pieces() -> Iterator[pa.RecordBatch]:
        at = 0
        while at < data.num_rows:
            size = int(rng.integers(30_000))
            yield data.slice(at, size)
            at += size

    cut = list(streams.in_vectors(pieces(), chain(groups, repeat(streams.GROUP))))
    assert pa.Table.from_batches(cut)["i"].to_numpy().tolist() == list(range(data.num_rows))
    expected = vectors(chain(groups, repeat(streams.GROUP)), data.num_rows)
    assert vectors([each.num_rows for each in cut], data.num_rows) == expected


@pytest.mark.spark
def test_a_row_of_a_parquet_file_has_its_index_there_whatever_partition_it_is_read_in(
    spark: Any, tmp_path: Path
) -> None:
    for at in range(2):
        # The names are those by which Spark tells it.
        data = {"_metadata": [f"{at} {i}" for i in range(1_000)], "row_index": list(range(1_000))[::-1]}
        pq.write_table(pa.table(data), tmp_path / f"{at}.parquet", row_group_size=100)
    usual = spark.conf.get("spark.sql.files.maxPartitionBytes")
    spark.conf.set("spark.sql.files.maxPartitionBytes", "2k")
    try:
        table = open_table(tmp_path, engine="spark")
        assert table.frame.to_native().rdd.getNumPartitions() > 4
        assert table.engine.indexed(table.rows).to_native().columns[:2] == ["_metadata", "row_index"]
        for rows in (2_000, 100):
            assert table.sample(table.names, rows).equals(open_table(tmp_path).sample(table.names, rows))
    finally:
        spark.conf.set("spark.sql.files.maxPartitionBytes", usual)


@pytest.mark.spark
def test_a_row_that_is_drawn_where_none_was_counted_stops_the_job(spark: Any) -> None:
    table = open_table(spark.range(0, 50, 1, 2).selectExpr("CAST(id % 3 AS STRING) AS v"))
    symbols, _ = count(table, ["v"]).symbols(["v"])
    drawn = redraw(table, symbols, channel=np.full((3, 3), 1 / 3), key=bytes(32))
    assert len(drawn.sample(["v"], 50)) == 50
    # Later the partitions are others.
    table.engine._counts = [25, 20]  # type: ignore[attr-defined]
    drawn = redraw(table, symbols, channel=np.full((3, 3), 1 / 3), key=bytes(32))
    with pytest.raises(EngineError, match="moved between two passes"):
        list(drawn.batches(["v"], 10))


@pytest.mark.spark
def test_rows_come_in_the_order_of_partitions(spark: Any) -> None:
    frame = spark.range(0, 5_000, 1, 3).selectExpr("id", "CAST(id AS STRING) AS t")
    rows = open_table(frame).batches(["id", "t"], 2_000)
    assert [each for batch in rows for each in batch["id"].to_pylist()] == list(range(5_000))


@pytest.mark.spark
def test_an_address_goes_to_spark_as_it_was_given(spark: Any, tmp_path: Path) -> None:
    for part in "ab":
        (tmp_path / "lake" / f"ward={part}").mkdir(parents=True)
        pq.write_table(pa.table({"n": [1, 2, 3]}), tmp_path / "lake" / f"ward={part}" / "p.parquet")
    table = open_table(f"file://{tmp_path}/lake", engine="spark")
    assert (table.names, table.folders, table.format) == (("n", "ward"), ("ward",), "parquet")
    assert count(table, ["n", "ward"]).records.tolist() == [1] * 6
    with pytest.raises(SourceError, match="Spark finds nothing at"):
        open_table(f"file://{tmp_path}/nowhere", engine="spark")
    with pytest.raises(SourceError, match=r"lake://b/t is remote, .*remote"):
        open_table("lake://b/t", engine="spark")
    with pytest.raises(SourceError, match="Spark has no reader for lake: addresses"):
        open_table("lake://b/t", engine="spark", remote=True)
    with pytest.raises(SourceError, match="an address that Tacit cannot read"):
        open_table(f"file://{tmp_path}/lake")


@pytest.mark.spark
def test_the_names_of_folders_at_an_address_say_what_they_say_at_a_path(spark: Any, tmp_path: Path) -> None:
    # The folder above is no part of the table, whose files have a column of that name.
    lake = tmp_path / "n=7" / "lake"
    for code, year in (("007", "2001"), ("12", "__HIVE_DEFAULT_PARTITION__")):
        place = lake / f"code={code}" / f"year={year}" / "day=2001-02-03"
        place.mkdir(parents=True)
        pq.write_table(pa.table({"n": [float(code)]}), place / "p.parquet")
    there, here = open_table(f"file://{lake}", engine="spark"), open_table(lake)
    assert there.names == here.names == ("n", "code", "year", "day")
    rows = [table.sample(table.names, 9).sort_by("n").to_pylist() for table in (there, here)]
    assert rows[0] == rows[1]
    assert rows[0][0] == {"n": 7.0, "code": "007", "year": 2001, "day": "2001-02-03"}


@pytest.mark.spark
def test_a_file_is_the_one_that_was_named_whatever_its_name_means_to_spark(spark: Any, tmp_path: Path) -> None:
    for name, value in {
        "b1.csv": "wrong",
        "b[1].csv": "right",
        "a{x}*?.csv": "right",
        ".a.csv": "",
        "_a.csv": "",
        "a:b.csv": "",
    }.items():
        (tmp_path / name).write_text(f"ward\n{value}\n")
    for name in ("b[1].csv", "a{x}*?.csv"):
        assert open_table(tmp_path / name, engine="spark").sample(["ward"], 2)["ward"].to_pylist() == ["right"]
    for name, why in {".a.csv": "begins with a dot", "_a.csv": "begins with a dot", "a:b.csv": "has a colon"}.items():
        with pytest.raises(SourceError, match=rf"Spark does not read .*{name}, because its name {why}.*: rename it"):
            open_table(tmp_path / name, engine="spark")


@pytest.mark.spark
def test_no_row_is_lost_behind_an_empty_part_of_an_arrow_table(spark: Any) -> None:
    parts = [pa.table({"n": pa.array(some, pa.int64())}) for some in ([1, 2], [], [3], [], [])]
    table = open_table(pa.concat_tables(parts), engine="spark")
    assert sorted(table.sample(["n"], 9)["n"].to_pylist()) == [1, 2, 3]
    assert not open_table(parts[1], engine="spark").sample(["n"], 9).num_rows


@pytest.mark.spark
def test_times_that_spark_cannot_read_are_refused_with_a_way_out(spark: Any, tmp_path: Path) -> None:
    for place, kind in enumerate([pa.timestamp("ns"), pa.time64("us")]):
        pq.write_table(pa.table({"t": pa.array([1], kind)}), tmp_path / f"{place}.parquet")
        with pytest.raises(EngineError, match="a column of times that Spark cannot read: save it as text"):
            count(open_table(tmp_path / f"{place}.parquet", engine="spark"), ["t"])


@pytest.mark.long
@pytest.mark.spark
def test_numbers_are_made_on_the_workers_where_combinations_are_many(spark: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr("tacit.tables.engines.spark.engine.SOME", 50)
    monkeypatch.setattr("tacit.tables.engines.spark.engine.FEW", 50)
    data = pa.table({"a": np.arange(600) % 30, "b": np.arange(600) // 30, "c": [str(i) for i in range(600)]})
    made = [
        numbered(table, ["a", "b"], lambda rows: rows[:, 0] * 7 + rows[:, 1], name="n", sizes=sizes)
        for table in (open_table(data), open_table(spark.createDataFrame(data).repartitionByRange(2, "b", "a")))
        for sizes in (None, [30, 20])
    ]
    first, *others = (table.sample(["c", "n"], 600).sort_by("c") for table in made)
    assert all(other["n"].to_pylist() == first["n"].to_pylist() for other in others)
    assert numbering.SOME < counting.MAX_GROUPS

    def unknown(rows: Any) -> Any:
        raise UnknownValueError("column 'a' holds a value that does not fit")

    with pytest.raises(UnknownValueError, match=r"^column 'a' holds a value that does not fit$"):
        numbered(open_table(spark.createDataFrame(data)), ["a", "b"], unknown, name="n")


@pytest.mark.spark
def test_more_groups_than_the_driver_may_hold_are_refused(spark: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(counting, "MAX_GROUPS", 10)
    with pytest.raises(DataError, match="more than 10 combinations"):
        count(open_table(spark.range(100)), ["id"])


def skewed(spark: Any) -> Any:
    """99 of 100 rows have no key, and what is left is almost always the same."""
    return spark.range(0, 4_000, 1, 4).selectExpr(
        "CASE WHEN id % 100 = 0 THEN CAST(id % 1000 AS STRING) END AS k", "CAST(id % 3 AS STRING) AS v"
    )


def plan_of(rows: Any) -> str:
    return str(rows.to_native()._jdf.queryExecution().executedPlan().toString())


@pytest.mark.spark
def test_rewriting_moves_no_row_however_skewed_or_empty_the_keys_are(spark: Any) -> None:
    table = open_table(skewed(spark))
    symbols, _ = count(table, ["k", "v"]).symbols(["k", "v"])
    size = len(symbols)
    drawn = redraw(table, symbols, channel=np.full((size, size), 1 / size), key=bytes(32))
    told = labelled(with_symbol(table, symbols), "symbol", {"t": [str(at) for at in range(size)]})
    for rows in (drawn, told, scores(table, symbols, {"risk": np.zeros(size)})):
        plan = plan_of(rows.rows)
        assert "BroadcastHashJoin" in plan
        # Nothing else would send rows with the same key to the same worker.
        assert "hashpartitioning" not in plan
        assert "SortMergeJoin" not in plan
    assert drawn.sample(["k"], 4_000)["k"].null_count < 3_960
    assert told.sample(["t"], 4_000)["t"].null_count == 0


@pytest.mark.spark
def test_counting_sums_up_within_each_partition_before_anything_moves(spark: Any, monkeypatch: Any) -> None:
    table, plans = open_table(skewed(spark)), []
    real = type(table.engine).collected

    def watched(engine: Any, rows: Any) -> pa.Table:
        plans.append(plan_of(rows))
        return real(engine, rows)

    monkeypatch.setattr(type(table.engine), "collected", watched)
    counts = count(table, ["k"])
    assert counts.records.tolist() == [4] * 10 + [3_960]
    assert distinct_counts(open_table(skewed(spark)), ["k", "v"]) == {"k": 11, "v": 3}
    assert group_sizes(open_table(skewed(spark)), ["k"], ["v"]).smallest == 4
    shuffling = [plan for plan in plans if "hashpartitioning" in plan]
    assert len(shuffling) >= 3
    # Read from below: rows are scanned, summed in place, and only then exchanged.
    for plan in shuffling:
        assert "partial_" in plan[plan.rindex("hashpartitioning") :]


@pytest.mark.spark
def test_what_a_question_brings_to_the_driver_is_bounded_by_what_was_asked(spark: Any, monkeypatch: Any) -> None:
    rows, brought = 4_000, []
    on_spark = type(open_table(skewed(spark)).engine)
    real = on_spark.collected

    def watched(own: Any, asked: Any) -> pa.Table:
        data = real(own, asked)
        brought.append(data.num_rows)
        return data

    monkeypatch.setattr(on_spark, "collected", watched)
    questions: list[tuple[Any, int]] = [
        (lambda table: count(table, ["k", "v"]), 33),
        (lambda table: distinct_counts(table, ["k", "v"]), 1),
        (lambda table: group_sizes(table, ["k"], ["v"]), 11),
        (lambda table: gathered(table, "v", ["1"]), 2),
        (lambda table: table.row_count(), 1),
        (lambda table: table.sample(["k"], 50), 50),
        (lambda table: table.head(["k"], 50), 50),
        (lambda table: table.thinned(50).sample(["v"], 50), 50),
        (lambda table: table.spread(100).sample(["v"], 200), 200),
    ]
    for question, most in questions:
        brought.clear()
        question(open_table(skewed(spark)))
        assert brought
        assert max(brought) <= most
    # A table that may be brought whole is one with few values; with one value more it stays.
    monkeypatch.setattr("tacit.tables.table.FEW_ROWS", rows)
    for most, whole in ((2 * rows, rows), (2 * rows - 1, 1)):
        monkeypatch.setattr("tacit.tables.table.MOST_BROUGHT", most)
        brought.clear()
        count(open_table(skewed(spark)).select(["k", "v"]), ["v"])
        assert (max(brought) == rows) == (whole == rows)
    table = open_table(skewed(spark))
    assert len(table.engine._partition_counts()) == 4  # type: ignore[attr-defined]


@pytest.mark.spark
def test_texts_that_are_spelled_out_here_are_those_that_the_workers_would_write(
    spark: Any, tmp_path: Path, monkeypatch: Any
) -> None:
    table = open_table(skewed(spark))
    symbols, _ = count(table, ["k", "v"]).symbols(["k", "v"])
    size = len(symbols)
    # The output after the last symbol is missing, and a third of the values stay as they are.
    channel = np.where((np.arange(size) % 3 == 0)[:, None], np.eye(size, size + 1), 1 / (size + 1))
    drawn = redraw(table, symbols, channel=channel, key=bytes(32))
    numbers = np.arange(size) - 2
    texts = {"t": [None if at == 4 else f"t {at % 5}" for at in range(size - 4)], "u": ["u"] * (size - 4)}
    told = labelled(with_symbol(table, symbols, numbers=numbers), "symbol", texts)
    streamed: list[list[str]] = []
    real = engine.streamed

    def watched(frame: Any, *others: Any) -> Any:
        streamed.append([field.dataType.typeName() for field in frame.schema])
        return real(frame, *others)

    monkeypatch.setattr(engine, "streamed", watched)
    cases = [(drawn, ["k", "v"]), (drawn, ["v"]), (told, ["u", "t"]), (told.select(["t"]), ["t"])]
    for rows, names in cases:
        write_table(rows.select(names), tmp_path / "spelled.parquet", like=table)
        assert pq.read_table(tmp_path / "spelled.parquet").equals(rows.sample(names, 4_000))
    assert streamed == [["integer"]] * len(cases)
    # With a column that does not follow from the number, rows come as they are.
    write_table(told.select(["k", "t"]), tmp_path / "plain.parquet", like=table)
    assert streamed[-1] == ["string", "string"]
    assert pq.read_table(tmp_path / "plain.parquet").equals(told.sample(["k", "t"], 4_000))


@pytest.mark.spark
def test_a_frame_with_a_column_without_values_is_text_there_and_one_of_times_is_refused_by_name(spark: Any) -> None:
    table = open_table(pa.table({"none": pa.nulls(3), "a": [1, 1, 2]}), engine="spark")
    assert [column.kind for column in table.columns] == ["text", "number"]
    assert sorted(count(table, ["none", "a"]).records.tolist()) == [1, 2]
    with pytest.raises(EngineError, match="column 'at' holds times of day, which Spark cannot read"):
        open_table(pa.table({"at": pa.array([0, 1], pa.time64("us"))}), engine="spark")
