"""Files of other kinds: packed and encoded text, JSON, ORC, Stata, SPSS, SAS, SQLite, several files, standard input."""

from __future__ import annotations

import datetime as dt
import gc
import gzip
import io
import json
import os
import sqlite3
import sys
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.orc as orc
import pyarrow.parquet as pq
import pyreadstat
import pytest

import tacit
from sizes import few
from tacit.errors import ArgumentError, DataError, SourceError
from tacit.loading import fenced
from tacit.tables import count, open_table, suffix_for, write_table
from tacit.tables.engines.duckdb.connections import _directories

CSV = 'id,city\n007,Köln\n8,"a\nb"\n9,\n'
CSV_ROWS = [{"id": "007", "city": "Köln"}, {"id": "8", "city": "a\nb"}, {"id": "9", "city": None}]
ENGINES = ["duckdb", pytest.param("spark", marks=pytest.mark.spark)]


def on_engines(cases, on_spark):
    """Cases on DuckDB, and on Spark those that it need try in the short form, or all."""
    on_spark = few(cases, on_spark)
    spark = [pytest.param("spark", case, marks=pytest.mark.spark) for case in on_spark]
    return [*(("duckdb", case) for case in cases), *spark]


def rows(table):
    return table.sample(table.names, 10**9).to_pylist()


def packed(text, ending):
    if ending == ".gz":
        return gzip.compress(text[:9]) + gzip.compress(text[9:])
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(text)
    return sink.getvalue().to_pybytes()


@pytest.mark.parametrize(("engine", "ending"), on_engines([".gz", ".zst"], 1))
def test_packed_text_is_read_and_written_packed(request, tmp_path, engine, ending):
    if engine == "spark":
        request.getfixturevalue("spark")
    path = tmp_path / f"t.csv{ending}"
    path.write_bytes(packed(CSV.encode(), ending))
    table = open_table(path, engine=engine)
    assert rows(table) == CSV_ROWS
    assert suffix_for(table) == f".csv{ending}"
    out = tmp_path / f"out.csv{ending}"
    write_table(table, out, like=table)
    assert out.read_bytes()[:2] == path.read_bytes()[:2]
    assert rows(open_table(out)) == CSV_ROWS
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(SourceError, match=r"t\.csv.* is not an intact (gzip|zstd) file"):
        rows(open_table(path, engine=engine))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "latin-1", "utf-8-sig", "utf-8"])
def test_the_encoding_of_text_is_found_and_told(tmp_path, encoding):
    path = tmp_path / "t.csv"
    path.write_bytes(CSV.encode(encoding))
    table = open_table(path)
    assert rows(table) == CSV_ROWS
    assert bool(table.notes) == (not encoding.startswith("utf-8"))
    write_table(table, tmp_path / "out.csv", like=table)
    assert (tmp_path / "out.csv").read_text("utf-8").splitlines()[1].endswith("Köln")


def test_an_encoding_can_be_said(tmp_path, tacit_command):
    path = tmp_path / "t.csv"
    path.write_bytes(("id,город\n" + "1,Москва\n2,Тула\n" * 20).encode("cp1251"))
    assert open_table(path).names != ("id", "город")
    assert open_table(path, encoding="cp1251").names == ("id", "город")
    code, out, _ = tacit_command("audit", str(path), "--encoding", "cp1251", "--secret", "город", "--format", "json")
    assert code == 0
    assert any("is read as CP1251" in note for note in json.loads(out)["notes"])
    with pytest.raises(ArgumentError, match="'klingon' is not an encoding"):
        open_table(path, encoding="klingon")
    with pytest.raises(DataError, match="not text in ascii: give its encoding"):
        open_table(path, encoding="ascii")
    path.write_bytes("a,b\né,2\n1,".encode() + b"\xff\n")
    with pytest.raises(DataError, match=r"t\.csv, line 3: .*UTF-8"):
        rows(open_table(path))


@pytest.mark.parametrize("engine", ENGINES)
def test_a_json_array_keeps_numbers_texts_and_its_form(request, tmp_path, engine):
    if engine == "spark":
        request.getfixturevalue("spark")
    data = [{"a": 2**53 + 1, "t": "2020-01-01", "x": "é\n"}, {"a": None, "t": None, "x": ""}]
    for text in (json.dumps(data), json.dumps(data, indent=2), "\n".join(map(json.dumps, data))):
        (tmp_path / "t.json").write_text(text)
        assert rows(open_table(tmp_path / "t.json", engine=engine)) == data
    table = open_table(tmp_path / "t.json")
    write_table(table, tmp_path / "out.json", like=table)
    assert json.loads((tmp_path / "out.json").read_text()) == data
    for text, why in (('["a"]', "not an array of JSON objects"), ('[{"a": 1}, {"a": "x"}]', "mixes types")):
        (tmp_path / "t.json").write_text(text)
        with pytest.raises(DataError, match=why):
            open_table(tmp_path / "t.json")


def test_orc_is_read_and_written(tmp_path):
    data = pa.table({"a": [1, None], "d": [dt.date(1950, 1, 2), None], "x": ["é", ""]})
    orc.write_table(data, tmp_path / "t.orc")
    table = open_table(tmp_path / "t.orc")
    assert rows(table) == data.to_pylist()
    write_table(table, tmp_path / "out.orc", like=table)
    assert rows(open_table(tmp_path / "out.orc")) == data.to_pylist()
    (tmp_path / "t.orc").write_bytes(b"ORC and no more")
    with pytest.raises(SourceError, match="not an intact ORC file"):
        open_table(tmp_path / "t.orc")


PEOPLE = {
    "sex": [1.0, 2.0, 1.0, None],
    "age": [33.0, -99.0, 41.5, 20.0],
    "n": [1.0, 2.0, 3.0, None],
    "name": ["é", "b", "", "d"],
    "born": [dt.date(1950, 1, 2), dt.date(2020, 2, 3), None, dt.date(1999, 12, 31)],
}


@pytest.mark.parametrize("ending", ["sav", "dta", "xpt", "por"])
def test_files_of_statistics_are_told_as_their_readers_expect(tmp_path, ending):
    pd = pytest.importorskip("pandas")
    frame, path = pd.DataFrame(PEOPLE), tmp_path / f"t.{ending}"
    labels = {"variable_value_labels": {"sex": {1: "male", 2: "female"}, "age": {-99: "refused"}}}
    if ending == "sav":
        pyreadstat.write_sav(frame, path, missing_ranges={"age": [-99]}, **labels)
    elif ending == "dta":
        pyreadstat.write_dta(frame, path, variable_value_labels={"sex": labels["variable_value_labels"]["sex"]})
    elif ending == "xpt":
        pyreadstat.write_xport(frame, path)
    else:
        pyreadstat.write_por(frame.assign(name="x"), path)
    table = open_table(path)
    got = {name.lower(): [row[name] for row in rows(table)] for name in table.names}
    assert got["sex"] == ([1, 2, 1, None] if ending in ("xpt", "por") else ["male", "female", "male", None])
    assert got["age"] == [33.0, None if ending == "sav" else -99.0, 41.5, 20.0]
    assert got["n"] == [1, 2, 3, None]
    if ending != "por":
        assert got["name"] == ["é", "b", "" if ending == "sav" else None, "d"]
    assert got["born"] == PEOPLE["born"]
    assert [column.kind for column in table.columns][1:] == ["number", "number", "text", "time"]
    told = " ".join(table.notes)
    assert ("read by their value labels: sex" in told) == (ending in ("sav", "dta"))
    assert ("all kinds of missing count as one in age" in told) == (ending == "sav")
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(SourceError, match="cannot be read as a Stata, SPSS or SAS file"):
        open_table(path)


def test_a_file_that_sas_wrote_is_read(tmp_path):
    # Anderson's irises, from the examples of the R package haven (MIT): nothing else here can write such a file.
    packed = Path(__file__).with_name("iris.sas7bdat.gz")
    (tmp_path / "iris.sas7bdat").write_bytes(gzip.decompress(packed.read_bytes()))
    table = open_table(tmp_path / "iris.sas7bdat")
    assert [column.kind for column in table.columns] == ["number"] * 4 + ["text"]
    *numbers, species = table.sample(table.names, 150).columns
    assert [round(sum(each.to_pylist()), 1) for each in numbers] == [876.5, 458.6, 563.7, 179.9]
    assert {each["values"]: each["counts"] for each in species.value_counts().to_pylist()} == dict.fromkeys(
        ["setosa", "versic", "virgin"], 50
    )


def test_a_table_of_a_sqlite_database_is_read_whatever_its_file_is_called(tmp_path):
    path = tmp_path / "people.db"
    with sqlite3.connect(path) as database:
        database.execute('CREATE TABLE p ("a ""b" INTEGER, x, day TEXT, f REAL, note)')
        lines = [(2**62, "é", "1950-01-02", 0.5, None), (None, "", None, 2, None)]
        database.executemany("INSERT INTO p VALUES (?, ?, ?, ?, ?)", lines)
        database.execute("CREATE TABLE mixed (m); ")
        database.execute("INSERT INTO mixed VALUES (1), ('a')")
    database.close()
    table = open_table(f"{path}::p")
    assert [tuple(row.values()) for row in rows(table)] == lines
    assert [column.kind for column in table.columns] == ["number", "text", "time", "number", "text"]
    assert table.format == "sqlite"
    assert suffix_for(table) == ".parquet"
    with pytest.raises(SourceError, match="has 2 tables, choose one"):
        open_table(path)
    with pytest.raises(DataError, match=r"column 'm' of .*people.db::mixed mixes types"):
        open_table(path, table="mixed")
    (tmp_path / "people.db-wal").write_bytes(b"x")
    with pytest.raises(SourceError, match=r"not in it yet \(people.db-wal\)"):
        open_table(path, table="p")


@pytest.mark.parametrize(("engine", "kind"), on_engines(["csv", "parquet", "jsonl", "orc", "arrow"], 1))
def test_several_files_are_one_table_with_a_column_for_each_folder_that_tells_one(request, tmp_path, engine, kind):
    if engine == "spark":
        request.getfixturevalue("spark")
    parts = {"year=1999/at=a%20b": ["x", "y"], "year=2001/at=__HIVE_DEFAULT_PARTITION__": ["z", None]}
    for folder, words in parts.items():
        (tmp_path / "t" / folder).mkdir(parents=True)
        part = tmp_path / "t" / folder / f"part.{kind}"
        data = pa.table({"filename": words, "n": ["1", "2"]})
        if kind == "orc":
            orc.write_table(data, part)
        else:
            one = open_table(data)
            write_table(one, part, like=SimpleNamespace(format=kind, delimiter=",", codec=None))
    (tmp_path / "t" / "_SUCCESS").touch()
    (tmp_path / "t" / ".hidden.csv").touch()
    expected = [
        {"filename": word, "n": n, "year": year, "at": at}
        for year, at, words in ((1999, "a b", ["x", "y"]), (2001, None, ["z", None]))
        for word, n in zip(words, "12", strict=True)
    ]
    table = open_table(tmp_path / "t", engine=engine)
    assert rows(table) == expected
    assert table.sha256() == open_table(tmp_path / "t").sha256()
    assert rows(open_table(f"{tmp_path}/t/year=2*/**/*.{kind}", engine=engine)) == expected[2:]
    part.write_bytes(part.read_bytes() + b"\n")
    with pytest.raises(SourceError, match="changed while it was read"):
        table.sha256()


def test_a_folder_that_is_no_table_is_refused_by_name(tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    (tmp_path / "b.csv").write_text("a,c\n1,2\n")
    with pytest.raises(DataError, match=r"b\.csv has other columns"):
        open_table(tmp_path)
    pq.write_table(pa.table({"a": [1]}), tmp_path / "c.parquet")
    with pytest.raises(SourceError, match=r"several formats \(.*a\.csv and .*c\.parquet\)"):
        open_table(tmp_path)
    with pytest.raises(SourceError, match="no file is called"):
        open_table(f"{tmp_path}/*.jsonl")
    (tmp_path / "certificate.json").write_text("{}")
    with pytest.raises(SourceError, match="is a release: name the data in it"):
        open_table(tmp_path)


def test_a_folder_of_parquet_files_is_audited_and_protected_unless_its_folders_tell_the_secret(tmp_path, tacit_command):
    data = pa.table({"race": list("aab" * 40), "city": list("xyxzzy" * 20)})
    ds.write_dataset(data, tmp_path / "t", format="parquet", partitioning=["city"], partitioning_flavor="hive")
    code, out, _ = tacit_command("audit", str(tmp_path / "t"), "--secret", "race", "--format", "json")
    assert code == 0
    assert json.loads(out)["source"]["records"] == 120
    result = tacit.protect(tmp_path / "t", secret="race", epsilon=2, out=tmp_path / "out")
    assert any("place reveals which file" in str(note) for note in result.notes)
    assert tacit.verify(tmp_path / "out", against=tmp_path / "t").verdict == "holds"
    with pytest.raises(DataError, match="in the order of 'city', which the names of its folders reveal"):
        tacit.protect(tmp_path / "t", secret="city", epsilon=2, out=tmp_path / "other")


@pytest.mark.parametrize(
    ("address", "make"),
    [
        ("-", lambda: CSV.encode()),
        ("-", lambda: packed(CSV.encode(), ".gz")),
        ("-.csv", lambda: CSV.encode("utf-16")),
        (
            "-",
            lambda: b'[{"id": "007", "city": "K\\u00f6ln"}, {"id": "8", "city": "a\\nb"}, {"id": "9", "city": null}]',
        ),
    ],
)
def test_standard_input_is_read_once_and_its_format_found_or_said(monkeypatch, tmp_path, address, make):
    stream = SimpleNamespace(buffer=io.BytesIO(make()), isatty=lambda: False)
    monkeypatch.setattr(sys, "stdin", stream)
    table = open_table(address)
    assert rows(table) == CSV_ROWS == rows(open_table(address))
    assert (table.name, table.address) == ("standard input", "-")
    assert table.sha256() == open_table(address).sha256()
    with pytest.raises(SourceError, match="outside the folder"), fenced(tmp_path):
        open_table(address)


def test_a_private_copy_is_for_its_owner_alone_and_goes_with_its_table(tmp_path):
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(b"a\n1\n" * 400_000))
    open_table(pa.table({"a": [1]}))
    place = _directories[os.getpid()]
    before = set(place.glob("*.csv"))
    table = open_table(tmp_path / "t.csv.gz")
    (copy,) = set(place.glob("*.csv")) - before
    assert place.stat().st_mode & 0o777 == 0o700
    assert count(table, ["a"]).records.sum() == 799_999
    del table
    gc.collect()
    assert not copy.exists()


@pytest.mark.parametrize(
    ("cells", "read"),
    [
        (["1.640,50", "-7,5", '""', "", "12"], ["1640.50", "-7.5", "", None, "12"]),
        # Thousands, as likely as decimals; two choices of several; a comma and a point that fit no number.
        (["1,640", "12,345", "7"], ["1,640", "12,345", "7"]),
        (["1,2", "1,2,3"], ["1,2", "1,2,3"]),
        (["1.64,50", "7,5"], ["1.64,50", "7,5"]),
    ],
)
def test_decimal_commas_between_semicolons_are_numbers(tmp_path, cells, read):
    path = tmp_path / "t.csv"
    path.write_text("id;cost;city\n" + "".join(f'007;{cell};"a;\nb"\n' for cell in cells))
    table = open_table(path)
    assert rows(table) == [{"id": "007", "cost": cost, "city": "a;\nb"} for cost in read]
    assert any("decimal comma: cost" in note for note in table.notes) is (cells != read)


@pytest.mark.parametrize("cell", ["z\0", "zz\0"])
def test_a_zero_in_a_cell_does_not_make_a_text_utf_16(tmp_path, cell):
    """Read as UTF-16, all of the file was the name of its first column, which an error then told."""
    path = tmp_path / "zero.csv"
    path.write_text("a,b\n" + f"{cell},x\n" * 30)
    assert open_table(path).names == ("a", "b")
