"""Delta spent: cuts beyond the bounds where they tell most for the probability that they cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tacit.codes.search.cuts import CutRules, best_cuts
from tacit.codes.search.frontier import Frontier, within_parts
from tacit.codes.search.growth import Growth
from tacit.codes.search.judging import Spending
from tacit.codes.search.limits import CellLimits
from tacit.codes.search.records import GroupedRecords, SecretBound
from tacit.codes.tree import CellTree
from tacit.lift import Mask, Matrix, Vector
from tacit.lift.joint import sums
from tacit.lift.tolerances import TOLERANCE


def spent(tree: CellTree, records: GroupedRecords, bounds: Sequence[SecretBound], rules: CutRules) -> CellTree:
    """The tree grown on beyond its bounds, as far as the delta of each claim allows.

    Guarantees
    ----------
    The pairs of secret and cell beyond the bounds of a claim weigh at most delta of the table, and keep to its
    ``epsilon_max`` on the sides that are bounded. The tree must be within bounds.
    """
    limits, frontier = within_parts(tree, records, bounds)
    wider = tuple(
        each.wider(bound.epsilon_max) if bound.delta > 0 else each for each, bound in zip(limits, bounds, strict=True)
    )
    weight = float(records.weight.sum())
    # A margin is left unspent: sums in another order may differ by that much.
    left = np.array([bound.delta for bound in bounds]) * weight * (1 - TOLERANCE)
    rules = replace(rules, judge=Spending(limits, wider, smallest=1e-6 * weight))
    growth = Growth.of(tree)
    while len(frontier := frontier.enough(2 * rules.least)):
        best = best_cuts(frontier, rules)
        if not best.has_cut.any():
            break
        kids = frontier.split(
            best.has_cut, best.left(frontier, frontier.node()), np.arange(2 * int(best.has_cut.sum()))
        )
        cost = np.zeros((len(bounds), len(frontier)))
        cost[:, best.has_cut] = _beyond(kids, limits).reshape(len(bounds), -1, 2).sum(axis=2)
        cost -= np.where(best.has_cut, _beyond(frontier, limits), 0.0)
        chosen = _affordable(np.where(best.has_cut, best.score, 0.0), cost, left)
        if not chosen.any():
            break
        left = left - cost[:, chosen].sum(axis=1)
        frontier = growth.cut(frontier, best, chosen)
    return growth.tree()


def _beyond(frontier: Frontier, limits: tuple[CellLimits, ...]) -> Matrix:
    """What the pairs beyond the bounds of each claim weigh in each node (claims x nodes)."""
    node, n = frontier.node(), len(frontier)
    total = sums(node, frontier.weight, n)
    out = np.zeros((len(limits), n))
    for claim, (secret, each) in enumerate(zip(frontier.secrets, limits, strict=True)):
        out[claim] = each.beyond(each.bounded(secret.by_label(node, n, each.n_labels)), total, frontier.part)
    return out


def _affordable(score: Vector, cost: Matrix, left: Vector) -> Mask:
    """The cuts that can be paid for, those with the highest score first."""
    chosen = np.zeros(len(score), bool)
    for at in np.argsort(-score, kind="stable").tolist():
        if score[at] > 0 and (cost[:, at] <= left).all():
            chosen[at], left = True, left - cost[:, at]
    return chosen
