"""What the atoms of a published scale stand for: a value, or a range of numbers or days to draw from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from tacit.codes.descent import Ints
from tacit.codes.scales.calendar import start_of
from tacit.codes.scales.kinds.categories import CategoryScale
from tacit.codes.scales.kinds.dates import DateScale
from tacit.codes.scales.kinds.listed import ListedScale
from tacit.codes.scales.kinds.numbers import NumberScale
from tacit.codes.scales.kinds.prefixes import PrefixScale
from tacit.codes.scales.kinds.stretches import StretchScale
from tacit.codes.scales.kinds.whole import WholeScale
from tacit.codes.scales.scale import Scale
from tacit.codes.scales.wording import OTHER
from tacit.errors import ArgumentError
from tacit.learn.arrays import Floats
from tacit.lenses.table.reading.tails import TailMeans, tail_means

if TYPE_CHECKING:
    import pyarrow as pa

# The ordinal of 1970-01-01, from which Arrow counts days.
_EPOCH = 719_163


@dataclass(frozen=True, eq=False)
class AtomRanges:
    """The first and last number of each atom, infinite if an end is open; ``whole`` numbers, or any between them.

    No number is below ``least`` or above ``most``, if the reader happens to know that.
    """

    low: Floats
    high: Floats
    whole: bool
    least: float = -np.inf
    most: float = np.inf

    @property
    def widths(self) -> Floats:
        """How many numbers there are in each; an open one counts as much as the nearest closed one."""
        wide = self.high - self.low + self.whole
        closed = wide[np.isfinite(wide)]
        if not len(closed):
            return np.ones(len(wide))
        ends = np.where(np.arange(len(wide)) < len(wide) / 2, closed[0], closed[-1])
        return np.where(np.isfinite(wide), wide, ends)

    def between(self, least: float, most: float) -> AtomRanges:
        """The same, for somebody who knows that no number is below ``least`` or above ``most``."""
        if len(self.low) > 1 and (least > self.high[0] or most < self.low[-1]):
            raise ArgumentError(
                f"numbers between {least:g} and {most:g}? the release has {self.high[0]:g} and less, and "
                f"{self.low[-1]:g} and more"
            )
        return replace(self, least=least, most=most)

    def tails(self, shares: Floats) -> tuple[TailMeans, TailMeans]:
        """How far below the lowest and above the highest edge numbers lie on average, if an end is open.

        If the lowest edge is not negative, no number is assumed to be.
        """
        first, last = float(self.high[0]), float(self.low[-1])
        least = max(self.least, 0.0) if first >= 0 else self.least
        below = tail_means(-self.high[:-1][::-1], shares[::-1], first - least)
        return below, tail_means(self.low[1:], shares, self.most - last)

    def middles(self, shares: Floats, tail: Literal["thin", "thick", "near"] = "thin") -> Floats:
        """The mean of each atom, if numbers are spread evenly between two ends and have tails of this kind."""
        below, above = (getattr(means, tail) for means in self.tails(shares))
        with np.errstate(invalid="ignore"):
            middle = (self.low + self.high) / 2
            middle = np.where(np.isneginf(self.low), self.high - below, middle)
            return np.where(np.isposinf(self.high), self.low + above, middle)

    def drawn(self, atoms: Ints, shares: Floats, rng: np.random.Generator) -> Floats:
        """A number for each atom: any between two ends, or beyond an open one."""
        below, above = (tail.thin for tail in self.tails(shares))
        low, high, chance = self.low[atoms], self.high[atoms], rng.random(len(atoms))
        with np.errstate(invalid="ignore"):
            inside = low + chance * (high - low + self.whole)
        inside = np.where(np.isneginf(low), high + below * np.log1p(-chance), inside)
        inside = np.where(np.isposinf(high), low - above * np.log1p(-chance), inside)
        return np.floor(inside) if self.whole else inside


def ranges_of(scale: Scale) -> AtomRanges | None:
    """The ranges of a scale of numbers, or of dates in days (in hours, if it has them); None for other scales."""
    if isinstance(scale, NumberScale):
        edges = np.array(scale.edges)
        low = np.concatenate([[-np.inf if scale.least is None else scale.least], edges])
        high = np.concatenate([edges - scale.whole, [np.inf if scale.most is None else scale.most]])
        return AtomRanges(low, high, scale.whole)
    if isinstance(scale, StretchScale):
        starts = np.array([_day(scale, number) for number in scale.starts], dtype=np.float64)
        return AtomRanges(np.append(-np.inf, starts), np.append(starts - 1, np.inf), whole=True)
    if isinstance(scale, DateScale):
        days = np.array([_day(scale, number) for number in range(scale.first, scale.last + 2)], dtype=np.float64)
        return AtomRanges(days[:-1], days[1:] - 1, whole=True)
    return None


def _day(scale: StretchScale | DateScale, number: int) -> float:
    start = start_of(scale.unit, number)
    return float(start.toordinal() * 24 + start.hour if scale.unit == "hour" else start.toordinal())


def atom_names(scale: Scale) -> tuple[str, ...]:
    """Each atom as the release words it."""
    atoms = np.arange(scale.size)
    return tuple(scale.text(atoms == atom) for atom in atoms)


def filled_in(scale: Scale, atoms: Ints, shares: Floats, rng: np.random.Generator) -> pa.Array:
    """A value for each row's atom: the value itself, a draw from its range, or else what the release says."""
    import pyarrow as pa

    ranges = ranges_of(scale)
    if ranges is None:
        values = pa.array(_values(scale))
        return values.take(pa.array(atoms))
    absent = atoms >= scale.present
    numbers = ranges.drawn(np.where(absent, 0, atoms), shares[: scale.present], rng)
    if isinstance(scale, NumberScale):
        exact = scale.whole and bool((np.abs(numbers) < 2.0**62).all())
        return pa.array(numbers.astype(np.int64) if exact else numbers, mask=absent)
    if scale.unit == "hour":  # type: ignore[attr-defined]
        hours = pa.array(((numbers - _EPOCH * 24) * 3600).astype(np.int64), mask=absent)
        return hours.cast(pa.timestamp("s"))
    return pa.array((numbers - _EPOCH).astype(np.int32), mask=absent).cast(pa.date32())


def _values(scale: Scale) -> Sequence[Any]:
    """What stands for each atom of a scale without ranges; None if nothing is told."""
    if isinstance(scale, WholeScale):
        return [None]
    if not isinstance(scale, ListedScale) or isinstance(scale, PrefixScale):
        values: list[Any] = list(atom_names(scale)[: scale.present])
    else:
        values = list(scale.symbols.levels[0][: len(scale.values)])
        others = isinstance(scale, CategoryScale) and scale.has_others
        values = [*map(str, values), OTHER] if others else values
    return [*values, *([None] if scale.has_missing else [])]
