"""Plan a release at every epsilon of a ladder, with the code that ``protect`` uses, and measure what it keeps."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.codes.asking import CodeRequest
from tacit.codes.code import CellCode
from tacit.codes.coding import FEW_COMBINATIONS, PlacedTable, atoms_here, counts_by_cell, written_numbers
from tacit.codes.scales.encoding import atoms_table
from tacit.codes.scales.finding import require_scales
from tacit.codes.searching import CountedAtoms, cells_within_each, count_for_code, published
from tacit.document import Progress, silent
from tacit.errors import ArgumentError, NotCertifiedError, Setting, sentence
from tacit.lenses.table.certifying import whole_file_of
from tacit.lenses.table.coding import code_request
from tacit.lenses.table.kept.information import numbered
from tacit.lenses.table.kept.keeping import kept_shares
from tacit.lenses.table.kept.reading import ReleasedColumn
from tacit.lenses.table.kept.values import ColumnValues, ValueGroups
from tacit.lenses.table.ladder.guessing import MOST_RECORDS, OF, Guesser, most_records, secrets_of, some_records
from tacit.lenses.table.ladder.results import Ladder, ReleaseRung, Rows
from tacit.lenses.table.mechanisms import ReleaseGoal, plan_by_goal
from tacit.lenses.table.question import TableQuestion, ask
from tacit.lenses.table.tabulating import Counted, counted
from tacit.lift.joint import sums
from tacit.requests import Bound, Making, Question
from tacit.tables.counting import counted_before
from tacit.tables.cutting import Cut
from tacit.tables.grouping import group_sizes
from tacit.tables.numbers import in_own_precision
from tacit.tables.sources import open_table
from tacit.tables.symbols import in_order, level_text

if TYPE_CHECKING:
    import pyarrow as pa

EPSILONS = (0.1, 0.2, 0.35, 0.5, 0.7, 1.0, 1.5, 2.0)
# With more columns than this, fewer epsilons are tried if the caller names none.
WIDE, EPSILONS_OF_WIDE = 40, (0.2, 0.5, 1.0)
# A large table of at most this many combinations of values and secrets is cut into cells as a whole, not as a sample.
MOST_COMBINATIONS = 150_000
# How many original records are shown next to what each release would make of them.
SHOWN = 10
# If no rung keeps enough, the strictest that keeps this share of what the best one does is suggested.
NEARLY = 0.95
_TRYING = "working out what releases would keep"


def ladder(
    question: Question,
    bound: Bound | None = None,
    making: Making | None = None,
    *,
    epsilons: Sequence[float] | None = None,
    max_loss: float | None = None,
    progress: Progress = silent,
) -> Ladder:
    """What ``protect`` would give for a table in cells at each epsilon.

    The epsilons replace those of the bound: that of the upper side if only that is bounded, else both.
    By default there are eight, or three for a table of more than 40 columns; of a sample only those on the way to the
    suggested one, which a search by halves meets. With ``()`` the ladder only describes the original table.

    Guarantees
    ----------
    Those of :class:`Ladder`. Nothing is written. If a table has more than 20,000 records, or more than 800,000 values,
    what is kept is measured on a sample, as ``sampled`` says. Its cells are those of the sample, too, unless all
    records were counted and have few combinations of values (``whole``). How many people are alone in the original
    table is counted on all records.
    """
    bound, making = bound or Bound(), _in_cells(making or Making())
    first = ReleaseGoal.asked(_with_epsilon(bound, 1.0), making)
    _refuse(first, making)
    progress("looking at the columns", None)
    climb = Climb.of(question, first, making)
    by_halves = epsilons is None and climb.asked is not climb.whole
    if epsilons is None:
        epsilons = EPSILONS_OF_WIDE if len(climb.whole.released) > WIDE else EPSILONS
    goals = [ReleaseGoal.asked(_with_epsilon(bound, epsilon), making) for epsilon in sorted(set(epsilons))]
    most = making.max_loss if max_loss is None else max_loss
    rungs: Mapping[int, Sequence[ReleaseRung]] = {}
    if goals and climb.varies:
        rungs = _by_halves(climb, goals, most, progress) if by_halves else _one_by_one(climb, goals, progress)
    return climb.ladder([rung for at in sorted(rungs) for rung in rungs[at]], most)


def _one_by_one(climb: Climb, goals: Sequence[ReleaseGoal], progress: Progress) -> dict[int, list[ReleaseRung]]:
    """The rung of each goal, by its place."""
    progress(_TRYING, None)
    rungs = {}
    for at, (goal, cells) in enumerate(zip(goals, climb.cells(goals), strict=True)):
        progress(_TRYING, at / len(goals))
        rungs[at] = climb.rung(goal, cells)
    return rungs


def _by_halves(
    climb: Climb, goals: Sequence[ReleaseGoal], max_loss: float, progress: Progress
) -> dict[int, list[ReleaseRung]]:
    """The rungs on the way to the one that all of them would suggest, if what is kept grows with epsilon.

    Among very many records chance shows little, and the strictest usually keep enough: these are tried first.
    """
    rungs: dict[int, list[ReleaseRung]] = {}

    def kept(at: int) -> float:
        if at not in rungs:
            progress(_TRYING, len(rungs) / len(goals))
            rungs[at] = climb.rung(goals[at], *climb.cells(goals[at : at + 1]))
        return max((rung.kept for rung in rungs[at]), default=0.0)

    places, enough = range(len(goals)), 1 - max_loss
    low, high = 0, 0 if climb.counting is climb.whole else len(goals)
    while high < len(goals) and kept(high) < enough:
        low, high = high + 1, 2 * high + 1
    if bisect_left(places, enough, low, min(high, len(goals)), key=kept) == len(goals):
        best = max(map(kept, list(rungs)))
        bisect_left(places, NEARLY * best, key=kept)
    return rungs


def _in_cells(making: Making) -> Making:
    return replace(making, mechanism="cells") if making.mechanism in (None, "auto") else making


def _with_epsilon(bound: Bound, epsilon: float) -> Bound:
    """The bound at an epsilon: only on the upper side if only that was asked for."""
    if bound.epsilon_high is not None and bound.epsilon is None and bound.epsilon_low is None:
        return replace(bound, epsilon_high=epsilon)
    return replace(bound, epsilon=epsilon, epsilon_high=None, epsilon_low=None)


def _refuse(goal: ReleaseGoal, making: Making) -> None:
    """Refuse everything but counted cells: a rung would not be what ``protect`` gives."""
    if goal.mechanism != "cells" or making.rules is not None or goal.confidence is not None:
        words = "epsilons are compared on new cells, without a proof: leave out {mechanism}, {rules} and {confidence}"
        raise ArgumentError(sentence(words, **{name: Setting(name) for name in ("mechanism", "rules", "confidence")}))


def _table_question(question: Question, goal: ReleaseGoal, cuts: Sequence[Cut] = ()) -> TableQuestion:
    also = [each.secret for each in goal.also]
    return ask(question, also=also, cuts=cuts, in_cells=True, thresholds=goal.bounds.thresholds)


@dataclass(frozen=True, eq=False)
class Climb:
    """A table that was opened, read and counted once for all rungs.

    ``whole`` is the question about all records, ``counting`` the one about those that cells are made of, and ``asked``
    the one about those for which what is kept is measured; ``given`` are the original released columns of the latter,
    ``values`` and ``groups`` the values and the coarse groups of each.
    """

    whole: TableQuestion
    counting: TableQuestion
    asked: TableQuestion
    goal: ReleaseGoal
    making: Making
    given: pa.Table
    values: Mapping[str, ColumnValues]
    groups: Mapping[str, ValueGroups]
    secret: NDArray[np.int64]

    @classmethod
    def of(cls, question: Question, goal: ReleaseGoal, making: Making) -> Climb:
        """Open the table and read it; the goal may have any epsilon."""
        table = open_table(question.source, engine=question.engine, memory=question.memory).pinned()
        table = table.held(MOST_RECORDS)
        sampled = whole = _table_question(replace(question, source=table), goal)
        sample = some_records(table, whole.secret, min(MOST_RECORDS, most_records(len(whole.released))))
        if sample is not table:
            # A column may differ in every row of a sample but not of the table: the whole table was checked for that.
            sampled = _table_question(replace(question, source=sample, keep_id=whole.released), goal, whole.cuts)
        records = sampled.original.sample(sampled.released, MOST_RECORDS)
        kinds = {column.name: column.kind for column in table.columns}
        values = {name: ColumnValues.of(name, records.column(name), kinds[name]) for name in sampled.released}
        groups = {name: ValueGroups.coarse(each) for name, each in values.items()}
        counting = whole if _few_combinations(whole, code_request(whole, goal, making)) else sampled
        secret = secrets_of(sampled.as_given(), sampled.secret)
        return cls(whole, counting, sampled, goal, making, records, values, groups, secret)

    @cached_property
    def atoms(self) -> CountedAtoms:
        """The counts for the search for cells, which do not depend on epsilon."""
        request = code_request(self.counting, self.goal, self.making)
        if self.counting is not self.whole:
            # A value that protect would refuse may be in none of the sampled records.
            require_scales(self.whole.to_bound(), request.columns, request.levels)
        return count_for_code(self.counting.to_bound(), request)

    @property
    def varies(self) -> bool:
        """Whether a sample has more than one value of every secret; a whole table that does not is refused later."""
        return self.counting is self.whole or all(values > 1 for _, values in self.atoms.values)

    @cached_property
    def row_atoms(self) -> NDArray[np.int64]:
        """The atoms of each record (records x columns)."""
        table = self.asked.to_bound()
        here = atoms_here(table, self.atoms.scales)
        if here is not None and len(here) <= MOST_RECORDS:
            return here
        table = atoms_table(table, self.atoms.scales)
        rows = table.sample(self.asked.released, MOST_RECORDS)
        return np.column_stack([column.to_numpy() for column in rows.columns])

    def cells(self, goals: Sequence[ReleaseGoal]) -> list[CellCode]:
        """The cells that ``protect`` would choose for each goal."""
        return cells_within_each(self.atoms, [code_request(self.counting, goal, self.making) for goal in goals])

    def told(self, goal: ReleaseGoal, fine: CellCode) -> tuple[Counted, NDArray[np.int64]]:
        """The table in the cells of a goal, counted, and the cell of each record."""
        question = self.counting
        cell = fine.places[fine.tree.leaf_of(np.asarray(self.atoms.records.codes, np.int64))]
        counts = {(question.weight, *question.hidden): counts_by_cell(self.atoms.counts, question.hidden, cell)}
        code = published(fine, self.atoms.records, code_request(question, goal, self.making))
        cells = np.arange(len(fine.tree.leaves))
        # With thresholds, cells were looked up in a table with another secret than the one counted here.
        placed = PlacedTable(question.table, cells, counts) if question.thresholds is None else None
        coded = question.coded(code) if placed is None else replace(question, code=code, found=placed)
        return counted(coded), fine.places[fine.tree.leaf_of(self.row_atoms)]

    def rung(self, goal: ReleaseGoal, cells: CellCode) -> list[ReleaseRung]:
        """What ``protect`` would give with this goal, in these cells; empty if it would write nothing."""
        table, cell = self.told(goal, cells)
        try:
            plan = plan_by_goal(table, goal)
        except NotCertifiedError:
            return []
        question, written = table.question, _written(table)
        columns = self.columns(written, cell)
        rows = numbered([column.codes for column in columns.values()])
        kept = kept_shares(columns, self.groups, rows)
        return [
            ReleaseRung(
                epsilon=goal.bounds.epsilon,
                attained=plan.attained.epsilon,
                kept=sum(kept.values()) / len(kept),
                columns=tuple(kept.items()),
                found=OF * _alone(table, question.known or question.released),
                guessed=self.guessed({name: column.codes for name, column in columns.items()}),
                cells=plan.mechanism.values,
                smallest=whole_file_of(table, plan.rules, goal.least).smallest,
                rows=_rows(written, cell[self.shown]),
            )
        ]

    def columns(self, written: pa.Table, cell: NDArray[np.int64]) -> dict[str, ReleasedColumn]:
        """The released columns as a reader takes them, from what is written for each cell."""
        read = {name: ReleasedColumn.of(each, written.column(name), {}) for name, each in self.values.items()}
        return {name: replace(column, codes=column.codes[cell]) for name, column in read.items()}

    def guessed(self, columns: Mapping[str, NDArray[np.int64]]) -> float:
        """How many more secrets of 1,000 people these columns guess right than what may be known does by itself."""
        known = {name: columns[name] for name in self.asked.known}
        before = self.adversary.knowing(known).right() if known else self.blind
        return OF * max(0.0, self.adversary.knowing(columns).right() - before)

    @cached_property
    def adversary(self) -> Guesser:
        """Who guesses the secrets of the records, without any column yet."""
        return Guesser.of({}, self.secret)

    @cached_property
    def blind(self) -> float:
        """The share of secrets that is guessed right without any column."""
        return self.adversary.right()

    @cached_property
    def shown(self) -> NDArray[np.int64]:
        """The positions of the records that are shown, evenly spaced."""
        return np.unique(np.linspace(0, self.given.num_rows - 1, SHOWN).astype(np.int64))

    def ladder(self, rungs: Sequence[ReleaseRung], max_loss: float) -> Ladder:
        """The rungs, next to the original table."""
        whole, before = self.whole, _rows(self.given, self.shown)
        sizes = group_sizes(whole.as_given(), whole.released)
        known_sizes = group_sizes(whole.as_given(), whole.known) if whole.known else sizes
        return Ladder(
            columns=whole.released,
            before=before,
            original=ReleaseRung(
                epsilon=math.inf,
                attained=math.inf,
                kept=1.0,
                columns=tuple((name, 1.0) for name in whole.released),
                found=OF * known_sizes.unique / sizes.people,
                guessed=self.guessed({name: each.rows(self.values[name]) for name, each in self.groups.items()}),
                cells=sizes.groups,
                smallest=sizes.smallest,
                rows=before,
            ),
            rungs=tuple(rungs),
            records=sizes.people,
            sampled=None if self.given.num_rows == sizes.people else self.given.num_rows,
            whole=self.counting is whole,
            prior=OF * self.blind,
            max_loss=max_loss,
            epsilon=_suggested(rungs, max_loss),
        )


def _few_combinations(question: TableQuestion, request: CodeRequest) -> bool:
    """Whether the whole table was counted, and cells of all its records are found as fast as those of a sample."""
    if question.weight is not None or question.thresholds is not None:
        return False
    counts = counted_before(question.to_bound(), [*request.columns, *request.beside])
    if counts is None or len(counts.codes) > MOST_COMBINATIONS:
        return False
    return prod(len(counts.levels[counts.columns.index(name)]) for name in request.columns) <= FEW_COMBINATIONS


def _suggested(rungs: Sequence[ReleaseRung], max_loss: float) -> float | None:
    """The strictest epsilon that keeps enough of a column on average, or else nearly as much as any epsilon does."""
    most, enough = max((rung.kept for rung in rungs), default=0.0), 1 - max_loss
    enough = enough if most >= enough else NEARLY * most
    return next((rung.epsilon for rung in rungs if rung.kept >= enough), None) if most > 0 else None


def _alone(table: Counted, columns: Sequence[str]) -> float:
    """The share of people who have the same as nobody else in some of the released columns."""
    at = [table.symbols.columns.index(name) for name in columns]
    people = sums(in_order(table.symbols.codes[:, at])[1], table.people[:-1].astype(np.float64), len(table.symbols))
    return float((people == 1).sum() / people.sum())


def _written(table: Counted) -> pa.Table:
    """What is written for each cell."""
    import pyarrow as pa

    code, original = table.question.code, table.question.original
    assert code is not None
    columns, numbers = zip(code.columns, code.written, strict=True), written_numbers(original, code)
    return pa.table({name: levels if name in numbers else list(map(str, levels)) for name, levels in columns})


def _rows(table: pa.Table, places: NDArray[np.int64]) -> Rows:
    """Some rows of a table as texts, numbers in their own precision; missing values are empty."""
    columns = [column.to_pylist() for column in table.take(places).columns]
    return tuple(tuple(_text(cell) for cell in row) for row in zip(*columns, strict=True))


def _text(cell: Any) -> str:
    return in_own_precision(cell) if isinstance(cell, float) else level_text(cell) or ""
