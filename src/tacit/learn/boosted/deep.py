"""Boosted trees whose every node asks its own question, with early stopping, in numpy.

They find interactions that no single column shows, which the quick trees of ``quick.py`` seldom do. Not scikit-learn's
histogram boosting, whose trees have no public form: they could not be saved as arrays, which no compiled code reads. On
many records every tree is grown on some of them, drawn by how much they matter; that takes no longer than
scikit-learn's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax

from tacit.learn.arrays import Codes, Floats

RATE, PENALTY = 0.15, 1.0
# Levels of a tree; 32 leaves are the bits of a number. The fewest records on each side of a
# question, and what it must gain.
DEPTH, LEAST, LEAST_GAIN = 5, 20, 1e-9
# The most rounds, and how many without a better loss on held-out records end the training. With few records the first
# trees follow noise, until one happens to ask what an interaction needs: that takes more patience.
MOST_ROUNDS, PATIENCE, LONG_PATIENCE, FEW = 100, 10, 30, 10_000
# A tree is grown on about this many records, or on one of so many where that is more; how far a record's curvature
# counts when they are drawn.
MOST_RECORDS, ONE_OF, CURVATURE = 12_000, 10, 0.1
# The most cuts of a number. Codes of a category that are told apart: the commonest, and all others as one.
MOST_CUTS, MOST_CODES = 63, 255
LEAST_PROBABILITY = 1e-6
CELLS_AT_ONCE = 4_000_000
# Trees of few records are grown side by side, up to this many records: most of their time goes into calls.
SIDE_BY_SIDE = 12_000


@dataclass(frozen=True)
class BoostedModel:
    """Trees as arrays, one entry per question: its tree, its column, and what it asks.

    A number is asked whether it exceeds ``threshold``, a category whether its code is among ``chosen``. The answer yes
    (for a missing cell, ``if_missing``) leaves only the leaves whose bits are set in ``leaves``; the first leaf that
    all answers leave is the record's, and ``values`` (trees x leaves) says what it adds. Each secret has a tree in
    turn, or, if there are two, only the second.
    """

    start: Floats
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
            leaf = self.values[np.arange(len(self.values)), first]
            own = scores[rows, _own_scores(scores.shape[1])]
            own += leaf.reshape(len(leaf), -1, own.shape[1]).sum(axis=1)
        return np.asarray(log_softmax(scores, axis=1))

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


def _own_scores(secrets: int) -> slice:
    """The secrets that trees tell about: of two, one is the other's reverse."""
    return slice(1, None) if secrets == 2 else slice(None)


def train_boosting(
    ordinal: Floats,
    categorical: Any,
    secret: Codes,
    parts: Sequence[tuple[Codes, Codes]],
    *,
    secrets: int,
    random_state: int,
) -> list[BoostedModel]:
    """A model for every part, which has rows to learn from and rows to check on.

    Trees are grown until the loss on the rows to check on has not fallen for some rounds; those of the best are kept.
    """
    rng, bins = np.random.default_rng(random_state), _Bins.of(ordinal, np.asarray(categorical))
    trainings = [_Training.of(*part, secret, secrets) for part in parts]
    for _ in range(MOST_ROUNDS):
        going = [training for training in trainings if training.goes_on()]
        wanted = [each for training in going for each in training.wanted(rng)]
        grown = bins.trees(wanted)
        each = len(wanted) // max(1, len(going))
        for at, training in enumerate(going):
            training.take(bins, grown[at * each : (at + 1) * each])
    return [bins.model(training.kept(), training.start) for training in trainings]


@dataclass
class _Training:
    """Where the training of one model stands: its rows, the first of them to learn from, and their scores."""

    rows: Codes
    learning: int
    own: Codes
    start: Floats
    scores: Floats
    grown: list[list[_Grown]]
    best: int = 0
    lowest: float = np.inf
    done: bool = False

    @classmethod
    def of(cls, learn: Codes, check: Codes, secret: Codes, secrets: int) -> _Training:
        rows = np.concatenate([learn, check])
        share = (np.bincount(secret[learn], minlength=secrets) / len(learn)).clip(min=LEAST_PROBABILITY)
        start = np.log(share / share.sum())
        return cls(rows, len(learn), secret[rows], start, np.tile(start[:, None], (1, len(rows))), [])

    def goes_on(self) -> bool:
        """Whether the loss on the rows to check on has fallen of late."""
        if not self.done:
            logs = log_softmax(self.scores[:, self.learning :], axis=0)
            loss = -float(np.take_along_axis(logs, self.own[None, self.learning :], axis=0).mean())
            if loss < self.lowest:
                self.best, self.lowest = len(self.grown), loss
            self.done = len(self.grown) - self.best >= (LONG_PATIENCE if self.learning < FEW else PATIENCE)
        return not self.done

    def wanted(self, rng: np.random.Generator) -> list[tuple[Codes, Floats]]:
        """For every secret that trees tell about: the records to grow the next on, their slopes and curvatures."""
        odds = np.exp(self.scores[:, : self.learning] - self.scores[:, : self.learning].max(axis=0))
        odds /= odds.sum(axis=0)
        wanted = []
        for s in range(len(self.start))[_own_scores(len(self.start))]:
            sums = np.stack([odds[s] - (self.own[: self.learning] == s), odds[s] * (1 - odds[s])])
            at, weight = drawn(sums, rng)
            wanted.append((self.rows[at], sums[:, at] * weight))
        return wanted

    def take(self, bins: _Bins, grown: list[_Grown]) -> None:
        """Add what trees say, one for each secret."""
        self.grown.append(grown)
        for scores, tree in zip(self.scores[_own_scores(len(self.start))], grown, strict=True):
            scores += tree.values[bins.leaves(tree, self.rows)]

    def kept(self) -> list[_Grown]:
        self.goes_on()
        return [tree for each in self.grown[: self.best] for tree in each]


def drawn(sums: Floats, rng: np.random.Generator) -> tuple[Codes, Floats]:
    """Records to grow a tree on, those that matter more drawn more often, and what each then counts for.

    Drawing by the size of slopes keeps the sums over records nearest to those over all (Ibragimov and Gusev, *Minimal
    variance sampling in stochastic gradient boosting*, 2019). It also keeps the records of a rare secret.
    """
    size = sums.shape[1]
    if size <= MOST_RECORDS:
        return np.arange(size), np.ones(size)
    matters = np.sqrt(sums[0] ** 2 + CURVATURE * sums[1] ** 2)
    chance = np.minimum(1.0, matters * (max(MOST_RECORDS, size // ONE_OF) / matters.sum()))
    at = np.flatnonzero(rng.random(size) < chance)
    return at, 1 / chance[at]


@dataclass(frozen=True)
class _Questions:
    """What the nodes of one level ask: the column, the bins that go right, and whether they ask at all."""

    columns: Codes
    right: NDArray[np.bool_]
    asks: NDArray[np.bool_]


@dataclass(frozen=True)
class _Grown:
    """A tree: the questions of its levels, and the values of its leaves."""

    levels: list[_Questions]
    values: Floats


@dataclass(frozen=True)
class _Bins:
    """The bin of every record in every column (columns x records).

    The first bin is for missing cells. A number's bin says how many cuts are below it, a category's which code it is.
    """

    places: NDArray[np.uint8]
    size: int
    cuts: list[Floats]
    categorical: NDArray[np.bool_]

    @classmethod
    def of(cls, records: Floats, categorical: NDArray[np.bool_]) -> _Bins:
        """Cuts between values that occur, with about equally many records between any two."""
        places, cuts = np.zeros(records.shape[::-1], dtype=np.uint8), []
        shares = np.linspace(0, 1, MOST_CUTS + 2)[1:-1]
        for place, column, coded in zip(places, records.T, categorical, strict=True):
            there = ~np.isnan(column)
            cells = _coded(column[there]) if coded else column[there]
            values = np.unique(cells)
            if len(values) > MOST_CUTS and not coded:
                values = np.unique(np.quantile(cells, shares, method="lower"))
            place[there] = (cells if coded else np.searchsorted(values, cells)) + 1
            cuts.append(values)
        return cls(places, int(places.max(initial=0)) + 1, cuts, categorical)

    def trees(self, wanted: list[tuple[Codes, Floats]]) -> list[_Grown]:
        """A tree for each set of records with their slopes and curvatures (2 x records)."""
        grown: list[_Grown] = []
        while len(grown) < len(wanted):
            sizes = np.cumsum([len(rows) for rows, _ in wanted[len(grown) :]])
            some = wanted[len(grown) :][: max(1, int((sizes <= SIDE_BY_SIDE).sum()))]
            grown += self._side_by_side(some)
        return grown

    def _side_by_side(self, wanted: list[tuple[Codes, Floats]]) -> list[_Grown]:
        rows = np.concatenate([rows for rows, _ in wanted])
        weights = np.hstack([sums for _, sums in wanted])
        node, at = np.repeat(np.arange(len(wanted)), [len(rows) for rows, _ in wanted]), np.arange(len(rows))
        places = np.take(self.places, rows, axis=1).astype(np.intp) + self.size * np.arange(len(self.places))[:, None]
        sums, levels = self._summed(places, weights, node, len(wanted)), []
        for level in range(DEPTH):
            questions = self._questions(sums)
            if not questions.asks.any():
                break
            levels.append(questions)
            column = questions.columns[node]
            side = questions.right[node, places[column, at] - self.size * column]
            if level < DEPTH - 1:
                sums = self._children(sums, places, weights, node, side)
            node = 2 * node + side
        leaves = len(wanted) << len(levels)
        slopes, curvatures = (np.bincount(node, w, leaves) for w in weights)
        values = (-RATE * slopes / (curvatures + PENALTY)).reshape(len(wanted), -1)
        return [_Grown([_of_tree(each, at, len(wanted)) for each in levels], own) for at, own in enumerate(values)]

    def _summed(self, places: Codes, weights: Floats, node: Codes, nodes: int) -> Floats:
        """Numbers, slopes and curvatures of the records of every node, column and bin."""
        shape = (nodes, len(places), self.size)
        cells = (places + node * (shape[1] * shape[2])).ravel()
        sums = np.empty((3, nodes * shape[1] * shape[2]))
        sums[0] = np.bincount(cells, minlength=sums.shape[1])
        for total, weight in zip(sums[1:], weights, strict=True):
            total[:] = np.bincount(cells, np.tile(weight, shape[1]), sums.shape[1])
        return sums.reshape(3, *shape)

    def _children(self, sums: Floats, places: Codes, weights: Floats, node: Codes, side: Codes) -> Floats:
        """The sums of both children of every node: those of the smaller are counted, the others are what is left."""
        nodes = np.arange(sums.shape[1])
        small = np.bincount(2 * node + side, minlength=2 * len(nodes)).reshape(-1, 2).argmin(axis=1)
        here = np.flatnonzero(side == small[node])
        part = self._summed(np.take(places, here, axis=1), weights[:, here], node[here], len(nodes))
        both = np.empty((3, len(nodes), 2, *sums.shape[2:]))
        both[:, nodes, small], both[:, nodes, 1 - small] = part, sums - part
        return both.reshape(3, -1, *sums.shape[2:])

    def _questions(self, sums: Floats) -> _Questions:
        """The best question of every node; codes are ordered by what they say about the secret."""
        nodes, coded = np.arange(sums.shape[1]), np.flatnonzero(self.categorical)
        order = (sums[1][:, coded] / (sums[2][:, coded] + PENALTY)).argsort(axis=2)
        if len(coded):
            sums = sums.copy()
            sums[:, :, coded] = np.take_along_axis(sums[:, :, coded], order[None], axis=3)
        below = sums.cumsum(axis=3)
        total = below[..., -1:].copy()
        gain = _gain(below)
        few = below[0] < LEAST
        above = np.subtract(total, below, out=below)
        gain += _gain(above)
        few |= above[0] < LEAST
        gain[few] = -np.inf
        flat = gain.reshape(len(nodes), -1)
        best = flat.argmax(axis=1)
        column, cut = np.divmod(best, self.size)
        rank = np.tile(np.arange(self.size), (len(nodes), 1))
        of_codes = np.flatnonzero(self.categorical[column])
        rank[of_codes] = order[of_codes, np.searchsorted(coded, column[of_codes])].argsort(axis=1)
        asks = flat[nodes, best] > _gain(total)[:, 0, 0] + LEAST_GAIN
        return _Questions(column, (rank > cut[:, None]) & asks[:, None], asks)

    def leaves(self, tree: _Grown, rows: Codes) -> Codes:
        """The leaf of every row."""
        node, places = np.zeros(len(rows), dtype=np.intp), self.places.ravel()
        for questions in tree.levels:
            place = places[(questions.columns * self.places.shape[1])[node] + rows]
            node = 2 * node + questions.right.ravel()[node * self.size + place]
        return node

    def model(self, trees: list[_Grown], start: Floats) -> BoostedModel:
        """The trees as arrays."""
        values, parts = np.zeros((len(trees), 1 << DEPTH)), []
        for at, tree in enumerate(trees):
            values[at] = np.repeat(tree.values, (1 << DEPTH) // len(tree.values))
            for level, questions in enumerate(tree.levels):
                node = np.flatnonzero(questions.asks)
                # Yes goes right, which rules out the leaves on the left.
                span = (1 << DEPTH) >> level
                left = np.array([~(((1 << span // 2) - 1) << int(each) * span) & (2**32 - 1) for each in node])
                parts.append(
                    (np.full(len(node), at), questions.columns[node], questions.right[node], left.astype(np.uint32))
                )
        none = (np.zeros(0, int), np.zeros(0, int), np.zeros((0, self.size), bool), np.zeros(0, np.uint32))
        tree_of, column, right, left = (np.concatenate(each) for each in zip(none, *parts, strict=True))
        # A code that no record had counts as missing.
        chosen = np.repeat(right[:, :1], MOST_CODES, axis=1)
        for c in np.flatnonzero(self.categorical):
            here, codes = np.flatnonzero(column == c), self.cuts[c].astype(np.intp)
            chosen[np.ix_(here, codes)] = right[np.ix_(here, codes + 1)]
        cut, threshold = self.size - 1 - right.sum(axis=1), np.full(len(column), np.inf)
        for c in np.flatnonzero(~self.categorical):
            here = column == c
            threshold[here] = np.append(-np.inf, self.cuts[c])[cut[here]]
        return BoostedModel(start, self.categorical, values, tree_of, column, threshold, chosen, right[:, 0], left)


def _of_tree(level: _Questions, at: int, trees: int) -> _Questions:
    each = len(level.columns) // trees
    own = slice(at * each, (at + 1) * each)
    return _Questions(level.columns[own], level.right[own], level.asks[own])


def _gain(sums: Floats) -> Floats:
    gain = np.square(sums[1])
    gain /= sums[2] + PENALTY
    return np.asarray(gain)
