"""Numbers printed in the papers, and golden numbers computed apart from this code.

watchdog: Hsu, Asoodeh, Calmon, "Information-theoretic privacy watchdogs" (2019).
relaxed-watchdog: Sadeghi, Ding, Rakotoarivelo, "On properties and optimization of information-theoretic privacy
watchdog" (2020).
"""

import numpy as np
import pytest

from tacit.lift import (
    Joint,
    arimoto,
    chain,
    delta_of,
    delta_total,
    entropy,
    log_lift,
    mutual_information,
    nmil,
    partition,
    risk,
    set_risk,
    sibson,
    watchdog,
    watchdog_bound_exact,
    watchdog_bound_printed,
    watchdog_bound_tight,
)
from tacit.lift.partitions.merging import Task

COUNTS = Joint.from_counts([[8, 2, 6, 1, 3], [2, 9, 5, 4, 5], [5, 4, 4, 10, 2]])


def uniform_joint(rng, *, secrets=15, released=20):
    """The papers' random joints: uniform numbers divided by their sum."""
    table = rng.random((secrets, released))
    return Joint(table / table.sum())


def evenly_released_joint(rng, *, secrets=15, released=20):
    """Every released value equally likely, with beliefs of uniform numbers: the best match to Fig. 2."""
    beliefs = rng.random((secrets, released))
    return Joint(beliefs / beliefs.sum(axis=0) / released)


def test_measures_of_the_reference_table():
    expected = [
        [0.624154309072994, -0.7621400520468966, 0.336472236621213, -1.455287232606842, 0.04879016416943204],
        [-0.9852836033611063, 0.5187937934151676, -0.06899287148695131, -0.29213642280116103, 0.33647223662121317],
        [-0.06899287148695131, -0.29213642280116103, -0.29213642280116103, 0.624154309072994, -0.5798184952529418],
    ]
    assert np.allclose(log_lift(COUNTS), expected, atol=1e-14)
    risks = [0.9852836033611063, 0.7621400520468966, 0.336472236621213, 1.455287232606842, 0.5798184952529418]
    assert np.allclose(risk(COUNTS), risks, atol=1e-14)
    assert entropy(COUNTS.marginal) == pytest.approx(1.5983686278197438, abs=1e-14)
    assert mutual_information(COUNTS) == pytest.approx(0.13494499252828374, abs=1e-14)
    assert sibson(COUNTS, 2) == pytest.approx(0.23232500961781244, abs=1e-14)
    assert sibson(COUNTS, np.inf) == pytest.approx(0.5068176023684519, abs=1e-14)
    assert arimoto(COUNTS, 2) == pytest.approx(0.2246756506658148, abs=1e-14)
    assert arimoto(COUNTS, np.inf) == pytest.approx(0.41871033485818504, abs=1e-14)


REFERENCE = {
    0.4: {
        "merged": [0, 1, 3, 4],
        "set_risk": 0.11551288712184397,
        "printed": 1.0168785858119653,
        "tight": 0.4,
        "exact": 0.336472236621213,
        "nmil": 0.6749311578773609,
        "loss": 1.0787887886892285,
        "deltas": [0.14285714285714285, 0.15714285714285714, 0, 0.15714285714285714, 0.02857142857142857],
    },
    0.6: {
        "merged": [0, 1, 3],
        "set_risk": 0.16739590657727899,
        "printed": 1.2171874123017654,
        "tight": 0.610153754019787,
        "exact": 0.5798184952529418,
        "nmil": 0.4418572441354092,
        "loss": 0.7062507570009275,
        "deltas": [0.14285714285714285, 0.02857142857142857, 0, 0.15714285714285714, 0],
    },
    0.8: {
        "merged": [0, 3],
        "set_risk": 0.579818495252942,
        "printed": np.inf,
        "tight": np.inf,
        "exact": 0.7621400520468966,
        "nmil": 0.18585392143741136,
        "loss": 0.2970630773828337,
        "deltas": [0.02857142857142857, 0, 0, 0.014285714285714285, 0],
    },
}


@pytest.mark.parametrize("epsilon", REFERENCE)
def test_the_watchdog_of_the_reference_table(epsilon):
    expected = REFERENCE[epsilon]
    channel = watchdog(COUNTS, epsilon)
    assert np.flatnonzero(channel.merged).tolist() == expected["merged"]
    assert set_risk(COUNTS, channel.merged) == pytest.approx(expected["set_risk"], abs=1e-14)
    assert watchdog_bound_printed(COUNTS, epsilon) == pytest.approx(expected["printed"], abs=1e-12)
    assert watchdog_bound_tight(COUNTS, epsilon) == pytest.approx(expected["tight"], abs=1e-12)
    assert watchdog_bound_exact(COUNTS, epsilon) == pytest.approx(expected["exact"], abs=1e-14)
    assert channel.attained == pytest.approx(expected["exact"], abs=1e-14)
    assert channel.nmil == pytest.approx(expected["nmil"], abs=1e-13)
    assert entropy(COUNTS.marginal) - channel.utility == pytest.approx(expected["loss"], abs=1e-13)
    assert np.allclose(Task.of(COUNTS, epsilon).deltas, expected["deltas"], atol=1e-15)
    assert delta_total(COUNTS, epsilon, channel.merged) == 0


GREEDY = [
    (0.005, 2.0, [1, 2, 5, 10, 13], 0.6571196206278338, 0.6521342706891072, 0.6380490993904575),
    (0.005, np.inf, [2, 4, 5, 7, 13], 0.6745121659276884, 0.6501182157601468, 0.6136592929772753),
    (0.01, 4.0, [1, 2, 3, 4, 5, 6, 7, 10, 13], 0.4347954585979415, 0.423521195269854, 0.40901250003446077),
]


@pytest.mark.parametrize(("delta", "epsilon_max", "kept", "greedy_loss", "best_loss", "bound"), GREEDY)
def test_partitions_of_the_reference_table_of_15_by_20(delta, epsilon_max, kept, greedy_loss, best_loss, bound):
    joint = uniform_joint(np.random.default_rng(42))
    greedy = partition(joint, 1.0, delta, epsilon_max, method="greedy")
    assert np.flatnonzero(~greedy.merged).tolist() == kept
    assert greedy.nmil == pytest.approx(greedy_loss, abs=1e-13)
    assert partition(joint, 1.0, delta, epsilon_max, method="exact").nmil == pytest.approx(best_loss, abs=1e-9)
    rounded = partition(joint, 1.0, delta, epsilon_max, method="certified")
    assert rounded.lower_bound == pytest.approx(bound, abs=1e-9)
    assert rounded.attains


def test_watchdog_equation_11_is_the_information_kept():
    joint = uniform_joint(np.random.default_rng(5), secrets=4, released=8)
    channel = watchdog(joint, 0.6, replacement="uniform")
    kept, merged = joint.marginal[~channel.merged], joint.marginal[channel.merged].sum()
    by_formula = -(kept * np.log(kept)).sum() - merged * np.log(merged)
    assert channel.utility == pytest.approx(by_formula, abs=1e-14)
    direct = mutual_information(joint.marginal[:, None] * channel.matrix)
    assert direct == pytest.approx(by_formula, abs=1e-12)


def attainable(joint, merged, epsilon):
    """Whether some channel from the merged set into itself keeps abs(log-lift) within epsilon: a linear program."""
    from scipy.optimize import linprog

    given_secret = joint.matrix[:, merged] / joint.prior[:, None]
    p = joint.marginal[merged]
    n = len(p)
    excess = np.vstack([given_secret - np.exp(epsilon) * p, np.exp(-epsilon) * p - given_secret])
    # Variables are P(y|x) with x running slower; each y has the same inequalities.
    inequalities = np.vstack([np.kron(excess, np.eye(n)[y]) for y in range(n)])
    answer = linprog(
        np.zeros(n * n),
        A_ub=inequalities,
        b_ub=np.full(len(inequalities), 1e-12),
        A_eq=np.kron(np.eye(n), np.ones(n)),
        b_eq=np.ones(n),
        bounds=(0, 1),
    )
    return answer.status == 0


@pytest.mark.parametrize("seed", range(8))
def test_relaxed_watchdog_theorem_1_and_corollary_1(seed):
    """No channel within the merged set attains less than the plain merge does."""
    rng = np.random.default_rng(seed)
    joint = uniform_joint(rng, secrets=int(rng.integers(2, 5)), released=int(rng.integers(4, 8)))
    merged = risk(joint) > np.quantile(risk(joint), 0.4)
    least = set_risk(joint, merged)
    assert attainable(joint, merged, least + 1e-5)
    assert not attainable(joint, merged, least * 0.999 - 1e-5)
    for replacement in ("resample", "uniform", "merge", "suppress"):
        channel = watchdog(joint, float(np.quantile(risk(joint), 0.4)), replacement=replacement)
        assert channel.attained == pytest.approx(max(least, risk(joint)[~merged].max()), abs=1e-9)


def test_relaxed_watchdog_equation_23_as_printed_would_charge_the_merged_values():
    """delta_0 is the Delta of the merged set, which is 0 here; the sum printed is not."""
    joint = uniform_joint(np.random.default_rng(42))
    merged = risk(joint) > 1
    deltas = Task.of(joint, 1.0).deltas
    assert deltas[merged].sum() + delta_of(joint, 1.0, ~merged) > 0.02
    assert delta_total(joint, 1.0, merged) == delta_of(joint, 1.0, merged) == 0


def test_relaxed_watchdog_chain_of_sets_starts_with_one_that_hides_nothing():
    sets = chain(COUNTS)
    assert sets.sizes.tolist() == [0, 1, 2, 3, 4, 5]
    assert sets.attained[:2].tolist() == pytest.approx([1.455287232606842] * 2)
    assert nmil(COUNTS, sets.merged(1)) == nmil(COUNTS, sets.merged(0)) == 0


def test_relaxed_watchdog_figure_1():
    """At epsilon 2 the printed bound is almost always infinite; merging brings the risk from 5.2 to 0.2."""
    rng = np.random.default_rng(2020)
    printed, before, after = [], [], []
    for _ in range(400):
        joint = uniform_joint(rng)
        merged = risk(joint) > 2
        printed.append(watchdog_bound_printed(joint, 2.0))
        before.append(risk(joint)[merged].max(initial=0.0))
        after.append(set_risk(joint, merged))
    assert np.isinf(printed).mean() > 0.97
    assert np.median(before) == pytest.approx(5.2, abs=0.25)
    assert np.median(after) == pytest.approx(0.20, abs=0.03)
    assert max(after) < 2


def test_relaxed_watchdog_figure_2():
    """Strict epsilon 1 loses 0.7 or more; (1, 0.01) with epsilon_max 4 loses at most 0.5 in 97 % of cases."""
    rng = np.random.default_rng(2020)
    strict, relaxed, relaxed_evenly = [], [], []
    for _ in range(400):
        joint = uniform_joint(rng)
        strict.append(partition(joint, 1.0, method="watchdog").nmil)
        relaxed.append(partition(joint, 1.0, 0.01, 4.0, method="greedy").nmil)
        evenly = evenly_released_joint(rng)
        relaxed_evenly.append(partition(evenly, 1.0, 0.01, 4.0, method="greedy").nmil)
    assert np.mean(np.array(strict) >= 0.7) > 0.985
    assert np.mean(np.array(relaxed) <= 0.5) == pytest.approx(0.936, abs=0.04)
    assert np.mean(np.array(relaxed_evenly) <= 0.5) == pytest.approx(0.969, abs=0.03)


def test_relaxed_watchdog_delta_hides_that_half_of_the_records_breach():
    """Delta stays below 0.01 while 46 % of the records carry a value whose risk exceeds epsilon."""
    results = [
        partition(uniform_joint(np.random.default_rng(seed)), 1.0, 0.01, 4.0, method="greedy") for seed in range(200)
    ]
    assert max(result.delta_total for result in results) <= 0.01
    assert np.mean([result.breach_share for result in results]) == pytest.approx(0.46, abs=0.03)


@pytest.mark.parametrize(("secrets", "released", "share"), [(2, 5, 0.70), (3, 8, 0.25), (5, 10, 0.017), (15, 20, 0.0)])
def test_relaxed_watchdog_the_merged_set_always_below_epsilon_only_for_large_alphabets(secrets, released, share):
    rng = np.random.default_rng(1)
    exceeds = []
    for _ in range(600):
        joint = uniform_joint(rng, secrets=secrets, released=released)
        merged = risk(joint) > 1
        if merged.any():
            exceeds.append(set_risk(joint, merged) > 1)
    assert np.mean(exceeds) == pytest.approx(share, abs=0.06)


def test_evenly_released_values_make_the_greedy_partition_optimal():
    rng = np.random.default_rng(4)
    for _ in range(10):
        joint = evenly_released_joint(rng)
        greedy = partition(joint, 1.0, 0.01, 4.0, method="greedy")
        assert greedy.nmil == pytest.approx(partition(joint, 1.0, 0.01, 4.0, method="exact").nmil, abs=1e-9)
