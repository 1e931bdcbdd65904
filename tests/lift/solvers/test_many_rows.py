"""Many secrets and many values: outputs of three values, blocks in threads, and what the second share proves."""

from copy import copy
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.optimize import linprog

from sizes import few, many
from strategies import joints
from tacit.lift import Joint, Region, entropy, optimal
from tacit.lift.solvers.blocks import solve_parts, worth_mixing
from tacit.lift.solvers.bounds import Scarcity, SecondShares, largest_bound, reaches
from tacit.lift.solvers.bounds.seconds import largest_sums
from tacit.lift.solvers.columns import Budget
from tacit.lift.solvers.ladder import EFFORTS
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


def leaning_joint(seed, n_secrets, n_released, n_leaning):
    """Counts that differ by chance only, but for a few values that lean to a secret."""
    rng = np.random.default_rng(seed)
    expected = np.full((n_secrets, n_released), 60.0)
    expected[np.arange(n_leaning) % n_secrets, np.arange(n_leaning)] *= 3
    return Joint.from_counts(rng.poisson(expected))


@given(joints(zero_cells=True, secrets=(2, 5), released=(2, 12)), st.sampled_from([0.0, 0.2, 0.6, 1.2]))
@settings(max_examples=many(25, 300), deadline=None)
def test_values_worth_mixing_are_within_bounds_as_one_and_hold_every_risky_one(joint, epsilon):
    region = Region.of([(joint, epsilon, epsilon)])
    mixed = worth_mixing(region)
    assert mixed[~region.safe].all()
    if mixed.any():
        merged = joint.matrix[:, mixed].sum(axis=1) / joint.prior / joint.marginal[mixed].sum()
        assert np.log(merged).max() <= epsilon + 1e-9
        assert -np.log(merged).min() <= epsilon + 1e-9


def test_values_that_cover_nobody_are_released_unchanged_and_little_is_lost_by_it(monkeypatch):
    joint = leaning_joint(0, 5, many(600, 3_000), 40)
    region = Region.of([(joint, 0.5, 0.5)])
    mixed = worth_mixing(region)
    assert mixed.sum() < 0.7 * region.n
    some = solve_parts(region, 150, Budget(2, 0.06), most=10_000)
    alone = np.bincount(some.outputs)[some.outputs] == 1
    assert set(np.flatnonzero(~mixed)) <= set(some.values[alone])
    assert np.bincount(some.values, some.masses, region.n) == pytest.approx(region.marginal, rel=1e-6)
    monkeypatch.setattr("tacit.lift.solvers.blocks._COVERED", 1e9)
    assert some.loss <= 1.1 * solve_parts(region, 150, Budget(2, 0.06), most=10_000).loss


def test_a_lower_effort_suffices_where_nothing_is_left_to_gain():
    """What normal effort then gives is the answer of low effort, near a bound that holds for every mechanism."""
    joint = leaning_joint(1, 4, 450, 12)
    low, normal = (optimal(joint, 0.5, effort=effort) for effort in ("low", "normal"))
    assert normal.nmil == low.nmil
    assert normal.attained <= 0.5
    assert 0 < normal.nmil - normal.loss_bound <= min(0.003, 0.5 * normal.loss_bound)


@pytest.mark.long
@pytest.mark.parametrize("power", [0.0, 1.0])
def test_there_is_no_cliff_between_29_000_and_31_000_values_and_effort_helps(power):
    """It lost .096 of 29,000 values and .312 of 31,000."""
    few_values, more = (random_joint(5, 5, size, power) for size in (29_000, 31_000))
    low = [lost(each, "low") for each in (few_values, more)]
    normal = [lost(each, "normal") for each in (few_values, more)]
    assert (np.array(normal) <= np.array(low) + 1e-9).all()
    assert max(normal) < 1.1 * min(normal)
    assert max(low) < 1.25 * min(low)


def least_loss(joint, epsilon):
    """The oracle: a linear program over all corners of the posteriors within bounds, each from its tight inequalities.

    None if chance made them so few that rounding leaves no mechanism.
    """
    n = joint.shape[1]
    lifts = joint.matrix / joint.prior[:, None] / joint.marginal
    rows = np.vstack([-np.eye(n), lifts, -lifts])
    tops = np.concatenate([np.zeros(n), np.full(len(lifts), np.exp(epsilon)), np.full(len(lifts), -np.exp(-epsilon))])
    tight = np.array(list(combinations(range(len(rows)), n - 1)))
    systems = np.concatenate([np.ones((len(tight), 1, n)), rows[tight]], axis=1)
    sides = np.concatenate([np.ones((len(tight), 1)), tops[tight]], axis=1)
    regular = abs(np.linalg.det(systems)) > 1e-12
    corners = np.linalg.solve(systems[regular], sides[regular][:, :, None])[:, :, 0]
    corners = np.maximum(corners[(rows @ corners.T <= tops[:, None] + 1e-9).all(axis=0)], 0.0)
    costs = -np.where(corners > 0, corners * np.log(np.where(corners > 0, corners, 1.0)), 0.0).sum(axis=1)
    answer = linprog(costs, A_eq=corners.T, b_eq=joint.marginal, bounds=(0, None), method="highs")
    return answer.fun if answer.status == 0 else None


@pytest.mark.parametrize("blocks", [False, True])
def test_hundreds_of_random_joints_are_within_epsilon_and_on_the_right_side_of_the_best_mechanism(monkeypatch, blocks):
    """Also where even few values are dealt out into blocks and an effort ends early, as with many values."""
    if blocks:
        monkeypatch.setattr("tacit.lift.solvers.ladder._LARGEST_EXACT", 0)
        monkeypatch.setattr("tacit.lift.solvers.ladder._MANY_CELLS", 0)
        for name, limits in EFFORTS.items():
            limits = copy(limits)
            vars(limits).update(many=6, part=3, work=1.0, parts=100, enough=limits.enough and 0.3)
            monkeypatch.setitem(EFFORTS, name, limits)
    rng, compared = np.random.default_rng(blocks), 0
    for number in range(many(10, 400)):
        n_secrets, n_released = int(rng.integers(2, 5)), int(rng.integers(2, 6))
        table = rng.dirichlet(np.full(n_secrets * n_released, (0.3, 1.0, 5.0)[number % 3])) + 1e-6
        if number % 4 == 0:
            table[rng.integers(len(table))] = 0.0
        joint = Joint((table / table.sum()).reshape(n_secrets, n_released))
        epsilon = float(rng.choice([0.05, 0.2, 0.5, 1.0, 2.0]))
        best = least_loss(joint, epsilon)
        efforts = [optimal(joint, epsilon, effort=effort) for effort in ("low", "normal")]
        assert efforts[1].nmil <= efforts[0].nmil + 1e-9
        for channel in efforts:
            assert channel.attained <= epsilon
            released = joint.matrix @ channel.matrix
            lifts = released / released.sum(axis=0) / joint.prior[:, None]
            with np.errstate(divide="ignore"):
                assert abs(np.log(lifts)).max() <= epsilon + 1e-9
            assert channel.loss_bound <= channel.nmil
            if best is not None:
                whole = entropy(joint.marginal)
                assert channel.loss_bound * whole <= best + 1e-8
                assert channel.nmil * whole >= best - 1e-6
                compared += 1
    assert compared > many(10, 400)


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
