"""A channel over the symbols of a table as alias tables laid end to end, which an engine can draw from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tacit.errors import ArgumentError
from tacit.tables.drawing import SUM_TOLERANCE, alias_lists, checked_distribution
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


class _Tables:
    """Alias tables laid end to end, each known by its place."""

    def __init__(self) -> None:
        self._threshold: list[int] = []
        self._outputs: list[int] = []

    def add(self, outputs: list[int], probabilities: list[float]) -> int:
        """The place of a new table; the probabilities are > 0 and sum to about one."""
        shift, threshold, chosen = alias_lists(probabilities)
        place = (len(self._threshold) << SHIFT_BITS) + shift
        self._threshold += threshold
        self._outputs += [outputs[at] for at in chosen]
        return place

    def add_vector(self, vector: NDArray[np.float64]) -> int:
        """The place of a table of a probability for each output."""
        support = np.flatnonzero(vector)
        return self.add(support.tolist(), vector[support].tolist())

    def draws(self, place: NDArray[np.int64], unseen: int) -> Draws:
        """With the places of the symbols; outputs after the last symbol are missing."""
        outputs = np.array(self._outputs, np.int64)
        outputs[outputs == len(place)] = MISSING
        return Draws(place, unseen, np.array(self._threshold, np.int64), outputs)


def draws_by_replacement(merged: NDArray[np.bool_], replacement: ArrayLike | None) -> Draws:
    """All merged and unseen values are drawn from one distribution; from none, they are missing."""
    size, tables = len(merged), _Tables()
    only = tables.add([size], [1.0]) if replacement is None else tables.add_vector(_replacement(replacement, size))
    return tables.draws(np.where(merged, only, KEPT), only)


def draws_by_channel(channel: Any, unseen: ArrayLike | None, size: int) -> Draws:
    """Each of ``size`` symbols is drawn from its row of the channel; unseen values from ``unseen``, or missing.

    Guarantees
    ----------
    A symbol is kept if, and only if, it is the only entry of its row. Rows that are equal share one alias table, so a
    channel that merges many values into few distributions stays small.
    """
    rows, tables = _checked(channel, size), _Tables()
    for_unseen = tables.add([size], [1.0]) if unseen is None else tables.add_vector(_unseen(unseen, size))
    indices, data = rows.indices.astype(np.int64), rows.data
    kept = (np.diff(rows.indptr) == 1) & (indices[rows.indptr[:-1]] == np.arange(size))
    starts, outputs, probabilities = rows.indptr.tolist(), indices.tolist(), data.tolist()
    written, weighed = indices.tobytes(), data.tobytes()
    known: dict[tuple[bytes, bytes], int] = {}
    place = np.full(size, KEPT, dtype=np.int64)
    for symbol in np.flatnonzero(~kept).tolist():
        begin, end = starts[symbol], starts[symbol + 1]
        row = written[8 * begin : 8 * end], weighed[8 * begin : 8 * end]
        if row not in known:
            known[row] = tables.add(outputs[begin:end], probabilities[begin:end])
        place[symbol] = known[row]
    return tables.draws(place, for_unseen)


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
