"""Whether a released level may be that of a true value: the same value, or the bin it falls into."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.lift import Mask, Vector
from tacit.tables.cutting import Cut
from tacit.tables.symbols import Codes, level_text


class Fitting(ABC):
    """How the released levels of one column stand for its true values."""

    @abstractmethod
    def matching(self, levels: Sequence[Any], values: Sequence[Any]) -> tuple[Codes, Mask]:
        """A kind for each level, and for each kind whether it fits each of the values."""

    @abstractmethod
    def meanings(self, levels: Sequence[Any], values: Sequence[Any], shares: Vector) -> tuple[Codes, Mask]:
        """The commonest of the values that each level fits, -1 if it fits none; and whether it fits no other."""


@dataclass(frozen=True)
class Spelled(Fitting):
    """A level fits the values that are spelled like it: as themselves, or by the name of their bin.

    If ``blank``, a missing level may stand for anything: rows were suppressed.
    """

    spelling: Callable[[Any], str | None] = level_text
    blank: bool = False

    def matching(self, levels: Sequence[Any], values: Sequence[Any]) -> tuple[Codes, Mask]:
        """The kinds: the spellings of the values, then levels spelled like none, then levels that may be anything."""
        spelled = [self.spelling(value) for value in values]
        place = {text: at for at, text in enumerate(dict.fromkeys(spelled))}
        kinds = np.zeros((len(place) + 2, len(values)), dtype=bool)
        kinds[[place[text] for text in spelled], np.arange(len(values))] = True
        kinds[-1] = True
        return np.array([self._kind(level_text(level), place) for level in levels], dtype=np.int64), kinds

    def _kind(self, level: str | None, place: Mapping[str | None, int]) -> int:
        return len(place) + 1 if self.blank and level is None else place.get(level, len(place))

    def meanings(self, levels: Sequence[Any], values: Sequence[Any], shares: Vector) -> tuple[Codes, Mask]:
        """By the commonest value of each spelling; a level that may be anything says nothing."""
        best: dict[str | None, int] = {}
        times: dict[str | None, int] = {}
        for at, value in enumerate(values):
            text = self.spelling(value)
            times[text] = times.get(text, 0) + 1
            if text not in best or shares[at] > shares[best[text]]:
                best[text] = at
        if self.blank:
            best.pop(None, None)
            times.pop(None, None)
        texts = [level_text(level) for level in levels]
        alone = [times.get(text) == 1 for text in texts]
        return np.array([best.get(text, -1) for text in texts], dtype=np.int64), np.array(alone, dtype=bool)


def in_bins(cut: Cut, *, blank: bool = False) -> Spelled:
    """A level fits the numbers that fall into its bin."""
    labels, edges = cut.labels, np.array(cut.edges)

    def label(value: Any) -> str | None:
        number = np.nan if value is None or value == "" else float(value)
        return None if np.isnan(number) else labels[int(np.searchsorted(edges, number, side="right"))]

    return Spelled(label, blank)
