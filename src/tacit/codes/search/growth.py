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
    """The nodes so far, in the order in which they were made."""

    def __init__(self, sizes: Sequence[int]) -> None:
        self.sizes = np.asarray(sizes, np.int64)
        self.nodes = 1
        self.known = np.zeros(1, np.int64)
        self._cuts: list[tuple[Ints, Ints, Ints, Ints]] = []
        self._sets: list[tuple[Ints, Mask]] = []

    @classmethod
    def of(cls, tree: CellTree) -> Growth:
        """A tree to grow on."""
        growth = cls(tree.sizes.tolist())
        inner = np.flatnonzero(tree.column >= 0)
        growth.nodes, growth.known = len(tree), tree.known
        growth._cuts = [(inner, tree.column[inner], tree.below[inner], tree.children[inner])]
        growth._sets = [(np.array([node]), tree.left(node)[None]) for node in inner[tree.below[inner] < 0].tolist()]
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
