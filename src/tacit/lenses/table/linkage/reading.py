"""Columns coded for learning: values themselves or, if there are many numbers or dates, the twentieth they are in."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.tables.columns import Kind
from tacit.tables.symbols import Codes, level_text

# With more different numbers or dates than the first, learning uses as many groups as the second says.
MANY_VALUES, GROUPS = 50, 20


@dataclass(frozen=True)
class LearnedColumn:
    """The code under which a value is learned from: its own, or that of its group between ``edges``."""

    kind: Kind
    place: Mapping[str | None, int]
    edges: tuple[Any, ...] = ()

    @classmethod
    def of(cls, levels: Sequence[Any], records: Codes, kind: Kind) -> LearnedColumn:
        """From the levels of a column and how many records have each."""
        if kind not in ("number", "time") or len(levels) <= MANY_VALUES:
            return cls(kind, {level_text(level): at for at, level in enumerate(levels)})
        placed = sorted((key, int(n)) for level, n in zip(levels, records, strict=True) if (key := _key(level, kind)))
        before = np.cumsum([n for _, n in placed])
        wanted = before[-1] * np.arange(1, GROUPS) / GROUPS if placed else []
        edges = dict.fromkeys(placed[int(at)][0] for at in np.searchsorted(before, wanted, side="right"))
        return cls(kind, {}, tuple(edges))

    def codes(self, levels: Sequence[Any]) -> Codes:
        """The code of each level; -1 for one that was not learned from."""
        return np.array([self._code(level) for level in levels], dtype=np.int64)

    def _code(self, level: Any) -> int:
        if self.place:
            return self.place.get(level_text(level), -1)
        key = _key(level, self.kind)
        return bisect_right(self.edges, key) if key else -1


def _key(level: Any, kind: Kind) -> tuple[Any, ...]:
    """A sort key for a number or a time, as text or not; empty if it is missing or neither of them."""
    if level is None or level == "":
        return ()
    if kind == "time":
        return (level_text(level),)
    try:
        number = float(level)
    except ValueError:
        return ()
    return () if np.isnan(number) else (number,)
