"""Values in an order: given by the user (low, medium, high), or that of the alphabet where they are many."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tacit.codes.scales.kinds.listed import ListedScale, Stored
from tacit.errors import Sentence, Setting, sentence
from tacit.tables.symbols import TypeName


@dataclass(frozen=True)
class ListScale(ListedScale):
    """The values of a column in an order; a part is a run of them, which reads "low to medium"."""

    column: str
    type: TypeName
    values: tuple[Stored, ...]
    has_missing: bool
    kind: Literal["list"] = "list"

    @property
    def note(self) -> Sentence:
        words = "column '{column}' holds {number:,} values in an order and is cut into ranges of them; see {levels}"
        setting = Setting("levels", {self.column: "values"})
        return sentence(words, column=self.column, number=self.present, levels=setting)

    def _run(self, first: int, last: int) -> str:
        return self.names[first] if first == last else f"{self.names[first]} to {self.names[last]}"
