"""Cells grown from the whole table, level by level: every node of a level is cut at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from tacit.codes.search.cuts import CutRules
from tacit.codes.search.growth import Growth
from tacit.codes.search.judging import Strict
from tacit.codes.search.missing import missing_apart
from tacit.codes.search.pruning import pruned
from tacit.codes.search.records import GroupedRecords, SecretBound
from tacit.codes.search.spending import spent
from tacit.codes.search.starting import within_parts
from tacit.codes.search.worth import worth_of
from tacit.codes.tree import CellTree, ColumnAtoms
from tacit.errors import ArgumentError

# In tables of up to this many atoms in all, a node's best cuts are compared by what they tell about every column.
_SMALL = 3_000_000
_RIVALS = 5


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
    if least < 1:
        raise ArgumentError(f"least is {least}; a cell has at least one record")
    uses = None if use is None else np.asarray(use, np.int64)
    worth = worth_of(records, kinds, None if weights is None else np.asarray(weights, np.float64), uses)
    small = records.codes.size <= _SMALL
    rules = CutRules(kinds, tuple(range(len(kinds))), Strict(()), least, worth, _RIVALS if small else 1)
    known_least = 5 * least if known_least is None else known_least
    first = start if start is not None else _known_parts(records, rules, known_columns, known_least)
    limits, frontier = within_parts(first, records, bounds, guide)
    growth = Growth.of(first)
    # Known columns are told as finely as the known parts: cutting them further would tell more than the bound covers.
    rules = replace(rules, open=tuple(at for at in rules.open if at not in known_columns))
    rules = replace(rules, judge=Strict(limits, guided=guide is not None))
    # If all released columns may be known, there is nothing else to tell.
    for each in missing_apart(growth, frontier, rules) if rules.open else ():
        growth.grow(each, rules)
    tree = pruned(growth.tree(), records, bounds, least=least)
    return spent(tree, records, bounds, rules) if rules.open and any(bound.delta > 0 for bound in bounds) else tree


def _known_parts(records: GroupedRecords, rules: CutRules, known: Sequence[int], least: int) -> CellTree:
    """A tree that cuts only the known columns, whatever that tells. Its leaves are the known parts."""
    growth = Growth([atoms.size for atoms in rules.columns])
    if known:
        bare = GroupedRecords(records.codes, records.records, records.weight, ())
        _, frontier = within_parts(growth.tree(), bare, ())
        growth.grow(frontier, replace(rules, open=tuple(known), least=least))
    return growth.tree().with_known(growth.tree().leaves)
