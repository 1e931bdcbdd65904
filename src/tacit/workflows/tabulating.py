"""One pass over a table: the joint of secret and released values, and what may be asked of it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tacit.errors import ArgumentError, DataError
from tacit.lift.joint import Joint, Matrix
from tacit.tables.counting import Counts, count
from tacit.tables.symbols import Symbols
from tacit.workflows import findings
from tacit.workflows.question import Question

Progress = Callable[[str, float | None], None]

# e^100 is more than all the records of the world; a bound beyond it bounds nothing.
LARGEST_EPSILON = 100.0


def silent(stage: str, share: float | None) -> None:
    """The progress of those who do not watch."""


@dataclass(frozen=True)
class Counted:
    """A question that has been counted: the joint of secret and released values, and what the values are.

    ``table`` holds the records (or their weight) of every pair; ``evidence`` the records that carry as much evidence.
    """

    question: Question
    counts: Counts
    joint: Joint
    symbols: Symbols
    table: Matrix

    @cached_property
    def further(self) -> tuple[Joint, ...]:
        """The joints of the further secrets, over the same released values."""
        return tuple(self.counts.joint(names, self.question.released)[0] for names in self.question.also)

    @property
    def evidence(self) -> Matrix:
        """The table scaled to the effective number of records; the table itself where nothing is weighted."""
        if self.question.weight is None:
            return self.table
        return np.asarray(self.table * (self.counts.effective_records / self.table.sum()))


def counted(question: Question, *, progress: Progress = silent) -> Counted:
    """One pass over the table."""
    progress("counting", None)
    counts = count(question.table, [*question.hidden, *question.released], weight=question.weight)
    joint, symbols = counts.joint(question.secret, question.released)
    assert joint.total is not None
    table = joint.matrix * joint.total
    # Records are whole; what the shares lost to rounding must not become half a record.
    found = Counted(question, counts, joint, symbols, np.rint(table) if question.weight is None else table)
    for names, each in zip((question.secret, *question.also), (joint, *found.further), strict=True):
        if each.shape[0] < 2:
            only = findings.spoken(each.secrets[0])
            raise DataError(
                f"secret '{', '.join(names)}' has the single value '{only}' in {question.table.name}: there is nothing "
                "to learn; choose another secret, or a table in which it varies"
            )
    return found


def checked_epsilon(epsilon: float, *, name: str = "epsilon") -> float:
    """``epsilon`` itself if it can bound a log-lift."""
    if math.isnan(epsilon) or epsilon < 0:
        raise ArgumentError(f"{name} must be a number of nats, 0 or more; got {epsilon}")
    if epsilon > LARGEST_EPSILON and not (name == "epsilon_max" and math.isinf(epsilon)):
        raise ArgumentError(
            f"{name} is {epsilon:g} nats, a factor that allows everything; choose at most {LARGEST_EPSILON:g}"
        )
    return float(epsilon)


def checked_loss(max_loss: float) -> float:
    """``max_loss`` itself if it is a share."""
    if not 0 <= max_loss <= 1:
        raise ArgumentError(f"max_loss is a share between 0 and 1; got {max_loss}")
    return max_loss
