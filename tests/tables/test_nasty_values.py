"""One table of values that trip programs up, on every frame and engine: counted and written alike."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, example, given, settings, strategies as st

from sizes import many
from tacit.tables import Symbols, count, new_key, rewrite, write_table

NAN, INF = float("nan"), float("inf")
TYPES = {
    'te"xt': pa.string(),
    "*": pa.float64(),
    "a b": pa.int64(),
    "é.日": pa.bool_(),
    "select": pa.date32(),
    "'at'": pa.timestamp("us"),
    "instant": pa.timestamp("us", "UTC"),
    "price": pa.decimal128(18, 4),
}
days = st.dates(dt.date(1, 1, 1), dt.date(9999, 12, 31))
# Spark keeps instants as the clock of this machine shows them, which before 1900 differs by odd seconds.
times = st.datetimes(dt.datetime(1900, 1, 1), dt.datetime(2200, 1, 1))
texts = st.text(st.characters(codec="utf-8", exclude_characters="\x00\uffff"), max_size=4)
odd_texts = st.sampled_from(
    [
        "",
        " ",
        "NULL",
        "null",
        "NaN",
        "\\N",
        "a,b",
        'q"t',
        "it's",
        "two\nlines",
        "\r\n",
        "\t",
        "ß",
        "日本",
        "𝔘",
        "e\u0301",
        "é",
    ]
)
numbers = st.one_of(st.floats(width=64), st.sampled_from([0.0, -0.0, NAN, INF, -INF, 5e-324, 1.7976931348623157e308]))
wholes = st.one_of(st.sampled_from([-(2**63), 2**63 - 1, 0, -1]), st.integers(-(2**63), 2**63 - 1))
prices = st.decimals(Decimal("-9e13"), Decimal("9e13"), places=4)
VALUES = {
    'te"xt': st.one_of(odd_texts, texts),
    "*": numbers,
    "a b": wholes,
    "é.日": st.booleans(),
    "select": days,
    "'at'": times,
    "instant": times.map(lambda each: each.replace(tzinfo=dt.UTC)),
    "price": prices,
}
NASTY = {
    'te"xt': ["", None, "x" * 100_000, "two\nlines", 'q"t', "\\N", "𝔘", "e\u0301", "é"],
    "*": [NAN, None, INF, -INF, -0.0, 0.0, 5e-324, 0.1 + 0.2, 0.3],
    "a b": [-(2**63), 2**63 - 1, 0, None, 2**53 + 1, 2**53, -1, 1, 1],
    "é.日": [True, False, None, True, True, True, False, None, None],
    "select": [dt.date(1, 1, 1), dt.date(9999, 12, 31), dt.date(1969, 12, 31), None, *[dt.date(1582, 10, 4)] * 5],
    "'at'": [dt.datetime(1905, 2, 3, 4, 5, 6, 7), None, *[dt.datetime(1970, 1, 1)] * 7],
    "instant": [
        dt.datetime(1969, 12, 31, 23, 59, 59, 999_999, dt.UTC),
        None,
        *[dt.datetime(2020, 3, 29, 1, tzinfo=dt.UTC)] * 7,
    ],
    "price": [Decimal("-0.0001"), Decimal("99999999999999.9999"), None, *[Decimal("1.5000")] * 6],
}


def as_counted(value):
    """NaN is missing, and -0.0 is 0.0."""
    return None if isinstance(value, float) and value != value else value + 0.0 if isinstance(value, float) else value


def plain(data):
    """The rows of an Arrow table as Python has them, instants in UTC, whatever engine they come from."""
    zoned = [pa.types.is_timestamp(kind) and kind.tz is not None for kind in data.schema.types]
    arrays = [c.cast(pa.timestamp("us", "UTC")) if z else c for c, z in zip(data.columns, zoned, strict=True)]
    return [tuple(map(as_counted, row)) for row in zip(*(each.to_pylist() for each in arrays), strict=True)]


@settings(max_examples=many(1, 25), suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@example(NASTY)
@given(
    st.lists(
        st.fixed_dictionaries({name: st.none() | some for name, some in VALUES.items()}), min_size=1, max_size=8
    ).map(lambda rows: {name: [row[name] for row in rows] for name in VALUES})
)
def test_nasty_values_are_counted_and_written_alike_on_every_engine(as_table, tmp_path, columns):
    data = pa.table({name: pa.array(columns[name], kind) for name, kind in TYPES.items()})
    table = as_table(data)
    assert table.names == tuple(TYPES)
    counts = count(table, list(TYPES))
    symbols = Symbols(counts.columns, counts.levels, counts.codes)
    found = {tuple(symbols.values(at).values()): int(counts.records[at]) for at in range(len(symbols))}
    assert found == Counter(plain(data))
    with pytest.MonkeyPatch.context() as patch:
        # A wide table is brought over and counted here.
        patch.setattr("tacit.tables.table.WIDE", 0)
        here = count(as_table(data), list(TYPES))
    assert repr(here.levels) == repr(counts.levels)
    assert np.array_equal(here.codes, counts.codes)
    assert np.array_equal(here.records, counts.records)
    # What is kept is written as it was counted, and what is suppressed is missing.
    merged = np.arange(len(symbols)) % 2 == 1
    hidden = {tuple(symbols.values(at).values()) for at in np.flatnonzero(merged)}
    done = rewrite(table.pinned(), symbols, merged=merged, replacement=None, key=new_key(3))
    write_table(done, tmp_path / "out.parquet", like=table)
    written = pq.read_table(tmp_path / "out.parquet")
    expected = [tuple(None for _ in row) if row in hidden else row for row in plain(data)]
    assert list(map(repr, plain(written))) == list(map(repr, expected))
