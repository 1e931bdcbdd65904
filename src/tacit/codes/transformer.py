"""``Cells``: a transformer that writes each record as the ranges and groups of its cell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_consistent_length, column_or_1d

from tacit.codes.asking import CodeClaim, CodeRequest
from tacit.codes.code import CellCode
from tacit.codes.coding import coded
from tacit.codes.fitting import FittedCode, fit_code
from tacit.codes.widening import opened, with_true_ends
from tacit.errors import ArgumentError, ColumnError, DataError
from tacit.learn.encoding import frame_of, is_missing
from tacit.learn.transformers.records import RecordsTransformer
from tacit.lift import conditional_log_lift
from tacit.requests import Bound, Making
from tacit.requests.levels import Levels
from tacit.tables.formats.frames import as_arrow
from tacit.tables.sources import open_table

if TYPE_CHECKING:
    import pyarrow as pa

# The names of the columns of secrets and of the use that are added to the records.
BESIDE = ("secret", "use")


class Cells(RecordsTransformer):
    """Records in cells, as ``tacit.protect`` writes them, as a step of a pipeline.

    ``fit`` finds ranges and groups of the columns that tell no more than epsilon about the secret; ``transform`` writes
    each record as those of its cell, and leaves out a column of secrets.

    Parameters
    ----------
    secret : str or int, optional
        The column of the secrets, by name or number, if it is among the records; ``fit`` and ``transform`` take it out.
        Otherwise secrets are given to ``fit(X, secret=...)``.
    y_is : "secret" or "use", optional
        What ``y`` holds: the secrets, or what readers want to predict, so that cells keep what helps to predict it. If
        left out, ``y`` is ignored: a pipeline passes its target to every step.
    epsilon : float
        Bound on the absolute log-lift of every secret in every cell, in nats.
    least : int
        The fewest records of a cell.
    known : str, int or sequence of them
        Columns whose true values an adversary may know: cells are bounded given these values.
    use : str, int or sequence of them
        Columns that readers want to predict or count.
    levels : mapping, optional
        The levels at which columns may be told: ``{"age": 5, "day": "month"}``.
    prefer : mapping, optional
        How much keeping each column matters; 1 for those that are not named.
    write : "text" or "means"
        Ranges of numbers in words, or as the mean of their records, so that a column of numbers stays one.
    unseen : "refuse" or "join"
        Whether a category that did not occur in training, or a missing value where there was none, is refused, or joins
        the rest of its column, which is then told as another value.

    Attributes
    ----------
    code_ : CellCode
        From records to cells.
    epsilon_ : float
        The largest absolute log-lift of any secret in any cell, counted on the training records. It is at most
        ``epsilon``, unless there is one cell, which tells nothing.
    n_cells_, least_ : int
        How many cells there are, and the fewest training records of one.

    Guarantees
    ----------
    For the training records ``epsilon_`` and ``least_`` are exact. About other records nothing is certified; for a
    release with a certificate use ``tacit.protect``. What is written depends only on the cell, and is true of the
    record, whether it was trained on or not; a mean stands for a range and need not be true of any single record.
    """

    def __init__(
        self,
        *,
        secret: str | int | None = None,
        y_is: Literal["secret", "use"] | None = None,
        epsilon: float = 1.0,
        least: int = 10,
        known: str | int | Sequence[str | int] = (),
        use: str | int | Sequence[str | int] = (),
        levels: Mapping[str, Any] | None = None,
        prefer: Mapping[str, float] | None = None,
        write: Literal["text", "means"] = "text",
        unseen: Literal["refuse", "join"] = "refuse",
    ) -> None:
        self.secret = secret
        self.y_is = y_is
        self.epsilon = epsilon
        self.least = least
        self.known = known
        self.use = use
        self.levels = levels
        self.prefer = prefer
        self.write = write
        self.unseen = unseen

    def _fit(self, X: Any, secret: Any, y: Any) -> Self:
        # These requests check their fields and say what is wrong with them.
        bound, making = Bound(epsilon=self.epsilon, least=self.least), Making(write=self.write, prefer=self.prefer)
        if self.unseen not in ("refuse", "join"):
            raise ArgumentError(f"unseen is 'refuse' or 'join'; got {self.unseen!r}")
        if self.y_is not in (None, "secret", "use"):
            raise ArgumentError(f"y_is is 'secret', 'use' or left out; got {self.y_is!r}")
        records = _arrow(X)
        names = tuple(records.schema.names)
        hidden, wanted = (_free(name, names) for name in BESIDE)
        uses = _named(self.use, names)
        table = records.append_column(hidden, [_numbered(column_or_1d(np.asarray(secret)))])
        if self.y_is == "use":
            if y is None:
                raise ArgumentError("Cells requires y to be passed, but the target y is None: what is to be predicted")
            check_consistent_length(X, y)
            table, uses = table.append_column(wanted, [_values(column_or_1d(np.asarray(y)))]), (*uses, wanted)
        epsilon = float(bound.epsilon or 0.0)
        request = CodeRequest(
            columns=names,
            claims=(CodeClaim((hidden,), epsilon, epsilon),),
            least=bound.least,
            known=_named(self.known, names),
            use=uses,
            prefer=making.prefer or {},
            levels=Levels().checked("levels", self.levels or {}),
            write=making.write,
        )
        self._keep(fit_code(open_table(table), request), hidden)
        return self

    def _keep(self, fitted: FittedCode, hidden: str) -> None:
        assert fitted.found is not None
        code = fitted.code
        counts, cell = fitted.found.counted([hidden])
        secret = counts.codes[:, counts.columns.index(hidden)]
        pairs = np.zeros((int(secret.max()) + 1, len(code.tree.leaves)))
        np.add.at(pairs, (secret, cell), counts.records)
        parts = np.unique(code.tree.known_of[code.tree.leaves], return_inverse=True)[1]
        self.epsilon_ = float(np.abs(conditional_log_lift(pairs / pairs.sum(), parts)).max())
        self.n_cells_, self.least_ = pairs.shape[1], int(pairs.sum(axis=0).min())
        self.code_: CellCode = opened(code, room=self.unseen == "join")

    def transform(self, X: Any) -> Any:
        """What is told about each record: a frame of the same kind as ``X``, or an array."""
        X = self._records(X)
        table = open_table(_arrow(X))
        levels = coded(table, with_true_ends(table, self.code_))
        return self._as_asked(_as_it_came(levels.sample(levels.names, max(1, levels.row_count())), X))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = False
        tags.transformer_tags.preserves_dtype = []
        return tags


def _arrow(X: Any) -> pa.Table:
    """Records as an Arrow table; NumPy's missing values are missing."""
    import pyarrow as pa

    frame = frame_of(X)
    if frame is not None:
        return as_arrow(frame.to_native())
    if X.dtype.kind == "c":
        raise DataError("Complex data not supported: records are numbers, categories or missing")
    return pa.table({f"x{at}": _values(X[:, at]) for at in range(X.shape[1])})


def _values(column: NDArray[Any]) -> pa.Array:
    import pyarrow as pa

    try:
        return pa.array(column.tolist() if column.dtype.kind in "OU" else column, from_pandas=True)
    except pa.ArrowException as error:
        raise DataError("a column of the array holds values of several types: make it one type") from error


def _numbered(values: NDArray[Any]) -> pa.Array:
    """Secrets of any type as numbers; equal secrets get equal numbers."""
    import pyarrow as pa

    place: dict[Any, int] = {}
    return pa.array([place.setdefault(None if is_missing(each) else each, len(place)) for each in values.tolist()])


def _free(name: str, used: Sequence[str]) -> str:
    """A name that no column has; engines do not distinguish names that differ only by case."""
    low = {each.lower() for each in used}
    return name if name not in low else _free(f"{name}_", used)


def _named(columns: str | int | Sequence[str | int], names: Sequence[str]) -> tuple[str, ...]:
    """The names of columns that were given by name or by number."""
    references = [columns] if isinstance(columns, str | int) else list(columns)
    named = [
        names[each] if isinstance(each, int) and -len(names) <= each < len(names) else str(each) for each in references
    ]
    for name in named:
        if name not in names:
            raise ColumnError(name, list(names))
    return tuple(named)


def _as_it_came(levels: pa.Table, X: Any) -> Any:
    """Columns of levels in the form of the records."""
    frame = frame_of(X)
    if frame is None:
        columns = [column.to_numpy() for column in levels.columns]
        numbers = all(column.dtype.kind == "f" for column in columns)
        return np.column_stack(columns if numbers else [column.astype(object) for column in columns])
    import narwhals as nw

    native = nw.from_arrow(levels, backend=frame.implementation).to_native()
    if hasattr(native, "index"):
        native.index = X.index
    return native
