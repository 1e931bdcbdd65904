"""The search for cells: every promise is counted again, slowly, in the leaves of the tree that was found."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from sizes import many
from tacit.codes.search import limits
from tacit.codes.search.growing import grow
from tacit.codes.search.pruning import pruned
from tacit.codes.search.records import GroupedRecords, SecretBound
from tacit.codes.tree import ColumnAtoms


def table(seed, n=400, secrets=2, weighted=False, claims=1):
    """A table of three columns, one of them categories, whose secret follows from them in part."""
    rng = np.random.default_rng(seed)
    columns = [ColumnAtoms(12), ColumnAtoms(6, ordered=False), ColumnAtoms(20, cuts=np.arange(19) % 3 == 1)]
    codes = np.stack([rng.integers(0, column.size, n) for column in columns], axis=1)
    signal = codes[:, 0] / 12 + (codes[:, 1] % 3) / 3 + rng.normal(size=n)
    labels = [np.digitize(signal + k * rng.normal(size=n), np.linspace(0, 2, secrets + 1)[1:-1]) for k in range(claims)]
    records = rng.integers(1, 4, n)
    weight = rng.gamma(1.0, size=n) * records if weighted else None
    return columns, GroupedRecords.of(codes, *labels, records=records, weight=weight)


def cells_of(tree, records):
    """The groups of every cell, and those of the known part that it lies in."""
    leaf = tree.leaf_of(records.codes)
    for cell in tree.leaves:
        inside = [node for node in range(len(tree)) if tree.known_of[node] == tree.known_of[cell]]
        yield np.flatnonzero(leaf == cell), np.flatnonzero(np.isin(leaf, inside))


def share(records, claim, value, groups):
    weights = records.weight[groups]
    return math.fsum(weights[records.secrets[claim][groups] == value]) / math.fsum(weights)


def check(tree, records, bounds, least):
    """Count every cell again."""
    for groups, known in cells_of(tree, records):
        assert records.records[groups].sum() >= least
        for claim, bound in enumerate(bounds):
            for value in np.flatnonzero(bound.binding):
                here, there = share(records, claim, value, groups), share(records, claim, value, known)
                if there > 0:
                    log_lift = math.log(here / there) if here > 0 else -math.inf
                    assert -bound.low <= log_lift <= bound.high


@settings(max_examples=many(25, 500))
@given(
    st.integers(0, 10**6),
    st.sampled_from([1, 5, 20]),
    st.sampled_from([2, 4]),
    st.booleans(),
    st.sampled_from([(0.2, 0.2), (1.0, 0.3), (math.inf, 0.5), (0.5, math.inf)]),
    st.sampled_from([1, 2]),
)
def test_every_cell_has_enough_records_and_keeps_to_every_bound(seed, least, secrets, weighted, sides, claims):
    columns, records = table(seed, secrets=secrets, weighted=weighted, claims=claims)
    bounds = [SecretBound(secrets, *sides)] * claims
    check(grow(records, columns, bounds, least=least), records, bounds, least)


@settings(max_examples=many(15, 300))
@given(st.integers(0, 10**6), st.sampled_from([5, 10]), st.booleans())
def test_what_is_known_is_cut_first_and_bounds_hold_inside_it(seed, least, weighted):
    columns, records = table(seed, n=600, secrets=3, weighted=weighted)
    bounds = [SecretBound(3, 0.6, 0.4)]
    tree = grow(records, columns, bounds, least=least, known_columns=[0, 1])
    check(tree, records, bounds, least)
    assert len(tree.known) > 1
    leaf = tree.leaf_of(records.codes)
    for part in tree.known:
        assert records.records[tree.known_of[leaf] == part].sum() >= 5 * least
        assert tree.parts(part)[2].all()


def lacking(seed, few, n=600, secrets=2, told=0.0):
    """A table of two ordered columns that some records lack, the first of them few, and one of categories."""
    rng = np.random.default_rng(seed)
    columns = [ColumnAtoms(12, missing=True), ColumnAtoms(4, ordered=False), ColumnAtoms(8, missing=True)]
    codes = np.stack([rng.integers(0, column.size - column.missing, n) for column in columns], axis=1)
    codes[rng.random(n) < few, 0] = 11
    codes[rng.random(n) < 0.3, 2] = 7
    signal = codes[:, 1] / 4 + told * (codes[:, 0] == 11) + rng.normal(size=n)
    secret = np.digitize(signal, np.linspace(0, 2, secrets + 1)[1:-1])
    return columns, GroupedRecords.of(codes, secret, records=rng.integers(1, 4, n))


@settings(max_examples=many(20, 400))
@given(
    st.integers(0, 10**6),
    st.sampled_from([0.0, 0.01, 0.03, 0.3]),
    st.sampled_from([5, 20]),
    st.sampled_from([(0.2, 0.2), (1.0, 0.3), (math.inf, 0.5)]),
    st.sampled_from([(), (0,), (2, 1)]),
)
def test_what_is_missing_is_cut_off_within_the_same_bounds(seed, few, least, sides, known):
    columns, records = lacking(seed, few, secrets=3, told=1.0)
    bounds = [SecretBound(3, *sides)]
    tree = grow(records, columns, bounds, least=least, known_columns=known)
    check(tree, records, bounds, least)
    # A part is a range, what is missing, or a range up to the last and what is missing.
    for column in (0, 2):
        for part in tree.parts_of(column)[1]:
            atoms = np.flatnonzero(part)
            assert (np.diff(atoms) == 1).all()


def test_what_few_lack_and_may_stand_by_itself_is_glued_to_no_range():
    columns, records = lacking(0, 0.02, n=3000)

    def glued(columns):
        tree = grow(records, columns, [SecretBound(2, 2.0, 2.0)], least=10)
        which, parts = tree.parts_of(0)
        return np.mean([parts[at][-1] and 1 < parts[at].sum() < 12 for at in which[tree.leaves]])

    assert glued(columns) == 0
    assert glued([each._replace(missing=False) for each in columns]) > 0.1


def test_what_tells_the_secret_by_being_missing_is_not_cut_off():
    columns, records = lacking(1, 0.02, n=3000, told=5.0)
    tree = grow(records, columns, [SecretBound(2, 0.3, 0.3)], least=10)
    check(tree, records, [SecretBound(2, 0.3, 0.3)], 10)
    assert len(tree.parts_of(0)[1]) > 1
    assert not any(part[-1] and part.sum() == 1 for part in tree.parts_of(0)[1])


def test_a_lift_on_its_bound_or_a_cell_that_weighs_nothing_is_not_within():
    """Where rounding may put the float on the wrong side, a cell is out of bounds."""
    bound = SecretBound(2, math.log(2), math.log(2))
    bounds = limits.CellLimits.of(bound, np.array([[300.0], [300.0]]))
    counts = np.array([[200.0, 0.0, 0.0, 60.0, 100.0], [0.0, 200.0, 0.0, 40.0, 300.0]])
    used = bounds.used(counts, counts.sum(axis=0), np.zeros(5, int))
    assert used[:3].tolist() == [math.inf] * 3
    assert 0 < used[3] < 1 < used[4] < 1 + 1e-9


def test_values_that_are_not_bounded_cost_nothing():
    columns, records = table(1, secrets=4)
    some = SecretBound(4, 0.3, 0.3, bounded=np.array([True, False, False, False]))
    tree = grow(records, columns, [some], least=5)
    check(tree, records, [some], 5)
    assert len(tree.leaves) > len(grow(records, columns, [SecretBound(4, 0.3, 0.3)], least=5).leaves)


def test_without_bounds_cells_are_cut_down_to_the_least():
    columns, records = table(2, n=3000)
    free = [SecretBound(2, math.inf, math.inf)]
    tree = grow(records, columns, free, least=10)
    check(tree, records, free, 10)
    assert len(tree.leaves) > records.records.sum() / 10 / 4


def test_a_secret_that_follows_from_a_column_forbids_cutting_it():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 4, (1000, 2))
    columns = [ColumnAtoms(4), ColumnAtoms(4)]
    tree = grow(GroupedRecords.of(codes, codes[:, 0]), columns, [SecretBound(4, 0.5, 0.5)], least=5)
    assert set(tree.column.tolist()) == {-1, 1}
    assert len(tree.leaves) == 4


def test_the_same_records_give_the_same_tree():
    columns, records = table(3, secrets=3)
    trees = [grow(records, columns, [SecretBound(3, 0.5, 0.5)], least=5).stored() for _ in range(2)]
    assert trees[0] == trees[1]


def test_cuts_stand_only_where_the_column_allows_them():
    columns, records = table(4, n=2000)
    tree = grow(records, columns, [SecretBound(2, 1.0, 1.0)], least=5)
    below = tree.below[tree.column == 2]
    assert len(below)
    assert columns[2].cuts[below - 1].all()


@settings(max_examples=many(15, 300))
@given(st.integers(0, 10**6), st.booleans())
def test_a_pruned_tree_keeps_to_the_bounds_and_gives_up_no_cut_without_need(seed, known):
    columns, records = table(seed, n=800)
    _, batch = table(seed + 1, n=300)
    bounds = [SecretBound(2, 0.3, 0.3)]
    tree = grow(records, columns, bounds, least=5, known_columns=[1] if known else [])
    cut = pruned(tree, batch, bounds, least=10)
    if len(cut) > 1:
        check(cut, batch, bounds, 10)
    _nested(tree, cut, np.concatenate([records.codes, batch.codes]))
    # Each cut that was given up had a side that may not stay.
    for node in cut.leaves[: many(10, 1000)]:
        finer = _same_node(tree, cut, int(node))
        if tree.column[finer] >= 0:
            assert not all(_may_stay(tree, side, batch, bounds, 10) for side in tree.children[finer])


def _nested(fine, coarse, codes):
    pairs = {(int(a), int(b)) for a, b in zip(fine.leaf_of(codes), coarse.leaf_of(codes), strict=True)}
    assert len({a for a, _ in pairs}) == len(pairs)


def _same_node(tree, cut, node):
    wanted = [part.tolist() for part in cut.parts(node)]
    return next(k for k in range(len(tree)) if [part.tolist() for part in tree.parts(k)] == wanted)


def _may_stay(tree, node, records, bounds, least):
    """Whether a node, as a cell, has enough records and keeps to the bounds beside its known part."""
    inside = _groups(tree, node, records)
    if records.records[inside].sum() < least:
        return False
    if tree.known_of[node] in (-1, node):
        return True
    known = _groups(tree, int(tree.known_of[node]), records)
    shares = [(share(records, 0, s, inside), share(records, 0, s, known)) for s in range(bounds[0].n_secrets)]
    return all(
        there == 0 or (here > 0 and -bounds[0].low <= math.log(here / there) <= bounds[0].high)
        for here, there in shares
    )


def _groups(tree, node, records):
    parts = tree.parts(node)
    return np.flatnonzero(np.all([part[records.codes[:, j]] for j, part in enumerate(parts)], axis=0))


def test_pruning_what_is_within_bounds_changes_nothing():
    columns, records = table(5)
    bounds = [SecretBound(2, 0.5, 0.5)]
    tree = grow(records, columns, bounds, least=5)
    assert pruned(tree, records, bounds, least=5).stored() == tree.stored()


def test_the_root_stays_however_few_records_there_are():
    columns, records = table(6, n=3)
    assert len(grow(records, columns, [SecretBound(2, 0.5, 0.5)], least=100)) == 1


@pytest.mark.parametrize("n", [0, 1])
def test_a_table_of_no_or_one_record_is_one_cell(n):
    columns, records = table(7, n=n)
    assert len(grow(records, columns, [SecretBound(2, 0.5, 0.5)], least=5, use=np.zeros(n, int))) == 1


@pytest.mark.parametrize(
    ("each", "columns", "cells"), [(100, 1, 16), (10_000, 1, 30), (20_000, 1, 60), (20_000, 4, 30)]
)
def test_the_more_records_a_table_has_for_each_column_the_finer_a_column_is_told(
    each: int, columns: int, cells: int
) -> None:
    # 60 values of one column, others of one value, two secrets that they say nothing about.
    atom, secret = np.repeat(np.arange(60), 2), np.tile([0, 1], 60)
    atoms = np.column_stack([atom, *np.zeros((columns - 1, 120), int)])
    records = GroupedRecords.of(atoms, secret, records=np.full(120, each // 2))
    sizes = [ColumnAtoms(60, True), *[ColumnAtoms(1, True)] * (columns - 1)]
    tree = grow(records, sizes, [SecretBound(2, 0.1, 0.1)], least=10)
    assert len(tree.leaves) == cells
