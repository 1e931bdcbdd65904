"""A channel over the symbols of a table as alias tables laid end to end, which an engine can draw from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tacit.errors import ArgumentError
from tacit.tables.aliasing import alias_tables, same_rows
from tacit.tables.drawing import SUM_TOLERANCE, alias_table, checked_distribution
from tacit.tables.levels import level_text
from tacit.tables.symbols import Symbols

if TYPE_CHECKING:
    import pyarrow as pa

# A place is the first bucket of an alias table times 2^6, plus the table's shift, which is at most 60: a row of data
# looks up one number and knows where and how to draw.
SHIFT_BITS = 6
KEPT = -1
MISSING = -1
BUCKET, THRESHOLD = "__tacit_b__", "__tacit_t__"


@dataclass(frozen=True, eq=False)
class Draws:
    """What becomes of each symbol: it is kept, or drawn from one of several distributions.

    Attributes
    ----------
    place : int array
        For each symbol the place of its distribution; -1 if it is kept.
    unseen : int
        The place for values that are no symbol.
    threshold, outputs : int arrays
        The buckets of all alias tables, and the outputs that share them, two for each; -1 is missing.
    """

    place: NDArray[np.int64]
    unseen: int
    threshold: NDArray[np.int64]
    outputs: NDArray[np.int64]

    @property
    def only_place(self) -> int | None:
        """The one distribution of all that is drawn, unseen values included; None if there are several."""
        return self.unseen if ((self.place == KEPT) | (self.place == self.unseen)).all() else None

    def written(self, symbols: Symbols) -> pa.Table:
        """Each bucket's number and threshold, and its two outputs as text, a pair of columns for each released one."""
        import pyarrow as pa

        found = {BUCKET: pa.array(np.arange(len(self.threshold))), THRESHOLD: pa.array(self.threshold)}
        for c, levels in enumerate(symbols.levels):
            texts = pa.array([level_text(level) for level in levels], pa.string())
            codes = pa.array(symbols.codes[self.outputs, c], mask=self.outputs == MISSING)
            chosen = texts.take(codes)
            found[own_name(c)], found[other_name(c)] = chosen[0::2], chosen[1::2]
        return pa.table(found)


def own_name(column: int) -> str:
    """The column of :meth:`Draws.written` with the output below the threshold."""
    return f"__tacit_own{column}__"


def other_name(column: int) -> str:
    """The column of :meth:`Draws.written` with the output from the threshold on."""
    return f"__tacit_other{column}__"


def draws_by_replacement(merged: NDArray[np.bool_], replacement: ArrayLike | None) -> Draws:
    """All merged and unseen values are drawn from one distribution; from none, they are missing."""
    size = len(merged)
    only = None if replacement is None else _replacement(replacement, size)
    shift, threshold, outputs = _one_table(only, size)
    return Draws(np.where(merged, shift, KEPT), shift, threshold, outputs)


def draws_by_channel(channel: Any, unseen: ArrayLike | None, size: int) -> Draws:
    """Each of ``size`` symbols is drawn from its row of the channel; unseen values from ``unseen``, or missing.

    Guarantees
    ----------
    A symbol is kept if, and only if, it is the only entry of its row. Rows that are equal share one alias table, so a
    channel that merges many values into few distributions stays small. Each output's probability is within 2^-60 of
    its entry divided by the sum of its row; an output of probability zero is never drawn.
    """
    rows = _checked(channel, size)
    # The table of unseen values comes first.
    for_unseen, threshold, outputs = _one_table(None if unseen is None else _unseen(unseen, size), size)
    drawn = np.flatnonzero((np.diff(rows.indptr) != 1) | (rows.indices[rows.indptr[:-1]] != np.arange(size)))
    first = same_rows(*_parts(rows[drawn]))
    different, which = np.unique(first, return_inverse=True)
    tables = alias_tables(*_parts(rows[drawn[different]]))
    place = np.full(size, KEPT, dtype=np.int64)
    place[drawn] = (((tables.start + len(threshold)) << SHIFT_BITS) + tables.shift)[which.reshape(-1)]
    outputs = np.concatenate([outputs, np.where(tables.outputs == size, MISSING, tables.outputs)])
    return Draws(place, for_unseen, np.concatenate([threshold, tables.threshold]), outputs)


def _one_table(vector: NDArray[np.float64] | None, size: int) -> tuple[int, NDArray[np.int64], NDArray[np.int64]]:
    """The place, thresholds and outputs of a table that comes first; all is missing without a distribution."""
    table = alias_table(np.arange(size + 1) == size if vector is None else vector)
    return table.shift, table.threshold, np.where(table.symbols == size, MISSING, table.symbols)


def _parts(rows: Any) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """The starts, outputs and probabilities of compressed rows."""
    return rows.indptr.astype(np.int64), rows.indices.astype(np.int64), rows.data


def _checked(channel: Any, size: int) -> Any:
    """The channel as a sparse matrix in compressed rows, sorted, each with entries > 0 that sum to one."""
    from scipy import sparse

    if not sparse.issparse(channel):
        channel = np.asarray(channel, dtype=np.float64)
    if channel.ndim != 2 or channel.shape[0] != size or channel.shape[1] not in (size, size + 1):
        raise ArgumentError(
            f"the channel has shape {channel.shape}; {size} symbols need {size} rows, and {size} columns or, with a "
            f"last one for missing, {size + 1}"
        )
    rows = sparse.csr_array(channel, dtype=np.float64, copy=True)
    rows.sum_duplicates()
    rows.eliminate_zeros()
    of_entry = np.repeat(np.arange(size), np.diff(rows.indptr))
    wrong = ~(np.isfinite(rows.data) & (rows.data >= 0))
    if wrong.any():
        at = int(np.argmax(wrong))
        raise ArgumentError(
            f"entry ({of_entry[at]}, {rows.indices[at]}) of the channel is {rows.data[at]:g}: a probability is needed"
        )
    sums = np.bincount(of_entry, weights=rows.data, minlength=size)
    if (abs(sums - 1) > SUM_TOLERANCE).any():
        row = int(np.argmax(abs(sums - 1)))
        raise ArgumentError(f"row {row} of the channel sums to {sums[row]:g}, not 1")
    return rows


def _replacement(replacement: ArrayLike, size: int) -> NDArray[np.float64]:
    vector = np.asarray(replacement, dtype=np.float64)
    if vector.shape != (size,):
        raise ArgumentError(f"replacement must have a probability for each of {size} symbols")
    return checked_distribution(vector, "the replacement")


def _unseen(unseen: ArrayLike, size: int) -> NDArray[np.float64]:
    vector = np.asarray(unseen, dtype=np.float64)
    if vector.shape not in ((size,), (size + 1,)):
        raise ArgumentError(
            f"unseen has shape {vector.shape}; it needs a probability for each of {size} symbols, and one more for "
            "missing if it likes; or say 'suppress' or 'refuse'"
        )
    return checked_distribution(vector, "unseen")
