"""What is published of a code: reduced once it is reduced for good, and what it told of cells it tells still."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings, strategies as st

from scale_samples import all_scales, list_scales
from sizes import many
from tacit.codes import ListScale
from tacit.codes.code import CellCode
from tacit.codes.scales.kinds.listed import ListedScale
from tacit.codes.tree import CellTree
from tacit.release import encoded

long_lists = st.integers(21, 30).map(lambda n: ListScale("x", "text", tuple(f"{k:03}" for k in range(n)), True))


@st.composite
def codes(draw: Any) -> CellCode:
    """One column, cut at random: root, then a side of it."""
    scale = draw(st.one_of(all_scales, list_scales, long_lists))
    column, below, sets = [-1], [-1], []
    if scale.size > 1:
        cut = draw(st.integers(1, scale.size - 1))
        column, below = [0, -1, -1], [cut, -1, -1]
        if not scale.ordered:
            below[0] = -1
            sets.append(np.arange(scale.size) < cut)
        elif cut + 1 < scale.size and draw(st.booleans()):
            column, below = [0, -1, 0, -1, -1], [cut, -1, draw(st.integers(cut + 1, scale.size - 1)), -1, -1]
    known = np.array([0])
    masks = np.concatenate(sets) if sets else np.zeros(0, bool)
    return CellCode((scale,), CellTree(np.array([scale.size]), np.array(column), np.array(below), masks, known))


@settings(max_examples=many(60, 3_000))
@given(codes())
def test_a_code_that_is_reduced_stays_as_it_is(code: CellCode) -> None:
    once = code.reduced()
    assert encoded(once.reduced()) == encoded(once)
    assert len(once.tree) == len(code.tree)
    # Values lie in the cells that they lay in.
    scale, (published,) = code.scales[0], once.scales
    if isinstance(scale, ListedScale) and scale.values:
        values = [*scale.values, *([None] if scale.has_missing else [])]
        before, after = (each.atoms_of(values)[:, None] for each in (scale, published))
        assert code.tree.leaf_of(before).tolist() == once.tree.leaf_of(after).tolist()
