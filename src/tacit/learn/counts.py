"""``CountLogLift``: log-lift by counting, smoothed towards independence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from tacit.errors import ArgumentError
from tacit.learn.arrays import Codes, Floats
from tacit.learn.contract import LogLiftEstimator
from tacit.learn.crossfitting.smoothing import CountTable, smoothed_log_lift
from tacit.learn.encoding import Features


class CountLogLift(LogLiftEstimator):
    """Count the records of every released value; add pseudo-records that follow the prior.

    Parameters
    ----------
    smoothing : float or "auto"
        Pseudo-records added to every value. 0 is the plug-in: exact for the table, and minus infinity for a pair that
        never occurs. "auto" takes the number under which the counts are likeliest (empirical Bayes, a Dirichlet
        prior): large where values look alike, small where they differ.
    categorical_features : sequence of names or places, optional
        Columns to be read as categories although they hold numbers: '1' and '1.0' are then two values.

    Attributes
    ----------
    table_ : CountTable
        Values, counts and the smoothing used.

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
        wanted = self.smoothing
        if wanted != "auto" and not (isinstance(wanted, (int, float)) and wanted >= 0):
            raise ArgumentError(f"smoothing is a number of records, 0 or more, or 'auto'; got {wanted!r}")
        self.table_ = CountTable.learn(features, secret, self.prior_, None if wanted == "auto" else wanted)

    def _log_lift(self, features: Features) -> Floats:
        return smoothed_log_lift(self.table_.of(features), self.prior_, self.table_.smoothing)

    def _interval(self, features: Features, confidence: float, simultaneous: bool) -> tuple[Floats, Floats]:
        """Credible interval of the Dirichlet model; Clopper and Pearson's where nothing is smoothed."""
        low, high = self.table_.interval(features, 1 - (1 - confidence) / (len(self.prior_) if simultaneous else 1))
        # A value never seen may be anything.
        unseen = self.table_.of(features).sum(axis=1) == 0
        low[unseen], high[unseen] = -np.inf, -np.log(self.prior_)
        return low, high
