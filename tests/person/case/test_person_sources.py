"""Sources of every format become one table of attributes, with confidences, names and notes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import narwhals as nw
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from sizes import few, many
from tacit.errors import DataError, EngineError, SourceError, TacitError
from tacit.person.case import Case, read_case
from tacit.person.inquiry import read_sources
from tacit.person.link import References
from tacit.person.link.forms.cells import crossing
from tacit.person.model.forms import says_nothing
from tacit.person.sources import PopulationSpec, RecordPool, read_references
from tacit.tables import open_table
from tacit.tables.engines import store_on

SECRET = "Zyxwv"


def case_of(folder: Path, *sources: dict[str, Any], person: Any = None) -> Case:
    data = {"person": person or {"name": "Alice"}, "sources": list(sources)}
    (folder / "case.json").write_text(json.dumps(data))
    return read_case(folder / "case.json")


def evidence(folder: Path, *sources: dict[str, Any], person: Any = None) -> RecordPool:
    return read_sources(case_of(folder, *sources, person=person))


def held(found: RecordPool) -> list[dict[tuple[str, str], float]]:
    return [record.confidences for record in found.numbered(range(found.n_records))]


def write(folder: Path, name: str, text: str) -> dict[str, Any]:
    (folder / name).write_text(text, "utf-8")
    return {"name": name.split(".")[0], "path": name}


# ------------------------------------------------------------------------------------------------------ tables


def test_every_format_of_table_says_the_same(tmp_path: Path) -> None:
    rows = [{"name": "Alice", "tel": "007"}, {"name": "Bob", "tel": None}]
    table = pa.Table.from_pylist(rows)
    pq.write_table(table, tmp_path / "b.parquet")
    with pa.OSFile(str(tmp_path / "d.arrow"), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    sources = [
        write(tmp_path, "a.csv", "name;tel\nAlice;007\nBob;\n"),
        {"name": "b", "path": "b.parquet"},
        write(tmp_path, "c.jsonl", "\n".join(map(json.dumps, rows))),
        {"name": "d", "path": "d.arrow"},
    ]
    found = evidence(tmp_path, *({**source, "map": {"tel": "phone"}} for source in sources))
    expected = [{("name", "Alice"): 1.0, ("phone", "007"): 1.0}, {("name", "Bob"): 1.0}]
    assert held(found) == expected * 4
    assert [found.name(rid) for rid in range(8)] == ["a 1", "a 2", "b 1", "b 2", "c 1", "c 2", "d 1", "d 2"]
    assert [(source.name, source.first, source.records) for source in found.sources] == [
        ("a", 0, 2), ("b", 2, 2), ("c", 4, 2), ("d", 6, 2)
    ]  # fmt: skip
    assert all(len(source.sha256) == 64 for source in found.sources)
    assert found.numbered([5])[0].source == "c"


def test_a_table_of_a_database_is_read(tmp_path: Path) -> None:
    import duckdb

    with duckdb.connect(str(tmp_path / "x.duckdb")) as connection:
        connection.execute("CREATE TABLE people AS SELECT 'Alice' AS name")
        connection.execute("CREATE TABLE other AS SELECT 1 AS one")
    found = evidence(tmp_path, {"name": "x", "path": "x.duckdb::people"})
    assert held(found) == [{("name", "Alice"): 1.0}]


def test_columns_are_their_own_labels_unless_the_map_says_otherwise(tmp_path: Path) -> None:
    shop = write(tmp_path, "shop.csv", "id,nm,cc,note\n1,Alice,999,x\n")
    assert held(evidence(tmp_path, shop)) == [
        {("id", "1"): 1.0, ("nm", "Alice"): 1.0, ("cc", "999"): 1.0, ("note", "x"): 1.0}
    ]
    found = evidence(tmp_path, {**shop, "id": "id", "map": {"nm": "name", "note": None}})
    assert held(found) == [{("name", "Alice"): 1.0, ("cc", "999"): 1.0}]
    found = evidence(tmp_path, {**shop, "map": {"nm": "name", "*": None}})
    assert held(found) == [{("name", "Alice"): 1.0}]
    # A column that names the records is an attribute too, if the map says so.
    found = evidence(tmp_path, {**shop, "id": "id", "map": {"id": "customer", "*": None}})
    assert held(found) == [{("customer", "1"): 1.0}]


def test_confidence_is_that_of_source_label_and_row_multiplied(tmp_path: Path) -> None:
    shop = write(tmp_path, "shop.csv", "name,phone,score\nAlice,1,0.5\nBob,2,\nCarol,3,1\nDan,4,0\n")
    found = evidence(
        tmp_path,
        {**shop, "confidence": {"source": 0.8, "column": "score"}, "column_confidence": {"phone": 0.5}},
        {**shop, "name": "again", "confidence": 0.25, "map": {"score": None}},
    )
    assert held(found)[:4] == [
        {("name", "Alice"): pytest.approx(0.4), ("phone", "1"): pytest.approx(0.2)},
        {("name", "Bob"): pytest.approx(0.8), ("phone", "2"): pytest.approx(0.4)},
        {("name", "Carol"): pytest.approx(0.8), ("phone", "3"): pytest.approx(0.4)},
        {},
    ]
    assert held(found)[4] == {("name", "Alice"): 0.25, ("phone", "1"): 0.25}
    assert "source 'shop': 1 row has no 'score', which was taken to be 1" in found.notes


@pytest.mark.parametrize("bad", few(["1.5", "-0.1", SECRET, "nan", "inf"], 2))
def test_a_row_with_a_confidence_out_of_range_is_named_without_it(tmp_path: Path, bad: str) -> None:
    shop = write(tmp_path, "shop.csv", f"name,score\nAlice,0.5\nBob,{bad}\n")
    case = case_of(tmp_path, {**shop, "confidence": {"column": "score"}})
    with pytest.raises(DataError, match=r"shop.csv, row 2: 'score' is not a confidence") as raised:
        read_sources(case)
    assert bad not in str(raised.value).replace("'score' is not a confidence: a number from 0 to 1", "")


def test_two_columns_of_one_label_and_value_are_one_attribute(tmp_path: Path) -> None:
    shop = write(tmp_path, "shop.csv", "home,work\n007,007\n007,008\n")
    found = evidence(tmp_path, {**shop, "map": {"home": "phone", "work": "phone"}})
    assert held(found) == [{("phone", "007"): 1.0}, {("phone", "007"): 1.0, ("phone", "008"): 1.0}]


def test_what_is_said_twice_counts_with_the_better_confidence(tmp_path: Path) -> None:
    features = [{"PHONE_NUMBER": "7"}, {"PHONE_NUMBER": "7"}]
    write(tmp_path, "f.jsonl", json.dumps({"RECORD_ID": "1", "FEATURES": features, "MOBILE": "7"}))
    found = evidence(tmp_path, {"name": "f", "path": "f.jsonl", "features": True, "map": {"MOBILE": "phone"}})
    assert held(found) == [{("phone", "7"): 1.0}]


def test_empty_cells_are_no_attributes_and_empty_rows_still_records(tmp_path: Path) -> None:
    shop = write(tmp_path, "shop.csv", 'name,phone\n,\nAlice,"  "\n"",\u00a0\n')
    found = evidence(tmp_path, shop)
    assert held(found) == [{}, {("name", "Alice"): 1.0}, {}]
    assert found.n_records == found.attributes.records == 3


def test_a_source_without_rows_has_no_records(tmp_path: Path) -> None:
    empty = write(tmp_path, "empty.csv", "name,score\n")
    full = write(tmp_path, "full.csv", "name\nAlice\n")
    found = evidence(tmp_path, {**empty, "confidence": {"column": "score"}}, full, {**empty, "name": "again"})
    assert [source.records for source in found.sources] == [0, 1, 0]
    assert [source.first for source in found.sources] == [0, 0, 1]
    assert found.name(0) == "full 1"
    assert held(evidence(tmp_path, empty)) == []


def test_a_source_whose_columns_are_all_left_out_has_records_without_attributes(tmp_path: Path) -> None:
    shop = write(tmp_path, "shop.csv", "name\nAlice\n")
    assert held(evidence(tmp_path, {**shop, "map": {"*": None}})) == [{}]


def test_numbers_and_times_are_written_as_people_write_them(tmp_path: Path) -> None:
    import datetime

    table = pa.table(
        {
            "age": pa.array([30.0, 30.5, float("nan")]),
            "n": pa.array([1, 2, None], pa.int64()),
            "money": pa.array(["1.50", "2.00", "100.00"]).cast(pa.decimal128(10, 2)),
            "day": pa.array([datetime.date(1980, 1, 2), None, None]),
            "yes": pa.array([True, False, None]),
        }
    )
    pq.write_table(table, tmp_path / "t.parquet")
    assert held(evidence(tmp_path, {"name": "t", "path": "t.parquet"})) == [
        dict.fromkeys([("age", "30"), ("n", "1"), ("money", "1.5"), ("day", "1980-01-02"), ("yes", "true")], 1.0),
        dict.fromkeys([("age", "30.5"), ("n", "2"), ("money", "2"), ("yes", "false")], 1.0),
        {("money", "100"): 1.0},
    ]


def test_a_list_in_a_cell_is_several_values(tmp_path: Path) -> None:
    rows = [{"mail": ["a@x", "b@x", None, "a@x"]}, {"mail": []}, {"mail": None}]
    write(tmp_path, "l.jsonl", "\n".join(map(json.dumps, rows)))
    found = evidence(tmp_path, {"name": "l", "path": "l.jsonl", "map": {"mail": "email"}})
    assert held(found) == [{("email", "a@x"): 1.0, ("email", "b@x"): 1.0}, {}, {}]


def test_an_object_in_a_cell_is_refused_with_the_way_out(tmp_path: Path) -> None:
    write(tmp_path, "o.jsonl", json.dumps({"name": "Alice", "home": {"street": SECRET}}))
    case = case_of(tmp_path, {"name": "o", "path": "o.jsonl"})
    with pytest.raises(DataError, match=r"column 'home' .* leave it out \(map: \{home: null\}\)") as raised:
        read_sources(case)
    assert SECRET not in str(raised.value)
    assert held(evidence(tmp_path, {"name": "o", "path": "o.jsonl", "map": {"home": None}})) == [
        {("name", "Alice"): 1.0}
    ]


def test_records_are_called_as_their_source_calls_them(tmp_path: Path) -> None:
    shop = write(tmp_path, "shop.csv", "id,name\n17,Alice\n,Bob\n18,Carol\n18,Dan\n")
    found = evidence(tmp_path, {**shop, "id": "id"})
    assert [found.name(rid) for rid in range(4)] == ["shop 17", "shop 2", "shop 18 (row 3)", "shop 18 (row 4)"]
    with pytest.raises(DataError, match="no record 4"):
        found.name(4)
    with pytest.raises(DataError, match="no record -1"):
        found.name(-1)


def test_records_come_in_the_order_asked_for(tmp_path: Path) -> None:
    shop = write(tmp_path, "shop.csv", "name\nAlice\nBob\nCarol\n")
    assert [record.name for record in evidence(tmp_path, shop).numbered([2, 0])] == ["2", "0"]


def test_names_with_quotes_stars_and_dots_are_safe(tmp_path: Path) -> None:
    shop = write(tmp_path, "sh'op.csv", '"na""me",it\'s,*,a.b\nAlice,1,2,3\n')
    found = evidence(tmp_path, {**shop, "map": {'na"me': 'it\'s "a" label'}})
    assert held(found) == [{('it\'s "a" label', "Alice"): 1.0, ("it's", "1"): 1.0, ("*", "2"): 1.0, ("a.b", "3"): 1.0}]


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"name,phone\nAlice,1\nZyxwv,2,3\n", "line 3: it has 3 cells where the header has 2"),
        (b"name,phone\nAlic\xc3\xa9,1\nZyxwv\xff,2\n", "line 3: its bytes are not UTF-8"),
        (b'name,phone\nAlice,1\n"Zyxwv,2\n', "a quote is opened but not closed"),
    ],
)
def test_a_broken_line_is_named_without_what_it_holds(tmp_path: Path, raw: bytes, reason: str) -> None:
    (tmp_path / "shop.csv").write_bytes(raw)
    with pytest.raises(TacitError) as raised:
        evidence(tmp_path, {"name": "shop", "path": "shop.csv"})
    assert reason in str(raised.value)
    assert SECRET not in str(raised.value)


def test_a_broken_line_far_down_is_named_by_the_file_and_not_by_the_engine(tmp_path: Path) -> None:
    lines = "".join(f"n{row},{row}\n" for row in range(30_000))
    shop = write(tmp_path, "shop.csv", f"name,phone\n{lines}{SECRET},2,3\n")
    with pytest.raises(DataError, match=r"shop.csv, line 30002: it has 3 cells") as raised:
        read_sources(case_of(tmp_path, shop))
    assert SECRET not in str(raised.value)


@pytest.mark.parametrize("most", [0, 1 << 20])
def test_a_large_csv_is_read_like_a_small_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    monkeypatch.setattr("tacit.tables.engines.duckdb.engine.SMALL", most)
    rows = 3_000
    lines = "".join(f'{row},"n, {row}",{"" if row % 3 else row}\n' for row in range(rows))
    shop = write(tmp_path, "shop.csv", f"id,na me,phone\n{lines}")
    found = evidence(tmp_path, {**shop, "id": "id", "map": {"na me": "name"}})
    numbered = found.numbered(range(found.n_records))
    assert [record.name for record in numbered] == [str(row) for row in range(rows)]
    expected = [{("name", f"n, {row}")} | (set() if row % 3 else {("phone", str(row))}) for row in range(rows)]
    assert [set(record.confidences) for record in numbered] == expected
    shop = write(tmp_path, "shop.csv", f"name,phone\n{'a,1' + chr(10)}{SECRET},2,3\n")
    with pytest.raises(DataError, match=r"shop.csv, line 3: it has 3 cells") as raised:
        read_sources(case_of(tmp_path, shop))
    assert SECRET not in str(raised.value)


@pytest.mark.parametrize("most", [0, 1 << 20])
def test_what_a_file_says_is_read_after_the_case_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr("tacit.tables.engines.duckdb.engine.SMALL", most)
    shop = write(tmp_path, "shop.csv", "name\nAlice\n")
    case = case_of(tmp_path, shop)
    write(tmp_path, "shop.csv", "name\nCarol\nAlice\n")
    assert held(read_sources(case)) == [{("name", "Carol"): 1.0}, {("name", "Alice"): 1.0}]
    # Nor does a table that was read stand for the file the next time.
    write(tmp_path, "shop.csv", "name\nBob\n")
    assert held(read_sources(case)) == [{("name", "Bob"): 1.0}]


def test_a_table_is_opened_once_for_its_columns_and_its_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[Path] = []

    def counting(path: Path, **options: Any) -> Any:
        opened.append(path)
        return open_table(path, **options)

    monkeypatch.setattr("tacit.person.sources.places.open_table", counting)
    assert len(held(evidence(tmp_path, write(tmp_path, "shop.csv", "name\nAlice\nBob\n")))) == 2
    assert len(opened) == 1


def test_a_file_that_changes_after_the_case_was_read_is_refused(tmp_path: Path) -> None:
    shop = write(tmp_path, "shop.csv", "nm\nAlice\n")
    case = case_of(tmp_path, {**shop, "map": {"nm": "name"}})
    write(tmp_path, "shop.csv", "nmm\nAlice\n")
    with pytest.raises(TacitError, match="no column 'nm'; did you mean 'nmm'"):
        read_sources(case)
    (tmp_path / "shop.csv").unlink()
    with pytest.raises(SourceError, match="no file"):
        read_sources(case)


def test_progress_tells_the_sources_one_by_one(tmp_path: Path) -> None:
    told: list[str] = []
    sources = [write(tmp_path, f"{name}.csv", "name\nAlice\n") for name in "ab"]
    read_sources(case_of(tmp_path, *sources), progress=lambda stage, share: told.append(stage))
    assert told == ["opening a", "opening b", "reading a", "reading b"]


def test_labels_the_person_has_no_value_of_are_noted(tmp_path: Path) -> None:
    shop = write(tmp_path, "shop.csv", "name,row\nAlice,1\n")
    assert any("row" in note and "map it to null" in note for note in evidence(tmp_path, shop).notes)
    assert evidence(tmp_path, {**shop, "map": {"row": None}}).notes == ()


def test_the_repr_holds_no_value(tmp_path: Path) -> None:
    shop = write(tmp_path, "shop.csv", f"name\n{SECRET}\n")
    assert repr(evidence(tmp_path, shop)) == "RecordPool(1 records of 1 sources)"


cells = st.one_of(st.just(""), st.text(st.characters(categories=["L", "N", "P", "Zs", "S"]), max_size=4))


@settings(max_examples=many(8, 40), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.lists(st.tuples(cells, cells, cells, st.sampled_from(["", "0", "0.25", "1"])), max_size=6),
    own=st.sampled_from([0.0, 0.5, 1.0]),
    phone=st.sampled_from([0.5, 1.0]),
)
def test_a_table_is_read_as_a_loop_over_its_cells_would(
    tmp_path: Path, rows: list[tuple[str, str, str, str]], own: float, phone: float
) -> None:
    import csv

    with (tmp_path / "shop.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["nm", "home", "work", "score"])
        writer.writerows(rows)
    source = {
        "name": "shop", "path": "shop.csv", "map": {"nm": "name", "home": "phone", "work": "phone"},
        "confidence": {"source": own, "column": "score"}, "column_confidence": {"phone": phone},
    }  # fmt: skip
    expected = []
    for name, home, work, score in rows:
        share = own * (float(score) if score else 1.0)
        said = {("name", name): share, ("phone", home): share * phone, ("phone", work): share * phone}
        expected.append({fact: c for fact, c in said.items() if not says_nothing(fact[1]) and c > 0})
    assert held(evidence(tmp_path, source)) == expected


# ---------------------------------------------------------------------------------------------------- features


def features(*lines: Any) -> str:
    return "\n".join(json.dumps(line) for line in lines)


def test_features_become_attributes_names_and_addresses_whole(tmp_path: Path) -> None:
    write(
        tmp_path,
        "sz.jsonl",
        features(
            {
                "DATA_SOURCE": "C",
                "RECORD_ID": "1001",
                "FEATURES": [
                    {"RECORD_TYPE": "PERSON"},
                    {"NAME_LAST": "Smith", "NAME_FIRST": "Robert", "NAME_MIDDLE": "E"},
                    {"NAME_FULL": "Bob Smith", "NAME_TYPE": "AKA"},
                    {"DATE_OF_BIRTH": "12/11/1978"},
                    {"ADDR_STATE": "NV", "ADDR_CITY": "Las Vegas", "ADDR_LINE1": "1 A St", "ADDR_POSTAL_CODE": 89111},
                    {"ADDR_FULL": "2 B St, Reno", "ADDR_CITY": "Reno"},
                    {"PHONE_NUMBER": "702", "PHONE_TYPE": "HOME"},
                    {"EMAIL_ADDRESS": " "},
                    {"SSN_NUMBER": None},
                    {"SHOE_SIZE": "44"},
                ],
                "STATUS": "Active",
            },
            {"RECORD_ID": 7, "FEATURES": []},
            {"FEATURES": [{"PASSPORT_NUMBER": "P1", "PASSPORT_COUNTRY": "US"}]},
        ),
    )
    found = evidence(tmp_path, {"name": "sz", "path": "sz.jsonl", "features": True})
    assert [set(record) for record in held(found)] == [
        {
            ("name", "Robert Smith"), ("name", "Bob Smith"), ("dob", "12/11/1978"),
            ("address", "1 A St, Las Vegas, NV"), ("zip", "89111"), ("address", "2 B St, Reno"), ("phone", "702"),
        },
        set(),
        {("passport", "P1")},
    ]  # fmt: skip
    assert [found.name(rid) for rid in range(3)] == ["sz 1001", "sz 7", "sz 3"]
    assert any("NAME_MIDDLE, SHOE_SIZE" in note for note in found.notes)


def test_the_map_overrides_the_labels_of_features(tmp_path: Path) -> None:
    line = {
        "RECORD_ID": "1",
        "FEATURES": [{"NAME_FIRST": "Bob", "NAME_LAST": "Smith"}, {"SHOE_SIZE": 44}, {"PHONE_NUMBER": "7"}],
        "STATUS": "Active",
    }
    write(tmp_path, "sz.jsonl", features(line))
    source = {"name": "sz", "path": "sz.jsonl", "format": "senzing"}
    changed = {"NAME_FIRST": "given", "SHOE_SIZE": "shoe", "PHONE_NUMBER": None, "STATUS": "status"}
    assert set(held(evidence(tmp_path, {**source, "map": changed}))[0]) == {
        ("given", "Bob"), ("name", "Smith"), ("shoe", "44"), ("status", "Active")
    }  # fmt: skip
    only = {"SHOE_SIZE": "shoe", "*": None}
    assert set(held(evidence(tmp_path, {**source, "map": only}))[0]) == {("shoe", "44")}


def test_features_have_confidences_too(tmp_path: Path) -> None:
    lines = [
        {"RECORD_ID": "1", "FEATURES": [{"NAME_FULL": "A"}, {"PHONE_NUMBER": "7"}], "score": 0.5},
        {"RECORD_ID": "2", "FEATURES": [{"NAME_FULL": "B"}]},
        {"RECORD_ID": "3", "FEATURES": [{"NAME_FULL": "C"}], "score": 0},
    ]
    write(tmp_path, "sz.jsonl", features(*lines))
    found = evidence(
        tmp_path,
        {
            "name": "sz",
            "path": "sz.jsonl",
            "features": True,
            "confidence": {"column": "score", "source": 0.5},
            "column_confidence": {"phone": 0.5},
        },
    )
    assert held(found) == [{("name", "A"): 0.25, ("phone", "7"): 0.125}, {("name", "B"): 0.5}, {}]
    assert any("1 row has no 'score'" in note for note in found.notes)


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b'{"FEATURES": []}\n{"FEATURES": "Zyxwv"}\n', "line 2: FEATURES is not a list of objects"),
        (b'{"FEATURES": []}\n{Zyxwv\n', "line 2: not a JSON object"),
        (b'{"FEATURES": []}\n["Zyxwv"]\n', "line 2: not a JSON object"),
        (b'{"FEATURES": []}\n{"FEATURES": [{"NAME_FULL": "Zyxwv\xff"}]}\n', "line 2: its bytes are not UTF-8"),
        (b'{"FEATURES": []}\n{"FEATURES": [{"NAME_FULL": ["Zyxwv"]}]}\n', "line 2: 'NAME_FULL' is a list"),
        (b'{"FEATURES": [], "s": 1}\n{"FEATURES": [], "s": "Zyxwv"}\n', "line 2: 's' is not a confidence"),
        (b'{"FEATURES": [], "s": 1}\n{"FEATURES": [], "s": 2}\n', "line 2: 's' is not a confidence"),
        (b'{"FEATURES": [], "s": 1}\n{"FEATURES": [], "s": true}\n', "line 2: 's' is not a confidence"),
        (b'{"name": "Zyxwv"}\n', "line 1: no FEATURES"),
    ],
)
def test_a_broken_line_of_features_is_named_in_the_case(tmp_path: Path, raw: bytes, reason: str) -> None:
    (tmp_path / "sz.jsonl").write_bytes(raw)
    with pytest.raises(DataError) as raised:
        case_of(tmp_path, {"name": "sz", "path": "sz.jsonl", "features": True, "confidence": {"column": "s"}})
    assert reason in str(raised.value)
    assert SECRET not in str(raised.value)


def test_features_read_as_a_table_are_recognised(tmp_path: Path) -> None:
    write(tmp_path, "sz.jsonl", features({"RECORD_ID": "1", "FEATURES": [{"NAME_FULL": "A"}]}))
    case = case_of(tmp_path, {"name": "sz", "path": "sz.jsonl"})
    assert held(read_sources(case)) == [{("name", "A"): 1.0}]
    assert "source 'sz': read as Senzing features; say otherwise with 'format'" in case.notes
    with pytest.raises(DataError, match="is it a Senzing file"):
        read_sources(case_of(tmp_path, {"name": "sz", "path": "sz.jsonl", "format": "table"}))


# ---------------------------------------------------------------------------------------------------- breaches


def breach(name: str, *classes: str, **more: Any) -> dict[str, Any]:
    known = {"IsVerified": True, "IsFabricated": False, "IsSpamList": False, "PwnCount": 1, "Domain": "x.example"}
    return {"Name": name, "DataClasses": list(classes), **known, **more}


def test_a_breach_is_a_record_of_the_persons_own_values(tmp_path: Path) -> None:
    breaches = [
        breach("Adobe", "Email addresses", "Passwords", "Names", "Astrological signs"),
        breach("Rumour", "Email addresses", IsVerified=False),
        breach("Spam", "Phone numbers", IsSpamList=True, IsVerified=False),
        breach("Fake", "Names", IsFabricated=True),
    ]
    write(tmp_path, "b.json", json.dumps(breaches))
    person = {"name": "Alice", "email": ["a@x", "b@x"], "phone": "007", "shoe": "44"}
    source = {"name": "b", "path": "b.json", "breaches": True}
    found = evidence(tmp_path, source, person=person)
    assert held(found) == [
        {("email", "a@x"): 1.0, ("email", "b@x"): 1.0, ("name", "Alice"): 1.0},
        {("email", "a@x"): 0.5, ("email", "b@x"): 0.5},
        {("phone", "007"): 0.3},
    ]
    assert [found.name(rid) for rid in range(3)] == ["b Adobe", "b Rumour", "b Spam"]
    notes = " | ".join(found.notes)
    assert "left out as fabricated: Fake" in notes
    assert "no value of, left out (any word in the case counts one): password" in notes
    assert "without a label, left out: Astrological signs" in notes
    changed = {**source, "map": {"Astrological signs": "shoe", "Names": None}, "column_confidence": {"email": 0.5}}
    assert held(evidence(tmp_path, changed, person=person))[0] == {
        ("email", "a@x"): 0.5, ("email", "b@x"): 0.5, ("shoe", "44"): 1.0
    }  # fmt: skip


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ('[{"Name": "A"}]', "breach 1 has no DataClasses: fetch it with truncateResponse=false"),
        ('[{"DataClasses": []}]', "breach 1 has no Name"),
        ("[1]", "is not a list of breaches"),
        ("[\n{", "line 2: not JSON"),
        ("", "line 1: not JSON"),
    ],
)
def test_what_is_no_list_of_breaches_is_refused(tmp_path: Path, raw: str, reason: str) -> None:
    source = write(tmp_path, "b.json", raw)
    with pytest.raises(DataError) as raised:
        case_of(tmp_path, {**source, "breaches": True})
    assert reason in str(raised.value)


def test_json_that_holds_no_object_is_refused(tmp_path: Path) -> None:
    source = write(tmp_path, "b.json", "[]")
    with pytest.raises(DataError, match="is not JSON: a list of objects"):
        case_of(tmp_path, source)


# -------------------------------------------------------------------------------------------------- references


def rows_of(population: PopulationSpec) -> list[tuple[str, str | None, str | None]]:
    """What is said of every person, and every person with nothing besides."""
    people: References = read_references(population, store_on("duckdb"))
    facts = f"SELECT p.pid, f.label, f.value FROM {people.facts.name} f JOIN {people.persons} p ON p.person = f.rid"
    rows = people.store.ask(f"{facts} UNION ALL SELECT pid, NULL, NULL FROM {people.persons}").to_pylist()
    return sorted(((row["pid"], row["label"], row["value"]) for row in rows), key=str)


def test_references_may_take_several_rows_and_every_person_counts(tmp_path: Path) -> None:
    text = "who,name,born,mail,x\n007,Alice,1980,a@x,1\n8,,,,\n007,Alice,,b@x,1\n"
    write(tmp_path, "people.csv", text)
    spec = PopulationSpec(tmp_path / "people.csv", "who", {"born": "dob", "mail": "email", "x": None})
    assert set(rows_of(spec)) == {
        ("007", None, None), ("007", "name", "Alice"), ("007", "dob", "1980"), ("007", "email", "a@x"),
        ("007", "email", "b@x"), ("8", None, None),
    }  # fmt: skip


def test_references_of_lists_and_numbers_are_text(tmp_path: Path) -> None:
    table = pa.table({"who": [1.0, 2.0], "mail": [["a@x", "b@x"], None], "age": [30.0, None]})
    pq.write_table(table, tmp_path / "people.parquet")
    assert rows_of(PopulationSpec(tmp_path / "people.parquet", "who")) == [
        ("1", "age", "30"), ("1", "mail", "a@x"), ("1", "mail", "b@x"), ("1", None, None), ("2", None, None)
    ]  # fmt: skip


def test_a_reference_of_nobody_is_named_by_its_row(tmp_path: Path) -> None:
    write(tmp_path, "people.csv", f"who,name\np1,Alice\n,{SECRET}\n")
    with pytest.raises(DataError, match="row 2: no 'who'") as raised:
        read_references(PopulationSpec(tmp_path / "people.csv", "who"), store_on("duckdb"))
    assert SECRET not in str(raised.value)
    with pytest.raises(TacitError, match="no column 'whom'; did you mean 'who'"):
        read_references(PopulationSpec(tmp_path / "people.csv", "whom"), store_on("duckdb"))


def test_an_engine_that_stops_reading_says_why_itself(tmp_path: Path) -> None:
    write(tmp_path, "shop.csv", "name\nAlice\n")
    table = open_table(tmp_path / "shop.csv")

    def stopping() -> None:
        with crossing(table, nw.to_native(table.rows)) as rows:
            rows.read_next_batch()
            rows.close()
            raise EngineError("the disk is full")

    with pytest.raises(EngineError, match="the disk is full"):
        stopping()


def test_what_stops_a_table_is_told_as_it_is_whatever_the_reader_makes_of_it(tmp_path: Path) -> None:
    # A small file is read whole when it is opened.
    write(tmp_path, "shop.csv", "name,phone\n" + "n,1\n" * 300_000 + "x,2,3\n")
    table = open_table(tmp_path / "shop.csv")

    def reading() -> None:
        with crossing(table, nw.to_native(table.rows)) as rows:
            try:
                rows.read_all()
            except Exception as error:
                raise EngineError("some reader stopped") from error

    with pytest.raises(DataError, match="line 300002"):
        reading()
