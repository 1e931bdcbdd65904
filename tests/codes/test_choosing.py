"""Cells for a use: what they predict, in small wide tables too, and that the bounds hold whatever was chosen."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from sizes import many
from tacit.codes.search.choosing import best_for_use, use_score
from tacit.codes.search.growing import grow
from tacit.codes.search.records import GroupedRecords, SecretBound
from tacit.codes.search.worth import groups_of, information
from tacit.codes.tree import CellTree, ColumnAtoms

EVEN = [SecretBound(2, 0.7, 0.7)]


def wide(seed: int, n: int = 300, columns: int = 12) -> tuple[list[ColumnAtoms], GroupedRecords, np.ndarray]:
    """A small wide table: the last column tells most of the use, the others nothing; the first tells the secret."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 4, (n, columns))
    use = (rng.random(n) < np.array([0.05, 0.35, 0.65, 0.95])[codes[:, -1]]).astype(np.int64)
    secret = (rng.random(n) < 0.3 + 0.1 * codes[:, 0]).astype(np.int64)
    return [ColumnAtoms(4)] * columns, GroupedRecords.of(codes, secret), use


def chosen(
    columns: list[ColumnAtoms], records: GroupedRecords, use: np.ndarray, prefer: int | None = None, **words: object
) -> CellTree:
    weights = np.where(np.arange(len(columns)) == prefer, 5.0, 1.0)

    def search(worth: np.ndarray, by: np.ndarray | None) -> CellTree:
        return grow(records, columns, EVEN, least=10, weights=worth, use=by)

    return best_for_use(records, columns, use, weights, search, **words)


@pytest.mark.parametrize("several", [True, False])
def test_a_small_wide_table_tells_the_column_that_the_use_hangs_on(several: bool) -> None:
    columns, records, use = wide(0)
    tree = chosen(columns, records, use, several=several)
    groups = groups_of(records, columns)
    without = use_score(grow(records, columns, EVEN, least=10), records, groups, use)
    assert len({part.tobytes() for node in tree.leaves for part in [tree.parts(node)[-1]]}) == 4
    assert use_score(tree, records, groups, use) > max(without + 0.05, 0.85)


@settings(max_examples=many(3, 200))
@given(st.integers(0, 10**6))
def test_cells_for_a_use_predict_it_no_worse_than_cells_for_none(seed: int) -> None:
    columns, records, use = wide(seed, n=200, columns=5)
    groups = groups_of(records, columns)
    without = use_score(grow(records, columns, EVEN, least=10), records, groups, use)
    assert use_score(chosen(columns, records, use), records, groups, use) >= without


@pytest.mark.parametrize("preferred", [0, 1])
@pytest.mark.parametrize("seed", range(many(1, 20)))
def test_what_is_preferred_is_told_although_the_use_hangs_on_another_column(seed: int, preferred: int) -> None:
    columns, records, use = wide(seed)
    weights = np.where(np.arange(len(columns)) == preferred, 5.0, 1.0)
    alone = grow(records, columns, EVEN, least=10, weights=weights)
    with_use = chosen(columns, records, use, preferred)
    assert told(with_use, records, preferred) >= 0.95 * told(alone, records, preferred) > 0.5


def told(tree: CellTree, records: GroupedRecords, column: int) -> float:
    part = tree.parts_of(column)[0][tree.leaf_of(records.codes)]
    return information(part, np.asarray(records.codes[:, column], np.int64), records.weight, 4)


def test_one_cell_predicts_by_chance_and_the_finest_cells_as_well_as_the_values() -> None:
    columns, records, use = wide(1, n=400, columns=3)
    groups = groups_of(records, columns)
    assert use_score(CellTree.root([4, 4, 4]), records, groups, use) == 0.5
    free = [SecretBound(2, np.inf, np.inf)]
    assert use_score(grow(records, columns, free, least=1), records, groups, use) > 0.85


def test_a_use_that_is_released_is_told_itself() -> None:
    """It hangs on the last column; what a cell does not tell of the use, nobody learns from that column."""
    columns, records, use = wide(2, columns=8)
    records = GroupedRecords.of(np.column_stack([records.codes, use]), *records.secrets)
    tree = chosen([*columns, ColumnAtoms(2)], records, use, own=[8])
    assert all(tree.parts(node)[8].sum() == 1 for node in tree.leaves)
    root = CellTree.root([*[4] * 8, 2])
    assert use_score(root, records, groups_of(records, [*columns, ColumnAtoms(2)]), use, [8]) == 0.5


def test_how_much_is_told_where_nearly_all_have_nothing() -> None:
    """Nine in ten have 0. Of the others, small and large amounts are told apart: they are not one group."""
    rng = np.random.default_rng(0)
    amount = np.where(rng.random(2000) < 0.9, 0, rng.integers(1, 100, 2000))
    records = GroupedRecords.of(amount[:, None], rng.integers(0, 2, 2000))
    groups = groups_of(records, [ColumnAtoms(100)])[0]
    assert groups[0] == 0
    assert 10 <= len(np.unique(groups)) <= 16
    assert (np.diff(groups) >= 0).all()
    tree = grow(records, [ColumnAtoms(100)], EVEN, least=10)
    assert len(tree.leaves) > 4


@pytest.mark.parametrize(("first", "then"), [("use", "ward"), ("ward", "use")])
def test_what_only_some_cells_tell_is_read_as_a_reader_reads_it(first: str, then: str) -> None:
    """Nine in ten of one ward have the use, one in ten of the other; the cells tell the second column of one side only.

    A reader fills in the rest by the shares that are told, so what is hidden is taken for what is told.
    """
    rng = np.random.default_rng(0)
    ward = rng.integers(0, 2, 400)
    use = (rng.random(400) < np.where(ward == 1, 0.9, 0.1)).astype(np.int64)
    records = GroupedRecords.of(np.column_stack([ward, use]), rng.integers(0, 2, 400))
    by = {"ward": 0, "use": 1}
    column, below = [by[first], -1, by[then], -1, -1], [1, -1, 1, -1, -1]
    some = CellTree(np.array([2, 2]), np.array(column), np.array(below), np.zeros(0, bool), np.array([0]))
    column, below = [by[first], by[then], by[then], *[-1] * 4], [1, 1, 1, *[-1] * 4]
    every = CellTree(np.array([2, 2]), np.array(column), np.array(below), np.zeros(0, bool), np.array([0]))
    told = records.codes[:, 1].astype(np.int64)
    by_some, by_every = (
        use_score(tree, records, groups_of(records, [ColumnAtoms(2)] * 2), told, [1]) for tree in (some, every)
    )
    assert by_some < 0.7 < 0.85 < by_every
