"""What the atoms of a published scale stand for: a value, or a range of numbers or days to draw from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

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
from tacit.codes.tree import Ints
from tacit.lenses.table.reading.shares import Floats

if TYPE_CHECKING:
    import pyarrow as pa

# The day 1970-01-01, from which Arrow counts.
_EPOCH = 719_163
# Beyond an open end numbers thin out; not so slowly that their mean is further out than so many steps.
_FURTHEST = 10.0


@dataclass(frozen=True, eq=False)
class AtomRanges:
    """The first and last number of each atom, infinite where an end is open; ``whole`` numbers, or any between them."""

    low: Floats
    high: Floats
    whole: bool

    @property
    def widths(self) -> Floats:
        """How many numbers there are in each; an open one counts as its neighbour does."""
        wide = self.high - self.low + self.whole
        closed = wide[np.isfinite(wide)]
        if not len(closed):
            return np.ones(len(wide))
        ends = np.where(np.arange(len(wide)) < len(wide) / 2, closed[0], closed[-1])
        return np.where(np.isfinite(wide), wide, ends)

    def beyond(self, shares: Floats) -> tuple[float, float]:
        """How far beyond the lowest and the highest edge numbers lie on average, if an end is open.

        They thin out there as they do between the last two edges (exponentially).
        """
        return _beyond(self.high[:-1][::-1], shares[::-1]), _beyond(self.low[1:], shares)

    def middles(self, shares: Floats) -> Floats:
        """The mean of each atom, if numbers are spread evenly between two ends."""
        below, above = self.beyond(shares)
        with np.errstate(invalid="ignore"):
            middle = (self.low + self.high) / 2
        middle = np.where(np.isneginf(self.low), self.high - below, middle)
        return np.where(np.isposinf(self.high), self.low + above, middle)

    def drawn(self, atoms: Ints, shares: Floats, rng: np.random.Generator) -> Floats:
        """A number for each atom: any between two ends, or beyond an open one."""
        below, above = self.beyond(shares)
        low, high, chance = self.low[atoms], self.high[atoms], rng.random(len(atoms))
        with np.errstate(invalid="ignore"):
            inside = low + chance * (high - low + self.whole)
        inside = np.where(np.isneginf(low), high + below * np.log1p(-chance), inside)
        inside = np.where(np.isposinf(high), low - above * np.log1p(-chance), inside)
        return np.floor(inside) if self.whole else inside


def _beyond(edges: Floats, shares: Floats) -> float:
    """The mean distance from the last edge of what lies beyond it, by the shares of the last atoms."""
    if len(edges) < 2 or shares[-1] <= 0:
        return 0.0
    step = abs(float(edges[-1] - edges[-2]))
    return step * min(1 / max(float(np.log1p(shares[-2] / shares[-1])), 1e-9), _FURTHEST)


def ranges_of(scale: Scale) -> AtomRanges | None:
    """The ranges of a scale of numbers, or of dates in days (hours, where it has them); None of others."""
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
    """A value for each row's atom: itself where it is one, drawn where it is a range, else what the release says."""
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
    """What stands for each atom of a scale without ranges; nothing where nothing is told."""
    if isinstance(scale, WholeScale):
        return [None]
    if not isinstance(scale, ListedScale) or isinstance(scale, PrefixScale):
        told: list[Any] = list(atom_names(scale)[: scale.present])
    else:
        told = list(scale.symbols.levels[0][: len(scale.values)])
        others = isinstance(scale, CategoryScale) and scale.has_others
        told = [*map(str, told), OTHER] if others else told
    return [*told, *([None] if scale.has_missing else [])]
