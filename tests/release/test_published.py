"""Learned numbers as they are published: rounded, never in anybody's favour."""

from __future__ import annotations

import math

from hypothesis import given, strategies as st

from tacit.release.claims import share_up
from tacit.release.published import coarse, coarse_floor, coarse_limits


@given(st.floats(0, 50), st.floats(0, 50))
def test_rounding_is_monotone_and_up_is_never_below(a: float, b: float) -> None:
    low, high = sorted((a, b))
    assert coarse(low) <= coarse(high)
    assert coarse(low, up=True) <= coarse(high, up=True)
    assert coarse(a, up=True) >= a - 1e-9


@given(st.floats(1e-300, 1e3), st.floats(0, 1), st.floats(0, 1))
def test_floors_are_rounded_down_and_limits_outwards(floor: float, a: float, b: float) -> None:
    assert 0.89 * floor <= coarse_floor(floor) <= floor
    (low, high), (below, above) = sorted((a, b)), coarse_limits(*sorted((a, b)))
    assert low - 0.0011 <= below <= low + 1e-12
    assert high - 1e-12 <= above <= min(high + 0.0011, 1.0)


def test_a_floor_just_below_two_digits_is_not_rounded_up_to_them() -> None:
    for at in range(10, 100):
        for power in (-6, -2, 0):
            floor = math.nextafter(float(f"{at}e{power}"), 0)
            assert coarse_floor(floor) <= floor


def test_roundings_of_special_numbers() -> None:
    assert [share_up(share) for share in (0.65, 0.6501, 0.6499, 1.0)] == ["65.0%", "65.1%", "65.0%", "100.0%"]
    assert coarse(-0.01) == 0
    assert coarse(math.inf, up=True) == math.inf
    assert [coarse(x) for x in (0.12345, 1.2345, 12.345, 0.0004, 0.0006)] == [0.12, 1.2, 12.0, 0.0, 0.001]
