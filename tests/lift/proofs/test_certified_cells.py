"""Cells proved for a population: how often they are false, and the laws they keep."""

import numpy as np
import pytest

from sizes import many
from tacit.errors import ArgumentError
from tacit.lift import CountedClaim, certified_cells, chance_of_proof
from tacit.lift.proofs.recycling import Nesting

BETA, EPSILON = 0.05, 0.4
# Fifteen nodes: a root, two, four, and eight leaves.
PARENT = np.array([-1, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6])
LEAVES = np.arange(7, 15)


def upwards(parent, leaves, counts):
    """Counts of every node from those of the leaves."""
    table = np.zeros((len(parent), counts.shape[1]))
    table[leaves] = counts
    for node in range(len(parent) - 1, 0, -1):
        table[parent[node]] += table[node]
    return table


def halves(population, rng, *, design, test, parent=PARENT, leaves=LEAVES):
    """Two samples of a population (leaves x secrets), counted at every node."""
    shape = population.shape
    return [upwards(parent, leaves, rng.multinomial(n, population.ravel()).reshape(shape)) for n in (design, test)]


def risky_population():
    """In each of the four last splits one child is just beyond the bound; all together, the secrets are even."""
    beyond = 1 - 0.5 * np.exp(-EPSILON) + 0.001
    rest = (0.5 - 0.3 * beyond) / 0.7
    rates = np.array([beyond, rest] * 4)
    return np.stack([1 - rates, rates], axis=1) * np.array([0.3, 0.7] * 4)[:, None] / 4


@pytest.mark.long
@pytest.mark.parametrize("known", [False, True])
def test_cells_just_beyond_the_bound_are_rarely_certified_though_each_by_itself_would_be_more_often(known):
    runs, rng = many(60 if known else 20, 1_000), np.random.default_rng(3)
    population, false, careless = risky_population(), 0, 0
    for _ in range(runs):
        design, test = halves(population, rng, design=2_000, test=4_000)
        claim = CountedClaim(design, test, EPSILON, EPSILON, prior=np.array([0.5, 0.5]) if known else None)
        false += bool(np.isin(certified_cells(PARENT, claim).cells, LEAVES).any())
        p = Nesting(PARENT).worst_child(claim.p_values(np.zeros(15, int), np.full(15, BETA), beta=BETA))
        careless += bool((p[3:7] <= BETA).any())
    assert false / runs <= BETA + 4 * np.sqrt(BETA * (1 - BETA) / runs)
    assert careless / runs > 1.3 * BETA
    assert false < careless


@pytest.mark.long
def test_a_frontier_that_is_wrong_at_different_depths_is_rarely_certified():
    runs, rng = many(12, 1_000), np.random.default_rng(4)
    beyond = 1 - 0.5 * np.exp(-EPSILON) + 0.001
    # One cell of four is beyond the bound, so that its split is wrong and what is below it, too.
    rates = np.array([beyond, beyond, *[(1 - beyond)] * 2, 0.5, 0.5, 0.5, 0.5])
    population = np.stack([1 - rates, rates], axis=1) / 8
    bad, false = [3, 4, 7, 8, 9, 10], 0
    for _ in range(runs):
        design, test = halves(population, rng, design=1_000, test=3_000)
        false += bool(np.isin(certified_cells(PARENT, CountedClaim(design, test, EPSILON, EPSILON)).cells, bad).any())
    assert false / runs <= BETA + 4 * np.sqrt(BETA * (1 - BETA) / runs)


def even(seed=0, *, secrets=2, design=2_000, test=6_000, **options):
    population = np.full((8, secrets), 1 / (8 * secrets))
    return CountedClaim(*halves(population, np.random.default_rng(seed), design=design, test=test), **options)


def test_cells_that_tell_nothing_are_all_proved_and_their_limits_are_within_the_bounds():
    proved = certified_cells(PARENT, even(low=0.4, high=0.3))
    assert proved.cells.tolist() == LEAVES.tolist()
    assert (proved.questions, proved.passed, proved.spent) == (7, 7, pytest.approx(BETA))
    assert (proved.low <= 0.4).all()
    assert (proved.high <= 0.3).all()
    assert 0 < proved.high.max() < 0.2
    assert proved.entropy == pytest.approx(np.log(8), abs=0.01)
    assert (proved.records_to_choose, proved.records_to_prove) == (2_000, 6_000)
    assert "95.0% confidence" in proved.sentence
    assert "8 cells" in proved.sentence


def test_the_cells_are_a_frontier_and_those_out_of_bounds_stay_together():
    population = np.full((8, 2), 1 / 16)
    population[0], population[1] = [0.02, 0.105], [0.105, 0.02]
    design, test = halves(population, np.random.default_rng(1), design=2_000, test=6_000)
    proved = certified_cells(PARENT, CountedClaim(design, test, 0.5, 0.5))
    assert proved.cells.tolist() == [3, *LEAVES[2:]]
    assert (proved.passed, proved.questions) == (6, 7)
    coarse = certified_cells(PARENT, CountedClaim(design, test, 0.0, 0.0))
    assert coarse.cells.tolist() == [0]
    assert (coarse.low.tolist(), coarse.high.tolist()) == ([[0.0]], [[0.0]])
    assert "no cells" in coarse.sentence


def test_a_secret_that_a_cell_does_not_have_breaks_the_low_side_unless_it_is_not_claimed():
    population = np.full((8, 3), 1 / 24)
    population[2, 2] = 0
    design, test = halves(population / population.sum(), np.random.default_rng(2), design=3_000, test=9_000)
    both = certified_cells(PARENT, CountedClaim(design, test, 0.7, 0.7)).cells
    assert not np.isin([9, 10], both).any()
    one_sided = certified_cells(PARENT, CountedClaim(design, test, np.inf, 0.7)).cells
    assert one_sided.tolist() == LEAVES.tolist()
    other = CountedClaim(design, test, 0.7, 0.7, bounded=np.array([True, True, False]))
    assert certified_cells(PARENT, other).cells.tolist() == LEAVES.tolist()


def test_what_nobody_in_the_sample_has_proves_nothing():
    population = np.full((8, 3), 1 / 16)
    population[:, 2] = 0
    claim = CountedClaim(*halves(population, np.random.default_rng(2), design=2_000, test=9_000), np.inf, 0.5)
    assert certified_cells(PARENT, claim).cells.tolist() == [0]


def test_a_second_claim_costs_nothing_where_it_is_the_same_and_forbids_what_it_forbids():
    claim, other = even(3, low=0.4, high=0.4), even(3, low=0.4, high=0.4)
    assert certified_cells(PARENT, (claim, other)).cells.tolist() == certified_cells(PARENT, claim).cells.tolist()
    strict = CountedClaim(claim.design, claim.test, 0.001, 0.001)
    proved = certified_cells(PARENT, [claim, strict])
    assert proved.cells.tolist() == [0]
    assert proved.low.shape == (1, 2)


def test_any_number_of_children_will_do():
    parent, leaves = np.array([-1, 0, 0, 0, 0, 2, 2, 2]), np.array([1, 3, 4, 5, 6, 7])
    population = np.full((6, 2), 1 / 12)
    halved = halves(population, np.random.default_rng(5), design=2_000, test=6_000, parent=parent, leaves=leaves)
    assert certified_cells(parent, CountedClaim(*halved, 0.5, 0.5)).cells.tolist() == leaves.tolist()


def test_inside_known_parts_cells_are_compared_with_the_shares_there():
    population = np.concatenate([np.tile([0.02, 0.105], (4, 1)), np.tile([0.105, 0.02], (4, 1))])
    design, test = halves(population, np.random.default_rng(6), design=4_000, test=9_000)
    claim = CountedClaim(design, test, 0.5, 0.5)
    assert certified_cells(PARENT, claim).cells.tolist() == [0]
    proved = certified_cells(PARENT, claim, known=[1, 2])
    assert proved.cells.tolist() == LEAVES.tolist()
    for wrong, why in (([1], "no known part"), ([1, 2, 3], "inside another"), ([99], "nodes of the tree")):
        with pytest.raises(ArgumentError, match=why):
            certified_cells(PARENT, claim, known=wrong)


def test_what_is_asked_follows_from_the_first_part_alone():
    design = even(7, low=0.3, high=0.3).design
    for seed in (8, 9):
        test = even(seed, low=0.3, high=0.3).test
        assert certified_cells(PARENT, CountedClaim(design, test, 0.3, 0.3)).questions == 7
    # A child that has nobody to choose by is not asked about, whatever the second part says of it.
    empty = design.copy()
    empty[7], empty[8] = empty[3], 0
    proved = certified_cells(PARENT, CountedClaim(empty, test, 0.3, 0.3))
    assert proved.questions == 6
    assert not np.isin([7, 8], proved.cells).any()


def test_counts_that_do_not_fit_are_refused():
    good = even(low=0.5, high=0.5)
    broken = good.test.copy()
    broken[3] += 1
    with pytest.raises(ArgumentError, match="children"):
        certified_cells(PARENT, CountedClaim(good.design, broken, 0.5, 0.5))
    with pytest.raises(ArgumentError, match="same records"):
        certified_cells(PARENT, [good, even(5, low=0.5, high=0.5)])
    with pytest.raises(ArgumentError, match="nothing to prove"):
        certified_cells(PARENT, [])
    with pytest.raises(ArgumentError, match="whole numbers"):
        CountedClaim(good.design, good.test + 0.5, 0.5, 0.5)
    with pytest.raises(ArgumentError, match="shapes"):
        CountedClaim(good.design, good.test[:3], 0.5, 0.5)
    with pytest.raises(ArgumentError, match="booleans"):
        CountedClaim(good.design, good.test, 0.5, 0.5, bounded=np.array([True]))
    with pytest.raises(ArgumentError, match="positive shares"):
        CountedClaim(good.design, good.test, 0.5, 0.5, prior=np.array([0.5, 0.6]))
    with pytest.raises(ArgumentError, match="epsilon_low"):
        CountedClaim(good.design, good.test, -0.5, 0.5)
    with pytest.raises(ArgumentError, match="beta"):
        certified_cells(PARENT, good, confidence=1.0)


def test_the_chance_of_proof_is_about_how_often_the_test_passes():
    rng, passed, foreseen = np.random.default_rng(0), [], []
    prior, rate, level = np.array([0.5, 0.5]), 0.6, 0.01
    for _ in range(200):
        design = rng.binomial(400, rate)
        chance, _ = chance_of_proof(
            [[400 - design, design]], prior, low=0.5, high=0.5, level=level, ratio=0.5, strength=0.0
        )
        pair = rng.binomial(200, rate)
        claim = CountedClaim(
            np.tile([1.0, 1.0], (3, 1)), np.array([[4000.0, 4000], [200 - pair, pair], [3800 + pair, 4000 - pair]]),
            0.5, 0.5, prior=prior,
        )  # fmt: skip
        p = claim.p_values(np.zeros(3, int), np.full(3, level), beta=0.05)
        passed.append(p[1] <= level)
        foreseen.append(chance[0])
    assert np.mean(foreseen) == pytest.approx(np.mean(passed), abs=0.12)
    assert 0.1 < np.mean(passed) < 0.9
