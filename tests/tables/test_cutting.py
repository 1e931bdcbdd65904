"""Cutting numbers into bins: the same bins on every engine, nothing lost in silence."""

from __future__ import annotations

import json
import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

from tacit.errors import ArgumentError, DataError
from tacit.release import decoded, text_of
from tacit.tables import Cut, count, cut, cut_points, numbers, open_table

NAN, INF = float("nan"), float("inf")


def slow_bin(value, edges, labels):
    if value is None or value != value:
        return None
    return labels[sum(value >= edge for edge in edges)]


def test_every_engine_cuts_as_the_oracle_does(as_table):
    numbers = [0.0, -0.0, NAN, None, INF, -INF, 0.1, 18.0, 17.999999999999996, 65.0, 1e300]
    texts = ["0", "-0.0", "nan", None, "inf", "-Infinity", ".1", " 18 ", "17.999999999999996", "6.5e1", ""]
    data = pa.table({"n": numbers, "a.b": texts, "whole": pa.array(range(11), pa.int16()), "rest": list("abcdefghijk")})
    edges = (0.0, 0.1, 18.0, 65.0)
    cuts = [Cut("n", edges), Cut("a.b", edges), Cut("whole", (3, 5))]
    table = cut(as_table(data), cuts)
    found = table.sample(table.names, 100).to_pydict()
    labels = cuts[0].labels
    assert labels == ("< 0", "[0, 0.1)", "[0.1, 18)", "[18, 65)", ">= 65")
    assert found["n"] == [slow_bin(value, edges, labels) for value in numbers]
    read = [0.0, 0.0, None, None, INF, -INF, 0.1, 18.0, 17.999999999999996, 65.0, None]
    assert found["a.b"] == [slow_bin(value, edges, labels) for value in read]
    assert found["whole"] == ["< 3"] * 3 + ["[3, 5)"] * 2 + [">= 5"] * 6
    assert found["rest"] == list("abcdefghijk")
    assert [column.kind for column in table.columns] == ["text"] * 4


@given(
    st.lists(st.one_of(st.none(), st.floats()), min_size=1, max_size=30),
    st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=6, unique=True),
)
def test_random_numbers_are_cut_as_the_oracle_does(numbers, edges):
    one = Cut("n", tuple(sorted({edge + 0.0 for edge in edges})))
    table = cut(open_table(pa.table({"n": pa.array(numbers, pa.float64())})), [one])
    expected = [slow_bin(value, one.edges, one.labels) for value in numbers]
    assert table.sample(["n"], 100).column("n").to_pylist() == expected


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=6, unique=True))
def test_labels_are_distinct_and_edges_read_back_as_the_same_number(edges):
    one = Cut("n", tuple(sorted({edge + 0.0 for edge in edges})))
    assert len(set(one.labels)) == len(one.edges) + 1
    assert all(
        float(label.split()[-1]) == edge for label, edge in zip(one.labels, one.edges, strict=False) if "<" in label
    )
    assert decoded(Cut, json.loads(text_of(one))) == one


def test_text_that_is_no_number_is_refused_with_its_count_and_no_cell_of_it(as_table):
    data = pa.table({"age": ["1", "n/a", "1_000", "0x1F", "2", None]})
    with pytest.raises(DataError, match=r"column 'age' .* has 3 cells that are not a number: fix them") as error:
        cut(as_table(data), [Cut("age", (1,))])
    assert "0x1F" not in str(error.value)


def test_cut_points_make_bins_of_about_equal_size():
    data = pa.table({"n": pa.array(range(100_000))})
    table = open_table(data)
    one = cut_points(table, "n", 4)
    assert one.edges == (25_000, 50_000, 75_000)
    assert cut_points(table, "n", 1).labels == ("any number",)


def test_cut_points_drop_edges_that_would_make_empty_bins():
    skewed = open_table(pa.table({"n": [0] * 90 + list(range(10)) + [None]}))
    assert cut_points(skewed, "n", 4).edges == ()
    assert cut_points(open_table(pa.table({"n": [7.0] * 5})), "n", 4).edges == ()
    assert cut_points(open_table(pa.table({"n": [-INF, 1.0, 2.0, INF, NAN]})), "n", 2).edges == (2,)


def test_nothing_to_cut_is_refused():
    table = open_table(pa.table({"n": pa.array([None, None], pa.float64()), "d": ["a", "b"]}))
    with pytest.raises(DataError, match="no numbers to cut"):
        cut_points(table, "n", 4)
    with pytest.raises(DataError, match="2 cells that are not a number"):
        cut_points(table, "d", 4)
    with pytest.raises(DataError, match="holds Boolean, not numbers"):
        cut(open_table(pa.table({"b": [True]})), [Cut("b", (1,))])


@pytest.mark.parametrize("edges", [(2, 1), (1, 1), (NAN,), (INF,)])
def test_edges_must_go_up_and_be_finite(edges):
    with pytest.raises(ArgumentError, match="the edges of column 'n'"):
        Cut("n", edges)


def test_every_engine_reads_a_column_as_the_same_numbers_in_their_order(as_table):
    data = pa.table({"a.b": ["9", "10", " 1e2 ", "", None, "-.5"], "other": [1, 2, 3, 4, 5, 6]})
    made = numbers.in_numbers(as_table(data), "a.b")
    counts = count(made, ["a.b", "other"])
    assert counts.levels[0] == (-0.5, 9.0, 10.0, 100.0, None)
    assert counts.levels[1] == (1, 2, 3, 4, 5, 6)


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (3.20000004768372, "3.2"),
        (float(np.float32(0.1)), "0.1"),
        (0.8, "0.8"),
        (2 / 3, "0.6666666666666666"),
        (0.1 + 0.2, "0.30000000000000004"),
        (16777217.0, "16777217.0"),
        (1e300, "1e+300"),
        (-math.inf, "-Infinity"),
    ],
)
def test_a_number_kept_in_32_bits_reads_as_it_was_written_and_no_other_is_shortened(number: float, text: str) -> None:
    assert numbers.in_own_precision(number) == text
