"""Partitions: the greedy algorithm against its naive transcription, the optimum against all subsets."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from sizes import many
from strategies import epsilons, joints
from tacit.errors import ArgumentError
from tacit.lift import (
    TOLERANCE,
    Channel,
    Joint,
    chain,
    critical_epsilons,
    delta_of,
    delta_total,
    egamma_excess,
    entropy,
    log_lift,
    mutual_information,
    nmil,
    partition,
    risk,
    set_risk,
)
from tacit.lift.partitions.merging import Task, within_delta
from tacit.lift.partitions.programs import Program
from tacit.lift.partitions.search import camouflage, exact, greedy


def merging_channel(merged):
    """All merged values become the first of them."""
    matrix = np.eye(len(merged))
    if merged.any():
        matrix[merged] = np.eye(len(merged))[np.argmax(merged)]
    return Channel(matrix)


def naive_delta_total(joint, epsilon, merged):
    released = joint.through(merging_channel(merged))
    return float(released.matrix[np.abs(log_lift(released)) > epsilon + TOLERANCE].sum())


def naive_greedy(joint, epsilon, delta, epsilon_max):
    """Algorithm 1 line by line, with Delta for the paper's delta; returns the merged set."""
    if delta == 0:
        epsilon_max = epsilon
    risks = risk(joint)
    exceeds = np.abs(log_lift(joint)) > epsilon + TOLERANCE
    deltas = np.where(exceeds, joint.matrix, 0).sum(axis=0)
    merged = risks > epsilon + TOLERANCE
    candidates = [x for x in np.flatnonzero(merged) if deltas[x] <= delta and risks[x] <= epsilon_max + TOLERANCE]
    loss = nmil(joint, merged)
    for x in sorted(candidates, key=lambda x: deltas[x]):
        trial = merged.copy()
        trial[x] = False
        attained = float(risk(joint.through(merging_channel(trial))).max())
        spent = naive_delta_total(joint, epsilon, trial)
        if nmil(joint, trial) < loss and spent <= delta and attained <= epsilon_max + TOLERANCE:
            merged, loss = trial, nmil(joint, trial)
    return merged


def best_of_all(joint, epsilon, delta, epsilon_max):
    """Smallest nmil over every subset that attains what was asked."""
    if delta == 0:
        epsilon_max = epsilon
    losses = []
    for bits in product([False, True], repeat=joint.shape[1]):
        merged = np.array(bits)
        attained = float(risk(joint.through(merging_channel(merged))).max())
        if attained <= epsilon_max + TOLERANCE and naive_delta_total(joint, epsilon, merged) <= delta * (1 + TOLERANCE):
            losses.append(nmil(joint, merged))
    return min(losses)


def uniform_joint(seed, *, secrets=15, released=20):
    table = np.random.default_rng(seed).random((secrets, released))
    return Joint(table / table.sum())


def skewed_question(seed):
    """A table with rare values and a question it can hardly answer, so that candidates are refused midway."""
    rng = np.random.default_rng(seed)
    shape = (int(rng.integers(2, 5)), int(rng.integers(3, 10)))
    table = rng.random(shape) ** rng.integers(1, 5) * rng.random(shape[1]) ** rng.integers(0, 4) + 1e-6
    epsilon, delta = rng.choice([0.1, 0.3, 0.6, 1.0]), rng.choice([0.005, 0.02, 0.1, 0.3])
    return Joint(table / table.sum()), (float(epsilon), float(delta), float(rng.choice([1.0, 1.5, 3.0, np.inf])))


def tilted_joint():
    """Two secrets; five values of twenty all point to the second, so that they do not hide one another."""
    rng = np.random.default_rng(3)
    marginal = rng.dirichlet(np.full(20, 3.0))
    tilted = np.arange(20) < 5
    marginal = np.where(tilted, 0.15 * marginal / marginal[tilted].sum(), 0.85 * marginal / marginal[~tilted].sum())
    second = np.where(tilted, 0.8, 0.25) + rng.uniform(-0.04, 0.04, 20)
    return Joint(np.vstack([marginal * (1 - second), marginal * second]))


QUESTIONS = st.tuples(
    st.sampled_from([0.1, 0.3, 0.6, 1.0]),
    st.sampled_from([0.0, 0.003, 0.02, 0.1, 0.4]),
    st.sampled_from([1.0, 1.5, 3.0, np.inf]),
)


@given(joints(zero_cells=True, released=(2, 9)), QUESTIONS)
def test_greedy_equals_the_papers_algorithm_step_by_step(joint, question):
    result = partition(joint, *question, method="greedy")
    assert result.merged.tolist() == naive_greedy(joint, *question).tolist()


@pytest.mark.parametrize("question", [(1.0, 0.005, 2.0), (1.0, 0.005, np.inf), (1.0, 0.01, 4.0), (0.3, 0.2, 2.0)])
@pytest.mark.parametrize("seed", range(6))
def test_greedy_equals_the_papers_algorithm_on_larger_tables(seed, question):
    joint = uniform_joint(seed, secrets=4 + seed, released=60)
    result = partition(joint, *question, method="greedy")
    assert result.merged.tolist() == naive_greedy(joint, *question).tolist()


# In 852 and 1116 a candidate is refused and then only the refused ones are left.
@pytest.mark.parametrize("seeds", [range(250), (852, 1116)])
def test_greedy_goes_on_after_values_that_do_not_fit_and_stops_before_the_last(seeds):
    for seed in seeds:
        joint, question = skewed_question(seed)
        result = partition(joint, *question, method="greedy")
        assert result.merged.tolist() == naive_greedy(joint, *question).tolist(), seed


@given(joints(zero_cells=True), QUESTIONS, st.sampled_from(["watchdog", "greedy", "certified", "exact", "auto"]))
@settings(max_examples=many(37, 150))
def test_the_numbers_of_a_partition_are_those_of_its_release(joint, question, method):
    """Guarantee of `partition`: every number is recomputed here from the set alone, through the dense channel."""
    result = partition(joint, *question, method=method)
    channel = merging_channel(result.merged)
    released = joint.through(channel)
    risks = risk(released)
    assert result.attained == pytest.approx(risks.max(), abs=1e-9)
    assert result.delta_total == pytest.approx(naive_delta_total(joint, result.epsilon, result.merged), abs=1e-12)
    assert result.breach_share == pytest.approx(released.marginal[risks > result.epsilon + TOLERANCE].sum(), abs=1e-9)
    utility = mutual_information(joint.marginal[:, None] * channel.matrix[:, channel.matrix.sum(axis=0) > 0])
    assert result.utility == pytest.approx(utility, abs=1e-9)
    assert result.nmil == pytest.approx(1 - utility / entropy(joint.marginal), abs=1e-9)
    if method in ("exact", "auto"):
        assert result.attains
    if result.attains:
        assert result.attained <= result.epsilon_max + TOLERANCE
        assert result.delta_total <= result.delta * (1 + TOLERANCE)


@given(joints(zero_cells=True, secrets=(2, 4), released=(2, 7)), QUESTIONS)
@settings(max_examples=many(15, 60))
def test_the_integer_program_finds_the_best_of_all_subsets(joint, question):
    best = best_of_all(joint, *question)
    result = partition(joint, *question, method="exact")
    assert result.nmil == pytest.approx(best, abs=1e-8)
    assert result.lower_bound <= best + 1e-8
    assert result.gap <= 1e-8


def test_the_best_partition_may_let_the_merged_set_exceed_epsilon_within_delta():
    exceeds = 0
    for seed in (2, 3, 16, 48, 57, 63, 83, 88, 103, 112):
        joint, question = skewed_question(seed)
        result = partition(joint, *question, method="exact")
        assert result.nmil == pytest.approx(best_of_all(joint, *question), abs=1e-8), seed
        assert result.attains
        exceeds += delta_of(joint, question[0], result.merged) > 0
    assert exceeds >= 5


@pytest.mark.parametrize("broken", ["nothing merged", "no answer"])
def test_what_the_solver_says_is_checked_not_believed(monkeypatch, broken):
    joint, question = tilted_joint(), (1.0, 0.02, np.inf)
    right = partition(joint, *question, method="exact")
    honest, asked = Program.solve, []

    def solve(program, time_limit):
        asked.append(program.margin > 0)
        if broken == "no answer":
            return None
        if len(asked) == 1:
            return np.zeros(joint.shape[1], dtype=bool), 0.0
        # With the bounds tightened, the solver's lower bound is not one for the question asked.
        return honest(program, time_limit)[0], 99.0

    monkeypatch.setattr(Program, "solve", solve)
    result = partition(joint, *question, method="exact")
    assert result.attains
    if broken == "no answer":
        assert result.nmil >= right.nmil
        assert result.lower_bound <= right.nmil
    else:
        assert asked[:2] == [False, True]
        assert result.nmil == pytest.approx(right.nmil, abs=1e-4)
        assert result.lower_bound < right.nmil - 1e-3


@given(joints(zero_cells=True, secrets=(2, 4), released=(2, 7)), QUESTIONS)
@settings(max_examples=many(15, 60))
def test_the_certified_bound_is_below_every_partition_and_its_rounding_above(joint, question):
    best = best_of_all(joint, *question)
    result = partition(joint, *question, method="certified")
    assert result.lower_bound <= best + 1e-9
    if result.attains:
        assert result.nmil >= best - 1e-12


def test_camouflage_comes_within_a_few_percent_of_the_best():
    tasks = [Task.of(joint, *question) for joint, question in map(skewed_question, range(150))]
    needed = [task for task in tasks if not greedy(task).attains]
    best = np.mean([exact(task, time_limit=5).nmil for task in needed])
    assert best <= np.mean([camouflage(task).nmil for task in needed]) < 1.05 * best


@given(joints(zero_cells=True, secrets=(2, 4)), QUESTIONS)
def test_camouflage_always_attains_what_was_asked(joint, question):
    assert camouflage(Task.of(joint, *question)).attains


def test_safe_values_are_merged_where_risky_ones_alone_do_not_hide_one_another():
    joint = tilted_joint()
    plain = partition(joint, 1.0, method="watchdog")
    assert plain.attained == pytest.approx(1.266, abs=1e-3)
    assert not plain.attains
    hidden = partition(joint, 1.0)
    assert hidden.attains
    assert (plain.merged <= hidden.merged).all()
    assert hidden.nmil == pytest.approx(0.0933, abs=1e-4)
    assert partition(joint, 1.0, 0.02).nmil == pytest.approx(0.0193, abs=1e-4)
    assert camouflage(Task.of(joint, 1.0)).nmil < 1.05 * hidden.nmil


def test_the_watchdog_is_the_best_partition_where_it_attains_and_delta_is_zero():
    joint = uniform_joint(42)
    result = partition(joint, 1.0)
    assert result.method == "watchdog"
    assert result.gap == 0
    assert result.nmil == partition(joint, 1.0, method="exact").nmil


def test_with_delta_zero_a_pair_that_never_occurs_is_not_free():
    """It has no probability, so Delta does not charge it; epsilon itself must."""
    joint = Joint.from_counts([[10, 0, 5], [10, 4, 5]])
    strict = partition(joint, 0.5, 0.0, np.inf)
    assert strict.epsilon_max == 0.5
    assert strict.attained <= 0.5
    relaxed = partition(joint, 0.5, 0.4, np.inf)
    assert relaxed.attained == np.inf
    assert relaxed.breach_share > 0
    assert partition(joint, 0.5, 0.4, 2.0).attained <= 2.0


@pytest.mark.parametrize("epsilon", [0.0, 50.0, 1000.0])
@pytest.mark.parametrize("delta", [0.0, 0.01, 1.0])
def test_epsilons_at_the_ends_are_attained(epsilon, delta):
    joint = Joint.from_counts([[10, 0, 5, 1], [10, 0, 5, 1], [10, 4, 5, 1]])
    for method in ("auto", "exact"):
        assert partition(joint, epsilon, delta, method=method).attains
    if delta == 0:
        assert partition(joint, epsilon).attained <= epsilon + TOLERANCE


def test_the_slack_of_delta_is_relative_so_that_no_probability_is_within_zero():
    assert within_delta(0.1 + 1e-15, 0.1)
    assert not within_delta(0.1 + 1e-9, 0.1)
    assert within_delta(0.0, 0.0)
    assert not within_delta(1e-300, 0.0)
    assert not within_delta(2e-14, 1e-14)


def test_the_method_for_a_million_values_comes_close_to_its_bound():
    joint = uniform_joint(7, released=3000)
    result = partition(joint, 1.0, 0.01, 4.0)
    assert result.method == "certified"
    assert result.attains
    assert 0 <= result.gap < 1e-4
    assert result.nmil < partition(joint, 1.0, 0.01, 4.0, method="greedy").nmil


def test_a_large_table_whose_risky_values_agree_is_camouflaged():
    rng = np.random.default_rng(0)
    second = np.where(np.arange(4000) < 300, 0.8, 0.25) + rng.uniform(-0.04, 0.04, 4000)
    joint = Joint(np.vstack([1 - second, second]) / 4000)
    assert not partition(joint, 0.8, method="watchdog").attains
    result = partition(joint, 0.8)
    assert result.method == "camouflage"
    assert result.attains
    assert result.nmil < 0.075


def test_relaxing_epsilon_max_can_hurt_greedy_but_never_the_optimum():
    joint = uniform_joint(42)
    tight, loose = (partition(joint, 1.0, 0.005, bound, method="greedy") for bound in (2.0, np.inf))
    assert loose.nmil > tight.nmil
    tight, loose = (partition(joint, 1.0, 0.005, bound, method="exact") for bound in (2.0, np.inf))
    assert loose.nmil < tight.nmil


@given(joints(zero_cells=True), epsilons(), st.data())
def test_delta_and_the_risk_of_a_set_agree_with_merging_it(joint, epsilon, data):
    merged = np.array(data.draw(st.lists(st.booleans(), min_size=joint.shape[1], max_size=joint.shape[1])))
    assert delta_total(joint, epsilon, merged) == pytest.approx(naive_delta_total(joint, epsilon, merged), abs=1e-12)
    if merged.any():
        released = joint.through(merging_channel(merged))
        y = list(released.released).index(int(np.argmax(merged)))
        assert set_risk(joint, merged) == pytest.approx(risk(released)[y], abs=1e-9)
        exceeds = np.abs(log_lift(released)[:, y]) > epsilon + TOLERANCE
        assert delta_of(joint, epsilon, merged) == pytest.approx(released.matrix[exceeds, y].sum(), abs=1e-12)
    else:
        assert set_risk(joint, merged) == 0
        assert delta_of(joint, epsilon, merged) == 0


@given(joints(zero_cells=True), epsilons())
def test_the_excess_counts_pairs_that_are_too_likely_and_too_unlikely(joint, epsilon):
    slow = np.zeros(joint.shape[1])
    for (s, x), p in np.ndenumerate(joint.matrix):
        apart = joint.prior[s] * joint.marginal[x]
        slow[x] += max(p - np.exp(epsilon) * apart, 0) + max(apart - np.exp(epsilon) * p, 0)
    assert egamma_excess(joint, epsilon) == pytest.approx(slow, abs=1e-9)


@given(joints(zero_cells=True))
def test_the_chain_holds_every_set_the_watchdog_merges(joint):
    sets = chain(joint)
    assert sets.epsilons[: len(critical_epsilons(joint))].tolist() == critical_epsilons(joint).tolist()
    assert (np.diff(sets.sizes) > 0).all()
    for j, epsilon in enumerate(sets.epsilons):
        plain = partition(joint, epsilon, method="watchdog")
        assert plain.merged.tolist() == sets.merged(j).tolist()
        assert plain.attained == pytest.approx(sets.attained[j], abs=1e-9)
        assert set_risk(joint, sets.merged(j)) == pytest.approx(sets.set_risks[j], abs=1e-9)
        if j:
            between = np.nextafter(sets.epsilons[j - 1], 0) - 1e-9 if np.isfinite(sets.epsilons[j - 1]) else 1e9
            if between > epsilon:
                assert partition(joint, between, method="watchdog").merged.tolist() == plain.merged.tolist()


def test_values_of_equal_risk_are_merged_together():
    joint = Joint.from_counts([[8, 2, 8, 2, 5], [2, 8, 2, 8, 5]])
    assert critical_epsilons(joint).round(3).tolist() == [0.916, 0.0]
    assert chain(joint).sizes.tolist() == [0, 4]
    at_the_risk = partition(joint, float(risk(joint).max()), method="watchdog")
    assert not at_the_risk.merged.any()
    just_below = partition(joint, float(risk(joint).max()) - 1e-9, method="watchdog")
    assert just_below.merged.tolist() == [True, True, True, True, False]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"epsilon": -1}, "epsilon is -1"),
        ({"epsilon": np.nan}, "epsilon is nan"),
        ({"epsilon": 1, "delta": 1.5}, "delta is 1.5"),
        ({"epsilon": 1, "delta": 0.1, "epsilon_max": 0.5}, "less than epsilon"),
        ({"epsilon": 1, "method": "best"}, "no method 'best'"),
    ],
)
def test_a_question_that_makes_no_sense_is_refused(arguments, words):
    with pytest.raises(ArgumentError, match=words):
        partition(uniform_joint(0), **arguments)


def test_the_exact_method_says_when_there_are_too_many_values():
    joint = uniform_joint(0, secrets=2, released=6000)
    with pytest.raises(ArgumentError, match="Use 'certified' or 'auto'"):
        partition(joint, 0.1, 0.01, method="exact")


def test_a_merged_set_must_be_a_mask():
    with pytest.raises(ArgumentError, match="merged must be 20 booleans"):
        nmil(uniform_joint(0), [1, 2, 3])
