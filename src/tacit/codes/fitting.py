"""Fit a code to a table: cells that were searched for, and counted on all its records."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from tacit.codes.asking import CodeRequest, counted_atoms, grouped_records, uses_of
from tacit.codes.code import CellCode
from tacit.codes.coding import PlacedTable, atom_codes, counts_by_cell, placed, unplaced
from tacit.codes.scales.finding import find_scales
from tacit.codes.scales.kinds.every import AnyScale
from tacit.codes.search.forbidden import forbidden_columns
from tacit.codes.search.pruning import pruned
from tacit.codes.search.records import GroupedRecords, SecretBound
from tacit.codes.searching import (
    MOST_CELLS,
    CountedAtoms,
    cells_within,
    columns_of,
    count_for_code,
    grown,
    naming_no_few,
    published,
)
from tacit.codes.widening import widened, with_true_ends
from tacit.document import Progress, silent
from tacit.tables.counting import Counts
from tacit.tables.symbols import in_order
from tacit.tables.table import Table

# Up to this many values in all, other cells are searched for, to see what another setting would tell.
MOST_TRIED = 300_000
# Up to this many records, merged cells are cut again where the whole table allows it.
MOST_CUT_AGAIN = 2_000_000


@dataclass(frozen=True)
class Obstacle:
    """A released column that cannot be told at all, and the value of a secret that forbids it.

    ``side`` is where the value would leave its bounds; ``zero`` says that it would be ruled out altogether, so that no
    epsilon helps.
    """

    column: str
    secret: tuple[str, ...]
    value: tuple[Any, ...]
    side: str
    zero: bool


@dataclass(frozen=True)
class FittedCode:
    """A code, the columns that it cannot tell anything about, and the cells of the records, where they were looked up.

    ``upper_alone`` has columns that no cell tells, and in which share of the records they would be told if the lower
    side of the first claim were not bounded, found by a search of such cells. It is empty where that was not tried.
    """

    code: CellCode
    obstacles: tuple[Obstacle, ...] = ()
    found: PlacedTable | None = None
    upper_alone: Mapping[str, float] = field(default_factory=dict)


def fit_code(table: Table, request: CodeRequest, *, progress: Progress = silent) -> FittedCode:
    """The code whose cells keep most of the columns within what was asked.

    Guarantees
    ----------
    Counted on the whole table: every cell has at least ``least`` records, or is the only one; in every cell each
    log-lift is within its bounds (given what is known, where something is), except for what delta allows.
    """
    counted = count_for_code(table, request, progress=progress)
    progress("choosing cells", None)
    fine, counts, records = cells_within(counted, request), counted.counts, counted.records
    if counted.step > 1 and not (table.row_count() <= MOST_CUT_AGAIN or _weighed_as_one(request)):
        # A sample cannot show that every cut of a column is forbidden.
        fine, standing = _standing(table, fine, request)
        return FittedCode(published(fine, records, request), (), standing)
    if counted.step > 1:
        counts = counted_atoms(table, counted.scales, request)
        fine, records = _cut_again(fine, counts, request), grouped_records(counts, request)[0]
    obstacles = _obstacles(counts, records, counted.bounds(request), counted.scales, request)
    atoms = np.asarray(records.codes, np.int64)
    placed_table = _placed(table, fine, request, counts, atoms)
    return FittedCode(published(fine, records, request), obstacles, placed_table, _upper_alone(counted, fine, request))


def _upper_alone(counted: CountedAtoms, fine: CellCode, request: CodeRequest) -> dict[str, float]:
    """What would be told about columns that no cell tells, by cells without the first claim's lower side."""
    shares_now, first = _told_shares(fine, counted.records), request.claims[0]
    untold = [name for name, share in shares_now.items() if not share]
    if (
        not untold
        or math.isinf(first.low)
        or first.delta
        or counted.step > 1
        or counted.records.codes.size > MOST_TRIED
    ):
        return {}
    wider = replace(request, claims=(replace(first, low=math.inf), *request.claims[1:]))
    shares = _told_shares(cells_within(counted, wider), counted.records)
    return {name: shares[name] for name in untold}


def _told_shares(code: CellCode, records: GroupedRecords) -> dict[str, float]:
    """In which share of the records something is told about each column."""
    node, out = code.tree.leaf_of(records.codes), {}
    for at, name in enumerate(code.columns):
        which, parts = code.tree.parts_of(at)
        partial = ~np.array([part.all() for part in parts])
        out[name] = float(records.records[partial[which[node]]].sum() / records.records.sum())
    return out


def _weighed_as_one(request: CodeRequest) -> bool:
    """Whether cells share something that only the search can distribute: the parts of columns, or delta."""
    return request.recode == "global" or any(claim.delta > 0 for claim in request.claims)


def _own(table: Table, request: CodeRequest) -> Table:
    """The table with only the columns that the request is about."""
    kept = {*request.columns, *request.hidden, *request.use, request.weight}
    return table.select([name for name in table.names if name in kept])


def _placed(
    table: Table, code: CellCode, request: CodeRequest, counts: Counts, atoms: NDArray[np.int64]
) -> PlacedTable:
    """The table with the cells of its records, which were counted; ``atoms`` are those of each group."""
    placed_table = placed(_own(table, request), code, own=True)
    if request.weight is not None:
        # Sums of weights depend on their order, so they are always made in the same one.
        return placed_table
    cell = code.places[code.tree.leaf_of(atoms)]
    return replace(placed_table, counts={(None, *request.hidden): counts_by_cell(counts, request.hidden, cell)})


def _standing(table: Table, code: CellCode, request: CodeRequest) -> tuple[CellCode, PlacedTable]:
    """What is left of cells that were chosen on a sample once all records are counted, and the records' cells."""
    placed_table = placed(_own(table, request), code, own=True)
    counts, cell = placed_table.counted(request.hidden, weight=request.weight)
    records, bounds = grouped_records(counts, request, cell[:, None])
    leaves = code.tree.leaves
    merged = code.with_tree(pruned(code.tree, records, bounds, least=request.least, leaf=leaves[cell]))
    home = code.tree.nodes_in(merged.tree)[leaves]
    return merged, replace(placed_table, cell=merged.places[home], counts={(request.weight, *request.hidden): counts})


def _cut_again(code: CellCode, counts: Counts, request: CodeRequest) -> CellCode:
    """Cells that are out of bounds in a table are merged upwards, then cut anew as far as the bounds allow."""
    records, bounds = grouped_records(counts, request)
    kept = pruned(code.tree, records, bounds, least=request.least)
    use = uses_of(counts, request)
    return code.with_tree(grown(records, bounds, code.scales, request, least=request.least, use=use, start=kept))


def _obstacles(
    counts: Counts,
    records: GroupedRecords,
    bounds: Sequence[SecretBound],
    scales: Sequence[AnyScale],
    request: CodeRequest,
) -> tuple[Obstacle, ...]:
    if request.known or any(claim.floor is not None for claim in request.claims):
        # A number has too many thresholds to name one. Given what is known, there are as many answers as parts.
        return ()
    forbidden = forbidden_columns(records, columns_of(scales), bounds, least=request.least)
    return tuple(
        Obstacle(
            column=request.columns[each.column],
            secret=request.claims[each.claim].secret,
            value=_value(counts, request.claims[each.claim].secret, each.secret),
            side=each.side,
            zero=each.zero,
        )
        for each in forbidden
    )


def _value(counts: Counts, secret: tuple[str, ...], number: int) -> tuple[Any, ...]:
    """The value of a secret that has this number in the search."""
    at = [counts.columns.index(name) for name in secret]
    codes = in_order(counts.codes[:, at])[0][number]
    return tuple(counts.levels[column][code] for column, code in zip(at, codes, strict=True))


def fit_guided(
    table: Table, counts: Counts, posteriors: NDArray[np.float64], request: CodeRequest, *, progress: Progress = silent
) -> FittedCode:
    """The code whose cuts a learned posterior proposes; whether they may stand is counted, as in :func:`fit_code`.

    ``counts`` are those of the original values, ``posteriors`` (groups x values of the first secret) what was learned
    about each of their groups.
    """
    progress("choosing cells", None)
    scales = cast("tuple[AnyScale, ...]", find_scales(table, request.columns, request.levels))
    counted = [counts.columns.index(name) for name in request.columns]
    atoms = [scale.atoms_of(counts.levels[at])[counts.codes[:, at]] for scale, at in zip(scales, counted, strict=True)]
    records, bounds = grouped_records(counts, request, np.column_stack(atoms))
    least = max(request.least, int(counts.records.sum()) // MOST_CELLS)
    scales, places = naming_no_few(scales, records, request.least)
    records = records.moved(places)
    tree = grown(records, bounds, scales, request, least=least, use=uses_of(counts, request), guide=posteriors)
    fine = CellCode(scales, tree, request.known)
    return FittedCode(published(fine, records, request))


def fitted_again(table: Table, code: CellCode, request: CodeRequest) -> CellCode:
    """The same cells for another table: those that are out of bounds there are merged upwards along the tree.

    Merged ones are cut anew at the same places, as far as the bounds allow.
    """
    code = with_true_ends(table, code)
    counts = counted_atoms(table, code.scales, request)
    new = unplaced(atom_codes(counts, code.columns), code.columns)
    if new:
        code = widened(table, code, new)
        counts = counted_atoms(table, code.scales, request)
    if code.numbers:
        # Means were computed for the levels of the earlier table: new levels would have none.
        records, bounds = grouped_records(counts, request)
        return code.with_tree(pruned(code.tree, records, bounds, least=request.least)).reduced()
    return _cut_again(code, counts, request).reduced()
