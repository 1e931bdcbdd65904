"""Learned numbers as they are published: rounded, never in anybody's favour."""

from __future__ import annotations

import math

from hypothesis import given, strategies as st

from tacit.release.published import coarse


@given(st.floats(0, 50), st.floats(0, 50))
def test_rounding_is_monotone_and_up_is_never_below(a: float, b: float) -> None:
    low, high = sorted((a, b))
    assert coarse(low) <= coarse(high)
    assert coarse(low, up=True) <= coarse(high, up=True)
    assert coarse(a, up=True) >= a - 1e-9


def test_roundings_of_special_numbers() -> None:
    assert coarse(-0.01) == 0
    assert coarse(math.inf, up=True) == math.inf
    assert [coarse(x) for x in (0.12345, 1.2345, 12.345, 0.0004, 0.0006)] == [0.12, 1.2, 12.0, 0.0, 0.001]
