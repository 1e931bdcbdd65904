"""Agreement: numbers but for rounding, draws but for chance; against exact laws and simulations."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom, chi2, chi2_contingency

from tacit.lift import (
    AGREEMENT,
    TOO_UNLIKELY,
    ChanceTest,
    Joint,
    agree,
    crosstab,
    independence_test,
    log_lift,
    pearson_test,
    sums_test,
)


def test_numbers_agree_but_for_rounding_and_infinity_with_itself_alone() -> None:
    assert agree(1.0, 1.0 + AGREEMENT / 2)
    assert agree(1e6, 1e6 * (1 + AGREEMENT / 2))
    assert not agree(1.0, 1.0 + 3 * AGREEMENT)
    assert agree(np.inf, np.inf)
    assert not agree(np.inf, -np.inf)
    assert not agree(np.inf, 1e300)
    assert not agree(np.nan, np.nan)


def test_a_test_fails_passes_or_cannot_tell() -> None:
    assert ChanceTest(TOO_UNLIKELY).passed is False
    assert ChanceTest(TOO_UNLIKELY / 2, decisive=False).passed is False
    assert ChanceTest(0.5).passed is True
    assert ChanceTest(0.5, decisive=False).passed is None


def test_a_crosstab_counts_every_pair() -> None:
    rng = np.random.default_rng(0)
    rows, columns, weight = rng.integers(0, 9, 200) * 7, rng.integers(0, 5, 200) - 2, rng.integers(1, 9, 200)
    table = crosstab(rows, columns, weight)
    for i, row in enumerate(np.unique(rows)):
        for j, column in enumerate(np.unique(columns)):
            assert table[i, j] == weight[(rows == row) & (columns == column)].sum()


def test_pooling_merged_values_keeps_the_lift_of_a_release_that_draws_among_them() -> None:
    joint = Joint.from_counts(np.random.default_rng(1).integers(1, 30, (3, 6)))
    merged = np.array([True, False, True, True, False, False])
    channel = np.eye(6)
    channel[merged] = np.where(merged, joint.marginal, 0) / joint.marginal[merged].sum()
    output = Joint(joint.matrix @ channel)
    pooled = joint.pooled(merged)
    np.testing.assert_allclose(log_lift(pooled)[:, :-1], log_lift(output)[:, ~merged])
    np.testing.assert_allclose(log_lift(pooled)[:, [-1]], log_lift(output)[:, merged][:, :1])
    assert joint.pooled(np.zeros(6, dtype=bool)) is joint


@pytest.mark.parametrize("seed", range(5))
def test_independence_has_the_p_value_of_a_likelihood_ratio_test(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = rng.multinomial(20_000, np.outer([0.2, 0.3, 0.5], [0.1, 0.2, 0.3, 0.4]).ravel()).reshape(3, 4)
    expected = chi2_contingency(table, lambda_="log-likelihood").pvalue
    test = independence_test(table.astype(float))
    assert test.decisive
    assert test.p_value == pytest.approx(expected, abs=0.1)


def test_dependence_is_found_and_few_records_cannot_tell() -> None:
    assert independence_test(np.array([[600.0, 400.0], [400.0, 600.0]])).passed is False
    assert independence_test(np.array([[2.0, 1.0], [1.0, 2.0]])).passed is None
    assert independence_test(np.array([[5.0, 9.0, 7.0]])).passed is True


@pytest.mark.parametrize("seed", range(5))
def test_with_many_records_pearsons_test_is_the_chi_squared_test(seed: int) -> None:
    rng = np.random.default_rng(seed)
    p, records = rng.dirichlet(np.full(6, 5.0), 8), 10_000
    observed = np.array([rng.multinomial(records, row) for row in p]).ravel().astype(float)
    source, expected = np.repeat(np.arange(8), 6), records * p.ravel()
    statistic = ((observed - expected) ** 2 / expected).sum()
    test = pearson_test(source, observed, expected)
    assert test.p_value == pytest.approx(chi2.sf(statistic, 8 * 5), abs=0.01)


def test_pearsons_test_pools_cells_that_expect_few_records() -> None:
    source = np.zeros(6, dtype=np.int64)
    expected = np.array([100.0, 100.0, 2.0, 2.0, 2.0, 2.0])
    assert pearson_test(source, np.array([100.0, 100.0, 8.0, 0.0, 0.0, 0.0]), expected).p_value > 0.5
    assert pearson_test(source, np.array([60.0, 100.0, 48.0, 0.0, 0.0, 0.0]), expected).passed is False
    assert pearson_test(source[:2], np.array([1.0, 1.0]), np.array([1.0, 1.0])) == ChanceTest(1.0, decisive=False)


@pytest.mark.parametrize(("records", "p"), [(3, 0.4), (40, 0.02), (500, 0.5)])
def test_the_bound_of_sums_is_above_the_exact_two_sided_tail(records: int, p: float) -> None:
    law = binom(records, p)
    for seen in range(records + 1):
        test = sums_test(np.array([0]), np.array([float(seen)]), np.array([records * p]), np.array([p]))
        assert test.p_value >= min(1.0, min(law.cdf(seen), law.sf(seen - 1)))
    assert test.decisive == (2 * min(p**records, (1 - p) ** records) < TOO_UNLIKELY)


def test_a_sum_that_cannot_vary_is_not_tested() -> None:
    ones = np.ones(2)
    assert sums_test(np.array([0, 1]), 5 * ones, 5 * ones, ones) == ChanceTest(1.0)
