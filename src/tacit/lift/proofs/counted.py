"""What is claimed about a secret with a few values, counted at the nodes of a tree of cells."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from tacit.errors import ArgumentError
from tacit.lift.joint import Labels, Mask, Matrix, Vector, frozen
from tacit.lift.measures import sides
from tacit.lift.proofs.beyond import beyond_p_values
from tacit.lift.proofs.certificates import COMMON
from tacit.lift.proofs.foresight import chance_of_proof
from tacit.lift.proofs.intervals import log_lift_limits
from tacit.lift.proofs.recycling import Nesting
from tacit.lift.tolerances import SUM_TOLERANCE


@dataclass(frozen=True, eq=False)
class CountedClaim:
    """-low <= log-lift <= high for every bounded value of a secret, counted at each node of a tree of cells.

    Attributes
    ----------
    design, test : arrays of whole numbers, nodes x secrets
        Records of each secret at each node, in the part that chooses and in the part that proves.
    low, high : float
        The bounds, in nats; either may be inf, and is then not claimed.
    bounded : array of bool, optional
        The secrets that are bounded; by default all of them.
    prior : array, optional
        The shares of the secrets in the population where they are known exactly.
    """

    design: Matrix = field(repr=False)
    test: Matrix = field(repr=False)
    low: float
    high: float
    bounded: Mask | None = None
    prior: Vector | None = None

    def __post_init__(self) -> None:
        sides(0.0, epsilon_low=self.low, epsilon_high=self.high)
        for name in ("design", "test"):
            counts = np.asarray(getattr(self, name), dtype=np.float64)
            if counts.ndim != 2 or 0 in counts.shape:
                raise ArgumentError(f"{name} must be a table of nodes x secrets; its shape is {counts.shape}")
            if not (np.isfinite(counts).all() and (counts >= 0).all() and (counts == np.floor(counts)).all()):
                raise ArgumentError(f"{name} must hold whole numbers of records: sums of weights prove nothing")
            object.__setattr__(self, name, frozen(counts))
        if self.design.shape != self.test.shape:
            raise ArgumentError(f"the parts have tables of different shapes: {self.design.shape}, {self.test.shape}")
        secrets = self.test.shape[1]
        bounded = np.ones(secrets, np.bool_) if self.bounded is None else np.asarray(self.bounded)
        if bounded.shape != (secrets,) or bounded.dtype != np.bool_:
            raise ArgumentError(f"bounded must be {secrets} booleans, one for each secret")
        if self.prior is not None:
            shares = np.asarray(self.prior, dtype=np.float64)
            if shares.shape != (secrets,) or not (shares > 0).all() or abs(shares.sum() - 1) > SUM_TOLERANCE:
                raise ArgumentError(f"prior must be {secrets} positive shares that sum to 1, one for each secret")
            object.__setattr__(self, "prior", frozen(shares / shares.sum()))

    @property
    def _binding(self) -> Mask:
        return np.ones(self.test.shape[1], np.bool_) if self.bounded is None else np.asarray(self.bounded)

    def sizes(self) -> tuple[Vector, Vector]:
        """See `tacit.lift.proofs.cells.NodeClaim`."""
        return self.design.sum(axis=1), self.test.sum(axis=1)

    def chances(self, tree: Nesting, base: Labels, levels: Vector) -> Vector:
        """See `tacit.lift.proofs.cells.NodeClaim`: rates are drawn towards those of the parent."""
        whole, result = self.design.sum(axis=1), np.ones(len(tree))
        ratio = float(self.test[0].sum() / max(whole[0], 1.0))
        expected = np.zeros_like(self.design)
        for level in tree.levels:
            above = self.design[level] / np.maximum(whole[level], 1.0)[:, None] if level[0] == 0 else expected[level]
            chance, rate = chance_of_proof(
                self.design[level],
                self._prior_at(self.design, base[level]),
                expected=above,
                low=self.low,
                high=self.high,
                level=levels[level],
                ratio=ratio,
                bounded=self._binding,
            )
            result[level] = chance
            below = np.flatnonzero(np.isin(tree.parent, level))
            expected[below] = rate[np.searchsorted(level, tree.parent[below])]
        return result

    def p_values(self, base: Labels, levels: Vector, *, beta: float) -> Vector:
        """See `tacit.lift.proofs.cells.NodeClaim`: exact, the largest over secrets and sides."""
        result = np.zeros(len(base))
        inner = np.flatnonzero((base >= 0) & (base != np.arange(len(base))))
        binding = self._binding
        if len(inner) == 0 or not binding.any():
            return result
        counts, whole = self.test[inner], self.test[base[inner]]
        p = beyond_p_values(
            counts[:, binding],
            counts.sum(axis=1)[:, None],
            whole[:, binding],
            whole.sum(axis=1)[:, None],
            low=self.low,
            high=self.high,
            least=levels[inner][:, None],
            most=beta,
            prior=None if self.prior is None else self.prior[binding],
        )
        result[inner] = p.max(axis=1)
        return result

    def limits(self, nodes: Labels, base: Labels, *, beta: float) -> tuple[Vector, Vector]:
        """See `tacit.lift.proofs.cells.NodeClaim`."""
        low, high = np.zeros(len(nodes)), np.zeros(len(nodes))
        inner = np.flatnonzero((base[nodes] >= 0) & (base[nodes] != nodes))
        binding = self._binding
        if len(inner) == 0 or not binding.any():
            return low, high
        own, home = nodes[inner], base[nodes[inner]]
        counts, whole = self.test[own], self.test[home]
        share = self.design[own].sum(axis=1) > COMMON * self.design[home].sum(axis=1)
        both = log_lift_limits(
            counts[:, binding],
            counts.sum(axis=1)[:, None],
            whole[:, binding],
            whole.sum(axis=1)[:, None],
            beta=beta,
            prior=None if self.prior is None else self.prior[binding],
            common=share[:, None] if self.prior is None else None,
        )
        for side, bound, limit in ((low, self.low, both[0]), (high, self.high, both[1])):
            side[inner] = np.clip(limit.max(axis=1), 0.0, bound)
        return low, high

    def _prior_at(self, counts: Matrix, base: Labels) -> Matrix:
        if self.prior is not None:
            return np.broadcast_to(self.prior, (len(base), len(self.prior)))
        whole = counts[np.maximum(base, 0)]
        return np.asarray(whole / np.maximum(whole.sum(axis=1, keepdims=True), 1.0))
