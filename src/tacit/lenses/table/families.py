"""The families of adversaries that read a row of a table, and what they see of a table and its release."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.learn.arrays import Codes
from tacit.lenses.bench.families import Family
from tacit.lenses.bench.trying import BenchRecords, folds_of
from tacit.lenses.table.boosting import LEAF, that_can_split
from tacit.lenses.table.question import TableQuestion
from tacit.lenses.table.verify import TableRelease
from tacit.tables.numbers import number_of

if TYPE_CHECKING:
    import pyarrow as pa

# To a tree, a column with more levels than this is a number or a name, not a category.
MOST_CATEGORIES = 200
# The squares of some thousand numbers below this can be added up.
HUGE = 1e150
# The share of the records that is held out to see when trees should stop.
HELD_OUT = 0.1
# Trees on more records than this gain by more threads.
MANY_RECORDS = 200_000
LINKAGE = Family(
    "linkage",
    "knows some true values of a person, has the whole file, and reads the other columns off the rows that fit",
    # It reads the whole file and is tried separately: see ``lenses.table.linkage``.
    lambda rows: rows,
    lambda: None,
)

Labels = NDArray[Any]
Features = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class TableRows:
    """Rows as numbers: measured quantities unchanged, everything else as codes; and which columns are codes."""

    values: Features
    categorical: tuple[bool, ...]

    def __getitem__(self, rows: Codes) -> TableRows:
        return TableRows(self.values[rows], self.categorical)

    def __len__(self) -> int:
        return len(self.values)

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows and columns, as of a matrix."""
        return self.values.shape


def table_families(random_state: int) -> tuple[Family, ...]:
    """The families that are tried on a table; the last looks for people rather than reading rows."""
    return (
        Family(
            "trees",
            "boosted trees over every column; from few records they learn little",
            _same,
            partial(_trees, random_state),
        ),
        Family("linear", "adds up what every column says by itself, not what two say together", _same, _linear),
        Family(
            "lookup", "remembers the secrets of exactly this row; knows nothing of rows it never saw", _same, _lookup
        ),
        LINKAGE,
    )


def _same(rows: TableRows) -> TableRows:
    return rows


class OfColumns:
    """A classifier that is built for the columns it gets; ``fit`` and ``predict_proba`` are scikit-learn's."""

    def __init__(
        self, build: Callable[[tuple[bool, ...]], Any], prepare: Callable[[Features], Features] | None = None
    ) -> None:
        self.build, self.prepare = build, prepare

    def fit(self, rows: TableRows, secret: Any) -> OfColumns:
        """Learn the secrets of rows."""
        values = rows.values if self.prepare is None else self.prepare(rows.values)
        model = self.build(rows.categorical)
        with threads_for(len(values)):
            self.model_ = model.fit(values, secret)
        self.classes_ = self.model_.classes_
        return self

    def predict_proba(self, rows: TableRows) -> Features:
        """How likely each secret is, in the order of ``classes_``."""
        with threads_for(len(rows.values)):
            return np.asarray(self.model_.predict_proba(rows.values))


class StoppedTrees(OfColumns):
    """Boosted trees that stop when records held out are guessed no better, which takes two or more of each secret."""

    def fit(self, rows: TableRows, secret: Any) -> OfColumns:
        """Learn the secrets of rows; where records of so many cannot be held out, only the commonest secrets."""
        values, which, times = np.unique(secret, return_inverse=True, return_counts=True)
        most = np.argsort(-times, kind="stable")[: math.ceil(HELD_OUT * len(secret))]
        common = np.isin(which, most[times[most] > 1])
        if common.all():
            return super().fit(rows, secret)
        if len(np.unique(which[common])) > 1:
            return self.fit(rows[np.flatnonzero(common)], secret[common])
        from sklearn.dummy import DummyClassifier

        self.model_ = DummyClassifier().fit(rows.values, secret)
        self.classes_ = values
        return self


def threads_for(records: int) -> AbstractContextManager[object]:
    """One thread for few records: on a busy machine, those of boosted trees mostly wait for each other."""
    if records > MANY_RECORDS:
        return nullcontext()
    from threadpoolctl import threadpool_limits

    limits: AbstractContextManager[object] = threadpool_limits(limits=1)
    return limits


def _trees(random_state: int) -> StoppedTrees:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return StoppedTrees(
        lambda categorical: HistGradientBoostingClassifier(
            categorical_features=list(categorical),
            early_stopping=True,
            validation_fraction=HELD_OUT,
            min_samples_leaf=LEAF,
            random_state=random_state,
        ),
        that_can_split,
    )


def _linear() -> OfColumns:
    return OfColumns(_linear_of)


def _lookup() -> OfColumns:
    return OfColumns(lambda _: Lookup())


def _linear_of(categorical: tuple[bool, ...]) -> Any:
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    named = [j for j, is_category in enumerate(categorical) if is_category]
    measured = [j for j, is_category in enumerate(categorical) if not is_category]
    encoded = ColumnTransformer(
        [
            ("named", OneHotEncoder(handle_unknown="ignore"), named),
            ("measured", make_pipeline(SimpleImputer(keep_empty_features=True), StandardScaler()), measured),
        ]
    )
    return make_pipeline(encoded, LogisticRegression(max_iter=500))


def table_records(
    release: TableRelease, question: TableQuestion, records: int, *, group: str | None, random_state: int
) -> BenchRecords:
    """Some records in the original, as cut for the claim, and as released; each ``group`` falls into one third."""
    certificate, original = release.certificate, question.original
    secrets, released = list(certificate.secret), list(certificate.released)
    # The secret is what the claim is about: in groups, where it was cut or only some of its values are secret.
    secret, raw = question.table.sample(secrets, records), original.sample(released, records)
    coarse, after = question.table.sample(released, records), release.data.sample(released, records)
    kinds = {column.name: column.kind for column in original.columns}
    codes = np.unique(_labels(secret), return_inverse=True)[1].astype(np.int64)
    together: Any = np.arange(len(codes))
    if group is not None:
        original.require([group])
        together = _labels(original.sample([group], records))
    (released_row,) = _rows([raw], released, kinds)
    middle, shown = _rows([coarse, after], released, {})
    fold = folds_of(codes, together=together, random_state=random_state)
    return BenchRecords(released_row, shown, codes, fold, middle=middle)


def _labels(table: pa.Table) -> Labels:
    columns = [[_text(value) for value in column.to_pylist()] for column in table.columns]
    return np.array([" / ".join(values) for values in zip(*columns, strict=True)])


def _text(value: Any) -> str:
    return "(missing)" if value is None else str(value)


def _rows(tables: Sequence[pa.Table], columns: Sequence[str], kinds: Mapping[str, str]) -> list[TableRows]:
    """Tables as numbers: measured quantities unchanged, everything else as codes that the tables share."""
    numbers, categorical = [], []
    for name in columns:
        values = [value for table in tables for value in table.column(name).to_pylist()]
        if kinds.get(name) == "number":
            numbers.append(_measured(values))
            categorical.append(False)
        else:
            levels, codes = np.unique(np.array([_text(value) for value in values], dtype=object), return_inverse=True)
            numbers.append(codes.astype(np.float64))
            categorical.append(len(levels) <= MOST_CATEGORIES)
    parts = np.split(np.column_stack(numbers), np.cumsum([table.num_rows for table in tables])[:-1])
    for part in parts:
        part[:, np.isnan(part).all(axis=0)] = 0.0
    return [TableRows(part, tuple(categorical)) for part in parts]


def _measured(values: Sequence[Any]) -> Features:
    """A column of numbers; by rank, which says as much to a tree, if some are infinite or too large to be squared."""
    numbers = np.array([number_of(value) for value in values])
    missing = np.isnan(numbers)
    if (np.abs(numbers[~missing]) < HUGE).all():
        return numbers
    return np.where(missing, np.nan, np.unique(numbers, return_inverse=True)[1])


class Lookup:
    """The adversary of the definitions: the shares of the secrets among the records with exactly this value.

    A share is drawn towards the prior as if one record more had it, so that it is never 0.
    """

    def fit(self, X: NDArray[np.float64], s: Labels) -> Lookup:
        """Remember the shares of every value."""
        self.classes_, code = np.unique(s, return_inverse=True)
        values, value = np.unique(X, axis=0, return_inverse=True)
        table = np.bincount(value * len(self.classes_) + code, minlength=len(values) * len(self.classes_))
        table = table.reshape(len(values), len(self.classes_))
        self.prior_ = table.sum(axis=0) / table.sum()
        shares = (table + self.prior_) / (table.sum(axis=1, keepdims=True) + 1)
        self.shares_ = {row.tobytes(): share for row, share in zip(values, shares, strict=True)}
        return self

    def predict_proba(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """The remembered shares, or the prior for a value never seen."""
        values, value = np.unique(X, axis=0, return_inverse=True)
        return np.array([self.shares_.get(row.tobytes(), self.prior_) for row in values])[value]
