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


def fit_code(table: Table, asked: CodeRequest, *, progress: Progress = silent) -> FittedCode:
    """The code whose cells keep most of the columns within what was asked.

    Guarantees
    ----------
    Counted on the whole table: every cell has at least ``least`` records, or is the only one; in every cell each
    log-lift is within its bounds (given what is known, where something is), except for what delta allows.
    """
    found = count_for_code(table, asked, progress=progress)
    progress("choosing cells", None)
    fine, counts, records = cells_within(found, asked), found.counts, found.records
    if found.step > 1 and not (table.row_count() <= MOST_CUT_AGAIN or _weighed_as_one(asked)):
        # A sample cannot show that every cut of a column is forbidden.
        fine, standing = _standing(table, fine, asked)
        return FittedCode(published(fine, records, asked), (), standing)
    if found.step > 1:
        counts = counted_atoms(table, found.scales, asked)
        fine, records = _cut_again(fine, counts, asked), grouped_records(counts, asked)[0]
    obstacles = _obstacles(counts, records, found.bounds(asked), found.scales, asked)
    atoms = np.asarray(records.codes, np.int64)
    found_again = _placed(table, fine, asked, counts, atoms)
    return FittedCode(published(fine, records, asked), obstacles, found_again, _upper_alone(found, fine, asked))


def _upper_alone(found: CountedAtoms, fine: CellCode, asked: CodeRequest) -> dict[str, float]:
    """What would be told about columns that no cell tells, by cells without the first claim's lower side."""
    told, first = _told_shares(fine, found.records), asked.claims[0]
    untold = [name for name, share in told.items() if not share]
    if not untold or math.isinf(first.low) or first.delta or found.step > 1 or found.records.codes.size > MOST_TRIED:
        return {}
    wider = replace(asked, claims=(replace(first, low=math.inf), *asked.claims[1:]))
    shares = _told_shares(cells_within(found, wider), found.records)
    return {name: shares[name] for name in untold}


def _told_shares(code: CellCode, records: GroupedRecords) -> dict[str, float]:
    """In which share of the records something is told about each column."""
    node, out = code.tree.leaf_of(records.codes), {}
    for at, name in enumerate(code.columns):
        which, parts = code.tree.parts_of(at)
        told = ~np.array([part.all() for part in parts])
        out[name] = float(records.records[told[which[node]]].sum() / records.records.sum())
    return out


def _weighed_as_one(asked: CodeRequest) -> bool:
    """Whether cells share something that only the search can distribute: the parts of columns, or delta."""
    return asked.recode == "global" or any(claim.delta > 0 for claim in asked.claims)


def _own(table: Table, asked: CodeRequest) -> Table:
    """The table with only the columns that the request is about."""
    kept = {*asked.columns, *asked.hidden, *asked.use, asked.weight}
    return table.select([name for name in table.names if name in kept])


def _placed(table: Table, code: CellCode, asked: CodeRequest, counts: Counts, atoms: NDArray[np.int64]) -> PlacedTable:
    """The table with the cells of its records, which were counted; ``atoms`` are those of each group."""
    found = placed(_own(table, asked), code, own=True)
    if asked.weight is not None:
        # Sums of weights depend on their order, so they are always made in the same one.
        return found
    cell = code.places[code.tree.leaf_of(atoms)]
    return replace(found, counts={(None, *asked.hidden): counts_by_cell(counts, asked.hidden, cell)})


def _standing(table: Table, code: CellCode, asked: CodeRequest) -> tuple[CellCode, PlacedTable]:
    """What is left of cells that were chosen on a sample once all records are counted, and the records' cells."""
    found = placed(_own(table, asked), code, own=True)
    counts, cell = found.counted(asked.hidden, weight=asked.weight)
    records, bounds = grouped_records(counts, asked, cell[:, None])
    leaves = code.tree.leaves
    merged = code.with_tree(pruned(code.tree, records, bounds, least=asked.least, leaf=leaves[cell]))
    home = code.tree.nodes_in(merged.tree)[leaves]
    return merged, replace(found, cell=merged.places[home], counts={(asked.weight, *asked.hidden): counts})


def _cut_again(code: CellCode, counts: Counts, asked: CodeRequest) -> CellCode:
    """Cells that are out of bounds in a table are merged upwards, then cut anew as far as the bounds allow."""
    records, bounds = grouped_records(counts, asked)
    kept = pruned(code.tree, records, bounds, least=asked.least)
    use = uses_of(counts, asked)
    return code.with_tree(grown(records, bounds, code.scales, asked, least=asked.least, use=use, start=kept))


def _obstacles(
    counts: Counts,
    records: GroupedRecords,
    bounds: Sequence[SecretBound],
    scales: Sequence[AnyScale],
    asked: CodeRequest,
) -> tuple[Obstacle, ...]:
    if asked.known or any(claim.floor is not None for claim in asked.claims):
        # A number has too many thresholds to name one. Given what is known, there are as many answers as parts.
        return ()
    found = forbidden_columns(records, columns_of(scales), bounds, least=asked.least)
    return tuple(
        Obstacle(
            column=asked.columns[each.column],
            secret=asked.claims[each.claim].secret,
            value=_value(counts, asked.claims[each.claim].secret, each.secret),
            side=each.side,
            zero=each.zero,
        )
        for each in found
    )


def _value(counts: Counts, secret: tuple[str, ...], number: int) -> tuple[Any, ...]:
    """The value of a secret that has this number in the search."""
    at = [counts.columns.index(name) for name in secret]
    codes = in_order(counts.codes[:, at])[0][number]
    return tuple(counts.levels[column][code] for column, code in zip(at, codes, strict=True))


def fit_guided(
    table: Table, counts: Counts, posteriors: NDArray[np.float64], asked: CodeRequest, *, progress: Progress = silent
) -> FittedCode:
    """The code whose cuts a learned posterior proposes; whether they may stand is counted, as in :func:`fit_code`.

    ``counts`` are those of the original values, ``posteriors`` (groups x values of the first secret) what was learned
    about each of their groups.
    """
    progress("choosing cells", None)
    scales = cast("tuple[AnyScale, ...]", find_scales(table, asked.columns, asked.levels))
    counted = [counts.columns.index(name) for name in asked.columns]
    atoms = [scale.atoms_of(counts.levels[at])[counts.codes[:, at]] for scale, at in zip(scales, counted, strict=True)]
    records, bounds = grouped_records(counts, asked, np.column_stack(atoms))
    least = max(asked.least, int(counts.records.sum()) // MOST_CELLS)
    scales, places = naming_no_few(scales, records, asked.least)
    records = records.moved(places)
    tree = grown(records, bounds, scales, asked, least=least, use=uses_of(counts, asked), guide=posteriors)
    fine = CellCode(scales, tree, asked.known)
    return FittedCode(published(fine, records, asked))


def fitted_again(table: Table, code: CellCode, asked: CodeRequest) -> CellCode:
    """The same cells for another table: those that are out of bounds there are merged upwards along the tree.

    Merged ones are cut anew at the same places, as far as the bounds allow.
    """
    code = with_true_ends(table, code)
    counts = counted_atoms(table, code.scales, asked)
    new = unplaced(atom_codes(counts, code.columns), code.columns)
    if new:
        code = widened(table, code, new)
        counts = counted_atoms(table, code.scales, asked)
    if code.numbers:
        # Means were computed for the levels of the earlier table: new levels would have none.
        records, bounds = grouped_records(counts, asked)
        return code.with_tree(pruned(code.tree, records, bounds, least=asked.least)).reduced()
    return _cut_again(code, counts, asked).reduced()
