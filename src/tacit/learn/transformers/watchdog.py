"""``Watchdog``: a transformer that lets harmless records through and replaces the risky ones."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from tacit.errors import ArgumentError, DataError
from tacit.learn.contract import LogLiftEstimator
from tacit.learn.encoding import frame_of
from tacit.learn.naming import estimator_named
from tacit.learn.transformers.noise import drawn_places, words_from
from tacit.learn.transformers.records import RecordsTransformer


class Watchdog(RecordsTransformer):
    """The watchdog mechanism for records whose log-lift is learned.

    ``fit`` learns the log-lift and remembers the pool of risky records; ``transform`` replaces each risky record by one
    drawn from that pool without looking at it, and leaves all others unchanged.

    Parameters
    ----------
    secret : str or int, optional
        The column of the secrets, by name or number, where it is among the records; ``fit`` takes it out, and so does
        ``transform``. Otherwise secrets are given to ``fit(X, secret=...)``.
    y_is : "secret", optional
        That ``y`` holds the secrets. Without it, ``y`` is never used: a pipeline gives its target to every step.
    epsilon : float
        A record is risky if its estimated risk exceeds this many nats.
    estimator : str or LogLiftEstimator
        How log-lift is learned: "auto", "counts", "trees", ... or an estimator.
    random_state : int, RandomState or None
        For the learning and the draws. None draws from the system's secure source.

    Attributes
    ----------
    estimator_ : LogLiftEstimator
    pool_ : array or frame
        The risky records of the training table, which replacements are drawn from.
    merged_epsilon_ : float
        The largest absolute log-lift of "the record was risky", counted on the training table. It holds for that table
        exactly. For the records that are let through there is only an estimate, which certifies nothing; for a release
        with a certificate use ``tacit.protect``.

    Guarantees
    ----------
    What replaces a risky record is independent of the record and of its secret.
    """

    def __init__(
        self,
        *,
        secret: str | int | None = None,
        y_is: Literal["secret"] | None = None,
        epsilon: float = 1.0,
        estimator: str | LogLiftEstimator = "auto",
        random_state: Any = None,
    ) -> None:
        self.secret = secret
        self.y_is = y_is
        self.epsilon = epsilon
        self.estimator = estimator
        self.random_state = random_state

    def _fit(self, X: Any, secret: Any, y: Any) -> Self:
        if not self.epsilon >= 0:
            raise ArgumentError(f"epsilon must be a number of nats, 0 or more; got {self.epsilon}")
        named = isinstance(self.estimator, str)
        estimator = estimator_named(self.estimator, random_state=self.random_state) if named else clone(self.estimator)
        self.estimator_ = estimator.fit(X, secret)
        risky = self.estimator_.score_samples(X) > self.epsilon
        self.pool_ = _rows(X, np.flatnonzero(risky))
        values = np.asarray(secret)
        self.merged_epsilon_ = 0.0
        if risky.any():
            shares = np.array([(values[risky] == s).mean() / (values == s).mean() for s in np.unique(values)])
            with np.errstate(divide="ignore"):
                self.merged_epsilon_ = float(np.abs(np.log(shares)).max())
        return self

    def transform(self, X: Any) -> Any:
        """The records, the risky ones replaced; in the form they came in."""
        X = self._records(X)
        risky = np.flatnonzero(self.estimator_.score_samples(X) > self.epsilon)
        if not len(risky):
            return self._as_asked(X)
        if not len(self.pool_):
            raise DataError("a record is risky, and no training record was: there is nothing to replace it by")
        source = np.arange(len(X))
        source[risky] = len(X) + drawn_places(words_from(self.random_state)(len(risky)), len(self.pool_))
        return self._as_asked(_gathered(X, self.pool_, source))


def _rows(X: Any, rows: NDArray[np.int64]) -> Any:
    frame = frame_of(X)
    return X[rows] if frame is None else frame[rows].to_native()


def _gathered(X: Any, pool: Any, source: NDArray[np.int64]) -> Any:
    """Rows of the table with the pool below it."""
    frame = frame_of(X)
    if frame is None:
        return np.concatenate([X, pool])[source]
    import narwhals as nw

    gathered = nw.concat([frame, frame_of(pool)])[source].to_native()
    if hasattr(gathered, "index"):
        gathered.index = X.index
    return gathered
