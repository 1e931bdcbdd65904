"""Which columns cannot be told at all, and which value of a secret, on which side, stands in the way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tacit.codes.descent import Ints
from tacit.codes.search.records import GroupedRecords, SecretBound
from tacit.codes.tree import ColumnAtoms
from tacit.lift import Mask, Matrix, Vector


@dataclass(frozen=True)
class ForbiddenColumn:
    """A column for which no first cut is within bounds.

    Attributes
    ----------
    column : int
    claim, secret : int
        The claim, and the value of its secret, that forbids most cuts.
    side : "low" or "high"
        Whether the value would become too unlikely, or too likely.
    zero : bool
        Whether the value would be ruled out altogether by every cut that it forbids: then no epsilon helps.
    """

    column: int
    claim: int
    secret: int
    side: str
    zero: bool


def forbidden_columns(
    records: GroupedRecords, columns: Sequence[ColumnAtoms], bounds: Sequence[SecretBound], *, least: int
) -> tuple[ForbiddenColumn, ...]:
    """The columns that cannot be told even on their own, each with what forbids it.

    Every cut of a single column is tried, with ``least`` records on both sides; for sets, those along the order of each
    secret value's share. A column that has no such cut, because it is all one value, is not listed.
    """
    forbidden = (_forbidden(records, columns[at], bounds, at, least) for at in range(len(columns)))
    return tuple(each for each in forbidden if each is not None)


def _forbidden(
    records: GroupedRecords, atoms: ColumnAtoms, bounds: Sequence[SecretBound], column: int, least: int
) -> ForbiddenColumn | None:
    code = np.asarray(records.codes[:, column])
    size = np.bincount(code, records.records, atoms.size)
    tables = [
        _table(code, np.asarray(secret), records.weight, atoms.size, bound.n_secrets)
        for secret, bound in zip(records.secrets, bounds, strict=True)
    ]
    blocked: dict[tuple[int, int, str], int] = {}
    zeros: dict[tuple[int, int, str], bool] = {}
    tried = 0
    for order, allowed in _orders(atoms, tables):
        left = np.cumsum(size[order])[:-1]
        enough = allowed & (left >= least) & (left[-1:] + size[order[-1]] - left >= least)
        low_broken, high_broken = [], []
        for claim, (table, bound) in enumerate(zip(tables, bounds, strict=True)):
            low, high, zero = _broken(table[order], bound)
            low_broken.append(low)
            high_broken.append(high)
            for value in range(bound.n_secrets):
                for side, broken in (("low", low[:, value]), ("high", high[:, value])):
                    key = (claim, value, side)
                    blocked[key] = blocked.get(key, 0) + int((broken & enough).sum())
                    if side == "low" and (broken & enough).any():
                        zeros[key] = zeros.get(key, True) and bool(zero[broken & enough, value].all())
        low_any = np.any([each.any(axis=1) for each in low_broken], axis=0)
        high_any = np.any([each.any(axis=1) for each in high_broken], axis=0)
        if (enough & ~low_any & ~high_any).any():
            return None
        tried += int(enough.sum())
    if not tried:
        return None
    # Among those that forbid most, prefer a value that would be ruled out: no epsilon helps against that.
    claim, value, side = max(blocked, key=lambda key: (blocked[key], zeros.get(key, False)))
    return ForbiddenColumn(column, claim, value, side, zeros.get((claim, value, side), False))


def _table(code: Ints, secret: Ints, weight: Vector, atoms: int, n_secrets: int) -> Matrix:
    counts = np.bincount(code * n_secrets + secret, weight, atoms * n_secrets).astype(np.float64)
    return counts.reshape(atoms, n_secrets)


def _orders(atoms: ColumnAtoms, tables: Sequence[Matrix]) -> list[tuple[Ints, Mask]]:
    """Orders of the atoms along which they are cut, and where that is allowed."""
    if atoms.ordered:
        allowed = np.ones(atoms.size - 1, bool) if atoms.cuts is None else np.asarray(atoms.cuts)
        return [(np.arange(atoms.size), allowed)]
    everywhere = np.ones(atoms.size - 1, bool)
    orders = []
    for table in tables:
        share = table / np.maximum(table.sum(axis=1, keepdims=True), 1e-300)
        orders += [(np.argsort(share[:, value], kind="stable"), everywhere) for value in range(table.shape[1])]
    return orders


def _broken(table: Matrix, bound: SecretBound) -> tuple[Mask, Mask, Mask]:
    """For each cut along the order and each value: whether either side breaks the lower or the upper bound, or is 0."""
    left = np.cumsum(table, axis=0)[:-1]
    total = table.sum(axis=0)
    prior = total / total.sum()
    low = np.zeros(left.shape, bool)
    high, zero = low.copy(), low.copy()
    for side in (left, total - left):
        with np.errstate(divide="ignore", invalid="ignore"):
            lift = np.log(side / side.sum(axis=1, keepdims=True) / prior)
        low |= (lift < -bound.low) & bound.binding
        high |= (lift > bound.high) & bound.binding
        zero |= np.isneginf(lift) & bound.binding
    return low, high, zero
