"""A channel over the symbols of a table as alias tables laid end to end, which an engine can draw from."""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tacit.errors import ArgumentError
from tacit.lift import SUM_TOLERANCE
from tacit.tables.drawing import AliasTables, alias_tables
from tacit.tables.symbols import Symbols, level_text

if TYPE_CHECKING:
    import pyarrow as pa

# A place is the first bucket of an alias table times 2^6, plus the table's shift, which is at most 60: a row of data
# looks up one number and knows where and how to draw.
SHIFT_BITS = 6
KEPT = -1
MISSING = -1
BUCKET, THRESHOLD = "__tacit_b__", "__tacit_t__"


@dataclass(frozen=True, eq=False)
class DrawTables:
    """What becomes of each symbol: it is kept, or drawn from one of several distributions.

    Attributes
    ----------
    place : int array
        For each symbol the place of its distribution; -1 if it is kept.
    unseen : int
        The place for values that are not symbols.
    threshold, outputs : int arrays
        The buckets of all alias tables, and the outputs that share them, two for each; -1 is missing.
    """

    place: NDArray[np.int64]
    unseen: int
    threshold: NDArray[np.int64]
    outputs: NDArray[np.int64]

    @property
    def only_place(self) -> int | None:
        """The place of the only distribution drawn from, also for unseen values; None if there are several."""
        return self.unseen if ((self.place == KEPT) | (self.place == self.unseen)).all() else None

    def written(self, symbols: Symbols) -> pa.Table:
        """Each bucket's number and threshold, and its two outputs as text: two columns for each released column."""
        import pyarrow as pa

        columns = {BUCKET: pa.array(np.arange(len(self.threshold))), THRESHOLD: pa.array(self.threshold)}
        for c, levels in enumerate(symbols.levels):
            texts = pa.array([level_text(level) for level in levels], pa.string())
            codes = pa.array(symbols.codes[self.outputs, c], mask=self.outputs == MISSING)
            chosen = texts.take(codes)
            columns[own_name(c)], columns[other_name(c)] = chosen[0::2], chosen[1::2]
        return pa.table(columns)


def own_name(column: int) -> str:
    """The column of :meth:`DrawTables.written` with the output below the threshold."""
    return f"__tacit_own{column}__"


def other_name(column: int) -> str:
    """The column of :meth:`DrawTables.written` with the output from the threshold on."""
    return f"__tacit_other{column}__"


def draws_by_replacement(merged: NDArray[np.bool_], replacement: ArrayLike | None) -> DrawTables:
    """All merged and unseen values are drawn from one distribution; without one, they become missing."""
    table = _one_table(replacement, len(merged))
    shift = int(table.shift[0])
    return DrawTables(np.where(merged, shift, KEPT), shift, table.threshold, table.outputs)


def draws_by_channel(channel: Any, size: int) -> DrawTables:
    """Each of ``size`` symbols is drawn from its row of the channel; unseen values become missing.

    Guarantees
    ----------
    A symbol is kept if, and only if, it is the only entry of its row. Rows that are equal share one alias table, so a
    channel that merges many values into few distributions stays small. Each output's probability is within 2^-60 of
    its entry divided by the sum of its row; an output of probability zero is never drawn.
    """
    rows = _checked(channel, size)
    # The table of unseen values comes first.
    first = _one_table(None, size)
    drawn = np.flatnonzero((np.diff(rows.indptr) != 1) | (rows.indices[rows.indptr[:-1]] != np.arange(size)))
    numbers: dict[tuple[bytes, bytes], int] = {}
    which = np.array([numbers.setdefault(_entries(rows, row), len(numbers)) for row in drawn.tolist()], np.int64)
    tables = _tables(rows[drawn[np.unique(which, return_index=True)[1]]], size)
    place = np.full(size, KEPT, dtype=np.int64)
    place[drawn] = (((tables.start + len(first.threshold)) << SHIFT_BITS) + tables.shift)[which]
    threshold = np.concatenate([first.threshold, tables.threshold])
    return DrawTables(place, int(first.shift[0]), threshold, np.concatenate([first.outputs, tables.outputs]))


def _entries(rows: Any, row: int) -> tuple[bytes, bytes]:
    entries = slice(rows.indptr[row], rows.indptr[row + 1])
    return rows.indices[entries].tobytes(), rows.data[entries].tobytes()


def _tables(rows: Any, size: int) -> AliasTables:
    """The alias tables of compressed rows; the output after the last symbol is missing."""
    outputs = np.where(rows.indices == size, MISSING, rows.indices).astype(np.int64)
    return alias_tables(rows.indptr.astype(np.int64), outputs, rows.data)


def _one_table(replacement: ArrayLike | None, size: int) -> AliasTables:
    """The alias table of one distribution; without one, the only output is missing."""
    from scipy import sparse

    vector = np.asarray(np.arange(size + 1) == size if replacement is None else replacement, dtype=np.float64)
    if replacement is not None and vector.shape != (size,):
        raise ArgumentError(
            f"the replacement has shape {vector.shape}; it needs a probability for each of {size} symbols"
        )
    if not np.isfinite(vector).all() or (vector < 0).any():
        raise ArgumentError("the replacement must be a vector of probabilities")
    if abs(fsum(vector) - 1) > SUM_TOLERANCE:
        raise ArgumentError(f"the replacement sums to {fsum(vector):g}, not 1")
    return _tables(sparse.csr_array([vector]), size)


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
