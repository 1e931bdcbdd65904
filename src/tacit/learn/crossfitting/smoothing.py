"""Counts of released values, smoothed towards independence by as much as the counts themselves call for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import betaincinv, gammaln

from tacit.learn.arrays import Codes, Floats
from tacit.learn.encoding import Features
from tacit.lift import lower_limit, upper_limit

STRONGEST_SMOOTHING = 1e6


@dataclass(frozen=True)
class CountTable:
    """Distinct released values (rows of comparable numbers) and how many records of each secret they hold."""

    values: Floats
    counts: Floats
    prior: Floats
    smoothing: float

    @classmethod
    def learn(cls, features: Features, secret: Codes, prior: Floats, smoothing: float | None) -> CountTable:
        """Count; a ``smoothing`` of None is chosen by the counts themselves."""
        values, value = np.unique(_keys(features), axis=0, return_inverse=True)
        counts = np.zeros((len(values), len(prior)))
        np.add.at(counts, (value.ravel(), secret), 1.0)
        return cls(values, counts, prior, best_smoothing(counts, prior) if smoothing is None else float(smoothing))

    def of(self, features: Features) -> Floats:
        """The counts behind every record; zeros for a value that was not seen."""
        _, place = np.unique(np.vstack([self.values, _keys(features)]), axis=0, return_inverse=True)
        place = place.ravel()
        row = np.full(place.max(initial=0) + 1, len(self.values))
        row[place[: len(self.values)]] = np.arange(len(self.values))
        padded = np.vstack([self.counts, np.zeros(self.counts.shape[1])])
        return np.asarray(padded[row[place[len(self.values) :]]])

    def interval(self, features: Features, confidence: float) -> tuple[Floats, Floats]:
        """Ends of every log-lift: of the Dirichlet model, or Clopper and Pearson's where nothing is smoothed."""
        counts, tail = self.of(features), (1 - confidence) / 2
        size = counts.sum(axis=1, keepdims=True)
        if self.smoothing == 0:
            low, high = lower_limit(counts, size, beta=tail), upper_limit(counts, size, beta=tail)
        else:
            a, b = counts + self.smoothing * self.prior, size - counts + self.smoothing * (1 - self.prior)
            low, high = betaincinv(a, b, tail), betaincinv(a, b, 1 - tail)
        with np.errstate(divide="ignore"):
            return np.log(low / self.prior), np.log(high / self.prior)

    def log_posterior(self, features: Features) -> Floats:
        """Log p(s | x); for a value that was not seen, the prior."""
        lift = smoothed_log_lift(self.of(features), self.prior, self.smoothing)
        lift[np.isneginf(lift).all(axis=1)] = 0.0
        return lift + np.log(self.prior)


def smoothed_log_lift(counts: Floats, prior: Floats, smoothing: float) -> Floats:
    """log (c(s,x) + a p(s)) / ((c(x) + a) p(s)) for rows of counts; minus infinity throughout a row of zeros."""
    size = counts.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        lift = np.log(counts + smoothing * prior) - np.log(size + smoothing) - np.log(prior)
    lift[(size == 0).ravel()] = -np.inf
    return np.asarray(lift)


def best_smoothing(counts: Floats, prior: Floats) -> float:
    """The strength of a Dirichlet prior about ``prior`` under which the counts are likeliest."""
    sizes = counts.sum(axis=1)
    counts, sizes = counts[sizes > 1], sizes[sizes > 1]
    if not len(sizes):
        # Values that occur once do not show how values differ, so nothing may be concluded from them.
        return STRONGEST_SMOOTHING

    def unlikely(log_strength: float) -> float:
        a = np.exp(log_strength)
        rows = gammaln(a) - gammaln(sizes + a)
        cells = gammaln(counts + a * prior) - gammaln(a * prior)
        return -float(rows.sum() + cells.sum())

    best = minimize_scalar(unlikely, bounds=(np.log(1e-3), np.log(STRONGEST_SMOOTHING)), method="bounded")
    return float(np.exp(best.x))


def _keys(features: Features) -> Floats:
    """One row of comparable numbers per record; a missing number is a value like any other."""
    if features.sparse is not None:
        return np.asarray(features.sparse.toarray())
    numbers = np.where(np.isnan(features.numbers), np.inf, features.numbers)
    return np.hstack([numbers + 0.0, features.codes.astype(np.float64)])
