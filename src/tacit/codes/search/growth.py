"""A tree that grows: cuts are taken for many nodes at once, in any order."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tacit.codes.descent import Ints
from tacit.codes.search.cuts import BestCuts, CutRules, best_cuts
from tacit.codes.search.frontier import Frontier
from tacit.codes.tree import CellTree
from tacit.lift import Mask


class Growth:
    """The nodes so far, in the order in which they were made; of several trees, where they are grown at once."""

    def __init__(self, sizes: Sequence[int]) -> None:
        self.sizes = np.asarray(sizes, np.int64)
        self.nodes = 1
        self.known = np.zeros(1, np.int64)
        self._cuts: list[tuple[Ints, Ints, Ints, Ints]] = []
        self._sets: list[tuple[Ints, Mask]] = []
        # How many trees there are.
        self._times = 1

    @classmethod
    def of(cls, tree: CellTree, times: int = 1) -> Growth:
        """A tree to grow on, or so many of it: the nodes of each follow those of the one before."""
        growth = cls(tree.sizes.tolist())
        inner = np.flatnonzero(tree.column >= 0)
        growth.nodes, growth.known, growth._times = len(tree) * times, tree.known, times
        for first in range(0, growth.nodes, len(tree)):
            growth._cuts.append((inner + first, tree.column[inner], tree.below[inner], tree.children[inner] + first))
            by_sets = inner[tree.below[inner] < 0].tolist()
            growth._sets += [(np.array([node + first]), tree.left(node)[None]) for node in by_sets]
        return growth

    def grow(self, frontier: Frontier, rules: CutRules) -> None:
        """Cut the nodes of the frontier, then their children, until none can be cut."""
        waiting = [frontier]
        while waiting:
            for chunk in waiting.pop().enough(2 * rules.least).chunks():
                best = best_cuts(chunk, rules)
                if best.has_cut.any():
                    waiting.append(self.cut(chunk, best, best.has_cut))

    def cut(self, frontier: Frontier, best: BestCuts, chosen: Mask) -> Frontier:
        """Cut the chosen nodes; the frontier of their children."""
        home = self.nodes + np.arange(2 * int(chosen.sum()))
        self.nodes += len(home)
        self._cuts.append((frontier.home[chosen], best.column[chosen], best.below[chosen], home.reshape(-1, 2)))
        for nodes, sets in best.sets():
            self._sets.append((frontier.home[nodes[chosen[nodes]]], sets[chosen[nodes]]))
        return frontier.split(chosen, best.left(frontier, frontier.node()), home)

    def trees(self) -> list[CellTree]:
        """Each of the trees that were grown at once, as if it had been grown alone."""
        owner = np.zeros(self.nodes, np.int64)
        first = self.nodes - 2 * sum(len(home) for home, *_ in self._cuts[self._times :])
        owner[:first] = np.arange(first) // (first // self._times)
        for home, _, _, kids in self._cuts[self._times :]:
            owner[kids] = owner[home][:, None]
        return [self._owned(owner == each).tree() for each in range(self._times)]

    def _owned(self, nodes: Mask) -> Growth:
        """The growth of some of the nodes, which have no cut in common with the others."""
        alone, number = Growth(self.sizes.tolist()), np.cumsum(nodes) - 1
        alone.nodes, alone.known = int(nodes.sum()), self.known
        for home, columns, belows, kids in self._cuts:
            own = nodes[home]
            alone._cuts.append((number[home[own]], columns[own], belows[own], number[kids[own]]))
        alone._sets = [(number[home[nodes[home]]], sets[nodes[home]]) for home, sets in self._sets]
        return alone

    def tree(self) -> CellTree:
        """The tree as it is now."""
        column, below = np.full(self.nodes, -1), np.full(self.nodes, -1)
        children, set_start = np.full((self.nodes, 2), -1), np.full(self.nodes, -1)
        for home, columns, belows, kids in self._cuts:
            column[home], below[home], children[home] = columns, belows, kids
        start = 0
        for home, sets in self._sets:
            set_start[home] = start + sets.shape[1] * np.arange(len(home))
            start += sets.size
        flat = np.concatenate([np.zeros(0, bool), *(sets.ravel() for _, sets in self._sets)])
        known = np.zeros(self.nodes, bool)
        known[self.known] = True
        return CellTree.linked(self.sizes, column, below, children, set_start, flat, known)
