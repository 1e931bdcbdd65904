"""Cut a column of numbers into bins with names that say what is in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import ArgumentError, DataError
from tacit.tables.columns import ROW, Column
from tacit.tables.engines.coarsening import Coarsening
from tacit.tables.numbers import NumbersHere, as_number, numbers_here, refuse_non_numbers, refuse_other_types
from tacit.tables.table import Table

if TYPE_CHECKING:
    import narwhals as nw
    import pyarrow as pa

    from tacit.tables.engines.protocol import Rows

SAMPLE_ROWS = 200_000


@dataclass(frozen=True)
class Cut:
    """Bins of a column: below the first edge, from each edge up to the next, and from the last edge on.

    Without edges there is one bin, ``any number``. Infinities fall into the outer bins; NaN and missing stay missing.

    Examples
    --------
    >>> Cut("age", (18, 65)).labels
    ('< 18', '[18, 65)', '>= 65')
    """

    column: str
    edges: tuple[float, ...]

    def __post_init__(self) -> None:
        edges = tuple(float(edge) + 0.0 for edge in self.edges)
        if not np.isfinite(edges).all():
            raise ArgumentError(f"the edges of column '{self.column}' must be finite numbers")
        if any(low >= high for low, high in pairwise(edges)):
            raise ArgumentError(f"the edges of column '{self.column}' must go up, and each may occur only once")
        object.__setattr__(self, "edges", edges)

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the bins, from low to high; edges are printed so that they read back as the same number."""
        if not self.edges:
            return ("any number",)
        shown = [_shown(edge) for edge in self.edges]
        between = [f"[{low}, {high})" for low, high in pairwise(shown)]
        return (f"< {shown[0]}", *between, f">= {shown[-1]}")

    def of_numbers(self, numbers: Sequence[float | None]) -> list[str | None]:
        """The name of each number's bin; None for NaN and missing."""
        wanted = np.array([np.nan if each is None else float(each) for each in numbers], np.float64)
        at = np.searchsorted(np.array(self.edges, np.float64), wanted, side="right")
        labels = self.labels
        return [None if np.isnan(each) else labels[k] for each, k in zip(wanted.tolist(), at.tolist(), strict=True)]


def _shown(edge: float) -> str:
    return str(int(edge)) if edge.is_integer() and abs(edge) < 2**53 else repr(edge)


def cut_points(table: Table, column: str, bins: int) -> Cut:
    """A cut into at most ``bins`` bins of about equal numbers of records.

    The edges are values of a systematic sample of at most 200,000 rows, so the same table gives the same edges on
    every engine. Values that occur often lead to fewer bins; a column with a single value gets one.
    """

    if bins < 1:
        raise ArgumentError(f"column '{column}' needs at least one bin, not {bins}")
    table.require([column])
    refuse_non_numbers(table, [column])
    sampled = _sampled(table, column)
    sampled = np.sort(sampled[np.isfinite(sampled)])
    if not len(sampled):
        raise DataError(f"column '{column}' of {table.name} has no numbers to cut: leave it out")
    wanted = np.arange(1, bins) / bins
    edges = np.unique(np.quantile(sampled, wanted, method="higher") + 0.0) if bins > 1 else np.array([])
    return Cut(column, tuple(edges[edges > sampled[0]].tolist()))


def _sampled(table: Table, column: str) -> NDArray[np.float64]:
    """The numbers of a column in evenly spaced rows; missing ones may be among them as NaN."""
    here = numbers_here(table, column)
    if here is not None:
        return here.rows[:: -(-table.row_count() // SAMPLE_ROWS)]
    if table[column].dtype.lstrip("U").startswith(("Int", "Float")):
        values = table.sample([column], SAMPLE_ROWS).column(column)
        return np.asarray(values.cast("double", safe=False).to_numpy(), np.float64)
    rows = table.picked([column], ["c0"]).with_columns(as_number("c0", table[column]).alias("c0"))
    numbers = table.changed(rows.select("c0", ROW), [Column("c0", "number", "Float64")], same=())
    return np.asarray(numbers.sample(["c0"], SAMPLE_ROWS).column("c0").drop_null().to_numpy(), np.float64)


def cut(table: Table, cuts: Sequence[Cut]) -> Table:
    """The table with each value of a cut column replaced by the name of its bin; the rest is unchanged.

    Guarantees
    ----------
    Missing, NaN and blank text stay missing. Text that is not a number is a DataError, never missing.
    """

    by_name = {each.column: each for each in cuts}
    if len(by_name) < len(cuts):
        raise ArgumentError("a column is cut twice: give it one list of edges")
    table.require(list(by_name))
    refuse_non_numbers(table, list(by_name))
    for name in by_name:
        refuse_other_types(table[name])
    if not cuts:
        return table

    def rows() -> Rows:
        before, plain = table.plainly(table.names)
        numbers = {plain[at]: column for at, column in enumerate(table.columns) if column.name in by_name}
        after = before.with_columns(
            *(_binned(as_number(name, column), by_name[column.name]).alias(name) for name, column in numbers.items())
        )
        ways = {
            name: None if column.dtype == "String" else Coarsening(each.of_numbers, edges=each.edges)
            for name, column in numbers.items()
            for each in [by_name[column.name]]
        }
        cut_rows = table.engine.coarsened(before, after, ways)
        return table.engine.renamed(cut_rows, [*plain, ROW], [*table.names, ROW])

    columns = [
        Column(column.name, "text", "String", order=by_name[column.name].labels) if column.name in by_name else column
        for column in table.columns
    ]
    here = {name: numbers_here(table, name) for name in by_name}
    following = {name: partial(_binned_here, read, by_name[name]) for name, read in here.items() if read is not None}
    return table.changed(rows, columns, same=set(table.names) - set(by_name), following=following)


def _binned_here(numbers: NumbersHere, cut: Cut) -> pa.ChunkedArray:
    """The bin of each row, as :func:`_binned` says in the engine."""
    import pyarrow as pa

    place = np.searchsorted(np.array(cut.edges), numbers.values, side="right")
    bins = pa.array([*cut.labels, None], pa.string())
    return pa.chunked_array(
        [bins.take(pa.array(np.where(np.isnan(numbers.values), len(cut.labels), place)[numbers.codes]))]
    )


def _binned(number: nw.Expr, cut: Cut) -> nw.Expr:
    import narwhals as nw

    *below, last = cut.labels
    label: Any = nw.lit(last)
    for edge, name in reversed(list(zip(cut.edges, below, strict=True))):
        label = nw.when(number < edge).then(nw.lit(name)).otherwise(label)
    return nw.when(~number.is_null()).then(label)
