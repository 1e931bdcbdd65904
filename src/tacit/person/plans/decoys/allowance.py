"""What decoys may say, about whom, and what that costs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from tacit.errors import ArgumentError
from tacit.person.model import Comparer, Labels, Reference
from tacit.person.model.records import Fact


@dataclass(frozen=True)
class Allowance:
    """The terms of all decoys together, named as in :func:`plan_decoys`."""

    reference: Reference
    labels: Labels
    allowed: Sequence[str]
    budget: float
    costs: Mapping[str, float]
    confidence: float = 1.0
    beta: float = 1.0

    def __post_init__(self) -> None:
        for label, cost in self.costs.items():
            if not (math.isfinite(cost) and cost > 0):
                raise ArgumentError(f"the cost of '{label}' is {cost:g}: give a finite number above 0")
        if not (math.isfinite(self.budget) and self.budget > 0):
            raise ArgumentError(f"the budget is {self.budget:g}: give a finite number above 0")
        if isinstance(self.allowed, str):
            why = "list in 'allowed' the labels that may be false, even if there is one"
            raise ArgumentError(f"'allowed' is text: {why}")
        if not self.allowed:
            raise ArgumentError(
                "no label may carry false values: list in 'allowed' those that may, such as ['nickname', 'hobby']"
            )
        if not 0 < self.confidence <= 1:
            why = "it lies above 0 and not above 1"
            raise ArgumentError(f"the confidence of false values is {self.confidence:g}: {why}")
        if not (math.isfinite(self.beta) and self.beta > 0):
            why = "give a finite number above 0 (1 weighs precision and recall alike)"
            raise ArgumentError(f"beta is {self.beta:g}: {why}")

    def cost(self, label: str) -> float:
        """What an attribute of a label costs."""
        return self.costs.get(label, 1.0)

    @cached_property
    def comparer(self) -> Comparer:
        """Compares a record with what is true of the person."""
        return Comparer(self.reference, self.labels)

    @cached_property
    def _truths(self) -> set[Fact]:
        return {(label, self.labels[label].meant(value)) for label, value in self.reference}

    def usable(self, fact: Fact) -> bool:
        """Whether a decoy may say this: the label may carry false values, or the fact is true."""
        label, value = fact
        return label in self.allowed or (label, self.labels[label].meant(value)) in self._truths
