"""A record compared with a reference: what is right, nearly right, covered and wrong, and what depends on what."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.errors import ArgumentError
from tacit.lift.joint import Vector
from tacit.person.model.labels import Label, Labels
from tacit.person.model.records import Record, Reference
from tacit.person.model.values import covered, covers, is_suppressed, tells_something

Places = NDArray[np.intp]
Kind = Literal["correct", "near", "covered", "wrong"]


@dataclass(frozen=True)
class LabelBlock:
    """Attributes of one label that depend on one another, by their places in the record.

    If ``exclusive``, at most one is true; otherwise each is present independently of the others and all hit the same
    fact, which is credited once, to the best of those present.
    """

    places: tuple[int, ...]
    exclusive: bool


@dataclass(frozen=True)
class AttributeUnit:
    """Blocks that share something: its weight counts once if anything right in them is present, and once more if
    anything wrong is. Units are independent of one another."""

    blocks: tuple[LabelBlock, ...]
    shared: float = 0.0


@dataclass(frozen=True, eq=False, repr=False)
class ComparedRecord:
    """A record compared with a reference; arrays run over the attributes of the record.

    Attributes
    ----------
    confidence : array
        Probability that the attribute is present: the record's confidence, times ``share``, and if the values of a
        single-valued label exceed 1 together, scaled to add up to 1.
    share : array
        What the suppressed policy leaves of the record's confidence.
    weight : array
        What the attribute adds to the weight of the record.
    credit : array
        What it adds to the weight of what is right: similarity times the smaller of its weight and the true value's.
    hit : array of int
        The fact of the reference it is about; -1 if it is wrong.
    kinds : tuple of {"correct", "near", "covered", "wrong"}
    alone : array of int
        Places of the attributes that are independent of all others.
    units : tuple of AttributeUnit
        The others.
    reference_weight : float
    missing : tuple of int
        Facts of the reference about which the record has nothing.
    """

    confidence: Vector
    share: Vector
    weight: Vector
    credit: Vector
    hit: Places
    kinds: tuple[Kind, ...]
    alone: Places
    units: tuple[AttributeUnit, ...]
    reference_weight: float
    missing: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.confidence)

    @property
    def certain(self) -> bool:
        """Whether there is only one possible world: every confidence is 0 or 1."""
        return bool(np.all((self.confidence == 0) | (self.confidence == 1)))


def compare(record: Record, reference: Reference, labels: Labels) -> ComparedRecord:
    """Compare a record with a reference. For many records against one reference, keep a `Comparer`."""
    return Comparer(reference, labels).compare(record)


class Comparer:
    """What every comparison with one reference needs, prepared once."""

    def __init__(self, reference: Reference, labels: Labels) -> None:
        self._reference = reference
        self.labels = labels
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
        return {label: _Facts(label, self.labels[label], values) for label, values in facts.items()}

    @cached_property
    def _facts(self) -> list[int]:
        """Places of the facts; a fact that was stated twice counts once."""
        return sorted(place for beside in self._beside.values() for place in beside.weights)

    def compare(self, record: Record) -> ComparedRecord:
        """Compare one record with the reference."""
        plain = self._compare_plain(record) if self.labels.plain else None
        return self._compare_any(record) if plain is None else plain

    def verdicts(self, label: str, values: Iterable[str], *, formed: bool = False) -> list[Verdict]:
        """What values of a label are worth, each by itself; ``formed`` if they are in normal form and none stands for
        several values."""
        beside = self._beside.get(label) or _Facts(label, self.labels[label], [])
        return [beside.look_formed(value) if formed else beside.look(value) for value in values]

    def _compare_plain(self, record: Record) -> ComparedRecord | None:
        """The comparison if labels have only weights, so a value is true or wrong; None if one may cover the truth."""
        labels, facts = self.labels, self._reference.places
        hits = [facts.get((label, value), -1) for label, value, _ in record.attributes]
        if any(
            fact < 0 and is_suppressed(attribute[1]) for attribute, fact in zip(record.attributes, hits, strict=True)
        ):
            return None
        hit = np.array(hits, dtype=np.intp)
        weight = np.array([labels[attribute[0]].weight for attribute in record.attributes], dtype=np.float64)
        return ComparedRecord(
            confidence=np.array([attribute[2] for attribute in record.attributes], dtype=np.float64),
            share=np.ones(len(hits)),
            weight=weight,
            credit=np.where(hit < 0, 0.0, weight),
            hit=hit,
            kinds=tuple(["wrong" if fact < 0 else "correct" for fact in hits]),
            alone=np.arange(len(hits), dtype=np.intp),
            units=(),
            reference_weight=self.reference_weight,
            missing=_missing(range(len(facts)), hits),
        )

    def _compare_any(self, record: Record) -> ComparedRecord:
        verdicts: list[Verdict] = []
        for attribute in record.attributes:
            beside = self._beside.get(attribute.label)
            if beside is None:
                beside = self._beside[attribute.label] = _Facts(attribute.label, self.labels[attribute.label], [])
            verdicts.append(beside.look(attribute.value))
        labels = [attribute.label for attribute in record.attributes]
        confidence = [attribute.confidence for attribute in record.attributes]
        # A lone star hits the fact but says nothing about it.
        missing = _missing(self._facts, (verdict.hit for verdict in verdicts if verdict.share > 0))
        return judged(labels, confidence, verdicts, self.labels, self.reference_weight, missing)


def judged(
    names: Sequence[str],
    confidences: Sequence[float],
    verdicts: Sequence[Verdict],
    labels: Labels,
    reference_weight: float,
    missing: tuple[int, ...] = (),
) -> ComparedRecord:
    """A compared record, from attributes whose values were judged one by one."""
    kinds, weights, credits, hits, shares = zip(*verdicts, strict=True) if verdicts else ((), (), (), (), ())
    weight, credit, share = (np.array(column, dtype=np.float64) for column in (weights, credits, shares))
    confidence = share * np.array(confidences, dtype=np.float64)
    hit = np.array(hits, dtype=np.intp)
    alone, units = _units(names, hits, labels)
    for block in (block for unit in units for block in unit.blocks if block.exclusive):
        places = list(block.places)
        confidence[places] /= max(1.0, math.fsum(confidence[places]))
    return ComparedRecord(confidence, share, weight, credit, hit, kinds, alone, units, reference_weight, missing)


def _units(names: Sequence[str], hits: Sequence[int], labels: Labels) -> tuple[Places, tuple[AttributeUnit, ...]]:
    """Which attributes depend on which: rules (b), (c) and (d) of the model."""
    blocks: dict[tuple[str, int], list[int]] = {}
    alone: list[int] = []
    group_of = labels.group_of
    for place, (label, fact) in enumerate(zip(names, hits, strict=True)):
        # All values of a single-valued label form one block; of another label, those that hit the same fact do, and a
        # wrong value stands alone.
        single = labels[label].single
        if fact < 0 and not single and label not in group_of:
            alone.append(place)
        else:
            key = (label, -1 if single else fact if fact >= 0 else -2 - place)
            blocks.setdefault(key, []).append(place)
    units: list[AttributeUnit] = []
    groups: dict[tuple[str, ...], list[LabelBlock]] = {}
    for (label, _), places in blocks.items():
        group = group_of.get(label)
        if group is None and len(places) == 1:
            alone.extend(places)
            continue
        block = LabelBlock(tuple(places), exclusive=labels[label].single)
        if group is None:
            units.append(AttributeUnit((block,)))
        else:
            groups.setdefault(group.labels, []).append(block)
    for group in labels.correlated:
        if group.labels in groups:
            units.append(AttributeUnit(tuple(groups[group.labels]), group.shared))
    return np.array(sorted(alone), dtype=np.intp), tuple(units)


def _missing(facts: Iterable[int], hits: Iterable[int]) -> tuple[int, ...]:
    stated = set(hits)
    return tuple([place for place in facts if place not in stated])


def absent(probabilities: Vector) -> float:
    """Probability that none of these exclusive values is true; 0 if only rounding keeps them from adding up to 1."""
    left = 1 - math.fsum(probabilities)
    return left if left > 1e-15 or len(probabilities) == 1 else 0.0


class Verdict(NamedTuple):
    """What one value is worth, compared with the truth."""

    kind: Kind
    weight: float
    credit: float = 0.0
    hit: int = -1
    share: float = 1.0


def weights_if_wrong(name: str, label: Label, values: Iterable[str]) -> list[float]:
    """What values of a label weigh when none of them is true of the person."""
    nothing = _Facts(name, label, [])
    return [nothing.look(value).weight for value in values]


class _Facts:
    """The true values of one label, ready to be compared with."""

    __slots__ = ("_label", "_meant", "_name", "_places", "_plain_wrong", "_suppressed", "_values", "weights")

    def __init__(self, name: str, label: Label, facts: list[tuple[int, str]]) -> None:
        self._name = name
        self._label = label
        self._meant = label.meant if label.normalise is not None or label.synonyms else str
        self._places: dict[str, int] = {}
        self.weights: dict[int, float] = {}
        self._values: dict[int, str] = {}
        meanings = [(self._meant(value), place, value) for place, value in facts]
        if len(meanings) > 1:
            # Which of two equally near facts is hit must not depend on the order of the reference.
            meanings.sort()
        for meant, place, value in meanings:
            if meant not in self._places:  # a fact that was stated twice counts once
                self._places[meant] = place
                self.weights[place] = label.weight if label.prior is None else label.weigh(value)
                self._values[place] = value
        self._plain_wrong = Verdict("wrong", label.weight) if label.prior is None else None
        self._suppressed: dict[str, Verdict] = {}

    def look(self, value: str) -> Verdict:
        """What a held value is worth."""
        place = self._places.get(self._meant(value))
        if place is not None:
            weight = self.weights[place]
            return Verdict("correct", weight, weight, place)
        if is_suppressed(value):
            if value not in self._suppressed:
                self._suppressed[value] = self._look_suppressed(value)
            return self._suppressed[value]
        return self._look_whole(self._label.meant(value), value)

    def look_formed(self, form: str) -> Verdict:
        """What a held value is worth if it is in normal form and does not stand for others."""
        place = self._places.get(form)
        if place is not None:
            return Verdict("correct", self.weights[place], self.weights[place], place)
        return self._look_whole(form, form)

    def _look_whole(self, meant: str, value: str) -> Verdict:
        if self._label.similarity is not None and self._places:
            near = self._look_near(meant, value)
            if near is not None:
                return near
        return self._plain_wrong or Verdict("wrong", self._label.weigh(value))

    def _look_near(self, meant: str, value: str) -> Verdict | None:
        assert self._label.similarity is not None
        weight = self._label.weight if self._label.prior is None else self._label.weigh(value)
        best: Verdict | None = None
        for true, place in self._places.items():
            similar = float(self._label.similarity(meant, true))
            if not 0 <= similar <= 1:
                raise ArgumentError(f"the similarity of label '{self._name}' gave {similar:g}: it must lie in [0, 1]")
            credit = similar * min(weight, self.weights[place])
            if similar > 0 and (best is None or credit > best.credit):
                best = Verdict("near", weight, credit, place)
        return best

    def _look_suppressed(self, pattern: str) -> Verdict:
        """A value that covers the truth counts as the truth held with less confidence, so it weighs the same."""
        best: Verdict | None = None
        for true, place in self._places.items():
            if self._label.covers(pattern, true, self._values[place]):
                weight = self.weights[place]
                verdict = Verdict("covered", weight, weight, place, self._share(pattern, true))
                if best is None or verdict.credit * verdict.share > best.credit * best.share:
                    best = verdict
        return best or Verdict("wrong", self._weigh_wrong(pattern))

    def _share(self, pattern: str, true: str) -> float:
        """What is left of the confidence: the more a pattern covers, the less it says."""
        label = self._label
        if label.suppressed == "equal":
            return float(tells_something(pattern))
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
        mass = _mass(pattern, label.prior)
        if true in label.prior and label.prior[true] > 0:
            return label.prior[true] / max(mass, label.prior[true])
        # A true value missing from the prior counts as likely as the rarest value in it.
        rarest = min((p for p in label.prior.values() if p > 0), default=1.0)
        return rarest / (mass + rarest)

    def _weigh_wrong(self, pattern: str) -> float:
        """With a prior, a wrong pattern is as surprising as everything it covers, taken together."""
        if self._label.prior is None:
            return self._label.weight
        mass = _mass(pattern, self._label.prior)
        return self._label.weight * max(0.0, -math.log2(mass)) if mass > 0 else self._label.weigh(pattern)


def _mass(pattern: str, prior: Mapping[str, float]) -> float:
    return math.fsum(probability for value, probability in prior.items() if covers(pattern, value))
