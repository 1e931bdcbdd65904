"""Agreement: numbers but for rounding."""

from __future__ import annotations

import numpy as np

from tacit.lift import AGREEMENT, Joint, agree, crosstab, log_lift


def test_numbers_agree_but_for_rounding_and_infinity_with_itself_alone() -> None:
    assert agree(1.0, 1.0 + AGREEMENT / 2)
    assert agree(1e6, 1e6 * (1 + AGREEMENT / 2))
    assert not agree(1.0, 1.0 + 3 * AGREEMENT)
    assert agree(np.inf, np.inf)
    assert not agree(np.inf, -np.inf)
    assert not agree(np.inf, 1e300)
    assert not agree(np.nan, np.nan)


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
