"""One pass over a table: the joint of secret and released values, and what follows from it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.codes.coding import coded, told_counts
from tacit.document import Progress, silent
from tacit.errors import DataError
from tacit.lenses.table.kept.tables import rows_entropy
from tacit.lenses.table.question import TableQuestion
from tacit.lift import Joint, Matrix, Vector, at_both_ends, threshold_risk
from tacit.release.bounds import Attained, LiftBounds
from tacit.tables.counting import Counts, count
from tacit.tables.symbols import Symbols


def spoken(label: Any) -> str:
    """A value of the secret as people say it; several columns are joined."""
    if isinstance(label, tuple):
        return " / ".join(spoken(part) for part in label)
    return "(missing)" if label is None else str(label)


@dataclass(frozen=True)
class Counted:
    """A question that has been counted: the joint of secret and released values, and what the values are.

    ``table`` holds the records (or their weight) of every pair; ``evidence`` the records that carry as much evidence.
    """

    question: TableQuestion
    counts: Counts
    joint: Joint
    symbols: Symbols
    table: Matrix

    @property
    def n_records(self) -> int:
        """How many records were counted, whatever they weigh."""
        return int(self.counts.records.sum())

    @cached_property
    def people(self) -> NDArray[np.int64]:
        """How many records have each released value, whatever they weigh; last, those of a value that was not seen."""
        _, value = self.counts.symbols(self.question.released)
        people = np.zeros(len(self.symbols) + 1, dtype=np.int64)
        np.add.at(people, value, self.counts.records)
        return people

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The values of the secret as people say them."""
        return tuple(spoken(label) for label in self.joint.secrets)

    @cached_property
    def further(self) -> tuple[Joint, ...]:
        """The joints of the further secrets, over the same released values."""
        return tuple(self.counts.joint(names, self.question.released)[0] for names in self.question.also)

    @cached_property
    def parts(self) -> NDArray[np.int64] | None:
        """Which part of what may be known each released value lies in; None if nothing may be known."""
        return None if self.question.code is None else self.question.code.known_parts(self.symbols)

    def attained(self, output: Joint, bounds: LiftBounds, parts: NDArray[np.int64] | None = None) -> Attained:
        """What a release in cells, or with this ``output``, attains for the secret.

        ``parts`` are the parts of what may be known, if not those of the cells.
        """
        parts = self.parts if parts is None else parts
        if bounds.thresholds is None:
            return Attained.of(output, bounds, parts)
        return Attained.at_thresholds(*self._sides(bounds.thresholds, parts), self.joint.marginal, bounds)

    def _sides(self, floor: float, parts: NDArray[np.int64] | None) -> tuple[Vector, Vector]:
        """The largest -log-lift and log-lift of each cell at any threshold of the secret, inside what is known."""
        question = self.question
        table = question.to_bound()
        if question.code is not None:
            table = coded(table, question.code)
        counts = count(table, [*question.secret, *question.released], weight=question.weight)
        symbols, value = counts.symbols(question.released)
        cell = np.append(symbols.positions_in(self.symbols), -1)[value]
        low, high = (np.full(len(self.symbols), np.inf) for _ in range(2))
        if len(self.symbols) != len(symbols):
            return low, high
        at = counts.columns.index(question.secret[0])
        levels, number = counts.levels[at], counts.codes[:, at]
        orders = at_both_ends(number, levels.index(None) if None in levels else None)
        parts = np.zeros(len(low), np.int64) if parts is None else parts
        for part in np.unique(parts):
            here = np.flatnonzero((cell >= 0) & (parts[cell] == part))
            cells, place = np.unique(cell[here], return_inverse=True)
            sides = [threshold_risk(n[here], place, floor=floor, weight=counts.weight[here]) for n in orders]
            low[cells], high[cells] = np.max(sides, axis=0)
        return low, high

    @cached_property
    def given_entropy(self) -> float:
        """Entropy in nats of the released columns' original rows."""
        return rows_entropy(self.question.original, self.question.released, weight=self.question.weight)

    def comes_out_again(self) -> bool:
        """Whether counting the table row by row gives these counts; cells may have been counted another way."""
        question = self.question
        if question.found is None:
            return True
        return count(question.table, self.counts.columns).agrees(self.counts)

    @property
    def evidence(self) -> Matrix:
        """The table scaled to the effective number of records; the table itself where nothing is weighted."""
        if self.question.weight is None:
            return self.table
        return np.asarray(self.table * (self.counts.effective_records / self.table.sum()))


def counted(question: TableQuestion, *, progress: Progress = silent) -> Counted:
    """One pass over the table."""
    progress("counting", None)
    counts = _counts(question)
    joint, symbols = counts.joint(question.secret, question.released)
    assert joint.total is not None
    table = joint.matrix * joint.total
    # Records are whole: what rounding did to the shares must not leave fractions of a record.
    result = Counted(question, counts, joint, symbols, np.rint(table) if question.weight is None else table)
    for names, each in zip((question.secret, *question.also), (joint, *result.further), strict=True):
        if each.shape[0] < 2:
            raise DataError(
                f"secret '{', '.join(names)}' has only one value in {question.table.name}: there is nothing to learn; "
                "choose another secret, or a table in which it varies"
            )
    return result


def _counts(question: TableQuestion) -> Counts:
    """The counts; for a table in cells, of the cells, which are fewer and shorter than what is written for them."""
    if question.code is None or question.found is None:
        return count(question.table, [*question.hidden, *question.released], weight=question.weight)
    counts, cell = question.found.counted(question.hidden, weight=question.weight)
    return told_counts(question.original, question.code, counts, cell)
