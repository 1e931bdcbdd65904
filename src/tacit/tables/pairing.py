"""Tables side by side: what the same row is in each of them, such as in an original and in its release."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import ArgumentError, DataError
from tacit.tables.columns import ROW, Column, plain_names
from tacit.tables.counting import MOST_REMEMBERED, Counts, counts_of, counts_of_symbols
from tacit.tables.rewriting import with_symbol
from tacit.tables.symbols import Codes, Symbols, encoded, in_order
from tacit.tables.table import Table
from tacit.tables.writing import os_errors

if TYPE_CHECKING:
    import pyarrow as pa

Numbers = NDArray[np.integer[Any]]

# Rows brought here at a time: the memory this takes does not grow with the table.
BATCH = 1_000_000
_FLOATING = ("Float32", "Float64")


@dataclass(frozen=True, eq=False)
class Pairs:
    """How many rows had secret ``secret`` and value ``value`` in the original and ``output`` in the release.

    All are numbers of symbols; ``output_as_value`` is the output as a value of the original, -1 where it is not one.
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
    combinations, records = side_by_side([(original, secrets), (original, values), (release, outputs)])
    # A row whose secret or value is not a symbol was never counted.
    counted = (combinations[:2] >= 0).all(axis=0)
    secret, value, output = combinations[:, counted]
    as_value = np.append(outputs.positions_in(values), -1)[output]
    return Pairs(secret, value, np.where(output < 0, len(outputs), output), as_value, records[counted])


def counted_beside(table: Table, columns: Sequence[str], other: Table, names: Sequence[str]) -> Counts | None:
    """Count the combinations of values of some columns of a table and of some of another, row i with row i.

    The columns are called c0, c1, ..., those of the other table last. None where the engine cannot do it in one pass
    through both, or where there are too many combinations to hold.

    Guarantees
    ----------
    Those of ``count``. Tables with different numbers of rows are a DataError.
    """
    table.require_countable(columns)
    other.require_countable(names)
    with table.reading(), other.reading():
        groups = table.engine.counted_beside(table.rows, columns, other.engine, other.rows, names, MOST_REMEMBERED + 1)
    if groups is None or groups.num_rows > MOST_REMEMBERED:
        return None
    if table.row_count() != other.row_count():
        raise _not_of_one(other, other.row_count(), table, table.row_count())
    both = [*(table[name] for name in columns), *(other[name] for name in names)]
    read = [encoded(groups.column(at), column.name, column.order) for at, column in enumerate(both)]
    return counts_of(groups, plain_names(both), read)


def side_by_side(tables: Sequence[tuple[Table, Symbols]]) -> tuple[Codes, Codes]:
    """Count the combinations of symbols that a row has in several tables, row i with row i.

    Parameters
    ----------
    tables : sequence of (Table, Symbols)
        With the same number of rows. They may be one source cut in different ways, or one table with several symbols.

    Returns
    -------
    combinations : int array of shape (tables, combinations)
        Numbers of symbols, each combination once, in lexicographic order; -1 where a row's value is not a symbol.
    records : int array
        How many rows have each combination; they sum to the number of rows.

    Guarantees
    ----------
    Memory grows with the number of combinations, not with the rows: the numbers of the symbols are kept in unnamed
    temporary files, one to four bytes for each row and table. A table that is named several times is read once. Tables
    with different numbers of rows are a DataError.
    """
    if not tables:
        raise ArgumentError("there is no table to count: give at least one, with its symbols")
    waiting = [(np.empty((len(tables), 0), np.int64), np.empty(0, np.int64))]
    for each in _in_step(tables):
        batch = np.stack(each).astype(np.int64)
        waiting.append(_together([(batch, np.ones(batch.shape[1], np.int64))]))
        # Merging takes time in proportion to the whole, so it waits until the whole would at least double.
        if sum(len(few) for _, few in waiting[1:]) >= len(waiting[0][1]):
            waiting = [_together(waiting)]
    return _together(waiting)


def rows_apart(one: Table, other: Table, symbols: Symbols) -> int:
    """How many rows have another symbol in one table than in the other, row i against row i.

    Guarantees
    ----------
    What :func:`side_by_side` would tell, without sorting combinations. A value that is not a symbol differs from every
    other.
    """
    return sum(_apart(here, there) for here, there in _in_step([(one, symbols), (other, symbols)]))


def spelled_apart(one: Table, other: Table) -> int:
    """How many rows have a number that is 0.0 or missing in one table and -0.0 or NaN in the other, row against row.

    They are counted as one value, so symbols do not tell them apart; but a file holds the difference, for each row.
    """
    # -0.0 and NaN exist in floating point alone; where neither table has any, no row is read.
    names = [n for n in other.names if any(table[n].dtype in _FLOATING for table in (one, other))]
    if not names:
        return 0
    kinds = [np.dtype(np.int8)] * len(names)
    with ExitStack() as stack, os_errors(Path(tempfile.gettempdir())):
        files = [stack.enter_context(tempfile.TemporaryFile(prefix="tacit-symbols-")) for _ in range(2 * len(names))]
        halves = files[: len(names)], files[len(names) :]
        rows, others = (
            _kept_numbers(_spellings(table, names), plain_names(names), half, kinds)
            for table, half in zip((one, other), halves, strict=True)
        )
        if rows != others:
            raise _not_of_one(other, others, one, rows)
        apart = 0
        for here, there in zip(*(_batches(half, kinds) for half in halves), strict=True):
            apart += int(np.count_nonzero((np.stack(here) != np.stack(there)).any(axis=0)))
        return apart


def spelled_oddly(table: Table) -> int:
    """How many rows have a number that is -0.0 or NaN, which no rewritten column has."""
    names = [column.name for column in table.columns if column.dtype in _FLOATING]
    if not names:
        return 0
    batches = _spellings(table, names).batches(plain_names(names), BATCH)
    return sum(
        int(np.count_nonzero(np.stack([each.to_numpy() for each in batch.columns]).any(axis=0))) for batch in batches
    )


def _spellings(table: Table, names: Sequence[str]) -> Table:
    """For each of some columns, which of the numbers are -0.0 (1) and NaN (2), under plain names."""
    import narwhals as nw

    def spelling(name: str, dtype: str) -> nw.Expr:
        if dtype not in _FLOATING:
            return nw.lit(0).alias(name)
        # By its text: a division that tells the sign of a zero is an error on Spark.
        text = nw.col(name).cast(nw.String)
        none = nw.when(text.is_in(["nan", "-nan", "NaN"])).then(2).otherwise(0)
        return nw.when(text == "-0.0").then(1).otherwise(none).alias(name)

    plain = plain_names(names)
    with table.reading():
        rows = table.picked(names, plain)
        marks = [spelling(new, table[name].dtype) for new, name in zip(plain, names, strict=True)]
        return table.changed(
            rows.with_columns(*marks).select(*plain, ROW), [Column(name, "number", "Int32") for name in plain], same=()
        )


def numbers_apart(numbers: Table, name: str, other: Table, symbols: Symbols) -> int:
    """How many rows of the other table have another symbol than the column of numbers says, row i against row i.

    Guarantees
    ----------
    Those of :func:`rows_apart`. If none differs, how often each symbol occurs is remembered as the counts of a table of
    texts, which need not be counted again; so are its samples.
    """
    kind = np.min_scalar_type(-len(symbols) - 1)
    with ExitStack() as stack, os_errors(Path(tempfile.gettempdir())):
        files = [stack.enter_context(tempfile.TemporaryFile(prefix="tacit-symbols-")) for _ in range(2)]
        rows = _kept_numbers(numbers, [name], files[:1], [kind])
        others = _kept_symbols(other, symbols, files[1], kind)
        if rows != others:
            raise _not_of_one(other, others, numbers, rows)
        differ, records, passed = 0, np.zeros(len(symbols), np.int64), 0
        samples: dict[int, list[Numbers]] = {step: [] for step in other.usual_steps}
        for here, there in _batches(files, [kind, kind]):
            for step, some in samples.items():
                some.append(here[-passed % step :: step].copy())
            passed += len(here)
            differ += _apart(here, there)
            # If anything differs, these are not asked for.
            records += np.bincount(here, minlength=len(symbols)) if differ == 0 else 0
    # Another kind of column may hold the same values in another type, or in another order.
    plain = all(other[each].kind == "text" and not other[each].order for each in symbols.columns)
    if differ == 0 and plain and all(_sorted(levels) for levels in symbols.levels):
        other.remembered.append(counts_of_symbols(symbols, records))
        if all(other[each].dtype == "String" for each in symbols.columns):
            for step, some in samples.items():
                other.remember_sample(step, _texts(symbols, np.concatenate(some)))
    return differ


def _apart(here: Numbers, there: Numbers) -> int:
    """How many numbers of symbols differ, row against row; -1, which is none, differs from everything."""
    return len(here) - int(np.count_nonzero((here == there) & (here >= 0)))


def _texts(symbols: Symbols, numbers: Numbers) -> pa.Table:
    """The values of symbols of texts, given their numbers."""
    import pyarrow as pa

    columns = zip(symbols.columns, symbols.levels, symbols.codes[numbers].T, strict=True)
    return pa.table({name: pa.array(levels, pa.string()).take(pa.array(codes)) for name, levels, codes in columns})


def _kept_symbols(table: Table, symbols: Symbols, file: IO[bytes], kind: np.dtype[Any]) -> int:
    """Write the number of each row's symbol, -1 for missing, to a file, and go back to its start; how many rows."""
    rows = 0

    def keep(numbers: Numbers) -> None:
        nonlocal rows
        rows += len(numbers)
        file.write(numbers.astype(kind).tobytes())

    with table.reading():
        complete = table.engine.told_numbers(table.rows, symbols, keep)
    file.seek(0)
    if complete:
        return rows
    file.truncate()
    own = "__tacit_n__"
    return _kept_numbers(with_symbol(table, symbols, name=own), [own], [file], [kind])


def _sorted(levels: Sequence[Any]) -> bool:
    return list(levels) == sorted(levels, key=lambda level: (level is None, level or ""))


def _in_step(tables: Sequence[tuple[Table, Symbols]]) -> Iterator[list[Numbers]]:
    """The numbers of the symbols of the same rows, an array per table, some rows of the tables at a time."""
    # The narrowest integers that hold the symbols' numbers and -1.
    kinds = [np.min_scalar_type(-len(symbols) - 1) for _, symbols in tables]
    with ExitStack() as stack, os_errors(Path(tempfile.gettempdir())):
        files = [stack.enter_context(tempfile.TemporaryFile(prefix="tacit-symbols-")) for _ in tables]
        _keep(tables, files, kinds)
        yield from _batches(files, kinds)


def _keep(tables: Sequence[tuple[Table, Symbols]], files: Sequence[IO[bytes]], kinds: Sequence[np.dtype[Any]]) -> None:
    """Write the number of each row's symbol, -1 for missing, to the file of each table, and go back to its start.

    Files are needed because tables of one source share a connection, and DuckDB reads one result of it at a time.
    """
    (first, _), expected = tables[0], 0
    for own in {id(table): table for table, _ in tables}.values():
        same = [at for at, (table, _) in enumerate(tables) if table is own]
        names = [f"__tacit_n{at}__" for at in same]
        numbered = own
        for at, name in zip(same, names, strict=True):
            numbered = with_symbol(numbered, tables[at][1], name=name)
        rows = _kept_numbers(numbered, names, [files[at] for at in same], [kinds[at] for at in same])
        expected = rows if own is first else expected
        if rows != expected:
            raise _not_of_one(own, rows, first, expected)


def _kept_numbers(
    table: Table, names: Sequence[str], files: Sequence[IO[bytes]], kinds: Sequence[np.dtype[Any]]
) -> int:
    """Write columns of numbers, -1 for missing, to a file each, and go back to its start; returns how many rows."""
    rows = 0
    for batch in table.batches(names, BATCH):
        rows += batch.num_rows
        for column, (file, kind) in enumerate(zip(files, kinds, strict=True)):
            file.write(batch.column(column).fill_null(-1).to_numpy().astype(kind).tobytes())
    for file in files:
        file.seek(0)
    return rows


def _not_of_one(table: Table, rows: int, other: Table, expected: int) -> DataError:
    words = "they are not versions of one table"
    return DataError(f"{table.name} has {rows:,} rows and {other.name} has {expected:,}: {words}")


def _batches(files: Sequence[IO[bytes]], kinds: Sequence[np.dtype[Any]]) -> Iterator[list[Numbers]]:
    """The numbers in the files, an array per file; all files hold equally many."""
    while True:
        read = [np.frombuffer(file.read(BATCH * kind.itemsize), kind) for file, kind in zip(files, kinds, strict=True)]
        if not len(read[0]):
            return
        yield read


def _together(counted: Sequence[tuple[Codes, Codes]]) -> tuple[Codes, Codes]:
    """Combinations that were counted separately, each of them once, and the sums of their records."""
    combinations = np.concatenate([part for part, _ in counted], axis=1)
    records = np.concatenate([part for _, part in counted])
    # Sums of whole numbers in floating point, exact below 2^53.
    radices = [int(numbers.max(initial=-1)) + 2 for numbers in combinations]
    if prod(radices) <= 4 * len(records):
        # Few enough are possible to give each a place, which is several times faster than sorting them.
        summed = np.bincount(np.ravel_multi_index(tuple(combinations + 1), radices), weights=records)
        places = np.flatnonzero(summed)
        return np.stack(np.unravel_index(places, radices)) - 1, summed[places].astype(np.int64)
    different, which = in_order(combinations.T + 1)
    return different.T - 1, np.bincount(which, weights=records, minlength=len(different)).astype(np.int64)
