"""Hierarchies that the user names in a file: groups of values, groups of groups. A part reads by the groups' names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Literal

import numpy as np

from tacit.codes.scales.kinds.listed import ListedScale, Stored
from tacit.codes.scales.scale import ScaleLevel
from tacit.codes.scales.wording import ANY, MISSING, either, shown
from tacit.errors import ArgumentError, Sentence, Setting, sentence
from tacit.tables.symbols import TypeName


@dataclass(frozen=True)
class HierarchyScale(ListedScale):
    """Values in the order of their groups.

    Attributes
    ----------
    groups : tuple of tuples of str
        For each level, finest first, the name of the group of each value; groups lie within those of the next level,
        and the values of a group are next to each other.
    """

    column: str
    type: TypeName
    values: tuple[Stored, ...]
    groups: tuple[tuple[str, ...], ...]
    has_missing: bool
    kind: Literal["hierarchy"] = "hierarchy"

    def __post_init__(self) -> None:
        super().__post_init__()
        for number, names in enumerate(self.groups, start=1):
            if len(names) != len(self.values):
                raise ArgumentError(f"level {number} of column '{self.column}' needs a group for every value")
            if len(_stretches(names)) != len(set(names)):
                raise ArgumentError(f"a group of level {number} of column '{self.column}' is in several places")
        _ = nested(self.column, self.groups)

    @property
    def note(self) -> Sentence:
        words = (
            "column '{column}' holds {number:,} values, grouped at {levels} levels by a file; choose others with "
            "{other}"
        )
        other = Setting("levels", {self.column: "values"})
        return sentence(words, column=self.column, number=self.present, levels=len(self.levels), other=other)

    @cached_property
    def levels(self) -> tuple[ScaleLevel, ...]:
        levels, before = [], self.present
        for number, names in enumerate(self.groups, start=1):
            stretches = _stretches(names)
            if 1 < len(stretches) < before:
                before = len(stretches)
                sizes = [last - first + 1 for first, last in stretches]
                levels.append(self._grouped(f"level {number}", np.repeat(np.arange(len(sizes)), sizes)))
        return tuple(levels)

    @cached_property
    def _titles(self) -> dict[tuple[int, int], str]:
        """A name for each group, by its first and last atom; a name that already has another meaning gets its level."""
        titles = {(at, at): name for at, name in enumerate(self.names)}
        used = {*self.names, ANY, MISSING}
        for number, names in enumerate(self.groups, start=1):
            for first, last in _stretches(names):
                if (first, last) in titles or (first, last) == (0, self.present - 1):
                    continue
                title = shown(names[first])
                while title in used:
                    title = f"{title} (level {number})"
                used.add(title)
                titles[first, last] = title
        return titles

    @cached_property
    def _longest(self) -> dict[int, list[int]]:
        """For each atom the last atoms of the groups that begin there, the largest first."""
        ends: dict[int, list[int]] = {}
        for first, last in sorted(self._titles, reverse=True):
            ends.setdefault(first, []).append(last)
        return ends

    def _run(self, first: int, last: int) -> str:
        words, at = [], first
        while at <= last:
            end = next(end for end in self._longest[at] if end <= last)
            words.append(self._titles[at, end])
            at = end + 1
        return either(words)


def _stretches(names: Sequence[str]) -> list[tuple[int, int]]:
    """The first and last position of every stretch of equal names."""
    starts = [at for at in range(len(names)) if at == 0 or names[at] != names[at - 1]]
    return list(zip(starts, [*(at - 1 for at in starts[1:]), len(names) - 1], strict=True)) if starts else []


def nested(column: str, groups: Sequence[Sequence[str]]) -> tuple[tuple[int, ...], ...]:
    """For each value the places of its groups, the coarsest first, in the order in which they appear.

    Raises
    ------
    ArgumentError
        If a group lies in two groups of the next level.
    """
    for number, (fine, coarse) in enumerate(pairwise(groups), start=1):
        above: dict[str, str] = {}
        for inner, outer in zip(fine, coarse, strict=True):
            if above.setdefault(inner, outer) != outer:
                raise ArgumentError(
                    f"group '{inner}' of level {number} of column '{column}' lies in two groups of level {number + 1}: "
                    "give it one"
                )
    places = [{name: at for at, name in enumerate(dict.fromkeys(names))} for names in groups]
    by_level = [[place[name] for name in names] for place, names in zip(places, groups, strict=True)]
    return tuple(zip(*reversed(by_level), strict=True))
