"""Holm's procedure on a tree against closed testing, which asks about every set of wrong splits there could be."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from sizes import many
from tacit.errors import ArgumentError
from tacit.lift.proofs.recycling import Nesting, proved_splits

BETA = 0.05


@st.composite
def trees(draw, most=9):
    size = draw(st.integers(1, most))
    return Nesting(np.array([-1] + [draw(st.integers(0, node - 1)) for node in range(1, size)]))


@st.composite
def asked_trees(draw):
    tree = draw(trees())
    p = draw(st.lists(st.sampled_from([0.0, 0.001, 0.01, 0.02, 0.03, 0.05, 0.2, 1.0]), min_size=9, max_size=9))
    weights = draw(st.lists(st.sampled_from([0.0, 1.0, 2.0, 5.0]), min_size=9, max_size=9))
    return tree, np.array(p[: len(tree)]), np.where(tree.inner, weights[: len(tree)], 0.0)


def above(tree, node):
    while node >= 0:
        yield int(node)
        node = tree.parent[node]


def antichains(tree, nodes):
    for size in range(1, len(nodes) + 1):
        for chosen in combinations(nodes, size):
            if not any(a != b and a in above(tree, b) for a in chosen for b in chosen):
                yield chosen


def closed_testing(tree, p, weights):
    """The splits that lie in no possible set of first wrong ones that the p-values leave possible, nor below one."""
    asked = [int(node) for node in np.flatnonzero(weights > 0)]
    possible = [
        chosen
        for chosen in antichains(tree, asked)
        if all(p[v] > BETA * weights[v] / sum(weights[u] for u in chosen) for v in chosen)
    ]
    fine = {v for v in asked if not any(v in chosen for chosen in possible)}
    return {v for v in fine if all(u in fine for u in above(tree, v))}


@given(asked_trees())
@settings(max_examples=many(80, 3_000), deadline=None)
def test_nothing_is_given_that_closed_testing_would_not_give(case):
    tree, p, weights = case
    given_ = set(np.flatnonzero(proved_splits(tree, p, weights, beta=BETA).splits).tolist())
    assert given_ <= closed_testing(tree, p, weights)


@given(asked_trees())
@settings(max_examples=many(60, 2_000), deadline=None)
def test_the_heaviest_nodes_on_different_branches_are_those_of_the_slow_search(case):
    tree, _, weights = case
    slow = max((sum(weights[v] for v in chosen) for chosen in antichains(tree, range(len(tree)))), default=0.0)
    assert tree.heaviest(weights) == pytest.approx(slow)


@given(asked_trees(), st.integers(0, 8))
@settings(max_examples=many(60, 2_000), deadline=None)
def test_a_smaller_p_value_never_takes_a_split_away(case, node):
    tree, p, weights = case
    better = p.copy()
    better[node % len(p)] = 0.0
    before, after = (proved_splits(tree, each, weights, beta=BETA).splits for each in (p, better))
    assert (before <= after).all()


def star(branches):
    """A root, as many nodes below it, and two leaves below each."""
    return Nesting(np.array([-1] + [0] * branches + [1 + i // 2 for i in range(2 * branches)]))


def test_the_error_of_those_that_pass_goes_to_the_others():
    tree = star(4)
    p = np.array([0.0, 0.001, 0.011, 0.014, 0.04] + [0.0] * 8)
    weights = np.where(tree.inner, 1.0, 0.0)
    proved = proved_splits(tree, p, weights, beta=BETA)
    assert np.flatnonzero(proved.splits).tolist() == [0, 1, 2, 3, 4]
    p[4] = 0.06
    assert np.flatnonzero(proved_splits(tree, p, weights, beta=BETA).splits).tolist() == [0, 1, 2, 3]
    p[3] = 0.03
    assert np.flatnonzero(proved_splits(tree, p, weights, beta=BETA).splits).tolist() == [0, 1, 2]


def test_nothing_below_a_split_that_failed_is_given():
    chain = Nesting(np.array([-1, 0, 0, 1, 1, 3, 3]))
    p = np.array([0.0, 0.9, 0.0, 0.0, 0.0, 0.0, 0.0])
    proved = proved_splits(chain, p, np.where(chain.inner, 1.0, 0.0), beta=BETA)
    assert np.flatnonzero(proved.splits).tolist() == [0]
    assert chain.frontier(proved.splits).tolist() == [1, 2]


@pytest.mark.parametrize("parent", [[], [0], [-1, 1], [-1, 2, 0], [-1, -1], [-1.0, 0.0]])
def test_what_is_no_tree_is_refused(parent):
    with pytest.raises(ArgumentError):
        Nesting(np.array(parent))
