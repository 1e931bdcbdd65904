"""``PrefixLogLift``: the log-lift of every prefix of a record's features, and so what each feature gives away."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from tacit.errors import ArgumentError, DataError
from tacit.learn.arrays import Codes, Floats, one_thread
from tacit.learn.bags import row_of_each
from tacit.learn.contract import LogLiftEstimator
from tacit.learn.crossfitting.folds import fold_of_each, learn_and_check
from tacit.learn.crossfitting.training import Progress, shown
from tacit.learn.encoding import Encoder, Features, cells_of_array
from tacit.learn.nets.prefix_net import (
    DenseRecords,
    PrefixNetworkInTraining,
    SparseRecords,
    lifts,
    prefix_scores,
    single_scores,
    term_scores,
    train_prefix_network,
    whole_scores,
)

ORDERS = ("both", "given", "random")
# An answer of records x features x secrets may hold this many numbers (a gigabyte); a bag of words would need more.
MOST_NUMBERS = 134_217_728
# The most records used to order features by leak.
MOST_JUDGED = 2_000
# Widths of the hidden layers: with more than this many features every prefix has to be cheap.
FEW_FEATURES, FEW_HIDDEN, MANY_HIDDEN = 64, (128, 64), (64, 16)


class PrefixLogLift(LogLiftEstimator):
    """Log-lift of every prefix of a record's features, by one network, and so of every feature given those before it.

    By the chain rule i(s; x_j | x_1 .. x_{j-1}) is the log-lift of the first j features less that of the first j - 1.
    The network learns the posterior of the secret from any set of features; its first layer is linear, so that running
    sums give all prefixes of a record in one sweep. The empty prefix has log-lift 0, exactly.

    A feature is a column, a group of columns (``groups``: the columns of an image patch), or, where the records are a
    sparse matrix, a stored entry: a bag of words is a record of the words that it has.

    Parameters
    ----------
    groups : sequence or array of int, optional
        The feature that each column belongs to, 0 .. m-1. Without it every column is a feature.
    orders : "both", "given" or "random"
        Which prefixes are learned from: those of the given column order, of random orders (any subset), or of both.
        For a sparse matrix "both" means "random": the set of terms matters, not the order in which they are stored.
    clip : float, optional
        Log-lifts are trimmed to [-clip, clip], so that no feature's conditional density exceeds 2 clip. As in the
        tide paper, prefixes are trimmed before differences are taken: between two prefixes beyond the clip a feature
        seems to say nothing. To flag features, leave it out.
    cross_fit : int, optional
        Number of folds. Each has a network that did not see it, and scores its records with ``out_of_fold=True``.
    hidden : pair of int, optional
        Widths of the two hidden layers; (128, 64), or (64, 16) where features are many.
    epochs : int
        The most passes over the records; training ends earlier if records held out do not get better.
    categorical_features : sequence, optional
        Names or places of columns to be read as categories although they hold numbers.
    random_state : int, RandomState or None
    progress : callable, optional
        Called with a stage and a share.

    Attributes
    ----------
    secrets_, prior_ : arrays
    n_groups_ : int
        The number of features, m.
    fold_ : array
        The fold of every training record, with ``cross_fit``.

    Guarantees
    ----------
    The conditional densities of a record's features add up to its log-lift, in any order and averaged over orders.
    Without ``clip``, p(s) e^{i(s, prefix)} adds up to 1 over the secrets for every prefix.

    What was learned from training records overstates what *their* features give away. Ask about records that were not
    trained on, or use ``cross_fit`` and ``out_of_fold=True``.
    """

    def __init__(
        self,
        *,
        groups: Sequence[int] | NDArray[np.int64] | None = None,
        orders: str = "both",
        clip: float | None = None,
        cross_fit: int | None = None,
        hidden: tuple[int, int] | None = None,
        epochs: int = 200,
        categorical_features: Sequence[Any] | None = None,
        random_state: Any = None,
        progress: Progress | None = None,
    ) -> None:
        self.groups = groups
        self.orders = orders
        self.clip = clip
        self.cross_fit = cross_fit
        self.hidden = hidden
        self.epochs = epochs
        self.categorical_features = categorical_features
        self.random_state = random_state
        self.progress = progress

    def _learn(self, features: Features, secret: Codes) -> None:
        self._check_words()
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31))
        self.layout_ = _layout(self.encoder_, self.groups, features)
        self.n_groups_ = self.layout_.features
        design = self.layout_.design(self.encoder_, features)
        # No record is in fold 0, the one left out, so that the only network learns from all of them.
        fold = np.full(len(secret), -1)
        if self.cross_fit is not None:
            fold = self.fold_ = fold_of_each(secret, min(self.cross_fit, max(2, len(secret) // 2)), rng)
        else:
            self.__dict__.pop("fold_", None)
        count = int(fold.max()) + 1 or 1
        hidden = self.hidden or (FEW_HIDDEN if self.n_groups_ <= FEW_FEATURES else MANY_HIDDEN)
        self.networks_ = []
        for k in range(count):
            records: DenseRecords | SparseRecords = SparseRecords(design, self.orders)
            if self.layout_.starts is not None:
                records = DenseRecords(design, self.layout_.starts, self.orders)
            show = shown(self.progress, "learning prefixes", k, count)
            learn, check = learn_and_check(fold, k, secret, rng)
            network = PrefixNetworkInTraining(records, secret, self.prior_, check, hidden=hidden, rng=rng)
            self.networks_.append(train_prefix_network(network, learn, epochs=self.epochs, progress=show))
        some = rng.permutation(len(secret))[:MOST_JUDGED]
        self.leak_order_ = self._leak_order(design[some])

    def _check_words(self) -> None:
        if self.orders not in ORDERS:
            raise ArgumentError(f"orders is one of {', '.join(ORDERS)}; got {self.orders!r}")
        if self.clip is not None and not self.clip > 0:
            raise ArgumentError(f"clip is a number of nats above 0, or None; got {self.clip!r}")
        if self.cross_fit is not None and (not isinstance(self.cross_fit, (int, np.integer)) or self.cross_fit < 2):
            raise ArgumentError(f"cross_fit is a whole number of folds, 2 or more, or None; got {self.cross_fit!r}")
        if self.hidden is not None and (len(self.hidden) != 2 or min(self.hidden) < 1):
            raise ArgumentError(f"hidden is the widths of two layers; got {self.hidden!r}")

    def _log_lift(self, features: Features) -> Floats:
        design = self.layout_.design(self.encoder_, features)
        return self._lift(np.mean([whole_scores(net, design) for net in self.networks_], axis=0))

    def _interval(self, features: Features, confidence: float, simultaneous: bool) -> tuple[Floats, Floats]:
        raise ArgumentError("PrefixLogLift has no intervals; AutoLogLift and NeuralLogLift do")

    def _lift(self, scores: Floats) -> Floats:
        lift = lifts(scores, self.prior_)
        # Rounding must not make the empty prefix say something.
        lift[(np.abs(scores) < 1e-13).all(axis=-1)] = 0.0
        return lift if self.clip is None else lift.clip(-self.clip, self.clip)

    def prefix_log_lift(self, X: Any, *, order: Any = None, out_of_fold: bool = False) -> Floats:
        """Log-lift of every prefix: records x (m + 1) x secrets; the first is the empty prefix's, 0.

        Parameters
        ----------
        X : records
        order : permutation of the features, "given" (the default) or "leak"
            "leak" puts those first whose value alone says most, on average over training records.
        out_of_fold : bool
            ``X`` is the training records in their order; each is scored by the network that did not see it.
        """
        design, places = self._designed(X), self._order(order)
        if self.layout_.starts is None:
            added = self.feature_log_lift(X, order=places, out_of_fold=out_of_fold)[:, places]
            return np.pad(added.cumsum(axis=1), ((0, 0), (1, 0), (0, 0)))
        self._room(design.shape[0], len(places) + 1)
        with one_thread():
            scores = self._scored(design, out_of_fold, lambda net, rows: prefix_scores(net, rows, self._starts, places))
        return self._lift(scores)

    def feature_log_lift(
        self, X: Any, *, order: Any = None, orders: int | None = None, out_of_fold: bool = False
    ) -> Floats:
        """i(s; x_j | the features before it): records x features x secrets, each feature in its own place.

        With ``orders`` it is averaged over that many random orders (pairs of an order and its reverse), so that
        features that say the same share the credit, as in Shapley values; the parts still add up to the log-lift.
        """
        if orders is not None:
            return self._averaged(
                orders, lambda places: self.feature_log_lift(X, order=places, out_of_fold=out_of_fold)
            )
        design, places = self._designed(X), self._order(order)
        if self.layout_.starts is None:
            self._room(design.shape[0], len(places))
            with one_thread():
                return self._spread(design, self._terms(design, places, out_of_fold))
        steps = np.diff(self.prefix_log_lift(X, order=places, out_of_fold=out_of_fold), axis=1)
        densities = np.empty_like(steps)
        densities[:, places] = steps
        return densities

    def _averaged(self, orders: int, density: Callable[[Codes], Floats]) -> Floats:
        """The mean of densities over random orders."""
        if not isinstance(orders, (int, np.integer)) or orders < 1:
            raise ArgumentError(f"orders is a whole number of random orders, 1 or more; got {orders!r}")
        check_is_fitted(self)
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31))
        total, places = np.zeros(1), np.arange(self.n_groups_)
        for at in range(orders):
            # An order and its reverse: what the one gives too early the other gives too late.
            places = rng.permutation(self.n_groups_) if at % 2 == 0 else places[::-1]
            total = total + density(places)
        return np.asarray(total / orders)

    def single_log_lift(self, X: Any, *, out_of_fold: bool = False) -> Floats:
        """i(s; x_j) of every feature by itself: records x features x secrets; in a sparse matrix, entries x secrets."""
        design = self._designed(X)
        with one_thread():
            if self.layout_.starts is None:
                return self._lift(self._scored(_entries(design), out_of_fold, term_scores, row_of_each(design)))
            self._room(design.shape[0], self.n_groups_)
            return self._lift(
                self._scored(design, out_of_fold, lambda net, rows: single_scores(net, rows, self._starts))
            )

    def term_log_lift(
        self, X: Any, *, order: Any = None, orders: int | None = None, out_of_fold: bool = False
    ) -> Floats:
        """i(s; term | the terms before it) for every stored entry of a sparse matrix: entries x secrets.

        A record's terms come in the order in which they are stored, unless ``order`` ranks all terms, or ``orders``
        asks for an average over random orders.
        """
        design = self._designed(X)
        if self.layout_.starts is not None:
            raise ArgumentError("term_log_lift is for sparse matrices; feature_log_lift is for tables")
        with one_thread():
            if orders is None:
                return self._terms(design, None if order is None else self._order(order), out_of_fold)
            return self._averaged(orders, lambda places: self._terms(design, places, out_of_fold))

    def sweep(self, n: int, *, out_of_fold: bool = False) -> Sweep:
        """``n`` records about which nothing has been released yet, to be released feature by feature."""
        check_is_fitted(self)
        return Sweep(self, n, self._folds(n) if out_of_fold else None)

    @property
    def _starts(self) -> Codes:
        return cast(Codes, self.layout_.starts)

    def _designed(self, X: Any) -> Any:
        check_is_fitted(self)
        cells = self._cells(X, reset=False)
        if (cells.sparse is None) != (self.layout_.starts is not None):
            raise DataError("the estimator was fitted on a sparse matrix and asked about a table, or the reverse")
        return self.layout_.design(self.encoder_, self.encoder_.encode(cells))

    def _order(self, order: Any) -> Codes:
        if order is None or (isinstance(order, str) and order == "given"):
            return np.arange(self.n_groups_)
        if isinstance(order, str) and order == "leak":
            return self.leak_order_
        places = np.asarray(order)
        if places.dtype.kind not in "iu" or not np.array_equal(np.sort(places), np.arange(self.n_groups_)):
            raise ArgumentError(
                f"order is 'given', 'leak' or all the features 0 .. {self.n_groups_ - 1}, each once; got {order!r:.80}"
            )
        return places.astype(np.int64)

    def _room(self, n: int, features: int) -> None:
        if n * features * len(self.prior_) > MOST_NUMBERS:
            raise ArgumentError(
                f"{n:,} records x {features:,} features x {len(self.prior_)} secrets do not fit into memory; ask about "
                "fewer records at a time, or, for a sparse matrix, use term_log_lift"
            )

    def _scored(self, design: Any, out_of_fold: bool, scores: Any, of: Codes | None = None) -> Floats:
        """Scores by all networks together, or for each record by the network that did not see it.

        ``of`` is the training record that each row of ``design`` belongs to, where rows are not records.
        """
        if not out_of_fold:
            return np.asarray(np.mean([scores(net, design) for net in self.networks_], axis=0))
        fold = self._folds(design.shape[0] if of is None else None)
        fold = fold if of is None else fold[of]
        parts = [np.flatnonzero(fold == k) for k in range(len(self.networks_))]
        scored = [scores(net, design[rows]) for net, rows in zip(self.networks_, parts, strict=True)]
        return np.asarray(np.concatenate(scored)[np.argsort(np.concatenate(parts), kind="stable")])

    def _folds(self, n: int | None) -> Codes:
        fold = getattr(self, "fold_", None)
        if fold is None:
            raise ArgumentError("out_of_fold=True needs cross_fit: the networks saw every training record")
        if n is not None and n != len(fold):
            raise ArgumentError(f"out_of_fold=True is about the {len(fold):,} training records; got {n:,} records")
        return cast(Codes, fold)

    def _terms(self, bags: Any, places: Codes | None, out_of_fold: bool) -> Floats:
        """Conditional density of every entry, in the order of storage."""
        of = row_of_each(bags)
        moved = np.arange(bags.nnz)
        if places is not None:
            rank = np.empty_like(places)
            rank[places] = np.arange(len(places))
            moved = np.lexsort((rank[bags.indices], of))
        ordered = sparse.csr_array((bags.data[moved], bags.indices[moved], bags.indptr), shape=bags.shape)
        if out_of_fold:
            fold, scores = self._folds(bags.shape[0])[of], np.empty((bags.nnz, len(self.prior_)))
            for k, net in enumerate(self.networks_):
                scores[fold == k] = term_scores(net, ordered[np.flatnonzero(self.fold_ == k)])
        else:
            scores = np.mean([term_scores(net, ordered) for net in self.networks_], axis=0)
        lift = self._lift(scores)
        steps = lift.copy()
        steps[1:] -= lift[:-1]
        begins = bags.indptr[:-1][np.diff(bags.indptr) > 0]
        steps[begins] = lift[begins]
        densities = np.empty_like(steps)
        densities[moved] = steps
        return densities

    def _spread(self, bags: Any, entries: Floats) -> Floats:
        """Densities of entries in a full array; a term that a record does not have says nothing."""
        densities = np.zeros((*bags.shape, len(self.prior_)))
        densities[row_of_each(bags), bags.indices] = entries
        return densities

    def _leak_order(self, design: Any) -> Codes:
        """Features by the mean over records of their largest absolute log-lift alone, largest first."""
        if self.layout_.starts is None:
            risk = np.abs(self._lift(self._scored(_entries(design), False, term_scores))).max(axis=1)
            leak = np.bincount(design.indices, weights=risk, minlength=self.n_groups_).astype(np.float64)
        else:
            leak = np.zeros(self.n_groups_)
            # In pieces, because features x records may be many.
            for begin in range(0, design.shape[0], 256):
                rows = design[begin : begin + 256]
                scores = self._scored(rows, False, lambda net, part: single_scores(net, part, self._starts))
                leak += np.abs(self._lift(scores)).max(axis=2).sum(axis=0)
        return np.argsort(-leak, kind="stable")


def _entries(bags: Any) -> Any:
    """Every stored entry as a record of its own."""
    return sparse.csr_array((bags.data, bags.indices, np.arange(bags.nnz + 1)), shape=(bags.nnz, bags.shape[1]))


class Sweep:
    """Records that are released feature by feature; see ``PrefixLogLift.sweep``.

    Attributes
    ----------
    log_lift : array, records x secrets
        Log-lift of what has been released so far.
    """

    def __init__(self, estimator: PrefixLogLift, n: int, fold: Codes | None = None) -> None:
        self._estimator, self._fold = estimator, fold
        self._hidden = [net.start(n) for net in estimator.networks_]
        self._n = n
        self.log_lift = np.zeros((n, len(estimator.prior_)))

    def candidate(self, feature: int, columns: Any) -> Floats:
        """Log-lift with a feature added (records x secrets); ``columns`` is records x the feature's columns."""
        brought = self._brought(feature, columns)
        with one_thread():
            return self._lift([hidden + added for hidden, added in zip(self._hidden, brought, strict=True)])

    def release(self, feature: int, columns: Any, *, where: NDArray[np.bool_] | None = None) -> None:
        """Add a feature as it is released, to the records ``where`` (by default all)."""
        brought = self._brought(feature, columns)
        for hidden, added in zip(self._hidden, brought, strict=True):
            hidden += added if where is None else np.where(where[:, None], added, 0.0)
        with one_thread():
            lift = self._lift(self._hidden)
        self.log_lift = lift if where is None else np.where(where[:, None], lift, self.log_lift)

    def _lift(self, hidden: list[Floats]) -> Floats:
        nets = self._estimator.networks_
        scores = np.stack([net.scores(h) for net, h in zip(nets, hidden, strict=True)])
        # By all networks together, or by the one that did not see the record.
        return self._estimator._lift(
            scores.mean(axis=0) if self._fold is None else scores[self._fold, np.arange(self._n)]
        )

    def _brought(self, feature: int, columns: Any) -> list[Floats]:
        estimator = self._estimator
        if not 0 <= feature < estimator.n_groups_:
            raise ArgumentError(f"features are numbered 0 to {estimator.n_groups_ - 1}; got {feature}")
        array = np.asarray(columns)
        array = array[:, None] if array.ndim == 1 else array
        if len(array) != self._n:
            raise ArgumentError(f"the sweep is about {self._n:,} records; got {len(array):,} cells")
        block, inputs = estimator.layout_.block(estimator.encoder_, feature, array)
        with one_thread():
            return [net.brought(block, feature, inputs) for net in estimator.networks_]


@dataclass(frozen=True)
class InputLayout:
    """Where the inputs of the network are: sorted by feature, feature j from ``starts[j]`` to ``starts[j + 1]``.

    ``columns`` are the encoder's inputs in that order, ``owner`` the feature of each column of the records. For a bag
    of words there are no starts: a term is an input, divided by its usual size ``scale``.
    """

    features: int
    starts: Codes | None
    columns: Codes
    owner: Codes
    scale: Floats

    def design(self, encoder: Encoder, features: Features) -> Any:
        """Inputs of encoded records."""
        if self.starts is None:
            bags = sparse.csr_array(features.sparse, copy=True)
            bags.data = np.clip(bags.data / self.scale[bags.indices], -100.0, 100.0)
            return bags
        return encoder.design(features)[:, self.columns]

    def block(self, encoder: Encoder, feature: int, array: NDArray[Any]) -> tuple[Any, slice]:
        """Inputs of one feature, and where they lie."""
        if self.starts is None:
            values = array.astype(np.float64) / self.scale[feature]
            return values.clip(-100.0, 100.0), slice(feature, feature + 1)
        part = encoder.of_columns(np.flatnonzero(self.owner == feature).tolist())
        if array.shape[1] != len(part.names):
            raise ArgumentError(f"feature {feature} has {len(part.names)} columns; got {array.shape[1]}")
        categories = frozenset(j for j, kind in enumerate(part.kinds) if kind == "category")
        inputs = slice(int(self.starts[feature]), int(self.starts[feature + 1]))
        return part.design(part.encode(cells_of_array(array, as_category=categories))), inputs


def _layout(encoder: Encoder, groups: Sequence[int] | NDArray[np.int64] | None, features: Features) -> InputLayout:
    count = features.shape[1]
    owner = np.arange(count) if groups is None else np.asarray(groups)
    if owner.shape != (count,) or owner.dtype.kind not in "iu":
        raise ArgumentError(f"groups has one feature number for each of the {count:,} columns; got {groups!r:.80}")
    if not np.array_equal(np.unique(owner), np.arange(owner.max() + 1)):
        raise ArgumentError("groups numbers the features 0, 1, 2, ... and leaves none out")
    m = int(owner.max()) + 1
    if features.sparse is not None:
        if groups is not None and not np.array_equal(owner, np.arange(count)):
            raise ArgumentError("groups is for tables; in a sparse matrix every column is a feature")
        stored = features.sparse
        sums = np.bincount(stored.indices, weights=np.abs(stored.data), minlength=count)
        met = np.bincount(stored.indices, weights=stored.data != 0, minlength=count)
        scale = np.where(sums > 0, sums / np.maximum(met, 1), 1.0)
        return InputLayout(m, None, np.arange(0), owner.astype(np.int64), scale)
    of_inputs = owner[encoder.column_of_each_input()]
    columns = np.argsort(of_inputs, kind="stable")
    starts = np.searchsorted(of_inputs[columns], np.arange(m + 1))
    return InputLayout(m, starts, columns, owner.astype(np.int64), np.ones(0))
