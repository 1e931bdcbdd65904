"""The channel of a drawn release, as published: the probability with which each value became each other.

A claim already assumes that the adversary knows how the release was made, so publishing it gives nothing more away; and
the honest reader needs it to count right. But a value that is spelled out here is in the release, for anyone who reads
the whole file. So values that fewer than ``least`` people have are not spelled out: together they are one input and one
output, "other values".
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from scipy.sparse import csr_array

from tacit.errors import SourceError
from tacit.lift import Matrix, Vector
from tacit.release.codec import Damaged, decoded, encoded, json_in
from tacit.tables.symbols import Codes, Symbols

FORMAT: Literal["tacit channel"] = "tacit channel"
VERSION: Literal[1] = 1
# Significant digits of a published probability, and how far the sum of a row of them may be from 1.
DIGITS, ROUNDED = 6, 1e-4


@dataclass(frozen=True, eq=False)
class DrawRows:
    """Distributions over outputs, end to end: row i has the entries from ``starts[i]`` up to ``starts[i + 1]``."""

    starts: Codes
    at: Codes
    p: Vector

    def __post_init__(self) -> None:
        lengths = np.diff(self.starts)
        fits = self.starts.ndim == 1 and len(self.starts) and self.starts[0] == 0 and (lengths > 0).all()
        if not fits or not self.starts[-1] == len(self.at) == len(self.p) or (self.at < 0).any():
            raise ValueError("the parts of the draws do not fit together")
        row = np.repeat(np.arange(len(lengths)), lengths)
        if not (self.p > 0).all() or (abs(np.bincount(row, self.p, len(lengths)) - 1) > ROUNDED).any():
            raise ValueError("a draw is not a distribution")

    def __len__(self) -> int:
        return len(self.starts) - 1

    @classmethod
    def of(cls, flows: csr_array) -> DrawRows:
        """From rows of how much goes to each output, to six digits; no row is empty."""
        rows = csr_array(flows, copy=True)
        rows.sum_duplicates()
        rows.eliminate_zeros()
        share = rows.data / np.repeat(rows.sum(axis=1), np.diff(rows.indptr))
        scale = 10.0 ** (DIGITS - 1 - np.floor(np.log10(share)))
        return cls(rows.indptr.astype(np.int64), rows.indices.astype(np.int64), np.rint(share * scale) / scale)

    def matrix(self, outputs: int) -> csr_array:
        """The rows as a table whose rows sum to one."""
        table = csr_array((self.p, self.at, self.starts), shape=(len(self), outputs))
        return csr_array(table / table.sum(axis=1)[:, None])


@dataclass(frozen=True, eq=False)
class ColumnChannel:
    """What becomes of the values of one column, on average over the records that have each.

    Attributes
    ----------
    values : Symbols
        The values of the one column: the first ``inputs`` of them are inputs, all are outputs.
    draws : DrawRows
        One for each input, and a last one for all other values together. The number after the last value is the output
        "other values".
    stationary : bool
        Whether the counts of the column stay the same, on average.
    """

    values: Symbols
    inputs: int
    draws: DrawRows
    stationary: bool

    def __post_init__(self) -> None:
        if len(self.values.columns) != 1 or not 0 <= self.inputs <= len(self.values):
            raise ValueError("a channel of one column has values of one column")
        if self.stationary and self.inputs != len(self.values):
            raise ValueError("a channel that keeps counts has the same inputs as outputs")
        if len(self.draws) != self.inputs + 1 or self.draws.at.max() > len(self.values):
            raise ValueError("the draws do not fit the values")

    @property
    def column(self) -> str:
        """The name of the column."""
        return self.values.columns[0]

    @property
    def matrix(self) -> Matrix:
        """Inputs x outputs, all other values last in both."""
        return np.asarray(self.draws.matrix(len(self.values) + 1).toarray())


@dataclass(frozen=True, eq=False)
class PublishedChannel:
    """What a drawn release did to its values, as far as may be published.

    Attributes
    ----------
    least : int
        A value is spelled out if at least this many people of the original have it.
    symbols : Symbols
        The values that are spelled out, all released columns together.
    draw : int array
        For each of them, and last for all others together, the number of its draw; -1 if it is released unchanged.
    draws : DrawRows
        Outputs are the symbols; the number after the last is another value, and the one after that a wholly suppressed
        row.
    columns : tuple of ColumnChannel
        The same for each released column on its own.

    Guarantees
    ----------
    Every input but "other values" belongs to at least ``least`` records of the original, and so does every output but
    the suppressed row. Probabilities have six digits. Where several inputs are taken together, in a column and for
    other values, they are means over the records that have them.
    """

    least: int
    symbols: Symbols
    draw: Codes
    draws: DrawRows
    columns: tuple[ColumnChannel, ...]
    format: Literal["tacit channel"] = FORMAT
    version: Literal[1] = VERSION

    def __post_init__(self) -> None:
        if self.draw.shape != (len(self.symbols) + 1,) or self.draw.min() < -1 or self.draw.max() >= len(self.draws):
            raise ValueError("the draws do not fit the values")
        if self.draws.at.max(initial=0) > len(self.symbols) + 1:
            raise ValueError("an output is none of the values")
        if tuple(each.column for each in self.columns) != self.symbols.columns:
            raise ValueError("the columns are not those of the values")

    def agrees(self, other: PublishedChannel) -> bool:
        """Whether another says the same, except for the last digits of its probabilities."""
        return _alike(encoded(self), encoded(other))

    @classmethod
    def load(cls, path: Path) -> PublishedChannel:
        """Read what ``protect`` wrote."""
        data = json_in(path, "channel")
        try:
            return decoded(cls, data)
        except Damaged as error:
            raise SourceError(f"{path} is damaged or not a Tacit channel ({error})") from error


def _alike(one: Any, other: Any) -> bool:
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_alike(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_alike, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=ROUNDED)
    return bool(one == other)
