"""What is known about all records of a case, where only those near the person are in the pool."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tacit.person.link.attributes import IntArray
from tacit.person.resolve.steps import Step

# The records that are the person's, as some steps on values leave them.
Recognised = Sequence[tuple[tuple[Step, ...], IntArray]]
# Digits behind the point that tell upper bounds of clusters apart.
DIGITS = 12


class MoreNeededError(Exception):
    """An answer depends on clusters that are not in the pool; never shown."""


@dataclass(frozen=True, eq=False)
class Promising:
    """Clusters of an adversary that are in the pool whole, the most promising ones of all, by their names there.

    ``beyond`` is an upper bound on the weight of what is right in any other; 0 if there is no other.
    """

    clusters: IntArray
    beyond: float


@dataclass(frozen=True, eq=False)
class Whole:
    """What is known about all records of a case.

    Attributes
    ----------
    records : int
        How many there are.
    entities : mapping from adversary to int
        How many clusters the adversary makes of them.
    promising : mapping from adversary to Promising
    recognised : sequence of (steps on values, int array)
        The records that are the person's to somebody who knows the truth, as these steps leave them, by their numbers
        in the pool, which has them all.
    seconds : mapping from adversary to float
        How long it took to carry it out.
    unread : tuple of str
        Notes on values that could not be compared.
    notes : tuple of str
        What the answer leaves out because the records are on a cluster.
    """

    records: int
    entities: Mapping[str, int]
    promising: Mapping[str, Promising]
    recognised: Recognised = field(repr=False)
    seconds: Mapping[str, float]
    unread: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
