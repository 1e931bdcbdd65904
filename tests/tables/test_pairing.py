"""Tables side by side: row i with row i, whatever the engines, the sources and the size of the batches."""

from __future__ import annotations

import errno
import tracemalloc
from collections import Counter
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings, strategies as st

import tacit.tables.pairing as pairing
from sizes import few, many
from tacit.errors import ArgumentError, DataError, SourceError
from tacit.tables import Cut, Symbols, count, cut, open_table, redraw
from tacit.tables.channels import draws_by_channel
from tacit.tables.rewriting import drawn_numbers


def symbols_in(table, columns):
    """The symbols of some columns, as they are counted."""
    return count(table, columns).symbols(columns)[0]


def numbers_of(rows, symbols):
    """The oracle: the number of each row's symbol, row by row."""
    known = {tuple(symbols.values(i).values()): i for i in range(len(symbols))}
    return [known.get(tuple(row[name] for name in symbols.columns), -1) for row in rows]


def slow(*numbers):
    """The oracle: combinations in order, and how often each occurs."""
    return sorted(Counter(zip(*numbers, strict=True)).items())


def listed(found):
    """Combinations and records as the oracle gives them."""
    combinations, records = found
    assert combinations.dtype == records.dtype == np.int64
    return list(zip(map(tuple, combinations.T.tolist()), records.tolist(), strict=True))


PEOPLE = pa.table(
    {
        "s": ["a", "b", None, "a", "b", "c", "a", "a", "b", None, "a", "c"] * 20,
        "age": [3, 17, 18, 40, 41, None, 65, 66, 90, 17, 3, 18] * 20,
        "weight.kg": [float(i % 7) for i in range(240)],
    }
)


def bin_of(edges, value):
    return None if value is None else Cut("x", edges).labels[int(np.searchsorted(edges, value, side="right"))]


@pytest.mark.parametrize("batch", few([7, 1_000_000]))
def test_one_source_cut_in_different_ways_is_counted_as_the_oracle_does(as_table, monkeypatch, batch):
    monkeypatch.setattr(pairing, "BATCH", batch)
    source, rows = as_table(PEOPLE), PEOPLE.to_pylist()
    edges = [(18.0, 65.0), (40.0,), (10.0, 20.0, 30.0)]
    tables = [cut(source, [Cut("age", edge)]) for edge in edges]
    secrets = symbols_in(source, ["s"])
    values = [symbols_in(table, ["age", "weight.kg"]) for table in tables]
    # The last ones know some values only: the other rows have -1.
    values[2] = Symbols(values[2].columns, values[2].levels, values[2].codes[::2])
    found = pairing.side_by_side([(source, secrets), *zip(tables, values, strict=True)])
    binned = [[row | {"age": bin_of(edge, row["age"])} for row in rows] for edge in edges]
    numbers = [numbers_of(some, symbols) for some, symbols in zip([rows, *binned], [secrets, *values], strict=True)]
    assert -1 in numbers[3]
    assert listed(found) == slow(*numbers)
    assert found[1].sum() == len(rows)


@pytest.mark.spark
@pytest.mark.parametrize("partitions", few([5, 1]))
def test_tables_on_different_engines_meet_row_by_row(spark, partitions):
    frame = spark.range(0, 3000, 1, partitions).selectExpr("id AS i", "concat('v', id * 7919 % 23) AS x")
    data = pa.table({"i": np.arange(3000), "y": [f"w{i * 104729 % 19}" for i in range(3000)]})
    one, other = open_table(frame), open_table(data)
    x, y = symbols_in(one, ["x"]), symbols_in(other, ["y"])
    expected = slow(numbers_of([{"x": f"v{i * 7919 % 23}"} for i in range(3000)], x), numbers_of(data.to_pylist(), y))
    assert listed(pairing.side_by_side([(one, x), (other, y)])) == expected


letters = st.one_of(st.none(), st.sampled_from("abcdefgh"))


@settings(max_examples=many(12, 40))
@given(st.lists(st.tuples(letters, letters, letters), min_size=1, max_size=40), st.integers(1, 9), st.booleans())
def test_random_tables_are_counted_as_the_oracle_does(rows, batch, shared):
    data = [pa.table({"x": pa.array([row[c] for row in rows], pa.string())}) for c in range(3)]
    if shared:
        whole = open_table(pa.table({f"x{c}": data[c].column("x") for c in range(3)}))
        tables, names = [whole.select([f"x{c}"]) for c in range(3)], ["x0", "x1", "x2"]
    else:
        tables, names = [open_table(one) for one in data], ["x"] * 3
    symbols = [Symbols((name,), ((*"abcde", None),), np.arange(0, 6, c + 1)[:, None]) for c, name in enumerate(names)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pairing, "BATCH", batch)
        found = pairing.side_by_side(list(zip(tables, symbols, strict=True)))
    numbers = [numbers_of([{name: row[c]} for row in rows], symbols[c]) for c, name in enumerate(names)]
    assert listed(found) == slow(*numbers)


def test_combinations_beyond_64_bits_are_told_apart():
    random = np.random.default_rng(3)
    numbers = random.integers(-1, 2**40, (4, 50))[:, random.integers(0, 50, 300)]
    found = pairing._together([(numbers[:, :100], np.ones(100, int)), (numbers[:, 100:], np.ones(200, int))])
    assert listed(found) == slow(*numbers.tolist())


@pytest.mark.parametrize("on", ["different sources", "one source"])
def test_different_numbers_of_rows_are_refused(on):
    whole = open_table(pa.table({"x": ["a", "b"] * 10}))
    short = open_table(pa.table({"x": ["a", "b"] * 9}))
    if on == "one source":
        short = whole.with_rows(whole.rows.head(18), whole.columns)
    symbols = symbols_in(whole, ["x"])
    for tables in ([whole, short], [short, whole], [whole, whole, short]):
        with pytest.raises(DataError, match=r"has (18|20) rows and .* has (18|20): they are not versions of one table"):
            pairing.side_by_side([(table, symbols) for table in tables])


def test_an_empty_table_has_no_combinations(as_table):
    table = as_table(pa.table({"x": pa.array([], pa.string())}))
    symbols = Symbols(("x",), (("a",),), np.zeros((1, 1), int))
    combinations, records = pairing.side_by_side([(table, symbols), (table, symbols)])
    assert combinations.shape == (2, 0)
    assert records.shape == (0,)
    with pytest.raises(ArgumentError, match="no table"):
        pairing.side_by_side([])


def test_memory_grows_with_the_combinations_and_not_with_the_rows(monkeypatch):
    monkeypatch.setattr(pairing, "BATCH", 10_000)

    def peak(rows):
        number = np.arange(rows)
        source = open_table(pa.table({"x": number % 50, "y": number % 30}))
        symbols = [symbols_in(source, [name]) for name in "xy"]
        tables = [source.select([name]) for name in "xy"]
        tracemalloc.start()
        combinations, _ = pairing.side_by_side(list(zip(tables, symbols, strict=True)))
        used = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert combinations.shape == (2, 150)
        return used

    assert peak(600_000) < peak(30_000) + 500_000


def test_a_full_disk_is_one_line(monkeypatch):
    class Full:
        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

        def write(self, _):
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(pairing.tempfile, "TemporaryFile", lambda **_: Full())
    table = open_table(pa.table({"x": ["a", "b"]}))
    symbols = symbols_in(table, ["x"])
    with pytest.raises(SourceError, match=r"cannot write .*: No space left on device"):
        pairing.side_by_side([(table, symbols)])
    # The connection is free again.
    assert table.row_count() == 2


@pytest.mark.parametrize("same_source", [False, True])
def test_a_release_is_paired_with_its_original_as_the_oracle_does(as_table, same_source):
    original, rows = as_table(PEOPLE), PEOPLE.to_pylist()
    released = ["age", "weight.kg"]
    values, secrets = symbols_in(original, released), symbols_in(original, ["s"])
    # One secret and some values were never counted.
    secrets = Symbols(secrets.columns, secrets.levels, secrets.codes[1:])
    values = Symbols(values.columns, values.levels, values.codes[:-3])
    n = len(values)
    channel = np.zeros((n, n + 1))
    channel[np.arange(n), np.arange(n)] = channel[np.arange(n), (np.arange(n) + 1) % n] = channel[:, n] = 1 / 3
    release = redraw(original, values, channel=channel, key=b"k" * 32)
    made = release.sample(release.names, 10**9)
    if not same_source:
        release = as_table(made)
    outputs = symbols_in(release, released)
    outputs = Symbols(outputs.columns, outputs.levels, outputs.codes[2:])
    found = pairing.paired(original, release, secrets=secrets, values=values, outputs=outputs)
    of = partial(numbers_of, rows)
    drawn = made.to_pylist()
    s, x, y, again = of(secrets), of(values), numbers_of(drawn, outputs), numbers_of(drawn, values)
    again = [-1 if out < 0 else value for out, value in zip(y, again, strict=True)]
    y = [len(outputs) if out < 0 else out for out in y]
    quads = [quad for quad in zip(s, x, y, again, strict=True) if quad[0] >= 0 and quad[1] >= 0]
    combinations = np.stack([found.secret, found.value, found.output, found.output_as_value])
    assert sorted(listed((combinations, found.records))) == sorted(Counter(quads).items())
    assert len(outputs) in y
    assert -1 in s
    assert -1 in x


def test_two_files_are_counted_side_by_side_in_one_pass_as_row_by_row(tmp_path):
    rows = 40_000
    rng = np.random.default_rng(0)
    first = pa.table({"a": rng.choice(["x", "y", None], rows), "b": rng.integers(0, 5, rows)})
    second = pa.table({"t": [f"{a}{i % 3}" for i, a in enumerate(first["a"].to_pylist())]})
    pq.write_table(first, tmp_path / "a.parquet", row_group_size=7_001)
    pq.write_table(second, tmp_path / "b.parquet", row_group_size=3_333)
    one, other = open_table(tmp_path / "a.parquet"), open_table(tmp_path / "b.parquet")
    found = pairing.counted_beside(one, ["a", "b"], other, ["t"])
    together = zip(first["a"].to_pylist(), first["b"].to_pylist(), second["t"].to_pylist(), strict=True)
    values = zip(*(found.values(name).tolist() for name in found.columns), strict=True)
    assert dict(zip(values, found.records.tolist(), strict=True)) == Counter(together)
    # What is not the whole of a file is told row by row.
    assert pairing.counted_beside(one.select(["a"]), ["a"], other, ["t"]) is None
    pq.write_table(second.slice(1), tmp_path / "c.parquet")
    with pytest.raises(DataError, match="not versions of one table"):
        pairing.counted_beside(one, ["a"], open_table(tmp_path / "c.parquet"), ["t"])


def test_rows_apart_are_those_that_lie_side_by_side_and_differ():
    one = open_table(pa.table({"a": ["x", "y", None, "", "z"]}))
    other = open_table(pa.table({"a": ["x", None, None, "y", "z"]}))
    symbols = symbols_in(other, ["a"])
    (made, found), records = pairing.side_by_side([(one, symbols), (other, symbols)])
    assert pairing.rows_apart(one, other, symbols) == records[made != found].sum() == 2
    # "" is not a value of the other table; not even in two tables alike does it count as the same.
    assert pairing.rows_apart(one, one, symbols) == 1
    with pytest.raises(DataError, match="rows"):
        pairing.rows_apart(one, open_table(pa.table({"a": ["x"]})), symbols)


@pytest.mark.parametrize("damaged", [None, 0, 1_999])
def test_rows_are_compared_with_what_is_drawn_for_them_and_then_need_not_be_counted(tmp_path, monkeypatch, damaged):
    data = pa.table({"x": [f"v{i * 7 % 5}" for i in range(2_000)], "y": [f"w{i % 3}" for i in range(2_000)]})
    pq.write_table(data, tmp_path / "original.parquet")
    original = open_table(tmp_path / "original.parquet")
    symbols, key = symbols_in(original, ["x", "y"]), bytes(range(32))
    channel = np.eye(len(symbols))
    channel[:4, :4] = 0.25
    rows = redraw(original, symbols, channel=channel, key=key).sample(["x", "y"], 10_000).to_pylist()
    if damaged is not None:
        rows[damaged]["y"] = "w1" if rows[damaged]["y"] == "w0" else "w0"
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "release.parquet")
    monkeypatch.setattr("tacit.tables.table.USUAL_SAMPLES", (300,))
    # Smaller batches than a step, so that the rows of a sample lie anywhere in them.
    monkeypatch.setattr(pairing, "BATCH", 5)
    release = open_table(tmp_path / "release.parquet")
    numbers = drawn_numbers(original, symbols, draws_by_channel(channel, len(symbols)), key=key, name="n")
    assert pairing.numbers_apart(numbers, "n", release, symbols) == (damaged is not None)
    if damaged is None:
        told, again = release.remembered[0], count(open_table(tmp_path / "release.parquet"), ["x", "y"])
        assert told.levels == again.levels
        assert told.agrees(again)
        (tmp_path / "release.parquet").unlink()
        assert release.sample(["y", "x"], 300).to_pylist() == [{"y": row["y"], "x": row["x"]} for row in rows[::7]]
    else:
        assert not release.remembered
    with pytest.raises(DataError, match="rows"):
        pairing.numbers_apart(numbers, "n", open_table(pa.Table.from_pylist(rows[1:])), symbols)


@pytest.mark.parametrize("missing", [False, True])
def test_stored_dictionaries_number_symbols_as_rows_do(tmp_path, missing):
    rng = np.random.default_rng(0)
    rows = [{"x": f"v{a}", "y": None if b == 3 else f"w{b}"} for a, b in rng.integers(0, 4, (3_000, 2)).tolist()]
    # Neither a level that the symbols lack nor a combination that they lack is a symbol.
    fewer = pa.Table.from_pylist([row for row in rows if row["x"] != "v1" and (missing or row["y"] is not None)][:9])
    symbols, kept = symbols_in(open_table(fewer), ["y", "x"]), []
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "rows.parquet", row_group_size=700)
    table = open_table(tmp_path / "rows.parquet")
    assert table.engine.told_numbers(table.rows, symbols, kept.append)
    right = numbers_of(rows, symbols)
    assert np.concatenate(kept).tolist() == right
    assert {-1} < set(right)
    # Numbers are not stored as dictionaries of texts; the engine numbers them.
    pq.write_table(pa.table({"x": [1, 2, 2]}), tmp_path / "numbers.parquet")
    table = open_table(tmp_path / "numbers.parquet")
    assert not table.engine.told_numbers(table.rows, symbols_in(table, ["x"]), kept.append)


def test_rows_whose_numbers_are_counted_alike_but_written_otherwise_are_told_apart(monkeypatch):
    monkeypatch.setattr(pairing, "BATCH", 4)
    cells = [0.0, -0.0, float("nan"), None, 1.5, float("inf")]
    one, other = ([cell for cell in cells for _ in cells], [cell for _ in cells for cell in cells])
    mark = {0: 0, 1: 1, 2: 2, 3: 0, 4: 0, 5: 0}
    apart = sum(mark[i] != mark[j] for i in range(6) for j in range(6))
    for kind in (pa.float64(), pa.float32()):
        tables = [open_table(pa.table({"a.b": pa.array(each, kind), "t": ["x"] * 36})) for each in (one, other)]
        assert pairing.spelled_apart(*tables) == apart == 18
        assert pairing.spelled_apart(tables[0], tables[0]) == 0
        assert pairing.spelled_oddly(tables[0]) == 12
    texts = open_table(pa.table({"a.b": ["x"] * 36, "t": ["x"] * 36}))
    assert pairing.spelled_apart(texts, tables[1]) == 12
    assert pairing.spelled_apart(texts, texts) == pairing.spelled_oddly(texts) == 0


@pytest.mark.spark
def test_engines_agree_on_how_numbers_are_written(spark):
    data = pa.table({"x": pa.array([0.0, -0.0, float("nan"), None, 1.5] * 3, pa.float64())})
    here, there = open_table(data), open_table(spark.createDataFrame(data))
    assert pairing.spelled_apart(here, there) == pairing.spelled_apart(there, here) == 0
    assert pairing.spelled_oddly(there) == 6
    plain = open_table(pa.table({"x": pa.array([0.0, 0.0, None, None, 1.5] * 3, pa.float64())}))
    assert pairing.spelled_apart(plain, there) == 6
