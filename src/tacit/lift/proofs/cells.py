"""Cells proved for the people that the records were drawn from: chosen on one part of the records, proved on the other.

A tree of cells, grown on the first part, contains many coarser codes. The one wanted is the finest that the second
part proves to be within bounds. Every inner node is a question: are all its children within bounds? Asking about many
children, secrets and sides costs no more (they all must pass, see `tacit.lift.proofs.certificates`); and what
questions on different branches cost together is divided, and handed on, by `tacit.lift.proofs.recycling`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

import numpy as np
from numpy.typing import ArrayLike

from tacit.errors import ArgumentError
from tacit.lift.joint import Labels, Matrix, Vector, frozen
from tacit.lift.measures import p_log_p
from tacit.lift.proofs.intervals import checked_beta
from tacit.lift.proofs.recycling import Nesting, first_levels, proved_splits
from tacit.lift.rounding import confident

# Roughly the share of the questions' weight left once the first have passed; used to foresee the levels.
_LEFT: Final = 0.5


class NodeClaim(Protocol):
    """What is claimed about every cell, and what the two parts of the records say about it at each node of a tree."""

    def sizes(self) -> tuple[Vector, Vector]:
        """Records of every node in the part that chooses and in the part that proves."""
        ...

    def chances(self, tree: Nesting, base: Labels, levels: Vector) -> Vector:
        """About how likely each node is to pass at its level, judging by the first part only."""
        ...

    def p_values(self, base: Labels, levels: Vector, *, beta: float) -> Vector:
        """P-values of "this node breaks the claim", by the second part, for levels of at least these."""
        ...

    def limits(self, nodes: Labels, base: Labels, *, beta: float) -> tuple[Vector, Vector]:
        """Upper limits of -log-lift and log-lift of these nodes, each by itself, and at most what is claimed."""
        ...


@dataclass(frozen=True, eq=False)
class CertifiedCells:
    """The finest cells of a tree that a part of the records proves to be within bounds.

    Attributes
    ----------
    cells : array of int
        The nodes that are released: every record lies in exactly one. They prove any coarser code of the tree as well.
    low, high : arrays, cells x claims
        Upper limits of -log-lift and of log-lift in each cell. Together they are at most the bounds, with probability
        at least 1 - beta; where they are less, each by itself is right with that probability.
    beta : float
        The probability with which the claim may be false.
    spent : float
        The error spent on these records: ``beta``, or 0 if nothing was asked of them.
    questions, passed : int
        Splits that were asked about, and how many of them passed.
    level : float
        The smallest level at which a split had to pass, and did; beta if none was asked.
    records_to_choose, records_to_prove : int
        Sizes of the two parts.
    entropy : float
        That of the cells, in nats, over both parts.
    """

    cells: Labels = field(repr=False)
    low: Matrix = field(repr=False)
    high: Matrix = field(repr=False)
    beta: float
    spent: float
    questions: int
    passed: int
    level: float
    records_to_choose: int
    records_to_prove: int
    entropy: float

    @property
    def sentence(self) -> str:
        """The claim in plain words."""
        if len(self.cells) == 1:
            return "The records prove no cells: everything would be released as one."
        return (
            f"If the {self.records_to_prove:,} records that prove are a random sample and hold every value of the "
            f"secret, then with {confident(1 - self.beta)} confidence every one of the {len(self.cells):,} cells is "
            "within its bounds in the population."
        )


def certified_cells(
    parent: ArrayLike,
    claims: NodeClaim | Sequence[NodeClaim],
    *,
    confidence: float = 0.95,
    known: ArrayLike | None = None,
) -> CertifiedCells:
    """The finest cells of a tree that are proved to be within bounds in the population.

    Parameters
    ----------
    parent : array of int
        The parent of each node; node 0 is the root, with -1, and every other node comes after its parent. Any number
        of children.
    claims : NodeClaim or a sequence of them
        What is claimed about every cell: `CountedClaim`, `ThresholdClaim`. Several are proved at the price of one.
    confidence : float
        1 - beta: the probability with which the claim holds.
    known : array of int, optional
        The nodes of the known parts: log-lifts inside a part are relative to the shares of the secrets in it. Every
        leaf lies in exactly one. By default the root.

    Guarantees
    ----------
    If all records are independent draws from the population, were dealt to the parts without looking at them, and the
    tree, the claims and the confidence depend only on the first part; and if the claims' secrets are all there are:
    then, with probability at least ``confidence``, every cell returned is within all bounds of all claims, and so is
    every cell of a coarser code, since its belief is a mean of theirs. That is for one question: ask another of the
    same records, with another epsilon, secret, tree or deal, and the error spent adds up.

    Proof. Given the first part, everything but the counts of the second is fixed. A split is wrong if a child breaks a
    bound of a claim: then the p-value of that child, secret and side is at most u with probability at most u
    (`beyond_p_values`), and so is the largest of the split's. Suppose that a cell returned breaks a bound. It
    lies below splits that all passed, the last of which is wrong; so `proved_splits` gave a wrong one, which it does
    with probability at most beta. The weights are the design records of a node times the chance of passing that they
    foresee: they decide what can be proved, never whether it is true.
    """
    all_claims: tuple[NodeClaim, ...] = tuple(claims) if isinstance(claims, Sequence) else (claims,)
    tree, beta = Nesting(np.asarray(parent)), checked_beta(1 - confidence)
    if not all_claims:
        raise ArgumentError("there is nothing to prove: give at least one claim")
    design, test = _sizes(tree, all_claims)
    base = _bases(tree, known)
    weights, levels = _plan(tree, all_claims, base, design, beta)
    p = np.max([claim.p_values(base, levels, beta=beta) for claim in all_claims], axis=0)
    proved = proved_splits(tree, tree.worst_child(p), weights, beta=beta)
    cells = tree.frontier(proved.splits)
    limits = [claim.limits(cells, base, beta=beta) for claim in all_claims]
    low, high = (np.stack([limit[side] for limit in limits], axis=1) for side in (0, 1))
    questions = int((weights > 0).sum())
    share = (design + test)[cells] / max((design + test)[0], 1.0)
    return CertifiedCells(
        cells=frozen(cells),
        low=frozen(low),
        high=frozen(high),
        beta=beta,
        spent=beta if questions else 0.0,
        questions=questions,
        passed=int(proved.splits.sum()),
        level=float(proved.level[proved.splits].min()) if proved.splits.any() else beta,
        records_to_choose=int(design[0]),
        records_to_prove=int(test[0]),
        entropy=float(-p_log_p(share).sum()),
    )


def _plan(
    tree: Nesting, claims: Sequence[NodeClaim], base: Labels, design: Vector, beta: float
) -> tuple[Vector, Vector]:
    """What each split weighs, by the first part only, and the smallest level at which each node is tested."""
    foreseen = np.clip(beta * design / max(_LEFT * design[0], 1.0), np.finfo(np.float64).tiny, beta)
    foreseen[1:] = foreseen[tree.parent[1:]]
    chance = np.min([claim.chances(tree, base, foreseen) for claim in claims], axis=0)
    together = np.ones(len(tree))
    np.multiply.at(together, tree.parent[1:], chance[1:])
    weights = np.where(tree.inner, design * together, 0.0)
    levels = np.full(len(tree), beta)
    first = first_levels(tree, weights, beta=beta)
    levels[1:] = first[tree.parent[1:]]
    # Children of a split that is not asked about: whatever their p-values, it does not pass.
    return weights, np.where(levels > 0, np.minimum(levels, beta), beta)


def _sizes(tree: Nesting, claims: Sequence[NodeClaim]) -> tuple[Vector, Vector]:
    """Records of every node in both parts, checked: the same for all claims, and each node's those of its children."""
    first = claims[0].sizes()
    for sizes in (claim.sizes() for claim in claims):
        for own, other in zip(sizes, first, strict=True):
            if len(own) != len(tree) or (own != other).any():
                raise ArgumentError("every claim must count the same records at the same nodes")
            below = np.zeros(len(tree))
            np.add.at(below, tree.parent[1:], own[1:])
            if (below != own)[tree.inner].any():
                raise ArgumentError("the records of a node must be those of its children, added")
    return first


def _bases(tree: Nesting, known: ArrayLike | None) -> Labels:
    """The node with which each is compared; -1 above the known parts, where nothing is asked."""
    if known is None:
        return np.zeros(len(tree), dtype=np.intp)
    base = np.full(len(tree), -1, dtype=np.intp)
    parts = np.asarray(known, dtype=np.intp)
    if not ((parts >= 0) & (parts < len(tree))).all():
        raise ArgumentError("the known parts must be nodes of the tree")
    base[parts] = parts
    for level in tree.levels[1:]:
        above = base[tree.parent[level]]
        if ((above >= 0) & (base[level] >= 0)).any():
            raise ArgumentError("a known part lies inside another")
        base[level] = np.where(above >= 0, above, base[level])
    if (base[~tree.inner] < 0).any():
        raise ArgumentError("a leaf lies in no known part")
    return base
