"""Sheets are read as what they say, or refused by name."""

from __future__ import annotations

import zipfile
from datetime import date, datetime, time
from pathlib import Path

import pytest

import tacit
from excel_files import Cell, write_workbook
from tacit.errors import DataError, SourceError
from tacit.tables import open_table

PEOPLE: list[list[Cell]] = [
    ["id", "age", "born", "mixed", "flag", "zip", "share", "seen"],
    [1, 30, date(1994, 3, 1), 5, True, "007", 0.5, datetime(2024, 1, 1, 12)],
    [2, 31, date(1993, 3, 2), "x", False, "008", 1, None],
    [None] * 8,
    [3, None, None, 2.5, None, "009", 2, datetime(2024, 1, 2)],
    [None] * 8,
]


def test_a_sheet_is_read_with_whole_numbers_days_and_texts_as_they_are(tmp_path: Path) -> None:
    table = open_table(write_workbook(tmp_path / "people.xlsx", {"People": PEOPLE, "Notes": []}))
    assert {column.name: column.dtype for column in table.columns} == {
        "id": "Int64",
        "age": "Int64",
        "born": "Date",
        "mixed": "String",
        "flag": "Boolean",
        "zip": "String",
        "share": "Float64",
        "seen": "Datetime(time_unit='ms', time_zone=None)",
    }
    rows = table.frame.collect("pyarrow").to_native().to_pylist()
    assert [row["mixed"] for row in rows] == ["5", "x", "2.5"]
    assert [row["zip"] for row in rows] == ["007", "008", "009"]
    assert [row["age"] for row in rows] == [30, 31, None]
    assert rows[0]["born"] == date(1994, 3, 1)
    assert rows[0]["seen"] == datetime(2024, 1, 1, 12)


def test_times_of_day_are_no_days_and_an_empty_column_is_read_in_silence(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    noon, day = datetime(1899, 12, 30, 12), datetime(2024, 1, 2, 6)
    rows: list[list[Cell]] = [["at", "on", "none"], [noon, noon, None], [None, day, None], [noon, day, None]]
    table = open_table(write_workbook(tmp_path / "times.xlsx", {"Times": rows}))
    assert [column.kind for column in table.columns] == ["time", "time", "text"]
    read = table.frame.collect("pyarrow").to_native()
    assert read["at"].to_pylist() == [time(12), None, time(12)]
    assert read["on"].to_pylist()[1:] == [day, day]
    assert not caplog.records


def test_one_of_several_sheets_must_be_named(tmp_path: Path) -> None:
    path = write_workbook(tmp_path / "two.xlsx", {"One": [["a"], [1]], "Two": [["b"], [2]]})
    with pytest.raises(SourceError, match=r"has 2 sheets, choose one .*One, Two"):
        open_table(path)
    assert open_table(f"{path}::Two").names == ("b",)
    with pytest.raises(SourceError, match="no sheet 'Three'"):
        open_table(f"{path}::Three")


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([["a", "a"], [1, 2]], "'a'"),
        ([["a", None], [1, 2]], "column 2 has no name"),
        ([["Stays of 2024", None, None], ["a", "b", "c"], [1, 2, 3]], "Row 1 looks like a title: delete it, or"),
        (
            [["Stays of 2024", None], ["a", "b"], [1, 2]],
            "column 2 has no name; .* or, if that row is a title, delete it",
        ),
        ([["Stays", "2024", None, None], ["a", "b", "c", "d"], [1, 2, 3, 4]], "if that row is a title, delete it"),
        ([], "is empty"),
    ],
)
def test_a_sheet_without_a_name_for_every_column_is_refused(
    tmp_path: Path, rows: list[list[Cell]], message: str
) -> None:
    path = write_workbook(tmp_path / "odd.xlsx", {"S": rows})
    with pytest.raises((SourceError, DataError), match=message):
        open_table(path)


@pytest.mark.parametrize("ending", ["xlsx", "xls", "xlsb", "ods"])
@pytest.mark.parametrize(
    "content", [b"PK\x03\x04 no archive", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600, b"a,b\n1,2\n"]
)
def test_a_damaged_workbook_is_refused_by_name(tmp_path: Path, ending: str, content: bytes) -> None:
    path = tmp_path / f"bad.{ending}"
    path.write_bytes(content)
    kind = "OpenDocument" if ending == "ods" else "Excel"
    with pytest.raises(SourceError, match=f"bad.{ending} is not an intact {kind} file: save it again$"):
        open_table(path)


def test_a_workbook_that_unpacks_to_too_much_is_refused_before_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "bomb.xlsx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", b" " * (1 << 22))
    monkeypatch.setattr("tacit.tables.formats.excel.MOST_UNPACKED", 1 << 21)
    with pytest.raises(SourceError, match="too large for a workbook"):
        open_table(path)


def test_a_release_of_a_sheet_is_parquet_and_holds_against_the_sheet(tmp_path: Path) -> None:
    rows: list[list[Cell]] = [["age", "race"], *([20 + i % 7, "AB"[i % 3 == 0]] for i in range(120))]
    path = write_workbook(tmp_path / "people.xlsx", {"People": rows})
    made = tacit.protect(path, secret="race", epsilon=0.5, out=tmp_path / "release")
    assert made.data_file == "data.parquet"
    assert "Save the original as CSV first" in " ".join(str(made).split())
    assert tacit.verify(tmp_path / "release", against=path).verdict == "holds"
