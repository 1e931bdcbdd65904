"""A lower bound on the loss under many rows: the entropy of an output from below, on pieces of the region.

On a box of posteriors the entropy is at least the sum of the chords of -q log q, which is linear. If boxes cover the
region, every mechanism sends each output to a box that holds it; so the least cost of a mechanism with one output per
box, paid by the chords, bounds the loss. That is one linear program. Boxes that are used where their chords are far
from the entropy are then cut in two, and the bound grows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.sparse import block_diag, coo_array, csr_array, hstack, kron, vstack

from tacit.lift.joint import Labels, Matrix, Vector
from tacit.lift.measures import p_log_p
from tacit.lift.solvers.region import Region

# A box is cut no nearer to its ends than this share of it.
_EDGE: Final = 0.15
# A round that raises the bound by less than this share is the last one.
_STALLED: Final = 2e-3
_ROUNDS: Final = 12


@dataclass(frozen=True, eq=False)
class Boxes:
    """Boxes of posteriors that cover the region: least and largest probability of each value (boxes x released)."""

    low: Matrix
    high: Matrix

    @classmethod
    def by_largest(cls, reach: Vector) -> Boxes:
        """One box for every value, of the posteriors where it is the likeliest: all others are then at most a half."""
        n = len(reach)
        high = np.tile(np.minimum(reach, 0.5), (n, 1))
        np.fill_diagonal(high, reach)
        return cls(np.diag(np.minimum(np.full(n, 1 / n), reach)), high)

    def chords(self) -> tuple[Matrix, Matrix]:
        """Slope and value at 0 of the chord of -q log q in every box."""
        low, high = self.low, self.high
        width = high - low
        slopes = np.where(width > 0, (p_log_p(low) - p_log_p(high)) / np.where(width > 0, width, 1.0), 0.0)
        return slopes, -p_log_p(low) - slopes * low

    def cut(self, boxes: Labels, posteriors: Matrix) -> Boxes:
        """Some boxes cut in two where their chord is farthest from the entropy, at their posterior."""
        slopes, starts = self.chords()
        short = -p_log_p(posteriors) - starts[boxes] - slopes[boxes] * posteriors
        values = np.argmax(short, axis=1)
        low, high = self.low[boxes, values], self.high[boxes, values]
        edge = _EDGE * (high - low)
        at = np.clip(posteriors[np.arange(len(boxes)), values], low + edge, high - edge)
        below, above = self.high.copy(), self.low[boxes].copy()
        below[boxes, values] = at
        above[np.arange(len(boxes)), values] = at
        return Boxes(np.vstack([self.low, above]), np.vstack([below, self.high[boxes]]))


def branch_bound(region: Region, reach: Vector, *, most: int) -> float:
    """A lower bound on the loss of every mechanism within bounds.

    ``reach`` are upper bounds on the probability that an output within bounds can give to each value, ``most`` is how
    many variables the linear program may have.

    Guarantees
    ----------
    No mechanism within bounds loses less than this, in nats, whatever the rounding of the solver: the bound is the
    value of dual prices, made fair.
    """
    boxes, bound = Boxes.by_largest(np.clip(reach, 1e-300, 1.0)), 0.0
    for _ in range(_ROUNDS):
        if boxes.low.size > most:
            break
        answer = _solved(region, boxes)
        if answer is None:
            break
        value, flows = answer
        done = value <= bound * (1 + _STALLED)
        bound = max(bound, value)
        masses = flows.sum(axis=1)
        used = np.flatnonzero(masses > 1e-7)
        if done or not len(used):
            break
        boxes = boxes.cut(used, flows[used] / masses[used, None])
    return bound


def _solved(region: Region, boxes: Boxes) -> tuple[float, Matrix] | None:
    """The value of the prices of the linear program, and how much of each value goes to each box."""
    from scipy.optimize import linprog

    n_boxes, n = boxes.low.shape
    slopes, starts = boxes.chords()
    # Variables: the share of each value that goes to each box, then the mass of each box.
    costs = np.append((slopes * region.marginal).ravel(), starts.sum(axis=1))
    rows, tops = region.inequalities()
    every = csr_array(np.eye(n_boxes))
    bounds = hstack([kron(every, csr_array(rows * region.marginal)), kron(every, csr_array(-tops[:, None]))])
    shares = block_diag([csr_array(np.diag(region.marginal))] * n_boxes)
    at_most = hstack([shares, _masses(-boxes.high)])
    at_least = hstack([-shares, _masses(boxes.low)])
    above, below = (boxes.high < 1).ravel(), (boxes.low > 0).ravel()
    upper = vstack([bounds, at_most.tocsr()[above], at_least.tocsr()[below]]).tocsr()
    whole = hstack([kron(np.ones((1, n_boxes)), csr_array(np.eye(n))), csr_array((n, n_boxes))])
    adds = hstack([kron(every, csr_array(region.marginal[None])), -every])
    equal, right = vstack([whole, adds]).tocsr(), np.append(np.ones(n), np.zeros(n_boxes))
    answer = linprog(
        costs, A_ub=upper, b_ub=np.zeros(upper.shape[0]), A_eq=equal, b_eq=right, bounds=(0, 1), method="highs"
    )
    if answer.status != 0:
        return None
    # Weak duality holds for any prices of the right sign; all variables are at most 1.
    over, exact = np.minimum(answer.ineqlin.marginals, 0.0), np.asarray(answer.eqlin.marginals)
    left = costs - upper.T @ over - equal.T @ exact
    value = float(exact @ right + np.minimum(left, 0.0).sum())
    return value, np.asarray(answer.x[: n_boxes * n]).reshape(n_boxes, n) * region.marginal


def _masses(factors: Matrix) -> coo_array:
    """A row for every box and value, with a factor of the mass of the box."""
    n_boxes, n = factors.shape
    return coo_array((factors.ravel(), (np.arange(factors.size), np.repeat(np.arange(n_boxes), n))))
