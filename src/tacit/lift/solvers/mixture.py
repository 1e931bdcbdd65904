"""Mechanisms as flows: how much of every released value goes to every output, and the channel this gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import coo_array, csr_array

from tacit.lift.joint import CompactChannel, Labels, Matrix, Vector


@dataclass(frozen=True, eq=False)
class Mixture:
    """P(x, y) of a mechanism, as a sparse list of flows from ``values`` to ``outputs``, which are numbered from 0.

    The ``masses`` that flow from a value add up to its frequency. No mechanism within the same bounds loses less
    information than ``bound``, in nats.
    """

    values: Labels
    outputs: Labels
    masses: Vector
    bound: float = 0.0

    @property
    def loss(self) -> float:
        """H(X|Y) in nats."""
        return max(float((self.masses * np.log(self.totals[self.outputs] / self.masses)).sum()), 0.0)

    @property
    def totals(self) -> Vector:
        """P(y)."""
        return np.asarray(np.bincount(self.outputs, self.masses), dtype=np.float64)

    def posteriors(self, n_released: int) -> csr_array:
        """P(x | y), outputs x released."""
        totals = self.totals
        flows = self.masses / totals[self.outputs]
        return csr_array((flows, (self.outputs, self.values)), shape=(len(totals), n_released))

    @classmethod
    def of_groups(cls, labels: Labels, marginal: Vector) -> Mixture:
        """Every group of values is one output."""
        return cls(np.arange(len(labels)), np.unique(labels, return_inverse=True)[1], marginal)

    @classmethod
    def of_columns(cls, columns: Any, weights: Vector, bound: float = 0.0) -> Mixture:
        """Outputs with posteriors ``columns`` (outputs x released, dense or sparse) and probabilities ``weights``."""
        used = np.flatnonzero(weights > 0)
        table = coo_array(columns[used]) if isinstance(columns, np.ndarray) else columns.tocsr()[used].tocoo()
        outputs, values = table.coords
        return cls._flowing(values, outputs, table.data * weights[used][outputs], bound)

    @classmethod
    def of_channel(cls, sparse: csr_array, marginal: Vector) -> Mixture:
        """The flows through a channel P(y | x), released x outputs."""
        table = sparse.tocoo()
        values, outputs = table.coords
        return cls._flowing(values, outputs, table.data * marginal[values], 0.0)

    @classmethod
    def _flowing(cls, values: Labels, outputs: Labels, masses: Vector, bound: float) -> Mixture:
        """Flows of nothing, and outputs that nothing flows to, are left out."""
        flows = masses > 0
        outputs = np.unique(outputs[flows], return_inverse=True)[1]
        return cls(np.asarray(values[flows], dtype=np.intp), outputs, np.asarray(masses[flows]), bound)

    @classmethod
    def side_by_side(cls, parts: Sequence[Mixture]) -> Mixture:
        """The outputs of all parts; outputs that hold nothing but the same single value become one."""
        starts = np.cumsum([0, *(int(part.outputs.max()) + 1 for part in parts)])
        values = np.concatenate([part.values for part in parts])
        outputs = np.concatenate([part.outputs + first for part, first in zip(parts, starts, strict=False)])
        alone = np.bincount(outputs)[outputs] == 1
        outputs[alone] = starts[-1] + values[alone]
        outputs = np.unique(outputs, return_inverse=True)[1]
        # A flow may now come twice.
        table = csr_array((np.concatenate([part.masses for part in parts]), (values, outputs)))
        return cls.of_channel(table, np.ones(table.shape[0]))

    def spread(self, labels: Labels, marginal: Vector) -> Mixture:
        """From a mechanism on types of values to one on the values; ``labels`` gives the type of each.

        Every output is cut where one of its types passes from one value to the next, so that each piece holds one
        value of each type, in the same proportions. The loss is the same, and there are at most as many more
        outputs as there are more values than types.
        """
        if len(np.unique(labels)) == len(labels):
            return Mixture(np.argsort(labels)[self.values], self.outputs, self.masses, self.bound)
        order = np.lexsort((self.outputs, self.values))
        kinds, outputs, masses = self.values[order], self.outputs[order], self.masses[order]
        members = np.argsort(labels, kind="stable")
        # One ruler for all types, each a stretch of it; flows are scaled to the mass there is.
        ends = np.cumsum(marginal[members])
        totals = np.bincount(labels, marginal)
        lengths = masses * (totals / np.bincount(kinds, masses, len(totals)))[kinds]
        cuts = _cuts(ends, lengths, outputs)
        return self._pieces(cuts, outputs, lengths, ends, members)

    def _pieces(
        self, cuts: tuple[Labels, Vector], outputs: Labels, lengths: Vector, ends: Vector, members: Labels
    ) -> Mixture:
        """One output for every piece between two cuts; ``cuts`` are (output, fraction), sorted."""
        starts = np.append(0.0, np.cumsum(lengths)[:-1])
        n_outputs = int(outputs.max()) + 1
        n_pieces = np.bincount(cuts[0], minlength=n_outputs)
        first = np.append(0, np.cumsum(n_pieces))
        shares = np.diff(np.append(cuts[1], 0.0))
        shares[first[1:] - 1] = 1 - cuts[1][first[1:] - 1]
        # A flow of an output of k pieces becomes k flows.
        repeats = n_pieces[outputs]
        flow = np.repeat(np.arange(len(outputs)), repeats)
        piece = np.arange(len(flow)) - np.repeat(np.cumsum(repeats) - repeats, repeats) + first[outputs[flow]]
        middle = cuts[1][piece] + shares[piece] / 2
        at = starts[flow] + middle * lengths[flow]
        values = members[np.minimum(np.searchsorted(ends, at), len(ends) - 1)]
        # From the lengths themselves: differences on the ruler have lost the last digits of small flows.
        return self._flowing(values, piece, shares[piece] * lengths[flow], self.bound)


def _cuts(ends: Vector, lengths: Vector, outputs: Labels) -> tuple[Labels, Vector]:
    """Where outputs are cut: at 0, and where the ruler passes to the next value inside one of their flows."""
    stops = np.cumsum(lengths)
    flow = np.minimum(np.searchsorted(stops, ends[:-1]), len(stops) - 1)
    fractions = (ends[:-1] - stops[flow]) / np.where(lengths > 0, lengths, 1.0)[flow] + 1
    # An end of a value within rounding of an end of a flow cuts nothing.
    inside = (fractions > 1e-9) & (fractions < 1 - 1e-9)
    n_outputs = int(outputs.max()) + 1
    at = np.concatenate([np.arange(n_outputs), outputs[flow[inside]]])
    fractions = np.concatenate([np.zeros(n_outputs), fractions[inside]])
    order = np.lexsort((fractions, at))
    return at[order], fractions[order]


class MixtureChannel(CompactChannel):
    """A channel that sends every released value to a few outputs.

    Attributes
    ----------
    sparse : csr_array of shape (released, outputs)
        P(y | x); its rows sum to one.
    outputs : sequence
        What is written for each output: a released value of its own, so that the release keeps the domain.
    labels : array of int
        The index of that released value, as `assignment` chose it.
    rung : str
        Which step of the ladder made it: ``watchdog``, ``camouflage``, ``subsets`` or ``optimal``.
    epsilon, epsilon_low, epsilon_high : float
        What was asked.
    order : float or None
        The order of alpha-lift, where epsilon bounds that; then neither side of the log-lift has a bound.
    attained : float
        Largest abs(log-lift) of the release, computed on the output joint; with an order, the logarithm of its largest
        alpha-lift. It is at most what was asked.
    attained_low, attained_high : float
        How far below and above 0 the log-lifts go.
    attained_also : tuple of float
        The same as ``attained`` for every further secret.
    utility : float
        I(X;Y) in nats.
    nmil : float
        Share of the information in the released values that is lost.
    loss_bound : float
        No mechanism within the same bounds has a smaller nmil; 0 where nothing better is known.
    proof : str
        ``exact`` if nmil and its bound meet to 1e-6, else ``gap``.
    kept_share : float
        Share of the records whose value is released unchanged.
    """

    sparse: csr_array
    labels: Labels
    rung: str
    epsilon: float
    epsilon_low: float
    epsilon_high: float
    order: float | None
    attained: float
    attained_low: float
    attained_high: float
    attained_also: tuple[float, ...]
    utility: float
    nmil: float
    loss_bound: float
    kept_share: float

    def __init__(self, sparse: csr_array, outputs: Sequence[Any] | None = None, **facts: Any) -> None:
        super().__init__(outputs, sparse=sparse, **facts)

    def __repr__(self) -> str:
        return (
            f"MixtureChannel(rung={self.rung!r}, epsilon={self.epsilon:g}, attained={self.attained:g}, "
            f"nmil={self.nmil:g}, loss_bound={self.loss_bound:g}, proof={self.proof!r})"
        )

    @property
    def proof(self) -> str:
        """``exact`` if nothing is left to gain, to 1e-6 in nmil, else ``gap``."""
        return "exact" if self.nmil - self.loss_bound <= 1e-6 else "gap"

    @property
    def gap(self) -> float:
        """How much smaller the nmil might have been."""
        return self.nmil - self.loss_bound

    @property
    def shape(self) -> tuple[int, int]:
        """Number of released values, number of outputs."""
        return self.sparse.shape[0], self.sparse.shape[1]

    def _pushed(self, matrix: Matrix) -> Matrix:
        return np.asarray((self.sparse.T @ matrix.T).T)


def row_stochastic(mixture: Mixture, n_released: int) -> csr_array:
    """P(y | x) of a mixture; rows sum to one whatever rounding did to the flows."""
    shape = (n_released, int(mixture.outputs.max()) + 1)
    table = csr_array((mixture.masses, (mixture.values, mixture.outputs)), shape=shape)
    sums = np.asarray(table.sum(axis=1))
    table.data = table.data / np.repeat(sums, np.diff(table.indptr))
    return table
