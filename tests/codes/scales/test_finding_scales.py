"""Scales are found by themselves, follow what was wished, and leave no value of the table without an atom."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st

from sizes import few, many
from tables_of_people import write_csv
from tacit.cli.wording import COMMAND_LINE
from tacit.codes import atoms_table, find_scales, fitted_scales
from tacit.codes.scales import finding, looking
from tacit.codes.scales.making import NumberWish
from tacit.codes.scales.nice import centres, nicest
from tacit.codes.scales.reduced import reduced_scale
from tacit.errors import ArgumentError, DataError, SourceError
from tacit.tables import open_table

DAY = dt.date(2024, 1, 1)


def found(values, wish=None, name="x", **words):
    """The one scale of a column, after a check that it places every value."""
    table = values if not isinstance(values, list | pa.Array) else open_table(pa.table({name: values}))
    (scale,) = find_scales(table, [name], None if wish is None else {name: wish}, **words)
    atoms = atoms_table(table, [scale]).sample([name], 100_000).column(name).to_pylist()
    raw = table.sample([name], 100_000).column(name).to_pylist()
    assert atoms == scale.atoms_of(raw).tolist()
    assert min(atoms) >= 0
    assert scale.column in scale.note
    return scale


def texts(scale):
    return [scale.text(np.arange(scale.size) == at) for at in range(scale.size)]


def csv_table(tmp_path, **columns):
    return open_table(write_csv(tmp_path / "t.csv", columns))


def test_whole_numbers_over_a_short_range_are_each_an_atom():
    scale = found([17] * 20 + [18, 30, 30, 99] + [90] * 20 + [None], least=1)
    assert scale.whole
    assert scale.size == 99 - 17 + 2
    assert texts(scale)[:2] + texts(scale)[-2:] == ["17", "18", "99", "missing"]
    assert [level.name for level in scale.levels] == ["by 5", "by 10", "by 25", "by 50"]


@pytest.mark.parametrize("values", [[1e308, 1.7e308, 1.5], [-1.7976931348623157e308, 0.0, 1.7976931348623157e308]])
def test_the_largest_floats_have_a_scale_like_any_others(values):
    scale = found([*values * 40, float("inf")], least=5)
    assert np.isfinite(scale.centres).all()
    assert list(scale.centres) == sorted(scale.centres)
    assert np.isfinite(centres(np.array([-1.7e308, 1.7e308]), np.array(values), whole=False, least=50)).all()
    assert np.isfinite(reduced_scale(scale, np.arange(scale.size))[0].centres).all()


def test_an_end_that_few_people_stand_on_is_left_open():
    scale = found([17] * 20 + list(range(18, 91)) * 5 + [97, 97, 99], least=10)
    assert texts(scale)[0] == "17"
    assert texts(scale)[-1] == "89 and over"
    assert "97" not in str(scale)


def test_measured_numbers_are_cut_at_round_edges():
    income = np.exp(np.random.default_rng(0).normal(10, 1, 20_000)).round(2)
    scale = found(pa.array(income), least=10)
    assert not scale.whole
    assert 128 < scale.size <= 256
    digits = [len(f"{edge:.10g}".rstrip("0").replace(".", "").strip("0")) for edge in scale.edges]
    assert np.mean(digits) < 3.5
    counts = np.bincount(scale.atoms_of(income.tolist()), minlength=scale.size)
    assert counts[0] >= 10
    assert counts[-1] >= 10
    assert counts.max() < 5 * 20_000 / scale.size


def test_a_number_that_many_have_can_be_told_alone():
    rng = np.random.default_rng(0)
    gains = np.concatenate([np.zeros(5000), rng.integers(100, 100_000, 1000)]).astype(int)
    scale = found(gains.tolist())
    assert texts(scale)[0] == "0"
    assert scale.size <= 256


def test_infinities_and_nan_have_their_places():
    scale = found([float("inf"), -float("inf"), float("nan"), None, *np.linspace(0, 1, 50).tolist()], least=2)
    assert scale.has_missing
    assert scale.atoms_of([float("inf"), -float("inf"), float("nan"), None]).tolist() == [
        *(scale.size - 2, 0, scale.size - 1, scale.size - 1)
    ]


@pytest.mark.parametrize(
    ("wish", "edges", "first"),
    [
        (5, (20, 25, 30, 35, 40, 45), "15 to 19"),
        (10.0, (20, 30, 40), "10 to 19"),
        (2.5, (20, 22.5, 25, 27.5, 30, 32.5, 35, 37.5, 40, 42.5, 45, 47.5), "under 20"),
        ((18, 30), (18, 30), "17 and under"),
        ((30.5,), (30.5,), "under 30.5"),
    ],
)
def test_steps_and_edges_are_those_that_were_asked_for(wish, edges, first):
    scale = found([17 + at for at in range(32)], wish)
    assert scale.edges == (edges if wish != 2.5 else scale.edges)
    assert set(edges) <= set(scale.edges)
    assert texts(scale)[0] == (first if wish != 2.5 else "under 17.5")


def test_any_value_may_be_an_edge():
    values = [at * 1.2345 for at in range(200)]
    assert set(found(values, "any", least=1).edges) <= set(values)
    assert not set(found(values, least=1).edges) <= set(values)


def test_an_edge_below_a_long_number_is_round_and_the_number_still_stands_alone():
    values = [at / 100 for at in range(40, 66)] * 20 + [2 / 3, 3.20000004768372] * 200 + [0.7, 5.0, 7.5] * 20
    scale = found(values)
    assert max(len(repr(edge)) for edge in scale.edges) <= 6
    atoms = scale.atoms_of(values)
    for number in (2 / 3, 3.20000004768372):
        (atom,) = set(atoms[np.array(values) == number])
        assert set(np.array(values)[atoms == atom]) == {number}


def test_a_long_number_is_an_edge_where_any_value_may_be_one():
    values = [at / 100 for at in range(40, 66)] * 20 + [2 / 3] * 200 + [0.7, 5.0] * 20
    assert 2 / 3 in found(values, "any").edges


def test_edges_and_groups_of_equal_size_are_kept_to():
    table = open_table(pa.table({"x": list(range(1000))}))
    for wish, edges in (((100.0, 500.0), (100, 500)), (NumberWish(groups=4), (250, 500, 750))):
        assert find_scales(table, ["x"], {"x": wish})[0].edges == edges


@given(st.floats(-1e9, 1e9), st.floats(-1e9, 1e9))
@settings(max_examples=many(200, 5000))
def test_the_nicest_number_lies_between_and_has_no_more_digits_than_the_ends(one, other):
    low, high = sorted([one + 0.0, other + 0.0])
    if low < high:
        nice = nicest(low, high)
        assert low < nice <= high
        digits = [len(f"{Decimal(repr(abs(x))):e}".split("e")[0].replace(".", "").strip("0")) for x in (nice, high)]
        assert digits[0] <= digits[1]


@pytest.mark.parametrize(
    ("low", "high", "nice"),
    [
        (13, 27, 20),
        (13, 18, 15),
        (97, 104, 100),
        (-27, -13, -20),
        (-5, 5, 0),
        (0.013, 0.014, 0.014),
        (1234, 1239, 1235),
    ],
)
def test_the_nicest_numbers(low, high, nice):
    assert nicest(low, high) == nice


@pytest.mark.parametrize(
    ("days", "unit", "names"),
    [
        (400, "day", ["week", "month", "quarter", "year"]),
        (3000, "month", ["quarter", "year"]),
        (60_000, "year", []),
    ],
)
def test_dates_are_told_by_days_months_or_years(days, unit, names):
    values = [DAY + dt.timedelta(days=at * days // 600) for at in range(-300, 300)] + [None]
    scale = found(pa.array(values))
    assert (scale.unit, scale.layout) == (unit, "typed")
    assert [level.name for level in scale.levels] == names
    assert not scale.open_start
    assert not scale.open_end


def test_times_within_a_few_days_are_told_by_hours():
    values = [dt.datetime(2024, 3, 1, 12, 30) + dt.timedelta(hours=at) for at in range(50)]
    scale = found(pa.array(values))
    assert scale.unit == "hour"
    assert scale.text(np.arange(scale.size) < 24) == "2024-03-01"
    assert scale.text(np.arange(scale.size) == 30) == "2024-03-02 06:00 to 2024-03-02 06:59"


def test_a_few_dates_far_away_do_not_stretch_the_calendar():
    values = [DAY + dt.timedelta(days=at) for at in range(600)] + [dt.date(9999, 12, 31)] * 50 + [dt.date(1900, 1, 1)]
    scale = found(pa.array(values))
    assert scale.unit == "day"
    assert scale.open_start
    assert scale.open_end
    assert scale.size < 700
    assert texts(scale)[-1] == "2025-09 and later"
    assert texts(scale)[0] == "2023 and earlier"


@pytest.mark.parametrize("unit", few(["hour", "day", "week", "month", "quarter", "year"], 3))
def test_the_unit_of_dates_can_be_chosen(unit):
    assert found(pa.array([DAY + dt.timedelta(days=at) for at in range(90)]), unit).unit == unit


@pytest.mark.parametrize(
    ("shape", "layout"),
    few(
        [
            ("%Y-%m-%d", "Y-M-D"),
            ("%Y-%m-%d %H:%M:%S", "Y-M-D"),
            ("%d.%m.%Y", "D.M.Y"),
            ("%d/%m/%Y", "D/M/Y"),
            ("%m/%d/%Y", "M/D/Y"),
            ("%Y/%m/%d", "Y/M/D"),
            ("%Y%m%d", "YMD"),
        ],
        3,
    ),
)
def test_dates_written_in_a_csv_are_read(tmp_path, shape, layout):
    moments = [dt.datetime(2024, 1, 1, 12, 30) + dt.timedelta(days=at) for at in range(60)]
    table = csv_table(tmp_path, x=[moment.strftime(shape) for moment in moments] + [None])
    scale = found(table)
    assert (scale.layout, scale.unit, scale.has_missing) == (layout, "day", True)
    assert scale.text(np.arange(scale.size) < 31) == "2024-01"


def test_days_and_months_that_could_be_either_are_not_guessed(tmp_path):
    scale = found(csv_table(tmp_path, x=["1/2/2024", "3/4/2024", "5/6/2024"]))
    assert scale.kind == "categories"
    with pytest.raises(ArgumentError, match="no dates that can be read unambiguously"):
        find_scales(csv_table(tmp_path, x=["1/2/2024", "3/4/2024"]), ["x"], {"x": "month"})


def test_postcodes_keep_their_zeros(tmp_path):
    codes = [f"{at * 37 % 99999:05d}" for at in range(500)]
    scale = found(csv_table(tmp_path, x=codes))
    assert scale.kind == "prefixes"
    assert scale.size_of_code == 5
    assert texts(scale)[0] == "00000"
    assert scale.text(scale.levels[-1].groups == 0) == "0****"
    assert (
        found(csv_table(tmp_path, zipcode=[f"{at}" for at in range(10_000, 20_000, 7)]), name="zipcode").kind
        == "prefixes"
    )
    assert found(csv_table(tmp_path, wage=[f"{at}" for at in range(10_000, 20_000, 7)]), name="wage").kind == "numbers"
    assert found([f"{at}" for at in range(10_000, 20_000, 7)]).kind == "prefixes"
    assert found([f"{at}" for at in range(1950, 2020)]).kind == "numbers"


@pytest.mark.parametrize(
    ("codes", "kind"),
    [
        ([f"F{at}.{at % 7}" for at in range(10, 40)] + ["F20", "B20.1"], "prefixes"),
        (["62.01", "62.02", "01.11", "01.12", "85.59", "86.10", "86.21"], "prefixes"),
        (["K1A 0B1", "K1A 0B2", "V6B 1A1", "M5V 2T6", "H2Y 1C6", "T2P 2M5", "S4P 3Y2"], "prefixes"),
        (["18-39", "40-59", "60-79", "00-17", "80-99", "10-12", "13-15", "16-17"], "categories"),
        (["CA", "NY", "TX", "WA", "MA", "FL", "IL", "OH"], "categories"),
        (["A1", "A2", "B1"], "categories"),
        (["one 1", "two", "3", "x", "y", "z", "w"], "categories"),
    ],
)
def test_codes_share_a_pattern_and_are_many(codes, kind):
    assert found(codes).kind == kind


def test_codes_can_be_asked_for_up_to_a_length(tmp_path):
    table = csv_table(tmp_path, x=["13001", "13055", "13409", "99999", None], y=list("abcde"))
    scale = found(table, "prefix:3")
    assert texts(scale) == ["130**", "134**", "999**", "missing"]
    assert found(table, "prefix").size == 5
    with pytest.raises(ArgumentError, match="holds Float64, not codes"):
        find_scales(open_table(pa.table({"x": [1.5]})), ["x"], {"x": "prefix"})


def test_categories_booleans_and_columns_without_a_value():
    assert found(["a", "b", None, ""]).values == ("", "a", "b")
    assert found([True, False, True]).values == (False, True)
    for empty in (pa.array([None, None], pa.string()), pa.array([None, None], pa.float64())):
        scale = found(empty)
        assert (scale.size, scale.has_missing) == (1, True)
        assert texts(scale) == ["missing"]
    assert texts(found(["only"] * 5)) == ["only"]
    assert texts(found([5] * 20)) == ["5"]
    many_names = found([f"name {'abcdefghij'[at % 10]}{'abcdefghijk'[at // 10]}" for at in range(110)])
    assert many_names.ordered
    assert many_names.text(np.arange(110) < 2) == "name aa to name ab"


def test_an_order_that_was_given_is_kept_and_must_be_complete(tmp_path):
    table = csv_table(tmp_path, x=["high", "low", "medium", "low"])
    scale = found(table, ("low", "medium", "high", "huge"))
    assert scale.text([True, True, False, False]) == "low to medium"
    with pytest.raises(ArgumentError, match="1 values that are not in its order: add them"):
        find_scales(table, ["x"], {"x": ("low", "medium")})
    assert found([3, 1, 2], ("2", "1", "3")).values == (2, 1, 3)
    with pytest.raises(ArgumentError, match="holds values of type integer"):
        find_scales(open_table(pa.table({"x": [1, 2]})), ["x"], {"x": ("one", "two")})


def test_each_value_can_be_an_atom_and_a_column_can_be_whole(tmp_path):
    assert found(csv_table(tmp_path, x=["10", "9", "9", "100"]), "values").values == ("9", "10", "100")
    assert found([f"{at:05d}" for at in range(20)], "values").kind == "list"
    assert found(["2024-01-01", "2023-01-01"], "values").kind == "categories"
    assert found([0.5, 2.5, None], "values").values == (0.5, 2.5)
    with pytest.raises(ArgumentError, match=r"column 'x' holds dates, which are written in stretches.*'day'"):
        found([dt.date(2024, 1, 1), dt.date(2024, 1, 2)], "values")
    whole = found(["a", None, "b"], "whole")
    assert texts(whole) == ["any"]


HIERARCHY = "nurse;care;service\ndoctor;care;service\nbaker;food;service\npilot;travel;transport\n"


@pytest.mark.parametrize("delimiter", [";", ",", "\t"])
@pytest.mark.parametrize("header", ["", "job;level1;level2\n", "value;level1;level2\n"])
def test_a_hierarchy_is_read_from_a_file(tmp_path, delimiter, header):
    path = tmp_path / "jobs.csv"
    path.write_text((header + HIERARCHY).replace(";", delimiter), "utf-8-sig")
    scale = found(["pilot", "nurse", "baker", None, "doctor"], path, name="job")
    assert scale.values == ("nurse", "doctor", "baker", "pilot")
    assert scale.text([True, True, True, False, False]) == "service"
    assert [level.name for level in scale.levels] == ["level 1", "level 2"]


def test_a_hierarchy_of_numbers_and_one_whose_groups_lie_scattered(tmp_path):
    path = tmp_path / "ages.csv"
    path.write_text("1;odd;*\n2;even;*\n3;odd;*\n4;even;*\n")
    scale = found([4, 3, 2, 1], path)
    assert scale.values == (1, 3, 2, 4)
    assert scale.text([True, True, False, False]) == "odd"
    assert len(scale.levels) == 1


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("", DataError, "is empty"),
        ("nurse;care\nbaker\n", DataError, "line 2: give a value and its group"),
        ("nurse\nbaker\n", DataError, "line 1: give a value and its group"),
        ("nurse;care\nnurse;food\nbaker;food\n", DataError, "line 2: the value occurs before"),
        ("nurse;care\n", ArgumentError, "column 'job' has 1 values that .* lacks: add a line"),
        ("nurse;a;x\nbaker;a;y\n", ArgumentError, "group 'a' of level 1 of column 'job' lies in two groups of level 2"),
    ],
)
def test_a_hierarchy_that_cannot_be_used_is_refused_with_its_line(tmp_path, text, error, message):
    path = tmp_path / "jobs.csv"
    path.write_text(text)
    table = open_table(pa.table({"job": ["nurse", "baker"]}))
    with pytest.raises(error, match=message):
        find_scales(table, ["job"], {"job": path})
    with pytest.raises(SourceError, match="cannot read"):
        find_scales(table, ["job"], {"job": Path(tmp_path / "none.csv")})


def test_text_that_is_no_number_or_date_is_refused_with_ways_out(tmp_path, monkeypatch):
    monkeypatch.setattr(finding, "SAMPLE_ROWS", 10)
    numbers = csv_table(tmp_path, x=["1", "unknown", *map(str, range(25_000))])
    with pytest.raises(DataError, match="1 cells that are not a number: fix them") as caught:
        find_scales(numbers, ["x"])
    assert "--levels x=values" in caught.value.told(COMMAND_LINE)
    with pytest.raises(DataError, match=r"2 cells that are not a date written Y-M-D: fix them"):
        find_scales(csv_table(tmp_path, x=["2024-02-28", "2024-02-30", "?"] + ["2024-02-28"] * 50_000), ["x"])


def test_too_many_values_are_refused_with_ways_out(monkeypatch):
    monkeypatch.setattr(looking, "MOST_VALUES", 50)
    monkeypatch.setattr(looking, "FEW_VALUES", 50)
    table = open_table(pa.table({"name": [f"name {at}" for at in range(60)]}))
    with pytest.raises(DataError, match=r"column 'name' of .* has more than 50 different values") as caught:
        find_scales(table, ["name"], {"name": "values"})
    told = caught.value.told(COMMAND_LINE)
    assert all(way in told for way in ("--drop name", "--levels name=prefix:3", "--levels name=whole"))
    assert find_scales(table, ["name"], {"name": "prefix:6"})[0].size == 10


def test_levels_of_a_column_that_is_not_released_are_refused():
    table = open_table(pa.table({"x": [1], "y": [2]}))
    with pytest.raises(ArgumentError, match="column 'y' has levels but is not released"):
        find_scales(table, ["x"], {"y": 5})
    with pytest.raises(ArgumentError, match="would make 10,001 steps in column 'x'"):
        find_scales(open_table(pa.table({"x": [0.0, 1.0]})), ["x"], {"x": 0.0001})


def test_the_next_batch_keeps_its_atoms_and_ends_that_it_passes_are_not_told():
    data = {"age": list(range(20, 80)) * 20, "day": [DAY + dt.timedelta(days=at % 60) for at in range(1200)]}
    data["step"] = data["age"]
    table = open_table(pa.table(data))
    scales = find_scales(table, ["age", "day", "step"], {"step": 10})
    assert fitted_scales(table, scales) == scales
    more = pa.table({"age": [19.5, 85.0], "day": [DAY, dt.date(2030, 1, 1)], "step": [25.0, 60.0]})
    later = fitted_scales(open_table(more), scales)
    for scale, again in zip(scales, later, strict=True):
        assert again.size == scale.size
        raw = more.column(scale.column).to_pylist()
        assert again.atoms_of(raw).tolist() == scale.atoms_of(raw).tolist()
    assert texts(scales[0])[-1] == "79"
    assert texts(later[0])[-1] == "79 and over"
    assert texts(later[0])[0] == "under 21"
    assert [texts(each)[0] for each in (later[1], later[2])] == ["2024-01-01", "20 to 29"]
    assert texts(later[1])[-1] == "2024-02-29 and later"


def test_every_engine_finds_the_same_scales(as_table):
    rng = np.random.default_rng(1)
    data = pa.table(
        {
            "age": pa.array(rng.integers(17, 91, 300), mask=rng.random(300) < 0.1),
            "wage.": rng.lognormal(10, 1, 300),
            "day": [DAY + dt.timedelta(days=int(at)) for at in rng.integers(0, 700, 300)],
            "told": [f"{at % 28 + 1}.{at % 12 + 1}.2023" for at in range(300)],
            "zip": [f"{at:05d}" for at in rng.integers(0, 99999, 300)],
            "ward": rng.choice(["a", "b", "c d"], 300),
            "text": [f"{number:.1f}" for number in rng.normal(size=300)],
        }
    )
    kinds = [scale.kind for scale in find_scales(open_table(data), data.column_names)]
    assert kinds == ["numbers", "numbers", "dates", "dates", "prefixes", "categories", "numbers"]
    assert find_scales(as_table(data), data.column_names) == find_scales(open_table(data), data.column_names)


@pytest.mark.parametrize("values", [["nan", ""], ["NaN"], [" ", "nan", None]])
def test_texts_that_are_only_missing_numbers_are_values(values):
    table = open_table(pa.table({"x": values * 20}))
    (scale,) = find_scales(table, ["x"])
    assert (scale.atoms_of(values) >= 0).all()
    assert scale.has_missing == (None in values)
