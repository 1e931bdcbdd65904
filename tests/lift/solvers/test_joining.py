"""Outputs beyond the number of values are joined where that loses least."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.sparse import csr_array

from sizes import many
from tacit.lift import Joint, Region
from tacit.lift.solvers.blocks import solve_parts
from tacit.lift.solvers.columns import Budget
from tacit.lift.solvers.joining import fewer
from tacit.lift.solvers.mixture import Mixture


def random_mixture(seed, n_values, n_outputs):
    """Flows from every value, some of them nothing, to outputs that all hold something."""
    rng = np.random.default_rng(seed)
    table = rng.random((n_values, n_outputs)) ** 6 * (rng.random((n_values, n_outputs)) < 0.4)
    table[np.arange(n_outputs) % n_values, np.arange(n_outputs)] += 0.5
    return Mixture.of_channel(csr_array(table / table.sum()), np.ones(n_values))


def flows(mixture, n_values):
    return mixture.posteriors(n_values).toarray() * mixture.totals[:, None]


def least_likely_as_one(mixture, most):
    new = np.arange(len(mixture.totals))
    least = np.argsort(mixture.totals, kind="stable")[: len(new) - most + 1]
    new[least] = least[0]
    outputs = np.unique(new, return_inverse=True)[1][mixture.outputs]
    table = np.zeros((outputs.max() + 1, mixture.values.max() + 1))
    np.add.at(table, (outputs, mixture.values), mixture.masses)
    inside = table > 0
    return -(table[inside] * np.log((table / table.sum(axis=1, keepdims=True))[inside])).sum()


@given(st.integers(0, 10_000), st.integers(1, 8), st.integers(1, 30), st.integers(1, 30))
@settings(max_examples=many(40, 1_000), deadline=None)
def test_every_output_is_a_sum_of_outputs_and_no_more_is_lost_than_with_the_least_likely_in_one(
    seed, n_values, n_outputs, most
):
    mixture = random_mixture(seed, n_values, n_outputs)
    joined = fewer(mixture, most)
    assert len(joined.totals) == min(most, n_outputs)
    before, after = flows(mixture, n_values), flows(joined, n_values)
    assert after.sum(axis=0) == pytest.approx(before.sum(axis=0), abs=1e-12)
    # Whatever bounds hold for all outputs before hold after: no direction sees an output further out than any before.
    for direction in np.random.default_rng(seed).normal(size=(20, n_values)):
        assert (after @ direction / joined.totals).max() <= (before @ direction / mixture.totals).max() + 1e-9
    assert joined.loss >= mixture.loss - 1e-9
    if most < n_outputs:
        assert joined.loss <= least_likely_as_one(mixture, most) + 1e-9


def test_outputs_that_say_the_same_become_one_for_nothing():
    whole = Mixture(np.array([0, 1, 1, 2]), np.array([0, 0, 1, 1]), np.array([0.3, 0.1, 0.2, 0.4]))
    shares = np.array([0.1, 0.2, 0.3, 0.4])
    parts = [Mixture(whole.values, whole.outputs, whole.masses * share) for share in shares]
    pieces = Mixture.side_by_side(parts)
    assert len(pieces.totals) == 8
    joined = fewer(pieces, 2)
    assert len(joined.totals) == 2
    assert joined.loss == pytest.approx(whole.loss, abs=1e-12)


def test_pieces_of_frequent_values_cost_little_more_than_in_as_many_outputs_as_there_are():
    """The least likely outputs in one cost .013 of 15 x 20,000 values, and .017 of 15 x 100,000."""
    rng = np.random.default_rng(0)
    posteriors = rng.random((8, 300))
    marginal = 1 / np.arange(1, 301) ** 1.1
    joint = Joint(posteriors / posteriors.sum(axis=0) * (marginal / marginal.sum()))
    mixture = solve_parts(Region.of([(joint, 0.5, 0.5)]), 40, Budget(1, 0.05), most=1_000)
    assert len(mixture.totals) > 300
    joined = fewer(mixture, 300)
    assert len(joined.totals) == 300
    assert joined.loss - mixture.loss < 0.4 * (least_likely_as_one(mixture, 300) - mixture.loss)
