"""One level per column for the whole file: global recoding, as in tools for statistical disclosure control."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from tacit.codes.descent import Ints
from tacit.codes.scales.scale import Scale
from tacit.codes.search.limits import CellLimits, used_at_thresholds
from tacit.codes.search.records import GroupedRecords, SecretBound
from tacit.codes.tree import CellTree
from tacit.lift import Mask, Vector
from tacit.lift.joint import sums
from tacit.tables.symbols import in_order

# The most combinations of levels, whether they occur or not, that a code may have.
MOST_COMBINATIONS = 50_000


def recoded(
    records: GroupedRecords, scales: Sequence[Scale], bounds: Sequence[SecretBound], *, least: int, weights: Vector
) -> CellTree:
    """Cells with one level for each column: starting from nothing told, the column that gains most becomes finer.

    Guarantees
    ----------
    Every combination of levels that occurs has at least ``least`` records and keeps to the bounds, unless no column is
    told at all. A column has the same parts in every cell.
    """
    ladders = [_ladder(scale) for scale in scales]
    worth = [_worths(records, column, ladder) * weights[column] for column, ladder in enumerate(ladders)]
    chosen = [0] * len(scales)
    while True:
        finer = []
        for column, at in enumerate(chosen):
            # No step is skipped: if a level is out of bounds, the finer ones behind it are not tried.
            if at + 1 < len(ladders[column]):
                tried = [*chosen[:column], at + 1, *chosen[column + 1 :]]
                if _fine(records, [ladder[step] for ladder, step in zip(ladders, tried, strict=True)], bounds, least):
                    finer.append((worth[column][at + 1] - worth[column][at], -column, tried))
        if not finer:
            break
        chosen = max(finer)[2]
    return _product([ladder[step] for ladder, step in zip(ladders, chosen, strict=True)], [s.ordered for s in scales])


def _ladder(scale: Scale) -> list[Ints]:
    """The group of each atom at every level, from the whole column to its atoms."""
    coarser = [level.groups for level in reversed(scale.levels)]
    whole, atoms = np.zeros(scale.size, np.int64), np.arange(scale.size)
    return [whole, *(group for group in coarser if 1 < len(np.unique(group)) < scale.size), atoms]


def _worths(records: GroupedRecords, column: int, ladder: Sequence[Ints]) -> Vector:
    """The share of a column's information that each level tells."""
    entropies = []
    for groups in ladder:
        share = np.bincount(groups[np.asarray(records.codes[:, column])], records.weight)
        share = share[share > 0] / records.weight.sum()
        entropies.append(float(-(share * np.log(share)).sum()))
    return np.array(entropies) / max(entropies[-1], 1e-300)


def _fine(records: GroupedRecords, levels: Sequence[Ints], bounds: Sequence[SecretBound], least: int) -> bool:
    """Whether every combination that occurs is within bounds, and the possible ones are not too many to spell out."""
    if prod(len(np.unique(groups)) for groups in levels) > MOST_COMBINATIONS:
        return False
    grouped = np.column_stack([groups[np.asarray(records.codes[:, at])] for at, groups in enumerate(levels)])
    cells, cell = in_order(grouped)
    if sums(cell, records.records.astype(np.float64), len(cells)).min() < least:
        return False
    whole = np.zeros(len(cells), np.int64)
    for secret, bound in zip(records.secrets, bounds, strict=True):
        if bound.floor is not None:
            if not (used_at_thresholds(bound, secret, cell, records.weight, whole) <= 1).all():
                return False
            continue
        place = np.asarray(secret, np.int64) * len(cells) + cell
        counts = sums(place, records.weight, bound.n_secrets * len(cells)).reshape(bound.n_secrets, len(cells))
        limits = CellLimits.of(bound, counts.sum(axis=1, keepdims=True))
        used = limits.used(counts[bound.binding], counts.sum(axis=0), whole)
        if not (used <= 1).all():
            return False
    return True


def _product(levels: Sequence[Ints], ordered: Sequence[bool]) -> CellTree:
    """The tree that cuts every column into its groups, one column after the other."""
    column, below, children, start, sets = [-1], [-1], [(-1, -1)], [-1], list[Mask]()
    waiting = [(0, 0, np.unique(levels[0]))]
    while waiting:
        node, at, groups = waiting.pop()
        if len(groups) == 1:
            if at + 1 < len(levels):
                waiting.append((node, at + 1, np.unique(levels[at + 1])))
            continue
        half, first = len(groups) // 2, len(column)
        column[node], children[node] = at, (first, first + 1)
        if ordered[at]:
            below[node] = int(np.flatnonzero(levels[at] == groups[half])[0])
        else:
            start[node] = sum(map(len, sets))
            sets.append(np.isin(levels[at], groups[:half]))
        for numbers in (column, below, start):
            numbers += [-1, -1]
        children += [(-1, -1)] * 2
        waiting += [(first, at, groups[:half]), (first + 1, at, groups[half:])]
    return CellTree.linked(
        np.array([len(groups) for groups in levels]),
        np.array(column),
        np.array(below),
        np.array(children),
        np.array(start),
        np.concatenate(sets) if sets else np.zeros(0, bool),
        np.arange(len(column)) == 0,
    )
