"""Sizes of groups: the same on every engine, against a slow count in Python."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

from sizes import many
from tacit.errors import ArgumentError, ColumnError
from tacit.tables import GroupSizes, group_sizes, open_table

NAN = float("nan")


def slow_key(value: Any) -> Any:
    if isinstance(value, float):
        return None if value != value else value + 0.0
    return value


def slow_sizes(data: dict[str, list[Any]], columns: list[str], secret: list[str], least: int) -> GroupSizes:
    """By a loop over rows: slow and obviously right."""
    members, overall = defaultdict(list), Counter()
    for row in range(len(data[columns[0]])):
        one = tuple(slow_key(data[name][row]) for name in secret)
        members[tuple(slow_key(data[name][row]) for name in columns)].append(one)
        overall[one] += 1
    sizes = [len(each) for each in members.values()]
    found = (sum(sizes), len(sizes), sum(n == 1 for n in sizes), min(sizes), sum(n for n in sizes if n < least))
    if not secret:
        return GroupSizes(*found)
    lifts = [
        (times / len(each)) / (overall[one] / sum(sizes))
        for each in members.values()
        for one, times in Counter(each).items()
    ]
    different = [len(set(each)) for each in members.values()]
    told = sum(len(each) for each in members.values() if len(set(each)) == 1)
    return GroupSizes(*found, min(different), told, pytest.approx(max(lifts)))


ODD = {
    "f": [0.0, -0.0, NAN, None, 0.1, 0.1, NAN],
    "a.b": ["x", "x", None, None, "y", "y", ""],
    "*": [1, 1, 2, 2, 2, 2, None],
    "s": ["ill", None, "ill", "ill", "well", "well", "ill"],
    "t": [True, True, None, None, False, True, True],
}


@pytest.mark.parametrize(("columns", "secret"), [(["*", "f", "a.b"], ["s", "t"]), (["f"], ["s"]), (["f", "a.b"], [])])
def test_every_engine_finds_the_groups_that_the_oracle_finds(as_table, columns, secret, monkeypatch):
    right = slow_sizes(ODD, columns, secret, 3)
    assert group_sizes(as_table(pa.table(ODD)), columns, secret, least=3) == right
    # A wide table is brought over and counted here.
    monkeypatch.setattr("tacit.tables.table.WIDE", 0)
    assert group_sizes(as_table(pa.table(ODD)), columns, secret, least=3) == right


cells = {
    "f": st.one_of(st.none(), st.sampled_from([0.0, -0.0, NAN, 1.5])),
    "x": st.one_of(st.none(), st.sampled_from(["", "a", "b"])),
    "s": st.one_of(st.none(), st.integers(0, 2)),
}
TYPES = {"f": pa.float64(), "x": pa.string(), "s": pa.int64()}


@given(st.lists(st.fixed_dictionaries(cells), min_size=1, max_size=many(12, 30)), st.integers(1, 4))
def test_random_tables_are_grouped_as_the_oracle_groups_them(rows, least):
    data = {name: [row[name] for row in rows] for name in TYPES}
    table = open_table(pa.table({name: pa.array(values, TYPES[name]) for name, values in data.items()}))
    assert group_sizes(table, ["f", "x"], ["s"], least=least) == slow_sizes(data, ["f", "x"], ["s"], least)
    assert group_sizes(table, ["x"], least=least) == slow_sizes(data, ["x"], [], least)


def test_a_table_without_rows_has_no_groups():
    empty = open_table(pa.table({"x": pa.array([], pa.string())}))
    assert group_sizes(empty, ["x"]) == GroupSizes(0, 0, 0, 0, 0)


def test_columns_that_are_not_there_are_refused():
    table = open_table(pa.table({"x": ["a"]}))
    with pytest.raises(ColumnError, match="no column 'y'"):
        group_sizes(table, ["y"])
    with pytest.raises(ArgumentError, match="named twice"):
        group_sizes(table, ["x"], ["x"])
    with pytest.raises(ArgumentError, match="at least one column"):
        group_sizes(table, [])
