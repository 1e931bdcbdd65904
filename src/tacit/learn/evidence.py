"""Is what was learned real? A verdict by shuffling, an honest total, and a calibration of the lift itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, xlogy

from tacit.errors import ArgumentError, DataError
from tacit.learn.arrays import Codes, Floats
from tacit.learn.encoding import spoken_secrets
from tacit.lift import LEVEL, Estimate, Verdict, lower_limit, upper_limit

# Records of shuffles that are looked up at once.
LOOKED_UP = 200_000
SHUFFLES = 499
MOST_BINS = 10
LEAST_IN_BIN = 25
# With fewer records per fold nothing can be concluded.
LEAST_IN_FOLD = 10


@dataclass(frozen=True)
class CalibrationBin:
    """Records of similar predicted lift of one secret, and the lift that was observed among them.

    ``low`` and ``high`` are exact binomial 95% limits (Clopper and Pearson) of the observed share, over the prior.
    """

    secret: str
    predicted: float
    observed: float
    low: float
    high: float
    records: int


@dataclass(frozen=True)
class EvidenceApart:
    """Whether log-lifts of held-out records are more than chance.

    ``null_high`` is what shuffled secrets stay below 39 times in 40, as a mean over folds; zero where they lose.
    """

    information: Estimate
    null_high: float
    p_value: float
    verdict: Verdict


@dataclass(frozen=True)
class LearnedEvidence(EvidenceApart):
    """What held-out records say about a learned log-lift."""

    calibration: tuple[CalibrationBin, ...]


def evidence_of(estimator: Any, secret: Any, *, random_state: int = 0) -> LearnedEvidence:
    """The evidence of a cross-fitted estimator; ``secret`` is what it was fitted with.

    Guarantees
    ----------
    That of ``evidence_apart``, if no record occurs twice: copies of a person in several folds make everything look
    like a leak.
    """
    if not hasattr(estimator, "out_of_fold_log_lift_"):
        raise ArgumentError(f"{type(estimator).__name__} has no out-of-fold log-lifts: fit a learned estimator first")
    lift, fold = estimator.out_of_fold_log_lift_, estimator.fold_
    codes = codes_of(secret, estimator.secrets_)
    if len(codes) != len(lift):
        raise DataError(f"{len(codes):,} secrets, but the estimator was fitted on {len(lift):,} records")
    tested = getattr(estimator, "test_log_lift_", lift)
    association = getattr(estimator, "association_p_value_", np.nan)
    apart = evidence_apart(tested, codes, fold, association=association, random_state=random_state)
    facts = vars(apart) | {"information": information_of(lift, codes)}
    return LearnedEvidence(**facts, calibration=calibration(lift, codes, estimator.prior_, estimator.secrets_))


def evidence_apart(
    lift: Floats, codes: Codes, fold: Codes, *, random_state: int, association: float = np.nan
) -> EvidenceApart:
    """The evidence in the log-lifts of records (records x secrets) by models that did not see their fold.

    Guarantees
    ----------
    If the secret is independent of the records, the verdict is "leak" in at most 5% of tables: within a fold, the
    secrets are exchangeable given the models of the other folds, so the p-value of a fold is exact, and twice the mean
    of p-values is a p-value however they depend on each other. It is conservative, so a second exact test may look for
    an ``association`` of single columns (``association_test``); each of the two then gets half of the 5%.
    """
    p_value, null_high, enough = shuffled_test(lift, codes, fold, random_state=random_state)
    if not np.isnan(association):
        p_value = min(1.0, 2 * min(p_value, association))
    verdict: Verdict = "leak" if p_value <= LEVEL else "no leak detected"
    return EvidenceApart(information_of(lift, codes), null_high, p_value, verdict if enough else "cannot tell")


def codes_of(secret: Any, secrets: NDArray[Any]) -> Codes:
    """The place of every secret among ``secrets``."""
    values = np.asarray(secret)
    if values.dtype == object:
        values = spoken_secrets(values)
    place = np.searchsorted(secrets, values).clip(max=len(secrets) - 1)
    if not (secrets[place] == values).all():
        unknown = values[secrets[place] != values][0]
        raise DataError(f"secret {unknown!r} was not among those the estimator was fitted on")
    return np.asarray(place)


def information_of(lift: Floats, codes: Codes) -> Estimate:
    """Mean log-lift of the true secrets with its 95% interval: on held-out records, I(S;X) estimated from below.

    Nothing says more about a secret than its entropy, so the interval ends there: at 0.69 nats for one of two.
    """
    true = lift[np.arange(len(codes)), codes]
    mean = float(true.mean())
    reach = float(ndtri(0.975) * true.std(ddof=1) / np.sqrt(len(true))) if len(true) > 1 else np.inf
    share = np.bincount(codes) / len(codes)
    most = float(-xlogy(share, share).sum())
    return Estimate(mean, mean - reach, max(mean, min(mean + reach, most)), "estimate")


def shuffled_test(lift: Floats, codes: Codes, fold: Codes, *, random_state: int) -> tuple[float, float, bool]:
    """p-value of "the secret is independent", what shuffles reach (mean log-lift), whether records are enough."""
    rng = np.random.default_rng(random_state)
    p_values, highs, sizes = [], [], []
    for k in range(int(fold.max()) + 1):
        rows = np.flatnonzero(fold == k)
        here, own = lift[rows], codes[rows]
        at = np.arange(len(rows))
        observed = here[at, own].mean()
        drawn = _shuffled_means(here, own, rng)
        # Ties count against a leak; the rounding of sums must not break them.
        p_values.append((1 + (drawn >= observed - 1e-12).sum()) / (1 + SHUFFLES))
        highs.append(float(np.quantile(drawn, 1 - LEVEL / 2)))
        sizes.append(len(rows))
    # Claims that do not come true lose; shuffled secrets then score below zero, which means no information.
    mean_high = max(0.0, float(np.average(highs, weights=sizes)))
    return min(1.0, 2 * float(np.mean(p_values))), mean_high, min(sizes) >= LEAST_IN_FOLD


def _shuffled_means(lift: Floats, codes: Codes, rng: np.random.Generator) -> Floats:
    """The mean log-lift of shuffled secrets, again and again; many shuffles are looked up at once."""
    start, flat = np.arange(len(codes)) * lift.shape[1], lift.ravel()
    many = max(1, LOOKED_UP // max(1, len(codes)))
    means = []
    for first in range(0, SHUFFLES, many):
        times = min(many, SHUFFLES - first)
        means.append(flat[np.stack([rng.permutation(codes) for _ in range(times)]) + start].mean(axis=1))
    return np.concatenate(means)


def calibration(lift: Floats, codes: Codes, prior: Floats, secrets: NDArray[Any]) -> tuple[CalibrationBin, ...]:
    """For every secret, bins of equally many records by predicted lift, and the lift observed in each."""
    bins = []
    groups = int(np.clip(len(codes) // LEAST_IN_BIN, 1, MOST_BINS))
    for s, label in enumerate(secrets):
        order = np.argsort(lift[:, s], kind="stable")
        for rows in np.array_split(order, groups):
            n, hits = len(rows), int((codes[rows] == s).sum())
            low, high = binomial_limits(hits, n)
            predicted = float(np.log(np.exp(lift[rows, s]).mean()))
            with np.errstate(divide="ignore"):
                observed, least, most = (float(np.log(share / prior[s])) for share in (hits / n, low, high))
            bins.append(CalibrationBin(str(label), predicted, observed, least, most, n))
    return tuple(bins)


def binomial_limits(hits: int, n: int, *, confidence: float = 0.95) -> tuple[float, float]:
    """Clopper and Pearson's limits of a share."""
    limits = (limit(hits, n, beta=(1 - confidence) / 2) for limit in (lower_limit, upper_limit))
    low, high = map(float, limits)
    return low, high
