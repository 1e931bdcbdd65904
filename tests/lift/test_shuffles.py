"""The null: shuffled tables have the distribution of a shuffle, and verdicts err as rarely as they say."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as hnp
from scipy.stats import chisquare, hypergeom

from sizes import many
from tacit.lift import Joint, mutual_information
from tacit.lift.shuffles import chance_of_count, null_band, plug_in_information, seeds, shuffled_counts


def shuffled_tables(
    counts: np.ndarray, *, shuffles: int, random_state: int, effective_records: float | None = None
) -> list[np.ndarray]:
    """Independent shuffled tables, as an audit draws them."""
    return [
        shuffled_counts(counts, random_state=seed, effective_records=effective_records)
        for seed in seeds(shuffles, random_state=random_state)
    ]


@given(hnp.arrays(np.int64, hnp.array_shapes(min_dims=2, max_dims=2, max_side=6), elements=st.integers(0, 20)))
def test_a_shuffle_keeps_both_margins(counts: np.ndarray) -> None:
    table = shuffled_counts(counts.astype(float), random_state=np.random.SeedSequence(1))
    assert (table >= 0).all()
    np.testing.assert_array_equal(table.sum(axis=0), counts.sum(axis=0))
    np.testing.assert_array_equal(table.sum(axis=1), counts.sum(axis=1))


def test_shuffles_have_the_distribution_of_all_permutations() -> None:
    """Oracle: every permutation of the secrets of seven records, counted."""
    counts = np.array([[2.0, 1.0, 0.0], [0.0, 1.0, 1.0], [1.0, 0.0, 1.0]])
    secrets = np.repeat(np.arange(3), counts.sum(axis=1).astype(int))
    values = np.repeat(np.arange(3), counts.sum(axis=0).astype(int))
    expected: Counter[bytes] = Counter()
    for order in itertools.permutations(secrets):
        table = np.zeros((3, 3))
        np.add.at(table, (np.array(order), values), 1)
        expected[table.tobytes()] += 1
    drawn = Counter(t.tobytes() for t in shuffled_tables(counts, shuffles=4000, random_state=0))
    assert set(drawn) <= set(expected)
    keys = sorted(expected, key=lambda k: -expected[k])
    share = np.array([expected[k] for k in keys]) / sum(expected.values())
    assert chisquare([drawn[k] for k in keys], share * 4000).pvalue > 1e-4


@given(hnp.arrays(np.float64, (3, 4), elements=st.integers(1, 50).map(float)))
def test_plug_in_information_is_mutual_information(counts: np.ndarray) -> None:
    expected = mutual_information(Joint.from_counts(counts))
    assert plug_in_information(counts) == pytest.approx(expected, abs=1e-12)


def test_an_independent_secret_is_called_a_leak_in_at_most_5_percent_of_tables() -> None:
    rng = np.random.default_rng(7)
    runs, alarms = many(150, 400), 0
    for run in range(runs):
        counts = np.stack([rng.multinomial(300, [0.1, 0.2, 0.3, 0.4]), rng.multinomial(200, [0.1, 0.2, 0.3, 0.4])])
        counts = counts[:, counts.sum(axis=0) > 0].astype(float)
        drawn = [plug_in_information(t) for t in shuffled_tables(counts, shuffles=39, random_state=run)]
        alarms += null_band(plug_in_information(counts), drawn).verdict == "leak"
    # A twentieth is expected at the most, and what is said is four standard deviations more.
    assert many(1, 3) < alarms < many(19, 38)


def test_a_planted_leak_is_found() -> None:
    counts = np.array([[90.0, 60.0], [60.0, 90.0]])
    drawn = [plug_in_information(t) for t in shuffled_tables(counts, shuffles=99, random_state=0)]
    assert null_band(plug_in_information(counts), drawn).verdict == "leak"


def test_nothing_can_be_told_where_every_value_is_unique() -> None:
    counts = np.array([[1.0, 0, 1, 0, 1, 0], [0, 1.0, 0, 1, 0, 1]])
    drawn = [plug_in_information(t) for t in shuffled_tables(counts, shuffles=39, random_state=0)]
    assert null_band(plug_in_information(counts), drawn, ceiling=np.log(2)).verdict == "cannot tell"


def test_an_infinite_measure_among_infinite_shuffles_tells_nothing() -> None:
    assert null_band(np.inf, [np.inf] * 39).verdict == "cannot tell"
    assert null_band(np.inf, [0.1] * 39).verdict == "leak"


def test_weighted_tables_vary_as_their_effective_number_of_records() -> None:
    """At a tenth of the records the null of mutual information is ten times as wide."""
    counts = np.array([[3000.0, 2000.0, 1000.0], [2000.0, 1500.0, 500.0]])

    def mean(effective: float) -> float:
        drawn = [
            plug_in_information(t)
            for t in shuffled_tables(counts, shuffles=600, random_state=0, effective_records=effective)
        ]
        return float(np.mean(drawn))

    assert mean(1000.0) / mean(10000.0) == pytest.approx(10, rel=0.25)


@given(st.integers(1, 60), st.data())
def test_the_chance_of_a_count_is_the_hypergeometric_tail(total: int, data: st.DataObject) -> None:
    successes, size = data.draw(st.integers(1, total)), data.draw(st.integers(1, total))
    count = data.draw(st.integers(max(0, size + successes - total), min(size, successes)))
    law = hypergeom(total, successes, size)
    expected = min(1.0, 2 * min(law.cdf(count), law.sf(count - 1)))
    found = chance_of_count(count, size=size, successes=successes, total=total)
    assert found == pytest.approx(expected, rel=1e-9)


def test_the_chance_of_a_count_holds_for_millions_of_records() -> None:
    law = hypergeom(10_000_000, 3_000_000, 1_000_000)
    for count in (298_000, 299_990, 301_500):
        expected = 2 * min(law.cdf(count), law.sf(count - 1))
        found = chance_of_count(count, size=1_000_000, successes=3_000_000, total=10_000_000)
        assert found == pytest.approx(expected, rel=1e-6)
    assert chance_of_count(900_000, size=1_000_000, successes=3_000_000, total=10_000_000) == 0.0
