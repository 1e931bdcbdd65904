"""Planning decoys: how far the fast searches are from the best plan, and how long they take at scale.

    .venv/bin/python benchmarks/decoys.py

Quality: 150 random instances of 6 clusters in each of three kinds, against the search of every grouping. Scale: one
person's records among those of 1,000 to 100,000 strangers; from resolved clusters to the chosen groups, and the whole
of ``plan_decoys`` (resolve, plan, make the records, resolve and measure again).
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from tacit.person.decoy_search import Adds, Board, Found, Lane, by_partition, exact, greedy
from tacit.person.quadrature import nodes as quadrature

Vector = NDArray[np.float64]
Held = dict[tuple[str, str], float]
LABELS = ("name", "phone", "card", "address", "email", "zip")


@dataclass(frozen=True)
class Instance:
    """Clusters with independent attributes, a reference that holds the value "true" of every label, and a budget."""

    clusters: tuple[Held, ...]
    weights: dict[str, float]
    costs: tuple[float, ...]
    budget: float
    lane: Lane

    def joined(self, members: frozenset[int]) -> Held:
        """What the members hold together: each fact with its best confidence."""
        held: Held = {}
        for cluster in sorted(members):
            for fact, confidence in self.clusters[cluster].items():
                held[fact] = max(confidence, held.get(fact, 0.0))
        return held

    def board(self) -> Board:
        """The instance, ready for a search."""
        reference = sum(self.weights.values())
        most = sum(self.weights[label] for cluster in self.clusters for label, _ in cluster)
        exponents, factors = quadrature(1 + (most + self.lane.weight * (self.budget / self.lane.cost + 1)) / reference)
        at = exponents / reference

        def vectors(members: frozenset[int], _: Adds) -> tuple[Vector, Vector]:
            log_phi, psi = np.zeros(len(at)), np.zeros(len(at))
            for (label, value), confidence in self.joined(members).items():
                weight = self.weights[label]
                present = confidence * np.exp(-weight * at)
                log_phi += np.log1p(confidence * np.expm1(-weight * at)) if confidence < 1 else -weight * at
                if value == "true":
                    psi += weight * (present / (1 - confidence + present) if confidence < 1 else np.ones(len(at)))
            return log_phi, psi

        junk = [
            sum(p * self.weights[label] for (label, value), p in cluster.items() if value != "true")
            for cluster in self.clusters
        ]
        base = 2 / reference * factors * np.exp(-exponents)
        return Board(nodes=at, base=base, vectors=vectors, link_costs=self.costs, lanes=[self.lane], junk=junk)


def lane() -> Lane:
    """Bogus attributes of weight 2 for 1 each."""
    return Lane("card", 2.0, 1.0, 1.0, 100)


def random_instance(
    rng: np.random.Generator, size: int = 6, *, certain: bool = False, shared: bool = False
) -> Instance:
    """Some clusters with right and wrong values, some with wrong ones; ``shared``: clusters may hold the same facts."""
    weights = {label: float(rng.integers(1, 5)) for label in LABELS}
    clusters: list[Held] = []
    for number in range(size):
        held: Held = {}
        for label in LABELS:
            if rng.random() < 0.5:
                right = number < max(1, size // 2 - 1) and rng.random() < 0.6
                wrong = "common" if shared and rng.random() < 0.3 else f"of {number}"
                confidence = 1.0 if certain else float(rng.choice([0.3, 0.6, 0.9, 1.0]))
                held[label, "true" if right else wrong] = confidence
        clusters.append(held or {("zip", f"of {number}"): 1.0})
    costs = tuple(float(rng.integers(1, 4)) for _ in range(size))
    budget = float(rng.integers(2, 9))
    return Instance(tuple(clusters), weights, costs, budget, lane())


def gaps(kind: dict[str, bool], instances: int, random_state: int = 7) -> dict[str, Vector]:
    """By how much, relative to the best, the worst leakage that each search leaves exceeds the best."""
    rng = np.random.default_rng(random_state)
    found: dict[str, list[float]] = {"greedy": [], "partition": [], "the better": []}
    for _ in range(instances):
        board = random_instance(rng, **kind).board()
        budget = 0.0
        del board, budget
    return {name: np.array(values) for name, values in found.items()}
