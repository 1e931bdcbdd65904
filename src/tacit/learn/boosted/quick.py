"""Boosted trees with early stopping, in numpy: every level of a tree asks one question of all its records.

Not scikit-learn's, because what those learn has no public form: to save them one would have to read private attributes,
or load from a file the tables of compiled code, which trusts them. Trees with one question per level are three arrays.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.learn.arrays import Codes, Floats, log_softmax, softmax
from tacit.learn.crossfitting.smoothing import best_smoothing, smoothed_log_lift

LEAST_PROBABILITY = 1e-6
RATE, PENALTY = 0.1, 3.0
# The most questions about a column, and the most trees.
MOST_CUTS, MOST_TREES = 63, 300
# Rounds without a better loss on held-out records before the end, and by how much better it must be.
PATIENCE, WORTH_WHILE = 10, 1e-5
# A tree is grown on no more records than this, drawn anew for each. With two secrets it takes a third of the time or
# less, and drawing would lose more log-loss than it saves.
MOST_RECORDS, MOST_FOR_TWO = 8_000, 20_000
CELLS_AT_ONCE = 4_000_000


@dataclass(frozen=True)
class TreesModel:
    """Trees as arrays: trees x levels (column and threshold of each question), trees x leaves x secrets.

    ``levels`` says what becomes of the codes of each category: its smoothed log-lifts, codes x secrets.
    """

    start: Floats
    columns: Codes
    thresholds: Floats
    values: Floats
    categorical: Any
    levels: tuple[Floats, ...]

    def log_posterior(self, ordinal: Floats) -> Floats:
        """Log p(s | x); a secret that the trees never met keeps a little probability."""
        records, (trees, depth) = _records(ordinal, self.categorical, self.levels), self.columns.shape
        scores = np.tile(self.start, (len(records), 1))
        step = max(1, CELLS_AT_ONCE // max(1, trees * depth))
        for begin in range(0, len(records), step):
            rows = slice(begin, begin + step)
            leaf = (records[rows][:, self.columns] > self.thresholds) @ (1 << np.arange(depth))
            scores[rows] += self.values[np.arange(trees), leaf].sum(axis=1)
        return np.asarray(log_softmax(scores, axis=1))


def train_trees(
    ordinal: Floats, categorical: Any, secret: Codes, learn: Codes, check: Codes, *, secrets: int, random_state: int
) -> TreesModel:
    """Grow trees until the loss on the rows ``check`` has not fallen for ten rounds; keep those of the best."""
    rng = np.random.default_rng(random_state)
    rows = np.concatenate([learn, check])
    share = np.bincount(secret[learn], minlength=secrets) / len(learn)
    share = share.clip(min=LEAST_PROBABILITY) / share.clip(min=LEAST_PROBABILITY).sum()
    levels = tuple(_levels(ordinal[learn, c], secret[learn], share) for c in np.flatnonzero(categorical))
    cuts = _Cuts.of(_records(ordinal[rows], categorical, levels), len(learn))
    scores, target = np.tile(np.log(share)[:, None], (1, len(rows))), np.eye(secrets)[secret[learn]]
    grown: list[tuple[Codes, Floats, Floats]] = []
    best, lowest = 0, np.inf
    drawn: Codes | slice = slice(len(learn))
    depth, most = 3 if len(learn) < 20_000 else 4, MOST_FOR_TWO if secrets == 2 else MOST_RECORDS
    for at in range(MOST_TREES + 1):
        logs = log_softmax(scores[:, len(learn) :], axis=0)
        loss = -float(np.take_along_axis(logs, secret[None, check], axis=0).mean())
        if loss < lowest - WORTH_WHILE:
            best, lowest = at, loss
        if at - best >= PATIENCE or at == MOST_TREES:
            break
        if len(learn) > most:
            drawn = rng.choice(len(learn), most, replace=False)
        posterior = softmax(scores[:, drawn], axis=0).T
        columns, cut, values = cuts.tree(drawn, posterior - target[drawn], posterior, depth)
        grown.append((columns, cuts.thresholds[cut], values))
        scores += values.T[:, cuts.leaves(columns, cut)]
    kept = grown[:best]
    return TreesModel(
        start=np.log(share),
        columns=np.array([tree[0] for tree in kept], dtype=np.int64).reshape(-1, depth),
        thresholds=np.array([tree[1] for tree in kept]).reshape(-1, depth),
        values=np.array([tree[2] for tree in kept]).reshape(-1, 1 << depth, secrets),
        categorical=np.asarray(categorical),
        levels=levels,
    )


@dataclass(frozen=True)
class _Cuts:
    """The questions that may be asked: for every column and record, the number of the first cut at or above it.

    Cuts are numbered through all columns; ``column`` and ``first`` are each cut's column and that column's first cut.
    The last cut of a column is infinite, and so separates nothing.
    """

    places: Codes
    thresholds: Floats
    column: Codes
    first: Codes

    @classmethod
    def of(cls, records: Floats, learning: int) -> _Cuts:
        """Cuts between values that records to learn from have, with about equally many records between any two."""
        thresholds: list[Floats] = []
        places, begins = [], [0]
        for column in records.T:
            values = np.unique(column[:learning])
            middles = np.append(values[:-1], np.inf)
            if len(values) > MOST_CUTS:
                shares = np.linspace(0, 1, MOST_CUTS + 1)[1:-1]
                middles = np.append(np.unique(np.quantile(column[:learning], shares, method="lower")), np.inf)
            places.append(begins[-1] + np.searchsorted(middles, column))
            thresholds.append(middles)
            begins.append(begins[-1] + len(middles))
        sizes = np.diff(begins)
        column = np.repeat(np.arange(len(sizes)), sizes)
        return cls(np.stack(places), np.concatenate(thresholds), column, np.repeat(begins[:-1], sizes))

    def tree(self, rows: Codes | slice, slope: Floats, posterior: Floats, depth: int) -> tuple[Codes, Codes, Floats]:
        """Columns and cuts of the questions, and the values of the leaves, by Newton's step."""
        # With two secrets, one is the other's reverse.
        one = slice(1, None) if slope.shape[1] == 2 else slice(None)
        sums = np.stack([slope.T[one], (posterior * (1 - posterior)).T[one]])
        node, questions, places = np.zeros(len(slope), dtype=np.int64), [], self.places[:, rows]
        below = self._sums_below(places, node, sums, 1)
        for level in range(depth):
            if level:
                # Records went left or right: the sums of the fewer are added up, and the others have what is left.
                right = (node >> (level - 1)).astype(bool)
                fewer = bool(2 * np.count_nonzero(right) <= len(right))
                some = np.flatnonzero(right == fewer)
                parents = 1 << (level - 1)
                added = self._sums_below(places[:, some], node[some] % parents, sums[..., some], parents)
                rest = below - added
                below = np.concatenate([rest, added] if fewer else [added, rest], axis=2)
            total = below[..., -1:]
            gain = (_gain(below) + _gain(total - below)).sum(axis=(0, 1))
            questions.append(int(np.argmax(gain)))
            node += (places[self.column[questions[-1]]] > questions[-1]).astype(np.int64) << level
        leaves = np.stack([np.bincount(node, weights=w, minlength=1 << depth) for w in sums.reshape(-1, len(node))])
        top, bottom = leaves.reshape(2, -1, 1 << depth)
        values = -RATE * top / (bottom + PENALTY)
        cuts = np.array(questions)
        return self.column[cuts], cuts, (np.vstack([-values, values]) if slope.shape[1] == 2 else values).T

    def _sums_below(self, places: Codes, node: Codes, sums: Floats, nodes: int) -> Floats:
        """For slopes and curvatures: secrets x nodes x cuts, the sums over records at or below each cut."""
        size, cells = nodes * len(self.thresholds), (places + node * len(self.thresholds)).ravel()
        weights = np.tile(sums, len(places)).reshape(sums.shape[0] * sums.shape[1], places.size)
        parts = [np.bincount(cells, w, size) for w in weights]
        running = np.cumsum(np.stack(parts).reshape(2, -1, nodes, len(self.thresholds)), axis=3)
        before = np.concatenate([np.zeros((*running.shape[:3], 1)), running], axis=3)[..., self.first]
        return np.asarray(running - before)

    def leaves(self, columns: Codes, cuts: Codes) -> Codes:
        """The leaf of every record."""
        out = np.zeros(self.places.shape[1], np.int64)
        for level, (column, cut) in enumerate(zip(columns.tolist(), cuts.tolist(), strict=True)):
            out += (self.places[column] > cut).astype(np.int64) << level
        return out


def _gain(sums: Floats) -> Any:
    return sums[0] ** 2 / (sums[1] + PENALTY)


def _levels(codes: Floats, secret: Codes, share: Floats) -> Floats:
    """Smoothed log-lifts of the codes of a category, and of one that was not met: none."""
    met = ~np.isnan(codes)
    counts = np.zeros((int(codes[met].max(initial=0)) + 2, len(share)))
    np.add.at(counts, (codes[met].astype(np.int64), secret[met]), 1.0)
    lift = smoothed_log_lift(counts, share, best_smoothing(counts, share))
    return np.where(np.isneginf(lift), 0.0, lift)


def _records(ordinal: Floats, categorical: Any, levels: tuple[Floats, ...]) -> Floats:
    """Numbers, below all others where missing, and the log-lifts of categories; with two secrets, only those of one."""
    parts = [np.nan_to_num(ordinal[:, ~categorical], nan=-np.inf, posinf=np.inf, neginf=-np.inf)]
    for column, lifts in zip(ordinal[:, categorical].T, levels, strict=True):
        unmet = len(lifts) - 1
        codes = np.nan_to_num(column, nan=unmet).astype(np.int64).clip(0, unmet)
        parts.append(lifts[codes][:, (1 if lifts.shape[1] == 2 else 0) :])
    return np.hstack(parts)
