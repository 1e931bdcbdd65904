"""Scales of every kind, small and nasty, for the laws that all of them keep."""

from __future__ import annotations

import datetime as dt
from itertools import product
from typing import Any

import numpy as np
from hypothesis import strategies as st

from tacit.codes import (
    CategoryScale,
    DateScale,
    HierarchyScale,
    ListScale,
    NumberScale,
    PrefixScale,
    Scale,
    WholeScale,
)
from tacit.codes.scales.calendar import UNITS, number_of_moment

NASTY = [
    *("any", "missing", "A", "B", "A or B", "A or", "or B", "or", "to", "A to B", "any but A", "any but A or B"),
    "another value",
    *("", " ", " A", "A ", '"', '"A"', "*", "A*", "1*", "A (level 1)", "A (level 1) (level 2)", "A\nB", "not A", "é;"),
]
words = st.one_of(st.sampled_from(NASTY), st.text('AB or"*', max_size=5))
distinct_words = st.lists(words, min_size=1, max_size=6, unique=True)


@st.composite
def number_scales(draw: Any) -> NumberScale:
    whole = draw(st.booleans())
    numbers = st.integers(-50, 50).map(float) if whole else st.floats(-1e6, 1e6).map(lambda x: x + 0.0)
    edges = sorted(draw(st.lists(numbers, max_size=5, unique=True)))
    low = draw(st.none() | (numbers if not edges else numbers.map(lambda x: edges[0] - 1 - abs(x))))
    high = draw(st.none() | (numbers.map(abs) if not edges else numbers.map(lambda x: edges[-1] + abs(x))))
    high = low if not edges and low is not None and high is not None and high < low else high
    return NumberScale("x", tuple(edges), whole, low, high, (0.0,) * (len(edges) + 1), draw(st.booleans()))


@st.composite
def date_scales(draw: Any) -> DateScale:
    unit = draw(st.sampled_from(UNITS))
    moment = draw(st.datetimes(dt.datetime(1890, 1, 1), dt.datetime(2110, 1, 1)))
    first = number_of_moment(unit, moment)
    flags = [draw(st.booleans()) for _ in range(3)]
    return DateScale("x", unit, "typed", first, first + draw(st.integers(0, 5)), *flags)


@st.composite
def prefix_scales(draw: Any) -> PrefixScale:
    codes = draw(
        st.one_of(st.lists(st.from_regex("[A-B][0-1]{2}", fullmatch=True), min_size=1, unique=True), distinct_words)
    )
    length = draw(st.none() | st.integers(1, 3))
    values = tuple(sorted({code[:length] for code in codes}))[:6]
    sizes = {len(value) for value in values}
    whole = draw(st.integers(0, 2)) + max(sizes) if length is not None and sizes == {length} else max(sizes)
    return PrefixScale("x", values, length, whole if len(sizes) == 1 else None, draw(st.booleans()))


@st.composite
def hierarchy_scales(draw: Any) -> HierarchyScale:
    values = draw(distinct_words)
    levels: list[tuple[str, ...]] = []
    inner = list(range(len(values)))
    for _ in range(draw(st.integers(1, 3))):
        joined = [draw(st.booleans()) for _ in range(len(values))]
        numbers = np.cumsum(
            [at > 0 and inner[at] != inner[at - 1] and not joined[inner[at]] for at in range(len(values))]
        )
        names = draw(st.lists(words, min_size=len(values), max_size=len(values), unique=True))
        levels.append(tuple(names[number] for number in numbers.tolist()))
        inner = numbers.tolist()
    return HierarchyScale("x", "text", tuple(values), tuple(levels), draw(st.booleans()))


category_scales = st.builds(
    CategoryScale, st.just("x"), st.just("text"), distinct_words.map(tuple), st.booleans(), st.booleans()
)
list_scales = st.builds(ListScale, st.just("x"), st.just("text"), distinct_words.map(tuple), st.booleans())
all_scales = st.one_of(
    *(number_scales(), date_scales(), prefix_scales(), hierarchy_scales(), category_scales, list_scales),
    st.just(WholeScale("x")),
)


def parts(scale: Scale) -> list[np.ndarray]:
    """Every set of atoms but the empty one."""
    return [np.array(mask) for mask in product((False, True), repeat=scale.size) if any(mask)]
