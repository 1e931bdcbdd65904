"""What a cut is worth to the reader: what it tells about its own column, and about the use."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.codes.search.frontier import Tally
from tacit.codes.search.records import GroupedRecords, Vector
from tacit.codes.tree import ColumnAtoms, Ints
from tacit.lift.joint import sums

# A column of more atoms counts in so many groups.
_GROUPS = 16
# Columns that tell nothing of the use still count so much.
_LEAST_WEIGHT = 0.02


def xlogx(values: Vector) -> Vector:
    """x log x, and 0 at 0."""
    return values * np.log(np.where(values > 0, values, 1.0))


def entropy(counts: Vector) -> float:
    """Entropy of counts, in nats."""
    total = counts.sum()
    return float(max((xlogx(np.array([total]))[0] - xlogx(counts).sum()) / total, 0.0)) if total > 0 else 0.0


def groups_of(counts: Vector) -> Ints:
    """The group of each atom of an ordered column: quantiles, in which a common atom stands alone."""
    if len(counts) <= _GROUPS:
        return np.arange(len(counts))
    middle = (np.cumsum(counts) - counts / 2) / max(counts.sum(), 1e-300)
    return np.unique(np.minimum((middle * _GROUPS).astype(np.int64), _GROUPS - 1), return_inverse=True)[1]


@dataclass(frozen=True, eq=False)
class Worth:
    """Weights of columns and of the use, per nat.

    Attributes
    ----------
    groups : tuple of arrays of int, or None
        For each ordered column the group of each atom, for what is told of it; None where each atom is its own.
    column : array of float
        What a nat about each column is worth.
    use : float
        What a nat about the use is worth.
    use_values : array of float
        The values of the use, in the order in which categories are put.
    """

    groups: tuple[Ints | None, ...]
    column: Vector
    use: float
    use_values: Vector

    @property
    def n_uses(self) -> int:
        """How many values the use has."""
        return len(self.use_values)

    def of(self, tally: Tally, column: int, at: Ints, left: Vector, right: Vector, whole: Vector) -> Vector:
        """What each cut tells, in weighted nats a record: cuts come after the pairs ``at`` of the tally."""
        with np.errstate(divide="ignore", invalid="ignore"):
            told = xlogx(whole) - xlogx(left) - xlogx(right)
            own = told
            groups = self.groups[column]
            if groups is not None:
                own = own - _inside_group(tally, groups[tally.atom], at)
            gain = self.column[column] * own
            if tally.use is not None and self.use:
                inside = tally.running(tally.use)[:, at]
                outside = tally.totals(tally.use)[:, tally.node[at]]
                mixed = (xlogx(inside) + xlogx(outside - inside) - xlogx(outside)).sum(axis=0)
                gain = gain + self.use * np.maximum(mixed + told, 0.0)
            return np.where(whole > 0, gain / whole, 0.0)


def _inside_group(tally: Tally, group: Ints, at: Ints) -> Vector:
    """What a cut through a group tells that does not count, since the group is one value for the reader."""
    new = np.concatenate([[True], (group[1:] != group[:-1]) | (tally.node[1:] != tally.node[:-1])])
    place = np.cumsum(new) - 1
    wholes = sums(place, tally.weight, int(place[-1]) + 1)
    before = np.cumsum(tally.weight)
    starts = np.flatnonzero(new)
    inside = before[at] - (before - tally.weight)[starts[place[at]]]
    whole = wholes[place[at]]
    rest = np.maximum(whole - inside, 0.0)
    return xlogx(whole) - xlogx(inside) - xlogx(rest)


def worth_of(
    records: GroupedRecords, columns: tuple[ColumnAtoms, ...], weights: Vector | None, use: Ints | None
) -> Worth:
    """Weights of columns from their entropies, what they tell of the use, and what the caller says."""
    groups, shares = [], np.zeros(len(columns))
    coarse = []
    for j, atoms in enumerate(columns):
        counts = sums(records.codes[:, j].astype(np.int64), records.weight, atoms.size)
        group = groups_of(counts) if atoms.ordered else np.arange(atoms.size)
        groups.append(group if atoms.ordered and atoms.size > _GROUPS else None)
        whole = entropy(sums(group, counts, atoms.size))
        shares[j] = 1 / whole if whole > 1e-9 else 0.0
        coarse.append(group)
    if weights is not None:
        shares = shares * weights
    if use is None:
        return Worth(tuple(groups), shares, 0.0, np.zeros(0))
    n_uses = int(use.max(initial=0)) + 1
    uses = sums(use, records.weight, n_uses)
    told = np.array(
        [_information(group[records.codes[:, j]], use, records.weight, n_uses) for j, group in enumerate(coarse)]
    )
    shares = shares * (told + _LEAST_WEIGHT)
    return Worth(tuple(groups), shares, 1 / max(entropy(uses), 1e-9), np.arange(n_uses, dtype=np.float64))


def _information(a: Ints, b: Ints, weight: Vector, n: int) -> float:
    """Mutual information of two labels, in nats."""
    joint = sums(a.astype(np.int64) * n + b, weight, (int(a.max(initial=0)) + 1) * n).reshape(-1, n)
    return entropy(joint.sum(axis=0)) + entropy(joint.sum(axis=1)) - entropy(joint.ravel())
