"""Is what was released what was claimed? Numbers that agree but for rounding, and draws that agree but for chance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tacit.lift.joint import Matrix, Vector, sums
from tacit.lift.measures import entropy
from tacit.lift.shuffles import plug_in_information, shuffled_tables
from tacit.lift.tolerances import AGREEMENT, TOO_UNLIKELY

Codes = NDArray[np.int64]

# Shuffles behind the test that rows and columns are independent.
_SHUFFLES: Final = 199
# Below so many expected records a cell is counted together with others: Pearson's statistic is about normal cells.
FEWEST_EXPECTED: Final = 5.0


@dataclass(frozen=True)
class ChanceTest:
    """A test of draws against the law they are said to follow.

    Attributes
    ----------
    p_value : float
        Chance of draws as far off as these, or a bound on it, if the law is as claimed.
    decisive : bool
        Whether any draws of so many records could have been called too unlikely.
    """

    p_value: float
    decisive: bool = True

    @property
    def passed(self) -> bool | None:
        """Whether the draws may follow the law, at `TOO_UNLIKELY`; None where the records are too few to tell."""
        if self.p_value <= TOO_UNLIKELY:
            return False
        return True if self.decisive else None


def agree(a: float, b: float, *, within: float = AGREEMENT) -> bool:
    """Whether two numbers are the same but for rounding; infinity agrees with itself alone."""
    if not (np.isfinite(a) and np.isfinite(b)):
        return a == b
    return abs(a - b) <= within * max(1.0, abs(a), abs(b))


def crosstab(rows: Codes, columns: Codes, weight: Codes | Vector) -> Matrix:
    """The weight of every pair of a row and a column that occur, in the order of their codes."""
    row_codes, row = np.unique(rows, return_inverse=True)
    column_codes, column = np.unique(columns, return_inverse=True)
    shape = len(row_codes), len(column_codes)
    flat = np.bincount(row * shape[1] + column, weights=weight, minlength=shape[0] * shape[1])
    return flat.astype(np.float64).reshape(shape)


def independence_test(table: Matrix) -> ChanceTest:
    """Chance of a mutual information as large as that of a table of counts if rows and columns are independent.

    Under shuffles it is close to a multiple of a chi-squared variable; a gamma distribution with the mean and variance
    of the shuffles has its tail, far beyond what shuffles themselves could count.
    """
    from scipy.stats import gamma

    drawn = [plug_in_information(each) for each in shuffled_tables(table, shuffles=_SHUFFLES, random_state=0)]
    mean, variance = float(np.mean(drawn)), float(np.var(drawn))
    information = plug_in_information(table)
    if variance <= 1e-24:
        # One row or one column: there is nothing to depend on.
        return ChanceTest(1.0 if information <= mean + 1e-12 else 0.0)
    law = gamma(mean**2 / variance, scale=variance / mean)
    most = min(entropy(table.sum(axis=axis) / table.sum()) for axis in (0, 1))
    return ChanceTest(float(law.sf(information)), bool(law.sf(most) < TOO_UNLIKELY))


def pearson_test(source: Codes, observed: Vector, expected: Vector) -> ChanceTest:
    """Chance of a Pearson statistic as large, over all sources; 1 where no cell expects enough records.

    Parameters
    ----------
    source, observed, expected : arrays, one entry for every cell
        Cells of one source share out its records: those seen and those its law calls for.

    Its mean and variance are exact, and a gamma distribution that has them has its tail.
    """
    from scipy.stats import gamma

    source, observed, expected = _pooled(source, observed, expected)
    totals, n_cells = np.bincount(source, expected), np.bincount(source)
    freedom = float(np.maximum(n_cells - 1, 0).sum())
    if freedom == 0:
        return ChanceTest(1.0, decisive=False)
    statistic = float(((observed - expected) ** 2 / expected).sum())
    inverse = np.bincount(source, totals[source] / expected)
    used = n_cells > 1
    k = n_cells[used].astype(np.float64)
    extra = (inverse[used] - k**2 - 2 * k + 2) / totals[used]
    variance = 2 * freedom + float(extra.sum())
    return ChanceTest(float(gamma.sf(statistic, freedom**2 / variance, scale=variance / freedom)))


def _pooled(source: Codes, observed: Vector, expected: Vector) -> tuple[Codes, Vector, Vector]:
    """Cells with those that expect few records put together, source by source."""
    few = expected < FEWEST_EXPECTED
    n = int(source.max()) + 1
    rest_expected, rest_observed = (sums(source[few], each[few], n) for each in (expected, observed))
    enough = np.flatnonzero(rest_expected >= FEWEST_EXPECTED)
    source = np.concatenate([source[~few], enough])
    observed = np.concatenate([observed[~few], rest_observed[enough]])
    expected = np.concatenate([expected[~few], rest_expected[enough]])
    # What is left of a source is too little for a cell of its own: it is counted with the last that has one.
    left = np.flatnonzero((rest_expected > 0) & (rest_expected < FEWEST_EXPECTED))
    last = np.full(n, -1)
    last[source] = np.arange(len(source))
    left = left[last[left] >= 0]
    np.add.at(observed, last[left], rest_observed[left])
    np.add.at(expected, last[left], rest_expected[left])
    return source, observed, expected


def sums_test(group: Codes, observed: Vector, expected: Vector, p: Vector) -> ChanceTest:
    """Bound on the chance of sums as extreme, over groups of cells.

    Parameters
    ----------
    group, observed, expected, p : arrays, one entry for every cell
        Records seen and expected in a cell; each of ``expected / p`` records falls into it with probability p.

    Records are drawn on their own, so that every sum is of independent draws: Chernoff's bound holds for it, however
    few they are, and the bounds of all sums are added up.
    """
    n = int(group.max()) + 1
    # The most that a sum could be: every record that may fall into its cells.
    mean, seen, most = (sums(group, each, n) for each in (expected, observed, expected / p))
    random = most - mean > 1e-9
    if not random.any():
        return ChanceTest(1.0)
    mean, seen, most = mean[random], seen[random], most[random]
    tests = 2 * len(mean)
    extreme = np.minimum(_chernoff(most, mean, most), _chernoff(np.zeros(len(mean)), mean, most))
    p_value = min(float(_chernoff(seen, mean, most).min()) * tests, 1.0)
    return ChanceTest(p_value, bool(extreme.min() * tests < TOO_UNLIKELY))


def _chernoff(seen: Vector, mean: Vector, most: Vector) -> Vector:
    """Bound on the chance of a sum of ``most`` independent draws of this mean being as far off, on its side."""
    share, level = np.clip(seen / most, 0, 1), mean / most
    with np.errstate(divide="ignore", invalid="ignore"):
        up = np.where(share > 0, share * np.log(share / level), 0.0)
        down = np.where(share < 1, (1 - share) * np.log((1 - share) / (1 - level)), 0.0)
    return np.asarray(np.exp(-most * np.maximum(up + down, 0.0)))
