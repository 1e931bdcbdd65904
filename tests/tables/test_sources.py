"""Opening files, databases and frames: what is read, and what is refused in one clear line."""

from __future__ import annotations

import hashlib
import json
import re
import uuid
from dataclasses import replace
from itertools import product

import duckdb
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

from sizes import few
from tacit.errors import ArgumentError, ColumnError, DataError, SourceError, TacitError
from tacit.tables import count, cut, cut_points, new_key, open_table, rewrite, scores, suffix_for, write_table

DATA = pa.table({"id": ["007", "8", None], "n": [1, 2, None], "yes": [True, False, None]})


def write(path, text):
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def rows(table):
    return table.sample(table.names, 10**9).to_pylist()


@pytest.mark.parametrize("name", ["t.parquet", "t.arrow", "t.feather", "t.stream.arrow", "t.duckdb"])
def test_typed_files_are_read_with_their_types(tmp_path, name):
    path = tmp_path / name
    if name.endswith("parquet"):
        pq.write_table(DATA, path, compression="gzip")
    elif name.endswith("feather"):
        pyarrow.feather.write_feather(DATA, path)
    elif name.endswith("duckdb"):
        with duckdb.connect(path) as connection:
            connection.from_arrow(DATA).to_table("people")
    else:
        make = pa.ipc.new_stream if "stream" in name else pa.ipc.new_file
        with make(path, DATA.schema) as writer:
            writer.write_table(DATA)
    table = open_table(path)
    assert rows(table) == DATA.to_pylist()
    assert [column.kind for column in table.columns] == ["text", "number", "boolean"]
    assert table.row_count() == 3
    assert table.sha256() == hashlib.sha256(path.read_bytes()).hexdigest()
    assert table.codec == ("gzip" if name.endswith("parquet") else None)


@pytest.mark.parametrize(
    "frame",
    [
        DATA,
        DATA.to_batches()[0],
        DATA.to_pandas(),
        pl.from_arrow(DATA),
        pl.from_arrow(DATA).lazy(),
        nw.from_native(pl.from_arrow(DATA)),
        nw.from_native(DATA),
    ],
    ids=["arrow", "batch", "pandas", "polars", "lazy polars", "narwhals polars", "narwhals arrow"],
)
def test_frames_are_read_and_have_no_fingerprint(frame):
    table = open_table(frame)
    assert table.row_count() == 3
    assert table.sample(["id"], 9).column("id").to_pylist() == ["007", "8", None]
    assert table.sha256() is None
    assert table.engine.name == "duckdb"


@pytest.mark.parametrize("form", ["frame", "parquet", "arrow"])
def test_a_column_without_values_identifiers_and_json_are_text(tmp_path, form):
    keys = [uuid.UUID(int=1), uuid.UUID(int=2), None]
    data = pa.table(
        {
            "none": pa.nulls(3),
            "key": pa.array([key and key.bytes for key in keys], pa.uuid()),
            "json": pa.array(['{"a":1}', "{}", None], pa.json_()),
        }
    )
    source = data if form == "frame" else tmp_path / f"t.{form}"
    if form == "parquet":
        pq.write_table(data, source)
    elif form == "arrow":
        with pa.ipc.new_file(source, data.schema) as writer:
            writer.write_table(data)
    table = open_table(source)
    assert {column.kind for column in table.columns} == {"text"}
    expected = [{**row, "key": row["key"] and str(row["key"])} for row in data.to_pylist()]
    assert rows(table) == expected
    counts = count(table, table.names)
    assert sorted(counts.records.tolist()) == [1, 1, 1]
    out = tmp_path / f"out{suffix_for(table)}"
    write_table(table, out, like=table)
    assert rows(open_table(out)) == expected


def test_a_relation_runs_where_it_is(tmp_path):
    connection = duckdb.connect(tmp_path / "x.duckdb")
    connection.from_arrow(DATA).to_table("people")
    table = open_table(connection.table("people").filter("n > 1"))
    assert rows(table) == [{"id": "8", "n": 2, "yes": False}]
    assert count(table, ["id"]).records.tolist() == [1]
    connection.close()


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_csv_cells_are_the_text_they_are(tmp_path, delimiter, ending):
    lines = ["id,age,when,ok,note", '007,1.50,2020-01-01,true,"a ""b"""', "010,,2020-02-30x,,", '011,3,,false,""']
    text = ending.join(lines).replace(",", delimiter) + ending
    table = open_table(write(tmp_path / "t.csv", text))
    assert table.delimiter == delimiter
    assert [column.kind for column in table.columns] == ["number", "number", "text", "boolean", "text"]
    assert rows(table) == [
        {"id": "007", "age": "1.50", "when": "2020-01-01", "ok": "true", "note": 'a "b"'},
        {"id": "010", "age": None, "when": "2020-02-30x", "ok": None, "note": None},
        {"id": "011", "age": "3", "when": None, "ok": "false", "note": ""},
    ]


def test_a_csv_may_have_a_mark_at_its_start_quoted_line_breaks_and_one_column(tmp_path):
    marked = open_table(write(tmp_path / "a.csv", b"\xef\xbb\xbfa,b\n1,2\n"))
    assert marked.names == ("a", "b")
    broken = open_table(write(tmp_path / "b.csv", 'a,b\n"x\ny",2\nz,3\n'))
    assert rows(broken) == [{"a": "x\ny", "b": "2"}, {"a": "z", "b": "3"}]
    assert rows(open_table(write(tmp_path / "c.csv", "only\n1\n2\n"))) == [{"only": "1"}, {"only": "2"}]


@pytest.mark.parametrize("first", ["sep=;", '"sep=;"', "\ufeffsep=;"])
def test_a_first_line_for_excel_names_the_delimiter_and_is_no_row(tmp_path, first):
    table = open_table(write(tmp_path / "t.csv", f"{first}\r\na,1;b\r\n1;x\r\n2;y\r\n"))
    assert (table.delimiter, list(table.names)) == (";", ["a,1", "b"])
    assert table.row_count() == 2


def test_a_delimiter_can_be_given(tmp_path):
    table = open_table(write(tmp_path / "t.csv", "a:b\n1:2\n"), delimiter=":")
    assert rows(table) == [{"a": "1", "b": "2"}]


ODD_NAMES = (
    *("*", "COLUMNS(*)", "a.b", "select", "rowid", "file_row_number", "tacit_rows", "c0", "n", "weight", "x", "s.x"),
    *('"', "'", "`", 'q"t', "it's", "a b", "  c ", "{x}", "100%", "é", "日本"),
)


def test_odd_column_names_work(tmp_path):
    names = list(ODD_NAMES)
    quoted = ",".join('"' + name.replace('"', '""') + '"' for name in names)
    table = open_table(write(tmp_path / "t.csv", f"{quoted}\n{','.join('1' for _ in names)}\n"))
    assert table.names == tuple(names)
    assert count(table, names).records.tolist() == [1]
    assert open_table(pa.table({name: [1] for name in names})).select(names[::-1]).names == tuple(names[::-1])


@pytest.mark.parametrize("engine", ["duckdb", pytest.param("spark", marks=pytest.mark.spark)])
def test_a_first_column_without_a_name_is_called_row_whatever_the_engine(request, tmp_path, engine):
    """As R and pandas write a table; a column that is called row already keeps its name."""
    if engine == "spark":
        request.getfixturevalue("spark")
    path = write(tmp_path / "r.csv", '"","sex","age"\n"1","f",30\n"2","m",41\n')
    table = open_table(path, engine=engine)
    assert rows(table) == [{"row": "1", "sex": "f", "age": "30"}, {"row": "2", "sex": "m", "age": "41"}]
    assert any("first column has no name in the file: it is called 'row'" in note for note in table.notes)
    taken = open_table(write(tmp_path / "taken.csv", ",Row\n1,2\n"), engine=engine)
    assert taken.names == ("row_", "Row")


ODD_FILES = ["t.csv", "t.parquet", "t.jsonl", "t.arrow"]


@pytest.mark.parametrize(
    ("engine", "name"),
    [
        *(("duckdb", name) for name in few(ODD_FILES, 2)),
        *(pytest.param("spark", name, marks=[pytest.mark.spark, pytest.mark.long]) for name in ODD_FILES),
    ],
)
def test_a_column_may_be_called_anything_and_its_release_has_the_same_columns(request, tmp_path, engine, name):
    if engine == "spark":
        request.getfixturevalue("spark")
    data = pa.table({each: [str(i * (at + 3) % 4) for i in range(12)] for at, each in enumerate(ODD_NAMES)})
    frame = open_table(data)
    write_table(frame, tmp_path / name, like=replace(frame, format=name[2:], delimiter=","))
    table = open_table(tmp_path / name, engine=engine)
    assert rows(table) == data.to_pylist()
    released = ["*", "a.b", '"']
    table = cut(table, [cut_points(table, "a.b", 2)])
    symbols = count(table, released).symbols(released)[0]
    done = rewrite(table, symbols, merged=np.ones(len(symbols), bool), replacement=None, key=new_key(1))
    write_table(scores(done, symbols, {"risk.*": np.zeros(len(symbols))}), tmp_path / f"out{name}", like=table)
    release = open_table(tmp_path / f"out{name}")
    assert release.names == (*ODD_NAMES, "risk.*")
    kept = [each for each in ODD_NAMES if each not in released]
    assert release.sample(kept, 100).to_pylist() == data.select(kept).to_pylist()
    assert set(release.sample(["*"], 100).column("*").to_pylist()) == {None}


def rows_or_refusal(path):
    try:
        return rows(open_table(path))
    except DataError as error:
        ours = re.search(r"t\.csv.* (mixes different line endings|the line ending differs from)", str(error))
        return "in our words" if ours else str(error)


@pytest.mark.parametrize("endings", [e for e in product(["\n", "\r\n", "\r"], repeat=3) if len(set(e)) > 1])
@pytest.mark.parametrize("cell", ["4", '"4"'])
def test_lines_that_end_in_different_ways_are_read_whole_or_refused_in_our_words(tmp_path, endings, cell):
    lines = ["a,b", "1,2", f"3,{cell}"]
    path = write(tmp_path / "t.csv", "".join(line + ending for line, ending in zip(lines, endings, strict=True)))
    assert rows_or_refusal(path) in ([{"a": "1", "b": "2"}, {"a": "3", "b": "4"}], "in our words")


def test_a_header_alone_is_a_table_of_no_rows(tmp_path):
    table = open_table(write(tmp_path / "t.csv", "a,b\n"))
    assert table.row_count() == 0
    assert table.sample(["a"], 5).num_rows == 0
    assert len(count(table, ["a"]).records) == 0


def test_jsonl_keeps_the_text_of_times_and_reads_numbers(tmp_path):
    lines = [{"a": 1, "t": "2020-01-01T00:00:00", "x": None}, {"a": 2, "t": "2021-01-01T00:00:00", "x": None}]
    table = open_table(write(tmp_path / "t.jsonl", "\n".join(map(json.dumps, lines))))
    assert rows(table) == lines
    assert [column.kind for column in table.columns] == ["number", "time", "text"]


def test_a_json_file_may_have_a_mark_at_its_start(tmp_path):
    for name, text in (("t.jsonl", '{"a":1}\n{"a":2}\n'), ("t.json", '[{"a":1},{"a":2}]')):
        assert rows(open_table(write(tmp_path / name, b"\xef\xbb\xbf" + text.encode()))) == [{"a": 1}, {"a": 2}]


def test_keys_with_numbers_are_columns_and_null_in_an_array_is_a_row(tmp_path):
    lines = write(tmp_path / "t.jsonl", '{"a":1,"a_1":2}\n{"a":3,"A_2":4}\n')
    assert rows(open_table(lines)) == [{"a": 1, "a_1": 2, "A_2": None}, {"a": 3, "a_1": None, "A_2": 4}]
    assert rows(open_table(write(tmp_path / "t.json", '[{"a":1},null]'))) == [{"a": 1}, {"a": None}]


def test_digits_with_a_line_between_them_are_text(tmp_path):
    table = open_table(write(tmp_path / "t.csv", "a,b\n1_000,1\n2_000,2\n"))
    assert [column.kind for column in table.columns] == ["text", "number"]


def test_a_sample_is_of_evenly_spaced_rows():
    table = open_table(pa.table({"i": range(1000)}))
    assert table.sample(["i"], 10).column("i").to_pylist() == list(range(0, 1000, 100))
    assert table.sample(["i"], 300).column("i").to_pylist() == list(range(0, 1000, 4))
    assert table.sample(["i"], 5000).num_rows == 1000


def test_columns_can_be_selected():
    table = open_table(DATA)
    assert table.select(["n", "id"]).names == ("n", "id")
    with pytest.raises(ColumnError, match="did you mean 'yes'"):
        table.select(["yess"])


def test_a_database_of_several_tables_wants_a_name(tmp_path):
    path = tmp_path / "p.duckdb"
    with duckdb.connect(path) as connection:
        connection.execute("CREATE TABLE a AS SELECT 1 AS x; CREATE TABLE b AS SELECT 2 AS x")
        connection.execute("CREATE SCHEMA s; CREATE TABLE s.c AS SELECT 3 AS x")
    with pytest.raises(SourceError, match=r"has 3 tables, choose one with .*p.duckdb::NAME: a, b, s.c"):
        open_table(path)
    with pytest.raises(SourceError, match=r"no table 'z'; it has a, b, s.c"):
        open_table(path, table="z")
    assert rows(open_table(path, table="b")) == [{"x": 2}]
    assert rows(open_table(f"{path}::s.c")) == [{"x": 3}]


def truncated(tmp_path):
    path = tmp_path / "cut.parquet"
    pq.write_table(pa.table({"a": list(range(10_000))}), path)
    path.write_bytes(path.read_bytes()[:-100])
    return path


def nameless(tmp_path):
    pq.write_table(pa.table({"": [1], "a": [2]}), tmp_path / "t.parquet")
    return tmp_path / "t.parquet"


BAD_FILES = {
    "missing": (lambda p: p / "no.csv", SourceError, "no file .*no.csv"),
    "directory": (lambda p: p, SourceError, "holds no table: name a file"),
    "empty": (lambda p: write(p / "t.csv", ""), SourceError, "is empty"),
    "blank": (lambda p: write(p / "t.csv", "\n\n"), TacitError, "empty"),
    "ending": (lambda p: write(p / "t.doc", "x"), SourceError, r"extension '.doc', which Tacit cannot read"),
    "twice": (lambda p: write(p / "t.csv", "a,b,a\n1,2,3\n"), DataError, "more than one column 'a'"),
    "case": (lambda p: write(p / "t.csv", "a,A\n1,2\n"), DataError, "'a' and 'A' that differ only in case"),
    "unnamed": (lambda p: write(p / "t.csv", "a,,b\n1,2,3\n"), DataError, "line 1: column 2 has no name"),
    "two unnamed": (lambda p: write(p / "t.csv", ",,b\n1,2,3\n"), DataError, "line 1: column 2 has no name"),
    "all unnamed": (lambda p: write(p / "t.csv", '""\n1\n'), DataError, "line 1: column 1 has no name"),
    "ragged": (lambda p: write(p / "t.csv", "a,b\n1,2\n1,2,3\n"), DataError, "t.csv, line 3: it has 3 cells"),
    "short": (lambda p: write(p / "t.csv", "a,b\n1,2\n1\n"), DataError, "t.csv, line 3: it has 1 cell"),
    "quotes": (lambda p: write(p / "t.csv", 'a,b\n1,2\n1,"x\n3,4\n'), DataError, "t.csv, line 3: .*quote"),
    "bytes": (lambda p: write(p / "t.csv", b"a,b\n1,\xc3\xa9\n1,\xff\n"), DataError, "t.csv, line 3: .*UTF-8"),
    "endings": (lambda p: write(p / "t.csv", b"a,b\r\n1,2\n3,4\r\n"), TacitError, "t.csv"),
    "truncated": (truncated, SourceError, "not an intact Parquet file"),
    "no parquet": (lambda p: write(p / "t.parquet", "hello"), SourceError, "not an intact Parquet file"),
    "no arrow": (lambda p: write(p / "t.arrow", "hello hello"), SourceError, "not an intact Arrow file"),
    "no database": (lambda p: write(p / "t.duckdb", "hello" * 1000), SourceError, "cannot read or write .*t.duckdb"),
    "mixed": (lambda p: write(p / "t.jsonl", '{"a": 1}\n{"a": "x"}\n'), DataError, "column 'a' .* mixes types"),
    "json twice": (lambda p: write(p / "t.jsonl", '{"a": 1, "a": 2}\n'), DataError, "more than one column 'a'"),
    "json list": (lambda p: write(p / "t.jsonl", "[1, 2]\n"), DataError, "line 1: not a JSON object"),
    "blank line": (lambda p: write(p / "t.csv", "\na,b\n1,2\n"), DataError, "line 1: it is empty, where the column"),
    "long line": (
        lambda p: write(p / "t.csv", f"a\n{'x' * 2_500_000}\n"),
        DataError,
        "line 2: the line is longer than",
    ),
    "json case": (lambda p: write(p / "t.jsonl", '{"a": 1}\n{"A": 2}\n'), DataError, "that differ only in case"),
    "json nameless": (lambda p: write(p / "t.jsonl", '{"b": 1, "": 2}\n'), DataError, "column 2 has no name"),
    "json number": (lambda p: write(p / "t.jsonl", '{"a": 1}\n5\n'), DataError, "not a JSON object: write one object"),
    "json line": (lambda p: write(p / "t.jsonl", '{"a": 1}\n{"a": \n{"a": 2}\n'), DataError, "t.jsonl, line 2: not a"),
    "json cut": (lambda p: write(p / "t.json", '[{"a": 1},\n'), DataError, "is cut off: its array has no end"),
    "nameless": (nameless, DataError, "t.parquet: column 1 has no name"),
    "json broken": (lambda p: write(p / "t.jsonl", '{"a": 1}\n{"a": \n'), TacitError, "t.jsonl"),
}


@pytest.mark.parametrize("case", BAD_FILES)
def test_a_bad_file_is_refused_in_one_line_that_names_it(tmp_path, case):
    make, kind, message = BAD_FILES[case]
    path = make(tmp_path)
    with pytest.raises(kind, match=message) as caught:
        rows(open_table(path))
    assert "\n" not in str(caught.value)
    assert isinstance(caught.value, TacitError)


def test_a_bad_line_far_into_a_file_is_named(tmp_path):
    path = write(tmp_path / "t.csv", "a,b\n" + "1,2\n" * 500_000 + "1\n" + "1,2\n" * 1000)
    table = open_table(path)
    with pytest.raises(DataError, match=r"t.csv, line 500,?002: it has 1 cell where the header has 2"):
        count(table, ["a"])


def test_duplicate_and_odd_frames_are_refused():
    with pytest.raises(DataError, match="more than one column 'a'"):
        open_table(pd.DataFrame([[1, 2]], columns=["a", "a"]))
    with pytest.raises(DataError, match="more than one column 'a'"):
        open_table(pa.table([[1], [2]], names=["a", "a"]))
    with pytest.raises(DataError, match="mixed or unknown type"):
        open_table(pd.DataFrame({"a": [1, "x"]}))
    with pytest.raises(SourceError, match=r"cannot open a builtins.list"):
        open_table([1, 2])
    with pytest.raises(SourceError, match="no columns"):
        open_table(pd.DataFrame())
    with pytest.raises(ArgumentError, match="belong to files"):
        open_table(DATA, table="x")
    with pytest.raises(ArgumentError, match="no engine 'pandas'"):
        open_table(DATA, engine="pandas")


def test_a_file_is_found_whatever_its_name(tmp_path):
    for number, name in enumerate(("a b.csv", "it's.csv", "a1.csv", "a[1].csv", "a*.csv", "a?.csv", "é.csv")):
        assert rows(open_table(write(tmp_path / name, f"a\n{number}\n"))) == [{"a": str(number)}]


def test_opening_a_table_leaves_the_default_connection_alone():
    open_table(DATA).row_count()
    assert duckdb.sql("SELECT count(*) FROM duckdb_variables()").fetchall() == [(0,)]


def test_rows_are_counted_once(monkeypatch):
    table = open_table(pa.table({"x": [1, 2, 3]}))
    assert table.row_count() == 3
    monkeypatch.setattr(type(table.engine), "counted", None)
    assert table.row_count() == table.select(["x"]).row_count() == 3
    with pytest.raises(TypeError):
        open_table(pa.table({"x": [1, 2, 3]})).row_count()
