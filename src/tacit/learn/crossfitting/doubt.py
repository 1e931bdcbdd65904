"""Intervals: how much the spread over models must be stretched to cover what is true.

Models of overlapping records agree more than they are right, and what they all get wrong does not show in their spread.
So the spread is tried out in a world whose log-lift is known: secrets are drawn anew from what the models of one fold
say, and everything is learned again. The models of one fold, not the mean over folds, which is smoother than the truth,
and so easier to learn.

No interval of single log-lifts can be right for every population: where hardly a record occurs twice, it would have to
be as wide as knowing nothing (Barber, *Is distribution-free inference possible for binary regression?*, EJS 2020). An
interaction that no learner found is in no spread, so held-out records are searched for it, and no interval is narrower
than what that search may overlook. What was covered where the truth is known is in the benchmarks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from tacit.learn.arrays import Codes, Floats
from tacit.learn.grids.search import most_searched, overlooked
from tacit.lift import lower_limit, upper_limit

# The larger factor of two worlds is used: within one world, errors are shared by all records. Aiming at 95% in one
# world covered 91 to 99% in nineteen samples whose truth is known, so the aim is a little higher.
WORLDS, AIM, USUAL_CONFIDENCE = 2, 0.97, 0.95
# Where there are fewer records than this of a secret (or without it) at the end of the scale, only counting is used.
FEW = 10


def redrawn(lift: Floats, prior: Floats, random_state: np.random.Generator) -> Codes:
    """A secret for every record, drawn from the posterior p(s) e^{i(s,x)}."""
    chances = (prior * np.exp(lift)).cumsum(axis=1)
    threshold = random_state.random((len(lift), 1)) * chances[:, -1:]
    return np.asarray((chances < threshold).sum(axis=1).clip(max=len(prior) - 1))


def stretch(learned: Floats, known: Floats, spread: Floats, least: Floats) -> Floats:
    """Factors with which 97% of known log-lifts are within 1.96 spreads: for each secret, and last for all at once."""
    ratio = np.abs(learned - known) / _widened(spread, least)
    each = np.maximum(np.quantile(ratio, AIM, axis=0), np.quantile(ratio, AIM))
    return np.append(each, np.quantile(ratio.max(axis=1), AIM)) / _reach(USUAL_CONFIDENCE)


def least_error(prior: Floats, *, records: int, columns: int) -> Floats:
    """The standard error of a log-lift that depends on every column by one number: nobody can know it better.

    It is the doubt that remains where models learned nothing and so agree that there is nothing.
    """
    return np.asarray(np.sqrt((columns + 1) * (1 - prior) / (prior * records)))


def overlooked_error(prior: Floats, *, records: int, columns: int) -> Floats:
    """How far an interaction that the search for grids may overlook moves a log-lift, as a mean over records."""
    # Learners see four records of five.
    searched = min(records * 4 // 5, most_searched(len(prior)))
    return np.asarray(np.sqrt(overlooked(records=searched, columns=columns) * (1 - prior) / prior))


@dataclass(frozen=True)
class Tail:
    """The low end of a scale, for every secret: where the first few events are, and the records below the next one."""

    levels: Floats
    sizes: Floats

    @classmethod
    def of(cls, scores: Floats, events: NDArray[np.bool_]) -> Tail:
        """``scores`` and ``events`` are records x secrets."""
        n, secrets = scores.shape
        levels, sizes = np.full((secrets, FEW), np.inf), np.full((secrets, FEW), float(n))
        for s in range(secrets):
            order = np.argsort(scores[:, s], kind="stable")
            at = np.flatnonzero(events[order, s])[:FEW]
            levels[s, : len(at)], sizes[s, : len(at)] = scores[order[at], s], at
        return cls(levels, sizes)

    def least_share(self, scores: Floats, beta: float) -> Floats:
        """The least share of events (Clopper and Pearson) among records scored no higher; 1 where they are not few."""
        limits = lower_limit(np.arange(FEW), np.maximum(self.sizes, np.arange(FEW)), beta=beta)
        shares = np.empty_like(scores)
        for s, (levels, limit) in enumerate(zip(self.levels, limits, strict=True)):
            shares[:, s] = np.append(limit, 1.0)[np.searchsorted(levels, scores[:, s], side="right")]
        return shares


@dataclass(frozen=True)
class Doubt:
    """What turns a log-lift and a spread into an interval."""

    prior: Floats
    least: Floats
    factors: Floats
    hits: Tail
    misses: Tail
    records: int
    overlooked: Floats

    @classmethod
    def of(
        cls,
        prior: Floats,
        least: Floats,
        factors: Floats,
        apart: Floats,
        secret: Codes,
        overlooked: Floats | None = None,
    ) -> Doubt:
        """``apart`` is what models said about the training records that they did not see."""
        hit = secret[:, None] == np.arange(len(prior))
        unseen = np.zeros(len(prior)) if overlooked is None else overlooked
        return cls(prior, least, factors, Tail.of(apart, hit), Tail.of(-apart, ~hit), len(secret), unseen)

    def interval(
        self,
        middle: Floats,
        spread: Floats,
        absent: NDArray[np.bool_],
        differ: Floats | float = 0.0,
        *,
        confidence: float,
        simultaneous: bool,
    ) -> tuple[Floats, Floats]:
        """Lower and upper end, at least as far out as the least error says, and as an overlooked interaction may be.

        What learners ``differ`` by is added to the stretched spread of folds, which shows only how each of them wavers.

        No posterior exceeds 1, so no log-lift exceeds minus the logarithm of the prior: of the least prior that the
        number of records of the secret allows (Clopper and Pearson).

        At the ends of the scale, where few records of a secret were seen at or below a log-lift (or few others above),
        the interval is no narrower than counting these leaves open: down to minus infinity where there was none. It
        also reaches minus infinity where a secret is ``absent``; there the others reach as high as they are if it is.

        What is not known of a secret that was met a few times is not known of the others either: where it may be
        likelier, they may be less likely, and the other way round.
        """
        apart = 1 - (1 - confidence) / len(self.prior) if simultaneous else confidence
        factor = self.factors[-1] if simultaneous else self.factors[:-1]
        stretched = _reach(confidence) * factor * _widened(spread, self.least)
        reach = np.maximum(np.hypot(stretched, _reach(apart) * differ), _reach(apart) * self.least)
        reach = np.maximum(reach, _reach(apart) / _reach(USUAL_CONFIDENCE) * self.overlooked)
        beta = (1 - apart) / 2
        counts = np.round(self.prior * self.records)
        gone = np.where(absent, self.prior * np.exp(middle), 0.0).sum(axis=1, keepdims=True)
        rest = np.where(absent, 0.0, -np.log1p(-np.minimum(gone, 1 - 1e-12)))
        with np.errstate(divide="ignore"):
            least, most = (np.log(limit(counts, self.records, beta=beta)) for limit in (lower_limit, upper_limit))
            lowest = np.log(self.hits.least_share(middle, beta)) - most
            left = self.misses.least_share(-middle, beta)
            highest = np.where(left < 1, np.log1p(-np.minimum(left, 1 - 1e-12)) - least, -np.inf)
        low, high = np.minimum(middle - reach, lowest), np.maximum(middle + reach + rest, highest)
        # Of a secret that was met a few times, nobody knows where it does not occur.
        few = counts < FEW
        low[absent | few] = -np.inf
        high = np.minimum(high, np.maximum(-least, middle))
        if few.any():
            claimed = (self.prior * np.exp(middle))[:, few].sum(axis=1, keepdims=True)
            possible = np.exp(most + high)[:, few].sum(axis=1, keepdims=True)
            with np.errstate(divide="ignore"):
                others = middle + np.log(self.prior) - np.log1p(-np.minimum(claimed, 1 - 1e-12))
                fewest = others + np.log1p(-np.minimum(possible, 1.0)) - most
            low = np.where(few, low, np.minimum(low, fewest))
            high = np.where(few, high, np.maximum(high, others - least))
        return low, high


def _widened(spread: Floats, least: Floats) -> Floats:
    # Even where all models agree to the last digit they may all be wrong.
    return np.hypot(spread, least / 2)


def _reach(confidence: float) -> float:
    return float(ndtri(0.5 + confidence / 2))
