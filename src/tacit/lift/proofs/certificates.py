"""What a sample proves about the population: certificates of epsilon and delta that are wrong with chance at most beta.

The epsilon of a table that was only sampled is not known. Counted as if the sample were everyone, it comes out too
small: a third of such claims, or more, are false. Here every claim of an epsilon errs with probability at most beta.

No correction for the number of cells is needed (intersection-union). Let epsilon be the largest log-lift, on either
side, of the population. It is attained in some cell, on some side: unknown, but one fixed index that does not depend
on the sample. The certificate is the largest of one limit for every cell and side, so it is at least the limit of that
cell and side. If each limit by itself is too small with probability at most beta, so is the certificate.

The limits need the mechanism, that is the columns of the table, to be fixed without looking at the counts. Four ways:
`certify_counts` (C1) where that is so; `tacit.lift.proofs.gatekeeping` (C2) where a sample is split in two, one half to
choose and one to prove; `certify_any` (C3) for a mechanism chosen on the very same records; `certify_growing` (C4)
where records keep coming. And `certify_delta` for the probability of a pair beyond epsilon.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal

import numpy as np
from numpy.typing import ArrayLike

from tacit.errors import ArgumentError, DataError
from tacit.lift.joint import Mask, Matrix, Vector, frozen
from tacit.lift.measures import sides
from tacit.lift.proofs.intervals import (
    Limit,
    against_rest,
    checked_beta,
    kl_lower,
    kl_radius,
    kl_upper,
    log_lift_limits,
    lower_limit,
    lower_sequence,
    upper_limit,
    upper_sequence,
)
from tacit.lift.rounding import at_most, confident
from tacit.lift.tolerances import SUM_TOLERANCE

Side = Literal["low", "high"]

# A released value with a larger share of the records is compared with the rest: it makes up much of the prior itself.
COMMON: Final = 0.25
# For a certificate of delta: half of beta to flag, half to count; a missed tenth of delta is allowed for.
_MISSED: Final = 0.1


@dataclass(frozen=True, eq=False)
class Sample:
    """Records of each pair of secret and released value, and the shares of the secrets where they are known."""

    table: Matrix
    prior: Vector | None = None

    @classmethod
    def of(cls, counts: ArrayLike, prior: ArrayLike | None = None, *, whole: bool = True) -> Sample:
        """The sample, checked; ``whole`` asks for whole numbers of records."""
        table = np.asarray(counts, dtype=np.float64)
        if table.ndim != 2 or 0 in table.shape:
            raise ArgumentError(f"counts must be a table of secrets x released values; its shape is {table.shape}")
        if not (np.isfinite(table).all() and (table >= 0).all()):
            raise ArgumentError("the table of counts has an entry that is not a number of records")
        if table.sum() == 0:
            raise DataError("the table of counts is all zero: there is nothing to certify")
        if whole and (table != np.floor(table)).any():
            raise ArgumentError("a certificate needs whole numbers of records: sums of weights have no exact limits")
        if prior is None:
            return cls(table)
        shares = np.asarray(prior, dtype=np.float64)
        if shares.shape != (len(table),) or not (shares > 0).all() or abs(shares.sum() - 1) > SUM_TOLERANCE:
            raise ArgumentError(f"prior must be {len(table)} positive shares that sum to 1, one for each secret")
        return cls(table, np.asarray(shares / shares.sum()))

    def mask(self, common: ArrayLike | None) -> Mask | None:
        """``common`` checked: a boolean for each released value."""
        mask = None if common is None else np.asarray(common)
        if mask is not None and (mask.dtype != np.bool_ or mask.shape != self.table.shape[1:]):
            raise ArgumentError(f"common must be {self.table.shape[1]} booleans, one for each released value")
        return mask

    def bounds(
        self, *, beta: float, common: Mask | None = None, limits: tuple[Limit, Limit] = (lower_limit, upper_limit)
    ) -> tuple[Matrix, Matrix]:
        """Upper limits of -log-lift and of log-lift in each cell."""
        table, prior = self.table, None if self.prior is None else self.prior[:, None]
        of_value, of_secret, total = table.sum(axis=0), table.sum(axis=1)[:, None], float(table.sum())
        return log_lift_limits(table, of_value, of_secret, total, beta=beta, prior=prior, common=common, limits=limits)

    def log_lifts(self) -> Matrix:
        """Log-lifts as counted; -inf for pairs not seen."""
        share = self.table.sum(axis=1) / self.table.sum() if self.prior is None else self.prior
        return log_lifts(self.table, share)


def log_lifts(table: Matrix, prior: Vector) -> Matrix:
    """Log-lifts of the columns of a table of counts, as counted; -inf for pairs not seen."""
    value = table.sum(axis=0)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(table / np.where(value > 0, value, 1.0) / np.where(prior > 0, prior, 1.0)[:, None]))


@dataclass(frozen=True)
class CountCertificate:
    """What counts prove about the log-lifts of the population.

    With probability at least 1 - ``beta`` every log-lift lies between -``epsilon`` and ``epsilon``; inf if nothing is
    proved. ``epsilon_low`` and ``epsilon_high`` are the same for one side only: each errs with probability at most
    beta, the two together with at most 2 beta. ``records`` is the number of records it rests on, ``counted`` the
    largest abs(log-lift) of the counts as if they were everyone, which proves nothing; ``secret``, ``released`` and
    ``side`` are the cell (row, column) and side that decide, ``method`` which of the three functions made it.
    """

    epsilon: float
    epsilon_low: float
    epsilon_high: float
    beta: float
    records: float
    counted: float
    secret: int
    released: int
    side: Side
    method: Literal["fixed", "any", "growing"]

    @property
    def sentence(self) -> str:
        """The claim in plain words."""
        if np.isinf(self.epsilon):
            return (
                f"{self.records:,.0f} records prove nothing about epsilon: for secret {self.secret} and released "
                f"value {self.released} too few were seen."
            )
        return (
            f"If the {self.records:,.0f} records are a random sample and hold every value of the secret, then with "
            f"{confident(1 - self.beta)} confidence no log-lift of the population is beyond {at_most(self.epsilon)} "
            "nats."
        )


def certify_counts(
    counts: ArrayLike, *, beta: float = 0.05, prior: ArrayLike | None = None, common: ArrayLike | None = None
) -> CountCertificate:
    """Certify epsilon from the counts of a release whose mechanism was fixed without looking at them.

    Parameters
    ----------
    counts : array of whole numbers, secrets x released values
        Records of each pair, after the mechanism. Sums of weights prove nothing and are refused.
    beta : float
        Probability with which the claim may be false.
    prior : array, optional
        The shares of the secrets where they are known exactly, from a census say: fewer records are then needed.
    common : array of bool, optional
        Released values to compare with all others instead of with the prior, which is sharper for those with more
        than about a quarter of the records. It must be chosen without looking at these counts.

    Guarantees
    ----------
    If the records are independent draws from the population, the rows are all its secrets, the columns all released
    values, and columns, ``prior``, ``common`` and ``beta`` do not depend on these records, then the true epsilon
    exceeds the certified one with probability at most beta. In each cell, given the n_y records with y, those with s
    are binomial with p(s|y): log U(p(s|y)) / L(p(s)) fails only if one of two limits does, with .9 beta and .1 beta
    (beta, where the prior is known). For a common y the log-lift is -log(p + (1-p) r), p = P(y), r = p(s|not y)/p(s|y):
    at the largest log-lift r <= 1, so only a lower limit of p and of r matters (.1, .45 and .45 of beta; mirrored on
    the low side). No correction for many cells: see the top of the module. A released value or secret that was not
    seen gives inf.

    Examples
    --------
    >>> certificate = certify_counts([[120, 80, 60], [40, 90, 110]], beta=0.05)
    >>> round(certificate.counted, 3), round(certificate.epsilon, 3), round(certificate.epsilon_high, 3)
    (0.652, 1.027, 0.559)
    """
    sample = Sample.of(counts, prior)
    low, high = sample.bounds(beta=checked_beta(beta), common=sample.mask(common))
    return _certificate(low, high, sample.table, beta, "fixed")


def certify_growing(counts: ArrayLike, *, beta: float = 0.05, prior: ArrayLike | None = None) -> CountCertificate:
    """Certify epsilon from records that keep coming: you may look after every record and stop at will.

    Parameters are those of `certify_counts`; ``counts`` are all records so far.

    Guarantees
    ----------
    Under the preconditions of `certify_counts`, with probability at least 1 - beta *no* certificate made from any
    beginning of the sequence is below the true epsilon. So the smallest seen so far may be claimed too. In every cell
    the confidence sequences of p(s|y) and p(s) have .9 beta and .1 beta; the cell that decides is a fixed index.
    """
    sample = Sample.of(counts, prior)
    low, high = sample.bounds(beta=checked_beta(beta), limits=(lower_sequence, upper_sequence))
    return _certificate(low, high, sample.table, beta, "growing")


def certify_any(
    counts: ArrayLike, *, cells: int, beta: float = 0.05, prior: ArrayLike | None = None
) -> CountCertificate:
    """Certify epsilon of a mechanism that may have been chosen on the very same records.

    Parameters
    ----------
    counts : array, secrets x released values
        Counts after the mechanism; if it is random, the counts before it times the channel, not those drawn.
    cells : int
        Number of cells *before* the mechanism: secrets times released values, those never seen included.
    beta, prior
        As for `certify_counts`.

    Guarantees
    ----------
    If the records are independent draws from a population on ``cells`` cells, then with probability at least 1 - beta
    the certificates of *all* mechanisms are true at once, however they were chosen. With that probability
    KL(counted || true) <= tau (`tacit.lift.proofs.intervals.kl_radius`); no channel increases it, and by the chain rule
    p̂(y) kl(p̂(s|y) || p(s|y)) <= tau in every cell, and so for p(s), P(y) and p(s|not y). The limits hold together, so
    that the sharper of the two ways of `certify_counts` may be taken in each cell. It is cautious: expect to need
    several times the records of `certify_counts`.
    """
    sample = Sample.of(counts, prior, whole=False)
    table = sample.table
    if cells < len(table):
        raise ArgumentError(f"cells is {cells}; it counts the cells before the mechanism, for {len(table)} secrets")
    total = table.sum()
    radius = kl_radius(total, cells, beta=beta)
    value, secret = table.sum(axis=0), table.sum(axis=1)[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        inside, outside = np.divide(radius * total, value), np.divide(radius * total, total - value)
        a, b = table / np.where(value > 0, value, 1.0), (secret - table) / np.where(value < total, total - value, 1.0)
    # Merging sums in another order than the total does: shares may leave [0, 1] by rounding.
    a, b, share = np.clip(a, 0, 1), np.clip(b, 0, 1), np.clip(value / total, 0, 1)
    s_low, s_high = (kl_lower(secret / total, radius), kl_upper(secret / total, radius))
    if sample.prior is not None:
        s_low = s_high = sample.prior[:, None]
    a_low, a_high = kl_lower(a, inside), kl_upper(a, inside)
    y_low = kl_lower(share, radius)
    low_rest, high_rest = against_rest(a_low, a_high, kl_lower(b, outside), kl_upper(b, outside), y_low)
    with np.errstate(divide="ignore", invalid="ignore"):
        low = np.minimum(np.log(s_high / a_low), low_rest)
        high = np.minimum(np.log(a_high / s_low), high_rest)
    return _certificate(low, high, table, beta, "any")


@dataclass(frozen=True, eq=False)
class DeltaCertificate:
    """What counts prove about delta, the probability of a pair whose log-lift is beyond epsilon.

    ``delta`` is the bound proved, with probability at least 1 - beta; ``flagged`` are the cells (secrets x released
    values) that the first sample could not show to be within epsilon, ``counted`` is the share of the second sample in
    them, ``records`` the size of the second sample.
    """

    delta: float
    epsilon_low: float
    epsilon_high: float
    beta: float
    flagged: Mask = field(repr=False)
    counted: float
    records: float

    @property
    def sentence(self) -> str:
        """The claim in plain words."""
        return (
            f"If the records are a random sample and hold every pair there is, then with {confident(1 - self.beta)} "
            f"confidence at most {at_most(100 * self.delta)}% of people have a pair of secret and released value with "
            f"a log-lift below -{self.epsilon_low:g} or above {self.epsilon_high:g} nats."
        )


def certify_delta(
    first: ArrayLike,
    second: ArrayLike,
    *,
    epsilon: float,
    beta: float = 0.05,
    epsilon_low: float | None = None,
    epsilon_high: float | None = None,
    prior: ArrayLike | None = None,
) -> DeltaCertificate:
    """Certify delta: flag, on a first sample, the cells not shown to be within epsilon; weigh them on a second.

    Parameters
    ----------
    first, second : arrays of whole numbers, secrets x released values
        Counts of two independent samples after the mechanism, `split_counts` for one.
    epsilon, epsilon_low, epsilon_high, beta, prior
        As for `certified_partition`.

    Guarantees
    ----------
    If the two are independent samples of the population, its pairs are all in the table, and the mechanism was fixed
    without looking at either, delta exceeds the certified one with probability at most beta. A cell beyond epsilon
    stays without a flag with probability at most beta/20, so the mass missed is at most delta beta/20 on average, and
    more than a tenth of delta with probability at most beta/2 (Markov): delta is at most the flagged mass / 0.9,
    however many cells there are. The flags are fixed given the first sample, so the Clopper-Pearson limit of their
    mass on the second fails with probability at most beta/2.
    """
    sample, test = Sample.of(first, prior), Sample.of(second).table
    if sample.table.shape != test.shape:
        raise ArgumentError(f"the samples must be tables of one shape; they are {sample.table.shape} and {test.shape}")
    bounds = sides(epsilon, epsilon_low=epsilon_low, epsilon_high=epsilon_high)
    flagged = frozen(excess(*sample.bounds(beta=_MISSED * checked_beta(beta) / 2), bounds) > 0)
    mass, total = float(test[flagged].sum()), float(test.sum())
    limit = float(upper_limit(mass, total, beta=beta / 2)) if flagged.any() else 0.0
    return DeltaCertificate(
        delta=min(limit / (1 - _MISSED), 1.0),
        epsilon_low=bounds[0],
        epsilon_high=bounds[1],
        beta=beta,
        flagged=flagged,
        counted=mass / total,
        records=total,
    )


def excess(low: Matrix, high: Matrix, bounds: tuple[float, float]) -> Matrix:
    """By how much the worse side of each cell is beyond its bound; a side without a bound is never beyond it."""
    with np.errstate(invalid="ignore"):
        beyond = [
            np.where(np.isinf(bound), -np.finfo(np.float64).max, side - bound)
            for side, bound in zip((low, high), bounds, strict=True)
        ]
    return np.maximum(*beyond)


def _certificate(
    low: Matrix, high: Matrix, table: Matrix, beta: float, method: Literal["fixed", "any", "growing"]
) -> CountCertificate:
    worst = np.maximum(low, high)
    secret, released = np.unravel_index(int(np.argmax(worst)), worst.shape)
    return CountCertificate(
        # The largest log-lift is never negative, nor is the smallest ever positive.
        epsilon=max(float(worst.max()), 0.0),
        epsilon_low=max(float(low.max()), 0.0),
        epsilon_high=max(float(high.max()), 0.0),
        beta=beta,
        records=float(table.sum()),
        counted=float(np.abs(Sample(table).log_lifts()).max()),
        secret=int(secret),
        released=int(released),
        side="low" if low[secret, released] >= high[secret, released] else "high",
        method=method,
    )
