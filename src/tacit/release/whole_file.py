"""The second reading of a claim: not one record seen alone, but the whole file in the hands of somebody who looks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

# What is said of a claim that holds of every record, where the whole file says whose record it is.
ROW_BY_ROW = "holds row by row, not for the whole file"


@dataclass(frozen=True)
class WholeFile:
    """How many people of the original share each released value: all released columns, taken together.

    Attributes
    ----------
    least : int
        The fewest that were asked for.
    smallest : int
        The fewest that share a released value.
    values_below, people_below : int
        Released values that belong to fewer than ``least`` people, and those people in all.

    Guarantees
    ----------
    ``holds`` is true only if every value that the release may hold belongs to at least ``least`` records of the
    original, whatever they weigh. A value that every record with it was given for certain belongs to those records. One
    that chance may have put there belongs to the records that truly have it: it is somebody's own, and wherever it
    stands it tells that such a person exists. A row of which all was suppressed belongs to all who may have one.
    """

    least: int
    smallest: int
    values_below: int
    people_below: int
    holds: bool

    def __post_init__(self) -> None:
        if self.least < 1 or min(self.smallest, self.values_below, self.people_below) < 0:
            raise ValueError("numbers of people are out of range")
        if not self.holds == (self.smallest >= self.least) == (self.values_below == 0):
            raise ValueError("whether it holds is not what its numbers say")

    @classmethod
    def of(cls, people: NDArray[np.integer[Any]], least: int) -> WholeFile:
        """From the number of people that each released value belongs to."""
        below = people[people < least]
        smallest = int(people.min(initial=np.iinfo(np.int64).max))
        return cls(least, smallest, len(below), int(below.sum()), not len(below))
