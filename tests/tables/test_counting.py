"""Counting: the same counts on every engine, against a slow count in Python."""

from __future__ import annotations

import datetime as dt
import json
from collections import Counter
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

import tacit.tables.counting as counting
from tacit.errors import ArgumentError, ColumnError, DataError
from tacit.release import decoded, text_of
from tacit.tables import Symbols, count, distinct_counts, open_table
from tacit.tables.engines.duckdb.engine import DuckDBEngine
from tacit.tables.symbols import in_order

NAN, INF = float("nan"), float("inf")
ODD = pa.table(
    {
        "f": [0.0, -0.0, NAN, None, INF, -INF, 0.1],
        "select": ["a", "a", "é", None, "", "日本", "a'\""],
        'a "b".c': pa.array([1, 1, 2, None, 2**62, -5, 1], pa.int64()),
        "*": [True, True, None, False, True, None, True],
        "day": [dt.date(2020, 2, 29)] * 6 + [None],
        "at": pa.array([dt.datetime(2020, 1, 2, 3, 4, 5, 6)] * 7, pa.timestamp("us")),
        "price": pa.array([Decimal("1.50")] * 7, pa.decimal128(9, 2)),
        "w": pa.array([1, 2, 3, 4, 5, 6, 7], pa.int32()),
    }
)


def slow_key(value):
    if isinstance(value, float):
        return None if value != value else value + 0.0
    return value


def slow_count(data, columns, weight=None):
    records, weights = Counter(), Counter()
    for row in data.to_pylist():
        key = tuple(slow_key(row[name]) for name in columns)
        records[key] += 1
        weights[key] += row[weight] if weight else 1
    return records, weights


def as_counter(counts, numbers):
    groups = Symbols(counts.columns, counts.levels, counts.codes)
    keys = [tuple(groups.values(group).values()) for group in range(len(groups))]
    return dict(zip(keys, numbers.tolist(), strict=True))


def test_every_engine_counts_odd_values_and_odd_names_as_the_oracle_does(as_table):
    columns = [name for name in ODD.column_names if name != "w"]
    counts = count(as_table(ODD), columns, weight="w")
    records, weights = slow_count(ODD, columns, "w")
    assert as_counter(counts, counts.records) == records
    assert as_counter(counts, counts.weight) == weights
    assert counts.levels[0] == (-INF, 0.0, 0.1, INF, None)
    assert counts.levels[1] == ("", "a", "a'\"", "é", "日本", None)
    assert counts.codes.tolist() == sorted(counts.codes.tolist())


values = {
    "text": st.one_of(st.none(), st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=3)),
    "number": st.one_of(st.none(), st.floats(width=64), st.sampled_from([0.0, -0.0])),
    "whole": st.one_of(st.none(), st.integers(-3, 3)),
    "yes": st.one_of(st.none(), st.booleans()),
}
types = {"text": pa.string(), "number": pa.float64(), "whole": pa.int64(), "yes": pa.bool_()}


@given(st.lists(st.fixed_dictionaries(values), min_size=1, max_size=30))
def test_random_tables_are_counted_as_the_oracle_does(rows):
    data = pa.table({name: pa.array([row[name] for row in rows], kind) for name, kind in types.items()})
    counts = count(open_table(data), list(types))
    assert as_counter(counts, counts.records) == slow_count(data, list(types))[0]
    assert counts.codes.tolist() == sorted(counts.codes.tolist())


def test_a_joint_has_a_zero_where_a_pair_never_occurs():
    data = pa.table({"s": ["x", "x", "y"], "a": [1, 2, 1], "b": ["p", None, "p"]})
    joint, symbols = count(open_table(data), ["s", "a", "b"]).joint(["s"], ["a", "b"])
    assert (joint.matrix * 3).round(12).tolist() == [[1, 1], [1, 0]]
    assert list(joint.secrets) == ["x", "y"]
    assert list(joint.released) == [(1, "p"), (2, None)]
    assert symbols.values(1) == {"a": 2, "b": None}


def test_symbols_come_back_from_json_with_their_types():
    columns = [name for name in ODD.column_names if name != "w"]
    symbols, _ = count(open_table(ODD), columns).symbols(columns)
    back = decoded(Symbols, json.loads(text_of(symbols)))
    assert back.levels == symbols.levels
    assert [[type(v) for v in levels] for levels in back.levels] == [[type(v) for v in ls] for ls in symbols.levels]
    assert (back.codes == symbols.codes).all()


def test_a_weight_that_is_missing_zero_negative_or_not_finite_is_refused(as_table):
    data = pa.table({"a": range(6), "w": pa.array([1.0, -1.0, None, NAN, INF, 0.0], pa.float64())})
    with pytest.raises(DataError, match="column 'w' has 5 weights"):
        count(as_table(data), ["a"], weight="w")


def test_weights_may_be_numbers_written_as_text(tmp_path):
    path = tmp_path / "w.csv"
    path.write_text("a,w\nx,1.5\ny,2\nx, 3\n")
    assert count(open_table(path), ["a"], weight="w").weight.tolist() == [4.5, 2.0]


def test_too_many_groups_are_refused_with_the_columns_to_blame(monkeypatch):
    monkeypatch.setattr(counting, "MAX_GROUPS", 10)
    data = pa.table({"id": list(range(100)), "sex": ["f", "m"] * 50})
    with pytest.raises(DataError, match=r"more than 10 combinations.*'id', 'sex'"):
        count(open_table(data), ["sex", "id"])


def test_too_many_cells_are_refused(monkeypatch):
    monkeypatch.setattr(counting, "MAX_CELLS", 10)
    counts = count(open_table(pa.table({"s": [1, 2, 3, 4], "x": [1, 2, 3, 4]})), ["s", "x"])
    with pytest.raises(DataError, match="4 secrets x 4 released values are more than 10 cells"):
        counts.joint(["s"], ["x"])


def test_distinct_counts_take_missing_and_nan_for_one_value(as_table):
    assert distinct_counts(as_table(ODD), ["f", "select", "w"]) == {"f": 5, "select": 6, "w": 7}


def test_wrong_columns_are_named():
    table = open_table(pa.table({"diagnosis": [1], "list": [[1, 2]]}))
    with pytest.raises(ColumnError, match="did you mean 'diagnosis'"):
        count(table, ["diagnosys"])
    with pytest.raises(DataError, match=r"column 'list' .* holds List"):
        count(table, ["list"])
    with pytest.raises(ArgumentError, match="named twice"):
        count(table, ["diagnosis", "diagnosis"])
    with pytest.raises(ArgumentError, match="write \\['diagnosis'\\]"):
        table.require("diagnosis")


def test_the_order_of_bins_is_the_order_of_levels():
    from tacit.tables import Cut, cut

    table = cut(open_table(pa.table({"age": [5, 40, 100, 200, None]})), [Cut("age", (18, 100, 150))])
    assert count(table, ["age"]).levels == (("< 18", "[18, 100)", "[100, 150)", ">= 150", None),)


def test_times_finer_than_a_microsecond_are_refused_and_coarser_ones_kept():
    kind = pa.timestamp("ns")
    fine = open_table(pa.table({"t": pa.array([1], kind)}))
    with pytest.raises(DataError, match="finer than a microsecond"):
        count(fine, ["t"])
    assert count(open_table(pa.table({"t": pa.array([1000], kind)})), ["t"]).levels == (
        (dt.datetime(1970, 1, 1, 0, 0, 0, 1),),
    )


def test_counts_are_the_same_whatever_the_chunks():
    data = pa.table({"a": np.arange(5000) % 7, "b": (np.arange(5000) % 3).astype(str)})
    chunks = pa.concat_tables([data.slice(i, 37) for i in range(0, 5000, 37)])
    one, two = count(open_table(data), ["a", "b"]), count(open_table(chunks), ["a", "b"])
    assert one.levels == two.levels
    assert (one.codes == two.codes).all()
    assert (one.records == two.records).all()


def test_what_was_counted_answers_for_fewer_columns_without_reading_again(monkeypatch):
    people = pa.table({"a": ["x", "y", None, "x"] * 5, "b": [1, 2, 2, 3] * 5, "c": [0.0, -0.0, float("nan"), None] * 5})
    fresh = [count(open_table(people), list(names)) for names in (("b", "a"), ("c",))]
    table = open_table(people)
    count(table, ["a", "b", "c"])
    monkeypatch.setattr(type(table), "collected", None)
    kept = [count(table, list(names)) for names in (("b", "a"), ("c",))]
    assert all(one.agrees(other) and one.columns == other.columns for one, other in zip(kept, fresh, strict=True))
    assert table.row_count() == 20
    # Other rows are counted anew.
    assert not table.with_rows(table.rows, table.columns).remembered


def test_counts_by_other_columns_are_kept_but_not_of_every_set_of_columns():
    names = [f"c{at}" for at in range(9)]
    rng = np.random.default_rng(0)
    people = pa.table({name: rng.integers(0, 3, 200) for name in names})
    table = open_table(people)
    table.remembered.append(count(open_table(people), names))
    for order in (names[::-1], names[:2]):
        first = counting.counted_before(table, order)
        assert first.agrees(count(open_table(people), order))
        assert counting.counted_before(table, order) is first
    for name in names:
        assert counting.counted_before(table, [name]).agrees(count(open_table(people), [name]))
        assert counting.values_before(table, name) == (0, 1, 2)
    assert len(table.retold) == counting.MOST_RETOLD
    assert counting.values_before(open_table(people), "c0") is None


def test_the_columns_of_a_table_that_is_counted_here_are_read_in_one_query(monkeypatch):
    read = []
    collected = DuckDBEngine.collected
    monkeypatch.setattr(DuckDBEngine, "collected", lambda self, rows: read.append(rows) or collected(self, rows))
    table = open_table(pa.table({f"c{at}": ["a", "b", "b"] for at in range(50)}))
    assert count(table, table.names).records.tolist() == [1, 2]
    # One query counts the rows.
    assert len(read) <= 2


@pytest.mark.parametrize("sizes", [(3, 4), (2, 500), (90, 90, 90), (2,) * 70, (1,)])
def test_rows_in_order_are_those_that_sorting_gives(sizes):
    rng = np.random.default_rng(len(sizes))
    codes = np.column_stack([rng.integers(0, size, 200) for size in sizes])
    different, which = np.unique(codes, axis=0, return_inverse=True)
    ordered, place = in_order(codes)
    assert np.array_equal(ordered, different)
    assert np.array_equal(place, which.ravel())
    again, itself = in_order(different)
    assert np.array_equal(again, different)
    assert itself.tolist() == list(range(len(different)))
    assert [len(part) for part in in_order(codes[:0])] == [0, 0]
    assert in_order(codes[:, :1] - 1)[1].tolist() == np.unique(codes[:, 0], return_inverse=True)[1].tolist()


def test_a_thinned_table_has_the_rows_of_a_sample_in_the_engine_too():
    wide = open_table(pa.table({f"c{at}": list(range(at, 100 + at)) for at in range(50)}))
    assert wide.head(["c0"], 5).num_rows == 5
    count(wide, wide.names)
    thin, sampled = wide.thinned(10), [*range(0, 100, 10)]
    assert thin.row_count() == 10
    assert thin.sample(["c0"], 10).column(0).to_pylist() == sampled
    assert sorted(thin.collected(thin.frame.select("c0")).column(0).to_pylist()) == sampled
