"""All corners of the region of safe posteriors, for small alphabets, and the best mechanism made of them.

The information an output leaves open is concave in its posterior, so the best outputs are corners: a corner with k
tight rows has at most k + 1 values.
"""

from __future__ import annotations

from itertools import combinations, product
from math import comb

import numpy as np

from tacit.lift.joint import Matrix, Vector
from tacit.lift.solvers.master import entropies, weigh
from tacit.lift.solvers.mixture import Mixture
from tacit.lift.solvers.region import Region

# Corners are kept if they lie in the region to this precision: the rounding of the small systems that give them.
_ROUNDING = 1e-9
_SINGULAR = 1e-11


def n_candidates(region: Region) -> int:
    """How many small systems of equations the corners come from."""
    sides = np.where((region.low > 0) & np.isfinite(region.high) & (region.high > region.low), 2, 1)
    # Elementary symmetric sums of the sides: how many ways there are to make k rows tight.
    ways = [1] + [0] * min(region.rank, region.n - 1)
    for side in sides:
        for k in range(len(ways) - 1, 0, -1):
            ways[k] += int(side) * ways[k - 1]
    return sum(count * comb(region.n, k + 1) for k, count in enumerate(ways))


def corners(region: Region) -> Matrix:
    """Every corner of the region, one per row.

    Guarantees
    ----------
    Each lies in the region up to 1e-9; none is missing, up to rounding, unless a system that gives it is singular and
    no other gives it.
    """
    by_system = [np.eye(region.n)[region.safe]]
    for k in range(1, min(region.rank, region.n - 1) + 1):
        supports = np.array(list(combinations(range(region.n), k + 1)))
        for rows in combinations(range(len(region.lifts)), k):
            table = np.ones((len(supports), k + 1, k + 1))
            for j, s in enumerate(rows):
                table[:, j + 1, :] = region.lifts[s][supports]
            for bounds in product(*(_bounds(region, s) for s in rows)):
                by_system.append(_solved(region, table, supports, np.array([1.0, *bounds])))
    columns = np.concatenate(by_system)
    # Of corners that are the same but for rounding, the one that is furthest inside.
    columns = columns[np.argsort(region.excess(region.lifts @ columns.T), kind="stable")]
    return np.asarray(columns[np.unique(np.round(columns, 10), axis=0, return_index=True)[1]])


def _bounds(region: Region, s: int) -> list[float]:
    sides = {float(region.low[s])} if region.low[s] > 0 else set()
    return sorted(sides | ({float(region.high[s])} if np.isfinite(region.high[s]) else set()))


def _solved(region: Region, table: Matrix, supports: Matrix, right: Vector) -> Matrix:
    scale = np.abs(table).max(axis=2, keepdims=True)
    scaled = table / np.maximum(scale, 1e-300)
    regular = np.abs(np.linalg.det(scaled)) > _SINGULAR
    sides = (right[:, None] / np.maximum(scale[regular], 1e-300)) if regular.any() else np.zeros((0, len(right), 1))
    solved = np.linalg.solve(scaled[regular], sides)[..., 0]
    inside = (solved > -_ROUNDING).all(axis=1)
    columns = np.zeros((int(inside.sum()), region.n))
    np.put_along_axis(columns, supports[regular][inside], np.maximum(solved[inside], 0.0), axis=1)
    columns /= np.maximum(columns.sum(axis=1, keepdims=True), 1e-300)
    return np.asarray(columns[region.holds(columns, slack=_ROUNDING)])


def solve_corners(region: Region) -> Mixture | None:
    """The best mechanism there is, by a linear program over all corners; None if rounding left it no solution.

    Guarantees
    ----------
    ``bound`` is the value of prices that no corner undercuts, so that no mechanism loses less.
    """
    columns = corners(region)
    costs = entropies(columns)
    answer = weigh(columns, costs, region.marginal)
    if answer is None:
        return None
    least = min(float((costs - columns @ answer.prices).min()), 0.0)
    mass = float(region.marginal.sum())
    bound = float(answer.prices @ region.marginal) + least * mass
    return Mixture.of_columns(columns, answer.weights, max(bound, 0.0))
