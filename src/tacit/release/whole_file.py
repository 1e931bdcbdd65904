"""The second reading of a claim: somebody has the whole file, not just one record, and looks for a person in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from tacit.release.treatment import Treatment
    from tacit.tables.symbols import Codes, Symbols

# The verdict on a claim that holds for every record, where the whole file may show whose record it is.
ROW_BY_ROW = "holds row by row, not for the whole file"


@dataclass(frozen=True)
class WholeFile:
    """How many people of the original share each released value: all released columns, taken together.

    Attributes
    ----------
    least : int
        How many people should share every released value, as asked.
    smallest : int
        The fewest that share a released value.
    values_below, people_below : int
        How many released values belong to fewer than ``least`` people, and how many people those are in all.

    Guarantees
    ----------
    Each record counts as one person. ``holds`` is true only if every value that the release may hold belongs to at
    least ``least`` records of the original, whatever they weigh. A value that is never drawn belongs to the records
    that were given it. One that may have been drawn belongs to the records that truly have it: wherever it appears, it
    shows that such a person exists. A wholly suppressed row belongs to all who may have one.
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


def people_of(treatment: Treatment, own: Symbols, *, records: Codes, position: Codes) -> Codes:
    """How many people each output that may occur belongs to; :class:`WholeFile` says who they are.

    ``own`` are the symbols of the treatment. ``records`` counts the table's records of each value, and ``position`` is
    the number of that value among those symbols, -1 where it is unseen. Outputs that cannot occur are left out.
    """
    size, source = treatment.size, np.where(position < 0, treatment.size, position)
    written = written_as(own)
    which, table = treatment.draws()
    which, one = which[source], np.append(np.diff(table.indptr) == 1, False)
    first = np.append(table.indices[table.indptr[:-1]], 0)
    output = np.where(which < 0, source, np.where(one[which], first[which], -1))
    by_chance = output < 0
    landed = summed(written[output[~by_chance]], records[~by_chance], size + 1)
    drawn = np.zeros(size + 1, dtype=bool)
    drawn[written[table[np.unique(which[by_chance & (records > 0)])].indices]] = True
    truly = summed(written[position[position >= 0]], records[position >= 0], size + 1)
    people = np.where(drawn, truly, landed)
    may_vanish = np.append(table @ (written == size).astype(np.float64) > 0, False)[which]
    people[size] = landed[size] + int(records[by_chance & may_vanish].sum())
    return np.asarray(people[drawn | (landed > 0)])


def written_as(own: Symbols) -> Codes:
    """The output that each output is written as: a wholly missing value and a suppressed one look the same."""
    return np.append(np.where(own.all_missing, len(own), np.arange(len(own))), len(own))


def summed(places: Codes, records: Codes, size: int) -> Codes:
    """How many records there are in each place."""
    totals = np.zeros(size, dtype=np.int64)
    np.add.at(totals, places, records)
    return totals
