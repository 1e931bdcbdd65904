"""Codes between some beginnings: what a scale of codes becomes once its cuts are known."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tacit.codes.scales.scale import Scale
from tacit.codes.scales.wording import shown
from tacit.errors import ArgumentError, Sentence, Setting, sentence
from tacit.tables.symbols import level_text

# Characters of codes in their order; a code before "A" is one that ends in a digit.
_CLASSES = ("0123456789", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz")
_CLASS_OF = {char: every for every in _CLASSES for char in every}


@dataclass(frozen=True)
class BeginningScale(Scale):
    """Atoms: codes before the first start, from each start up to the next, and from the last on, by their characters.

    Attributes
    ----------
    starts : tuple of str
        Beginnings of codes, rising.
    size_of_code : int or None
        The number of characters of every code, where all have one pattern of letters and digits; else None.
    """

    column: str
    starts: tuple[str, ...]
    size_of_code: int | None
    has_missing: bool
    kind: Literal["beginnings"] = "beginnings"

    def __post_init__(self) -> None:
        if any(low >= high for low, high in pairwise(self.starts)) or "" in self.starts:
            raise ArgumentError(f"the beginnings of column '{self.column}' must go up, and each may occur only once")

    @property
    def present(self) -> int:
        return len(self.starts) + 1

    @property
    def note(self) -> Sentence:
        words = "column '{column}' holds codes, written by how they begin in {number} groups; see {levels}"
        return sentence(words, column=self.column, number=self.present, levels=Setting("levels"))

    def _run(self, first: int, last: int) -> str:
        low = self.starts[first - 1] if first else None
        after = self.starts[last] if last < len(self.starts) else None
        if low is None and after is None:
            return "any code"
        if after is None:
            return f"{self._starred(low or '')} and after"
        before = predecessor(after)
        if self.size_of_code is None and before is not None and before[:-1] != after[:-1]:
            # Before Na* come NA, N and, after Mz*, Mé: of codes of one pattern only, the last before it is Mz*.
            before = None
        if before is not None and low is not None and before < low[: len(before)]:
            before = None
        if low is None:
            return f"before {self._starred(after)}" if before is None else f"{self._starred(before)} and before"
        if before is None:
            return f"{self._starred(low)} to before {self._starred(after)}"
        shorter = min(len(low), len(before))
        head = low[:shorter]
        if head == before[:shorter] and _covers(low, before, shorter) and head not in self.starts[: first - 1]:
            return self._starred(head)
        if self.size_of_code is None and low.startswith(before):
            # I4* to before J*, and not I4* to I*.
            return f"{self._starred(low)} to before {self._starred(after)}"
        if self.size_of_code is not None:
            # 04170 to 04178, and not 0417* to 04178.
            low, before = _filled_up(low, before, 0), _filled_up(before, low, -1)
        return f"{self._starred(low)} to {self._starred(before)}"

    def _starred(self, head: str) -> str:
        if self.size_of_code is None:
            return f"{shown(head)}*"
        return shown(head) + "*" * max(0, self.size_of_code - len(head))

    def atoms_of(self, values: Sequence[Any]) -> NDArray[np.int64]:
        texts = [level_text(value) for value in values]
        atoms = [self.missing_atom if text is None else bisect_right(self.starts, text) for text in texts]
        return np.array(atoms, dtype=np.int64)


def _covers(low: str, high: str, size: int) -> bool:
    """Whether what follows the common beginning runs from the first characters to the last."""
    return all(char == _class_of(char)[0] for char in low[size:]) and all(
        char == _class_of(char)[-1] for char in high[size:]
    )


def _filled_up(head: str, like: str, end: int) -> str:
    """A beginning made as long as another, by the first (0) or last (-1) characters of the other's classes."""
    return head + "".join(_class_of(char)[end] for char in like[len(head) :])


def _class_of(char: str) -> str:
    return _CLASS_OF.get(char, char)


def predecessor(start: str) -> str | None:
    """The last beginning of the same length before a start, as its kinds of characters go: 134 before 135, F39 before
    F40. None if there is none, or a character is neither a letter nor a digit.
    """
    chars = list(start)
    for at in reversed(range(len(chars))):
        every = _class_of(chars[at])
        place = every.index(chars[at])
        if place > 0:
            chars[at] = every[place - 1]
            return "".join(chars)
        chars[at] = every[-1]
    return None


def start_between(before: str, code: str) -> str:
    """The shortest beginning of a code that sorts after the code before it."""
    return next(code[:size] for size in range(1, len(code) + 1) if before < code[:size])
