"""The levels at which a column may be told: its atoms (the finest steps), where parts may end, how a part reads."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tacit.codes.scales.wording import ANY, MISSING, either, runs
from tacit.errors import ArgumentError, Sentence

UNKNOWN = -1


@dataclass(frozen=True, eq=False)
class ScaleLevel:
    """A coarser level of a scale: its name, such as ``month``, and the number of the group of each atom."""

    name: str
    groups: NDArray[np.int64]


class Scale(ABC):
    """The atoms of one column, in an order. A part is a set of atoms; a text says that a record is in a part.

    Scales are frozen dataclasses of plain fields, so that the codec of a release writes and reads them unchanged.

    Attributes
    ----------
    column : str
    has_missing : bool
        Whether the last atom is missing.
    ordered : bool
        Whether a part is a run of neighbouring atoms; otherwise it is any set.
    """

    column: str
    has_missing: bool
    ordered: ClassVar[bool] = True

    @property
    @abstractmethod
    def present(self) -> int:
        """The number of atoms that are values."""

    @property
    def size(self) -> int:
        """The number of atoms."""
        return self.present + self.has_missing

    @property
    def zone(self) -> str | None:
        """The time zone in which a column of moments is told; None where there is none."""
        return None

    @cached_property
    def cuts(self) -> NDArray[np.bool_]:
        """Whether a part may end between an atom and the next, for each atom but the last."""
        return np.ones(max(0, self.size - 1), dtype=bool)

    @cached_property
    def levels(self) -> tuple[ScaleLevel, ...]:
        """Coarser levels with names, finest first; missing is a group of its own in each."""
        return ()

    @property
    @abstractmethod
    def note(self) -> Sentence:
        """What was found in the column, in a sentence."""

    def text(self, part: ArrayLike) -> str:
        """A readable text for a set of atoms, given as a mask.

        Guarantees
        ----------
        It is true of every value whose atom is in the part. Different parts have different texts. The whole column
        reads ``any``, unless it is a single atom.
        """
        mask = np.asarray(part)
        if mask.dtype != np.bool_ or mask.shape != (self.size,):
            raise ArgumentError(f"a part of column '{self.column}' is true or false for each of {self.size} atoms")
        flags = mask.tobytes()
        if 1 not in flags:
            raise ArgumentError(f"a part of column '{self.column}' needs at least one atom")
        if 0 not in flags and self.size > 1:
            return ANY
        return self._part_text(mask)

    def _part_text(self, mask: NDArray[np.bool_]) -> str:
        """The text of a part that is neither empty nor the whole."""
        values = mask[: self.present]
        words = [self._run(first, last) for first, last in runs(values)]
        return either([*words, MISSING] if self.has_missing and mask[-1] else words)

    @abstractmethod
    def _run(self, first: int, last: int) -> str:
        """The text of the atoms from the first to the last, none of which is missing."""

    @abstractmethod
    def atoms_of(self, values: Sequence[Any]) -> NDArray[np.int64]:
        """The atom of each value, as Arrow gives it (None is missing); -1 for a value that cannot be placed."""

    def number(self, part: ArrayLike, records: ArrayLike, least: int) -> float | None:
        """The mean of a part whose atoms have so many ``records``, without the few at its ends; None if it has none."""
        return None

    @property
    def missing_atom(self) -> int:
        """The atom of missing values; -1 if there is none."""
        return self.present if self.has_missing else UNKNOWN

    def _grouped(self, name: str, groups: NDArray[Any]) -> ScaleLevel:
        """A level from a number for each present atom, in rising order; missing comes last."""
        numbers = np.unique(groups, return_inverse=True)[1].reshape(-1).astype(np.int64)
        after = [int(numbers.max(initial=-1)) + 1] if self.has_missing else []
        return ScaleLevel(name, np.concatenate([numbers, np.array(after, dtype=np.int64)]))
