"""Cells grown from the whole table, level by level: every node of a level is cut at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from tacit.codes.search.cuts import Rules
from tacit.codes.search.frontier import Frontier
from tacit.codes.search.growth import Growth
from tacit.codes.search.limits import Limits
from tacit.codes.search.pruning import pruned, weight_of
from tacit.codes.search.records import GroupedRecords, SecretBound
from tacit.codes.search.worth import worth_of
from tacit.codes.tree import CellTree, ColumnAtoms
from tacit.errors import ArgumentError


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
        The use of each group: what tells of it is worth more.
    known_columns : sequence of int
        The columns whose values an adversary may know. They are cut first, whatever that tells, into parts of at least
        ``known_least`` records (five times ``least`` unless said), and bounds hold inside each.

    Guarantees
    ----------
    Every cell has at least ``least`` records, unless the whole table has fewer. Every bounded value of every secret
    has, as a float, -low <= log-lift <= high in every cell, beside its share in the known part that the cell lies in.
    The same records in the same order give the same tree.
    """
    kinds = tuple(columns)
    records.check(kinds, bounds)
    if least < 1:
        raise ArgumentError(f"least is {least}; a cell has at least one record")
    uses = None if use is None else np.asarray(use, np.int64)
    worth = worth_of(records, kinds, None if weights is None else np.asarray(weights, np.float64), uses)
    growth = Growth([atoms.size for atoms in kinds])
    if known_columns:
        rules = Rules(kinds, tuple(known_columns), (), 5 * least if known_least is None else known_least, worth)
        bare = GroupedRecords(records.codes, records.records, records.weight, ())
        everything = np.zeros(len(records.codes), np.int64)
        growth.grow(Frontier.of(bare, (), everything, np.zeros(1, np.int64), None), rules)
    first = growth.tree()
    part, n_parts = np.searchsorted(first.leaves, first.leaf_of(records.codes)), len(first.leaves)
    limits = tuple(
        Limits.of(bound, weight_of(secret, part, records.weight, (bound.n_secrets, n_parts)))
        for secret, bound in zip(records.secrets, bounds, strict=True)
    )
    frontier = Frontier.of(records, tuple(each.label for each in limits), part, first.leaves, uses)
    growth = Growth.of(first)
    growth.grow(frontier, Rules(kinds, tuple(range(len(kinds))), limits, least, worth))
    return pruned(growth.tree(), records, bounds, least=least)
