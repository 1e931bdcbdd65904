"""Boosted trees with early stopping: scikit-learn's to learn and to score, plain arrays to be saved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_expit, log_softmax

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

LEAST_PROBABILITY = 1e-6
# Every round grows a tree for each secret; with many secrets fewer rounds are affordable.
MOST_TREES = 900
DEEPEST = 64


@dataclass(frozen=True)
class TreeModel:
    """Boosted trees on numbers and codes of categories."""

    classifier: Any
    secrets: int

    def log_posterior(self, ordinal: Floats) -> Floats:
        """Log p(s | x); a secret that the trees never met keeps a little probability."""
        return _filled(self.classifier.predict_proba(ordinal), self.classifier.classes_, self.secrets)

    def portable(self) -> Forest:
        """The same trees as arrays: scikit-learn's own would run compiled code on whatever a file says."""
        return Forest.of(self.classifier, self.secrets)


@dataclass(frozen=True)
class Forest:
    """Trees as arrays, one entry a node. ``left`` and ``right`` are places of nodes, ``subset`` is -1 or a row.

    ``subsets[k, c]`` says whether category c goes to the left at a node whose subset is k. Columns are in the order of
    scikit-learn, categories first: ``columns`` says where each comes from, ``ordinals`` what its codes become.
    """

    roots: Codes
    grown_for: Codes
    leaf: NDArray[np.bool_]
    value: Floats
    feature: Codes
    threshold: Floats
    missing_left: NDArray[np.bool_]
    left: Codes
    right: Codes
    subset: Codes
    subsets: NDArray[np.bool_]
    columns: Codes
    ordinals: Floats
    baseline: Floats
    classes: Codes
    secrets: int

    @classmethod
    def of(cls, classifier: Any, secrets: int) -> Forest:
        """Copy a fitted HistGradientBoostingClassifier."""
        trees = [(k, tree) for round_ in classifier._predictors for k, tree in enumerate(round_)]
        nodes = np.concatenate([tree.nodes for _, tree in trees])
        starts = np.cumsum([0, *(len(tree.nodes) for _, tree in trees)])[:-1]
        shift = np.repeat(starts, [len(tree.nodes) for _, tree in trees])
        bits = np.concatenate([tree.raw_left_cat_bitsets for _, tree in trees])
        bit_starts = np.cumsum([0, *(len(tree.raw_left_cat_bitsets) for _, tree in trees)])[:-1]
        bit_shift = np.repeat(bit_starts, [len(tree.nodes) for _, tree in trees])
        columns, ordinals = _columns(classifier)
        return cls(
            roots=starts.astype(np.int64),
            grown_for=np.array([k for k, _ in trees], dtype=np.int64),
            leaf=nodes["is_leaf"].astype(bool),
            value=nodes["value"].astype(np.float64),
            feature=nodes["feature_idx"].astype(np.int64),
            threshold=nodes["num_threshold"].astype(np.float64),
            missing_left=nodes["missing_go_to_left"].astype(bool),
            left=nodes["left"].astype(np.int64) + shift,
            right=nodes["right"].astype(np.int64) + shift,
            subset=np.where(nodes["is_categorical"] == 1, nodes["bitset_idx"].astype(np.int64) + bit_shift, -1),
            subsets=np.unpackbits(bits.view(np.uint8).reshape(len(bits), 32), axis=1, bitorder="little").astype(bool),
            columns=columns,
            ordinals=ordinals,
            baseline=np.asarray(classifier._baseline_prediction, dtype=np.float64).ravel(),
            classes=np.asarray(classifier.classes_, dtype=np.int64),
            secrets=secrets,
        )

    def log_posterior(self, ordinal: Floats) -> Floats:
        """Log p(s | x), as scikit-learn's trees say it."""
        X = np.array(ordinal[:, self.columns])
        for at, ordinals in enumerate(self.ordinals):
            codes = np.nan_to_num(X[:, at], nan=0).astype(np.int64)
            X[:, at] = np.where(np.isnan(X[:, at]), np.nan, ordinals[codes])
        raw = np.tile(self.baseline, (len(X), 1))
        for root, k in zip(self.roots, self.grown_for, strict=True):
            raw[:, k] += self.value[self._leaves(X, int(root))]
        if raw.shape[1] == 1:
            posterior = np.exp(np.column_stack([log_expit(-raw[:, 0]), log_expit(raw[:, 0])]))
        else:
            posterior = np.exp(log_softmax(raw, axis=1))
        return _filled(posterior, self.classes, self.secrets)

    def _leaves(self, X: Floats, root: int) -> Codes:
        rows, at = np.arange(len(X)), np.full(len(X), root, dtype=np.int64)
        for _ in range(DEEPEST):
            if self.leaf[at].all():
                return at
            x, subset = X[rows, self.feature[at]], self.subset[at]
            missing = np.isnan(x)
            category = np.where(missing | (subset < 0), 0, x).astype(np.int64)
            within = self.subsets[subset, category] if len(self.subsets) else np.zeros(len(X), dtype=bool)
            goes_left = np.where(missing, self.missing_left[at], np.where(subset >= 0, within, x <= self.threshold[at]))
            at = np.where(self.leaf[at], at, np.where(goes_left, self.left[at], self.right[at]))
        raise ValueError(f"a tree is deeper than {DEEPEST}")


def train_trees(
    ordinal: Floats, categorical: Any, secret: Codes, learn: Codes, check: Codes, *, secrets: int, random_state: int
) -> TreeModel:
    """Grow trees until the loss on the rows ``check`` has not fallen for ten rounds."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    small = len(learn) < 20_000
    classifier = HistGradientBoostingClassifier(
        learning_rate=0.1,
        max_leaf_nodes=5 if small else 15,
        max_iter=min(150 if small else 300, max(10, MOST_TREES // secrets)),
        min_samples_leaf=max(1, min(20, len(learn) // 20)),
        l2_regularization=1.0,
        max_depth=DEEPEST // 2,
        categorical_features=categorical if np.any(categorical) else None,
        early_stopping=True,
        n_iter_no_change=10,
        tol=1e-5,
        random_state=random_state,
    )
    classifier.fit(ordinal[learn], secret[learn], X_val=ordinal[check], y_val=secret[check])
    return TreeModel(classifier, secrets)


def _filled(posterior: Floats, classes: Codes, secrets: int) -> Floats:
    filled = np.full((len(posterior), secrets), LEAST_PROBABILITY)
    filled[:, classes] = posterior.clip(min=LEAST_PROBABILITY)
    return np.asarray(np.log(filled / filled.sum(axis=1, keepdims=True)))


def _columns(classifier: Any) -> tuple[Codes, Floats]:
    """Where each of scikit-learn's columns comes from, and for each category which number its code becomes."""
    if classifier._preprocessor is None:
        return np.arange(classifier.n_features_in_), np.empty((0, 256))
    is_category = np.asarray(classifier.is_categorical_, dtype=bool)
    columns = np.concatenate([np.flatnonzero(is_category), np.flatnonzero(~is_category)])
    met = classifier._preprocessor.named_transformers_["encoder"].categories_
    ordinals = np.full((len(met), 256), np.nan)
    for at, categories in enumerate(met):
        known = categories[~np.isnan(categories)].astype(np.int64)
        ordinals[at, known] = np.arange(len(known))
    return columns, ordinals
