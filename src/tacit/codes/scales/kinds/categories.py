"""Categories without an order: a part is any set of values, which reads "A or B"."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tacit.codes.scales.kinds.listed import ListedScale, Stored
from tacit.codes.scales.wording import ALL_BUT, MISSING, either
from tacit.errors import Sentence, Setting, sentence
from tacit.tables.symbols import TypeName

# A part of more values than this is told by those it has not, if they are fewer.
MOST_NAMED = 6


@dataclass(frozen=True)
class CategoryScale(ListedScale):
    """The values of a column, in any groups. Booleans are categories."""

    column: str
    type: TypeName
    values: tuple[Stored, ...]
    has_missing: bool
    kind: Literal["categories"] = "categories"

    ordered = False

    @property
    def note(self) -> Sentence:
        words = "column '{column}' holds {number:,} categories, told in any groups; give them an order with {levels}"
        setting = Setting("levels", {self.column: "low<medium<high"})
        return sentence(words, column=self.column, number=self.present, levels=setting)

    def _told(self, mask: NDArray[np.bool_]) -> str:
        words = [*self.names, *([MISSING] if self.has_missing else [])]
        chosen = np.flatnonzero(mask)
        if len(chosen) > MOST_NAMED and len(chosen) > len(mask) - len(chosen) > 0:
            return ALL_BUT + either(words[at] for at in np.flatnonzero(~mask).tolist())
        return either(words[at] for at in chosen.tolist())

    def _run(self, first: int, last: int) -> str:
        return either(self.names[first : last + 1])
