"""The person asked about: what is true of them, and how a record is measured against it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from weakref import WeakKeyDictionary

from tacit.person.link.attributes import Attributes
from tacit.person.link.right import NearForms, RightRows
from tacit.person.model.comparing import Comparer
from tacit.person.model.labels import Labels
from tacit.person.model.leakage import Leakage, measure_of
from tacit.person.model.records import Record, Reference

# How many normal forms are cached for each label.
REMEMBERED = 1 << 20
# Leakages whose ratio is closer to 1 than this count as equal.
SAME = 1e-12


# Returns what is right among attributes: as it was kept, or made.
KeepingRight = Callable[[Attributes, Callable[[], RightRows]], RightRows]


@dataclass(frozen=True)
class Subject:
    """What every question about a person needs: the truth, how values are compared, and beta.

    ``keeping`` is asked before what is right among attributes is looked for.
    """

    reference: Reference
    labels: Labels
    beta: float = 1.0
    keeping: KeepingRight = field(default=lambda attributes, make: make(), repr=False, compare=False)

    @cached_property
    def comparer(self) -> Comparer:
        """Compares records with the reference; it caches the values it has seen."""
        return Comparer(self.reference, self.labels)

    @cached_property
    def found(self) -> WeakKeyDictionary[Attributes, RightRows]:
        """What was found to be right among attributes, for as long as the attributes exist."""
        return WeakKeyDictionary()

    @cached_property
    def near(self) -> WeakKeyDictionary[Attributes, NearForms]:
        """What may be right among attributes in normal form, for as long as the attributes exist."""
        return WeakKeyDictionary()

    @cached_property
    def verdicts(self) -> dict[str, dict[tuple[str, bool], tuple[int, float]]]:
        """By label and by compared value, with whether it is in normal form: the fact it hits (-1 for none) and its
        credit."""
        return {}

    def measure(self, record: Record) -> Leakage:
        """Leakage, precision and recall of a record."""
        return measure_of(self.comparer.compare(record), beta=self.beta)

    def ceiling(self, right: float) -> float:
        """The most that can leak from a record whose right part is expected to weigh at most ``right``.

        With I the weight of what is right in a possible world, its F-measure is at most that of a record that holds
        nothing else, (1 + b^2) I / (I + b^2 W). This is increasing and concave in I, so the bound holds in expectation.
        """
        square, whole = self.beta * self.beta, self.comparer.reference_weight
        return (1 + square) * right / (right + square * whole) if right > 0 else 0.0


def remembering(labels: Labels) -> Labels:
    """The labels, with cached normal forms.

    Every adversary reads the same values, and with many records most of the time goes into their normal forms.
    """
    described = {
        name: label if label.normalise is None else replace(label, normalise=lru_cache(REMEMBERED)(label.normalise))
        for name, label in labels.items()
    }
    return Labels(described, correlated=labels.correlated)


def exceeds(one: float, other: float) -> bool:
    """Whether a leakage is larger than another by more than rounding, however small both are."""
    return one > other * (1 + SAME)
