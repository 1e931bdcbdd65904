"""Which values of each column a reader of a release in cells can count: the others have only bounds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.codes.code import CellCode
from tacit.lenses.table.reading.columns import ToldColumn, as_told
from tacit.tables.symbols import Symbols


@dataclass(frozen=True)
class CountableValues:
    """Of how many ``values`` of a column, or ranges of it, ``tacit.read`` estimates the number of records."""

    column: str
    estimated: int
    values: int

    def __post_init__(self) -> None:
        if not 0 <= self.estimated <= self.values:
            raise ValueError("more values can be counted than there are")


def countable_values(code: CellCode, cells: Symbols, people: NDArray[np.int64]) -> tuple[CountableValues, ...]:
    """For each column of a release in cells, before it is written: how many of its values a reader can count.

    Guarantees
    ----------
    ``tacit.read(release).counts(column)`` has ``values`` rows, of which ``estimated`` have an estimate. ``cells`` are
    what is written, with so many ``people`` each; nothing is drawn.
    """
    counted = []
    for at, (name, scale) in enumerate(zip(code.columns, code.scales, strict=True)):
        meant, place = code.meant(at), cells.columns.index(name)
        records = np.bincount(cells.codes[:, place], people, len(cells.levels[place])).astype(np.float64)
        numeric = not any(isinstance(level, str) for level in meant)
        levels = [as_told(level, numeric=numeric) for level in cells.levels[place]]
        written = [(meant[level], each) for level, each in zip(levels, records, strict=True) if each]
        column = ToldColumn(scale, np.stack([part for part, _ in written]), np.array([each for _, each in written]))
        counted.append(CountableValues(name, int(np.isfinite(column.estimates).sum()), scale.size))
    return tuple(counted)
