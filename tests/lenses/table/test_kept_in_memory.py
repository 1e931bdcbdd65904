"""A release without a directory: it is there as long as the result, as the kind of frame that went in."""

from __future__ import annotations

import gc
import stat
from pathlib import Path

import duckdb
import narwhals as nw
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import tacit
from sizes import few
from tables_of_people import clinic
from tacit import ArgumentError, SourceError

PEOPLE = pd.DataFrame(
    {"illness": ["flu", "none", "none", "flu"] * 30, "ward": ["lung", "general"] * 60, "age": [*range(20, 60)] * 3},
    index=[f"name {at}" for at in range(120)],
)
ASKED = {"secret": "illness", "epsilon": 0.5}


@pytest.fixture(scope="module")
def release() -> tacit.ProtectResult:
    return tacit.protect(PEOPLE, **ASKED)


def relation(frame: pd.DataFrame) -> duckdb.DuckDBPyRelation:
    connection = duckdb.connect()
    connection.register("people", pa.Table.from_pandas(frame, preserve_index=False))
    return connection.sql("SELECT * FROM people")


def spark(frame: pd.DataFrame):
    from tacit.tables.engines.spark.sessions import session

    return session().createDataFrame(frame)


@pytest.mark.long
@pytest.mark.parametrize(
    "kind",
    few(
        [
            pl.from_pandas,
            lambda frame: pl.from_pandas(frame).lazy(),
            lambda frame: pa.Table.from_pandas(frame, preserve_index=False),
            relation,
            pytest.param(spark, marks=pytest.mark.spark),
            lambda frame: nw.from_native(pl.from_pandas(frame)),
        ],
        3,
    ),
    ids=few(["polars", "lazy polars", "arrow", "duckdb", "spark", "narwhals"], 3),
)
def test_the_release_comes_back_as_the_kind_of_frame_that_went_in(kind, release) -> None:
    given = kind(PEOPLE.reset_index(drop=True))
    frame = tacit.protect(given, **ASKED).frame()
    assert isinstance(frame, type(given))
    native = nw.from_native(frame, pass_through=True)
    rows = native.collect("pyarrow") if isinstance(native, nw.LazyFrame) else native
    assert rows.to_arrow().to_pydict() == release.frame().to_dict("list")


def test_a_frame_of_a_relation_is_on_its_connection() -> None:
    given = relation(PEOPLE)
    frame = tacit.protect(given, **ASKED).frame()
    assert frame.union(given.project("ward, CAST(age AS VARCHAR)")).shape == (240, 2)


def test_rows_stay_in_order_and_an_index_with_names_does_not_come_back(release) -> None:
    frame = release.frame()
    assert frame.columns.tolist() == ["ward", "age"]
    assert frame.index.tolist() == list(range(120))
    assert all(told in ("any", ward) for told, ward in zip(frame.ward, PEOPLE.ward, strict=True))


def test_a_file_comes_back_as_arrow_and_from_a_directory_too(tmp_path: Path, release) -> None:
    PEOPLE.to_csv(tmp_path / "people.csv", index=False)
    made = tacit.protect(tmp_path / "people.csv", **ASKED, out=tmp_path / "release")
    assert made.frame().to_pydict() == release.frame().to_dict("list")
    (tmp_path / "release" / "data.csv").write_text("ward,age\n")
    with pytest.raises(SourceError, match="not what was certified"):
        made.frame()


def test_it_goes_with_the_result_and_nobody_else_may_enter_it() -> None:
    made = tacit.protect(PEOPLE, **ASKED)
    place = Path(made.out)
    assert "not saved yet" in str(made)
    assert str(place) not in str(made)
    assert (place / "report.html").exists()
    assert stat.S_IMODE(place.parent.stat().st_mode) == 0o700
    del made
    gc.collect()
    assert not place.parent.exists()


def test_saved_it_is_a_release_like_any_other(tmp_path: Path, release) -> None:
    saved = release.save(tmp_path / "release")
    assert saved.out == str(tmp_path / "release")
    assert "release" in str(saved)
    assert tacit.verify(saved.out, against=PEOPLE.reset_index(drop=True)).verdict == "holds"
    assert stat.S_IMODE((tmp_path / "release" / "private").stat().st_mode) == 0o700
    with pytest.raises(ArgumentError, match="already exists"):
        release.save(tmp_path / "release")
    assert release.save(tmp_path / "release", overwrite=True).certificate == release.certificate


def test_no_value_of_a_frame_stands_in_what_verify_says(release) -> None:
    named = PEOPLE.reset_index(names="name")
    told = tacit.verify(release.out, against=named)
    assert told.against == "the pandas frame"
    assert "name 7" not in str(told)


def test_what_was_changed_since_is_not_saved(tmp_path: Path) -> None:
    made = tacit.protect(PEOPLE, **ASKED)
    (Path(made.out) / "data.parquet").write_bytes(b"other")
    with pytest.raises(SourceError, match="not as it was certified"):
        made.save(tmp_path / "release")
    assert not (tmp_path / "release").exists()
    with pytest.raises(SourceError, match="make the release anew"):
        made.frame()


def test_a_ledger_needs_a_place(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match=r"say out='release', or leave out ledger"):
        tacit.protect(PEOPLE, **ASKED, ledger=tmp_path / "ledger.json")


def test_nothing_is_left_behind_by_a_release_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(ArgumentError):
        tacit.protect(PEOPLE, secret="ilness", epsilon=0.5)
    gc.collect()
    assert list(tmp_path.iterdir()) == []


def test_what_takes_a_release_takes_the_result_that_holds_it() -> None:
    people = pa.table(clinic(200))
    made = tacit.protect(people, secret="illness", epsilon=1.0)
    assert tacit.verify(made, against=people).verdict == "holds"
