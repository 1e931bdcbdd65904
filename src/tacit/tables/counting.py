"""Count the records of every combination of values, in one pass over the table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import ArgumentError, DataError
from tacit.lift import Joint
from tacit.tables.columns import plain_names
from tacit.tables.numbers import as_number, refuse_non_numbers
from tacit.tables.symbols import Codes, Symbols, encoded, in_order
from tacit.tables.table import Table

if TYPE_CHECKING:
    import pyarrow as pa

# More combinations than this do not fit into the memory of a small machine, and each would have hardly any records.
MAX_GROUPS = 5_000_000
MAX_CELLS = 50_000_000
# Counts of at most this many groups are kept with their table, and answer later questions about fewer columns.
MOST_REMEMBERED = 500_000
# So many counts are kept that follow from those.
MOST_RETOLD = 8
# Combinations are few if, in a sample, each is shared by this many rows on average.
SHARED = 2
# If nearly all of the first rows are different, the engine counts the combinations before they are brought here.
FIRST_LOOK, NEARLY_ALL = 20_000, 0.9


class TooManyValues(DataError):
    """There are more combinations of values, or pairs with secrets, than can be counted one by one.

    ``why`` says of what there are more than how many.
    """

    def __init__(self, message: str, why: str = "") -> None:
        super().__init__(message)
        self.why = why


@dataclass(frozen=True, eq=False)
class Counts:
    """How many records have each combination of values that occurs.

    Attributes
    ----------
    columns : tuple of str
    levels : tuple of tuples
        The values of each column in order, None (missing) last.
    codes : int array of shape (groups, columns)
        Rows are in lexicographic order.
    records : int array
        Number of records of each group.
    weight : float array
        Sum of the weights; equal to ``records`` if no weight was asked for.
    effective_records : float
        How many records of equal weight carry as much evidence (Kish): the square of the sum of the weights over the
        sum of their squares.
    """

    columns: tuple[str, ...]
    levels: tuple[tuple[Any, ...], ...]
    codes: Codes
    records: NDArray[np.int64]
    weight: NDArray[np.float64]
    effective_records: float

    def symbols(self, columns: Sequence[str]) -> tuple[Symbols, NDArray[np.int64]]:
        """The combinations of some of the columns that occur, and which one each group has."""
        at = [self._position(name) for name in columns]
        codes, inverse = in_order(self.codes[:, at])
        return Symbols(tuple(columns), tuple(self.levels[i] for i in at), codes), inverse

    def joint(self, secret: Sequence[str], released: Sequence[str]) -> tuple[Joint, Symbols]:
        """P(S, X) of two sets of columns, and the released values in the order of its columns.

        Guarantees
        ----------
        Cells that never occur are zero, not left out: their log-lift is minus infinity.
        """
        if not secret or not released:
            raise ArgumentError("a joint needs at least one secret and one released column")
        both = [name for name in secret if name in released]
        if both:
            raise ArgumentError(f"column '{both[0]}' is both secret and released: leave it out of one")
        secrets, s = self.symbols(secret)
        symbols, x = self.symbols(released)
        if len(secrets) * len(symbols) > MAX_CELLS:
            raise TooManyValues(
                f"{len(secrets):,} secrets x {len(symbols):,} released values are more than {MAX_CELLS:,} cells: "
                "bin numbers, or leave out columns with many values",
                f"pairs of a secret and a released value than can be counted one by one ({MAX_CELLS:,})",
            )
        if not len(secrets) or not len(symbols):
            raise DataError("there are no records: there is nothing to measure")
        matrix = np.bincount(s * len(symbols) + x, weights=self.weight, minlength=len(secrets) * len(symbols))
        shaped = matrix.reshape(len(secrets), len(symbols))
        return Joint.from_counts(shaped, secrets=secrets.labels(), released=symbols.labels()), symbols

    def by(self, columns: Sequence[str]) -> Counts:
        """The records by some of the columns, in the order given."""
        symbols, group = self.symbols(columns)
        records = np.zeros(len(symbols), np.int64)
        np.add.at(records, group, self.records)
        weight = np.bincount(group, self.weight, len(symbols)).astype(np.float64)
        return Counts(symbols.columns, symbols.levels, symbols.codes, records, weight, self.effective_records)

    def values(self, column: str) -> NDArray[Any]:
        """The value of each group in one column."""
        at = self._position(column)
        return np.array([*self.levels[at], None], dtype=object)[self.codes[:, at]]

    def agrees(self, other: Counts) -> bool:
        """Whether the same values occur equally often, whatever their columns are called."""
        same = self.levels == other.levels and np.array_equal(self.codes, other.codes)
        return same and np.array_equal(self.records, other.records)

    def _position(self, name: str) -> int:
        if name not in self.columns:
            raise ArgumentError(f"column '{name}' was not counted; counted: {', '.join(self.columns)}")
        return self.columns.index(name)


def count(table: Table, columns: Sequence[str], *, weight: str | None = None) -> Counts:
    """Count the records, and sum their weights, of every combination of values of ``columns``.

    Parameters
    ----------
    table : Table
    columns : sequence of str
        At least one.
    weight : str, optional
        A column of numbers above 0 that says how much each record counts.

    Guarantees
    ----------
    The result is the same on every engine, whatever the number of threads or partitions, except for the rounding of
    sums of weights that are not whole numbers. Missing is a value of its own; NaN is missing; -0.0 is 0.0.
    A record of weight 0 is refused: it would be released although what it reveals was never counted.
    """
    columns = list(columns)
    if not columns:
        raise ArgumentError("name at least one column to count")
    table.require_countable(columns)
    earlier = counted_before(table, columns) if weight is None else None
    if earlier is not None:
        return earlier
    here = counted_here(table, columns) if weight is None else None
    if here is not None:
        if len(here.codes) > MAX_GROUPS:
            raise _too_many(table, columns)
        return here
    groups = None if weight else table.looked_through(columns, plain_names(columns), MAX_GROUPS + 1)
    if groups is None:
        if _is_too_many(table, columns):
            raise _too_many(table, columns)
        groups = _grouped(table, columns, weight)
    if weight and (bad := int(groups.column("bad").to_numpy().sum())):
        raise DataError(
            f"column '{weight}' has {bad:,} weights that are missing, 0, negative or not finite: fix them, or leave "
            "their rows out"
        )
    if groups.num_rows > MAX_GROUPS:
        raise _too_many(table, columns)
    read = [encoded(groups.column(f"c{at}"), name, table[name].order) for at, name in enumerate(columns)]
    counts = counts_of(groups, columns, read)
    if weight and not (0 < counts.effective_records < math.inf):
        raise DataError(f"the weights in column '{weight}' are too small or too large to be added up: rescale them")
    if weight is None and len(counts.codes) <= MOST_REMEMBERED:
        table.remembered.append(counts)
    return counts


def counted_here(table: Table, columns: Sequence[str]) -> Counts | None:
    """How many records have each combination of values, counted in this process; None if rows stay in the engine.

    However many there are: a table that is brought here has few enough.
    """
    read = table.encoded(columns)
    if read is None:
        return None
    codes, group = in_order(np.column_stack([code for _, code in read]).astype(np.int64))
    records = np.bincount(group, minlength=len(codes))
    levels = tuple(levels for levels, _ in read)
    return Counts(
        tuple(columns), levels, codes, records, records.astype(np.float64), _effective(len(group), len(group))
    )


def counts_of(
    groups: pa.Table, columns: Sequence[str], read: Sequence[tuple[tuple[Any, ...], NDArray[np.integer]]]
) -> Counts:
    """The counts of an engine's groups: ``n``, and sums where weighted. ``read`` are the encoded columns."""
    records = groups.column("n").to_numpy().astype(np.int64)
    weighted = "weight" in groups.column_names
    weights = groups.column("weight").to_numpy().astype(np.float64) if weighted else records.astype(np.float64)
    codes, inverse = in_order(np.column_stack([code for _, code in read]).astype(np.int64, copy=False))
    # NaN and null, or 0.0 and -0.0, are two groups in the engine and one here.
    summed = np.bincount(inverse, weights=weights, minlength=len(codes)).astype(np.float64)
    whole = np.zeros(len(codes), np.int64)
    np.add.at(whole, inverse, records)
    squares = float(groups.column("squares").to_numpy().sum()) if weighted else float(records.sum())
    levels = tuple(levels for levels, _ in read)
    return Counts(tuple(columns), levels, codes, whole, summed, _effective(float(weights.sum()), squares))


def _effective(weight: float, squares: float) -> float:
    """How many records of equal weight carry as much evidence."""
    return (weight / math.sqrt(squares)) ** 2 if squares > 0 else 0.0


def counts_of_symbols(symbols: Symbols, records: NDArray[np.int64]) -> Counts:
    """The counts of a table in which each symbol has as many records as this; those without any are left out."""
    some = symbols.picked(np.flatnonzero(records))
    codes, which = in_order(some.codes)
    whole = np.zeros(len(codes), np.int64)
    np.add.at(whole, which, records[records > 0])
    return Counts(some.columns, some.levels, codes, whole, whole.astype(np.float64), float(whole.sum()))


def counted_before(table: Table, columns: Sequence[str]) -> Counts | None:
    """How many records have each combination of values of ``columns``, if remembered counts of the table tell."""
    for earlier in table.remembered:
        if earlier.columns == tuple(columns):
            return earlier
        if set(columns) <= set(earlier.columns):
            return _retold(table, earlier, tuple(columns))
    return None


def _retold(table: Table, earlier: Counts, columns: tuple[str, ...]) -> Counts:
    """Counts by other columns, kept: the same few are asked about again and again."""
    retold = table.retold.get(columns)
    if retold is None:
        retold = earlier.by(columns)
        if len(table.retold) < MOST_RETOLD:
            table.retold[columns] = retold
    return retold


def values_before(table: Table, column: str) -> tuple[Any, ...] | None:
    """The values of a column in order, None (missing) last, if remembered counts of the table tell."""
    for earlier in table.remembered:
        if column in earlier.columns:
            return earlier.levels[earlier.columns.index(column)]
    return None


def counted_whole(table: Table, columns: Sequence[str], *, look: int) -> None:
    """Count the combinations of ``columns`` once, for all later questions, if ``look`` rows say that they are few.

    In tables with no more rows than that nothing is counted: they are read in no time. Where the engine counts in one
    pass, or finds out in it that there are too many, no sample is taken before.
    """
    columns = list(columns)
    if table.row_count() <= look or counted_before(table, columns) is not None:
        return
    table.require_countable(columns)
    groups = table.looked_through(columns, plain_names(columns), MOST_REMEMBERED + 1)
    if groups is not None and groups.num_rows <= MOST_REMEMBERED:
        read = [encoded(groups.column(f"c{at}"), name, table[name].order) for at, name in enumerate(columns)]
        table.remembered.append(counts_of(groups, columns, read))
    elif groups is None and few_combinations(table.thinned(look).sample(columns, look)):
        count(table, columns)


def few_combinations(sample: pa.Table) -> bool:
    """Whether many rows of a sample share each combination of values."""
    return bool(sample.group_by(sample.column_names).aggregate([]).num_rows * SHARED <= sample.num_rows)


def distinct_counts(table: Table, columns: Sequence[str]) -> dict[str, int]:
    """The exact number of different values of each column, missing as one of them; one pass.

    The engine holds all values of a column meanwhile: ask for a few columns, after a look at ``table.sample``.
    """
    import narwhals as nw

    columns = list(columns)
    table.require_countable(columns)
    known = counted_before(table, columns)
    if known is not None:
        return {name: len(levels) for name, levels in zip(columns, known.levels, strict=True)}
    here = table.encoded(columns)
    if here is not None:
        return {name: len(levels) for name, (levels, _) in zip(columns, here, strict=True)}
    rows, names = table.plainly(columns)
    floats = [n for n, column in zip(names, columns, strict=True) if table[column].dtype.startswith("Float")]
    if floats:
        rows = rows.with_columns(*(nw.when(~nw.col(name).is_nan()).then(nw.col(name)).alias(name) for name in floats))
    numbers = table.collected(rows.select(*(nw.col(name).n_unique() for name in names)))
    return {column: int(numbers.column(name)[0].as_py()) for column, name in zip(columns, names, strict=True)}


def _grouped(table: Table, columns: list[str], weight: str | None) -> pa.Table:
    import narwhals as nw

    names = plain_names(columns)
    if weight is None:
        with table.reading():
            counted = table.engine.counted(table.rows, columns, names, MAX_GROUPS + 1)
        if counted is not None:
            return counted
        rows = table.picked(columns, names)
        aggregates = [nw.len().alias("n")]
    else:
        refuse_non_numbers(table, [weight])
        rows = table.picked([*columns, weight], [*names, "w"])
        rows = rows.with_columns(as_number("w", table[weight]).alias("w"))
        good = nw.col("w").is_finite() & (nw.col("w") > 0)
        good = nw.when(~nw.col("w").is_null()).then(good).otherwise(nw.lit(False))
        rows = rows.with_columns(
            good.cast(nw.Int64).alias("good"), nw.when(good).then(nw.col("w")).otherwise(nw.lit(0.0)).alias("w")
        )
        aggregates = [
            nw.len().alias("n"),
            nw.col("w").sum().alias("weight"),
            (nw.col("w") * nw.col("w")).sum().alias("squares"),
            (nw.len() - nw.col("good").sum()).alias("bad"),
        ]
    return table.collected(rows.group_by(*names).agg(*aggregates).head(MAX_GROUPS + 1))


def _is_too_many(table: Table, columns: list[str]) -> bool:
    """Whether there are more combinations than may be brought here; counted, in the engine, only if that is likely."""
    import narwhals as nw

    if table.row_count() <= MAX_GROUPS:
        return False
    first = table.head(columns, FIRST_LOOK)
    codes = [encoded(first.column(name), name)[1] for name in columns]
    if len(in_order(np.column_stack(codes))[0]) <= NEARLY_ALL * first.num_rows:
        return False
    rows, names = table.plainly(columns)
    groups = rows.group_by(*names).agg(nw.len().alias("n")).select(nw.len().alias("groups"))
    return int(table.collected(groups).column("groups")[0].as_py()) > MAX_GROUPS


def _too_many(table: Table, columns: list[str]) -> TooManyValues:
    sample = table.sample(columns, 10_000)
    values = {name: len(sample.column(name).unique()) for name in columns}
    most = sorted(columns, key=lambda name: -values[name])[:3]
    named = ", ".join(f"'{name}'" for name in most)
    return TooManyValues(
        f"the columns of {table.name} have more than {MAX_GROUPS:,} combinations of values: bin or leave out those "
        f"with most values, {named}",
        f"combinations of values than can be counted one by one ({MAX_GROUPS:,})",
    )
