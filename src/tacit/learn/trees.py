"""Boosted trees with early stopping, scikit-learn's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

LEAST_PROBABILITY = 1e-6


@dataclass(frozen=True)
class TreeModel:
    """Boosted trees on numbers and codes of categories."""

    classifier: Any
    secrets: int

    def log_posterior(self, ordinal: Floats) -> Floats:
        """Log p(s | x); a secret that the trees never met keeps a little probability."""
        posterior = np.full((len(ordinal), self.secrets), LEAST_PROBABILITY)
        posterior[:, self.classifier.classes_] = self.classifier.predict_proba(ordinal).clip(min=LEAST_PROBABILITY)
        return np.asarray(np.log(posterior / posterior.sum(axis=1, keepdims=True)))


def train_trees(
    ordinal: Floats, categorical: Any, secret: Codes, learn: Codes, check: Codes, *, secrets: int, random_state: int
) -> TreeModel:
    """Grow trees until the loss on the rows ``check`` has not fallen for ten rounds."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    small = len(learn) < 20_000
    classifier = HistGradientBoostingClassifier(
        learning_rate=0.1,
        max_leaf_nodes=5 if small else 15,
        max_iter=150 if small else 300,
        min_samples_leaf=max(1, min(20, len(learn) // 20)),
        l2_regularization=1.0,
        categorical_features=categorical if np.any(categorical) else None,
        early_stopping=True,
        n_iter_no_change=10,
        tol=1e-5,
        random_state=random_state,
    )
    classifier.fit(ordinal[learn], secret[learn], X_val=ordinal[check], y_val=secret[check])
    return TreeModel(classifier, secrets)
