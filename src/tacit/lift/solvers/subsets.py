"""Subset merging: several groups of values, each released as one and each within bounds."""

from __future__ import annotations

import numpy as np

from tacit.lift.joint import Labels, Mask, Matrix, Vector, sums as add_up
from tacit.lift.solvers.region import Region
from tacit.lift.tolerances import TOLERANCE

# Size of the small pools from which groups are completed, into which larger pools are dealt out.
_POOL = 48
# Up to this many values one pool holds all.
_ONE_POOL = 600


def merge_subsets(region: Region, merged: Mask, *, one_pool: int = _ONE_POOL) -> Labels:
    """Split a set of values into groups within bounds; every other value is a group of its own.

    Each group starts from the riskiest value left and takes in the value that brings it closest to its bounds, or, if
    some bring it within them, the one that loses least. More values than ``one_pool`` are dealt out into small pools
    first, which is quicker.

    Guarantees
    ----------
    If the set merged into one is within bounds, or all values are, every group of the result is; and it loses no more
    than merging the set into one.
    """
    labels = np.arange(region.n)
    members = np.flatnonzero(merged)
    if not len(members):
        return labels
    cells, masses = region.cells[:, members], region.marginal[members]
    groups = np.arange(len(members))
    while True:
        dealt = _deal(cells, masses, one_pool)
        step, done = _complete(region, cells, masses, dealt)
        groups = step[groups]
        n_groups = int(step.max()) + 1
        cells = np.array([add_up(step, row, n_groups) for row in cells])
        masses = add_up(step, masses, n_groups)
        if done.all() or n_groups == 1:
            break
        # Groups that could not be completed go to another round; the last one has a single pool of everything.
        if n_groups <= one_pool or (~done).sum() <= 1 or n_groups == len(step):
            groups = _absorb(region, cells, masses, done)[groups]
            break
    first = np.full(int(groups.max()) + 1, -1)
    first[groups[::-1]] = members[::-1]
    labels[members] = first[groups]
    return labels


def covered_groups(region: Region, *, one_pool: int = _ONE_POOL) -> Labels:
    """Groups, each within bounds, of the values that are not, together with others that hide them."""
    return merge_subsets(region, cover_set(region, ~region.safe), one_pool=one_pool)


def _deal(cells: Matrix, masses: Vector, one_pool: int) -> Labels:
    """The pool of each value: sorted by the way they lean and dealt out like cards."""
    n = len(masses)
    if n <= one_pool:
        return np.zeros(n, dtype=np.intp)
    lean = np.argmax(cells / masses, axis=0) + cells.max(axis=0) / masses / 1e3
    pools = np.empty(n, dtype=np.intp)
    pools[np.argsort(lean)] = np.arange(n) % (n // _POOL)
    return pools


def _complete(region: Region, cells: Matrix, masses: Vector, pools: Labels) -> tuple[Labels, Mask]:
    """Form groups in all pools at once; labels of the groups, and which of them are within bounds."""
    n_pools = int(pools.max()) + 1
    size = int(np.bincount(pools).max())
    order = np.argsort(pools, kind="stable")
    place = np.arange(len(pools)) - np.searchsorted(pools[order], np.arange(n_pools))[pools[order]]
    table = np.zeros((len(cells), n_pools, size))
    weight = np.zeros((n_pools, size))
    table[:, pools[order], place], weight[pools[order], place] = cells[:, order], masses[order]
    free = weight > 0
    worst = np.where(free, _excess(region, table, np.where(free, weight, 1.0)), -np.inf)
    label = np.full((n_pools, size), -1)
    done: list[bool] = []
    current = np.full(n_pools, -1)
    sums, mass = np.zeros((len(cells), n_pools)), np.zeros(n_pools)
    every = np.arange(n_pools)
    while True:
        # Pools between two groups begin one with their riskiest value; the others go on with theirs.
        scores = np.where(free, -worst, np.inf)
        going = current >= 0
        if going.any():
            joined = weight[going] + mass[going, None]
            excess = _excess(region, table[:, going] + sums[:, going, None], joined)
            # Within bounds, take the lightest; outside, the one that comes closest.
            good = np.where(excess <= 1 + TOLERANCE, weight[going] - 2.0, excess)
            scores[going] = np.where(free[going], good, np.inf)
        chosen = np.argmin(scores, axis=1)
        active = np.isfinite(scores[every, chosen])
        if not active.any():
            break
        begins = active & ~going
        current[begins] = len(done) + np.arange(int(begins.sum()))
        done.extend([False] * int(begins.sum()))
        at = every[active], chosen[active]
        label[at], free[at] = current[active], False
        sums[:, active] += table[:, at[0], at[1]]
        mass[active] += weight[at]
        ready = active.copy()
        ready[active] = region.sums_excess(sums[:, active], mass[active]) <= 1 + TOLERANCE
        for group in current[ready]:
            done[group] = True
        current[ready] = -1
        sums[:, ready], mass[ready] = 0.0, 0.0
    labels = np.empty(len(pools), dtype=np.intp)
    labels[order] = label[pools[order], place]
    return labels, np.array(done)


def _excess(region: Region, cells: Matrix, masses: Matrix) -> Matrix:
    shape = masses.shape
    excess = region.sums_excess(cells.reshape(len(cells), -1), masses.ravel()).reshape(shape)
    # A value that rules a secret out is infinitely far out of bounds, but can still be taken in.
    return np.asarray(np.minimum(excess, 1e300))


def _absorb(region: Region, cells: Matrix, masses: Vector, done: Mask) -> Labels:
    """Merge what is out of bounds into one and add groups to it, the most helpful first, until it is within."""
    merged = _grown(region, cells, masses, ~done, most=len(masses), light=True)
    labels = np.where(merged, int(np.argmax(merged)), np.arange(len(masses)))
    return np.asarray(np.unique(labels, return_inverse=True)[1])


def cover_set(region: Region, merged: Mask, *, most: int = 400) -> Mask:
    """A set of values with others added, the most helpful first, until it is within bounds as one.

    Guarantees
    ----------
    The result holds the set and is within bounds, at worst as the set of all values.
    """
    return _grown(region, region.cells, region.marginal, merged, most=most, light=False)


def _grown(region: Region, cells: Matrix, masses: Vector, merged: Mask, *, most: int, light: bool) -> Mask:
    """The set with others added until it is within bounds as one; all values after ``most`` steps.

    Each step takes the one that comes closest to the bounds; with ``light``, the lightest of those that come within.
    """
    chosen = merged.copy()
    sums, mass = cells[:, chosen].sum(axis=1), float(masses[chosen].sum())
    for _ in range(most):
        others = np.flatnonzero(~chosen)
        within = mass == 0 or region.sums_excess(sums[:, None], np.array([mass]))[0] <= 1 + TOLERANCE
        if within or not len(others):
            return chosen
        excess = region.sums_excess(sums[:, None] + cells[:, others], mass + masses[others])
        score = np.where(excess <= 1 + TOLERANCE, masses[others] - 2.0, excess) if light else excess
        best = others[int(np.argmin(score))]
        chosen[best] = True
        sums, mass = sums + cells[:, best], mass + float(masses[best])
    return np.ones_like(chosen)
