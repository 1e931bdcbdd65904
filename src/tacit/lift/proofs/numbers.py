"""A secret that is a number, proved for every threshold at once in the cells of a tree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from tacit.errors import ArgumentError
from tacit.lift.joint import Labels, Vector, frozen
from tacit.lift.measures import sides
from tacit.lift.proofs.beyond import lower, tail, upper
from tacit.lift.proofs.counted import CountedClaim
from tacit.lift.proofs.recycling import Nesting
from tacit.lift.proofs.thresholds import Everyone, checked_floor, checked_records, outlook_of, threshold_places

# Share of a test's level for the limit of everyone's share below a threshold, and again for which thresholds count.
_ASIDE: Final = 0.05
# Steps of the thresholds at which the part that chooses foresees what can be proved.
_FORESEEN: Final = 4


@dataclass(frozen=True, eq=False)
class ThresholdClaim:
    """-low <= log-lift <= high for every threshold of a number, in the cells of a tree.

    A claim as `tacit.lift.proofs.cells.NodeClaim` describes it. The events are "at most t" and "more than t" for every
    t for which they hold at least ``floor`` of the population.

    Attributes
    ----------
    parent : array of int
        The tree, as for `certified_cells`.
    design_values, design_nodes, test_values, test_nodes : arrays
        The number and the leaf of every record that chooses, and of every record that proves.
    low, high, floor : float

    Guarantees
    ----------
    The p-value of a node at which one of those events breaks a bound is at most u with probability at most u. There is
    one fixed t at which it does. Each threshold is tested, and all must pass: so only the test at that t has to be
    right, and nothing is paid for the number of thresholds, whereas a band for the whole distribution would be wider.
    The tests change only where a record lies, so finitely many cover all. At t: a binomial tail for the cell, at the
    bound times a limit of everyone's share, which may be wrong with a twentieth of the level; another twentieth for t
    being left out because everyone's share seems to be below ``floor``. Both are added to the p-value.
    """

    parent: Labels = field(repr=False)
    design_values: Vector = field(repr=False)
    design_nodes: Labels = field(repr=False)
    test_values: Vector = field(repr=False)
    test_nodes: Labels = field(repr=False)
    low: float
    high: float
    floor: float = 0.1

    def __post_init__(self) -> None:
        sides(0.0, epsilon_low=self.low, epsilon_high=self.high)
        checked_floor(self.floor)
        tree = Nesting(np.asarray(self.parent))
        for part in ("design", "test"):
            numbers, nodes, _ = checked_records(getattr(self, f"{part}_values"), getattr(self, f"{part}_nodes"), None)
            if nodes.max() >= len(tree) or tree.inner[nodes].any():
                raise ArgumentError("every record must lie in a leaf of the tree")
            object.__setattr__(self, f"{part}_values", frozen(numbers))
            object.__setattr__(self, f"{part}_nodes", frozen(nodes))
        object.__setattr__(self, "parent", frozen(tree.parent))

    def sizes(self) -> tuple[Vector, Vector]:
        """See `tacit.lift.proofs.cells.NodeClaim`."""
        tree = Nesting(self.parent)
        design, test = (_upwards(tree, nodes, np.ones(len(nodes))) for nodes in (self.design_nodes, self.test_nodes))
        return design, test

    def chances(self, tree: Nesting, base: Labels, levels: Vector) -> Vector:
        """See `tacit.lift.proofs.cells.NodeClaim`: the least chance over a few thresholds."""
        distinct, counts = np.unique(self.design_values, return_counts=True)
        below, result = np.cumsum(counts) / counts.sum(), np.ones(len(tree))
        whole, to_prove = self.sizes()
        for at in threshold_places(counts, floor=self.floor, steps=_FORESEEN):
            inside = _upwards(tree, self.design_nodes, (self.design_values <= distinct[at]).astype(np.float64))
            design = np.stack([inside, whole - inside], axis=1)
            test = np.stack([np.zeros(len(tree)), to_prove], axis=1)
            bounded = np.array([below[at], 1 - below[at]]) >= self.floor
            claim = CountedClaim(design, test, self.low, self.high, bounded)
            result = np.minimum(result, claim.chances(tree, base, levels))
        return result

    def p_values(self, base: Labels, levels: Vector, *, beta: float) -> Vector:
        """See `tacit.lift.proofs.cells.NodeClaim`."""
        tree = Nesting(self.parent)
        _refuse_parts(base)
        aside, size = _ASIDE * np.minimum(levels, beta), self.sizes()[1]
        result = np.where(size > 0, 0.0, 1.0)
        for node, own, whole, total, up in self._tests(tree, float(aside.min())):
            factor = np.exp(self.high if up else -self.low)
            limit = lower(whole, total, aside[node]) if up else upper(whole, total, aside[node])
            np.maximum.at(result, node, np.minimum(tail(own, size[node], factor * limit, up=up) + 2 * aside[node], 1.0))
        result[0] = 0.0
        return result

    def limits(self, nodes: Labels, base: Labels, *, beta: float) -> tuple[Vector, Vector]:
        """See `tacit.lift.proofs.cells.NodeClaim`."""
        tree = Nesting(self.parent)
        _refuse_parts(base)
        size, aside, rest = self.sizes()[1], _ASIDE * beta, (1 - 2 * _ASIDE) * beta
        low, high = np.zeros(len(tree)), np.zeros(len(tree))
        for node, own, whole, total, up in self._tests(tree, aside):
            with np.errstate(divide="ignore"):
                if up:
                    np.maximum.at(high, node, np.log(upper(own, size[node], rest) / lower(whole, total, aside)))
                else:
                    np.maximum.at(low, node, np.log(upper(whole, total, aside) / lower(own, size[node], rest)))
        low[0] = high[0] = 0.0
        return np.minimum(low[nodes], self.low), np.minimum(high[nodes], self.high)

    def _tests(self, tree: Nesting, aside: float) -> Iterator[tuple[Labels, Vector, Vector, float, bool]]:
        """Every test: its node, the node's and everyone's records in the event, all records, and the side."""
        ones = np.ones(len(self.test_values))
        for signed in (self.test_values, -self.test_values):
            everyone = Everyone.of(signed, ones)
            patterns = np.concatenate([[0.0], everyone.upto])
            # The first pattern that may, by its upper limit, hold ``floor`` of the population.
            start = patterns[np.argmax(upper(patterns, everyone.total, aside) >= self.floor)]
            current = np.array(self.test_nodes)
            for level in reversed(tree.levels):
                here = np.flatnonzero(np.isin(current, level))
                outlook = outlook_of(signed[here], current[here], ones[here], len(tree), everyone, float(start))
                for (node, own, whole), up in ((outlook.highest, True), (outlook.lowest, False)):
                    if np.isfinite(self.high if up else self.low):
                        yield node, own, whole, everyone.total, up
                if level[0] > 0:
                    current[here] = tree.parent[current[here]]


def _upwards(tree: Nesting, nodes: Labels, weight: Vector) -> Vector:
    """The weight at every node, that of its children added."""
    total = np.bincount(nodes, weight, minlength=len(tree)).astype(np.float64)
    for level in reversed(tree.levels[1:]):
        np.add.at(total, tree.parent[level], total[level])
    return total


def _refuse_parts(base: Labels) -> None:
    if base.any():
        raise ArgumentError("thresholds of a number are proved beside everyone's, not inside known parts")
