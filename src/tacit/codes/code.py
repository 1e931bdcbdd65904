"""A code: the map from a table's records to cells, and how each cell reads in a release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tacit.codes.reducing import regrouped, separated
from tacit.codes.scales.kinds.every import AnyScale
from tacit.codes.scales.reduced import pins, reduced_scale
from tacit.codes.scales.wording import MISSING
from tacit.codes.tree import CellTree
from tacit.lift import Mask
from tacit.tables.symbols import Symbols, in_order

Write = Literal["text", "means"]
# Significant digits of a number that stands for a range: more would help no reader, but might tell whose values were
# averaged.
DIGITS = 4


@dataclass(frozen=True, eq=False)
class CellCode:
    """Scales of the released columns, and a tree over their atoms whose leaves are the cells.

    Attributes
    ----------
    scales : tuple of Scale
        One per released column, in the order of the columns.
    tree : CellTree
    known : tuple of str
        Columns that an adversary may know; the tree cuts them first.
    numbers : mapping
        For columns that are written as numbers, the number that stands for each level; None, which is written as
        missing, for a level of missing values only.

    Guarantees
    ----------
    What is written for a record is a function of its cell, and true of the record; a number stands for all that
    :meth:`meant` says, which may include missing. Two cells differ in what is written in at least one column, unless
    numbers are written and happen to agree.
    """

    scales: tuple[AnyScale, ...]
    tree: CellTree
    known: tuple[str, ...] = ()
    numbers: Mapping[str, Mapping[str, float | None]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.tree.sizes.tolist() != [scale.size for scale in self.scales]:
            raise ValueError("the tree and the scales do not fit together")
        if not set(self.known) <= set(self.columns) or not set(self.numbers) <= set(self.columns):
            raise ValueError("a column that is known or a number is not released")
        for name, texts in zip(self.columns, self.texts if self.numbers else self.columns, strict=True):
            if name in self.numbers and not set(texts) <= set(self.numbers[name]):
                raise ValueError("a level has no number that stands for it")

    @property
    def columns(self) -> tuple[str, ...]:
        """The released columns."""
        return tuple(scale.column for scale in self.scales)

    @cached_property
    def places(self) -> NDArray[np.int64]:
        """The number of each node's cell, in the order of the leaves; -1 for nodes that are not cells."""
        out = np.full(len(self.tree), -1, np.int64)
        out[self.tree.leaves] = np.arange(len(self.tree.leaves))
        return out

    @cached_property
    def texts(self) -> tuple[tuple[str, ...], ...]:
        """For each column, its level in every cell."""
        texts = []
        for column, scale in enumerate(self.scales):
            which, parts = self.tree.parts_of(column)
            numbers = which[self.tree.leaves].tolist()
            written = {number: scale.text(parts[number]) for number in dict.fromkeys(numbers)}
            texts.append(tuple(map(written.__getitem__, numbers)))
        return tuple(texts)

    @cached_property
    def written(self) -> tuple[tuple[str, ...] | tuple[float | None, ...], ...]:
        """For each column, what is written in every cell: its level, or the number that stands for it."""
        return tuple(
            tuple(self.numbers[name][text] for text in texts) if name in self.numbers else texts
            for name, texts in zip(self.columns, self.texts, strict=True)
        )

    def meant(self, column: int) -> dict[str | float | None, Mask]:
        """The atoms that each text or number written in a column may stand for; a number may stand for many levels."""
        which, parts = self.tree.parts_of(column)
        out: dict[str | float | None, Mask] = {}
        for level, part in set(zip(self.written[column], which[self.tree.leaves].tolist(), strict=True)):
            out[level] = out[level] | parts[part] if level in out else parts[part]
        return {level: out[level] for level in dict.fromkeys(self.written[column])}

    def known_parts(self, symbols: Symbols) -> NDArray[np.int64] | None:
        """Which part of the known columns, as written, each released value lies in; None where nothing is known."""
        if not self.known:
            return None
        places = [symbols.columns.index(name) for name in self.known]
        return in_order(symbols.codes[:, places])[1]

    def exact(self, symbols: Symbols) -> NDArray[np.bool_]:
        """Whether what is written for a released value is a single value of its column (values x columns)."""
        exact = []
        for column, (scale, name) in enumerate(zip(self.scales, self.columns, strict=True)):
            # What is written as missing was missing; a number is a mean, even of a single value.
            meant = {
                level: pins(scale, part)
                for level, part in self.meant(column).items()
                if name not in self.numbers or level is None
            }
            levels = np.array([meant.get(level, False) for level in symbols.levels[column]], dtype=bool)
            exact.append(levels[symbols.codes[:, column]])
        return np.stack(exact, axis=1)

    def with_tree(self, tree: CellTree) -> CellCode:
        """Other cells on the same scales."""
        return replace(self, tree=tree)

    def reduced(self) -> CellCode:
        """The same cells by scales that distinguish no more than the cells do.

        A published code names no value that the release does not: atoms that no cut separates become one, and the outer
        ranges of numbers and dates are open.
        """
        pairs = zip(self.scales, separated(self.tree), strict=True)
        scales, groups = zip(*(reduced_scale(scale, group) for scale, group in pairs), strict=True)
        return replace(self, scales=tuple(scales), tree=regrouped(self.tree, groups))

    def as_told(self) -> CellCode:
        """The same code with numbers only for levels that a cell has; the others are for later batches."""
        written = zip(self.columns, self.texts, strict=True)
        numbers = {
            name: {text: self.numbers[name][text] for text in dict.fromkeys(texts)}
            for name, texts in written
            if name in self.numbers
        }
        return replace(self, numbers=numbers)

    def in_numbers(self, records: Mapping[str, NDArray[np.int64]], least: int) -> CellCode:
        """The reduced code, with a number for every level of the columns of numbers.

        It is the mean of the column over the level in the whole table, so that it depends only on the level; a level
        has at least as many records as any of its cells. The ``least`` smallest and largest values of a level count as
        the next ones, so that no outlier can be read from it. Missing values have no part in a mean. If they leave
        fewer than ``least`` records, the number is the middle of the level's range. ``records`` are those of each atom
        of each column.
        """
        reduced, numbers = self.reduced(), dict[str, dict[str, float | None]]()
        for column, (fine, coarse) in enumerate(zip(self.scales, reduced.scales, strict=True)):
            # Both trees number nodes alike, so a node's parts on the two scales are the same records.
            (which, parts), (coarsely, levels) = self.tree.parts_of(column), reduced.tree.parts_of(column)
            own = dict(zip(coarsely.tolist(), which.tolist(), strict=True))
            means = {}
            for at, level in enumerate(levels):
                number = fine.number(parts[own[at]], records[fine.column], least)
                if _few_numbers(fine, parts[own[at]], records[fine.column], least):
                    number = coarse.number(level, np.zeros(coarse.size), least) if coarse.present > 1 else None
                means[coarse.text(level)] = None if number is None else float(f"{number:.{DIGITS}g}")
            if all(number is not None or text == MISSING for text, number in means.items()):
                numbers[fine.column] = means
        return replace(reduced, numbers=numbers)


def _few_numbers(scale: AnyScale, part: Mask, records: NDArray[np.int64], least: int) -> bool:
    """Whether a part includes missing values, and only few others."""
    return scale.has_missing and bool(part[-1]) and records[: scale.present][part[: scale.present]].sum() < least
