"""The records that an adversary who links uses: some people to look for, and others to learn from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.lenses.table.linkage.beliefs import lifts_of
from tacit.lenses.table.linkage.reading import LearnedColumn
from tacit.lenses.table.question import TableQuestion
from tacit.lift import Mask, Matrix, Vector
from tacit.tables.symbols import Codes, encoded, in_order
from tacit.tables.table import Table

if TYPE_CHECKING:
    import pyarrow as pa

# How many records are sampled.
LOOKED_AT = 200_000


@dataclass(frozen=True, eq=False)
class RowsRead:
    """Some rows of a table: the levels of each column, and the code of each row's level."""

    levels: Mapping[str, tuple[Any, ...]]
    codes: Mapping[str, Codes]

    @classmethod
    def of(cls, rows: pa.Table) -> RowsRead:
        """From an Arrow table."""
        read = {name: encoded(rows.column(name), name) for name in rows.column_names}
        return cls({name: each[0] for name, each in read.items()}, {name: each[1] for name, each in read.items()})

    def records(self, name: str) -> Codes:
        """How many rows have each level."""
        return np.bincount(self.codes[name], minlength=len(self.levels[name]))

    def beside(self, names: Sequence[str]) -> Codes:
        """The codes of some columns, side by side."""
        return np.column_stack([self.codes[name] for name in names])

    def learned(self, table: Table) -> dict[str, LearnedColumn]:
        """How each column is learned from."""
        return {name: LearnedColumn.of(self.levels[name], self.records(name), table[name].kind) for name in self.codes}


@dataclass(frozen=True, eq=False)
class LookedAt:
    """The sampled records: who is looked for, who is learned from, their true values and their secrets."""

    true: RowsRead
    columns: Mapping[str, LearnedColumn]
    secret: Codes
    looked_for: Codes
    others: Mask

    @classmethod
    def at(cls, question: TableQuestion, known: Sequence[str], people: int) -> LookedAt:
        """Evenly spaced records of the original table."""
        table = question.as_given()
        names = tuple(dict.fromkeys([*question.secret, *question.released, *known]))
        true = RowsRead.of(table.sample(names, LOOKED_AT))
        secret = in_order(true.beside(question.secret))[1]
        n = len(secret)
        wanted = max(1, min(people, n // 2))
        looked_for = np.arange(wanted) * n // wanted
        others = np.ones(n, dtype=bool)
        others[looked_for] = False
        return cls(true, true.learned(table), secret, looked_for, others)

    @cached_property
    def prior(self) -> Vector:
        """P(s) among all sampled records."""
        return np.asarray(np.bincount(self.secret) / len(self.secret))

    def sayings(self, names: Sequence[str]) -> Codes:
        """The values of every record in some columns, coded for learning."""
        codes = [self.columns[name].codes(self.true.levels[name])[self.true.codes[name]] for name in names]
        return np.column_stack(codes)

    def believed(self, names: Sequence[str], of: Codes, prior: Vector) -> Matrix:
        """P(of | values in some columns) for everybody who is looked for, learned from the others."""
        sayings = self.sayings(names)
        return lifts_of(sayings[self.looked_for], sayings[self.others], of[self.others], prior) * prior

    def information(self, name: str) -> float:
        """Mutual information of a column and the secret, less its bias by chance (Miller and Madow)."""
        values, column = np.unique(self.sayings([name]), return_inverse=True)
        n, shape = len(self.secret), (len(values), len(self.prior))
        cells = np.bincount(column.reshape(-1) * shape[1] + self.secret, minlength=shape[0] * shape[1]) / n
        joint = cells.reshape(shape)
        expected = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0)
        occurs = joint > 0
        plug_in = float((joint[occurs] * np.log(joint[occurs] / expected[occurs])).sum())
        return plug_in - (shape[0] - 1) * (shape[1] - 1) / (2 * n)
