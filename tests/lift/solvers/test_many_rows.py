"""Many secrets and many values: outputs of three values, blocks in threads, and what the second share proves."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.optimize import linprog

from sizes import few, many
from strategies import joints
from tacit.lift import Joint, Region, entropy, optimal
from tacit.lift.solvers.blocks import solve_parts
from tacit.lift.solvers.bounds import Scarcity, SecondShares, largest_bound, reaches
from tacit.lift.solvers.bounds.seconds import largest_sums
from tacit.lift.solvers.columns import Budget
from tacit.lift.solvers.small import Trios
from tacit.lift.solvers.vertices import solve_corners


def random_joint(seed, n_secrets, n_released, power=0.0):
    """Posteriors are uniform draws, normalised; frequencies fall with a power of the rank."""
    rng = np.random.default_rng(seed)
    posteriors = rng.random((n_secrets, n_released))
    marginal = 1 / np.arange(1, n_released + 1) ** power
    return Joint(posteriors / posteriors.sum(axis=0) * (marginal / marginal.sum()))


def random_region(seed, n_secrets, n_released, epsilon=0.5):
    return Region.of([(random_joint(seed, n_secrets, n_released), epsilon, epsilon)])


@given(joints(zero_cells=True, secrets=(3, 4), released=(2, 7)), st.sampled_from([0.0, 0.2, 0.6, 1.2]))
@settings(max_examples=many(12, 100), deadline=None)
def test_the_bound_from_second_shares_is_below_the_best_mechanism(joint, epsilon):
    """Guarantee of `SecondShares`, against all corners."""
    region = Region.of([(joint, epsilon, epsilon)])
    best = None if region.safe.all() or region.rank < 2 else solve_corners(region)
    if best is None:
        return
    reach = reaches(region, directions=100)
    for step, look in ((1, True), (2, True), (1, False)):
        seconds = SecondShares.of(region, reach, np.arange(0, region.n, step), look=look)
        assert largest_bound(region.marginal, reach, seconds) <= best.loss + 1e-9
        assert largest_bound(region.marginal, reach, seconds, Scarcity.of(region, seconds)) <= best.loss + 1e-9


def test_raised_prices_are_at_most_the_entropy_of_every_output_and_prove_more():
    """Guarantee of `Scarcity`, against outputs at random: corners for random costs, and mixtures of two of them."""
    raised = 0
    for seed in range(many(2, 20)):
        rng = np.random.default_rng(seed)
        region = Region.of([(random_joint(seed, 4, 40, power=1.2), 0.4, 0.4)])
        reach = reaches(region, directions=100)
        seconds = SecondShares.of(region, reach, np.arange(40))
        scarcity = Scarcity.of(region, seconds)
        prices = seconds.prices(0.6)
        limits = np.full(len(scarcity.seconds.values), 0.6)
        # The first prices hold from the least share on; below it these do.
        below = SecondShares.of(region, seconds.least, np.arange(40), look=False).prices(0.6)
        prices, limits = np.minimum(prices, below), np.minimum(limits, below[scarcity.seconds.values])
        found = scarcity.raised(prices, limits, 0.6)
        raised += found @ region.marginal > prices @ region.marginal + 1e-6
        rows, tops = region.inequalities()
        outputs = [
            linprog(costs, A_ub=rows, b_ub=tops, A_eq=np.ones((1, 40)), b_eq=[1]).x
            for costs in rng.normal(size=(many(40, 400), 40)) - 4 * np.eye(40)[rng.integers(0, 40, many(40, 400))]
        ]
        outputs += [(first + second) / 2 for first, second in pairwise(outputs)]
        assert all(found @ q <= entropy(q) + 1e-7 for q in outputs)
    assert raised


def test_no_output_within_bounds_has_a_larger_sum_of_two_shares():
    """Guarantee of `largest_sums`, against one linear program for every pair of values."""
    for seed in range(many(1, 10)):
        region = random_region(seed, 6, 9, 0.3)
        reach, every = reaches(region), np.arange(9)
        start, end = 0.6 * reach, 0.8 * reach
        found = largest_sums(region, reach, every, start, end)
        rows, tops = region.inequalities()
        for x in every:
            for z in np.delete(every, x):
                sums = -1.0 * ((every == x) | (every == z))
                # The other share is at most that of the likeliest value.
                less = 1.0 * (every == z) - 1.0 * (every == x)
                bounds = [(start[x], end[x]) if v == x else (0, 1) for v in every]
                answer = linprog(
                    sums,
                    A_ub=np.vstack([rows, less]),
                    b_ub=np.append(tops, 0),
                    A_eq=np.ones((1, 9)),
                    b_eq=[1],
                    bounds=bounds,
                )
                assert answer.status == 2 or -answer.fun <= found[x] + 1e-7


def test_with_many_rows_the_second_share_proves_more():
    region = random_region(0, 40, 120)
    reach = reaches(region)
    plain = largest_bound(region.marginal, reach)
    assert largest_bound(region.marginal, reach, SecondShares.of(region, reach, np.arange(120))) > 1.15 * plain


@pytest.mark.parametrize("n_secrets", few([20, 40], 1))
def test_outputs_of_three_or_four_values_are_within_bounds_and_pay(n_secrets):
    """Guarantee of `Trios`."""
    region = random_region(1, n_secrets, 200)
    prices = np.random.default_rng(2).uniform(0.8, 1.6, 200)
    found = Trios(region, np.random.default_rng(0)).paying(np.arange(200), prices)
    assert len(found) > 100
    columns = np.zeros((len(found), 200))
    np.add.at(columns, (np.arange(len(found))[:, None], found.values), found.shares)
    assert np.allclose(columns.sum(axis=1), 1, atol=1e-12)
    assert region.holds(columns, slack=1e-9).all()
    assert ((columns > 0).sum(axis=1) <= 4).all()
    assert all(entropy(column) < prices @ column for column in columns)


def test_many_secrets_lose_little_more_than_any_mechanism_must():
    """It was 2.3 times the bound with 50 secrets and 1,000 values: hardly any two of them make an output."""
    channel = optimal(random_joint(3, 30, many(80, 1_000)), 0.5, effort=("low", "normal")[many(0, 1)])
    assert channel.attained <= 0.5
    assert channel.nmil < 1.6 * channel.loss_bound


def test_the_answer_does_not_depend_on_the_number_of_threads():
    region = random_region(4, 6, 200)
    one, two, five = (solve_parts(region, 30, Budget(1, 0.1), most=150, threads=threads) for threads in (1, 2, 5))
    for other in (two, five):
        assert (one.values == other.values).all()
        assert (one.outputs == other.outputs).all()
        assert (one.masses == other.masses).all()


def lost(joint, effort):
    channel = optimal(joint, 0.6, effort=effort)
    assert channel.attained <= 0.6
    assert channel.loss_bound <= channel.nmil
    return channel.nmil * entropy(joint.marginal)


@pytest.mark.parametrize(("n_secrets", "power"), few([(5, 0.0), (15, 0.0), (5, 1.0), (15, 1.0)], 1))
def test_more_effort_never_loses_more_and_a_few_values_more_change_little(n_secrets, power):
    """The same population, in a few values more: where one program becomes blocks nothing jumps."""
    sizes = (290, 310, 990, 1_010)[: many(2, 4)]
    low = [lost(random_joint(5, n_secrets, size, power), "low") for size in sizes]
    for few_values, more in zip(low[::2], low[1::2], strict=True):
        assert more < 1.25 * few_values
        assert few_values < 1.25 * more
    if many(0, 1):
        normal = [lost(random_joint(5, n_secrets, size, power), "normal") for size in sizes]
        assert (np.array(normal) <= np.array(low) + 1e-9).all()
        assert normal[3] < 1.25 * normal[2]
