"""Trees of cuts: which leaf a record lies in, how parts read, and what is no tree."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tacit.codes.tree import CellTree
from tacit.errors import ArgumentError
from tacit.release import Damaged, decoded, encoded

# Column 0 has five atoms in order, column 1 four without: {0, 3} left; then atoms below 2 left, on either side.
TREE = CellTree(
    sizes=np.array([5, 4]),
    column=np.array([1, 0, 0, -1, -1, -1, -1]),
    below=np.array([-1, 2, 3, -1, -1, -1, -1]),
    sets=np.array([True, False, False, True]),
    known=np.array([0]),
)


def every_record(sizes):
    return np.stack(np.meshgrid(*map(np.arange, sizes), indexing="ij"), axis=-1).reshape(-1, len(sizes))


def walked(tree, record):
    """The leaf of one record, a step at a time."""
    node = 0
    while tree.column[node] >= 0:
        node = int(tree.children[node, 0 if tree.left(node)[record[tree.column[node]]] else 1])
    return node


def test_a_record_lies_in_the_leaf_that_a_walk_finds_and_its_atoms_are_in_the_leafs_parts():
    records = every_record(TREE.sizes)
    for record, leaf in zip(records, TREE.leaf_of(records), strict=True):
        assert leaf == walked(TREE, record)
        assert all(part[atom] for part, atom in zip(TREE.parts(leaf), record, strict=True))


def test_many_records_lie_where_each_by_itself_does():
    rng = np.random.default_rng(0)
    some = np.stack([rng.integers(0, size, 1_000) for size in TREE.sizes], axis=1).astype(np.int32)
    # More records than there are combinations of atoms are looked up.
    assert TREE.leaf_of(some).tolist() == [TREE.leaf_of(record[None])[0] for record in some]


def test_a_node_is_found_again_in_a_tree_with_cuts_undone():
    for undone in ([], [1], [2], [1, 2], [0]):
        kept = TREE.column >= 0
        kept[undone] = False
        column, below = np.where(kept, TREE.column, -1), np.where(kept, TREE.below, -1)
        known = np.arange(len(TREE)) == 0
        merged = CellTree.linked(TREE.sizes, column, below, TREE.children, TREE.set_start, TREE.sets, known)
        records = every_record(TREE.sizes)
        assert TREE.nodes_in(merged)[TREE.leaf_of(records)].tolist() == merged.leaf_of(records).tolist()


def test_parts_of_a_column_are_those_of_its_nodes_each_once():
    for column in range(2):
        number, masks = TREE.parts_of(column)
        assert len({mask.tobytes() for mask in masks}) == len(masks)
        for node in range(len(TREE)):
            assert masks[number[node]].tolist() == TREE.parts(node)[column].tolist()


@pytest.mark.parametrize("seed", range(6))
def test_parts_of_a_column_that_only_runs_cut_are_numbered_as_they_are_met(seed):
    rng, cuts = np.random.default_rng(seed), 40
    # Any node that stands so far may be cut anywhere, even outside of what is left of its column.
    column, below = [-1], [-1]
    for node in range(cuts):
        column[node], below[node] = int(rng.integers(0, 2)), int(rng.integers(1, 9))
        column, below = [*column, -1, -1], [*below, -1, -1]
    tree = CellTree(np.array([9, 9]), np.array(column), np.array(below), np.zeros(0, bool), np.array([0]))
    for at in range(2):
        which, parts = tree.parts_of(at)
        right = [tree.parts(node)[at].tobytes() for node in range(len(tree))]
        assert [part.tobytes() for part in parts] == list(dict.fromkeys(right))
        assert [parts[number].tobytes() for number in which] == right


def test_children_come_after_parents_and_levels_hold_every_node_once():
    assert TREE.children.tolist()[:3] == [[1, 2], [3, 4], [5, 6]]
    assert TREE.parent.tolist() == [-1, 0, 0, 1, 1, 2, 2]
    assert [node for level in TREE.levels for node in range(level.start, level.stop)] == list(range(7))


def test_a_tree_is_stored_and_restored_by_the_codec():
    again = decoded(CellTree, encoded(TREE))
    assert again.stored() == TREE.stored()
    records = every_record(TREE.sizes)
    assert (again.leaf_of(records) == TREE.leaf_of(records)).all()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("sizes", [5, 5]),
        ("sizes", [5]),
        ("column", [1, 0, 0, -1, -1, -1]),
        ("column", [-1, 1, 0, 0, -1, -1, -1]),
        ("below", [-1, 5, 3, -1, -1, -1, -1]),
        ("below", [-1, 0, 3, -1, -1, -1, -1]),
        ("below", [-1, 2, 3, 1, -1, -1, -1]),
        ("sets", ["1000", "0"]),
        ("sets", ["1111"]),
        ("sets", ["10x1"]),
        ("known", []),
        ("known", [0, 1]),
        ("known", [1]),
        ("known", [7]),
    ],
)
def test_what_is_no_tree_is_refused(field, value):
    with pytest.raises(Damaged):
        decoded(CellTree, encoded(TREE) | {field: value})


def test_a_cut_that_leaves_a_node_whole_is_refused_when_a_tree_is_read():
    twice = CellTree(np.array([3]), np.array([0, 0, -1, -1, -1]), np.array([1, 2, -1, -1, -1]), np.zeros(0, bool), [0])
    with pytest.raises(ArgumentError, match="empty"):
        CellTree.restored(twice.stored())


def test_atoms_out_of_range_are_refused():
    with pytest.raises(ArgumentError, match="range"):
        TREE.leaf_of([[5, 0]])
    with pytest.raises(ArgumentError, match="columns"):
        TREE.leaf_of([[0, 0, 0]])


def test_known_parts_are_found_from_every_node_inside():
    tree = replace(TREE, known=np.array([1, 5, 6]))
    assert tree.known_of.tolist() == [-1, 1, -1, 1, 1, 5, 6]
