"""A released column as a reader takes it, along with the original column."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from tacit.learn.arrays import Codes, Floats
from tacit.lenses.table.kept.levels import LevelMeaning, LevelRead, read_levels
from tacit.lenses.table.kept.values import ColumnValues, ValueGroups, distinct_numbers, distinct_texts

if TYPE_CHECKING:
    import pyarrow as pa

# Shares are worked out in this many rounds; more would change no digit that is shown.
_ROUNDS = 30


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
        written, codes = distinct_texts(column) if words else distinct_numbers(column)
        levels = read_levels(written.tolist(), original, dictionary if words else {})
        return cls(original, tuple(levels), codes)

    def symbols(self, groups: ValueGroups) -> Codes:
        """What each row's cell counts as: the group of its value, or itself if the level is not a single value."""
        own = np.array([self._symbol(groups, at) for at in range(len(self.levels))] + [groups.size - 1], dtype=np.int64)
        return own[self.codes]

    def _symbol(self, groups: ValueGroups, at: int) -> int:
        level = self.levels[at]
        if level.size == 1 and not level.missing:
            return int(groups.of[level.runs[0][0]])
        return groups.size + at

    @cached_property
    def shares(self) -> Floats:
        """How often each value occurs, and last how often none does, as a reader works it out from the release only.

        Every level is divided among its values by the shares so far, which are equal at first; then the shares are
        counted again (expectation maximisation). Which values exist, and whether any is missing, is taken as known.
        """
        n = len(self.original.values)
        level, starts, stops = self._runs
        missing = np.array([at for at, each in enumerate(self.levels) if each.missing], dtype=np.int64)
        level = np.concatenate([level, missing])
        starts, stops = (
            np.concatenate([ends, np.full(len(missing), n + at)]) for at, ends in enumerate((starts, stops))
        )
        records = np.bincount(self.codes[self.codes >= 0], minlength=len(self.levels)).astype(np.float64)
        absent, shares = float((self.codes < 0).sum()), np.full(n + 1, 1 / (n + 1))
        shares[n] *= self.original.missing > 0
        for _ in range(_ROUNDS):
            before = np.concatenate([[0.0], np.cumsum(shares)])
            mass = np.bincount(level, before[stops] - before[starts], len(self.levels)).astype(np.float64)
            each = np.divide(records, mass, out=np.zeros_like(mass), where=mass > 0)
            steps = np.bincount(starts, each[level], n + 2) - np.bincount(stops, each[level], n + 2)
            counted = shares * np.maximum(np.cumsum(steps)[: n + 1], 0.0)
            counted[n] += absent
            if not counted.sum():
                break
            shares = counted / counted.sum()
        return shares

    def spread(self, groups: ValueGroups) -> Floats:
        """Each level spread over the groups by the shares of its values; the last row is for missing cells."""
        spread = self.expected(np.eye(groups.size)[groups.of])
        return np.asarray(spread / spread.sum(axis=1, keepdims=True))

    def expected(self, numbers: Floats) -> Floats:
        """The expectation, for each level and by the shares of its values, of numbers per value (missing comes last).

        The last row is for missing cells. A level whose values do not occur may be anything.
        """
        weighted = self.shares[:, None] * np.column_stack([numbers, np.ones(len(numbers))])
        totals = np.vstack([np.zeros(weighted.shape[1]), np.cumsum(weighted[:-1], axis=0)])
        out = np.outer([*(level.missing for level in self.levels), False], weighted[-1])
        level, starts, stops = self._runs
        np.add.at(out, level, totals[stops] - totals[starts])
        out[out[:, -1] <= 0] = totals[-1] + weighted[-1]
        out = out[:, :-1] / out[:, -1:]
        out[-1] = numbers[-1]
        return out

    def drawn(self, rng: np.random.Generator) -> Codes:
        """The code of a value for each row, drawn by their shares from those that its level allows; -1 is missing.

        A level whose values do not occur may be anything.
        """
        n = len(self.original.values)
        before = np.concatenate([[0.0], np.cumsum(self.shares)])
        level, starts, stops = self._runs
        absent = np.array([at for at, each in enumerate(self.levels) if each.missing], dtype=np.int64)
        empty = np.bincount(level, before[stops] - before[starts], len(self.levels)) == 0
        empty[absent] &= self.shares[-1] == 0
        extra = [(absent, n, n + 1), (np.flatnonzero(empty), 0, n)]
        level = np.concatenate([level, *(at for at, _, _ in extra)])
        order = np.argsort(level, kind="stable")
        starts = np.concatenate([starts, *(np.full(len(at), start) for at, start, _ in extra)])[order]
        stops = np.concatenate([stops, *(np.full(len(at), stop) for at, _, stop in extra)])[order]
        mass = before[stops] - before[starts]
        ends, last = np.cumsum(mass), np.searchsorted(level[order], np.arange(len(self.levels)), side="right") - 1
        total = np.bincount(level[order], mass, len(self.levels))
        written = self.codes[self.codes >= 0]
        wanted = ends[last[written]] - total[written] * (1 - rng.random(len(self.codes))[self.codes >= 0])
        run = np.minimum(np.searchsorted(ends, wanted, side="right"), last[written])
        place = np.searchsorted(before, before[starts[run]] + wanted - (ends[run] - mass[run]), side="right") - 1
        out = np.full(len(self.codes), -1)
        out[self.codes >= 0] = np.clip(place, starts[run], stops[run] - 1)
        return np.where(out == n, -1, out)

    @cached_property
    def _runs(self) -> tuple[Codes, Codes, Codes]:
        """The level, start and stop of every run of every level."""
        runs = [(at, *run) for at, level in enumerate(self.levels) for run in level.runs]
        at, starts, stops = np.array(runs, dtype=np.int64).reshape(-1, 3).T
        return at, starts, stops
