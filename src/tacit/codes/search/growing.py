"""Cells grown from the whole table, level by level: every node of a level is cut at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from tacit.codes.search.cuts import CutRules, missing_cuts
from tacit.codes.search.frontier import LARGEST_CHUNK, Frontier, within_parts
from tacit.codes.search.growth import Growth
from tacit.codes.search.judging import Strict
from tacit.codes.search.limits import CellLimits
from tacit.codes.search.pruning import pruned
from tacit.codes.search.records import GroupedRecords, SecretBound
from tacit.codes.search.spending import spent
from tacit.codes.search.worth import worth_of
from tacit.codes.tree import CellTree, ColumnAtoms
from tacit.errors import ArgumentError

# In tables of up to this many atoms in all, a node's best cuts are compared by what they tell about every column.
_SMALL = 3_000_000
_RIVALS = 5
# If a larger share of the records lacks a column, it waits its turn: being missing then tells enough to be chosen.
_MOST_APART = 0.03


def grow(
    records: GroupedRecords,
    columns: Sequence[ColumnAtoms],
    bounds: Sequence[SecretBound],
    *,
    least: int,
    weights: ArrayLike | None = None,
    use: ArrayLike | None = None,
    known_columns: Sequence[int] = (),
    known_least: int | None = None,
    guide: ArrayLike | None = None,
    start: CellTree | None = None,
) -> CellTree:
    """Cells that tell the reader as much as they may.

    Parameters
    ----------
    records : GroupedRecords
    columns : sequence of ColumnAtoms
        One for each column of ``records.codes``.
    bounds : sequence of SecretBound
        One for each claim of ``records.secrets``.
    least : int
        The fewest records that a cell may have.
    weights : array of float, optional
        What each column is worth to the reader.
    use : array of int, optional
        The use of each group: what tells something about it is worth more.
    known_columns : sequence of int
        The columns whose values an adversary may know. They are cut first, whatever that tells, into parts of at least
        ``known_least`` records (by default five times ``least``), and bounds hold inside each.
    guide : array (groups x values), optional
        A learned estimate of the first claim's secret for each group. It helps to choose among cuts that are within
        bounds; whether they are is counted.
    start : CellTree, optional
        A tree to grow on, instead of the whole table; it must be within bounds, and knows its known parts.

    Guarantees
    ----------
    Every cell has at least ``least`` records, unless the whole table has fewer. Every bounded value of every secret
    has, as a float, -low <= log-lift <= high in every cell, relative to its share in the known part of the cell; with
    a delta, pairs outside weigh at most that share of the table, and keep to ``epsilon_max``.
    The same records in the same order give the same tree.
    """
    kinds = tuple(columns)
    records.check(kinds, bounds)
    rules = _rules(records, kinds, least, weights, use)
    known_least = 5 * least if known_least is None else known_least
    first = start if start is not None else _known_parts(records, rules, known_columns, known_least)
    limits, frontier = within_parts(first, records, bounds, guide)
    rules = _further(rules, known_columns, Strict(limits, guided=guide is not None))
    tree = pruned(_grown(Growth.of(first), frontier, rules).tree(), records, bounds, least=least)
    return spent(tree, records, bounds, rules) if rules.open and any(bound.delta > 0 for bound in bounds) else tree


def grow_each(
    records: GroupedRecords,
    columns: Sequence[ColumnAtoms],
    bounds: Sequence[Sequence[SecretBound]],
    *,
    least: int,
    weights: ArrayLike | None = None,
    known_columns: Sequence[int] = (),
) -> list[CellTree]:
    """The trees that :func:`grow` gives for several sets of bounds, level by level all at once where that is quicker.

    Guarantees
    ----------
    Each tree is the one that :func:`grow` gives.
    """
    kinds = tuple(columns)
    if len(bounds) < 2 or not _at_once(records, bounds):
        return [
            grow(records, kinds, each, least=least, weights=weights, known_columns=known_columns) for each in bounds
        ]
    records.check(kinds, bounds[0])
    rules = _rules(records, kinds, least, weights, None)
    first = _known_parts(records, rules, known_columns, 5 * least)
    starts = [within_parts(first, records, each) for each in bounds]
    limits = tuple(CellLimits.at_once(claim) for claim in zip(*(each for each, _ in starts), strict=True))
    frontier = starts[0][1].times(len(bounds), nodes=len(first), parts=len(first.known))
    growth = _grown(Growth.of(first, len(bounds)), frontier, _further(rules, known_columns, Strict(limits)))
    return [pruned(tree, records, each, least=least) for tree, each in zip(growth.trees(), bounds, strict=True)]


def _at_once(records: GroupedRecords, bounds: Sequence[Sequence[SecretBound]]) -> bool:
    """Whether a joint search gives the same trees as searches of their own.

    Sums of whole numbers do not depend on what is summed before; a frontier in chunks would number its nodes otherwise.
    """
    sides = {tuple(np.isinf([(bound.low, bound.high) for bound in each]).ravel().tolist()) for each in bounds}
    plain = all(bound.delta == 0 for each in bounds for bound in each)
    whole = np.array_equal(records.weight, records.records)
    return len(sides) == 1 and plain and whole and len(records.codes) * len(bounds) <= LARGEST_CHUNK


def _rules(
    records: GroupedRecords,
    kinds: tuple[ColumnAtoms, ...],
    least: int,
    weights: ArrayLike | None,
    use: ArrayLike | None,
) -> CutRules:
    """What cuts are worth, before anything is bounded."""
    if least < 1:
        raise ArgumentError(f"least is {least}; a cell has at least one record")
    uses = None if use is None else np.asarray(use, np.int64)
    worth = worth_of(records, kinds, None if weights is None else np.asarray(weights, np.float64), uses)
    small = records.codes.size <= _SMALL
    return CutRules(kinds, tuple(range(len(kinds))), Strict(()), least, worth, _RIVALS if small else 1)


def _further(rules: CutRules, known_columns: Sequence[int], judge: Strict) -> CutRules:
    """The rules once what may be known is cut.

    Known columns are told as finely as the known parts: cutting them further would tell more than the bound covers.
    """
    return replace(rules, open=tuple(at for at in rules.open if at not in known_columns), judge=judge)


def _grown(growth: Growth, frontier: Frontier, rules: CutRules) -> Growth:
    # If all released columns may be known, there is nothing else to tell.
    for each in _missing_apart(growth, frontier, rules) if rules.open else ():
        growth.grow(each, rules)
    return growth


def _known_parts(records: GroupedRecords, rules: CutRules, known: Sequence[int], least: int) -> CellTree:
    """A tree that cuts only the known columns, whatever that tells. Its leaves are the known parts."""
    growth = Growth([atoms.size for atoms in rules.columns])
    if known:
        bare = GroupedRecords(records.codes, records.records, records.weight, ())
        _, frontier = within_parts(growth.tree(), bare, ())
        growth.grow(frontier, replace(rules, open=tuple(known), least=least))
    return growth.tree().with_known(growth.tree().leaves)


def _missing_apart(growth: Growth, frontier: Frontier, rules: CutRules) -> list[Frontier]:
    """Cut off missing values of each ordered column where they may be a part of their own; the resulting frontiers.

    The texts of all others then need not mention them.

    Records that lack one column are not searched for what else they lack: there are few of them.
    """
    whole, apart = [frontier], list[Frontier]()
    lacking = [at for at in rules.open if rules.columns[at].missing]
    missing = {at: frontier.records[frontier.codes[at] == rules.columns[at].size - 1].sum() for at in lacking}
    for column in sorted(lacking, key=lambda at: float(missing[at])):
        left = list[Frontier]()
        for each in whole:
            best = missing_cuts(each, rules, column, most=_MOST_APART)
            if not best.has_cut.any():
                left.append(each)
                continue
            children = growth.cut(each, best, best.has_cut)
            present = np.arange(len(children)) % 2 == 0
            left.append(children.of_nodes(present))
            apart.append(children.of_nodes(~present))
            if not best.has_cut.all():
                left.append(each.of_nodes(~best.has_cut))
        whole = left
    return [*whole, *apart]
