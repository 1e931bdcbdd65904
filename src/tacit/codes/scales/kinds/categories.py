"""Categories without an order: a part is any set of values, which reads "A or B"; rare ones are "another value"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tacit.codes.scales.kinds.listed import ListedScale, Stored
from tacit.codes.scales.scale import UNKNOWN
from tacit.codes.scales.wording import ALL_BUT, MISSING, OTHER, either
from tacit.errors import Sentence, Setting, sentence
from tacit.tables.symbols import TypeName

# A part of more values than this is described by the values it lacks, if those are fewer.
MOST_NAMED = 6


@dataclass(frozen=True)
class CategoryScale(ListedScale):
    """The values of a column, in any groups. Booleans are categories.

    With ``has_others`` the atom after the last value is every value that is not listed.
    """

    column: str
    type: TypeName
    values: tuple[Stored, ...]
    has_missing: bool
    has_others: bool = False
    kind: Literal["categories"] = "categories"

    ordered = False

    @property
    def present(self) -> int:
        return len(self.values) + self.has_others

    @property
    def lists_all(self) -> bool:
        return not self.has_others

    @property
    def others_atom(self) -> int:
        """The atom of values that are not listed; -1 if there is none."""
        return len(self.values) if self.has_others else UNKNOWN

    def atoms_of(self, values: Sequence[Any]) -> NDArray[np.int64]:
        atoms = super().atoms_of(values)
        missing = np.array([self._counted(value) is None for value in values], dtype=bool)
        atoms[atoms == UNKNOWN] = self.others_atom
        atoms[missing] = self.missing_atom
        return atoms

    @property
    def note(self) -> Sentence:
        words = "column '{column}' holds {number:,} categories, grouped in any way; give them an order with {levels}"
        setting = Setting("levels", {self.column: "low<medium<high"})
        return sentence(words, column=self.column, number=len(self.values), levels=setting)

    def _part_text(self, mask: NDArray[np.bool_]) -> str:
        words = [*self.names, *([OTHER] * self.has_others), *([MISSING] * self.has_missing)]
        chosen = np.flatnonzero(mask)
        if len(chosen) > MOST_NAMED and len(chosen) > len(mask) - len(chosen) > 0:
            return ALL_BUT + either(words[at] for at in np.flatnonzero(~mask).tolist())
        return either(words[at] for at in chosen.tolist())

    def _run(self, first: int, last: int) -> str:
        return either([*self.names, OTHER][first : last + 1])
