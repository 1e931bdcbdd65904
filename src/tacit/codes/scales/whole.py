"""A column that is not told at all: one atom, which reads "any"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tacit.codes.scales.scale import Scale
from tacit.codes.scales.wording import ANY
from tacit.errors import Sentence, Setting, sentence


@dataclass(frozen=True)
class WholeScale(Scale):
    """Every value, and missing, is the one atom."""

    column: str
    has_missing: Literal[False] = False
    kind: Literal["whole"] = "whole"

    @property
    def present(self) -> int:
        return 1

    @property
    def note(self) -> Sentence:
        words = "column '{column}' is not told at all; see {levels}"
        return sentence(words, column=self.column, levels=Setting("levels"))

    def _run(self, first: int, last: int) -> str:
        return ANY

    def atoms_of(self, values: Sequence[Any]) -> NDArray[np.int64]:
        return np.zeros(len(values), np.int64)
