"""A code: the map from a table's records to cells, and how each cell reads in a release."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tacit.codes.scales import AnyScale, Scale
from tacit.codes.tree import CellTree
from tacit.tables.symbols import Symbols

Write = Literal["text", "means"]


@dataclass(frozen=True, eq=False)
class CellCode:
    """Scales of the released columns, and a tree over their atoms whose leaves are the cells.

    Attributes
    ----------
    scales : tuple of Scale
        One a released column, in the order of the columns.
    tree : CellTree
    known : tuple of str
        Columns that an adversary may know; the tree cuts them first.
    write : "text" or "means"
        What stands for a part of a column: its level as text, or a number for columns of numbers.

    Guarantees
    ----------
    What is written of a record is a function of its cell, and true of the record. Two cells differ in what is written
    of at least one column, unless numbers were asked for and happen to agree.
    """

    scales: tuple[AnyScale, ...]
    tree: CellTree
    known: tuple[str, ...] = ()
    write: Write = "text"

    def __post_init__(self) -> None:
        if self.tree.sizes != tuple(scale.size for scale in self.scales):
            raise ValueError("the tree and the scales do not fit together")

    @property
    def columns(self) -> tuple[str, ...]:
        """The released columns."""
        return tuple(scale.column for scale in self.scales)

    @cached_property
    def cells(self) -> tuple[tuple[str | float, ...], ...]:
        """What is written of each column for each cell, in the order of the tree's leaves."""
        written: list[tuple[str | float, ...]] = []
        for node in self.tree.leaves:
            parts = self.tree.parts(int(node))
            written.append(tuple(self._written(scale, part) for scale, part in zip(self.scales, parts, strict=True)))
        return tuple(written)

    def numbers(self, column: int) -> bool:
        """Whether a column is written as numbers."""
        return self.write == "means" and self.scales[column].holds_numbers

    def _written(self, scale: Scale, part: NDArray[np.bool_]) -> str | float:
        if self.write == "means" and scale.holds_numbers:
            return scale.number(part)
        return scale.text(part)

    def known_part(self, symbols: Symbols) -> NDArray[np.int64]:
        """Which part of what is known each released value lies in; all in one where nothing is known."""
        if not self.known:
            return np.zeros(len(symbols), np.int64)
        part = dict(zip(self.cells, self.tree.known_of_leaves.tolist(), strict=True))
        return np.array([part[self._cell(symbols, at)] for at in range(len(symbols))], np.int64)

    def _cell(self, symbols: Symbols, at: int) -> tuple[Any, ...]:
        values = symbols.values(at)
        return tuple(values[name] for name in self.columns)

    @property
    def dictionary(self) -> dict[str, dict[str, Any]]:
        """What each level of each column stands for: from and to, or a list of values."""
        told: dict[str, dict[str, Any]] = {}
        for at, scale in enumerate(self.scales):
            levels: dict[str, Any] = {}
            for node in self.tree.leaves:
                part = self.tree.parts(int(node))[at]
                levels.setdefault(str(self._written(scale, part)), scale.meaning(part))
            told[scale.column] = levels
        return told

    def reduced(self) -> CellCode:
        """The same cells by scales that tell apart no more than the cells do.

        What is published of a code tells no value that the release does not tell: atoms that no cut separates become
        one.
        """
        groups = self.tree.separated()
        scales = tuple(scale.grouped(each) for scale, each in zip(self.scales, groups, strict=True))
        return replace(self, scales=scales, tree=self.tree.regrouped(groups))
