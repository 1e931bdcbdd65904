"""Values in an order: given by the user (low, medium, high), of ranges (18-39, 60+), or of the alphabet."""

from __future__ import annotations

import re
from collections.abc import Sequence
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
        words = "column '{column}' holds {number:,} values in an order and is told from one to another; see {levels}"
        setting = Setting("levels", {self.column: "values"})
        return sentence(words, column=self.column, number=self.present, levels=setting)

    def _run(self, first: int, last: int) -> str:
        return self.names[first] if first == last else f"{self.names[first]} to {self.names[last]}"


_BELOW, _ABOVE = r"(?P<below><=?|≤|under|up to)", r"(?:>=?|≥|over)"
_NUMBER = r"-?[0-9]+(?:\.[0-9]+)?"
_RANGE = re.compile(
    rf"(?:{_BELOW}|{_ABOVE})? *[\[(]?(?P<low>{_NUMBER})"
    rf"(?: *(?:-|–|,|to) *(?P<high>{_NUMBER})[\])]?| ?\+| (?:and|or) (?:more|over))?"
    r"(?P<down> (?:and|or) (?:less|under))?"
)


def ranges_in_order(values: Sequence[str]) -> list[str] | None:
    """Texts that are ranges of numbers, such as <18, 18-39 and 60+, in their order; None if some are not."""
    found = [(value, _RANGE.fullmatch(value)) for value in values]
    if len(values) < 2 or all(match is None or match[0] == match["low"] for _, match in found):
        return None
    keys = {}
    for value, match in found:
        if match is None:
            return None
        down = match["below"] or match["down"]
        keys[value] = (float(match["low"]), not down, float(match["high"] or match["low"]))
    return sorted(values, key=keys.__getitem__) if len(set(keys.values())) == len(keys) else None
