"""A record laid beside a reference: what is right, nearly right, covered and wrong, and what depends on what."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.errors import ArgumentError
from tacit.person.labels import Correlated, Label, Labels
from tacit.person.records import Record, Reference
from tacit.person.values import covered, covers, is_suppressed

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]
Kind = Literal["correct", "near", "covered", "wrong"]


@dataclass(frozen=True)
class Block:
    """Attributes of one label that depend on one another, by their places in the record.

    If ``exclusive`` at most one is true; else they are present independently of one another and all hit the same fact,
    which the best of those present has credit for, once.
    """

    places: tuple[int, ...]
    exclusive: bool


@dataclass(frozen=True)
class Unit:
    """Blocks that share something: its weight is counted once if anything right of them is present, and once more if
    anything wrong is. Units are independent of one another."""

    blocks: tuple[Block, ...]
    shared: float = 0.0


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """A record laid beside a reference; arrays run over the attributes of the record.

    Attributes
    ----------
    confidence : array
        Probability that the attribute is present: the record's confidence, times ``share``, and if the values of a
        single-valued label together exceed 1, scaled to add to 1.
    share : array
        What the suppressed policy leaves of the record's confidence.
    weight : array
        What the attribute adds to the weight of the record.
    credit : array
        What it adds to the weight of what is right: similarity times the smaller of its weight and the truth's.
    hit : array of int
        The fact of the reference it is about; -1 if it is wrong.
    kinds : tuple of {"correct", "near", "covered", "wrong"}
    alone : array of int
        Places of the attributes that are independent of all others.
    units : tuple of Unit
        The others.
    reference_weight : float
    missing : tuple of int
        Facts of the reference about which the record has nothing.
    """

    confidence: FloatArray
    share: FloatArray
    weight: FloatArray
    credit: FloatArray
    hit: IntArray
    kinds: tuple[Kind, ...]
    alone: IntArray
    units: tuple[Unit, ...]
    reference_weight: float
    missing: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.confidence)

    @property
    def certain(self) -> bool:
        """Whether there is only one possible world: every confidence is 0 or 1."""
        return bool(np.all((self.confidence == 0) | (self.confidence == 1)))


def compare(record: Record, reference: Reference, labels: Labels) -> Comparison:
    """Lay a record beside a reference. For many records against one reference keep a `Comparer`."""
    return Comparer(reference, labels).compare(record)


class Comparer:
    """What every comparison with one reference needs, prepared once."""

    def __init__(self, reference: Reference, labels: Labels) -> None:
        self._reference = reference
        self._labels = labels
        if labels.plain:
            self.reference_weight = math.fsum([labels[label].weight for label, _ in reference.facts])
            return
        shared = (group.shared for group in labels.correlated if any(label in self._beside for label in group.labels))
        own = (weight for beside in self._beside.values() for weight in beside.weights.values())
        self.reference_weight = math.fsum([*own, *shared])

    @cached_property
    def _beside(self) -> dict[str, _Facts]:
        """The true values of every label of the reference."""
        facts: dict[str, list[tuple[int, str]]] = {}
        for place, (label, value) in enumerate(self._reference.facts):
            facts.setdefault(label, []).append((place, value))
        return {label: _Facts(label, self._labels[label], given) for label, given in facts.items()}

    @cached_property
    def _facts(self) -> list[int]:
        """Places of the facts; one said twice is there once."""
        return sorted(place for beside in self._beside.values() for place in beside.weights)

    @cached_property
    def _group_of(self) -> dict[str, Correlated]:
        return {label: group for group in self._labels.correlated for label in group.labels}

    def compare(self, record: Record) -> Comparison:
        """Lay one record beside the reference."""
        plain = self._compare_plain(record) if self._labels.plain else None
        return self._compare_any(record) if plain is None else plain

    def _compare_plain(self, record: Record) -> Comparison | None:
        """Where labels have weights alone, a value is the truth or is wrong; None if one may cover the truth."""
        labels, facts = self._labels, self._reference.places
        hits = [facts.get((label, value), -1) for label, value, _ in record.attributes]
        if any(
            fact < 0 and is_suppressed(attribute[1]) for attribute, fact in zip(record.attributes, hits, strict=True)
        ):
            return None
        size = len(hits)
        hit = np.array(hits, dtype=np.intp)
        confidence = np.array([attribute[2] for attribute in record.attributes], dtype=np.float64)
        weight = np.array([labels[attribute[0]].weight for attribute in record.attributes], dtype=np.float64)
        kinds: tuple[Kind, ...] = tuple(["wrong" if fact < 0 else "correct" for fact in hits])
        known = set(hits)
        missing = tuple([place for place in range(len(facts)) if place not in known])
        credit = np.where(hit < 0, 0.0, weight)
        alone = np.arange(size, dtype=np.intp)
        return Comparison(
            confidence, np.ones(size), weight, credit, hit, kinds, alone, (), self.reference_weight, missing
        )

    def _compare_any(self, record: Record) -> Comparison:
        found: list[_Found] = []
        for attribute in record.attributes:
            beside = self._beside.get(attribute.label)
            if beside is None:
                beside = self._beside[attribute.label] = _Facts(attribute.label, self._labels[attribute.label], [])
            found.append(beside.look(attribute.value))
        kinds, weights, credits, hits, shares = zip(*found, strict=True) if found else ((), (), (), (), ())
        weight, credit, share = (np.array(column, dtype=np.float64) for column in (weights, credits, shares))
        confidence = share * np.array([attribute.confidence for attribute in record.attributes], dtype=np.float64)
        hit = np.array(hits, dtype=np.intp)
        alone, units = self._units(record, hit)
        for unit in units:
            for block in unit.blocks:
                if block.exclusive:
                    _make_exclusive(confidence, block.places)
        known = set(hit.tolist())
        missing = tuple(place for place in self._facts if place not in known)
        return Comparison(confidence, share, weight, credit, hit, kinds, alone, units, self.reference_weight, missing)

    def _units(self, record: Record, hit: IntArray) -> tuple[IntArray, tuple[Unit, ...]]:
        """Which attributes depend on which: rules (b), (c) and (d) of the model."""
        blocks: dict[tuple[str, int], list[int]] = {}
        alone: list[int] = []
        for place, (attribute, fact) in enumerate(zip(record.attributes, hit.tolist(), strict=True)):
            # All values of a single-valued label go together; of others, those about one fact; a wrong value alone.
            label = attribute.label
            single = self._beside[label].single
            if fact < 0 and not single and label not in self._group_of:
                alone.append(place)
            else:
                key = (label, -1 if single else fact if fact >= 0 else -2 - place)
                blocks.setdefault(key, []).append(place)
        units: list[Unit] = []
        groups: dict[tuple[str, ...], list[Block]] = {}
        for (label, _), places in blocks.items():
            group = self._group_of.get(label)
            if group is None and len(places) == 1:
                alone.extend(places)
                continue
            block = Block(tuple(places), exclusive=self._labels[label].single)
            if group is None:
                units.append(Unit((block,)))
            else:
                groups.setdefault(group.labels, []).append(block)
        for group in self._labels.correlated:
            if group.labels in groups:
                units.append(Unit(tuple(groups[group.labels]), group.shared))
        return np.array(sorted(alone), dtype=np.intp), tuple(units)


def _make_exclusive(confidence: FloatArray, places: tuple[int, ...]) -> None:
    """Scale confidences that add to more than 1, in place."""
    chosen = list(places)
    total = math.fsum(confidence[chosen])
    if total > 1:
        confidence[chosen] /= total


def absent(probabilities: FloatArray) -> float:
    """Probability that none of some exclusive values is true; 0 if only rounding keeps them from adding to 1."""
    left = 1 - math.fsum(probabilities)
    return left if left > 1e-15 or len(probabilities) == 1 else 0.0


class _Found(NamedTuple):
    kind: Kind
    weight: float
    credit: float = 0.0
    hit: int = -1
    share: float = 1.0


class _Facts:
    """The true values of one label, ready to be compared with."""

    __slots__ = ("_label", "_meant", "_name", "_places", "_plain_wrong", "_suppressed", "_values", "single", "weights")

    def __init__(self, name: str, label: Label, facts: list[tuple[int, str]]) -> None:
        self._name = name
        self._label = label
        self.single = label.single
        self._meant = label.meant if label.normalise is not None or label.synonyms else str
        self._places: dict[str, int] = {}
        self.weights: dict[int, float] = {}
        self._values: dict[int, str] = {}
        meanings = [(self._meant(value), place, value) for place, value in facts]
        if len(meanings) > 1:
            # Which of two facts equally near is hit must not depend on the reference's order.
            meanings.sort()
        for meant, place, value in meanings:
            if meant not in self._places:  # the same fact said twice counts once
                self._places[meant] = place
                self.weights[place] = label.weight if label.prior is None else label.weigh(value)
                self._values[place] = value
        self._plain_wrong = _Found("wrong", label.weight) if label.prior is None else None
        self._suppressed: dict[str, _Found] = {}

    def look(self, value: str) -> _Found:
        """What a held value is worth."""
        place = self._places.get(self._meant(value))
        if place is not None:
            weight = self.weights[place]
            return _Found("correct", weight, weight, place)
        if is_suppressed(value):
            if value not in self._suppressed:
                self._suppressed[value] = self._look_suppressed(value)
            return self._suppressed[value]
        if self._label.similarity is not None and self._places:
            near = self._look_near(value)
            if near is not None:
                return near
        return self._plain_wrong or _Found("wrong", self._label.weigh(value))

    def _look_near(self, value: str) -> _Found | None:
        assert self._label.similarity is not None
        meant, weight = self._label.meant(value), self._label.weigh(value)
        best: _Found | None = None
        for true, place in self._places.items():
            similar = float(self._label.similarity(meant, true))
            if not 0 <= similar <= 1:
                raise ArgumentError(f"the similarity of label '{self._name}' gave {similar:g}: it must lie in [0, 1]")
            credit = similar * min(weight, self.weights[place])
            if similar > 0 and (best is None or credit > best.credit):
                best = _Found("near", weight, credit, place)
        return best

    def _look_suppressed(self, pattern: str) -> _Found:
        """A value that covers the truth is the truth, held with less confidence; so it weighs what the truth does."""
        best: _Found | None = None
        for true, place in self._places.items():
            forms = {true, self._values[place]}
            if any(covers(pattern, form, meant=self._label.meant) for form in forms):
                weight = self.weights[place]
                found = _Found("covered", weight, weight, place, self._share(pattern, true))
                if best is None or found.credit * found.share > best.credit * best.share:
                    best = found
        return best or _Found("wrong", self._weigh_wrong(pattern))

    def _share(self, pattern: str, true: str) -> float:
        """What is left of the confidence: the more a pattern covers, the less it says."""
        label = self._label
        if label.suppressed == "equal":
            return 1.0
        if label.suppressed == "size":
            if not label.domain:
                raise ArgumentError(
                    f"label '{self._name}' counts what is covered, but has no domain: give all its values"
                )
            return 1 / max(1, len(covered(pattern, label.domain)))
        if label.prior is None:
            raise ArgumentError(
                f"label '{self._name}' shares by prior, but has none: give the probabilities of its values"
            )
        known = _mass(pattern, label.prior)
        if true in label.prior and label.prior[true] > 0:
            return label.prior[true] / max(known, label.prior[true])
        # A truth the prior does not know is as likely as the rarest value it knows.
        rarest = min((p for p in label.prior.values() if p > 0), default=1.0)
        return rarest / (known + rarest)

    def _weigh_wrong(self, pattern: str) -> float:
        """With a prior a wrong pattern is as surprising as all it covers together."""
        if self._label.prior is None:
            return self._label.weight
        known = _mass(pattern, self._label.prior)
        return self._label.weight * max(0.0, -math.log2(known)) if known > 0 else self._label.weigh(pattern)


def _mass(pattern: str, prior: Mapping[str, float]) -> float:
    return math.fsum(probability for value, probability in prior.items() if covers(pattern, value))
