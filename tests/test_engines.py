"""The same file on DuckDB and on Spark: the same columns, counts, draws and written bytes."""

from __future__ import annotations

import subprocess
import sys

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

from tacit.errors import DataError, EngineError
from tacit.tables import count, new_key, open_table, rewrite, suffix_for, write_table

ROWS = 3000


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """One table in every format that both engines read, in several row groups."""
    place = tmp_path_factory.mktemp("files")
    number = np.arange(ROWS)
    names = np.array(["a", "é;", "", 'q"t', "two\nlines"], dtype=object)
    data = pa.table(
        {
            "i": number,
            "x": pa.array(names[number * 7 % 5], mask=number % 11 == 0),
            "n": pa.array(number * 13 % 9, mask=number % 13 == 0),
            "f": (number % 4) / 8,
        }
    )
    pq.write_table(data, place / "t.parquet", row_group_size=500)
    pyarrow.feather.write_feather(data, place / "t.arrow", compression="uncompressed")
    connection = duckdb.connect()
    connection.from_arrow(data).write_csv(str(place / "t.csv"), sep=";")
    connection.execute(f"COPY (SELECT * FROM data) TO '{place}/t.jsonl' (FORMAT json)")
    connection.close()
    return place


def released(table, out):
    """Count, rewrite a third of the symbols and write."""
    columns = ["x", "n", "f"]
    symbols, _ = count(table, columns).symbols(columns)
    merged = np.arange(len(symbols)) % 3 == 0
    done = rewrite(table, symbols, merged=merged, replacement=merged / merged.sum(), key=new_key(4))
    path = out / f"{table.engine}{suffix_for(table)}"
    write_table(done, path, like=table)
    return symbols, path


@pytest.mark.spark
@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "t.jsonl", "t.arrow"])
def test_a_release_is_the_same_from_both_engines(spark, files, tmp_path, name):
    one, other = open_table(files / name), open_table(files / name, engine="spark")
    assert other.engine == "spark"
    assert [(c.name, c.kind) for c in one.columns] == [(c.name, c.kind) for c in other.columns]
    assert one.row_count() == other.row_count() == ROWS
    (symbols, path), (spark_symbols, spark_path) = released(one, tmp_path), released(other, tmp_path)
    assert symbols.levels == spark_symbols.levels
    assert (symbols.codes == spark_symbols.codes).all()
    first, second = open_table(path), open_table(spark_path)
    rows = first.sample(first.names, ROWS).to_pylist()
    assert rows == second.sample(second.names, ROWS).to_pylist()
    assert [int(row["i"]) for row in rows] == list(range(ROWS))
    if name.endswith(("csv", "jsonl")):
        assert path.read_bytes() == spark_path.read_bytes()


@pytest.mark.spark
@pytest.mark.parametrize("partitions", [1, 5])
def test_draws_do_not_depend_on_partitions(spark, tmp_path, partitions):
    data = pa.table({"x": [f"v{i % 20}" for i in range(1000)], "n": list(range(1000)), "f": [0.5] * 1000})
    frame = spark.createDataFrame(data).coalesce(1)
    if partitions > 1:
        frame = frame.repartitionByRange(partitions, "n").sortWithinPartitions("n")
    _, path = released(open_table(frame), tmp_path)
    (tmp_path / "plain").mkdir()
    _, plain = released(open_table(data), tmp_path / "plain")
    assert pq.read_table(path).to_pylist() == pq.read_table(plain).to_pylist()


@pytest.mark.spark
def test_the_sample_of_a_spark_frame_is_that_of_the_table(spark):
    data = pa.table({"i": range(1000)})
    assert open_table(data, engine="spark").sample(["i"], 10).equals(open_table(data).sample(["i"], 10))


@pytest.mark.spark
def test_spark_refuses_in_one_line(spark, tmp_path):
    with duckdb.connect(tmp_path / "d.duckdb") as connection:
        connection.execute("CREATE TABLE t AS SELECT 1 AS a")
    with pytest.raises(EngineError, match="which Spark cannot read"):
        open_table(tmp_path / "d.duckdb", engine="spark")
    with pytest.raises(EngineError, match="a DuckDB relation runs on DuckDB"):
        open_table(duckdb.connect().sql("SELECT 1 AS a"), engine="spark")
    path = tmp_path / "far.csv"
    path.write_text("a,b\n" + "1,2\n" * 30_000 + "1\n")
    with pytest.raises(DataError, match=r"far\.csv") as caught:
        count(open_table(path, engine="spark"), ["a"])
    assert "\n" not in str(caught.value)


def test_importing_the_tables_loads_no_engine():
    program = (
        "import sys, tacit.tables; "
        "print(sorted({'duckdb', 'pyspark', 'pyarrow', 'narwhals', 'pandas', 'polars', 'sklearn'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_spark_that_is_not_there_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyspark.errors", None)
    with pytest.raises(EngineError, match="Spark is not installed"):
        open_table(pa.table({"a": [1]}), engine="spark")
