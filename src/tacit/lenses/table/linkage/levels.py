"""How the levels of a release in cells stand for values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.codes.code import CellCode
from tacit.codes.scales.scale import Scale
from tacit.lenses.table.linkage.fitting import Fitting
from tacit.lift import Mask, Vector
from tacit.tables.symbols import Codes, level_text


@dataclass(frozen=True, eq=False)
class InLevels(Fitting):
    """A level fits the values whose atoms are in its part of the column; ``parts`` has them by the level's text."""

    scale: Scale
    parts: Mapping[str | None, Mask]

    def matching(self, levels: Sequence[Any], values: Sequence[Any]) -> tuple[Codes, Mask]:
        """Every level is its own kind; one that the code does not have fits nothing."""
        # A value that the scale does not know has the atom -1: the extra one at the end, which is in no part.
        atoms, none = self.scale.atoms_of(values), np.zeros(self.scale.size, dtype=bool)
        kinds = [np.append(self.parts.get(level_text(level), none), False)[atoms] for level in levels]
        return np.arange(len(levels)), np.array(kinds, dtype=bool).reshape(len(levels), len(values))

    def meanings(self, levels: Sequence[Any], values: Sequence[Any], shares: Vector) -> tuple[Codes, Mask]:
        """By the commonest value of each level."""
        fits = self.matching(levels, values)[1]
        best = np.where(fits.any(axis=1), np.where(fits, shares, -1.0).argmax(axis=1), -1)
        return best.astype(np.int64), fits.sum(axis=1) == 1


def fittings_of(code: CellCode) -> dict[str, Fitting]:
    """For every column of a code, what its levels stand for."""
    fittings: dict[str, Fitting] = {}
    for column, scale in enumerate(code.scales):
        # A file of text holds numbers as text.
        parts = {level_text(level): part for level, part in code.meant(column).items()}
        fittings[scale.column] = InLevels(scale, parts)
    return fittings
