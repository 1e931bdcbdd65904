"""What the secrets of one claim weigh in groups of records: pair by pair, or as a table where most pairs occur."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tacit.codes.descent import Ints
from tacit.lift import Matrix, Vector
from tacit.lift.joint import sums

# Where a table would have at most this many cells for each pair that occurs, it is added up sooner than the pairs.
_CELLS_PER_PAIR = 2


@dataclass(frozen=True, eq=False)
class SecretWeights:
    """An entry for each secret that is counted in a group.

    Attributes
    ----------
    group, label : arrays of int
        Of each entry: its group, and the place of its secret among those that are counted.
    weight : array of float
    """

    group: Ints
    label: Ints
    weight: Vector

    def by_label(self, place: Ints, n: int, labels: int) -> Matrix:
        """What each label weighs in each of ``n`` places (labels x places); ``place`` is that of each group."""
        return sums(self.label * n + place[self.group], self.weight, labels * n).reshape(labels, n)

    def moved(self, groups: Ints, n: int) -> SecretWeights:
        """The entries of these groups out of ``n``, in their new order."""
        place = np.full(n, -1)
        place[groups] = np.arange(len(groups))
        group = place[self.group]
        if len(groups) == n:
            return replace(self, group=group)
        some = np.flatnonzero(group >= 0)
        return SecretWeights(group[some], self.label[some], self.weight[some])

    def times(self, times: int, groups: int) -> SecretWeights:
        """The entries so many times, each time for ``groups`` groups of their own."""
        group = np.tile(self.group, times) + np.repeat(np.arange(times) * groups, len(self.group))
        return SecretWeights(group, np.tile(self.label, times), np.tile(self.weight, times))


@dataclass(frozen=True, eq=False)
class SecretTable:
    """The same as :class:`SecretWeights`, with a row for each label and a column for each group."""

    table: Matrix

    def by_label(self, place: Ints, n: int, labels: int) -> Matrix:
        """What each label weighs in each of ``n`` places (labels x places); ``place`` is that of each group."""
        out = np.empty((labels, n))
        for row, weight in zip(out, self.table, strict=True):
            row[:] = sums(place, weight, n)
        return out

    def moved(self, groups: Ints, n: int) -> SecretTable:
        """The columns of these groups, in their new order."""
        return SecretTable(self.table.take(groups, axis=1))

    def times(self, times: int, groups: int) -> SecretTable:
        """The columns so many times, each time for ``groups`` groups of their own."""
        return SecretTable(np.tile(self.table, (1, times)))


def weights_of(
    group: Ints, label: Ints, weight: Vector, shape: tuple[int, int], *, whole: bool
) -> SecretWeights | SecretTable:
    """What labels weigh in groups (labels x groups), without those of a label beyond them and what weighs nothing.

    ``whole`` says that weights are numbers of records, whose sums do not depend on their order.
    """
    some = np.flatnonzero((label < shape[0]) & (weight > 0))
    entries = SecretWeights(group[some], label[some].astype(np.int64), weight[some])
    if whole and 0 < shape[0] * shape[1] <= _CELLS_PER_PAIR * len(some):
        return SecretTable(entries.by_label(np.arange(shape[1]), shape[1], shape[0]))
    return entries
