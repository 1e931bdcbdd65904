"""A column that is never split: all its values are one atom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tacit.codes.scales.scale import Scale
from tacit.codes.scales.wording import ANY
from tacit.errors import Sentence, sentence


@dataclass(frozen=True)
class WholeScale(Scale):
    """One atom, which reads ``any``, for whatever is in the column, including missing values."""

    column: str
    has_missing: Literal[False] = False
    kind: Literal["whole"] = "whole"

    @property
    def present(self) -> int:
        return 1

    @property
    def note(self) -> Sentence:
        return sentence("column '{column}' is kept whole: it reads 'any' everywhere", column=self.column)

    def _run(self, first: int, last: int) -> str:
        return ANY

    def atoms_of(self, values: Sequence[Any]) -> NDArray[np.int64]:
        return np.zeros(len(values), dtype=np.int64)
