"""What the search is given: records in groups, and what may be told about each secret."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tacit.codes.descent import Ints
from tacit.codes.tree import ColumnAtoms
from tacit.errors import ArgumentError
from tacit.lift import Mask, Vector
from tacit.lift.joint import sums
from tacit.tables.symbols import in_order


@dataclass(frozen=True, eq=False)
class GroupedRecords:
    """Records in groups: those of a group have the same atoms and the same secrets.

    Attributes
    ----------
    codes : array of int (groups x columns)
        The atom of each group in each column.
    records : array of int
        How many records a group has.
    weight : array of float
        What they weigh together; their number, where records are not weighted.
    secrets : tuple of arrays of int
        For each claim, the number of each group's secret.
    """

    codes: NDArray[np.integer]
    records: Ints
    weight: Vector
    secrets: tuple[NDArray[np.integer], ...]

    def __post_init__(self) -> None:
        groups = len(self.codes)
        arrays = (self.records, self.weight, *self.secrets)
        if self.codes.ndim != 2 or any(array.shape != (groups,) for array in arrays):
            raise ArgumentError("groups have a row of atoms, a number of records, a weight and a secret for each claim")
        if (self.records < 0).any() or not (np.isfinite(self.weight).all() and (self.weight >= 0).all()):
            raise ArgumentError("a group has a negative number of records, or a weight that is negative or not finite")

    @classmethod
    def of(
        cls, codes: ArrayLike, *secrets: ArrayLike, records: ArrayLike | None = None, weight: ArrayLike | None = None
    ) -> GroupedRecords:
        """Groups as given; by default of one record each, and each record of weight 1."""
        atoms = np.asarray(codes)
        numbers = np.ones(len(atoms), np.int64) if records is None else np.asarray(records, np.int64)
        weights = numbers.astype(np.float64) if weight is None else np.asarray(weight, np.float64)
        return cls(atoms, numbers, weights, tuple(np.asarray(each) for each in secrets))

    def moved(self, places: Sequence[Ints]) -> GroupedRecords:
        """The same groups by other atoms: for each column, the new atom of each old one."""
        codes = [place[self.codes[:, at]] for at, place in enumerate(places)]
        return replace(self, codes=np.column_stack(codes))

    @cached_property
    def by_atoms(self) -> tuple[Ints, Ints]:
        """The different rows of atoms, in order, and which of them each group has: groups differ in secrets, too."""
        return in_order(np.asarray(self.codes, np.int64))

    @cached_property
    def without_secrets(self) -> tuple[NDArray[np.integer], Vector]:
        """Rows of atoms and what they weigh: each row once, where weights are numbers, whose sums are exact."""
        if not np.array_equal(self.weight, self.records):
            return self.codes, self.weight
        atoms, row = self.by_atoms
        return atoms, sums(row, self.weight, len(atoms))

    def check(self, columns: Sequence[ColumnAtoms], bounds: Sequence[SecretBound]) -> None:
        """Refuse atoms that their column does not have and secrets that their bound does not have."""
        if self.codes.shape[1] != len(columns) or len(self.secrets) != len(bounds):
            raise ArgumentError("there is one column of atoms for each column, and one of secrets for each bound")
        sizes = np.array([column.size for column in columns])
        if len(self.codes) and ((self.codes < 0) | (self.codes >= sizes)).any():
            raise ArgumentError("an atom is out of the range of its column")
        for secret, bound in zip(self.secrets, bounds, strict=True):
            if len(secret) and (secret.min() < 0 or secret.max() >= bound.n_secrets):
                raise ArgumentError("a secret is out of range")


@dataclass(frozen=True, eq=False)
class SecretBound:
    """What a cell may tell about one secret: -low <= log-lift <= high for every bounded value, or threshold, of it.

    Attributes
    ----------
    n_secrets : int
        How many values the secret has.
    low, high : float
        The bounds, in nats; either may be infinite, and then binds nothing.
    bounded : array of bool, or None
        The values that are bounded; None means all of them.
    delta : float
        The probability of pairs of a secret and a cell that may break the bounds.
    epsilon_max : float
        The bound that even those must keep, on the sides that are bounded.
    floor : float, optional
        The values are in order, and not they are bounded but every event "at most t" and "more than t" that covers at
        least this share of all.
    doubt : float
        The square of how many standard errors a cell must also be away from its bounds.
    """

    n_secrets: int
    low: float
    high: float
    bounded: Mask | None = None
    delta: float = 0.0
    epsilon_max: float = np.inf
    floor: float | None = None
    doubt: float = 0.0

    def __post_init__(self) -> None:
        if not (self.low >= 0 and self.high >= 0):
            raise ArgumentError(f"a bound is a number of nats from 0; low is {self.low}, high is {self.high}")
        if not 0 <= self.delta <= 1:
            raise ArgumentError(f"delta is {self.delta}; it must be a probability")
        if self.floor is not None and (self.delta > 0 or self.bounded is not None):
            raise ArgumentError("all thresholds of a number are bounded, and without a delta")
        if self.bounded is not None and np.shape(self.bounded) != (self.n_secrets,):
            raise ArgumentError("bounded says for each value of the secret whether it is bounded")

    def times(self, factor: float) -> SecretBound:
        """The same claim with bounds so many times as wide."""
        return replace(self, low=self.low * factor, high=self.high * factor, epsilon_max=self.epsilon_max * factor)

    @property
    def binding(self) -> Mask:
        """The values that are bounded."""
        return np.ones(self.n_secrets, bool) if self.bounded is None else np.asarray(self.bounded, bool)
