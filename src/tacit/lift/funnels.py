"""The privacy funnel: the least I(S;Y) for a given I(X;Y), over all channels, not only the watchdog's.

A channel is a way to split p(x) into posteriors q_k of weights w_k, and I(S;Y), I(X;Y) are linear in the weights. For a
given set of posteriors the best weights are a linear program; better posteriors are priced by its dual, by descent from
several starts. The problem is not convex in q, so the result is attained by a channel but is not a lower bound.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linprog
from scipy.special import softmax, xlogy

from tacit.errors import ArgumentError
from tacit.lift.joint import Joint, Matrix, Vector
from tacit.lift.measures import Distribution, entropy

_ROUNDS = 40
_STEPS = 60
_STARTS = 24
_WORTH_WHILE = 1e-7


@dataclass(frozen=True, eq=False)
class FunnelPoint:
    """A channel on the privacy funnel: I(X;Y), I(S;Y) in nats, and p(x|y), p(y) of its outputs."""

    utility: float
    leakage: float
    posteriors: Matrix
    weights: Vector


def privacy_funnel(joint: Distribution, utility: float, *, random_state: int = 0) -> FunnelPoint:
    """A channel that keeps I(X;Y) of at least ``utility`` nats and leaks as little I(S;Y) as was found.

    Guarantees
    ----------
    The channel attains what it says: its posteriors mix to p(x), its I(X;Y) is at least ``utility`` (to 1e-9). It is
    never worse than releasing X unchanged in a share of the cases and nothing in the others. (Makhdoumi, Salamatian,
    Fawaz, Médard 2014.)
    """
    joint = Joint.of(joint)
    whole = entropy(joint.marginal)
    if not 0 <= utility <= whole + 1e-9:
        raise ArgumentError(f"utility is {utility:g} nats; I(X;Y) is between 0 and H(X), {whole:g}")
    given_x = joint.matrix / joint.marginal
    columns = np.vstack([np.eye(len(joint.marginal)), joint.marginal])
    starts = np.random.default_rng(random_state).normal(size=(_STARTS, len(joint.marginal)))
    weights, value, prices, worth = _best_weights(columns, joint, given_x, min(utility, whole))
    for _ in range(_ROUNDS):
        posteriors = _priced(starts, columns[weights > 1e-9], given_x, prices, worth)
        cost = _costs(posteriors, given_x, worth) - posteriors @ prices
        better = posteriors[cost < -_WORTH_WHILE]
        if not len(better):
            break
        columns = np.vstack([columns[(weights > 1e-12) | (np.arange(len(columns)) <= len(joint.marginal))], better])
        weights, value, prices, worth = _best_weights(columns, joint, given_x, min(utility, whole))
    used = weights > 1e-12
    kept = whole + float(weights[used] @ xlogy(columns[used], columns[used]).sum(axis=1))
    return FunnelPoint(kept, max(value, 0.0), columns[used], weights[used])


def _entropies(rows: Matrix) -> Vector:
    return np.asarray(-xlogy(rows, rows).sum(axis=1))


def _costs(posteriors: Matrix, given_x: Matrix, worth: float) -> Vector:
    """-H(S) + worth H(X) of every posterior: what the dual pays for it, except for its prices."""
    return np.asarray(worth * _entropies(posteriors) - _entropies(posteriors @ given_x.T))


def _best_weights(
    columns: Matrix, joint: Joint, given_x: Matrix, utility: float
) -> tuple[Vector, float, Vector, float]:
    """Weights of the posteriors, I(S;Y), and the dual: a price for every value, and what utility is worth."""
    lost = entropy(joint.marginal) - utility
    solved = linprog(
        -_entropies(columns @ given_x.T),
        A_ub=_entropies(columns)[None, :],
        b_ub=[lost],
        A_eq=columns.T,
        b_eq=joint.marginal,
        method="highs",
    )
    # Posteriors of single values keep everything, so the program always has a solution.
    value = entropy(joint.prior) + float(solved.fun)
    return np.asarray(solved.x), value, np.asarray(solved.eqlin.marginals), -float(solved.ineqlin.marginals[0])


def _priced(starts: Matrix, used: Matrix, given_x: Matrix, prices: Vector, worth: float) -> Matrix:
    """Posteriors by descent on their reduced cost, from random ones and from those in use, slightly mixed."""
    logits = np.vstack([3 * starts, np.log(0.98 * used + 0.02 / used.shape[1])])
    step = 1.0
    q = softmax(logits, axis=1)
    cost = _costs(q, given_x, worth) - q @ prices
    for _ in range(_STEPS):
        secrets = q @ given_x.T
        slope = -worth * np.log(q + 1e-300) + np.log(secrets + 1e-300) @ given_x - prices
        slope -= (q * slope).sum(axis=1, keepdims=True)
        tried = softmax(np.log(q + 1e-300) - step * slope, axis=1)
        after = _costs(tried, given_x, worth) - tried @ prices
        better = after < cost
        q, cost = np.where(better[:, None], tried, q), np.where(better, after, cost)
        step = step * 1.2 if better.mean() > 0.5 else step * 0.5
    return np.asarray(q)
