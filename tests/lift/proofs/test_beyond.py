"""P-values of log-lifts beyond their bounds: how often they are small where they should not be, counted exactly."""

import numpy as np
import pytest
from scipy import stats

from sizes import many
from tacit.errors import ArgumentError
from tacit.lift import beyond_p_values, certify_counts

LEVELS = (0.05, 0.1, 0.2, 0.4)


def on_the_bound(*, share, outside, low=np.inf, high=np.inf):
    """P(s|y) of a population whose log-lift is the bound, from P(y) and P(s|not y)."""
    factor = np.exp(high) if np.isfinite(high) else np.exp(-low)
    return factor * (1 - share) / (1 - factor * share) * outside


def size_of_the_test(n, *, inside, outside, share, **bounds):
    """The chance of a p-value of at most each level: the sum over every table of n records there is."""
    own, pair, other = np.array(
        [(c, k, m) for c in range(n + 1) for k in range(c + 1) for m in range(n - c + 1)], dtype=float
    ).T
    p = beyond_p_values(pair, own, pair + other, n, least=LEVELS[0], most=LEVELS[-1], **bounds)
    chance = stats.binom.pmf(own, n, share) * stats.binom.pmf(pair, own, inside)
    chance = chance * stats.binom.pmf(other, n - own, outside)
    return [float(chance[p <= level].sum()) for level in LEVELS]


@pytest.mark.parametrize(
    ("share", "outside", "bounds"),
    [
        (0.4, 0.4, {"low": np.inf, "high": 0.3}),
        (0.15, 0.2, {"low": np.inf, "high": 1.0}),
        (0.4, 0.5, {"low": 0.3, "high": np.inf}),
        (0.3, 0.8, {"low": 0.7, "high": np.inf}),
    ],
)
def test_a_small_p_value_is_as_rare_as_it_says_on_the_bound_and_beyond(share, outside, bounds):
    n, inside = many(9, 24), on_the_bound(share=share, outside=outside, **bounds)
    sizes = size_of_the_test(n, inside=inside, outside=outside, share=share, **bounds)
    assert all(size <= level for size, level in zip(sizes, LEVELS, strict=True))
    farther = inside * (1.1 if np.isfinite(bounds["high"]) else 0.9)
    beyond = size_of_the_test(n, inside=farther, outside=outside, share=share, **bounds)
    assert all(size <= level for size, level in zip(beyond, LEVELS, strict=True))
    assert sizes[-1] > 0.05


def slow_worst(k, n, l, m, factor, aside, *, up, tries=200):  # noqa: E741
    """Outcome by outcome, for many rates of the other records."""
    q = stats.beta.ppf(aside, n, m + 1)
    r = factor * (1 - q) / (1 - factor * q)
    ends = stats.beta.ppf(aside / 2, l, m - l + 1), stats.beta.isf(aside / 2, l + 1, m - l)
    worst = 0.0
    for b in np.linspace(ends[0], min(ends[1], 1 / r), tries):
        rows, columns = np.arange(n + 1)[:, None], np.arange(m + 1)
        seen, each = k / n - r * l / m, rows / n - r * columns / m
        safe = each <= seen + 1e-9 if up else each >= seen - 1e-9
        joint = stats.binom.pmf(rows, n, min(r * b, 1.0)) * stats.binom.pmf(columns, m, b)
        worst = max(worst, float(joint[safe].sum()))
    return worst


@pytest.mark.parametrize(("k", "n", "l", "m"), [(12, 30, 50, 100), (20, 60, 25, 90), (4, 40, 30, 140)])
@pytest.mark.parametrize("up", [True, False])
def test_the_p_value_is_that_of_the_slow_sum_over_all_outcomes_and_never_less(k, n, l, m, up):  # noqa: E741
    bounds = {"low": np.inf, "high": 0.4} if up else {"low": 0.5, "high": np.inf}
    p = float(beyond_p_values(k, n, k + l, n + m, least=0.01, most=0.4, **bounds))
    slow = slow_worst(k, n, l, m, np.exp(0.4 if up else -0.5), 1e-5, up=up)
    if p < 1:
        # Steps of the unknown rate cost up to a third, and saving sums a fortieth of the smallest level.
        assert slow <= p <= 1.35 * slow + 0.025 * 0.01
    else:
        assert slow > 0.3


def test_with_a_known_prior_it_is_a_binomial_tail():
    p = beyond_p_values([30, 60], 100, 1600, 4000, low=0.5, high=0.5, least=0.01, most=0.05, prior=0.4)
    assert p[0] == pytest.approx(stats.binom.sf(29, 100, 0.4 * np.exp(-0.5)))
    assert p[1] == pytest.approx(stats.binom.cdf(60, 100, 0.4 * np.exp(0.5)))


def test_an_unknown_prior_costs_hardly_more_than_a_known_one_and_separate_limits_do():
    counts = {"pair": 54, "value": 100, "secret": 1600, "total": 4000}
    bounds = {"low": np.inf, "high": 0.5, "least": 0.01, "most": 0.05}
    known = float(beyond_p_values(**counts, **bounds, prior=0.4))
    unknown = float(beyond_p_values(**counts, **bounds))
    assert known < unknown < 1.4 * known
    table = [[46, 2354], [54, 1546]]
    assert certify_counts(table, beta=unknown).epsilon_high > 0.5
    assert certify_counts(table, beta=unknown, prior=[0.6, 0.4]).epsilon_high < 0.5


def test_what_was_not_seen_or_is_everything_there_is_proves_nothing_and_no_bound_asks_nothing():
    options = {"low": 0.5, "high": 0.5, "least": 0.01, "most": 0.05}
    assert beyond_p_values(0, 0, 40, 100, **options) == 1
    assert beyond_p_values(40, 100, 40, 100, **options) == 1
    assert beyond_p_values(0, 50, 0, 100, **options) == 1
    assert beyond_p_values(50, 50, 60, 100, low=np.inf, high=np.inf, least=0.01, most=0.05) == 0
    assert beyond_p_values(880, 1000, 1800, 2000, low=np.inf, high=0.5, least=0.01, most=0.05) < 0.01


def test_counts_that_cannot_be_are_refused():
    options = {"low": 0.5, "high": 0.5, "most": 0.05}
    with pytest.raises(ArgumentError, match="more records"):
        beyond_p_values(5, 4, 10, 20, least=0.01, **options)
    with pytest.raises(ArgumentError, match="more records"):
        beyond_p_values(1, 15, 10, 20, least=0.01, **options)
    with pytest.raises(ArgumentError, match="levels"):
        beyond_p_values(1, 4, 10, 20, least=0.1, **options)
