"""One contract for all estimators of log-lift: ``fit(X, s)``, ``log_lift(X)``, ``score_samples(X)``, ``secrets_``."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from tacit.errors import ArgumentError, ColumnError, DataError
from tacit.learn.arrays import Codes, Floats, one_thread
from tacit.learn.encoding import (
    Encoder,
    Features,
    RecordCells,
    cells_of_array,
    cells_of_frame,
    cells_of_sparse,
    frame_of,
    spoken_secrets,
)


def _holds_text(rows: Sequence[Any]) -> bool:
    return any(isinstance(row, (list, tuple)) and any(isinstance(cell, str) for cell in row) for row in rows)


class LogLiftEstimator(ClassifierMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """What all estimators of log-lift have in common.

    It is a classifier of the secret (``predict_proba`` is the posterior p(s) e^{i(s,x)}) and a transformer
    (``transform`` is ``log_lift``), so it fits into pipelines and grid searches. ``score`` is the mean log-lift of the
    true secrets, in nats: on records that were not trained on it estimates the mutual information from below.

    Attributes
    ----------
    secrets_ : array
        Values of the secret, in the order of the columns of ``log_lift``; ``classes_`` is the same array.
    prior_ : array
        Their shares among the training records.
    """

    categorical_features: Sequence[Any] | None = None

    @abstractmethod
    def _learn(self, features: Features, secret: Codes) -> None:
        """Learn from encoded records; ``self.encoder_``, ``self.secrets_`` and ``self.prior_`` are set."""

    @abstractmethod
    def _log_lift(self, features: Features) -> Floats:
        """Log-lift of encoded records, records x secrets."""

    @abstractmethod
    def _interval(self, features: Features, confidence: float, simultaneous: bool) -> tuple[Floats, Floats]:
        """Ends of the log-lift of encoded records."""

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from records ``X`` and their secrets ``y``."""
        cells = self._cells(X, reset=True)
        if y is None:
            raise ArgumentError(f"{type(self).__name__} requires y to be passed, but the target y is None: the secrets")
        secret = column_or_1d(np.asarray(y), warn=True)
        if len(secret) != len(cells):
            raise DataError(f"{len(cells):,} records and {len(secret):,} secrets: inconsistent numbers of samples")
        if secret.dtype == object:
            secret = spoken_secrets(secret)
        elif secret.dtype.kind == "f" and not np.isfinite(secret).all():
            raise DataError("Input y contains NaN or infinity: every record needs a secret")
        check_classification_targets(secret)
        self.secrets_, codes = np.unique(secret, return_inverse=True)
        self.classes_ = self.secrets_
        if len(self.secrets_) < 2:
            raise DataError(
                f"the secret has one class, {self.secrets_[0]!r}, in n_samples={len(secret)}: nothing varies"
            )
        self.prior_ = np.bincount(codes) / len(codes)
        self.encoder_ = Encoder.learn(cells)
        with one_thread():
            self._learn(self.encoder_.encode(cells), codes)
        return self

    def log_lift(self, X: Any) -> Floats:
        """i(s, x) in nats for every record (rows) and every secret (columns, in the order of ``secrets_``)."""
        features = self._encoded(X)
        with one_thread():
            return self._log_lift(features)

    def log_lift_interval(
        self, X: Any, *, confidence: float = 0.95, simultaneous: bool = False
    ) -> tuple[Floats, Floats]:
        """Lower and upper end of every log-lift, records x secrets.

        An interval is meant for one pair; ``simultaneous`` ones, which are wider, for all secrets of a record at once.
        Each estimator documents how it makes them: they are estimates, and certify nothing. A lower end is minus
        infinity where the pair may never occur. A cell unlike any that was learned from may mean anything.
        """
        if not 0 < confidence < 1:
            raise ArgumentError(f"confidence is a probability between 0 and 1; got {confidence}")
        features = self._encoded(X)
        with one_thread():
            low, high = self._interval(features, confidence, simultaneous)
        low[features.unseen], high[features.unseen] = -np.inf, -np.log(self.prior_)
        return low, high

    def score_samples(self, X: Any) -> Floats:
        """Risk of every record: the largest absolute log-lift over the secrets.

        A record with a cell unlike any that was learned from (a level never met, a missing cell where none was missing,
        a number far out of range) has infinite risk: whatever the other cells say, nobody knows what that one does.
        """
        features = self._encoded(X)
        with one_thread():
            risk = np.abs(self._log_lift(features)).max(axis=1)
        return np.where(features.unseen, np.inf, risk)

    def unseen(self, X: Any) -> NDArray[np.bool_]:
        """Which records have a cell unlike any that was learned from, so that their log-lift is a mere guess."""
        return self._encoded(X).unseen

    def transform(self, X: Any) -> Floats:
        """The same as ``log_lift``, for pipelines."""
        return self.log_lift(X)

    def predict_log_proba(self, X: Any) -> Floats:
        """Log of the posterior of every secret."""
        lift = self.log_lift(X)
        # A value that was never seen tells nothing: the adversary is left with the prior.
        lift[np.isneginf(lift).all(axis=1)] = 0.0
        joint = np.log(self.prior_) + lift
        return np.asarray(joint - np.logaddexp.reduce(joint, axis=1, keepdims=True))

    def predict_proba(self, X: Any) -> Floats:
        """Posterior of every secret: what an adversary believes after seeing the record."""
        return np.asarray(np.exp(self.predict_log_proba(X)))

    def predict(self, X: Any) -> NDArray[Any]:
        """The likeliest secret: an adversary's guess."""
        likeliest = self.predict_log_proba(X).argmax(axis=1)
        return np.asarray(self.secrets_[likeliest])

    def score(self, X: Any, y: Any) -> float:
        """Mean log-lift of the true secrets (nats); on fresh records, an estimate of I(S;X) from below."""
        lift = self.log_lift(X)
        secret = np.asarray(y).astype(self.secrets_.dtype)
        place = np.searchsorted(self.secrets_, secret).clip(max=len(self.secrets_) - 1)
        known = self.secrets_[place] == secret
        return float(np.where(known, lift[np.arange(len(lift)), place], -np.inf).mean())

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """``log_lift_<secret>`` for every secret."""
        check_is_fitted(self)
        return np.array([f"log_lift_{secret}" for secret in self.secrets_], dtype=object)

    @property
    def _n_features_out(self) -> int:
        return len(self.secrets_)

    def _encoded(self, X: Any) -> Features:
        check_is_fitted(self)
        return self.encoder_.encode(self._cells(X, reset=False))

    def _cells(self, X: Any, *, reset: bool) -> RecordCells:
        frame = frame_of(X)
        if frame is not None:
            if not len(frame) or not frame.columns:
                raise DataError(f"Found array with {len(frame)} sample(s) and {len(frame.columns)} feature(s): no data")
            validate_data(self, X, reset=reset, skip_check_array=True)
            return cells_of_frame(frame, as_category=self._as_category(list(frame.columns)))
        if isinstance(X, (list, tuple)) and _holds_text(X):
            # numpy would turn numbers next to text into text.
            X = np.array(X, dtype=object)
        array = validate_data(self, X, reset=reset, accept_sparse="csr", dtype=None, ensure_all_finite="allow-nan")
        if sparse.issparse(array):
            return cells_of_sparse(sparse.csr_array(array, dtype=np.float64))
        if array.dtype.kind == "c":
            raise DataError("Complex data not supported: records are numbers, categories or missing")
        return cells_of_array(array, as_category=self._as_category(range(array.shape[1])))

    def _as_category(self, names: Sequence[Any]) -> frozenset[int]:
        wanted = self.categorical_features
        if wanted is None:
            return frozenset()
        places = []
        for name in wanted:
            if name in names:
                places.append(list(names).index(name))
            elif isinstance(name, (int, np.integer)) and 0 <= name < len(names):
                places.append(int(name))
            else:
                raise ColumnError(str(name), [str(known) for known in names])
        return frozenset(places)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        for kind in ("allow_nan", "sparse", "string", "categorical"):
            setattr(tags.input_tags, kind, True)
        tags.transformer_tags.preserves_dtype = []
        tags.target_tags.required = True
        return tags
