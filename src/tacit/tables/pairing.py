"""Two tables side by side: which secret and value each row of the original had, and what the release made of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import DataError
from tacit.tables.rewriting import with_symbol
from tacit.tables.symbols import Symbols
from tacit.tables.table import ROW, Table

# Rows brought over at a time: the memory this takes does not grow with the table.
BATCH = 1_000_000

Codes = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Pairs:
    """How many rows had secret ``secret`` and value ``value`` in the original and ``output`` in the release.

    All are numbers of symbols; ``output_as_value`` is the output as a value of the original, -1 where it is none.
    """

    secret: Codes
    value: Codes
    output: Codes
    output_as_value: Codes
    records: Codes


def paired(original: Table, release: Table, *, secrets: Symbols, values: Symbols, outputs: Symbols) -> Pairs:
    """Pair the rows of a table and its release by position, and count the combinations.

    Guarantees
    ----------
    Row i is compared with row i. Memory grows with the number of combinations, not with the rows.
    """
    before = with_symbol(with_symbol(original, secrets, name="__s__"), values, name="__x__")
    after = with_symbol(release, outputs, name="__y__")
    seen, records = np.empty(0, np.int64), np.empty(0, np.int64)
    for (s, x), (y,) in _in_step(_columns(before, ["__s__", "__x__"]), _columns(after, ["__y__"])):
        # A row whose secret or value carries no weight says nothing about anyone; it was never counted.
        counted = (s >= 0) & (x >= 0)
        s, x, y = s[counted], x[counted], y[counted]
        code = (s * len(values) + x) * (len(outputs) + 1) + np.where(y < 0, len(outputs), y)
        seen, inverse = np.unique(np.concatenate([seen, code]), return_inverse=True)
        weight = np.concatenate([records, np.ones(len(code), np.int64)])
        records = np.bincount(inverse, weights=weight, minlength=len(seen)).astype(np.int64)
    rest, output = np.divmod(seen, len(outputs) + 1)
    secret, value = np.divmod(rest, len(values))
    position = np.append(outputs.positions_in(values), -1)
    return Pairs(secret, value, output, position[output], records)


def _columns(table: Table, names: list[str]) -> Iterator[Codes]:
    """Columns of symbol numbers in row order, a batch at a time, a row of the array for each; -1 for missing."""
    import narwhals as nw

    rows = table.rows.select(*names, ROW)
    with table.reading():
        if table.engine == "spark":
            batches: Any = rows.sort(ROW).collect("pyarrow").to_native().to_batches(BATCH)
        else:
            batches = nw.to_native(rows).to_arrow_reader(BATCH)
        for batch in batches:
            columns = [batch.column(at).fill_null(-1).to_numpy(zero_copy_only=False) for at in range(len(names))]
            yield np.stack(columns).astype(np.int64)


def _in_step(*streams: Iterator[Codes]) -> Iterator[tuple[Codes, ...]]:
    """Cut streams whose batches differ in size into pieces of the same rows."""
    held = [np.empty((0, 0), np.int64) for _ in streams]
    while True:
        for at, stream in enumerate(streams):
            while not held[at].shape[1]:
                batch = next(stream, None)
                if batch is None:
                    break
                held[at] = batch
        size = min(piece.shape[1] for piece in held)
        if size == 0:
            if any(piece.shape[1] for piece in held):
                raise DataError("the release has another number of rows than the original: it is not of this table")
            return
        yield tuple(piece[:, :size] for piece in held)
        held = [piece[:, size:] for piece in held]
