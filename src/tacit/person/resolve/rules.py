"""Matching rules: when an adversary takes two records to be the same person's."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from tacit.errors import ArgumentError
from tacit.person.model import Record
from tacit.person.model.records import Fact

# What a record or a merged record holds: the confidence of each fact.
Facts = Mapping[Fact, float]

# The place of an alternative among the rules, then one value for each of its labels: records that share a key match.
Key = tuple[int | str, ...]


def facts_of(record: Record | Facts) -> Facts:
    """The facts of a record, or of a merged record, which already is a mapping."""
    return record.confidences if isinstance(record, Record) else record


@dataclass(frozen=True, init=False)
class Rules:
    """Two records match if, for at least one alternative, they share a value of every label in it.

    Parameters
    ----------
    alternatives : iterable of iterables of labels
        An OR of ANDs: ``[["name", "card"], ["name", "phone"], ["email"]]``. A single label needs no list around it.
    min_confidence : float
        Only values held with at least this confidence count, on both sides. A confidence of 0 never counts.

    Notes
    -----
    With union merging (each fact with its best confidence) a merged record keeps every value that counts, so it
    matches whatever its parts matched; resolution then has one result, whatever the order of the records.
    """

    alternatives: tuple[tuple[str, ...], ...]
    min_confidence: float

    def __init__(self, alternatives: Iterable[Iterable[str] | str], min_confidence: float = 0.0) -> None:
        distinct: list[tuple[str, ...]] = []
        for place, alternative in enumerate(alternatives, start=1):
            labels = (alternative,) if isinstance(alternative, str) else tuple(alternative)
            if not labels or not all(isinstance(label, str) and label for label in labels):
                raise ArgumentError(f"rule {place} names no label: give a list of labels such as ['name', 'card']")
            if len(set(labels)) != len(labels):
                raise ArgumentError(f"rule {place} names a label twice: name each once")
            if set(labels) not in map(set, distinct):
                distinct.append(labels)
        if not (math.isfinite(min_confidence) and 0.0 <= min_confidence <= 1.0):
            raise ArgumentError(f"the least confidence of the rules is {min_confidence:g}: it lies in [0, 1]")
        object.__setattr__(self, "alternatives", tuple(distinct))
        object.__setattr__(self, "min_confidence", float(min_confidence))

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The labels that matter for matching, in the order of their first mention."""
        return tuple(dict.fromkeys(label for labels in self.alternatives for label in labels))

    @cached_property
    def single_labels_only(self) -> bool:
        """Whether no alternative is an AND; then merged records match nothing that their base records do not."""
        return all(len(labels) == 1 for labels in self.alternatives)

    def counts(self, confidence: float) -> bool:
        """Whether a value held with this confidence takes part in matching."""
        return confidence > 0.0 and confidence >= self.min_confidence

    def values(self, record: Record | Facts) -> dict[str, list[str]]:
        """The values that take part in matching, by label."""
        values: dict[str, list[str]] = {}
        wanted, least = self._wanted, self.min_confidence
        for (label, value), confidence in facts_of(record).items():
            if label in wanted and confidence >= least and confidence > 0.0:
                values.setdefault(label, []).append(value)
        return values

    @cached_property
    def _wanted(self) -> frozenset[str]:
        return frozenset(self.labels)

    def keys(self, record: Record | Facts, most: float = math.inf) -> Iterator[Key]:
        """What the record can be found by: two records match if and only if they have a key in common.

        Alternatives with more than ``most`` keys are left out; ``wide`` names them.
        """
        values = self.values(record)
        for place, labels in enumerate(self.alternatives):
            if self._combinations(values, labels) <= most:
                for combination in itertools.product(*(values.get(label, ()) for label in labels)):
                    yield (place, *combination)

    def wide(self, record: Record | Facts, most: float) -> list[int]:
        """The alternatives with more than ``most`` keys: a thousand names times a thousand cards."""
        values = self.values(record)
        return [place for place, labels in enumerate(self.alternatives) if self._combinations(values, labels) > most]

    def _combinations(self, values: Mapping[str, list[str]], labels: tuple[str, ...]) -> float:
        # An alternative with one label has as many keys as values, so it is never too many.
        return math.prod(len(values.get(label, ())) for label in labels) if len(labels) > 1 else 0
