"""What chance alone would show: tables with the same margins and a shuffled secret.

Every plug-in measure of leakage is biased upwards: with few records per value, pure noise looks like a leak. A number
is therefore shown next to the numbers that the same table gives when its secrets are shuffled among the records.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tacit.lift.joint import Matrix, Vector
from tacit.lift.measures import p_log_p

Verdict = Literal["leak", "no leak detected", "cannot tell"]

LEVEL = 0.05
# numpy draws hypergeometric numbers only for populations below this.
HYPERGEOMETRIC_LIMIT = 10**9
# A null whose upper end already reaches this share of what the measure can show leaves no room for a leak to be seen.
SATURATED = 0.95
# Columns of a table, times ways to group them, that are added up at once.
AT_ONCE = 2_000_000


def shuffled_counts(
    counts: Matrix, *, random_state: np.random.SeedSequence, effective_records: float | None = None
) -> Matrix:
    """A table with the margins of ``counts`` and the secrets shuffled among the records.

    ``effective_records`` is for ``counts`` that are sums of weights: how many equal records carry as much evidence
    (Kish). The table is then drawn around the product of its margins instead of by a shuffle.

    Guarantees
    ----------
    Without ``effective_records`` and below 10^9 records the table has exactly the distribution of a uniformly
    random shuffle (multivariate hypergeometric, one secret after the other). Above it is multinomial with the same
    expectation, whose margins vary a little.
    """
    rng = np.random.default_rng(random_state)
    of_secret, of_released = counts.sum(axis=1), counts.sum(axis=0)
    total = counts.sum()
    if effective_records is not None or total >= HYPERGEOMETRIC_LIMIT:
        size = total if effective_records is None else effective_records
        per_value = rng.multinomial(round(size), of_released / total)
        drawn = rng.multinomial(per_value, of_secret / total).T
        return np.asarray(drawn, dtype=np.float64)
    left = np.rint(of_released).astype(np.int64)
    table = np.empty(counts.shape, dtype=np.float64)
    for s, size in enumerate(np.rint(of_secret[:-1]).astype(np.int64)):
        table[s] = rng.multivariate_hypergeometric(left, size, method="marginals")
        left -= table[s].astype(np.int64)
    table[-1] = left
    return table


def seeds(n: int, *, random_state: int) -> list[np.random.SeedSequence]:
    """``n`` independent seeds, so that shuffles may run in any order and still be the same."""
    return np.random.SeedSequence(random_state).spawn(n)


def grouped(table: Matrix, group: np.ndarray, n_groups: int) -> Matrix:
    """``table`` with the columns of one group added up."""
    return np.stack([np.bincount(group, weights=row, minlength=n_groups) for row in table])


@dataclass(frozen=True, eq=False)
class Groupings:
    """Several ways to group the columns of a table, so that it can be summed for all of them at once.

    ``blocks`` are pairs: a matrix (columns x groups) of ones and zeros, the groups of several ways one after the other,
    and where each way begins.
    """

    blocks: tuple[tuple[Any, NDArray[np.int64]], ...]

    @classmethod
    def of(cls, groups: Sequence[NDArray[np.int64]]) -> Groupings:
        """Each of ``groups`` has the group, from 0 on, of every column of a table."""
        from scipy import sparse

        many = max(1, AT_ONCE // max(1, len(groups[0]))) if groups else 1
        blocks = []
        for first in range(0, len(groups), many):
            block = groups[first : first + many]
            sizes = np.array([int(group.max(initial=0)) + 1 for group in block])
            starts = np.cumsum(sizes) - sizes
            places = np.stack(block, axis=1) + starts
            ends = np.arange(len(places) + 1) * len(block)
            ones = np.ones(places.size, np.int8)
            shape = (len(places), int(sizes.sum()))
            blocks.append((sparse.csr_array((ones, places.ravel(), ends), shape=shape), starts))
        return cls(tuple(blocks))

    def informations(self, table: Matrix) -> Vector:
        """The plug-in information (nats) of the table grouped in each way."""
        total, of_secret = float(table.sum()), p_log_p(table.sum(axis=1)).sum()
        sums = []
        for block, starts in self.blocks:
            together = np.asarray(table @ block)
            cells = p_log_p(together).sum(axis=0) - p_log_p(together.sum(axis=0))
            sums.append(np.add.reduceat(cells, starts))
        terms = np.concatenate(sums) + total * np.log(total) - of_secret
        return np.asarray(np.maximum(terms / total, 0.0))


def plug_in_information(table: Matrix) -> float:
    """Mutual information of a table of counts (nats), its shares taken as probabilities."""
    total = float(table.sum())
    terms = p_log_p(table).sum() + total * np.log(total)
    terms -= p_log_p(table.sum(axis=0)).sum() + p_log_p(table.sum(axis=1)).sum()
    return max(float(terms) / total, 0.0)


def chance_of_count(count: int, *, size: int, successes: int, total: int) -> float:
    """Probability of a count at least as far out on its side, doubled, when ``size`` of ``total`` records are drawn.

    ``successes`` of the ``total`` records count (hypergeometric; two-sided by doubling the smaller tail).
    """
    low, high = max(0, size + successes - total), min(size, successes)
    share = successes / total
    middle, spread = size * share, np.sqrt(size * share * (1 - share) * (1 - (size - 1) / max(total - 1, 1)))
    # Beyond fifteen standard deviations less than 10^-40 is left.
    low, high = max(low, int(middle - 15 * spread) - 1), min(high, int(middle + 15 * spread) + 1)
    if not low <= count <= high:
        return 0.0
    j = np.arange(low, high)
    steps = np.log((successes - j) / (j + 1.0)) + np.log((size - j) / (total - successes - size + j + 1.0))
    weights = np.concatenate([[0.0], np.cumsum(steps)])
    weights = np.exp(weights - weights.max())
    tails = weights[: count - low + 1].sum(), weights[count - low :].sum()
    return float(min(1.0, 2 * min(tails) / weights.sum()))


@dataclass(frozen=True)
class NullBand:
    """The 5th and 95th percentile of a measure over shuffles, and where the observed number lies.

    Guarantees
    ----------
    If the secret is independent of the release, ``verdict`` is "leak" in at most 5% of tables (a permutation test:
    the observed table is one of shuffles + 1 exchangeable ones).
    """

    low: float
    high: float
    p_value: float
    verdict: Verdict


def null_band(observed: float, shuffled: Sequence[float], *, ceiling: float = np.inf) -> NullBand:
    """Compare an observed measure with its values under shuffled secrets.

    The verdict is "cannot tell" where noise alone already fills the measure's range (its 95th percentile is infinite,
    or within 5% of ``ceiling``): then no observed value could stand out.
    """
    values = np.sort(np.asarray(shuffled, dtype=np.float64))
    # Rounding must not turn a tie into a discovery.
    reached = values >= observed - 1e-12 * max(1.0, abs(observed)) if np.isfinite(observed) else np.isinf(values)
    p_value = (1 + int(reached.sum())) / (1 + len(values))
    low, high = (quantile(values, q) for q in (0.05, 0.95))
    if p_value <= LEVEL:
        return NullBand(low, high, p_value, "leak")
    if high >= SATURATED * ceiling:
        return NullBand(low, high, p_value, "cannot tell")
    return NullBand(low, high, p_value, "no leak detected")


def quantile(values: Vector, share: float) -> float:
    """The first of the sorted values at or below which this share of them lies."""
    # The same as numpy's "inverted_cdf", in a hundredth of the time.
    place = len(values) * share
    return float(values[max(math.ceil(place) - 1, 0)])


def shuffles_for(cells: int) -> int:
    """How many shuffles a table of this many cells gets: at least 19, which is what a test at 5% needs."""
    return int(np.clip(300_000 // max(cells, 1), 19, 199))
