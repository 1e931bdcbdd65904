"""``FeatureObfuscator``: a transformer that changes only the cells that give the secret away."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from tacit.errors import ArgumentError, DataError
from tacit.learn.arrays import Codes, Flags, Floats
from tacit.learn.encoding import RecordCells, coerced, frame_of
from tacit.learn.nets.prefixes import PrefixLogLift
from tacit.learn.transformers.flagging import flagging_delta
from tacit.learn.transformers.noise import drawn_places, words_from
from tacit.learn.transformers.records import RecordsTransformer
from tacit.lift import GridGaussian, compose_deltas, gaussian_scale, vacuous

Words = Callable[[int], NDArray[np.uint64]]

# What a redrawn cell looks like to the network that reads releases: only that it was redrawn; its value says nothing.
REDRAWN = "(redrawn)"
# Scales that are derived, not given, are rounded up to a sixteenth of a power of two, so that they share noise tables.
FINENESS = 16


@dataclass(frozen=True)
class Obfuscated:
    """What an obfuscation gives, and what is known about it.

    Attributes
    ----------
    values : frame or array
        The records as released, in the form that they came in.
    flags : array, records x features
        Which features of which records were changed. Not for publication: it tells no more than what a reader can see
        of noised cells, but says it outright.
    touched : float
        Share of cells that were changed.
    scale : array, features
        Standard deviation of the noise on flagged numbers of each feature; 0 where it has none.
    delta : array, features
        An estimate of the bound on E-gamma, gamma = e^epsilon, of each feature given those released before it, the
        largest over its two sides and the secrets (`obfuscation_delta`; it includes the fact of being changed).
    vacuous : array, features
        Where that bound says next to nothing: publishing the secret itself would satisfy its upper side.
    total_epsilon, total_delta : float
        Of all features together (`compose_deltas`).
    total_vacuous : bool
    """

    values: Any = field(repr=False)
    flags: Flags = field(repr=False)
    touched: float
    scale: Floats = field(repr=False)
    delta: Floats = field(repr=False)
    vacuous: Flags = field(repr=False)
    total_epsilon: float
    total_delta: float
    total_vacuous: bool


class FeatureObfuscator(RecordsTransformer):
    """Changes the features of each record that give its secret away, and leaves all others unchanged.

    Feature by feature, in ``order``: if knowing it would change the belief in some secret by more than epsilon, beyond
    what was *released* of the features before it, it is flagged. Flagged numbers get Gaussian noise on a grid; flagged
    categories are redrawn from a pool without looking at the cell. A cell unlike any that was learned from is flagged.

    The tide paper conditions on the raw features before it, and so releases the copy of a feature it has just noised.
    Here the network reads releases: a first one, learned from raw records, obfuscates the training records, and a
    second one is learned from those (``rounds``).

    Parameters
    ----------
    estimator : PrefixLogLift, optional
        How log-lift is learned; its ``groups`` are the features.
    secret : str or int, optional
        The column of the secrets, where it is among the records; see ``Watchdog``.
    y_is : "secret", optional
        That ``y`` holds the secrets.
    epsilon : float
        Nats by which one feature may change a belief.
    scale : float or sequence of float, optional
        Standard deviation of the noise, for all features or for each.
    delta : float, optional
        Instead of a scale: noise for which two values of the feature differ by at most delta at epsilon
        (`gaussian_scale` with the feature's diameter). With neither, the scale is the diameter.
    order : "given", "leak" or a permutation of the features
    rounds : int
        How often the network is learned anew from what was released. With 0 the raw network is used, and features that
        were changed count as not released: an adversary who disregards them.
    random_state : int, RandomState or None
        For the learning, the noise and the draws. None takes the noise from the system's secure source: leave it so
        when you publish.

    Attributes
    ----------
    estimator_ : PrefixLogLift
        Learned from raw records.
    release_estimator_ : PrefixLogLift or None
        Learned from released ones.
    order_, scale_, delta_, flag_share_ : arrays
        Order of the features; and for each feature its noise, its bound, and the share of training records flagged.

    Guarantees
    ----------
    A cell that is not flagged is unchanged. What a flagged number gets is exactly Gaussian noise of the scale, rounded
    to a grid, after the number is brought into the range of the training table. What replaces a flagged category is
    independent of the record. Which cells are flagged, and with them ``delta``, rests on a learned log-lift: it is an
    estimate and certifies nothing. Shares among training records are those of networks that saw them, unless the
    estimator has ``cross_fit``.
    """

    def __init__(
        self,
        estimator: PrefixLogLift | None = None,
        *,
        secret: str | int | None = None,
        y_is: Literal["secret"] | None = None,
        epsilon: float = 0.5,
        scale: float | Sequence[float] | None = None,
        delta: float | None = None,
        order: str | Sequence[int] = "given",
        rounds: int = 1,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.secret = secret
        self.y_is = y_is
        self.epsilon = epsilon
        self.scale = scale
        self.delta = delta
        self.order = order
        self.rounds = rounds
        self.random_state = random_state

    def _fit(self, X: Any, secret: Any, y: Any) -> Self:
        self._check_words()
        estimator = PrefixLogLift(random_state=self.random_state) if self.estimator is None else clone(self.estimator)
        self.estimator_ = estimator.fit(X, secret)
        self.order_ = self.estimator_._order(self.order if isinstance(self.order, str) else np.asarray(self.order))
        self.release_estimator_: PrefixLogLift | None = None
        self._set_noise()
        words, table, natives = words_from(self.random_state), self._table(X), _natives(X, self.kinds_)
        codes = np.searchsorted(self.estimator_.secrets_, np.asarray(secret).astype(self.estimator_.secrets_.dtype))
        flags = self._released(table, words, training=True)[1]
        for _ in range(self.rounds):
            self.release_estimator_ = self._learn_from_releases(table, codes, words)
            flags = self._released(table, words, training=True)[1]
        owner = self.estimator_.layout_.owner
        # Cells to redraw from: the flagged ones, or all if none was; either way not the record's own.
        self.pools_ = {
            c: cells[flags[:, owner[c]]] if flags[:, owner[c]].any() else cells for c, cells in natives.items()
        }
        self._judge(flags, codes)
        return self

    def transform(self, X: Any) -> Any:
        """The records as they may be released; in the form they came in, numbers as floats."""
        return self._as_asked(self.obfuscate(X).values)

    def obfuscate(self, X: Any) -> Obfuscated:
        """The records as they may be released, which cells were changed, and what is known about it."""
        X = self._records(X)
        words = words_from(self.random_state)
        values, flags = self._released(self._table(X), words, training=False)
        owner = self.estimator_.layout_.owner
        changed: dict[int, tuple[Flags, NDArray[Any]]] = {}
        for c in np.flatnonzero(flags[:, owner].any(axis=0)).tolist():
            flagged, drawn = flags[:, owner[c]], values[c]
            if c in self.pools_:
                drawn = self.pools_[c][drawn_places(words(len(flagged)), len(self.pools_[c]))]
            changed[c] = flagged, drawn
        epsilon, delta = compose_deltas(np.full(len(self.delta_), float(self.epsilon)), self.delta_)
        prior = float(self.estimator_.prior_.min())
        return Obfuscated(
            values=_rebuilt(X, changed, self.kinds_),
            flags=flags,
            touched=float(flags[:, owner].mean()),
            scale=self.scale_,
            delta=self.delta_,
            vacuous=np.atleast_1d(vacuous(self.delta_, epsilon=self.epsilon, prior=prior)),
            total_epsilon=epsilon,
            total_delta=delta,
            total_vacuous=bool(vacuous(delta, epsilon=epsilon, prior=prior)),
        )

    def _check_words(self) -> None:
        if not self.epsilon >= 0:
            raise ArgumentError(f"epsilon must be a number of nats, 0 or more; got {self.epsilon}")
        if self.scale is not None and self.delta is not None:
            raise ArgumentError("give scale or delta, not both: the one follows from the other")
        if self.delta is not None and not 0 < self.delta < 1:
            raise ArgumentError(f"delta is a number between 0 and 1; got {self.delta!r}")
        if not isinstance(self.rounds, (int, np.integer)) or self.rounds < 0:
            raise ArgumentError(f"rounds is a whole number, 0 or more; got {self.rounds!r}")
        if self.estimator is not None and not isinstance(self.estimator, PrefixLogLift):
            raise ArgumentError(f"estimator is a PrefixLogLift; got {type(self.estimator).__name__}")

    def _set_noise(self) -> None:
        """Diameter, scale and noise of every feature's numbers."""
        estimator = self.estimator_
        encoder, owner, m = estimator.encoder_, estimator.layout_.owner, estimator.n_groups_
        self.kinds_ = encoder.kinds
        self.columns_ = [np.flatnonzero(owner == j).tolist() for j in range(m)]
        numbers = np.flatnonzero(np.array(encoder.kinds) == "number")
        # A column that was missing throughout has no range; since it is never anything else, any will do.
        self.low_, self.high_ = np.where(np.isfinite(encoder.low), [encoder.low, encoder.high], 0.0)
        self.diameter_ = np.sqrt(np.bincount(owner, weights=(self.high_ - self.low_) ** 2, minlength=m))
        if self.scale is not None:
            wanted = np.asarray(self.scale, dtype=np.float64)
            wanted = np.full(m, wanted) if wanted.ndim == 0 else wanted
            if wanted.shape != (m,) or not (np.isfinite(wanted) & (wanted > 0)).all():
                raise ArgumentError(f"scale is a standard deviation above 0, or one for each of the {m} features")
        elif self.delta is not None:
            wanted = _rounded_up(np.asarray(gaussian_scale(self.epsilon, self.delta, self.diameter_)))
        else:
            wanted = _rounded_up(self.diameter_)
        numeric = np.bincount(owner[numbers], minlength=m) > 0
        self.scale_ = np.where(numeric, wanted, 0.0)
        self.noise_ = {float(scale): GridGaussian(float(scale)) for scale in np.unique(self.scale_) if scale > 0}

    def _table(self, X: Any) -> list[NDArray[Any]]:
        """The columns: numbers as floats, categories as text."""
        return list(coerced(self.estimator_._cells(X, reset=False), self.estimator_.encoder_).columns)

    def _released(self, table: list[NDArray[Any]], words: Words, *, training: bool) -> tuple[list[Any], Flags]:
        """The released columns (a flagged category is ``REDRAWN``) and the flags, feature by feature."""
        n = len(table[0])
        estimator = self.release_estimator_ or self.estimator_
        sweep = estimator.sweep(n, out_of_fold=training and estimator.cross_fit is not None)
        flags = np.zeros((n, len(self.columns_)), dtype=bool)
        released = list(table)
        reads_releases = self.release_estimator_ is not None
        for place, j in enumerate(self.order_.tolist()):
            # The network that reads releases knows a feature by its place in the order.
            number = place if reads_releases else j
            raw = self._shown(table, j, np.zeros(n, dtype=bool) if reads_releases else None)
            added = np.abs(sweep.candidate(number, raw) - sweep.log_lift).max(axis=1)
            flags[:, j] = flagged = (added > self.epsilon) | self._unseen(table, j)
            for c in self.columns_[j]:
                released[c] = self._changed(table[c], c, flagged, words)
            shown = self._shown(released, j, flagged if reads_releases else None)
            sweep.release(number, shown, where=None if reads_releases else ~flagged)
        return released, flags

    def _changed(self, cells: NDArray[Any], c: int, flagged: Flags, words: Words) -> NDArray[Any]:
        """A column with the flagged cells changed."""
        column, scale = cells.copy(), float(self.scale_[self.estimator_.layout_.owner[c]])
        if self.kinds_[c] == "category":
            column[flagged] = REDRAWN
        elif scale > 0 and flagged.any():
            middle = (self.low_[c] + self.high_[c]) / 2
            inside = np.nan_to_num(column[flagged], nan=middle).clip(self.low_[c], self.high_[c])
            column[flagged] = self.noise_[scale].release(inside, words(len(inside)))
        elif flagged.any():
            # A constant column without noise: what is flagged is missing or far out, and becomes the constant.
            column[flagged] = self.low_[c]
        return column

    def _shown(self, columns: list[Any], j: int, flagged: Flags | None) -> NDArray[Any]:
        """A feature as the raw network reads it or, given the flags, as the network of releases does.

        The latter is told which features were changed, and gets noised numbers shrunk towards the middle,
        as far as the noise makes that the better guess.
        """
        own = [columns[c] for c in self.columns_[j]]
        if flagged is not None:
            for at, c in enumerate(self.columns_[j]):
                if self.kinds_[c] == "number":
                    own[at] = np.where(flagged, self._shrunk(own[at], c), own[at])
            own.append(flagged.astype(np.float64))
        mixed = any(column.dtype == object for column in own)
        return np.column_stack([column.astype(object) for column in own] if mixed else own)

    def _shrunk(self, column: Floats, c: int) -> Floats:
        scale = self.scale_[self.estimator_.layout_.owner[c]]
        middle, spread = (self.low_[c] + self.high_[c]) / 2, (self.high_[c] - self.low_[c]) / 4
        share = spread**2 / (spread**2 + scale**2) if spread > 0 else 0.0
        return np.asarray(middle + share * (column - middle))

    def _learn_from_releases(self, table: list[NDArray[Any]], secret: Codes, words: Words) -> PrefixLogLift:
        """A network that reads the features so far as released, and the next one raw.

        Half of the records are shown to it as released; in the others, the features from a random place on are raw.
        """
        rng = np.random.default_rng(int(words(1)[0]))
        released, flags = self._released(table, words, training=True)
        n, m = flags.shape
        cut = np.where(rng.random(n) < 0.5, m, rng.integers(m, size=n))
        parts, groups, kinds = [], [], []
        for place, j in enumerate(self.order_.tolist()):
            late = cut <= place
            columns = list(table)
            for c in self.columns_[j]:
                columns[c] = np.where(late, table[c], released[c])
            parts.append(self._shown(columns, j, flags[:, j] & ~late))
            groups += [place] * parts[-1].shape[1]
            kinds += [self.kinds_[c] for c in self.columns_[j]] + ["number"]
        categories = [at for at, kind in enumerate(kinds) if kind == "category"]
        model: PrefixLogLift = clone(self.estimator_).set_params(
            groups=groups, orders="given", categorical_features=categories or None
        )
        model.fit(np.hstack(parts), self.estimator_.secrets_[secret])
        return model

    def _unseen(self, table: list[NDArray[Any]], j: int) -> Flags:
        part = self.estimator_.encoder_.of_columns(self.columns_[j])
        return part.encode(RecordCells(part.names, part.kinds, tuple(table[c] for c in self.columns_[j]))).unseen

    def _judge(self, flags: Flags, secret: Codes) -> None:
        """The bound for every feature, with shares counted among the training records."""
        self.flag_share_ = flags.mean(axis=0)
        columns = np.array([sum(self.kinds_[c] == "number" for c in own) for own in self.columns_])
        noises = [self.noise_.get(float(scale)) for scale in self.scale_]
        step, truncated = (
            np.array([0.0 if noise is None else getattr(noise, name) for noise in noises])
            for name in ("step", "truncated")
        )
        # Rounding to the grid may move two values farther apart.
        diameter = np.where(self.scale_ > 0, self.diameter_ + step * np.sqrt(columns), 0.0)
        scale = np.where(self.scale_ > 0, self.scale_, np.inf)
        delta, _ = flagging_delta(flags, secret, epsilon=self.epsilon, diameter=diameter, scale=scale)
        delta = np.minimum(1.0, delta + (1 + np.exp(self.epsilon)) * truncated * columns)
        self.delta_ = np.where(self.flag_share_ > 0, delta, 0.0)

    def _checked(self, X: Any, *, reset: bool) -> Any:
        frame = frame_of(X)
        for name in () if frame is None else frame.columns:
            if frame[name].dtype.is_temporal():
                raise DataError(
                    f"column '{name}' holds times, and noise cannot be added to a time: make it a number first"
                )
        return super()._checked(X, reset=reset)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags


def _rounded_up(scales: Floats) -> Floats:
    """Each to the next sixteenth between powers of two; 0 stays 0."""
    with np.errstate(divide="ignore"):
        power = 2.0 ** np.floor(np.log2(scales))
    return np.where(scales > 0, np.ceil(scales / np.where(power > 0, power, 1.0) * FINENESS) / FINENESS * power, 0.0)


def _natives(X: Any, kinds: tuple[str, ...]) -> dict[int, NDArray[Any]]:
    """The categories in their original type, not as text."""
    frame = frame_of(X)
    natives = {}
    for c, kind in enumerate(kinds):
        if kind == "category":
            values = X[:, c] if frame is None else frame[frame.columns[c]].to_list()
            natives[c] = np.empty(len(values), dtype=object)
            natives[c][:] = values
    return natives


def _rebuilt(X: Any, changed: dict[int, tuple[Flags, NDArray[Any]]], kinds: tuple[str, ...]) -> Any:
    """The records with some cells changed, in the form that they came in."""
    frame = frame_of(X)
    if frame is None:
        out = np.array(X, dtype=np.float64) if X.dtype.kind in "buif" else X.astype(object)
        for c, (flagged, values) in changed.items():
            out[flagged, c] = values[flagged]
        return out
    import narwhals as nw

    for c, (flagged, values) in changed.items():
        name = frame.columns[c]
        series = frame[name]
        if kinds[c] == "number":
            cells = np.where(flagged, values, series.cast(nw.Float64).to_numpy())
            mended = nw.new_series(name, cells, nw.Float64, backend=frame.implementation)
        else:
            mixed = [new if flag else old for flag, new, old in zip(flagged, values, series.to_list(), strict=True)]
            dtype = nw.String if series.dtype == nw.Categorical else series.dtype
            mended = nw.new_series(name, mixed, None if dtype == nw.Object else dtype, backend=frame.implementation)
        frame = frame.with_columns(mended)
    return frame.to_native()
