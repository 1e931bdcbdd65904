"""Stretches of time between some starts: what a scale of dates becomes once its cuts are known."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tacit.codes.scales.calendar import Unit, number_of_moment, start_of, stretch
from tacit.codes.scales.moments import Layout, moment_of
from tacit.codes.scales.scale import UNKNOWN, Scale
from tacit.errors import ArgumentError, Sentence, Setting, sentence


@dataclass(frozen=True)
class StretchScale(Scale):
    """Atoms: all before the first start, from each start up to the next, and from the last on.

    Attributes
    ----------
    unit : str
    layout : str
        How the column holds dates: typed, typed with a zone (``UTC``), or as text of a layout such as ``D.M.Y``.
    starts : tuple of int
        The numbers of the units at which atoms begin, rising.
    """

    column: str
    unit: Unit
    layout: Layout
    starts: tuple[int, ...]
    has_missing: bool
    kind: Literal["stretches"] = "stretches"

    def __post_init__(self) -> None:
        if any(low >= high for low, high in pairwise(self.starts)):
            raise ArgumentError(f"the dates of column '{self.column}' must go up, and each may occur only once")
        try:
            _ = [start_of(self.unit, number) for number in self.starts]
        except (ValueError, OverflowError) as error:
            raise ArgumentError(f"the dates of column '{self.column}' lie outside the calendar") from error

    @property
    def zone(self) -> str | None:
        return "UTC" if self.layout == "UTC" else None

    @property
    def present(self) -> int:
        return len(self.starts) + 1

    @property
    def edges(self) -> NDArray[np.float64]:
        """The numbers of units at which the atoms after the first begin."""
        return np.array(self.starts, dtype=np.float64)

    @property
    def note(self) -> Sentence:
        words = "column '{column}' holds dates and is written in {number} stretches of time; see {levels}"
        return sentence(words, column=self.column, number=self.present, levels=Setting("levels"))

    def _run(self, first: int, last: int) -> str:
        return stretch(self._start(first), self._start(last + 1))

    def _start(self, atom: int) -> dt.datetime | None:
        """When an atom begins; None before the first start and after the last atom."""
        return start_of(self.unit, self.starts[atom - 1]) if 0 < atom <= len(self.starts) else None

    def atoms_of(self, values: Sequence[Any]) -> NDArray[np.int64]:
        return np.array([self._atom(value) for value in values], dtype=np.int64)

    def _atom(self, value: Any) -> int:
        if value is None or (isinstance(value, str) and not value.strip(" ")):
            return self.missing_atom
        moment = moment_of(value, self.layout)
        if moment is None:
            return UNKNOWN
        return int(np.searchsorted(self.edges, number_of_moment(self.unit, moment), side="right"))
