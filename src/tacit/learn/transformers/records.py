"""What all transformers that change records, and return them in the form they came in, have in common."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_array, check_consistent_length, check_is_fitted, validate_data

from tacit.errors import ArgumentError, ColumnError
from tacit.learn.encoding import frame_of


class RecordsTransformer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """A transformer of frames and arrays of mixed type, which is told the secret of each training record.

    A pipeline hands its target ``y`` to every step. What is to be predicted is hardly ever the secret, so ``y`` is
    used as the secret only if ``y_is="secret"`` says so.
    """

    secret: str | int | None
    y_is: Literal["secret", "use"] | None

    def fit(self, X: Any, y: Any = None, *, secret: Any = None) -> Self:
        """Learn from records ``X``.

        ``secret`` is that of each record; it may be routed through a pipeline (``set_fit_request(secret=True)``). Leave
        it out if the parameter ``secret`` names a column of ``X``, which is then not a feature, or if ``y`` is the
        secret.
        """
        X, values = self._secret_apart(X, y, secret)
        X = self._checked(X, reset=True)
        check_consistent_length(X, values)
        return self._fit(X, values, y)

    @abstractmethod
    def _fit(self, X: Any, secret: Any, y: Any) -> Self:
        """Learn from records, without the column of their secrets, and from the secrets."""

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """The names of the columns, unchanged; a column of secrets is not among them."""
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", [f"x{j}" for j in range(self.n_features_in_)])
        return np.array(names, dtype=object)

    def _secret_apart(self, X: Any, y: Any, secret: Any) -> tuple[Any, Any]:
        """The records without a column of secrets, and their secrets."""
        ways = [secret is not None, self.secret is not None, self.y_is == "secret"]
        if sum(ways) > 1:
            raise ArgumentError(
                "the secret is given twice: by fit(secret=...), by a column's name, or by y_is='secret'"
            )
        if secret is not None:
            return X, secret
        if self.secret is not None:
            return _without(X, self.secret)
        name = type(self).__name__
        if self.y_is == "secret" and y is None:
            raise ArgumentError(f"{name} requires y to be passed, but the target y is None: the secrets")
        if self.y_is == "secret":
            return X, y
        why = "was not given the secret" if y is None else "was given y, which is not assumed to be the secret"
        raise ArgumentError(
            f"{name} {why}: pass fit(..., secret=...), which {name}().set_fit_request(secret=True) routes through a "
            f"pipeline; name its column, {name}(secret='race'); or, if y is the secret, say {name}(y_is='secret')"
        )

    def _records(self, X: Any) -> Any:
        """Records to transform, checked, with or without the column of secrets."""
        check_is_fitted(self)
        if self.secret is not None:
            frame = frame_of(X)
            width = np.asarray(X).shape[-1] if frame is None else len(frame.columns)
            X = _without(X, self.secret)[0] if width == self.n_features_in_ + 1 else X
        return self._checked(X, reset=False)

    # What ``set_output`` was asked for; scikit-learn keeps it in a place of its own.
    _wanted: str | None = None

    def set_output(self, *, transform: str | None = None) -> Self:
        """Choose the kind of frame that comes out, as in scikit-learn."""
        if transform is not None:
            self._wanted = transform
        super().set_output(transform=transform)
        return self

    def __sklearn_clone__(self) -> Self:
        clone: Self = super().__sklearn_clone__()
        if self._wanted is not None:
            clone._wanted = self._wanted
        return clone

    def _as_asked(self, records: Any) -> Any:
        """A frame of its own kind, or of the kind that ``set_output`` asks for; scikit-learn can make only a few."""
        frame, wanted = frame_of(records), self._wanted or get_config()["transform_output"]
        return records if frame is None or wanted == "default" else getattr(frame, f"to_{wanted}")()

    def _checked(self, X: Any, *, reset: bool) -> Any:
        if frame_of(X) is not None:
            validate_data(self, X, reset=reset, skip_check_array=True)
            return X
        return validate_data(self, X, reset=reset, dtype=None, ensure_all_finite="allow-nan")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.target_tags.required = self.y_is is not None
        tags.non_deterministic = True
        return tags


def _without(X: Any, column: str | int) -> tuple[Any, NDArray[Any]]:
    """Records without a column, which is named or numbered, and its values."""
    frame = frame_of(X)
    if frame is None:
        array = check_array(X, dtype=None, ensure_all_finite="allow-nan")
        numbers = range(array.shape[1])
        if column not in numbers and column not in [~number for number in numbers]:
            raise ArgumentError(f"an array of {array.shape[1]} columns has no column {column!r} for the secret")
        return np.delete(array, int(column), axis=1), array[:, int(column)]
    names = list(frame.columns)
    name = names[column] if isinstance(column, int) and -len(names) <= column < len(names) else column
    if name not in names:
        raise ColumnError(str(name), [str(each) for each in names])
    return frame.drop(name).to_native(), frame[name].to_numpy()
