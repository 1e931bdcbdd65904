"""One probability of error for a whole tree of questions: what the questions that pass do not use goes to the others.

A tree of cells asks at each inner node: are all the children within bounds? Such a *split* can fail on its own, and
the others need not pay for it in full.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from tacit.errors import ArgumentError
from tacit.lift.joint import Labels, Mask, Vector


@dataclass(frozen=True, eq=False)
class Nesting:
    """A tree as the parents of its nodes: -1 for node 0, the root, and every other node after its parent.

    ``inner`` are the nodes with children; ``levels`` the nodes by their distance from the root.
    """

    parent: Labels
    inner: Mask = field(init=False)
    levels: tuple[Labels, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        parent = np.asarray(self.parent)
        if parent.ndim != 1 or len(parent) == 0 or parent.dtype.kind not in "iu" or parent[0] != -1:
            raise ArgumentError("parent must hold the number of each node's parent, -1 for the first, the root")
        if not ((parent[1:] >= 0) & (parent[1:] < np.arange(1, len(parent)))).all():
            raise ArgumentError("every node but the root must come after its parent")
        depth = np.zeros(len(parent), dtype=np.intp)
        for node in range(1, len(parent)):
            depth[node] = depth[parent[node]] + 1
        order = np.argsort(depth, kind="stable")
        levels = np.split(order, np.flatnonzero(np.diff(depth[order])) + 1)
        inner = np.zeros(len(parent), dtype=np.bool_)
        inner[parent[1:]] = True
        for name, value in (("parent", parent.astype(np.intp)), ("inner", inner), ("levels", tuple(levels))):
            object.__setattr__(self, name, value)

    def __len__(self) -> int:
        return len(self.parent)

    def worst_child(self, values: Vector) -> Vector:
        """The largest value among the children of each node; -inf without children."""
        worst = np.full(len(self), -np.inf)
        np.maximum.at(worst, self.parent[1:], values[1:])
        return worst

    def heaviest(self, weights: Vector) -> float:
        """The largest total weight of nodes of which none lies below another."""
        best = np.zeros(len(self))
        for level in reversed(self.levels):
            best[level] = np.maximum(best[level], weights[level])
            if level[0] > 0:
                np.add.at(best, self.parent[level], best[level])
        return float(best[0])

    def reached(self, splits: Mask) -> Mask:
        """The splits all of whose ancestors are splits, too."""
        result = np.array(splits & self.inner)
        for level in self.levels[1:]:
            result[level] &= result[self.parent[level]]
        return result

    def frontier(self, splits: Mask) -> Labels:
        """The nodes that are left where these are split (a set as `reached` gives it)."""
        above = np.ones(len(self), dtype=np.bool_)
        above[1:] = splits[self.parent[1:]]
        return np.flatnonzero(above & ~splits)


@dataclass(frozen=True, eq=False)
class ProvedSplits:
    """The splits that pass, ancestors included; ``level`` is the level at which each was tested in the end."""

    splits: Mask
    level: Vector


def first_levels(tree: Nesting, weights: Vector, *, beta: float) -> Vector:
    """The level at which each split is tested at first; it can only grow."""
    return np.asarray(beta * weights / max(tree.heaviest(weights), np.finfo(np.float64).tiny))


def proved_splits(tree: Nesting, p_values: Vector, weights: Vector, *, beta: float) -> ProvedSplits:
    """The splits that are proved, by Holm's procedure with weights on a tree.

    Parameters
    ----------
    tree : Nesting
    p_values : array, one for each node
        P-values of "the split of this node is wrong".
    weights : array, one for each node
        What each split is worth; 0 for one that is not asked about, leaves included.
    beta : float
        The probability with which any of the splits given may be wrong.

    Guarantees
    ----------
    If the weights do not depend on the sample, and each p-value by itself is at most u with probability at most u
    where its split is wrong, for every u, then a wrong split is among those given with probability at most beta,
    however the p-values depend on each other.

    Proof. Let V be the wrong splits with no wrong one above them, w(V) their weight. They lie on different branches.
    With probability at least 1 - beta every v in V has p_v > beta w_v / w(V) (the sum of these levels is beta). Then
    let W be any number of at least w(V): V is among the splits that fail at the levels beta w / W, so the heaviest
    failing ones that lie on different branches weigh at least w(V), too. The procedure starts with the heaviest of
    all, and goes on with the heaviest that fail until nothing changes: W never falls below w(V). So no split of V
    passes at the end, and nothing below one is reached.
    """
    candidates = tree.inner & (weights > 0)
    weights = np.where(candidates, weights, 0.0)
    level = first_levels(tree, weights, beta=beta)
    before = np.inf
    while True:
        failing = tree.heaviest(np.where(p_values > level, weights, 0.0))
        if failing == 0 or failing >= before:
            break
        before, level = failing, np.minimum(beta * weights / failing, beta)
    return ProvedSplits(tree.reached(candidates & (p_values <= level)), level)
