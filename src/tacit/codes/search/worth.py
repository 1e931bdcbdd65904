"""What a cut is worth to the reader: what it tells about its own column, about the others, and about the use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from tacit.codes.descent import Ints
from tacit.codes.search.frontier import Frontier, Tally
from tacit.codes.search.records import GroupedRecords
from tacit.codes.tree import ColumnAtoms
from tacit.lift import Mask, Matrix, Vector
from tacit.lift.joint import sums

# A column of more atoms counts by this many groups, or where that is more, by one for so many records and columns: the
# columns share the cells, and one that is told very finely takes them from the others.
_GROUPS, _RECORDS_PER_GROUP, _FEWEST_COLUMNS = 16, 10_000, 2
# Labels that are counted at once, so that many columns take few calls and little memory.
_AT_ONCE = 1_000_000
# A share of the use in an atom is drawn towards that of the table as if by this many records.
_DRAWN = 10.0
# What columns tell about each other, kept for records that are searched again under another bound.
_COUNTED: WeakKeyDictionary[GroupedRecords, tuple[tuple[Ints, ...], Matrix]] = WeakKeyDictionary()


class AroundNodes(NamedTuple):
    """What the nodes hold of all columns, whichever cut is tried.

    ``place`` has for each column the place of every group of records, by node and group of the column's atoms, in a
    table of all columns' groups (nodes x groups, the columns side by side from ``starts`` on); ``all_of`` is what is in
    each place, ``logs`` the sums of x log x of it for each node and column. ``free`` is half of how many groups of
    atoms a node has beyond the first: what chance tells about them, per record. ``weight`` is that of each node, and
    ``unit`` that of one of its records.
    """

    place: Ints
    starts: Ints
    all_of: Matrix
    logs: Matrix
    free: Matrix
    weight: Vector
    unit: Vector


@dataclass(frozen=True, eq=False)
class Worth:
    """What a nat about each column is worth. All that can be told about all columns is worth 1, and so is the use.

    Attributes
    ----------
    groups : tuple of arrays of int
        For each column the group of each atom; the column counts by these groups where another one is cut.
    whole : tuple of bool
        Whether each atom is its own group, so that every cut of the column tells all that it seems to.
    own, other : arrays of float
        What a nat about each column is worth where the column itself is cut, and where another one is.
    reach : array of float
        What a nat of each column tells about all columns, compared with what it tells about its own.
    use : tuple of arrays (uses x atoms)
        For each column the share of each use in each atom, scaled; empty without a use.
    """

    groups: tuple[Ints, ...]
    whole: tuple[bool, ...]
    own: Vector
    other: Vector
    reach: Vector
    use: tuple[Matrix, ...] = ()

    def of(self, tally: Tally, column: int, at: Ints, left: Vector, right: Vector) -> Vector:
        """What each cut tells about its column and the use, per record: cuts follow the pairs ``at`` of the tally."""
        entropy = xlogx(left + right) - xlogx(left) - xlogx(right)
        if not self.whole[column]:
            entropy = entropy - _inside_group(tally, self.groups[column][tally.atom], at)
        gain = self.own[column] * entropy
        if self.use:
            gain += _parted(tally, self.use[column].take(tally.atom, axis=1) * tally.weight, at, left, right)
        return np.asarray(gain / (left + right))

    def around(self, frontier: Frontier, node: Ints) -> AroundNodes:
        """What the nodes hold of all columns, whichever cut is tried."""
        sizes = np.array([int(groups.max()) + 1 for groups in self.groups])
        starts, width = np.cumsum(sizes) - sizes, int(sizes.sum())
        columns = zip(self.groups, frontier.codes, starts.tolist(), strict=True)
        place = np.stack([groups[codes] + start for groups, codes, start in columns]) + node * width
        weight = np.tile(frontier.weight, len(sizes))
        all_of = sums(place.ravel(), weight, len(frontier) * width).reshape(-1, width)
        free = (np.add.reduceat(all_of > 0, starts, axis=1, dtype=np.int64) - 1) / 2
        logs, whole = np.add.reduceat(xlogx(all_of), starts, axis=1), sums(node, frontier.weight, len(frontier))
        unit = whole / sums(node, frontier.records, len(frontier)) if frontier.weighted else np.ones(len(whole))
        return AroundNodes(place, starts, all_of, logs, free, whole, unit)

    def elsewhere(self, frontier: Frontier, node: Ints, around: AroundNodes, left: Mask, column: Ints) -> Vector:
        """What a cut of each node tells about the columns that it does not cut, minus chance, per record."""
        here, weight = np.flatnonzero(left), around.weight
        weights = frontier.weight[here]
        lefts = sums(node[here], weights, len(frontier))
        entropy = xlogx(weight) - xlogx(lefts) - xlogx(weight - lefts)
        place, all_of = around.place.take(here, axis=1), around.all_of
        left_of = sums(place.ravel(), np.tile(weights, len(place)), all_of.size).reshape(all_of.shape)
        apart = np.add.reduceat(xlogx(left_of) + xlogx(np.maximum(all_of - left_of, 0.0)), around.starts, axis=1)
        information = np.maximum(entropy[:, None] + apart - around.logs - around.free * around.unit[:, None], 0.0)
        information[column[:, None] == np.arange(len(self.other))] = 0.0
        return np.asarray((information * self.other).sum(axis=1) / np.maximum(weight, 1e-300))


def worth_of(
    records: GroupedRecords, columns: tuple[ColumnAtoms, ...], weights: Vector | None, use: Ints | None
) -> Worth:
    """What columns are worth: equal shares, or shares like the caller's weights; and the use, if there is one."""
    counts, most = _counts(records, columns), _most_groups(records)
    groups = _groups(counts, columns, most)
    entropies = [_entropy(sums(group, count, len(count))) for group, count in zip(groups, counts, strict=True)]
    full = [
        whole if atoms.ordered else _entropy(count)
        for atoms, count, whole in zip(columns, counts, entropies, strict=True)
    ]
    share = np.ones(len(columns)) if weights is None else np.asarray(weights, np.float64)
    share = share / max(float(share.sum()), 1e-300)
    own, other = share * _inverse(full), share * _inverse(entropies)
    return Worth(
        groups=groups,
        whole=tuple(not atoms.ordered or atoms.size <= most for atoms in columns),
        own=own,
        other=other,
        reach=_reach(records, groups, share, other),
        use=() if use is None else _use_shares(records, groups, use),
    )


def groups_of(records: GroupedRecords, columns: Sequence[ColumnAtoms]) -> tuple[Ints, ...]:
    """For each column the group of each atom."""
    return _groups(_counts(records, columns), columns, _most_groups(records))


def told_of_use(records: GroupedRecords, groups: Sequence[Ints], use: Ints) -> Vector:
    """What each column tells about the use by itself, in nats, less what chance would."""
    n_uses = int(use.max(initial=0)) + 1
    labels = (group[records.codes[:, j]] for j, group in enumerate(groups))
    return np.array([information(label, use, records.weight, n_uses) for label in labels])


def _counts(records: GroupedRecords, columns: Sequence[ColumnAtoms]) -> list[Vector]:
    codes, weight = records.without_secrets
    return [sums(codes[:, j].astype(np.int64), weight, atoms.size) for j, atoms in enumerate(columns)]


def _groups(counts: Sequence[Vector], columns: Sequence[ColumnAtoms], most: int) -> tuple[Ints, ...]:
    pairs = zip(counts, columns, strict=True)
    return tuple(_quantiles(count, most) if atoms.ordered else _commonest(count, most) for count, atoms in pairs)


def xlogx(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """x log x, and 0 at 0."""
    return np.asarray(values * np.log(np.where(values > 0, values, 1.0)))


def _entropy(counts: Vector) -> float:
    total = counts.sum()
    return float(max((xlogx(np.array([total]))[0] - xlogx(counts).sum()) / total, 0.0)) if total > 0 else 0.0


def _inverse(entropies: list[float]) -> Vector:
    return np.array([1 / whole if whole > 1e-9 else 0.0 for whole in entropies])


def _most_groups(records: GroupedRecords) -> int:
    columns: int = max(_FEWEST_COLUMNS, records.codes.shape[1])
    return max(_GROUPS, int(records.records.sum()) // (_RECORDS_PER_GROUP * columns))


def _quantiles(counts: Vector, most: int) -> Ints:
    """The group of each atom of an ordered column: a common atom stands alone, the rest are in quantiles of their own.

    So even where nearly all records have 0, it matters how much the others have.
    """
    if len(counts) <= most:
        return np.arange(len(counts))
    common = counts * most > counts.sum()
    rest = np.where(common, 0.0, counts)
    middle = (np.cumsum(rest) - rest / 2) / max(float(rest.sum()), 1e-300)
    quantile = np.minimum((middle * (most - common.sum())).astype(np.int64), most - 1)
    # A group is a run of neighbours: a common atom separates those on its sides.
    new = common | np.roll(common, 1) | (quantile != np.roll(quantile, 1))
    new[0] = False
    return np.cumsum(new)


def _commonest(counts: Vector, most: int) -> Ints:
    """The group of each category: the common ones stand alone, the rest together."""
    rank = np.empty(len(counts), np.int64)
    rank[np.argsort(-counts, kind="stable")] = np.arange(len(counts))
    return np.minimum(rank, most - 1)


def information(a: Ints, b: Ints, weight: Vector, n: int) -> float:
    """Mutual information of two labels in nats, less what chance would give."""
    joint = sums(a * n + b, weight, (int(a.max(initial=0)) + 1) * n).reshape(-1, n)
    one, two = joint.sum(axis=1), joint.sum(axis=0)
    chance = ((one > 0).sum() - 1) * ((two > 0).sum() - 1) / 2 / max(len(a), 1)
    return max(_entropy(one) + _entropy(two) - _entropy(joint.ravel()) - float(chance), 0.0)


def _reach(records: GroupedRecords, groups: tuple[Ints, ...], share: Vector, other: Vector) -> Vector:
    """What telling a column tells about all, as a multiple of what it tells about itself."""
    informations = _told_of_each_other(records, groups)
    return np.asarray(1 + informations @ other / np.maximum(share, 1e-9))


def _told_of_each_other(records: GroupedRecords, groups: tuple[Ints, ...]) -> Matrix:
    """What every two columns tell about each other: columns x columns, 0 for a column itself.

    In a table of many columns this takes longest, and no bound changes it, so it is counted once for the same records.
    """
    before, informations = _COUNTED.get(records, ((), np.zeros((0, 0))))
    if len(before) == len(groups) and all(map(np.array_equal, before, groups)):
        return informations
    codes, weight = records.without_secrets
    informations = _informations([group[codes[:, j]] for j, group in enumerate(groups)], weight, len(records.codes))
    _COUNTED[records] = groups, informations
    return informations


def _informations(labels: Sequence[Ints], weight: Vector, records: int) -> Matrix:
    """``information`` of every two of the labels, counted for one against many others at a time.

    ``records`` is how many groups of records there are, whatever the labels and weights were summed over.
    """
    sizes = np.array([int(label.max(initial=0)) + 1 for label in labels])
    many = max(_AT_ONCE // max(len(weight), 1), 1)
    matrix = np.zeros((len(labels), len(labels)))
    for first in range(0, len(labels), many):
        block = slice(first, first + many)
        starts = np.cumsum(sizes[block]) - sizes[block]
        width, n = int(sizes[block].sum()), len(starts)
        place, weights = np.stack(labels[block]) + starts[:, None], np.tile(weight, n)
        for j in range(first + 1, len(labels)):
            joint = sums((labels[j] * width + place).ravel(), weights, sizes[j] * width).reshape(-1, width)
            matrix[j, block] = _of_many(joint, starts, records)
    matrix = np.tril(matrix, -1)
    return matrix + matrix.T


def _of_many(joint: Matrix, starts: Ints, records: int) -> Vector:
    """Mutual information of the label in rows with each of those whose columns begin at ``starts``, less chance."""
    other = joint.sum(axis=0)
    one = joint[:, : starts[1]].sum(axis=1) if len(starts) > 1 else joint.sum(axis=1)
    total = max(float(one.sum()), 1e-300)
    present = np.add.reduceat((other > 0).astype(np.int64), starts)
    chance = ((one > 0).sum() - 1) * (present - 1) / 2 / max(records, 1)
    apart = xlogx(np.array([total])) - xlogx(one).sum() - np.add.reduceat(xlogx(other), starts)
    together = np.add.reduceat(xlogx(joint).sum(axis=0), starts)
    return np.asarray(np.maximum((apart + together) / total - chance, 0.0))


def _use_shares(records: GroupedRecords, groups: tuple[Ints, ...], use: Ints) -> tuple[Matrix, ...]:
    """The share of each use in each atom of each column, such that all columns' variances add up to 1."""
    n_uses, out, variance = int(use.max(initial=0)) + 1, [], 0.0
    uses = sums(use, records.weight, n_uses)
    uses = uses / max(float(uses.sum()), 1e-300)
    for j, group in enumerate(groups):
        label = group[records.codes[:, j]]
        counts = sums(use * len(group) + label, records.weight, n_uses * len(group)).reshape(n_uses, len(group))
        weight = counts.sum(axis=0)
        shares = (counts + _DRAWN * uses[:, None]) / (weight + _DRAWN) - uses[:, None]
        variance += float((shares**2 @ weight).sum())
        out.append(shares.take(group, axis=1))
    scale = np.sqrt(max(float(records.weight.sum()), 1e-300) / variance) if variance > 0 else 0.0
    return tuple(shares * scale for shares in out)


def _parted(tally: Tally, rows: Matrix, at: Ints, left: Vector, right: Vector) -> Vector:
    """How well cuts separate the sums in ``rows``: the variance between both sides, times their weight."""
    inside, all_of = tally.running(rows).take(at, axis=1), tally.totals(rows).take(tally.node[at], axis=1)
    # Equal to inside^2 / left + outside^2 / right - all^2 / (left + right), without its cancellation.
    between: Vector = ((inside * right - (all_of - inside) * left) ** 2).sum(axis=0)
    return between / (left * right * (left + right))


def _inside_group(tally: Tally, group: Ints, at: Ints) -> Vector:
    """What a cut tells inside a group, which does not count, since the group is one value for the reader."""
    new = np.concatenate([[True], (group[1:] != group[:-1]) | (tally.node[1:] != tally.node[:-1])])
    place, starts = np.cumsum(new) - 1, np.flatnonzero(new)
    before = np.cumsum(tally.weight)
    inside = before[at] - (before - tally.weight)[starts[place[at]]]
    all_of = sums(place, tally.weight, len(starts))[place[at]]
    return xlogx(all_of) - xlogx(inside) - xlogx(np.maximum(all_of - inside, 0.0))
