"""Small tables of symbols, treatments of them, and what a treatment makes of one value, spelled out."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st
from scipy.sparse import csr_array

from tacit.release import Merging, Mixing, Treatment
from tacit.tables import Symbols

LEVELS = (("a", "b", None), ("p", "q", None))
EVERY = [(a, b) for a in range(3) for b in range(3)]
MISSING = (None, None)


@st.composite
def some_symbols(draw: st.DrawFn) -> Symbols:
    chosen = draw(st.lists(st.sampled_from(EVERY), min_size=1, max_size=9, unique=True))
    return Symbols(("x", "y"), LEVELS, np.array(chosen))


def names_of(symbols: Symbols) -> list[tuple[Any, ...]]:
    return [tuple(symbols.values(k).values()) for k in range(len(symbols))]


def shares(draw: st.DrawFn, size: int, *, least: int = 0) -> np.ndarray:
    weights = np.array(draw(st.lists(st.integers(least, 9), min_size=size, max_size=size)), dtype=float)
    weights[0] += weights.sum() == 0
    return weights / weights.sum()


@st.composite
def mixings(draw: st.DrawFn, size: int) -> Mixing:
    return Mixing(csr_array(np.array([shares(draw, size + 1) for _ in range(size)])))


@st.composite
def mergings(draw: st.DrawFn, own: Symbols) -> Merging:
    merged = np.array(draw(st.lists(st.booleans(), min_size=len(own), max_size=len(own))))
    if not merged.any() or draw(st.booleans()):
        # Suppressed records look like wholly missing ones, which are merged with them.
        return Merging(merged | own.all_missing, None)
    weights = np.zeros(len(own))
    weights[merged] = shares(draw, int(merged.sum()))
    return Merging(merged, weights)


def becomes(treatment: Treatment, own: Symbols, value: tuple[Any, ...]) -> dict[tuple[Any, ...], float]:
    """What a value becomes, with which probability."""
    known = names_of(own)
    if isinstance(treatment, Mixing):
        row = treatment.channel.toarray()[known.index(value)] if value in known else [0.0] * len(known) + [1.0]
    elif value in known and not treatment.merged[known.index(value)]:
        return {value: 1.0}
    else:
        row = [0.0] * len(known) + [1.0] if treatment.replacement is None else [*treatment.replacement, 0.0]
    found: dict[tuple[Any, ...], float] = {}
    for output, p in zip([*known, MISSING], row, strict=True):
        if p > 0:
            found[output] = found.get(output, 0.0) + p
    return found
