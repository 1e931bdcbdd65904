"""Hypothesis strategies for the values that Tacit computes with."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tacit.lift import Channel, Joint


@st.composite
def joints(
    draw: st.DrawFn,
    *,
    secrets: tuple[int, int] = (2, 5),
    released: tuple[int, int] = (2, 7),
    zero_cells: bool = False,
) -> Joint:
    """Joints of a table of counts; with ``zero_cells`` some pairs may never occur, but every row and column does."""
    shape = draw(st.tuples(st.integers(*secrets), st.integers(*released)))
    cells = st.one_of(st.integers(int(not zero_cells), 9), st.integers(int(not zero_cells), 10_000))
    counts = draw(hnp.arrays(np.int64, shape, elements=cells))
    for s in np.flatnonzero(counts.sum(axis=1) == 0):
        counts[s, s % shape[1]] = 1
    for x in np.flatnonzero(counts.sum(axis=0) == 0):
        counts[x % shape[0], x] = 1
    return Joint.from_counts(counts)


@st.composite
def channels(draw: st.DrawFn, *, released: int, outputs: tuple[int, int] = (1, 6)) -> Channel:
    """Channels that take so many released values; entries may be 0."""
    shape = (released, draw(st.integers(*outputs)))
    weights = draw(hnp.arrays(np.int64, shape, elements=st.integers(0, 20)))
    weights[weights.sum(axis=1) == 0, 0] = 1
    return Channel(weights / weights.sum(axis=1, keepdims=True))


@st.composite
def joints_with_channels(draw: st.DrawFn, *, zero_cells: bool = False) -> tuple[Joint, Channel]:
    """A joint, and a channel for what it releases."""
    joint = draw(joints(zero_cells=zero_cells))
    return joint, draw(channels(released=joint.shape[1]))


def circulant_joint(*, size: int, n_high: int, high: float) -> Joint:
    """A joint with uniform marginals and two lifts: ``high`` on ``n_high`` diagonals, and what that leaves elsewhere.

    Lifts at both ends of their range and nothing between are the worst that a bound on the lifts allows.
    """
    low = (size - n_high * high) / (size - n_high)
    diagonal = (np.arange(size)[:, None] - np.arange(size)) % size
    return Joint(np.where(diagonal < n_high, high, low) / size**2)


def epsilons() -> st.SearchStrategy[float]:
    """Bounds worth asking for."""
    return st.floats(0.0, 3.0, allow_subnormal=False)
