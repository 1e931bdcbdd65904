"""What transformers have in common that change records and give them back in the form they came in."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from tacit.learn.encoding import frame_of


class RecordsTransformer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """A transformer of frames and arrays of mixed type, whose columns stay and whose draws are by chance."""

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """The names of the columns, which stay as they are."""
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", [f"x{j}" for j in range(self.n_features_in_)])
        return np.array(names, dtype=object)

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
        tags.target_tags.required = True
        tags.non_deterministic = True
        return tags
