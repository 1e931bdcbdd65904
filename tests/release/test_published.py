"""Learned numbers as they are published: rounded, never in anybody's favour."""

from __future__ import annotations

import math

from hypothesis import given, strategies as st

from tacit.release import published


@given(st.floats(0, 50), st.floats(0, 50))
def test_rounding_is_monotone_and_up_is_never_below(a: float, b: float) -> None:
    low, high = sorted((a, b))
    assert published.coarse(low) <= published.coarse(high)
    assert published.coarse(low, up=True) <= published.coarse(high, up=True)
    assert published.coarse(a, up=True) >= a - 1e-9


@given(st.floats(1e-300, 1e3), st.floats(0, 1), st.floats(0, 1))
def test_floors_are_rounded_down_and_limits_outwards(floor: float, a: float, b: float) -> None:
    assert 0.89 * floor <= published.coarse_floor(floor) <= floor
    (low, high), (below, above) = sorted((a, b)), published.coarse_limits(*sorted((a, b)))
    assert low - 0.0011 <= below <= low + 1e-12
    assert high - 1e-12 <= above <= min(high + 0.0011, 1.0)


def test_a_floor_just_below_two_digits_is_not_rounded_up_to_them() -> None:
    for at in range(10, 100):
        for power in (-6, -2, 0):
            floor = math.nextafter(float(f"{at}e{power}"), 0)
            assert published.coarse_floor(floor) <= floor


def test_roundings_of_special_numbers() -> None:
    assert published.coarse(-0.01) == 0
    assert published.coarse(math.inf, up=True) == math.inf
    assert [published.coarse(x) for x in (0.12345, 1.2345, 12.345, 0.0004, 0.0006)] == [0.12, 1.2, 12.0, 0.0, 0.001]
