"""Secrets that are numbers: every threshold at once, as counted and as proved."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from sizes import many
from tacit.errors import ArgumentError
from tacit.lift import ThresholdClaim, at_both_ends, certified_cells, threshold_places, threshold_risk

PAIR = np.array([-1, 0, 0])


def slow_risk(values, cells, weight, floor):
    """Cell by cell and threshold by threshold."""
    low, high = [], []
    for cell in range(max(cells) + 1):
        inside = cells == cell
        least, most = (0.0, 0.0) if weight[inside].sum() > 0 else (-np.inf, np.inf)
        for t in np.unique(values):
            for event in (values <= t, values > t):
                share = weight[event].sum() / weight.sum()
                if share >= floor - 1e-12 and weight[inside].sum() > 0:
                    with np.errstate(divide="ignore"):
                        lift = np.log(weight[event & inside].sum() / weight[inside].sum() / share)
                    least, most = min(least, lift), max(most, lift)
        low.append(-least)
        high.append(most)
    return low, high


def test_a_missing_number_stands_once_above_all_others_and_once_below():
    ranks = np.array([0, 1, 2, 1, 3])
    assert [each.tolist() for each in at_both_ends(ranks, None)] == [[0, 1, 2, 1, 3]]
    assert [each.tolist() for each in at_both_ends(ranks, 1)] == [[0, 3, 1, 3, 2], [1, 0, 2, 0, 3]]


@given(
    st.lists(st.tuples(st.integers(0, 6), st.integers(0, 2), st.integers(1, 3)), min_size=1, max_size=25),
    st.sampled_from([0.01, 0.1, 0.25, 0.5]),
)
@settings(max_examples=many(40, 4_000), deadline=None)
def test_the_risk_of_all_thresholds_is_that_of_the_slow_loop(records, floor):
    values, cells, weight = np.array(records, dtype=float).T
    low, high = threshold_risk(values, cells.astype(int), floor=floor, weight=weight)
    slow_low, slow_high = slow_risk(values, cells.astype(int), weight, floor)
    assert low.tolist() == pytest.approx(slow_low, abs=1e-9)
    assert high.tolist() == pytest.approx(slow_high, abs=1e-9)


def test_the_thresholds_looked_at_first_are_all_where_values_are_few_and_spread_where_they_are_many():
    assert threshold_places([2, 2, 2, 2], floor=0.1, steps=50).tolist() == [0, 1, 2]
    assert threshold_places([3, 0, 0]).tolist() == []
    places = threshold_places(np.ones(1_000), floor=0.1, steps=4)
    below = (places + 1) / 1_000
    assert below[0] == 0.1
    assert below[-1] == 0.9
    assert (np.diff(below) < 0.25).all()


def slow_p_value(values, inside, *, low, high, floor, aside):
    """Threshold by threshold, at every pattern of the sample there is."""
    worst, n, size = 0.0, len(values), inside.sum()
    for signed in (values, -values):
        for t in [-np.inf, *np.unique(signed)]:
            whole, own = (signed <= t).sum(), (signed[inside] <= t).sum()
            if (stats.beta.isf(aside, whole + 1, n - whole) if whole < n else 1.0) < floor:
                continue
            below = stats.beta.ppf(aside, whole, n - whole + 1) if whole else 0.0
            above = stats.beta.isf(aside, whole + 1, n - whole) if whole < n else 1.0
            up = np.exp(high) * below
            worst = max(worst, stats.binom.cdf(own, size, up) if up < 1 else 0.0)
            worst = max(worst, stats.binom.sf(own - 1, size, np.exp(-low) * above))
    return min(worst + 2 * aside, 1.0)


@pytest.mark.parametrize("seed", range(many(1, 8)))
@pytest.mark.parametrize("ties", [5, 1_000])
def test_the_p_value_of_a_node_is_that_of_the_slow_loop_over_thresholds(seed, ties):
    rng = np.random.default_rng(seed)
    values, nodes = rng.integers(ties, size=120).astype(float), rng.integers(1, 3, size=120)
    claim = ThresholdClaim(PAIR, values, nodes, values, nodes, low=0.9, high=0.8, floor=0.2)
    p = claim.p_values(np.zeros(3, int), np.full(3, 0.04), beta=0.05)
    assert p[0] == 0
    for node in (1, 2):
        slow = slow_p_value(values, nodes == node, low=0.9, high=0.8, floor=0.2, aside=0.05 * 0.04)
        assert p[node] == pytest.approx(slow, rel=1e-6)


def drawn(rng, n, *, share, rate, at=0.5):
    """A number, even between 0 and 1, and a cell with ``share`` of everyone where P(S <= at) is ``rate``."""
    node = np.where(rng.random(n) < share, 1, 2)
    rest = (at - share * rate) / (1 - share)
    below = rng.random(n) < np.where(node == 1, rate, rest)
    u = rng.random(n)
    return np.where(below, at * u, at + (1 - at) * u), node


def test_a_cell_that_breaks_one_threshold_of_all_is_rarely_certified():
    runs, rng, false = many(30, 1_000), np.random.default_rng(5), 0
    for _ in range(runs):
        (a, b), (c, d) = (drawn(rng, n, share=0.3, rate=0.5 * np.exp(-0.3) - 0.001) for n in (300, 700))
        false += len(certified_cells(PAIR, ThresholdClaim(PAIR, a, b, c, d, low=0.3, high=0.6)).cells) > 1
    assert false / runs <= 0.05 + 4 * np.sqrt(0.05 * 0.95 / runs)


def test_cells_of_the_same_numbers_are_proved_and_several_claims_go_together():
    rng = np.random.default_rng(6)
    (a, b), (c, d) = (drawn(rng, n, share=0.4, rate=0.5) for n in (1_000, 4_000))
    claim = ThresholdClaim(PAIR, a, b, c, d, low=0.5, high=0.5)
    proved = certified_cells(PAIR, claim)
    assert proved.cells.tolist() == [1, 2]
    assert (proved.records_to_choose, proved.records_to_prove) == (1_000, 4_000)
    assert 0 < proved.low.max() < 0.5
    assert 0 < proved.high.max() < 0.5
    strict = ThresholdClaim(PAIR, a, b, c, d, low=0.01, high=0.01)
    assert certified_cells(PAIR, [claim, strict]).cells.tolist() == [0]
    one_sided = ThresholdClaim(PAIR, a, b, c, d, low=np.inf, high=0.5)
    assert certified_cells(PAIR, one_sided).cells.tolist() == [1, 2]


def test_what_cannot_be_is_refused():
    a, b = np.arange(4.0), np.array([1, 1, 2, 2])
    with pytest.raises(ArgumentError, match="floor"):
        threshold_risk(a, b, floor=0.6)
    with pytest.raises(ArgumentError, match="record by record"):
        threshold_risk(a, b[:2])
    with pytest.raises(ArgumentError, match="finite"):
        threshold_risk([np.nan, 1], [0, 1])
    with pytest.raises(ArgumentError, match="numbered from 0"):
        threshold_risk(a, -b)
    with pytest.raises(ArgumentError, match="leaf"):
        ThresholdClaim(PAIR, a, np.zeros(4, int), a, b, low=0.5, high=0.5)
    with pytest.raises(ArgumentError, match="known parts"):
        certified_cells(PAIR, ThresholdClaim(PAIR, a, b, a, b, low=0.5, high=0.5), known=[1, 2])
