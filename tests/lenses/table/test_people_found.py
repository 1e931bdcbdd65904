"""Who could be found: people alone in the table as it is given, and the levels that would hide them."""

from __future__ import annotations

import datetime as dt
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from hospital import NEIGHBOUR, RELEASED, hospital
from tables_of_people import clinic, patients, write_csv
from tacit import audit
from tacit.codes import atoms_table, find_scales
from tacit.lenses.table.linkage.coarser import CoarserLevel, coarser_levels, with_levels
from tacit.lenses.table.linkage.people import people_found
from tacit.lenses.table.question import ask
from tacit.report import to_json, to_text
from tacit.requests import Question
from tacit.tables import group_sizes, open_table

STAYS = hospital(2_000)


def alone_on(columns: dict[str, list[Any]], names: Any) -> int:
    """By a loop over rows."""
    times = Counter(zip(*(columns[name] for name in names), strict=True))
    return sum(n == 1 for n in times.values())


@pytest.fixture(scope="module", params=["frame", "csv"])
def found(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    source: Any = pa.table(STAYS)
    if request.param == "csv":
        source = write_csv(tmp_path_factory.mktemp("found") / "stays.csv", STAYS)
    return people_found(ask(Question(source, secret="illness", released=RELEASED)), known=("age", "sex", "shoe size"))


def test_people_are_counted_on_the_columns_as_they_are_given_and_not_as_they_are_cut(found) -> None:
    """The audit cuts the age into tenths; a neighbour knows the year."""
    for each in found.sets:
        assert each.sizes.unique == alone_on(STAYS, each.columns), each.columns
    assert {each.why: each.columns for each in found.sets}["what may be known"] == ("age", "sex")
    assert found.everything.columns == RELEASED


def test_one_column_and_a_few_are_named_that_find_most(found) -> None:
    by_why = {each.why: each for each in found.sets}
    (one,) = by_why["one column"].columns
    assert alone_on(STAYS, [one]) == max(alone_on(STAYS, [name]) for name in RELEASED)
    few = by_why["few columns"]
    assert few.columns[0] == one
    assert len(few.columns) <= 3
    assert few.unique_share > 0.5
    assert alone_on(STAYS, few.columns[:-1]) <= 1000
    assert f"{few.sizes.unique:,} of them" in found.headline


def coarse(name: str, value: Any, level: Any) -> Any:
    """A value at a level, by hand."""
    if isinstance(value, dt.date):
        return value.isoformat()[: 7 if level == "month" else 4]
    return value[: int(level.partition(":")[2])] if name == "postcode" else value // level


def test_every_cure_leaves_as_many_alone_as_it_says_and_fewer_than_the_one_before(found) -> None:
    assert {name for cure in found.cures for name in cure.levels} >= {"admission", "age", "postcode"}
    before, told = len(STAYS["age"]), {}
    for cure in found.cures:
        columns = {
            name: [coarse(name, value, cure.levels[name]) for value in STAYS[name]]
            if name in cure.levels
            else STAYS[name]
            for name in RELEASED
        }
        assert cure.unique == alone_on(columns, RELEASED) <= before
        before, told = cure.unique, {**told, **cure.added}
        assert told == cure.levels
    assert found.cures[-1].unique < found.everything.sizes.unique / 4
    assert str(found.cures[-1].levels) in found.headline


@pytest.mark.long
def test_a_release_takes_every_level_that_is_proposed_and_leaves_no_more_alone(found) -> None:
    """Fewer, because the ends of a scale are open."""
    table = open_table(pa.table(STAYS))
    for cure in found.cures:
        days = ("admission", "discharge")
        rest = {name: "day" if name in days else "values" for name in RELEASED if name not in cure.levels}
        told = atoms_table(table, find_scales(table, RELEASED, {**rest, **cure.levels}))
        assert 0.9 * cure.unique <= group_sizes(told, RELEASED).unique <= cure.unique


def test_where_nobody_is_alone_there_is_nothing_to_cure() -> None:
    columns = clinic()
    found = people_found(ask(Question(pa.table(columns), secret="illness")))
    assert [each.why for each in found.sets] == ["all released columns"]
    assert found.cures == ()
    times = Counter(zip(*(columns[name] for name in ("age", "ward", "district")), strict=True))
    assert (
        f"nobody is alone: every combination of the released columns belongs to {min(times.values())}" in found.headline
    )


def test_a_number_that_is_different_in_nearly_every_row_is_cured_by_steps(tmp_path: Path) -> None:
    source = write_csv(tmp_path / "people.csv", patients())
    found = people_found(ask(Question(source, secret="illness")))
    assert found.sets[-1].columns == ("income",)
    assert found.cures[0].added["income"] in (50, 100)
    assert found.cures[-1].unique < found.everything.sizes.unique / 2


def test_levels_are_found_for_numbers_dates_and_codes_alone() -> None:
    table = open_table(
        pa.table(
            {
                "age": [1, 3, 99, None],
                "rate": [0.001, 0.002, 0.05, 0.02],
                "day": [dt.date(2024, 1, 31), dt.date(2024, 2, 1), None, dt.date(2025, 2, 1)],
                "icd": ["B20", "F32", "O80", None],
                "word": ["red", "green", "blue", "red"],
                "only": [7, 7, 7, 7],
                "none": pa.array([None] * 4, pa.string()),
            }
        )
    )
    levels = coarser_levels(table, table.names)
    assert {name: [level.setting for level in ladder] for name, ladder in levels.items()} == {
        "age": [5, 10],
        "rate": [0.005, 0.01],
        "day": ["month", "year"],
        "icd": ["prefix:2", "prefix:1"],
        "word": [],
        "only": [],
        "none": [],
    }


@pytest.mark.parametrize("values", [[1e308, -1e308, 1.5], [1e308, 2e307, 0.0], [5e-324, 1e-310, 0.0]])
def test_numbers_whose_range_has_no_powers_of_ten_have_no_steps(values: list[float]) -> None:
    table = open_table(pa.table({"x": values * 20}))
    assert coarser_levels(table, ["x"]) == {"x": ()}


def test_every_engine_makes_the_same_levels(as_table) -> None:
    data = pa.table(
        {
            "n": [-1.0, 4.9, 5.0, float("nan"), None],
            "text": ["12", "-3", "1e1", "", None],
            "day": [dt.date(2024, 1, 31), dt.date(2024, 2, 1), dt.date(2025, 2, 1), None, dt.date(1999, 12, 31)],
            "written": ["2024-01-31", "2024-02-01", "2025-02-01", None, "1999-12-31"],
            "code": ["01067", "01069", "10115", None, "é1"],
        }
    )
    levels = {
        "by 5": CoarserLevel("n", "steps", 5),
        "text by 5": CoarserLevel("text", "steps", 5),
        "month": CoarserLevel("day", "date", "month"),
        "year": CoarserLevel("day", "date", "year"),
        "written month": CoarserLevel("written", "date", "month"),
        "code start": CoarserLevel("code", "prefix", "prefix:2"),
    }
    made = with_levels(as_table(data), list(levels.values()), list(levels)).sample(list(levels), 10).to_pydict()
    assert made["by 5"] == [-1, 0, 1, None, None]
    assert made["text by 5"] == [2, -1, 2, None, None]
    assert len(set(made["month"])) == 5
    assert made["year"] == [2024, 2024, 2025, None, 1999]
    assert made["written month"] == ["2024-01", "2024-02", "2025-02", None, "1999-12"]
    assert made["code start"] == ["01", "01", "10", None, "é1"]


@pytest.mark.long
@pytest.mark.usefixtures("without_suggestion")
def test_an_audit_says_who_could_be_found_in_words_table_and_json() -> None:
    result = audit(pa.table(STAYS), secret="illness", released=NEIGHBOUR, shuffles=19)
    text = " ".join(to_text(result, full=True).split())
    unique = alone_on(STAYS, NEIGHBOUR)
    assert "Who could be found?" in text
    assert f"Of 2,000 people, {unique:,} have a combination of the released columns that nobody else has" in text
    assert text.count("k-anonymity k") == text.count("l-diversity l") == 1
    assert "levels={'" in text
    told = json.loads(to_json(result))["found"]
    assert told["sets"][0]["sizes"]["unique"] == unique
    assert told["cures"][-1]["levels"]
    assert told["least"] == 10


def test_a_step_that_puts_no_two_values_together_is_no_coarser_level() -> None:
    table = open_table(
        pa.table({"score": list(range(1, 11)) * 20, "again": [0, 1] * 100, "age": list(range(20, 70)) * 4})
    )
    levels = coarser_levels(table, table.names)
    assert [each.setting for each in levels["score"]] == [5]
    assert levels["again"] == ()
    assert [each.setting for each in levels["age"]] == [5, 10]
