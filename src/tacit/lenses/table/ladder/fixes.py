"""What changing one column would do: dropping it, or writing it at a coarser level, measured on the original table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from tacit.errors import Setting
from tacit.learn.arrays import Codes
from tacit.lenses.table.kept.information import entropy_of, kept_share, numbered
from tacit.lenses.table.kept.values import ColumnValues, ValueGroups, distinct_texts
from tacit.lenses.table.ladder.guessing import OF, Guesser, alone, most_records, secrets_of, some_records
from tacit.lenses.table.linkage.coarser import CoarserLevel, coarser_levels, with_levels
from tacit.lenses.table.question import TableQuestion
from tacit.tables.counting import Counts, count, counted_before
from tacit.tables.sources import open_table
from tacit.tables.table import Table

if TYPE_CHECKING:
    import pyarrow as pa

# The combinations of so many records are counted if they were not before, though each record may have its own.
MOST_COUNTED = 1_000_000
# The column of a level, beside the values that it is of.
COARSER = "__tacit_level__"


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

    ``sampled`` is how many records were used, if not all were. Who is found is ``counted`` on all records nevertheless
    if there are at most 1,000,000, or their combinations were counted before; if not, more people seem alone than are.
    """

    found: float
    guessed: float
    effects: tuple[FixEffect, ...]
    sampled: int | None
    counted: bool


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
    Measured on the original table, on evenly spaced records: at most 20,000, and at most 800,000 values; who is found,
    on all records if there are at most 1,000,000, or their combinations were counted before. The base is measured on
    the same records.
    """
    fixes = fixes_of(question) if fixes is None else fixes
    table, released, known = question.as_given(), question.released, question.known or question.released
    levels = [fix.level for fix in fixes if fix.level is not None]
    names = [f"__tacit_level{at}__" for at in range(len(levels))]
    most = most_records(len(released))
    sample = some_records(table, question.secret, most)
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
    secret = secrets_of(sample, question.secret)
    everything = Guesser.of(coarse, secret)
    before = Guesser.of({name: coarse[name] for name in question.known if name in coarse}, secret)

    def measured(changed: str | None = None, coarser: CoarserLevel | None = None) -> tuple[float, float]:
        """Who is found and whose secret is guessed with one column changed, or left out if there is no level."""
        level = None if coarser is None else exact[name_of[coarser]]
        by = [exact[name] for name in known if name in released and name != changed]
        by += [level] if level is not None and changed in known else []
        inside = changed if changed in before.columns else None
        guess = everything.right(changed, level) - before.right(inside, level if inside else None)
        share = everybody.alone(changed, coarser) if everybody else alone(numbered(by)) if by else 0.0
        return OF * share, OF * max(0.0, guess)

    single, guessed = measured()
    tried_fixes = []
    for fix in fixes:
        level = None if fix.level is None else exact[name_of[fix.level]]
        if level is not None and not _between(level, exact[fix.column]):
            continue
        kept = 0.0 if fix.level is None else _kept(coarse[fix.column], at_levels.column(name_of[fix.level]))
        tried_fixes.append(_effect(fix, kept, *measured(fix.column, fix.level)))
    sampled = None if rows.num_rows == table.row_count() else rows.num_rows
    return FixEffects(single, guessed, tuple(tried_fixes), sampled, sampled is None or everybody is not None)


@dataclass(frozen=True, eq=False)
class _Everybody:
    """All records of a table that was counted, by the columns that may be known, which have these types."""

    columns: tuple[str, ...]
    counts: Counts
    types: Mapping[str, pa.DataType]

    @classmethod
    def of(cls, table: Table, columns: Sequence[str], rows: pa.Table) -> _Everybody | None:
        """None if the table was not counted and is too large to be, or if ``rows`` are all of it."""
        records = table.row_count()
        if not columns or rows.num_rows == records:
            return None
        counts = count(table, columns) if records <= MOST_COUNTED else counted_before(table, columns)
        types = dict(zip(rows.column_names, rows.schema.types, strict=True))
        return None if counts is None else cls(tuple(columns), counts, types)

    def alone(self, changed: str | None, level: CoarserLevel | None) -> float:
        """The share of people whom nobody else equals, with a column left out, or changed to a level."""
        by = [self.counts.codes[:, at] for at, name in enumerate(self.columns) if name != changed]
        if level is not None and changed in self.columns:
            at = self.columns.index(changed)
            by.append(self._at_level(self.counts.levels[at], level)[self.counts.codes[:, at]])
        if not by:
            return 0.0
        people = np.bincount(numbered(by), self.counts.records)
        return float((people == 1).sum() / people.sum())

    def _at_level(self, values: Sequence[Any], level: CoarserLevel) -> Codes:
        """What each value of a column is at a level."""
        import pyarrow as pa

        name, kind = level.column, self.types[level.column]
        column = pa.array(values, kind.value_type if pa.types.is_dictionary(kind) else kind)
        coarser = with_levels(open_table(pa.table({name: column})), [level], [COARSER])
        return distinct_texts(coarser.sample([COARSER], len(values)).column(0))[1]


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
