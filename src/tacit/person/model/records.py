"""Records, which say what somebody holds about a person, and the reference, which says what is true."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from tacit.errors import ArgumentError

# A label and a value.
Fact = tuple[str, str]


class Attribute(NamedTuple):
    """One statement about a person: a label, a value, and its holder's confidence."""

    label: str
    value: str
    confidence: float = 1.0

    @property
    def fact(self) -> Fact:
        """The label and the value, without the confidence."""
        return self.label, self.value


def as_text(value: Any, *, where: str) -> str:
    """A value as text: numbers as people write them (30, not 30.0), text unchanged.

    Values are compared as text, so that an age of 30 in one source and "30" in another are the same age.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or value is None:
        raise ArgumentError(f"{where} is {value!r}: give text or a number, or leave the attribute out")
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ArgumentError(f"{where} is not a finite number: leave the attribute out")
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    return str(value)


def _attributes(items: Iterable[Any], *, what: str, confident: bool) -> tuple[Attribute, ...]:
    attributes: dict[Fact, Attribute] = {}
    wanted = "(label, value, confidence)" if confident else "(label, value)"
    if isinstance(items, str | Mapping):
        kind = "text" if isinstance(items, str) else "a mapping"
        raise ArgumentError(f"the {what} is {kind}: give a list of {wanted}; a label may have several values")
    for place, item in enumerate(items, start=1):
        where = f"attribute {place} of the {what}"
        if isinstance(item, str):
            raise ArgumentError(f"{where} is text: give {wanted}")
        parts = tuple(item)
        if not 2 <= len(parts) <= (3 if confident else 2):
            raise ArgumentError(f"{where} has {len(parts)} parts: give {wanted}")
        label = parts[0]
        if not isinstance(label, str) or not label:
            raise ArgumentError(f"{where} has no label: its first part is a name such as 'phone'")
        value = as_text(parts[1], where=f"the value of {where} ('{label}')")
        confidence = float(parts[2]) if len(parts) == 3 else 1.0
        if not 0.0 <= confidence <= 1.0:  # also refuses not-a-number
            raise ArgumentError(f"the confidence of {where} ('{label}') is {confidence:g}: it lies in [0, 1]")
        if (label, value) in attributes:
            # Without the value, which is a person's: the message may end up in a log.
            raise ArgumentError(f"{where} ('{label}') repeats a label and value of the same {what}: keep one of them")
        attributes[label, value] = Attribute(label, value, confidence)
    return tuple(attributes.values())


@dataclass(frozen=True, init=False, eq=True, repr=False)
class Record:
    """What somebody holds about one person: attributes with confidences, no fixed schema.

    Parameters
    ----------
    attributes : iterable of (label, value, confidence) or (label, value)
        Confidence in [0, 1]; 1 if left out. Values are compared as text. A label may occur several times with
        different values; the same label and value only once.
    name : str
        Name of the record itself, for traces: "shop 17". Never a value of the person.
    source : str
        Where it came from: "shop".

    Notes
    -----
    ``repr`` shows labels and confidences but no value, because records of real people end up in tracebacks and logs.
    """

    attributes: tuple[Attribute, ...]
    name: str
    source: str

    def __init__(self, attributes: Iterable[Any], *, name: str = "", source: str = "") -> None:
        checked = _attributes(attributes, what="record", confident=True)
        self.__dict__.update(attributes=checked, name=name, source=source)

    @classmethod
    def trusted(cls, attributes: Iterable[Attribute], *, name: str = "", source: str = "") -> Record:
        """A record of attributes that were checked earlier, for the inner loops of resolvers."""
        record = cls.__new__(cls)
        record.__dict__.update(attributes=tuple(attributes), name=name, source=source)
        return record

    @cached_property
    def confidences(self) -> dict[Fact, float]:
        """The confidence of every (label, value) in the record; any other has confidence 0."""
        return {attribute.fact: attribute.confidence for attribute in self.attributes}

    def without(self, attribute: Attribute) -> Record:
        """The record without one attribute."""
        kept = (a for a in self.attributes if a.fact != attribute.fact)
        return Record.trusted(kept, name=self.name, source=self.source)

    def __len__(self) -> int:
        return len(self.attributes)

    def __iter__(self) -> Iterator[Attribute]:
        return iter(self.attributes)

    def __repr__(self) -> str:
        # "with" shows that the number is a confidence; no value is shown.
        sure = (a.label if a.confidence == 1 else f"{a.label} with {a.confidence:g}" for a in self.attributes)
        return f"Record({', '.join(sure)})"


@dataclass(frozen=True, init=False, repr=False)
class Reference:
    """The whole truth about a person, as (label, value) pairs: what a record is measured against.

    ``repr`` shows labels but no value.
    """

    facts: tuple[Fact, ...]

    def __init__(self, facts: Iterable[Any]) -> None:
        attributes = _attributes(facts, what="reference", confident=False)
        if not attributes:
            raise ArgumentError("the reference has no attribute: say at least one true thing about the person")
        object.__setattr__(self, "facts", tuple(attribute.fact for attribute in attributes))

    @cached_property
    def places(self) -> dict[Fact, int]:
        """The position of each (label, value) in ``facts``."""
        return {fact: place for place, fact in enumerate(self.facts)}

    def values(self, label: str) -> tuple[str, ...]:
        """The person's true values of a label."""
        return tuple(value for name, value in self.facts if name == label)

    def __len__(self) -> int:
        return len(self.facts)

    def __iter__(self) -> Iterator[Fact]:
        return iter(self.facts)

    def __repr__(self) -> str:
        return f"Reference({', '.join(label for label, _ in self.facts)})"
