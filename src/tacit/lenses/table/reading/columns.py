"""One column of a release in cells: which atoms each row may have, and how likely they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.codes.scales.kinds.every import AnyScale
from tacit.codes.tree import Ints, Mask
from tacit.errors import SourceError
from tacit.lenses.table.reading.atoms import AtomRanges, atom_names, filled_in, ranges_of
from tacit.lenses.table.reading.shares import Floats, shares_of
from tacit.tables.numbers import number_of

if TYPE_CHECKING:
    import pyarrow as pa

# A first model has terms for at most this many groups of a column's atoms.
_GROUPS = 20
# How many records have a value is estimated only if at least this share of them state it. Values that were put together
# were put together for a reason, often because they are rare: dividing them evenly does not show how rare.
SAID = 0.5


@dataclass(frozen=True, eq=False)
class ToldColumn:
    """What a released column tells in all: the ``parts`` (levels x atoms) of its levels, the ``records`` of each."""

    scale: AnyScale
    parts: NDArray[np.bool_]
    records: Floats

    @property
    def surely(self) -> Floats:
        """The rows that state each atom and no other."""
        return np.asarray(self.records @ (self.parts & (self.parts.sum(axis=1) == 1)[:, None]))

    @property
    def maybe(self) -> Floats:
        """The rows that allow each atom."""
        return np.asarray(self.records @ self.parts)

    @cached_property
    def ranges(self) -> AtomRanges | None:
        """The numbers or days of each atom; None if the column holds neither."""
        return ranges_of(self.scale)

    @cached_property
    def shares(self) -> Floats:
        """How often each atom occurs, as far as the release tells; where it does not, wide ranges are likelier."""
        start = np.ones(self.scale.size)
        if self.ranges is not None:
            start[: self.scale.present] = self.ranges.widths
            start[self.scale.present :] = start[: self.scale.present].mean()
        return self._shares(start)

    @cached_property
    def shares_without_widths(self) -> Floats:
        """The same, if a wide range is no likelier than a narrow one: the release leaves that open."""
        return self._shares(np.ones(self.scale.size))

    def _shares(self, start: Floats) -> Floats:
        even = self.scale.present if self.ranges is not None else 0
        return shares_of(self.parts.astype(np.float64), self.records, start, even=even)

    @cached_property
    def estimates(self) -> Floats:
        """How many records have each atom; NaN where fewer than half of them state it: then there is no estimate."""
        # An estimate must not contradict what is certain.
        records = np.clip(self.shares * self.records.sum(), self.surely, self.maybe)
        return np.where(self.surely >= SAID * records, records, np.nan)


@dataclass(frozen=True, eq=False)
class ReadColumn:
    """The levels of a released column: the ``parts`` (levels x atoms) of each, and the ``level`` of each row.

    ``numbers`` are those that stand for the levels, if the release writes numbers (NaN is missing).
    """

    scale: AnyScale
    parts: NDArray[np.bool_]
    level: Ints
    numbers: Floats | None = None

    @classmethod
    def of(cls, scale: AnyScale, meant: Mapping[str | float | None, Mask], written: pa.ChunkedArray) -> ReadColumn:
        """An Arrow column of a release, by what its code says about the levels."""
        encoded = written.combine_chunks().dictionary_encode()
        numeric = not any(isinstance(level, str) for level in meant)
        place = {level: at for at, level in enumerate(meant)}
        places = [place.get(as_told(value, numeric=numeric), -1) for value in [*encoded.dictionary.to_pylist(), None]]
        level = np.array(places)[np.asarray(encoded.indices.fill_null(len(places) - 1), dtype=np.int64)]
        if (level < 0).any():
            raise SourceError(f"column '{scale.column}' of the release has a value that its levels.json does not list")
        numbers = np.array([np.nan if each is None else each for each in meant], dtype=np.float64) if numeric else None
        return cls(scale, np.stack(list(meant.values())), level, numbers)

    @cached_property
    def told(self) -> ToldColumn:
        """What all rows tell together."""
        records = np.bincount(self.level, minlength=len(self.parts)).astype(np.float64)
        return ToldColumn(self.scale, self.parts, records)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Each atom as the release words it."""
        return atom_names(self.scale)

    @property
    def ranges(self) -> AtomRanges | None:
        """The numbers or days of each atom; None if the column holds neither."""
        return self.told.ranges

    @property
    def shares(self) -> Floats:
        """How often each atom occurs, as far as the release tells."""
        return self.told.shares

    @cached_property
    def chances(self) -> Floats:
        """How likely each atom is given each level (levels x atoms)."""
        likely = self.parts * np.maximum(self.shares, 1e-12)
        return np.asarray(likely / likely.sum(axis=1, keepdims=True))

    def drawn(self, rng: np.random.Generator) -> Ints:
        """An atom for each row, among those that its level has."""
        steps, atom = np.cumsum(self.chances, axis=1), np.empty(len(self.level), np.int64)
        chance = rng.random(len(self.level))
        for at, step in enumerate(steps):
            here = self.level == at
            atom[here] = np.searchsorted(step[:-1], chance[here], side="right")
        return atom

    def filled_in(self, atoms: Ints, rng: np.random.Generator) -> pa.Array:
        """A value for each row by its atom; a number that stands for a level is kept."""
        import pyarrow as pa

        if self.numbers is not None:
            return pa.array(self.numbers[self.level], from_pandas=True)
        return filled_in(self.scale, atoms, self.shares, rng)

    @cached_property
    def groups(self) -> Ints:
        """The group of each atom for an additive model, with about equally many records in each."""
        if self.scale.size <= _GROUPS:
            return np.arange(self.scale.size)
        middle = np.cumsum(self.shares) - self.shares / 2
        return np.unique((middle * _GROUPS).astype(np.int64), return_inverse=True)[1].astype(np.int64)


def as_told(value: Any, *, numeric: bool) -> Any:
    """A released value as it stands in its code: text, or a number that a CSV file may hold as text."""
    if not numeric or value is None:
        return value
    number = number_of(value)
    return None if np.isnan(number) else number
