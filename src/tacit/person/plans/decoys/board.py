"""The clusters of one adversary on a shared quadrature: what any grouping of them, with decoys, would leak and cost.

One decoy record is made for each group: it matches every cluster of the group, so that the adversary joins them, and
also carries bogus attributes. The aim is to lower the worst leakage of any cluster.

For a fixed reference the leakage of a record is a sum over the nodes u of a shared quadrature,

    L = <base, phi psi>,   phi(u) = E exp(-uW),   psi(u) = sum over units of E[I exp(-uW)] / E[exp(-uW)],

and joining records that have no attribute in common multiplies their phi and adds their psi. A bogus attribute is one
more factor of phi. So the leakage after each of m possible links costs one product of a matrix and a vector.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tacit.lift.joint import Matrix, Vector
from tacit.person.model.units import factors

# How many bogus attributes of each lane.
Adds = tuple[int, ...]

# A cluster with a leakage below this holds nothing of the person.
NOTHING = 1e-15


@dataclass(frozen=True)
class Lane:
    """Bogus attributes that are interchangeable: they have the same label, weight and cost.

    ``free`` says that they are independent of whatever the record holds (a label that can have several values, in no
    correlated group), so that each is one more factor.
    """

    label: str
    weight: float
    confidence: float
    cost: float
    values: tuple[str, ...]
    free: bool = True

    @property
    def limit(self) -> int:
        """How many there are."""
        return len(self.values)


@dataclass(frozen=True)
class DecoyGroup:
    """Clusters that one decoy joins, and how many bogus attributes of each lane it carries."""

    members: frozenset[int]
    adds: Adds

    @property
    def decoyed(self) -> bool:
        """Whether there is a decoy at all: an unchanged cluster needs none."""
        return len(self.members) > 1 or any(self.adds)


@dataclass(frozen=True)
class Sketch:
    """What a search arrives at: the worst leakage that is left, its cost, and the groups that get a decoy."""

    worst: float
    cost: float
    groups: tuple[DecoyGroup, ...]


class Board:
    """The clusters of one adversary, and what may be done with them.

    Parameters
    ----------
    nodes, base : arrays
        Nodes in units of one over weight, and what multiplies phi psi at each.
    vectors : callable
        (members, adds) to (log phi, psi) of the joined record. Adds of free lanes are not passed: they are factors.
    link_costs : sequence of float
        For every cluster, what it costs to link it alone; infinite if no allowed record matches it.
    floor : float
        The worst leakage of the clusters that are not on the board: no plan gets below it.
    group_cost : callable, optional
        The cost of the smallest record that matches all members, never more than the sum of their costs, the default.
    junk : sequence of float
        Expected weight of what is wrong in each cluster, for the knapsack.
    """

    def __init__(
        self,
        *,
        nodes: Vector,
        base: Vector,
        vectors: Callable[[frozenset[int], Adds], tuple[Vector, Vector]],
        link_costs: Sequence[float],
        lanes: Sequence[Lane],
        floor: float = 0.0,
        group_cost: Callable[[frozenset[int]], float] | None = None,
        junk: Sequence[float],
    ) -> None:
        self.base = base
        self.lanes = tuple(lanes)
        self.link_costs = np.asarray(link_costs, dtype=np.float64)
        self.floor = floor
        self.no_adds: Adds = (0,) * len(self.lanes)
        self.junk = junk
        self._vectors = vectors
        self._group_cost = group_cost
        confidence, weight = (np.array([getattr(lane, name) for lane in lanes]) for name in ("confidence", "weight"))
        self._factors = factors(confidence, weight, nodes)[0].T
        self._joined: dict[tuple[frozenset[int], Adds], tuple[Vector, Vector]] = {}
        self._leakages: dict[DecoyGroup, float] = {}
        self._costs: dict[frozenset[int], float] = {}

    def __len__(self) -> int:
        return len(self.link_costs)

    def alone(self, cluster: int) -> DecoyGroup:
        """One cluster, unchanged."""
        return DecoyGroup(frozenset((cluster,)), self.no_adds)

    @cached_property
    def leakages(self) -> Vector:
        """The leakage of every cluster, unchanged."""
        return np.array([self.leakage(self.alone(cluster)) for cluster in range(len(self))])

    @cached_property
    def hot(self) -> tuple[int, ...]:
        """The clusters that hold something of the person, worst first."""
        order = np.argsort(-self.leakages, kind="stable").tolist()
        return tuple(cluster for cluster in order if self.leakages[cluster] > NOTHING)

    @cached_property
    def cold(self) -> tuple[int, ...]:
        """The clusters that hold nothing of the person and can be linked."""
        return tuple(np.flatnonzero((self.leakages <= NOTHING) & np.isfinite(self.link_costs)).tolist())

    @cached_property
    def _cold_factors(self) -> Matrix:
        return np.array([np.exp(self._of(self.alone(cluster))[0]) for cluster in self.cold])

    def _of(self, group: DecoyGroup) -> tuple[Vector, Vector]:
        key = group.members, tuple(0 if lane.free else n for lane, n in zip(self.lanes, group.adds, strict=True))
        if key not in self._joined:
            self._joined[key] = self._vectors(*key)
        return self._joined[key]

    def _weighed(self, group: DecoyGroup) -> Vector:
        """base phi psi of the group's record."""
        log_phi, psi = self._of(group)
        free = [float(n) if lane.free else 0.0 for lane, n in zip(self.lanes, group.adds, strict=True)]
        return np.asarray(self.base * np.exp(log_phi + np.array(free) @ self._factors) * psi)

    def leakage(self, group: DecoyGroup) -> float:
        """The leakage of the group's record, joined by its decoy."""
        if group not in self._leakages:
            self._leakages[group] = float(self._weighed(group).sum())
        return self._leakages[group]

    def with_cold(self, group: DecoyGroup) -> Vector:
        """The leakage of the group with each of the cold clusters linked as well, as if they shared no attribute."""
        return np.asarray(self._cold_factors @ self._weighed(group)) if self.cold else np.zeros(0)

    def link_cost(self, members: frozenset[int]) -> float:
        """The cost of the record that matches all members, without bogus attributes."""
        if members not in self._costs:
            total = float(self.link_costs[list(members)].sum())
            if self._group_cost is not None and len(members) > 1 and math.isfinite(total):
                total = min(total, self._group_cost(members))
            self._costs[members] = total
        return self._costs[members]

    def cost(self, group: DecoyGroup) -> float:
        """The cost of the group's decoy; 0 if it has none."""
        adds = sum(n * lane.cost for n, lane in zip(group.adds, self.lanes, strict=True))
        return self.link_cost(group.members) + adds if group.decoyed else 0.0

    def sketch(self, groups: Sequence[DecoyGroup]) -> Sketch:
        """What is left with these groups."""
        worst = max(map(self.leakage, groups), default=0.0)
        decoys = tuple(group for group in groups if group.decoyed)
        return Sketch(max(worst, self.floor), sum(map(self.cost, decoys)), decoys)
