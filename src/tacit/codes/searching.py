"""A table counted for the search of its cells, and the search: where every fit of a code begins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import cast

import numpy as np
from numpy.typing import NDArray

from tacit.codes.asking import CodeRequest, counted_atoms, grouped_records, secret_orders, uses_of
from tacit.codes.code import CellCode
from tacit.codes.coding import FEW_COMBINATIONS
from tacit.codes.descent import Ints
from tacit.codes.recoding import recoded
from tacit.codes.scales.finding import find_scales
from tacit.codes.scales.kinds.every import AnyScale
from tacit.codes.scales.reduced import without_rare_ends, without_rare_values
from tacit.codes.search.choosing import best_for_use
from tacit.codes.search.growing import grow, grow_each
from tacit.codes.search.records import GroupedRecords, SecretBound
from tacit.codes.tree import CellTree, ColumnAtoms
from tacit.document import Progress, silent
from tacit.tables.counting import Counts
from tacit.tables.table import Table

# Larger tables take two steps: cuts are chosen on an evenly spaced sample, and whether they may stand is counted on all
# records. Columns with few combinations of atoms are counted in full in any case.
MOST_WHOLE = 500_000
DESIGN_RECORDS = 250_000
# On a sample, bounds are this many times as wide: much of the risk there is chance, and what is real is merged later.
ROOM_FOR_CHANCE = 1.5
# The most cells, roughly: more tell readers little more, and take long to find and to write.
MOST_CELLS = 10_000
# In tables of up to this many atoms in all, several searches are made for a use.
MOST_SEARCHED = 1_000_000


@dataclass(frozen=True, eq=False)
class CountedAtoms:
    """A table counted for the search of its cells: all that no bound changes.

    Attributes
    ----------
    scales : tuple of Scale
    counts : Counts
        How often atoms, secrets and uses occur together, in every ``step``-th row.
    records : GroupedRecords
        The same by the atoms of the scales.
    values : tuple of (int, int)
        For each order of a claim's secret, the place of the claim and how many values the secret has.
    use : array of int, optional
        The value of the use of each group.
    least : int
        The fewest counted records of a cell.
    step : int
    """

    scales: tuple[AnyScale, ...]
    counts: Counts
    records: GroupedRecords
    values: tuple[tuple[int, int], ...]
    use: NDArray[np.int64] | None
    least: int
    step: int

    def bounds(self, request: CodeRequest) -> list[SecretBound]:
        """What may be told about each secret, as the search reads it."""
        return [request.claims[at].bound(values) for at, values in self.values]


def count_for_code(table: Table, request: CodeRequest, *, progress: Progress = silent) -> CountedAtoms:
    """Find the scales of a table and count its atoms; the bounds on secrets do not matter yet."""
    progress("looking at the columns", None)
    beside = request.beside if request.weight is None else ()
    scales = cast("tuple[AnyScale, ...]", find_scales(table, request.columns, request.levels, beside=beside))
    combinations, rows = prod(scale.size for scale in scales), table.row_count()
    step = 1 if combinations <= FEW_COMBINATIONS or rows <= MOST_WHOLE else -(-rows // DESIGN_RECORDS)
    progress("counting", None)
    counts = counted_atoms(table.every(step) if step > 1 else table, scales, request)
    records = grouped_records(counts, request)[0]
    values = tuple((each.claim, each.values) for each in secret_orders(counts, request))
    scales, places = naming_no_few(scales, records, request.least)
    # In a sample, a cell has proportionally fewer records.
    fewest = int(counts.records.sum()) // MOST_CELLS if combinations > MOST_CELLS else 0
    least = max(-(-request.least // step), fewest)
    return CountedAtoms(scales, counts, records.moved(places), values, uses_of(counts, request), least, step)


def cells_within(counted: CountedAtoms, request: CodeRequest) -> CellCode:
    """The cells that keep most of what was counted, within bounds; on a sample these leave some room for chance.

    The request may differ from the one the table was counted for only in its bounds.
    """
    bounds = counted.bounds(request)
    wide = bounds if counted.step == 1 else [each.times(ROOM_FOR_CHANCE) for each in bounds]
    tree = grown(counted.records, wide, counted.scales, request, least=counted.least, use=counted.use)
    return CellCode(counted.scales, tree, request.known)


def cells_within_each(counted: CountedAtoms, requests: Sequence[CodeRequest]) -> list[CellCode]:
    """What :func:`cells_within` gives for each of several requests, which differ only in their bounds."""
    first = requests[0]
    if counted.use is not None or counted.step > 1 or first.recode == "global":
        return [cells_within(counted, request) for request in requests]
    trees = grow_each(
        counted.records,
        columns_of(counted.scales),
        [counted.bounds(request) for request in requests],
        least=counted.least,
        weights=np.array([first.prefer.get(name, 1.0) for name in first.columns]),
        known_columns=[first.columns.index(name) for name in first.known],
    )
    return [CellCode(counted.scales, tree, first.known) for tree in trees]


def naming_no_few(
    scales: Sequence[AnyScale], records: GroupedRecords, least: int
) -> tuple[tuple[AnyScale, ...], list[Ints]]:
    """Scales that name ends and categories of a column only if many records have them; and the old atoms' new ones."""
    named, places = [], []
    for at, scale in enumerate(scales):
        sizes = _sizes(records, at, scale.size)
        common, place = without_rare_values(without_rare_ends(scale, sizes, least), sizes, least)
        named.append(common)
        places.append(place)
    return cast("tuple[AnyScale, ...]", tuple(named)), places


def columns_of(scales: Sequence[AnyScale]) -> list[ColumnAtoms]:
    """Scales as the search reads them."""
    return [
        ColumnAtoms(
            scale.size, scale.ordered, scale.cuts if scale.ordered else None, scale.ordered and scale.has_missing
        )
        for scale in scales
    ]


def published(fine: CellCode, records: GroupedRecords, request: CodeRequest) -> CellCode:
    """The code by scales that tell no more than its cells do, in words or in means."""
    if request.write == "text":
        return fine.reduced()
    sizes = {scale.column: _sizes(records, at, scale.size) for at, scale in enumerate(fine.scales)}
    return fine.in_numbers(sizes, request.least)


def _sizes(records: GroupedRecords, column: int, atoms: int) -> NDArray[np.int64]:
    """How many records each atom of a column has."""
    return np.bincount(np.asarray(records.codes[:, column]), records.records, atoms).astype(np.int64)


def grown(
    records: GroupedRecords,
    bounds: Sequence[SecretBound],
    scales: Sequence[AnyScale],
    request: CodeRequest,
    *,
    least: int,
    use: NDArray[np.int64] | None,
    guide: NDArray[np.float64] | None = None,
    start: CellTree | None = None,
) -> CellTree:
    """The tree of cells that keeps most of the columns, as requested."""
    weights = np.array([request.prefer.get(name, 1.0) for name in request.columns])
    if request.recode == "global":
        return recoded(records, scales, bounds, least=least, weights=weights)
    columns = columns_of(scales)

    def search(worth: NDArray[np.float64], by_use: NDArray[np.int64] | None) -> CellTree:
        return grow(
            records,
            columns,
            bounds,
            least=least,
            weights=worth,
            use=by_use,
            guide=guide,
            start=start,
            known_columns=[request.columns.index(name) for name in request.known],
        )

    if use is None:
        return search(weights, None)
    own = [request.columns.index(name) for name in request.use if name in request.columns]
    several = records.codes.size <= MOST_SEARCHED
    return best_for_use(records, columns, use, weights, search, own=own, several=several)
