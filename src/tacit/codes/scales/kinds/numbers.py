"""Numbers: ranges between edges. Whole numbers read "30 to 39", others "1.5 to under 2"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tacit.codes.scales.nice import sober_mean
from tacit.codes.scales.scale import UNKNOWN, Scale, ScaleLevel
from tacit.errors import ArgumentError, Sentence, Setting, sentence
from tacit.tables.numbers import number_of, reads_as_number

# Steps of coarser levels, times powers of ten.
STEPS = (5, 10, 25)
# From here on a float cannot distinguish all whole numbers.
EXACT = 2.0**53


@dataclass(frozen=True)
class NumberScale(Scale):
    """Atoms between edges: below the first, from each up to the next, and from the last on.

    Attributes
    ----------
    edges : tuple of float
        Rising.
    whole : bool
        Whether all numbers are whole.
    least, most : float or None
        The ends of the outer atoms, told in their texts; None leaves an end open.
    centres : tuple of float
        A number that stands for each atom.
    """

    column: str
    edges: tuple[float, ...]
    whole: bool
    least: float | None
    most: float | None
    centres: tuple[float, ...]
    has_missing: bool
    kind: Literal["numbers"] = "numbers"

    def __post_init__(self) -> None:
        edges, ends = self.edges, [end for end in (self.least, self.most) if end is not None]
        if not np.isfinite([*edges, *ends, *self.centres]).all():
            raise ArgumentError(f"the edges of column '{self.column}' must be finite numbers")
        if any(low >= high for low, high in pairwise(edges)):
            raise ArgumentError(f"the edges of column '{self.column}' must go up, and each may occur only once")
        if len(self.centres) != len(edges) + 1:
            raise ArgumentError(f"column '{self.column}' needs a centre for each of {len(edges) + 1} atoms")
        if self.whole and not all(float(each).is_integer() and abs(each) < EXACT for each in (*edges, *ends)):
            raise ArgumentError(f"the edges of column '{self.column}' must be whole, as its numbers are")
        low = [*([] if self.least is None else [self.least]), *edges[:1]]
        if (len(low) == 2 and low[0] >= low[1]) or (self.most is not None and edges and self.most < edges[-1]):
            raise ArgumentError(f"the ends of column '{self.column}' lie within its edges")

    @property
    def present(self) -> int:
        return len(self.edges) + 1

    @property
    def note(self) -> Sentence:
        what = "whole numbers" if self.whole else "numbers"
        words = "column '{column}' holds {what} and is cut into ranges of {steps:,} steps; choose others with {levels}"
        setting = Setting("levels", {self.column: 5})
        return sentence(words, column=self.column, what=what, steps=self.present, levels=setting)

    @cached_property
    def levels(self) -> tuple[ScaleLevel, ...]:
        if len(self.edges) < 2:
            return ()
        steps = np.unique(np.diff(self.edges))
        if self.whole and len(steps) == 1 and self.edges[0] % steps[0] == 0:
            return self._by_steps(int(steps[0]))
        halves = [2**k for k in range(1, int(np.log2(self.present)) + 1) if self.present > 2**k]
        numbers = np.arange(self.present)
        return tuple(self._grouped(f"{-(-self.present // by)} groups", numbers // by) for by in halves)

    def _by_steps(self, own: int) -> tuple[ScaleLevel, ...]:
        low = np.array([self.edges[0] - own, *self.edges])
        ladder = sorted(step * 10**power for step in STEPS for power in range(0, 16, 2 if step == 25 else 1))
        levels = []
        for step in dict.fromkeys(ladder):
            groups = low // step
            if step > own and step % own == 0 and groups[0] < groups[-1]:
                levels.append(self._grouped(f"by {step}", groups))
        return tuple(levels)

    def _run(self, first: int, last: int) -> str:
        low = self.edges[first - 1] if first else self.least
        high = self.edges[last] if last < len(self.edges) else None
        if self.whole:
            return _inclusive(low, self.most if high is None else high - 1)
        if high is None:
            return _inclusive(low, self.most)
        return f"under {written(high)}" if low is None else f"{written(low)} to under {written(high)}"

    def atoms_of(self, values: Sequence[Any]) -> NDArray[np.int64]:
        numbers = np.array([number_of(value) for value in values], dtype=np.float64)
        atoms = np.searchsorted(np.array(self.edges), numbers, side="right").astype(np.int64)
        atoms[np.isnan(numbers)] = self.missing_atom
        bad = [isinstance(value, str) and not reads_as_number(value) for value in values]
        atoms[np.array(bad, dtype=bool)] = UNKNOWN
        return atoms

    def number(self, part: ArrayLike, records: ArrayLike, least: int) -> float | None:
        here = np.asarray(part, dtype=bool)[: self.present]
        if not here.any():
            return None
        means, counts = np.array(self.centres)[here], np.asarray(records, dtype=np.float64)[: self.present][here]
        return sober_mean(means, counts, least) if counts.sum() > 0 else float(means.mean())


def written(number: float) -> str:
    """A number as a text shows it; it reads back as the same number."""
    return str(int(number)) if float(number).is_integer() and abs(number) < EXACT else repr(float(number))


def _inclusive(low: float | None, high: float | None) -> str:
    """A range that includes both ends; None is an open end."""
    if low is None or high is None:
        both = "any number" if low is None and high is None else ""
        return both or (f"{written(high)} and under" if high is not None else f"{written(low or 0.0)} and over")
    return written(low) if low == high else f"{written(low)} to {written(high)}"
