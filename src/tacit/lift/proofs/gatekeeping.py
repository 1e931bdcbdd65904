"""Choose on one half of a sample which values to merge, and prove the choice on the other half."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from tacit.errors import ArgumentError
from tacit.lift.joint import Joint, Labels, Mask, Matrix, Vector, frozen
from tacit.lift.measures import sides
from tacit.lift.partitions.merging import nmil
from tacit.lift.proofs.certificates import COMMON, Sample, excess, log_lifts
from tacit.lift.proofs.intervals import checked_beta, log_lift_limits
from tacit.lift.proofs.sample_size import MERGED, RecordsNeeded, records_needed
from tacit.lift.rounding import confident
from tacit.lift.shuffles import HYPERGEOMETRIC_LIMIT
from tacit.lift.tolerances import TOLERANCE

# Candidates tested at once: the first failure ends the test, so most of a large family is never looked at.
_BLOCK: Final = 1_024


def split_counts(counts: ArrayLike, *, rng: np.random.Generator, share: float = 0.5) -> tuple[Matrix, Matrix]:
    """Split a table of counts in two, as if records were dealt at random: ``share`` of them first, the rest second.

    Guarantees
    ----------
    If the records are independent draws from a population, the two tables are independent samples of it. Draw once:
    if you draw again until you like the certificate, you have none.
    """
    table = Sample.of(counts).table
    if not 0 < share < 1:
        raise ArgumentError(f"share is {share}; both parts must have records, so it is between 0 and 1")
    whole = table.astype(np.int64).ravel()
    if whole.sum() < HYPERGEOMETRIC_LIMIT:
        first = rng.multivariate_hypergeometric(whole, round(share * int(whole.sum())), method="marginals")
    else:
        # A coin for each record: given how many fall on each side, the two parts are independent samples as well.
        first = rng.binomial(whole, share)
    part = first.reshape(table.shape).astype(np.float64)
    return part, table - part


@dataclass(frozen=True, eq=False)
class CertifiedPartition:
    """The most useful of a nested family of partitions that half of a sample proves to be within epsilon.

    Attributes
    ----------
    merged : array of bool
        Values that lose their identity; those not in the table, seen later, must be merged with them.
    epsilon_low, epsilon_high, beta : float
        The bounds proved, 0 if everything is merged, and the probability with which the claim may be false.
    nmil : float
        Share of the information in the released values that is lost, as counted; 1 if everything is merged.
    records_to_choose, records_to_prove : int
        Sizes of the two halves.
    candidates, passed, kept : int
        Partitions in the family besides merging everything, how many of them passed before the first failure, and how
        many values are kept: ``passed``, or fewer where the table as counted must keep the bounds too.
    order : array of int
        Values in the order in which they are kept: the first ``kept`` are, and any number up to ``passed`` could be.
    need : RecordsNeeded or None
        What it would take to prove every value that looks safe as counted; None if all of them passed. It uses all
        the records, including those that choose, so it is an estimate and proves nothing.
    """

    merged: Mask = field(repr=False)
    epsilon_low: float
    epsilon_high: float
    beta: float
    nmil: float
    records_to_choose: int
    records_to_prove: int
    candidates: int
    passed: int
    kept: int
    order: Labels = field(repr=False)
    need: RecordsNeeded | None = field(repr=False)

    @property
    def epsilon(self) -> float:
        """The bound on abs(log-lift) that is proved."""
        return max(self.epsilon_low, self.epsilon_high)

    @property
    def keeps_nothing(self) -> bool:
        """Whether everything is merged."""
        return bool(self.merged.all())

    @property
    def sentence(self) -> str:
        """The claim in plain words."""
        if self.keeps_nothing and self.passed:
            start = "No release that is proved also keeps the bounds on the table as counted: everything is merged."
        elif self.keeps_nothing:
            start = "The records prove no epsilon for any release that keeps a value: everything is merged."
        else:
            kept = int((~self.merged).sum())
            start = (
                f"If the records are a random sample and hold every value of the secret, then with "
                f"{confident(1 - self.beta)} confidence no log-lift of the release is below -{self.epsilon_low:g} or "
                f"above {self.epsilon_high:g} nats. "
                f"{kept:,} {'value is' if kept == 1 else 'values are'} kept, {int(self.merged.sum()):,} merged."
            )
        return start if self.need is None else f"{start} {self._would_prove(self.need)}"

    def _would_prove(self, need: RecordsNeeded) -> str:
        """What it would take to prove the rest: some records choose, so more are needed than those that prove."""
        records = self.records_to_choose + self.records_to_prove
        needed = need.needed * records / max(self.records_to_prove, 1)
        if math.isinf(needed):
            return need.sentence
        if needed <= records:
            return "There are enough records to prove more: dealt differently, they may."
        return (
            f"To keep every value that looks safe as counted, about {needed:,.0f} records are needed, instead of "
            f"{records:,.0f}; some of them choose, the others prove."
        )


def certified_partition(
    counts: ArrayLike,
    *,
    epsilon: float,
    rng: np.random.Generator,
    beta: float = 0.05,
    epsilon_low: float | None = None,
    epsilon_high: float | None = None,
    prior: ArrayLike | None = None,
    share: float = 0.5,
    on_table: bool = False,
) -> CertifiedPartition:
    """Choose which values to merge on one half of the records and prove the choice on the other.

    Parameters
    ----------
    counts : array of whole numbers, secrets x released values
        Records of each pair, before any mechanism.
    epsilon : float
        The bound asked for; ``epsilon_low`` and ``epsilon_high`` replace it on their side. ``epsilon_low=inf`` asks for
        the high side only (pointwise maximal leakage), which needs far fewer records.
    rng : numpy.random.Generator
        Deals the records to the two halves, once.
    beta, prior
        As for `certify_counts`.
    share : float
        Share of the records that choose.
    on_table : bool
        Keep only as many of the proved values as leave the release of this very table, as counted, within the bounds
        too: then both readings hold, for the population and for the table as if it were everyone.

    Guarantees
    ----------
    If the records are independent draws from the population, the rows are all its secrets, and every value that is not
    in the table is released as the merged ones are, then the log-lifts of the release exceed the bounds claimed with
    probability at most beta. Merged values may be replaced by any draw that does not look at value or secret.
    Given the first half, the partitions are a fixed sequence, and merging everything, which starts it, has no risk.
    They are tested on the second half in that order, each at level beta, up to the first failure. A false claim is made
    only if the first partition that breaks the bounds passes its test: probability at most beta, for the whole
    sequence. That is for *one* question: to ask for several epsilons of the same records, divide beta by their number.
    With probability at least 1 - beta *all* partitions that passed are within the bounds at once, so any of them may be
    chosen by looking at anything, the second half too. ``on_table`` does: it takes the largest that passed whose kept
    values and merged rest have log-lifts within the bounds in all the counts, to `TOLERANCE`, and merges everything if
    there is none. That the table is within the bounds is exact and has no part in beta.
    """
    sample = Sample.of(counts, prior)
    table = sample.table
    bounds = sides(epsilon, epsilon_low=epsilon_low, epsilon_high=epsilon_high)
    joint = Joint.from_counts(table[:, table.sum(axis=0) > 0])
    design, test = split_counts(table, rng=rng, share=share)
    order = _order_to_keep(replace(sample, table=design), bounds, beta=checked_beta(beta))
    halves = _kept_and_bins(test, order), _kept_and_bins(design, order)
    passed = _count_passed(*halves, bounds, beta=beta, prior=sample.prior) if len(order) else 0
    kept = _largest_on_table(table, order[:passed], bounds) if on_table else passed
    merged = np.ones(table.shape[1], dtype=np.bool_)
    merged[order[:kept]] = False
    return CertifiedPartition(
        merged=frozen(merged),
        epsilon_low=bounds[0] if kept else 0.0,
        epsilon_high=bounds[1] if kept else 0.0,
        beta=beta,
        nmil=nmil(joint, merged[table.sum(axis=0) > 0]) if kept else 1.0,
        records_to_choose=int(design.sum()),
        records_to_prove=int(test.sum()),
        candidates=len(order),
        passed=passed,
        kept=kept,
        order=frozen(order),
        need=_need_of_the_rest(sample, order, passed, bounds, beta=beta, share=share),
    )


def _largest_on_table(table: Matrix, order: Labels, bounds: tuple[float, float]) -> int:
    """The largest number of values, in order, that can be kept with them and the merged rest in bounds as counted."""
    both = _kept_and_bins(table, order)
    values = log_lifts(both, table.sum(axis=1) / table.sum())
    # What has no record is not in the release of this table, whatever it may mean in another.
    fine = (excess(-values, values, bounds) <= TOLERANCE) | (both.sum(axis=0) == 0)
    safe = np.flatnonzero(_all_so_far(fine, len(order)))
    return int(safe[-1]) + 1 if len(safe) else 0


def _order_to_keep(design: Sample, bounds: tuple[float, float], *, beta: float) -> Labels:
    """Values in the order in which they are kept, safest first; rare and unseen ones never are, nor is the last."""
    common = design.table.sum(axis=0) > COMMON * design.table.sum() if design.prior is None else None
    beyond = excess(*design.bounds(beta=beta, common=common), bounds).max(axis=0)
    order = np.argsort(beyond, kind="stable")
    # Something must be left to merge: it is where values go that nobody has seen yet.
    return order[: min(int(np.isfinite(beyond).sum()), len(order) - 1)]


def _kept_and_bins(table: Matrix, order: Labels) -> Matrix:
    """Columns kept, in order, then the merged rest after each of them; rows unchanged."""
    kept = table[:, order]
    return np.hstack([kept, table.sum(axis=1, keepdims=True) - np.cumsum(kept, axis=1)])


def _count_passed(
    table: Matrix, design: Matrix, bounds: tuple[float, float], *, beta: float, prior: Vector | None
) -> int:
    """How many partitions pass before the first that fails: all values kept so far, and the rest merged, in bounds."""
    size = int(table.shape[1]) // 2
    secret, total = table[:, [0, size]].sum(axis=1)[:, None], table[:, [0, size]].sum()
    common = design.sum(axis=0) > COMMON * design[:, [0, size]].sum()
    for start in range(0, size, _BLOCK):
        stop = min(start + _BLOCK, size)
        columns = np.r_[start:stop, size + start : size + stop]
        of_value = table[:, columns].sum(axis=0)
        if prior is None:
            limits = log_lift_limits(table[:, columns], of_value, secret, total, beta=beta, common=common[columns])
        else:
            limits = log_lift_limits(table[:, columns], of_value, secret, total, beta=beta, prior=prior[:, None])
        passes = _all_so_far(excess(*limits, bounds) <= 0, stop - start)
        if not passes.all():
            return start + int(np.argmin(passes))
    return size


def _all_so_far(fine: Mask, size: int) -> Mask:
    """For columns as in `_kept_and_bins`: where the bin and every value kept so far are fine for each secret."""
    columns = np.asarray(fine.all(axis=0))
    return np.asarray(np.logical_and.accumulate(columns[:size]) & columns[size:])


def _need_of_the_rest(
    sample: Sample, order: Labels, passed: int, bounds: tuple[float, float], *, beta: float, share: float
) -> RecordsNeeded | None:
    """What it takes to keep all values that look safe as counted; None if they are kept or there are none."""
    size = len(order)
    if size == 0:
        return None
    table, both = sample.table, _kept_and_bins(sample.table, order)
    values = log_lifts(both, sample.prior if sample.prior is not None else table.sum(axis=1) / table.sum())
    safe = _all_so_far(excess(-values, values, bounds) <= TOLERANCE, size)
    # A bin may be unsafe for a while and safe again once more values are kept; or none may be safe at all.
    wanted = int(np.flatnonzero(safe)[-1]) + 1 if safe.any() else 1
    if wanted <= passed:
        return None
    release = both[:, [*range(wanted), size + wanted - 1]]
    low, high = bounds
    common = None if sample.prior is not None else release.sum(axis=0) > COMMON * table.sum()
    need = records_needed(
        release, epsilon=high, beta=beta, epsilon_low=low, epsilon_high=high, prior=sample.prior, common=common
    )
    names = [*order[:wanted].tolist(), MERGED]
    return replace(need, needed=need.needed / (1 - share), released=names[need.released])
