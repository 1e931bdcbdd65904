"""What changing one column would do: dropping it, or writing it at a coarser level, measured on the original table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from tacit.errors import Setting
from tacit.learn.arrays import Codes
from tacit.lenses.table.kept.information import entropy_of, kept_share, numbered
from tacit.lenses.table.kept.values import ColumnValues, ValueGroups, distinct_texts
from tacit.lenses.table.ladder.guessing import OF, Guesser, alone, most_records, secrets_of
from tacit.lenses.table.linkage.coarser import CoarserLevel, coarser_levels, with_levels
from tacit.lenses.table.question import TableQuestion
from tacit.tables.counting import Counts, counted_before
from tacit.tables.symbols import encoded
from tacit.tables.table import Table

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Fix:
    """One column left out (``level`` None), or written at a coarser level."""

    column: str
    level: CoarserLevel | None = None


@dataclass(frozen=True)
class FixEffect:
    """What changing one column does to the original table.

    Attributes
    ----------
    column : str
    fix : "drop" or "coarser"
    level : str or None
        The level in words: "month", "steps of 10", "first 2 characters".
    kept : float
        What is kept of the column, measured as in a certificate; the others are kept whole.
    found, guessed : float
        Of 1,000 people, those who could then be found, and how many more secrets could be guessed than without the
        table, as in a :class:`~tacit.lenses.table.ladder.results.ReleaseRung`.
    setting : Setting
        What to ask ``audit`` or ``protect`` for.
    """

    column: str
    fix: Literal["drop", "coarser"]
    level: str | None
    kept: float
    found: float
    guessed: float
    setting: Setting


@dataclass(frozen=True)
class FixEffects:
    """What each of some changes does by itself; ``found`` and ``guessed`` are those of the original table.

    ``sampled`` is how many records were used, if not all were. Who is found is counted on all records nevertheless if
    their combinations were counted before; if not, more people seem alone than are.
    """

    found: float
    guessed: float
    effects: tuple[FixEffect, ...]
    sampled: int | None


def fixes_of(question: TableQuestion, columns: Sequence[str] | None = None) -> tuple[Fix, ...]:
    """For every released column, or those named: leaving it out, and each of its coarser levels."""
    named = [name for name in question.released if columns is None or name in columns]
    levels = coarser_levels(question.as_given(), named)
    several = len(question.released) > 1
    return tuple(
        fix
        for name in named
        for fix in (*(Fix(name, level) for level in levels[name]), *([Fix(name)] if several else ()))
    )


def effects(question: TableQuestion, fixes: Sequence[Fix] | None = None) -> FixEffects:
    """What each of the fixes does by itself; by default, of all possible ones.

    A level that tells as much as the column does, or nothing, has no effect of its own and is left out.

    Guarantees
    ----------
    Measured on the original table, on evenly spaced records: at most 20,000, and at most 800,000 values. The base is
    measured on the same records.
    """
    fixes = fixes_of(question) if fixes is None else fixes
    table, released, known = question.as_given(), question.released, question.known or question.released
    levels = [fix.level for fix in fixes if fix.level is not None]
    names = [f"__tacit_level{at}__" for at in range(len(levels))]
    most = most_records(len(released))
    sample = table.thinned(most)
    rows = sample.sample(released, most)
    coarser = sample.select(list(dict.fromkeys(level.column for level in levels)))
    at_levels = with_levels(coarser, levels, names).sample(names, most) if levels else rows
    kinds = {column.name: column.kind for column in table.columns}
    values = {name: ColumnValues.of(name, rows.column(name), kinds[name]) for name in released}
    exact = {
        name: distinct_texts(rows.column(name))[1] if values[name].numeric else values[name].codes for name in released
    }
    exact |= {name: distinct_texts(at_levels.column(name))[1] for name in names}
    groups = {name: ValueGroups.coarse(each) for name, each in values.items()}
    coarse = {name: groups[name].rows(values[name]) for name in released}
    name_of = dict(zip(levels, names, strict=True))
    everybody = _Everybody.of(table, [name for name in known if name in released], rows)
    secret = secrets_of(question, most)
    everything = Guesser.of(coarse, secret)
    before = Guesser.of({name: coarse[name] for name in question.known if name in coarse}, secret)

    def measured(changed: str | None = None, level: Codes | None = None) -> tuple[float, float]:
        """Who is found and whose secret is guessed with one column changed, or left out if there is no level."""
        by = [exact[name] for name in known if name in released and name != changed]
        by += [level] if level is not None and changed in known else []
        inside = changed if changed in before.columns else None
        guess = everything.right(changed, level) - before.right(inside, level if inside else None)
        share = everybody.alone(changed, level) if everybody else alone(numbered(by)) if by else 0.0
        return OF * share, OF * max(0.0, guess)

    single, guessed = measured()
    tried_fixes = []
    for fix in fixes:
        level = None if fix.level is None else exact[name_of[fix.level]]
        if level is not None and not _between(level, exact[fix.column]):
            continue
        kept = 0.0 if fix.level is None else _kept(coarse[fix.column], at_levels.column(name_of[fix.level]))
        tried_fixes.append(_effect(fix, kept, *measured(fix.column, level)))
    return FixEffects(
        single, guessed, tuple(tried_fixes), None if rows.num_rows == table.row_count() else rows.num_rows
    )


@dataclass(frozen=True, eq=False)
class _Everybody:
    """All records of a table that was counted, by the columns that may be known; ``rows`` are some of the records."""

    columns: tuple[str, ...]
    counts: Counts
    rows: pa.Table

    @classmethod
    def of(cls, table: Table, columns: Sequence[str], rows: pa.Table) -> _Everybody | None:
        """None if the table was not counted, or ``rows`` are all of it."""
        counts = counted_before(table, columns) if columns and rows.num_rows < table.row_count() else None
        return None if counts is None else cls(tuple(columns), counts, rows)

    def alone(self, changed: str | None, level: Codes | None) -> float:
        """The share of people whom nobody else equals, with a column left out, or changed to the ``level`` of each row.

        A value that the rows lack has a level of its own, so that no more people are alone than this says.
        """
        by = [self.counts.codes[:, at] for at, name in enumerate(self.columns) if name != changed]
        if level is not None and changed in self.columns:
            at = self.columns.index(changed)
            values, place = encoded(self.rows.column(changed), changed)
            of_value = dict(zip(values, level[np.unique(place, return_index=True)[1]].tolist(), strict=True))
            unseen = int(level.max(initial=0)) + 1
            levels = [of_value.get(value, unseen + number) for number, value in enumerate(self.counts.levels[at])]
            by.append(np.array(levels, np.int64)[self.counts.codes[:, at]])
        if not by:
            return 0.0
        people = np.bincount(numbered(by), self.counts.records)
        return float((people == 1).sum() / people.sum())


def _kept(column: Codes, level: pa.ChunkedArray) -> float:
    """What a level tells about a column; if it has very many values, they are grouped as coarsely as the column's."""
    import pyarrow as pa

    number = pa.types.is_floating(level.type) or pa.types.is_integer(level.type)
    values = ColumnValues.of("", level, "number" if number else "text")
    looks = (values.codes, ValueGroups.coarse(values).rows(values))
    return max(kept_share(column, look, np.random.default_rng(0)) for look in looks)


def _between(level: Codes, column: Codes) -> bool:
    """Whether a level tells less than the column and more than nothing."""
    return 0 < entropy_of(level) < entropy_of(column) - 1e-9


def _effect(fix: Fix, kept: float, single: float, guessed: float) -> FixEffect:
    if fix.level is None:
        return FixEffect(fix.column, "drop", None, kept, single, guessed, Setting("drop", fix.column))
    setting = Setting("levels", {fix.column: fix.level.setting})
    return FixEffect(fix.column, "coarser", fix.level.words, round(kept, 4), single, guessed, setting)
