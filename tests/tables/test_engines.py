"""The same file on DuckDB and on Spark: the same columns, counts, draws and written bytes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

import tacit
from sizes import few
from tacit.errors import ArgumentError, DataError, EngineError
from tacit.tables import (
    ENGINES,
    Symbols,
    count,
    memory_limit,
    new_key,
    open_table,
    rewrite,
    scores,
    suffix_for,
    write_table,
)
from tacit.tables.engines import engine_class
from tacit.tables.engines.duckdb import connections, engine, layouts, rewriting

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
    path = out / f"{table.engine.name}{suffix_for(table)}"
    write_table(done, path, like=table)
    return symbols, path


@pytest.mark.spark
@pytest.mark.parametrize("name", few(["t.csv", "t.parquet", "t.arrow", "t.jsonl"]))
def test_a_release_is_the_same_from_both_engines(spark, files, tmp_path, name):
    one, other = open_table(files / name), open_table(files / name, engine="spark")
    assert other.engine.name == "spark"
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


@pytest.mark.long
@pytest.mark.spark
@pytest.mark.parametrize("partitions", few([5, 1]))
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
    plain, there = open_table(data), open_table(spark.range(0, 1000, 1, 2).toDF("i"))
    assert open_table(data, engine="spark").sample(["i"], 10).equals(plain.sample(["i"], 10))
    # Rows of the second partition, taken out and taken once more.
    assert there.thinned(10).sample(["i"], 10)["i"].to_pylist() == plain.sample(["i"], 10)["i"].to_pylist()
    assert there.spread(10).row_count() == plain.spread(10).row_count()


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
        "import sys, tacit.tables; tacit.tables.ENGINES; "
        "heavy = {'duckdb', 'pyspark', 'pyarrow', 'narwhals', 'pandas', 'polars', 'sklearn', 'numpy'}; "
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_nothing_of_duckdb_is_kept_when_the_process_ends(tmp_path):
    """Types that narwhals keeps in its caches would be reported as leaked, one line each."""
    (tmp_path / "people.csv").write_text("sex,age\nf,30\nm,41\n")
    program = (
        "import atexit, functools, sys\n"
        "def left():\n"
        "    modules = [module for name, module in sys.modules.items() if name.startswith('narwhals')]\n"
        "    caches = [each for module in modules for each in vars(module).values() if hasattr(each, 'cache_info')]\n"
        "    print(len(caches) > 3, sum(cache.cache_info().currsize for cache in caches))\n"
        "atexit.register(left)\n"
        "from tacit.tables import open_table\n"
        "open_table(sys.argv[1]).row_count()\n"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "people.csv")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "True 0"
    assert "nanobind" not in done.stderr


def test_missing_spark_is_reported(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyspark.errors", None)
    with pytest.raises(EngineError, match="Spark is not installed"):
        open_table(pa.table({"a": [1]}), engine="spark")


def limit_of(table):
    shown = table.rows.to_native().query("t", "SELECT current_setting('memory_limit') FROM t").fetchall()[0][0]
    number, unit = shown.split()
    return float(number) * {"MiB": 1, "GiB": 1024}[unit]


def test_memory_is_a_setting_of_a_table_or_of_all_that_is_opened_within():
    data = pa.table({"a": [1]})
    assert limit_of(open_table(data, memory="100MiB")) == 100
    with memory_limit("200MiB"):
        assert limit_of(open_table(data)) == 200
        assert limit_of(open_table(data, memory="100MiB")) == 100
        with memory_limit(None):
            assert limit_of(open_table(data)) == 200
    with pytest.raises(ArgumentError, match="'lots' is not an amount of memory: write memory='4GB'"):
        open_table(data, memory="lots")


def test_memory_is_a_share_of_what_is_free_unless_it_is_set(monkeypatch):
    monkeypatch.setattr(connections, "free_memory", lambda: 1000 << 20)
    database, _ = connections._database(None)
    with database:
        assert database.execute("SELECT current_setting('memory_limit')").fetchall() == [("600.0 MiB",)]


def test_an_engine_leaves_memory_for_what_is_beside_its_tables_as_long_as_it_is_there_and_keeps_half():
    with memory_limit("300MiB"):
        store = engine_class("duckdb")().store()
        shown = lambda: store.ask("SELECT current_setting('memory_limit') AS shown").column("shown")[0].as_py()  # noqa: E731
        beside = []
        for left, limit in ((100 << 20, "200.0 MiB"), (20 << 20, "180.0 MiB"), (1 << 40, "150.0 MiB")):
            beside.append(store.leave(left))
            assert shown() == limit
        beside.pop()
        assert shown() == "180.0 MiB"
        beside.clear()
        assert shown() == "300.0 MiB"


def test_memory_is_given_back_while_a_result_is_being_read():
    connection = connections.connect(memory="300MiB")
    beside = connections.LeftMemory(connection, 100 << 20)
    result = connection.execute("SELECT range FROM range(5000)")
    assert result.fetchone() == (0,)
    del beside
    assert len(result.fetchall()) == 4999
    assert connection.execute("SELECT current_setting('memory_limit')").fetchall() == [("300.0 MiB",)]


def test_a_process_is_told_of_no_more_than_its_group_may_take(monkeypatch):
    told = {"/proc/meminfo": "MemFree: 9 kB\nMemAvailable:  2048 kB\n", "/sys/fs/cgroup/memory.max": "max\n"}
    monkeypatch.setattr(Path, "read_text", lambda self: told[str(self)] if str(self) in told else open_nothing())
    assert connections.free_memory() == 2048 * 1024
    told["/sys/fs/cgroup/memory.max"] = "1000000\n"
    assert connections.free_memory() == 1_000_000


def open_nothing():
    raise FileNotFoundError


@pytest.mark.long
def test_a_table_larger_than_the_memory_is_written_in_order_by_way_of_the_disk(tmp_path, monkeypatch):
    # Looked up by a join, and put back in order by a sort, of twice as many bytes as there is memory.
    monkeypatch.setattr(rewriting, "DENSE_NUMBERS", 0)
    path = tmp_path / "in.parquet"
    duckdb.connect().execute(
        f"COPY (SELECT i, sha256(i::VARCHAR) AS h FROM range(2000000) t(i)) TO '{path}' (FORMAT parquet)"
    )
    table = open_table(path, memory="100MiB")
    symbols = Symbols(("h",), (("never",),), np.zeros((1, 1), int))
    done = scores(table, symbols, {"risk": [0.0]})
    write_table(done, tmp_path / "out.parquet", like=table)
    assert (
        pq.read_table(tmp_path / "out.parquet", columns=["i"])
        .column("i")
        .equals(pq.read_table(path, columns=["i"]).column("i"))
    )


def test_an_engine_is_one_class_and_one_line(monkeypatch, tmp_path):
    """Guarantee: what is registered is what is used, and nothing else in the package knows the names of engines."""

    class Loud(engine_class("duckdb")):
        name = "loud"

    monkeypatch.setitem(ENGINES, "loud", f"{__name__}:Loud")
    monkeypatch.setitem(globals(), "Loud", Loud)
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    table = open_table(tmp_path / "t.csv", engine="loud")
    assert table.engine.name == "loud"
    assert count(table, ["a"]).records.tolist() == [1]
    with pytest.raises(ArgumentError, match="no engine 'dask': use duckdb or spark or loud"):
        open_table(tmp_path / "t.csv", engine="dask")


@pytest.mark.long
def test_the_verbs_hand_the_memory_on(tmp_path, monkeypatch):
    (tmp_path / "t.csv").write_text("race,zip\n" + "".join(f"{'ab'[i % 2]},{i % 7}\n" for i in range(200)))
    limits = []
    connect = connections.connect

    def noted(**settings):
        connection = connect(**settings)
        limits.append(connection.execute("SELECT current_setting('memory_limit')").fetchall()[0][0])
        return connection

    for module in (connections, engine, layouts):
        monkeypatch.setattr(module, "connect", noted)
    source, words = tmp_path / "t.csv", {"secret": "race", "memory": "123MiB"}
    tacit.audit(source, **words)
    tacit.protect(source, **words, epsilon=0.5, out=tmp_path / "release")
    tacit.verify(tmp_path / "release", against=source, memory="123MiB")
    tacit.attack(tmp_path / "release", against=source, memory="123MiB")
    assert len(limits) > 4
    assert set(limits) == {"123.0 MiB"}
