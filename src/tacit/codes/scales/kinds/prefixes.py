"""Codes by prefix: postcodes, ICD, NACE, ISCO and the like. A part is a run of codes, which reads 130** or F3*."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tacit.codes.scales.kinds.listed import ListedScale
from tacit.codes.scales.scale import ScaleLevel
from tacit.codes.scales.wording import shown
from tacit.errors import ArgumentError, Sentence, Setting, sentence
from tacit.tables.symbols import level_text


@dataclass(frozen=True)
class PrefixScale(ListedScale):
    """Codes in the order of their characters, or their first ``length`` characters.

    Attributes
    ----------
    values : tuple of str
        The codes, or the beginnings of codes, sorted.
    length : int or None
        How many characters of a code are told at most; None tells all.
    size_of_code : int or None
        The number of characters of every code; None if they differ.
    """

    column: str
    values: tuple[str, ...]
    length: int | None
    size_of_code: int | None
    has_missing: bool
    kind: Literal["prefixes"] = "prefixes"
    type: Literal["text"] = "text"

    def __post_init__(self) -> None:
        super().__post_init__()
        if any(low >= high for low, high in pairwise(self.values)):
            raise ArgumentError(f"the codes of column '{self.column}' are not in order")
        if self.length is not None and any(len(value) > self.length for value in self.values):
            raise ArgumentError(f"a code of column '{self.column}' is longer than {self.length} characters")

    @property
    def lists_all(self) -> bool:
        return self.length is None

    @property
    def note(self) -> Sentence:
        words = "column '{column}' holds {number:,} codes, written by how they begin, such as {one}; see {levels}"
        one = self.text((self.levels[-1].groups if self.levels else np.arange(self.size)) == 0)
        setting = Setting("levels", {self.column: "values"})
        return sentence(words, column=self.column, number=self.present, one=one, levels=setting)

    @cached_property
    def levels(self) -> tuple[ScaleLevel, ...]:
        longest = max((len(value) for value in self.values), default=0)
        levels, groups = [], self.present
        for size in range(longest - 1, 0, -1):
            starts = self._starts(size)
            if 1 < int(starts.sum()) < groups:
                groups = int(starts.sum())
                levels.append(self._grouped(f"{size} character{'s' * (size > 1)}", np.cumsum(starts)))
        return tuple(levels)

    def _starts(self, size: int) -> NDArray[np.bool_]:
        """Where the first ``size`` characters differ from those of the code before."""
        heads = np.array([value[:size] for value in self.values], dtype=object)
        return np.concatenate([[True], heads[1:] != heads[:-1]])

    def _run(self, first: int, last: int) -> str:
        low, high = self.values[first], self.values[last]
        if first == last:
            return self._whole(low)
        shared = _shared(low, high)
        if shared and low[shared - 1] != " " and self._are_all(first, last, shared):
            return self._starred(low[:shared])
        for size in range(shared + 1, max(len(low), len(high))):
            if min(len(low), len(high)) >= size and self._are_all(first, last, size):
                return f"{self._starred(low[:size])} to {self._starred(high[:size])}"
        return f"{self._whole(low)} to {self._whole(high)}"

    def _are_all(self, first: int, last: int, size: int) -> bool:
        """Whether neither the code before nor the one after begins like those at the ends."""
        begins = first == 0 or self.values[first - 1][:size] != self.values[first][:size]
        return begins and (last + 1 == self.present or self.values[last + 1][:size] != self.values[last][:size])

    def _starred(self, head: str) -> str:
        """The beginning of a code, with a star for each character left out, or one if codes differ in length."""
        return f"{shown(head)}{'*' * (self.size_of_code - len(head) if self.size_of_code else 1)}"

    def _whole(self, value: str) -> str:
        """A code in full, or as much of it as is ever told."""
        return self._starred(value) if len(value) == self.length != self.size_of_code else shown(value)

    def atoms_of(self, values: Sequence[Any]) -> NDArray[np.int64]:
        texts = [None if value is None else level_text(value) for value in values]
        return super().atoms_of([text if text is None else text[: self.length] for text in texts])


def _shared(one: str, other: str) -> int:
    """How many characters two texts begin with in common."""
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


_CODE = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9. -]*[A-Za-z0-9])?")
_SHAPE = str.maketrans(
    {
        **dict.fromkeys("0123456789", "9"),
        **dict.fromkeys("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "A"),
        **dict.fromkeys("abcdefghijklmnopqrstuvwxyz", "a"),
    }
)
# Ranges of numbers, such as 18-39, look like codes but are not.
_RANGE = re.compile(r"9{1,4} ?- ?9{1,4}")


def share_pattern(values: Iterable[str]) -> bool:
    """Whether letters, small letters, digits and all other characters stand at the same places in all values."""
    return len({value.translate(_SHAPE) for value in values}) < 2


def are_codes(values: Sequence[str]) -> bool:
    """Whether all values share one pattern of letters and digits; shorter values have the beginning of it."""
    if not values or not all(_CODE.fullmatch(value) for value in values):
        return False
    shapes = {value.translate(_SHAPE) for value in values}
    longest = max(shapes, key=len)
    return (
        "9" in longest
        and len(longest) > 1
        and not _RANGE.fullmatch(longest)
        and all(longest.startswith(shape) and "9" in shape for shape in shapes)
    )
