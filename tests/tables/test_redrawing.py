"""A channel on rows: each value becomes what its row of the channel says, by the bits of its index, on every engine."""

from __future__ import annotations

import secrets
from collections import Counter
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings, strategies as st
from scipy import sparse, stats

import tacit.tables.drawing as drawing
import tacit.tables.engines.duckdb.rewriting as duckdb_rewriting
import tacit.tables.engines.duckdb.sql as duckdb_sql
from drawing_oracle import drawn, row_bits, slow_alias
from sizes import few, many
from tacit.errors import ArgumentError, DataError
from tacit.tables import Symbols, count, new_key, open_table, redraw, rewrite
from tacit.tables.channels import KEPT, MISSING, SHIFT_BITS, draws_by_channel
from tacit.tables.drawing import BITS
from tacit.tables.rewriting import drawn_numbers
from test_rewriting import DATA, KEY, RELEASED, normal, rows_of, same, symbols_of


def slow_redraw(rows, symbols, channel, key):
    """The oracle: row by row, in Python; unseen values become missing."""
    n = len(symbols)
    known = {
        tuple(0.0 if v == 0 and isinstance(v, float) else v for v in symbols.values(i).values()): i for i in range(n)
    }
    done = []
    for index, row in enumerate(rows):
        symbol = known.get(tuple(normal(row[name]) for name in symbols.columns))
        if symbol is not None and channel[symbol, symbol] == 1:
            done.append(row)
            continue
        output = n if symbol is None else drawn(channel[symbol], row_bits(key, index))
        done.append(row | (dict.fromkeys(symbols.columns) if output == n else symbols.values(output)))
    return done


def random_channel(random, size, *, missing, kept=0.3):
    """Rows of every sort: kept, sent to one output, few outputs, and the same as another row."""
    outputs = size + missing
    channel = np.zeros((size, outputs))
    for i in range(size):
        chosen = random.choice(outputs, size=random.integers(1, outputs + 1), replace=False)
        channel[i, chosen] = random.dirichlet(np.ones(len(chosen)))
        if random.random() < 0.2:
            channel[i] = channel[random.integers(0, i + 1)]
        if random.random() < kept:
            channel[i] = np.arange(outputs) == i
    return channel


def texts(n):
    """Symbols of one column of text."""
    return Symbols(("x",), (tuple(f"v{i}" for i in range(n)),), np.arange(n)[:, None])


@pytest.mark.parametrize("missing", few([True, False]))
def test_every_engine_redraws_as_the_oracle_does(as_table, missing):
    symbols = symbols_of(DATA.slice(0, 7), RELEASED)
    channel = random_channel(np.random.default_rng(1), len(symbols), missing=missing)
    table = as_table(DATA)
    done = redraw(table, symbols, channel=sparse.csr_array(channel), key=KEY)
    same(rows_of(done), slow_redraw(DATA.to_pylist(), symbols, channel, KEY))
    assert done.columns == table.columns
    assert done.rows.collect_schema() == table.rows.collect_schema()


# An example opens two tables and asks several questions of each.
some_tables = settings(max_examples=many(8, 30))
cells = st.one_of(st.none(), st.sampled_from(["a", "b", "", "ç", "null"]))
rows = st.tuples(cells, cells, st.one_of(st.none(), st.integers(-2, 2)))


@some_tables
@given(
    st.lists(rows, min_size=1, max_size=25),
    st.lists(rows, max_size=5),
    st.integers(0, 2**32),
    st.sampled_from([{}, {"PACKED": 4}, {"DENSE_BITS": 0, "DENSE_NUMBERS": 0}, {"DENSE_NUMBERS": 16}]),
    st.sampled_from([{}, {"SHORT": 0, "FEW_TEXTS": 0, "FEW_LABELS": 0}, {"SHORT": 5, "FEW_LABELS": 2}]),
)
def test_random_tables_are_redrawn_as_the_oracle_does(seen, fresh, seed, limits, written):
    types = {"a": pa.string(), "b": pa.string(), "c": pa.int64()}
    data = pa.table({n: pa.array([r[i] for r in seen + fresh], t) for i, (n, t) in enumerate(types.items())})
    symbols = symbols_of(data.slice(0, len(seen)), list(types))
    random = np.random.default_rng(seed)
    channel = random_channel(random, len(symbols), missing=bool(random.integers(2)), kept=random.random())
    with pytest.MonkeyPatch.context() as patch:
        for name, value in limits.items():
            patch.setattr(duckdb_rewriting, name, value)
        for name, value in written.items():
            patch.setattr(duckdb_sql, name, value)
        present = symbols_of(data, list(types))
        done = redraw(open_table(data), symbols, channel=channel, key=KEY, present=present)
        expected = slow_redraw(data.to_pylist(), symbols, channel, KEY)
        same(rows_of(done), expected)
        for column in done.columns:
            # A list of texts in a file would give away one that is not in it.
            texts_of = {row[column.name] for row in expected} - {None}
            assert not column.told or list(column.told) == sorted(texts_of)
        numbers = drawn_numbers(open_table(data), symbols, draws_by_channel(channel, len(symbols)), key=KEY, name="n")
        if limits.get("DENSE_NUMBERS") == 0:
            assert numbers is None
        elif numbers is not None:
            known = {tuple(symbols.values(i).values()): i for i in range(len(symbols))}
            # A row that becomes wholly missing has no number unless that is a symbol.
            for row, cells_of_row in zip(rows_of(numbers), expected, strict=True):
                values = tuple(cells_of_row.values())
                assert row["n"] == known.get(values) or (row["n"] is None and values == (None, None, None))


@pytest.mark.spark
@pytest.mark.parametrize("partitions", few([5, 1]))
def test_both_engines_draw_the_same_whatever_the_partitions(spark, partitions):
    data = pa.table({"i": list(range(2000)), "x": [f"v{i * 7 % 23}" for i in range(2000)]})
    symbols = texts(20)
    channel = random_channel(np.random.default_rng(5), 20, missing=True)
    frame = spark.range(0, 2000, 1, partitions).selectExpr("id AS i", "concat('v', id * 7 % 23) AS x")
    one, other = (
        rows_of(redraw(table, symbols, channel=channel, key=KEY)) for table in (open_table(data), open_table(frame))
    )
    assert frame.rdd.getNumPartitions() == partitions
    assert one == other == slow_redraw(data.to_pylist(), symbols, channel, KEY)


@pytest.mark.parametrize("dense", [True, False])
def test_draws_follow_each_row_of_the_channel_and_would_betray_a_tenth_too_much(monkeypatch, dense):
    """120,000 draws a value and more: were one probability 10% off, p would be below 1e-6."""
    if not dense:
        monkeypatch.setattr(duckdb_rewriting, "DENSE_BITS", 0)
        monkeypatch.setattr(duckdb_rewriting, "DENSE_NUMBERS", 0)
    channel = np.array(
        [
            [0.5, 0.25, 0.15, 0.1, 0.0],
            [0.0, 1.0, 0.0, 0.0, 0.0],
            [0.05, 0.0, 0.9, 0.05, 0.0],
            [0.2, 0.2, 0.2, 0.2, 0.2],
        ]
    )
    n = many(120_000, 300_000)
    data = pa.table({"was": np.tile(np.arange(4), n), "x": pa.array([f"v{i}" for i in range(4)] * n)})
    done = redraw(open_table(data), texts(4), channel=channel, key=new_key(random_state=11))
    counted = done.sample(done.names, 10**9).group_by(["was", "x"]).aggregate([([], "count_all")])
    times = Counter({(row["was"], row["x"]): row["count_all"] for row in counted.to_pylist()})
    for i, p in enumerate(channel):
        observed = np.array([times[i, None if j == 4 else f"v{j}"] for j in range(5)])
        assert observed.sum() == n
        assert (observed[p == 0] == 0).all()
        if p.max() == 1:
            continue
        support = np.flatnonzero(p)
        assert stats.chisquare(observed[support], p[support] * n).pvalue > 1e-4
        for j in support:
            off = p * np.where(np.arange(5) == j, 1.1 if p[j] < 0.9 else 0.9, 1)
            assert stats.chisquare(observed[support], (off / off.sum())[support] * n).pvalue < 1e-6


SEVERAL = np.array(
    [
        [0.5, 0.25, 0.15, 0.1, 0.0],
        [0.3, 0.3, 0.2, 0.1, 0.1],
        [0.05, 0.0, 0.9, 0.05, 0.0],
        [0.2, 0.2, 0.2, 0.2, 0.2],
    ]
)


def p_values(table, drawn_by, asked):
    """Pearson's chi-squared of each source value's draws, against the row of the channel that was asked for."""
    done = redraw(table, texts(4), channel=drawn_by, key=new_key(random_state=29))
    times = Counter(zip(*(done.sample(done.names, 10**9).column(c).to_pylist() for c in ("was", "x")), strict=True))
    found = []
    for i, p in enumerate(asked):
        observed = np.array([times[i, None if j == 4 else f"v{j}"] for j in range(5)])
        assert (observed[p == 0] == 0).all()
        found.append(stats.chisquare(observed[p > 0], p[p > 0] * observed.sum()).pvalue)
    return np.array(found)


@pytest.mark.parametrize(
    ("engine", "records", "rows"),
    [("duckdb", 100_000, (0, 1)), pytest.param("spark", 40_000, (0,), marks=[pytest.mark.spark, pytest.mark.long])],
)
def test_pearsons_test_passes_what_was_asked_and_fails_a_channel_that_is_a_tenth_off(request, engine, records, rows):
    """With n draws of a probability p that is 10% off, chi-squared is 0.01 n p / (1 - p) above its mean: 100 or more.

    At the level 1e-6 it takes 33, so the test fails the wrong channel but for a few keys in a million.
    """
    if engine == "spark":
        frame = request.getfixturevalue("compiling_spark").range(0, records, 1, 3)
        table = open_table(frame.selectExpr("id % 4 AS was", "concat('v', id % 4) AS x"))
    else:
        was = np.arange(records) % 4
        table = open_table(pa.table({"was": was, "x": [f"v{i}" for i in was]}))
    assert (p_values(table, SEVERAL, SEVERAL) > 1e-6).all()
    for row in rows:
        p, off = SEVERAL[row, 0], SEVERAL.copy()
        off[row] *= (1 - 1.1 * p) / (1 - p)
        off[row, 0] = 1.1 * p
        # The draws betray the row that is wrong, and only that.
        wrong = p_values(table, off, SEVERAL) <= 1e-6
        assert wrong.tolist() == [i == row for i in range(4)]


def test_neighbouring_rows_are_drawn_independently():
    data = pa.table({"x": ["v0"] * 200_000})
    done = redraw(open_table(data), texts(2), channel=[[0.5, 0.5], [0.0, 1.0]], key=new_key(random_state=12))
    drawn = (np.array(done.sample(["x"], 10**9).column("x").to_pylist()) == "v1").astype(int)
    pairs = np.bincount(2 * drawn[::2] + drawn[1::2], minlength=4)
    assert stats.chisquare(pairs).pvalue > 1e-4


def test_the_identity_changes_nothing_and_a_permutation_takes_no_chance():
    data = pa.table({"x": pa.array(["v0", "v1", "v2", "v1"]), "f": [0.25, 1e300, 0.1, 5e-324]})
    assert rows_of(redraw(open_table(data), texts(3), channel=sparse.eye_array(3))) == data.to_pylist()
    symbols = symbols_of(data, ["x", "f"])
    turned = sparse.csr_array(np.roll(np.eye(4), 1, axis=1))
    one, other = (rows_of(redraw(open_table(data), symbols, channel=turned)) for _ in range(2))
    number = {value: i for i, value in enumerate(symbols.labels())}
    labels = symbols.labels()
    expected = [labels[(number[row["x"], row["f"]] + 1) % 4] for row in data.to_pylist()]
    assert one == other == [dict(zip(("x", "f"), pair, strict=True)) for pair in expected]


def test_a_merging_channel_is_what_rewrite_does():
    symbols = symbols_of(DATA.slice(0, 7), RELEASED)
    n = len(symbols)
    merged, p = np.arange(n) % 2 == 0, np.arange(1, n + 1) / sum(range(1, n + 1))
    channel = np.where(merged[:, None], p, np.eye(n))
    data = DATA.slice(0, 7)
    one = redraw(open_table(data), symbols, channel=channel, key=KEY)
    other = rewrite(open_table(data), symbols, merged=merged, replacement=p, key=KEY)
    same(rows_of(one), rows_of(other))


def test_missing_is_a_value_like_any_other_and_an_output_besides(as_table):
    symbols = Symbols(("x",), (("a", "b", None),), np.arange(3)[:, None])
    data = pa.table({"x": ["a", None, "b", "new"]})
    channel = sparse.csr_array(([1.0, 1.0, 1.0], ([0, 1, 2], [2, 3, 1])), shape=(3, 4))
    done = redraw(as_table(data), symbols, channel=channel, key=KEY)
    assert [row["x"] for row in rows_of(done)] == [None, "b", None, None]


def test_unseen_rows_are_suppressed():
    table, symbols = open_table(pa.table({"x": ["v0", "new"]})), texts(2)
    assert [r["x"] for r in rows_of(redraw(table, symbols, channel=np.eye(2)))] == ["v0", None]


@pytest.mark.parametrize("columns", [1, 2])
def test_an_alphabet_beyond_the_dense_limit_is_redrawn_as_the_oracle_does(columns, monkeypatch):
    n = many(9_000, 70_000)
    monkeypatch.setattr(duckdb_rewriting, "DENSE_NUMBERS", min(duckdb_rewriting.DENSE_NUMBERS, n - 1))
    if columns == 1:
        data = pa.table({"i": np.arange(n), "x": [f"v{i * 7919 % n}" for i in range(n)]})
    else:
        data = pa.table({"i": np.arange(n), "x": np.arange(n) // 300, "y": [f"w{i % 300}" for i in range(n)]})
    names = data.column_names[1:]
    table = open_table(data)
    symbols = count(table, names).symbols(names)[0]
    assert len(symbols) == n
    number = np.arange(n)
    # A third stays; the others stay, or move to one of two neighbours, or are suppressed.
    share = np.where(number % 3 == 0, 0, 0.6)
    parts = [
        (number, 1 - share),
        ((number + 1) % n, share / 3),
        ((number + 2) % n, share / 3),
        (number * 0 + n, share / 3),
    ]
    channel = sparse.csr_array(
        sparse.coo_array(
            (np.concatenate([p for _, p in parts]), (np.tile(number, 4), np.concatenate([j for j, _ in parts]))),
            shape=(n, n + 1),
        )
    )
    found = redraw(table, symbols, channel=channel, key=KEY).sample(data.column_names, n)
    assert found.column("i").to_pylist() == list(range(n))
    known = {label: i for i, label in enumerate(symbols.labels())}
    before, after = data.select(names).to_pylist(), found.select(names).to_pylist()
    for index in range(0, n, 37):
        values = tuple(before[index].values())
        symbol = known[values if columns > 1 else values[0]]
        row = channel[[symbol]]
        at = drawn(row.data, row_bits(KEY, index))
        output = int(row.indices[at]) if symbol % 3 else symbol
        assert after[index] == (dict.fromkeys(names) if output == n else symbols.values(output))
    kept = [known[tuple(r.values()) if columns > 1 else r["x"]] % 3 == 0 for r in before]
    assert all(one == other for one, other, stays in zip(before, after, kept, strict=True) if stays)


def test_an_empty_table_stays_empty(as_table):
    data = pa.table({"x": pa.array([], pa.string()), "n": pa.array([], pa.int32())})
    done = redraw(as_table(data), texts(2), channel=[[0.5, 0.5], [0.2, 0.8]])
    assert rows_of(done) == []
    assert done.names == ("x", "n")


def test_outputs_that_are_never_drawn_need_not_fit_the_column():
    symbols = Symbols(("x",), (("1", "2", "word"),), np.arange(3)[:, None])
    table = open_table(pa.table({"x": pa.array([1, 2, 3], pa.int64())}))
    done = redraw(table, symbols, channel=[[0, 1, 0], [0.5, 0.5, 0], [1, 0, 0]], key=KEY)
    assert [row["x"] for row in rows_of(done)][::2] == [2, None]
    with pytest.raises(DataError, match="does not fit"):
        rows_of(redraw(table, symbols, channel=[[0, 0, 1], [0.5, 0.5, 0], [1, 0, 0]], key=KEY))


def test_without_a_key_chance_comes_from_the_secure_source(monkeypatch):
    table = open_table(pa.table({"x": ["v0"] * 200}))
    drawn = [rows_of(redraw(table, texts(2), channel=[[0.5, 0.5], [0, 1]])) for _ in range(2)]
    assert drawn[0] != drawn[1]
    monkeypatch.setattr(secrets, "token_bytes", lambda size: KEY[:size])
    known = redraw(table, texts(2), channel=[[0.5, 0.5], [0, 1]], key=KEY)
    assert rows_of(redraw(table, texts(2), channel=[[0.5, 0.5], [0, 1]])) == rows_of(known)


@pytest.mark.parametrize(
    ("channel", "message"),
    [
        (np.array([[0.5, 0.4], [0, 1]]), r"row 0 of the channel sums to 0\.9, not 1"),
        (np.array([[1, 0], [0, 0]]), "row 1 of the channel sums to 0, not 1"),
        (np.array([[1, 0], [1.5, -0.5]]), r"entry \(1, 1\) of the channel is -0\.5"),
        (np.array([[1, 0], [np.nan, 1]]), r"entry \(1, 0\) of the channel is nan"),
        (np.array([[np.inf, 0], [0, 1]]), r"entry \(0, 0\) of the channel is inf"),
        (np.eye(3), r"shape \(3, 3\); 2 symbols need 2 rows, and 2 columns or, .*, 3"),
        (np.eye(2, 4), r"shape \(2, 4\)"),
        (np.ones(2), r"shape \(2,\)"),
    ],
)
def test_a_channel_that_is_none_is_refused(channel, message):
    table = open_table(pa.table({"x": ["v0"]}))
    with pytest.raises(ArgumentError, match=message):
        redraw(table, texts(2), channel=channel, key=KEY)
    if channel.ndim == 2:
        with pytest.raises(ArgumentError, match=message):
            redraw(table, texts(2), channel=sparse.csr_array(channel), key=KEY)


def slow_draws(channel, size):
    """The oracle: the alias tables row by row, in plain Python; unseen values are missing."""
    rows = sparse.csr_array(channel)
    rows.sum_duplicates()
    threshold, outputs, place, known = [1 << BITS], [MISSING] * 2, [], {}
    for i in range(size):
        entries = slice(rows.indptr[i], rows.indptr[i + 1])
        named, p = rows.indices[entries].tolist(), rows.data[entries].tolist()
        row = tuple(named), tuple(p)
        if named == [i]:
            place.append(KEPT)
            continue
        if row not in known:
            shift, own, chosen = slow_alias(p)
            known[row] = (len(threshold) << SHIFT_BITS) + shift
            threshold += own
            outputs += [MISSING if named[at] == size else named[at] for at in chosen]
        place.append(known[row])
    return place, threshold, outputs


def assert_as_slow(channel):
    size = channel.shape[0]
    draws = draws_by_channel(channel, size)
    place, threshold, outputs = slow_draws(channel, size)
    assert draws.unseen == BITS
    assert draws.place.tolist() == place
    assert draws.threshold.tolist() == threshold
    assert draws.outputs.tolist() == outputs
    return draws


def assert_exact(draws, channel):
    """Over all 2^60 values of the bits each output is drawn within one of what its entry asks, in whole numbers."""
    size = channel.shape[0]
    for i, place in enumerate(draws.place.tolist()):
        if place == KEPT:
            assert channel[i, i] > 0
            assert np.count_nonzero(channel[i]) == 1
            continue
        first, shift = place >> SHIFT_BITS, place & 63
        times = Counter()
        for bucket in range(first, first + (1 << (BITS - shift))):
            times[int(draws.outputs[2 * bucket])] += int(draws.threshold[bucket])
            times[int(draws.outputs[2 * bucket + 1])] += (1 << shift) - int(draws.threshold[bucket])
        total = sum(map(Fraction, channel[i].tolist()))
        assert sum(times.values()) == 1 << BITS
        for j, asked in enumerate(channel[i].tolist()):
            drawn = times[MISSING if j == size else j]
            assert abs(drawn - Fraction(asked) / total * (1 << BITS)) < 1
            assert asked > 0 or drawn == 0


# Of every magnitude: whole buckets, entries whose share is one or none, and those below the reach of 64-bit numbers.
weights = st.one_of(
    st.floats(0, 1),
    st.sampled_from([0.0, 0.25, 0.5, 1.0, 1 / 3, 0.1, 2.0**-59, 2.0**-60, 1.5 * 2.0**-60, 2.0**-61, 5e-324]),
    st.floats(0, 1).map(lambda x: x**20),
    # Shares that end exactly where others do.
    st.integers(0, 4).map(float),
)


@given(st.data(), st.integers(1, 9), st.booleans(), st.sampled_from([1, 8, 1 << 16]))
def test_all_alias_tables_at_once_are_those_made_one_by_one(data, size, missing, piece):
    rows = st.lists(weights, min_size=size + missing, max_size=size + missing).filter(lambda p: sum(p) > 1e-9)
    channel = np.array([data.draw(rows) for _ in range(size)])
    channel /= channel.sum(axis=1, keepdims=True)
    # A sum may miss one by as much as is allowed, and some rows are the same.
    channel *= 1 + np.array(data.draw(st.lists(st.floats(-9e-7, 9e-7), min_size=size, max_size=size)))[:, None]
    channel = channel[data.draw(st.lists(st.integers(0, size - 1), min_size=size, max_size=size))]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(drawing, "PIECE", piece)
        assert_exact(assert_as_slow(channel), channel)


@given(st.lists(st.lists(st.integers(0, 5), min_size=9, max_size=9).filter(any), min_size=9, max_size=9))
@example([[3, 3, 2, 1, 1, 0, 0, 0, 0]] * 9)
def test_shares_that_end_where_others_do_are_laid_side_by_side(weights):
    channel = np.array(weights, float) / np.sum(weights, axis=1, keepdims=True)
    assert_exact(assert_as_slow(channel), channel)


def sparse_rows(random, size, most):
    """Rows of 1 to ``most`` entries, spread over many magnitudes."""
    sizes = random.integers(1, most + 1, size)
    of_entry = np.repeat(np.arange(size), sizes)
    entries = random.random(len(of_entry)) ** random.choice([1, 4, 12], len(of_entry)) + 1e-17
    rows = sparse.csr_array((entries, (of_entry, random.integers(0, size + 1, len(of_entry)))), shape=(size, size + 1))
    rows.sum_duplicates()
    return sparse.csr_array(rows.multiply((1 / rows.sum(axis=1))[:, None]))


@pytest.mark.parametrize(("size", "most"), [(6000, 4), (2500, 20), (200, 200)])
def test_large_channels_are_made_one_by_one_or_at_once_alike(size, most):
    assert_as_slow(sparse_rows(np.random.default_rng(size), size, most))


def test_rows_of_very_many_entries_do_not_overflow():
    """64 bits do not hold what the fractions of 2,049 entries sum to."""
    n = 20
    for width in (2048, 2049):
        # Just below a whole number, so that the fractions are as large as they get.
        row = np.full(width, (np.floor(2.0**60 / width) + 1 - 2.0**-4) / 2.0**60)
        tables = drawing.alias_tables(np.arange(n + 1) * width, np.tile(np.arange(width), n), np.tile(row, n))
        shift, threshold, chosen = slow_alias(row.tolist())
        assert (tables.shift == shift).all()
        assert (tables.threshold.reshape(n, -1) == threshold).all()
        assert (tables.outputs.reshape(n, -1) == chosen).all()


def test_equal_rows_share_a_table_and_rows_that_only_look_equal_do_not():
    channel = np.full((2000, 2000), 0.0)
    channel[:, :3] = [[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.0, 0.5, 0.5], [0.5, 0.5, 0.0]] * 500
    draws = assert_as_slow(channel)
    assert len(np.unique(draws.place)) == 4
    # Sums of entries, or of their places, are the same in these; only the whole rows differ.
    alike = np.zeros((6, 6))
    alike[:3, :3] = [[0.5, 0.25, 0.25], [0.25, 0.25, 0.5], [0.25, 0.5, 0.25]]
    alike[3:, 3:] = [[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.25, 0.25, 0.5]]
    draws = assert_as_slow(alike)
    assert_exact(draws, alike)
    assert len(np.unique(draws.place)) == 6
