"""What is asked of a code, and what is counted in a table to answer it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.codes.code import Write
from tacit.codes.coding import atom_codes, atoms_here, counts_by_atom, few_values
from tacit.codes.scales.encoding import atoms_table
from tacit.codes.scales.kinds.every import AnyScale
from tacit.codes.search.records import GroupedRecords, SecretBound
from tacit.errors import ArgumentError, Setting, sentence
from tacit.lift import at_both_ends
from tacit.tables.counting import Counts, count
from tacit.tables.symbols import in_order
from tacit.tables.table import Table

# The most values of the use that are distinguished while cuts are chosen.
MOST_USES = 16


@dataclass(frozen=True)
class CodeClaim:
    """What cells may tell about one secret: a column, or several together; with a ``floor``, a number's thresholds."""

    secret: tuple[str, ...]
    low: float
    high: float
    delta: float = 0.0
    epsilon_max: float = np.inf
    floor: float | None = None

    def bound(self, n_secrets: int) -> SecretBound:
        """The claim as the search reads it."""
        return SecretBound(
            n_secrets, self.low, self.high, delta=self.delta, epsilon_max=self.epsilon_max, floor=self.floor
        )


@dataclass(frozen=True)
class CodeRequest:
    """What is asked of a code.

    Attributes
    ----------
    columns : tuple of str
        The released columns.
    claims : tuple of CodeClaim
        What may be told about each secret.
    least : int
        The fewest records of a cell.
    known : tuple of str
        Released columns that an adversary may know: cells are bounded given their values.
    use : tuple of str
        Columns that readers want to predict.
    prefer : mapping
        How much keeping each column matters; 1 for those that are not named.
    levels : mapping
        The levels at which a column may be told, where they were given.
    weight : str, optional
        The column with the weight of each record.
    write : "text" or "means"
    recode : "local" or "global"
        Whether every cell has its own parts of a column, or a column has the same parts in all cells.
    """

    columns: tuple[str, ...]
    claims: tuple[CodeClaim, ...]
    least: int
    known: tuple[str, ...] = ()
    use: tuple[str, ...] = ()
    prefer: Mapping[str, float] = field(default_factory=dict)
    levels: Mapping[str, Any] = field(default_factory=dict)
    weight: str | None = None
    write: Write = "text"
    recode: Literal["local", "global"] = "local"

    def __post_init__(self) -> None:
        for name in self.known:
            if name not in self.columns:
                words = "column '{name}' may be known but is not released: release it, or leave it out of {known}"
                raise ArgumentError(sentence(words, name=name, known=Setting("known")))
        if self.known and self.recode == "global":
            words = "cells within known values have parts of their own: leave out {known}, or {recode}"
            raise ArgumentError(sentence(words, known=Setting("known"), recode=Setting("recode", "global")))
        for name in self.prefer:
            if name not in self.columns:
                raise ArgumentError(f"column '{name}' is named in prefer but is not released")

    @property
    def hidden(self) -> tuple[str, ...]:
        """Every column of a secret, once."""
        return tuple(dict.fromkeys(name for claim in self.claims for name in claim.secret))

    @property
    def beside(self) -> tuple[str, ...]:
        """The columns that are counted along with the released ones: those of secrets, and uses."""
        return (*self.hidden, *(name for name in self.use if name not in self.columns))


def counted_atoms(table: Table, scales: Sequence[AnyScale], request: CodeRequest, *beside: str) -> Counts:
    """How often every combination of atoms, secrets and uses occurs, along with further columns ``beside`` them."""
    counted = [*request.columns, *request.beside, *beside]
    if request.weight is None and (few_values(scales) or atoms_here(table, scales) is not None):
        # For an engine, grouping a few short texts is faster than looking up each of them.
        return counts_by_atom(count(table, counted), scales)
    return count(atoms_table(table, scales), counted, weight=request.weight)


def grouped_records(
    counts: Counts, request: CodeRequest, atoms: NDArray[np.int64] | None = None
) -> tuple[GroupedRecords, list[SecretBound]]:
    """The counts as the search reads them, and the bound on each secret; ``atoms``, if values were counted instead."""
    orders = secret_orders(counts, request)
    bounds = [request.claims[order.claim].bound(order.values) for order in orders]
    codes = atom_codes(counts, request.columns) if atoms is None else atoms
    secrets = [order.secret for order in orders]
    return GroupedRecords.of(codes, *secrets, records=counts.records, weight=counts.weight), bounds


class SecretOrder(NamedTuple):
    """A claim's secret in an order: the place of the claim, that of each group's value, and the number of values."""

    claim: int
    secret: NDArray[np.int64]
    values: int


def secret_orders(counts: Counts, request: CodeRequest) -> list[SecretOrder]:
    """The secret of each claim; one with thresholds and missing values twice: with these last, and first."""
    orders = []
    for at, claim in enumerate(request.claims):
        values, numbers = in_order(counts.codes[:, [counts.columns.index(name) for name in claim.secret]])
        both = (numbers,) if claim.floor is None else at_both_ends(numbers, _missing(counts, claim.secret[0], values))
        orders += [SecretOrder(at, each, len(values)) for each in both]
    return orders


def _missing(counts: Counts, column: str, values: NDArray[np.int64]) -> int | None:
    """The place of the missing value among the codes of a column that occur."""
    levels = counts.levels[counts.columns.index(column)]
    places = [] if None not in levels else np.flatnonzero(values[:, 0] == levels.index(None)).tolist()
    return places[0] if places else None


def uses_of(counts: Counts, request: CodeRequest) -> NDArray[np.int64] | None:
    """The value of the use of each group, in at most a few classes; None where no use was named."""
    if not request.use:
        return None
    values = in_order(counts.codes[:, [counts.columns.index(name) for name in request.use]])[1]
    different = int(values.max(initial=0)) + 1
    if different <= MOST_USES:
        return values
    # Values are in order, so neighbours are alike: classes of about equal weight.
    share = np.cumsum(np.bincount(values, counts.weight)) / counts.weight.sum()
    classes: NDArray[np.int64] = np.minimum((share * MOST_USES).astype(np.int64), MOST_USES - 1)
    return classes[values]
