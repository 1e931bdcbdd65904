"""Atoms in the engine: the same as in Python, in the same rows, whatever the column is called."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal
from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st

from sizes import many
from tacit.codes import (
    CategoryScale,
    DateScale,
    HierarchyScale,
    ListScale,
    NumberScale,
    PrefixScale,
    WholeScale,
    atoms_table,
    find_scales,
)
from tacit.codes.coding import counts_by_atom, few_values
from tacit.codes.scales.calendar import UNITS, number_of_moment
from tacit.codes.scales.moments import LAYOUTS
from tacit.errors import ArgumentError
from tacit.tables import count, labelled, open_table

NAN, INF = float("nan"), float("inf")
UTC = dt.UTC


def numbers(column, edges, has_missing=True):
    return NumberScale(column, tuple(edges), False, None, None, (0.0,) * (len(edges) + 1), has_missing)


def dates(column, unit, layout, first, count, has_missing=True):
    start = number_of_moment(unit, first)
    return DateScale(column, unit, layout, start, start + count - 1, True, True, has_missing)


def encoded(table, scales):
    made = atoms_table(table, scales)
    assert made.names == table.names
    return made.sample(made.names, 10_000).to_pydict()


def test_every_engine_places_numbers_as_python_does(as_table):
    floats = [0.0, -0.0, NAN, None, INF, -INF, 0.1, 18.0, 17.999999999999996, 65.0, 1e300, 5e-324]
    texts = ["0", "-0.0", "nan", None, "inf", "-Infinity", ".1", " 18 ", "17.999999999999996", "6.5e1", "", "n/a"]
    data = pa.table(
        {
            "f": floats,
            "a.b": texts,
            "whole": pa.array([*range(-3, 8), None], pa.int16()),
            "big": pa.array([*range(2**40, 2**40 + 12)], pa.int64()),
            "decimal": pa.array([Decimal(at) / 4 for at in range(12)], pa.decimal128(10, 2)),
            "rest": list("abcdefghijkl"),
        }
    )
    few, uneven = (0.0, 0.1, 18.0, 65.0), tuple(np.unique(np.r_[-5:5, 17:19:0.2, 1e5, 1e9, 1e300]).tolist())
    table = as_table(data)
    for scales in (
        [numbers(name, few) for name in ("f", "a.b", "whole", "big", "decimal")],
        [numbers("f", uneven, False), numbers("whole", range(-2, 5)), numbers("a.b", (), False)],
    ):
        found = encoded(table, scales)
        for scale in scales:
            assert found[scale.column] == scale.atoms_of(data.column(scale.column).to_pylist()).tolist(), scale
        assert found["rest"] == list("abcdefghijkl")
    assert found["a.b"] == [0, 0, -1, -1, 0, 0, 0, 0, 0, 0, -1, -1]
    assert encoded(table, [numbers("a.b", few)])["a.b"][-2:] == [5, -1]


def test_every_engine_places_dates_as_python_does(as_table):
    moments = [
        *(dt.datetime(2024, 2, 29, 23, 59), dt.datetime(1900, 2, 28), dt.datetime(2000, 2, 29, 1), None),
        *(dt.datetime(2023, 12, 31, 23), dt.datetime(2024, 1, 1), dt.datetime(1969, 7, 20, 20, 17)),
        *(dt.datetime(2024, 3, 3), dt.datetime(2024, 3, 4), dt.datetime(2100, 3, 1)),
    ]
    kinds = {
        "day": pa.array([None if each is None else each.date() for each in moments]),
        "moment": pa.array(moments, pa.timestamp("us")),
        "zone": pa.array([None if each is None else each.replace(tzinfo=UTC) for each in moments]),
    }
    data = pa.table({f"{kind} {unit}": kinds[kind] for kind in kinds for unit in UNITS})
    scales = [
        dates(name, name.split()[1], "typed", dt.datetime(2023, 12, 31), 9 if name.startswith("moment") else 700)
        for name in data.column_names
    ]
    found = encoded(as_table(data), scales)
    for scale in scales:
        expected = scale.atoms_of(data.column(scale.column).to_pylist()).tolist()
        assert found[scale.column] == expected, scale
        assert expected[3] == scale.size - 1


TEXTS = {
    "Y-M-D": ["2024-02-29", "2023-02-29", "1900-02-29", "2024-13-01", "2024-04-31", "2024-3-1", "0000-01-01", "x"],
    "Y/M/D": ["2024/02/29", "2024/02/30", "2024-02-28", "1999/12/31"],
    "YMD": ["20240229", "20230229", "18000101", "2024022"],
    "D.M.Y": ["29.02.2024", "1.3.2024", "01.3.2024", "1.03.2024", "31.4.2024", "32.1.2024", "1.13.2024", "29.2.1900"],
    "D/M/Y": ["29/02/2024", "1/3/2024", "13/1/2024", "1/13/2024"],
    "M/D/Y": ["02/29/2024", "3/1/2024", "13/1/2024", "1/13/2024"],
    "D-M-Y": ["29-02-2024", "1-3-2024", "2024-03-01"],
}
CLOCKS = ["", " 12:30", " 12:30:00", "T23:59:59.123", "T00:00:00Z", " 04:05:06+01:00", " 24:00", " ", " 9:30"]


def test_every_engine_reads_dates_as_python_does(as_table):
    columns, scales = {}, []
    for at, (layout, unit) in enumerate(product(LAYOUTS, ("hour", "month"))):
        # Spark takes long to plan many columns: the layouts have one unit each, in turn, or both.
        if at % many(4, 1) not in (0, 3):
            continue
        texts = [text + clock for text in TEXTS[layout] for clock in CLOCKS] + [None, "", "  ", "unknown"]
        columns[f"{layout} {unit}"] = texts + [None] * (100 - len(texts))
        scales.append(dates(f"{layout} {unit}", unit, layout, dt.datetime(2024, 1, 1), 2000))
    found = encoded(as_table(pa.table(columns)), scales)
    for scale in scales:
        expected = scale.atoms_of(columns[scale.column]).tolist()
        assert found[scale.column] == expected, scale
        assert len(set(expected)) > 2


def test_every_engine_looks_values_up_as_python_does(as_table):
    data = pa.table(
        {
            "cat": ["b", "a", None, "unseen", "", "A or B", "a", "A", " a"],
            "some": ["b", "a", None, "unseen", "", "A or B", "a", "A", " a"],
            "flag": [True, False, None, True, False, True, None, True, True],
            "zip": ["00501", "501", "00510", None, "1", "", "00501", "99999", "0050é"],
            "number": pa.array([3, 1, 2, None, 9, 1, 1, 1, 3], pa.int32()),
            "float": [0.5, -0.0, NAN, None, 0.0, 2.5, 9.0, 1.0, 0.5],
            "day": pa.array([dt.date(2024, 1, at) for at in range(1, 9)] + [None]),
            "any": list("abcdefghi"),
        }
    )
    scales = [
        CategoryScale("cat", "text", ("a", "A or B", "b", "", "A"), True),
        CategoryScale("some", "text", ("a", "b"), False, has_others=True),
        CategoryScale("flag", "boolean", (True,), True, has_others=True),
        PrefixScale("zip", ("0050", "0051", "501"), 4, None, True),
        HierarchyScale("number", "integer", (3, 2, 1), (("high", "high", "low"),), False),
        ListScale("float", "number", (0.0, 0.5, 2.5), True),
        ListScale("day", "date", ("2024-01-01", "2024-01-04"), False),
        WholeScale("any"),
    ]
    found = encoded(as_table(data), scales)
    for scale in scales:
        assert found[scale.column] == scale.atoms_of(data.column(scale.column).to_pylist()).tolist(), scale.column
    assert found["cat"] == [2, 0, 5, -1, 3, 1, 0, 4, -1]
    assert found["some"] == [1, 0, -1, 2, 2, 2, 0, 2, 2]
    assert found["flag"] == [0, 1, 2, 0, 1, 0, 2, 0, 0]
    assert found["zip"] == [0, 2, 1, 3, -1, -1, 0, -1, 0]


def test_codes_of_a_column_of_whole_numbers_are_looked_up(as_table):
    table = as_table(pa.table({"n": pa.array([1307, 13, None, 9999], pa.int64())}))
    (scale,) = find_scales(table, ["n"], {"n": "prefix:2"})
    assert scale.values == ("13", "99")
    assert encoded(table, [scale])["n"] == [0, 0, 2, 1] == scale.atoms_of([1307, 13, None, 9999]).tolist()


@settings(max_examples=many(25, 500))
@given(
    st.lists(st.none() | st.floats(allow_nan=False), min_size=1, max_size=30),
    st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=40, unique=True),
    st.integers(-3, 300),
)
def test_random_edges_place_random_numbers_exactly(values, edges, power):
    """Guarantee: whatever the spacing of the edges, a number is where a comparison with each of them puts it."""
    edges = sorted({edge + 0.0 for edge in edges} | {2.0**power * at for at in range(10)})
    values = [*values, *edges, *(math.nextafter(edge, -math.inf) for edge in edges)]
    scale = numbers("x", edges)
    table = open_table(pa.table({"x": pa.array(values, pa.float64())}))
    expected = [len(edges) + 1 if value is None else sum(value >= edge for edge in edges) for value in values]
    assert encoded(table, [scale])["x"] == expected == scale.atoms_of(values).tolist()


def test_more_values_than_a_list_holds_are_looked_up_in_order():
    values = [f"v{at:06d}" for at in range(70_000)]
    table = open_table(pa.table({"x": values[::-1], "i": range(70_000)}))
    (scale,) = find_scales(table, ["x"], {"x": "values"})
    made = atoms_table(table, [scale]).sample(["x", "i"], 70_000).to_pydict()
    assert made["x"] == list(range(70_000))[::-1]
    assert made["i"] == list(range(70_000))


def test_names_and_order_and_other_columns_stay(as_table):
    data = pa.table({"c1": [3, 1, 2], "SELECT *": ["b", "a", "b"], 'x"y.z': [1.5, 2.5, 0.5], "c1_said": list("pqr")})
    table = as_table(data)
    scales = [numbers("c1", (2,)), CategoryScale("SELECT *", "text", ("a", "b"), False), numbers('x"y.z', (1, 2))]
    made = atoms_table(table, scales)
    assert made.names == table.names
    assert [column.dtype for column in made.columns] == ["Int64", "Int64", "Int64", "String"]
    assert encoded(table, scales) == {
        "c1": [1, 0, 1],
        "SELECT *": [1, 0, 1],
        'x"y.z': [1, 2, 0],
        "c1_said": list("pqr"),
    }


def test_a_column_has_one_scale_and_must_be_there():
    table = open_table(pa.table({"a": [1]}))
    with pytest.raises(ArgumentError, match="two scales"):
        atoms_table(table, [WholeScale("a"), WholeScale("a")])
    with pytest.raises(ArgumentError, match="no column 'b'"):
        atoms_table(table, [WholeScale("b")])


def test_labels_are_looked_up_in_the_order_of_the_rows(as_table):
    data = pa.table({"a b": [9, 8, 7, 6, 5], "cell": [1, 0, 2, None, -1], "other.": list("vwxyz")})
    texts = {"a b": ["low", "30 to 39", 'say "x"'], "new": ["é", "", None]}
    made = labelled(as_table(data), "cell", texts)
    assert made.names == ("a b", "cell", "other.", "new")
    assert made.sample(made.names, 10).to_pydict() == {
        "a b": ["30 to 39", "low", 'say "x"', None, None],
        "cell": [1, 0, 2, None, -1],
        "other.": list("vwxyz"),
        "new": ["", "é", None, None, None],
    }
    assert made["a b"].kind == "text"


def test_the_number_itself_may_be_replaced_and_wrong_texts_are_refused():
    table = open_table(pa.table({"cell": [1, 0], "x": ["a", "b"]}))
    assert labelled(table, "cell", {"cell": ["p", "q"]}).sample(["cell"], 5).to_pydict() == {"cell": ["q", "p"]}
    for number, texts, why in [
        ("x", {"y": ["a"]}, "whole numbers"),
        ("cell", {}, "whole numbers"),
        ("cell", {"y": ["a"], "z": []}, "one text for each"),
        ("cell", {"X": ["a"]}, "differ only in case"),
    ]:
        with pytest.raises(ArgumentError, match=why):
            labelled(table, number, texts)


def test_few_values_are_counted_as_they_are_and_numbered_afterwards(as_table):
    data = pa.table(
        {
            "ward": ["a", None, "b", "a", "b", "a"],
            "open": [True, False, None, True, True, True],
            "code": ["F31", "F30", "F31", "F31", None, "F31"],
            "rooms": [2, 1, 2, 2, 3, 2],
            "ill": ["yes", "no", "no", "yes", "no", "no"],
        }
    )
    table = as_table(data)
    wishes = {"rooms": "values", "code": "prefix"}
    scales = find_scales(table, ["ward", "open", "code", "rooms"], wishes)
    assert few_values(scales)
    slow = count(atoms_table(table, scales), table.names)
    fast = counts_by_atom(count(table, table.names), scales)
    assert (fast.columns, fast.levels) == (slow.columns, slow.levels)
    assert fast.codes.tolist() == slow.codes.tolist()
    assert fast.records.tolist() == slow.records.tolist()
    assert not few_values(find_scales(table, ["ward", "code"], {"code": "prefix:2"}))
