"""``CountLogLift``: log-lift by counting, smoothed towards independence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import betainc, betaincinv, gammaln

from tacit.errors import ArgumentError
from tacit.learn.contract import Codes, Floats, LogLiftEstimator
from tacit.learn.encoding import Features

STRONGEST_SMOOTHING = 1e6


class CountLogLift(LogLiftEstimator):
    """Count the records of every released value; add pseudo-records that follow the prior.

    Parameters
    ----------
    smoothing : float or "auto"
        Pseudo-records added to every value. 0 is the plug-in: exact for the table, and minus infinity for a pair that
        never occurs. "auto" takes the number under which the counts are likeliest (empirical Bayes, a Dirichlet
        prior): large where values look alike, small where they differ.
    categorical_features : sequence of names or places, optional
        Columns to be read as categories although they hold numbers. Here it matters only for how cells are compared.

    Attributes
    ----------
    smoothing_ : float
        What was used.

    Guarantees
    ----------
    A value that was not seen while learning has log-lift minus infinity for every secret, hence infinite risk. For all
    others the posteriors p(s) e^{i(s,x)} add up to 1.
    """

    def __init__(
        self, *, smoothing: float | Literal["auto"] = "auto", categorical_features: Sequence[Any] | None = None
    ) -> None:
        self.smoothing = smoothing
        self.categorical_features = categorical_features

    def _learn(self, features: Features, secret: Codes) -> None:
        if self.smoothing != "auto" and not (isinstance(self.smoothing, (int, float)) and self.smoothing >= 0):
            raise ArgumentError(f"smoothing is a number of records, 0 or more, or 'auto'; got {self.smoothing!r}")
        keys = _keys(features)
        self.values_, value = np.unique(keys, axis=0, return_inverse=True)
        self.counts_ = np.zeros((len(self.values_), len(self.secrets_)))
        np.add.at(self.counts_, (value.ravel(), secret), 1.0)
        self.smoothing_ = best_smoothing(self.counts_, self.prior_) if self.smoothing == "auto" else self.smoothing

    def _log_lift(self, features: Features) -> Floats:
        return smoothed_log_lift(self._counts(features), self.prior_, self.smoothing_)

    def log_lift_interval(self, X: Any, *, confidence: float = 0.95) -> tuple[Floats, Floats]:
        """Equal-tailed interval of every log-lift.

        With smoothing it is the credible interval of the Dirichlet model, without it Clopper and Pearson's interval of
        the posterior, both over the prior as counted. A value never seen may be anything.
        """
        checked_confidence(confidence)
        counts = self._counts(self.encoder_.encode(self._cells(X, reset=False)))
        size = counts.sum(axis=1, keepdims=True)
        tail = (1 - confidence) / 2
        a, b = counts + self.smoothing_ * self.prior_, size - counts + self.smoothing_ * (1 - self.prior_)
        if self.smoothing_ == 0:
            low = np.where(counts > 0, betaincinv(np.maximum(counts, 1), size - counts + 1, tail), 0.0)
            high = np.where(counts < size, betaincinv(counts + 1, np.maximum(size - counts, 1), 1 - tail), 1.0)
        else:
            low, high = betaincinv(a, b, tail), betaincinv(a, b, 1 - tail)
        unseen = (size == 0).ravel()
        low[unseen], high[unseen] = 0.0, 1.0
        with np.errstate(divide="ignore"):
            return np.log(low / self.prior_), np.log(high / self.prior_)

    def _counts(self, features: Features) -> Floats:
        keys = _keys(features)
        both = np.vstack([self.values_, keys])
        _, place = np.unique(both, axis=0, return_inverse=True)
        place = place.ravel()
        row = np.full(place.max(initial=0) + 1, len(self.values_))
        row[place[: len(self.values_)]] = np.arange(len(self.values_))
        padded = np.vstack([self.counts_, np.zeros(len(self.secrets_))])
        return np.asarray(padded[row[place[len(self.values_) :]]])
