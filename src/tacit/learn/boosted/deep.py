"""scikit-learn's histogram boosting with early stopping, read out into arrays that numpy scores.

It finds interactions that no single column shows, which the quick trees of ``quick.py`` seldom do, and takes a second
for 10^5 records. What it learns has no public form, so its trees are read out once, when they are grown (the tests
compare them with what scikit-learn predicts). A saved model holds arrays, which no compiled code of scikit-learn reads.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax

from tacit.learn.arrays import Codes, Floats

RATE, PENALTY, MOST_LEAVES = 0.1, 1.0, 31
# The most rounds, and how many without a better loss on held-out records end the training. With few records the first
# trees follow noise, until one happens to ask what an interaction needs: that takes more patience.
MOST_ROUNDS, PATIENCE, LONG_PATIENCE, FEW = 120, 10, 40, 10_000
# Codes of a category that are told apart: the commonest, and all others as one.
MOST_CODES = 255
LEAST_PROBABILITY = 1e-6
CELLS_AT_ONCE = 4_000_000


@dataclass(frozen=True)
class BoostedModel:
    """Trees as arrays, one entry per question: its tree, its column, and what it asks.

    A number is asked whether it exceeds ``threshold``, a category whether its code is among ``chosen``. The answer yes
    (for a missing cell, ``if_missing``) leaves only the leaves whose bits are set in ``leaves``; the first leaf that
    all answers leave is the record's, and ``values`` (trees x leaves) says what it adds. The secrets in ``met`` were
    met; each has a tree in turn, or, if there are two, only the second.
    """

    start: Floats
    met: Codes
    secrets: int
    categorical: NDArray[np.bool_]
    values: Floats
    tree: Codes
    column: Codes
    threshold: Floats
    chosen: NDArray[np.bool_]
    if_missing: NDArray[np.bool_]
    leaves: NDArray[np.uint32]

    def log_posterior(self, ordinal: Floats) -> Floats:
        """Log p(s | x); a secret that the trees never met keeps a little probability."""
        scores = np.tile(self.start, (len(ordinal), 1))
        # All questions to a column at once: the leaves they leave, for every answer and tree.
        tables = [(c, *self._table(c)) for c in np.unique(self.column)]
        step = max(1, CELLS_AT_ONCE // max(1, len(self.values)))
        for begin in range(0, len(ordinal) if len(self.values) else 0, step):
            rows = slice(begin, begin + step)
            left = np.full((len(ordinal[rows]), len(self.values)), 2**32 - 1, dtype=np.uint32)
            for c, cuts, table in tables:
                left &= table[_place(_coded(ordinal[rows, c]) if self.categorical[c] else ordinal[rows, c], cuts)]
            first = np.bitwise_count((left & (~left + np.uint32(1))) - np.uint32(1))
            said = self.values[np.arange(len(self.values)), first]
            scores[rows] += said.reshape(len(said), -1, scores.shape[1]).sum(axis=1)
        if scores.shape[1] < len(self.met):
            scores = np.hstack([np.zeros_like(scores), scores])
        logs = np.full((len(ordinal), self.secrets), np.log(LEAST_PROBABILITY))
        logs[:, self.met] = log_softmax(scores, axis=1)
        return np.asarray(log_softmax(logs, axis=1))

    def _table(self, column: int) -> tuple[Floats, NDArray[np.uint32]]:
        """Cuts of a column, and the leaves left below the first, between every two, above the last, and if missing."""
        here = self.column == column
        tree, leaves = self.tree[here], self.leaves[here]
        if self.categorical[column]:
            cuts = np.arange(MOST_CODES) + 0.5
            question, place = np.nonzero(self.chosen[here])
        else:
            cuts, place = np.unique(self.threshold[here], return_inverse=True)
            question, place = np.arange(len(tree)), place.ravel() + 1
        table = np.full((len(cuts) + 2, len(self.values)), 2**32 - 1, dtype=np.uint32)
        np.bitwise_and.at(table, (place, tree[question]), leaves[question])
        if not self.categorical[column]:
            table = np.bitwise_and.accumulate(table, axis=0)
        table[-1] = 2**32 - 1
        missing = self.if_missing[here]
        np.bitwise_and.at(table, (-1, tree[missing]), leaves[missing])
        return np.asarray(cuts, dtype=np.float64), table


def _place(cells: Floats, cuts: Floats) -> Codes:
    return np.where(np.isnan(cells), len(cuts) + 1, np.searchsorted(cuts, cells))


def _coded(codes: Floats) -> Floats:
    return np.minimum(codes, MOST_CODES - 1)


def train_boosting(
    ordinal: Floats, categorical: Any, secret: Codes, learn: Codes, check: Codes, *, secrets: int, random_state: int
) -> BoostedModel:
    """Grow trees until the loss on the rows ``check`` has not fallen for some rounds; keep those of the best."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    # scikit-learn numbers categories first, so they are given first.
    order = np.argsort(~np.asarray(categorical), kind="stable")
    records = np.where(categorical, _coded(ordinal), ordinal)[:, order]
    boosting = HistGradientBoostingClassifier(
        learning_rate=RATE,
        max_iter=MOST_ROUNDS,
        max_leaf_nodes=MOST_LEAVES,
        l2_regularization=PENALTY,
        categorical_features=np.asarray(categorical)[order],
        early_stopping=True,
        n_iter_no_change=LONG_PATIENCE if len(learn) < FEW else PATIENCE,
        random_state=random_state,
    )
    boosting.fit(records[learn], secret[learn], X_val=records[check], y_val=secret[check])
    # The first score is that of no tree at all.
    rounds = int(np.argmax(boosting.validation_score_))
    grown = [tree for trees in boosting._predictors[:rounds] for tree in trees]
    # It also renumbers the codes of a category: by their place among those it met.
    met = [
        np.unique(codes[~np.isnan(codes)]).astype(np.int64) for codes in records[learn][:, : int(sum(categorical))].T
    ]
    questions = [_questions(tree, met) for tree in grown]
    parts: list[Any] = [
        np.concatenate([asked[at] for asked, _ in questions]) if grown else _EMPTY[at] for at in range(5)
    ]
    values = np.zeros((len(grown), MOST_LEAVES))
    for row, (_, leaves) in zip(values, questions, strict=True):
        row[: len(leaves)] = leaves
    column, *rest = parts
    return BoostedModel(
        np.asarray(boosting._baseline_prediction).ravel(),
        np.asarray(boosting.classes_),
        secrets,
        np.asarray(categorical),
        values,
        np.repeat(np.arange(len(grown)), [len(asked[0]) for asked, _ in questions]),
        order[column],
        *rest,
    )


_EMPTY = (np.empty(0, int), np.empty(0), np.empty((0, MOST_CODES), bool), np.empty(0, bool), np.empty(0, np.uint32))


def _questions(tree: Any, met: list[Codes]) -> tuple[tuple[Any, ...], Floats]:
    """For all questions: column, threshold, chosen codes, answer if missing, leaves left by yes. And leaves' values."""
    nodes = tree.nodes
    leaf, children = nodes["is_leaf"].astype(bool), np.stack([nodes["left"], nodes["right"]], axis=1)
    # Leaves are numbered from left to right; for every node, its first leaf, and the first one after its own.
    spans, waiting = np.zeros((len(nodes), 2), dtype=np.int64), [(0, False)]
    values: list[float] = []
    while waiting:
        node, done = waiting.pop()
        if done or leaf[node]:
            spans[node] = (len(values), len(values) + 1) if leaf[node] else (spans[children[node, 0], 0], len(values))
            if leaf[node]:
                values.append(float(nodes["value"][node]))
            continue
        waiting += [(node, True), (int(children[node, 1]), False), (int(children[node, 0]), False)]
    asked = nodes[~leaf]
    first, after = spans[children[~leaf, 0]].T
    # Yes goes right, which rules out the leaves on the left.
    ruled_out = (np.uint64(1) << after.astype(np.uint64)) - (np.uint64(1) << first.astype(np.uint64))
    column, if_missing = asked["feature_idx"].astype(np.int64), asked["missing_go_to_left"] == 0
    # A code that was not met counts as missing.
    chosen = np.tile(if_missing[:, None], MOST_CODES)
    sets = np.asarray(tree.raw_left_cat_bitsets).astype("<u4").view(np.uint8)
    for at in np.flatnonzero(asked["is_categorical"]):
        codes = met[column[at]]
        stay = np.unpackbits(sets[asked["bitset_idx"][at]], bitorder="little")
        chosen[at, codes] = stay[: len(codes)] == 0
    return (column, asked["num_threshold"], chosen, if_missing, (~ruled_out).astype(np.uint32)), np.array(values)
