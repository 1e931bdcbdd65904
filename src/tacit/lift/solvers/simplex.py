"""Many small linear programs over one region at once: the cheapest corner for each of many costs.

A region of few rows and many values has corners of few values, so each program has a small basis. All of them take
their next step together, as arrays, which makes hundreds of them as quick as a few solved one by one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from tacit.lift.joint import Labels, Mask, Matrix, Vector
from tacit.lift.solvers.master import entropies
from tacit.lift.solvers.region import Region

# A column that gains less than the first, in nats, is not worth a step; an entry below the second cannot be a pivot.
_GAINS: Final = 1e-9
_PIVOT: Final = 1e-9
# What a draw of any value costs, in nats: more than any corner may cost, so that it is given up first.
_DEAR: Final = 1e4
# Steps per row; a program that has not ended by then still has a corner, if not the cheapest.
_STEPS_A_ROW: Final = 8
# Shares up to the first count as 0; corners off by more than the second are rejected; and how often they are refined.
_NOTHING: Final = 1e-12
_ROUNDING: Final = 1e-10
_REFINED: Final = 2


@dataclass(frozen=True, eq=False)
class Corners:
    """Corners of a region, each a posterior with few values: which, and their shares (corners x places).

    A place that holds nothing has the value 0 and the share 0; each row of shares sums to one.
    """

    values: Labels
    shares: Matrix

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, which: Mask | Labels) -> Corners:
        return Corners(self.values[which], self.shares[which])

    @property
    def costs(self) -> Vector:
        """Entropy of each, in nats."""
        return entropies(self.shares)

    def worth(self, prices: Vector) -> Vector:
        """What the values of each corner are worth."""
        return np.asarray((prices[self.values] * self.shares).sum(axis=1))


@dataclass(frozen=True, eq=False)
class State:
    """Where each of many programs stands: the variables of its basis, and the inverse of their columns."""

    basis: Labels
    inverse: Matrix

    def take(self, which: Labels) -> State:
        """The state of some of the programs."""
        return State(self.basis[which], self.inverse[which])


class Simplex:
    """The primal simplex method for many costs over one region, all in step.

    Variables are the values, a draw of any value (which is within all bounds, so that there is a corner to begin with),
    and one slack for every row.
    """

    def __init__(self, region: Region) -> None:
        rows, tops = region.inequalities()
        self.n, self.n_rows = region.n, len(rows)
        average = rows @ (region.marginal / region.marginal.sum())
        # A row for the sum comes last.
        self.table = np.vstack(
            [
                np.column_stack([rows, average, np.eye(self.n_rows)]),
                np.append(np.ones(region.n + 1), np.zeros(self.n_rows)),
            ]
        )
        self.columns = np.ascontiguousarray(self.table.T)
        self.tops = np.append(tops, 1.0)

    def begin(self, n: int) -> State:
        """The slacks and the draw of any value as basis of every program."""
        m = self.n_rows + 1
        basis = np.tile(np.append(self.n + 1 + np.arange(self.n_rows), self.n), (n, 1))
        inverse = np.eye(m)
        inverse[:-1, -1] = -self.table[:-1, self.n]
        return State(basis, np.tile(inverse, (n, 1, 1)))

    def cheapest(self, costs: Matrix, state: State) -> tuple[Corners, Mask]:
        """The cheapest corner for every row of costs (programs x released), and which of them are corners at all.

        It starts from the corners of ``state`` and leaves there those that it found, so that the next costs, if they
        are like these, take few steps.
        """
        costs = self._of_all(costs)
        going = np.arange(len(costs))
        for _ in range(_STEPS_A_ROW * (self.n_rows + 1)):
            going = self._step(costs, state, going)
            if not len(going):
                break
        return self._corners(state)

    def multipliers(self, costs: Matrix) -> Matrix:
        """What relaxing each bound a little would save in every program, where it ended: never negative."""
        state = self.begin(len(costs))
        self.cheapest(costs, state)
        return np.maximum(-_paid(self._of_all(costs), state.basis, state.inverse)[:, :-1], 0.0)

    def _of_all(self, costs: Matrix) -> Matrix:
        """The costs of all variables: of values, of the draw of any value, and of slacks, which cost nothing."""
        n = len(costs)
        return np.hstack([costs, np.full((n, 1), _DEAR), np.zeros((n, self.n_rows))])

    def _step(self, costs: Matrix, state: State, going: Labels) -> Labels:
        """One pivot in all programs that go on; returns those that still do."""
        # Copies are what takes time here: while all programs go on there are none.
        every = len(going) == len(state.basis)
        inverse = state.inverse if every else state.inverse[going]
        now, paid = (state.basis, costs) if every else (state.basis[going], costs[going])
        reduced = _paid(paid, now, inverse) @ self.table
        np.subtract(paid, reduced, out=reduced)
        enters = np.argmin(reduced, axis=1)
        at = np.arange(len(going))
        step = np.einsum("bij,bj->bi", inverse, self.columns[enters])
        level = np.maximum(inverse @ self.tops, 0.0)
        ratios = np.divide(level, step, out=np.full_like(level, np.inf), where=step > _PIVOT)
        leaves = np.argmin(ratios, axis=1)
        goes = (reduced[at, enters] < -_GAINS) & np.isfinite(ratios[at, leaves])
        if not goes.all():
            going, inverse, enters, step, leaves = going[goes], inverse[goes], enters[goes], step[goes], leaves[goes]
            at, every = np.arange(len(going)), False
        pivot = inverse[at, leaves] / step[at, leaves][:, None]
        step[at, leaves] -= 1.0
        inverse -= step[:, :, None] * pivot[:, None, :]
        # The row of the pivot was p s with s the step there; less (s - 1) p it is p.
        if not every:
            state.inverse[going] = inverse
        state.basis[going, leaves] = enters
        return going

    def _corners(self, state: State) -> tuple[Corners, Mask]:
        """The corners of the bases, made exact to the last digit."""
        basis, inverse = state.basis, state.inverse
        systems = self.columns[basis]
        levels = inverse @ self.tops
        for _ in range(_REFINED):
            left = self.tops - np.einsum("bji,bj->bi", systems, levels)
            levels = levels + np.einsum("bij,bj->bi", inverse, left)
        left = np.abs(self.tops - np.einsum("bji,bj->bi", systems, levels)).max(axis=1)
        is_value = basis < self.n
        draws = ((basis == self.n) & (np.abs(levels) > _NOTHING)).any(axis=1)
        shares = np.where(is_value & (levels > _NOTHING), levels, 0.0)
        totals = shares.sum(axis=1)
        fine = ~draws & (levels >= -_ROUNDING).all(axis=1) & (left < _ROUNDING) & (abs(totals - 1) < _ROUNDING)
        shares = shares / np.where(totals > 0, totals, 1.0)[:, None]
        return Corners(np.where(shares > 0, basis, 0), shares), np.asarray(fine)


def _paid(costs: Matrix, basis: Labels, inverse: Matrix) -> Matrix:
    """The price of every row of the table in each program."""
    return np.asarray(np.einsum("bi,bij->bj", np.take_along_axis(costs, basis, axis=1), inverse))
