"""Fit a code to a table: find scales, count atoms beside secrets in the engine, and search for cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from tacit.codes.code import CellCode, Write
from tacit.codes.coding import PlacedTable, atom_codes, counts_by_cell, placed, unplaced
from tacit.codes.recoding import recoded
from tacit.codes.scales.encoding import atoms_table
from tacit.codes.scales.finding import find_scales
from tacit.codes.scales.kinds.every import AnyScale
from tacit.codes.scales.reduced import without_rare_ends, without_rare_values
from tacit.codes.search.choosing import best_for_use
from tacit.codes.search.forbidden import forbidden_columns
from tacit.codes.search.growing import grow
from tacit.codes.search.pruning import pruned
from tacit.codes.search.records import GroupedRecords, SecretBound
from tacit.codes.tree import CellTree, ColumnAtoms, Ints
from tacit.codes.widening import widened, with_true_ends
from tacit.document import Progress, silent
from tacit.errors import ArgumentError, Setting, sentence
from tacit.lift.proofs.thresholds import at_both_ends
from tacit.tables.columns import ROW
from tacit.tables.counting import Counts, count
from tacit.tables.symbols import in_order
from tacit.tables.table import Table

# Tables of more records are looked at in two steps: cuts are chosen on a sample, evenly spaced, and whether they may
# stand is counted on all. Columns that have few combinations of atoms are counted whole in any case.
MOST_WHOLE = 500_000
DESIGN_RECORDS = 250_000
FEW_COMBINATIONS = 100_000
# Cells of a sample may seem so many times as risky: much of it is chance, and what is not is merged again.
ROOM_FOR_CHANCE = 1.5
# Up to so many records, what was merged is cut again where the whole table allows it.
MOST_CUT_AGAIN = 2_000_000
# About so many cells at most: more tell readers little more, and take long to find and to write.
MOST_CELLS = 10_000
# In tables of so many atoms in all, several searches are made for a use.
MOST_SEARCHED = 1_000_000
# Values of the use that are told apart while cuts are chosen.
MOST_USES = 16


@dataclass(frozen=True)
class CodeClaim:
    """What cells may tell of one secret: a column, or several together; with a ``floor``, a number's thresholds."""

    secret: tuple[str, ...]
    low: float
    high: float
    delta: float = 0.0
    epsilon_max: float = np.inf
    floor: float | None = None

    def bound(self, n_secrets: int) -> SecretBound:
        """The claim as the search reads it."""
        return SecretBound(
            n_secrets, self.low, self.high, delta=self.delta, epsilon_max=self.epsilon_max, floor=self.floor
        )


@dataclass(frozen=True)
class CodeRequest:
    """What is asked of a code.

    Attributes
    ----------
    columns : tuple of str
        The released columns.
    claims : tuple of CodeClaim
        What may be told of each secret.
    least : int
        The fewest records of a cell.
    known : tuple of str
        Released columns that an adversary may know: cells are bounded inside what is known.
    use : tuple of str
        Columns that readers want to predict.
    prefer : mapping
        How much keeping each column matters; 1 for those that are not named.
    levels : mapping
        What a column may be told as, where that was said.
    weight : str, optional
        The column with the weight of each record.
    write : "text" or "means"
    recode : "local" or "global"
        Whether every cell has parts of its own, or a column has the same parts in all cells.
    """

    columns: tuple[str, ...]
    claims: tuple[CodeClaim, ...]
    least: int
    known: tuple[str, ...] = ()
    use: tuple[str, ...] = ()
    prefer: Mapping[str, float] = field(default_factory=dict)
    levels: Mapping[str, Any] = field(default_factory=dict)
    weight: str | None = None
    write: Write = "text"
    recode: Literal["local", "global"] = "local"

    def __post_init__(self) -> None:
        for name in self.known:
            if name not in self.columns:
                words = "column '{name}' may be known but is not released: release it, or leave it out of {known}"
                raise ArgumentError(sentence(words, name=name, known=Setting("known")))
        if self.known and self.recode == "global":
            words = "cells inside what is known have parts of their own: leave out {known}, or {recode}"
            raise ArgumentError(sentence(words, known=Setting("known"), recode=Setting("recode", "global")))
        for name in self.prefer:
            if name not in self.columns:
                raise ArgumentError(f"column '{name}' is to be preferred but is not released")

    @property
    def hidden(self) -> tuple[str, ...]:
        """Every column of a secret, once."""
        return tuple(dict.fromkeys(name for claim in self.claims for name in claim.secret))


@dataclass(frozen=True)
class Obstacle:
    """A released column that cannot be told at all, and the value of a secret that forbids it.

    ``side`` is where the value would leave its bounds; ``zero`` says that it would be ruled out altogether, so that no
    epsilon helps; ``freed`` that some cut would do if nothing were asked of the lower side.
    """

    column: str
    secret: tuple[str, ...]
    value: tuple[Any, ...]
    side: str
    zero: bool
    freed: bool


@dataclass(frozen=True)
class FittedCode:
    """A code, which columns it cannot tell anything of, and the cells of the records, where they were looked up."""

    code: CellCode
    obstacles: tuple[Obstacle, ...] = ()
    found: PlacedTable | None = None


def fit_code(table: Table, asked: CodeRequest, *, progress: Progress = silent) -> FittedCode:
    """The code whose cells keep most of the columns within what was asked.

    Guarantees
    ----------
    Counted on the whole table: every cell has at least ``least`` records, or is the only one; in every cell each
    log-lift is within its bounds (inside what is known, where that was said), but for what delta allows.
    """
    progress("looking at the columns", None)
    scales = cast("tuple[AnyScale, ...]", find_scales(table, asked.columns, asked.levels))
    combinations, rows = prod(scale.size for scale in scales), table.row_count()
    step = 1 if combinations <= FEW_COMBINATIONS or rows <= MOST_WHOLE else -(-rows // DESIGN_RECORDS)
    progress("counting", None)
    counts = counted_atoms(every(table, step) if step > 1 else table, scales, asked)
    progress("choosing cells", None)
    records, bounds = grouped_records(counts, asked)
    scales, places = naming_no_few(scales, records, asked.least)
    records = records.moved(places)
    # Of a sample, a cell has as many fewer records.
    fewest = int(counts.records.sum()) // MOST_CELLS if combinations > MOST_CELLS else 0
    least, use = max(-(-asked.least // step), fewest), uses_of(counts, asked)
    wide = bounds if step == 1 else [each.times(ROOM_FOR_CHANCE) for each in bounds]
    fine = CellCode(scales, grown(records, wide, scales, asked, least=least, use=use), asked.known)
    if step > 1 and not (rows <= MOST_CUT_AGAIN or _weighed_as_one(asked)):
        # A sample does not show that no cut of a column may stand.
        fine, found = _standing(table, fine, asked)
        return FittedCode(_published(fine, records, asked), (), found)
    if step > 1:
        counts = counted_atoms(table, scales, asked)
        fine, records = _cut_again(fine, counts, asked), grouped_records(counts, asked)[0]
    obstacles = _obstacles(counts, records, bounds, scales, asked)
    atoms = np.asarray(records.codes, np.int64)
    return FittedCode(_published(fine, records, asked), obstacles, _placed(table, fine, asked, counts, atoms))


def _weighed_as_one(asked: CodeRequest) -> bool:
    """Whether cells share something that only the search can deal out: the parts of columns, or delta."""
    return asked.recode == "global" or any(claim.delta > 0 for claim in asked.claims)


def _own(table: Table, asked: CodeRequest) -> Table:
    """The table without columns that have no part in what is asked."""
    kept = {*asked.columns, *asked.hidden, *asked.use, asked.weight}
    return table.select([name for name in table.names if name in kept])


def _placed(table: Table, code: CellCode, asked: CodeRequest, counts: Counts, atoms: NDArray[np.int64]) -> PlacedTable:
    """The table with the cells of its records, which were counted; ``atoms`` are those of each group."""
    found = placed(_own(table, asked), code, own=True)
    if asked.weight is not None:
        # Weights are summed in one order alone.
        return found
    cell = code.places[code.tree.leaf_of(atoms)]
    return replace(found, counts={(None, *asked.hidden): counts_by_cell(counts, asked.hidden, cell)})


def _standing(table: Table, code: CellCode, asked: CodeRequest) -> tuple[CellCode, PlacedTable]:
    """What is left of cells that were chosen on a sample when all records are counted, and where these are."""
    found = placed(_own(table, asked), code, own=True)
    counts, cell = found.counted(asked.hidden, weight=asked.weight)
    records, bounds = grouped_records(counts, asked, cell[:, None])
    leaves = code.tree.leaves
    merged = code.with_tree(pruned(code.tree, records, bounds, least=asked.least, leaf=leaves[cell]))
    home = code.tree.nodes_in(merged.tree)[leaves]
    return merged, replace(found, cell=merged.places[home], counts={(asked.weight, *asked.hidden): counts})


def _cut_again(code: CellCode, counts: Counts, asked: CodeRequest) -> CellCode:
    """Cells that are out of bounds in a table are merged upwards, and cut anew as far as they may be."""
    records, bounds = grouped_records(counts, asked)
    kept = pruned(code.tree, records, bounds, least=asked.least)
    use = uses_of(counts, asked)
    return code.with_tree(grown(records, bounds, code.scales, asked, least=asked.least, use=use, start=kept))


def naming_no_few(
    scales: Sequence[AnyScale], records: GroupedRecords, least: int
) -> tuple[tuple[AnyScale, ...], list[Ints]]:
    """Scales that name the ends of a column and its categories only where many have them; new atoms of the old ones."""
    told, places = [], []
    for at, scale in enumerate(scales):
        sizes = _sizes(records, at, scale.size)
        common, place = without_rare_values(without_rare_ends(scale, sizes, least), sizes, least)
        told.append(common)
        places.append(place)
    return cast("tuple[AnyScale, ...]", tuple(told)), places


def _obstacles(
    counts: Counts,
    records: GroupedRecords,
    bounds: Sequence[SecretBound],
    scales: Sequence[AnyScale],
    asked: CodeRequest,
) -> tuple[Obstacle, ...]:
    if asked.known or any(claim.floor is not None for claim in asked.claims):
        # A number has too many thresholds to name one. Inside what is known there are as many answers as parts.
        return ()
    found = forbidden_columns(records, _atoms(scales), bounds, least=asked.least)
    return tuple(
        Obstacle(
            column=asked.columns[each.column],
            secret=asked.claims[each.claim].secret,
            value=_value(counts, asked.claims[each.claim].secret, each.secret),
            side=each.side,
            zero=each.zero,
            freed=each.freed,
        )
        for each in found
    )


def _value(counts: Counts, secret: tuple[str, ...], number: int) -> tuple[Any, ...]:
    """The value of a secret that has this number in the search."""
    at = [counts.columns.index(name) for name in secret]
    codes = in_order(counts.codes[:, at])[0][number]
    return tuple(counts.levels[column][code] for column, code in zip(at, codes, strict=True))


def _atoms(scales: Sequence[AnyScale]) -> list[ColumnAtoms]:
    return [
        ColumnAtoms(
            scale.size, scale.ordered, scale.cuts if scale.ordered else None, scale.ordered and scale.has_missing
        )
        for scale in scales
    ]


def _published(fine: CellCode, records: GroupedRecords, asked: CodeRequest) -> CellCode:
    """The code by scales that tell no more than its cells do, in words or in means."""
    if asked.write == "text":
        return fine.reduced()
    sizes = {scale.column: _sizes(records, at, scale.size) for at, scale in enumerate(fine.scales)}
    return fine.in_numbers(sizes, asked.least)


def _sizes(records: GroupedRecords, column: int, atoms: int) -> NDArray[np.int64]:
    """How many records each atom of a column has."""
    return np.bincount(np.asarray(records.codes[:, column]), records.records, atoms).astype(np.int64)


def fit_guided(
    table: Table, counts: Counts, posteriors: NDArray[np.float64], asked: CodeRequest, *, progress: Progress = silent
) -> FittedCode:
    """The code whose cuts a learned posterior proposes; whether they may stand is counted, as in :func:`fit_code`.

    ``counts`` are of the values as they are, ``posteriors`` (groups x values of the first secret) what was learned of
    each of their groups.
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
    return FittedCode(_published(fine, records, asked))


def fitted_again(table: Table, code: CellCode, asked: CodeRequest) -> CellCode:
    """The same cells for another table: those that are out of bounds there are merged upwards along the tree.

    Merged ones are cut anew at the same places, as far as they may be.
    """
    code = with_true_ends(table, code)
    counts = counted_atoms(table, code.scales, asked)
    new = unplaced(atom_codes(counts, code.columns), code.columns)
    if new:
        code = widened(table, code, new)
        counts = counted_atoms(table, code.scales, asked)
    if code.numbers:
        # Means were taken of the levels of the earlier table: there are none for new ones.
        records, bounds = grouped_records(counts, asked)
        return code.with_tree(pruned(code.tree, records, bounds, least=asked.least)).reduced()
    return _cut_again(code, counts, asked).reduced()


def every(table: Table, step: int) -> Table:
    """Every so many-th row of a table."""
    import narwhals as nw

    with table.reading():
        rows = table.engine.indexed(table.rows).filter(nw.col(ROW) % step == 0)
    return table.with_rows(rows, table.columns)


def counted_atoms(table: Table, scales: Sequence[AnyScale], asked: CodeRequest, *beside: str) -> Counts:
    """How often every combination of atoms, secrets and uses occurs, and of what else is to be counted beside them."""
    uses = [name for name in asked.use if name not in asked.columns]
    return count(atoms_table(table, scales), [*asked.columns, *asked.hidden, *uses, *beside], weight=asked.weight)


def grouped_records(
    counts: Counts, asked: CodeRequest, atoms: NDArray[np.int64] | None = None
) -> tuple[GroupedRecords, list[SecretBound]]:
    """What was counted as the search reads it, and what may be told of each secret; ``atoms`` of counted values."""
    secrets: list[NDArray[np.int64]] = []
    bounds: list[SecretBound] = []
    for claim in asked.claims:
        values, numbers = in_order(counts.codes[:, [counts.columns.index(name) for name in claim.secret]])
        orders = (numbers,) if claim.floor is None else at_both_ends(numbers, _missing(counts, claim.secret[0], values))
        secrets += orders
        bounds += [claim.bound(len(values)) for _ in orders]
    codes = atom_codes(counts, asked.columns) if atoms is None else atoms
    return GroupedRecords.of(codes, *secrets, records=counts.records, weight=counts.weight), bounds


def _missing(counts: Counts, column: str, values: NDArray[np.int64]) -> int | None:
    """The place of what is missing among the codes of a column that occur."""
    levels = counts.levels[counts.columns.index(column)]
    places = [] if None not in levels else np.flatnonzero(values[:, 0] == levels.index(None)).tolist()
    return places[0] if places else None


def grown(
    records: GroupedRecords,
    bounds: Sequence[SecretBound],
    scales: Sequence[AnyScale],
    asked: CodeRequest,
    *,
    least: int,
    use: NDArray[np.int64] | None,
    guide: NDArray[np.float64] | None = None,
    start: CellTree | None = None,
) -> CellTree:
    """The tree of cells that keeps most of the columns, as was asked."""
    weights = np.array([asked.prefer.get(name, 1.0) for name in asked.columns])
    if asked.recode == "global":
        return recoded(records, scales, bounds, least=least, weights=weights)
    columns = _atoms(scales)

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
            known_columns=[asked.columns.index(name) for name in asked.known],
        )

    if use is None:
        return search(weights, None)
    own = [asked.columns.index(name) for name in asked.use if name in asked.columns]
    several = records.codes.size <= MOST_SEARCHED
    return best_for_use(records, columns, use, weights, search, own=own, several=several)


def uses_of(counts: Counts, asked: CodeRequest) -> NDArray[np.int64] | None:
    """The value of the use of each group, in at most a few classes; None where no use was named."""
    if not asked.use:
        return None
    values = in_order(counts.codes[:, [counts.columns.index(name) for name in asked.use]])[1]
    different = int(values.max(initial=0)) + 1
    if different <= MOST_USES:
        return values
    # Values are in order, so neighbours are alike: classes of about equal weight.
    share = np.cumsum(np.bincount(values, counts.weight)) / counts.weight.sum()
    classes: NDArray[np.int64] = np.minimum((share * MOST_USES).astype(np.int64), MOST_USES - 1)
    return classes[values]
