"""Planning decoys: how far the fast searches are from the best plan, and how long they take at scale.

    .venv/bin/python benchmarks/decoys.py

Quality: 150 random instances of 6 clusters in each of three kinds, against the search of every grouping. Scale: one
person's records among those of 1,000 to 100,000 strangers, from records to a plan that was measured.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from time import process_time

import numpy as np
from numpy.typing import NDArray

from tacit.person import Adversary, Labels, Record, Reference, Resolve, Rules, WhatIf, plan_decoys
from tacit.person.model.quadrature import nodes as quadrature
from tacit.person.plans.decoys.allowance import Allowance
from tacit.person.plans.decoys.board import Adds, Board, Lane, Sketch
from tacit.person.plans.decoys.false_values import false_lanes
from tacit.person.plans.decoys.knapsack import by_partition
from tacit.person.plans.decoys.planner import Planner
from tacit.person.plans.decoys.search import exact, greedy

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
    return Lane("card", 2.0, 1.0, 1.0, tuple(f"decoy-{number}" for number in range(100)))


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


def quality(instances: int, random_state: int = 7) -> None:
    """How far the fast searches are from the best plan."""
    print(f"{instances} random instances of 6 clusters a row; gap: worst leakage left, relative to the best plan's")
    print(f"{'':<14}{'search':<12}{'best found':>11}{'mean gap':>10}{'max gap':>9}{'ms':>8}{'ms exact':>10}")
    for name, kind in (("confidence 1", {"certain": True}), ("confidences", {}), ("shared facts", {"shared": True})):
        rng = np.random.default_rng(random_state)
        gaps: dict[str, list[float]] = {"greedy": [], "partition": [], "the better": []}
        seconds = {"exact": 0.0, "greedy": 0.0, "partition": 0.0}
        for _ in range(instances):
            instance = random_instance(rng, **kind)
            found: dict[str, Sketch] = {}
            for way, search in (("exact", exact), ("greedy", greedy), ("partition", by_partition)):
                board = instance.board()
                start = process_time()
                found[way] = search(board, instance.budget)
                seconds[way] += process_time() - start
            best = found["exact"].worst
            for way in ("greedy", "partition"):
                gaps[way].append(found[way].worst / best - 1 if best > 0 else 0.0)
            gaps["the better"].append(min(gaps["greedy"][-1], gaps["partition"][-1]))
        for way, values in gaps.items():
            took = seconds[way] if way in seconds else seconds["greedy"] + seconds["partition"]
            print(
                f"{name:<14}{way:<12}{np.mean(np.array(values) < 1e-9):>11.0%}{np.mean(values):>10.2%}"
                f"{max(values):>9.1%}{took / instances * 1e3:>8.1f}{seconds['exact'] / instances * 1e3:>10.1f}"
            )


def strangers(rng: np.random.Generator, size: int) -> list[Record]:
    """Three records of the person and one of each stranger, with confidences."""
    records = [
        Record([("name", "true"), ("card", "true"), ("address", "1", 0.5)]),
        Record([("name", "true"), ("phone", "true", 0.8)]),
        Record([("email", "true"), ("zip", "true")]),
    ]
    for number in range(size):
        held = rng.choice(LABELS, size=int(rng.integers(1, 6)), replace=False)
        records.append(Record([(str(label), f"of {number}", float(rng.random())) for label in held]))
    return records


def scale(sizes: list[int], budget: float = 30.0, random_state: int = 1) -> None:
    """How long each part takes, and what the decoys leave."""
    labels = Labels.weighted({"card": 3.0, "phone": 2.0, "email": 2.0})
    reference = Reference([(label, "true") for label in LABELS])
    joins = Adversary("joins", [Resolve(Rules([["name", "card"], ["name", "phone"], ["email"]]))])
    print(f"\nbudget {budget:g}; processor seconds to resolve and measure the clusters, to plan (search, make records)")
    print("and for all of plan_decoys, from the records to what the decoys were measured to do")
    print(f"{'clusters':>9}{'resolve':>9}{'plan':>7}{'all':>8}{'before':>9}{'predicted':>11}{'after':>8}  method")
    for size in sizes:
        records = strangers(np.random.default_rng(random_state), size)
        allowance = Allowance(reference, labels, LABELS, budget, {})
        lanes = false_lanes(records, allowance, None)
        start = process_time()
        planner = Planner(WhatIf(records, reference, joins, labels), joins, allowance, lanes)
        resolved = process_time()
        proposal = next(planner.proposals("auto"))
        planned = process_time()
        plan = plan_decoys(records, reference, [joins], labels, budget=budget, allowed=LABELS)
        done = process_time()
        assert proposal.predicted == plan.predicted["joins"]
        print(
            f"{len(planner.members):>9,}{resolved - start:>9.2f}{planned - resolved:>7.2f}{done - planned:>8.2f}"
            f"{plan.before['joins']:>9.4f}{plan.predicted['joins']:>11.4f}{plan.after['joins']:>8.4f}  {plan.method}"
        )


def main() -> None:
    """Both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--instances", type=int, default=150, help="random instances of each kind (default 150)")
    parser.add_argument("--largest", type=int, default=100_000, help="most strangers (default 100,000)")
    options = parser.parse_args()
    quality(options.instances)
    scale([size for size in (1_000, 10_000, 100_000) if size <= options.largest])


if __name__ == "__main__":
    main()
