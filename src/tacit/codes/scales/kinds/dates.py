"""Dates and times: stretches of the calendar, which read 2024-03, 2024-Q1, 2024 or 2024-03-04 to 2024-03-17."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tacit.codes.scales.calendar import UNITS, Unit, number_of_moment, start_of, stretch
from tacit.codes.scales.moments import Layout, moment_of
from tacit.codes.scales.scale import UNKNOWN, Scale, ScaleLevel
from tacit.errors import ArgumentError, Sentence, Setting, sentence

# More atoms than this make no finer cells, and slower searches.
MOST_UNITS = 1500
FEW_DAYS = 14


@dataclass(frozen=True)
class DateScale(Scale):
    """Atoms are hours, days, weeks, months, quarters or years in a row.

    Attributes
    ----------
    unit : str
    layout : str
        How the column holds dates: typed, typed with a zone (``UTC``), or as text of a layout such as ``D.M.Y``.
    first, last : int
        The numbers of the first and last unit.
    open_start, open_end : bool
        Whether the first atom also covers everything earlier, and the last everything later.
    """

    column: str
    unit: Unit
    layout: Layout
    first: int
    last: int
    open_start: bool
    open_end: bool
    has_missing: bool
    kind: Literal["dates"] = "dates"

    def __post_init__(self) -> None:
        if self.last < self.first:
            raise ArgumentError(f"the dates of column '{self.column}' end before they begin")
        try:
            start_of(self.unit, self.first), start_of(self.unit, self.last + 1)
        except (ValueError, OverflowError) as error:
            raise ArgumentError(f"the dates of column '{self.column}' lie outside the calendar") from error

    @property
    def zone(self) -> str | None:
        return "UTC" if self.layout == "UTC" else None

    @property
    def present(self) -> int:
        return self.last - self.first + 1

    @property
    def note(self) -> Sentence:
        words = "column '{column}' holds dates{written} and is cut by the {unit}; coarser with {levels}"
        written = "" if self.layout == "typed" else f" {'in' if self.zone else 'written'} {self.layout}"
        setting = Setting("levels", {self.column: "month" if self.unit != "month" else "year"})
        return sentence(words, column=self.column, written=written, unit=self.unit, levels=setting)

    @cached_property
    def levels(self) -> tuple[ScaleLevel, ...]:
        starts = [start_of(self.unit, number) for number in range(self.first, self.last + 1)]
        levels, fewest = [], len(starts)
        # A week may lie in two months: where weeks are atoms, a month has those that begin in it.
        for unit in UNITS[UNITS.index(self.unit) + 1 :]:
            numbers = [number_of_moment(unit, start) for start in starts]
            if numbers[0] < numbers[-1] and len(set(numbers)) < fewest:
                fewest = len(set(numbers))
                levels.append(self._grouped(unit, np.array(numbers)))
        return tuple(levels)

    def _run(self, first: int, last: int) -> str:
        begins = None if self.open_start and first == 0 else self._start(first)
        ends = None if self.open_end and last == self.present - 1 else self._start(last + 1)
        return stretch(begins, ends)

    def _start(self, atom: int) -> dt.datetime:
        return start_of(self.unit, self.first + atom)

    def atoms_of(self, values: Sequence[Any]) -> NDArray[np.int64]:
        return np.array([self._atom(value) for value in values], dtype=np.int64)

    def _atom(self, value: Any) -> int:
        if value is None or (isinstance(value, str) and not value.strip(" ")):
            return self.missing_atom
        moment = moment_of(value, self.layout)
        if moment is None:
            return UNKNOWN
        number = number_of_moment(self.unit, moment) - self.first
        return min(max(number, 0), self.present - 1)
