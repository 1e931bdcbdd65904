"""Mechanisms within a bound on alpha-lift: what they keep, held against slow and sure ways to find the best."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.optimize import linprog

from sizes import few, many
from strategies import joints
from tacit.errors import ArgumentError
from tacit.lift import SLACK, Channel, Joint, alpha_lift, entropy, mutual_information, optimal, sibson
from tacit.lift.solvers.alpha import AlphaRegion

RUNGS = ("watchdog", "camouflage", "subsets", "optimal")
ORDERS = st.sampled_from([1.01, 1.5, 2.0, 7.0, 200.0])


def random_joint(rng, n_secrets, n_released):
    table = rng.random((n_secrets, n_released)) ** 2
    return Joint(table / table.sum())


def set_partitions(values):
    """Every way to put values into groups."""
    if not values:
        yield []
        return
    first, *rest = values
    for groups in set_partitions(rest):
        yield [[first], *groups]
        for k in range(len(groups)):
            yield [*groups[:k], [first, *groups[k]], *groups[k + 1 :]]


def best_partition(joint, epsilon, order):
    """The least nmil of all ways to merge values into groups within the bound."""
    best, whole = 1.0, entropy(joint.marginal)
    for groups in set_partitions(list(range(joint.shape[1]))):
        table = np.zeros((joint.shape[1], len(groups)))
        for y, group in enumerate(groups):
            table[group, y] = 1
        if np.log(alpha_lift(joint.through(Channel(table)), order).max()) <= epsilon + 1e-12:
            best = min(best, 1 - mutual_information(joint.marginal[:, None] * table) / whole)
    return best


def checked(channel, joint, epsilon, order):
    """Hold a channel against its own claims with nothing of its own but the matrix."""
    assert np.allclose(channel.matrix.sum(axis=1), 1, atol=1e-12)
    assert channel.matrix.shape[1] <= joint.shape[1]
    largest = np.log(alpha_lift(joint.through(Channel(channel.matrix)), order).max())
    assert largest <= epsilon + SLACK
    assert channel.attained == pytest.approx(max(largest, 0), abs=1e-9)
    assert channel.order == order
    whole = entropy(joint.marginal)
    if whole > 0:
        utility = mutual_information(joint.marginal[:, None] * channel.matrix)
        assert channel.nmil == pytest.approx(1 - utility / whole, abs=1e-9)
    assert 0 <= channel.loss_bound <= channel.nmil + 1e-12


@given(joints(zero_cells=True, secrets=(2, 4)), st.sampled_from([0.0, 0.01, 0.2, 0.7, 2.0]), ORDERS)
@settings(max_examples=many(7, 40), deadline=None)
def test_every_rung_is_within_the_bound_and_none_loses_more_than_the_one_below(joint, epsilon, order):
    """Guarantee of `optimal` with an order."""
    losses = []
    for rung in RUNGS:
        channel = optimal(joint, epsilon, order=order, rung=rung, effort="low")
        checked(channel, joint, epsilon, order)
        losses.append(channel.nmil)
    assert (np.diff(losses) <= 1e-9).all()


@given(joints(zero_cells=True, secrets=(2, 3), released=(2, 6)), st.sampled_from([0.0, 0.05, 0.3]), ORDERS)
@settings(max_examples=many(4, 25), deadline=None)
def test_a_looser_bound_and_a_lower_order_never_lose_more(joint, epsilon, order):
    tight = optimal(joint, epsilon, order=order, effort="low")
    looser = optimal(joint, epsilon + 0.1, order=order, effort="low")
    lower = optimal(joint, epsilon, order=(1 + order) / 2, effort="low")
    for other in (looser, lower):
        assert other.loss_bound <= tight.nmil + 1e-9
        assert other.nmil <= tight.nmil + 1e-4


@given(joints(zero_cells=True, secrets=(2, 4)), st.sampled_from([0.0, 0.1, 0.5, 1.5]), st.sampled_from(RUNGS))
@settings(max_examples=many(10, 30), deadline=None)
def test_order_inf_is_the_bound_on_the_high_side_alone(joint, epsilon, rung):
    channel = optimal(joint, epsilon, order=np.inf, rung=rung, effort="low")
    above = optimal(joint, epsilon, epsilon_low=np.inf, rung=rung, effort="low")
    assert (channel.matrix == above.matrix).all()
    assert (channel.nmil, channel.loss_bound, channel.rung) == (above.nmil, above.loss_bound, above.rung)
    assert channel.attained == pytest.approx(max(above.attained_high, 0.0), abs=1e-12)


@pytest.mark.long
def test_no_way_to_merge_values_into_groups_beats_it_and_groups_come_near_the_best():
    rng, apart = np.random.default_rng(1), []
    for number in range(many(4, 24)):
        joint = random_joint(rng, 2 + number % 3, 5)
        order = (1.3, 2.0, 6.0, np.inf)[number % 4]
        epsilon = 0.4 * float(np.log(alpha_lift(joint, order).max()))
        best = best_partition(joint, epsilon, order)
        assert optimal(joint, epsilon, order=order).nmil <= best + 1e-9
        apart.append(optimal(joint, epsilon, order=order, rung="subsets").nmil - best)
        assert apart[-1] >= -1e-9
    assert np.mean(apart) < 0.1


@pytest.mark.parametrize(("n_secrets", "order"), [(2, 2.0), (3, 1.5), (3, 2.0), (3, 20.0)][: many(2, 4)])
def test_no_mechanism_on_a_fine_grid_beats_it_and_a_fine_grid_comes_near(n_secrets, order):
    rng, steps = np.random.default_rng(5), many(40, 60)
    grid = np.array([[a, b, steps - a - b] for a in range(steps + 1) for b in range(steps + 1 - a)]) / steps
    for _ in range(many(1, 4)):
        joint = random_joint(rng, n_secrets, 3)
        epsilon = 0.4 * float(np.log(alpha_lift(joint, order).max()))
        inside = np.log(joint.prior @ (joint.lift @ grid.T) ** order) <= order * (epsilon + 1e-12)
        columns = np.vstack([grid[inside], joint.marginal])
        costs = [entropy(column) for column in columns]
        best = linprog(costs, A_eq=columns.T, b_eq=joint.marginal, bounds=(0, None)).fun
        channel = optimal(joint, epsilon, order=order)
        whole = entropy(joint.marginal)
        assert channel.loss_bound * whole <= best + 1e-9
        assert best - 0.06 <= channel.nmil * whole <= best + 1e-6


@pytest.mark.parametrize("order", few([1.5, 2.0, 10.0]))
def test_two_secrets_and_small_alphabets_are_proved_to_be_the_best(order):
    rng = np.random.default_rng(0)
    for n_secrets, n_released, gap in ((2, 12, 1e-6), (3, 6, 1e-4), (4, 6, 1e-3))[: many(2, 3)]:
        joint = random_joint(rng, n_secrets, n_released)
        channel = optimal(joint, 0.4 * float(np.log(alpha_lift(joint, order).max())), order=order)
        assert channel.nmil > 0
        assert channel.gap <= gap


@given(joints(secrets=(3, 5)), ORDERS, st.floats(0.01, 1.0), st.integers(0, 99))
@settings(max_examples=many(12, 50))
def test_no_posterior_within_the_bound_breaks_a_tangent(joint, order, epsilon, seed):
    region, rng = AlphaRegion.around(joint, epsilon, order), np.random.default_rng(seed)
    n = joint.shape[1]
    at = rng.dirichlet(np.full(n, 0.3), size=6)
    rows = region.tangents(region.lifts @ at.T)
    assert np.diag(rows @ at.T) == pytest.approx(region.excess(region.lifts @ at.T))
    points = rng.dirichlet(np.full(n, 0.5), size=200)
    assert ((rows @ points.T) <= region.excess(region.lifts @ points.T) + 1e-9).all()
    inside = np.array([region.pulled(q) for q in points])
    assert region.holds(inside, slack=1e-9).all()


@given(joints(secrets=(3, 4), zero_cells=True), ORDERS, st.floats(0.01, 1.0))
@settings(max_examples=many(10, 30))
def test_the_ends_of_a_mixture_of_two_are_on_the_bound_or_pure(joint, order, epsilon):
    region = AlphaRegion.around(joint, epsilon, order)
    first, second = np.triu_indices(joint.shape[1], 1)
    lower, upper = region.pair_shares(first, second)
    for shares in np.linspace(0, 1, 41):
        lifts = shares * joint.lift[:, first] + (1 - shares) * joint.lift[:, second]
        inside = region.excess(lifts) <= 1
        between = (lower <= shares) & (shares <= upper)
        near = (abs(shares - lower) < 1e-6) | (abs(shares - upper) < 1e-6) | (region.excess(lifts) > 1 - 1e-6)
        assert ((inside == between) | near).all()


def test_a_bound_on_alpha_lift_bounds_sibson_and_loses_less_than_a_bound_on_every_lift():
    joint = random_joint(np.random.default_rng(3), 4, many(6, 9))
    channel = optimal(joint, 0.3, order=3.0)
    assert sibson(joint.through(channel), 3.0) <= 3 / 2 * 0.3 + 1e-9
    assert channel.nmil < optimal(joint, 0.3, epsilon_low=np.inf).nmil


def test_many_values_are_kept_within_the_bound_too():
    joint = random_joint(np.random.default_rng(4), 3, 3_000)
    channel = optimal(joint, 0.2, order=2.0, effort="low")
    assert np.log(alpha_lift(joint.through(channel), 2.0).max()) <= 0.2 + SLACK
    assert 0 < channel.loss_bound <= channel.nmil < optimal(joint, 0.2, order=2.0, rung="camouflage").nmil


@pytest.mark.parametrize(
    ("words", "arguments"),
    [
        ("order is 1; it must be more than 1", {"order": 1}),
        ("order is nan", {"order": np.nan}),
        ("leave out epsilon_low", {"order": 2, "epsilon_low": 0.5}),
        ("leave out epsilon_low", {"order": 2, "epsilon_high": 0.5}),
        ("leave out epsilon_low", {"order": 2, "also": [([[0.5, 0.5]], 0.1)]}),
        ("no rung 'roof'", {"order": 2, "rung": "roof"}),
    ],
)
def test_what_an_order_cannot_be_combined_with_is_refused(words, arguments):
    with pytest.raises(ArgumentError, match=words):
        optimal([[0.4, 0.1], [0.1, 0.4]], 0.5, **arguments)


def test_nothing_to_hide_is_released_as_it_is_and_one_secret_hides_nothing():
    assert optimal([[0.4, 0.1], [0.1, 0.4]], 3.0, order=2.0).nmil == 0
    assert optimal([[0.4, 0.6]], 0.0, order=2.0).nmil == 0
    assert optimal([[0.3], [0.3], [0.4]], 0.1, order=2.0).nmil == 0
