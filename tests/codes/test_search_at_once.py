"""Searches that are made at once give the trees that each of them gives alone."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from sizes import many
from tacit.codes.scales.wording import runs
from tacit.codes.search import growing
from tacit.codes.search.growing import grow, grow_each
from tacit.codes.search.records import GroupedRecords, SecretBound
from tacit.codes.tree import ColumnAtoms

SIDES = ((0.1, 0.1), (0.4, 0.2), (0.7, 0.7), (1.5, 2.0))


def records_of(seed: int, n: int, secrets: int, claims: int, *, weighted: bool = False) -> GroupedRecords:
    """Records with missing values, many and few of them, and secrets that follow from a category in part."""
    rng = np.random.default_rng(seed)
    sizes = [column.size for column in COLUMNS]
    codes = np.stack([rng.integers(0, size, n) for size in sizes], axis=1)
    codes[rng.random(n) < 0.9, 0] %= 11
    signal = (codes[:, 1] % 3) / 2 + (codes[:, 0] == 11) + rng.normal(size=n)
    labels = [np.digitize(signal + k * rng.normal(size=n), np.linspace(0, 2, secrets + 1)[1:-1]) for k in range(claims)]
    records = rng.integers(1, 4, n)
    return GroupedRecords.of(codes, *labels, records=records, weight=rng.gamma(1.0, size=n) if weighted else None)


COLUMNS = (
    ColumnAtoms(12, missing=True),
    ColumnAtoms(6, ordered=False),
    ColumnAtoms(20, cuts=np.arange(19) % 3 == 1),
    ColumnAtoms(8, missing=True),
)


@settings(max_examples=many(15, 400))
@given(
    st.integers(0, 10**6),
    st.sampled_from([60, 500]),
    st.sampled_from([2, 4]),
    st.sampled_from([1, 2]),
    st.sampled_from([(), (1,), (0, 3), (0, 1, 2, 3)]),
    st.sampled_from([2, 10]),
    st.booleans(),
    st.sampled_from([None, 0.1]),
)
def test_trees_that_grow_at_once_are_those_that_grow_alone(seed, n, secrets, claims, known, least, weighted, floor):
    records = records_of(seed, n, secrets, claims, weighted=weighted)
    one_sided = seed % 3 == 0
    bounds = [
        [SecretBound(secrets, math.inf if one_sided else low, high, floor=floor) for _ in range(claims)]
        for low, high in SIDES
    ]
    together = grow_each(records, COLUMNS, bounds, least=least, known_columns=known)
    for tree, each in zip(together, bounds, strict=True):
        assert tree.stored() == grow(records, COLUMNS, each, least=least, known_columns=known).stored()


def test_whole_numbers_are_searched_at_once_and_nothing_else_is(monkeypatch):
    alone = []
    monkeypatch.setattr(growing, "grow", lambda *words, **more: alone.append(grow(*words, **more)) or alone[-1])
    bounds = [[SecretBound(2, *sides)] for sides in SIDES]
    for weighted, further, times in ((False, [], 0), (True, [], 4), (False, [[SecretBound(2, 0.1, math.inf)]], 5)):
        alone.clear()
        grow_each(records_of(1, 300, 2, 1, weighted=weighted), COLUMNS, [*bounds, *further], least=5)
        assert len(alone) == times
    monkeypatch.setattr(growing, "LARGEST_CHUNK", 300)
    alone.clear()
    grow_each(records_of(1, 300, 2, 1), COLUMNS, bounds, least=5)
    assert len(alone) == 4


@pytest.mark.parametrize("text", ["", "0", "1", "0110", "1001", "11", "0101100"])
def test_runs_are_where_a_loop_sees_them(text):
    slow, start = [], None
    for at, sign in enumerate(text + "0"):
        if sign == "1" and start is None:
            start = at
        if sign == "0" and start is not None:
            slow.append((start, at - 1))
            start = None
    assert runs(np.array([sign == "1" for sign in text], bool)) == slow
