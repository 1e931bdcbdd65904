"""Cells that bound every threshold of a number: each is counted again, slowly, threshold by threshold."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st

from sizes import many
from tacit.codes.asking import CodeClaim, CodeRequest
from tacit.codes.coding import coded
from tacit.codes.fitting import fit_code
from tacit.codes.search.growing import grow
from tacit.codes.search.pruning import pruned
from tacit.codes.search.records import GroupedRecords, SecretBound
from tacit.codes.tree import ColumnAtoms
from tacit.errors import ArgumentError
from tacit.tables import open_table

COLUMNS = [ColumnAtoms(10), ColumnAtoms(5, ordered=False)]


def table(seed, n=500, weighted=False):
    """Two columns, and a number, as ranks, that follows from them in part."""
    rng = np.random.default_rng(seed)
    codes = np.stack([rng.integers(0, column.size, n) for column in COLUMNS], axis=1)
    number = codes[:, 0] / 10 + codes[:, 1] / 5 + 2 * rng.normal(size=n)
    ranks = np.unique(np.round(number, 1), return_inverse=True)[1]
    return GroupedRecords.of(codes, ranks, weight=rng.gamma(2.0, size=n) if weighted else None)


def worst(ranks, weight, inside, among, floor):
    """The largest log-lift of a cell, either way, over every event that holds the floor of those it lies among."""
    found = 0.0
    for t in np.unique(ranks[among]):
        for event in (ranks <= t, ranks > t):
            share = weight[event & among].sum() / weight[among].sum()
            if share >= floor:
                own = weight[event & inside].sum() / weight[inside].sum()
                found = max(found, abs(math.log(own / share)) if own > 0 else math.inf)
    return found


@given(st.integers(0, 10**6), st.sampled_from([0.1, 0.2, 0.4]), st.sampled_from([0.3, 0.6]), st.booleans())
@settings(max_examples=many(8, 300), deadline=None)
def test_every_threshold_is_within_bounds_in_every_cell(seed, floor, epsilon, weighted):
    records = table(seed, weighted=weighted)
    bound = SecretBound(int(records.secrets[0].max()) + 1, epsilon, epsilon, floor=floor)
    leaf = (tree := grow(records, COLUMNS, [bound], least=5)).leaf_of(records.codes)
    everyone = np.ones(len(leaf), bool)
    for cell in tree.leaves:
        assert records.records[leaf == cell].sum() >= 5
        assert worst(records.secrets[0], records.weight, leaf == cell, everyone, floor) <= epsilon


def test_cells_tell_more_the_less_of_the_tails_is_bounded():
    records = table(1, n=3_000)
    sizes = []
    for floor in (0.02, 0.1, 0.4):
        bound = SecretBound(int(records.secrets[0].max()) + 1, 0.5, 0.5, floor=floor)
        sizes.append(len(grow(records, COLUMNS, [bound], least=5).leaves))
    assert 1 < sizes[0] < sizes[1] < sizes[2]


def test_inside_what_is_known_thresholds_are_those_of_the_people_there():
    records = table(2, n=1_500)
    bound = SecretBound(int(records.secrets[0].max()) + 1, 0.6, 0.6, floor=0.2)
    tree = grow(records, COLUMNS, [bound], least=5, known_columns=[1], known_least=100)
    leaf, ranks = tree.leaf_of(records.codes), np.asarray(records.secrets[0])
    assert len(tree.known) > 1
    assert len(tree.leaves) > len(tree.known)
    for cell in tree.leaves:
        among = tree.known_of[leaf] == tree.known_of[cell]
        assert worst(ranks, records.weight, leaf == cell, among, 0.2) <= 0.6


def test_a_tree_is_cut_back_where_other_records_break_a_threshold():
    records = table(3, n=2_000)
    bound = SecretBound(int(records.secrets[0].max()) + 1, 0.5, 0.5, floor=0.2)
    tree = grow(records, COLUMNS, [bound], least=5)
    ranks = np.where(records.codes[:, 0] < 3, 0, records.secrets[0])
    other = GroupedRecords.of(records.codes, ranks)
    kept = pruned(tree, other, [bound], least=5)
    assert 1 < len(kept.leaves) < len(tree.leaves)
    leaf = kept.leaf_of(records.codes)
    for cell in kept.leaves:
        assert worst(ranks, other.weight, leaf == cell, np.ones(len(leaf), bool), 0.2) <= 0.5


def test_one_level_for_the_whole_file_keeps_to_every_threshold_and_to_the_least():
    rng = np.random.default_rng(5)
    a = rng.integers(0, 4, 1_500)
    values = {"a": a, "b": rng.integers(0, 8, 1_500), "s": np.round(a / 4 + rng.normal(size=1_500), 1)}
    claims = (CodeClaim(("s",), 0.4, 0.4, floor=0.2),)
    asked = CodeRequest(("a", "b"), claims, least=25, recode="global", levels={"a": "values", "b": "values"})
    table = open_table(pa.table(values))
    written = coded(table, fit_code(table, asked).code)
    (rows,) = (batch.to_pylist() for batch in written.batches(["a", "b", "s"], 2_000))
    cells = [(row["a"], row["b"]) for row in rows]
    ranks, everyone = np.unique(values["s"], return_inverse=True)[1], np.ones(1_500, bool)
    assert 1 < len(set(cells)) < 32
    for cell in set(cells):
        inside = np.array([each == cell for each in cells])
        assert inside.sum() >= 25
        assert worst(ranks, everyone.astype(float), inside, everyone, 0.2) <= 0.4


@pytest.mark.parametrize(("least", "cells"), [(24, 2), (25, 1)])
def test_no_level_of_the_whole_file_has_a_cell_of_too_few(least, cells):
    table = open_table(pa.table({"a": ["x"] * 60 + ["y"] * 24, "s": ["yes", "no"] * 42}))
    asked = CodeRequest(("a",), (CodeClaim(("s",), 5.0, 5.0),), least, recode="global", levels={"a": "values"})
    assert len(fit_code(table, asked).code.tree.leaves) == cells


def test_one_side_alone_may_be_bounded_and_a_delta_may_not():
    records = table(4)
    n = int(records.secrets[0].max()) + 1
    upwards = grow(records, COLUMNS, [SecretBound(n, np.inf, 0.3, floor=0.1)], least=5)
    both = grow(records, COLUMNS, [SecretBound(n, 0.3, 0.3, floor=0.1)], least=5)
    assert len(upwards.leaves) >= len(both.leaves)
    with pytest.raises(ArgumentError, match="without a delta"):
        SecretBound(n, 0.3, 0.3, floor=0.1, delta=0.1)
