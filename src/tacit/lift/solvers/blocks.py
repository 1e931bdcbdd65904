"""More values than one program can take: blocks of them side by side, or clusters that stand for many."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from threading import Lock
from typing import Final

import numpy as np

from tacit.lift.joint import Labels, Mask, Matrix, sums
from tacit.lift.solvers.columns import Budget, solve_columns
from tacit.lift.solvers.many import LearnedPrices, solve_many
from tacit.lift.solvers.master import entropies_of, weigh
from tacit.lift.solvers.mixture import Mixture
from tacit.lift.solvers.region import Region
from tacit.lift.solvers.subsets import covered_groups

# A value is dealt out in pieces of at most this many times the mean frequency of a value in its block, unless every
# block already has a piece.
_PIECES: Final = 2.0
# Groups of a block of more values are made in small pools: they are only where its program begins.
_ONE_POOL: Final = 100
# A block that took in others is solved up to this many times the usual size.
_LARGEST: Final = 4
# Widths of clusters to try, as a share of a lift, and the share of the room that they must leave.
_WIDTHS: Final = tuple(0.005 * 1.25**k for k in range(20))
_ROOM: Final = 0.5
_SAMPLE: Final = 20_000
# Safe values are mixed until they have this many times the room that risky values need, in every row.
_COVERED: Final = 1.5
_HAIR: Final = 1e-9


def solve_blocks(region: Region, groups: Labels, size: int, budget: Budget) -> Mixture:
    """Mechanisms for blocks of values, side by side: each block is made of whole groups, so that it is within bounds.

    Guarantees
    ----------
    It loses no more than the groups.
    """
    labels = np.unique(groups, return_inverse=True)[1]
    # Groups are dealt out, the large ones first, so that every block gets some of each kind.
    sizes = np.bincount(labels)
    block_of = np.empty(len(sizes), dtype=np.intp)
    block_of[np.argsort(-sizes, kind="stable")] = np.arange(len(sizes)) % max(1, -(-region.n // size))
    parts = []
    for number in np.unique(block_of):
        block = np.flatnonzero(block_of[labels] == number)
        part = region.take(block)
        plain = Mixture.of_groups(groups[block], part.marginal)
        mixed = None if part.safe.all() else solve_columns(part, groups[block], budget)
        best = plain if mixed is None or mixed.loss > plain.loss else mixed
        parts.append(replace(best, values=block[best.values]))
    return Mixture.side_by_side(parts)


def solve_shares(region: Region, size: int, budget: Budget) -> Mixture | None:
    """Blocks by `solve_columns`, their outputs weighed once more against one another: better, and fewer outputs."""
    blocks = _dealt(region, size)
    mixtures = [solve_columns(block.region, covered_groups(block.region), budget) for block in blocks]
    mixture = _side_by_side(blocks, mixtures)
    if mixture is None:
        return None
    columns = mixture.posteriors(region.n)
    answer = weigh(columns, entropies_of(columns), region.marginal)
    return mixture if answer is None else Mixture.of_columns(columns, answer.weights)


def solve_parts(region: Region, size: int, budget: Budget, *, most: int, threads: int | None = None) -> Mixture | None:
    """Blocks by `solve_many`, until they hold ``most`` values; the values of all further blocks are put in groups.

    Only risky values and the safe ones that cover them best are in blocks (`worth_mixing`); all others are released
    unchanged. Blocks are solved in waves, each as large as all before it together: the blocks of a wave side by side in
    threads, with the prices learned from those before it. None if there are no blocks.

    Guarantees
    ----------
    The answer does not depend on the number of threads.
    """
    mixed = np.flatnonzero(worth_mixing(region))
    blocks, learned = _dealt(region.take(mixed), size), LearnedPrices()
    pieces = np.cumsum([0, *(block.region.n for block in blocks)])
    # A value in pieces counts once, so that few frequent ones do not keep the others from being solved.
    before = pieces * (len(mixed) / max(1, pieces[-1]))

    def solve(number: int) -> tuple[Mixture, LearnedPrices]:
        part, teaches = blocks[number].region, LearnedPrices()
        with turn:
            groups = covered_groups(part, one_pool=_ONE_POOL)
            solved = before[number] < most and part.n <= _LARGEST * size and not part.safe.all()
            mixture = solve_many(part, groups, budget, learned=learned, teaches=teaches, turn=turn) if solved else None
            return Mixture.of_groups(groups, part.marginal) if mixture is None else mixture, teaches

    mixtures: list[Mixture] = []
    # One thread computes in Python at a time, while all others solve linear programs.
    turn = Lock()
    with ThreadPoolExecutor(max_workers=threads or _processors() + 1) as pool:
        while len(mixtures) < len(blocks):
            wave = range(len(mixtures), min(max(1, 2 * len(mixtures)), len(blocks)))
            for mixture, teaches in list(pool.map(solve, wave)):
                mixtures.append(mixture)
                learned.take_in(teaches)
    together = _side_by_side(blocks, mixtures)
    return None if together is None else _beside_unchanged(replace(together, values=mixed[together.values]), region)


def worth_mixing(region: Region) -> Mask:
    """The risky values, and in every row the safe ones with the most room, until they have more than is needed.

    Guarantees
    ----------
    All of them merged into one are within bounds if all values are: a safe value breaks no row.
    """
    rows, tops = region.inequalities()
    chosen = ~region.safe
    safe = np.flatnonzero(region.safe)
    for row, top in zip(rows, tops, strict=True):
        needed = float(region.marginal @ np.where(region.safe, 0.0, np.maximum(row - top, 0.0)))
        if needed > 0:
            order = safe[np.argsort(row[safe], kind="stable")]
            room = np.cumsum(region.marginal[order] * (top - row[order]))
            chosen[order[: int(np.searchsorted(room, _COVERED * needed)) + 1]] = True
    return np.asarray(chosen)


def _beside_unchanged(mixture: Mixture, region: Region) -> Mixture:
    """The mechanism with all values that are not in it released unchanged."""
    others = np.ones(region.n, dtype=np.bool_)
    others[mixture.values] = False
    unchanged = np.flatnonzero(others)
    if not len(unchanged):
        return mixture
    return Mixture.side_by_side([mixture, Mixture(unchanged, np.arange(len(unchanged)), region.marginal[unchanged])])


def _processors() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True, eq=False)
class DealtBlock:
    """Some of the values, each with the part of its frequency that falls to this block."""

    values: Labels
    region: Region


def _side_by_side(blocks: list[DealtBlock], mixtures: Sequence[Mixture | None]) -> Mixture | None:
    """The mechanism of all blocks; None if there are no blocks, or one of them has none."""
    parts = [
        replace(mixture, values=block.values[mixture.values])
        for block, mixture in zip(blocks, mixtures, strict=True)
        if mixture is not None
    ]
    return Mixture.side_by_side(parts) if parts and len(parts) == len(blocks) else None


def _dealt(region: Region, size: int) -> list[DealtBlock]:
    """Blocks of about ``size`` values, with a similar mix of leanings and each within bounds as a whole.

    A frequent value is dealt out in pieces, to several blocks: it needs more cover than one block has, or is cover for
    many. A block that is out of bounds as a whole, as it may be where few values are dealt out, is joined with the
    next one. No blocks if that does not help.
    """
    n_blocks = max(1, -(-region.n // size))
    times_mean = region.marginal * (n_blocks * size / float(region.marginal.sum()))
    copies = np.clip(np.ceil(times_mean / _PIECES), 1, n_blocks).astype(np.intp)
    lean = np.argmax(region.lifts, axis=0)
    order = np.lexsort((region.marginal, lean))
    pieces = np.repeat(order, copies[order])
    shares = region.marginal / copies
    blocks, waiting = [], np.zeros(0, dtype=np.intp)
    for first in range(n_blocks):
        waiting = np.concatenate([waiting, pieces[first::n_blocks]])
        values, times = np.unique(waiting, return_counts=True)
        part = replace(region.take(values), marginal=shares[values] * times)
        within = part.sums_excess(part.cells.sum(axis=1, keepdims=True), part.marginal.sum(keepdims=True))[0] <= 1
        if not within and first < n_blocks - 1:
            continue
        if not within:
            # Larger blocks are more alike.
            return _dealt(region, 2 * size) if n_blocks > 2 else []
        blocks.append(DealtBlock(values, part))
        waiting = waiting[:0]
    return blocks


def solve_clusters(region: Region, most: int, budget: Budget) -> Mixture | None:
    """A mechanism on clusters of values nearly alike, dealt out to the values; None if they would differ too much."""
    clusters = clustered(region, most)
    if clusters is None:
        return None
    labels, few = clusters
    mixture = solve_many(few, covered_groups(few), budget)
    return None if mixture is None else mixture.spread(labels, region.marginal)


def clustered(region: Region, most: int) -> tuple[Labels, Region] | None:
    """At most ``most`` clusters of values that are nearly alike, and bounds that allow for how these differ.

    None if that would leave the bounds less than `_ROOM` of their room.

    Guarantees
    ----------
    A mechanism on the clusters that is within the new bounds is within those of the region, whichever values of its
    clusters an output holds (`Mixture.spread`).
    """
    middle = np.where(region.low > 0, region.low, 1.0)[:, None]
    scaled = np.where(region.lifts < middle, region.lifts / middle - 1, np.log(np.maximum(region.lifts / middle, 1.0)))
    labels = _cells(scaled, most)
    if labels is None:
        return None
    n_clusters = int(labels.max()) + 1
    masses = sums(labels, region.marginal, n_clusters)
    lifts = np.array([sums(labels, row, n_clusters) for row in region.cells]) / masses
    # With l_x <= l + d (l + middle) for all values x of a cluster of lift l, the same holds of their mixtures.
    apart = (region.lifts - lifts[:, labels]) / (lifts[:, labels] + middle)
    up, down = apart.max(axis=1) * (1 + _HAIR), -apart.min(axis=1) * (1 + _HAIR)
    high = (region.high - up * middle[:, 0]) / (1 + up)
    low = np.where(region.low > 0, (region.low + down * middle[:, 0]) / (1 - down), 0.0)
    with np.errstate(divide="ignore"):
        thin = np.log(high) < _ROOM * np.log(region.high)
        thin |= (low > 0) & (np.log(low) > _ROOM * np.log(region.low))
    if thin.any():
        return None
    return labels, replace(region, marginal=masses, lifts=lifts, low=low, high=high)


def _cells(scaled: Matrix, most: int) -> Labels | None:
    """The cell of each column in the finest grid that has at most ``most`` cells in use; None if there is none."""
    # Cells are told apart by one number; should two share theirs, they become one cluster, and are measured as such.
    factors = np.random.default_rng(0).integers(1, 1 << 40, len(scaled))
    few = scaled[:, :: max(1, scaled.shape[1] // _SAMPLE)]
    for width in _WIDTHS:
        if len(np.unique(factors @ np.floor(few / width).astype(np.int64))) > most:
            continue
        labels = np.unique(factors @ np.floor(scaled / width).astype(np.int64), return_inverse=True)[1]
        if labels.max() < most:
            return np.asarray(labels)
    return None
