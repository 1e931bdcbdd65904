"""Rewriting: only risky rows change, by the bits of their index, the same on every engine."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

import tacit.tables.engines.duckdb.numbering as duckdb_numbering
import tacit.tables.engines.duckdb.rewriting as duckdb_rewriting
from drawing_oracle import drawn, row_bits
from sizes import many
from tacit.errors import ArgumentError
from tacit.tables import Symbols, count, new_key, open_table, rewrite, scores, with_symbol
from tacit.tables.drawing import BITS, alias_tables
from tacit.tables.numbering import numbered

NAN, INF = float("nan"), float("inf")
RELEASED = ["f", "text", "b.c", "yes", "day", "at", "instant", "price"]
DATA = pa.table(
    {
        "f": [0.0, -0.0, NAN, None, INF, -INF, 0.1, 0.1],
        "keep": list("stuvwxyz"),
        "text": ["a", "a", "é", None, "", "日本", "a'\"", "never seen"],
        "b.c": pa.array([1, 1, 2, None, 2**62, -5, 1, 1], pa.int64()),
        "yes": [True, True, None, False, True, None, True, True],
        "day": [dt.date(2020, 2, 29)] * 6 + [None, None],
        "at": pa.array([dt.datetime(2020, 1, 2, 3, 4, 5, 6)] * 8, pa.timestamp("us")),
        "instant": pa.array([dt.datetime(2020, 7, 2, 3, tzinfo=dt.UTC)] * 8, pa.timestamp("us", "UTC")),
        "price": pa.array([Decimal("1.50"), Decimal("2.00")] * 4, pa.decimal128(9, 2)),
    }
)
KEY = new_key(7)


def symbols_of(data, columns):
    return count(open_table(data), columns).symbols(columns)[0]


def normal(value):
    return None if isinstance(value, float) and value != value else value


def slow_rewrite(rows, symbols, merged, p, key):
    """The oracle: row by row, in Python."""
    known = {
        tuple(0.0 if v == 0 and isinstance(v, float) else v for v in symbols.values(i).values()): i
        for i in range(len(symbols))
    }
    done = []
    for index, row in enumerate(rows):
        symbol = known.get(tuple(normal(row[name]) for name in symbols.columns))
        row = dict(row)
        if symbol is None or merged[symbol]:
            row.update(dict.fromkeys(symbols.columns) if p is None else symbols.values(drawn(p, row_bits(key, index))))
        done.append(row)
    return done


def same(found, expected):
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        assert {k: repr(normal(v)) for k, v in one.items()} == {k: repr(normal(v)) for k, v in other.items()}


def rows_of(table):
    data = table.sample(table.names, 10**9)
    if "instant" in data.column_names:
        at = data.column_names.index("instant")
        data = data.set_column(at, "instant", data.column("instant").cast(pa.timestamp("us", "UTC")))
    return data.to_pylist()


@pytest.mark.parametrize("suppress", [False, True])
def test_every_engine_rewrites_as_the_oracle_does(as_table, suppress):
    symbols = symbols_of(DATA.slice(0, 7), RELEASED)
    merged = np.arange(len(symbols)) % 2 == 0
    p = None if suppress else np.arange(1, len(symbols) + 1) / sum(range(1, len(symbols) + 1))
    table = as_table(DATA)
    done = rewrite(table, symbols, merged=merged, replacement=p, key=KEY)
    same(rows_of(done), slow_rewrite(DATA.to_pylist(), symbols, merged, p, KEY))
    assert done.columns == table.columns
    assert done.rows.collect_schema() == table.rows.collect_schema()


# An example opens two tables and asks several questions of each.
few = settings(max_examples=many(8, 20))
cells = st.one_of(st.none(), st.sampled_from(["a", "b", "", "ç", "null"]))


@few
@given(
    st.lists(st.tuples(cells, cells, st.one_of(st.none(), st.integers(-2, 2))), min_size=1, max_size=25),
    st.lists(st.tuples(cells, cells, st.one_of(st.none(), st.integers(-2, 2))), min_size=1, max_size=5),
    st.integers(0, 2**32),
    st.booleans(),
)
def test_random_tables_are_rewritten_as_the_oracle_does(seen, fresh, seed, dense):
    types = {"a": pa.string(), "b": pa.string(), "c": pa.int64()}
    data = pa.table({n: pa.array([r[i] for r in seen + fresh], t) for i, (n, t) in enumerate(types.items())})
    symbols = symbols_of(data.slice(0, len(seen)), list(types))
    random = np.random.default_rng(seed)
    merged = random.random(len(symbols)) < 0.4
    p = random.dirichlet(np.full(len(symbols), 0.5))
    with pytest.MonkeyPatch.context() as patch:
        if not dense:
            patch.setattr(duckdb_rewriting, "DENSE_BITS", 0)
            patch.setattr(duckdb_rewriting, "DENSE_NUMBERS", 0)
            patch.setattr(duckdb_rewriting, "PACKED", 4)
        done = rewrite(open_table(data), symbols, merged=merged, replacement=p, key=KEY)
        same(rows_of(done), slow_rewrite(data.to_pylist(), symbols, merged, p, KEY))


@pytest.mark.parametrize("dense", [True, False])
def test_the_order_of_rows_is_kept_on_two_threads(tmp_path, monkeypatch, dense):
    import duckdb
    import pyarrow.parquet as pq

    from tacit.tables import write_table

    if not dense:
        monkeypatch.setattr(duckdb_rewriting, "DENSE_BITS", 0)
        monkeypatch.setattr(duckdb_rewriting, "DENSE_NUMBERS", 0)
    path, out, n = tmp_path / "in.parquet", tmp_path / "out.parquet", many(100_000, 400_000)
    duckdb.connect().execute(
        "COPY (SELECT i, 'a' || (i * 7919 % 40) AS a, (i * 104729 % 30)::INTEGER AS b "
        f"FROM range({n}) t(i)) TO '{path}' (FORMAT parquet, ROW_GROUP_SIZE 20480)"
    )
    table = open_table(path)
    symbols = count(table, ["a", "b"]).symbols(["a", "b"])[0]
    merged = np.arange(len(symbols)) % 3 == 0
    p = merged / merged.sum()
    write_table(rewrite(table, symbols, merged=merged, replacement=p, key=KEY), out, like=table)
    before, after = pq.read_table(path), pq.read_table(out)
    assert after.column("i").equals(before.column("i"))
    assert after.schema.types == before.schema.types
    number = {value: i for i, value in enumerate(symbols.labels())}
    old = [number[pair] for pair in zip(*(before.column(n).to_pylist() for n in "ab"), strict=True)]
    new = [number[pair] for pair in zip(*(after.column(n).to_pylist() for n in "ab"), strict=True)]
    some = range(0, n, 997)
    assert all(new[i] == (drawn(p, row_bits(KEY, i)) if merged[old[i]] else old[i]) for i in some)
    assert all(o == n for o, n in zip(old, new, strict=True) if not merged[o])


def test_draws_follow_the_asked_probabilities():
    """A probability that is 10% off fails: the chi-squared of 200,000 draws would be above 400."""
    p = np.array([0.5, 0.25, 0.15, 0.1, 0.0])
    data = pa.table({"x": ["risky"] * 200_000})
    symbols = Symbols(("x",), (("a", "b", "c", "d", "e", "risky"),), np.arange(6)[:, None])
    replacement = np.append(p, 0.0)
    done = rewrite(
        open_table(data), symbols, merged=np.arange(6) == 5, replacement=replacement, key=new_key(random_state=3)
    )
    times = Counter(done.frame.collect("pyarrow")["x"].to_list())
    assert times["e"] == times["risky"] == 0
    observed = np.array([times[name] for name in "abcd"])
    assert stats.chisquare(observed, p[:4] * 200_000).pvalue > 1e-4
    off = p[:4] * [1.1, 1, 1, 1]
    assert stats.chisquare(observed, off / off.sum() * 200_000).pvalue < 1e-6


@given(st.lists(st.floats(0, 1), min_size=1, max_size=40).filter(lambda p: sum(p) > 1e-9))
def test_alias_tables_are_exact_to_the_last_bit(weights):
    """Guarantee: over all 2^60 values of the bits a symbol is drawn within one of p * 2^60 times."""
    p = np.array(weights) / np.sum(weights)
    support = np.flatnonzero(p)
    tables = alias_tables(np.array([0, len(support)]), support, p[support])
    size = 1 << int(tables.shift[0])
    times = [0] * len(p)
    for bucket, threshold in enumerate(tables.threshold.tolist()):
        assert 0 <= threshold <= size
        times[tables.outputs[2 * bucket]] += threshold
        times[tables.outputs[2 * bucket + 1]] += size - threshold
    assert sum(times) == 1 << BITS
    total = sum(map(Fraction, p.tolist()))
    for number, asked in zip(times, p.tolist(), strict=True):
        assert abs(number - Fraction(asked) / total * (1 << BITS)) < 1
        assert asked > 0 or number == 0


def test_the_draw_takes_each_side_of_a_threshold():
    quarter = 1 << (BITS - 2)
    counted = Counter(drawn([0.75, 0.25], bits * (quarter // 4)) for bits in range(16))
    assert counted == {0: 12, 1: 4}


def test_a_key_is_fresh_unless_it_is_asked_to_repeat():
    assert new_key() != new_key()
    assert len(new_key()) == 32
    assert new_key(5) == new_key(5) != new_key(6)
    with pytest.raises(ArgumentError, match="32 bytes"):
        rewrite(
            open_table(DATA),
            symbols_of(DATA, ["text"]),
            merged=np.zeros(7, bool),
            replacement=None,
            key=b"short",
        )


def test_scores_are_beside_their_rows_and_unseen_rows_are_infinitely_risky(as_table):
    symbols = symbols_of(DATA.slice(0, 7), RELEASED)
    table = as_table(DATA)
    numbers = [row["symbol"] for row in rows_of(with_symbol(table, symbols))]
    assert numbers[7] is None
    for number, row in zip(numbers[:7], DATA.slice(0, 7).select(RELEASED).to_pylist(), strict=True):
        same([symbols.values(number)], [row | {"f": row["f"] if row["f"] is None else row["f"] + 0.0}])
    values = np.linspace(0, 1, len(symbols))
    done = scores(table, symbols, {"risk": values})
    assert done.names == (*table.names, "risk")
    found = rows_of(done)
    assert [row["risk"] for row in found] == [INF if n is None else values[n] for n in numbers]
    assert [row["keep"] for row in found] == list("stuvwxyz")


def test_levels_a_column_cannot_tell_apart_count_as_unseen():
    symbols = Symbols(("x",), (("1", "01", "2", "word"),), np.arange(4)[:, None])
    table = open_table(pa.table({"x": pa.array([1, 2, 3, None], pa.int64())}))
    done = rewrite(table, symbols, merged=np.zeros(4, bool), replacement=None, key=KEY)
    assert done.sample(["x"], 9).column("x").to_pylist() == [None, 2, None, None]


def test_rules_that_do_not_fit_the_symbols_are_refused():
    symbols = symbols_of(DATA, ["text"])
    table = open_table(DATA)
    n = len(symbols)
    with pytest.raises(ArgumentError, match="merged must be true or false"):
        rewrite(table, symbols, merged=np.zeros(n + 1, bool), replacement=None, key=KEY)
    with pytest.raises(ArgumentError, match=r"sums to 0\.5"):
        rewrite(table, symbols, merged=np.zeros(n, bool), replacement=np.full(n, 0.5 / n), key=KEY)
    with pytest.raises(ArgumentError, match="column 'keep' already"):
        scores(table, symbols, {"keep": np.zeros(n)})


@pytest.mark.long
@pytest.mark.parametrize("sizes", [None, (3, 4)])
def test_columns_of_whole_numbers_become_the_number_that_is_made_of_them_and_all_else_stays(as_table, sizes):
    a, b = [0, 2, 1, 0, 2, 2, 1, 0], [3, 0, 0, 3, 1, 0, 2, 2]
    table = as_table(DATA.append_column("a", pa.array(a)).append_column("b", pa.array(b)))
    made = numbered(table, ["a", "b"], lambda rows: 10 * rows[:, 0] + rows[:, 1], name="n", sizes=sizes)
    assert made.names == (*DATA.column_names, "n")
    same(
        rows_of(made),
        [row | {"n": 10 * x + y} for row, x, y in zip(rows_of(table.select(DATA.column_names)), a, b, strict=True)],
    )


def test_texts_that_are_shared_by_some_rows_alone_are_kept_as_they_are():
    # The first batch has few texts, the last one has many.
    texts = ["often"] * duckdb_numbering.BATCH + [None, *map(str, range(1_000))]
    table = open_table(pa.table({"a": np.arange(len(texts)) % 7, "text": texts}))
    made = numbered(table, ["a"], lambda rows: rows[:, 0] + 1, name="n")
    found = pa.concat_tables(made.batches(["text", "n"], 50_000))
    assert found.column("text").to_pylist() == texts
    assert found.column("n").to_pylist() == [at % 7 + 1 for at in range(len(texts))]
