"""Who could be found: the people who are alone in the original table, and the levels that would hide them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import Setting, sentence
from tacit.lenses.table.linkage.coarser import CoarserLevel, coarser_levels, with_levels
from tacit.lenses.table.linkage.results import Cure, FoundBy, PeopleFound, Why
from tacit.lenses.table.question import TableQuestion
from tacit.tables.counting import counted_whole
from tacit.tables.grouping import group_sizes
from tacit.tables.table import Table

# The fewest people that may share a released value, by default.
LEAST = 10
# Rows on which columns and levels are chosen; their effect is then counted on all rows.
CHOOSING = 100_000
MOST_COLUMNS = 3
MOST_CURES = 6
# With more columns than this, no coarser levels are tried: each step tries every column, and there are as many steps.
WIDE = 40
# If so many rows say that there are few combinations of values, they are counted once for all questions.
FIRST_ROWS = 20_000
# Levels suffice if at most one person in this many stays alone.
ALONE_IN = 1_000

Hashes = NDArray[np.uint64]


def people_found(question: TableQuestion, known: Sequence[str] = (), *, least: int = LEAST) -> PeopleFound:
    """Count who is alone in all released columns, in what may be known, in one column and in a few.

    Parameters
    ----------
    question : TableQuestion
    known : sequence of str
        Columns whose true values somebody may know. Those that are not released find nobody and are left out.
    least : int
        A group of fewer people than this counts as small.

    Guarantees
    ----------
    Every number is counted on all records of the original table, in the engine. Which column, which few columns and
    which levels are counted is chosen on at most 100,000 rows: in a larger table there may be worse ones.
    """
    table, released = question.as_given(), question.released
    counted_whole(table, [*question.secret, *released], look=FIRST_ROWS)

    def found(why: Why, columns: Sequence[str]) -> FoundBy:
        return FoundBy(why, tuple(columns), group_sizes(table, columns, question.secret, least=least))

    sets = [found("all released columns", released)]
    cures: tuple[Cure, ...] = ()
    shown = tuple(name for name in released if name in known)
    wanted: list[tuple[Why, tuple[str, ...]]] = [("what may be known", shown)] if shown else []
    if sets[0].sizes.unique:
        levels = coarser_levels(table, released) if len(released) <= WIDE else {}
        named = {each: f"__tacit_level{at}__" for at, each in enumerate(chain(*levels.values()))}
        at_levels = with_levels(table, list(named), list(named.values()))
        look = _Look.at(at_levels, {**dict(zip(released, released, strict=True)), **named})
        one, few = _worst(look, released)
        wanted += [("one column", one), ("few columns", few)]
        cures = tuple(_cures(at_levels, look, released, levels, named))
    for why, columns in wanted:
        if all(set(columns) != set(each.columns) for each in sets):
            sets.append(found(why, columns))
    return PeopleFound(tuple(sets), cures, least, _headline(sets, cures))


@dataclass(frozen=True)
class _Look:
    """Some rows as random numbers: equal values have equal numbers, and the sum over columns tells combinations apart.

    Two different combinations have the same sum with a probability of 2^-64.
    """

    hashes: Mapping[Any, Hashes]

    @classmethod
    def at(cls, table: Table, columns: Mapping[Any, str]) -> _Look:
        """The rows of the columns and of their coarser levels, each by its name in the table."""
        rows = table.sample(list(columns.values()), CHOOSING)
        rng = np.random.default_rng(0)
        hashes = {}
        for key, column in zip(columns, rows.columns, strict=True):
            encoded = column.combine_chunks().dictionary_encode()
            codes = encoded.indices.fill_null(len(encoded.dictionary)).to_numpy(zero_copy_only=False)
            hashes[key] = rng.integers(0, 2**64, len(encoded.dictionary) + 1, dtype=np.uint64)[codes]
        return cls(hashes)

    def together(self, keys: Sequence[str | CoarserLevel]) -> Hashes:
        """A number for each row that identifies its combination."""
        start = np.zeros(len(next(iter(self.hashes.values()))), np.uint64)
        return sum((self.hashes[key] for key in keys), start)


def _alone(hashes: Hashes) -> tuple[int, int]:
    """How many rows are alone, and how many combinations there are."""
    ordered = np.sort(hashes)
    # Where a combination begins; one that begins where the next does is of a single row.
    first = np.concatenate([[True], ordered[1:] != ordered[:-1], [True]])
    return int((first[:-1] & first[1:]).sum()), int(first[:-1].sum())


def _worst(look: _Look, columns: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The column in which most rows are alone, and a few, added greedily until more than half are alone in them."""
    chosen: list[str] = []
    while len(chosen) < min(MOST_COLUMNS, len(columns)):
        so_far = look.together(chosen)
        rest = [name for name in columns if name not in chosen]
        alone = {name: _alone(so_far + look.hashes[name]) for name in rest}
        chosen.append(max(rest, key=lambda name: alone[name]))
        if 2 * alone[chosen[-1]][0] > len(so_far):
            break
    return tuple(chosen[:1]), tuple(chosen)


def _cures(
    table: Table,
    look: _Look,
    columns: Sequence[str],
    levels: Mapping[str, Sequence[CoarserLevel]],
    named: Mapping[CoarserLevel, str],
) -> Iterator[Cure]:
    """A few steps of the path to coarser levels, each counted on the whole table, where levels have these names."""
    path = list(_path(look, columns, levels))
    steps = sorted(set(np.linspace(0, len(path) - 1, min(MOST_CURES, len(path))).round().astype(int).tolist()))
    before: Mapping[str, CoarserLevel] = {}
    for chosen in (path[step] for step in steps):
        rest = [name for name in columns if name not in chosen]
        sizes = group_sizes(table, [*(named[level] for level in chosen.values()), *rest])
        added = {name: level.setting for name, level in chosen.items() if before.get(name) != level}
        yield Cure(added, {name: level.setting for name, level in chosen.items()}, sizes.unique, sizes.smallest)
        before = chosen


def _path(
    look: _Look, columns: Sequence[str], levels: Mapping[str, Sequence[CoarserLevel]]
) -> Iterator[dict[str, CoarserLevel]]:
    """Make columns coarser, one level at a time, always the one that leaves fewest alone, until hardly anybody is."""
    chosen: dict[str, CoarserLevel] = {}
    ladders = {name: list(ladder) for name, ladder in levels.items() if ladder}
    now = look.together(columns)
    while ladders and _alone(now)[0] * ALONE_IN > len(now):
        tried = {name: now - look.hashes[chosen.get(name, name)] + look.hashes[ladders[name][0]] for name in ladders}
        best = min(tried, key=lambda name: _alone(tried[name]))
        now, chosen = tried[best], {**chosen, best: ladders[best].pop(0)}
        ladders = {name: ladder for name, ladder in ladders.items() if ladder}
        yield chosen


def _headline(sets: Sequence[FoundBy], cures: Sequence[Cure]) -> str:
    sizes = sets[0].sizes
    if not sizes.unique:
        return (
            f"Of {sizes.people:,} people nobody is alone: every combination of the released columns belongs to "
            f"{sizes.smallest:,} people or more."
        )
    words = "Of {people:,} people, {unique:,} have a combination of the released columns that nobody else has."
    parts: dict[str, Any] = {"people": sizes.people, "unique": sizes.unique}
    few = next((each for each in reversed(sets) if each.why in ("few columns", "one column")), None)
    if few is not None and few.sizes.unique:
        words += " {columns} are enough to find {found:,} of them."
        if len(few.columns) == 1:
            words = words.replace(" are enough", " is enough")
        parts |= {"columns": _listed(few.columns), "found": few.sizes.unique}
    if cures:
        words += " With {levels} it would be {left:,}."
        parts |= {"levels": Setting("levels", dict(cures[-1].levels)), "left": cures[-1].unique}
    elif len(sets[0].columns) > WIDE:
        words += " With so many columns no coarser levels were tried."
    return sentence(words, **parts)


def _listed(columns: Sequence[str]) -> str:
    *first, last = (f"'{name}'" for name in columns)
    names = f"{', '.join(first)} and {last}" if first else last
    return f"{'Columns' if first else 'Column'} {names}"
