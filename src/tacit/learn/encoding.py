"""From mixed records (categories, numbers, missing cells, sparse matrices) to what each kind of learner reads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, fields
from itertools import repeat
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tacit.errors import DataError
from tacit.learn.arrays import Codes, Floats

Kind = Literal["number", "category"]

MOST_DESIGN_LEVELS = 2_000
# Wider than this, most cells are the zeros of levels, and the matrix is kept sparse.
MOST_DENSE_COLUMNS = 256
# Beyond this kurtosis a few extreme cells would set the scale of a column; their logarithm does not.
HEAVY_TAIL = 8.0

# Scaled numbers are cut off at this many standard deviations from the centre.
FURTHEST = 1e3

UNSEEN = -1


@dataclass(frozen=True)
class RecordCells:
    """Records as they came: numbers (NaN where missing), text (None where missing), or one sparse matrix."""

    names: tuple[str, ...]
    kinds: tuple[Kind, ...]
    columns: tuple[NDArray[Any], ...]
    sparse: Any = None

    def __len__(self) -> int:
        return int(self.sparse.shape[0] if self.sparse is not None else len(self.columns[0]))


@dataclass(frozen=True)
class Features:
    """Encoded records. ``codes`` numbers the levels of categories from 1, 0 = missing; ``UNSEEN`` is a level never met.

    ``unseen`` marks the records with a cell unlike any that was learned from: a level never met, a missing cell where
    none was missing, a number further outside the range than the range is wide.
    """

    numbers: Floats
    codes: Codes
    unseen: NDArray[np.bool_]
    sparse: Any = None

    def __len__(self) -> int:
        return int(self.sparse.shape[0] if self.sparse is not None else len(self.numbers))

    @property
    def shape(self) -> tuple[int, int]:
        """Records and columns."""
        if self.sparse is not None:
            return tuple(self.sparse.shape)
        return len(self), self.numbers.shape[1] + self.codes.shape[1]

    def rows(self, index: NDArray[Any]) -> Features:
        """Some of the records."""
        if self.sparse is not None:
            return Features(self.numbers[:0], self.codes[:0], self.unseen[index], self.sparse[index])
        return Features(self.numbers[index], self.codes[index], self.unseen[index])


@dataclass(frozen=True)
class Encoder:
    """What was seen in each column while learning: the levels of a category; centre, scale and range of a number.

    Every field has one entry per column; for a sparse matrix there are only names, kinds and scales.
    """

    names: tuple[str, ...]
    kinds: tuple[Kind, ...]
    levels: tuple[tuple[str, ...], ...] = ()
    centre: tuple[float, ...] = ()
    scale: tuple[float, ...] = ()
    heavy: tuple[bool, ...] = ()
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    missing: tuple[bool, ...] = ()

    @classmethod
    def learn(cls, cells: RecordCells) -> Encoder:
        """Levels by frequency, and a scale for every number; a column with a heavy tail is scaled by its logarithm."""
        if cells.sparse is not None:
            top = abs(cells.sparse).max(axis=0).toarray().ravel()
            return cls(cells.names, cells.kinds, scale=tuple(np.where(top > 0, top, 1.0).tolist()))
        pairs = list(zip(cells.columns, cells.kinds, strict=True))
        finite = [column[np.isfinite(column)] if kind == "number" else np.empty(0) for column, kind in pairs]
        heavy = tuple(_kurtosis(column) > HEAVY_TAIL for column in finite)
        middles = [_centre_and_scale(column, tail) for column, tail in zip(finite, heavy, strict=True)]
        return cls(
            names=cells.names,
            kinds=cells.kinds,
            levels=tuple(_levels(column) if kind == "category" else () for column, kind in pairs),
            centre=tuple(centre for centre, _ in middles),
            scale=tuple(scale for _, scale in middles),
            heavy=heavy,
            low=tuple(float(column.min(initial=np.inf)) for column in finite),
            high=tuple(float(column.max(initial=-np.inf)) for column in finite),
            missing=tuple(bool(_is_missing(column).any()) for column in cells.columns),
        )

    def of_columns(self, columns: Iterable[int]) -> Encoder:
        """The encoder of only some columns of a table."""
        chosen = list(columns)
        return Encoder(*(tuple(getattr(self, each.name)[c] for c in chosen) for each in fields(self)))

    def encode(self, cells: RecordCells) -> Features:
        """Numbers unchanged and categories as codes."""
        unseen = np.zeros(len(cells), dtype=bool)
        if cells.sparse is not None:
            return Features(np.empty((0, 0)), np.empty((0, 0), dtype=np.int64), unseen, cells.sparse)
        numbers, codes = [np.empty((len(cells), 0))], [np.empty((len(cells), 0), dtype=np.int64)]
        known = zip(self.kinds, self.levels, self.low, self.high, self.missing, strict=True)
        for column, (kind, levels, low, high, met) in zip(coerced(cells, self).columns, known, strict=True):
            unseen |= _is_missing(column) & (not met)
            if kind == "number":
                # In halves, because the width of a range may be too large a number.
                unseen |= (column / 2 < low - high / 2) | (column / 2 > high - low / 2)
                numbers.append(column[:, None].astype(np.float64))
            else:
                codes.append(_codes(column, levels)[:, None])
                unseen |= codes[-1][:, 0] == UNSEEN
        return Features(np.hstack(numbers), np.hstack(codes), unseen)

    def design(self, features: Features) -> Any:
        """Numbers of about unit size for nets and linear models: scaled numbers, flags of missing, one-hot levels."""
        if features.sparse is not None:
            scaled = features.sparse @ sparse.diags_array(1 / np.array(self.scale))
            return scaled.toarray() if scaled.shape[1] <= MOST_DENSE_COLUMNS else scaled.tocsr()
        numbers, categories = self._places()
        if not len(categories):
            return self._scaled(features.numbers)
        parts = [sparse.csr_array(self._scaled(features.numbers))] if len(numbers) else []
        sizes = np.array([self._inputs_of(c) for c in categories], np.int64)
        stacked = sparse.csr_array(sparse.hstack([*parts, _one_hot(features.codes, sizes)]))
        return stacked.toarray() if stacked.shape[1] <= MOST_DENSE_COLUMNS else stacked

    def column_of_each_input(self) -> Codes:
        """The column of the records that each input of ``design`` is made of."""
        numbers, categories = self._places()
        flagged = numbers[np.array(self.missing)[numbers]]
        sizes = [self._inputs_of(c) for c in categories]
        return np.concatenate([numbers, flagged, np.repeat(categories, sizes)]).astype(np.int64)

    def _places(self) -> tuple[Codes, Codes]:
        """Which columns are numbers, and which are categories."""
        number = np.array([kind == "number" for kind in self.kinds])
        return np.flatnonzero(number), np.flatnonzero(~number)

    def _inputs_of(self, category: int) -> int:
        return min(len(self.levels[category]), MOST_DESIGN_LEVELS) + 1

    def _scaled(self, numbers: Floats) -> Floats:
        places, _ = self._places()
        heavy, flags = np.array(self.heavy)[places], np.array(self.missing)[places]
        scaled = numbers.copy()
        scaled[:, heavy] = np.arcsinh(scaled[:, heavy])
        scaled = (scaled - np.array(self.centre)[places]) / np.array(self.scale)[places]
        # What lies further out is unseen anyway, and must not overflow on its way through a model.
        scaled = scaled.clip(-FURTHEST, FURTHEST)
        return np.hstack([np.nan_to_num(scaled), np.isnan(numbers[:, flags])])

    def ordinal(self, features: Features) -> tuple[Floats, NDArray[np.bool_]]:
        """Columns for trees, and which of them are categories; a level never met is missing."""
        if features.sparse is not None:
            return features.sparse.toarray(), np.zeros(features.sparse.shape[1], dtype=bool)
        codes = features.codes.astype(np.float64)
        codes[codes < 0] = np.nan
        categorical = np.r_[np.zeros(features.numbers.shape[1], bool), np.ones(codes.shape[1], bool)]
        return np.hstack([features.numbers, codes]), categorical


def frame_of(X: Any) -> Any:
    """``X`` as a narwhals frame, or None if it is not a frame."""
    if isinstance(X, np.ndarray) or sparse.issparse(X) or isinstance(X, (list, tuple)):
        return None
    import narwhals as nw

    frame = nw.from_native(X, pass_through=True, eager_only=True)
    return frame if isinstance(frame, nw.DataFrame) else None


def cells_of_frame(frame: Any, *, as_category: frozenset[int]) -> RecordCells:
    """The columns of a frame by their type: numbers and times are numbers, all else is categories."""
    import narwhals as nw

    columns = []
    for j, series in enumerate(frame.iter_columns()):
        dtype, numbers = series.dtype, None
        if j not in as_category:
            if dtype.is_temporal() and dtype != nw.Time:
                series = series.dt.total_seconds() if dtype == nw.Duration else series.dt.timestamp("ms")
                numbers = series.cast(nw.Float64).to_numpy()
            elif dtype.is_numeric():
                numbers = series.cast(nw.Float64).to_numpy()
            elif dtype == nw.Object:
                numbers = _as_numbers(series.to_numpy())
        if numbers is None:
            numbers = _text(series.to_numpy() if dtype == nw.Object else np.array(series.to_list(), dtype=object))
        columns.append(numbers)
    return _cells(tuple(map(str, frame.columns)), columns)


def cells_of_array(X: NDArray[Any], *, as_category: frozenset[int]) -> RecordCells:
    """The columns of an array; in an array of objects a column of nothing but numbers is a number column."""
    columns = []
    for j in range(X.shape[1]):
        numbers = None
        if j not in as_category:
            numbers = X[:, j].astype(np.float64) if X.dtype.kind in "buif" else _as_numbers(X[:, j])
        columns.append(_text(X[:, j]) if numbers is None else numbers)
    return _cells(tuple(f"x{j}" for j in range(X.shape[1])), columns)


def _cells(names: tuple[str, ...], columns: list[NDArray[Any]]) -> RecordCells:
    kinds: list[Kind] = ["category" if column.dtype == object else "number" for column in columns]
    for name, kind, column in zip(names, kinds, columns, strict=True):
        if kind == "number" and np.isinf(column).any():
            raise DataError(
                f"column '{name}' contains infinity; a number must be finite or missing: fix it, or leave it out"
            )
    return RecordCells(names, tuple(kinds), tuple(columns))


def cells_of_sparse(X: Any) -> RecordCells:
    """A sparse matrix is numbers throughout."""
    return RecordCells(tuple(f"x{j}" for j in range(X.shape[1])), ("number",) * X.shape[1], (), sparse=X)


def _one_hot(codes: Codes, known: Codes) -> Any:
    """For each column of codes one input per level, up to ``known``; a level beyond them, or never met, has none."""
    shown = (codes >= 0) & (codes < known)
    places = (codes + (np.cumsum(known) - known))[shown]
    ends = np.concatenate([[0], np.cumsum(shown.sum(axis=1))])
    return sparse.csr_array((np.ones(len(places)), places, ends), shape=(len(codes), int(known.sum())))


def _as_numbers(column: NDArray[Any]) -> Floats | None:
    """A column of objects as numbers, None if some of it is text."""
    texts = (str, bytes, bool, np.bool_)
    if any(isinstance(value, texts) for value in column):
        return None
    try:
        return np.array([np.nan if is_missing(value) else value for value in column], dtype=np.float64)
    except (TypeError, ValueError):
        return None


def _text(column: NDArray[Any]) -> NDArray[Any]:
    """Any values as text, missing ones as None."""
    if column.dtype == object and set(map(type, column)) <= {str, type(None)}:
        return column
    return np.array([None if is_missing(value) else str(value) for value in column], dtype=object)


def is_missing(value: Any) -> bool:
    """Whether a cell is None, NaN, not a time, or pandas' NA (which cannot be compared, even with itself)."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, (float, np.floating)) and bool(np.isnan(value))


def _is_missing(column: NDArray[Any]) -> NDArray[np.bool_]:
    if column.dtype != object:
        return np.asarray(np.isnan(column))
    return np.array([value is None for value in column.tolist()], dtype=bool)


def coerced(cells: RecordCells, encoder: Encoder) -> RecordCells:
    """Columns of the kinds that were learned: 3 for '3', NaN for a number column that is all missing."""
    if cells.kinds == encoder.kinds:
        return cells
    columns = []
    for name, kind, column in zip(cells.names, encoder.kinds, cells.columns, strict=True):
        if kind == "category":
            columns.append(_text(column) if column.dtype != object else column)
            continue
        numbers = column if column.dtype != object else _as_numbers(column)
        if numbers is None:
            raise DataError(f"column '{name}' held numbers when the estimator was fitted, and now holds text")
        columns.append(numbers)
    return RecordCells(cells.names, encoder.kinds, tuple(columns))


def _levels(column: NDArray[Any]) -> tuple[str, ...]:
    counts = Counter(column.tolist())
    counts.pop(None, None)
    return tuple(sorted(counts, key=lambda value: (-counts[value], value)))


def _codes(column: NDArray[Any], levels: tuple[str, ...]) -> Codes:
    place = {level: at + 1 for at, level in enumerate(levels)} | {None: 0}
    return np.fromiter(map(place.get, column.tolist(), repeat(UNSEEN)), dtype=np.int64, count=len(column))


def _kurtosis(column: Floats) -> float:
    # Divided first, because the squares of large numbers are infinite.
    shown = column / (np.abs(column).max(initial=0.0) or 1.0)
    deviation = shown - shown.mean() if len(shown) else shown
    variance = float((deviation**2).mean()) if len(shown) else 0.0
    return float((deviation**4).mean() / variance**2) if variance > 1e-30 else 0.0


def _centre_and_scale(column: Floats, heavy: bool) -> tuple[float, float]:
    if not len(column):
        return 0.0, 1.0
    shown = np.arcsinh(column) if heavy else column
    top = float(np.abs(shown).max()) or 1.0
    width = float((shown / top).std()) * top
    return float((shown / top).mean()) * top, width if width > 0 else 1.0


def spoken_secrets(values: NDArray[Any]) -> NDArray[Any]:
    """Secrets of any type as text; two that would read the same are refused: their records would be mixed up."""
    texts = np.array(["(missing)" if is_missing(value) else str(value) for value in values])
    met: dict[str, Any] = {}
    for value, text in zip(values, texts.tolist(), strict=True):
        key = None if is_missing(value) else value
        if met.setdefault(text, key) != key or type(met[text]) is not type(key):
            raise DataError(f"two different secrets both read {text!r}: give them different names")
    return texts
