"""One net in numpy for all prefixes of a record's features, by running sums of its first layer.

The first layer is linear, so what a prefix brings to it is the sum of what its features bring: adding the features one
by one gives the hidden layer of every prefix in one sweep, and only the small layers above are run for each of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tacit.learn.arrays import Codes, Floats
from tacit.learn.bags import row_of_each, running_sums
from tacit.learn.nets.training import RowSlope, Schedule, train, usual_batch

# The first layer, what presence adds, and the bias.
FirstLayer = tuple[Any, ...]

RATE, DECAY = 2e-3, 0.1
# Looks at the held-out loss without a better one before the rate is cut, and how often it is cut before the end.
PATIENCE, CUTS = 6, 2
# Prefixes of each record in a step, and of each order when the held-out loss is computed.
LENGTHS, CHECK_LENGTHS = 8, 16
# The most held-out records used for that, and steps between two looks.
MOST_CHECKED, LOOK_EVERY = 3_000, 25
# Records that are scored at once.
ROWS_AT_ONCE = 512


@dataclass(frozen=True)
class PrefixNetwork:
    """First layer (inputs x hidden), what each feature's presence adds, and the layers above.

    ``present`` has no rows where absent and zero are the same, as they are in a bag of words.
    """

    first: Floats
    present: Floats
    bias: Floats
    second: Floats
    second_bias: Floats
    out: Floats

    def start(self, n: int) -> Floats:
        """The hidden layer of ``n`` empty prefixes."""
        return np.tile(self.bias, (n, 1))

    def brought(self, block: Any, feature: int, inputs: slice) -> Floats:
        """What a feature adds to the hidden layer of every record; ``block`` is records x its inputs."""
        added = np.asarray(block @ self.first[inputs])
        return added + self.present[feature] if len(self.present) else added

    def scores(self, hidden: Floats) -> Floats:
        """Scores of the secrets, zero for the empty prefix; the log-lift except for one number per prefix."""
        return Above(self).scores(hidden)


class Above:
    """The layers above the first, made ready to run often: halves and shifts are absorbed into weights and biases."""

    def __init__(self, net: PrefixNetwork) -> None:
        self.second, self.out = net.second / 2, net.out / 2
        self.bias = net.second_bias - self.second.sum(axis=0)
        self.empty = np.zeros(net.out.shape[1])
        self.empty = self.scores(net.bias[None])[0]

    def scores(self, hidden: Floats, room: Floats | None = None) -> Floats:
        """Scores of hidden layers; ``room``, an array of their shape, saves allocating one."""
        middle = _bent(hidden, room) @ self.second
        middle += self.bias
        scores: Floats = _bent(middle) @ self.out
        scores -= self.empty
        return scores


def _bent(z: Floats, room: Floats | None = None) -> Floats:
    """The smooth ramp z + sqrt(z^2 + 1): without an exponential, which would cost more than the layers do."""
    root = np.multiply(z, z, out=room)
    root += 1
    np.sqrt(root, out=root)
    root += z
    return root


def _bent_and_slope(z: Any) -> tuple[Any, Any]:
    """Half of the ramp less 1, which is 0 at 0, and its slope."""
    root = np.sqrt(z * z + np.float32(1))
    return (z + root - np.float32(1)) * np.float32(0.5), (z / root + np.float32(1)) * np.float32(0.5)


def lifts(scores: Floats, prior: Floats) -> Floats:
    """Log-lifts from scores: p(s) e^{i} adds up to 1 for every prefix."""
    top = scores.max(axis=-1, keepdims=True)
    return np.asarray(scores - top - np.log((np.exp(scores - top) * prior).sum(axis=-1, keepdims=True)))


def prefix_scores(net: PrefixNetwork, design: Any, starts: Codes, order: Codes) -> Floats:
    """Scores of every prefix of every record: records x (features + 1) x secrets."""
    out = np.zeros((design.shape[0], len(order) + 1, net.out.shape[1]))
    above = Above(net)
    for rows in _some_rows(design):
        block = dense(design[rows])
        hidden = net.start(len(block))
        room = np.empty_like(hidden)
        for place, feature in enumerate(order.tolist(), start=1):
            inputs = slice(starts[feature], starts[feature + 1])
            hidden += np.matmul(block[:, inputs], net.first[inputs], out=room)
            hidden += net.present[feature]
            out[rows, place] = above.scores(hidden, room)
    return out


def single_scores(net: PrefixNetwork, design: Any, starts: Codes) -> Floats:
    """Scores of every feature alone: records x features x secrets."""
    out = np.zeros((design.shape[0], len(starts) - 1, net.out.shape[1]))
    above = Above(net)
    for rows in _some_rows(design):
        block = dense(design[rows])
        for feature, inputs in enumerate(map(slice, starts[:-1], starts[1:])):
            out[rows, feature] = above.scores(net.bias + net.brought(block[:, inputs], feature, inputs))
    return out


def whole_scores(net: PrefixNetwork, design: Any) -> Floats:
    """Scores of whole records."""
    out = np.empty((design.shape[0], net.out.shape[1]))
    present = net.bias + net.present.sum(axis=0)
    for rows in _some_rows(design):
        out[rows] = net.scores(np.asarray(design[rows] @ net.first) + present)
    return out


def _some_rows(design: Any) -> Iterator[slice]:
    for begin in range(0, design.shape[0], ROWS_AT_ONCE):
        yield slice(begin, begin + ROWS_AT_ONCE)


def term_scores(net: PrefixNetwork, bags: Any) -> Floats:
    """Scores of the prefix that ends with each stored entry of a CSR matrix: entries x secrets."""
    out = np.empty((bags.nnz, net.out.shape[1]))
    for entries, running in running_sums(bags, net.first):
        out[entries] = net.scores(net.bias + running)
    return out


def dense(rows: Any) -> NDArray[Any]:
    """Rows as an array."""
    return np.asarray(rows.toarray() if sparse.issparse(rows) else rows)


@dataclass
class DenseRecords:
    """Training records that all have the same features: a matrix with columns sorted by feature, and where each starts.

    ``orders``: "given", "random", or "both" in turn.
    """

    design: Any
    starts: Codes
    orders: str
    turn: int = 0

    @property
    def m(self) -> int:
        """How many features there are."""
        return len(self.starts) - 1

    def initial(self, hidden: int, rng: np.random.Generator) -> tuple[Any, Any]:
        """Scaled so that a whole record fills the hidden layer with numbers of unit size."""
        block = dense(self.design[:ROWS_AT_ONCE])
        size = np.sqrt(2 / max(float((block**2).sum(axis=1).mean()), 1.0))
        return rng.standard_normal((self.design.shape[1], hidden)) * size, np.zeros((self.m, hidden))

    def view(self, rows: Codes, rng: np.random.Generator) -> Any:
        """One order for the batch, given or random, and lengths spread over it."""
        self.turn += 1
        in_order = self.orders == "given" or (self.orders == "both" and self.turn % 2 == 0)
        order = np.arange(self.m) if in_order else rng.permutation(self.m)
        return order, self._cuts(min(LENGTHS, self.m), rng.random())

    def checks(self, rows: Codes, rng: np.random.Generator) -> list[tuple[Codes, Any]]:
        """The same orders and lengths at every look."""
        rows = rows[:MOST_CHECKED]
        cuts = self._cuts(min(CHECK_LENGTHS, self.m), 0.5)
        orders = [] if self.orders == "given" else [rng.permutation(self.m) for _ in range(2)]
        orders += [] if self.orders == "random" else [np.arange(self.m)]
        # A batch has one order, so many small parts see more orders than a few large ones.
        parts = np.array_split(rows, max(1, len(rows) // 512))
        return [(part, (order, cuts)) for part in parts for order in orders]

    def _cuts(self, count: int, at: float) -> Codes:
        """``count`` different lengths spread evenly over 1..m; the last is m, so that whole records always count."""
        cuts = np.ceil((np.arange(count) + at) * self.m / count).astype(np.int64).clip(1, self.m)
        cuts[-1] = self.m
        return np.unique(cuts)

    def prefixes(self, weights: FirstLayer, rows: Codes, view: Any) -> tuple[Any, Codes, Any]:
        """Hidden layer of the prefixes (prefixes x hidden), the row of each, and what ``slopes`` needs to know."""
        order, cuts = view
        block = np.asarray(dense(self.design[rows]), dtype=np.float32)
        (first, present, bias), columns = weights, None
        if (order[1:] < order[:-1]).any():
            columns = _joined(self.starts, order)
            block, first = block[:, columns], first[columns]
        ends = np.r_[0, np.cumsum((self.starts[1:] - self.starts[:-1])[order])]
        hidden = np.empty((len(cuts), len(rows), first.shape[1]), dtype=np.float32)
        before = 0
        for at, cut in enumerate(cuts.tolist()):
            part = slice(ends[before], ends[cut])
            np.matmul(block[:, part], first[part], out=hidden[at])
            hidden[at] += present[order[before:cut]].sum(axis=0)
            hidden[at] += hidden[at - 1] if at else bias
            before = cut
        known = (block, columns, ends, order, cuts)
        return hidden.reshape(-1, first.shape[1]), np.tile(rows, len(cuts)), known

    def slopes(self, slope: Any, known: Any) -> tuple[Any, Any]:
        """Slopes of the first layer and of ``present``: a feature is in every prefix from its own length on."""
        block, columns, ends, order, cuts = known
        slope = slope.reshape(len(cuts), len(block), -1)
        pulled = np.empty((block.shape[1], slope.shape[2]), dtype=np.float32)
        present = np.empty((self.m, slope.shape[2]), dtype=np.float32)
        later = np.zeros_like(slope[0])
        for at in range(len(cuts) - 1, -1, -1):
            before = cuts[at - 1] if at else 0
            later = later + slope[at]
            part = slice(ends[before], ends[cuts[at]])
            np.matmul(block[:, part].T, later, out=pulled[part])
            present[order[before : cuts[at]]] = later.sum(axis=0)
        if columns is not None:
            unsorted = np.empty_like(pulled)
            unsorted[columns] = pulled
            pulled = unsorted
        return pulled[None], present[None]


def _joined(starts: Codes, order: Codes) -> Codes:
    """The columns of the features, feature after feature."""
    sizes = (starts[1:] - starts[:-1])[order]
    ends = np.cumsum(sizes)
    return np.asarray(np.repeat(starts[:-1][order] - (ends - sizes), sizes) + np.arange(ends[-1]))


@dataclass
class SparseRecords:
    """Bags of words: a CSR matrix; a record's features are its stored entries.

    Their order is random unless "given": where entries are sorted by term, the first one says that all terms before it
    are absent, which is not what a term should be credited with.
    """

    bags: Any
    orders: str

    def initial(self, hidden: int, rng: np.random.Generator) -> tuple[Any, Any]:
        """Small numbers: a rare word should not say much before it has been learned from."""
        return 0.1 * rng.standard_normal((self.bags.shape[1], hidden)), np.zeros((0, hidden))

    def view(self, rows: Codes, rng: np.random.Generator) -> Any:
        """A separate order for every record, some of its prefixes and all of it."""
        part = self._part(rows, rng)
        lengths = np.diff(part.indptr)
        cuts = np.ceil(rng.random((len(rows), 3)) * lengths[:, None]).astype(np.int64)
        return self._prefixes(part, np.column_stack([cuts, lengths]))

    def checks(self, rows: Codes, rng: np.random.Generator) -> list[tuple[Codes, Any]]:
        """Quarters of the records, the same at every look."""
        looks = []
        for begin in range(0, min(len(rows), MOST_CHECKED), ROWS_AT_ONCE):
            batch = rows[begin : begin + ROWS_AT_ONCE]
            part = self._part(batch, rng)
            cuts = np.ceil(np.diff(part.indptr)[:, None] * np.arange(1, 5) / 4).astype(np.int64)
            looks.append((batch, self._prefixes(part, cuts)))
        return looks

    def _part(self, rows: Codes, rng: np.random.Generator) -> Any:
        """Some records, their entries shuffled unless the order of storage is what counts."""
        part = self.bags[rows]
        if self.orders == "given":
            return part
        moved = np.lexsort((rng.random(part.nnz), row_of_each(part)))
        return sparse.csr_array((part.data[moved], part.indices[moved], part.indptr), shape=part.shape)

    @staticmethod
    def _prefixes(part: Any, cuts: Codes) -> tuple[Any, Codes, int]:
        """Prefixes as rows of a CSR matrix over the terms that occur, and those terms."""
        terms, columns = np.unique(part.indices, return_inverse=True)
        lengths = cuts.ravel()
        starts = np.repeat(part.indptr[:-1], cuts.shape[1])
        ends = np.cumsum(lengths)
        entries = np.repeat(starts - (ends - lengths), lengths) + np.arange(ends[-1] if len(ends) else 0)
        matrix = sparse.csr_array(
            (part.data[entries].astype(np.float32), columns[entries], np.r_[0, ends]), shape=(len(lengths), len(terms))
        )
        return matrix, terms.astype(np.int64), cuts.shape[1]

    def prefixes(self, weights: FirstLayer, rows: Codes, view: Any) -> tuple[Any, Codes, Any]:
        """Sums of the rows of the first layer."""
        matrix, terms, each = view
        first, _, bias = weights
        return matrix @ first[terms] + bias, np.repeat(rows, each), (matrix, terms)

    def slopes(self, slope: Any, known: Any) -> tuple[Any, Any]:
        """Only the rows of the terms in the batch move."""
        matrix, terms = known
        return RowSlope(terms, matrix.T @ slope), np.zeros((1, 0, slope.shape[1]), dtype=np.float32)


class PrefixNetworkInTraining:
    """A single network that learns by cross-entropy over random prefixes; see ``training.Trainable``.

    ``check`` are the rows whose loss, over all lengths, says when to stop.
    """

    def __init__(
        self,
        records: DenseRecords | SparseRecords,
        secret: Codes,
        prior: Floats,
        check: Codes,
        *,
        hidden: tuple[int, int],
        rng: np.random.Generator,
    ) -> None:
        self.records, self.secret, self.rng = records, secret, rng
        self.log_prior = np.log(prior).astype(np.float32)
        first, present = records.initial(hidden[0], rng)
        second = rng.standard_normal(hidden) * np.sqrt(2 / hidden[0])
        # The net starts out saying nothing, and has to learn that there is something to say.
        out = np.zeros((hidden[1], len(prior)))
        arrays = (first, present, np.zeros(hidden[0]), second, np.zeros(hidden[1]), out)
        self.weights = [array.astype(np.float32)[None] for array in arrays]
        self.looks = records.checks(check, rng)

    def slopes(self, rows: Codes) -> list[Any]:
        """Of the mean loss over some prefixes of a batch."""
        *first, second, _, out = (array[0] for array in self.weights)
        hidden, of, known = self.records.prefixes(tuple(first), rows[0], self.records.view(rows[0], self.rng))
        logs, (below, slope_below, middle, slope_middle) = self._log_posterior(hidden)
        slope = np.exp(logs)
        slope[np.arange(len(of)), self.secret[of]] -= 1
        slope /= np.float32(len(of))
        # Every score is taken relative to the empty prefix's.
        slope = np.vstack([slope, -slope.sum(axis=0, keepdims=True)])
        middle_slope = (slope @ out.T) * slope_middle
        below_slope = (middle_slope @ second.T) * slope_below
        above = (below_slope.sum(axis=0), below.T @ middle_slope, middle_slope.sum(axis=0), middle.T @ slope)
        return [*self.records.slopes(below_slope[:-1], known), *(array[None] for array in above)]

    def loss(self) -> Floats:
        """Held-out, over the same prefixes at every look."""
        total = count = 0.0
        for rows, view in self.looks:
            hidden, of, _ = self.records.prefixes(tuple(array[0] for array in self.weights[:3]), rows, view)
            logs, _ = self._log_posterior(hidden)
            total -= float(logs[np.arange(len(of)), self.secret[of]].sum(dtype=np.float64))
            count += len(of)
        return np.array([total / max(count, 1)])

    def _log_posterior(self, hidden: Any) -> tuple[Any, list[Any]]:
        """Log posteriors of prefixes, and what the way back needs; the last row is the empty prefix."""
        bias, second, second_bias, out = (array[0] for array in self.weights[2:])
        below, slope_below = _bent_and_slope(np.vstack([hidden, bias[None]]))
        middle, slope_middle = _bent_and_slope(below @ second + second_bias)
        scores = middle @ out
        logits = scores[:-1] - scores[-1] + self.log_prior
        logits -= logits.max(axis=1, keepdims=True)
        logits -= np.log(np.exp(logits).sum(axis=1, keepdims=True))
        return logits, [below, slope_below, middle, slope_middle]


def train_prefix_network(
    network: PrefixNetworkInTraining, learn: Codes, *, epochs: int, progress: Callable[[float], None]
) -> PrefixNetwork:
    """The network with the smallest held-out loss of its training."""
    batch = min(usual_batch(len(learn)), len(learn))
    each = len(learn) // batch
    look = min(max(LOOK_EVERY, each // 2), 200)
    schedule = Schedule(RATE, DECAY, batch, epochs * each, PATIENCE * look, look_every=look, cuts=CUTS)
    best, _ = train(network, learn[None], schedule, network.rng, progress)
    return PrefixNetwork(*(array[0].astype(np.float64) for array in best))
