"""A released column as a reader takes it, beside the column as it was given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tacit.lenses.table.kept.levels import LevelMeaning, LevelRead, read_levels
from tacit.lenses.table.kept.values import Codes, ColumnValues, Floats, ValueGroups, distinct_numbers, distinct_texts

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, eq=False)
class ReleasedColumn:
    """The levels of a released column, each read once; ``codes`` says which one each row has, -1 if it is missing."""

    original: ColumnValues
    levels: tuple[LevelRead, ...]
    codes: Codes

    @classmethod
    def of(
        cls, original: ColumnValues, column: pa.ChunkedArray, dictionary: Mapping[str, LevelMeaning]
    ) -> ReleasedColumn:
        """A released Arrow column, read by the release's dictionary of its levels."""
        import pyarrow as pa

        words = not original.numeric or pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
        told, codes = distinct_texts(column) if words else distinct_numbers(column)
        levels = read_levels(told.tolist(), original, dictionary if words else {})
        return cls(original, tuple(levels), codes)

    def true(self) -> NDArray[np.bool_]:
        """Whether what the release says of each row is true of it. Of a missing value it may say that it is missing."""
        width = len(self.original.values) + 1
        pairs, where = np.unique((self.codes + 1) * width + self.original.codes + 1, return_inverse=True)
        held = [
            value == 0 if level == 0 else self.levels[level - 1].holds(value - 1)
            for level, value in (divmod(int(pair), width) for pair in pairs)
        ]
        return np.array(held, dtype=bool)[where]

    def symbols(self, groups: ValueGroups) -> Codes:
        """What each row's cell is counted as: the group of a value, a level that is no value for itself."""
        own = np.array([self._symbol(groups, at) for at in range(len(self.levels))] + [groups.size - 1], dtype=np.int64)
        return own[self.codes]

    def _symbol(self, groups: ValueGroups, at: int) -> int:
        level = self.levels[at]
        if level.size == 1 and not level.missing:
            return int(groups.of[level.runs[0][0]])
        return groups.size + at

    def spread(self, groups: ValueGroups) -> Floats:
        """Each level over the groups, in proportion to how often its values occur; the last row is of missing cells."""
        original = self.original
        shares = np.zeros((len(original.values) + 1, groups.size))
        np.add.at(shares, (np.arange(1, len(shares)), groups.of[:-1]), original.counts)
        totals = np.cumsum(shares, axis=0)
        absent = np.zeros(groups.size)
        absent[groups.of[-1]] = original.missing
        whole = totals[-1] + absent
        spread = np.outer([*(level.missing for level in self.levels), False], absent)
        level, starts, stops = self._runs
        np.add.at(spread, level, totals[stops] - totals[starts])
        # A level of values that do not occur may be anything.
        spread[spread.sum(axis=1) == 0] = whole
        spread /= spread.sum(axis=1, keepdims=True)
        spread[-1] = np.arange(groups.size) == groups.of[-1]
        return spread

    @cached_property
    def _runs(self) -> tuple[Codes, Codes, Codes]:
        """The level, start and stop of every run of every level."""
        runs = [(at, *run) for at, level in enumerate(self.levels) for run in level.runs]
        at, starts, stops = np.array(runs, dtype=np.int64).reshape(-1, 3).T
        return at, starts, stops
